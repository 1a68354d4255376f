//! The way from what a user typed to a model: settings, plan, fit.

use crate::choose::with_plan;
use crate::data::Dataset;
use crate::fit::{Context, Displacements, Prepared, build};
use crate::observe::Observer;
use crate::operator::{C2CNet, EvaluationReport, trained_on};
use crate::plan::Plan;
use crate::report::{Choice, FitReport};
use crate::settings::FitConfig;
use crate::{Error, Result};
use std::borrow::Cow;
use std::time::Instant;

/// Fits an operator to the training samples of `data`; the others only serve to warn of test samples that also train.
///
/// # Errors
/// If the settings or the data cannot be used (the message says which and why), or the observer
/// asks to stop.
pub fn fit(
    data: &Dataset,
    config: &FitConfig,
    observer: &dyn Observer,
) -> Result<(C2CNet, FitReport)> {
    config.check()?;
    let source = Source::of(data)?;
    let train = training_samples(Cow::Borrowed(data))?;
    fit_to(train, config, observer, source)
}

/// [`fit`] that takes the data, so that they are in memory once: the samples that do not train are dropped.
///
/// # Errors
/// As [`fit`].
pub fn fit_owned(
    data: Dataset,
    config: &FitConfig,
    observer: &dyn Observer,
) -> Result<(C2CNet, FitReport)> {
    config.check()?;
    let source = Source::of(&data)?;
    let train = training_samples(Cow::Owned(data))?;
    fit_to(train, config, observer, source)
}

fn fit_to(
    train: Dataset,
    config: &FitConfig,
    observer: &dyn Observer,
    source: Source,
) -> Result<(C2CNet, FitReport)> {
    config.check_places(&train)?;
    with_plan(train, config, observer, |context, chosen| {
        let plan = chosen.plan;
        let fitted = build(context, &plan, chosen.prepared)?;
        let fitted = with_nodes(fitted, chosen.displacements, observer)?;
        source.describe(fitted, &plan, Some(config))
    })
}

/// A model with its moving nodes.
fn with_nodes(
    (model, report): (C2CNet, FitReport),
    displacements: Vec<Displacements>,
    observer: &dyn Observer,
) -> Result<(C2CNet, FitReport)> {
    let nodes = displacements.into_iter().map(|d| d.fit(observer));
    let nodes = nodes.collect::<Result<Vec<_>>>()?;
    Ok((model.with_moving(nodes), report))
}

/// What [`fit`] would do, to be looked at and changed before [`fit_plan`] does it, with what was compared.
///
/// # Errors
/// As [`fit`].
pub fn plan(
    data: &Dataset,
    config: &FitConfig,
    observer: &dyn Observer,
) -> Result<(Plan, Vec<Choice>)> {
    config.check()?;
    data.check()?;
    let train = training_samples(Cow::Borrowed(data))?;
    config.check_places(&train)?;
    with_plan(train, config, observer, |_, chosen| {
        Ok((chosen.plan, chosen.prepared.choices))
    })
}

/// Fits an operator to the training samples of `data` as `plan` says.
///
/// # Errors
/// If the plan is not one for this data, a part of it cannot be carried out, or the observer asks to stop.
pub fn fit_plan(
    data: &Dataset,
    plan: &Plan,
    observer: &dyn Observer,
) -> Result<(C2CNet, FitReport)> {
    let source = Source::of(data)?;
    let train = training_samples(Cow::Borrowed(data))?;
    plan.check(&train)?;
    let (train, displacements) = Displacements::of_plan(train, plan)?;
    let (inputs, outputs) = plan.sizes();
    let train = train.divided(&inputs, &outputs);
    let context = Context::new(&train, plan.protocol, observer);
    let fitted = build(&context, plan, Prepared::default())?;
    source.describe(with_nodes(fitted, displacements, observer)?, plan, None)
}

/// Refuses a fit that failed.
fn check(report: &FitReport) -> Result<()> {
    let error = report.validation.rl2e;
    match error.is_finite() {
        true => Ok(()),
        false => Err(Error::Numerical(format!(
            "the fit failed: its error is {error}; check the data (`c2cnet inspect`, in Rust \
             `Dataset::warnings`), or try another map or \
             other bases"
        ))),
    }
}

/// Fewer samples cannot show that nothing was learned.
const ENOUGH_SAMPLES: usize = 10;

/// The warning about a model that learned nothing, or whose error exceeds that of predicting zero.
fn worse_than_nothing(errors: &EvaluationReport) -> Option<String> {
    let (error, mean) = (errors.rl2e, errors.mean_rl2e);
    // Outputs that are all the same leave nothing but rounding.
    let varied = mean > 1e-9 && errors.n_samples >= ENOUGH_SAMPLES;
    if varied && error > 0.9 * mean {
        return Some(format!(
            "the model's relative error is {error:.2e}, no better than that of the training mean ({mean:.2e}): are \
             inputs and outputs in the same order? If they are, add samples"
        ));
    }
    (error > 1.0).then(|| {
        format!(
            "the model's relative error is {error:.2}, more than that of predicting zero (1.00): add \
             samples, or check whether the outputs span many orders of magnitude (then fit their logarithm)"
        )
    })
}

/// The training samples, if there are enough to fit and to judge.
fn training_samples(data: Cow<'_, Dataset>) -> Result<Dataset> {
    if data.outputs.is_empty() {
        return Err(Error::Data(
            "the data has no outputs `u`; a fit needs them".into(),
        ));
    }
    let indices = data.train_indices();
    if indices.is_empty() {
        let mut sets = data.split.clone().unwrap_or_default();
        sets.sort_unstable();
        sets.dedup();
        return Err(Error::Data(format!(
            "the data has no training sample: its split must name some \"train\"; its sets are {sets:?}"
        )));
    }
    let train = match data {
        Cow::Borrowed(data) => data.select(&indices),
        Cow::Owned(data) => data.into_selection(&indices),
    };
    // Copies would judge what was fitted to them.
    let train = match train.each_once() {
        Some(once) => train.into_selection(&once),
        None => train,
    };
    if train.samples() < 5 {
        return Err(Error::Data(format!(
            "{} too few: some are held out to judge the choices; give at least 5",
            match train.samples() {
                1 => "1 training sample is".to_string(),
                n => format!("{n} training samples are"),
            }
        )));
    }
    for (name, field) in &train.inputs {
        field.check_inputs(format!("input {name}").trim_end())?;
    }
    for (name, field) in &train.outputs {
        field.check_outputs(format!("output {name}").trim_end())?;
    }
    Ok(train)
}

/// What a model remembers of its data.
struct Source {
    begin: Instant,
    fingerprint: String,
    n_train: usize,
    /// Digests of the training samples.
    trained_on: String,
    /// The test samples, where a split names them.
    test: Option<Vec<usize>>,
    meta: serde_json::Value,
    warnings: Vec<String>,
    /// Otherwise the warnings say that nothing can be learned.
    inputs_vary: bool,
}

impl Source {
    /// # Errors
    /// If the data contradicts itself.
    fn of(data: &Dataset) -> Result<Self> {
        let begin = Instant::now();
        data.check()?;
        let train = data.train_indices();
        Ok(Source {
            begin,
            fingerprint: data.fingerprint(),
            n_train: train.len(),
            trained_on: trained_on(data, &train),
            test: data.split.as_ref().map(|_| data.test_indices()),
            meta: data.meta.clone(),
            warnings: data.warnings(),
            inputs_vary: data.inputs_vary(),
        })
    }

    /// The model with everything about its fit that people may want to know.
    ///
    /// # Errors
    /// If the fit failed.
    fn describe(
        self,
        (model, mut report): (C2CNet, FitReport),
        plan: &Plan,
        config: Option<&FitConfig>,
    ) -> Result<(C2CNet, FitReport)> {
        check(&report)?;
        report.warnings.splice(0..0, self.warnings);
        if self.inputs_vary {
            let warning = worse_than_nothing(&report.validation);
            report.warnings.extend(warning);
        }
        report.seconds.total = self.begin.elapsed().as_secs_f64();
        let info = serde_json::json!({
            "config": config,
            "plan": plan,
            "seed": plan.protocol.seed,
            "data": {
                "fingerprint": self.fingerprint,
                "n_train": self.n_train,
                "test": self.test,
                "meta": self.meta,
            },
            "trained_on": self.trained_on,
            "choices": report.choices,
            "validation": report.validation,
            "held_out": report.held_out,
        });
        Ok((model.with_info(info), report))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Field, Points};
    use crate::observe::Silent;
    use faer::Mat;
    use serde_json::json;

    #[test]
    fn a_fit_that_learned_nothing_is_told_once() {
        let field = |value: &dyn Fn(usize, usize) -> f64| {
            let values = Mat::from_fn(40, 30, value);
            Field::shared(Points::linspace(0.0, 1.0, 40), vec![values]).unwrap()
        };
        let wave = |i: usize, k: usize| (i as f64 * 0.1 + (k * k) as f64).sin();
        let said = |inputs: Field, outputs: Field| -> Vec<String> {
            let data = Dataset::new(inputs, outputs).unwrap();
            let config = serde_json::from_value(json!({"map": {"kind": "linear"}})).unwrap();
            fit(&data, &config, &Silent).unwrap().1.warnings
        };
        assert!(said(field(&wave), field(&wave)).is_empty());
        let swapped = said(field(&wave), field(&|i, k| wave(i, 29 - k)));
        assert_eq!(swapped.len(), 1, "{swapped:?}");
        assert!(swapped[0].contains("are inputs and outputs in the same order?"));
        // Where the data tell why, nothing more is said.
        let same = said(field(&|i, _| i as f64), field(&wave));
        assert!(
            same.len() == 1 && same[0].contains("the inputs are the same"),
            "{same:?}"
        );
        let still = said(field(&wave), field(&|i, _| i as f64 + 0.1));
        assert!(
            still.len() == 1 && still[0].contains("nothing to learn"),
            "{still:?}"
        );
    }

    #[test]
    fn a_fit_whose_error_is_no_number_has_not_succeeded() {
        let field = |shift: usize| {
            let values = Mat::from_fn(40, 12, |i, k| ((i + shift) as f64 * 0.1 + k as f64).sin());
            Field::shared(Points::linspace(0.0, 1.0, 40), vec![values]).unwrap()
        };
        let data = Dataset::new(field(0), field(2)).unwrap();
        let side = json!({"basis": {"family": "fourier", "functions": 5}});
        let config = json!({"input": side, "output": side, "map": {"kind": "linear"}});
        let config = serde_json::from_value(config).unwrap();
        let (_, mut report) = fit(&data, &config, &Silent).unwrap();
        check(&report).unwrap();
        for wrong in [f64::NAN, f64::INFINITY] {
            report.validation.rl2e = wrong;
            let error = check(&report).unwrap_err();
            assert!(matches!(&error, Error::Numerical(m) if m.contains("the fit failed")));
        }
    }
}

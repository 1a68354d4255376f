//! The way from what a user typed to a model: settings, plan, fit.

use crate::choose::{Sizes, choose};
use crate::data::Dataset;
use crate::fit::{Context, Prepared, build};
use crate::observe::Observer;
use crate::operator::C2CNet;
use crate::plan::Plan;
use crate::report::{Choice, FitReport};
use crate::settings::FitConfig;
use crate::{Error, Result};
use std::borrow::Cow;
use std::time::Instant;

/// Fits an operator to the training samples of `data`; others are looked at only to warn of those that train, too.
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
    let (train, sizes) = in_sizes(train, config)?;
    let context = Context::new(&train, config.protocol(), observer);
    let (mut plan, mut prepared) = choose(&context, config)?;
    sizes.into_plan(&mut plan, &mut prepared.choices);
    let built = build(&context, &plan, prepared)?;
    source.describe(built, &plan, Some(config))
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
    let (train, sizes) = in_sizes(training_samples(Cow::Borrowed(data))?, config)?;
    let context = Context::new(&train, config.protocol(), observer);
    let (mut plan, mut prepared) = choose(&context, config)?;
    sizes.into_plan(&mut plan, &mut prepared.choices);
    Ok((plan, prepared.choices))
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
    let (inputs, outputs) = plan.sizes();
    let train = train.divided(&inputs, &outputs);
    let context = Context::new(&train, plan.protocol, observer);
    let built = build(&context, plan, Prepared::default())?;
    source.describe(built, plan, None)
}

/// Training samples divided by the sizes of their components: all that follows is done in these.
fn in_sizes(train: Dataset, config: &FitConfig) -> Result<(Dataset, Sizes)> {
    let sizes = Sizes::choose(&train, config)?;
    let train = train.divided(&sizes.inputs, &sizes.outputs);
    Ok((train, sizes))
}

/// Refuses a fit that came to nothing.
fn check(report: &FitReport) -> Result<()> {
    let error = report.validation.rl2e;
    match error.is_finite() {
        true => Ok(()),
        false => Err(Error::Numerical(format!(
            "the fit came to nothing: its error is {error}; look at the data (c2cnet inspect), or try another map or \
             other bases"
        ))),
    }
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
        return Err(Error::Data(
            "the data has no training sample; its split must name some \"train\"".into(),
        ));
    }
    let train = match data {
        Cow::Borrowed(data) => data.select(&indices),
        Cow::Owned(data) => data.into_selection(&indices),
    };
    if train.samples() < 5 {
        return Err(Error::Data(format!(
            "{} training samples are too few: some are held out to judge the choices; give at least 5",
            train.samples()
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
    /// The test samples, where a split names them.
    test: Option<Vec<usize>>,
    meta: serde_json::Value,
    warnings: Vec<String>,
}

impl Source {
    /// # Errors
    /// If the data contradicts itself.
    fn of(data: &Dataset) -> Result<Self> {
        let begin = Instant::now();
        data.check()?;
        Ok(Source {
            begin,
            fingerprint: data.fingerprint(),
            n_train: data.train_indices().len(),
            test: data.split.as_ref().map(|_| data.test_indices()),
            meta: data.meta.clone(),
            warnings: data.warnings(),
        })
    }

    /// The model with everything about its fit that people may want to know.
    ///
    /// # Errors
    /// If the fit came to nothing.
    fn describe(
        self,
        (model, mut report): (C2CNet, FitReport),
        plan: &Plan,
        config: Option<&FitConfig>,
    ) -> Result<(C2CNet, FitReport)> {
        check(&report)?;
        report.warnings = self.warnings;
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
            "choices": report.choices.iter().map(ToString::to_string).collect::<Vec<_>>(),
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
            assert!(matches!(&error, Error::Numerical(m) if m.contains("came to nothing")));
        }
    }
}

//! One fit and its evaluation, with everything that an error must be judged by.

use super::data::Store;
use super::done;
use super::experiment::RunSpec;
use super::folder::{self, Folder};
use super::found::Found;
use crate::run_files::Findings;
use crate::terminal::{Progress, counted, error, interrupt, say};
use c2cnet::Result;
use c2cnet::data::Dataset;
use c2cnet::map::mlp::TrainingReport;
use c2cnet::operator::EvaluationReport;
use c2cnet::{C2CNet, Device, FitConfig, FitReport, fit};
use std::sync::Arc;
use std::time::Instant;

/// Training samples on which the training error is measured, at most.
const JUDGED_TRAINING: usize = 500;

/// What an experiment works with and what it has found so far.
pub struct Bench<'a> {
    pub name: &'a str,
    pub store: Store<'a>,
    pub folder: Folder,
    pub findings: Findings,
    /// What was evaluated, its error and its floor.
    pub floors: Vec<(String, f64, f64)>,
    /// What fits took that were done before.
    pub earlier_seconds: f64,
    /// Where networks are trained.
    pub device: Device,
}

/// A fit with its errors.
pub struct Fitted {
    pub model: C2CNet,
    pub report: FitReport,
    pub train: EvaluationReport,
    pub test: EvaluationReport,
}

/// A run: one fit for each seed.
pub struct Record {
    pub spec: RunSpec,
    /// Of the first seed.
    pub model: C2CNet,
    /// One for each seed.
    pub found: Vec<Found>,
    /// What it was tested with: the data, and which of its samples.
    pub data: Arc<Dataset>,
    pub samples: Vec<usize>,
}

impl Bench<'_> {
    /// Fits to `data`, tests on all samples of `test`.
    ///
    /// # Errors
    /// As [`fit`] and [`C2CNet::evaluate`].
    pub fn fit(
        &mut self,
        what: &str,
        data: &Dataset,
        test: &Dataset,
        config: &FitConfig,
    ) -> Result<Fitted> {
        let progress = Progress::start(format!("{}: {what}", self.name)).on(self.device);
        let (model, report) = interrupt::patiently(|| fit(data, config, &progress))?;
        let mut trained = data.train_indices();
        trained.truncate(JUDGED_TRAINING);
        let train = self.evaluate(&format!("{what}, training"), &model, &data.select(&trained))?;
        let test = self.evaluate(what, &model, test)?;
        Ok(Fitted {
            model,
            report,
            train,
            test,
        })
    }

    /// Errors of `model` on all samples of `data`.
    pub fn evaluate(
        &mut self,
        what: &str,
        model: &C2CNet,
        data: &Dataset,
    ) -> Result<EvaluationReport> {
        let report = model.evaluate(data)?;
        self.floors
            .push((what.to_string(), report.rl2e, report.floor));
        Ok(report)
    }

    /// Does the run, but for fits that are kept.
    pub fn record(&mut self, spec: &RunSpec) -> Result<Record> {
        let data = self.store.get(&spec.data)?;
        let tested = match &spec.test {
            Some(name) => self.store.get(name)?,
            None => data.clone(),
        };
        let samples = samples_of(&tested, &spec.set);
        let test = tested.select(&samples);
        let (mut model, mut all) = (None, Vec::new());
        for &seed in &spec.seeds {
            let fingerprint = done::run_fingerprint(spec, seed, &self.store)?;
            let kept = self.folder.kept(&spec.id, seed, &fingerprint);
            let mut kept = kept.filter(|found| found.test.relative.len() == samples.len());
            if model.is_none() && kept.is_some() {
                model = self.folder.model(&spec.id, seed);
                kept = kept.filter(|_| model.is_some());
            }
            if let Some(found) = kept {
                self.take_in(spec, &found);
                tell(spec, seed, &found, &format!(", kept from {}", found.date))?;
                all.push(found);
                continue;
            }
            let clock = Instant::now();
            let mut config = spec.fit.clone();
            config.seed = seed;
            let fitted = self.fit(&spec.name(), &data, &test, &config)?;
            let is_first = model.is_none();
            let mut more = Vec::new();
            for set in spec.more_sets.iter().filter(|_| is_first) {
                let data = tested.select(&samples_of(&tested, set));
                let what = format!("{}, {set}", spec.name());
                more.push((set.clone(), self.evaluate(&what, &fitted.model, &data)?));
            }
            let found = Found {
                fingerprint,
                date: folder::today(),
                seconds: clock.elapsed().as_secs_f64(),
                report: fitted.report,
                train: fitted.train,
                test: fitted.test,
                more,
            };
            tell(spec, seed, &found, "")?;
            let saved = is_first.then_some(&fitted.model);
            self.folder.keep(&spec.id, seed, saved, &found)?;
            model.get_or_insert(fitted.model);
            all.push(found);
        }
        Ok(Record {
            spec: spec.clone(),
            model: model.expect("an experiment with a run without seeds is refused"),
            found: all,
            data: tested,
            samples,
        })
    }

    /// Counts a fit that was done before.
    fn take_in(&mut self, spec: &RunSpec, found: &Found) {
        self.earlier_seconds += found.seconds;
        let name = spec.name();
        let mut floor = |what: String, report: &EvaluationReport| {
            self.floors.push((what, report.rl2e, report.floor));
        };
        floor(format!("{name}, training"), &found.train);
        for (set, report) in &found.more {
            floor(format!("{name}, {set}"), report);
        }
        floor(name, &found.test);
    }
}

/// One line about a fit.
fn tell(spec: &RunSpec, seed: u64, found: &Found, remark: &str) -> Result<()> {
    say(format_args!(
        "  {}{}: RL2E {}, floor {}, {} s{remark}",
        spec.name(),
        match spec.seeds.len() {
            1 => String::new(),
            _ => format!(", seed {seed}"),
        },
        error(found.test.rl2e),
        error(found.test.floor),
        found.report.seconds.total.round()
    ))
}

/// The samples of the set `name`: of the data's split, or those that test.
fn samples_of(data: &Dataset, name: &str) -> Vec<usize> {
    match name {
        "test" => data.test_indices(),
        name => data.indices_of(name),
    }
}

impl Record {
    /// Mean and deviation over seeds.
    pub fn over_seeds(&self, of: impl Fn(&Found) -> f64) -> (f64, Option<f64>) {
        let values: Vec<f64> = self.found.iter().map(of).collect();
        let mean = c2cnet::metrics::mean(&values);
        let spread = (values.len() > 1).then(|| {
            let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
            (squares / (values.len() - 1) as f64).sqrt()
        });
        (mean, spread)
    }

    pub fn rl2e(&self) -> (f64, Option<f64>) {
        self.over_seeds(|found| found.test.rl2e)
    }

    /// The training of the network that the first seed's map is, if it is one.
    pub fn training(&self) -> Option<&TrainingReport> {
        let network = self.found[0].report.network.as_ref()?;
        network.fitted.as_ref().or(network.judged.as_ref())
    }

    /// The recipe in words, with the steps of a network.
    pub fn recipe(&self) -> String {
        match self.training() {
            Some(t) => format!("{}, {}", self.spec.column.name(), counted(t.steps, "step")),
            None => self.spec.column.name().into(),
        }
    }

    /// Widths of a network, or a map in words.
    pub fn architecture(&self) -> String {
        match self.training() {
            Some(training) => widths(&training.widths),
            None => self.model.map().describe(),
        }
    }

    /// Test samples by their error in the first fit, best first: number among the test samples, error.
    pub fn ranked(&self) -> Vec<(usize, f64)> {
        let errors = self.found[0].test.relative.iter().copied();
        let mut ranked: Vec<(usize, f64)> = errors.enumerate().collect();
        ranked.sort_by(|a, b| a.1.total_cmp(&b.1));
        ranked
    }

    /// The sample with the largest error: its number in the data, and the error.
    pub fn worst(&self) -> (usize, f64) {
        let report = &self.found[0].test;
        (self.samples[report.worst_sample], report.worst_rl2e)
    }
}

/// `[128, 400x3, 128]`: equal neighbours are counted.
fn widths(widths: &[usize]) -> String {
    let parts: Vec<String> = widths
        .chunk_by(|a, b| a == b)
        .map(|same| match same.len() {
            1 => same[0].to_string(),
            n => format!("{}x{n}", same[0]),
        })
        .collect();
    format!("[{}]", parts.join(", "))
}

#[cfg(test)]
mod tests {
    #[test]
    fn equal_layers_are_counted() {
        assert_eq!(
            super::widths(&[128, 400, 400, 400, 128]),
            "[128, 400x3, 128]"
        );
    }
}

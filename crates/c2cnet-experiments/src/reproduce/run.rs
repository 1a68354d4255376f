//! One fit and its evaluation, with everything that an error must be judged by.

use super::data::Store;
use super::done;
use super::experiment::RunSpec;
use super::folder::{self, Folder};
use super::found::Found;
use super::side_by_side::side_by_side;
use crate::run_files::Findings;
use crate::terminal::{Progress, counted, error, interrupt, print_line};
use c2cnet::data::Dataset;
use c2cnet::map::TrainingReport;
use c2cnet::operator::EvaluationReport;
use c2cnet::{C2CNet, Device, FitConfig, FitReport, fit};
use c2cnet::{Error, Result};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

/// The largest number of training samples on which the training error is measured.
const JUDGED_TRAINING: usize = 500;

/// What an experiment works with and what it has found so far.
pub struct Bench<'a> {
    pub name: &'a str,
    pub store: Store<'a>,
    pub folder: Folder,
    pub findings: Findings,
    /// What was evaluated, its error and its floor.
    pub floors: Vec<(String, f64, f64)>,
    /// The time of fits that were done before.
    pub earlier_seconds: f64,
    pub effort: Effort,
}

/// Where fits are made, how many at a time, and until when.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// Where networks are trained.
    pub device: Device,
    /// Fits that are under way at the same time.
    pub jobs: usize,
    /// No fit begins later.
    pub until: Option<Instant>,
}

impl Effort {
    /// Whether it is too late to begin a fit.
    pub fn is_over(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }
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
    /// Of the first seed, if it was kept.
    model: Option<C2CNet>,
    /// One for each seed.
    pub found: Vec<Found>,
    /// What it was tested with: the data, and which of its samples.
    pub data: Arc<Dataset>,
    pub samples: Vec<usize>,
    /// How many samples it was fitted to.
    pub n_train: usize,
}

/// What a run is fitted to and tested with.
struct Sources {
    data: Arc<Dataset>,
    tested: Arc<Dataset>,
    samples: Vec<usize>,
}

/// A fit of a run that is not kept.
struct Missing<'a> {
    spec: &'a RunSpec,
    seed: u64,
    fingerprint: String,
    sources: Arc<Sources>,
}

/// Fits by run and seed, with the model of a first seed.
type Made = HashMap<(String, u64), (Option<C2CNet>, Found)>;

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
        let progress = self.progress(what);
        let fitted = fit_and_judge(data, test, config, &progress)?;
        self.count(what, &fitted);
        Ok(fitted)
    }

    /// Shows what a fit does, unless several do something.
    pub fn progress(&self, what: &str) -> Progress {
        let progress = match self.effort.jobs > 1 {
            true => Progress::hidden(),
            false => Progress::start(format!("{}: {what}", self.name)),
        };
        progress.on(self.effort.device)
    }

    /// Takes note of errors and floors.
    pub fn count(&mut self, what: &str, fitted: &Fitted) {
        let (train, test) = (&fitted.train, &fitted.test);
        let what_train = format!("{what}, training");
        self.floors.push((what_train, train.rl2e, train.floor));
        self.floors.push((what.into(), test.rl2e, test.floor));
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

    /// Whether it is too late for `what`, which is noted then.
    pub fn too_late(&mut self, what: &str) -> bool {
        let late = self.effort.is_over();
        if late {
            self.findings.missing.push(what.into());
        }
        late
    }

    /// Does the runs, except for fits that are kept and runs of which there was no time for a single fit.
    pub fn records(&mut self, specs: &[RunSpec]) -> Result<Vec<Record>> {
        // One run after the other, unless several fits are wanted at a time: then not all data are held at once.
        let together = match self.effort.jobs {
            0 | 1 => 1,
            _ => specs.len().max(1),
        };
        let mut records = Vec::new();
        for specs in specs.chunks(together) {
            let specs = self.sized(specs)?;
            let mut made = self.make_missing(&specs)?;
            for spec in &specs {
                records.extend(self.record(spec, &mut made)?);
            }
        }
        Ok(records)
    }

    /// The runs with the numbers of their training samples in their names.
    fn sized(&mut self, specs: &[RunSpec]) -> Result<Vec<RunSpec>> {
        let size = |spec: &RunSpec| -> Result<RunSpec> {
            let data = self.store.get(&spec.data)?;
            Ok(spec.sized(data.train_indices().len()))
        };
        specs.iter().map(size).collect()
    }

    /// Makes the fits that are not kept, and keeps them.
    fn make_missing(&mut self, specs: &[RunSpec]) -> Result<Made> {
        let mut missing = Vec::new();
        for spec in specs {
            let sources = Arc::new(self.sources(spec)?);
            for &seed in &spec.seeds {
                let fingerprint = done::run_fingerprint(spec, seed, &self.store)?;
                if self.kept(spec, seed, &fingerprint, &sources).is_none() {
                    missing.push(Missing {
                        spec,
                        seed,
                        fingerprint,
                        sources: sources.clone(),
                    });
                }
            }
        }
        // The first seeds of all runs come first: with too little time some runs have fewer seeds, none has none.
        let place = |fit: &Missing<'_>| fit.spec.seeds.iter().position(|&seed| seed == fit.seed);
        missing.sort_by_key(place);
        let (folder, effort) = (&self.folder, self.effort);
        let make = |fit: &Missing<'_>| -> Result<Option<((String, u64), _)>> {
            if effort.is_over() {
                return Ok(None);
            }
            let (model, found) = fit.make(&self.progress(&fit.spec.name()))?;
            tell(fit.spec, fit.seed, &found, "")?;
            let model = fit.is_first().then_some(model);
            folder.keep(&fit.spec.id, fit.seed, model.as_ref(), &found)?;
            Ok(Some(((fit.spec.id.clone(), fit.seed), (model, found))))
        };
        let made = side_by_side(&missing, effort.jobs, make);
        made.into_iter().filter_map(Result::transpose).collect()
    }

    fn sources(&mut self, spec: &RunSpec) -> Result<Sources> {
        let data = self.store.get(&spec.data)?;
        let tested = match &spec.test {
            Some(name) => self.store.get(name)?,
            None => data.clone(),
        };
        let samples = tested.set(&spec.set)?;
        Ok(Sources {
            data,
            tested,
            samples,
        })
    }

    /// What is kept of a fit: with a model that cannot be read it counts as not made; without one, which is large and
    /// may have stayed where it was made, figures are left out.
    fn kept(
        &self,
        spec: &RunSpec,
        seed: u64,
        fingerprint: &str,
        sources: &Sources,
    ) -> Option<(Option<C2CNet>, Found)> {
        let found = self.folder.kept(&spec.id, seed, fingerprint)?;
        let whole = found.test.relative.len() == sources.samples.len();
        let model = match seed == spec.seeds[0] {
            true => self.folder.model(&spec.id, seed).ok()?,
            false => None,
        };
        whole.then_some((model, found))
    }

    /// The run of what was made and kept; none if there is nothing.
    fn record(&mut self, spec: &RunSpec, made: &mut Made) -> Result<Option<Record>> {
        let sources = self.sources(spec)?;
        let (mut model, mut all) = (None, Vec::new());
        for &seed in &spec.seeds {
            let fingerprint = done::run_fingerprint(spec, seed, &self.store)?;
            let fit = match made.remove(&(spec.id.clone(), seed)) {
                Some(fit) => fit,
                None => match self.kept(spec, seed, &fingerprint, &sources) {
                    Some((model, found)) => {
                        self.earlier_seconds += found.seconds;
                        tell(spec, seed, &found, &format!(", kept from {}", found.date))?;
                        (model, found)
                    }
                    None => {
                        let what = format!("{}, seed {seed}", spec.name());
                        self.findings.missing.push(what);
                        continue;
                    }
                },
            };
            self.take_in(spec, &fit.1);
            model = model.or(fit.0);
            all.push(fit.1);
        }
        Ok((!all.is_empty()).then(|| Record {
            spec: spec.clone(),
            model,
            found: all,
            n_train: sources.data.train_indices().len(),
            data: sources.tested,
            samples: sources.samples,
        }))
    }

    /// Takes note of the errors and floors of a fit.
    fn take_in(&mut self, spec: &RunSpec, found: &Found) {
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

impl Missing<'_> {
    fn is_first(&self) -> bool {
        self.spec.seeds.first() == Some(&self.seed)
    }

    fn make(&self, progress: &Progress) -> Result<(C2CNet, Found)> {
        let clock = Instant::now();
        let Sources {
            data,
            tested,
            samples,
        } = &*self.sources;
        let mut config = self.spec.fit.clone();
        config.seed = self.seed;
        let fitted = fit_and_judge(data, &tested.select(samples), &config, progress)?;
        let mut more = Vec::new();
        for set in self.spec.more_sets.iter().filter(|_| self.is_first()) {
            let data = tested.select(&tested.set(set)?);
            more.push((set.clone(), fitted.model.evaluate(&data)?));
        }
        let found = Found {
            fingerprint: self.fingerprint.clone(),
            date: folder::today(),
            seconds: clock.elapsed().as_secs_f64(),
            report: fitted.report,
            train: fitted.train,
            test: fitted.test,
            more,
        };
        Ok((fitted.model, found))
    }
}

/// Fits to `data`, tests on all samples of `test`.
///
/// # Errors
/// As [`fit`] and [`C2CNet::evaluate`].
pub fn fit_and_judge(
    data: &Dataset,
    test: &Dataset,
    config: &FitConfig,
    progress: &Progress,
) -> Result<Fitted> {
    let (model, report) = interrupt::patiently(|| fit(data, config, progress))?;
    let mut trained = data.train_indices();
    trained.truncate(JUDGED_TRAINING);
    Ok(Fitted {
        train: model.evaluate(&data.select(&trained))?,
        test: model.evaluate(test)?,
        model,
        report,
    })
}

/// One line about a fit.
fn tell(spec: &RunSpec, seed: u64, found: &Found, remark: &str) -> Result<()> {
    print_line(format_args!(
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

impl Record {
    /// Mean and deviation over seeds.
    pub fn over_seeds(&self, of: impl Fn(&Found) -> f64) -> (f64, Option<f64>) {
        let values: Vec<f64> = self.found.iter().map(of).collect();
        let mean = c2cnet::internal::mean(&values);
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

    /// The model of the first seed.
    ///
    /// # Errors
    /// If its file did not come with the run.
    pub fn model(&self) -> Result<&C2CNet> {
        self.model.as_ref().ok_or_else(|| {
            let id = &self.spec.id;
            Error::Config(format!("run {id:?}: its model is not in the folder"))
        })
    }

    /// Whether the model of the first seed is there.
    pub fn has_model(&self) -> bool {
        self.model.is_some()
    }

    /// Widths of a network, or a map in words.
    pub fn architecture(&self) -> Option<String> {
        match self.training() {
            Some(training) => Some(widths(&training.widths)),
            None => self.model.as_ref().map(|m| m.summary().map.description),
        }
    }

    /// The numbers that the map has learned.
    pub fn parameters(&self) -> Option<usize> {
        match self.training() {
            Some(training) => Some(training.parameters),
            None => self.model.as_ref().map(|m| m.summary().map.parameters),
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

//! What is settled before samples are summed, and how sums become a model.

use super::{Accumulator, other_template};
use crate::data::{Dataset, Points, Symmetries};
use crate::decode::{Projection, Targets};
use crate::fit::MOST_HELD_OUT;
use crate::map::{CoefficientMap, GIVE_UP_RATIO, KernelMap, Landmarks, Moments, Shift};
use crate::metrics::mean;
use crate::observe::Observer;
use crate::operator::{C2CNet, field_named, stack};
use crate::plan::{MapPlan, Plan};
use crate::report::Choice;
use crate::settings::{FitConfig, MapKind};
use crate::storage::{Archive, Fingerprint, restore_settled, tensor};
use crate::train::{fit, fit_plan};
use crate::{Error, Result};
use faer::Mat;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::Path;

/// The fewest first samples.
const FEWEST_FIRST: usize = 10;

/// Nuggets that are tried per sample of the sums, as powers of ten.
const NUGGETS: std::ops::RangeInclusive<i32> = 2..=16;

/// Bases, encoders, output spaces and the kind of map, settled on first samples, with the samples that will judge.
#[derive(Debug, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct Template {
    /// Its identity, which its sums carry.
    id: String,
    /// The operator of the first samples, with its linear map; its means are what sums are shifted by.
    first: C2CNet,
    /// How outputs become coordinates, one entry per output.
    projections: Vec<Projection>,
    /// The points of each input, where the first samples share them.
    input_points: Vec<Option<Points>>,
    /// `None` if the map is linear.
    landmarks: Option<Landmarks>,
    judges: Judges,
    symmetries: Symmetries,
    /// The error of the model of the first samples alone, on the same judges.
    first_error: f64,
    /// How many of them it was fitted to.
    first_samples: usize,
}

restore_settled!(Template);

/// First samples that are left out of the sums until the end: they choose regularisations and measure the error.
#[derive(Debug, Serialize, Deserialize)]
struct Judges {
    #[serde(with = "tensor")]
    coefficients: Mat<f64>,
    targets: Targets,
}

impl Judges {
    fn count(&self) -> usize {
        self.coefficients.ncols()
    }

    fn errors(&self, map: &dyn CoefficientMap) -> Vec<f64> {
        self.errors_of(&map.predict(self.coefficients.as_ref()))
    }

    fn errors_of(&self, predicted: &Mat<f64>) -> Vec<f64> {
        let all: Vec<usize> = (0..self.count()).collect();
        self.targets.relative_errors(predicted.as_ref(), &all)
    }
}

/// How a model of sums was made and how well it does on first samples that were held out. Relative L2 errors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AccumulationReport {
    /// Samples that the model was fitted to, in the end with those that judged.
    pub samples: usize,
    /// Samples that judged.
    pub judges: usize,
    /// The mean error of the map.
    pub rl2e: f64,
    /// The smallest error that the output space allows.
    pub floor: f64,
    /// The worst error.
    pub worst_rl2e: f64,
    /// Which of the samples that judged has it.
    pub worst_sample: usize,
    /// The error of the linear map.
    pub linear_rl2e: f64,
    /// The error of predicting the mean training output.
    pub mean_rl2e: f64,
    /// The error of the model of the first samples alone.
    pub first_rl2e: f64,
    /// How many first samples there were.
    pub first_samples: usize,
    /// Centres of the kernel map; 0 for a linear one.
    pub centres: usize,
}

impl Template {
    /// Settles everything on the training samples of `first`, as [`crate::fit`] does, and accumulates them: the sums are
    /// those of all samples that do not judge. A kernel map gets at most `centres` of them as centres; memory grows with the
    /// square of that number, and time with the square per sample.
    ///
    /// # Errors
    /// As [`crate::fit`]; if the settings want a network, which cannot be fitted from sums.
    pub fn fit(
        first: &Dataset,
        config: &FitConfig,
        centres: usize,
        observer: &dyn Observer,
    ) -> Result<(Self, Accumulator)> {
        let mut config = config.clone();
        match config.map.kind {
            MapKind::Mlp | MapKind::Layered => return Err(no_network()),
            MapKind::Auto => config.map.budget = 0,
            MapKind::Linear | MapKind::Kernel => {}
        }
        config.check()?;
        let (rest, judges) = hold_out(first, config.validation, config.seed)?;
        let (model, _) = fit(&rest, &config, observer)?;
        Self::settle_on(model, &rest, &judges, centres)
    }

    /// [`Template::fit`] as `plan` says.
    ///
    /// # Errors
    /// As [`crate::fit_plan`]; if the plan's map is a network.
    pub fn fit_plan(
        first: &Dataset,
        plan: &Plan,
        centres: usize,
        observer: &dyn Observer,
    ) -> Result<(Self, Accumulator)> {
        if let MapPlan::Mlp { .. } | MapPlan::Layered { .. } = plan.map {
            return Err(no_network());
        }
        let (rest, judges) = hold_out(first, plan.protocol.validation, plan.protocol.seed)?;
        let (model, _) = fit_plan(&rest, plan, observer)?;
        Self::settle_on(model, &rest, &judges, centres)
    }

    fn settle_on(
        model: C2CNet,
        rest: &Dataset,
        judges: &Dataset,
        centres: usize,
    ) -> Result<(Self, Accumulator)> {
        if centres < 2 {
            return Err(Error::Config(format!(
                "centres = {centres}: a kernel map needs at least 2"
            )));
        }
        if let Some(nodes) = model.moving().first() {
            return Err(Error::Data(format!(
                "output {:?}: nodes that move with the inputs are not learned from sums; set the output's domain to \
                 keep the nodes fixed",
                nodes.output()
            )));
        }
        let plan = Plan::of(&model).ok_or_else(|| damaged("its plan is missing"))?;
        let projections = model.outputs().iter().map(|(name, decoder)| {
            Projection::settle(decoder, field_named(&rest.outputs, name, "output")?)
        });
        let projections = projections.collect::<Result<Vec<_>>>()?;
        let targets = model.outputs().iter().zip(&projections);
        let targets = targets.map(|((name, decoder), projection)| {
            projection.targets(decoder, field_named(&judges.outputs, name, "output")?)
        });
        let judges = Judges {
            targets: Targets::stack(targets.collect::<Result<_>>()?),
            coefficients: model.encode(&judges.inputs)?,
        };
        let first_error = mean(&judges.errors(model.coefficient_map()));
        let landmarks = match plan.map {
            MapPlan::Kernel(_) => {
                let map: KernelMap = model.coefficient_map().record()?.restore()?;
                Some(Landmarks::among(map, centres, plan.protocol.seed)?)
            }
            _ => None,
        };
        let points = |(name, _): &(String, _)| {
            let field = field_named(&rest.inputs, name, "input")?;
            Ok(field.shared_points().cloned())
        };
        let input_points = model.inputs().iter().map(points).collect::<Result<_>>()?;
        let linear = model.linear().clone();
        let mut template = Template {
            id: String::new(),
            first: model.with_maps(Box::new(linear.clone()), linear),
            projections,
            input_points,
            landmarks,
            judges,
            symmetries: plan.protocol.symmetries,
            first_error,
            first_samples: rest.samples(),
        };
        let mut id = Fingerprint::default();
        id.bytes(&template.to_bytes()?);
        template.id = id.finish();
        let sums = template.accumulate(rest)?;
        Ok((template, sums))
    }

    /// The sums of the training samples of `data`.
    ///
    /// # Errors
    /// If a field is missing, is of another kind or at other points than the first samples, or holds values that cannot
    /// be used.
    pub fn accumulate(&self, data: &Dataset) -> Result<Accumulator> {
        self.accumulate_after(0, data)
    }

    /// The sums of the training samples of `data` except for the first `taken` ones, which settled the template.
    ///
    /// # Errors
    /// As [`Template::accumulate`].
    #[doc(hidden)] // for the command
    pub fn accumulate_after(&self, taken: usize, data: &Dataset) -> Result<Accumulator> {
        data.check()?;
        let source = data.fingerprint();
        let train = data.train_indices();
        let train = &train[taken.min(train.len())..];
        let data = match train.len() {
            0 if taken == 0 => return Err(Error::Data("there is no training sample".into())),
            0 => {
                // All of them settled the template: only the data's fingerprint is added.
                let map = self.first.coefficient_map();
                let (inputs, outputs) = (map.inputs(), map.outputs());
                let nothing = self.sums(&Mat::zeros(inputs, 0), &Mat::zeros(outputs, 0));
                return Ok(Accumulator {
                    sources: vec![source],
                    ..nothing
                });
            }
            n if n == data.samples() => Cow::Borrowed(data),
            _ => Cow::Owned(data.select(train)),
        };
        self.check(&data)?;
        let data = match self.symmetries {
            Symmetries::None => data,
            group => Cow::Owned(group.augment(&data)?),
        };
        let coefficients = self.first.encode(&data.inputs)?;
        let outputs = self.first.outputs().iter().zip(&self.projections);
        let coordinates = outputs.map(|((name, decoder), projection)| {
            projection.coordinates(decoder, field_named(&data.outputs, name, "output")?)
        });
        let coordinates = stack(&coordinates.collect::<Result<Vec<_>>>()?);
        Ok(Accumulator {
            sources: vec![source],
            ..self.sums(&coefficients, &coordinates)
        })
    }

    fn sums(&self, coefficients: &Mat<f64>, coordinates: &Mat<f64>) -> Accumulator {
        let (a, c) = (coefficients.as_ref(), coordinates.as_ref());
        Accumulator {
            template: self.id.clone(),
            sources: Vec::new(),
            moments: Moments::of(a, c, self.shift()),
            kernel: self.landmarks.as_ref().map(|l| l.sums(a, c)),
        }
    }

    /// The model of all samples in `sums` and of those that judge, and how it was judged without them.
    ///
    /// # Errors
    /// If the sums belong to another template or are damaged, or do not factor.
    pub fn finish(&self, sums: &Accumulator) -> Result<(C2CNet, AccumulationReport)> {
        self.check_sums(sums)?;
        let regression = sums.moments.regression(self.shift())?;
        let (strength, linear_rl2e) =
            regression.choose(self.judges.coefficients.as_ref(), &self.judges.targets);
        let judged = regression.map(strength, linear_rl2e);
        let nugget = match &self.landmarks {
            Some(landmarks) => Some(self.choose_nugget(landmarks, sums)?),
            None => None,
        };
        let errors = match &nugget {
            Some((_, errors)) => errors.clone(),
            None => self.judges.errors(&judged),
        };

        let mut all = self.sums(&self.judges.coefficients, &self.judges.targets.coordinates);
        all.merge(sums)?;
        let linear = all.moments.regression(self.shift())?;
        let linear = linear.map(strength, linear_rl2e);
        let map: Box<dyn CoefficientMap> = match (&self.landmarks, &all.kernel, &nugget) {
            (Some(landmarks), Some(sums), Some((nugget, _))) => {
                Box::new(landmarks.solve(sums, nugget * all.samples() as f64)?)
            }
            _ => Box::new(linear.clone()),
        };
        let mean_output = judged.output_mean();
        let of_mean = Mat::from_fn(mean_output.len(), self.judges.count(), |i, _| {
            mean_output[i]
        });
        let by_error = |a: &usize, b: &usize| errors[*a].total_cmp(&errors[*b]);
        let worst_sample = (0..errors.len()).max_by(by_error).unwrap_or(0);
        let report = AccumulationReport {
            samples: all.samples(),
            judges: self.judges.count(),
            rl2e: mean(&errors),
            floor: self.judges.targets.floor(),
            worst_rl2e: errors[worst_sample],
            worst_sample,
            linear_rl2e,
            mean_rl2e: mean(&self.judges.errors_of(&of_mean)),
            first_rl2e: self.first_error,
            first_samples: self.first_samples,
            centres: self.landmarks.as_ref().map_or(0, Landmarks::count),
        };
        if !report.rl2e.is_finite() {
            return Err(Error::Numerical(format!(
                "the model fitted from the sums is unusable: its error is {}; check the data (`c2cnet inspect`, in Rust `Dataset::warnings`)",
                report.rl2e
            )));
        }
        let info = self.info(&report, sums);
        let spaces: C2CNet = Archive::of(&self.first)?.restore("template")?;
        Ok((spaces.with_maps(map, linear).with_info(info), report))
    }

    /// The nugget per sample whose map has the smallest error on the judges, and its errors.
    fn choose_nugget(&self, landmarks: &Landmarks, sums: &Accumulator) -> Result<(f64, Vec<f64>)> {
        let kernel = sums.kernel.as_ref().ok_or_else(|| damaged("kernel sums"))?;
        let mut best: Option<(f64, f64, Vec<f64>)> = None;
        let mut failure = None;
        for nugget in NUGGETS.map(|k| 10f64.powi(-k)) {
            let all = nugget * sums.samples() as f64;
            let errors = match landmarks.solve(kernel, all) {
                Ok(map) => self.judges.errors(&map),
                Err(e) => {
                    failure = Some(e);
                    break;
                }
            };
            let error = mean(&errors);
            let smallest = best.as_ref().map_or(f64::INFINITY, |b| b.1);
            if error < smallest {
                best = Some((nugget, error, errors));
            } else if error > GIVE_UP_RATIO * smallest {
                break;
            }
        }
        match (best, failure) {
            (Some((nugget, _, errors)), _) => Ok((nugget, errors)),
            (None, Some(error)) => Err(error),
            (None, None) => Err(Error::Numerical(
                "no nugget of the kernel map gives a finite error".into(),
            )),
        }
    }

    /// What people may want to know about the model.
    fn info(&self, report: &AccumulationReport, sums: &Accumulator) -> serde_json::Value {
        let mut info = self.first.info().clone();
        let sources: BTreeSet<&String> = sums.sources.iter().collect();
        info["data"] = serde_json::json!({
            "n_train": report.samples,
            "sources": sources,
            "meta": info["data"]["meta"],
        });
        // Of the first samples alone.
        info["trained_on"].take();
        info["accumulated"] = serde_json::json!(report);
        // Points were withheld when bases were chosen, and have returned; all else is judged anew.
        let chosen = info["validation"].take();
        info["validation"] = serde_json::json!({
            "rl2e": report.rl2e,
            "floor": report.floor,
            "worst_rl2e": report.worst_rl2e,
            "worst_sample": report.worst_sample,
            "mean_rl2e": report.mean_rl2e,
            "linear_rl2e": report.linear_rl2e,
            "withheld_rl2e": chosen["withheld_rl2e"],
            "withheld_floor": chosen["withheld_floor"],
            "mse": null,
            "rms": null,
            "n_samples": report.judges,
        });
        info
    }

    /// The choice of the bases and of the map.
    pub fn choices(&self) -> Vec<Choice> {
        Choice::of(&self.first)
    }

    /// The template as the bytes of a file, with a digest.
    ///
    /// # Errors
    /// If it cannot be assembled.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        Archive::of(self)?.to_bytes()
    }

    /// Reads what [`Template::to_bytes`] gave.
    ///
    /// # Errors
    /// If the bytes are damaged, foreign or of another format version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let archive = Archive::from_bytes(bytes, Path::new("template in memory"))?;
        archive.restore("template")
    }

    fn shift(&self) -> Shift<'_> {
        Shift {
            inputs: self.first.linear().input_mean(),
            outputs: self.first.linear().output_mean(),
        }
    }

    /// Checks what encoding does not: that outputs are there and all points are those of the first samples.
    fn check(&self, data: &Dataset) -> Result<()> {
        for ((name, _), points) in self.first.inputs().iter().zip(&self.input_points) {
            let field = field_named(&data.inputs, name, "input")?;
            let label = format!("input {name}");
            check_points(label.trim_end(), points.as_ref(), field.shared_points())?;
        }
        for (name, decoder) in self.first.outputs() {
            let field = field_named(&data.outputs, name, "output")?;
            let label = format!("output {name}");
            check_points(label.trim_end(), decoder.points(), field.common_points())?;
            if field.components() != decoder.basis().components() {
                return Err(Error::shape(
                    label.trim_end(),
                    format!("{} components", decoder.basis().components()),
                    format!("{}", field.components()),
                ));
            }
            field.check_outputs(label.trim_end())?;
        }
        Ok(())
    }

    fn check_sums(&self, sums: &Accumulator) -> Result<()> {
        if sums.template != self.id {
            return Err(other_template());
        }
        let (inputs, outputs) = (
            self.first.coefficient_map().inputs(),
            self.first.coefficient_map().outputs(),
        );
        let kernel = match (&sums.kernel, &self.landmarks) {
            (Some(sums), Some(landmarks)) => sums.fit(landmarks),
            (None, None) => true,
            _ => false,
        };
        match sums.moments.fit(inputs, outputs) && kernel {
            true => Ok(()),
            false => Err(Error::Data("the sums are damaged".into())),
        }
    }

    fn settle(&mut self) -> Result<()> {
        let (inputs, outputs) = (
            self.first.coefficient_map().inputs(),
            self.first.coefficient_map().outputs(),
        );
        let targets = &self.judges.targets;
        let judges = self.judges.count();
        let fits = self.projections.len() == self.first.outputs().len()
            && self.input_points.len() == self.first.inputs().len()
            && self.judges.coefficients.nrows() == inputs
            && targets.coordinates.shape() == (outputs, judges)
            && targets.outside_squared.len() == judges
            && targets.norm_squared.len() == judges
            && judges > 0;
        match fits {
            true => Ok(()),
            false => Err(damaged("its parts disagree")),
        }
    }
}

/// The training samples that settle a template, and those that will judge.
fn hold_out(first: &Dataset, part: f64, seed: u64) -> Result<(Dataset, Dataset)> {
    first.check()?;
    let mut order = first.train_indices();
    if order.len() < FEWEST_FIRST {
        return Err(Error::Data(format!(
            "{} first samples are too few to settle bases and to judge; give at least {FEWEST_FIRST}",
            order.len()
        )));
    }
    order.shuffle(&mut rand_chacha::ChaCha8Rng::seed_from_u64(seed ^ 0x1d9e));
    let count = (order.len() as f64 * part).round() as usize;
    let count = count.clamp(1, MOST_HELD_OUT);
    let (judges, rest) = order.split_at_mut(count);
    judges.sort_unstable();
    rest.sort_unstable();
    Ok((first.select(rest), first.select(judges)))
}

/// Shared points have to be those of the first samples; points of each sample's own may be any.
fn check_points(label: &str, first: Option<&Points>, found: Option<&Points>) -> Result<()> {
    let (first, found) = match (first, found) {
        (None, None) => return Ok(()),
        (Some(first), Some(found)) => (first, found),
        (first, _) => {
            let words = |shared: bool| match shared {
                true => "share their points",
                false => "have points of their own",
            };
            return Err(Error::Data(format!(
                "{label}: its samples {}, the first ones {}",
                words(first.is_none()),
                words(first.is_some())
            )));
        }
    };
    if (first.len(), first.dim()) != (found.len(), found.dim()) {
        return Err(Error::Data(format!(
            "{label}: {} points of dimension {}, the first samples have {} of dimension {}",
            found.len(),
            found.dim(),
            first.len(),
            first.dim()
        )));
    }
    match first.iter().zip(found.iter()).position(|(a, b)| a != b) {
        None => Ok(()),
        Some(i) => Err(Error::Data(format!(
            "{label}: other points than the first samples have: point {i} is {:?}, there {:?}",
            found.point(i),
            first.point(i)
        ))),
    }
}

fn no_network() -> Error {
    Error::Config(
        "a network cannot be fitted from sums over samples: choose `map.kind = \"linear\"`, \"kernel\" or \"auto\", or fit samples \
         that are in memory"
            .into(),
    )
}

fn damaged(what: &str) -> Error {
    Error::Data(format!("the template is damaged: {what}"))
}

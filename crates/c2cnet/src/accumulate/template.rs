//! What is settled before samples are summed, and how samples are summed.

use super::Accumulator;
use super::judges::Judges;
use super::kept::Kept;
use super::network::Network;
use crate::data::{Dataset, Points, Symmetries};
use crate::decode::{Projection, Targets};
use crate::fit::MOST_HELD_OUT;
use crate::map::{KernelMap, Landmarks, MlpSpec, Moments, Shift};
use crate::metrics::mean;
use crate::observe::Observer;
use crate::operator::{C2CNet, field_named, stack};
use crate::plan::{MapPlan, Plan};
use crate::report::{Choice, Subject};
use crate::settings::{FitConfig, MapKind};
use crate::storage::{Archive, Fingerprint, restore_settled};
use crate::train::{fit, fit_plan};
use crate::{Error, Result};
use faer::Mat;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::path::Path;

/// The fewest first samples.
const FEWEST_FIRST: usize = 10;

/// Bases, encoders, output spaces and the kind of map, settled on first samples, with the samples that will judge.
#[derive(Debug, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct Template {
    /// Its identity, which its sums carry.
    pub(super) id: String,
    /// The operator of the first samples, with its linear map; its means are what sums are shifted by.
    pub(super) first: C2CNet,
    /// How outputs become coordinates, one entry per output.
    projections: Vec<Projection>,
    /// The points of each input, where the first samples share them.
    input_points: Vec<Option<Points>>,
    /// `None` if the map is linear.
    pub(super) landmarks: Option<Landmarks>,
    /// `None` unless the map is a network.
    pub(super) network: Option<Network>,
    pub(super) judges: Judges,
    symmetries: Symmetries,
    /// The error of the model of the first samples alone, on the same judges.
    pub(super) first_error: f64,
    /// How many of them it was fitted to.
    pub(super) first_samples: usize,
}

restore_settled!(Template);

impl Template {
    /// Settles everything on the training samples of `first`, as [`crate::fit`] does, and accumulates them: the sums are
    /// those of all samples that do not judge. A kernel map gets at most `centres` of them as centres; memory grows with the
    /// square of that number, and time with the square per sample.
    ///
    /// # Errors
    /// As [`crate::fit`]; if the settings want layers, or a network that needs more than coefficients.
    pub fn fit(
        first: &Dataset,
        config: &FitConfig,
        centres: usize,
        observer: &dyn Observer,
    ) -> Result<(Self, Accumulator)> {
        let mut config = config.clone();
        config.check()?;
        let mut network = None;
        match config.map.kind {
            MapKind::Layered => return Err(no_layers()),
            MapKind::Mlp => {
                Network::check(&config.map.mlp)?;
                network = Some(config.map.mlp.clone());
                config.map.kind = MapKind::Linear;
            }
            MapKind::Auto => config.map.budget = 0,
            MapKind::Linear | MapKind::Kernel => {}
        }
        let (rest, judges) = hold_out(first, config.validation, config.seed)?;
        let (model, _) = fit(&rest, &config, observer)?;
        Self::settle_on(model, (&rest, &judges), centres, network)
    }

    /// [`Template::fit`] as `plan` says.
    ///
    /// # Errors
    /// As [`crate::fit_plan`]; if the plan's map is one of layers, or a network that needs more than coefficients.
    pub fn fit_plan(
        first: &Dataset,
        plan: &Plan,
        centres: usize,
        observer: &dyn Observer,
    ) -> Result<(Self, Accumulator)> {
        let mut plan = plan.clone();
        let mut network = None;
        match &plan.map {
            MapPlan::Layered { .. } => return Err(no_layers()),
            MapPlan::Mlp { spec, .. } => {
                Network::check(spec)?;
                network = Some(MlpSpec::clone(spec));
                plan.map = MapPlan::Linear;
            }
            MapPlan::Linear | MapPlan::Kernel(_) => {}
        }
        let (rest, judges) = hold_out(first, plan.protocol.validation, plan.protocol.seed)?;
        let (model, _) = fit_plan(&rest, &plan, observer)?;
        Self::settle_on(model, (&rest, &judges), centres, network)
    }

    fn settle_on(
        model: C2CNet,
        (rest, judges): (&Dataset, &Dataset),
        centres: usize,
        network: Option<MlpSpec>,
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
        let seed = plan.protocol.seed;
        let network = network.map(|spec| Network::new(spec, seed, &rest.outputs));
        let mut template = Template {
            id: String::new(),
            first: model.with_maps(Box::new(linear.clone()), linear),
            projections,
            input_points,
            landmarks,
            network,
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
                return Ok(Accumulator {
                    sources: vec![source],
                    ..self.nothing()
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
        let outputs = outputs.map(|((name, decoder), projection)| {
            let field = field_named(&data.outputs, name, "output")?;
            Ok((decoder, projection, field))
        });
        let outputs = outputs.collect::<Result<Vec<_>>>()?;
        let sums = match self.network {
            None => {
                let coordinates = outputs.iter().map(|(d, p, field)| p.coordinates(d, field));
                self.sums(
                    &coefficients,
                    &stack(&coordinates.collect::<Result<Vec<_>>>()?),
                )
            }
            Some(_) => {
                let targets = outputs.iter().map(|(d, p, field)| p.targets(d, field));
                let targets = Targets::stack(targets.collect::<Result<_>>()?);
                Accumulator {
                    kept: Some(Kept::of(&coefficients, &targets)),
                    ..self.sums(&coefficients, &targets.coordinates)
                }
            }
        };
        Ok(Accumulator {
            sources: vec![source],
            ..sums
        })
    }

    fn nothing(&self) -> Accumulator {
        let map = self.first.coefficient_map();
        let none = |rows| Mat::zeros(rows, 0);
        Accumulator {
            kept: self.network.as_ref().map(|_| Kept::none()),
            ..self.sums(&none(map.inputs()), &none(map.outputs()))
        }
    }

    fn sums(&self, coefficients: &Mat<f64>, coordinates: &Mat<f64>) -> Accumulator {
        let (a, c) = (coefficients.as_ref(), coordinates.as_ref());
        Accumulator {
            template: self.id.clone(),
            sources: Vec::new(),
            moments: self.moments(coefficients, coordinates),
            kernel: self.landmarks.as_ref().map(|l| l.sums(a, c)),
            kept: None,
        }
    }

    pub(super) fn moments(&self, coefficients: &Mat<f64>, coordinates: &Mat<f64>) -> Moments {
        Moments::of(coefficients.as_ref(), coordinates.as_ref(), self.shift())
    }

    /// How many numbers of each sample the sums keep: 0, unless the map is a network, which is trained on the coefficients of
    /// all samples. Training takes several times their memory.
    pub fn kept_per_sample(&self) -> usize {
        let map = self.first.coefficient_map();
        self.network
            .as_ref()
            .map_or(0, |_| map.inputs() + map.outputs() + 2)
    }

    /// The choice of the bases and of the map.
    pub fn choices(&self) -> Vec<Choice> {
        let mut choices = Choice::of(&self.first);
        if self.network.is_some() {
            let map = choices.iter_mut().find(|c| c.subject == Subject::Map);
            map.into_iter().for_each(|c| c.chosen = "network".into());
        }
        choices
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

    pub(super) fn shift(&self) -> Shift<'_> {
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

fn no_layers() -> Error {
    Error::Config(
        "layers cannot be fitted to chunks of samples: choose `map.kind = \"linear\"`, \"kernel\", \"mlp\" or \"auto\", or fit \
         samples that are in memory"
            .into(),
    )
}

pub(super) fn damaged(what: &str) -> Error {
    Error::Data(format!("the template is damaged: {what}"))
}

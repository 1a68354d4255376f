//! Outputs whose nodes move with the inputs: whether points that differ from sample to sample are the nodes of one mesh,
//! and whether the inputs determine where they are.

use super::with_plan;
use crate::data::{Dataset, Field, Points, Symmetries};
use crate::encode::Kind;
use crate::fit::Displacements;
use crate::observe::Observer;
use crate::operator::MovingNodes;
use crate::plan::{Plan, Protocol};
use crate::report::{Choice, Subject};
use crate::settings::{FitConfig, InputConfig, OutputConfig, Space};
use crate::{Error, Result, linalg};
use faer::Mat;

/// How many samples are used to test whether nodes correspond.
const PROBE_SAMPLES: usize = 64;

/// Half of the samples must describe how nodes move in the others, up to this fraction of the movement.
const UNEXPLAINED: f64 = 1e-2;

/// Nodes count as predictable if their error is at most this fraction of the distance between neighbours.
const TOLERANCE: f64 = 0.02;

/// How many nodes are used to estimate the distance between neighbours.
const PROBE_NODES: usize = 200;

/// Outputs whose nodes move with the inputs.
#[derive(Default)]
pub(super) struct Moving {
    displacements: Vec<Displacements>,
    choices: Vec<Choice>,
}

impl Moving {
    /// Writes them into the plan that was chosen on mean places, and what was chosen before the rest.
    pub(super) fn into_plan(
        self,
        plan: &mut Plan,
        choices: &mut Vec<Choice>,
    ) -> Vec<Displacements> {
        for output in &mut plan.outputs {
            let moves = self.displacements.iter().find(|d| d.output == output.name);
            output.moving_nodes = moves.map(|d| Box::new(d.plan.clone()));
        }
        choices.splice(0..0, self.choices);
        self.displacements
    }
}

/// Finds outputs whose nodes move with the inputs and makes them functions on the mean places of the nodes: where nodes
/// move together, and the inputs predict where they are in held-out samples.
///
/// # Errors
/// If no model of the nodes can be planned.
pub(super) fn settle_nodes(
    mut train: Dataset,
    config: &FitConfig,
    observer: &dyn Observer,
) -> Result<(Dataset, Moving)> {
    let kinds = train.inputs.iter().map(|(name, _)| {
        let kinds = config.input_named(name).kinds.clone();
        (name.clone(), kinds)
    });
    let settings = node_settings(config.protocol(), kinds);
    let mut moving = Moving::default();
    for place in 0..train.outputs.len() {
        let (name, field) = &train.outputs[place];
        if !may_move(config, name) {
            continue;
        }
        let Some(reference) = reference_nodes(field)? else {
            continue;
        };
        let data = MovingNodes::data(&train.inputs, field, &reference)?;
        let (plan, rms_error) = plan_displacements(&data, &settings, observer)?;
        let part = rms_error / spacing(&reference);
        let moves = part <= TOLERANCE;
        moving.choices.push(Choice {
            subject: Subject::OutputNodes,
            field: name.clone(),
            candidates: Vec::new(),
            chosen: match moves {
                true => "move with the inputs".into(),
                false => "each sample's own".into(),
            },
            why: format!(
                "the inputs predict the nodes of held-out samples to within {part:.1e} of the distance between neighbours{}",
                match moves {
                    true => "; to keep them fixed, give the domain",
                    false => "",
                }
            ),
        });
        if moves {
            let output = name.clone();
            train.outputs[place].1 = field.on_shared(&reference)?;
            moving.displacements.push(Displacements {
                output,
                reference,
                data,
                plan,
            });
        }
    }
    Ok((train, moving))
}

/// A plan for displacements, and the root mean square of its error on held-out samples, as a length.
fn plan_displacements(
    data: &Dataset,
    settings: &FitConfig,
    observer: &dyn Observer,
) -> Result<(Plan, f64)> {
    with_plan(data.clone(), settings, observer, |_, chosen| {
        let judged = chosen.prepared.judged.and_then(|j| j.validation);
        let mut judged = judged.ok_or_else(|| {
            Error::Data("no held-out sample shows whether the inputs tell the nodes".into())
        })?;
        let outputs = &chosen.plan.outputs;
        judged.in_units(outputs.iter().map(|p| &p.sizes[..]));
        let dim = data.outputs.only()?.components() as f64;
        Ok((chosen.plan, (judged.mse * dim).sqrt()))
    })
}

/// How nodes are learned. Few displacements describe all of them: there is no basis to search for.
fn node_settings(
    protocol: Protocol,
    kinds: impl Iterator<Item = (String, Vec<Kind>)>,
) -> FitConfig {
    let input = |kinds| InputConfig {
        kinds,
        ..InputConfig::default()
    };
    FitConfig {
        seed: protocol.seed,
        validation: protocol.validation,
        withhold: 0.0,
        inputs: kinds.map(|(name, kinds)| (name, input(kinds))).collect(),
        output: OutputConfig {
            space: Some(Space::Learned),
            ..OutputConfig::default()
        },
        ..FitConfig::default()
    }
}

/// Whether the settings leave the output's domain open.
fn may_move(config: &FitConfig, name: &str) -> bool {
    let output: &OutputConfig = config.output_named(name);
    output.named_bases().is_none()
        && output.domain.is_none()
        && output.periodic.is_none()
        && config.symmetries == Symmetries::None
        && !config.map.takes_raw_coefficients()
}

/// The mean place of each node, if all samples have equally many and few displacements describe how they move, unlike
/// points drawn independently for each sample.
fn reference_nodes(field: &Field) -> Result<Option<Points>> {
    let Some(reference) = MovingNodes::mean_places(field) else {
        return Ok(None);
    };
    let coords = reference.coords();
    let (samples, coordinates) = (field.samples(), coords.len());
    let probed = samples.min(PROBE_SAMPLES).min(coordinates / 2);
    let displacement = |j: usize| {
        let points = field.points_of(j * samples / probed).coords();
        points.iter().zip(coords).map(|(z, x)| z - x)
    };
    let half = |first: usize, count: usize| {
        let mut half = Mat::zeros(coordinates, count);
        for j in 0..count {
            let column = half.col_as_slice_mut(j);
            let from = displacement(2 * j + first);
            column.iter_mut().zip(from).for_each(|(to, d)| *to = d);
        }
        half
    };
    let (known, others) = (half(0, probed.div_ceil(2)), half(1, probed / 2));
    if known.ncols() == 0 || others.ncols() == 0 {
        return Ok(None);
    }
    let all: f64 = linalg::column_norms_squared(others.as_ref()).iter().sum();
    let within = linalg::thin_svd(known.as_ref())?.u;
    let explained = linalg::mul(within.transpose(), others.as_ref());
    let explained: f64 = linalg::column_norms_squared(explained.as_ref())
        .iter()
        .sum();
    let together = all > 0.0 && all - explained <= UNEXPLAINED.powi(2) * all;
    Ok(together.then_some(reference))
}

/// The median distance from a node to its nearest neighbour.
fn spacing(nodes: &Points) -> f64 {
    let count = nodes.len().min(PROBE_NODES);
    let nearest = |p: usize| {
        let i = p * nodes.len() / count;
        let others = (0..nodes.len()).filter(|&j| j != i);
        let squared = others.map(|j| {
            let pairs = nodes.point(i).iter().zip(nodes.point(j));
            pairs.map(|(a, b)| (a - b).powi(2)).sum::<f64>()
        });
        squared.fold(f64::INFINITY, f64::min).sqrt()
    };
    let mut all: Vec<f64> = (0..count).map(nearest).collect();
    all.sort_unstable_by(f64::total_cmp);
    all[all.len() / 2]
}

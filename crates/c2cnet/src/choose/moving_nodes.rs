//! Outputs whose nodes move with the inputs: whether points that differ from sample to sample are the nodes of one mesh,
//! and whether the inputs tell where they are.

use crate::data::{Dataset, Field, Points, Symmetries};
use crate::encode::Kind;
use crate::operator::MovingNodes;
use crate::plan::{Plan, Protocol};
use crate::report::{Choice, Subject};
use crate::settings::{FitConfig, InputConfig, OutputConfig, Space};
use crate::{Result, linalg};
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
pub(crate) struct Moving {
    nodes: Vec<MovingNodes>,
    choices: Vec<Choice>,
}

impl Moving {
    /// Writes them into the plan that was chosen on reference nodes, and what was chosen before the rest.
    pub(crate) fn into_plan(self, plan: &mut Plan, choices: &mut Vec<Choice>) -> Vec<MovingNodes> {
        for output in &mut plan.outputs {
            output.moving_nodes = self.nodes.iter().any(|n| n.output() == output.name);
        }
        choices.splice(0..0, self.choices);
        self.nodes
    }
}

/// Fits a model of how far the nodes of an output of the data are from their reference, by settings; returns the root
/// mean square of its error on held-out samples, too.
type FitNodes<'a> = dyn Fn(&Dataset, usize, &Points, &FitConfig) -> Result<(MovingNodes, f64)> + 'a;

/// Finds outputs whose nodes move with the inputs and makes them functions on reference nodes: where nodes move
/// together, and the inputs tell where they are in samples that were held out.
///
/// # Errors
/// If nodes cannot be learned.
pub(crate) fn settle_nodes(
    mut train: Dataset,
    config: &FitConfig,
    fit_nodes: &FitNodes<'_>,
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
        let (nodes, error) = fit_nodes(&train, place, &reference, &settings)?;
        let (part, apart) = node_error(&reference, error);
        moving.choices.push(Choice {
            subject: Subject::OutputNodes,
            field: name.clone(),
            candidates: Vec::new(),
            chosen: match apart {
                true => "move with the inputs".into(),
                false => "each sample's own".into(),
            },
            why: format!(
                "the inputs predict the nodes of held-out samples to within {part:.1e} of the distance between neighbours{}",
                match apart {
                    true => "; to keep them fixed, give the domain",
                    false => "",
                }
            ),
        });
        if apart {
            train.outputs[place].1 = field.on_shared(&reference)?;
            moving.nodes.push(nodes);
        }
    }
    Ok((train, moving))
}

/// How nodes are learned. Few displacements describe all of them: there is no basis to search for.
pub(crate) fn node_settings(
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
    let Some(reference) = mean_places(field) else {
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

/// The mean over samples of each point, if samples have their own points, equally many in each.
pub(crate) fn mean_places(field: &Field) -> Option<Points> {
    let (n, dim) = (field.points_of(0).len(), field.dim());
    let samples = field.samples();
    let own = !field.is_vector() && field.shared_points().is_none();
    if !own || n < 3 || (0..samples).any(|k| field.points_of(k).len() != n) {
        return None;
    }
    let mut mean = vec![0.0; n * dim];
    for k in 0..samples {
        let coords = field.points_of(k).coords();
        mean.iter_mut().zip(coords).for_each(|(m, x)| *m += x);
    }
    mean.iter_mut().for_each(|m| *m /= samples as f64);
    Points::new(dim, mean).ok()
}

/// The root mean square error of predicted nodes as a part of the distance between neighbours, and whether it is
/// small enough to distinguish them.
fn node_error(reference: &Points, rms_error: f64) -> (f64, bool) {
    let part = rms_error / spacing(reference);
    (part, part <= TOLERANCE)
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

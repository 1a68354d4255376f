//! What an encoder loses and amplifies, against the strength of its regularisation.

use crate::Result;
use crate::basis::VectorBasis;
use crate::data::{Field, Observations};
use crate::encode::{
    BiasSplit, EncoderSpec, EncodingDiagnostics, FieldEncoder, Method, Regularisation, Spectrum,
};
use faer::Mat;
use serde::Serialize;
use std::ops::Range;

/// The most samples with their own points that are examined: each needs a factorisation.
const SCATTERED: usize = 32;

/// One part of an input under regularisations from strong to weak.
#[derive(Debug, Serialize)]
pub struct Sweep {
    /// Which input and component.
    #[serde(rename = "input")]
    pub label: String,
    /// Its basis, in words.
    pub basis: String,
    /// The regularisation's parameter by name.
    pub parameter: &'static str,
    /// Of the design matrix, largest first.
    pub singular_values: Vec<f64>,
    /// From strong to weak.
    #[serde(rename = "sweep")]
    pub rows: Vec<Row>,
}

/// One strength. Losses are means over samples of relative norms.
#[derive(Debug, Serialize)]
pub struct Row {
    /// The regularisation's parameter.
    pub parameter: f64,
    /// By how much noise is amplified at most.
    pub amplification: f64,
    /// How many singular directions are kept.
    pub kept: usize,
    /// How much of the input is lost.
    pub lost: f64,
    /// The loss due to regularisation.
    pub shrinkage: f64,
    /// The loss due to the basis.
    pub unrepresentable: f64,
    /// Whether the fit uses this strength.
    pub in_use: bool,
}

/// A sweep for each part of the input's basis.
pub(super) fn sweep(
    name: &str,
    encoder: &FieldEncoder,
    spec: EncoderSpec,
    field: &Field,
) -> Result<Vec<Sweep>> {
    let logged = match encoder.transform().takes_log() {
        true => Some(field.logarithm()?),
        false => None,
    };
    let field = logged.as_ref().unwrap_or(field);
    let parts = encoder.basis().parts().len();
    encoder
        .basis()
        .ranges()
        .zip(encoder.regularisations())
        .map(|((part, range), in_use)| {
            let mut label = format!("input {name}").trim_end().to_string();
            if logged.is_some() {
                label = format!("log of {label}");
            }
            if parts > 1 {
                label += &format!(", component {}", range.start);
            }
            let groups = groups(part, range, field)?;
            Ok(Sweep {
                label,
                basis: part.components()[0].describe(),
                parameter: match in_use {
                    Regularisation::Ridge { .. } => "lambda",
                    _ => "relative cut",
                },
                singular_values: groups[0].0.singular_values().to_vec(),
                rows: rows(&groups, spec, *in_use),
            })
        })
        .collect()
}

/// Samples with common points: their spectrum and their values.
fn groups(
    part: &VectorBasis,
    range: Range<usize>,
    field: &Field,
) -> Result<Vec<(Spectrum, Mat<f64>)>> {
    match field.observations() {
        Observations::Shared { points, values } => {
            let n = points.len();
            let stacked = Mat::from_fn(n * range.len(), field.samples(), |i, k| {
                values[range.start + i / n][(i % n, k)]
            });
            Ok(vec![(Spectrum::new(part.evaluate(points)?)?, stacked)])
        }
        Observations::PerSample(samples) => samples
            .iter()
            .take(SCATTERED)
            .map(|sample| {
                let n = sample.points.len();
                let values = &sample.values[range.start * n..range.end * n];
                let column = Mat::from_fn(values.len(), 1, |i, _| values[i]);
                Ok((Spectrum::new(part.evaluate(&sample.points)?)?, column))
            })
            .collect(),
    }
}

fn rows(groups: &[(Spectrum, Mat<f64>)], spec: EncoderSpec, in_use: Regularisation) -> Vec<Row> {
    let sigma = groups[0].0.singular_values().first().copied();
    let sigma = sigma.unwrap_or(0.0);
    let method = match in_use {
        Regularisation::Ridge { .. } => Method::Ridge,
        _ => Method::Svd,
    };
    let parameter = |r: &Regularisation| match *r {
        Regularisation::Ridge { lambda } => lambda,
        Regularisation::CutRelative { cut } => cut,
        Regularisation::CutAbsolute { cut } => cut / sigma,
    };
    let mut tried = EncoderSpec { method, ..spec }.candidates(sigma, groups[0].0.nrows());
    let here = parameter(&in_use);
    tried.retain(|r| (parameter(r) / here - 1.0).abs() > 1e-6);
    tried.push(in_use);
    tried.sort_by(|a, b| parameter(b).total_cmp(&parameter(a)));
    tried
        .iter()
        .map(|r| {
            let all: Vec<EncodingDiagnostics> = groups
                .iter()
                .map(|(spectrum, values)| EncodingDiagnostics::new(spectrum, *r, values.as_ref()))
                .collect();
            let bias: Vec<BiasSplit> = all.iter().flat_map(|d| d.bias.iter().copied()).collect();
            let mean = |part: &dyn Fn(&BiasSplit) -> f64| {
                let relative = |b: &BiasSplit| match b.norm_squared > 0.0 {
                    true => (part(b) / b.norm_squared).sqrt(),
                    false => 0.0,
                };
                bias.iter().map(relative).sum::<f64>() / bias.len() as f64
            };
            Row {
                parameter: parameter(r),
                amplification: all.iter().map(|d| d.amplification).fold(0.0, f64::max),
                kept: all.iter().map(|d| d.rank_kept).max().unwrap_or(0),
                lost: mean(&|b| b.shrinkage_squared + b.unrepresentable_squared),
                shrinkage: mean(&|b| b.shrinkage_squared),
                unrepresentable: mean(&|b| b.unrepresentable_squared),
                in_use: *r == in_use,
            }
        })
        .collect()
}

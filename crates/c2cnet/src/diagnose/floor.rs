//! The smallest error that bases of several families and sizes allow for an output.

use crate::basis::{
    BasisSpec, BuildContext, FieldBasis, FiniteElementsSpec, FourierKind, FourierSpec,
    PolynomialSpec, RandomFeaturesSpec,
};
use crate::data::{Field, Observations};
use crate::decode::{Evaluation, FieldDecoder};
use crate::metrics::{mean, relative};
use crate::operator::{FitConfig, Observer};
use crate::{Error, Result};
use faer::Mat;
use serde_json::{Value, json};

/// All bases compared for one output.
#[derive(Debug)]
pub struct Floors {
    /// The output's name.
    pub name: String,
    /// The output, in words.
    pub label: String,
    /// How many components.
    pub components: usize,
    /// The basis in use, in words.
    pub in_use: String,
    /// One entry a basis.
    pub all: Vec<Floor>,
}

/// One basis.
#[derive(Debug)]
pub struct Floor {
    /// The family, in words.
    pub family: String,
    /// `None` for the basis in use, which the settings name already.
    pub spec: Option<BasisSpec>,
    /// Of all components together.
    pub functions: usize,
    /// How many coordinates are kept.
    pub rank: usize,
    /// At the fitted points.
    pub fitted: f64,
    /// At points kept out of the fit; unknown where samples have points of their own.
    pub withheld: Option<f64>,
}

/// What the basis in use is called among the families.
pub const IN_USE: &str = "in use";

/// A smaller basis whose error is within this factor of the best is to be preferred.
const NEAR: f64 = 1.5;

impl Floor {
    /// What the basis is judged by: a small error at fitted points alone may be an interpolation
    /// that swings between them.
    fn judged(&self) -> f64 {
        self.withheld.unwrap_or(0.0).max(self.fitted)
    }
}

impl Floors {
    /// The smallest basis that is about as good as the best.
    pub fn recommended(&self) -> Option<usize> {
        let best = self
            .all
            .iter()
            .map(Floor::judged)
            .fold(f64::INFINITY, f64::min);
        (0..self.all.len())
            .filter(|&k| self.all[k].judged() <= NEAR * best)
            .min_by_key(|&k| self.all[k].functions)
    }

    /// The comparison as JSON.
    pub fn object(&self) -> Value {
        let one = |f: &Floor| {
            json!({
                "family": f.family,
                "basis": f.spec,
                "functions": f.functions,
                "rank": f.rank,
                "floor": f.fitted,
                "withheld_floor": f.withheld,
            })
        };
        json!({
            "output": self.label,
            "in_use": self.in_use,
            "floors": self.all.iter().map(one).collect::<Vec<_>>(),
            "recommended": self.recommended().map(|k| one(&self.all[k])),
        })
    }
}

/// Compares families and sizes, and the basis in use, for `field`.
///
/// # Errors
/// If the work is interrupted or the basis in use fails; others that fail are left out.
pub(super) fn compare(
    name: &str,
    field: &Field,
    in_use: &FieldDecoder,
    config: &FitConfig,
    observer: &dyn Observer,
) -> Result<Floors> {
    let cut = config.output_named(name).cut;
    let measure = |basis: FieldBasis, family: String, spec: Option<BasisSpec>| {
        let functions = basis.len();
        let (decoder, targets) =
            FieldDecoder::fit(basis, field, config.withhold, cut, config.seed)?;
        Ok::<Floor, Error>(Floor {
            family,
            functions,
            rank: decoder.rank(),
            fitted: targets.floor(),
            withheld: withheld_floor(&decoder, field)?,
            spec,
        })
    };
    let mut all = Vec::new();
    for (family, spec) in candidates(field, config.search.max_functions) {
        if observer.cancelled() {
            return Err(Error::Interrupted);
        }
        observer.step(&format!("the floor of {family}"));
        let basis = build(&spec, name, field, config);
        let floor = basis.and_then(|basis| measure(basis, family.to_string(), Some(spec)));
        // A family that does not suit the points is no candidate.
        all.extend(floor.ok());
    }
    all.push(measure(in_use.basis().clone(), IN_USE.to_string(), None)?);
    Ok(Floors {
        name: name.to_string(),
        components: field.components(),
        label: format!("output {name}").trim_end().to_string(),
        in_use: in_use.basis().describe(),
        all,
    })
}

/// Families by sizes that double, up to half as many functions as points.
fn candidates(field: &Field, max_functions: usize) -> Vec<(&'static str, BasisSpec)> {
    let d = field.dim();
    let points = (0..field.samples()).map(|k| field.points_of(k).len()).min();
    let most = max_functions.min(points.unwrap_or(0) / 2);
    let sizes: Vec<usize> = (3..)
        .map(|k| 1usize << k)
        .take_while(|&m| m <= most)
        .collect();
    let fourier = |kind: FourierKind, m: usize| {
        BasisSpec::from(FourierSpec {
            kind,
            functions: Some(m),
            modes: None,
        })
    };
    let mut all = Vec::new();
    for &m in &sizes {
        // About 16 functions a patch on an interval, 32 elsewhere.
        let patches = if d == 1 {
            m / 16
        } else {
            (m as f64 / 32.0).powf(1.0 / d as f64).floor() as usize
        };
        all.push((
            "random features",
            BasisSpec::from(RandomFeaturesSpec {
                functions: m,
                partitions: vec![patches.max(1); d],
                scale: 3.0,
                activation: Default::default(),
                coordinates: Default::default(),
                seed: 0,
            }),
        ));
    }
    for (label, kind) in [
        ("Fourier, periodic", FourierKind::Periodic),
        ("Fourier, sine", FourierKind::Sine),
        ("Fourier, cosine", FourierKind::Cosine),
    ] {
        all.extend(sizes.iter().map(|&m| (label, fourier(kind, m))));
    }
    for &m in &sizes {
        let spec = PolynomialSpec {
            functions: Some(m),
            ..Default::default()
        };
        all.push(("polynomials", BasisSpec::from(spec)));
    }
    if d <= 2 {
        for &m in &sizes {
            let spec = FiniteElementsSpec {
                degree: Default::default(),
                functions: Some(m),
                size: None,
                mesh: Default::default(),
                boundary: Default::default(),
                slack: 0.0,
            };
            all.push(("finite elements", BasisSpec::from(spec)));
        }
    }
    all
}

fn build(spec: &BasisSpec, name: &str, field: &Field, config: &FitConfig) -> Result<FieldBasis> {
    let points = field.bounding_box();
    let domain = config.output_named(name).domain.as_ref().unwrap_or(&points);
    let one = spec.build(BuildContext {
        points: field.shared_points(),
        ..BuildContext::on(domain)
    })?;
    FieldBasis::separate(vec![one; field.components()])
}

/// The mean relative error at withheld points of the best approximation at the fitted ones.
fn withheld_floor(decoder: &FieldDecoder, field: &Field) -> Result<Option<f64>> {
    if matches!(field.observations(), Observations::PerSample(_)) {
        return Ok(None);
    }
    let evaluation = Evaluation::new(decoder, field)?;
    let nothing = Mat::<f64>::zeros(decoder.rank(), field.samples());
    // The error of predicting nothing is the norm of the truth.
    let norms = evaluation.unseen_errors_squared(nothing.as_ref());
    Ok(match (&evaluation.unseen_floor_squared, norms) {
        (Some(floor), Some((_, norms))) => {
            let each = floor.iter().zip(&norms).map(|(&e, &n)| relative(e, n));
            Some(mean(&each.collect::<Vec<_>>()))
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floor(functions: usize, fitted: f64, withheld: Option<f64>) -> Floor {
        Floor {
            family: String::new(),
            spec: None,
            functions,
            rank: functions,
            fitted,
            withheld,
        }
    }

    #[test]
    fn the_smallest_of_the_good_is_recommended() {
        let floors = Floors {
            name: String::new(),
            components: 1,
            label: String::new(),
            in_use: String::new(),
            all: vec![
                floor(16, 1e-2, Some(1e-2)),
                floor(64, 1.2e-5, Some(1.3e-5)),
                floor(256, 1e-5, Some(1e-5)),
                // Interpolates, and swings in between.
                floor(32, 1e-9, Some(1.0)),
            ],
        };
        assert_eq!(floors.recommended(), Some(1));
    }
}

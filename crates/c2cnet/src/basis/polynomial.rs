//! Polynomials on the box.
//!
//! With $s = 2(x - l)/(u - l) - 1 \in [-1, 1]$ along each axis, products over the axes of
//!
//! $$T_k(s) = \cos(k \arccos s)\qquad\text{or}\qquad \sqrt{2k+1}\,P_k(s),$$
//!
//! the Chebyshev polynomials in their usual scale, or the Legendre polynomials orthonormal with
//! respect to the uniform probability measure on the box. Both come from three-term recurrences,
//! which are stable on $[-1, 1]$.

use super::family::split_product;
use super::products::{ProductFamily, Products};
use super::tensor::{IndexSet, MAX_FUNCTIONS};
use super::{BasisFamily, BuildContext, Ladder, LadderRequest};
use crate::cite::{self, Reference};
use crate::data::Bounds;
use crate::{Error, Result};
use documented::Documented;
use serde::{Deserialize, Serialize};

/// Settings of a polynomial basis; exactly one of `degrees`, `total_degree` and `functions`.
///
/// | Name | Default | Purpose | Range |
/// |---|---|---|---|
/// | `kind` | `legendre` | which polynomials of one variable | `chebyshev`, `legendre` |
/// | `degrees` | | all products up to this degree along each axis | one entry per axis |
/// | `total_degree` | | all products whose degrees add up to at most this | up to 1,000,000 functions |
/// | `functions` | | how many functions, $m$: the products of smallest total degree | 1 to 1,000,000 |
///
/// Products of equal total degree come in lexicographic order of their degrees.
#[derive(Debug, Clone, PartialEq, Default, Documented, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolynomialSpec {
    /// Which polynomials of one variable.
    #[serde(default)]
    pub kind: PolynomialKind,
    /// The largest degree along each axis.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub degrees: Option<Vec<usize>>,
    /// The largest sum of degrees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_degree: Option<usize>,
    /// How many products of smallest total degree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub functions: Option<usize>,
}

impl PolynomialSpec {
    /// This many products of smallest total degree.
    pub fn new(kind: PolynomialKind, functions: usize) -> Self {
        PolynomialSpec {
            kind,
            functions: Some(functions),
            ..PolynomialSpec::default()
        }
    }
}

/// Which polynomials of one variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PolynomialKind {
    /// $T_k(s)$
    Chebyshev,
    /// $\sqrt{2k+1}\,P_k(s)$
    #[default]
    Legendre,
}

impl PolynomialKind {
    /// $T_{k+1} = 2 s T_k - T_{k-1}$ or $(k+1) P_{k+1} = (2k+1) s P_k - k P_{k-1}$.
    pub(super) fn fill(self, t: f64, values: &mut [f64]) {
        let s = 2.0 * t - 1.0;
        let (mut before, mut current) = (0.0, 1.0);
        for (k, value) in values.iter_mut().enumerate() {
            let k = k as f64;
            let next = match self {
                PolynomialKind::Chebyshev if k == 0.0 => s,
                PolynomialKind::Chebyshev => 2.0 * s * current - before,
                PolynomialKind::Legendre => {
                    ((2.0 * k + 1.0) * s * current - k * before) / (k + 1.0)
                }
            };
            *value = match self {
                PolynomialKind::Chebyshev => current,
                PolynomialKind::Legendre => (2.0 * k + 1.0).sqrt() * current,
            };
            (before, current) = (current, next);
        }
    }
}

impl BasisFamily for PolynomialSpec {
    const NAME: &'static str = "polynomial";
    const MIRRORED: bool = true;
    const DOCUMENTATION: &'static str = Self::DOCS;
    type Basis = Polynomial;

    fn build(&self, context: BuildContext<'_>) -> Result<Polynomial> {
        Polynomial::new(context.domain.clone(), self.clone())
    }

    fn noun(&self) -> String {
        match self.kind {
            PolynomialKind::Chebyshev => "Chebyshev polynomial".into(),
            PolynomialKind::Legendre => "Legendre polynomial".into(),
        }
    }

    fn references(&self) -> Vec<Reference> {
        vec![cite::SPECTRAL_BASES]
    }

    /// Legendre polynomials; Chebyshev's span the same.
    fn ladders(_: &LadderRequest<'_>) -> Vec<Ladder> {
        let functions = |size| PolynomialSpec::new(PolynomialKind::Legendre, size);
        let degrees = |size: usize, stretch| {
            let counts = split_product(size as f64, stretch)?;
            let spec = PolynomialSpec {
                degrees: Some(counts.iter().map(|c| c - 1).collect()),
                ..PolynomialSpec::default()
            };
            Some(spec.into())
        };
        vec![Ladder::new(move |size| Some(functions(size).into())).with_stretch(degrees)]
    }
}

/// A polynomial basis.
pub type Polynomial = Products<PolynomialSpec>;

impl ProductFamily for PolynomialSpec {
    fn indices(&self, domain: &Bounds) -> Result<IndexSet> {
        let dim = domain.dim();
        let smallest = |functions, setting: String| {
            IndexSet::smallest(dim, functions, u64::from, &format!("polynomial: {setting}"))
        };
        match (&self.degrees, self.total_degree, self.functions) {
            (Some(degrees), None, None) => {
                let counts: Vec<usize> = degrees.iter().map(|p| p.saturating_add(1)).collect();
                IndexSet::tensor(dim, &counts, &format!("polynomial: degrees = {degrees:?}"))
            }
            (None, Some(degree), None) => smallest(
                simplex_size(dim, degree),
                format!("total_degree = {degree}"),
            ),
            (None, None, Some(functions)) => {
                smallest(functions, format!("functions = {functions}"))
            }
            (degrees, total_degree, functions) => {
                let given: Vec<&str> = [
                    ("`degrees`", degrees.is_some()),
                    ("`total_degree`", total_degree.is_some()),
                    ("`functions`", functions.is_some()),
                ]
                .iter()
                .filter_map(|&(name, given)| given.then_some(name))
                .collect();
                Err(Error::Config(format!(
                    "polynomial: give exactly one of `degrees`, `total_degree` and `functions`; given: {}",
                    if given.is_empty() {
                        "none".into()
                    } else {
                        given.join(", ")
                    }
                )))
            }
        }
    }

    fn fill(&self, _axis: usize, t: f64, values: &mut [f64]) {
        self.kind.fill(t, values);
    }

    fn describe(&self, len: usize) -> String {
        let choice = match (&self.degrees, self.total_degree) {
            (Some(degrees), _) => format!("degrees {degrees:?}"),
            (_, Some(degree)) => format!("total degree {degree}"),
            _ => "smallest total degree".into(),
        };
        format!("{len} {:?} polynomials, {choice}", self.kind)
    }
}

/// $\binom{p + d}{d}$, or anything beyond [`MAX_FUNCTIONS`].
fn simplex_size(dim: usize, degree: usize) -> usize {
    // Of the two symmetric forms the one with fewer factors; partial products are binomials and
    // grow, so the loop ends before it overflows.
    let (few, many) = (dim.min(degree), dim.max(degree));
    let mut size = 1usize;
    for k in 1..=few {
        if size > MAX_FUNCTIONS || many > MAX_FUNCTIONS {
            return MAX_FUNCTIONS + 1;
        }
        size = size * (many + k) / k;
    }
    size
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::basis::{Basis, conformance};
    use crate::data::Points;
    use crate::linalg::symmetric_eigen;
    use faer::Mat;

    const KINDS: [PolynomialKind; 2] = [PolynomialKind::Chebyshev, PolynomialKind::Legendre];

    fn degrees(kind: PolynomialKind, degrees: &[usize]) -> PolynomialSpec {
        PolynomialSpec {
            kind,
            degrees: Some(degrees.to_vec()),
            ..Default::default()
        }
    }

    fn total(kind: PolynomialKind, degree: usize) -> PolynomialSpec {
        PolynomialSpec {
            kind,
            total_degree: Some(degree),
            ..Default::default()
        }
    }

    #[test]
    fn conforms_in_every_setting() {
        for kind in KINDS {
            for dim in 1..4 {
                let sides = (0..dim).map(|k| [-(k as f64), 1.0 + k as f64]).collect();
                let domain = Bounds::new(sides).unwrap();
                let first = PolynomialSpec {
                    kind,
                    functions: Some(29),
                    ..Default::default()
                };
                for spec in [degrees(kind, &[5, 4, 3][..dim]), total(kind, 4), first] {
                    let basis = Polynomial::new(domain.clone(), spec).unwrap();
                    conformance::check(&basis, <[f64]>::to_vec);
                }
            }
        }
    }

    #[test]
    fn chebyshev_is_a_cosine() {
        let domain = Bounds::new(vec![[-1.0, 1.0]]).unwrap();
        let basis = Polynomial::new(domain, degrees(PolynomialKind::Chebyshev, &[40])).unwrap();
        let points = Points::linspace(-1.0, 1.0, 57);
        let phi = basis.evaluate(&points).unwrap().to_dense();
        for (i, x) in points.iter().enumerate() {
            for k in 0..=40 {
                let expected = (k as f64 * x[0].acos()).cos();
                assert!((phi[(i, k)] - expected).abs() < 1e-12);
            }
        }
    }

    /// Gauss's rule (Golub and Welsch) integrates products of degree up to 9 by 2 exactly.
    #[test]
    fn legendre_is_orthonormal() {
        let n = 12;
        let jacobi = Mat::from_fn(n, n, |i, j| {
            let k = i.max(j) as f64;
            if i.abs_diff(j) == 1 {
                k / (4.0 * k * k - 1.0).sqrt()
            } else {
                0.0
            }
        });
        let (nodes, vectors) = symmetric_eigen(jacobi.as_ref()).unwrap();
        let domain = Bounds::new(vec![[-1.0, 1.0], [2.0, 6.0]]).unwrap();
        let basis = Polynomial::new(domain, total(PolynomialKind::Legendre, 9)).unwrap();
        let mut coords = Vec::new();
        let mut weights = Vec::new();
        for a in 0..n {
            for b in 0..n {
                coords.extend([nodes[a], 4.0 + 2.0 * nodes[b]]);
                weights.push((vectors[(0, a)] * vectors[(0, b)]).powi(2));
            }
        }
        let points = Points::new(2, coords).unwrap();
        let phi = basis.evaluate(&points).unwrap().to_dense();
        for a in 0..basis.len() {
            for b in 0..basis.len() {
                let product: f64 = (0..n * n)
                    .map(|i| weights[i] * phi[(i, a)] * phi[(i, b)])
                    .sum();
                let expected = f64::from(u8::from(a == b));
                assert!((product - expected).abs() < 1e-12, "{a} {b}: {product}");
            }
        }
    }

    #[test]
    fn total_degree_has_binomially_many() {
        for (dim, degree, size) in [(1, 7, 8), (2, 3, 10), (3, 4, 35), (5, 0, 1), (30, 2, 496)] {
            let spec = total(PolynomialKind::Legendre, degree);
            let basis = Polynomial::new(Bounds::unit(dim), spec).unwrap();
            assert_eq!(basis.len(), size);
            let largest = basis.indices().iter().map(|i| i.iter().sum::<u32>()).max();
            assert_eq!(largest, Some(degree as u32));
        }
    }

    #[test]
    fn flat_side_gives_numbers() {
        let domain = Bounds::new(vec![[0.0, 1.0], [2.0, 2.0]]).unwrap();
        for kind in KINDS {
            let basis = Polynomial::new(domain.clone(), degrees(kind, &[3, 3])).unwrap();
            conformance::check(&basis, <[f64]>::to_vec);
        }
    }

    #[test]
    fn impossible_settings_are_errors() {
        let parse = |text| serde_json::from_str::<PolynomialSpec>(text);
        assert!(parse(r#"{"degrees": [4], "degree": 3}"#).is_err());
        assert!(parse(r#"{"kind": "hermite", "degrees": [4]}"#).is_err());
        for text in [
            r#"{"degrees": [4], "functions": 4}"#,
            r#"{"total_degree": 4, "functions": 4}"#,
            r#"{"kind": "chebyshev"}"#,
            r#"{"degrees": [3]}"#,
            r#"{"degrees": [18446744073709551615, 3]}"#,
            r#"{"total_degree": 18446744073709551615}"#,
            r#"{"total_degree": 9999999}"#,
            r#"{"functions": 0}"#,
        ] {
            let error = Polynomial::new(Bounds::unit(2), parse(text).unwrap()).unwrap_err();
            assert!(error.to_string().starts_with("polynomial: "), "{error}");
        }
    }
}

//! Trigonometric functions on the box.
//!
//! With $t = (x - l)/(u - l)$ along each axis, the functions of one variable are
//!
//! | kind | $g_0, g_1, g_2, \dots$ | frequency of $g_i$ |
//! |---|---|---|
//! | `periodic` | $1, \cos 2\pi t, \sin 2\pi t, \cos 4\pi t, \dots$ | $\lceil i/2\rceil$ |
//! | `sine` | $\sin \pi t, \sin 2\pi t, \dots$ | $i + 1$ |
//! | `cosine` | $1, \cos \pi t, \cos 2\pi t, \dots$ | $i$ |
//!
//! and the basis consists of their products over the axes, without normalisation: sines vanish on
//! the walls, cosines have no slope there, periodic functions repeat with the side as period.

use super::family::split_product;
use super::products::{ProductFamily, Products};
use super::tensor::{Cost, IndexSet};
use super::{BasisFamily, BuildContext, Ladder, LadderRequest};
use crate::cite::{self, Reference};
use crate::data::Bounds;
use crate::{Error, Result};
use documented::Documented;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// Settings of a trigonometric basis; exactly one of `modes` and `functions`.
///
/// | Name | Default | Purpose | Range |
/// |---|---|---|---|
/// | `kind` | `periodic` | which functions of one variable | `periodic`, `sine`, `cosine` |
/// | `modes` | | all products of this many functions along each axis | one entry per axis, each at least 1 |
/// | `functions` | | how many functions, $m$: the products of smallest frequency | 1 to 1,000,000 |
///
/// The frequency of a product is the Euclidean norm of its frequencies along the axes, counted in
/// waves a side whatever the side's length; ties are broken by the order of the table above, the
/// last axis first. A cosine and its sine have equal frequency and are separate functions (real
/// products, not complex pairs), so `periodic` is closed under translation only where the cut
/// falls between frequencies: for `modes` that means odd entries.
#[derive(Debug, Clone, PartialEq, Default, Documented, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FourierSpec {
    /// Which functions of one variable.
    #[serde(default)]
    pub kind: FourierKind,
    /// Functions along each axis, all products of which are taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modes: Option<Vec<usize>>,
    /// How many products of smallest frequency.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub functions: Option<usize>,
}

impl FourierSpec {
    /// This many products of smallest frequency.
    pub fn new(kind: FourierKind, functions: usize) -> Self {
        FourierSpec {
            kind,
            modes: None,
            functions: Some(functions),
        }
    }
}

/// Which trigonometric functions of one variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FourierKind {
    /// $1, \cos 2\pi k t, \sin 2\pi k t$
    #[default]
    Periodic,
    /// $\sin \pi k t$, $k \ge 1$
    Sine,
    /// $\cos \pi k t$, $k \ge 0$
    Cosine,
}

impl FourierKind {
    /// Waves (half-waves for sines and cosines) of $g_i$ along the side.
    pub(super) fn frequency(self, i: u32) -> u32 {
        match self {
            FourierKind::Periodic => i.div_ceil(2),
            FourierKind::Sine => i + 1,
            FourierKind::Cosine => i,
        }
    }

    /// The square of the frequency.
    pub(super) fn cost(self) -> Cost {
        match self {
            FourierKind::Periodic => |i| u64::from(FourierKind::Periodic.frequency(i)).pow(2),
            FourierKind::Sine => |i| u64::from(FourierKind::Sine.frequency(i)).pow(2),
            FourierKind::Cosine => |i| u64::from(FourierKind::Cosine.frequency(i)).pow(2),
        }
    }

    pub(super) fn fill(self, t: f64, values: &mut [f64]) {
        for (i, value) in (0u32..).zip(values) {
            let k = f64::from(self.frequency(i));
            *value = match self {
                FourierKind::Periodic if i % 2 == 1 => (2.0 * PI * k * t).cos(),
                FourierKind::Periodic if i > 0 => (2.0 * PI * k * t).sin(),
                FourierKind::Periodic => 1.0,
                FourierKind::Sine => (PI * k * t).sin(),
                FourierKind::Cosine => (PI * k * t).cos(),
            };
        }
    }
}

impl BasisFamily for FourierSpec {
    const NAME: &'static str = "fourier";
    const MIRRORED: bool = true;
    const SEARCHED_ON_RINGS: bool = true;
    const DOCUMENTATION: &'static str = Self::DOCS;
    type Basis = Fourier;

    fn build(&self, context: BuildContext<'_>) -> Result<Fourier> {
        Fourier::new(context.domain.clone(), self.clone())
    }

    fn noun(&self) -> String {
        let kind = match self.kind {
            FourierKind::Periodic => "periodic",
            FourierKind::Sine => "sine",
            FourierKind::Cosine => "cosine",
        };
        format!("{kind} Fourier function")
    }

    fn references(&self) -> Vec<Reference> {
        vec![cite::SPECTRAL_BASES]
    }

    /// On a ring only what closes; where some sides are periodic and others are not, the family `mixed` is asked.
    fn ladders(request: &LadderRequest<'_>) -> Vec<Ladder> {
        let domain = request.domain;
        if domain.has_period() {
            let closed = (0..domain.dim()).all(|k| domain.is_periodic(k));
            return closed
                .then(|| ladder(FourierKind::Periodic, true))
                .into_iter()
                .collect();
        }
        let kinds = [
            FourierKind::Cosine,
            FourierKind::Sine,
            FourierKind::Periodic,
        ];
        kinds.map(|kind| ladder(kind, false)).to_vec()
    }
}

/// Bases of one kind; on a ring with the sine of each cosine.
fn ladder(kind: FourierKind, ring: bool) -> Ladder {
    let functions = move |size: usize| FourierSpec::new(kind, if ring { size | 1 } else { size });
    let modes = move |size: usize, stretch| {
        let mut modes = split_product(size as f64, stretch)?;
        if kind == FourierKind::Periodic {
            // A cosine with its sine.
            modes.iter_mut().for_each(|m| *m |= 1);
        }
        Some(FourierSpec {
            kind,
            modes: Some(modes),
            functions: None,
        })
    };
    Ladder::new(move |size| Some(functions(size).into()))
        .with_stretch(move |size, stretch| modes(size, stretch).map(Into::into))
}

/// A trigonometric basis.
pub type Fourier = Products<FourierSpec>;

impl ProductFamily for FourierSpec {
    fn indices(&self, domain: &Bounds) -> Result<IndexSet> {
        let dim = domain.dim();
        match (&self.modes, self.functions) {
            (Some(modes), None) => {
                IndexSet::tensor(dim, modes, &format!("fourier: modes = {modes:?}"))
            }
            (None, Some(functions)) => {
                let setting = format!("fourier: functions = {functions}");
                IndexSet::smallest(dim, functions, self.kind.cost(), &setting)
            }
            (modes, functions) => {
                let word = |given: bool| if given { "given" } else { "missing" };
                Err(Error::Config(format!(
                    "fourier: give exactly one of `modes` ({}) and `functions` ({})",
                    word(modes.is_some()),
                    word(functions.is_some()),
                )))
            }
        }
    }

    fn fill(&self, _axis: usize, t: f64, values: &mut [f64]) {
        self.kind.fill(t, values);
    }

    fn describe(&self, len: usize) -> String {
        let kind = format!("{:?}", self.kind).to_lowercase();
        match &self.modes {
            Some(modes) => format!("{len} {kind} Fourier functions, modes {modes:?}"),
            None => format!("{len} {kind} Fourier functions of smallest frequency"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::basis::{Basis, conformance};
    use crate::data::Points;

    const KINDS: [FourierKind; 3] = [
        FourierKind::Periodic,
        FourierKind::Sine,
        FourierKind::Cosine,
    ];

    fn modes(kind: FourierKind, modes: &[usize]) -> FourierSpec {
        FourierSpec {
            kind,
            modes: Some(modes.to_vec()),
            functions: None,
        }
    }

    fn functions(kind: FourierKind, functions: usize) -> FourierSpec {
        FourierSpec {
            kind,
            modes: None,
            functions: Some(functions),
        }
    }

    #[test]
    fn conforms_in_every_setting() {
        for kind in KINDS {
            for dim in 1..4 {
                let sides = (0..dim).map(|k| [-(k as f64), 1.0 + k as f64]).collect();
                let domain = Bounds::new(sides).unwrap();
                for spec in [modes(kind, &[5, 4, 3][..dim]), functions(kind, 37)] {
                    let basis = Fourier::new(domain.clone(), spec).unwrap();
                    conformance::check(&basis, <[f64]>::to_vec);
                }
            }
        }
    }

    /// The mean of products over equally spaced points is the identity times $1$ or $1/2$ an axis.
    #[test]
    fn orthogonal_on_the_natural_grid() {
        let n = 16;
        for kind in KINDS {
            // Periodic: one period; sines: the walls add nothing; cosines: midpoints.
            let shift = if kind == FourierKind::Cosine {
                0.5
            } else {
                0.0
            };
            let axis: Vec<f64> = (0..n).map(|i| (i as f64 + shift) / n as f64).collect();
            let coords = axis
                .iter()
                .flat_map(|&x| axis.iter().flat_map(move |&y| [3.0 * x - 1.0, y]))
                .collect();
            let domain = Bounds::new(vec![[-1.0, 2.0], [0.0, 1.0]]).unwrap();
            let basis = Fourier::new(domain, modes(kind, &[7, 5])).unwrap();
            let phi = basis
                .evaluate(&Points::new(2, coords).unwrap())
                .unwrap()
                .to_dense();
            for (a, index) in basis.indices().iter().enumerate() {
                for b in 0..basis.len() {
                    let mean: f64 =
                        (0..n * n).map(|i| phi[(i, a)] * phi[(i, b)]).sum::<f64>() / (n * n) as f64;
                    let square: f64 = index
                        .iter()
                        .map(|&i| if kind.frequency(i) == 0 { 1.0 } else { 0.5 })
                        .product();
                    let expected = if a == b { square } else { 0.0 };
                    assert!((mean - expected).abs() < 1e-13, "{kind:?} {a} {b}: {mean}");
                }
            }
        }
    }

    #[test]
    fn smallest_frequencies_come_first() {
        let basis = Fourier::new(Bounds::unit(2), functions(FourierKind::Sine, 4)).unwrap();
        let indices: Vec<&[u32]> = basis.indices().iter().collect();
        // Frequencies (1,1), (1,2), (2,1), (2,2); then (1,3) with 10 > 8.
        assert_eq!(indices, [[0, 0], [0, 1], [1, 0], [1, 1]]);
        let x = Points::new(2, vec![0.3, 0.2]).unwrap();
        let row = basis.evaluate(&x).unwrap().to_dense();
        let expected = (PI * 0.3).sin() * (2.0 * PI * 0.2).sin();
        assert!((row[(0, 1)] - expected).abs() < 1e-15);
    }

    #[test]
    fn flat_side_gives_numbers() {
        let domain = Bounds::new(vec![[0.0, 1.0], [2.0, 2.0]]).unwrap();
        for kind in KINDS {
            let basis = Fourier::new(domain.clone(), modes(kind, &[3, 3])).unwrap();
            conformance::check(&basis, <[f64]>::to_vec);
        }
    }

    #[test]
    fn impossible_settings_are_errors() {
        let parse = |text| serde_json::from_str::<FourierSpec>(text);
        assert!(parse(r#"{"modes": [4], "mode": 3}"#).is_err());
        assert!(parse(r#"{"kind": "haar", "modes": [4]}"#).is_err());
        for text in [
            r#"{"modes": [4], "functions": 4}"#,
            r#"{"kind": "sine"}"#,
            r#"{"modes": [0]}"#,
            r#"{"modes": [3, 3]}"#,
            r#"{"modes": [123456789]}"#,
            r#"{"functions": 0}"#,
            r#"{"functions": 123456789}"#,
        ] {
            let error = Fourier::new(Bounds::unit(1), parse(text).unwrap()).unwrap_err();
            assert!(error.to_string().starts_with("fourier: "), "{error}");
        }
    }
}

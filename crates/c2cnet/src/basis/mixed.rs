//! Products of functions of one variable that differ from axis to axis: waves around a ring, polynomials along a line.

use super::products::{ProductFamily, Products};
use super::tensor::IndexSet;
use super::{BasisFamily, BuildContext, Ladder, LadderRequest};
use super::{FourierKind, PolynomialKind};
use crate::data::Bounds;
use crate::error::counted;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// Settings of a basis with functions of its own along each axis.
///
/// | Name | Default | Purpose | Range |
/// |---|---|---|---|
/// | `kinds` | | which functions along each axis | `periodic`, `sine`, `cosine`, `legendre`, `chebyshev`, one entry per axis |
/// | `modes` | | how many of them; all products are taken | one entry per axis, each at least 1 |
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MixedSpec {
    /// Which functions along each axis.
    pub kinds: Vec<AxisKind>,
    /// How many along each axis.
    pub modes: Vec<usize>,
}

/// Which functions of one variable, as in the families `fourier` and `polynomial`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AxisKind {
    /// $1, \cos 2\pi k t, \sin 2\pi k t$
    Periodic,
    /// $\sin \pi k t$, $k \ge 1$
    Sine,
    /// $\cos \pi k t$, $k \ge 0$
    Cosine,
    /// Legendre polynomials.
    Legendre,
    /// Chebyshev polynomials.
    Chebyshev,
}

impl AxisKind {
    fn fill(self, t: f64, values: &mut [f64]) {
        match self {
            AxisKind::Periodic => FourierKind::Periodic.fill(t, values),
            AxisKind::Sine => FourierKind::Sine.fill(t, values),
            AxisKind::Cosine => FourierKind::Cosine.fill(t, values),
            AxisKind::Legendre => PolynomialKind::Legendre.fill(t, values),
            AxisKind::Chebyshev => PolynomialKind::Chebyshev.fill(t, values),
        }
    }
}

impl BasisFamily for MixedSpec {
    const NAME: &'static str = "mixed";
    const MIRRORED: bool = true;
    const SEARCHED_ON_RINGS: bool = true;
    type Basis = Mixed;

    fn build(&self, context: BuildContext<'_>) -> Result<Mixed> {
        Mixed::new(context.domain.clone(), self.clone())
    }

    fn noun(&self) -> String {
        "product of functions".into()
    }

    fn nouns(&self) -> String {
        "products of functions".into()
    }

    /// For boxes of which some sides are periodic and others are not; the other families serve the rest.
    fn ladders(request: &LadderRequest<'_>) -> Vec<Ladder> {
        let periodic: Vec<bool> = (0..request.domain.dim())
            .map(|k| request.domain.is_periodic(k))
            .collect();
        if periodic.iter().all(|p| *p == periodic[0]) {
            return Vec::new();
        }
        let across = [AxisKind::Legendre, AxisKind::Cosine, AxisKind::Sine];
        let kinds = across.map(|across| {
            let kind = |&ring: &bool| if ring { AxisKind::Periodic } else { across };
            periodic.iter().map(kind).collect::<Vec<_>>()
        });
        kinds.map(ladder).to_vec()
    }
}

fn ladder(kinds: Vec<AxisKind>) -> Ladder {
    let stretched = kinds.clone();
    let spec = |kinds: &[AxisKind], along: &dyn Fn(usize) -> f64| {
        let modes = kinds.iter().enumerate().map(|(k, kind)| {
            let count = along(k).round().max(1.0) as usize;
            // A cosine with its sine.
            if *kind == AxisKind::Periodic {
                count | 1
            } else {
                count
            }
        });
        MixedSpec {
            kinds: kinds.to_vec(),
            modes: modes.collect(),
        }
    };
    Ladder::new(move |size| {
        let along = (size as f64).powf(1.0 / kinds.len() as f64);
        Some(spec(&kinds, &|_| along).into())
    })
    .with_stretch(move |size, stretch| {
        let along = [
            (size as f64 * stretch).sqrt(),
            (size as f64 / stretch).sqrt(),
        ];
        let enough = along.iter().all(|a| *a >= 0.75);
        enough.then(|| spec(&stretched, &|k| along[k]).into())
    })
}

/// Products of functions that differ from axis to axis.
pub type Mixed = Products<MixedSpec>;

impl ProductFamily for MixedSpec {
    fn indices(&self, domain: &Bounds) -> Result<IndexSet> {
        if self.kinds.len() != domain.dim() {
            return Err(Error::Config(format!(
                "mixed: kinds has length {}, the points have {}; give one for each",
                self.kinds.len(),
                counted(domain.dim(), "dimension")
            )));
        }
        let setting = format!("mixed: modes = {:?}", self.modes);
        IndexSet::tensor(domain.dim(), &self.modes, &setting)
    }

    fn fill(&self, axis: usize, t: f64, values: &mut [f64]) {
        self.kinds[axis].fill(t, values);
    }

    fn describe(&self, len: usize) -> String {
        let axes = self.kinds.iter().zip(&self.modes);
        let axes: Vec<String> = axes
            .map(|(kind, n)| format!("{n} {kind:?}").to_lowercase())
            .collect();
        format!("{len} products of functions, {}", axes.join(" x "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::basis::{Basis, conformance, ladders};
    use crate::data::Points;

    #[test]
    fn conforms_and_is_a_product() {
        let kinds = vec![AxisKind::Periodic, AxisKind::Legendre, AxisKind::Sine];
        let spec = MixedSpec {
            kinds,
            modes: vec![3, 4, 2],
        };
        let sides = Bounds::new(vec![[0.0, 1.0], [-1.0, 1.0], [2.0, 4.0]]).unwrap();
        let domain = sides.with_periods(&[true, false, false]).unwrap();
        let basis = Mixed::new(domain, spec).unwrap();
        conformance::check(&basis, <[f64]>::to_vec);
        assert_eq!(basis.len(), 24);
        let at = Points::new(3, vec![0.3, 0.2, 2.5]).unwrap();
        let row = basis.evaluate(&at).unwrap().to_dense();
        // cos(2 pi x), the Legendre polynomial of degree one, the second sine.
        let tau = std::f64::consts::TAU;
        let expected = (tau * 0.3).cos() * 3f64.sqrt() * 0.2 * (tau * 0.25).sin();
        assert!((row[(0, 8 + 2 + 1)] - expected).abs() < 1e-14);
    }

    #[test]
    fn only_closed_functions_are_searched_on_rings() {
        let families = |periodic: &[bool]| -> Vec<String> {
            let domain = Bounds::unit(2).with_periods(periodic).unwrap();
            let specs = ladders(&domain, false, 0);
            let name = |ladder: &Ladder| serde_json::to_string(&ladder.spec(16)).unwrap();
            specs.iter().map(name).collect()
        };
        let torus = families(&[true, true]);
        assert!(
            torus.len() == 1 && torus[0].contains("\"periodic\""),
            "{torus:?}"
        );
        let cylinder = families(&[false, true]);
        assert_eq!(cylinder.len(), 3);
        assert!(
            cylinder[0].contains(r#"["legendre","periodic"]"#),
            "{cylinder:?}"
        );
        assert!(
            !families(&[false, false])
                .iter()
                .any(|f| f.contains("mixed"))
        );
    }

    #[test]
    fn impossible_settings_are_errors() {
        let parse = |text: &str| serde_json::from_str::<MixedSpec>(text);
        assert!(parse(r#"{"kinds": ["haar"], "modes": [3]}"#).is_err());
        for text in [
            r#"{"kinds": ["sine"], "modes": [3, 3]}"#,
            r#"{"kinds": ["sine", "sine"], "modes": [3]}"#,
            r#"{"kinds": ["sine", "sine"], "modes": [3, 0]}"#,
        ] {
            let error = Mixed::new(Bounds::unit(2), parse(text).unwrap()).unwrap_err();
            assert!(error.to_string().starts_with("mixed: "), "{error}");
        }
    }
}

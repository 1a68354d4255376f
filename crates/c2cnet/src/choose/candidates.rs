//! The families and sizes among which bases are searched.

use crate::basis::{
    Activation, BasisSpec, Boundary, Coordinates, Degree, FiniteElementsSpec, FourierKind,
    FourierSpec, MeshSpec, PolynomialKind, PolynomialSpec, RandomFeaturesSpec,
};
use crate::data::Bounds;

/// A family of bases with everything but the size settled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Family {
    Fourier(FourierKind),
    Legendre,
    /// Local random features with this scale $R_m$.
    RandomFeatures(f64),
    /// Quadratic elements on a structured mesh of the box.
    Elements,
}

/// The families that make sense in `dim` dimensions, the cheapest to explain first.
pub(super) fn families(dim: usize, irregular: bool) -> Vec<Family> {
    let mut list = vec![
        Family::Fourier(FourierKind::Cosine),
        Family::Fourier(FourierKind::Sine),
        Family::Fourier(FourierKind::Periodic),
        Family::Legendre,
        Family::RandomFeatures(3.0),
    ];
    if dim > 1 {
        list.push(Family::RandomFeatures(1.0));
    }
    // Elements of a box that the domain does not fill would hang in the air.
    if dim <= 2 && !irregular {
        list.push(Family::Elements);
    }
    list
}

impl Family {
    /// Sizes to try, growing, at most `largest`.
    pub(super) fn sizes(largest: usize) -> Vec<usize> {
        let mut sizes: Vec<usize> = [
            8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 400, 576, 784, 1024, 1600, 2048, 3072,
            4096,
        ]
        .into_iter()
        .filter(|&s| s <= largest)
        .collect();
        if sizes.is_empty() {
            sizes.push(largest);
        }
        sizes
    }

    /// The specification with about `size` functions in the plane, `stretch` times as many along the
    /// first axis for each along the second as [`Family::spec`] has; none if an axis would have none.
    pub(super) fn stretched(
        self,
        domain: &Bounds,
        size: usize,
        stretch: f64,
        seed: u64,
    ) -> Option<BasisSpec> {
        // A product of `a` and `b` things with `a / b` as wanted.
        let split = |product: f64, ratio: f64| {
            let counts = [(product * ratio).sqrt(), (product / ratio).sqrt()];
            counts
                .iter()
                .all(|c| *c >= 0.75)
                .then(|| counts.map(|c| c.round().max(1.0) as usize).to_vec())
        };
        let mut spec = self.spec(domain, size, seed)?;
        match &mut spec {
            BasisSpec::Fourier(s) => {
                s.functions = None;
                let mut modes = split(size as f64, stretch)?;
                if s.kind == FourierKind::Periodic {
                    // A cosine with its sine.
                    modes.iter_mut().for_each(|m| *m |= 1);
                }
                s.modes = Some(modes);
            }
            BasisSpec::Polynomial(s) => {
                s.functions = None;
                let counts = split(size as f64, stretch)?;
                s.degrees = Some(counts.iter().map(|c| c - 1).collect());
            }
            BasisSpec::FiniteElements(s) => {
                s.functions = None;
                let ratio = stretch * domain.width(0) / domain.width(1);
                // Quadratic elements: 2n + 1 functions along n cells.
                let functions = split(size as f64, ratio)?;
                let cells = functions.iter().map(|f| (f / 2).max(1)).collect();
                s.mesh = MeshSpec::Cells(cells);
            }
            // Narrow patches of random features hold so few columns of a grid that they follow each for
            // itself: on `helmholtz` 3e-7 at all points of the grid was 5e-2 on a grid twice as fine.
            _ => return None,
        }
        Some(spec)
    }

    /// The specification with about `size` functions, if the family has one.
    pub(super) fn spec(self, domain: &Bounds, size: usize, seed: u64) -> Option<BasisSpec> {
        let dim = domain.dim();
        Some(match self {
            Family::Fourier(kind) => BasisSpec::Fourier(FourierSpec {
                kind,
                modes: None,
                functions: Some(size),
            }),
            Family::Legendre => BasisSpec::Polynomial(PolynomialSpec {
                kind: PolynomialKind::Legendre,
                degrees: None,
                total_degree: None,
                functions: Some(size),
            }),
            Family::RandomFeatures(scale) => {
                // About eight features a patch on a line, thirty-two in the plane; one patch beyond.
                let partitions = match dim {
                    1 => vec![(size / 8).max(1)],
                    2 => vec![((size as f64 / 32.0).sqrt() as usize).max(1); 2],
                    _ => vec![1; dim],
                };
                BasisSpec::RandomFeatures(RandomFeaturesSpec {
                    functions: size,
                    partitions,
                    scale,
                    activation: Activation::Tanh,
                    coordinates: Coordinates::Local,
                    seed,
                })
            }
            Family::Elements => BasisSpec::FiniteElements(FiniteElementsSpec {
                degree: Degree::Quadratic,
                functions: Some(size),
                size: None,
                mesh: MeshSpec::Box,
                boundary: Boundary::Keep,
                slack: 0.0,
            }),
        })
    }
}

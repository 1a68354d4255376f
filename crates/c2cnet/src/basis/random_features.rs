//! Random features with a partition of unity (the paper's RFM basis, Section 3.1 and Appendix A.1).
//!
//! $$\varphi_{n,j}(x) = \omega_n(x)\,\sigma(k_{n,j}\cdot\xi + b_{n,j}),\qquad
//!   k_{n,j}\sim U[-R_m, R_m]^d,\quad b_{n,j}\sim U[-R_m, R_m],$$
//!
//! with $\xi = x$ in global coordinates (as the paper prints it) or $\xi = (x - x_n)/r_n$ in local
//! ones (as the random feature method was published; the default here, because with many patches
//! it keeps the features distinguishable: the rank at the same cut-off is two to three times as
//! large). The windows are tensor products of the paper's one-dimensional window, except that the
//! patches at the walls stay 1 up to the wall: taken literally, the appendix halves them there.
//! So $\sum_n \omega_n = 1$ on the whole closed domain.

use super::partition::{AxisCell, Partition};
use super::tanh::tanh_in_place;
use super::tensor::MAX_FUNCTIONS;
use super::{Basis, BasisFamily, BuildContext, Design, Ladder, LadderRequest};
use super::{build_blocks, group_by_cell};
use crate::cite::{self, Reference};
use crate::data::{Bounds, Points};
use crate::storage::tensor;
use crate::{Error, Result, linalg};
use documented::Documented;
use faer::prelude::ReborrowMut;
use faer::{Mat, MatMut};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

/// Settings of a random-feature basis.
///
/// | Name | Default | Purpose | Range |
/// |---|---|---|---|
/// | `functions` | | how many functions, $m$ | at least one per patch |
/// | `partitions` | one patch | patches along each axis, $M_p$ | one entry per axis, each at least 1 |
/// | `scale` | 3 | $R_m$, the half-width of the weights' law | positive |
/// | `activation` | `tanh` | the nonlinearity, $\sigma$ | `tanh`, `sin`, `cos`, `gelu` |
/// | `coordinates` | `local` | what the weights multiply | `local`, `global` |
/// | `seed` | 0 | the draw of weights | any |
#[derive(Debug, Clone, PartialEq, Documented, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RandomFeaturesSpec {
    /// How many functions.
    pub functions: usize,
    /// Patches along each axis; empty means one patch.
    #[serde(default)]
    pub partitions: Vec<usize>,
    /// The half-width $R_m$ of the weights' law.
    #[serde(default = "default_scale")]
    pub scale: f64,
    /// The nonlinearity.
    #[serde(default)]
    pub activation: Activation,
    /// Local or global coordinates.
    #[serde(default)]
    pub coordinates: Coordinates,
    /// Seed of the weights.
    #[serde(default)]
    pub seed: u64,
}

impl RandomFeaturesSpec {
    /// This many functions on one patch, with the paper's distribution of the weights.
    pub fn new(functions: usize) -> Self {
        RandomFeaturesSpec {
            functions,
            partitions: Vec::new(),
            scale: default_scale(),
            activation: Activation::default(),
            coordinates: Coordinates::default(),
            seed: 0,
        }
    }
}

fn default_scale() -> f64 {
    3.0
}

/// The nonlinearity $\sigma$ of a feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Activation {
    /// $\tanh t$
    #[default]
    Tanh,
    /// $\sin t$
    Sin,
    /// $\cos t$
    Cos,
    /// $t\,\Phi(t)$ with the normal distribution function, exact
    Gelu,
}

impl Activation {
    fn apply(self, values: &mut [f64]) {
        let each =
            |f: fn(f64) -> f64, values: &mut [f64]| values.iter_mut().for_each(|v| *v = f(*v));
        match self {
            Activation::Tanh => tanh_in_place(values),
            Activation::Sin => each(f64::sin, values),
            Activation::Cos => each(f64::cos, values),
            Activation::Gelu => {
                let gelu = |t: f64| 0.5 * t * libm::erfc(-t * std::f64::consts::FRAC_1_SQRT_2);
                each(gelu, values);
            }
        }
    }
}

/// What the random weights multiply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Coordinates {
    /// $(x - x_n)/r_n$
    #[default]
    Local,
    /// $x$
    Global,
}

impl BasisFamily for RandomFeaturesSpec {
    const NAME: &'static str = "random-features";
    const DOCUMENTATION: &'static str = Self::DOCS;
    const NEARLY_DEPENDENT: bool = true;
    type Basis = RandomFeatures;

    fn build(&self, context: BuildContext<'_>) -> Result<RandomFeatures> {
        RandomFeatures::new(context.domain.clone(), self.clone())
    }

    fn noun(&self) -> String {
        "random feature".into()
    }

    fn references(&self) -> Vec<Reference> {
        vec![cite::RANDOM_FEATURES]
    }

    fn for_component(&self, component: usize) -> Self {
        RandomFeaturesSpec {
            seed: self.seed.wrapping_add(component as u64),
            ..self.clone()
        }
    }

    /// Without stretched variants: narrow patches hold so few columns of a grid that they follow each for itself.
    /// On `helmholtz` 3e-7 at all points of the grid was 5e-2 on a grid twice as fine.
    fn ladders(request: &LadderRequest<'_>) -> Vec<Ladder> {
        let (dim, seed) = (request.domain.dim(), request.seed);
        let scales = if dim > 1 { &[3.0, 1.0][..] } else { &[3.0] };
        let ladder = |&scale: &f64| {
            Ladder::new(move |size| {
                // About eight features per patch on a line, thirty-two in the plane; one patch beyond.
                let partitions = match dim {
                    1 => vec![(size / 8).max(1)],
                    2 => vec![((size as f64 / 32.0).sqrt() as usize).max(1); 2],
                    _ => vec![1; dim],
                };
                let spec = RandomFeaturesSpec {
                    functions: size,
                    partitions,
                    scale,
                    activation: Activation::Tanh,
                    coordinates: Coordinates::Local,
                    seed,
                };
                Some(spec.into())
            })
        };
        scales.iter().map(ladder).collect()
    }
}

/// A random-feature basis with its weights drawn.
#[derive(Debug, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub struct RandomFeatures {
    domain: Bounds,
    spec: RandomFeaturesSpec,
    #[serde(skip)]
    partition: Partition,
    /// First function of each patch, and one past the last.
    #[serde(skip)]
    offsets: Vec<usize>,
    /// $k$, one column per function.
    #[serde(with = "tensor")]
    weights: Mat<f64>,
    #[serde(with = "tensor")]
    biases: Vec<f64>,
}

#[derive(Deserialize)]
struct Stored {
    domain: Bounds,
    spec: RandomFeaturesSpec,
    #[serde(with = "tensor")]
    weights: Mat<f64>,
    #[serde(with = "tensor")]
    biases: Vec<f64>,
}

impl TryFrom<Stored> for RandomFeatures {
    type Error = Error;
    fn try_from(stored: Stored) -> Result<Self> {
        let Stored {
            domain,
            spec,
            weights,
            biases,
        } = stored;
        // Before the patches: they are as many as the settings claim.
        if weights.shape() != (domain.dim(), spec.functions) || biases.len() != spec.functions {
            return Err(Error::Data(
                "the model's random features disagree with their weights".into(),
            ));
        }
        let (partition, offsets) = layout(&domain, &spec)?;
        Ok(RandomFeatures {
            domain,
            spec,
            partition,
            offsets,
            weights,
            biases,
        })
    }
}

impl RandomFeatures {
    /// Draws the weights.
    ///
    /// # Errors
    /// If the settings do not fit the domain: see the table of [`RandomFeaturesSpec`].
    pub fn new(domain: Bounds, spec: RandomFeaturesSpec) -> Result<Self> {
        let dim = domain.dim();
        let mut spec = spec;
        if spec.partitions.is_empty() {
            spec.partitions = vec![1; dim];
        }
        let (partition, offsets) = layout(&domain, &spec)?;
        let mut rng = ChaCha8Rng::seed_from_u64(spec.seed);
        let mut draw = || spec.scale * (2.0 * rng.random::<f64>() - 1.0);
        let mut weights = Mat::zeros(dim, spec.functions);
        let mut biases = vec![0.0; spec.functions];
        for (j, bias) in biases.iter_mut().enumerate() {
            for k in 0..dim {
                weights[(k, j)] = draw();
            }
            *bias = draw();
        }
        Ok(RandomFeatures {
            domain,
            spec,
            partition,
            offsets,
            weights,
            biases,
        })
    }

    /// The windows $\omega_n$ at a point: patch and weight, zero weights left out.
    pub fn windows(&self, point: &[f64]) -> Vec<(usize, f64)> {
        let mut active = Vec::new();
        let cells: Vec<AxisCell> = self.partition.locate(point).collect();
        self.partition.windows_in_cell(&cells, &mut active);
        active
    }

    /// What the weights of `patch` multiply at the points `rows`, point after point.
    fn local_coordinates(&self, patch: usize, points: &Points, rows: &[usize]) -> Vec<f64> {
        let mut local: Vec<f64> = rows
            .iter()
            .flat_map(|&i| points.point(i).iter().copied())
            .collect();
        if self.spec.coordinates == Coordinates::Local {
            self.partition.to_local(patch, &mut local);
        }
        local
    }

    /// $\omega\,\sigma(k_j\cdot\xi + b_j)$ for $j$ from `first` on, at the points with coordinates `local`.
    fn features(&self, first: usize, local: &[f64], windows: &[f64], mut out: MatMut<'_, f64>) {
        // All functions in one row of numbers: a small cell has few points.
        let mut values = Vec::with_capacity(out.nrows() * out.ncols());
        for j in first..first + out.ncols() {
            let (k, b) = (self.weights.col(j), self.biases[j]);
            let points = local.chunks_exact(k.nrows());
            values.extend(points.map(|x| b + k.iter().zip(x).map(|(k, x)| k * x).sum::<f64>()));
        }
        self.spec.activation.apply(&mut values);
        for (c, values) in values.chunks_exact(out.nrows()).enumerate() {
            let column = out.rb_mut().col_mut(c).iter_mut();
            for (to, (v, w)) in column.zip(values.iter().zip(windows)) {
                *to = v * w;
            }
        }
    }
}

/// Checks the settings; gives the patches and the functions of each.
fn layout(domain: &Bounds, spec: &RandomFeaturesSpec) -> Result<(Partition, Vec<usize>)> {
    let dim = domain.dim();
    if spec.partitions.len() != dim || spec.partitions.contains(&0) {
        return Err(Error::Config(format!(
            "random features: partitions = {:?} needs one positive entry for each of {dim} axes",
            spec.partitions
        )));
    }
    if !(spec.scale.is_finite() && spec.scale > 0.0) {
        return Err(Error::Config(format!(
            "random features: scale = {} must be positive",
            spec.scale
        )));
    }
    if spec.functions > MAX_FUNCTIONS {
        return Err(Error::Config(format!(
            "random features: functions = {} are too many; at most {MAX_FUNCTIONS} are allowed",
            spec.functions
        )));
    }
    let patches = spec.partitions.iter().try_fold(1usize, |a, &b| {
        a.checked_mul(b).filter(|&p| p <= spec.functions)
    });
    let Some(patches) = patches else {
        return Err(Error::Config(format!(
            "random features: {} functions cannot fill partitions {:?}; ask for at least one function per patch",
            spec.functions, spec.partitions
        )));
    };
    let (each, extra) = (spec.functions / patches, spec.functions % patches);
    let offsets = (0..=patches).map(|n| n * each + n.min(extra)).collect();
    Ok((Partition::new(domain, &spec.partitions), offsets))
}

impl Basis for RandomFeatures {
    fn family(&self) -> &'static str {
        RandomFeaturesSpec::NAME
    }

    fn len(&self) -> usize {
        self.spec.functions
    }

    fn domain(&self) -> &Bounds {
        &self.domain
    }

    fn evaluate(&self, points: &Points) -> Result<Design> {
        self.domain.check(points, self.family())?;
        let dim = self.domain.dim();
        let located: Vec<AxisCell> = points
            .iter()
            .flat_map(|p| self.partition.locate(p))
            .collect();
        let keys: Vec<usize> = located
            .chunks_exact(dim)
            .map(|c| self.partition.key(c))
            .collect();
        let groups = group_by_cell(&keys);
        let design = build_blocks(points.len(), self.len(), groups, |_, rows| {
            // The cell's patches, and the windows of its points, patch after patch.
            let mut active = Vec::new();
            let mut windows = Vec::new();
            for (r, &i) in rows.iter().enumerate() {
                (self.partition).windows_in_cell(&located[i * dim..(i + 1) * dim], &mut active);
                windows.resize(active.len() * rows.len(), 0.0);
                for (p, (_, window)) in active.iter().enumerate() {
                    windows[p * rows.len() + r] = *window;
                }
            }
            let patches: Vec<usize> = active.iter().map(|w| w.0).collect();
            let cols: Vec<usize> = patches
                .iter()
                .flat_map(|&n| self.offsets[n]..self.offsets[n + 1])
                .collect();
            let mut values = Mat::zeros(rows.len(), cols.len());
            let mut rest = values.as_mut();
            for (&patch, windows) in patches.iter().zip(windows.chunks_exact(rows.len())) {
                let local = self.local_coordinates(patch, points, rows);
                let first = self.offsets[patch];
                let (here, after) = rest.split_at_col_mut(self.offsets[patch + 1] - first);
                rest = after;
                // A patch with many points is worth sharing, a small one not the trouble.
                let width = (1 << 14) / rows.len() + 1;
                linalg::par_column_chunks(here, width, |start, chunk| {
                    self.features(first + start, &local, windows, chunk);
                });
            }
            (cols, values)
        });
        Ok(design.densify_if_full())
    }

    fn describe(&self) -> String {
        let spec = &self.spec;
        format!(
            "{} random features, patches {:?}, scale {}, {:?} in {:?} coordinates, seed {}",
            spec.functions,
            spec.partitions,
            spec.scale,
            spec.activation,
            spec.coordinates,
            spec.seed
        )
        .to_lowercase()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::basis::conformance;

    fn spec(functions: usize, partitions: &[usize]) -> RandomFeaturesSpec {
        RandomFeaturesSpec {
            functions,
            partitions: partitions.to_vec(),
            scale: 3.0,
            activation: Activation::Tanh,
            coordinates: Coordinates::Local,
            seed: 1,
        }
    }

    #[test]
    fn conforms_in_every_setting() {
        for activation in [
            Activation::Tanh,
            Activation::Sin,
            Activation::Cos,
            Activation::Gelu,
        ] {
            for coordinates in [Coordinates::Local, Coordinates::Global] {
                for partitions in [&[16][..], &[3, 5], &[1, 2, 1, 1, 2]] {
                    let domain = Bounds::new(
                        (0..partitions.len())
                            .map(|k| [-(k as f64), 1.0 + k as f64])
                            .collect(),
                    )
                    .unwrap();
                    let spec = RandomFeaturesSpec {
                        activation,
                        coordinates,
                        ..spec(67, partitions)
                    };
                    conformance::check(
                        &RandomFeatures::new(domain, spec).unwrap(),
                        <[f64]>::to_vec,
                    );
                }
            }
        }
    }

    #[test]
    fn windows_follow_the_appendix_and_sum_to_one_up_to_the_walls() {
        let domain = Bounds::new(vec![[-1.0, 3.0], [0.0, 2.0]]).unwrap();
        let basis = RandomFeatures::new(domain.clone(), spec(64, &[4, 3])).unwrap();
        for point in Points::grid(&domain, &[101, 97]).iter() {
            let windows = basis.windows(point);
            assert!(windows.len() <= 4);
            let sum: f64 = windows.iter().map(|w| w.1).sum();
            assert!((sum - 1.0).abs() < 1e-15, "{sum} at {point:?}");
        }
        // Against the printed formula, away from the walls.
        let line = RandomFeatures::new(Bounds::unit(1), spec(8, &[4])).unwrap();
        let printed = |x: f64, n: usize| {
            let t = (x - (n as f64 + 0.5) / 4.0) * 8.0;
            let s = (2.0 * std::f64::consts::PI * t).sin();
            match t.abs() {
                a if a < 0.75 => 1.0,
                a if a < 1.25 && t < 0.0 => 0.5 * (1.0 + s),
                a if a < 1.25 => 0.5 * (1.0 - s),
                _ => 0.0,
            }
        };
        for i in 40..=960 {
            let x = i as f64 / 1000.0;
            let windows = line.windows(&[x]);
            for n in 0..4 {
                let ours: f64 = windows.iter().filter(|w| w.0 == n).map(|w| w.1).sum();
                assert!((ours - printed(x, n)).abs() < 1e-12, "x = {x}, patch {n}");
            }
        }
    }

    #[test]
    fn one_patch_is_the_global_model() {
        let basis = RandomFeatures::new(
            Bounds::unit(2),
            RandomFeaturesSpec {
                coordinates: Coordinates::Global,
                ..spec(5, &[])
            },
        )
        .unwrap();
        let point = Points::new(2, vec![0.3, 0.8]).unwrap();
        let row = basis.evaluate(&point).unwrap().to_dense();
        for j in 0..5 {
            let t = basis.weights[(0, j)] * 0.3 + basis.weights[(1, j)] * 0.8 + basis.biases[j];
            assert!((row[(0, j)] - t.tanh()).abs() < 1e-15);
        }
    }

    #[test]
    fn many_patches_are_stored_sparsely() {
        let basis = RandomFeatures::new(Bounds::unit(2), spec(512, &[8, 8])).unwrap();
        let points = Points::grid(&Bounds::unit(2), &[41, 41]);
        match basis.evaluate(&points).unwrap() {
            Design::Blocks(b) => assert!(b.stored() < 41 * 41 * 512 / 20),
            _ => panic!("dense"),
        }
    }

    #[test]
    fn impossible_settings_are_errors() {
        for bad in [
            spec(3, &[4]),
            spec(3, &[0]),
            spec(3, &[1, 1]),
            RandomFeaturesSpec {
                scale: 0.0,
                ..spec(3, &[1])
            },
        ] {
            assert!(RandomFeatures::new(Bounds::unit(1), bad).is_err());
        }
    }
}

//! Radial functions with one width each (the paper's Stokes appendix uses Gaussians).
//!
//! $$\varphi_j(x) = \phi(\|x - c_j\|_2 / s_j)$$
//!
//! | kernel | $\phi(\rho)$ |
//! |---|---|
//! | `gaussian` | $e^{-\rho^2/2}$ |
//! | `multiquadric` | $\sqrt{1 + \rho^2}$ |
//! | `inverse-multiquadric` | $1/\sqrt{1 + \rho^2}$ |
//! | `wendland` | $(1 - \rho)_+^{p}\,(p\rho + 1)$, $p = \max(4, \lfloor d/2\rfloor + 3)$ |
//!
//! Wendland's function is twice continuously differentiable, positive definite in $\mathbb R^d$
//! and zero from distance $s_j$ on, so its design matrix is stored by blocks.

use super::centres::{Centres, Spacing, Width, distance_squared};
use super::{Basis, BasisFamily, BuildContext, Design, build_blocks, group_by_cell};
use crate::cite::{self, Reference};
use crate::data::{Bounds, Points};
use crate::storage::{restore_settled, tensor};
use crate::{Error, Result, linalg};
use documented::Documented;
use faer::Mat;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

/// More functions than this are taken for a mistake: spacings compare all pairs of centres.
const MAX_FUNCTIONS: usize = 20_000;

/// Columns evaluated together.
const COLUMN_CHUNK: usize = 16;

/// Settings of a basis of radial functions.
///
/// | Name | Default | Purpose | Range |
/// |---|---|---|---|
/// | `kernel` | `gaussian` | the function of distance over width, $\phi$ | `gaussian`, `multiquadric`, `inverse-multiquadric`, `wendland` |
/// | `functions` | | how many functions, $m$; a grid may have fewer | 1 to 20,000 |
/// | `centres` | `grid` | where the centres $c_j$ lie | `grid`, `scattered`, `data`, `{ boxes = [...] }` ([`Centres`]) |
/// | `width` | `{ spacing = 1.5 }` for `gaussian`, 4 for `wendland`, else 2 | how wide the functions are, $s_j$ | a number, an interval `[min, max]`, `{ spacing = FACTOR }` ([`Width`]) |
/// | `seed` | 0 | the draw of centres, then widths | any |
#[derive(Debug, Clone, PartialEq, Documented, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RadialSpec {
    /// The function of distance.
    #[serde(default)]
    pub kernel: Kernel,
    /// How many functions.
    pub functions: usize,
    /// Where the centres lie.
    #[serde(default)]
    #[serde(alias = "centers")]
    pub centres: Centres,
    /// How wide the functions are; by default in proportion to the centres' spacing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width: Option<Width>,
    /// Seed of the centres and widths.
    #[serde(default)]
    pub seed: u64,
}

impl RadialSpec {
    /// This many functions with default centres and widths.
    pub fn new(kernel: Kernel, functions: usize) -> Self {
        RadialSpec {
            kernel,
            functions,
            centres: Centres::default(),
            width: None,
            seed: 0,
        }
    }
}

/// The function $\phi$ of distance over width.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kernel {
    /// $e^{-\rho^2/2}$
    #[default]
    Gaussian,
    /// $\sqrt{1 + \rho^2}$
    Multiquadric,
    /// $1/\sqrt{1 + \rho^2}$
    InverseMultiquadric,
    /// Wendland's compactly supported function of class $C^2$
    Wendland,
}

impl Kernel {
    /// The width in spacings of the centres where settings give none: 1.5 for Gaussians, 2 for
    /// both multiquadrics, 4 for Wendland's (about fifty functions at a point of the plane).
    pub(crate) fn default_spacing(self) -> f64 {
        match self {
            Kernel::Gaussian => 1.5,
            Kernel::Multiquadric | Kernel::InverseMultiquadric => 2.0,
            Kernel::Wendland => 4.0,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Kernel::Gaussian => "gaussian",
            Kernel::Multiquadric => "multiquadric",
            Kernel::InverseMultiquadric => "inverse-multiquadric",
            Kernel::Wendland => "wendland",
        }
    }

    /// $\phi(\rho)$ in $\mathbb R^d$.
    fn apply(self, rho: f64, dim: usize) -> f64 {
        match self {
            Kernel::Gaussian => (-0.5 * rho * rho).exp(),
            // hypot, because the square of a large argument overflows.
            Kernel::Multiquadric => rho.hypot(1.0),
            Kernel::InverseMultiquadric => 1.0 / rho.hypot(1.0),
            Kernel::Wendland => {
                let p = (dim / 2 + 3).max(4);
                (1.0 - rho).max(0.0).powi(p as i32) * (p as f64 * rho + 1.0)
            }
        }
    }
}

impl BasisFamily for RadialSpec {
    const NAME: &'static str = "radial";
    const DOCUMENTATION: &'static str = Self::DOCS;
    const NEARLY_DEPENDENT: bool = true;
    type Basis = Radial;

    fn build(&self, context: BuildContext<'_>) -> Result<Radial> {
        Radial::new(context.domain.clone(), self.clone(), context.points)
    }

    fn noun(&self) -> String {
        "radial function".into()
    }

    fn references(&self) -> Vec<Reference> {
        vec![cite::RADIAL_FUNCTIONS]
    }

    fn for_component(&self, component: usize) -> Self {
        RadialSpec {
            seed: self.seed.wrapping_add(component as u64),
            ..self.clone()
        }
    }
}

/// A basis of radial functions with centres and widths drawn.
#[derive(Debug, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct Radial {
    domain: Bounds,
    spec: RadialSpec,
    centres: Points,
    #[serde(with = "tensor")]
    widths: Vec<f64>,
}

restore_settled!(Radial);

impl Radial {
    /// Draws centres and widths; `data` are the points for [`Centres::Data`].
    ///
    /// # Errors
    /// If the settings do not fit the domain or the data: see the table of [`RadialSpec`].
    pub fn new(domain: Bounds, spec: RadialSpec, data: Option<&Points>) -> Result<Self> {
        if spec.functions == 0 || spec.functions > MAX_FUNCTIONS {
            return Err(Error::Config(format!(
                "radial: functions = {} must lie between 1 and {MAX_FUNCTIONS}",
                spec.functions
            )));
        }
        let mut rng = ChaCha8Rng::seed_from_u64(spec.seed);
        let centres = spec
            .centres
            .place(&domain, spec.functions, data, &mut rng)?;
        let by_spacing = Width::Spacing(Spacing {
            spacing: spec.kernel.default_spacing(),
        });
        let width = spec.width.as_ref().unwrap_or(&by_spacing);
        let widths = width.draw(&centres, &domain, &mut rng)?;
        Ok(Radial {
            domain,
            spec,
            centres,
            widths,
        })
    }

    /// The centres $c_j$.
    pub fn centres(&self) -> &Points {
        &self.centres
    }

    /// The widths $s_j$.
    pub fn widths(&self) -> &[f64] {
        &self.widths
    }

    fn value(&self, j: usize, x: &[f64]) -> f64 {
        let r = distance_squared(x, self.centres.point(j)).sqrt();
        self.spec.kernel.apply(r / self.widths[j], x.len())
    }

    fn evaluate_dense(&self, points: &Points) -> Mat<f64> {
        let mut design = Mat::zeros(points.len(), self.len());
        linalg::par_column_chunks(design.as_mut(), COLUMN_CHUNK, |start, mut chunk| {
            for c in 0..chunk.ncols() {
                let column = chunk.as_mut().col_mut(c);
                for (value, x) in column.iter_mut().zip(points.iter()) {
                    *value = self.value(start + c, x);
                }
            }
        });
        design
    }

    /// Groups points by cells of half the median support; a block's columns are the functions
    /// whose support meets the box around its points.
    fn evaluate_by_cells(&self, points: &Points) -> Design {
        let cells = Cells::new(&self.domain, 0.5 * median(&self.widths));
        let keys: Vec<u64> = points.iter().map(|x| cells.key(x)).collect();
        let groups = group_by_cell(&keys);
        build_blocks(points.len(), self.len(), groups, |_, rows| {
            let around = Around::new(points, rows);
            let cols: Vec<usize> = (0..self.len())
                .filter(|&j| {
                    around.distance_squared(self.centres.point(j)) < self.widths[j].powi(2)
                })
                .collect();
            let values = Mat::from_fn(rows.len(), cols.len(), |r, c| {
                self.value(cols[c], points.point(rows[r]))
            });
            (cols, values)
        })
        .densify_if_full()
    }

    fn settle(&mut self) -> Result<()> {
        let (count, dim) = (self.centres.len(), self.centres.dim());
        let fits = count == self.widths.len() && count > 0 && dim == self.domain.dim();
        match fits && self.widths.iter().all(|&s| s > 0.0) {
            true => Ok(()),
            false => Err(Error::Data(format!(
                "the model's radial functions are damaged: centres of shape {:?} and {} widths, \
                 which must be positive, in {} dimensions",
                (count, dim),
                self.widths.len(),
                self.domain.dim()
            ))),
        }
    }
}

/// A uniform grid of cells over the domain.
struct Cells<'a> {
    domain: &'a Bounds,
    counts: Vec<u64>,
}

impl Cells<'_> {
    fn new(domain: &Bounds, size: f64) -> Cells<'_> {
        // Few enough along each axis that the numbers of cells fit into 60 bits.
        let most = (1u64 << (60 / domain.dim()).min(20)) as f64;
        let counts = (0..domain.dim())
            .map(|k| (domain.width(k) / size).ceil().clamp(1.0, most) as u64)
            .collect();
        Cells { domain, counts }
    }

    fn key(&self, x: &[f64]) -> u64 {
        (0..x.len()).fold(0, |key, k| {
            let n = self.counts[k];
            // One cell where the side has no length: 0/0 is not a number and becomes cell 0.
            let t = (x[k] - self.domain.lower(k)) / self.domain.width(k);
            key * n + ((t * n as f64) as u64).min(n - 1)
        })
    }
}

/// The smallest box around some points.
struct Around {
    sides: Vec<[f64; 2]>,
}

impl Around {
    fn new(points: &Points, rows: &[usize]) -> Around {
        let mut sides = vec![[f64::INFINITY, f64::NEG_INFINITY]; points.dim()];
        for &i in rows {
            for (side, &x) in sides.iter_mut().zip(points.point(i)) {
                *side = [side[0].min(x), side[1].max(x)];
            }
        }
        Around { sides }
    }

    fn distance_squared(&self, x: &[f64]) -> f64 {
        let nearest = |(&[lower, upper], &x): (&[f64; 2], &f64)| {
            let beyond = (lower - x).max(x - upper).max(0.0);
            beyond * beyond
        };
        self.sides.iter().zip(x).map(nearest).sum()
    }
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

impl Basis for Radial {
    fn family(&self) -> &'static str {
        RadialSpec::NAME
    }

    fn len(&self) -> usize {
        self.widths.len()
    }

    fn domain(&self) -> &Bounds {
        &self.domain
    }

    fn evaluate(&self, points: &Points) -> Result<Design> {
        self.domain.check(points, self.family())?;
        Ok(match self.spec.kernel {
            Kernel::Wendland => self.evaluate_by_cells(points),
            _ => Design::Dense(self.evaluate_dense(points)),
        })
    }

    fn describe(&self) -> String {
        let centres = match &self.spec.centres {
            Centres::Grid => "on a grid".into(),
            Centres::Scattered => format!("scattered with seed {}", self.spec.seed),
            Centres::Data => format!("at data points chosen with seed {}", self.spec.seed),
            Centres::Boxes(boxes) => {
                format!("in {} boxes with seed {}", boxes.len(), self.spec.seed)
            }
        };
        let (min, max) = self
            .widths
            .iter()
            .fold((f64::INFINITY, 0.0), |(a, b): (f64, f64), &s| {
                (a.min(s), b.max(s))
            });
        format!(
            "{} {} radial functions, centres {centres}, widths {min:.3e} to {max:.3e}",
            self.len(),
            self.spec.kernel.name()
        )
    }
}

#[cfg(test)]
mod tests;

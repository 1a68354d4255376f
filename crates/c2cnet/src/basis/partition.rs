//! The partition of unity of random features: a box in equal patches, with windows that sum to one.

use crate::data::Bounds;

/// A box in equal patches.
#[derive(Debug)]
pub(super) struct Partition {
    axes: Vec<Axis>,
}

/// The patches along one axis.
#[derive(Debug)]
struct Axis {
    lower: f64,
    half_width: f64,
    patches: usize,
}

/// One patch alone (`upper` weight 0) or the overlap of patch `first` and the next.
pub(super) struct AxisCell {
    first: usize,
    overlap: bool,
    upper_weight: f64,
}

impl Axis {
    fn centre(&self, n: usize) -> f64 {
        self.lower + (2 * n + 1) as f64 * self.half_width
    }

    /// In which cell `x` lies and how the overlap shares its weight:
    /// $\omega_{n+1} = (1 + \sin 2\pi\tilde x)/2 = 1 - \omega_n$.
    fn locate(&self, x: f64) -> AxisCell {
        let alone = |first| AxisCell {
            first,
            overlap: false,
            upper_weight: 0.0,
        };
        if self.patches == 1 {
            return alone(0);
        }
        // Position in patch widths; interfaces at 1, 2, ..., patches - 1, overlaps 1/8 either side.
        let t = (x - self.lower) / (2.0 * self.half_width);
        // Casts truncate and saturate: cheaper than `floor`, and below the lower wall they give 0.
        let interface = ((t + 0.5) as usize).clamp(1, self.patches - 1);
        let distance = t - interface as f64;
        if distance <= -0.125 {
            alone((t as usize).min(interface - 1))
        } else if distance >= 0.125 {
            alone((t as usize).clamp(interface, self.patches - 1))
        } else {
            // In units of the half-width the overlap is [-1/4, 1/4] around the interface.
            let s = (4.0 * std::f64::consts::PI * distance).sin();
            AxisCell {
                first: interface - 1,
                overlap: true,
                upper_weight: 0.5 * (1.0 + s),
            }
        }
    }
}

impl Partition {
    /// `domain` in this many patches along each axis.
    pub(super) fn new(domain: &Bounds, patches: &[usize]) -> Self {
        let axis = |(k, &patches): (usize, &usize)| Axis {
            lower: domain.lower(k),
            half_width: domain.width(k) / (2 * patches) as f64,
            patches,
        };
        Partition {
            axes: patches.iter().enumerate().map(axis).collect(),
        }
    }

    /// Along each axis, in which cell a point lies.
    pub(super) fn locate<'a>(&'a self, point: &'a [f64]) -> impl Iterator<Item = AxisCell> + 'a {
        let pairs = self.axes.iter().zip(point);
        pairs.map(|(axis, &x)| axis.locate(x))
    }

    /// The windows $\omega_n$ at a point from the result of `locate`, into `active`: patch and weight, zero weights left
    /// out.
    pub(super) fn windows_in_cell(&self, cells: &[AxisCell], active: &mut Vec<(usize, f64)>) {
        active.clear();
        active.push((0, 1.0));
        for (axis, cell) in self.axes.iter().zip(cells) {
            let before = active.len();
            if cell.overlap {
                active.resize(2 * before, (0, 0.0));
            }
            for i in (0..before).rev() {
                let (patch, weight) = active[i];
                let base = patch * axis.patches + cell.first;
                if cell.overlap {
                    active[2 * i + 1] = (base + 1, weight * cell.upper_weight);
                    active[2 * i] = (base, weight * (1.0 - cell.upper_weight));
                } else {
                    active[i] = (base, weight);
                }
            }
        }
    }

    /// The cell of a point: which patches it sees.
    pub(super) fn key(&self, cells: &[AxisCell]) -> usize {
        self.axes.iter().zip(cells).fold(0, |key, (axis, cell)| {
            key * (2 * axis.patches) + 2 * cell.first + usize::from(cell.overlap)
        })
    }

    /// $\xi = (x - x_n)/r_n$ for points, one after the other, in place.
    pub(super) fn to_local(&self, patch: usize, points: &mut [f64]) {
        let centre = self.centre(patch);
        for x in points.chunks_exact_mut(self.axes.len()) {
            for ((x, centre), axis) in x.iter_mut().zip(&centre).zip(&self.axes) {
                // A domain flat along an axis has no local coordinate there.
                *x = if axis.half_width > 0.0 {
                    (*x - centre) / axis.half_width
                } else {
                    0.0
                };
            }
        }
    }

    fn centre(&self, patch: usize) -> Vec<f64> {
        let mut centre = vec![0.0; self.axes.len()];
        let mut rest = patch;
        for (k, axis) in self.axes.iter().enumerate().rev() {
            centre[k] = axis.centre(rest % axis.patches);
            rest /= axis.patches;
        }
        centre
    }
}

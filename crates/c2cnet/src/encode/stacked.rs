//! The values of components below each other.

use faer::{Mat, MatRef};

/// The values of a part, copied only where components must be stacked.
pub(crate) enum Stacked<'a> {
    Borrowed(MatRef<'a, f64>),
    Owned(Mat<f64>),
}

impl Stacked<'_> {
    pub(crate) fn as_ref(&self) -> MatRef<'_, f64> {
        match self {
            Stacked::Borrowed(m) => *m,
            Stacked::Owned(m) => m.as_ref(),
        }
    }
}

/// One component unchanged, several stacked.
pub(crate) fn stack_components(values: &[Mat<f64>]) -> Stacked<'_> {
    match values {
        [one] => Stacked::Borrowed(one.as_ref()),
        several => {
            let n = several[0].nrows();
            let mut out = Mat::zeros(n * several.len(), several[0].ncols());
            for (c, v) in several.iter().enumerate() {
                out.as_mut().subrows_mut(c * n, n).copy_from(v);
            }
            Stacked::Owned(out)
        }
    }
}

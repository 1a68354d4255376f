//! The encoder at points that all samples share.

use super::{Regularisation, Spectrum};
use faer::{Mat, MatRef};
use std::sync::Arc;

/// $E = V\,\mathrm{diag}(g)\,U^\top$ for points that all samples share.
#[derive(Debug)]
pub struct Encoder {
    pub(super) spectrum: Arc<Spectrum>,
    /// $g(\sigma_i)$, up to the last direction kept.
    filter: Vec<f64>,
}

impl Encoder {
    /// The encoder of a factored design matrix, which encoders may share.
    pub fn new(spectrum: impl Into<Arc<Spectrum>>, regularisation: Regularisation) -> Self {
        let spectrum = spectrum.into();
        let mut filter = regularisation.filter(spectrum.singular_values(), spectrum.nrows());
        filter.truncate(filter.iter().take_while(|&&g| g > 0.0).count());
        Encoder { spectrum, filter }
    }

    /// Coefficients of all samples (one column each) in one product.
    pub fn encode(&self, values: MatRef<'_, f64>) -> Mat<f64> {
        let coordinates = self.spectrum.project_leading(values, self.filter.len());
        self.spectrum.coefficients(&self.filter, coordinates)
    }

    /// $\|E\|_2 = \max_i g(\sigma_i)$, the largest factor by which noise in the observations is amplified.
    pub fn amplification(&self) -> f64 {
        self.filter.iter().copied().fold(0.0, f64::max)
    }

    /// How many singular directions are kept.
    pub fn rank(&self) -> usize {
        self.filter.len()
    }
}

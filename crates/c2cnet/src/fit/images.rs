//! Input coefficients of training samples and of their images under symmetries.

use crate::data::{Fields, Symmetries};
use crate::encode::FieldEncoder;
use crate::map::Mirrors;
use crate::operator::stack;
use crate::{Result, linalg};
use faer::Mat;

/// How many samples are used to test whether reflections only change signs.
const PROBE_SAMPLES: usize = 16;

/// Deviations from that below this fraction of the largest coefficient are rounding.
const ROUNDING: f64 = 1e-10;

/// Training inputs that symmetries multiply.
pub(super) struct Images<'a> {
    pub symmetries: Symmetries,
    pub encoders: &'a [(String, FieldEncoder)],
    pub fields: &'a Fields,
}

impl Images<'_> {
    /// The coefficients of all images, given those of the samples themselves, and which reflections only change their
    /// signs. Images under these are not encoded again, which in a Fourier or polynomial basis saves three quarters of
    /// the work on a square.
    pub(super) fn coefficients(&self, of_samples: Mat<f64>) -> Result<(Mat<f64>, Mirrors)> {
        let (m, n) = of_samples.shape();
        let order = self.symmetries.order();
        if order == 1 {
            return Ok((of_samples, Mirrors::none(m)));
        }
        let mut all = Mat::zeros(m, n * order);
        all.as_mut().subcols_mut(0, n).copy_from(&of_samples);
        let mirrors = self.mirrors(&of_samples)?;
        let reflections = mirrors.as_ref().map_or(1, Mirrors::reflections);
        let encoded = order / reflections;
        for g in 1..encoded {
            let image = self.encode(g, n)?;
            all.as_mut().subcols_mut(g * n, n).copy_from(image);
        }
        let mirrors = mirrors.unwrap_or_else(|| Mirrors::none(m));
        for f in 1..reflections {
            let signs = mirrors.signs(f);
            for column in 0..encoded * n {
                for (i, sign) in signs.iter().enumerate() {
                    all[(i, f * encoded * n + column)] = sign * all[(i, column)];
                }
            }
        }
        Ok((all, mirrors))
    }

    /// The coefficients of the first `samples` under element `g`.
    fn encode(&self, g: usize, samples: usize) -> Result<Mat<f64>> {
        let chosen: Vec<usize> = (0..samples).collect();
        let parts = self
            .encoders
            .iter()
            .zip(self.fields)
            .map(|((_, encoder), (_, field))| {
                let field = match samples == field.samples() {
                    true => self.symmetries.images_of(field, &[g])?,
                    false => self.symmetries.images_of(&field.select(&chosen), &[g])?,
                };
                encoder.encode(&field)
            })
            .collect::<Result<Vec<_>>>()?;
        Ok(stack(&parts))
    }

    /// The action of reflections on coefficients, if they only change signs.
    fn mirrors(&self, of_samples: &Mat<f64>) -> Result<Option<Mirrors>> {
        let reflections = self.symmetries.reflections();
        let step = self.symmetries.order() / reflections;
        let probes = PROBE_SAMPLES.min(of_samples.ncols());
        let chosen: Vec<usize> = (0..probes).collect();
        let plain = linalg::select_columns(of_samples.as_ref(), &chosen);
        let tolerance = ROUNDING * plain.norm_max();
        let mut parity = vec![0; plain.nrows()];
        for f in 1..reflections {
            let image = self.encode(f * step, probes)?;
            for (i, parity) in parity.iter_mut().enumerate() {
                let off = |sign: f64| {
                    let pairs = image.row(i).iter().zip(plain.row(i).iter());
                    pairs.map(|(a, b)| (a - sign * b).abs()).fold(0.0, f64::max)
                };
                if f.is_power_of_two() && off(1.0) > tolerance {
                    *parity |= f;
                }
                if off(Mirrors::sign(*parity, f)) > tolerance {
                    return Ok(None);
                }
            }
        }
        Ok(Some(Mirrors::new(reflections, parity)))
    }
}

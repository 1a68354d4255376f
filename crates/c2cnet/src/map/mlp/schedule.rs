//! Learning rates over the steps of a stage.

use serde::{Deserialize, Serialize};

/// The rate at each step, as a multiple of the peak.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Schedule {
    /// The paper's: three segments that start at 1, 0.1 and 0.01 of the peak; a factor of 0.9 after
    /// every fiftieth of a segment (200 of 10,000 steps).
    Paper,
    /// Up from 1/25 of the peak over three tenths of the steps and down to 1/250,000, along cosines.
    OneCycle,
    /// Up over a twentieth of the steps, then down to zero along a cosine.
    #[default]
    Cosine,
    /// The peak throughout.
    Constant,
}

impl Schedule {
    /// The rate at `step` (from 0) of `steps`.
    #[doc(hidden)] // for c2cnet-experiments
    pub fn rate(self, step: usize, steps: usize, peak: f64) -> f64 {
        let part = |from: f64, to: f64, x: f64| {
            to + (from - to) * 0.5 * (1.0 + (std::f64::consts::PI * x).cos())
        };
        match self {
            Schedule::Constant => peak,
            Schedule::Paper => {
                // In integers, so that 30,000 steps are exactly the paper's.
                let segment = (3 * step / steps).min(2);
                let start = (segment * steps).div_ceil(3);
                let drops = (150 * (step - start) / steps).min(49);
                peak * [1.0, 0.1, 0.01][segment] * 0.9f64.powi(drops as i32)
            }
            Schedule::OneCycle => {
                let (steps, step) = (steps as f64, step as f64);
                let top = 0.3 * steps - 1.0;
                let (low, end) = (peak / 25.0, peak / 25.0 / 1e4);
                if step <= top {
                    part(low, peak, step / top)
                } else {
                    part(peak, end, ((step - top) / (steps - 1.0 - top)).min(1.0))
                }
            }
            Schedule::Cosine => {
                let warm = steps.div_ceil(20);
                if step < warm {
                    peak * (step + 1) as f64 / warm as f64
                } else {
                    part(
                        peak,
                        0.0,
                        (step + 1 - warm) as f64 / (steps + 1 - warm) as f64,
                    )
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_schedule() {
        let rate = |step| Schedule::Paper.rate(step, 30_000, 1e-2);
        assert_eq!(rate(0), 1e-2);
        assert_eq!(rate(199), 1e-2);
        assert!((rate(200) - 9e-3).abs() < 1e-17);
        assert!((rate(9_999) - 1e-2 * 0.9f64.powi(49)).abs() < 1e-18);
        assert_eq!(rate(10_000), 1e-3);
        assert_eq!(rate(20_000), 1e-4);
        assert!((rate(29_999) - 1e-4 * 0.9f64.powi(49)).abs() < 1e-20);
        // Other lengths have the same shape.
        let short = |step| Schedule::Paper.rate(step, 3_000, 1e-2);
        assert!((0..3_000).all(|s| (short(s) - rate(10 * s)).abs() < 1e-17));
        (0..100).for_each(|s| assert!(Schedule::Paper.rate(s, 100, 1.0) > 0.0));
    }

    #[test]
    fn cycles_rise_and_end() {
        for schedule in [Schedule::OneCycle, Schedule::Cosine] {
            for steps in [1, 2, 5, 100, 1000] {
                let rates: Vec<f64> = (0..steps).map(|s| schedule.rate(s, steps, 0.5)).collect();
                assert!(
                    rates.iter().all(|r| (0.0..=0.5).contains(r)),
                    "{schedule:?} {rates:?}"
                );
                if steps >= 100 {
                    let top = rates.iter().cloned().fold(0.0, f64::max);
                    assert!(top > 0.499 && rates[0] < 0.2 && rates[steps - 1] < 1e-3);
                }
            }
        }
    }
}

//! Where an axis is marked and what the marks say.

use super::text;

/// The marks of one axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ticks {
    pub major: Vec<Tick>,
    /// Unlabelled marks.
    pub minor: Vec<f64>,
    /// Labels are in units of `10^exponent`; 0 when they are plain.
    pub exponent: i32,
}

/// A labelled mark; the label may hold superscripts (see [`text`]).
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    pub value: f64,
    pub label: String,
}

impl Ticks {
    /// What to print beside the axis when its labels share a power of ten.
    pub fn factor(&self) -> Option<String> {
        (self.exponent != 0).then(|| format!("×{}", power_of_ten(self.exponent)))
    }

    /// The width of the widest label.
    pub fn widest(&self) -> f64 {
        let widths = self.major.iter().map(|t| text::width(&t.label, text::TICK));
        widths.fold(0.0, f64::max)
    }

    /// Room needed above a vertical axis: for half a label at its very top, or
    /// for the factor.
    pub fn headroom(&self) -> f64 {
        text::TICK * if self.exponent == 0 { 0.6 } else { 1.6 }
    }
}

/// Multiples of 1, 2 or 5 times a power of ten in `[lo, hi]`, about `most` of
/// them and never more than `most + 1`.
pub fn linear(lo: f64, hi: f64, most: usize) -> Ticks {
    let step = round_step((hi - lo) / most.max(1) as f64);
    let first = (lo / step - 1e-6).ceil();
    let last = (hi / step + 1e-6).floor();
    let count = (last - first).max(0.0) as usize;
    let values: Vec<f64> = (0..=count).map(|k| (first + k as f64) * step).collect();

    let largest = values.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    let magnitude = if largest > 0.0 { decade(largest) } else { 0 };
    let exponent = if (-3..5).contains(&magnitude) {
        0
    } else {
        magnitude
    };
    let decimals = (exponent - decade(step)).max(0) as usize;
    let unit = 10f64.powi(exponent);
    let major = values.into_iter().map(|value| Tick {
        value,
        label: text::number(value / unit, decimals),
    });
    Ticks {
        major: major.collect(),
        minor: Vec::new(),
        exponent,
    }
}

/// Marks for a logarithmic axis from `10^lo` to `10^hi`: powers of ten, thinned
/// to about `most`; on less than a decade also 2 and 5 times them; on still
/// less, the marks of a linear axis.
pub fn log10(lo: f64, hi: f64, most: usize) -> Ticks {
    let most = most.max(1);
    let (first, last) = ((lo - 1e-6).ceil() as i32, (hi + 1e-6).floor() as i32);
    if last > first {
        let count = (last - first) as usize + 1;
        let stride = STRIDES
            .into_iter()
            .find(|s| count.div_ceil(*s as usize) <= most)
            .unwrap_or(500);
        let (major, unlabelled): (Vec<i32>, Vec<i32>) =
            (first..=last).partition(|k| k.rem_euclid(stride) == 0);
        let minor = if stride == 1 && count <= 8 {
            multiples(&[2, 3, 4, 5, 6, 7, 8, 9], lo, hi)
                .map(|(m, k)| f64::from(m) * 10f64.powi(k))
                .collect()
        } else if count <= 24 {
            unlabelled.into_iter().map(|k| 10f64.powi(k)).collect()
        } else {
            Vec::new()
        };
        let major = major.into_iter().map(|k| Tick {
            value: 10f64.powi(k),
            label: power_of_ten(k),
        });
        return Ticks {
            major: major.collect(),
            minor,
            exponent: 0,
        };
    }
    for leading in [&[1, 2, 5][..], &[1, 3]] {
        let major: Vec<Tick> = multiples(leading, lo, hi)
            .map(|(m, k)| Tick {
                value: f64::from(m) * 10f64.powi(k),
                label: multiple(m, k),
            })
            .collect();
        if (2..=most).contains(&major.len()) {
            return Ticks {
                major,
                minor: Vec::new(),
                exponent: 0,
            };
        }
    }
    linear(10f64.powf(lo), 10f64.powf(hi), most)
}

const STRIDES: [i32; 9] = [1, 2, 3, 5, 10, 20, 50, 100, 200];

/// Every `m 10^k` in the range `10^lo ..= 10^hi`, in order.
fn multiples(leading: &[i32], lo: f64, hi: f64) -> impl Iterator<Item = (i32, i32)> {
    (lo.floor() as i32..=hi.ceil() as i32)
        .flat_map(move |k| leading.iter().map(move |m| (*m, k)))
        .filter(move |(m, k)| {
            let position = f64::from(*m).log10() + f64::from(*k);
            lo - 1e-6 <= position && position <= hi + 1e-6
        })
}

/// The smallest 1, 2 or 5 times a power of ten that is not below `least`.
fn round_step(least: f64) -> f64 {
    let power = 10f64.powi(decade(least));
    let leading = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .find(|m| m * power >= least * (1.0 - 1e-9));
    leading.unwrap_or(10.0) * power
}

/// `floor(log10 v)`, not misled by rounding at the powers of ten.
fn decade(v: f64) -> i32 {
    (v.log10() + 1e-9).floor() as i32
}

/// `m 10^k`, plain where that is as short.
fn multiple(m: i32, k: i32) -> String {
    match (m, k) {
        (_, -2..=3) => text::number(
            f64::from(m) * 10f64.powi(k),
            k.min(0).unsigned_abs() as usize,
        ),
        (1, _) => power_of_ten(k),
        _ => format!("{m}×{}", power_of_ten(k)),
    }
}

fn power_of_ten(k: i32) -> String {
    format!("10^{{{}}}", text::number(f64::from(k), 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(ticks: &Ticks) -> Vec<&str> {
        ticks.major.iter().map(|t| t.label.as_str()).collect()
    }

    #[test]
    fn steps_are_one_two_or_five() {
        assert_eq!(
            labels(&linear(0.0, 1.0, 5)),
            ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]
        );
        assert_eq!(labels(&linear(-3.0, 7.0, 2)), ["0", "5"]);
        assert_eq!(labels(&linear(-0.07, 0.07, 3)), ["−0.05", "0.00", "0.05"]);
    }

    #[test]
    fn never_many_more_than_asked_for() {
        for most in 1..12 {
            for k in 0..200 {
                let hi = 1.07_f64.powi(k);
                let count = linear(-0.3 * hi, hi, most).major.len();
                assert!((1..=most + 1).contains(&count), "{count} for {most}");
            }
        }
    }

    #[test]
    fn tiny_and_huge_values_share_a_power_of_ten() {
        let ticks = linear(0.0, 4e-7, 4);
        assert_eq!(labels(&ticks), ["0", "1", "2", "3", "4"]);
        assert_eq!(ticks.factor().unwrap(), "×10^{−7}");
        assert_eq!(linear(0.0, 2.5e6, 3).exponent, 6);
        assert_eq!(linear(0.0, 2500.0, 3).factor(), None);
    }

    #[test]
    fn logarithmic_marks_are_powers_of_ten() {
        let ticks = log10(-3.2, 1.1, 6);
        assert_eq!(
            labels(&ticks),
            ["10^{−3}", "10^{−2}", "10^{−1}", "10^{0}", "10^{1}"]
        );
        assert!(ticks.minor.iter().any(|v| (v - 0.02).abs() < 1e-12));
    }

    #[test]
    fn many_decades_are_thinned() {
        let ticks = log10(-16.0, 0.0, 5);
        assert_eq!(
            labels(&ticks),
            ["10^{−15}", "10^{−10}", "10^{−5}", "10^{0}"]
        );
        assert!(log10(-300.0, 300.0, 6).major.len() <= 7);
    }

    #[test]
    fn short_logarithmic_axes_still_have_two_marks() {
        assert_eq!(labels(&log10(0.1, 0.8, 5)), ["2", "5"]);
        assert!(log10(0.31, 0.33, 5).major.len() >= 2);
    }
}

//! One axis: what it shows, over what range, and where values fall on it.

use super::text;
use super::ticks::{self, Ticks};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    #[default]
    Linear,
    /// Values that are not positive cannot be shown and are skipped.
    Log10,
}

impl Scale {
    /// The coordinate in which the axis is linear, where there is one.
    pub fn coordinate(self, v: f64) -> Option<f64> {
        let c = match self {
            Scale::Linear => v,
            Scale::Log10 if v > 0.0 => v.log10(),
            Scale::Log10 => return None,
        };
        c.is_finite().then_some(c)
    }
}

/// An axis as requested.
#[derive(Clone, Debug, Default)]
pub struct Axis {
    pub label: String,
    pub scale: Scale,
    /// `None` to follow the data.
    pub range: Option<(f64, f64)>,
}

impl Axis {
    pub fn new(label: &str) -> Self {
        Axis {
            label: label.to_owned(),
            ..Axis::default()
        }
    }

    /// Whether a value can be shown, and is not outside a range asked for.
    pub fn shows(&self, v: f64) -> bool {
        let outside = |(a, b): (f64, f64)| v < a.min(b) || v > a.max(b);
        self.scale.coordinate(v).is_some() && !self.range.is_some_and(outside)
    }
}

/// The smallest interval that holds some values.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Extent(Option<(f64, f64)>);

impl Extent {
    pub fn include(&mut self, v: f64) {
        let (lo, hi) = self.0.unwrap_or((v, v));
        self.0 = Some((lo.min(v), hi.max(v)));
    }

    pub fn ends(self) -> Option<(f64, f64)> {
        self.0
    }
}

/// An axis with its range settled: an interval of positive length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    scale: Scale,
    // In the coordinate where the axis is linear.
    lo: f64,
    hi: f64,
}

impl Span {
    /// The range asked for, or else that of the data widened at either end by
    /// the fraction `pad`. Data that are constant, or missing, get a range of
    /// sensible length around them.
    pub fn settle(scale: Scale, asked: Option<(f64, f64)>, data: Extent, pad: f64) -> Self {
        let coordinates = |(a, b)| Some((scale.coordinate(a)?, scale.coordinate(b)?));
        if let Some((a, b)) = asked.and_then(coordinates)
            && !is_constant(a, b)
        {
            return Span {
                scale,
                lo: a.min(b),
                hi: a.max(b),
            };
        }
        let (lo, hi) = data.ends().and_then(coordinates).unwrap_or((0.0, 1.0));
        // The difference of two numbers of this size does not overflow.
        let (lo, hi) = (lo.clamp(-1e300, 1e300), hi.clamp(-1e300, 1e300));
        let margin = match scale {
            _ if !is_constant(lo, hi) => pad * (hi - lo),
            Scale::Log10 => 0.5,
            Scale::Linear if lo.abs() < TINY => 1.0,
            Scale::Linear => 0.1 * lo.abs(),
        };
        Span {
            scale,
            lo: lo - margin,
            hi: hi + margin,
        }
    }

    /// Where `v` lies, 0 at the low end and 1 at the high one.
    pub fn fraction(&self, v: f64) -> Option<f64> {
        Some((self.scale.coordinate(v)? - self.lo) / self.length())
    }

    /// In decades on a logarithmic axis.
    pub fn length(&self) -> f64 {
        self.hi - self.lo
    }

    /// Marks for a horizontal axis of this length in pixels: as many as fit with their
    /// labels clear of each other.
    pub fn ticks_across(&self, pixels: f64) -> Ticks {
        let most = ((pixels / 36.0) as usize).clamp(2, 8);
        (2..=most)
            .rev()
            .map(|most| self.ticks(most))
            .find(|ticks| self.labels_are_clear(ticks, pixels))
            .unwrap_or_else(|| self.ticks(1))
    }

    /// Marks for a vertical axis of this length in pixels: comfortably apart, or closer
    /// where that would leave fewer than three.
    pub fn ticks_up(&self, pixels: f64) -> Ticks {
        let most = ((pixels / 30.0) as usize).clamp(2, 7);
        let fit = |count: usize| 3 <= count && 14.0 * count as f64 <= pixels;
        (most..most + 4)
            .map(|most| self.ticks(most))
            .find(|ticks| fit(ticks.major.len()))
            .unwrap_or_else(|| self.ticks(most))
    }

    fn ticks(&self, most: usize) -> Ticks {
        match self.scale {
            Scale::Linear => ticks::linear(self.lo, self.hi, most),
            Scale::Log10 => ticks::log10(self.lo, self.hi, most),
        }
    }

    fn labels_are_clear(&self, ticks: &Ticks, pixels: f64) -> bool {
        ticks.major.windows(2).all(|pair| {
            let [a, b] = [&pair[0], &pair[1]];
            let at = |v| self.fraction(v).unwrap_or(0.0) * pixels;
            let widths = text::width(&a.label, text::TICK) + text::width(&b.label, text::TICK);
            at(b.value) - at(a.value) >= 0.5 * widths + 8.0
        })
    }
}

/// Smaller numbers have lost digits, and parts of them vanish: they are drawn as zero.
const TINY: f64 = 1e-290;

/// No more than rounding apart: marks between the two would look the same.
fn is_constant(lo: f64, hi: f64) -> bool {
    (hi - lo).abs() <= (1e-11 * lo.abs().max(hi.abs())).max(TINY)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extent(values: &[f64]) -> Extent {
        let mut extent = Extent::default();
        values.iter().for_each(|v| extent.include(*v));
        extent
    }

    fn span(scale: Scale, values: &[f64]) -> Span {
        Span::settle(scale, None, extent(values), 0.0)
    }

    #[test]
    fn constant_data_sit_in_the_middle() {
        for (scale, value) in [
            (Scale::Linear, 0.0),
            (Scale::Linear, -5.0),
            (Scale::Linear, 1e-30),
            (Scale::Log10, 3e7),
        ] {
            let span = span(scale, &[value, value * (1.0 + 1e-15)]);
            assert!((span.fraction(value).unwrap() - 0.5).abs() < 1e-9);
            assert!(span.ticks_across(300.0).major.len() >= 2 || scale == Scale::Log10);
        }
    }

    #[test]
    fn missing_and_enormous_data_have_marks_too() {
        assert!(span(Scale::Linear, &[]).ticks_up(200.0).major.len() > 2);
        assert!(span(Scale::Log10, &[]).ticks_up(200.0).major.len() >= 2);
        let vast = span(Scale::Linear, &[-f64::MAX, f64::MAX]);
        assert!(vast.length().is_finite());
        assert!(vast.ticks_across(300.0).major.len() >= 2);
    }

    #[test]
    fn logarithms_skip_what_is_not_positive() {
        let span = span(Scale::Log10, &[1e-4, 1e4]);
        assert_eq!(span.fraction(1.0), Some(0.5));
        assert_eq!(span.fraction(0.0), None);
        assert_eq!(span.fraction(-1.0), None);
        assert_eq!(span.fraction(f64::NAN), None);
    }

    #[test]
    fn a_useless_range_falls_back_on_the_data() {
        let data = extent(&[2.0, 3.0]);
        let span = |asked| Span::settle(Scale::Log10, Some(asked), data, 0.0);
        assert_eq!(span((0.0, 1.0)), span((5.0, 5.0)));
        assert_eq!(span((10.0, 1.0)), span((1.0, 10.0)));
    }

    #[test]
    fn a_short_vertical_axis_still_has_three_marks() {
        let span = span(Scale::Linear, &[-0.064, 0.064]);
        assert_eq!(span.ticks_up(60.0).major.len(), 3);
    }

    #[test]
    fn labels_of_a_narrow_axis_do_not_overlap() {
        let span = span(Scale::Linear, &[1000.001, 1000.002]);
        let ticks = span.ticks_across(120.0);
        assert!(span.labels_are_clear(&ticks, 120.0));
    }
}

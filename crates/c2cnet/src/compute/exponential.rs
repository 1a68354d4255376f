//! An exponential that loops vectorise.

/// $\ln 2$ in two parts, the first with zeros at its end so that $k$ times it is exact.
pub(crate) const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
pub(crate) const LN2_LOW: f64 = 1.908_214_929_270_588e-10;

/// Adding this rounds to an integer and leaves it in the last bits.
pub(crate) const ROUND: f64 = 6_755_399_441_055_744.0; // 1.5 * 2^52

/// $1/13!$ to $1/2!$.
pub(crate) const INVERSE_FACTORIALS: [f64; 12] = [
    1.0 / 6_227_020_800.0,
    1.0 / 479_001_600.0,
    1.0 / 39_916_800.0,
    1.0 / 3_628_800.0,
    1.0 / 362_880.0,
    1.0 / 40_320.0,
    1.0 / 5_040.0,
    1.0 / 720.0,
    1.0 / 120.0,
    1.0 / 24.0,
    1.0 / 6.0,
    1.0 / 2.0,
];

/// $e^x$ for $x \le 0$, by exactly rounded operations only; NaN stays NaN.
///
/// $x = k\ln2 + r$, $|r| \le \tfrac12\ln 2$, the series of $e^r$ up to $r^{13}$.
#[inline(always)]
pub(crate) fn exp_of_negative(x: f64) -> f64 {
    let x = if x < -708.0 { -708.0 } else { x };
    let shifted = x.mul_add(std::f64::consts::LOG2_E, ROUND);
    let k = shifted - ROUND;
    let power = f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52);
    let r = k.mul_add(-LN2_LOW, k.mul_add(-LN2_HIGH, x));
    let mut series = INVERSE_FACTORIALS[0];
    for c in &INVERSE_FACTORIALS[1..] {
        series = series.mul_add(r, *c);
    }
    power.mul_add((r * r).mul_add(series, r), power)
}

//! The precisions of training, and the two transcendental functions that activations need.
//!
//! Both functions use exactly rounded operations only (fused multiply-adds among them, which every
//! CPU with AVX2 or NEON has), so that loops over them vectorise and results do not depend on
//! the system's math library.

use crate::compute::exp_of_negative;
use faer::traits::ComplexField;
use serde::{Deserialize, Serialize};
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

/// The precision of training.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// 32 bits: the default.
    #[default]
    F32,
    /// 64 bits.
    F64,
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// `f32` or `f64`.
pub trait Scalar:
    sealed::Sealed
    + crate::compute::Real
    + crate::storage::leaf::Element
    + ComplexField
    + Copy
    + Default
    + PartialOrd
    + Send
    + Sync
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + 'static
{
    /// Which one.
    const PRECISION: Precision;

    /// The nearest number.
    fn from_f64(value: f64) -> Self;

    /// The same number.
    fn to_f64(self) -> f64;

    /// $\sqrt x$.
    fn root(self) -> Self;

    /// $|x|$.
    fn magnitude(self) -> Self;

    /// $e^x$ for $x \le 0$; NaN stays NaN.
    fn exp_of_negative(self) -> Self;

    /// $\tfrac12 e^{a^2/2}\operatorname{erfc}(a/\sqrt2)$ for $a \ge 0$: the upper tail of the
    /// normal distribution over $e^{-a^2/2}$.
    fn scaled_tail(self) -> Self;
}

/// $p(v)$, coefficients from the highest power down.
macro_rules! horner {
    ($float:ty, $v:expr, $coefficients:expr) => {{
        let (first, rest) = $coefficients.split_first().expect("a polynomial");
        let mut sum: $float = *first;
        for c in rest {
            sum = sum.mul_add($v, *c);
        }
        sum
    }};
}

impl Scalar for f64 {
    const PRECISION: Precision = Precision::F64;

    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        value
    }

    #[inline(always)]
    fn to_f64(self) -> f64 {
        self
    }

    #[inline(always)]
    fn root(self) -> Self {
        self.sqrt()
    }

    #[inline(always)]
    fn magnitude(self) -> Self {
        self.abs()
    }

    #[inline(always)]
    fn exp_of_negative(self) -> Self {
        exp_of_negative(self)
    }

    /// $w\,p(v)$ with $w = 1/(1 + a/5)$ and $v$ its image in $[-1, 1]$ for $a \le 39$; $p$
    /// interpolates at Chebyshev points to 1e-17. Beyond 39 the tail itself underflows.
    #[inline(always)]
    fn scaled_tail(self) -> Self {
        let a = if self > 39.0 { 39.0 } else { self };
        let w = 5.0 / (5.0 + a);
        let v = w * 2.256_410_256_410_256_4 - 1.256_410_256_410_256_4;
        w * horner!(f64, v, TAIL_F64)
    }
}

impl Scalar for f32 {
    const PRECISION: Precision = Precision::F32;

    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        value as f32
    }

    #[inline(always)]
    fn to_f64(self) -> f64 {
        f64::from(self)
    }

    #[inline(always)]
    fn root(self) -> Self {
        self.sqrt()
    }

    #[inline(always)]
    fn magnitude(self) -> Self {
        self.abs()
    }

    /// As for `f64`, up to $r^7$.
    #[inline(always)]
    fn exp_of_negative(self) -> Self {
        const LN2_HIGH: f32 = 0.693_359_4;
        const LN2_LOW: f32 = -2.121_944_4e-4;
        const ROUND: f32 = 12_582_912.0; // 1.5 * 2^23
        let x = if self < -87.0 { -87.0 } else { self };
        let shifted = x.mul_add(std::f32::consts::LOG2_E, ROUND);
        let k = shifted - ROUND;
        let power = f32::from_bits(shifted.to_bits().wrapping_add(127) << 23);
        let r = k.mul_add(-LN2_LOW, k.mul_add(-LN2_HIGH, x));
        let series = horner!(
            f32,
            r,
            [
                1.0 / 5_040.0,
                1.0 / 720.0,
                1.0 / 120.0,
                1.0 / 24.0,
                1.0 / 6.0,
                1.0 / 2.0,
            ]
        );
        power.mul_add((r * r).mul_add(series, r), power)
    }

    /// As for `f64`, with $w = 1/(1 + a/3.5)$ for $a \le 14$, to 2e-9.
    #[inline(always)]
    fn scaled_tail(self) -> Self {
        let a = if self > 14.0 { 14.0 } else { self };
        let w = 3.5 / (3.5 + a);
        let v = w * 2.5 - 1.5;
        w * horner!(f32, v, TAIL_F32)
    }
}

const TAIL_F64: [f64; 22] = [
    -3.418_095_972_698_334e-11,
    4.156_913_533_579_75e-11,
    4.371_632_189_653_624_4e-10,
    -6.697_425_941_637_946e-10,
    -3.746_678_960_153_868_5e-9,
    6.925_372_195_465_716e-9,
    3.206_265_843_842_974e-8,
    -5.899_233_888_989_783e-8,
    -3.168_524_648_309_849e-7,
    3.712_785_691_685_442_5e-7,
    3.561_970_388_730_725e-6,
    8.942_286_217_315_236e-7,
    -3.864_551_320_186_561e-5,
    -0.000_104_870_295_492_814_63,
    0.000_172_549_724_018_722_83,
    0.002_213_075_598_205_217_2,
    0.009_194_586_595_105_334,
    0.025_734_013_027_077_725,
    0.055_443_694_420_751_27,
    0.096_797_979_149_959_52,
    0.140_245_201_732_873_23,
    0.170_337_928_911_767_28,
];

const TAIL_F32: [f32; 10] = [
    -4.652_424e-6,
    1.058_052e-5,
    6.144_036e-5,
    -0.000_155_921_51,
    -0.000_910_749_36,
    0.001_075_313_3,
    0.018_564_926,
    0.071_066_13,
    0.161_407_38,
    0.248_885_55,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponential_and_tail_agree_with_the_library() {
        for i in 0..70_000 {
            let x = -f64::from(i) * 0.01;
            let off = (x.exp_of_negative() - x.exp()).abs() / x.exp();
            assert!(off < 3e-16, "exp {x}: {off:e}");
            let a = f64::from(i) * 5e-4;
            let truth = 0.5 * libm::erfc(a / std::f64::consts::SQRT_2);
            let tail = a.scaled_tail() * (-0.5 * a * a).exp();
            assert!((tail - truth).abs() < 5e-16, "tail {a}: {tail} {truth}");
        }
        for i in 0..80_000 {
            let x = -i as f32 * 1e-3;
            let truth = f64::from(x).exp();
            let off = (f64::from(x.exp_of_negative()) - truth).abs() / truth;
            assert!(off < 1.5e-7, "exp {x}: {off:e}");
            let a = i as f32 * 1.7e-4;
            let truth = f64::from(a).scaled_tail();
            let off = (f64::from(a.scaled_tail()) - truth).abs() / truth;
            assert!(off < 4e-7, "tail {a}: {off:e}");
        }
    }

    #[test]
    fn what_is_not_a_number_stays_so() {
        assert!(f64::NAN.exp_of_negative().is_nan() && f64::NAN.scaled_tail().is_nan());
        assert!(f32::NAN.exp_of_negative().is_nan() && f32::NAN.scaled_tail().is_nan());
        assert_eq!(
            f64::NEG_INFINITY.exp_of_negative(),
            (-708.0f64).exp_of_negative()
        );
        assert!(f64::INFINITY.scaled_tail().is_finite());
    }
}

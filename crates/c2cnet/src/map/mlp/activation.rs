//! Activation functions: values and derivatives of many numbers at once.

use super::scalar::Scalar;
use faer::Mat;
use serde::{Deserialize, Serialize};

/// What follows every layer but the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Activation {
    /// $x\,\Phi(x)$, $\Phi$ the normal distribution function.
    #[default]
    Gelu,
    /// $\tfrac12x\left(1 + \tanh\sqrt{2/\pi}(x + 0.044715x^3)\right)$.
    GeluTanh,
    /// $\tanh x$.
    Tanh,
    /// $\max(0, x)$.
    Relu,
    /// $x/(1 + e^{-x})$.
    Silu,
}

impl Activation {
    /// For the first `columns` columns: values of `inputs` into the leading rows of `values`;
    /// derivatives replace the inputs.
    pub(super) fn apply<T: Scalar>(self, inputs: &mut Mat<T>, values: &mut Mat<T>, columns: usize) {
        match self {
            Activation::Gelu => run(inputs, values, columns, gelu),
            Activation::GeluTanh => run(inputs, values, columns, gelu_tanh),
            Activation::Tanh => run(inputs, values, columns, tanh),
            Activation::Relu => run(inputs, values, columns, relu),
            Activation::Silu => run(inputs, values, columns, silu),
        }
    }
}

impl Activation {
    /// Values of `inputs` into `values`; derivatives replace the inputs.
    pub(in crate::map) fn apply_to<T: Scalar>(self, inputs: &mut [T], values: &mut [T]) {
        match self {
            Activation::Gelu => pass(inputs, values, gelu),
            Activation::GeluTanh => pass(inputs, values, gelu_tanh),
            Activation::Tanh => pass(inputs, values, tanh),
            Activation::Relu => pass(inputs, values, relu),
            Activation::Silu => pass(inputs, values, silu),
        }
    }
}

fn pass<T: Scalar>(inputs: &mut [T], values: &mut [T], function: impl Fn(T) -> (T, T)) {
    pulp::Arch::new().dispatch(Pass {
        inputs,
        values,
        function: &function,
    });
}

fn run<T: Scalar>(
    inputs: &mut Mat<T>,
    values: &mut Mat<T>,
    columns: usize,
    function: impl Fn(T) -> (T, T),
) {
    for j in 0..columns {
        let (inputs, values) = (inputs.col_as_slice_mut(j), values.col_as_slice_mut(j));
        pass(inputs, values, &function);
    }
}

struct Pass<'a, T, F> {
    inputs: &'a mut [T],
    values: &'a mut [T],
    function: &'a F,
}

impl<T: Scalar, F: Fn(T) -> (T, T)> pulp::NullaryFnOnce for Pass<'_, T, F> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        for (x, value) in self.inputs.iter_mut().zip(self.values) {
            (*value, *x) = (self.function)(*x);
        }
    }
}

/// $\Phi'(x) = e^{-x^2/2}/\sqrt{2\pi}$ shares its exponential with $\Phi$.
#[inline(always)]
fn gelu<T: Scalar>(x: T) -> (T, T) {
    let a = x.magnitude();
    let e = (T::from_f64(-0.5) * x * x).exp_of_negative();
    let tail = e * a.scaled_tail();
    let one = T::from_f64(1.0);
    let phi = if x > T::from_f64(0.0) {
        one - tail
    } else {
        tail
    };
    let density = T::from_f64(0.398_942_280_401_432_7) * e;
    (x * phi, phi + x * density)
}

/// $x\,s(2t)$ with $s$ the logistic function: $\tfrac12(1 + \tanh t) = s(2t)$.
#[inline(always)]
fn gelu_tanh<T: Scalar>(x: T) -> (T, T) {
    let one = T::from_f64(1.0);
    let c = T::from_f64(1.595_769_121_605_730_8); // 2 sqrt(2 / pi)
    let square = x * x;
    let s = logistic(c * x * (one + T::from_f64(0.044_715) * square));
    let inner = c * (one + T::from_f64(0.134_145) * square);
    // s - s^2 is exactly zero where s is 0 or 1, however large the inner derivative.
    (x * s, s + x * ((s - s * s) * inner))
}

#[inline(always)]
fn tanh<T: Scalar>(x: T) -> (T, T) {
    let one = T::from_f64(1.0);
    let e = (T::from_f64(-2.0) * x.magnitude()).exp_of_negative();
    let t = (one - e) / (one + e);
    let t = if x < T::from_f64(0.0) { -t } else { t };
    (t, one - t * t)
}

#[inline(always)]
fn relu<T: Scalar>(x: T) -> (T, T) {
    let zero = T::from_f64(0.0);
    // This order keeps NaN.
    if x <= zero {
        (zero, zero)
    } else {
        (x, T::from_f64(1.0))
    }
}

#[inline(always)]
fn silu<T: Scalar>(x: T) -> (T, T) {
    let one = T::from_f64(1.0);
    let s = logistic(x);
    (x * s, s * (one + x * (one - s)))
}

/// $1/(1 + e^{-x})$.
#[inline(always)]
fn logistic<T: Scalar>(x: T) -> T {
    let one = T::from_f64(1.0);
    let e = (-x.magnitude()).exp_of_negative();
    let s = one / (one + e);
    if x < T::from_f64(0.0) { e * s } else { s }
}

#[cfg(test)]
pub(super) const ALL: [Activation; 5] = [
    Activation::Gelu,
    Activation::GeluTanh,
    Activation::Tanh,
    Activation::Relu,
    Activation::Silu,
];

/// The activation computed with the system's library.
#[cfg(test)]
pub(super) fn reference(activation: Activation, x: f64) -> f64 {
    match activation {
        Activation::Gelu => x * 0.5 * libm::erfc(-x / std::f64::consts::SQRT_2),
        Activation::GeluTanh => {
            let t = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x.powi(3));
            0.5 * x * (1.0 + t.tanh())
        }
        Activation::Tanh => x.tanh(),
        Activation::Relu => x.max(0.0),
        Activation::Silu => x / (1.0 + (-x).exp()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apply<T: Scalar>(activation: Activation, x: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let mut inputs = Mat::from_fn(x.len(), 1, |i, _| T::from_f64(x[i]));
        let mut values = Mat::zeros(x.len(), 1);
        activation.apply(&mut inputs, &mut values, 1);
        let widen = |m: &Mat<T>| m.col_as_slice(0).iter().map(|v| v.to_f64()).collect();
        (widen(&values), widen(&inputs))
    }

    #[test]
    fn values_and_derivatives() {
        let x: Vec<f64> = (-9000..9000).map(|i| f64::from(i) * 1e-3 + 5e-4).collect();
        for activation in ALL {
            let (values, slopes) = apply::<f64>(activation, &x);
            let (values32, slopes32) = apply::<f32>(activation, &x);
            for (i, &x) in x.iter().enumerate() {
                let size = 1.0 + x.abs();
                let off = (values[i] - reference(activation, x)).abs();
                assert!(off < 6e-16 * size, "{activation:?} at {x}: {off:e}");
                let h = 1e-5;
                let slope =
                    (reference(activation, x + h) - reference(activation, x - h)) / (2.0 * h);
                assert!(
                    (slopes[i] - slope).abs() < 1e-9,
                    "{activation:?} slope at {x}"
                );
                assert!((values32[i] - values[i]).abs() < 3e-7 * size);
                assert!((slopes32[i] - slopes[i]).abs() < 1e-6 * size);
            }
        }
    }

    #[test]
    fn far_arguments_and_no_numbers() {
        for activation in ALL {
            let (values, slopes) = apply::<f32>(activation, &[1e9, -1e9, f64::NAN]);
            let top = if activation == Activation::Tanh {
                1.0
            } else {
                1e9
            };
            assert!(
                (values[0] - top).abs() < 1.0 && values[1].abs() < 1.1,
                "{activation:?}"
            );
            assert!(
                slopes[..2].iter().all(|s| s.is_finite()),
                "{activation:?} {slopes:?}"
            );
            assert!(values[2].is_nan(), "{activation:?}");
        }
    }
}

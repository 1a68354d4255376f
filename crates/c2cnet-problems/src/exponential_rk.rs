//! The exponential Runge-Kutta method of order four (Cox and Matthews 2002) for $v' = Lv + N(v)$, $L$
//! diagonal.
//!
//! With $z = \Delta t L$, $Q = \Delta t\,(e^{z/2} - 1)/z$ and
//!
//! $$a = e^{z/2}v + Q N(v),\quad b = e^{z/2}v + Q N(a),\quad c = e^{z/2}a + Q(2N(b) - N(v)),$$
//! $$v \leftarrow e^zv + \Delta t\,\big(f_1N(v) + 2f_2(N(a) + N(b)) + f_3N(c)\big).$$
//!
//! The weights $f_1 = (-4 - z + e^z(4 - 3z + z^2))/z^3$, $f_2 = (2 + z + e^z(z - 2))/z^3$ and
//! $f_3 = (-4 - 3z - z^2 + e^z(4 - z))/z^3$ cancel near $z = 0$. Each is entire, so it is its mean over a
//! circle around $z$ (Kassam and Trefethen 2005), where nothing cancels.

use realfft::num_complex::Complex;

type C = Complex<f64>;

/// The method with a fixed step.
#[derive(Debug, Clone)]
pub(crate) struct ExponentialRk {
    whole: Vec<C>,
    half: Vec<C>,
    stage: Vec<C>,
    weights: [Vec<C>; 3],
}

/// Memory of one integration.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stages {
    values: [Vec<C>; 2],
    slopes: [Vec<C>; 4],
}

/// Points on the circle; with this many the error of the mean is below rounding.
const CIRCLE: usize = 64;

impl ExponentialRk {
    /// Steps of length `step` for the diagonal `linear`.
    pub fn new(linear: &[C], step: f64) -> Self {
        let mean = |f: &dyn Fn(C) -> C| -> Vec<C> {
            linear
                .iter()
                .map(|l| {
                    let around = |j: usize| {
                        let angle = std::f64::consts::TAU * (j as f64 + 0.5) / CIRCLE as f64;
                        f(l * step + C::from_polar(1.0, angle))
                    };
                    (0..CIRCLE).map(around).sum::<C>() * (step / CIRCLE as f64)
                })
                .collect()
        };
        ExponentialRk {
            whole: linear.iter().map(|l| (l * step).exp()).collect(),
            half: linear.iter().map(|l| (l * (0.5 * step)).exp()).collect(),
            stage: mean(&|z| ((z * 0.5).exp() - 1.0) / z),
            weights: [
                mean(&|z| (-z - 4.0 + z.exp() * (z * z - z * 3.0 + 4.0)) / (z * z * z)),
                mean(&|z| (z + 2.0 + z.exp() * (z - 2.0)) / (z * z * z)),
                mean(&|z| (-z * z - z * 3.0 - 4.0 + z.exp() * (-z + 4.0)) / (z * z * z)),
            ],
        }
    }

    /// Takes one step from `v`; `nonlinear(v, out)` writes $N(v)$.
    pub fn step(
        &self,
        v: &mut [C],
        memory: &mut Stages,
        mut nonlinear: impl FnMut(&[C], &mut [C]),
    ) {
        let n = v.len();
        for buffer in memory.values.iter_mut().chain(&mut memory.slopes) {
            buffer.resize(n, C::default());
        }
        let [a, b] = &mut memory.values;
        let [nv, na, nb, nc] = &mut memory.slopes;
        nonlinear(v, nv);
        for i in 0..n {
            a[i] = self.half[i] * v[i] + self.stage[i] * nv[i];
        }
        nonlinear(a, na);
        for i in 0..n {
            b[i] = self.half[i] * v[i] + self.stage[i] * na[i];
        }
        nonlinear(b, nb);
        // c overwrites a.
        for i in 0..n {
            a[i] = self.half[i] * a[i] + self.stage[i] * (nb[i] * 2.0 - nv[i]);
        }
        nonlinear(a, nc);
        let [f1, f2, f3] = &self.weights;
        for i in 0..n {
            v[i] = self.whole[i] * v[i]
                + f1[i] * nv[i]
                + f2[i] * (na[i] + nb[i]) * 2.0
                + f3[i] * nc[i];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::fitted_order;

    #[test]
    fn the_weights_have_their_limits() {
        let at = |z: f64| ExponentialRk::new(&[C::new(z, 0.0)], 1.0);
        let zero = at(0.0);
        let found = [
            &zero.stage,
            &zero.weights[0],
            &zero.weights[1],
            &zero.weights[2],
        ];
        for (found, limit) in found
            .into_iter()
            .zip([0.5, 1.0 / 6.0, 1.0 / 6.0, 1.0 / 6.0])
        {
            assert!((found[0] - limit).norm() < 1e-14);
        }
        // Far from zero, the formulas as written.
        let z = -30.0f64;
        let far = at(z);
        let f1 = (-4.0 - z + z.exp() * (4.0 - 3.0 * z + z * z)) / z.powi(3);
        assert!((far.weights[0][0] - f1).norm() < 1e-14 * f1.abs().max(1.0));
    }

    #[test]
    fn a_forced_oscillator_converges_with_order_four() {
        // v' = i w v - v |v|^2 keeps its phase: |v|^2 = 1 / (1 + 2t) from 1.
        let linear = C::new(0.0, 5.0);
        let exact = C::from_polar(3f64.powf(-0.5), 5.0);
        let (mut steps, mut errors) = (Vec::new(), Vec::new());
        for count in [20, 40, 80, 160] {
            let method = ExponentialRk::new(&[linear], 1.0 / count as f64);
            let mut v = [C::new(1.0, 0.0)];
            let mut memory = Stages::default();
            for _ in 0..count {
                method.step(&mut v, &mut memory, |v, out| {
                    out[0] = -v[0] * v[0].norm_sqr()
                });
            }
            steps.push(1.0 / count as f64);
            errors.push((v[0] - exact).norm());
        }
        let order = fitted_order(&steps, &errors);
        assert!(order >= 3.85, "order {order}, errors {errors:?}");
    }
}

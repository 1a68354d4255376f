//! The vorticity equation in Fourier coefficients on the torus.
//!
//! A state is $\hat w_k$, $w = \sum_k \hat w_k e^{2\pi i k\cdot x}$, for $|k_1|, |k_2| \le M$. As $w$ is real, only
//! $k_2 \ge 0$ is kept: row $k_2$, and in it $k_1 = -M, \dots, M$.
//!
//! With $\psi = (-\Delta)^{-1}w$ the velocity is $(u, v) = (\partial_2\psi, -\partial_1\psi)$, and
//!
//! $$(u\cdot\nabla)w = (\partial_1^2 - \partial_2^2)(uv) - \partial_1\partial_2(u^2 - v^2).$$
//!
//! Both products are in one complex number, $(u + iv)^2 = u^2 - v^2 + 2iuv$: one transform to the grid, one square at
//! each node and one transform back. On a grid of more than $3M$ nodes per side nothing is aliased.

use super::NavierStokes;
use crate::exponential_rk::{ExponentialRk, Stages};
use rustfft::num_complex::Complex;
use rustfft::{Fft, FftPlanner};
use std::f64::consts::TAU;
use std::sync::Arc;

type C = Complex<f64>;

/// The equation on a grid, with a fixed step.
pub(super) struct Torus {
    grid: usize,
    /// $M$.
    most: usize,
    steps: usize,
    /// $\hat f$ at $k = (1, 1)$; it vanishes elsewhere except at $-k$.
    forcing: C,
    /// $(k_1 + ik_2)/|k|^2$: $u + iv$ from $w$.
    velocity: Vec<C>,
    /// $\frac12(k_1^2 - k_2^2)$ and $k_1k_2$: the derivatives of the products.
    derivatives: Vec<[f64; 2]>,
    method: ExponentialRk,
    forward: Arc<dyn Fft<f64>>,
    inverse: Arc<dyn Fft<f64>>,
}

/// The memory of one integration.
pub(super) struct Memory {
    stages: Stages,
    work: Work,
}

struct Work {
    /// Values on the grid, $x_2$ fastest, or transformed along it.
    values: Vec<C>,
    /// The rows $k_2 = -M, \dots, M$, over $x_1$ or $k_1$.
    rows: Vec<C>,
    scratch: Vec<C>,
}

/// The largest $M$ with $3M < $ `grid`.
pub(super) fn frequencies(grid: usize) -> usize {
    (grid - 1) / 3
}

impl Torus {
    pub fn new(problem: &NavierStokes) -> Self {
        let (grid, most) = (problem.grid, frequencies(problem.grid));
        let wave_numbers: Vec<[f64; 2]> = (0..=most)
            .flat_map(|k2| (0..=2 * most).map(move |k1| [k1 as f64 - most as f64, k2 as f64]))
            .map(|k| k.map(|k| TAU * k))
            .collect();
        let square = |[k1, k2]: [f64; 2]| k1 * k1 + k2 * k2;
        let linear = wave_numbers.iter().map(|&k| -problem.viscosity * square(k));
        let linear: Vec<C> = linear.map(C::from).collect();
        let mut planner = FftPlanner::new();
        Torus {
            grid,
            most,
            steps: problem.steps,
            // a (sin t + cos t) = a ((1 - i) e^{it} + (1 + i) e^{-it}) / 2
            forcing: C::new(0.5, -0.5) * problem.forcing,
            velocity: wave_numbers
                .iter()
                .map(|&[k1, k2]| match square([k1, k2]) {
                    0.0 => C::default(),
                    square => C::new(k1, k2) / square,
                })
                .collect(),
            derivatives: wave_numbers
                .iter()
                .map(|&[k1, k2]| [0.5 * (k1 * k1 - k2 * k2), k1 * k2])
                .collect(),
            method: ExponentialRk::new(&linear, 1.0 / problem.steps as f64),
            forward: planner.plan_fft_forward(grid),
            inverse: planner.plan_fft_inverse(grid),
        }
    }

    pub fn memory(&self) -> Memory {
        let scratch = self.forward.get_inplace_scratch_len();
        let scratch = scratch.max(self.inverse.get_inplace_scratch_len());
        Memory {
            stages: Stages::default(),
            work: Work {
                values: vec![C::default(); self.grid * self.grid],
                rows: vec![C::default(); (2 * self.most + 1) * self.grid],
                scratch: vec![C::default(); scratch],
            },
        }
    }

    /// The state with the given values on the grid, its mean removed.
    pub fn state(&self, values: &[f64], memory: &mut Memory) -> Vec<C> {
        let work = &mut memory.work;
        for (to, from) in work.values.iter_mut().zip(values) {
            *to = C::from(*from);
        }
        let mut state = vec![C::default(); self.velocity.len()];
        self.to_coefficients(work, |i, z, mirrored| state[i] = (z + mirrored) * 0.5);
        state[self.most] = C::default();
        state
    }

    /// The values of a state at every `stride`-th node along both axes, $x_2$ fastest.
    pub fn values(&self, state: &[C], stride: usize, memory: &mut Memory) -> Vec<f64> {
        let work = &mut memory.work;
        self.to_values(work, |i| [state[i], state[i].conj()]);
        let rows = work.values.chunks_exact(self.grid).step_by(stride);
        rows.flat_map(|row| row.iter().step_by(stride).map(|z| z.re))
            .collect()
    }

    /// Advances a state by one unit of time.
    pub fn advance(&self, state: &mut [C], memory: &mut Memory) {
        let Memory { stages, work } = memory;
        for _ in 0..self.steps {
            self.method
                .step(state, stages, |w, out| self.nonlinear(w, out, work));
        }
    }

    #[cfg(test)]
    pub fn slope(&self, state: &[C], memory: &mut Memory) -> Vec<C> {
        let mut slope = vec![C::default(); state.len()];
        self.nonlinear(state, &mut slope, &mut memory.work);
        slope
    }

    /// $-(u\cdot\nabla)w + f$.
    fn nonlinear(&self, w: &[C], out: &mut [C], work: &mut Work) {
        // At -k, both k and the coefficient of a real field change to their opposite and conjugate.
        let velocity = &self.velocity;
        self.to_values(work, |i| [velocity[i] * w[i], -velocity[i] * w[i].conj()]);
        for z in &mut work.values {
            *z *= *z;
        }
        self.to_coefficients(work, |i, z, mirrored| {
            // The parts of the square on the grid: u^2 - v^2 and 2uv.
            let difference = (z + mirrored) * 0.5;
            let product = (z - mirrored) * C::new(0.0, -0.5);
            let [of_product, of_difference] = self.derivatives[i];
            out[i] = product * of_product - difference * of_difference;
        });
        out[3 * self.most + 2] += self.forcing;
    }

    /// Values on the grid from the coefficients at $k$ and at $-k$, given by place in a state.
    fn to_values(&self, work: &mut Work, coefficients: impl Fn(usize) -> [C; 2]) {
        let (n, most) = (self.grid, self.most);
        work.rows.fill(C::default());
        for k2 in 0..=most {
            for place in 0..=2 * most {
                let [here, mirrored] = coefficients(k2 * (2 * most + 1) + place);
                let k1 = place + n - most;
                work.rows[(most + k2) * n + k1 % n] = here;
                work.rows[(most - k2) * n + (2 * n - k1) % n] = mirrored;
            }
        }
        self.inverse
            .process_with_scratch(&mut work.rows, &mut work.scratch);
        for (x1, row) in work.values.chunks_exact_mut(n).enumerate() {
            row[most + 1..n - most].fill(C::default());
            // Row k2 + M of the kept ones goes to place k2 modulo n.
            for (kept, from) in work.rows.chunks_exact(n).enumerate() {
                row[(kept + n - most) % n] = from[x1];
            }
        }
        self.inverse
            .process_with_scratch(&mut work.values, &mut work.scratch);
    }

    /// Calls `take(place, z, mirrored)` for each place in a state with the coefficient $z$ of the values on the grid at
    /// $k$ and the conjugate of that at $-k$. For a real field both are the same up to rounding, and their mean at $-k$
    /// is the conjugate of that at $k$ to the bit.
    fn to_coefficients(&self, work: &mut Work, mut take: impl FnMut(usize, C, C)) {
        let (n, most) = (self.grid, self.most);
        self.forward
            .process_with_scratch(&mut work.values, &mut work.scratch);
        for (row, target) in work.rows.chunks_exact_mut(n).enumerate() {
            let k2 = (row + n - most) % n;
            for (x1, value) in target.iter_mut().enumerate() {
                *value = work.values[x1 * n + k2];
            }
        }
        self.forward
            .process_with_scratch(&mut work.rows, &mut work.scratch);
        let scale = (n as f64).powi(-2);
        for k2 in 0..=most {
            for place in 0..=2 * most {
                let k1 = place + n - most;
                let here = work.rows[(most + k2) * n + k1 % n];
                let mirrored = work.rows[(most - k2) * n + (2 * n - k1) % n].conj();
                take(k2 * (2 * most + 1) + place, here * scale, mirrored * scale);
            }
        }
    }
}

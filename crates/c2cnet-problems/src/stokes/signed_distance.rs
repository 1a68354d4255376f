//! Signed distances to circles, ellipses, star-shaped curves and unions of them.
//!
//! $$\phi(x) = \pm\min_t \lVert c(t) - x\rVert,$$
//!
//! negative inside. The boundary $c$ of an ellipse or a star is sampled once. For each $x$, all
//! intervals between samples that can hold the nearest point (the curve leaves its nearest sample
//! by at most half the longest interval) and in which $g(t) = (c(t) - x)\cdot c'(t)$ turns from
//! negative to positive are searched for $g = 0$ by Newton's method, kept inside by bisection.
//! So the distance is exact to rounding, also where several boundary points are almost as near.
//!
//! Components are disjoint: then the smallest signed distance of all is the one of the union, inside
//! as well as outside.

use std::f64::consts::TAU;

/// One obstacle, as in the appendix of the paper.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shape {
    /// $\lVert x - q\rVert \le r$.
    Circle {
        /// $q$.
        centre: [f64; 2],
        /// $r$.
        radius: f64,
    },
    /// $(y_1/a)^2 + (y_2/b)^2 \le 1$ with $y = R_\theta^\top(x - q)$.
    Ellipse {
        /// $q$.
        centre: [f64; 2],
        /// $a$ and $b$.
        semi_axes: [f64; 2],
        /// $\theta$.
        angle: f64,
    },
    /// $\lVert x - q\rVert \le r_0(1 + \beta\cos(m\vartheta + \varphi))$ at the polar angle
    /// $\vartheta$ of $x - q$.
    Star {
        /// $q$.
        centre: [f64; 2],
        /// $r_0$.
        radius: f64,
        /// $\beta$.
        amplitude: f64,
        /// $m$.
        mode: u32,
        /// $\varphi$.
        phase: f64,
    },
}

impl Shape {
    /// The centre $q$.
    pub fn centre(&self) -> [f64; 2] {
        match *self {
            Shape::Circle { centre, .. }
            | Shape::Ellipse { centre, .. }
            | Shape::Star { centre, .. } => centre,
        }
    }

    /// The largest distance of the boundary from the centre.
    pub fn outer_radius(&self) -> f64 {
        match *self {
            Shape::Circle { radius, .. } => radius,
            Shape::Ellipse { semi_axes, .. } => semi_axes[0].max(semi_axes[1]),
            Shape::Star {
                radius, amplitude, ..
            } => radius * (1.0 + amplitude),
        }
    }

    /// The boundary curve and its first two derivatives, $[c, c', c'']$, at $t \in [0, 2\pi)$;
    /// counter-clockwise.
    pub fn curve(&self, t: f64) -> [[f64; 2]; 3] {
        let (s, c) = t.sin_cos();
        let [q0, q1] = self.centre();
        let [[x, y], first, second] = match *self {
            Shape::Circle { radius: r, .. } => [[r * c, r * s], [-r * s, r * c], [-r * c, -r * s]],
            Shape::Ellipse {
                semi_axes: [a, b],
                angle,
                ..
            } => {
                let (sin, cos) = angle.sin_cos();
                [[a * c, b * s], [-a * s, b * c], [-a * c, -b * s]]
                    .map(|[x, y]| [cos * x - sin * y, sin * x + cos * y])
            }
            Shape::Star {
                radius,
                amplitude,
                mode,
                phase,
                ..
            } => {
                let m = f64::from(mode);
                let (sin, cos) = (m * t + phase).sin_cos();
                let rho = radius * (1.0 + amplitude * cos);
                let slope = -radius * amplitude * m * sin;
                let bend = -radius * amplitude * m * m * cos;
                // Along the radius and across it.
                [[rho, 0.0], [slope, rho], [bend - rho, 2.0 * slope]]
                    .map(|[r, a]| [r * c - a * s, r * s + a * c])
            }
        };
        [[q0 + x, q1 + y], first, second]
    }

    /// The curvature of the boundary at $t$, positive where it is convex.
    pub fn curvature(&self, t: f64) -> f64 {
        let [_, [dx, dy], [ddx, ddy]] = self.curve(t);
        (dx * ddy - dy * ddx) / (dx * dx + dy * dy).powf(1.5)
    }

    /// Whether `point` lies inside.
    pub fn contains(&self, point: [f64; 2]) -> bool {
        let [q0, q1] = self.centre();
        let [x, y] = [point[0] - q0, point[1] - q1];
        match *self {
            Shape::Circle { radius, .. } => x.hypot(y) <= radius,
            Shape::Ellipse {
                semi_axes: [a, b],
                angle,
                ..
            } => {
                let (sin, cos) = angle.sin_cos();
                ((cos * x + sin * y) / a).hypot((cos * y - sin * x) / b) <= 1.0
            }
            Shape::Star {
                radius,
                amplitude,
                mode,
                phase,
                ..
            } => {
                let angle = f64::from(mode) * y.atan2(x) + phase;
                x.hypot(y) <= radius * (1.0 + amplitude * angle.cos())
            }
        }
    }
}

/// Samples of a boundary.
const SAMPLES: usize = 256;

/// A shape and samples of its boundary.
#[derive(Debug, Clone)]
pub struct Obstacle {
    shape: Shape,
    points: Vec<[f64; 2]>,
    tangents: Vec<[f64; 2]>,
    /// Half the length of the longest piece between two samples, at least.
    half_gap: f64,
}

impl Obstacle {
    /// Samples the boundary of `shape`.
    pub fn new(shape: Shape) -> Obstacle {
        let (points, tangents): (Vec<_>, Vec<_>) = (0..SAMPLES)
            .map(|i| shape.curve(parameter(i)))
            .map(|[point, tangent, _]| (point, tangent))
            .unzip();
        let speed = tangents.iter().fold(0f64, |m, t| m.max(t[0].hypot(t[1])));
        // The speed between samples exceeds that at the samples by a few per cent at most.
        let half_gap = 0.75 * speed * TAU / SAMPLES as f64;
        Obstacle {
            shape,
            points,
            tangents,
            half_gap,
        }
    }

    /// The shape.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The samples of the boundary, counter-clockwise.
    pub fn boundary(&self) -> &[[f64; 2]] {
        &self.points
    }

    /// The distance of `point` from the boundary, negative inside.
    pub fn signed_distance(&self, point: [f64; 2]) -> f64 {
        if let Shape::Circle { centre, radius } = self.shape {
            return (point[0] - centre[0]).hypot(point[1] - centre[1]) - radius;
        }
        let distance = self.distance(point);
        if self.shape.contains(point) {
            -distance
        } else {
            distance
        }
    }

    fn distance(&self, x: [f64; 2]) -> f64 {
        let squared = |p: &[f64; 2]| (p[0] - x[0]).powi(2) + (p[1] - x[1]).powi(2);
        let least = self
            .points
            .iter()
            .map(squared)
            .fold(f64::INFINITY, f64::min);
        let reach = (least.sqrt() + self.half_gap).powi(2);
        let slope = |i: usize| {
            let ([p, q], [t, u]) = (self.points[i], self.tangents[i]);
            (p - x[0]) * t + (q - x[1]) * u
        };
        let mut best = least;
        for i in 0..SAMPLES {
            let next = (i + 1) % SAMPLES;
            let near = squared(&self.points[i]).min(squared(&self.points[next])) <= reach;
            if near && slope(i) <= 0.0 && slope(next) >= 0.0 {
                let t = self.stationary(x, parameter(i), parameter(i + 1));
                best = best.min(squared(&self.shape.curve(t)[0]));
            }
        }
        best.sqrt()
    }

    /// The root of $g$ between `lower`, where it is not positive, and `upper`, where it is not
    /// negative. The error of the distance is the square of the root's error.
    fn stationary(&self, x: [f64; 2], mut lower: f64, mut upper: f64) -> f64 {
        let mut t = 0.5 * (lower + upper);
        for _ in 0..60 {
            let [c, d, dd] = self.shape.curve(t);
            let to = [c[0] - x[0], c[1] - x[1]];
            let g = to[0] * d[0] + to[1] * d[1];
            let slope = d[0] * d[0] + d[1] * d[1] + to[0] * dd[0] + to[1] * dd[1];
            if g < 0.0 {
                lower = t;
            } else {
                upper = t;
            }
            let newton = t - g / slope;
            let next = if newton > lower && newton < upper {
                newton
            } else {
                0.5 * (lower + upper)
            };
            let step = (next - t).abs();
            t = next;
            if step <= 1e-9 {
                break;
            }
        }
        t
    }
}

fn parameter(i: usize) -> f64 {
    TAU * i as f64 / SAMPLES as f64
}

/// The signed distance to the union of obstacles that lie apart; infinite without an obstacle.
pub fn signed_distance(obstacles: &[Obstacle], point: [f64; 2]) -> f64 {
    let mut best = f64::INFINITY;
    for obstacle in obstacles {
        let q = obstacle.shape.centre();
        // No nearer than the circumscribed circle.
        let at_least = (point[0] - q[0]).hypot(point[1] - q[1]) - obstacle.shape.outer_radius();
        if at_least < best {
            best = best.min(obstacle.signed_distance(point));
        }
    }
    best
}

#[cfg(test)]
mod tests;

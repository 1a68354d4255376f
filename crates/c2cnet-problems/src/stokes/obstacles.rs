//! The law of the obstacles.
//!
//! The number $K$ of components is uniform. Each component is a circle, an ellipse or a star with
//! equal probability; its size and form are uniform in the ranges of [`ObstacleLaw`], its centre
//! $q_k$ is uniform in the square in which the circumscribed circle keeps a margin from the sides
//! of $\Omega_{\rm obj} = [-1.5, 1.5]^2$. If two components come closer than the separation, all
//! are drawn again (with the same $K$, so that crowded samples are not fewer).

use super::signed_distance::{Obstacle, Shape};
use c2cnet::{Error, Result};
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};
use std::f64::consts::{PI, TAU};

/// Half the side of $\Omega_{\rm obj}$.
pub const HALF_SIDE: f64 = 1.5;

/// Draws of one sample, at most.
const MAX_DRAWS: usize = 10_000;

/// Settings of the obstacles; the paper gives the families but no numbers.
///
/// | Name | Default | Purpose | Range |
/// |---|---|---|---|
/// | `components` | [1, 3] | fewest and most components $K$ | 1 to 8 |
/// | `radius` | [0.25, 0.55] | $r$ of circles | at least 0.1 |
/// | `semi_major` | [0.35, 0.65] | $a$ of ellipses | at least 0.1 |
/// | `semi_minor` | [0.2, 0.4] | $b$ of ellipses | at least 0.1 |
/// | `star_radius` | [0.3, 0.5] | $r_0$ of stars | at least 0.1 |
/// | `star_amplitude` | [0.1, 0.3] | $\beta$ of stars | 0 to 0.5 |
/// | `star_modes` | [3, 4, 5] | the values of $m$, equally likely | 1 to 8 each |
/// | `separation` | 0.15 | smallest distance of two components | at least 0.05 |
/// | `margin` | 0.1 | smallest distance from the sides of $\Omega_{\rm obj}$ | at least 0 |
///
/// A component and its margin must fit in $\Omega_{\rm obj}$.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ObstacleLaw {
    /// Fewest and most components.
    pub components: [usize; 2],
    /// Radius of circles.
    pub radius: [f64; 2],
    /// First semi-axis of ellipses.
    pub semi_major: [f64; 2],
    /// Second semi-axis of ellipses.
    pub semi_minor: [f64; 2],
    /// Mean radius of stars.
    pub star_radius: [f64; 2],
    /// Relative amplitude of stars.
    pub star_amplitude: [f64; 2],
    /// Numbers of points of stars.
    pub star_modes: Vec<u32>,
    /// Smallest distance of two components.
    pub separation: f64,
    /// Smallest distance from the sides of $\Omega_{\rm obj}$.
    pub margin: f64,
}

impl Default for ObstacleLaw {
    fn default() -> Self {
        ObstacleLaw {
            components: [1, 3],
            radius: [0.25, 0.55],
            semi_major: [0.35, 0.65],
            semi_minor: [0.2, 0.4],
            star_radius: [0.3, 0.5],
            star_amplitude: [0.1, 0.3],
            star_modes: vec![3, 4, 5],
            separation: 0.15,
            margin: 0.1,
        }
    }
}

impl ObstacleLaw {
    /// Checks the settings.
    ///
    /// # Errors
    /// Names the setting that is out of range, and the range.
    pub fn check(&self) -> Result<()> {
        let bad = |text: String| {
            Err(Error::Config(format!(
                "settings of problem stokes-inverse: obstacles: {text}"
            )))
        };
        let [fewest, most] = self.components;
        if !(1 <= fewest && fewest <= most && most <= 8) {
            return bad(format!(
                "components = {:?} must ascend and lie between 1 and 8",
                self.components
            ));
        }
        for (name, range, lowest, highest) in [
            ("radius", self.radius, 0.1, HALF_SIDE),
            ("semi_major", self.semi_major, 0.1, HALF_SIDE),
            ("semi_minor", self.semi_minor, 0.1, HALF_SIDE),
            ("star_radius", self.star_radius, 0.1, HALF_SIDE),
            ("star_amplitude", self.star_amplitude, 0.0, 0.5),
        ] {
            let [lower, upper] = range;
            if !(lowest <= lower && lower <= upper && upper <= highest) {
                return bad(format!(
                    "{name} = {range:?} must ascend and lie between {lowest} and {highest}"
                ));
            }
        }
        let modes = &self.star_modes;
        if modes.is_empty() || modes.iter().any(|m| !(1..=8).contains(m)) {
            return bad(format!(
                "star_modes = {modes:?} must name at least one number, each between 1 and 8"
            ));
        }
        for (name, value, lowest) in [
            ("separation", self.separation, 0.05),
            ("margin", self.margin, 0.0),
        ] {
            if !(value >= lowest && value <= HALF_SIDE) {
                return bad(format!(
                    "{name} = {value} must lie between {lowest} and {HALF_SIDE}"
                ));
            }
        }
        let largest = self.radius[1]
            .max(self.semi_major[1])
            .max(self.semi_minor[1])
            .max(self.star_radius[1] * (1.0 + self.star_amplitude[1]));
        if largest + self.margin > HALF_SIDE {
            return bad(format!(
                "a component of radius {largest} with margin = {} does not fit in a square of half side {HALF_SIDE}; \
                 make one smaller",
                self.margin
            ));
        }
        Ok(())
    }

    /// Draws the components of one sample.
    ///
    /// # Errors
    /// If they did not fit in 10,000 draws.
    pub fn draw(&self, rng: &mut impl Rng) -> Result<Vec<Obstacle>> {
        let [fewest, most] = self.components;
        let count = rng.random_range(fewest..=most);
        'draws: for _ in 0..MAX_DRAWS {
            let mut obstacles: Vec<Obstacle> = Vec::with_capacity(count);
            // All components are drawn before any is refused: whether two fit does not depend on
            // the order.
            let shapes: Vec<Shape> = (0..count).map(|_| self.draw_shape(rng)).collect();
            for shape in shapes {
                let new = Obstacle::new(shape);
                if obstacles
                    .iter()
                    .any(|other| distance(&new, other, self.separation) < self.separation)
                {
                    continue 'draws;
                }
                obstacles.push(new);
            }
            return Ok(obstacles);
        }
        Err(Error::Config(format!(
            "settings of problem stokes-inverse: obstacles: {count} components did not fit in {MAX_DRAWS} draws; \
             make them fewer or smaller, or separation = {} smaller",
            self.separation
        )))
    }

    fn draw_shape(&self, rng: &mut impl Rng) -> Shape {
        let mut uniform = |[lower, upper]: [f64; 2]| lower + (upper - lower) * rng.random::<f64>();
        let centre = [0.0; 2];
        let family = uniform([0.0, 3.0]) as usize;
        let mut shape = match family {
            0 => Shape::Circle {
                centre,
                radius: uniform(self.radius),
            },
            1 => Shape::Ellipse {
                centre,
                semi_axes: [uniform(self.semi_major), uniform(self.semi_minor)],
                angle: uniform([0.0, PI]),
            },
            _ => Shape::Star {
                centre,
                radius: uniform(self.star_radius),
                amplitude: uniform(self.star_amplitude),
                mode: self.star_modes[uniform([0.0, self.star_modes.len() as f64]) as usize],
                phase: uniform([0.0, TAU]),
            },
        };
        let reach = HALF_SIDE - self.margin - shape.outer_radius();
        let place = [uniform([-reach, reach]), uniform([-reach, reach])];
        match &mut shape {
            Shape::Circle { centre, .. }
            | Shape::Ellipse { centre, .. }
            | Shape::Star { centre, .. } => *centre = place,
        }
        shape
    }
}

/// The distance of two obstacles, from the samples of one boundary to the other curve (negative if
/// they overlap); only a lower bound where the circumscribed circles are `enough` apart.
fn distance(a: &Obstacle, b: &Obstacle, enough: f64) -> f64 {
    let ([p, q], [r, s]) = (a.shape().centre(), b.shape().centre());
    let centres = (p - r).hypot(q - s);
    let circles = centres - a.shape().outer_radius() - b.shape().outer_radius();
    if circles >= enough {
        return circles;
    }
    let one_way = |from: &Obstacle, to: &Obstacle| {
        let all = from.boundary().iter().map(|&p| to.signed_distance(p));
        all.fold(f64::INFINITY, f64::min)
    };
    // One may lie inside the other, whose boundary is then far from it.
    one_way(a, b).min(one_way(b, a))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample_stream;
    use crate::stokes::signed_distance::signed_distance;

    #[test]
    fn samples_keep_the_margin_and_the_separation() {
        let law = ObstacleLaw::default();
        let (mut counts, mut families) = ([0; 3], [0; 3]);
        for k in 0..300 {
            let obstacles = law.draw(&mut sample_stream(1, k)).unwrap();
            counts[obstacles.len() - 1] += 1;
            for (i, one) in obstacles.iter().enumerate() {
                families[match one.shape() {
                    Shape::Circle { .. } => 0,
                    Shape::Ellipse { .. } => 1,
                    Shape::Star { .. } => 2,
                }] += 1;
                for &[x, y] in one.boundary() {
                    assert!(x.abs().max(y.abs()) <= HALF_SIDE - law.margin + 1e-12);
                }
                let others: Vec<_> = [&obstacles[..i], &obstacles[i + 1..]].concat();
                // Between samples too.
                for j in 0..1000 {
                    let p = one.shape().curve(TAU * f64::from(j) / 1000.0)[0];
                    assert!(signed_distance(&others, p) > law.separation - 1e-4);
                }
            }
        }
        assert!(counts.iter().all(|c| (70..130).contains(c)), "{counts:?}");
        assert!(families.iter().all(|&f| f > 100), "{families:?}");
    }

    #[test]
    fn overlaps_and_inclusions_are_seen() {
        let circle = |x: f64, radius: f64| {
            Obstacle::new(Shape::Circle {
                centre: [x, 0.0],
                radius,
            })
        };
        let large = circle(0.0, 1.0);
        assert!((distance(&large, &circle(1.8, 0.5), 1.0) - 0.3).abs() < 1e-12);
        assert!(distance(&large, &circle(1.3, 0.5), 1.0) < 0.0);
        assert!(distance(&large, &circle(0.1, 0.2), 1.0) < 0.0);
        assert!(distance(&circle(0.1, 0.2), &large, 1.0) < 0.0);
    }

    #[test]
    fn settings_out_of_range_are_named() {
        type Change = fn(&mut ObstacleLaw);
        let cases: [(Change, &str); 9] = [
            (|l| l.components = [0, 2], "components = [0, 2]"),
            (|l| l.components = [3, 2], "components = [3, 2]"),
            (|l| l.radius = [0.5, 0.4], "radius = [0.5, 0.4]"),
            (|l| l.semi_minor = [0.0, 0.4], "semi_minor"),
            (|l| l.star_amplitude = [0.0, 0.9], "star_amplitude"),
            (|l| l.star_modes = vec![], "star_modes = []"),
            (|l| l.separation = f64::NAN, "separation = NaN"),
            (|l| l.margin = -0.1, "margin = -0.1"),
            (|l| l.semi_major = [0.5, 1.45], "does not fit"),
        ];
        for (change, part) in cases {
            let mut law = ObstacleLaw::default();
            change(&mut law);
            let message = law.check().unwrap_err().to_string();
            assert!(message.contains(part), "{message:?} lacks {part:?}");
        }
        ObstacleLaw::default().check().unwrap();
        // Within range, but eight large circles do not fit.
        let crowded = ObstacleLaw {
            components: [8, 8],
            radius: [1.3, 1.4],
            semi_major: [1.3, 1.4],
            semi_minor: [1.3, 1.4],
            star_radius: [1.0, 1.0],
            ..ObstacleLaw::default()
        };
        crowded.check().unwrap();
        let message = crowded.draw(&mut sample_stream(0, 0)).unwrap_err();
        assert!(message.to_string().contains("did not fit"), "{message}");
    }
}

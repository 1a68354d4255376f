//! Points that do not fill their space.

use super::{Field, Points};

/// How far points may be from a line or a plane, relative to the distances between them.
const FLAT: f64 = 1e-9;
/// Coordinates that differ by no more than this, relative to their size, differ by rounding.
const ROUNDING: f64 = 1e-14;
/// The number of samples with their own points whose points are examined.
pub(super) const PROBED_SAMPLES: usize = 64;

/// A warning if the points of an output lie on a line, or a plane, in a space of more dimensions.
pub(super) fn flat_points(label: &str, field: &Field) -> Option<String> {
    if field.is_vector() {
        return None;
    }
    let samples = match field.shared_points() {
        Some(_) => 1,
        None => field.samples().min(PROBED_SAMPLES),
    };
    let points: Vec<&Points> = (0..samples).map(|k| field.points_of(k)).collect();
    let (rank, dim) = (dimension(&points)?, field.dim());
    let on = match rank {
        1 => "on a line".to_string(),
        2 => "on a plane".to_string(),
        _ => format!("in {rank} of {dim} dimensions"),
    };
    Some(format!(
        "the points of {label} lie {on}: predictions elsewhere are meaningless"
    ))
}

/// The dimension of the points' span, if it is lower than that of their space and the points are enough to fill more.
fn dimension(points: &[&Points]) -> Option<usize> {
    let all = || points.iter().flat_map(|p| p.iter());
    let dim = points.first()?.dim();
    let ranges: Vec<[f64; 2]> = (0..dim)
        .map(|j| {
            all().fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], p| {
                [a.min(p[j]), b.max(p[j])]
            })
        })
        .collect();
    // Axes count equally, whatever their units.
    let scaled = |p: &[f64]| -> Vec<f64> {
        let along = p.iter().zip(&ranges).map(|(x, [a, b])| {
            let width = b - a;
            match width > ROUNDING * a.abs().max(b.abs()) {
                true => (x - a) / width,
                false => 0.0,
            }
        });
        along.collect()
    };
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let origin = scaled(all().next()?);
    let mut directions: Vec<Vec<f64>> = Vec::new();
    while directions.len() < dim {
        let rest = |p: &[f64]| -> Vec<f64> {
            let mut rest: Vec<f64> = scaled(p).iter().zip(&origin).map(|(x, o)| x - o).collect();
            for direction in &directions {
                let part = dot(&rest, direction);
                rest.iter_mut()
                    .zip(direction)
                    .for_each(|(r, d)| *r -= part * d);
            }
            rest
        };
        // The point that is farthest from the span so far.
        let mut farthest: (f64, Vec<f64>) = (0.0, Vec::new());
        for p in all() {
            let rest = rest(p);
            let length = dot(&rest, &rest).sqrt();
            if length > farthest.0 {
                farthest = (length, rest);
            }
        }
        let (length, mut direction) = farthest;
        if length <= FLAT {
            break;
        }
        direction.iter_mut().for_each(|d| *d /= length);
        directions.push(direction);
    }
    let rank = directions.len();
    let several = all().take(rank + 2).count() > rank + 1;
    (rank > 0 && rank < dim && several).then_some(rank)
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;

    fn said(dim: usize, points: usize, at: impl Fn(usize) -> Vec<f64>) -> Option<String> {
        let points = Points::new(dim, (0..points).flat_map(at).collect()).unwrap();
        let values = Mat::from_fn(points.len(), 3, |i, k| (i + k) as f64);
        flat_points("output", &Field::shared(points, vec![values]).unwrap())
    }

    #[test]
    fn points_on_a_line_or_a_plane_are_named() {
        let t = |i: usize| 0.1 + i as f64 / 49.0;
        let line = "the points of output lie on a line: predictions elsewhere are meaningless";
        assert_eq!(said(2, 50, |i| vec![t(i), t(i)]).as_deref(), Some(line));
        assert_eq!(
            said(2, 50, |i| vec![1e9 * t(i) + 3.0, 0.3 - 7e-5 * t(i)]).as_deref(),
            Some(line)
        );
        assert_eq!(said(2, 50, |i| vec![t(i), 0.7]).as_deref(), Some(line));
        let (x, y) = (|i: usize| (i % 7) as f64, |i: usize| (i / 7) as f64);
        let plane = said(3, 49, |i| vec![x(i), y(i), x(i) - 0.3 * y(i)]).unwrap();
        assert!(plane.contains("lie on a plane:"), "{plane}");
        // Points that fill their space, in any units, and too few points to fill it.
        assert_eq!(said(1, 50, |i| vec![t(i)]), None);
        assert_eq!(said(2, 49, |i| vec![x(i), 1e-12 * y(i)]), None);
        assert_eq!(
            said(2, 50, |i| vec![t(i), t(i) + 1e-6 * t(i).powi(2)]),
            None
        );
        assert_eq!(said(2, 2, |i| vec![t(i), t(i)]), None);
        assert_eq!(said(2, 5, |_| vec![0.5, 0.5]), None);
    }
}

//! The behaviour of a basis between the lines of a grid, where no sample has a value.

use crate::data::{Field, Observations, Points};
use crate::decode::FieldDecoder;
use crate::metrics::mean_relative;
use faer::{Mat, MatRef};
use std::collections::HashMap;

/// The fewest points that share a coordinate of a grid, on average.
const POINTS_PER_LINE: usize = 4;

/// How many lines along each axis are checked.
const LINES: usize = 5;

/// A basis may deviate between the lines by this many times its error at single withheld points.
const DEVIATION: f64 = 3.0;

/// Points half-way between neighbours on a grid, and what to expect there.
///
/// Single points withheld from a grid share their coordinates with other points: a basis with more functions along an
/// axis than there are lines, or a polynomial of too high a degree, fits them all and oscillates between the lines.
/// Withholding whole lines would show this, but the gaps would require twice the resolution of the data and rule out
/// the best bases. So a basis is compared with the mean of two neighbours half-way between them. It must come as close
/// as grid lines come to the means of their own neighbours, which are twice as far apart.
#[derive(Debug)]
pub(super) struct GridGapCheck {
    points: Points,
    /// The mean of the two neighbours of each point, one column per sample; one matrix per component.
    means: Vec<Mat<f64>>,
    /// The mean square of each sample over the whole grid: on single lines it may be close to zero.
    mean_squares: Vec<f64>,
    /// How far grid lines are from the means of their neighbours.
    allowed: f64,
}

impl GridGapCheck {
    /// Examines these `samples` of a field on a grid; `None` if points are scattered, lie along one axis only, or
    /// differ between samples.
    pub(super) fn new(field: &Field, samples: &[usize]) -> Option<Self> {
        let Observations::Shared { points, values } = field.observations() else {
            return None;
        };
        let lines = lines(points)?;
        let pairs: Vec<[usize; 2]> = windows(&lines).collect();
        let triples: Vec<[usize; 3]> = windows(&lines).collect();
        if triples.is_empty() {
            return None;
        }
        let midpoint = |&[a, b]: &[usize; 2]| {
            let ends = points.point(a).iter().zip(points.point(b));
            ends.map(|(a, b)| 0.5 * (a + b)).collect::<Vec<_>>()
        };
        let midpoints = Points::new(points.dim(), pairs.iter().flat_map(midpoint).collect());
        let means = values
            .iter()
            .map(|v| {
                Mat::from_fn(pairs.len(), samples.len(), |i, k| {
                    let k = samples[k];
                    0.5 * (v[(pairs[i][0], k)] + v[(pairs[i][1], k)])
                })
            })
            .collect();
        let mut check = GridGapCheck {
            points: midpoints.ok()?,
            means,
            mean_squares: (samples.iter())
                .map(|&k| {
                    let squares = values.iter().map(|v| v.col(k).squared_norm_l2());
                    squares.sum::<f64>() / points.len() as f64
                })
                .collect(),
            allowed: 0.0,
        };

        let mut errors = vec![0.0; samples.len()];
        for &[a, b, c] in &triples {
            let distance = |p: usize, q: usize| {
                let ends = points.point(p).iter().zip(points.point(q));
                ends.map(|(x, y)| (x - y).abs()).sum::<f64>()
            };
            let weight = distance(a, b) / distance(a, c);
            for v in values {
                for (&k, error) in samples.iter().zip(&mut errors) {
                    let expected = v[(a, k)] + weight * (v[(c, k)] - v[(a, k)]);
                    *error += (v[(b, k)] - expected).powi(2);
                }
            }
        }
        check.allowed = check.relative(&errors, triples.len());
        Some(check)
    }

    /// Whether a decoder with `error` at single withheld points is as good between the lines as the data can tell. A
    /// basis that does not reach all the points is not judged.
    pub(super) fn trusts(
        &self,
        decoder: &FieldDecoder,
        coordinates: MatRef<'_, f64>,
        error: f64,
    ) -> bool {
        let Ok(found) = decoder.decode(coordinates, &self.points) else {
            return true;
        };
        let mut errors = vec![0.0; self.mean_squares.len()];
        for (found, mean) in found.iter().zip(&self.means) {
            let difference = found - mean;
            for (error, column) in errors.iter_mut().zip(difference.col_iter()) {
                *error += column.squared_norm_l2();
            }
        }
        self.relative(&errors, self.points.len()) <= self.allowed + DEVIATION * error
    }

    /// The mean relative error of samples with these squared errors at `points` points.
    fn relative(&self, errors: &[f64], points: usize) -> f64 {
        let norms = self.mean_squares.iter().map(|s| s * points as f64);
        mean_relative(errors, &norms.collect::<Vec<_>>())
    }
}

/// Some lines of points along each axis, as rows in ascending order; a line ends where a point of the
/// grid is missing.
fn lines(points: &Points) -> Option<Vec<Vec<usize>>> {
    let (n, dim) = (points.len(), points.dim());
    let along = |k: usize| {
        let mut along: Vec<f64> = points.iter().map(|p| p[k]).collect();
        along.sort_unstable_by(f64::total_cmp);
        along.dedup();
        along
    };
    let axes: Vec<Vec<f64>> = (0..dim).map(along).collect();
    if dim < 2 || axes.iter().any(|along| along.len() * POINTS_PER_LINE > n) {
        return None;
    }
    let place = |p: &[f64]| -> Vec<usize> {
        let position = |(x, along): (&f64, &Vec<f64>)| along.partition_point(|y| y < x);
        p.iter().zip(&axes).map(position).collect()
    };
    let rows: HashMap<Vec<usize>, usize> = points.iter().map(place).zip(0..n).collect();
    let mut lines = Vec::new();
    for (k, along) in axes.iter().enumerate() {
        // Where the lines cross the diagonal of the grid: all different, and inside it.
        let mut crossings: Vec<Vec<usize>> = (0..LINES)
            .map(|j| {
                let place = |along: &Vec<f64>| (2 * j + 1) * along.len() / (2 * LINES);
                let mut cell: Vec<usize> = axes.iter().map(place).collect();
                cell[k] = 0;
                cell
            })
            .collect();
        crossings.dedup();
        for mut cell in crossings {
            let mut line = Vec::new();
            for i in 0..along.len() {
                cell[k] = i;
                match rows.get(&cell) {
                    Some(&row) => line.push(row),
                    None => lines.push(std::mem::take(&mut line)),
                }
            }
            lines.push(line);
        }
    }
    Some(lines)
}

/// This many consecutive points of the lines.
fn windows<const N: usize>(lines: &[Vec<usize>]) -> impl Iterator<Item = [usize; N]> {
    let all = lines.iter().flat_map(|line| line.windows(N));
    all.map(|window| std::array::from_fn(|i| window[i]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::basis::{BasisSpec, BuildContext, FieldBasis};
    use crate::data::Bounds;
    use crate::decode::Withheld;

    fn waves(points: Points) -> Field {
        let values = Mat::from_fn(points.len(), 4, |i, k| {
            let (p, frequency) = (points.point(i), 5.0 + k as f64);
            (frequency * p[0] + 2.0).sin() * (frequency * p[1]).cos()
        });
        Field::shared(points, vec![values]).unwrap()
    }

    fn basis(spec: &serde_json::Value) -> FieldBasis {
        let spec: BasisSpec = serde_json::from_value(spec.clone()).unwrap();
        let domain = Bounds::unit(2);
        let context = BuildContext::on(&domain);
        FieldBasis::separate(vec![spec.build(context).unwrap()]).unwrap()
    }

    /// Whether a basis is trusted, its error at withheld points of a grid and that on a finer one.
    fn judged(spec: &serde_json::Value) -> (bool, f64, f64) {
        let domain = Bounds::unit(2);
        let [grid, finer] = [41, 81].map(|n| waves(Points::grid(&domain, &[n, n])));
        let (decoder, targets) =
            FieldDecoder::fit(basis(spec), &grid, &Withheld::choose(&grid, 0.1, 0), &[], 0)
                .unwrap();
        let (coordinates, error) = (
            targets.coordinates.as_ref(),
            targets.withheld_floor.unwrap(),
        );
        let gaps = GridGapCheck::new(&grid, &[0, 1, 2, 3]).unwrap();
        let found = decoder.decode(coordinates, finer.points_of(0)).unwrap();
        let Observations::Shared { values, .. } = finer.observations() else {
            unreachable!("a grid is shared")
        };
        let on_finer = (&found[0] - &values[0]).norm_l2() / values[0].norm_l2();
        (gaps.trusts(&decoder, coordinates, error), error, on_finer)
    }

    #[test]
    fn bases_that_follow_only_the_lines_of_a_grid_are_not_trusted() {
        let patches = serde_json::json!({
            "family": "random-features", "functions": 640, "partitions": [20, 1]
        });
        let polynomials = serde_json::json!({
            "family": "polynomial", "kind": "legendre", "degrees": [38, 7]
        });
        for spec in [patches, polynomials] {
            let (trusted, error, on_finer) = judged(&spec);
            assert!(on_finer > 10.0 * error, "{error} and {on_finer}: {spec}");
            assert!(!trusted, "{error} and {on_finer}: {spec}");
        }
        let fair = [
            serde_json::json!({"family": "random-features", "functions": 256, "partitions": [3, 3]}),
            serde_json::json!({"family": "polynomial", "kind": "legendre", "degrees": [12, 12]}),
            serde_json::json!({"family": "finite-elements", "degree": 2, "functions": 400}),
        ];
        for spec in fair {
            let (trusted, error, on_finer) = judged(&spec);
            assert!(on_finer < 3.0 * error, "{error} and {on_finer}: {spec}");
            assert!(trusted, "{error} and {on_finer}: {spec}");
        }
    }

    /// However many points an axis has: five lines along each, none twice, most of them inside.
    #[test]
    fn lines_cross_the_inside_of_the_grid() {
        for counts in [
            vec![20, 20],
            vec![25, 25],
            vec![50, 40],
            vec![20, 20, 20],
            vec![41, 12],
        ] {
            let grid = Points::grid(&Bounds::unit(counts.len()), &counts);
            let mut lines = lines(&grid).unwrap();
            let on_a_face = |line: &Vec<usize>| {
                let [first, last] = [line[0], line[line.len() - 1]].map(|i| grid.point(i));
                let mut ends = first.iter().zip(last);
                ends.any(|(a, b)| a == b && (*a == 0.0 || *a == 1.0))
            };
            assert!(!lines.iter().any(on_a_face), "{counts:?}");
            lines.sort();
            lines.dedup();
            assert_eq!(lines.len(), LINES * counts.len(), "{counts:?}");
        }
    }

    /// Rounding does not distinguish exact bases, and bumps between the checked lines are judged by their full size.
    #[test]
    fn constants_and_bumps_are_trusted() {
        let points = Points::grid(&Bounds::unit(2), &[101, 101]);
        let bump = |p: &[f64]| (-((p[0] - 0.21).powi(2) + (p[1] - 0.41).powi(2)) / 8e-4).exp();
        let constants = Mat::from_fn(points.len(), 3, |_, k| 1.0 + k as f64);
        let bumps = Mat::from_fn(points.len(), 3, |i, k| {
            bump(points.point(i)) * (1.0 + k as f64)
        });
        let cosines = serde_json::json!({"family": "fourier", "kind": "cosine", "functions": 1024});
        for values in [constants, bumps] {
            let field = Field::shared(points.clone(), vec![values]).unwrap();
            let (decoder, targets) = FieldDecoder::fit(
                basis(&cosines),
                &field,
                &Withheld::choose(&field, 0.1, 0),
                &[],
                0,
            )
            .unwrap();
            let error = targets.withheld_floor.unwrap().max(1e-5);
            let gaps = GridGapCheck::new(&field, &[0, 1, 2]).unwrap();
            assert!(gaps.trusts(&decoder, targets.coordinates.as_ref(), error));
        }
    }

    #[test]
    fn scattered_points_have_no_lines() {
        let numbers = (0..400).map(|i| (f64::from(i) * 0.618).fract()).collect();
        let cloud = Points::new(2, numbers).unwrap();
        let line = Points::linspace(0.0, 1.0, 200);
        assert!(lines(&cloud).is_none() && lines(&line).is_none());
    }

    #[test]
    fn a_missing_point_ends_a_line() {
        let grid = Points::grid(&Bounds::unit(2), &[5, 7]);
        // The middle of the grid, which three of the five lines along each axis may pass.
        let rows: Vec<usize> = (0..35).filter(|&i| i != 17).collect();
        let holed = grid.select(&rows);
        for [a, b] in windows(&lines(&holed).unwrap()) {
            let steps: f64 = holed
                .point(a)
                .iter()
                .zip(holed.point(b))
                .map(|(x, y)| (x - y).abs())
                .sum();
            assert!(steps < 0.3, "{a} to {b}");
        }
    }
}

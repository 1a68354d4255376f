//! Where a function on a grid vanishes.

/// A piece of a contour, within one cell.
pub type Segment = [[f64; 2]; 2];

/// The zero contour by marching squares, a piece or two for each cell it crosses.
///
/// `values[j * nx + i]` belongs to the `i`-th column from the left and the `j`-th row from the
/// bottom; `x` and `y` are the first and last coordinates of columns and rows. Cells with a value
/// that is not finite have no contour.
pub fn zero_contour(
    [nx, ny]: [usize; 2],
    x: [f64; 2],
    y: [f64; 2],
    values: &[f64],
) -> Vec<Segment> {
    if nx < 2 || ny < 2 || values.len() < nx * ny {
        return Vec::new();
    }
    let node = |i: usize, n: usize, side: [f64; 2]| {
        side[0] + (side[1] - side[0]) * i as f64 / (n - 1) as f64
    };
    let mut segments = Vec::new();
    for j in 0..ny - 1 {
        for i in 0..nx - 1 {
            // Around the cell, so that neighbours in the list share a side.
            let corners = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)]
                .map(|(i, j)| ([node(i, nx, x), node(j, ny, y)], values[j * nx + i]));
            if corners.iter().all(|(_, v)| v.is_finite()) {
                cross(&corners, &mut segments);
            }
        }
    }
    segments
}

fn cross(corners: &[([f64; 2], f64); 4], segments: &mut Vec<Segment>) {
    let crossings: Vec<[f64; 2]> = (0..4)
        .filter_map(|k| {
            let ((p, a), (q, b)) = (corners[k], corners[(k + 1) % 4]);
            ((a < 0.0) != (b < 0.0)).then(|| {
                let t = a / (a - b);
                [p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1])]
            })
        })
        .collect();
    match crossings[..] {
        [a, b] => segments.push([a, b]),
        // Opposite corners have the same sign: the middle says which pair is joined.
        [a, b, c, d] => {
            let middle: f64 = corners.iter().map(|(_, v)| v).sum();
            if (middle < 0.0) == (corners[0].1 < 0.0) {
                segments.extend([[a, b], [c, d]]);
            } else {
                segments.extend([[d, a], [b, c]]);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_circle_is_found() {
        let n = 41;
        let at = |i: usize| -2.0 + 4.0 * i as f64 / (n - 1) as f64;
        let values: Vec<f64> = (0..n * n)
            .map(|k| at(k % n).hypot(at(k / n)) - 1.0)
            .collect();
        let contour = zero_contour([n, n], [-2.0, 2.0], [-2.0, 2.0], &values);
        let length: f64 = contour
            .iter()
            .map(|[p, q]| (p[0] - q[0]).hypot(p[1] - q[1]))
            .sum();
        assert!((length - std::f64::consts::TAU).abs() < 0.01, "{length}");
        for p in contour.iter().flatten() {
            assert!((p[0].hypot(p[1]) - 1.0).abs() < 2e-3);
        }
    }

    #[test]
    fn saddles_and_gaps() {
        let saddle = |shift: f64| {
            let values = [1.0 + shift, -1.0, -1.0, 1.0 + shift];
            zero_contour([2, 2], [0.0, 1.0], [0.0, 1.0], &values)
        };
        // How far the middle of each piece is from the diagonal through the positive corners.
        let off = |[p, q]: &Segment| 0.5 * (p[0] + q[0] - p[1] - q[1]).abs();
        // Joined, they leave pieces that cut off the others.
        assert!(saddle(1.0).iter().all(|piece| off(piece) > 0.5));
        assert!(saddle(-0.5).iter().all(|piece| off(piece) < 0.1));
        let gap = [1.0, f64::NAN, -1.0, 1.0];
        assert!(zero_contour([2, 2], [0.0, 1.0], [0.0, 1.0], &gap).is_empty());
    }
}

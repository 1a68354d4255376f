//! The linear and the quadratic triangle, and quadrature on it.
//!
//! With barycentric coordinates $\lambda_0, \lambda_1, \lambda_2$ of a triangle,
//! $$ P_1:\ \lambda_i; \qquad P_2:\ \lambda_i(2\lambda_i - 1),\ 4\lambda_0\lambda_1,\
//!    4\lambda_1\lambda_2,\ 4\lambda_2\lambda_0, $$
//! so function $i$ is 1 at its own corner or midpoint and 0 at the others. Corners come first, then
//! midpoints in the order of [`TriangleMesh::triangle_edges`](c2cnet::domain::TriangleMesh::triangle_edges).
//! The reference triangle has $\lambda = (1 - \xi - \eta, \xi, \eta)$.

/// The polynomials on a triangle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Element {
    /// Linear, by the values at the corners.
    P1,
    /// Quadratic, by the values at corners and midpoints of edges.
    P2,
}

impl Element {
    /// The largest number of functions of an element.
    pub const MOST: usize = 6;

    /// How many functions there are: 3 or 6.
    pub const fn functions(self) -> usize {
        match self {
            Element::P1 => 3,
            Element::P2 => 6,
        }
    }

    /// The polynomial degree.
    pub const fn degree(self) -> usize {
        match self {
            Element::P1 => 1,
            Element::P2 => 2,
        }
    }

    /// The functions' values at $\lambda$; unused entries are zero.
    pub fn values(self, lambda: [f64; 3]) -> [f64; Self::MOST] {
        let [a, b, c] = lambda;
        match self {
            Element::P1 => [a, b, c, 0.0, 0.0, 0.0],
            Element::P2 => [
                a * (2.0 * a - 1.0),
                b * (2.0 * b - 1.0),
                c * (2.0 * c - 1.0),
                4.0 * a * b,
                4.0 * b * c,
                4.0 * c * a,
            ],
        }
    }

    /// The functions' gradients at $\lambda$ in a triangle, $\sum_k (\partial N_i / \partial\lambda_k)
    /// \nabla\lambda_k$; unused entries are zero.
    pub fn gradients(self, lambda: [f64; 3], geometry: &Geometry) -> [[f64; 2]; Self::MOST] {
        let mut gradients = [[0.0; 2]; Self::MOST];
        let slope = &geometry.barycentric_gradients;
        match self {
            Element::P1 => gradients[..3].copy_from_slice(slope),
            Element::P2 => {
                for k in 0..3 {
                    let next = (k + 1) % 3;
                    for d in 0..2 {
                        gradients[k][d] = (4.0 * lambda[k] - 1.0) * slope[k][d];
                        gradients[3 + k][d] =
                            4.0 * (lambda[k] * slope[next][d] + lambda[next] * slope[k][d]);
                    }
                }
            }
        }
        gradients
    }
}

/// How a straight-sided triangle transforms gradients and integrals.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Geometry {
    /// The area, positive if the corners run counter-clockwise.
    pub area: f64,
    /// $\nabla\lambda_k$ for each corner $k$.
    pub barycentric_gradients: [[f64; 2]; 3],
}

impl Geometry {
    /// The triangle with these corners: $\nabla\lambda_k = (y_{k+1} - y_{k+2},\ x_{k+2} - x_{k+1}) / 2A$.
    pub fn new(corners: [[f64; 2]; 3]) -> Self {
        let [a, b, c] = corners;
        let twice = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
        let barycentric_gradients = [0, 1, 2].map(|k| {
            let (p, q) = (corners[(k + 1) % 3], corners[(k + 2) % 3]);
            [(p[1] - q[1]) / twice, (q[0] - p[0]) / twice]
        });
        Geometry {
            area: 0.5 * twice,
            barycentric_gradients,
        }
    }

    /// The reference triangle $(0, 0), (1, 0), (0, 1)$.
    pub fn reference() -> Self {
        Geometry::new([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    }
}

/// A quadrature rule on a triangle of area $A$: $\int g \approx A \sum_q w_q\, g(\lambda_q)$, $\sum_q w_q = 1$.
///
/// All weights are positive and all points lie inside.
#[derive(Debug, Clone, PartialEq)]
pub struct Quadrature {
    /// Barycentric coordinates of the points.
    pub points: Vec<[f64; 3]>,
    /// Weights, one per point.
    pub weights: Vec<f64>,
}

impl Quadrature {
    /// The highest degree that [`Quadrature::exact_to`] supports.
    pub const HIGHEST: usize = 6;

    /// The smallest known symmetric rule that is exact for polynomials of `degree`: 1, 3, 6, 6, 7 and
    /// 12 points for degrees 1 to 6 (Strang and Fix 1973, Dunavant 1985).
    ///
    /// # Panics
    /// If `degree` exceeds 6.
    pub fn exact_to(degree: usize) -> Self {
        let mut rule = Quadrature {
            points: Vec::new(),
            weights: Vec::new(),
        };
        match degree {
            0 | 1 => rule.centroid(1.0),
            2 => rule.three(1.0 / 6.0, 1.0 / 3.0),
            3 | 4 => {
                let root = (38.0 - 44.0 * 0.4f64.sqrt()).sqrt();
                let part = (213_125.0 - 53_320.0 * 10f64.sqrt()).sqrt();
                let middle = 8.0 - 10f64.sqrt();
                rule.three((middle + root) / 18.0, (620.0 + part) / 3720.0);
                rule.three((middle - root) / 18.0, (620.0 - part) / 3720.0);
            }
            5 => {
                let root = 15f64.sqrt();
                rule.centroid(0.225);
                rule.three((6.0 - root) / 21.0, (155.0 - root) / 1200.0);
                rule.three((6.0 + root) / 21.0, (155.0 + root) / 1200.0);
            }
            6 => {
                rule.three(0.249_286_745_170_910_42, 0.116_786_275_726_379_37);
                rule.three(0.063_089_014_491_502_23, 0.050_844_906_370_206_82);
                rule.six(
                    0.053_145_049_844_816_95,
                    0.310_352_451_033_784_4,
                    0.082_851_075_618_373_58,
                );
            }
            _ => panic!("no rule of degree {degree}; the highest is 6"),
        }
        rule
    }

    fn centroid(&mut self, weight: f64) {
        self.points.push([1.0 / 3.0; 3]);
        self.weights.push(weight);
    }

    /// The three points with two coordinates equal to `a`.
    fn three(&mut self, a: f64, weight: f64) {
        for k in 0..3 {
            let mut point = [a; 3];
            point[k] = 1.0 - 2.0 * a;
            self.points.push(point);
            self.weights.push(weight);
        }
    }

    /// The six points with coordinates `a`, `b` and the rest.
    fn six(&mut self, a: f64, b: f64, weight: f64) {
        let c = 1.0 - a - b;
        for point in [
            [a, b, c],
            [b, c, a],
            [c, a, b],
            [a, c, b],
            [c, b, a],
            [b, a, c],
        ] {
            self.points.push(point);
            self.weights.push(weight);
        }
    }
}

/// Gauss points and weights on $[0, 1]$, exact to degree 5, for integrals over edges.
pub const GAUSS_EDGE: [[f64; 2]; 3] = [
    [0.112_701_665_379_258_31, 5.0 / 18.0],
    [0.5, 8.0 / 18.0],
    [0.887_298_334_620_741_7, 5.0 / 18.0],
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_exact_to_their_degree_and_positive() {
        let factorial = |n: usize| (1..=n).product::<usize>() as f64;
        for (degree, size) in [(1, 1), (2, 3), (3, 6), (4, 6), (5, 7), (6, 12)] {
            let rule = Quadrature::exact_to(degree);
            assert_eq!((rule.points.len(), rule.weights.len()), (size, size));
            assert!(rule.points.iter().flatten().all(|l| *l > 0.0));
            for a in 0..=degree {
                for b in 0..=degree - a {
                    let c = degree - a - b;
                    // The mean of a monomial over the triangle is 2 a! b! c! / (a + b + c + 2)!.
                    let exact =
                        2.0 * factorial(a) * factorial(b) * factorial(c) / factorial(a + b + c + 2);
                    let found: f64 = rule
                        .points
                        .iter()
                        .zip(&rule.weights)
                        .map(|(l, w)| {
                            w * l[0].powi(a as i32) * l[1].powi(b as i32) * l[2].powi(c as i32)
                        })
                        .sum();
                    assert!((found - exact).abs() < 2e-15, "{degree}: {a} {b} {c}");
                }
            }
        }
        for degree in 0..=5 {
            let found: f64 = GAUSS_EDGE.iter().map(|[t, w]| w * t.powi(degree)).sum();
            assert!((found - 1.0 / f64::from(degree + 1)).abs() < 1e-15);
        }
    }

    #[test]
    fn functions_are_one_at_their_own_node_and_sum_to_one() {
        let corners = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let middles = [[0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [0.5, 0.0, 0.5]];
        for element in [Element::P1, Element::P2] {
            let nodes: Vec<_> = corners.iter().chain(&middles).collect();
            for (i, node) in nodes[..element.functions()].iter().enumerate() {
                for (j, value) in element.values(**node).into_iter().enumerate() {
                    assert_eq!(value, f64::from(i == j), "{element:?} {i} {j}");
                }
            }
            let sum: f64 = element.values([0.2, 0.3, 0.5]).iter().sum();
            assert!((sum - 1.0).abs() < 1e-15);
        }
    }

    #[test]
    fn gradients_are_those_of_the_values() {
        let corners = [[0.3, -0.2], [1.7, 0.4], [0.1, 2.0]];
        let geometry = Geometry::new(corners);
        assert!((geometry.area - 1.6).abs() < 1e-14);
        let slope = geometry.barycentric_gradients;
        let h = 1e-5;
        for element in [Element::P1, Element::P2] {
            let lambda = [0.2, 0.3, 0.5];
            let gradients = element.gradients(lambda, &geometry);
            for d in 0..2 {
                let moved =
                    |step: f64| element.values([0, 1, 2].map(|k| lambda[k] + step * slope[k][d]));
                let (ahead, behind) = (moved(h), moved(-h));
                for i in 0..Element::MOST {
                    // Central differences are exact for quadratics, up to rounding.
                    let difference = (ahead[i] - behind[i]) / (2.0 * h);
                    assert!((gradients[i][d] - difference).abs() < 1e-10);
                }
            }
        }
        let reference = Geometry::reference();
        assert_eq!(reference.area, 0.5);
        assert_eq!(
            reference.barycentric_gradients,
            [[-1.0, -1.0], [1.0, 0.0], [0.0, 1.0]]
        );
    }
}

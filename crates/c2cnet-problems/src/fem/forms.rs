//! The bilinear forms of the equations, element by element, and their loads.

use super::{Element, GAUSS_EDGE, Quadrature, Space};

/// An element's matrix. Row and column $i c + d$ belong to component $d$ of its function $i$, where $c$
/// is the number of components.
pub type LocalMatrix = [[f64; 2 * Element::MOST]; 2 * Element::MOST];

/// A symmetric bilinear form that is a sum over elements.
pub trait Form {
    /// How many components its functions have: 1 or 2.
    const COMPONENTS: usize;

    /// The space of each component.
    fn space(&self) -> &Space;

    /// The lower triangle of the matrix of triangle `t`.
    fn local(&self, t: usize, matrix: &mut LocalMatrix);
}

/// $a(u, v) = \int k\,\nabla u\cdot\nabla v$.
#[derive(Debug, Clone, Copy)]
pub struct Diffusion<'a, K> {
    space: &'a Space,
    coefficient: K,
}

impl<'a, K: Fn(usize, usize) -> f64> Diffusion<'a, K> {
    /// With $k$ at point `q` of [`Space::rule`] in triangle `t` given by `coefficient(t, q)`.
    pub fn new(space: &'a Space, coefficient: K) -> Self {
        Diffusion { space, coefficient }
    }
}

impl<'a> Diffusion<'a, ()> {
    /// With $k$ interpolated from values at the nodes.
    pub fn at_nodes(space: &'a Space, k: &'a [f64]) -> Diffusion<'a, impl Fn(usize, usize) -> f64> {
        Diffusion::new(space, move |t, q| {
            let shape = &space.shapes()[q];
            let nodes = space.element_nodes(t).iter();
            nodes.zip(shape).map(|(&i, s)| s * k[i]).sum()
        })
    }
}

impl<K: Fn(usize, usize) -> f64> Form for Diffusion<'_, K> {
    const COMPONENTS: usize = 1;

    fn space(&self) -> &Space {
        self.space
    }

    fn local(&self, t: usize, matrix: &mut LocalMatrix) {
        let (element, geometry) = (self.space.element(), self.space.geometry(t));
        let n = element.functions();
        for row in &mut matrix[..n] {
            row[..n].fill(0.0);
        }
        let rule = self.space.rule();
        for (q, (&lambda, weight)) in rule.points.iter().zip(&rule.weights).enumerate() {
            let scale = weight * geometry.area * (self.coefficient)(t, q);
            let g = element.gradients(lambda, geometry);
            for i in 0..n {
                let [x, y] = [scale * g[i][0], scale * g[i][1]];
                for j in 0..=i {
                    matrix[i][j] += x * g[j][0] + y * g[j][1];
                }
            }
        }
    }
}

/// Plane stress: $a(u, v) = \int \epsilon(v)^\top D\,\epsilon(u)$ with
/// $\epsilon = (\partial_x u,\ \partial_y v,\ \partial_y u + \partial_x v)$ and
/// $$ D = \frac{E}{1 - \nu^2}\begin{bmatrix}1&\nu&0\\ \nu&1&0\\ 0&0&(1-\nu)/2\end{bmatrix}. $$
#[derive(Debug, Clone, Copy)]
pub struct PlaneStress<'a> {
    /// The space of each displacement.
    pub space: &'a Space,
    /// Young's modulus $E$.
    pub modulus: f64,
    /// Poisson's ratio $\nu$.
    pub ratio: f64,
}

impl Form for PlaneStress<'_> {
    const COMPONENTS: usize = 2;

    fn space(&self) -> &Space {
        self.space
    }

    fn local(&self, t: usize, matrix: &mut LocalMatrix) {
        let (element, geometry) = (self.space.element(), self.space.geometry(t));
        let n = element.functions();
        for row in &mut matrix[..2 * n] {
            row[..2 * n].fill(0.0);
        }
        let (nu, shear) = (self.ratio, 0.5 * (1.0 - self.ratio));
        let stiffness = self.modulus / (1.0 - nu * nu);
        let rule = self.space.rule();
        for (&lambda, weight) in rule.points.iter().zip(&rule.weights) {
            let scale = weight * geometry.area * stiffness;
            let g = element.gradients(lambda, geometry);
            for i in 0..n {
                let [x, y] = [scale * g[i][0], scale * g[i][1]];
                for j in 0..=i {
                    let [p, q] = g[j];
                    // B_i' D B_j for the functions' strain matrices B.
                    matrix[2 * i][2 * j] += x * p + shear * y * q;
                    matrix[2 * i][2 * j + 1] += nu * x * q + shear * y * p;
                    matrix[2 * i + 1][2 * j] += nu * y * p + shear * x * q;
                    matrix[2 * i + 1][2 * j + 1] += y * q + shear * x * p;
                }
            }
        }
    }
}

impl Space {
    /// $\int f N_i$ for each function, by quadrature of degree 6.
    pub fn load(&self, f: impl Fn([f64; 2]) -> f64) -> Vec<f64> {
        let rule = Quadrature::exact_to(Quadrature::HIGHEST);
        let mut load = vec![0.0; self.len()];
        for t in 0..self.triangles() {
            for (&lambda, weight) in rule.points.iter().zip(&rule.weights) {
                let scale = weight * self.geometry(t).area * f(self.position(t, lambda));
                let shape = self.element().values(lambda);
                for (&i, s) in self.element_nodes(t).iter().zip(shape) {
                    load[i] += scale * s;
                }
            }
        }
        load
    }

    /// $\int f N_i$ for each function, $f$ interpolated from values at the nodes.
    pub fn load_from_nodes(&self, f: &[f64], load: &mut [f64]) {
        load.fill(0.0);
        for t in 0..self.triangles() {
            let nodes = self.element_nodes(t);
            for (shape, weight) in self.shapes().iter().zip(&self.rule().weights) {
                let value: f64 = nodes.iter().zip(shape).map(|(&i, s)| s * f[i]).sum();
                let scale = weight * self.geometry(t).area * value;
                for (&i, s) in nodes.iter().zip(shape) {
                    load[i] += scale * s;
                }
            }
        }
    }

    /// $\int_\Gamma f N_i$ for each function over the boundary edges $\Gamma$ whose ends satisfy `on`, where
    /// `f[k]` is the value at point $k$ of [`edge_points`].
    pub fn edge_load(&self, on: impl Fn([f64; 2]) -> bool, f: &[f64]) -> Vec<f64> {
        let mut load = vec![0.0; self.len()];
        let mut values = f.chunks_exact(GAUSS_EDGE.len());
        self.for_each_boundary_edge(on, |nodes, [a, b]| {
            let length = (b[0] - a[0]).hypot(b[1] - a[1]);
            let values = values.next().expect("a value for each point of each edge");
            for ([t, weight], value) in GAUSS_EDGE.iter().zip(values) {
                let shape = match self.element() {
                    Element::P1 => [1.0 - t, *t, 0.0],
                    Element::P2 => [
                        (1.0 - t) * (1.0 - 2.0 * t),
                        t * (2.0 * t - 1.0),
                        4.0 * t * (1.0 - t),
                    ],
                };
                for (&i, s) in nodes.iter().zip(shape) {
                    load[i] += length * weight * value * s;
                }
            }
        });
        load
    }
}

/// The Gauss points of the boundary edges whose ends satisfy `on`, edge after edge.
pub fn edge_points(space: &Space, on: impl Fn([f64; 2]) -> bool) -> Vec<[f64; 2]> {
    let mut points = Vec::new();
    space.for_each_boundary_edge(on, |_, [a, b]| {
        for [t, _] in GAUSS_EDGE {
            points.push([0, 1].map(|d| a[d] + t * (b[d] - a[d])));
        }
    });
    points
}

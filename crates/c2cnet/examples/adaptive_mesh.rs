//! Adaptive beside uniform meshes of as many functions: what they leave of held-out samples.
//!
//! `adaptive_mesh` compares them on kinks and layers in one dimension that it makes itself,
//! `adaptive_mesh DATA.npz` on the first output of a data set with triangles, say of
//! `c2cnet generate darcy-lshape` or `poisson-holes`. Columns: mean relative error of the fit at all
//! points, and at a fifth of the points that neither the fit nor the mesh has seen.

use c2cnet::Result;
use c2cnet::basis::{
    AdaptiveStart, Basis, Boundary, BuildContext, Degree, FiniteElements, FiniteElementsSpec,
    MeshSpec,
};
use c2cnet::data::{Bounds, Dataset, Observations, Points};
use c2cnet::domain::{Polygon, TriangleMesh};
use c2cnet::encode::Regularisation;
use c2cnet::internal::RefinableMesh;
use c2cnet::internal::draw_without_corners;
use c2cnet::internal::{Encoder, Spectrum};
use c2cnet::linalg;
use faer::{Mat, MatRef};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::path::Path;
use std::time::Instant;

/// Samples that shape the mesh, of five.
const TRAIN_OF_FIVE: usize = 4;

fn main() -> Result<()> {
    let sizes = [64, 96, 128, 192, 256, 384, 512];
    match std::env::args().nth(1) {
        Some(file) => on_triangles(Path::new(&file), &sizes),
        None => on_intervals(&[16, 32, 64, 128, 256]),
    }
}

/// Points, values there, and how meshes of the domain are asked for.
struct Problem {
    name: String,
    points: Points,
    values: Mat<f64>,
    /// None: as fine as needed, on the domain of the adaptive mesh.
    uniform: Option<MeshSpec>,
    adaptive: AdaptiveStart,
    boundary: Boundary,
}

impl Problem {
    /// A mesh of triangles of one size with about as many functions; few corners stand for rims, as
    /// in the adaptive mesh.
    fn uniform(&self, degree: Degree, functions: usize) -> Result<MeshSpec> {
        let AdaptiveStart::Polygon(polygon) = &self.adaptive else {
            return Ok(self.uniform.clone().unwrap_or_default());
        };
        let mut size = 2.0 * polygon.area().sqrt();
        loop {
            let mesh = RefinableMesh::of_polygon(polygon, size)?.mesh().clone();
            let basis = FiniteElements::on_triangles(mesh.clone(), degree, self.boundary, 0.25);
            if basis.is_ok_and(|b| b.len() >= functions) {
                return Ok(MeshSpec::Triangles {
                    nodes: mesh.nodes().to_vec(),
                    triangles: mesh.triangles().to_vec(),
                });
            }
            size *= 0.97;
        }
    }
}

fn on_triangles(file: &Path, sizes: &[usize]) -> Result<()> {
    let data = Dataset::read_npz(file)?;
    let (Some(triangles), Observations::Shared { points, values }) =
        (&data.triangles, data.outputs.only()?.observations())
    else {
        panic!("{} needs triangles on shared points", file.display());
    };
    let nodes = points.iter().map(|p| [p[0], p[1]]).collect();
    let mesh = TriangleMesh::new(nodes, triangles.clone())?;
    let polygon = Polygon::filled_by(&mesh)?;
    let wall = mesh.boundary_nodes();
    let zero = (0..values[0].ncols()).all(|s| wall.iter().all(|&i| values[0][(i, s)] == 0.0));
    let mut boundaries = vec![Boundary::Keep];
    if zero {
        boundaries.push(Boundary::Remove);
    }
    for boundary in boundaries {
        let problem = Problem {
            name: format!("{}, boundary {boundary:?}", file.display()),
            points: points.clone(),
            values: values[0].clone(),
            uniform: None,
            adaptive: AdaptiveStart::Polygon(polygon.clone()),
            boundary,
        };
        compare(&problem, sizes)?;
    }
    Ok(())
}

fn on_intervals(sizes: &[usize]) -> Result<()> {
    let points = Points::linspace(0.0, 1.0, 1025);
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut fields = |shape: &dyn Fn(f64) -> f64, spread: f64| {
        let mut values = Mat::zeros(points.len(), 500);
        for s in 0..values.ncols() {
            let centre = 0.5 + spread * (rng.random::<f64>() + rng.random::<f64>() - 1.0);
            let (a, b): (f64, f64) = (rng.random(), rng.random());
            for (i, p) in points.iter().enumerate() {
                values[(i, s)] = shape(p[0] - centre) + a * (3.0 * p[0] + b).sin();
            }
        }
        values
    };
    let kink = |x: f64| x.abs();
    let layer = |x: f64| (x / 0.004).tanh();
    let all = [
        ("kink at 1/2 +- 0.02", fields(&kink, 0.02)),
        ("layer of width 0.004 at 1/2 +- 0.02", fields(&layer, 0.02)),
        ("layer of width 0.004 at 1/2 +- 0.1", fields(&layer, 0.1)),
    ];
    for (name, values) in all {
        let problem = Problem {
            name: name.into(),
            points: points.clone(),
            values,
            uniform: Some(MeshSpec::Box),
            adaptive: AdaptiveStart::Box,
            boundary: Boundary::Keep,
        };
        compare(&problem, sizes)?;
    }
    Ok(())
}

fn compare(problem: &Problem, sizes: &[usize]) -> Result<()> {
    let Problem { points, values, .. } = problem;
    println!("\n{}: {} points", problem.name, points.len());
    println!(
        "degree  wanted | uniform: functions, all, withheld | adaptive: functions, all, withheld, seconds"
    );
    let train = values.ncols() * TRAIN_OF_FIVE / 5;
    let (seen, held_out) = values.as_ref().split_at_col(train);
    let withheld = draw_without_corners(points, 0.2, 7);
    let kept: Vec<usize> = (0..points.len())
        .filter(|i| !withheld.contains(i))
        .collect();
    for degree in [Degree::Linear, Degree::Quadratic] {
        for &functions in sizes.iter().filter(|&&m| m <= points.len() * 2 / 3) {
            let line = |mesh: &MeshSpec| -> Result<String> {
                let started = Instant::now();
                let build = |rows: &[usize]| build(problem, mesh, degree, functions, seen, rows);
                let every: Vec<usize> = (0..points.len()).collect();
                let with_all = build(&every)?;
                let seconds = started.elapsed().as_secs_f64();
                let [all, _] = errors(&with_all, points, held_out, &every, &withheld)?;
                let [_, unseen] = errors(&build(&kept)?, points, held_out, &kept, &withheld)?;
                Ok(format!(
                    "{:5} {all:8.2e} {unseen:8.2e} {seconds:6.2}",
                    with_all.len()
                ))
            };
            let adaptive = line(&MeshSpec::Adaptive(problem.adaptive.clone()))?;
            let uniform = line(&problem.uniform(degree, functions)?)?;
            println!(
                "P{} {functions:5} | {uniform} | {adaptive}",
                u8::from(degree)
            );
        }
    }
    Ok(())
}

/// The basis made from the points `rows` and the values there.
fn build(
    problem: &Problem,
    mesh: &MeshSpec,
    degree: Degree,
    functions: usize,
    values: MatRef<'_, f64>,
    rows: &[usize],
) -> Result<FiniteElements> {
    let whole = matches!(mesh, MeshSpec::Triangles { .. });
    let spec = FiniteElementsSpec {
        degree,
        functions: (!whole).then_some(functions),
        size: None,
        mesh: mesh.clone(),
        boundary: problem.boundary,
        slack: if whole { 0.25 } else { 0.0 },
    };
    let domain = match problem.points.dim() {
        1 => Bounds::unit(1),
        _ => problem.points.bounding_box().expect("there are points"),
    };
    let (points, values) = (
        problem.points.select(rows),
        linalg::select_rows(values, rows),
    );
    let context = BuildContext {
        points: Some(&points),
        values: Some(values.as_ref()),
        ..BuildContext::on(&domain)
    };
    FiniteElements::new(&spec, context)
}

/// Mean relative errors at the fitted and at the withheld points, with the cut of small singular
/// values that is best at the latter.
fn errors(
    basis: &FiniteElements,
    points: &Points,
    values: MatRef<'_, f64>,
    fitted: &[usize],
    withheld: &[usize],
) -> Result<[f64; 2]> {
    let spectrum = std::sync::Arc::new(Spectrum::new(basis.evaluate(&points.select(fitted))?)?);
    let mut best = [f64::INFINITY; 2];
    for cut in [1e-8, 1e-3, 1e-2, 3e-2, 0.1] {
        let encoder = Encoder::new(spectrum.clone(), Regularisation::CutRelative { cut });
        let coefficients = encoder.encode(linalg::select_rows(values, fitted).as_ref());
        let error = |rows: &[usize]| -> Result<f64> {
            let found = basis
                .evaluate(&points.select(rows))?
                .mul(coefficients.as_ref());
            let truth = linalg::select_rows(values, rows);
            let off = linalg::column_norms_squared((&found - &truth).as_ref());
            let norms = linalg::column_norms_squared(truth.as_ref());
            Ok(c2cnet::internal::mean_relative(&off, &norms))
        };
        let these = [error(fitted)?, error(withheld)?];
        if these[1] < best[1] {
            best = these;
        }
    }
    Ok(best)
}

//! Writes the matrices of `poisson-holes` and `elastic-plate` at full size for other solvers, and says how long
//! one factorisation takes here.
//!
//! `elements FOLDER`: each matrix and one right-hand side go there as raw little-endian numbers.

use c2cnet::{Error, Result};
use c2cnet_problems::fem::{Diffusion, Form, Solver, edge_points};
use c2cnet_problems::{ElasticPlate, PoissonHoles, poisson_holes};
use faer::Mat;
use std::path::Path;
use std::time::Instant;

fn main() -> Result<()> {
    let folder = std::env::args().nth(1);
    let folder = folder.ok_or_else(|| Error::Config("usage: elements FOLDER".into()))?;
    export(Path::new(&folder))
}

fn export(folder: &Path) -> Result<()> {
    let reference = PoissonHoles::default().reference(&poisson_holes::domain()?)?;
    let form = Diffusion::new(&reference.space, |_, _| 1.0);
    let load = reference.space.load(|[x, y]| (3.0 * x + y).sin());
    write(folder, "poisson-holes", &reference.solver, &form, &load)?;
    let reference = ElasticPlate::default().reference()?;
    let on = |p: [f64; 2]| p[0] > 1.0 - 1e-12;
    let points = edge_points(&reference.space, on);
    let values: Vec<f64> = points.iter().map(|p| (5.0 * p[1]).sin()).collect();
    let vertical = reference.space.edge_load(on, &values);
    let load: Vec<f64> = vertical.iter().flat_map(|&v| [0.0, v]).collect();
    write(
        folder,
        "elastic-plate",
        &reference.solver,
        &reference.form(),
        &load,
    )
}

/// Writes the lower triangle by columns, a load and its solution; says how long factoring takes.
fn write<F: Form>(
    folder: &Path,
    name: &str,
    solver: &Solver,
    form: &F,
    load: &[f64],
) -> Result<()> {
    let pattern = solver.pattern();
    let mut factor = solver.empty_factor();
    let mut right = vec![0.0; pattern.size()];
    pattern.restrict(load, &mut right);
    let mut x = Mat::from_fn(right.len(), 1, |i, _| right[i]);
    let start = Instant::now();
    solver.factor(form, &mut factor)?;
    let factored = start.elapsed().as_secs_f64();
    solver.solve(&factor, x.as_mut());
    let solved = start.elapsed().as_secs_f64();
    println!(
        "{name}: {} unknowns, {} numbers in the factor; assemble and factor {:.1} ms, solve {:.1} ms",
        pattern.size(),
        solver.factor_len(),
        1e3 * factored,
        1e3 * (solved - factored),
    );
    let integers = |numbers: &[usize]| -> Vec<u8> {
        numbers
            .iter()
            .flat_map(|&n| (n as u64).to_le_bytes())
            .collect()
    };
    let reals =
        |numbers: &[f64]| -> Vec<u8> { numbers.iter().flat_map(|n| n.to_le_bytes()).collect() };
    let solution: Vec<f64> = x.col(0).iter().copied().collect();
    for (part, bytes) in [
        ("starts", integers(pattern.column_starts())),
        ("rows", integers(pattern.rows())),
        ("entries", reals(factor.entries())),
        ("load", reals(&right)),
        ("solution", reals(&solution)),
    ] {
        let path = folder.join(format!("{name}.{part}"));
        std::fs::write(&path, bytes).map_err(|e| Error::io(path, e))?;
    }
    Ok(())
}

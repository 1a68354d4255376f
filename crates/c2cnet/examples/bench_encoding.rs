//! Our side of `bench/encoding`: `make DIR` writes data and bases for both sides, any other name
//! encodes that data, prints seconds and peak memory as JSON and writes the coefficients.

use c2cnet::Result;
use c2cnet::basis::{
    Basis, BasisSpec, BuildContext, Degree, FiniteElementsSpec, FourierKind, FourierSpec, MeshSpec,
    RandomFeaturesSpec,
};
use c2cnet::data::{Bounds, Dataset, Field, Fields, Observations, Points, Scattered};
use c2cnet::domain::Polygon;
use c2cnet::encode::{EncoderSpec, Transform};
use c2cnet::internal::{Encoder, FieldBasis, FieldEncoder, Spectrum, write_npz};
use c2cnet::storage::Archive;
use faer::Mat;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

const SEED: u64 = 2026;
const SIDE: usize = 141;
const SAMPLES: usize = 2400;
const SCATTERED: usize = 3000;
const SENSORS: usize = 100;
const MODES: usize = 24;
/// Normalised by the number of sensors.
const RIDGE: f64 = 1e-8;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [task, directory] = arguments.as_slice() else {
        panic!(
            "usage: bench_encoding make|features|elements|cosines|cosines-dct|scattered|scattered-cut DIR"
        );
    };
    let directory = Path::new(directory);
    match task.as_str() {
        "make" => make(directory),
        "features" => {
            let basis = || features_spec().build(BuildContext::on(&Bounds::unit(2)));
            shared(task, directory, basis, EncoderSpec::cut(0.1))
        }
        "elements" => {
            let basis = || elements_spec()?.build(BuildContext::on(&Bounds::unit(2)));
            shared(task, directory, basis, EncoderSpec::ridge(0.0))
        }
        "cosines" | "cosines-dct" => {
            let basis = || cosines_spec().build(BuildContext::on(&Bounds::unit(2)));
            shared(task, directory, basis, EncoderSpec::ridge(0.0))
        }
        "scattered" => scattered(task, directory, EncoderSpec::ridge(RIDGE)),
        "scattered-cut" => scattered(task, directory, EncoderSpec::cut(1e-3)),
        other => panic!("no task {other}"),
    }
}

/// The paper's 2D Darcy input basis.
fn features_spec() -> BasisSpec {
    random_features(512, 8, 0.3)
}

/// More of them than the fields have.
fn cosines_spec() -> BasisSpec {
    FourierSpec::new(FourierKind::Cosine, 1024).into()
}

/// As in the issue: 2 x 2 patches, scale 1.
fn scattered_basis() -> Result<Arc<dyn Basis>> {
    let domain = Bounds::new(vec![[0.0, 3.0], [-3.0, 3.0]])?;
    random_features(64, 2, 1.0).build(BuildContext::on(&domain))
}

fn random_features(functions: usize, partitions: usize, scale: f64) -> BasisSpec {
    BasisSpec::from(RandomFeaturesSpec {
        partitions: vec![partitions; 2],
        scale,
        seed: SEED,
        ..RandomFeaturesSpec::new(functions)
    })
}

/// An unstructured mesh of the unit square.
fn elements_spec() -> Result<BasisSpec> {
    let square = MeshSpec::Polygon(Polygon::rectangle(&Bounds::unit(2))?);
    Ok(BasisSpec::from(FiniteElementsSpec {
        functions: Some(553),
        ..FiniteElementsSpec::on(Degree::Linear, square)
    }))
}

/// Standard normal by Box and Muller.
fn normal(rng: &mut impl Rng) -> f64 {
    let (a, b): (f64, f64) = (1.0 - rng.random::<f64>(), rng.random());
    (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
}

/// Coefficients of a smooth random field in cosines, $a_{kl}\sim N(0, (\pi^2(k^2+l^2)+9)^{-2})$.
fn smooth_field(rng: &mut impl Rng) -> Mat<f64> {
    let mut a = Mat::zeros(MODES, MODES);
    for l in 0..MODES {
        for k in 0..MODES {
            let squared = std::f64::consts::PI.powi(2) * (k * k + l * l) as f64;
            a[(k, l)] = normal(rng) / (squared + 9.0);
        }
    }
    a
}

/// $\cos(\pi k t)$, one row per point.
fn cosines(t: &[f64]) -> Mat<f64> {
    Mat::from_fn(t.len(), MODES, |i, k| {
        (std::f64::consts::PI * k as f64 * t[i]).cos()
    })
}

fn make(directory: &Path) -> Result<()> {
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    let line = cosines(Points::linspace(0.0, 1.0, SIDE).coords());
    let grid = Points::grid(&Bounds::unit(2), &[SIDE, SIDE]);
    let mut values = Mat::zeros(grid.len(), SAMPLES);
    for k in 0..SAMPLES {
        let field = &line * smooth_field(&mut rng) * line.transpose();
        for (i, v) in values.col_mut(k).iter_mut().enumerate() {
            *v = field[(i / SIDE, i % SIDE)];
        }
    }
    write_input(
        &directory.join("grid.npz"),
        Field::shared(grid.clone(), vec![values])?,
    )?;

    let samples = (0..SCATTERED)
        .map(|_| {
            let unit: Vec<f64> = (0..2 * SENSORS).map(|_| rng.random()).collect();
            let axis = |k: usize| -> Vec<f64> { unit.iter().skip(k).step_by(2).copied().collect() };
            let (cx, cy) = (cosines(&axis(0)), cosines(&axis(1)));
            let mut values = Vec::with_capacity(2 * SENSORS);
            for _ in 0..2 {
                let rows = &cx * smooth_field(&mut rng);
                values.extend((0..SENSORS).map(|i| {
                    let pairs = rows.row(i).iter().zip(cy.row(i).iter());
                    pairs.map(|(a, b)| a * b).sum::<f64>()
                }));
            }
            let place = |(i, u): (usize, &f64)| if i % 2 == 0 { 3.0 * u } else { 6.0 * u - 3.0 };
            Ok(Scattered {
                points: Points::new(2, unit.iter().enumerate().map(place).collect())?,
                values,
            })
        })
        .collect::<Result<Vec<_>>>()?;
    write_input(
        &directory.join("scattered.npz"),
        Field::per_sample(2, samples)?,
    )?;

    let unit = Bounds::unit(2);
    for (name, basis) in [
        ("features", features_spec().build(BuildContext::on(&unit))?),
        ("scattered", scattered_basis()?),
    ] {
        let stored = Archive::of(basis.as_ref())?;
        let (weights, biases) = (stored.array("weights")?, stored.array("biases")?);
        write_npz(&directory.join(format!("{name}-basis.npz")), |npz| {
            for (part, array) in [("weights", weights), ("biases", biases)] {
                npz.put_f64(part, &array.shape, array.values.iter().copied())?;
            }
            npz.put_str("record", &stored.document.to_string())
        })?;
    }
    let phi = elements_spec()?
        .build(BuildContext::on(&unit))?
        .evaluate(&grid)?
        .to_dense();
    write_npz(&directory.join("elements-basis.npz"), |npz| {
        npz.put_f64("phi", &[phi.ncols(), phi.nrows()], columns(&phi))
    })
}

fn columns(matrix: &Mat<f64>) -> impl Iterator<Item = f64> + '_ {
    (0..matrix.ncols()).flat_map(|j| matrix.col(j).iter().copied())
}

fn write_input(path: &Path, field: Field) -> Result<()> {
    Dataset {
        inputs: field.into(),
        outputs: Fields::default(),
        n_train: None,
        split: None,
        triangles: None,
        tetrahedra: None,
        meta: serde_json::json!({ "seed": SEED }),
    }
    .write_npz(path)
}

fn read_input(path: &Path) -> Result<Field> {
    Ok(Dataset::read_npz(path)?.inputs.only()?.clone())
}

/// Peak and present resident memory in MiB; the peak counts from the last [`reset_peak`].
fn memory() -> (f64, f64) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let of = |key: &str| {
        let line = status.lines().find(|l| l.starts_with(key));
        let kib = line.and_then(|l| l.split_whitespace().nth(1)?.parse::<f64>().ok());
        kib.map_or(f64::NAN, |k| k / 1024.0)
    };
    (of("VmHWM:"), of("VmRSS:"))
}

fn reset_peak() {
    // Without permission the peak includes reading the data.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// Seconds of CPU time of all threads.
fn cpu_seconds() -> f64 {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten();
    let nanoseconds = tasks.flatten().filter_map(|task| {
        let text = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<f64>().ok()
    });
    nanoseconds.sum::<f64>() * 1e-9
}

fn timed<T>(work: impl FnOnce() -> Result<T>) -> Result<(f64, T)> {
    let start = Instant::now();
    let result = work()?;
    Ok((start.elapsed().as_secs_f64(), result))
}

fn shared(
    task: &str,
    directory: &Path,
    basis: impl Fn() -> Result<Arc<dyn Basis>>,
    spec: EncoderSpec,
) -> Result<()> {
    let field = read_input(&directory.join("grid.npz"))?;
    reset_peak();
    let (_, before) = memory();
    let cpu = cpu_seconds();
    let (total, (encoder, coefficients)) = timed(|| {
        let basis = FieldBasis::separate(vec![basis()?])?;
        FieldEncoder::fit_raw(basis, &spec, Transform::None, &field)
    })?;
    let cpu = cpu_seconds() - cpu;
    let (peak, _) = memory();
    let regularisation = encoder.regularisations()[0];
    drop(encoder);

    let Observations::Shared { points, values } = field.observations() else {
        unreachable!("a grid is shared")
    };
    let (build, basis) = timed(basis)?;
    let (evaluate, design) = timed(|| basis.evaluate(points))?;
    let (factor, spectrum) = timed(|| Spectrum::new(design))?;
    let (encode, rank) = timed(|| {
        let encoder = Encoder::new(spectrum, regularisation);
        encoder.encode(values[0].as_ref());
        Ok(encoder.rank())
    })?;
    report(
        task,
        directory,
        &coefficients,
        serde_json::json!({
            "seconds": total, "cpu_seconds": cpu,
            "phases": { "build": build, "evaluate": evaluate, "factor": factor, "encode": encode },
            "rank": rank, "functions": basis.len(),
            "data_mib": before, "peak_mib": peak,
        }),
    )
}

fn scattered(task: &str, directory: &Path, spec: EncoderSpec) -> Result<()> {
    let field = read_input(&directory.join("scattered.npz"))?;
    reset_peak();
    let (_, before) = memory();
    let cpu = cpu_seconds();
    let (total, (_, coefficients)) = timed(|| {
        let basis = scattered_basis()?;
        let basis = FieldBasis::separate(vec![basis.clone(), basis])?;
        FieldEncoder::fit_raw(basis, &spec, Transform::None, &field)
    })?;
    let cpu = cpu_seconds() - cpu;
    let (peak, _) = memory();
    let basis = scattered_basis()?;
    let (evaluate, _) = timed(|| {
        (0..field.samples()).try_for_each(|k| basis.evaluate(field.points_of(k)).map(|_| ()))
    })?;
    report(
        task,
        directory,
        &coefficients,
        serde_json::json!({
            "seconds": total, "cpu_seconds": cpu,
            "phases": { "evaluate (one thread)": evaluate },
            "functions": basis.len(), "data_mib": before, "peak_mib": peak,
        }),
    )
}

fn report(
    task: &str,
    directory: &Path,
    coefficients: &Mat<f64>,
    record: serde_json::Value,
) -> Result<()> {
    let shape = [coefficients.ncols(), coefficients.nrows()];
    write_npz(&directory.join(format!("{task}-ours.npz")), |npz| {
        npz.put_f64("coefficients", &shape, columns(coefficients))
    })?;
    println!("{record}");
    Ok(())
}

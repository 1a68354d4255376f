//! Readings at sensors that differ from sample to sample in, a field on a grid out.
//!
//! `cargo run --release -p c2cnet --example scattered_sensors`

use c2cnet::data::{Dataset, Field, Points, Scattered};
use c2cnet::{FitConfig, Result, Silent, fit};
use faer::Mat;

pub fn main() -> Result<()> {
    // Waves $f(x) = a\sin(5x) + b\cos(3x)$ at 15 to 25 sensors each, and their squares on a grid.
    let wave = |k: usize, x: f64| {
        let (a, b) = ((k as f64 * 1.7).sin(), (k as f64 * 0.9).cos());
        a * (5.0 * x).sin() + b * (3.0 * x).cos()
    };
    let sensor = |k: usize, i: usize| ((k * 31 + i * 17) as f64 * 0.618_034).fract();
    let samples = (0..120)
        .map(|k| {
            let x: Vec<f64> = (0..15 + k % 11).map(|i| sensor(k, i)).collect();
            let values = x.iter().map(|&x| wave(k, x)).collect();
            Ok(Scattered {
                points: Points::new(1, x)?,
                values,
            })
        })
        .collect::<Result<Vec<_>>>()?;
    let grid = Points::linspace(0.0, 1.0, 60);
    let u = Mat::from_fn(60, 120, |i, k| wave(k, grid.point(i)[0]).powi(2));
    let mut data = Dataset::new(
        Field::per_sample(1, samples)?,
        Field::shared(grid, vec![u])?,
    )?;
    data.n_train = Some(100);

    let (model, report) = fit(&data, &FitConfig::default(), &Silent)?;
    for choice in &report.choices {
        println!("{choice}");
    }
    let errors = model.evaluate(&data.select(&data.test_indices()))?;
    println!(
        "test RL2E {:.1e}, linear map {:.1e}, training mean {:.1e}",
        errors.rl2e, errors.linear_rl2e, errors.mean_rl2e
    );
    assert!(errors.rl2e < 0.02, "{}", errors.rl2e);
    assert!(errors.rl2e < 0.1 * errors.linear_rl2e);
    Ok(())
}

//! One's own samples, from arrays to predictions: the antiderivative of random functions on a grid.
//!
//! `cargo run --release -p c2cnet --example own_data`

use c2cnet::basis::FiniteElementsSpec;
use c2cnet::data::{Dataset, Field, Points};
use c2cnet::settings::OutputConfig;
use c2cnet::{FitConfig, Result, Silent, fit};
use faer::Mat;

pub fn main() -> Result<()> {
    // 120 functions $f$ at 80 points and $u(x) = \int_0^x f$ at the same points, one column per sample.
    let x = Points::linspace(0.0, 1.0, 80);
    let amplitude = |j: usize, k: usize| ((j * j + 3) as f64 * (k as f64 + 0.3)).sin();
    let sum = |of: &dyn Fn(f64, f64) -> f64, i: usize, k: usize| -> f64 {
        let terms = (1..=6).map(|j| amplitude(j, k) * of(j as f64, x.point(i)[0]));
        terms.sum()
    };
    let f = Mat::from_fn(80, 120, |i, k| sum(&|j, x| (j * x).cos(), i, k));
    let u = Mat::from_fn(80, 120, |i, k| sum(&|j, x| (j * x).sin() / j, i, k));
    let mut data = Dataset::new(
        Field::shared(x.clone(), vec![f])?,
        Field::shared(x, vec![u])?,
    )?;
    data.n_train = Some(90);

    let (model, report) = fit(&data, &FitConfig::default(), &Silent)?;
    for choice in &report.choices {
        println!("{choice}");
    }
    let test = data.select(&data.test_indices());
    let errors = model.evaluate(&test)?;
    println!("test RL2E {:.1e}, floor {:.1e}", errors.rl2e, errors.floor);
    assert!(errors.rl2e < 1e-6, "{}", errors.rl2e);

    // Anywhere, not only at the points of the data.
    let between = Points::linspace(0.0, 1.0, 333);
    let predicted = &model.predict(&test.inputs, &between)?[0];
    let truth: f64 = (1..=6)
        .map(|j| amplitude(j, 90) * (j as f64 * between.point(200)[0]).sin() / j as f64)
        .sum();
    assert!((predicted[(200, 0)] - truth).abs() < 1e-4);

    // A basis of one's own choice, instead of the one that was found.
    let output = OutputConfig {
        basis: Some(FiniteElementsSpec::p1([40]).into()),
        ..OutputConfig::default()
    };
    let config = FitConfig {
        output,
        ..FitConfig::default()
    };
    let (model, _) = fit(&data, &config, &Silent)?;
    let errors = model.evaluate(&test)?;
    println!("40 linear elements: test RL2E {:.1e}", errors.rl2e);
    assert!(errors.rl2e < 1e-2, "{}", errors.rl2e);
    Ok(())
}

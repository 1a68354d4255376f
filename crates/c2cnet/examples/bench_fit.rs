//! Our side of `bench/python/overhead.py`: fits and predicts with the settings of a JSON file, prints
//! the least seconds of each as JSON and writes the predictions.

use c2cnet::data::Dataset;
use c2cnet::internal::write_npz;
use c2cnet::{Error, Result};
use c2cnet::{FitConfig, Silent, fit};
use std::path::Path;
use std::time::Instant;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [data, settings, output, fits, predictions] = arguments.as_slice() else {
        panic!("usage: bench_fit DATA.npz SETTINGS.json OUTPUT.npz FITS PREDICTIONS");
    };
    let count = |text: &str| text.parse::<usize>().expect("a count");
    let data = Dataset::read_npz(Path::new(data))?;
    let text = std::fs::read_to_string(settings).map_err(|e| Error::io(settings, e))?;
    let config: FitConfig =
        serde_json::from_str(&text).map_err(|e| Error::Config(e.to_string()))?;
    let train = data.select(&data.train_indices());
    let test = data.select(&data.test_indices());
    let one = test.select(&[0]);
    let points = test.outputs.only()?.points_of(0);

    let (seconds_fit, (model, _)) = least(count(fits), || fit(&train, &config, &Silent))?;
    let predictions = count(predictions);
    let (seconds_all, fields) = least(predictions, || model.predict(&test.inputs, points))?;
    let (seconds_one, _) = least(predictions, || model.predict(&one.inputs, points))?;
    let u = &fields[0];
    write_npz(Path::new(output), |npz| {
        let values = (0..u.ncols()).flat_map(|k| u.col(k).iter().copied());
        npz.put_f64("u", &[u.ncols(), u.nrows()], values)
    })?;
    println!(
        "{}",
        serde_json::json!({ "fit": seconds_fit, "predict": seconds_all, "one": seconds_one })
    );
    Ok(())
}

/// The least seconds of several runs and the last result.
fn least<T>(runs: usize, work: impl Fn() -> Result<T>) -> Result<(f64, T)> {
    let timed = || {
        let begin = Instant::now();
        let result = work()?;
        Ok((begin.elapsed().as_secs_f64(), result))
    };
    let mut least = timed()?;
    for _ in 1..runs {
        let (seconds, result) = timed()?;
        least = (least.0.min(seconds), result);
    }
    Ok(least)
}

//! Generates the data of one problem, and says how long it took and how large the functions are.
//!
//! `generate NAME [SETTINGS [SEED [FILE]]]`: the settings as JSON (`{}`: the defaults), the data to
//! FILE (.npz) if given.

use std::error::Error;
use std::path::Path;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let name = arguments
        .first()
        .ok_or("usage: generate NAME [SETTINGS [SEED [FILE]]]")?;
    let settings = match arguments.get(1) {
        Some(text) => serde_json::from_str(text)?,
        None => serde_json::Value::Null,
    };
    let seed = arguments.get(2).map_or(Ok(0), |text| text.parse())?;
    let start = Instant::now();
    let data = c2cnet_problems::generate(name, settings, seed, &c2cnet_problems::Unwatched)?;
    let seconds = start.elapsed().as_secs_f64();
    let samples = data.samples();
    println!(
        "{name}: {samples} samples in {seconds:.3} s, {:.6} s each",
        seconds / samples as f64
    );
    for (kind, fields) in [("input", &data.inputs), ("output", &data.outputs)] {
        for (_, field) in fields {
            let numbers = samples * field.components() * field.points_of(0).len();
            let mean_square = field.norms_squared().iter().sum::<f64>() / numbers as f64;
            println!("{kind}: rms {:.6}", mean_square.sqrt());
        }
    }
    if let Some(file) = arguments.get(3) {
        data.write_npz(Path::new(file))?;
    }
    Ok(())
}

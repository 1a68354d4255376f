//! What bases can and cannot do for a data set: spectra, losses, amplification, floors.

pub(crate) mod floor;
mod sweep;

pub use floor::{Floor, Floors};
pub use sweep::{Row, Sweep};

use crate::data::{Dataset, Field, Fields};
use crate::fit::Context;
use crate::observe::{Event, Observer, Step, Work};
use crate::operator::C2CNet;
use crate::settings::FitConfig;
use crate::{Error, Result};

/// For each input that is a function, what its encoder loses and amplifies against the strength of regularisation.
///
/// # Errors
/// If the data does not fit the model.
pub fn sweeps(
    model: &C2CNet,
    data: &Dataset,
    config: &FitConfig,
    observer: &dyn Observer,
) -> Result<Vec<Sweep>> {
    let mut sweeps = Vec::new();
    // Parameters are encoded as they are.
    let functions = model.inputs().iter().filter(|(_, e)| e.vector().is_none());
    for (name, encoder) in functions {
        observer.event(&Event::Begin(&Step(Work::DiagnoseEncoder)));
        let field = named(&data.inputs, name, "input")?;
        let spec = config.input_named(name).encoder.unwrap_or_default();
        sweeps.extend(sweep::sweep(name, encoder, spec, field)?);
    }
    Ok(sweeps)
}

/// For each output that is a function, the smallest errors that bases of several families and sizes allow.
///
/// # Errors
/// If the data does not fit the model, or the observer asks to stop.
pub fn floors(
    model: &C2CNet,
    data: &Dataset,
    config: &FitConfig,
    observer: &dyn Observer,
) -> Result<Vec<Floors>> {
    observer.event(&Event::Begin(&Step(Work::CompareFloors)));
    if data.samples() < 5 {
        return Err(Error::Data(format!(
            "{} samples are too few to compare bases; give at least 5",
            data.samples()
        )));
    }
    let context = Context::new(data, config.protocol(), observer);
    model
        .outputs()
        .iter()
        .filter(|(_, decoder)| decoder.vector().is_none())
        .map(|(name, decoder)| {
            let field = named(&data.outputs, name, "output")?;
            floor::compare(name, field, decoder, &context, config)
        })
        .collect()
}

fn named<'a>(fields: &'a Fields, name: &str, kind: &str) -> Result<&'a Field> {
    let field = fields.iter().find(|(n, _)| n == name);
    field
        .map(|(_, field)| field)
        .ok_or_else(|| Error::Data(format!("the data has no {kind} {name:?}")))
}

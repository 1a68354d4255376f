//! A model as its file stores it.

use super::{C2CNet, MovingNodes};
use crate::data::Points;
use crate::decode::FieldDecoder;
use crate::encode::FieldEncoder;
use crate::map::{CoefficientMap, LinearMap};
use crate::{Error, Result};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// With references to write it, with the parts themselves once read.
#[derive(Serialize, Deserialize)]
struct Stored<E, D, M, L, N> {
    inputs: Vec<StoredInput<E>>,
    outputs: Vec<StoredOutput<D>>,
    map: M,
    linear: L,
    #[serde(default = "Vec::new", skip_serializing_if = "Vec::is_empty")]
    moving: Vec<StoredNodes<N>>,
    info: serde_json::Value,
}

#[derive(Serialize, Deserialize)]
struct StoredInput<E> {
    name: String,
    encoder: E,
}

#[derive(Serialize, Deserialize)]
struct StoredOutput<D> {
    name: String,
    decoder: D,
}

#[derive(Serialize, Deserialize)]
struct StoredNodes<N> {
    output: String,
    reference: Points,
    displacements: N,
}

type Read = Stored<FieldEncoder, FieldDecoder, Box<dyn CoefficientMap>, LinearMap, C2CNet>;

impl Serialize for C2CNet {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        Stored {
            inputs: self
                .inputs
                .iter()
                .map(|(name, encoder)| StoredInput {
                    name: name.clone(),
                    encoder,
                })
                .collect(),
            outputs: self
                .outputs
                .iter()
                .map(|(name, decoder)| StoredOutput {
                    name: name.clone(),
                    decoder,
                })
                .collect(),
            map: &self.map,
            linear: &self.linear,
            moving: self
                .moving
                .iter()
                .map(|nodes| StoredNodes {
                    output: nodes.output.clone(),
                    reference: nodes.reference.clone(),
                    displacements: &*nodes.displacements,
                })
                .collect(),
            info: self.info.clone(),
        }
        .serialize(to)
    }
}

impl<'de> Deserialize<'de> for C2CNet {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        put_together(Read::deserialize(from)?).map_err(D::Error::custom)
    }
}

/// The parts of a model, if they are consistent.
fn put_together(stored: Read) -> Result<C2CNet> {
    for (count, what) in [
        (stored.inputs.len(), "inputs"),
        (stored.outputs.len(), "outputs"),
    ] {
        if count == 0 {
            return Err(Error::Data(format!("the model has no {what}")));
        }
    }
    let inputs: Vec<_> = stored
        .inputs
        .into_iter()
        .map(|i| (i.name, i.encoder))
        .collect();
    let outputs: Vec<_> = stored
        .outputs
        .into_iter()
        .map(|o| (o.name, o.decoder))
        .collect();
    let (map, linear) = (stored.map, stored.linear);
    let coefficients: usize = inputs.iter().map(|(_, e)| e.basis().len()).sum();
    let rank: usize = outputs.iter().map(|(_, d)| d.rank()).sum();
    for m in [map.as_ref(), &linear as &dyn CoefficientMap] {
        if m.inputs() != coefficients || m.outputs() != rank {
            return Err(Error::Data(format!(
                "the model's {} map takes {} coefficients to {} coordinates, its bases have {coefficients} and {rank}",
                m.kind(),
                m.inputs(),
                m.outputs()
            )));
        }
    }
    let moving = stored.moving.into_iter().map(|nodes| {
        let known = |(name, decoder): &(String, FieldDecoder)| {
            *name == nodes.output
                && decoder.vector().is_none()
                && decoder.points() == Some(&nodes.reference)
        };
        match outputs.iter().any(known) {
            true => MovingNodes::new(&nodes.output, nodes.reference, nodes.displacements),
            false => Err(Error::Data(format!(
                "the model's nodes of output {:?} are not those that it was fitted with",
                nodes.output
            ))),
        }
    });
    let moving = moving.collect::<Result<Vec<_>>>()?;
    let model = C2CNet::new(inputs, outputs, map, linear);
    Ok(model.with_moving(moving).with_info(stored.info))
}

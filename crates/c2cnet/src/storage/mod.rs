//! One way to store: whatever derives serde, with its matrices as named arrays of one safetensors file.
//!
//! * [`tensor`]: matrices and vectors as leaves, by `#[serde(with = "tensor")]`.
//! * [`Archive`]: the leaves by name, and everything else as one JSON document.
//! * `file`: an archive as a file with a digest over every byte of it.
//! * `input`, `output`: how files are read and written, these and all others.
//! * `signature`: what a file is, by its first bytes.
//! * `record`, `registry`: trait objects, tagged by a name under which their type is registered.
//!
//! Nothing in a file is executable.

mod archive;
mod array;
pub(crate) mod file;
mod fingerprint;
pub(crate) mod input;
pub(crate) mod leaf;
pub(crate) mod output;
mod record;
mod registry;
pub(crate) mod signature;
pub mod tensor;

pub use archive::Archive;
pub use array::Array;
#[doc(hidden)] // whatever derives serde
pub use record::Storable;

pub(crate) use file::FORMAT_VERSION;
pub(crate) use fingerprint::Fingerprint;
pub(crate) use input::{open_plain, read_plain};
pub(crate) use output::write_atomically;
pub(crate) use record::{Record, restore_settled, serialize_tagged, split_tag};
pub(crate) use registry::Registry;
pub(crate) use signature::{SIGNATURE, foreign};

//! Which samples are for training: a count, or the set of each.

use super::NpzFile;
use super::array::{Header, Kind, Values, shown};
use crate::Result;
use serde_json::Value;

/// How many leading samples are for training.
pub(super) fn read_n_train(npz: &mut NpzFile, samples: usize) -> Result<Option<usize>> {
    let a_count = |header: &Header| match header.kind {
        Kind::Integers if header.is_one(8) => Ok(()),
        Kind::Floats if header.is_one(8) => Err(format!(
            "holds floats; it counts training samples: for a fraction such as 0.8 of them save int(0.8 * {samples})"
        )),
        _ => Err(format!(
            "has shape {}; it is one integer, how many leading samples are for training; to name the set of each \
             sample save split=np.where(mask, 'train', 'test')",
            shown(&header.shape)
        )),
    };
    let Some(array) = npz.array("n_train", a_count)? else {
        return Ok(None);
    };
    let values = array.into_integers();
    let n = values.map_err(|reason| npz.bad("n_train", reason))?[0];
    match usize::try_from(n) {
        Ok(n) if (1..=samples).contains(&n) => Ok(Some(n)),
        _ => Err(npz.bad(
            "n_train",
            format!("is {n}; it must lie between 1 and the number of samples, {samples}"),
        )),
    }
}

/// The name of each sample's set; takes `split_names` out of `meta`.
pub(super) fn read_split(
    npz: &mut NpzFile,
    samples: usize,
    meta: &mut Value,
) -> Result<Option<Vec<String>>> {
    let Some(shape) = npz.shape("split", false)? else {
        return Ok(None);
    };
    if shape != [samples] {
        return Err(npz.bad_shape("split", format!("({samples},)"), &shape));
    }
    let Some(array) = npz.array("split", |_| Ok(()))? else {
        return Ok(None);
    };
    let codes = match array.values {
        Values::Text(names) => return Ok(Some(names)),
        Values::Integers(codes) => codes,
        Values::Floats(_) | Values::Complex(_) => {
            return Err(npz.bad("split", "holds floats; save the name of each sample's set, such as np.where(mask, 'train', 'test')"));
        }
    };
    let names = meta
        .as_object_mut()
        .and_then(|object| object.remove("split_names"))
        .and_then(|names| serde_json::from_value::<Vec<String>>(names).ok())
        .ok_or_else(|| {
            npz.bad(
                "split",
                "holds integers or a mask, without names; save the names, np.where(mask, 'train', 'test'), or put them \
                 into `meta` as {\"split_names\": [\"train\", \"test\", ...]}",
            )
        })?;
    if meta.as_object().is_some_and(serde_json::Map::is_empty) {
        *meta = Value::Null;
    }
    let name_of = |(k, &code): (usize, &i64)| {
        let name = usize::try_from(code).ok().and_then(|code| names.get(code));
        name.cloned().ok_or_else(|| {
            npz.bad(
                "split",
                format!(
                    "is {code} for sample {k}; `meta` names the sets 0 to {}",
                    names.len().saturating_sub(1)
                ),
            )
        })
    };
    let split = codes
        .iter()
        .enumerate()
        .map(name_of)
        .collect::<Result<_>>()?;
    Ok(Some(split))
}

//! Model files that are damaged or were altered.

use super::toy::fitted;
use super::{check, line_model, said, settings};
use c2cnet::C2CNet;
use c2cnet::internal::FORMAT_VERSION;
use c2cnet::storage::Archive;
use faer::Mat;
use serde_json::json;
use std::path::Path;

/// Changes a model file, its digest included.
fn altered(model: &Path, change: impl FnOnce(&mut Archive)) -> Option<String> {
    let mut archive = Archive::read(model).unwrap();
    change(&mut archive);
    let path = model.with_extension("altered");
    archive.write(&path).unwrap();
    let message = said(C2CNet::load(&path));
    std::fs::remove_file(path).unwrap();
    message
}

#[test]
fn model_files_that_cannot_be() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let path = at("model.c2c");
    let (line, data) = line_model();
    line.save(&path).unwrap();
    let features = at("features.c2c");
    let mut random = settings(json!({"map": {"kind": "kernel", "kernel": {"passes": 0}}}));
    random["input"] =
        json!({"basis": {"family": "random-features", "functions": 6}, "transform": "standardise"});
    fitted(&data, random).0.save(&features).unwrap();

    let bytes = std::fs::read(&path).unwrap();
    let load = |bytes: &[u8]| {
        std::fs::write(at("damaged.c2c"), bytes).unwrap();
        said(C2CNet::load(&at("damaged.c2c")))
    };
    for cut in [0, 1, 7, 8, 9, 100, bytes.len() / 2, bytes.len() - 1] {
        let message = load(&bytes[..cut]).expect("a truncated file is not a model");
        assert!(
            message.contains("damaged") && message.contains("fit it again"),
            "{message}"
        );
    }
    let tensors = |names: &[&str], metadata: Option<std::collections::HashMap<String, String>>| {
        let data = [0u8; 16];
        let views = names.iter().map(|n| {
            let view =
                safetensors::tensor::TensorView::new(safetensors::Dtype::F32, vec![4], &data);
            (*n, view.unwrap())
        });
        safetensors::serialize(views, metadata).unwrap()
    };
    let document = |text: String| Some([("c2cnet".to_string(), text)].into());
    let this = json!({"blake3": "", "document": {"format": FORMAT_VERSION}}).to_string();
    let short = {
        let metadata = document(format!(
            r#"{{"blake3":"{}","document":{{"format":{FORMAT_VERSION}}}}}"#,
            "0".repeat(64)
        ));
        let mut bytes = tensors(&["w"], metadata);
        let digits = bytes.windows(64).position(|w| w == [b'0'; 64]).unwrap();
        let mut hasher = blake3::Hasher::new();
        hasher
            .update(&bytes[..digits])
            .update(&bytes[digits + 64..]);
        let digest = hasher.finalize().to_hex();
        bytes[digits..digits + 64].copy_from_slice(digest.as_bytes());
        bytes
    };
    let nan = Mat::full(3, 3, f64::NAN);
    let small = Mat::<f64>::zeros(2, 2);
    check(&[
        (
            "missing file",
            said(C2CNet::load(&at("none.c2c"))),
            &["none.c2c"],
        ),
        (
            "a folder",
            said(C2CNet::load(folder.path())),
            &["directory"],
        ),
        (
            "text",
            load(b"hello, this is not a model at all"),
            &["damaged.c2c", "not a c2cnet model"],
        ),
        (
            "longer than it says",
            load(&[&bytes[..], b"more"].concat()),
            &["damaged"],
        ),
        (
            "foreign tensors",
            load(&tensors(&["w"], None)),
            &["without c2cnet metadata"],
        ),
        (
            "metadata that is not JSON",
            load(&tensors(&[], document("{".into()))),
            &["not a c2cnet model"],
        ),
        (
            "metadata without a format",
            load(&tensors(&[], document("{}".into()))),
            &["format unknown"],
        ),
        ("short floats", load(&short), &["array w", "64-bit"]),
        (
            "no digest",
            load(&tensors(&["w"], document(this))),
            &["digest"],
        ),
        (
            "a model of version 0.1",
            load(&tensors(
                &["w"],
                document(json!({"format": 1, "inputs": []}).to_string()),
            )),
            &["written by version 0.1 (format 1); fit again"],
        ),
        (
            "newer format",
            altered(&path, |a| a.document["format"] = json!(FORMAT_VERSION + 1)),
            &["model format 3", "format 2"],
        ),
        (
            "NaN inside",
            altered(&path, |a| a.put("map.weights", &nan)),
            &["map.weights", "NaN"],
        ),
        (
            "missing array",
            altered(&path, |a| a.remove("map.weights")),
            &["no array map.weights"],
        ),
        (
            "map of another shape",
            altered(&path, |a| a.put("map.weights", &small)),
            &["linear map is damaged"],
        ),
        (
            "consistent map of another size",
            altered(&path, |a| {
                a.put("map.weights", &small);
                a.put("map.input_mean", &vec![0.0; 2]);
                a.put("map.output_mean", &vec![0.0; 2]);
            }),
            &["2 coefficients to 2 coordinates", "5"],
        ),
        (
            "vector for a matrix",
            altered(&path, |a| a.put("map.weights", &vec![0.0; 4])),
            &["map.weights", "a matrix was expected"],
        ),
        (
            "output space of another shape",
            altered(&path, |a| a.put("outputs.0.decoder.transforms.0", &small)),
            &["disagrees with its basis"],
        ),
        (
            "points cut in half",
            altered(&path, |a| {
                a.put("outputs.0.decoder.points", &vec![0.0; 3]);
            }),
            &["points has shape [3]", "points of shape (n, d)"],
        ),
        (
            "no inputs",
            altered(&path, |a| a.document["inputs"] = json!([])),
            &["no inputs"],
        ),
        (
            "unknown family",
            altered(&path, |a| {
                a.document["inputs"][0]["encoder"]["basis"]["bases"][0]["family"] =
                    json!("wavelets")
            }),
            &[
                "wavelets",
                "unknown",
                "`fourier`",
                "c2cnet::basis::register",
            ],
        ),
        (
            "unknown map",
            altered(&path, |a| a.document["map"]["kind"] = json!("network")),
            &["network", "unknown", "`kernel`"],
        ),
        (
            "damaged settings of a basis",
            altered(&path, |a| {
                a.document["inputs"][0]["encoder"]["basis"]["bases"][0]["spec"]["functions"] =
                    json!("many")
            }),
            &["basis fourier", "\"many\""],
        ),
        (
            "basis of other domain",
            altered(&path, |a| {
                a.document["inputs"][0]["encoder"]["basis"]["bases"][0]["domain"] =
                    json!([[1.0, 0.0]])
            }),
            &["basis fourier", "lower <= upper"],
        ),
        (
            "parts that are not there",
            altered(&path, |a| {
                a.document["inputs"][0]["encoder"]["basis"]["parts"] = json!([[7]])
            }),
            &["field basis is damaged"],
        ),
        (
            "no regularisation",
            altered(&path, |a| {
                a.document["inputs"][0]["encoder"]["regularisations"] = json!([])
            }),
            &["incomplete"],
        ),
        (
            "weights of other features",
            altered(&features, |a| {
                a.put("inputs.0.encoder.basis.bases.0.weights", &small)
            }),
            &["random features disagree"],
        ),
        (
            "short statistics",
            altered(&features, |a| {
                a.put("inputs.0.encoder.standard.mean", &vec![0.0; 2])
            }),
            &["incomplete"],
        ),
        (
            "kernel centres of another shape",
            altered(&features, |a| a.put("map.centres", &small)),
            &["kernel map is damaged"],
        ),
        (
            "kernel without a pass",
            altered(&features, |a| {
                a.document["map"]["settings"]["passes"] = json!([])
            }),
            &["kernel map is damaged"],
        ),
        (
            "more features than weights",
            altered(&features, |a| {
                let basis = &mut a.document["inputs"][0]["encoder"]["basis"]["bases"][0]["spec"];
                basis["functions"] = json!(1u64 << 50);
                basis["partitions"] = json!([1u64 << 50]);
            }),
            &["random features disagree"],
        ),
    ]);
}

/// Whatever bit has changed, the file is refused by an error.
#[test]
fn flipped_bits_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.c2c");
    let (line, _) = line_model();
    line.save(&path).unwrap();
    let whole = std::fs::read(&path).unwrap();
    for bit in (0..8 * whole.len()).step_by(97) {
        let mut bytes = whole.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        let message = said(C2CNet::from_bytes(&bytes));
        assert!(
            message.is_some_and(|m| m.contains("model")),
            "bit {bit} of {}",
            whole.len()
        );
    }
    C2CNet::from_bytes(&whole).unwrap();
}

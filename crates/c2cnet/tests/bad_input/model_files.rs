//! Model files that are damaged or were altered.

use super::toy::fitted;
use super::{check, line_model, said, settings};
use c2cnet::C2CNet;
use c2cnet::model_file::{Archive, FORMAT_VERSION};
use faer::Mat;
use serde_json::json;
use std::path::Path;

/// Copies a model file, leaving out one array and changing another.
fn altered(model: &Path, leave: &str, change: impl FnOnce(&mut Archive)) -> Option<String> {
    let from = Archive::read(model).unwrap();
    let mut to = Archive::default();
    to.document = from.document.clone();
    for (name, shape) in from.shapes().filter(|(name, _)| *name != leave) {
        match shape.len() {
            1 => to.put_vector(name, &from.vector(name).unwrap()),
            _ => to.put_matrix(name, from.matrix(name).unwrap().as_ref()),
        }
    }
    change(&mut to);
    let path = model.with_extension("altered");
    to.write(&path).unwrap();
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
        let message = load(&bytes[..cut]).expect("a truncated file is no model");
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
    let this = json!({"format": FORMAT_VERSION}).to_string();
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
            "metadata that is no JSON",
            load(&tensors(&[], document("{".into()))),
            &["not a c2cnet model"],
        ),
        (
            "metadata without a format",
            load(&tensors(&[], document("{}".into()))),
            &["format unknown"],
        ),
        (
            "short floats",
            load(&tensors(&["w"], document(this))),
            &["array w", "64-bit"],
        ),
        (
            "newer format",
            altered(&path, "", |a| {
                a.document["format"] = json!(FORMAT_VERSION + 1)
            }),
            &["model format 2", "format 1"],
        ),
        (
            "NaN inside",
            altered(&path, "", |a| a.put_matrix("map.weights", nan.as_ref())),
            &["map.weights", "NaN"],
        ),
        (
            "missing array",
            altered(&path, "map.weights", |_| ()),
            &["no array map.weights"],
        ),
        (
            "map of another shape",
            altered(&path, "", |a| a.put_matrix("map.weights", small.as_ref())),
            &["linear map is damaged"],
        ),
        (
            "consistent map of another size",
            altered(&path, "", |a| {
                a.put_matrix("map.weights", small.as_ref());
                a.put_vector("map.input_mean", &[0.0; 2]);
                a.put_vector("map.output_mean", &[0.0; 2]);
            }),
            &["2 coefficients to 2 coordinates", "5"],
        ),
        (
            "vector for a matrix",
            altered(&path, "", |a| a.put_vector("map.weights", &[0.0; 4])),
            &["map.weights", "a matrix was expected"],
        ),
        (
            "output space of another shape",
            altered(&path, "", |a| {
                a.put_matrix("output.0.transform.0", small.as_ref())
            }),
            &["disagrees with its basis"],
        ),
        (
            "points cut in half",
            altered(&path, "", |a| {
                a.document["outputs"][0]["decoder"]["point_dim"] = json!(2);
                a.put_vector("output.0.points", &[0.0; 3]);
            }),
            &["points", "d = 2"],
        ),
        (
            "no inputs",
            altered(&path, "", |a| a.document["inputs"] = json!([])),
            &["no inputs"],
        ),
        (
            "unknown family",
            altered(&path, "", |a| {
                a.document["inputs"][0]["encoder"]["basis"]["bases"][0]["family"] =
                    json!("wavelets")
            }),
            &["wavelets", "unknown"],
        ),
        (
            "unknown map",
            altered(&path, "", |a| a.document["map"]["kind"] = json!("network")),
            &["network", "unknown"],
        ),
        (
            "damaged settings of a basis",
            altered(&path, "", |a| {
                a.document["inputs"][0]["encoder"]["basis"]["bases"][0]["settings"]["functions"] =
                    json!("many")
            }),
            &["basis record is damaged"],
        ),
        (
            "basis of other domain",
            altered(&path, "", |a| {
                a.document["inputs"][0]["encoder"]["basis"]["bases"][0]["domain"] = json!([[1, 0]])
            }),
            &["damaged", "lower <= upper"],
        ),
        (
            "parts that are not there",
            altered(&path, "", |a| {
                a.document["inputs"][0]["encoder"]["basis"]["parts"] = json!([[7]])
            }),
            &["field basis is damaged"],
        ),
        (
            "no regularisation",
            altered(&path, "", |a| {
                a.document["inputs"][0]["encoder"]["regularisations"] = json!([])
            }),
            &["incomplete"],
        ),
        (
            "weights of other features",
            altered(&features, "", |a| {
                a.put_matrix("input.0.basis.0.weights", small.as_ref())
            }),
            &["random features disagree"],
        ),
        (
            "short statistics",
            altered(&features, "", |a| a.put_vector("input.0.mean", &[0.0; 2])),
            &["incomplete"],
        ),
        (
            "kernel centres of another shape",
            altered(&features, "", |a| {
                a.put_matrix("map.centres", small.as_ref())
            }),
            &["kernel map is damaged"],
        ),
        (
            "kernel without a pass",
            altered(&features, "", |a| {
                a.document["map"]["settings"]["passes"] = json!([])
            }),
            &["kernel map is damaged"],
        ),
    ]);
}

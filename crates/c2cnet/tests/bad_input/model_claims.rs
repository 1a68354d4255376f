//! Model files whose digest is right and whose parts claim what is not there.

use super::toy::fitted;
use super::{line_model, said, settings};
use c2cnet::C2CNet;
use c2cnet::storage::Archive;
use faer::Mat;
use serde_json::{Value, json};

/// What loading says of a model after a change.
fn changed(model: &C2CNet, change: impl FnOnce(&mut Archive)) -> String {
    let mut archive = model.to_archive().unwrap();
    change(&mut archive);
    let bytes = archive.to_bytes().unwrap();
    said(C2CNet::from_bytes(&bytes)).expect("a model that cannot be")
}

fn input_basis(archive: &mut Archive) -> &mut Value {
    &mut archive.document["inputs"][0]["encoder"]["basis"]["bases"][0]
}

#[test]
fn functions_that_were_claimed_took_all_memory() {
    let (line, data) = line_model();
    let polynomial = json!({"input": {"basis": {"family": "polynomial", "functions": 5}}});
    let (polynomial, _) = fitted(&data, settings(polynomial));
    for model in [&line, &polynomial] {
        let claim = |functions: u64, dim: usize| {
            changed(model, |a| {
                input_basis(a)["spec"]["functions"] = json!(functions);
                input_basis(a)["domain"] = json!(vec![[0.0, 1.0]; dim]);
            })
        };
        let message = claim(1_000_000_000, 1);
        assert!(message.contains("more than 1000000 functions"), "{message}");
        let message = claim(1_000_000, 5000);
        assert!(message.contains("in 5000 dimensions"), "{message}");
        // As many as are allowed, but the arrays are for five.
        let message = claim(1_000_000, 16);
        assert!(message.contains("1000000"), "{message}");
    }
    let features = json!({"input": {"basis": {"family": "random-features", "functions": 6}}});
    let (features, _) = fitted(&data, settings(features));
    for key in ["functions", "partitions"] {
        let message = changed(&features, |a| {
            input_basis(a)["spec"][key] = match key {
                "functions" => json!(1_000_000_000),
                _ => json!([1_000_000_000]),
            };
        });
        assert!(message.contains("random features"), "{message}");
    }
}

#[test]
fn crafted_networks_panicked_at_predict() {
    let (_, data) = line_model();
    let network = json!({"map": {"kind": "mlp", "mlp": {"steps": 2, "hidden": [3]}}});
    let (network, _) = fitted(&data, settings(network));
    let archive = network.to_archive().unwrap();
    let names: Vec<String> = archive.shapes().map(|(n, _)| n.to_string()).collect();
    let linear = names
        .iter()
        .find(|n| n.contains("head") && n.ends_with("linear.weights"));
    let linear = linear
        .expect("the network is added to a linear map")
        .clone();
    let of_linear = |end: &str| linear.replace("weights", end);
    let message = changed(&network, |a| {
        a.put(linear.as_str(), &Mat::<f64>::zeros(2, 2));
        a.put(of_linear("input_mean"), &vec![0.0; 2]);
        a.put(of_linear("output_mean"), &vec![0.0; 2]);
    });
    assert!(message.contains("mlp map is damaged"), "{message}");
    let widths = archive.document["map"]["network"]["widths"].clone();
    let (first, last) = (&widths[0], &widths[2]);
    for widths in [
        json!([first, u64::MAX, last]),
        json!([first, 1u64 << 63, last]),
        json!([u64::MAX, 1, last]),
        json!([first, 0, last]),
        json!([first]),
        json!([]),
    ] {
        let message = changed(&network, |a| {
            a.document["map"]["network"]["widths"] = widths.clone()
        });
        assert!(
            message.contains("mlp map is damaged"),
            "{widths}: {message}"
        );
    }
}

#[test]
fn headers_longer_than_any_model_needs_are_not_parsed() {
    let header = [b"{\"a\":[".as_slice(), &b"0,".repeat(5 << 20), b"0]}"].concat();
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header);
    let message = said(C2CNet::from_bytes(&bytes)).unwrap();
    assert!(message.contains("its header claims"), "{message}");
}

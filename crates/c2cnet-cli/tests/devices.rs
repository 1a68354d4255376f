//! Devices: what is shown, and what is said where one cannot be used.

mod support;

use support::Folder;

#[test]
fn devices_are_shown() {
    let folder = Folder::new();
    let text = folder.succeed(&["inspect", "--devices"]);
    assert!(text.contains("cpu") && text.contains("cuda"), "{text}");
    let object = folder.succeed_json(&["inspect", "--devices", "--json"]);
    let all = object["devices"].as_array().unwrap();
    assert_eq!(all[0]["device"], "cpu");
    assert!(all[0]["missing"].is_null());
}

/// A missing device is reported before anything is read, `auto` is the CPU, and the device leaves no trace
/// in the model.
#[test]
fn a_missing_gpu_is_told_first() {
    let folder = Folder::new();
    folder.generate("data.npz");
    let fit = ["fit", "data.npz", "-o", "m.c2c", "--map", "linear"];
    let with = |device: &'static str| [&fit[..], &["--device", device]].concat();
    folder.fail(&with("gpu"), 2, &["\"gpu\"", "cuda:N"]);
    if c2cnet::Device::Cuda(0).check().is_ok() {
        return;
    }
    folder.fail(&with("cuda"), 5, &["driver", "--device cpu"]);
    folder.fail(
        &["reproduce", "helmholtz", "--device", "cuda"],
        5,
        &["driver"],
    );
    folder.succeed(&with("auto"));
    let model = std::fs::read(folder.path("m.c2c")).unwrap();
    assert!(!String::from_utf8_lossy(&model).contains("device"));
}

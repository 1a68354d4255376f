//! Networks as the coefficient map of a whole operator.

mod toy;

use c2cnet::{C2CNet, Silent, fit};
use serde_json::{Value, json};
use toy::{config, fitted, line_data, plane_data, scattered_data};

fn line_settings(map: Value) -> Value {
    let basis =
        |functions: usize| json!({"family": "fourier", "kind": "cosine", "functions": functions});
    json!({
        "input": {"basis": {"family": "fourier", "kind": "sine", "functions": 6}, "transform": "none"},
        "output": {"basis": basis(16)},
        "map": map,
    })
}

#[test]
fn fast_learns_and_is_judged_by_samples_it_did_not_see() {
    let data = line_data(200, 1);
    let mlp = json!({"hidden": [40, 40], "steps": 1500, "batch": 40});
    let settings = line_settings(json!({"kind": "mlp", "mlp": mlp}));
    let (model, report) = fitted(&data, settings.clone());
    assert!(report.held_out);
    let (validation, floor) = (report.validation.rl2e, report.validation.floor);
    assert!(
        validation < 0.5 * report.validation.linear_rl2e && validation < 1.1 * floor,
        "{validation} {floor}"
    );
    let network = report.network.unwrap();
    let (judged, all) = (network.judged.unwrap(), network.fitted.unwrap());
    assert_eq!((judged.samples, all.samples), ((160, 40), (200, 0)));

    // Saved, loaded and fitted again, on another number of threads: the same bits.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.c2c");
    model.save(&path).unwrap();
    let bits = |model: &C2CNet| {
        let c = model.predict_coordinates(&data.inputs).unwrap();
        (0..c.ncols())
            .flat_map(|k| c.col(k).iter().map(|v| v.to_bits()).collect::<Vec<_>>())
            .collect::<Vec<_>>()
    };
    assert!(bits(&model) == bits(&C2CNet::load(&path).unwrap()));
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(3)
        .build()
        .unwrap();
    let again = pool.install(|| fitted(&data, settings)).0;
    assert!(bits(&model) == bits(&again));
}

#[test]
fn paper_trains_once_on_all_samples_and_says_so() {
    let data = line_data(100, 3);
    let mlp = json!({"recipe": "paper", "hidden": [30, 30], "steps": 1500});
    let mut settings = line_settings(json!({"kind": "mlp", "mlp": mlp}));
    (settings["withhold"], settings["output"]["cut"]) = (json!(0.0), json!(0.0));
    let (model, report) = fitted(&data, settings);
    assert!(!report.held_out);
    assert!(report.validation.rl2e < report.validation.mean_rl2e / 3.0);
    // Raw coefficients in, raw coefficients out: 6 and 16.
    let layers = 6 * 30 + 30 + 30 * 30 + 30 + 30 * 16 + 16;
    assert_eq!(model.summary().map.parameters, layers);
}

#[test]
fn samples_with_points_of_their_own() {
    let data = scattered_data(120, 4);
    let basis = json!({"family": "polynomial", "kind": "legendre", "functions": 15});
    for recipe in ["fast", "paper"] {
        let mlp =
            json!({"recipe": recipe, "hidden": [30, 30], "steps": 1200, "batch": 30, "rate": 3e-3});
        let settings = json!({
            "input": {"basis": basis, "transform": "none"},
            "output": {"basis": basis},
            "map": {"kind": "mlp", "mlp": mlp},
        });
        let (model, _) = fitted(&data, settings);
        let report = model.evaluate(&data).unwrap();
        assert!(
            report.rl2e < report.mean_rl2e / 3.0,
            "{recipe}: {} against {}",
            report.rl2e,
            report.mean_rl2e
        );
    }
}

#[test]
fn a_second_stage_with_a_loss_that_weighs_points() {
    let data = plane_data(80, 5);
    let basis = json!({"family": "polynomial", "kind": "legendre", "functions": 15});
    let band = json!({"kind": "weighted", "delta": 0.3});
    let mlp = json!({"hidden": [30], "steps": 300, "batch": 20, "stages": [{"loss": band, "steps": 100, "rate": 1e-3}]});
    let settings = json!({
        "input": {"basis": basis, "transform": "none"},
        "output": {"basis": basis},
        "map": {"kind": "mlp", "mlp": mlp},
    });
    let (_, report) = fitted(&data, settings.clone());
    assert_eq!(report.network.unwrap().fitted.unwrap().steps, 400);

    // Points that differ from sample to sample have no common band.
    let refused = fit(&scattered_data(60, 6), &config(settings), &Silent);
    let message = refused.unwrap_err().to_string();
    assert!(message.contains("all samples share"), "{message}");
}

#[test]
fn auto_spends_nothing_where_nothing_may_be_spent() {
    let data = line_data(80, 7);
    let candidates = |map: Value| -> Vec<String> {
        let (_, report) = fitted(&data, line_settings(map));
        report.candidates.into_iter().map(|c| c.name).collect()
    };
    let without = candidates(json!({"kind": "auto", "budget": 0}));
    assert_eq!(without, ["linear", "kernel"]);
    let with = candidates(json!({"kind": "auto", "budget": 20_000}));
    assert_eq!(with, ["linear", "kernel", "network"]);
}

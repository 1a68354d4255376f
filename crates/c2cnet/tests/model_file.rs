//! A model is the same bits after saving and loading, and on any number of threads.

mod toy;

use c2cnet::C2CNet;
use c2cnet::data::{Bounds, Dataset, Field, Fields, Points};
use faer::Mat;
use proptest::prelude::*;
use serde_json::{Value, json};
use toy::{fitted, line_data, plane_data, scattered_data};

/// Every bit of the coordinates, and of every output at points that no fit saw.
fn bits(model: &C2CNet, data: &Dataset) -> Vec<u64> {
    let coordinates = model.predict_coordinates(&data.inputs).unwrap();
    let mut all = vec![coordinates];
    for (k, (_, field)) in data.outputs.iter().enumerate() {
        let (bounds, dim) = (field.bounding_box(), field.dim());
        let points = Points::grid(&bounds, &vec![6; dim]);
        all.extend(
            model
                .predict_output(&data.outputs[k].0, &data.inputs, &points)
                .unwrap(),
        );
    }
    all.iter()
        .flat_map(|m| (0..m.ncols()).flat_map(move |k| m.col(k).iter().map(|v| v.to_bits())))
        .collect()
}

fn in_pool<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap()
        .install(work)
}

/// Saves and loads; predicts in pools of several sizes.
fn check(name: &str, data: &Dataset, settings: &Value) -> C2CNet {
    let (model, _) = fitted(data, settings.clone());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.c2c");
    model.save(&path).unwrap();
    let loaded = C2CNet::load(&path).unwrap();
    let expected = bits(&model, data);
    assert!(bits(&loaded, data) == expected, "{name}: after loading");
    assert_eq!(loaded.info(), model.info(), "{name}");
    assert_eq!(
        loaded.summary().map.description,
        model.summary().map.description,
        "{name}"
    );
    for threads in [1, 2, 4] {
        let again = in_pool(threads, || bits(&loaded, data));
        assert!(again == expected, "{name}: on {threads} threads");
    }
    let (a, b) = (
        model.evaluate(data).unwrap(),
        loaded.evaluate(data).unwrap(),
    );
    assert_eq!(a.relative, b.relative, "{name}");
    // A model that was loaded is saved as the same file, and its bytes are that file's.
    let bytes = std::fs::read(&path).unwrap();
    assert!(model.to_bytes().unwrap() == bytes, "{name}: as bytes");
    let unpacked = C2CNet::from_bytes(&bytes).unwrap();
    assert!(bits(&unpacked, data) == expected, "{name}: from bytes");
    let damaged = C2CNet::from_bytes(&bytes[..bytes.len() / 2]).unwrap_err();
    assert!(damaged.to_string().contains("damaged"), "{damaged}");
    loaded.save(&path).unwrap();
    assert!(
        std::fs::read(&path).unwrap() == bytes,
        "{name}: saved again"
    );
    let names: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(names.len(), 1, "{name}: {names:?}");
    loaded
}

fn both(basis: Value, map: &str) -> Value {
    json!({
        "input": {"basis": basis, "transform": "none"},
        "output": {"basis": basis},
        "map": {"kind": map, "kernel": {"passes": 1}},
    })
}

#[test]
fn every_family_with_both_maps() {
    let (line, plane) = (line_data(30, 1), plane_data(30, 2));
    for (name, data, basis) in [
        (
            "features on a line",
            &line,
            json!({"family": "random-features", "functions": 16, "partitions": [3], "activation": "gelu"}),
        ),
        (
            "features",
            &plane,
            json!({"family": "random-features", "functions": 24, "partitions": [2, 2], "coordinates": "global", "activation": "sin"}),
        ),
        (
            "elements on a line",
            &line,
            json!({"family": "finite-elements", "functions": 11}),
        ),
        (
            "elements",
            &plane,
            json!({"family": "finite-elements", "functions": 25, "degree": 2, "boundary": "keep"}),
        ),
        (
            "polygon elements",
            &plane,
            json!({"family": "finite-elements", "size": 0.4, "slack": 0.5,
                   "mesh": {"polygon": {"outer": [[0, 0], [1, 0], [1, 1], [0, 1]]}}}),
        ),
        (
            "radial",
            &plane,
            json!({"family": "radial", "functions": 20, "centres": "scattered"}),
        ),
        (
            "wendland",
            &plane,
            json!({"family": "radial", "functions": 25, "kernel": "wendland", "width": 0.6}),
        ),
        (
            "fourier",
            &line,
            json!({"family": "fourier", "kind": "cosine", "functions": 9}),
        ),
        (
            "polynomial",
            &plane,
            json!({"family": "polynomial", "total_degree": 4}),
        ),
        (
            "laplace",
            &plane,
            json!({"family": "laplace", "functions": 12}),
        ),
        (
            "laplace on a polygon",
            &plane,
            json!({"family": "laplace", "functions": 12, "elements": 200,
                   "mesh": {"polygon": {"outer": [[0, 0], [1, 0], [1, 1], [0, 1]]}}}),
        ),
        ("pca", &plane, json!({"family": "pca", "functions": 4})),
        ("point values", &plane, json!({"family": "point-values"})),
        (
            "point values on a line",
            &line,
            json!({"family": "point-values"}),
        ),
    ] {
        for map in ["linear", "kernel"] {
            let mut settings = both(basis.clone(), map);
            // As many functions as sensors leave nothing to choose a parameter by.
            settings["input"]["encoder"] = json!({"lambda": 1e-8});
            let model = check(&format!("{name}, {map}"), data, &settings);
            assert_eq!(model.summary().map.kind, map);
        }
    }
}

#[test]
fn every_transform_and_encoder() {
    let plane = plane_data(30, 3);
    for transform in ["none", "log", "standardise", "log-standardise", "auto"] {
        for encoder in [
            json!({"lambda": 1e-6}),
            json!({"method": "svd", "cut": 1e-3}),
            json!({"method": "svd"}),
        ] {
            let mut settings = both(json!({"family": "polynomial", "total_degree": 3}), "kernel");
            settings["input"]["transform"] = json!(transform);
            settings["input"]["encoder"] = encoder;
            check(transform, &plane, &settings);
        }
    }
}

/// Two inputs (one with two components) and two outputs (one with three).
fn many_fields() -> Dataset {
    let (line, plane) = (line_data(30, 4), plane_data(30, 5));
    let values = |data: &Dataset, output: bool| -> Mat<f64> {
        let field = if output { &data.outputs } else { &data.inputs };
        Mat::from_fn(field[0].1.points_of(0).len(), 30, |i, k| {
            field[0].1.values_of(k)[i]
        })
    };
    let (line_points, plane_points) = (
        line.inputs[0].1.points_of(0).clone(),
        plane.inputs[0].1.points_of(0).clone(),
    );
    let (f, g) = (values(&line, false), values(&plane, false));
    let (u, v) = (values(&line, true), values(&plane, true));
    let square = |m: &Mat<f64>| Mat::from_fn(m.nrows(), 30, |i, k| m[(i, k)] * m[(i, k)]);
    let field =
        |points: &Points, values: Vec<Mat<f64>>| Field::shared(points.clone(), values).unwrap();
    Dataset {
        inputs: Fields::from([
            ("f", field(&line_points, vec![f])),
            ("g", field(&plane_points, vec![square(&g), g])),
        ]),
        outputs: Fields::from([
            ("u", field(&line_points, vec![u])),
            ("v", field(&plane_points, vec![v.clone(), square(&v), v])),
        ]),
        n_train: Some(25),
        split: None,
        triangles: None,
        tetrahedra: None,
        meta: json!({"made": "by hand"}),
    }
}

fn many_settings(components: &str) -> Value {
    let features = json!({"family": "random-features", "functions": 20});
    json!({
        "inputs": {
            "f": {"basis": {"family": "fourier", "kind": "sine", "functions": 6}, "transform": "none"},
            "g": {"basis": features, "components": components, "transform": "log-standardise",
                  "encoder": {"lambda": 1e-8}},
        },
        "outputs": {"v": {"basis": features, "components": components, "cut": 1e-6}},
        "output": {"bases": [{"family": "polynomial", "functions": 6}]},
        "map": {"kind": "auto", "kernel": {"passes": 1}},
    })
}

#[test]
fn several_named_fields_with_separate_and_joint_components() {
    let data = many_fields();
    for components in ["separate", "joint"] {
        let model = check(components, &data, &many_settings(components));
        let is = model.summary();
        let inputs: Vec<&str> = is.inputs.iter().map(|input| input.name).collect();
        let outputs: Vec<&str> = is.outputs.iter().map(|output| output.name).collect();
        assert_eq!((inputs, outputs), (vec!["f", "g"], vec!["u", "v"]));
        // Fields are found by name, not by place.
        let mut turned = data.clone();
        turned.inputs.reverse();
        assert!(bits(&model, &data) == bits(&model, &turned));
    }
}

#[test]
fn points_of_each_sample() {
    let data = scattered_data(30, 6);
    for (name, basis) in toy::planar_families() {
        for map in ["linear", "kernel"] {
            let mut settings = both(basis.clone(), map);
            settings["input"]["encoder"] = json!({"lambda": 1e-6});
            settings["input"]["domain"] = json!([[0, 1], [0, 1]]);
            settings["output"]["domain"] = json!([[0, 1], [0, 1]]);
            check(name, &data, &settings);
            settings["input"]["encoder"] = json!({"method": "prior"});
            check(name, &data, &settings);
        }
    }
}

/// Layers over shared points, points of each sample, features in a frame, and standardised coefficients.
#[test]
fn layers_over_every_kind_of_points() {
    let features = json!({"family": "random-features", "functions": 24});
    let cosines = json!({"family": "fourier", "kind": "cosine", "functions": 9});
    for (name, data, basis, transform) in [
        ("on a line", line_data(30, 1), cosines, "standardise"),
        ("in the plane", plane_data(30, 2), features.clone(), "none"),
        ("scattered", scattered_data(30, 6), features, "none"),
    ] {
        let mut settings = both(basis, "layered");
        let dim = data.inputs[0].1.dim();
        let layers = json!({"functions": 12, "channels": 5, "layers": 2, "hidden": 8, "epochs": 2, "points": 50});
        settings["map"] = json!({"kind": "layered", "layered": layers});
        settings["input"]["transform"] = json!(transform);
        settings["input"]["encoder"] = json!({"lambda": 1e-8});
        settings["input"]["domain"] = json!(vec![[0, 1]; dim]);
        settings["output"]["domain"] = json!(vec![[0, 1]; dim]);
        let model = check(name, &data, &settings);
        assert_eq!(model.summary().map.kind, "layered");
    }
    let config = toy::config(json!({"map": {"kind": "layered"}}));
    let error = c2cnet::fit(&many_fields(), &config, &c2cnet::Silent).unwrap_err();
    assert!(error.to_string().contains("same domain"), "{error}");
}

#[test]
fn fits_are_the_same_bytes_on_any_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let features = json!({"family": "random-features", "functions": 150, "partitions": [3, 3]});
    // Large enough that products and factorisations are split.
    let large = {
        let points = Points::grid(&Bounds::unit(2), &[33, 33]);
        let a = toy::random(3, 400, 7);
        let value = |i: usize, k: usize| {
            let a: Vec<f64> = a.col(k).iter().copied().collect();
            toy::plane_value(&a, points.point(i))
        };
        let f = Mat::from_fn(points.len(), 400, |i, k| value(i, k).0);
        let u = Mat::from_fn(points.len(), 400, |i, k| value(i, k).1);
        Dataset::new(
            Field::shared(points.clone(), vec![f]).unwrap(),
            Field::shared(points, vec![u]).unwrap(),
        )
        .unwrap()
    };
    let mut own_points = both(json!({"family": "polynomial", "total_degree": 5}), "kernel");
    own_points["input"]["domain"] = json!([[0, 1], [0, 1]]);
    own_points["output"]["domain"] = json!([[0, 1], [0, 1]]);
    let mut large_settings = both(features, "auto");
    large_settings["map"]["kernel"] = json!({"passes": 1, "kernel": "gaussian", "exponent": 0.75});
    let mut pca = both(json!({"family": "pca", "functions": 4}), "auto");
    pca["input"]["transform"] = json!("auto");
    for (name, data, settings) in [
        ("large", large, large_settings),
        ("own points", scattered_data(40, 8), own_points),
        ("many fields", many_fields(), many_settings("joint")),
        ("pca", plane_data(40, 9), pca),
        (
            "elements",
            plane_data(40, 10),
            both(
                json!({"family": "finite-elements", "functions": 25}),
                "kernel",
            ),
        ),
    ] {
        let files: Vec<Vec<u8>> = [1, 2, 4]
            .map(|threads| {
                let path = folder.path().join(format!("{threads}.c2c"));
                in_pool(threads, || fitted(&data, settings.clone()).0.save(&path)).unwrap();
                std::fs::read(&path).unwrap()
            })
            .into();
        assert!(files[0] == files[1] && files[1] == files[2], "{name}");
    }
}

/// Point values to coefficients, coefficients to point values, and PCA-Net.
#[test]
fn compositions_with_point_values_and_principal_directions_work() {
    let data = plane_data(120, 11);
    let (train, test) = (
        data.select(&(0..90).collect::<Vec<_>>()),
        data.select(&(90..120).collect::<Vec<_>>()),
    );
    let polynomial = json!({"family": "polynomial", "total_degree": 6});
    let values = json!({"family": "point-values"});
    let pca = json!({"family": "pca", "functions": 8});
    for (name, input, output) in [
        ("C2C", &polynomial, &polynomial),
        ("P2C", &values, &polynomial),
        ("C2P", &polynomial, &values),
        ("P2P", &values, &values),
        ("PCA-Net", &pca, &pca),
    ] {
        // The logarithm of these inputs has three directions only.
        let transform = if name == "PCA-Net" { "none" } else { "log" };
        let settings = json!({
            "input": {"basis": input, "encoder": {"lambda": 1e-10}, "transform": transform},
            "output": {"basis": output},
            "map": {"kind": "kernel", "kernel": {"passes": 1}},
        });
        let (model, report) = fitted(&train, settings);
        let tested = model.evaluate(&test).unwrap();
        assert!(tested.rl2e < 0.02, "{name}: {tested:?}");
        assert!(tested.floor <= tested.rl2e, "{name}");
        assert!(tested.rl2e < tested.mean_rl2e / 10.0, "{name}");
        assert!(report.validation.rl2e < 0.02, "{name}");
        if name == "P2C" || name == "P2P" {
            // The encoder is the identity on the values it sees.
            let a = model.encode(&test.inputs).unwrap();
            let f = test.inputs[0].1.values_of(0);
            for (i, v) in f.iter().enumerate() {
                assert!((a[(i, 0)] - v.ln()).abs() < 1e-6, "{name}");
            }
        }
        if name == "C2P" || name == "P2P" {
            assert!(tested.floor < 1e-12, "{name}: {}", tested.floor);
        }
    }
}

/// A basis with one function per point has no floor: an error of rounding must do in its place.
#[test]
fn a_linear_operator_in_point_values_needs_no_other_map() {
    let x = Points::linspace(0.0, 1.0, 20);
    let wave = |i: usize, k: usize| (3.0 * x.point(i)[0] + 0.7 * k as f64).sin();
    let field = |size: f64| {
        let values = Mat::from_fn(20, 60, |i, k| size * wave(i, k));
        Field::shared(x.clone(), vec![values]).unwrap()
    };
    let data = Dataset::new(field(1.0), field(2.0)).unwrap();
    let values = json!({"family": "point-values"});
    let settings = json!({"input": {"basis": values}, "output": {"basis": values}});
    let (model, report) = fitted(&data, settings);
    assert_eq!(model.summary().map.kind, "linear");
    assert_eq!(report.candidates.len(), 1, "{:?}", report.candidates);
}

/// A small basis of any family, for an interval or the plane.
fn any_basis(dim: usize) -> impl Strategy<Value = Value> {
    let kind = prop::sample::select(vec!["periodic", "sine", "cosine"]);
    let activation = prop::sample::select(vec!["tanh", "sin", "cos", "gelu"]);
    let kernel = prop::sample::select(vec!["gaussian", "multiquadric", "wendland"]);
    prop_oneof![
        (kind, 4usize..12)
            .prop_map(|(kind, m)| json!({"family": "fourier", "kind": kind, "functions": m})),
        (1usize..5).prop_map(|p| json!({"family": "polynomial", "total_degree": p})),
        (activation, 4usize..20, any::<u64>()).prop_map(move |(activation, m, seed)| json!({
            "family": "random-features", "functions": m, "activation": activation, "seed": seed,
            "partitions": vec![2; dim],
        })),
        (kernel, 4usize..16)
            .prop_map(|(kernel, m)| json!({"family": "radial", "kernel": kernel, "functions": m})),
        (9usize..20, 1u8..3).prop_map(|(m, degree)| json!({
            "family": "finite-elements", "functions": m, "degree": degree,
        })),
        Just(json!({"family": "point-values"})),
        Just(json!({"family": "pca", "functions": 3})),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_model_is_the_same_bits_after_a_file(
        (dim, input, output) in (1usize..3).prop_flat_map(|d| (Just(d), any_basis(d), any_basis(d))),
        map in prop::sample::select(vec!["linear", "kernel", "mlp"]),
        transform in prop::sample::select(vec!["none", "standardise"]),
        seed in any::<u64>(),
    ) {
        let data = if dim == 1 { line_data(16, seed) } else { plane_data(16, seed) };
        let settings = json!({
            "seed": seed,
            "input": {"basis": input, "transform": transform, "encoder": {"lambda": 1e-6}},
            "output": {"basis": output},
            "map": {"kind": map, "kernel": {"passes": 0}, "mlp": {"hidden": [5], "steps": 3}},
        });
        let (model, _) = fitted(&data, settings);
        let file = model.to_bytes().unwrap();
        let loaded = C2CNet::from_bytes(&file).unwrap();
        prop_assert!(bits(&loaded, &data) == bits(&model, &data));
        prop_assert_eq!(loaded.info(), model.info());
        prop_assert!(loaded.to_bytes().unwrap() == file);
    }
}

/// Components that share a basis share it after loading, so that it is factored once.
#[test]
fn a_shared_basis_is_one_basis_after_loading() {
    let data = many_fields();
    let (model, _) = fitted(&data, many_settings("separate"));
    let loaded = C2CNet::from_bytes(&model.to_bytes().unwrap()).unwrap();
    for model in [&model, &loaded] {
        // Each basis is stored once.
        let archive = model.to_archive().unwrap();
        let stored = &archive.document["outputs"][1]["decoder"]["basis"];
        assert_eq!(stored["parts"].as_array().unwrap().len(), 3);
        assert_eq!(stored["bases"].as_array().unwrap().len(), 1);
    }
}

/// The arrays of a file have the shapes of what they are, for any reader of safetensors.
#[test]
fn arrays_are_named_by_their_place() {
    let data = line_data(20, 1);
    let (model, _) = fitted(
        &data,
        both(json!({"family": "polynomial", "functions": 6}), "linear"),
    );
    let bytes = model.to_bytes().unwrap();
    let file = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    let output = &model.summary().outputs[0];
    let (rank, points) = (output.rank, output.points.unwrap().len());
    for (name, shape) in [
        ("map.weights", vec![6, rank]),
        ("map.input_mean", vec![6]),
        ("outputs.0.decoder.transforms.0", vec![rank, 6]),
        ("outputs.0.decoder.points", vec![points, 1]),
    ] {
        assert_eq!(file.tensor(name).unwrap().shape(), shape, "{name}");
    }
}

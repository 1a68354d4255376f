//! Outputs on a mesh that moves with the inputs.

use c2cnet::data::{Dataset, Field, Points, Scattered};
use c2cnet::{C2CNet, FitConfig, Plan, Silent, fit, fit_plan, plan};
use faer::Mat;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const SAMPLES: usize = 60;
const TRAINING: usize = 45;

/// A plate whose hole is at the parameters: nodes on a 9 x 9 grid, moved so that its middle goes there.
fn nodes([a, b]: [f64; 2]) -> Points {
    let line = |i: usize| i as f64 / 8.0;
    let coords = (0..81).flat_map(|i| {
        let (x, y) = (line(i / 9), line(i % 9));
        let near = 16.0 * x * (1.0 - x) * y * (1.0 - y);
        [x + near * (a - 0.5), y + near * (b - 0.5)]
    });
    Points::new(2, coords.collect()).unwrap()
}

/// A bump around the hole.
fn value([a, b]: [f64; 2], p: &[f64]) -> f64 {
    (-4.0 * ((p[0] - a).powi(2) + (p[1] - b).powi(2))).exp() + a * p[1]
}

fn parameters() -> Vec<[f64; 2]> {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    (0..SAMPLES)
        .map(|_| [rng.random_range(0.4..0.6), rng.random_range(0.4..0.6)])
        .collect()
}

fn data(points: impl Fn(usize, [f64; 2]) -> Points) -> Dataset {
    let all = parameters();
    let input = Field::vector(Mat::from_fn(2, SAMPLES, |i, k| all[k][i]).as_ref()).unwrap();
    let sample = |k: usize| {
        let points = points(k, all[k]);
        let values = points.iter().map(|p| value(all[k], p)).collect();
        Scattered { points, values }
    };
    let output = Field::per_sample(1, (0..SAMPLES).map(sample).collect()).unwrap();
    let mut data = Dataset::new(input, output).unwrap();
    data.n_train = Some(TRAINING);
    data
}

fn test(data: &Dataset) -> Dataset {
    data.select(&data.test_indices())
}

#[test]
fn values_and_nodes_are_predicted_and_survive_the_model_file() {
    let data = data(|_, at| nodes(at));
    let (model, report) = fit(&data, &FitConfig::default(), &Silent).unwrap();
    assert!(
        report.choices[0]
            .to_string()
            .contains("move with the inputs")
    );
    let test = test(&data);
    let errors = model.evaluate(&test).unwrap();
    assert!(errors.rl2e < 2e-3, "{}", errors.rl2e);

    let again = C2CNet::from_bytes(&model.to_bytes().unwrap()).unwrap();
    let coordinates = again.predict_coordinates(&test.inputs).unwrap();
    let found = again.nodes(coordinates.as_ref(), "").unwrap().unwrap();
    let truth = &test.outputs[0].1;
    for (k, found) in found.iter().enumerate() {
        let pairs = found.coords().iter().zip(truth.points_of(k).coords());
        assert!(pairs.clone().all(|(a, b)| (a - b).abs() < 1e-6));
        // At a node and between nodes.
        let at = Points::new(2, vec![0.5, 0.5, 0.31, 0.77]).unwrap();
        let one = test.select(&[k]);
        let predicted = again.predict(&one.inputs, &at).unwrap();
        let parameters = one.inputs[0].1.values_of(0);
        for (i, p) in at.iter().enumerate() {
            let exact = value([parameters[0], parameters[1]], p);
            assert!((predicted[0][(i, 0)] - exact).abs() < 0.05);
        }
    }
    let outside = Points::new(2, vec![1.5, 0.5]).unwrap();
    assert!(again.predict(&test.inputs, &outside).is_err());
    assert!(
        model
            .decode(coordinates.as_ref().subrows(0, 1), "", truth.points_of(0))
            .is_err()
    );
}

#[test]
fn a_plan_moves_the_same_nodes() {
    let data = data(|_, at| nodes(at));
    let (plan, _) = plan(&data, &FitConfig::default(), &Silent).unwrap();
    assert!(plan.outputs[0].moving_nodes.is_some());
    let plan: Plan = serde_json::from_value(serde_json::to_value(&plan).unwrap()).unwrap();
    let (by_plan, _) = fit_plan(&data, &plan, &Silent).unwrap();
    let (by_fit, _) = fit(&data, &FitConfig::default(), &Silent).unwrap();
    let test = test(&data);
    let coordinates = |model: &C2CNet| model.predict_coordinates(&test.inputs).unwrap();
    assert!(coordinates(&by_plan) == coordinates(&by_fit));
    let mut shared = data.clone();
    let points = shared.outputs[0].1.points_of(0).clone();
    shared.outputs[0].1 = Field::shared(
        points,
        vec![Mat::from_fn(81, SAMPLES, |i, k| (i + k) as f64)],
    )
    .unwrap();
    let error = fit_plan(&shared, &plan, &Silent).unwrap_err().to_string();
    assert!(
        error.contains("moving_nodes needs points that differ"),
        "{error}"
    );
}

#[test]
fn points_that_the_inputs_do_not_tell_stay_where_they_are() {
    let drawn = |k: usize, _| {
        let mut rng = ChaCha8Rng::seed_from_u64(k as u64);
        let coords = (0..162).map(|_| rng.random::<f64>());
        Points::new(2, coords.collect()).unwrap()
    };
    // Nodes that move together, but not with the parameters.
    let unrelated = |k: usize, _| {
        let mut rng = ChaCha8Rng::seed_from_u64(k as u64);
        nodes([rng.random_range(0.4..0.6), rng.random_range(0.4..0.6)])
    };
    for (data, said) in [(data(drawn), false), (data(unrelated), true)] {
        let (model, report) = fit(&data, &FitConfig::default(), &Silent).unwrap();
        assert!(!model.summary().outputs[0].moving_nodes);
        let own = report
            .choices
            .iter()
            .any(|c| c.to_string().contains("nodes: each sample's own"));
        assert_eq!(own, said);
        let coordinates = model.predict_coordinates(&data.inputs).unwrap();
        assert!(model.nodes(coordinates.as_ref(), "").unwrap().is_none());
    }
}

#[test]
fn a_named_domain_leaves_points_where_they_are() {
    let data = data(|_, at| nodes(at));
    let config = serde_json::json!({"output": {"domain": [[0.0, 1.0], [0.0, 1.0]]}});
    let config: FitConfig = serde_json::from_value(config).unwrap();
    let (model, _) = fit(&data, &config, &Silent).unwrap();
    assert!(!model.summary().outputs[0].moving_nodes);
}

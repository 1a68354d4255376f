//! Hybrid spaces: the identities of the paper's Section 3, jumps, plans, and what judging may not see.

use crate::basis::{BasisSpec, BuildContext, FieldBasis};
use crate::data::{Dataset, Field, Observations, Points};
use crate::decode::{FieldDecoder, Withheld};
use crate::report::Choice;
use crate::{C2CNet, FitConfig, Silent, fit, fit_plan, plan};
use faer::Mat;
use serde_json::json;

/// Square waves of random place, width and height on a periodic grid, and the same a third of a period later.
fn square_waves(samples: usize) -> Dataset {
    let x = Points::new(1, (0..96).map(|i| i as f64 / 96.0).collect()).unwrap();
    let noise = |k: usize, j: usize| ((k * 7 + j * 13) as f64 * 0.754_877_666).fract();
    let wave = |x: f64, k: usize| {
        let from = (x - noise(k, 1)).rem_euclid(1.0);
        let step = if from < 0.1 + 0.3 * noise(k, 2) {
            1.0
        } else {
            0.0
        };
        (0.5 + noise(k, 3)) * step + 0.3 * (std::f64::consts::TAU * (x - noise(k, 4))).sin()
    };
    let field = |shift: f64| {
        let values = Mat::from_fn(96, samples, |i, k| wave(x.point(i)[0] - shift, k));
        Field::shared(x.clone(), vec![values]).unwrap()
    };
    let mut data = Dataset::new(field(0.0), field(1.0 / 3.0)).unwrap();
    data.n_train = Some(samples - 50);
    data
}

fn error_with(data: &Dataset, settings: serde_json::Value) -> f64 {
    let config: FitConfig = serde_json::from_value(settings).unwrap();
    let (model, _) = fit(data, &config, &Silent).unwrap();
    let test = data.select(&data.test_indices());
    model.evaluate(&test).unwrap().rl2e
}

/// $\|\Psi b - u\|^2 = \|\hat c - c\|^2 + \|u - QQ^\top u\|^2$, with the floor as the last term.
#[test]
fn the_loss_splits_into_coordinates_and_floor() {
    let data = square_waves(60);
    let Observations::Shared { points, values } = data.outputs[0].1.observations() else {
        unreachable!("a grid is shared")
    };
    for prescribed in [json!({"family": "fourier", "functions": 9}), json!(null)] {
        let spec = json!({"family": "hybrid", "prescribed": prescribed, "learned": 12});
        let spec: BasisSpec = serde_json::from_value(spec).unwrap();
        let domain = data.outputs[0].1.bounding_box();
        let context = BuildContext {
            points: Some(points),
            values: Some(values[0].as_ref()),
            ..BuildContext::on(&domain)
        };
        let basis = FieldBasis::separate(vec![spec.build(context).unwrap()]).unwrap();
        let (decoder, targets) =
            FieldDecoder::fit(basis, &data.outputs[0].1, &Withheld::none(), &[], 0).unwrap();
        let guess = Mat::from_fn(decoder.rank(), 60, |i, k| (i as f64 - 0.1 * k as f64).sin());
        let decoded = &decoder.decode(guess.as_ref(), points).unwrap()[0];
        for k in 0..60 {
            let column = |m: &Mat<f64>| m.col(k).iter().copied().collect::<Vec<f64>>();
            let square = |a: Vec<f64>, b: Vec<f64>| -> f64 {
                a.iter().zip(&b).map(|(a, b)| (a - b).powi(2)).sum()
            };
            let whole = square(column(decoded), column(&values[0]));
            let split = square(column(&guess), column(&targets.coordinates));
            let floor = targets.outside_squared[k];
            assert!((whole - split - floor).abs() < 1e-9 * whole, "{k}");
        }
    }
}

/// No basis follows a jump that moves; directions of the data do.
#[test]
fn jumps_are_learned_and_the_default_takes_what_is_better() {
    let data = square_waves(250);
    let space = |space: &str| json!({"input": {"space": space}, "output": {"space": space}, "map": {"budget": 0}});
    let [prescribed, hybrid, learned] =
        ["prescribed", "hybrid", "learned"].map(|s| error_with(&data, space(s)));
    let chosen = error_with(&data, json!({"map": {"budget": 0}}));
    assert!(learned < 1e-9 && hybrid < 1e-9, "{learned} and {hybrid}");
    assert!(prescribed > 1e-2, "{prescribed}");
    assert!(chosen < 1e-9, "{chosen}");
}

/// A plan does what the fit does that chose it, to the bit, and a model file keeps it.
#[test]
fn plans_and_files_keep_hybrid_spaces() {
    let data = square_waves(120);
    let config: FitConfig = serde_json::from_value(json!({"map": {"budget": 0}})).unwrap();
    let (planned, choices) = plan(&data, &config, &Silent).unwrap();
    assert!(!choices.is_empty());
    let text = serde_json::to_string(&planned).unwrap();
    assert!(text.contains("hybrid"), "{text}");
    let (model, _) = fit(&data, &config, &Silent).unwrap();
    let (again, _) = fit_plan(&data, &serde_json::from_str(&text).unwrap(), &Silent).unwrap();
    let loaded = C2CNet::from_bytes(&model.to_bytes().unwrap()).unwrap();
    let at = Points::linspace(0.0, 0.9, 77);
    let [a, b, c] = [&model, &again, &loaded].map(|m| m.predict(&data.inputs, &at).unwrap());
    assert!(a == b && a == c);
}

/// Held-out samples and withheld points judge what they had no part in: of data that are noise, nothing can be known.
#[test]
fn nothing_is_learned_from_what_judges() {
    let x = Points::linspace(0.0, 1.0, 40);
    let noise =
        |i: usize, k: usize, j: usize| ((i * 37 + k * 101 + j) as f64 * 12.9898).sin() * 43758.5453;
    let random = |j: usize| Mat::from_fn(40, 60, |i, k| noise(i, k, j).rem_euclid(1.0) - 0.5);
    let field = |j: usize| Field::shared(x.clone(), vec![random(j)]).unwrap();
    let data = Dataset::new(field(1), field(2)).unwrap();
    let settings = json!({"output": {"space": "learned"}, "input": {"space": "learned"}, "map": {"budget": 0}});
    let config: FitConfig = serde_json::from_value(settings).unwrap();
    let (model, report) = fit(&data, &config, &Silent).unwrap();
    assert!(report.validation.rl2e > 0.8, "{}", report.validation.rl2e);
    let withheld = report.validation.withheld_rl2e.unwrap();
    assert!(withheld > 0.8, "{withheld}");
    // The model remembers how many points judged, and what was chosen.
    let stored = &model.info()["validation"]["outputs"][0]["withheld_points"];
    assert_eq!(stored, 4);
    assert!(!report.choices.is_empty());
    assert_eq!(Choice::of(&model), report.choices);
}

/// Where samples are few, all of them judge in turn, by `fit` and by a plan alike.
#[test]
fn few_samples_judge_in_turn() {
    let data = square_waves(90);
    let config: FitConfig = serde_json::from_value(json!({"map": {"budget": 0}})).unwrap();
    let train = data.train_indices().len();
    let (_, report) = fit(&data, &config, &Silent).unwrap();
    assert_eq!(report.validation.n_samples, train);
    assert_eq!(report.validation.relative.len(), train);
    let (planned, _) = plan(&data, &config, &Silent).unwrap();
    let (_, again) = fit_plan(&data, &planned, &Silent).unwrap();
    let [a, b] = [&report, &again].map(|r| r.validation.rl2e);
    assert!((a - b).abs() <= 1e-9 * a.max(1e-12), "{a} {b}");
}

/// Any space of the input goes with any of the output.
#[test]
fn spaces_combine() {
    let data = square_waves(60);
    let spaces = ["prescribed", "hybrid", "learned"];
    for input in spaces {
        for output in spaces {
            let settings = json!({"input": {"space": input}, "output": {"space": output}, "map": {"kind": "linear"}});
            let error = error_with(&data, settings);
            assert!(error < 1.0, "{input}, {output}: {error}");
        }
    }
}

#[test]
fn settings_that_contradict_are_refused() {
    let settings =
        json!({"output": {"space": "learned", "basis": {"family": "fourier", "functions": 8}}});
    let config: FitConfig = serde_json::from_value(settings).unwrap();
    let message = fit(&square_waves(60), &config, &Silent)
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("space = \"learned\" has no prescribed"),
        "{message}"
    );
}

/// Advected sums of sines in single precision: a kernel could still lower the error on held-out samples, by fitting
/// the rounding.
#[test]
fn rounding_of_single_precision_does_not_decide_for_a_kernel() {
    let x = Points::new(1, (0..64).map(|i| i as f64 / 64.0).collect()).unwrap();
    let noise = |k: usize, j: usize| ((k * 31 + j * 17) as f64 * 0.754_877_666).fract() - 0.5;
    let value = |x: f64, k: usize| -> f64 {
        let wave = |j: usize| noise(k, j) * (std::f64::consts::TAU * j as f64 * x).sin();
        (1..8).map(wave).sum()
    };
    let field = |shift: f64| {
        let at = |i: usize, k: usize| f64::from(value(x.point(i)[0] - shift, k) as f32);
        Field::shared(x.clone(), vec![Mat::from_fn(64, 60, at)]).unwrap()
    };
    let mut data = Dataset::new(field(0.0), field(0.25)).unwrap();
    data.n_train = Some(50);
    let (model, report) = fit(&data, &FitConfig::default(), &Silent).unwrap();
    assert_eq!(
        model.summary().map.kind,
        "linear",
        "{:?}",
        report.candidates
    );
    let error = model.evaluate(&data.select(&data.test_indices())).unwrap();
    assert!(error.rl2e < 1e-6, "{:e}", error.rl2e);
}

/// Steps on 40 x 40 points of space and time: values of low rank in which many rows are equal.
#[test]
fn steps_on_a_grid_are_learned_to_rounding() {
    let x = Points::linspace(0.0, 1.0, 40);
    let grid = Points::grid(&crate::data::Bounds::unit(2), &[40, 40]);
    let noise = |k: usize, j: usize| ((k * 7 + j * 13) as f64 * 0.754_877_666).fract();
    let wave = |x: f64, k: usize| {
        let inside = (x - 0.3 * noise(k, 1)).rem_euclid(1.0) < 0.2 + 0.2 * noise(k, 2);
        if inside { 1.0 + noise(k, 3) } else { 0.0 }
    };
    let samples = 600;
    let f = Mat::from_fn(40, samples, |i, k| wave(x.point(i)[0], k));
    // In each column of the grid the wave has moved on by one point, so that as many values occur as there are inputs.
    let u = Mat::from_fn(1600, samples, |i, k| f[((i / 40 + 40 - i % 40) % 40, k)]);
    let mut data = Dataset::new(
        Field::shared(x, vec![f]).unwrap(),
        Field::shared(grid, vec![u]).unwrap(),
    )
    .unwrap();
    data.n_train = Some(500);
    let error = error_with(&data, json!({}));
    assert!(error < 1e-11, "{error}");
}

/// Each load measured several times with noise: what is held out is not what was fitted, and copies count once.
#[test]
fn repeated_samples_judge_nothing() {
    let data = square_waves(90);
    let again: Vec<usize> = (0..240).map(|k| k % 40).collect();
    let Observations::Shared { points, values } = data.outputs[0].1.observations() else {
        unreachable!("a grid is shared")
    };
    let noise = |i: usize, k: usize| 0.02 * ((i * 31 + k * 17) as f64 * 0.618_033_988).sin();
    let outputs = Mat::from_fn(96, 240, |i, k| values[0][(i, k % 40)] + noise(i, k));
    let outputs = Field::shared(points.clone(), vec![outputs]).unwrap();
    let repeated = Dataset::new(data.inputs[0].1.select(&again), outputs).unwrap();
    let (model, report) = fit(&repeated, &FitConfig::default(), &Silent).unwrap();
    let test = model.evaluate(&data.select(&data.test_indices())).unwrap();
    let (validation, test) = (report.validation.rl2e, test.rl2e);
    assert!(
        test < 3.0 * validation,
        "{test} on test samples, {validation} on held-out ones"
    );

    let copies = data.select(&again);
    let (_, report) = fit(&copies, &FitConfig::default(), &Silent).unwrap();
    assert_eq!(report.n_train, 40);
    assert!(
        report
            .warnings
            .iter()
            .any(|w| w.contains("each is used once"))
    );
}

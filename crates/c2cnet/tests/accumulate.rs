//! Models from sums over chunks: whatever the split, the order and the machine.

mod toy;

use c2cnet::accumulate::{Accumulator, Template};
use c2cnet::data::{Dataset, Field, Points};
use c2cnet::{C2CNet, Error, Silent, fit_plan, plan};
use faer::Mat;
use serde_json::{Value, json};
use toy::{config, line_data, scattered_data};

fn settings(map: &str) -> Value {
    let side = json!({"basis": {"family": "fourier", "kind": "sine", "functions": 8}});
    let output = json!({"basis": {"family": "polynomial", "total_degree": 12}});
    json!({"input": side, "output": output, "map": {"kind": map}})
}

/// A template of 100 samples, and 300 more.
fn begun(map: &str) -> (Template, Accumulator, Dataset) {
    let all = line_data(400, 1);
    let first = all.select(&(0..100).collect::<Vec<_>>());
    let more = all.select(&(100..400).collect::<Vec<_>>());
    let (template, sums) = Template::fit(&first, &config(settings(map)), 60, &Silent).unwrap();
    (template, sums, more)
}

fn chunks(template: &Template, data: &Dataset, width: usize) -> Vec<Accumulator> {
    let all: Vec<usize> = (0..data.samples()).collect();
    let chunks = all
        .chunks(width)
        .map(|c| template.accumulate(&data.select(c)));
    chunks.collect::<Result<_, _>>().unwrap()
}

fn in_order(first: &Accumulator, parts: &[Accumulator]) -> Accumulator {
    let mut all = first.clone();
    parts.iter().for_each(|part| all.merge(part).unwrap());
    all
}

fn as_tree(parts: &[Accumulator]) -> Accumulator {
    let (left, right) = match parts {
        [one] => return one.clone(),
        _ => parts.split_at(parts.len() / 2),
    };
    let mut all = as_tree(left);
    all.merge(&as_tree(right)).unwrap();
    all
}

fn model(template: &Template, sums: &Accumulator) -> C2CNet {
    template.finish(sums, &Silent).unwrap().0
}

fn predictions(model: &C2CNet) -> Mat<f64> {
    let test = line_data(30, 99);
    let points = Points::linspace(0.0, 1.0, 77);
    model.predict(&test.inputs, &points).unwrap().swap_remove(0)
}

#[test]
fn any_split_and_order_give_the_same_model_to_rounding() {
    // Small nuggets amplify the rounding of sums; it stays a thousand times below the error.
    for (map, tolerance) in [("linear", 1e-11), ("kernel", 1e-6)] {
        let (template, first, more) = begun(map);
        let whole = predictions(&model(
            &template,
            &in_order(&first, &chunks(&template, &more, 300)),
        ));
        for width in [1, 7, 64, 299] {
            let mut parts = chunks(&template, &more, width);
            parts.reverse();
            for sums in [in_order(&first, &parts), {
                parts.push(first.clone());
                as_tree(&parts)
            }] {
                assert_eq!(sums.samples(), 380);
                let off = (predictions(&model(&template, &sums)) - &whole).norm_max();
                assert!(off < tolerance, "{map}, chunks of {width}: {off}");
            }
        }
    }
}

#[test]
fn the_same_tree_gives_the_same_bits_on_any_threads_and_through_bytes() {
    let (template, first, more) = begun("kernel");
    let bytes = |template: &Template| {
        let mut parts = chunks(template, &more, 50);
        parts.insert(0, first.clone());
        model(template, &as_tree(&parts)).to_bytes().unwrap()
    };
    let expected = bytes(&template);
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        assert!(pool.unwrap().install(|| bytes(&template)) == expected);
    }
    // As on another machine: template and sums travel as bytes.
    let there = Template::from_bytes(&template.to_bytes().unwrap()).unwrap();
    let travelled: Vec<Accumulator> = std::iter::once(first.clone())
        .chain(chunks(&there, &more, 50))
        .map(|sums| Accumulator::from_bytes(&sums.to_bytes().unwrap()).unwrap())
        .collect();
    assert!(model(&there, &as_tree(&travelled)).to_bytes().unwrap() == expected);
}

#[test]
fn a_linear_map_of_sums_is_the_one_of_all_samples() {
    let all = line_data(400, 1);
    let settings = config(settings("linear"));
    let (plan, _) = plan(&all, &settings, &Silent).unwrap();
    let (template, first, more) = {
        let first = all.select(&(0..100).collect::<Vec<_>>());
        let more = all.select(&(100..400).collect::<Vec<_>>());
        let (template, sums) = Template::fit_plan(&first, &plan, 60, &Silent).unwrap();
        (template, sums, more)
    };
    let (summed, report) = template
        .finish(&in_order(&first, &chunks(&template, &more, 100)), &Silent)
        .unwrap();
    let (whole, _) = fit_plan(&all, &plan, &Silent).unwrap();
    let off = (predictions(&summed) - predictions(&whole)).norm_max();
    // Strengths are chosen on other samples, and both are small.
    assert!(off < 1e-3, "{off}");
    assert_eq!(
        (report.samples, report.judges, report.centres),
        (400, 20, 0)
    );
}

#[test]
fn more_samples_lower_the_error_of_a_kernel_map() {
    let (template, first, more) = begun("kernel");
    let (_, alone) = template.finish(&first, &Silent).unwrap();
    let sums = in_order(&first, &chunks(&template, &more, 100));
    let (model, report) = template.finish(&sums, &Silent).unwrap();
    assert_eq!((alone.samples, report.samples), (100, 400));
    assert_eq!(report.centres, 60);
    assert!(report.rl2e <= 1.02 * alone.rl2e, "{report:?}, {alone:?}");
    assert!(report.floor <= report.rl2e && report.rl2e < 0.5 * report.linear_rl2e);
    let test = model.evaluate(&line_data(50, 5)).unwrap();
    assert!(
        test.rl2e < 3.0 * report.rl2e,
        "{} {}",
        test.rl2e,
        report.rl2e
    );
    assert_eq!(model.info()["data"]["n_train"], 400);
    // A model like any other.
    let again = C2CNet::from_bytes(&model.to_bytes().unwrap()).unwrap();
    assert!(predictions(&again) == predictions(&model));
}

#[test]
fn a_network_of_chunks_is_the_one_of_their_samples() {
    let mut settings = settings("mlp");
    settings["map"]["mlp"] = json!({"hidden": [30, 30], "steps": 300});
    let settings = config(settings);
    let all = line_data(400, 1);
    let first = all.select(&(0..100).collect::<Vec<_>>());
    let more = all.select(&(100..400).collect::<Vec<_>>());
    let (template, first) = Template::fit(&first, &settings, 60, &Silent).unwrap();
    assert_eq!(template.kept_per_sample(), 8 + 13 + 2);
    let sums = in_order(&first, &chunks(&template, &more, 100));
    let (model, report) = template.finish(&sums, &Silent).unwrap();
    let bytes = model.to_bytes().unwrap();
    // Trained on all but the judges, better than the linear map, about as well on others.
    assert_eq!(
        (report.samples, report.judges, report.network_steps),
        (380, 20, 300)
    );
    assert!(report.rl2e < 0.7 * report.linear_rl2e, "{report:?}");
    let test = model.evaluate(&line_data(50, 5)).unwrap();
    assert!(test.rl2e < 2.0 * report.rl2e, "{} {report:?}", test.rl2e);
    assert_eq!(model.info()["plan"]["map"]["kind"], "mlp");
    // However the samples were cut, on any threads, through bytes.
    for (width, threads) in [(100, 1), (37, 3)] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let again = pool.unwrap().install(|| {
            let there = Template::from_bytes(&template.to_bytes().unwrap()).unwrap();
            let sums = in_order(&first, &chunks(&there, &more, width));
            let sums = Accumulator::from_bytes(&sums.to_bytes().unwrap()).unwrap();
            there.finish(&sums, &Silent).unwrap().0
        });
        let close = (predictions(&again) - predictions(&model)).norm_max();
        match width {
            100 => {
                let sources = |m: &C2CNet| m.info()["data"]["sources"].clone();
                assert_eq!(sources(&again), sources(&model));
                assert!(again.to_bytes().unwrap() == bytes);
            }
            // Encoding rounds differently.
            _ => assert!(close < 1e-2, "{close}"),
        }
    }
}

#[test]
fn points_of_each_samples_own_and_vectors_are_accumulated() {
    let data = scattered_data(90, 3);
    let side = json!({"basis": {"family": "polynomial", "total_degree": 3}});
    let settings = config(json!({"input": side, "output": side, "map": {"kind": "linear"}}));
    let half = |from: usize| data.select(&(from..from + 45).collect::<Vec<_>>());
    let (template, first) = Template::fit(&half(0), &settings, 10, &Silent).unwrap();
    let part = chunks(&template, &half(45), 45);
    let whole = model(&template, &in_order(&first, &part));
    let split = model(
        &template,
        &in_order(&first, &chunks(&template, &half(45), 8)),
    );
    let at = Points::new(2, vec![0.5, 0.5, 0.2, 0.7]).unwrap();
    let of = |m: &C2CNet| m.predict(&data.inputs, &at).unwrap().swap_remove(0);
    assert!((of(&whole) - of(&split)).norm_max() < 1e-10);

    let vectors = |shift: f64| {
        let a = toy::random(3, 60, 8);
        let input = Field::vector(a.as_ref()).unwrap();
        let q = Mat::from_fn(2, 60, |i, k| 5.0 + a[(i, k)] * a[(2, k)] + shift);
        Dataset::new(input, Field::vector(q.as_ref()).unwrap()).unwrap()
    };
    let kernel = config(json!({"map": {"kind": "kernel"}}));
    let (template, mut sums) = Template::fit(&vectors(0.0), &kernel, 30, &Silent).unwrap();
    sums.merge(&template.accumulate(&vectors(0.0)).unwrap())
        .unwrap();
    let (_, report) = template.finish(&sums, &Silent).unwrap();
    assert!(report.rl2e < 0.02, "{report:?}");
}

#[test]
fn what_does_not_belong_is_named() {
    let (template, mut sums, more) = begun("linear");
    let (other, foreign) = {
        let (template, sums) =
            Template::fit(&line_data(80, 2), &config(settings("linear")), 60, &Silent).unwrap();
        (template, sums)
    };
    let said = |error: Error| error.to_string();
    assert!(said(sums.merge(&foreign).unwrap_err()).contains("another template"));
    assert!(said(other.finish(&sums, &Silent).unwrap_err()).contains("another template"));

    let with = |points: Points, n: usize| {
        let values = Mat::from_fn(n, 10, |i, k| ((i + k) as f64).sin());
        let field = |p: &Points| Field::shared(p.clone(), vec![values.clone()]).unwrap();
        Dataset::new(field(&points), field(&points)).unwrap()
    };
    let fewer = with(Points::linspace(0.0, 1.0, 40), 40);
    let moved = with(Points::linspace(0.0, 1.1, 41), 41);
    assert!(said(template.accumulate(&fewer).unwrap_err()).contains("40 points"));
    assert!(said(template.accumulate(&moved).unwrap_err()).contains("point 1 is"));
    let no_outputs = Dataset {
        outputs: c2cnet::data::Fields::default(),
        ..more.clone()
    };
    let refused = said(template.accumulate(&no_outputs).unwrap_err());
    assert!(refused.contains("needs outputs"), "{refused}");

    for (map, words) in [
        (json!({"kind": "layered"}), "layers"),
        (
            json!({"kind": "mlp", "mlp": {"recipe": "paper"}}),
            "fields of all samples",
        ),
    ] {
        let mut settings = settings("linear");
        settings["map"] = map;
        let error = Template::fit(&more, &config(settings), 60, &Silent).unwrap_err();
        assert!(
            matches!(&error, Error::Config(m) if m.contains(words)),
            "{error}"
        );
    }
    let few = Template::fit(&line_data(9, 1), &config(settings("linear")), 60, &Silent);
    assert!(said(few.unwrap_err()).contains("9 first samples are too few"));

    let mut bytes = template.to_bytes().unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    assert!(Template::from_bytes(&bytes).is_err());
    assert!(Accumulator::from_bytes(&template.to_bytes().unwrap()).is_err());
}

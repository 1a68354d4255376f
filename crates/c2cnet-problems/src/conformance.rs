//! What every [`Problem`] must satisfy; call [`check`] from the test of a new one.

use crate::{Problem, Unwatched, Watcher};
use c2cnet::Error;
use c2cnet::data::{Dataset, Field};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Checks a problem with settings that make a few samples in little time.
///
/// Settings survive the way through text, an unknown one is refused by name, and the defaults are in
/// range. The data has as many values as points, all finite, training samples, and triangles of its
/// own points. The same seed gives the same bits on 1 and on 4 threads, and another seed other
/// samples. The watcher is notified of every sample and can stop the work.
///
/// # Panics
/// On the first property that does not hold.
pub fn check<P: Problem + Sync>(problem: &P) {
    check_settings(problem);
    let counted = Counted::default();
    let data = on_threads(1, || problem.generate(42, &counted)).expect("valid settings");
    check_data(&data);
    check_meta::<P>(&data, problem);
    let reported = counted.0.load(Ordering::Relaxed);
    assert_eq!(
        reported,
        data.samples(),
        "the watcher is notified of every sample"
    );

    let again = on_threads(4, || problem.samples(42, &Unwatched)).expect("valid settings");
    assert!(
        bits(&data) == bits(&again),
        "results differ bitwise on 4 threads"
    );
    let other = problem.samples(43, &Unwatched).expect("valid settings");
    assert!(bits(&data) != bits(&other), "another seed, the same data");

    let stopped = problem.samples(42, &Stop);
    assert!(
        matches!(stopped, Err(Error::Interrupted)),
        "it can be stopped"
    );
}

fn check_settings<P: Problem>(problem: &P) {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    assert!(
        !P::NAME.is_empty() && P::NAME.chars().all(plain),
        "a name to type"
    );
    assert!(
        !P::DESCRIPTION.is_empty() && !P::DESCRIPTION.contains('\n'),
        "one line"
    );

    let settings = value(problem);
    assert!(settings.is_object(), "settings have names");
    let text = settings.to_string();
    let parsed: P = serde_json::from_str(&text).expect("settings can be read back");
    assert_eq!(value(&parsed), settings, "settings survive as text");
    let none: P = serde_json::from_value(json!({})).expect("every setting has a default");
    assert_eq!(
        value(&none),
        value(&P::default()),
        "what is left out is the default"
    );
    let unknown = serde_json::from_value::<P>(json!({"no-such-setting": 1}));
    let message = unknown
        .err()
        .expect("unknown settings are refused")
        .to_string();
    assert!(
        message.contains("no-such-setting"),
        "{message:?} does not name it"
    );

    for count in [1_000_000_000_000u64, u64::MAX] {
        let mut many = settings.clone();
        many["n_train"] = json!(count);
        let many: P = serde_json::from_value(many).expect("a number of samples is a setting");
        let refused = many.samples(0, &Stop);
        assert!(
            matches!(refused, Err(Error::Config(_))),
            "more samples than memory holds are refused"
        );
    }

    // With few samples, because all of them would take much memory.
    let mut defaults = value(&P::default());
    for (name, count) in [("n_train", 1), ("n_test", 0)] {
        if let Some(setting) = defaults.get_mut(name) {
            *setting = json!(count);
        }
    }
    let defaults: P = serde_json::from_value(defaults).expect("settings can be read back");
    let stopped = defaults.samples(0, &Stop);
    assert!(
        matches!(stopped, Err(Error::Interrupted)),
        "the defaults are out of range: {:?}",
        stopped.err()
    );
}

fn check_data(data: &Dataset) {
    data.check().expect("fields with as many samples");
    assert!(!data.outputs.is_empty(), "outputs to learn");
    assert!(!data.train_indices().is_empty(), "samples to train on");
    for (name, field) in data.inputs.iter().chain(&data.outputs) {
        for k in 0..field.samples() {
            let (points, values) = (field.points_of(k), field.values_of(k));
            let place = format!("field {name:?}, sample {k}");
            assert_eq!(points.dim(), field.dim(), "{place}: dimensions");
            assert_eq!(
                values.len(),
                points.len() * field.components(),
                "{place}: values"
            );
            let all = points.coords().iter().chain(&values);
            assert!(all.copied().all(f64::is_finite), "{place}: finite numbers");
        }
        assert!(varies(field), "field {name:?} is the same in all samples");
    }
    if let Some(triangles) = &data.triangles {
        let points = data.outputs[0]
            .1
            .shared_points()
            .expect("shared output points");
        assert_eq!(points.dim(), 2, "triangles lie in the plane");
        let corners = triangles.iter().flatten();
        assert!(
            corners.copied().all(|i| i < points.len()),
            "corners are points"
        );
    }
}

fn check_meta<P: Problem>(data: &Dataset, problem: &P) {
    assert_eq!(data.meta["problem"], P::NAME);
    assert_eq!(data.meta["settings"], value(problem));
    assert_eq!(data.meta["seed"], 42);
}

fn varies(field: &Field) -> bool {
    let first = field.values_of(0);
    field.samples() == 1 || (1..field.samples()).any(|k| field.values_of(k) != first)
}

fn value<P: Problem>(problem: &P) -> Value {
    serde_json::to_value(problem).expect("settings can be written as JSON")
}

/// Every number of the data, to the bit.
fn bits(data: &Dataset) -> Vec<u64> {
    let fields = data.inputs.iter().chain(&data.outputs);
    fields
        .flat_map(|(_, field)| (0..field.samples()).map(move |k| (field, k)))
        .flat_map(|(field, k)| {
            let coords = field.points_of(k).coords().iter().copied();
            coords.chain(field.values_of(k)).collect::<Vec<f64>>()
        })
        .map(f64::to_bits)
        .collect()
}

fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.expect("threads").install(work)
}

/// Keeps the largest number of samples reported to it.
#[derive(Default)]
struct Counted(AtomicUsize);

impl Watcher for Counted {
    fn done(&self, done: usize, total: usize) {
        assert!(done <= total, "{done} of {total} samples");
        self.0.fetch_max(done, Ordering::Relaxed);
    }
}

/// Asks to stop from the start.
struct Stop;

impl Watcher for Stop {
    fn done(&self, _: usize, _: usize) {}

    fn cancelled(&self) -> bool {
        true
    }
}

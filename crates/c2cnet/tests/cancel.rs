//! A fit that is asked to stop stops at the next candidate, wherever it is.

mod toy;

use c2cnet::Error;
use c2cnet::observe::Event;
use c2cnet::{Observer, fit};
use serde_json::json;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use toy::{config, line_data};

/// Asks to stop from the question number `at` on; notes the questions and what was done at each.
#[derive(Default)]
struct StopsAt {
    at: usize,
    asked: AtomicUsize,
    step: Mutex<String>,
    steps: Mutex<Vec<String>>,
}

impl Observer for StopsAt {
    fn event(&self, event: &Event<'_>) {
        if let Event::Begin(step) = event {
            *self.step.lock().unwrap() = step.to_string();
        }
    }

    fn cancelled(&self) -> bool {
        let step = self.step.lock().unwrap().clone();
        self.steps.lock().unwrap().push(step);
        self.asked.fetch_add(1, Relaxed) >= self.at
    }
}

/// What a search has side by side, at most: families in each of five folds of so few samples. Each asks once, and stops.
const SIDE_BY_SIDE: usize = 8 * 5;

#[test]
fn nothing_goes_on_after_the_first_yes() {
    let data = line_data(60, 1);
    let settings = config(json!({"search": {"max_functions": 16}, "map": {"budget": 0}}));
    let stop_at = |at: usize| {
        let observer = StopsAt {
            at,
            ..StopsAt::default()
        };
        (fit(&data, &settings, &observer), observer)
    };
    let (whole, never) = stop_at(usize::MAX);
    whole.unwrap();
    let steps = never.steps.into_inner().unwrap();
    // Every kernel that is tried is a chance to stop.
    for step in ["trying", "choosing the coefficient map"] {
        let questions = steps.iter().filter(|s| s.starts_with(step)).count();
        assert!(questions > 10, "{questions} questions while {step}");
    }
    let questions = steps.len();
    for at in (0..questions)
        .step_by(questions / 12)
        .chain([questions - 1])
    {
        let (stopped, observer) = stop_at(at);
        let error = stopped
            .err()
            .unwrap_or_else(|| panic!("{} did not stop", steps[at]));
        assert!(
            matches!(error, Error::Interrupted),
            "{}: {error}",
            steps[at]
        );
        let asked = observer.asked.into_inner() - at;
        assert!(asked <= SIDE_BY_SIDE, "{}: {asked}", steps[at]);
    }
}

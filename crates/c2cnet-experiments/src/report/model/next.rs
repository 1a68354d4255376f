//! What to try next, by what the errors say.

use super::{Subject, median};
use crate::report::format;
use maud::{Markup, html};

/// What the errors say about each other.
pub(super) fn advice(subject: &Subject<'_>) -> Markup {
    let report = subject.report;
    let data = subject.data_file.display();
    let median = median(&report.relative);
    // Vectors have no points to be drawn at.
    let mut outputs = subject.model.outputs().iter();
    let drawn = outputs.any(|(_, decoder)| !decoder.basis().is_vector());
    let look = |sample: Option<usize>| match (drawn, sample) {
        (false, _) => format!("c2cnet inspect {data}"),
        (true, None) => format!("c2cnet plot {data}"),
        (true, Some(sample)) => format!("c2cnet plot {data} --sample {sample}"),
    };
    let validation = subject.model.info()["validation"]["rl2e"].as_f64();
    let withheld = report
        .withheld_rl2e
        .or(subject.model.info()["validation"]["withheld_rl2e"].as_f64());
    let mut advice: Vec<(String, Option<String>)> = Vec::new();
    if report.rl2e > 0.5 * report.mean_rl2e {
        advice.push((
            "The model is hardly better than the training mean: the inputs may not tell what the outputs depend on, or \
             there are too few samples. Look at a sample, and check that inputs and outputs belong together."
                .into(),
            Some(look(None)),
        ));
    }
    if report.rl2e < 2.0 * report.floor {
        advice.push((
            "The error is close to the floor: what limits it is the output space and not the map. Look for a larger or a \
             different basis."
                .into(),
            Some(format!("c2cnet diagnose {data}")),
        ));
    } else if report.rl2e < 1.2 * report.linear_rl2e && report.linear_rl2e < 1.2 * report.rl2e {
        advice.push((
            "A linear map is as good: the operator is linear, or there are too few samples to see that it is not.".into(),
            None,
        ));
    }
    if withheld.is_some_and(|w| w > 3.0 * report.rl2e) {
        advice.push((
            "Between the data’s points errors are larger than at them. More output points help, or a basis of smoother \
             functions; predict at the data’s points where that is enough."
                .into(),
            Some(format!("c2cnet diagnose {data}")),
        ));
    }
    if validation.is_some_and(|v| report.rl2e > 2.0 * v) && subject.on != "train" {
        advice.push((
            "These samples have larger errors than the held-out training samples had: they may come from another \
             distribution. Add samples like them to the training set."
                .into(),
            None,
        ));
    }
    if report.worst_rl2e > 10.0 * median {
        advice.push((
            format!(
                "The worst sample is {} times worse than the median: look at it. A sample that is damaged spoils the fit, \
                 one that is rare needs others like it.",
                format::number(report.worst_rl2e / median)
            ),
            Some(look(Some(subject.worst_sample()))),
        ));
    }
    advice.push((
        "More samples, where they can be had, help most maps. What bases can and cannot do for this data, and what other \
         methods reach:"
            .into(),
        Some(format!("c2cnet diagnose {data}\nc2cnet compare {data}")),
    ));
    html! {
        @for (words, command) in &advice {
            p { (words) }
            @if let Some(command) = command { pre { code { (command) } } }
        }
    }
}

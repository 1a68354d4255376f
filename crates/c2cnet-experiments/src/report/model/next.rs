//! What to try next, by what the errors say.

use super::{Subject, median};
use crate::report::format;
use maud::{Markup, html};
use serde_json::Value;

/// Errors between the points and at them, of the same samples: of these, or of those held out at the fit.
fn between_and_at(between: Option<f64>, at: f64, at_fit: &Value) -> Option<(f64, f64)> {
    match between {
        Some(between) => Some((between, at)),
        None => at_fit["withheld_rl2e"]
            .as_f64()
            .zip(at_fit["rl2e"].as_f64()),
    }
}

/// The error of the model on a typical sample that was held out at the fit: the median, because one strange sample is not
/// another distribution.
fn typical_at_fit(info: &Value) -> Option<f64> {
    if info["held_out"].as_bool() == Some(false) {
        return None;
    }
    let at_fit = &info["validation"];
    let all: Option<Vec<f64>> = serde_json::from_value(at_fit["relative"].clone()).ok();
    match all {
        Some(all) if !all.is_empty() => Some(median(&all)),
        _ => at_fit["rl2e"].as_f64(),
    }
}

/// What the errors say about each other.
pub(super) fn advice(subject: &Subject<'_>) -> Markup {
    let report = subject.report;
    let data = format!("{}{}", subject.data_file.display(), subject.reading);
    let median = median(&report.relative);
    // Vectors have no points to be drawn at.
    let outputs = subject.model.summary().outputs;
    let drawn = outputs.iter().any(|output| !output.vector);
    let look = |sample: Option<usize>| match (drawn, sample) {
        (false, _) => format!("c2cnet inspect {data}"),
        (true, None) => format!("c2cnet plot {data}"),
        (true, Some(sample)) => format!("c2cnet plot {data} --sample {sample}"),
    };
    let info = subject.model.info();
    let at_fit = &info["validation"];
    let withheld = between_and_at(report.withheld_rl2e, report.rl2e, at_fit);
    let typical = typical_at_fit(info).filter(|_| subject.on != "train");
    let mut advice: Vec<(String, Option<String>)> = Vec::new();
    if report.rl2e > 0.5 * report.mean_rl2e {
        advice.push((
            "The model is hardly better than the training mean: the inputs may lack what the outputs depend on, or \
             there are too few samples. Look at a sample, and check that inputs and outputs belong together."
                .into(),
            Some(look(None)),
        ));
    }
    if report.rl2e < 2.0 * report.floor {
        advice.push((
            "The error is close to the floor: the output space limits it, not the map. Look for a larger or a \
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
    if withheld.is_some_and(|(between, at)| between > 3.0 * at) {
        advice.push((
            "Errors are larger between the data’s points than at them. More output points help, or a basis of smoother \
             functions; predict at the data’s points where that is enough."
                .into(),
            Some(format!("c2cnet diagnose {data}")),
        ));
    }
    if typical.is_some_and(|typical| median > 2.0 * typical) {
        advice.push((
            "Most of these samples have larger errors than the held-out training samples had: they may come from another \
             distribution. Add samples like them to the training set."
                .into(),
            None,
        ));
    }
    if report.worst_rl2e > 10.0 * median {
        advice.push((
            format!(
                "The worst sample is {} times worse than the median: look at it. Damaged samples spoil a fit; rare ones need \
                 more like them.",
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn errors_are_compared_on_the_same_samples_and_by_medians() {
        let at_fit = json!({ "withheld_rl2e": 0.1, "rl2e": 0.09, "relative": [0.01, 0.02, 5.0] });
        assert_eq!(between_and_at(None, 1e-3, &at_fit), Some((0.1, 0.09)));
        assert_eq!(between_and_at(Some(0.2), 1e-3, &at_fit), Some((0.2, 1e-3)));
        assert_eq!(between_and_at(None, 1e-3, &Value::Null), None);
        let info = json!({ "validation": at_fit });
        assert_eq!(typical_at_fit(&info), Some(0.02));
        let trained = json!({ "held_out": false, "validation": at_fit });
        assert_eq!(typical_at_fit(&trained), None);
    }
}

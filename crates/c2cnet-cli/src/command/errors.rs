//! Errors of a model, human-readable and machine-readable.

use c2cnet::C2CNet;
use c2cnet::internal::component_names;
use c2cnet::operator::EvaluationReport;
use c2cnet_experiments::explanations;
use c2cnet_experiments::terminal::{Table, error, number};
use serde_json::{Map, Value, json};

/// The table of errors, with a few words on each; `worst_sample` is the number that a reader knows, if samples have
/// one.
pub fn table(report: &EvaluationReport, model: &C2CNet, worst_sample: Option<usize>) -> Table {
    let mut table = Table::default();
    let mut row = |name: &str, value: f64, words: &str| {
        // Sizes in ordinary notation; errors are compared by their exponents.
        let value = if name == "rms" {
            number(value)
        } else {
            error(value)
        };
        table.row([name, &value, words]);
    };
    let percent = 100.0 * report.rl2e;
    // Two significant digits.
    let decimals = (1.0 - percent.log10().floor()).clamp(2.0, 6.0) as usize;
    let mut words = explanations::RL2E.to_string();
    // Larger ones are easier to read as factors.
    if (1e-4..=100.0).contains(&percent) {
        words += &format!(": {percent:.decimals$} %");
    }
    row("RL2E", report.rl2e, &words);
    row("floor", report.floor, explanations::FLOOR);
    row("linear map", report.linear_rl2e, explanations::LINEAR);
    row("training mean", report.mean_rl2e, explanations::MEAN);
    if let Some(v) = report.withheld_rl2e {
        row("withheld", v, "RL2E at output points that no fit used");
    }
    if let Some(v) = report.withheld_floor {
        row("withheld floor", v, "the smallest error at those points");
    }
    let mut worst = explanations::WORST.to_string();
    if let Some(number) = worst_sample {
        worst += &format!(", number {number} (from 0)");
    }
    row("worst", report.worst_rl2e, &worst);
    row("MSE", report.mse, "mean squared error");
    row("rms", report.rms, "root mean square of the outputs");
    for (name, errors) in parts(report, model) {
        let words = format!(
            "RL2E of this one alone; the training mean has {}, its rms is {}",
            number(errors.mean_rl2e),
            number(errors.rms)
        );
        row(&name, errors.rl2e, &words);
    }
    for quantity in &report.quantities {
        let name = match quantity.output.as_str() {
            "" => "q",
            name => name,
        };
        let words = format!(
            "root mean square error of this quantity, whose standard deviation is {}",
            number(quantity.deviation)
        );
        row(
            &format!("{name}[{}]", quantity.column),
            quantity.rmse,
            &words,
        );
    }
    table
}

/// One row of the table for an output or a component.
struct PartErrors {
    rl2e: f64,
    mean_rl2e: f64,
    rms: f64,
}

/// Outputs and components by name, where there are several. Entries of vectors have rows of their own.
fn parts(report: &EvaluationReport, model: &C2CNet) -> Vec<(String, PartErrors)> {
    let mut parts = Vec::new();
    for output in &report.outputs {
        let name = match output.output.as_str() {
            "" => "u",
            name => name,
        };
        if report.outputs.len() > 1 {
            let errors = PartErrors {
                rl2e: output.rl2e,
                mean_rl2e: output.mean_rl2e,
                rms: output.rms,
            };
            parts.push((name.to_string(), errors));
        }
        let is_vector = report.quantities.iter().any(|q| q.output == output.output);
        if output.components.len() > 1 && !is_vector {
            let outputs = model.summary().outputs;
            let mut outputs = outputs.iter();
            let complex = outputs.any(|o| o.name == output.output && o.complex);
            let numbered = |name: &str, c: usize| format!("{name}[{c}]");
            let names = component_names(name, output.components.len(), complex, numbered);
            parts.extend(
                names
                    .into_iter()
                    .zip(&output.components)
                    .map(|(name, component)| {
                        let errors = PartErrors {
                            rl2e: component.rl2e,
                            mean_rl2e: component.mean_rl2e,
                            rms: component.rms,
                        };
                        (name, errors)
                    }),
            );
        }
    }
    parts
}

/// The errors as one object; `on` says on which samples.
pub fn object(report: &EvaluationReport, on: &str, seconds: f64) -> Map<String, Value> {
    let mut object = Map::new();
    object.insert("on".into(), json!(on));
    if let Ok(Value::Object(errors)) = serde_json::to_value(report) {
        object.extend(errors);
    }
    // One number per sample belongs in a file (`evaluate --per-sample`).
    object.remove("relative");
    object.insert("seconds".into(), json!(seconds));
    object
}

//! What is said of a point outside the domain of a model.

use super::short;

/// A box: the ends of each side.
type Sides = [[f64; 2]];

/// Where the point is, and the setting with which a model would know it. `field` is `input`, `output` or one with a
/// name, such as `outputs.NAME`; empty if it is not known.
pub(super) fn words(
    index: usize,
    point: &[f64],
    (domain, wider): (&Sides, &Sides),
    field: &str,
) -> String {
    let of = match field.get(..1) {
        Some("i") => " of x",
        Some("o") => " of y",
        _ => "",
    };
    let (place, bounds) = (list(point, short), shown(domain));
    if contains(domain, point) {
        return format!(
            "point {index}{of} = {place} lies outside the mesh within {bounds}, where the model was fitted; give points \
             inside it"
        );
    }
    // What is only a little outside would look as if it were not.
    let rounded = point.iter().map(|v| short(*v).parse().unwrap_or(*v));
    let (place, bounds) = match contains(domain, &rounded.collect::<Vec<_>>()) {
        true => (list(point, |v| v.to_string()), exact(domain)),
        false => (place, bounds),
    };
    let wider: Vec<String> = domain
        .iter()
        .zip(wider)
        .map(|(inner, outer)| {
            format!(
                "[{}, {}]",
                beyond(inner[0], outer[0]),
                beyond(inner[1], outer[1])
            )
        })
        .collect();
    let wider = wider.join(", ");
    let before = if field.is_empty() { "" } else { "." };
    format!(
        "point {index}{of} = {place} lies outside {bounds}, where the model was fitted; to extrapolate, fit with --set \
         '{field}{before}domain=[{wider}]', in Python settings={}",
        python(field, &format!("[{wider}]"))
    )
}

fn contains(domain: &Sides, point: &[f64]) -> bool {
    let mut sides = domain.iter().zip(point);
    sides.all(|(side, v)| (side[0]..=side[1]).contains(v))
}

fn list(values: &[f64], text: impl Fn(f64) -> String) -> String {
    let values: Vec<String> = values.iter().map(|v| text(*v)).collect();
    format!("[{}]", values.join(", "))
}

fn shown(domain: &Sides) -> String {
    let sides: Vec<String> = domain.iter().map(|side| list(side, short)).collect();
    sides.join(" x ")
}

fn exact(domain: &Sides) -> String {
    let sides: Vec<String> = domain
        .iter()
        .map(|side| list(side, |v| v.to_string()))
        .collect();
    sides.join(" x ")
}

/// A number at `outer` or a little farther away from `inner`, with few digits.
fn beyond(inner: f64, outer: f64) -> String {
    let distance = outer - inner;
    if distance == 0.0 || !distance.is_finite() {
        return inner.to_string();
    }
    let step = 10f64.powf(distance.abs().log10().floor() - 1.0);
    let steps = outer / step;
    let steps = match distance {
        // Up to rounding.
        _ if (steps - steps.round()).abs() <= 1e-9 * steps.abs() => steps.round(),
        d if d > 0.0 => steps.ceil(),
        _ => steps.floor(),
    };
    let digits = (-step.log10().round()).clamp(0.0, 12.0) as usize;
    let text = format!("{:.digits$}", steps * step);
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').into(),
        false => text,
    }
}

/// The setting as a dictionary.
fn python(field: &str, domain: &str) -> String {
    let keys = field.split('.').filter(|key| !key.is_empty());
    let inner = format!("{{\"domain\": {domain}}}");
    keys.rev()
        .fold(inner, |inner, key| format!("{{\"{key}\": {inner}}}"))
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn a_point_outside_comes_with_the_setting_that_admits_it() {
        let said = words(1, &[1.7], (&[[0.0, 1.0]], &[[0.0, 1.996]]), "output");
        assert_eq!(
            said,
            "point 1 of y = [1.7] lies outside [0, 1], where the model was fitted; to extrapolate, fit with --set \
             'output.domain=[[0, 2]]', in Python settings={\"output\": {\"domain\": [[0, 2]]}}"
        );
        let (domain, wider) = ([[0.0, 1.0], [-2.0, 2.0]], [[-0.0314, 1.0], [-2.0, 2.0]]);
        let said = words(0, &[-0.031_416, 0.5], (&domain, &wider), "inputs.k");
        assert!(
            said.starts_with("point 0 of x = [-0.03142, 0.5] lies outside [0, 1] x [-2, 2]"),
            "{said}"
        );
        assert!(
            said.contains("'inputs.k.domain=[[-0.032, 1], [-2, 2]]'"),
            "{said}"
        );
        assert!(said.contains("{\"inputs\": {\"k\": {\"domain\""), "{said}");
        // Digits enough to tell them apart.
        let said = words(0, &[1.000_001], (&[[0.0, 1.0]], &[[0.0, 1.000_001]]), "");
        assert!(said.contains("[1.000001] lies outside [0, 1]"), "{said}");
        let said = words(0, &[0.5], (&[[0.0, 1.0]], &[[0.0, 1.0]]), "output");
        assert!(said.contains("outside the mesh within [0, 1]"), "{said}");
    }
}

//! Numbers as a reader wants them, alike on the page and in RESULTS.md.

use crate::run_files::Kind;
use maud::{Markup, html};
use serde_json::Value;

/// Shown where there is no number.
pub const MISSING: &str = "–";

/// Three digits and a power of ten.
pub fn error(v: f64) -> String {
    if v == 0.0 {
        "0".into()
    } else {
        format!("{v:.2e}")
    }
}

/// Three digits, without a power of ten where that is short.
pub fn number(v: f64) -> String {
    let size = v.abs();
    if v == 0.0 {
        "0".into()
    } else if (1e-3..1e6).contains(&size) {
        let digits = (2 - size.log10().floor() as i32).clamp(0, 5) as usize;
        format!("{v:.digits$}")
    } else {
        format!("{v:.2e}")
    }
}

/// How many times: two digits, as more mean nothing.
pub fn times(v: f64) -> String {
    let size = v.abs();
    if !(0.1..1e6).contains(&size) {
        return format!("{v:.1e}");
    }
    let power = size.log10().floor() as i32 - 1;
    match power {
        ..0 => format!("{v:.1}"),
        _ => integer((v / 10f64.powi(power)).round() * 10f64.powi(power)),
    }
}

/// With separated thousands.
pub fn integer(v: f64) -> String {
    let digits = format!("{:.0}", v.abs());
    let mut text = String::new();
    for (k, digit) in digits.chars().enumerate() {
        if k > 0 && (digits.len() - k).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if v < 0.0 && text != "0" {
        text.insert(0, '−');
    }
    text
}

/// Seconds, then minutes, then hours.
pub fn seconds(v: f64) -> String {
    if v < 1e-3 {
        "< 1 ms".into()
    } else if v < 0.1 {
        format!("{} ms", number(1e3 * v))
    } else if v < 9.95 {
        format!("{v:.1} s")
    } else if v < 999.5 {
        format!("{v:.0} s")
    } else if v < 7200.0 {
        format!("{:.0} min", v / 60.0)
    } else {
        format!("{:.1} h", v / 3600.0)
    }
}

/// A text whose subscripts `_{...}` and superscripts `^{...}` are set as such.
pub fn subscripts(text: &str) -> Markup {
    let parts = |text: &str| -> Option<(String, char, String, String)> {
        let start = text.find("_{").into_iter().chain(text.find("^{")).min()?;
        let (before, rest) = text.split_at(start);
        let (inside, after) = rest[2..].split_once('}')?;
        let sign = if rest.starts_with('_') { '_' } else { '^' };
        Some((before.into(), sign, inside.into(), after.into()))
    };
    let mut rest = text.to_string();
    let mut done: Vec<Markup> = Vec::new();
    while let Some((before, sign, inside, after)) = parts(&rest) {
        done.push(match sign {
            '_' => html! { (before) sub { (inside) } },
            _ => html! { (before) sup { (inside) } },
        });
        rest = after;
    }
    html! { @for part in &done { (part) } (rest) }
}

/// A value of a column of this kind.
pub fn of_kind(kind: Kind, v: f64) -> String {
    match kind {
        Kind::Error => error(v),
        Kind::Integer => integer(v),
        Kind::Seconds => seconds(v),
        Kind::Text | Kind::Number => number(v),
    }
}

/// A number, or a sign that it is missing.
pub fn maybe(v: Option<f64>, write: fn(f64) -> String) -> String {
    v.filter(|v| v.is_finite())
        .map_or_else(|| MISSING.into(), write)
}

/// A cell of a table, with its spread where there is one.
pub fn cell(kind: Kind, value: Option<&Value>, spread: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => MISSING.into(),
        Some(Value::Number(v)) => {
            let v = v.as_f64().unwrap_or(f64::NAN);
            match spread.and_then(Value::as_f64) {
                Some(s) => format!("{} ± {}", of_kind(kind, v), of_kind(kind, s)),
                None => of_kind(kind, v),
            }
        }
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

/// Text whose parts between backticks are code.
pub fn code(text: &str) -> Markup {
    html! {
        @for (k, part) in text.split('`').enumerate() {
            @if k % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_of_every_kind() {
        assert_eq!(error(0.00123456), "1.23e-3");
        assert_eq!(number(12.345), "12.3");
        assert_eq!(number(1234.5), "1234");
        assert_eq!(integer(1234567.0), "1,234,567");
        assert_eq!(integer(999.0), "999");
        let gains = [79_018.0, 123.0, 12.34, 5.32, 0.75].map(times);
        assert_eq!(gains, ["79,000", "120", "12", "5.3", "0.8"]);
        let times = [0.012, 5.32, 88.0, 197.0, 5280.0].map(seconds);
        assert_eq!(times, ["12.0 ms", "5.3 s", "88 s", "197 s", "88 min"]);
    }

    #[test]
    fn subscripts_are_set_and_markup_is_not() {
        let set = |text: &str| subscripts(text).into_string();
        assert_eq!(
            set("1/σ_{cut}, 10^{-3}"),
            "1/σ<sub>cut</sub>, 10<sup>-3</sup>"
        );
        assert_eq!(set("a_b <i> _{open"), "a_b &lt;i&gt; _{open");
    }

    #[test]
    fn cells_have_spreads_and_dashes() {
        let cell = |v: Value, s: Value| cell(Kind::Error, Some(&v), Some(&s));
        assert_eq!(cell(json!(1e-3), json!(1e-4)), "1.00e-3 ± 1.00e-4");
        assert_eq!(cell(json!(1e-3), json!(null)), "1.00e-3");
        assert_eq!(cell(json!(null), json!(1.0)), MISSING);
        assert_eq!(cell(json!("P1"), json!(null)), "P1");
    }
}

//! Functions of a basis, in words.

use crate::basis::BasisSpec;

/// The plural: "cosine Fourier functions".
pub(super) fn functions_of(spec: &BasisSpec) -> String {
    spec.nouns()
}

/// With their number: "12 Legendre polynomials".
pub(super) fn with_count(functions: usize, spec: &BasisSpec) -> String {
    match functions {
        1 => format!("1 {}", spec.noun()),
        _ => format!("{functions} {}", spec.nouns()),
    }
}

/// A verb for that many of them: "1 loses", "12 lose".
pub(super) fn verb(functions: usize, verb: &str) -> String {
    let s = if functions == 1 { "s" } else { "" };
    format!("{verb}{s}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn functions_have_names_and_numbers() {
        let spec =
            |value: serde_json::Value| -> BasisSpec { serde_json::from_value(value).unwrap() };
        let mixed = json!({"family": "mixed", "kinds": ["sine", "legendre"], "modes": [6, 5]});
        for (value, n, words) in [
            (
                json!({"family": "polynomial", "functions": 12}),
                12,
                "12 Legendre polynomials",
            ),
            (
                json!({"family": "fourier", "kind": "cosine", "functions": 24}),
                24,
                "24 cosine Fourier functions",
            ),
            (
                json!({"family": "random-features", "functions": 24}),
                24,
                "24 random features",
            ),
            (mixed, 30, "30 products of functions"),
            (json!({"family": "point-values"}), 1, "1 point value"),
        ] {
            assert_eq!(with_count(n, &spec(value)), words);
        }
        let mixed = json!({"family": "mixed", "kinds": ["sine"], "modes": [6]});
        assert_eq!(functions_of(&spec(mixed)), "products of functions");
        assert_eq!(
            (verb(1, "lose"), verb(2, "lose")),
            ("loses".into(), "lose".into())
        );
    }
}

//! Bases as they are typed.

use c2cnet::basis::BasisSpec;

/// A basis as the flag `--output-basis` takes it.
pub fn inline(spec: &BasisSpec) -> String {
    match toml::Value::try_from(spec) {
        Ok(toml::Value::Table(table)) => {
            let entries: Vec<String> = table.iter().map(|(k, v)| format!("{k}={v}")).collect();
            entries.join(", ")
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use c2cnet::basis::{FourierKind, FourierSpec, PolynomialSpec};

    #[test]
    fn bases_can_be_typed() {
        for spec in [
            BasisSpec::from(FourierSpec::new(FourierKind::Sine, 64)),
            BasisSpec::from(PolynomialSpec {
                degrees: Some(vec![3, 4]),
                ..Default::default()
            }),
        ] {
            let text = format!("basis = {{ {} }}", inline(&spec));
            let mut table: toml::Table = text.parse().unwrap();
            let again: BasisSpec = table.remove("basis").unwrap().try_into().unwrap();
            assert_eq!(again, spec);
        }
    }
}

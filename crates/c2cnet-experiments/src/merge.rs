//! Settings over settings.

use toml::{Table, Value};

/// Puts `over` over `base`, table by table. A basis of another family, or an encoder by another method,
/// replaces the one before: none of its settings may remain.
pub fn merge(base: &mut Table, over: Table) {
    let other = |key: &str| over.get(key).is_some_and(|v| base.get(key) != Some(v));
    if other("family") || other("method") {
        base.clear();
    }
    for (one, each) in [("basis", "bases"), ("bases", "basis")] {
        if over.contains_key(one) {
            base.remove(each);
        }
    }
    for (key, value) in over {
        match (base.get_mut(&key), value) {
            (Some(Value::Table(below)), Value::Table(above)) => merge(below, above),
            (_, value) => {
                base.insert(key, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(base: &str, over: &str) -> Table {
        let mut table: Table = base.parse().unwrap();
        merge(&mut table, over.parse().unwrap());
        table
    }

    #[test]
    fn tables_are_merged_and_values_replaced() {
        let both = merged("a = 1\nb = { c = 2, d = 3 }", "b.d = 4");
        assert_eq!(both, "a = 1\nb = { c = 2, d = 4 }".parse().unwrap());
    }

    #[test]
    fn nothing_remains_of_another_family() {
        let both = merged(
            "basis = { family = 'fourier', functions = 9 }",
            "basis.family = 'pca'",
        );
        assert_eq!(both, "basis = { family = 'pca' }".parse().unwrap());
        let both = merged("bases = [1]", "basis.family = 'pca'");
        assert!(!both.contains_key("bases"));
    }
}

//! Names of experiments and of their parts, which become names of files.

use c2cnet::{Error, Result};
use serde::{Deserialize, Deserializer};

/// Characters of a name.
const MOST: usize = 100;

/// Refuses what could lead out of a folder or is hard to type: `..`, `/`, blanks.
///
/// # Errors
/// Says what a name is.
pub fn check(name: &str) -> Result<()> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let begins = name.starts_with(|c: char| c.is_ascii_alphanumeric());
    match begins && name.len() <= MOST && name.chars().all(plain) {
        true => Ok(()),
        false => Err(Error::Config(format!(
            "{name:?} is not a valid name; a name begins with a letter or digit and has at most {MOST} letters, digits, -, _ and ."
        ))),
    }
}

/// Reads a name from a file.
pub fn read<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<String, D::Error> {
    let name = String::deserialize(deserializer)?;
    check(&name).map_err(serde::de::Error::custom)?;
    Ok(name)
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn an_id_that_led_out_of_the_folder_is_no_name() {
        for name in ["a", "darcy-2d", "L_1.5", "7"] {
            check(name).unwrap();
        }
        let long = "a".repeat(101);
        for name in [
            "../../x", "..", ".", ".hidden", "", "a/b", "/etc/x", "a\\b", "a b", "C:x", "a\0", "é",
            &long,
        ] {
            assert!(check(name).is_err(), "{name:?}");
        }
    }
}

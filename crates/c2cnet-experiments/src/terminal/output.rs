//! Lines, tables and JSON on standard output.

use c2cnet::data::Bounds;
use c2cnet::{Error, Result};
use std::io::{self, ErrorKind, Write};

/// A text without control sequences, which a terminal would obey: names, keys and notes come from untrusted files. Control
/// characters and those that change the writing direction are shown as in JSON; line ends and tabs stay.
pub fn shown(text: impl std::fmt::Display) -> String {
    let mut shown = String::new();
    for c in text.to_string().chars() {
        let turns = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        match turns || (c.is_control() && c != '\n' && c != '\t') {
            true => shown += &format!("\\u{:04x}", u32::from(c)),
            false => shown.push(c),
        }
    }
    shown
}

/// Prints one line or several. A closed pipe (`| head`) is not a failure.
pub fn print_line(text: impl std::fmt::Display) -> Result<()> {
    match writeln!(io::stdout().lock(), "{}", shown(text)) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => Err(Error::io("standard output", e)),
        _ => Ok(()),
    }
}

/// Prints one JSON object on one line.
pub fn print_json(value: &serde_json::Value) -> Result<()> {
    print_line(value)
}

/// Rows of cells under each other; columns whose cells all look like numbers are right-aligned.
#[derive(Debug, Default)]
pub struct Table {
    rows: Vec<Vec<String>>,
    header: bool,
}

impl Table {
    /// A table with a header row.
    pub fn with_header<S: Into<String>>(cells: impl IntoIterator<Item = S>) -> Self {
        let mut table = Table::default();
        table.row(cells);
        table.header = true;
        table
    }

    /// Adds a row.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    fn is_numeric(&self, column: usize) -> bool {
        let cells = self.rows.iter().skip(usize::from(self.header));
        let mut cells = cells.filter_map(|row| row.get(column));
        cells.all(|c| c.is_empty() || c == "-" || c.parse::<f64>().is_ok())
    }
}

impl std::fmt::Display for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |c: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(c));
            cells.map(|s| s.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let right: Vec<bool> = (0..columns).map(|c| self.is_numeric(c)).collect();
        for (r, row) in self.rows.iter().enumerate() {
            let mut line = String::from(" ");
            for (c, cell) in row.iter().enumerate() {
                let blanks = " ".repeat(widths[c] - cell.chars().count());
                let (before, after) = if right[c] {
                    (blanks.as_str(), "")
                } else {
                    ("", blanks.as_str())
                };
                line += &format!(" {before}{cell}{after} ");
            }
            let end = if r + 1 < self.rows.len() { "\n" } else { "" };
            write!(f, "{}{end}", line.trim_end())?;
        }
        Ok(())
    }
}

/// A number with four figures.
pub fn number(v: f64) -> String {
    let size = v.abs();
    if v == 0.0 {
        "0".into()
    } else if (1e-3..1e5).contains(&size) {
        let digits = (3 - size.log10().floor() as i32).clamp(0, 6) as usize;
        format!("{v:.digits$}")
    } else {
        format!("{v:.3e}")
    }
}

/// An error or a ratio: below one as a power of ten, because errors are compared by their exponents.
pub fn error(v: f64) -> String {
    if v == 0.0 || (1.0..1e5).contains(&v.abs()) {
        number(v)
    } else {
        format!("{v:.3e}")
    }
}

/// Sides of a box that are shown.
const MOST_SIDES: usize = 4;

/// A box, with four figures.
pub fn bounds(bounds: &Bounds) -> String {
    let side = |k: usize| {
        // Ends unrounded, where that is short.
        let end = |v: f64| {
            Some(v.to_string())
                .filter(|t| t.len() < 7)
                .unwrap_or(number(v))
        };
        format!("[{}, {}]", end(bounds.lower(k)), end(bounds.upper(k)))
    };
    let shown = bounds.dim().min(MOST_SIDES);
    let mut sides: Vec<String> = (0..shown).map(side).collect();
    if bounds.dim() > MOST_SIDES {
        sides.push("...".into());
    }
    sides.join(" x ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_figures() {
        let shown: Vec<String> = [0.0, 1.0, -12.3456, 0.00123456, 98765.4, 1e-4]
            .iter()
            .map(|v| number(*v))
            .collect();
        assert_eq!(
            shown,
            ["0", "1.000", "-12.35", "0.001235", "98765", "1.000e-4"]
        );
    }

    #[test]
    fn control_characters_from_files_are_not_obeyed() {
        assert_eq!(shown("a\tb\n"), "a\tb\n");
        assert_eq!(
            shown("\u{1b}[2J\r\u{9b}\u{202e}é"),
            "\\u001b[2J\\u000d\\u009b\\u202eé"
        );
        let json = serde_json::json!({ "name": "\u{1b}\u{9b}" });
        let read: serde_json::Value = serde_json::from_str(&shown(&json)).unwrap();
        assert_eq!(read, json);
    }

    #[test]
    fn columns_line_up() {
        let mut table = Table::with_header(["name", "size"]);
        table.row(["a", "5"]);
        table.row(["long", "125"]);
        assert_eq!(
            table.to_string(),
            "  name  size\n  a        5\n  long   125"
        );
    }
}

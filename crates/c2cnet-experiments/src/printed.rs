//! What the paper prints in its two summaries, and the cells that runs reproduce.

use c2cnet::{Error, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The contents of `printed.toml`.
static PAPER: LazyLock<Paper> = LazyLock::new(|| {
    toml::from_str(include_str!("printed.toml")).expect("the file is part of the program")
});

/// How far two roundings of one figure may be apart: the paper prints 6.2443e-1 and 6.26e-1 for one fit.
const ROUNDING: f64 = 5e-3;

/// The tables `tab:rl2e-summary` and `tab:performance-summary`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paper {
    pub rl2e: Vec<Errors>,
    pub performance: Vec<Performance>,
    places: BTreeMap<String, String>,
}

/// A row of `tab:rl2e-summary`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Errors {
    pub problem: String,
    pub title: String,
    scalar_fem: Option<f64>,
    scalar_rfm: Option<f64>,
    vector_fem: Option<f64>,
    vector_rfm: Option<f64>,
}

impl Errors {
    /// What is printed in a column, if anything is.
    pub fn printed(&self, column: Column) -> Option<f64> {
        match column {
            Column::ScalarFem => self.scalar_fem,
            Column::ScalarRfm => self.scalar_rfm,
            Column::VectorFem => self.vector_fem,
            Column::VectorRfm => self.vector_rfm,
        }
    }
}

/// A problem's part of `tab:performance-summary`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Performance {
    pub problem: String,
    pub rows: Vec<Method>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Method {
    pub method: String,
    pub seconds: f64,
    pub parameters: f64,
    pub rl2e: f64,
    pub mse: f64,
    pub architecture: String,
}

impl Paper {
    pub fn get() -> &'static Paper {
        &PAPER
    }

    /// What a reader of the paper finds under one of its labels, such as `Table 14`.
    pub fn place(&self, label: &str) -> Option<&str> {
        self.places.get(label).map(String::as_str)
    }
}

/// A table of the paper whose cells runs can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Table {
    #[serde(rename = "tab:rl2e-summary")]
    Rl2eSummary,
}

/// A column of `tab:rl2e-summary`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Column {
    ScalarFem,
    ScalarRfm,
    VectorFem,
    VectorRfm,
}

impl Column {
    pub const ALL: [Column; 4] = [
        Column::ScalarFem,
        Column::ScalarRfm,
        Column::VectorFem,
        Column::VectorRfm,
    ];

    pub fn title(self) -> &'static str {
        match self {
            Column::ScalarFem => "scalar FEM-C2C",
            Column::ScalarRfm => "scalar RFM-C2C",
            Column::VectorFem => "vector FEM-C2C",
            Column::VectorRfm => "vector RFM-C2C",
        }
    }
}

/// A cell of the paper, as the run that reproduces it names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    pub table: Table,
    /// The problem.
    pub row: String,
    pub column: Column,
}

impl Cell {
    /// What the paper prints in it.
    ///
    /// # Errors
    /// If there is no such row, or nothing is printed in the column.
    pub fn printed(&self) -> Result<f64> {
        let Table::Rl2eSummary = self.table;
        let rows = &Paper::get().rl2e;
        let Some(row) = rows.iter().find(|row| row.problem == self.row) else {
            let known: Vec<&str> = rows.iter().map(|row| row.problem.as_str()).collect();
            return Err(Error::Config(format!(
                "the paper's summary of errors has no row {:?}; it has {}",
                self.row,
                known.join(", ")
            )));
        };
        row.printed(self.column).ok_or_else(|| {
            Error::Config(format!(
                "the paper prints nothing for {} in the column {}",
                self.row,
                self.column.title()
            ))
        })
    }

    /// Checks that `rl2e`, which the run says to be the paper's, is what is printed in the cell, up to rounding.
    ///
    /// # Errors
    /// As [`Cell::printed`], or if it is not.
    pub fn check(&self, rl2e: Option<f64>) -> Result<()> {
        let printed = self.printed()?;
        match rl2e {
            Some(rl2e) if (rl2e / printed - 1.0).abs() < ROUNDING => Ok(()),
            _ => Err(Error::Config(format!(
                "the paper prints {printed:e} for {} in the column {}, and `paper.rl2e` is {}",
                self.row,
                self.column.title(),
                rl2e.map_or("not given".into(), |v| format!("{v:e}"))
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summaries_agree_with_each_other() {
        let paper = Paper::get();
        assert_eq!(paper.rl2e.len(), 9);
        for part in &paper.performance {
            let row = paper.rl2e.iter().find(|r| r.problem == part.problem);
            let row = row.unwrap_or_else(|| panic!("{} is in one table only", part.problem));
            let best = [row.scalar_fem, row.scalar_rfm, row.vector_rfm];
            let best = best.into_iter().flatten().fold(f64::MAX, f64::min);
            let listed = part.rows.iter().filter(|m| m.method.contains("C2C"));
            let listed = listed.map(|m| m.rl2e).fold(f64::MAX, f64::min);
            // The paper itself rounds 4.13e-3 and 4.11e-3 differently.
            assert!((listed / best - 1.0).abs() < 0.01, "{}", part.problem);
        }
    }

    #[test]
    fn cells_are_looked_up_and_compared() {
        let cell = |row: &str, column: &str| -> Cell {
            let table = "tab:rl2e-summary";
            let text = format!("table = '{table}'\nrow = '{row}'\ncolumn = '{column}'");
            toml::from_str(&text).unwrap()
        };
        let darcy = cell("darcy2d", "scalar_rfm");
        assert_eq!(darcy.printed().unwrap(), 6.47e-3);
        darcy.check(Some(6.48e-3)).unwrap();
        for (cell, rl2e, part) in [
            (&darcy, Some(6.92e-3), "6.92e-3"),
            (&darcy, None, "not given"),
            (&cell("darcy3d", "scalar_rfm"), None, "no row \"darcy3d\""),
            (&cell("kdv-burgers", "vector_fem"), None, "prints nothing"),
        ] {
            let error = cell.check(rl2e).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
        let other: std::result::Result<Cell, _> =
            toml::from_str("table = 'tab:x'\nrow = 'darcy2d'\ncolumn = 'scalar_rfm'");
        assert!(other.unwrap_err().to_string().contains("tab:rl2e-summary"));
    }
}

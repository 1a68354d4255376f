//! What the paper prints in its two summaries.

use serde::Deserialize;

/// The tables `tab:rl2e-summary` and `tab:performance-summary`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paper {
    pub rl2e: Vec<Errors>,
    pub performance: Vec<Performance>,
}

/// A row of `tab:rl2e-summary`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Errors {
    pub problem: String,
    pub title: String,
    pub scalar_fem: Option<f64>,
    pub scalar_rfm: Option<f64>,
    pub vector_fem: Option<f64>,
    pub vector_rfm: Option<f64>,
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
    pub fn read() -> Paper {
        toml::from_str(include_str!("assets/paper.toml")).expect("the file is part of the program")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summaries_agree_with_each_other() {
        let paper = Paper::read();
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
}

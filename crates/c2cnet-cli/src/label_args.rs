//! Names in pictures, as they are typed.

use c2cnet::Result;
use c2cnet::data::Dataset;
use c2cnet_experiments::labels::Labels;

/// The flag of every command that draws.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct LabelArgs {
    /// Names of axes (x, y) or components (f, u), with units: "y=x [m],t [s]", "u=temperature [K]"; may be given several
    /// times [default: `labels` of the data's meta].
    #[arg(long = "label", value_name = "KEY=NAME,...")]
    labels: Vec<String>,
}

impl LabelArgs {
    /// What the data says about its names, and what was typed.
    ///
    /// # Errors
    /// If one of them does not have this form.
    pub fn of(&self, data: &Dataset) -> Result<Labels> {
        let mut labels = Labels::of(data);
        for given in &self.labels {
            labels.parse(given, data)?;
        }
        Ok(labels)
    }
}

//! Errors of a model, as data.

use serde::{Deserialize, Serialize};

/// Errors of a model on samples with known outputs, with the figures to compare them with.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct EvaluationReport {
    /// Mean relative L2 error at all output points. Components scaled to one size count by that size.
    pub rl2e: f64,
    /// Mean squared error.
    pub mse: f64,
    /// The smallest RL2E that the output space allows at these points.
    pub floor: f64,
    /// The relative error of the worst sample.
    pub worst_rl2e: f64,
    /// Which sample that is.
    pub worst_sample: usize,
    /// RL2E of predicting the training mean.
    pub mean_rl2e: f64,
    /// RL2E of the linear map.
    pub linear_rl2e: f64,
    /// RL2E at withheld output points, which the fit did not see; `None` if there is none.
    pub withheld_rl2e: Option<f64>,
    /// The error at withheld points of the best approximation at the fitted points: the decoder's error
    /// between its points with perfect coordinates.
    pub withheld_floor: Option<f64>,
    /// Root mean square of the outputs: how large they are.
    pub rms: f64,
    /// How many samples.
    pub n_samples: usize,
    /// Errors of each output and of its components.
    #[serde(default)]
    pub outputs: Vec<OutputErrors>,
    /// Errors of quantities, output after output; empty if all outputs are functions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quantities: Vec<QuantityError>,
    /// The relative error of each sample.
    pub relative: Vec<f64>,
}

impl EvaluationReport {
    /// Converts mean squares that are relative to the components' sizes to the units of the data: one entry per output.
    pub(crate) fn in_units<'a>(&mut self, sizes: impl Iterator<Item = &'a [f64]>) {
        let sizes: Vec<&[f64]> = sizes.collect();
        if sizes.iter().all(|s| s.is_empty()) {
            return;
        }
        for (output, sizes) in self.outputs.iter_mut().zip(&sizes) {
            for (component, size) in output.components.iter_mut().zip(*sizes) {
                component.rms *= size;
                component.mse *= size * size;
            }
            output.rms = output.mean_of(|c| c.rms * c.rms).sqrt();
        }
        for quantity in &mut self.quantities {
            let place = self
                .outputs
                .iter()
                .position(|o| o.output == quantity.output);
            if let Some(size) = place.and_then(|i| sizes[i].get(quantity.column)) {
                quantity.rmse *= size;
                quantity.deviation *= size;
            }
        }
        let values: usize = self.outputs.iter().map(|o| o.values).sum();
        let mean = |of: &dyn Fn(&OutputErrors) -> f64| {
            let sum = self.outputs.iter().map(|o| o.values as f64 * of(o));
            sum.sum::<f64>() / values as f64
        };
        self.mse = mean(&|o| o.mean_of(|c| c.mse));
        self.rms = mean(&|o| o.rms * o.rms).sqrt();
    }

    /// Replaces what is known about withheld points by what `other` knows.
    pub(crate) fn take_withheld(&mut self, other: EvaluationReport) {
        self.withheld_rl2e = other.withheld_rl2e;
        self.withheld_floor = other.withheld_floor;
        for (output, other) in self.outputs.iter_mut().zip(other.outputs) {
            output.withheld_points = other.withheld_points;
        }
    }

    /// Adds the errors of other samples, which are numbered after these. (Errors of vectors without points are relative
    /// to a mean over all samples; here it stays the mean over each set.)
    pub fn pool(&mut self, other: EvaluationReport) {
        let (n, m) = (self.n_samples as f64, other.n_samples as f64);
        let mean = |a: f64, b: f64| (n * a + m * b) / (n + m);
        let square = |a: f64, b: f64| mean(a * a, b * b).sqrt();
        let both = |a: Option<f64>, b: Option<f64>| a.zip(b).map(|(a, b)| mean(a, b));
        self.rl2e = mean(self.rl2e, other.rl2e);
        self.mse = mean(self.mse, other.mse);
        self.floor = mean(self.floor, other.floor);
        self.mean_rl2e = mean(self.mean_rl2e, other.mean_rl2e);
        self.linear_rl2e = mean(self.linear_rl2e, other.linear_rl2e);
        self.withheld_rl2e = both(self.withheld_rl2e, other.withheld_rl2e);
        self.withheld_floor = both(self.withheld_floor, other.withheld_floor);
        self.rms = square(self.rms, other.rms);
        if other.worst_rl2e > self.worst_rl2e {
            self.worst_rl2e = other.worst_rl2e;
            self.worst_sample = self.n_samples + other.worst_sample;
        }
        for (output, other) in self.outputs.iter_mut().zip(&other.outputs) {
            output.rl2e = mean(output.rl2e, other.rl2e);
            output.floor = mean(output.floor, other.floor);
            output.mean_rl2e = mean(output.mean_rl2e, other.mean_rl2e);
            output.rms = square(output.rms, other.rms);
            output.values += other.values;
            for (component, other) in output.components.iter_mut().zip(&other.components) {
                component.rl2e = mean(component.rl2e, other.rl2e);
                component.mean_rl2e = mean(component.mean_rl2e, other.mean_rl2e);
                component.mse = mean(component.mse, other.mse);
                component.rms = square(component.rms, other.rms);
            }
        }
        for (q, other) in self.quantities.iter_mut().zip(&other.quantities) {
            q.rmse = square(q.rmse, other.rmse);
            q.deviation = square(q.deviation, other.deviation);
        }
        self.relative.extend(other.relative);
        self.n_samples += other.n_samples;
    }
}

/// Errors of one output on its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OutputErrors {
    /// Its name; a single one is called `""`.
    pub output: String,
    /// Mean relative L2 error.
    pub rl2e: f64,
    /// The smallest that its space allows.
    pub floor: f64,
    /// RL2E of predicting the training mean.
    pub mean_rl2e: f64,
    /// Root mean square of its values.
    pub rms: f64,
    /// How many values it has in all samples together.
    pub values: usize,
    /// How many of its points were withheld, so that they judge the fit; 0 in errors of a finished model.
    #[serde(default)]
    pub withheld_points: usize,
    /// Errors of its components.
    pub components: Vec<ComponentErrors>,
}

impl OutputErrors {
    fn mean_of(&self, of: impl Fn(&ComponentErrors) -> f64) -> f64 {
        self.components.iter().map(of).sum::<f64>() / self.components.len() as f64
    }
}

/// Errors of one component of an output on its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComponentErrors {
    /// Mean relative L2 error; of an entry of a vector without points, its root mean square error over its root mean
    /// square.
    pub rl2e: f64,
    /// As above, when predicting the training mean.
    pub mean_rl2e: f64,
    /// Mean squared error.
    pub mse: f64,
    /// Root mean square of its values.
    pub rms: f64,
}

/// The error of one entry of a vector without points, in its own units.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QuantityError {
    /// The output's name; a single one is called `""`.
    pub output: String,
    /// Which entry, counted from 0.
    pub column: usize,
    /// Root mean square error over the samples.
    pub rmse: f64,
    /// Standard deviation of the truth over the samples: the error of predicting its mean.
    pub deviation: f64,
}

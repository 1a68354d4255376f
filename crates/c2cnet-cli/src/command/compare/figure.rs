//! Errors over seconds.

use super::Entry;
use c2cnet_figure::{Figure, Legend, Panel, Series};

/// A point for each method that has a model only at its end, a curve for the others.
pub fn draw(title: &str, entries: &[Entry]) -> Figure {
    let mut panel = Panel::lines("offline seconds", "test RL2E")
        .log_x()
        .log_y()
        .legend(Legend::Right);
    for entry in entries {
        let label = format!("{} ({})", entry.method, entry.hardware);
        panel = panel.series(match entry.curve.as_slice() {
            [] => Series::markers(&label, &[entry.seconds], &[entry.rl2e]),
            curve => {
                let (seconds, errors): (Vec<f64>, Vec<f64>) = curve.iter().copied().unzip();
                Series::line(&label, &seconds, &errors)
            }
        });
    }
    Figure::new(title).panel_size(480.0, 320.0).panel(panel)
}

//! Learning rates over the steps.

use super::picture;
use crate::run_files::Picture;
use c2cnet::map::Schedule;
use c2cnet_figure::{Dash, Figure, Panel, Series};

pub fn figure() -> (Picture, String) {
    const STEPS: usize = 30_000;
    let at: Vec<usize> = (0..STEPS).step_by(20).collect();
    let steps: Vec<f64> = at.iter().map(|s| *s as f64).collect();
    let rates = |schedule: Schedule, peak: f64| -> Vec<f64> {
        let rate = |step: &usize| schedule.rate(*step, STEPS, peak);
        at.iter().map(rate).collect()
    };
    let series = |name: &str, schedule, peak, dash| {
        Series::line(name, &steps, &rates(schedule, peak)).dash(dash)
    };
    let panel = Panel::lines("step", "learning rate")
        .log_y()
        .x_range(0.0, STEPS as f64)
        .y_range(1e-7, 2e-2)
        .series(series("paper", Schedule::Paper, 1e-2, Dash::Solid))
        .series(series(
            "cosine, recipe fast",
            Schedule::Cosine,
            3e-3,
            Dash::Short,
        ))
        .series(series("one-cycle", Schedule::OneCycle, 3e-3, Dash::Dotted));
    let svg = Figure::new("Learning rates")
        .panel_size(560.0, 280.0)
        .panel(panel);
    let picture = picture(
        "learning-rate",
        "fig:learning_rate",
        "Learning-rate schedules",
        "The paper’s schedule starts at 1e-2, 1e-3 and 1e-4 in three segments of 10,000 steps, with a factor \
         of 0.9 after every 200 steps. The recipe fast rises over a twentieth of its steps and then falls \
         along a cosine to zero; one-cycle is for comparison with peers that use it. All are drawn over \
         30,000 steps; fast makes fewer.",
    );
    (picture, svg.to_svg())
}

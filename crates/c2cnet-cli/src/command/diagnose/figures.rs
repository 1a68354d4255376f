//! The figures of a diagnosis.

use c2cnet::diagnose::{Floor, Floors, Row, Sweep};
use c2cnet::internal::IN_USE;
use c2cnet_figure::{Figure, Marker, Panel, Series};

/// Singular values of each input's design matrix.
pub fn spectrum(sweeps: &[Sweep]) -> String {
    let mut figure = Figure::new("Singular values of the design matrices");
    for sweep in sweeps {
        let sigma = &sweep.singular_values;
        let index: Vec<f64> = (1..=sigma.len()).map(|i| i as f64).collect();
        figure = figure.next_row().panel(
            Panel::lines("number", "singular value")
                .log_y()
                .title(&format!("{}: {}", sweep.label, sweep.basis))
                .series(Series::line("", &index, sigma)),
        );
    }
    figure.panel_size(460.0, 300.0).to_svg()
}

/// What is lost and what is amplified, against the strength of the regularisation.
pub fn bias(sweeps: &[Sweep]) -> String {
    let mut figure = Figure::new("Encoding: what is lost, and how noise is amplified");
    for sweep in sweeps {
        let column = |of: fn(&Row) -> f64| -> Vec<f64> { sweep.rows.iter().map(of).collect() };
        let x = column(|r| r.parameter);
        let here = sweep.rows.iter().find(|r| r.in_use);
        let mut lost = Panel::lines(sweep.parameter, "part of the input lost")
            .log_x()
            .log_y()
            .title(&sweep.label)
            .series(Series::line("all", &x, &column(|r| r.lost)))
            .series(Series::line("shrinkage", &x, &column(|r| r.shrinkage)))
            .series(Series::line(
                "unrepresentable",
                &x,
                &column(|r| r.unrepresentable),
            ));
        let mut amplified = Panel::lines(sweep.parameter, "amplification of noise")
            .log_x()
            .log_y()
            .title(&sweep.basis)
            .series(Series::line("", &x, &column(|r| r.amplification)));
        if let Some(here) = here {
            lost = lost.vertical(here.parameter, "in use");
            amplified = amplified.vertical(here.parameter, "in use");
        }
        figure = figure.next_row().panel(lost).panel(amplified);
    }
    figure.panel_size(380.0, 270.0).to_svg()
}

/// The floor of each family against the number of functions.
pub fn floor(floors: &[Floors]) -> String {
    let mut figure = Figure::new("The smallest error that an output basis allows").shared_legend();
    for output in floors {
        let panel = |title: &str, value: &dyn Fn(&Floor) -> Option<f64>| {
            let mut panel = Panel::lines("number of functions", "relative error")
                .log_x()
                .log_y()
                .title(&format!("{}, {title}", output.label));
            for (family, members) in families(&output.all) {
                let points: Vec<(f64, f64)> = members
                    .iter()
                    .filter_map(|f| Some((f.functions as f64, value(f)?)))
                    .collect();
                let (x, y): (Vec<f64>, Vec<f64>) = points.into_iter().unzip();
                panel = panel.series(if family == IN_USE {
                    Series::markers(family, &x, &y).marker(Marker::Diamond)
                } else {
                    Series::line_markers(family, &x, &y)
                });
            }
            panel
        };
        figure = figure
            .next_row()
            .panel(panel("at fitted points", &|f| Some(f.fitted)));
        if output.all.iter().any(|f| f.withheld.is_some()) {
            figure = figure.panel(panel("between fitted points", &|f| f.withheld));
        }
    }
    figure.panel_size(380.0, 300.0).to_svg()
}

fn families(all: &[Floor]) -> Vec<(&str, Vec<&Floor>)> {
    let mut families: Vec<(&str, Vec<&Floor>)> = Vec::new();
    for floor in all {
        match families.iter_mut().find(|(name, _)| *name == floor.family) {
            Some((_, members)) => members.push(floor),
            None => families.push((&floor.family, vec![floor])),
        }
    }
    families
}

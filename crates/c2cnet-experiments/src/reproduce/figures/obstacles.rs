//! Reconstructed obstacles with sensors, readings, both boundaries and the band around the recovered one.

use crate::picture::spread;
use crate::reproduce::geometry::{Grid, compare};
use crate::reproduce::obstacles::grid;
use crate::reproduce::run::{Bench, Record};
use crate::run_files::{Gallery, Picture, Sample};
use crate::terminal::error;
use c2cnet::Result;
use c2cnet_figure::colour::{BLACK, BLUE, Rgb, VERMILLION};
use c2cnet_figure::contour::Segment;
use c2cnet_figure::{Dash, Figure, Marker, Panel, Series};

/// Samples of the gallery.
const SHOWN: usize = 15;
const GREY: Rgb = Rgb(205, 205, 205);

/// One, two and three obstacles: a row each, with the best quarter, the median and the worst quarter.
pub fn reconstructions(bench: &mut Bench<'_>, record: &Record, band: f64) -> Result<()> {
    let field = record.data.outputs.only()?;
    let ranked = record.ranked();
    let mut figure = Figure::new("Obstacles from velocities at sensors downstream")
        .shared_legend()
        .panel_size(300.0, 300.0);
    for count in 1..=3 {
        let mut chosen = Vec::new();
        for &(k, rl2e) in &ranked {
            let sample = record.samples[k];
            if grid(field, &field.values_of(sample))?.components() == count {
                chosen.push((sample, rl2e));
            }
        }
        if chosen.is_empty() {
            continue;
        }
        figure = figure.next_row();
        for part in [1, 2, 3] {
            let (sample, rl2e) = chosen[(chosen.len() * part / 4).min(chosen.len() - 1)];
            figure = figure.panel(panel(record, sample, rl2e, band)?);
        }
    }
    let files = bench
        .folder
        .save_figure("reconstructions", &figure.to_svg())?;
    bench.findings.figures.push(Picture {
        id: "reconstructions".into(),
        title: "Recovered obstacles".into(),
        caption: format!(
            "Rows: one, two and three obstacles; columns: a good, a middle and a poor test sample (first, second and third quartile of the errors). Dots and arrows: sensors and their readings. Dashed red: the true boundary. Black: the recovered one. Grey: where the predicted distance is at most {band}. {}.",
            record.spec.label
        ),
        label: Some("fig:stokes_inverse_reconstruction".into()),
        files,
    });
    Ok(())
}

/// Test samples from best to worst.
pub fn gallery(bench: &mut Bench<'_>, record: &Record, band: f64) -> Result<()> {
    let ranked = record.ranked();
    let mut samples = Vec::new();
    for rank in spread(ranked.len(), SHOWN) {
        let (k, rl2e) = ranked[rank];
        let sample = record.samples[k];
        let title = format!(
            "{}, rank {} of {}",
            record.spec.label,
            rank + 1,
            ranked.len()
        );
        let figure = Figure::new(&title)
            .panel_size(340.0, 340.0)
            .panel(panel(record, sample, rl2e, band)?);
        let id = format!("test-set-{:03}", samples.len());
        let svg = bench.folder.save_drawing(&id, &figure.to_svg())?;
        samples.push(Sample {
            sample,
            rank,
            rl2e: Some(rl2e),
            svg,
        });
    }
    bench.findings.galleries.push(Gallery {
        id: "test-set".into(),
        title: "Test samples from best to worst".into(),
        caption: "As in the figure of reconstructions.".into(),
        label: None,
        samples,
    });
    Ok(())
}

fn panel(record: &Record, sample: usize, rl2e: f64, band: f64) -> Result<Panel> {
    let field = record.data.outputs.only()?;
    let one = record.data.select(&[sample]);
    let found = record
        .model()?
        .predict(&one.inputs, field.points_of(sample))?;
    let found: Vec<f64> = found[0].col(0).iter().copied().collect();
    let (truth, found) = (grid(field, &field.values_of(sample))?, grid(field, &found)?);
    let (bx, by) = stripes(&found, band);
    let input = record.data.inputs.only()?;
    let (sensors, readings) = (input.points_of(sample), input.values_of(sample));
    let n = sensors.len();
    let column = |k: usize| -> Vec<f64> { sensors.iter().map(|p| p[k]).collect() };
    let (mut ax, mut ay) = (Vec::new(), Vec::new());
    for (i, p) in sensors.iter().enumerate() {
        // A reading of the far field is as long as a twelfth of the box.
        ax.extend([p[0], p[0] + 0.5 * readings[i], f64::NAN]);
        ay.extend([p[1], p[1] + 0.5 * readings[n + i], f64::NAN]);
    }
    let (tx, ty) = pieces(&truth.boundary());
    let (fx, fy) = pieces(&found.boundary());
    let iou = compare(&truth, &found).iou;
    let pixel = 300.0 / truth.counts[1] as f64 + 0.6;
    Ok(Panel::lines("x_{1}", "x_{2}")
        .title(&format!(
            "sample {sample}: RL2E {}, IoU {iou:.2}",
            error(rl2e)
        ))
        .equal_aspect()
        .x_range(truth.x[0], truth.x[1])
        .y_range(truth.y[0], truth.y[1])
        .series(
            Series::line("|predicted distance| in the band", &bx, &by)
                .colour(GREY)
                .dash(Dash::Solid)
                .width(pixel),
        )
        .series(
            Series::line("readings", &ax, &ay)
                .colour(BLUE)
                .dash(Dash::Solid)
                .width(0.9),
        )
        .series(
            Series::markers("sensors", &column(0), &column(1))
                .marker(Marker::Disc)
                .colour(BLUE),
        )
        .series(
            Series::line("true boundary", &tx, &ty)
                .colour(VERMILLION)
                .dash(Dash::Short)
                .width(2.0),
        )
        .series(
            Series::line("recovered boundary", &fx, &fy)
                .colour(BLACK)
                .dash(Dash::Solid)
                .width(1.6),
        )
        .into())
}

/// The band as a line along every row of the grid where the value is small, interrupted elsewhere.
fn stripes(grid: &Grid, band: f64) -> (Vec<f64>, Vec<f64>) {
    let [nx, ny] = grid.counts;
    let at = |i: usize, n: usize, [lo, hi]: [f64; 2]| lo + (hi - lo) * i as f64 / (n - 1) as f64;
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for j in 0..ny {
        for i in 0..nx {
            let inside = grid.values[j * nx + i].abs() <= band;
            x.push(if inside { at(i, nx, grid.x) } else { f64::NAN });
            y.push(at(j, ny, grid.y));
        }
        x.push(f64::NAN);
        y.push(f64::NAN);
    }
    (x, y)
}

/// Pieces of a contour joined into as few lines as their ends allow, with gaps between.
fn pieces(segments: &[Segment]) -> (Vec<f64>, Vec<f64>) {
    let close = |a: [f64; 2], b: [f64; 2]| (a[0] - b[0]).hypot(a[1] - b[1]) < 1e-9;
    let mut left = segments.to_vec();
    let (mut x, mut y) = (Vec::new(), Vec::new());
    while let Some([start, mut end]) = left.pop() {
        x.extend([start[0], end[0]]);
        y.extend([start[1], end[1]]);
        while let Some(k) = left
            .iter()
            .position(|[p, q]| close(*p, end) || close(*q, end))
        {
            let [p, q] = left.swap_remove(k);
            end = if close(p, end) { q } else { p };
            x.push(end[0]);
            y.push(end[1]);
        }
        x.push(f64::NAN);
        y.push(f64::NAN);
    }
    (x, y)
}

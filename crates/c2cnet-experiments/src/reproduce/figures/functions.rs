//! Drawings of functions on an interval, along the sides of a rectangle and in a plane of many dimensions.

use crate::picture::{plane as plane_of, sorted};
use crate::reproduce::run::Record;
use crate::run_files::PeerPredictions;
use crate::terminal::error;
use c2cnet::data::{Bounds, Field, Points};
use c2cnet::{Error, Result};
use c2cnet_figure::colour::{BLACK, OKABE_ITO};
use c2cnet_figure::{ColourScale, Dash, Figure, Panel, Series};
use std::f64::consts::FRAC_PI_2;

fn output(record: &Record) -> &Field {
    &record.data.outputs[0].1
}

/// What a run predicts for a sample at `points`, first component.
fn predicted(record: &Record, sample: usize, points: &Points) -> Result<Vec<f64>> {
    let one = record.data.select(&[sample]);
    let values = record.model()?.predict(&one.inputs, points)?;
    Ok(values[0].col(0).iter().copied().collect())
}

/// All runs and other methods on the sample that is the first run's median, and their errors.
pub fn predictions(title: &str, records: &[&Record], peers: &[PeerPredictions]) -> Result<Figure> {
    let ranked = records[0].ranked();
    let place = ranked[ranked.len() / 2].0;
    let sample = records[0].samples[place];
    let points = output(records[0]).points_of(sample);
    let truth = &output(records[0]).values_of(sample)[..points.len()];
    let (x, in_order) = sorted(points.coords(), truth);
    let mut values = Panel::lines("y", "u")
        .title(&format!("sample {sample}"))
        .series(Series::line("truth", &x, &in_order).colour(BLACK));
    let mut errors = Panel::lines("y", "|prediction - truth|")
        .log_y()
        .title("absolute error");
    let mut lines: Vec<(String, Vec<f64>)> = Vec::new();
    for record in records {
        let name = format!("{} ({})", record.spec.label, record.spec.column.name());
        lines.push((name, predicted(record, sample, points)?));
    }
    for peer in peers {
        lines.push((peer.peer.clone(), of_peer(peer, records[0], place)?));
    }
    let colours: Vec<_> = OKABE_ITO.into_iter().filter(|c| *c != BLACK).collect();
    let dashes = [Dash::Solid, Dash::Short];
    for (i, (name, found)) in lines.iter().enumerate() {
        let colour = colours[i % colours.len()];
        let dash = dashes[i / colours.len() % dashes.len()];
        let off: Vec<f64> = found
            .iter()
            .zip(truth)
            .map(|(p, t)| (p - t).abs())
            .collect();
        let line = |name: &str, values: &[f64]| {
            let (_, values) = sorted(points.coords(), values);
            Series::line(name, &x, &values)
                .colour(colour)
                .dash(dash)
                .width(1.3)
        };
        values = values.series(line(name, found));
        errors = errors.series(line("", &off));
    }
    Ok(Figure::new(title)
        .shared_legend()
        .panel_size(420.0, 300.0)
        .panel(values)
        .panel(errors))
}

/// What another method predicts for the test sample at `place`, at the points of the run.
fn of_peer(peer: &PeerPredictions, record: &Record, place: usize) -> Result<Vec<f64>> {
    let points = output(record).points_of(record.samples[place]).len();
    let fits = |values: &&Vec<f64>| values.len() == points;
    let found = peer.values.get(place).filter(fits);
    let same = peer.values.len() == record.samples.len();
    found.filter(|_| same).cloned().ok_or_else(|| {
        Error::Data(format!(
            "the predictions of {} are for {} samples with {} points, and {} samples with {points} points test here: \
             make them again with the data of this experiment",
            peer.peer,
            peer.values.len(),
            peer.values.get(place).map_or(0, Vec::len),
            record.samples.len(),
        ))
    })
}

/// Where and what the input and the output of one test sample are observed.
pub fn observations(title: &str, record: &Record) -> Figure {
    let sample = record.samples[0];
    let panel = |field: &Field, x: &str, name: &str, what: &str| {
        let points = field.points_of(sample);
        let values = &field.values_of(sample)[..points.len()];
        let (at, values) = sorted(points.coords(), values);
        Panel::lines(x, name)
            .title(&format!("{what}, {} points", points.len()))
            .series(Series::markers("", &at, &values))
    };
    Figure::new(title)
        .panel_size(420.0, 260.0)
        .panel(panel(&record.data.inputs[0].1, "x", "f", "input"))
        .panel(panel(output(record), "y", "u", "output"))
}

/// Truth and prediction along the lower and the upper side, for the worst sample of each run.
pub fn traces(title: &str, records: &[&Record]) -> Result<Figure> {
    let mut figure = Figure::new(title).shared_legend();
    for record in records {
        let (sample, _) = record.worst();
        let field = output(record);
        let points = field.points_of(sample);
        let values = field.values_of(sample);
        let found = predicted(record, sample, points)?;
        let bounds = field.bounding_box();
        figure = figure.next_row();
        for (name, side) in [("lower", bounds.lower(1)), ("upper", bounds.upper(1))] {
            let on: Vec<usize> = (0..points.len())
                .filter(|&i| points.point(i)[1] == side)
                .collect();
            let x: Vec<f64> = on.iter().map(|&i| points.point(i)[0]).collect();
            let pick = |v: &[f64]| -> Vec<f64> { on.iter().map(|&i| v[i]).collect() };
            let (at, truth) = sorted(&x, &pick(&values));
            let (_, found) = sorted(&x, &pick(&found));
            figure = figure.panel(
                Panel::lines("x", "u")
                    .title(&format!(
                        "{}, {name} side, sample {sample}",
                        record.spec.label
                    ))
                    .series(Series::line("truth", &at, &truth))
                    .series(Series::dashed("prediction", &at, &found)),
            );
        }
    }
    Ok(figure)
}

/// Points along each side of a slice.
const SLICE: usize = 61;

/// The worst sample of the Poisson equation in many dimensions over its third and fourth coordinates, the
/// others zero. Its output is a multiple of the sum of sines, which the data's own points determine.
pub fn slice(title: &str, records: &[&Record]) -> Result<Figure> {
    let mut figure = Figure::new(title);
    for record in records {
        let (sample, rl2e) = record.worst();
        let field = output(record);
        let shape = |x: &[f64]| -> f64 { x.iter().map(|x| (FRAC_PI_2 * x).sin()).sum() };
        let shapes: Vec<f64> = field.points_of(sample).iter().map(shape).collect();
        let values = field.values_of(sample);
        let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
        let alpha = dot(&values, &shapes) / dot(&shapes, &shapes);
        let square = Bounds::new(vec![[-1.0, 1.0]; 2])?;
        let plane = Points::grid(&square, &[SLICE; 2]);
        let embed = |p: &[f64]| {
            let mut x = vec![0.0; field.dim()];
            x[2..4].copy_from_slice(p);
            x
        };
        let points = Points::new(field.dim(), plane.iter().flat_map(embed).collect())?;
        let truth: Vec<f64> = points.iter().map(|x| alpha * shape(x)).collect();
        let found = predicted(record, sample, &points)?;
        let off: Vec<f64> = found
            .iter()
            .zip(&truth)
            .map(|(p, t)| (p - t).abs())
            .collect();
        let scale = ColourScale::field("u").covering(&truth).covering(&found);
        let draw = plane_of(&plane, None);
        let axes = ["y_{3}", "y_{4}"];
        let name = &record.spec.label;
        figure = figure.row([
            draw.panel(axes, &format!("{name}, truth"), &truth, scale.clone()),
            draw.panel(axes, "prediction", &found, scale),
            draw.panel(
                axes,
                &format!("error, RL2E of the sample {}", error(rl2e)),
                &off,
                ColourScale::error("|prediction - truth|"),
            ),
        ]);
    }
    Ok(figure)
}

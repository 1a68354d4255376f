//! Truth, prediction and error of test samples.

use crate::labels::Labels;
use crate::picture::{self, PickedSample, Shown};
use crate::reproduce::experiment::FigureSpec;
use crate::reproduce::run::{Bench, Record};
use crate::run_files::{Gallery, Sample};
use c2cnet::Result;
use c2cnet_figure::Figure;

/// How many samples a gallery shows.
const SHOWN: usize = 15;

/// The worst test sample of each run, a row for each component.
pub fn worst(title: &str, records: &[&Record]) -> Result<Figure> {
    let mut rows = Vec::new();
    for record in records {
        let (sample, rl2e) = record.worst();
        let what = format!("{}, sample {sample}", record.spec.label);
        rows.extend(all_components(record, sample, &what, rl2e)?);
    }
    Ok(picture::draw(title, &rows, &records[0].data))
}

fn all_components(record: &Record, sample: usize, what: &str, rl2e: f64) -> Result<Vec<Shown>> {
    let picked = PickedSample {
        sample,
        what: what.to_string(),
        rl2e,
    };
    let labels = Labels::of(&record.data);
    Shown::rows(record.model()?, &record.data, &labels, &picked)
}

/// Test samples spread over the ranks, best first, a drawing for each.
pub fn gallery(bench: &mut Bench<'_>, spec: &FigureSpec, record: &Record) -> Result<()> {
    let ranked = record.ranked();
    let mut samples = Vec::new();
    for rank in picture::spread(ranked.len(), SHOWN) {
        let (k, rl2e) = ranked[rank];
        let sample = record.samples[k];
        let what = format!("sample {sample}");
        let rows = all_components(record, sample, &what, rl2e)?;
        let title = format!(
            "{}, rank {} of {}",
            record.spec.label,
            rank + 1,
            ranked.len()
        );
        // Small: a report holds all of them.
        let figure = picture::draw(&title, &rows, &record.data);
        let figure = figure.panel_size(230.0, 175.0);
        let id = format!("{}-{:03}", spec.heading.id, samples.len());
        let svg = bench.folder.save_drawing(&id, &figure.to_svg())?;
        samples.push(Sample {
            sample,
            rank,
            rl2e: Some(rl2e),
            svg,
        });
    }
    bench.findings.galleries.push(Gallery {
        id: spec.heading.id.clone(),
        title: spec.heading.title.clone(),
        caption: spec.heading.caption.clone(),
        label: spec.heading.label.clone(),
        samples,
    });
    Ok(())
}

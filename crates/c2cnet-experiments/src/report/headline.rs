//! Every problem in one line: this project's errors beside the paper's.

use super::format::{self, error, integer, number, seconds};
use super::read::Run;
use super::table::{Cell, Head, sortable};
use crate::run_files::Headline;
use maud::{Markup, html};

/// A row of the headline table and the experiment it comes from.
pub struct Line<'a> {
    pub experiment: &'a str,
    pub row: &'a Headline,
}

/// All rows, in the order of the experiments.
pub fn lines(run: &Run) -> Vec<Line<'_>> {
    run.experiments
        .iter()
        .filter_map(|(name, e)| Some((name, e.as_ref().ok()?)))
        .flat_map(|(name, e)| {
            e.found.headline.iter().map(move |row| Line {
                experiment: name,
                row,
            })
        })
        .collect()
}

/// Ours over the paper's.
pub fn ratio(row: &Headline) -> Option<f64> {
    Some(row.rl2e? / row.paper?).filter(|r| r.is_finite())
}

/// The figure and the table.
pub fn section(lines: &[Line<'_>]) -> Markup {
    html! {
        @if lines.is_empty() {
            p.missing { "No experiment of this run has a row in this table." }
        } @else {
            (strips(lines))
            (table(lines))
        }
    }
}

fn table(lines: &[Line<'_>]) -> Markup {
    let compared = is_compared(lines);
    let mut heads = vec![
        Head::text("problem"),
        Head::text("method"),
        Head::number("RL2E"),
    ];
    if compared {
        heads.extend([Head::number("paper"), Head::number("ratio")]);
    }
    heads.extend([
        Head::number("floor"),
        Head::number("withheld"),
        Head::number("linear"),
        Head::number("mean"),
        Head::number("rms"),
        Head::number("seconds"),
        Head::number("MSE"),
        Head::number("parameters"),
    ]);
    let rows: Vec<Vec<Cell>> = lines.iter().map(|line| cells(line, compared)).collect();
    html! {
        figure.block {
            (sortable(&heads, &rows))
            p.caption {
                "RL2E is the mean relative L2 error on test samples"
                @if compared { "; ratio is ours over the paper’s. " } @else { ". " }
                "The floor is the smallest RL2E that the output basis allows; withheld is the RL2E at "
                "output points that no fit saw; linear and mean are the RL2E of a linear map and of "
                "predicting the training mean; rms is the size of the outputs. Seconds are encoding and "
                "training; parameters are the numbers that the map has learned. "
                @if compared { "Below rms, seconds, MSE and parameters, in grey, are the paper’s (on an RTX 4090). " }
                "Click a column to sort by it."
            }
        }
    }
}

/// Whether the paper prints an error for any of them: not for the small sizes of a quick run.
fn is_compared(lines: &[Line<'_>]) -> bool {
    lines.iter().any(|line| line.row.paper.is_some())
}

fn cells(line: &Line<'_>, compared: bool) -> Vec<Cell> {
    let row = line.row;
    let problem = Cell {
        shown: html! {
            a href={ "#" (line.experiment) } { (title(row)) }
            @if !row.note.is_empty() { span.note { (row.note) } }
        },
        order: None,
    };
    let plain = [row.floor, row.withheld, row.linear, row.mean];
    let mut cells = vec![
        problem,
        Cell::text(&row.method),
        Cell {
            shown: html! { strong { (format::maybe(row.rl2e, error)) } },
            order: row.rl2e,
        },
    ];
    if compared {
        cells.extend([Cell::number(row.paper, error), verdict(row)]);
    }
    cells.extend(plain.map(|v| Cell::number(v, error)));
    cells.push(Cell::pair(row.rms, row.paper_rms, number));
    cells.push(Cell::pair(row.seconds, row.paper_seconds, seconds));
    cells.push(Cell::pair(row.mse, row.paper_mse, error));
    cells.push(Cell::pair(row.parameters, row.paper_parameters, integer));
    cells
}

/// The ratio, with a sign that needs no colour.
fn verdict(row: &Headline) -> Cell {
    let ratio = ratio(row);
    Cell {
        shown: html! {
            @match ratio {
                None => (format::MISSING),
                Some(r) if r <= 1.0 => span.good { (number(r)) " ✓" },
                Some(r) => span.above { (number(r)) " ▲" },
            }
        },
        order: ratio,
    }
}

/// What the problem is called.
pub fn title(row: &Headline) -> &str {
    if row.title.is_empty() {
        &row.problem
    } else {
        &row.title
    }
}

/// Errors above this come from fits that diverged: predicting zero has error 1.
const DIVERGED: f64 = 10.0;

/// The powers of ten between which errors are shown. Those of fits that diverged do not stretch the axis, and floors may be
/// far below anything else: six decades are enough to see.
fn decades(errors: &[f64]) -> Option<(f64, f64)> {
    let usual = errors.iter().copied().filter(|v| *v <= DIVERGED);
    let largest = usual
        .reduce(f64::max)
        .or(errors.iter().copied().reduce(f64::min))?;
    let least = errors.iter().copied().reduce(f64::min)?;
    let hi = (largest.log10() - 0.02).ceil();
    let lo = least.log10().floor().max(hi - 6.0);
    (lo < hi).then_some((lo, hi))
}

/// Errors on one logarithmic scale: where ours lies between the floor and knowing nothing.
fn strips(lines: &[Line<'_>]) -> Markup {
    let all = lines.iter().flat_map(|l| {
        [
            l.row.rl2e,
            l.row.paper,
            l.row.floor,
            l.row.linear,
            l.row.mean,
        ]
    });
    let positive: Vec<f64> = all
        .flatten()
        .filter(|v| *v > 0.0 && v.is_finite())
        .collect();
    let Some((lo, hi)) = decades(&positive) else {
        return html! {};
    };
    let place = |v: f64| 100.0 * ((v.log10() - lo) / (hi - lo)).clamp(0.0, 1.0);
    let shown = |v: Option<f64>| v.filter(|v| *v > 0.0 && v.is_finite());
    let mark = |class: &str, name: &str, v: Option<f64>| {
        html! {
            @if let Some(v) = shown(v) {
                i class={ "mark " (class) @if v.log10() < lo { " beyond" } @if v.log10() > hi { " beyond above" } } style={ "left:" (format!("{:.2}", place(v))) "%" }
                    title={ (name) " " (error(v)) } {}
            }
        }
    };
    let compared = is_compared(lines);
    let cut = positive.iter().any(|v| v.log10() > hi);
    let decades: Vec<i32> = (lo as i32..=hi as i32).collect();
    html! {
        figure.block.strips {
            div.legend {
                span { i.mark.ours {} "ours" }
                @if compared { span { i.mark.paper {} "paper" } }
                span { i.mark.floor {} "floor" }
                span { i.mark.linear {} "linear map" }
                span { i.mark.mean {} "training mean" }
            }
            div.grid {
                @for line in lines {
                    div.name { (title(line.row)) span.method { (line.row.method) } }
                    div.strip {
                        @for d in &decades { i.decade style={ "left:" (format!("{:.2}", place(10f64.powi(*d)))) "%" } {} }
                        @if let (Some(ours), Some(paper)) = (shown(line.row.rl2e), shown(line.row.paper)) {
                            i class={ "span " (if ours <= paper { "good" } else { "above" }) }
                                style={ "left:" (format!("{:.2}", place(ours.min(paper))))
                                    "%;right:" (format!("{:.2}", 100.0 - place(ours.max(paper)))) "%" } {}
                        }
                        (mark("mean", "training mean", line.row.mean))
                        (mark("linear", "linear map", line.row.linear))
                        (mark("ours", "ours", line.row.rl2e))
                        (mark("floor", "floor", line.row.floor))
                        (mark("paper", "paper", line.row.paper))
                    }
                }
                div.name.axis { "RL2E" }
                div.strip.axis {
                    @for d in &decades {
                        span style={ "left:" (format!("{:.2}", place(10f64.powi(*d)))) "%" } { "10" sup { (d.to_string().replace('-', "−")) } }
                    }
                }
            }
            p.caption {
                "Test errors on a logarithmic scale. "
                @if cut { "Marks with an arrow at the right end are larger than the axis reaches. " }
                @if compared { "The bar between ours and the paper’s is blue where ours is smaller, orange where it is larger." }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::decades;

    #[test]
    fn fits_that_diverged_do_not_stretch_the_axis() {
        assert_eq!(decades(&[6e-1, 1.9e-2, 4e-15, 3e8]), Some((-6.0, 0.0)));
        assert_eq!(decades(&[1e-3, 2e-2]), Some((-3.0, -1.0)));
        assert_eq!(decades(&[2e3, 5e7]), Some((3.0, 4.0)));
        assert_eq!(decades(&[]), None);
    }
}

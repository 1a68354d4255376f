//! Tables that a reader can sort.

use super::format;
use crate::printed::Paper;
use crate::run_files::{Column, Kind, Table};
use maud::{Markup, html};
use serde_json::Value;

/// A column's title and whether it holds numbers.
pub struct Head {
    pub title: String,
    pub numeric: bool,
}

impl Head {
    pub fn text(title: &str) -> Self {
        Head {
            title: title.into(),
            numeric: false,
        }
    }

    pub fn number(title: &str) -> Self {
        Head {
            title: title.into(),
            numeric: true,
        }
    }
}

/// What a cell shows and what it is sorted by.
pub struct Cell {
    pub shown: Markup,
    pub order: Option<f64>,
}

impl Cell {
    pub fn text(text: &str) -> Self {
        // Long texts break over lines; short ones never do.
        let long = text.chars().count() > 28;
        Cell {
            shown: html! { @if long { div.long { (text) } } @else { (text) } },
            order: None,
        }
    }

    pub fn number(v: Option<f64>, write: fn(f64) -> String) -> Self {
        Cell {
            shown: whole(&format::maybe(v, write)),
            order: v.filter(|v| v.is_finite()),
        }
    }

    /// Ours over the paper's; sorted by ours where there is one.
    pub fn pair(ours: Option<f64>, paper: Option<f64>, write: fn(f64) -> String) -> Self {
        Cell {
            shown: html! {
                (whole(&format::maybe(ours, write)))
                @if let Some(v) = paper { span.printed { (write(v)) } }
            },
            order: ours.or(paper),
        }
    }

    /// Two readings of the paper's recipe over what the paper prints; sorted by the better one.
    pub fn readings(here: [Option<f64>; 2], paper: Option<f64>, write: fn(f64) -> String) -> Self {
        let best = here.into_iter().flatten().reduce(f64::min);
        let mut cell = Cell::pair(best, paper, write);
        if let [Some(plain), Some(scaled)] = here {
            cell.shown = html! {
                (whole(&write(plain))) " · " (whole(&write(scaled)))
                @if let Some(v) = paper { span.printed { (write(v)) } }
            };
        }
        cell
    }
}

/// A number that narrow columns do not break at its sign.
fn whole(number: &str) -> Markup {
    html! { span.whole { (number) } }
}

/// A table whose columns sort the rows when clicked.
pub fn sortable(heads: &[Head], rows: &[Vec<Cell>]) -> Markup {
    let side = |numeric: bool| if numeric { "n" } else { "t" };
    html! {
        div.scroll tabindex="0" {
            table.sortable {
                thead { tr {
                    @for head in heads {
                        th scope="col" class=(side(head.numeric)) {
                            button type="button" { (head.title) }
                        }
                    }
                } }
                tbody {
                    @for row in rows {
                        tr {
                            @for (cell, head) in row.iter().zip(heads) {
                                td class=(side(head.numeric)) data-v=[cell.order] { (cell.shown) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// A table of an experiment. What the paper prints is below what was found; not in a quick run, whose sizes are
/// others.
pub fn of_experiment(table: &Table, quick: bool) -> Markup {
    let is_empty = |column: &Column| {
        let mut values = table.rows.iter().map(|row| row.get(&column.key));
        values.all(|v| matches!(v, None | Some(Value::Null)))
    };
    let own = |column: &&Column| paper_of(table, column).is_none() && !is_empty(column);
    let columns: Vec<&Column> = table.columns.iter().filter(own).collect();
    let heads: Vec<Head> = columns.iter().map(|column| head(column)).collect();
    let row = |values: &serde_json::Map<String, Value>| {
        let cell = |column: &&Column| {
            let value = values.get(&column.key);
            let spread = values.get(&format!("{}_spread", column.key));
            let found = Cell::text(&format::cell(column.kind, value, spread));
            let printed = values.get(&format!("{PAPER}{}", column.key));
            let printed = printed.filter(|v| !v.is_null() && !quick);
            Cell {
                order: value.and_then(Value::as_f64),
                shown: html! {
                    (found.shown)
                    @if let Some(v) = printed { span.printed { (format::cell(column.kind, Some(v), None)) } }
                },
            }
        };
        columns.iter().map(cell).collect()
    };
    let rows: Vec<Vec<Cell>> = table.rows.iter().map(row).collect();
    let compared = !quick && table.columns.iter().any(|c| paper_of(table, c).is_some());
    html! {
        figure.block {
            figcaption {
                h4 { (format::subscripts(&table.title)) (label(table.label.as_deref())) }
            }
            @if rows.is_empty() {
                p.missing { "The table has no rows." }
            } @else {
                (sortable(&heads, &rows))
            }
            (caption(&table.caption))
            @if compared { p.caption { "In grey: what the paper prints." } }
        }
    }
}

/// Before the key of a column, what the paper prints for it.
const PAPER: &str = "paper_";

/// The column beside which this one holds the paper's values, if it does.
fn paper_of<'a>(table: &'a Table, column: &Column) -> Option<&'a Column> {
    let key = column.key.strip_prefix(PAPER)?;
    table.columns.iter().find(|other| other.key == key)
}

fn head(column: &Column) -> Head {
    Head {
        title: column.title.clone(),
        numeric: column.kind != Kind::Text,
    }
}

/// Where the paper has something, by its label.
pub fn label(label: Option<&str>) -> Markup {
    html! {
        @if let Some(place) = label.and_then(|label| Paper::get().place(label)) {
            " " span.label title="in the paper" { (place) }
        }
    }
}

/// The words under a table or figure.
pub fn caption(text: &str) -> Markup {
    html! { @if !text.is_empty() { p.caption { (format::subscripts(text)) } } }
}

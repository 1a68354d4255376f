//! Tables that a reader can sort.

use super::format;
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
            shown: html! { (format::maybe(v, write)) },
            order: v.filter(|v| v.is_finite()),
        }
    }

    /// Ours over the paper's; sorted by ours where there is one.
    pub fn pair(ours: Option<f64>, paper: Option<f64>, write: fn(f64) -> String) -> Self {
        Cell {
            shown: html! {
                (format::maybe(ours, write))
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
                (write(plain)) " · " (write(scaled))
                @if let Some(v) = paper { span.printed { (write(v)) } }
            };
        }
        cell
    }
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

/// A table of an experiment.
pub fn of_experiment(table: &Table) -> Markup {
    let heads: Vec<Head> = table.columns.iter().map(head).collect();
    let row = |values: &serde_json::Map<String, Value>| {
        let cell = |column: &Column| {
            let value = values.get(&column.key);
            let spread = values.get(&format!("{}_spread", column.key));
            Cell {
                order: value.and_then(Value::as_f64),
                ..Cell::text(&format::cell(column.kind, value, spread))
            }
        };
        table.columns.iter().map(cell).collect()
    };
    let rows: Vec<Vec<Cell>> = table.rows.iter().map(row).collect();
    html! {
        figure.block {
            figcaption {
                h4 { (table.title) (label(table.label.as_deref())) }
            }
            @if rows.is_empty() {
                p.missing { "The table has no rows." }
            } @else {
                (sortable(&heads, &rows))
            }
            (caption(&table.caption))
        }
    }
}

fn head(column: &Column) -> Head {
    Head {
        title: column.title.clone(),
        numeric: column.kind != Kind::Text,
    }
}

/// The paper's label of something.
pub fn label(label: Option<&str>) -> Markup {
    html! {
        @if let Some(label) = label.filter(|l| !l.is_empty()) {
            " " code.label title="the paper's label" { (label) }
        }
    }
}

/// The words under a table or figure.
pub fn caption(text: &str) -> Markup {
    html! { @if !text.is_empty() { p.caption { (text) } } }
}

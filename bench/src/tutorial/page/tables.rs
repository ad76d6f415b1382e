//! The tables.

use std::time::Duration;

use maud::{Markup, html};

use super::super::report::{FamilyReport, FigureReport, RowReport, StepReport};
use super::super::terminal::{bytes, degrees, divergence, percent, rate};
use crate::units;

/// A table that scrolls by itself where the page is narrow.
pub(super) fn wide(label: &str, table: &Markup) -> Markup {
    html! { div class="wide" role="region" aria-label=(label) tabindex="0" { (table) } }
}

/// What the simulator counted.
pub(super) fn counters(family: &FamilyReport) -> Markup {
    let table = html! {
        table class="counters" {
            thead {
                tr {
                    th scope="col" { "Row" }
                    th scope="col" { "Kernel and its idea" }
                    th scope="col" class="input" { "Input" }
                    th scope="col" class="number" title="Asked for by all lanes together" { "Global bytes" }
                    th scope="col" class="number" title="32 bytes for each sector that a request touches" {
                        "In sectors"
                    }
                    th scope="col" class="number"
                        title="Wavefronts of the worst store and load; 16 bytes a lane need up to 4 without conflict" {
                        "Conflicts st / ld"
                    }
                    th scope="col" class="number" title="Of the branches that warps met" { "Divergent" }
                    th scope="col" class="number" { "Barriers" }
                }
            }
            tbody {
                @for step in &family.steps {
                    tr {
                        (name(step))
                        @match &step.counted {
                            Some(counted) => {
                                td class="input" { (counted.shape) }
                                td class="number" { (bytes(counted.global_bytes())) }
                                td class="number" { (bytes(counted.sector_bytes)) }
                                td class="number" { (degrees(counted)) }
                                td class="number" { (divergence(counted)) }
                                td class="number" { (counted.barriers) }
                            }
                            None => td colspan="6" class="bad" { "failed" },
                        }
                    }
                }
            }
        }
    };
    wide(&format!("{}: counters", family.name), &table)
}

fn name(step: &StepReport) -> Markup {
    html! {
        th scope="row" class="row-id" { (step.row.as_deref().unwrap_or_default()) }
        td { code { (step.kernel) } span class="idea" { (step.idea) } }
    }
}

/// What the GPU took.
pub(super) fn times(family: &FamilyReport) -> Markup {
    let table = html! {
        table class="times" {
            thead {
                tr {
                    th scope="col" { "Row" }
                    th scope="col" { "Kernel" }
                    th scope="col" class="input" { "Input" }
                    th scope="col" class="number" { "Time" }
                    th scope="col" class="number" { "Rate" }
                    th scope="col" class="number" { "Times step before" }
                    th scope="col" class="number" { "Of limit" }
                }
            }
            tbody {
                @for step in &family.steps {
                    tr {
                        th scope="row" class="row-id" { (step.row.as_deref().unwrap_or_default()) }
                        td { code { (step.kernel) } }
                        @match &step.timed {
                            Some(timed) => {
                                td class="input" { (timed.shape) }
                                td class="number" { (units::time(Duration::from_secs_f64(timed.seconds))) }
                                td class="number" { (rate(timed)) }
                                td class="number" {
                                    (timed.times_over_before.map_or(String::new(), units::three_digits))
                                }
                                td class="number" { (timed.share_of_limit.map_or(String::new(), percent)) }
                            }
                            None if step.error.is_none() => td colspan="5" { "not on this GPU" },
                            None => td colspan="5" class="bad" { "failed" },
                        }
                    }
                }
            }
        }
    };
    wide(&format!("{}: times", family.name), &table)
}

/// The figures of the texts, a group of lines for each row.
pub(super) fn figures(rows: &[RowReport]) -> Markup {
    let table = html! {
        table class="figures" {
            thead {
                tr {
                    th scope="col" class="what" { "Figure" }
                    th scope="col" class="number" { "Text" }
                    th scope="col" class="number" { "Rule" }
                    th scope="col" class="number" { "Computed" }
                    th scope="col" { "" }
                }
            }
            @for row in rows {
                tbody id=(row.id) {
                    tr class="group" { th scope="rowgroup" colspan="5" { (row.id) " – " (row.idea) } }
                    @for figure in &row.figures { (line(figure)) }
                    @if let Some(error) = &row.error { tr { td colspan="5" class="bad" { (error) } } }
                }
            }
        }
    };
    wide("Figures of the texts", &table)
}

fn line(figure: &FigureReport) -> Markup {
    html! {
        tr {
            td {
                (figure.what)
                @if let Some(reason) = &figure.because { span class="reason" { (reason) } }
            }
            td class="number" { (figure.text.as_deref().unwrap_or("–")) }
            td class="number" { (figure.rule) }
            td class="number" { (figure.computed) }
            @if figure.reproduced { td class="good" { "reproduced" } } @else { td class="bad" { "not reproduced" } }
        }
    }
}

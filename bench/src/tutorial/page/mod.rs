//! `--html`: the report as one page, complete in itself: no script, no font and no picture comes from elsewhere.
//!
//! Colours are variables of the style sheet, chosen by the reader's setting. Every picture has a title, and its numbers
//! stand in a table too. The report itself is embedded as JSON.

mod banks;
mod bars;
mod divergence;
mod roofline;
mod tables;

#[cfg(test)]
mod tests;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::report::{Counted, FamilyReport, Report};
use super::terminal;
use crate::units;

const STYLE: &str = include_str!("style.css");

/// The page.
pub(super) fn page(report: &Report) -> String {
    let title = "GPU kernels step by step";
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header { (head(report, title)) }
                main {
                    @for family in &report.families { (section(report, family)) }
                    section id="texts" {
                        h2 { "The figures of the texts" }
                        p {
                            "Three numbers for each figure: the text's own, what its rule gives by arithmetic, and \
                             what the simulator counted or the launch did. The last two must be equal; where the text \
                             has another number, the reason is given."
                        }
                        (tables::figures(&report.texts.rows))
                    }
                    (method(report))
                }
                script type="application/json" id="report" { (PreEscaped(embedded(report))) }
            }
        }
    };
    markup.into_string()
}

/// JSON that no HTML parser takes for the end of its element.
fn embedded(report: &Report) -> String {
    serde_json::to_string(report).expect("a report has string keys only").replace('<', "\\u003c")
}

/// Name of a section in the address.
fn anchor(family: &FamilyReport) -> String {
    let words = family.name.to_lowercase();
    words.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-")
}

fn head(report: &Report, title: &str) -> Markup {
    let texts = &report.texts;
    html! {
        h1 { (title) }
        p {
            "Each kernel adds one idea to the one before. What it costs is counted by the simulator; how fast it is, \
             where there is a GPU, is measured. Device: " strong { (report.device.name) } "."
        }
        p class="verdict" {
            span class=(if report.passes() { "good" } else { "bad" }) { (terminal::verdict(texts)) }
            " of the teaching texts"
        }
        @for step in report.steps().filter(|step| step.error.is_some()) {
            p class="bad" { (step.kernel) ": " (step.error.as_deref().unwrap_or_default()) }
        }
        nav aria-label="Contents" {
            ul {
                @for family in &report.families { li { a href={ "#" (anchor(family)) } { (family.name) } } }
                li { a href="#texts" { "Figures of the texts" } }
                li { a href="#method" { "How it was computed" } }
            }
        }
    }
}

fn section(report: &Report, family: &FamilyReport) -> Markup {
    let gpu = report.device.gpu.as_ref();
    html! {
        section id=(anchor(family)) {
            h2 { (family.name) }
            p { (family.about) }
            (tables::counters(family))
            @if gpu.is_some() { (tables::times(family)) }
            @let has_operations = |counted: &Counted| counted.operations.is_some();
            @if family.steps.iter().any(|step| step.counted.as_ref().is_some_and(has_operations)) {
                (roofline::figure(family, gpu))
            }
            (bars::speed(family, gpu))
            (bars::divergence(family))
            @if family.steps.iter().any(|step| step.kernel == "set_row_read_col") { (banks::figure(report)) }
            @if family.steps.iter().any(|step| step.kernel == "color_to_gray") { (divergence::figure(report)) }
        }
    }
}

fn method(report: &Report) -> Markup {
    html! {
        section id="method" {
            h2 { "How it was computed" }
            p {
                "Counters come from Warpwright's simulator, which runs the same source and counts what a profiler \
                 counts: 32-byte sectors of global memory, wavefronts of shared memory, branches at which a warp's \
                 lanes disagree, barriers. Inputs are random, never zeros, and every result is compared with the \
                 reference, element by element. It has no clock and no caches: what is counted here is determined by \
                 the program alone."
            }
            @match &report.device.gpu {
                None => p { "Nothing was timed: the device of this run was the simulator." },
                Some(gpu) => {
                    p {
                        "Times are medians between two events on the stream, after the clocks settled, with the output \
                         poisoned before each launch. Limits: " (units::scaled(gpu.peak_flops)) "FLOP/s, which is "
                        (gpu.sm_count) " SMs at their highest clock of " (format!("{:.0}", gpu.clock_hz / 1e6))
                        " MHz; "
                        @if let Some(peak) = gpu.tensor_flops {
                            (units::scaled(peak)) "FLOP/s of bf16 on their tensor cores at that clock, which power \
                             does not let them keep; "
                        }
                        "and " (units::scaled(gpu.copy_bytes_per_second))
                        "B/s, a device-to-device copy measured in the same run."
                    }
                    @if let Some(driver) = &gpu.driver { p class="muted" { (driver) } }
                }
            }
            p class="muted" {
                "Warpwright " (report.version) ", seed " (report.seed)
                ". The numbers of this page are embedded in it as JSON, in the element with the id "
                code { "report" } "."
            }
        }
    }
}

//! The tables in the terminal.

use std::time::Duration;

use comfy_table::ColumnConstraint::{ContentWidth, UpperBoundary};
use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, Width, presets};
use console::Term;

use super::report::{Counted, FamilyReport, Report, RowReport, StepReport, TextsReport, Timed};
use crate::units;

/// All of a report.
pub(super) fn text(report: &Report) -> String {
    let mut parts: Vec<String> = Vec::new();
    for family in &report.families {
        parts.push(format!("{}\n{}", family.name, family.about));
        parts.push(counters(family).to_string());
        if report.device.gpu.is_some() {
            parts.push(times(family).to_string());
        }
    }
    parts.push("The figures of the texts".into());
    parts.push(figures(&report.texts.rows).to_string());
    parts.push(legend(report));
    parts.extend(report.steps().filter_map(|step| Some(format!("{}: {}", step.kernel, step.error.as_ref()?))));
    parts.push(verdict(&report.texts));
    parts.join("\n\n")
}

/// The last line.
pub(super) fn verdict(texts: &TextsReport) -> String {
    let missing: Vec<&str> = texts.rows.iter().filter(|row| !row.reproduced).map(|row| row.id.as_str()).collect();
    let missing = if missing.is_empty() { String::new() } else { format!("; not: {}", missing.join(", ")) };
    format!("{} of {} rows reproduced{missing}", texts.reproduced, texts.rows.len())
}

/// A table as wide as the terminal, with cells broken into lines where they have to be.
fn table<const N: usize>(head: [&str; N]) -> Table {
    let mut table = Table::new();
    table
        .load_preset(presets::UTF8_FULL_CONDENSED)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(width());
    table.set_header(head);
    table
}

/// Columns of the terminal; where the output goes elsewhere, or the terminal is too narrow for any table, what is
/// comfortable.
fn width() -> u16 {
    let columns = Term::stdout().size_checked().map(|(_, columns)| columns);
    columns.filter(|columns| (100..=180).contains(columns)).unwrap_or(150)
}

fn right(text: impl ToString) -> Cell {
    Cell::new(text).set_alignment(CellAlignment::Right)
}

/// A kernel with its idea below.
fn name(step: &StepReport) -> [Cell; 2] {
    [Cell::new(step.row.as_deref().unwrap_or("")), Cell::new(format!("{}\n{}", step.kernel, step.idea))]
}

/// What the simulator counted.
pub(super) fn counters(family: &FamilyReport) -> Table {
    let mut table = table([
        "row",
        "kernel and its idea",
        "input",
        "global bytes",
        "in sectors",
        "conflicts\nst / ld",
        "divergent\nof branches",
        "barriers",
    ]);
    for step in &family.steps {
        let mut row: Vec<Cell> = name(step).into();
        match &step.counted {
            Some(counted) => row.extend([
                Cell::new(&counted.shape),
                right(bytes(counted.global_bytes())),
                right(bytes(counted.sector_bytes)),
                right(degrees(counted)),
                right(divergence(counted)),
                right(counted.barriers),
            ]),
            None => row.push(Cell::new("FAILED")),
        }
        table.add_row(row);
    }
    table
}

/// What the GPU took.
fn times(family: &FamilyReport) -> Table {
    let mut table = table(["row", "kernel", "input", "time", "rate", "times step before", "of limit"]);
    for step in &family.steps {
        let mut row: Vec<Cell> = vec![Cell::new(step.row.as_deref().unwrap_or("")), Cell::new(&step.kernel)];
        match &step.timed {
            Some(timed) => row.extend([
                Cell::new(&timed.shape),
                right(units::time(Duration::from_secs_f64(timed.seconds))),
                right(rate(timed)),
                right(timed.times_over_before.map_or(String::new(), units::three_digits)),
                right(timed.share_of_limit.map_or(String::new(), percent)),
            ]),
            None if step.error.is_none() => row.push(Cell::new("not on this GPU")),
            None => row.push(Cell::new("FAILED")),
        }
        table.add_row(row);
    }
    table
}

/// Figures, a line for each.
pub(super) fn figures(rows: &[RowReport]) -> Table {
    let mut table = table(["row", "what", "text", "rule", "computed", ""]);
    let [numbers, what] = [18, 76].map(|width| UpperBoundary(Width::Fixed(width)));
    table.set_constraints([ContentWidth, what, numbers, numbers, numbers, ContentWidth]);
    for row in rows {
        for figure in &row.figures {
            let because = figure.because.as_deref().map_or(String::new(), |reason| format!("\n– {reason}"));
            table.add_row([
                Cell::new(&row.id),
                Cell::new(format!("{}{because}", figure.what)),
                right(figure.text.as_deref().unwrap_or("")),
                right(&figure.rule),
                right(&figure.computed),
                Cell::new(if figure.reproduced { "reproduced" } else { "NOT REPRODUCED" }),
            ]);
        }
        if let Some(error) = &row.error {
            table.add_row([Cell::new(&row.id), Cell::new(error), right(""), right(""), right(""), Cell::new("FAILED")]);
        }
    }
    table
}

/// How the numbers came about.
fn legend(report: &Report) -> String {
    let counted = "counted on the simulator, every result equal to the reference's or within its bound\n\
        global bytes: asked for by all lanes; in sectors: 32 bytes for each sector that a request touches\n\
        conflicts: worst degree of a store to and of a load from shared memory, in wavefronts (16 bytes a lane need\n\
        up to 4 anyway); divergent of branches: warps whose lanes disagreed, of warps that executed a branch;\n\
        barriers: of all blocks";
    let timed = match &report.device.gpu {
        None => "no times: the device is the simulator".into(),
        Some(gpu) => format!(
            "timed on {}: median by GPU events, random data, output poisoned before each launch, checked against the \
             reference\n\
             limits: {}FLOP/s ({} SMs at {:.0} MHz){}; {}B/s (device-to-device copy, measured now)",
            report.device.name,
            units::scaled(gpu.peak_flops),
            gpu.sm_count,
            gpu.clock_hz / 1e6,
            gpu.tensor_flops.map_or(String::new(), |peak| format!(", {}FLOP/s on tensor cores", units::scaled(peak))),
            units::scaled(gpu.copy_bytes_per_second),
        ),
    };
    format!("{counted}\n{timed}")
}

/// Bytes with a unit, where they are many.
pub(super) fn bytes(count: u64) -> String {
    if count < 10_000 { format!("{count} B") } else { format!("{}B", units::scaled(count as f64)) }
}

/// Conflict degrees of store and load; the width of the accesses where some are wide, since these need several
/// wavefronts anyway.
pub(super) fn degrees(counted: &Counted) -> String {
    let degree = |degree: Option<u32>| degree.map_or("–".into(), |degree| degree.to_string());
    match (counted.store_degree, counted.load_degree) {
        (None, None) => String::new(),
        (store, load) => {
            let wide =
                counted.shared_width.filter(|bytes| *bytes > 4).map_or(String::new(), |bytes| format!(", {bytes} B"));
            format!("{} / {}{wide}", degree(store), degree(load))
        }
    }
}

/// Divergent branches of all that were met.
pub(super) fn divergence(counted: &Counted) -> String {
    if counted.branches == 0 { String::new() } else { format!("{} / {}", counted.divergent, counted.branches) }
}

/// Work over time.
pub(super) fn rate(timed: &Timed) -> String {
    format!("{}{}/s", units::scaled(timed.per_second), timed.unit)
}

/// A share in percent.
pub(super) fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    let digits = [1.0, 10.0].iter().filter(|from| percent < **from).count();
    format!("{percent:.digits$} %")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_for_people() {
        assert_eq!([bytes(4096), bytes(1 << 20)], ["4096 B", "1.05 MB"]);
        assert_eq!([percent(0.000_374), percent(0.0123), percent(0.98)], ["0.04 %", "1.2 %", "98 %"]);
    }
}

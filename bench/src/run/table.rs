//! The table, and what its columns mean.

use comfy_table::{Cell, CellAlignment, Table, presets};
use warpwright::Device;
use warpwright::simulator::Level;

use super::measure::{Outcome, TIMED, Times};
use crate::units::time;

/// One row for each job.
pub(super) fn table(outcomes: &[Outcome]) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::UTF8_FULL_CONDENSED);
    table.set_header(["kernel", "shape", "device", "time", "rate", "worst error / bound", "verdict"]);
    let right = |text: String| Cell::new(text).set_alignment(CellAlignment::Right);
    for outcome in outcomes {
        let [time, rate, worst] = match &outcome.result {
            Ok((times, finding)) => [with_spread(times), outcome.work.rate(times.median()), ratio(finding.worst)],
            Err(_) => [const { String::new() }; 3],
        };
        table.add_row([
            Cell::new(outcome.kernel),
            Cell::new(&outcome.shape),
            Cell::new(&outcome.device),
            right(time),
            right(rate),
            right(worst),
            Cell::new(if outcome.passes() { "passed" } else { "FAILED" }),
        ]);
    }
    table
}

/// The median, with the shortest and the longest where there are several.
fn with_spread(times: &Times) -> String {
    let spread = times.spread().map_or(String::new(), |(least, most)| format!(" ({} … {})", time(least), time(most)));
    time(times.median()) + &spread
}

/// 0 is said in words: not one bit differs.
fn ratio(worst: f64) -> String {
    if worst == 0.0 { "0 (exact)".into() } else { format!("{worst:.3}") }
}

/// How the figures came about.
pub(super) fn legend(device: &Device, workers: usize, seed: u64) -> String {
    let time = match device.simulator_config().map(|config| config.level) {
        None => format!(
            "time: by GPU events, median (shortest … longest) of {TIMED} launches after warming up; output poisoned \
             before each, the last result checked and equal to the first"
        ),
        Some(Level::Off) => "time: wall, to simulate the kernel once on all cores".into(),
        Some(_) => format!("time: wall, to simulate the kernel once on one core, {workers} kernels at a time"),
    };
    format!(
        "{time}\ninput: uniform random reals in [-1, 1], seed {seed}; every element compared with the reference; a \
         ratio up to 1 is explained by rounding"
    )
}

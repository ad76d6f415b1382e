//! The table of a group: each case with ours, each peer and how much faster ours is, and shares of what there is to
//! reach.

use std::fmt::Write as _;
use std::time::Duration;

use super::super::datasheet;
use super::super::record::Measurement;
use super::choose::{Group, OURS, Row};
use crate::units::{Work, time};

/// A Markdown table.
pub(super) fn table(group: &Group<'_>, device: &str) -> String {
    let moves = group.work != "gemm";
    let mut head = String::from("| shape | mode |");
    let mut rule = String::from("|---|---|");
    for by in &group.by {
        let _ = write!(head, " {by} |");
        rule.push_str("--:|");
    }
    let shares: &[&str] = match (group.has_rate, moves) {
        (false, _) => &[],
        (true, false) => &["of the datasheet"],
        (true, true) => &["of the ceiling", "of the datasheet"],
    };
    for share in shares {
        let _ = write!(head, " {share} |");
        rule.push_str("--:|");
    }
    let mut text = format!("{head}\n{rule}\n");
    for row in &group.rows {
        let _ = write!(text, "| {} | {} |", row.shape, row.mode);
        let ours = row.of(OURS);
        let shown = row.shown();
        for by in &group.by {
            let cell = row.of(by).map_or(String::new(), |own| cell(own, ours.filter(|ours| ours.by != own.by), moves));
            let _ = write!(text, " {cell} |");
        }
        if !group.has_rate {
            text.push('\n');
            continue;
        }
        if moves {
            let share = shown.zip(ceiling(group.work, row)).map(|(own, ceiling)| own.bandwidth() / ceiling);
            let _ = write!(text, " {} |", percent(share));
        }
        let share = shown.and_then(|own| {
            if moves {
                Some(own.bandwidth() / datasheet::memory(device)?)
            } else {
                Some(own.throughput() / datasheet::operations(device, group.dtype)?)
            }
        });
        let _ = writeln!(text, " {} |", percent(share));
    }
    text
}

/// The best that was measured in the same run: what only reads is compared with the best read, where there is one.
fn ceiling(work: &str, row: &Row<'_>) -> Option<f64> {
    let writes = matches!(work, "copy" | "add" | "transpose" | "permute");
    if writes { row.copy } else { row.read.or(row.copy) }
}

/// Time, and rate where it has one; of a peer also its time over ours.
fn cell(own: &Measurement, ours: Option<&Measurement>, moves: bool) -> String {
    let duration = Duration::from_secs_f64(own.median_us.max(0.0) / 1e6);
    let work = if moves { Work::Bytes(own.bytes) } else { Work::Operations(own.flops) };
    let ratio = ours.map_or(String::new(), |ours| format!(", {:.3}×", own.median_us / ours.median_us));
    let rate = if own.has_rate() { format!(", {}", work.rate(duration)) } else { String::new() };
    format!("{}{rate}{ratio}", time(duration))
}

fn percent(share: Option<f64>) -> String {
    share.map_or(String::new(), |share| format!("{:.1} %", 100.0 * share))
}

#[cfg(test)]
mod tests {
    use super::super::super::record::Records;
    use super::super::super::record::tests::measured;
    use super::super::choose::groups;
    use super::*;

    #[test]
    fn a_row_has_times_rates_ratios_and_shares() {
        let mut records = Records::default();
        records.measurements.push(measured("sum", "n=1", "warpwright", "r", &[1000.0]));
        records.measurements.push(measured("sum", "n=1", "cub", "r", &[1250.0]));
        records.measurements.push(measured("copy", "n=2", "copy", "r", &[1000.0]));
        let groups = groups(&records);
        assert_eq!(
            table(&groups[0], "NVIDIA H200"),
            "| shape | mode | warpwright | cub | of the ceiling | of the datasheet |\n|---|---|--:|--:|--:|--:|\n\
             | n=1 | burst | 1.00 ms, 4.00 TB/s | 1.25 ms, 3.20 TB/s, 1.250× | 100.0 % | 83.3 % |\n"
        );
    }

    #[test]
    fn times_of_the_host_have_no_rate() {
        let mut records = Records::default();
        for (by, us) in [("warpwright", 4.0), ("cub", 5.0)] {
            records.measurements.push(Measurement { mode: "host".into(), ..measured("sum", "n=1", by, "r", &[us]) });
        }
        records.measurements.push(measured("sum", "n=1", "warpwright", "r", &[1000.0]));
        let groups = groups(&records);
        let titles: Vec<String> = groups.iter().map(super::Group::title).collect();
        assert_eq!(titles, ["sum of f32: host time and first calls", "sum of f32"]);
        let expected =
            "| shape | mode | warpwright | cub |\n|---|---|--:|--:|\n| n=1 | host | 4.00 µs | 5.00 µs, 1.250× |\n";
        assert_eq!(table(&groups[0], "NVIDIA H200"), expected);
        assert!(table(&groups[1], "NVIDIA H200").contains(" of the datasheet |"));
    }
}

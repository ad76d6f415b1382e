//! Both counts side by side.

use std::fmt::Write as _;

use anyhow::{Result, ensure};
use warpwright::simulator::Counters;

use super::cases::Case;
use super::metric::METRICS;
use super::ncu::Profiled;

/// A Markdown table: for each case the counters that either side has counted anything of. The n-th case is the n-th
/// launch.
pub(super) fn table(counted: &[(Case, Counters)], profiled: &[Profiled]) -> Result<String> {
    let names: Vec<&str> = profiled.iter().map(|launch| launch.kernel.as_str()).collect();
    let expected: Vec<&str> = counted.iter().map(|(case, _)| case.kernel).collect();
    ensure!(
        names == expected,
        "ncu saw the launches {names:?}, expected {expected:?}; profile `warpwright-counters --launch`, of this version"
    );
    let mut text =
        String::from("| kernel | shape | counter | simulator | ncu | ncu − simulator |\n|---|---|---|--:|--:|--:|\n");
    for ((case, counters), launch) in counted.iter().zip(profiled) {
        for metric in &METRICS {
            let ours = (metric.simulated)(counters);
            let theirs = launch.values.get(metric.ncu).copied();
            if ours != 0 || theirs != Some(0) {
                let Case { kernel, shape, .. } = case;
                writeln!(text, "| {kernel} | {shape} | {} | {ours} | {}", metric.name, beside(ours, theirs))?;
            }
        }
    }
    Ok(text)
}

/// The profiler's count and the difference.
fn beside(ours: u64, theirs: Option<u64>) -> String {
    match theirs {
        None => "not measured | |".into(),
        Some(theirs) if theirs == ours => format!("{theirs} | equal |"),
        Some(theirs) => {
            let difference = i128::from(theirs) - i128::from(ours);
            if ours == 0 {
                format!("{theirs} | {difference:+} |")
            } else {
                format!("{theirs} | {difference:+} ({:+.2} %) |", 100.0 * difference as f64 / ours as f64)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::{cases, metric, ncu};
    use super::*;

    fn counted() -> Vec<(Case, Counters)> {
        cases::all().into_iter().take(2).map(|case| (case, Counters { warps: 7, ..Counters::default() })).collect()
    }

    fn profiled(kernel: &str, values: &[(&str, u64)]) -> ncu::Profiled {
        let all = metric::METRICS.iter().map(|metric| (metric.ncu.to_owned(), 0));
        let mut all: BTreeMap<String, u64> = all.collect();
        all.extend(values.iter().map(|(name, value)| ((*name).to_owned(), *value)));
        ncu::Profiled { kernel: kernel.into(), values: all }
    }

    #[test]
    fn counters_of_nothing_are_left_out_and_others_are_not() {
        let mut second = profiled("vector_add", &[]);
        second.values.remove(METRICS[0].ncu);
        let launches = [profiled("vector_add", &[(METRICS[1].ncu, 12)]), second];
        let text = table(&counted(), &launches).unwrap();
        let rows: Vec<&str> = text.lines().skip(2).collect();
        assert_eq!(
            rows,
            [
                "| vector_add | 1048576 elements | global load sectors | 0 | 12 | +12 |",
                "| vector_add | 1000003 elements | global load requests | 0 | not measured | |",
            ]
        );
    }

    #[test]
    fn differences_have_sign_and_share() {
        assert_eq!(beside(100, Some(100)), "100 | equal |");
        assert_eq!(beside(64, Some(40)), "40 | -24 (-37.50 %) |");
        assert_eq!(beside(40, Some(64)), "64 | +24 (+60.00 %) |");
    }

    #[test]
    fn launches_of_another_program_are_refused() {
        let launches = [profiled("vector_add", &[]), profiled("axpy", &[])];
        let error = table(&counted(), &launches).unwrap_err().to_string();
        assert!(error.contains("axpy") && error.contains("--launch"), "{error}");
    }
}

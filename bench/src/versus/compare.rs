//! The gate: did anything of ours become slower between two runs?
//!
//! A case of ours is *slower* in run B if both hold:
//! - **the samples differ**: the one-sided test of Mann and Whitney gives a probability below `CHANCE` that samples of
//!   one distribution would lie so ([`statistics::above`]);
//! - **it matters**: B's median is above A's by more than `MATTERS`, and by more than twice the spread (the range of
//!   the middle half) of either run.
//!
//! *Faster* is the same the other way round, and is only said. A case that A has and B has not is *missing*: it cannot
//! be distinguished from one that is slower, and so fails the gate. The change of the other libraries in the same case
//! is printed with it: two runs on different cards, or at different temperatures, change all times alike.

use std::fmt::Write as _;

use anyhow::{Result, bail, ensure};

use super::case::Pattern;
use super::record::{Measurement, Records};
use super::statistics::{self, spread};

/// Probability of a false alarm in a case.
const CHANCE: f64 = 0.005;
/// Differences of medians up to this are not worth an alarm: two runs of one program differ so.
const MATTERS: f64 = 0.02;

/// What became of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Same,
    Faster,
    Slower,
    Missing,
}

/// A case of ours in both runs.
struct Comparison<'a> {
    a: &'a Measurement,
    verdict: Verdict,
    /// B's median over A's.
    ratio: f64,
    /// The same of the peers in this case, their geometric mean.
    peers: Option<f64>,
}

/// Compares ours in two runs; the report, and whether the gate holds.
///
/// # Errors
/// A run is not in the records, or has nothing of ours.
pub fn compare(records: &Records, a: &str, b: &str, patterns: &[Pattern]) -> Result<(String, bool)> {
    for run in [a, b] {
        let known = records.measurements.iter().any(|measurement| measurement.run == run);
        if !known {
            let mut runs: Vec<&str> = records.measurements.iter().map(|own| own.run.as_str()).collect();
            runs.dedup();
            bail!("no run is named {run}; there are {}", runs.join(", "));
        }
    }
    let taken = |own: &&Measurement| patterns.is_empty() || patterns.iter().any(|p| p.takes(&own.work, &own.dtype));
    let ours: Vec<&Measurement> = records
        .measurements
        .iter()
        .filter(|own| own.run == a && own.by.starts_with("warpwright"))
        .filter(taken)
        .collect();
    ensure!(!ours.is_empty(), "run {a} has no measurement of ours among the cases that are asked for");
    let comparisons: Vec<Comparison<'_>> = ours.into_iter().map(|own| one(records, own, b)).collect();
    let count = |verdict| comparisons.iter().filter(|own| own.verdict == verdict).count();
    let mut report = String::new();
    for comparison in comparisons.iter().filter(|own| own.verdict != Verdict::Same) {
        let Comparison { a, verdict, ratio, peers } = comparison;
        let case = format!("{}/{} {} {} {}", a.work, a.dtype, a.shape, a.mode, a.by);
        if *verdict == Verdict::Missing {
            writeln!(report, "MISSING {case}: run {b} has it not")?;
            continue;
        }
        let word = if *verdict == Verdict::Slower { "SLOWER " } else { "faster " };
        let peers = peers.map_or("no peer ran in both".into(), |peers| format!("the peers' {peers:.3}"));
        writeln!(report, "{word} {case}: {:.2} µs before, times {ratio:.3}; {peers}", a.median_us)?;
    }
    let (slower, missing) = (count(Verdict::Slower), count(Verdict::Missing));
    writeln!(
        report,
        "{} compared: {slower} slower, {} faster, {} within the noise, {missing} missing",
        comparisons.len(),
        count(Verdict::Faster),
        count(Verdict::Same)
    )?;
    Ok((report, slower + missing == 0))
}

fn one<'a>(records: &Records, a: &'a Measurement, run: &str) -> Comparison<'a> {
    let same_case = |own: &&Measurement| own.case() == a.case();
    let of =
        |run: &str, by: &str| records.measurements.iter().filter(same_case).rfind(|own| own.run == run && own.by == by);
    let Some(b) = of(run, &a.by) else {
        return Comparison { a, verdict: Verdict::Missing, ratio: f64::NAN, peers: None };
    };
    let peers: Vec<f64> = records
        .measurements
        .iter()
        .filter(same_case)
        .filter(|own| own.run == a.run && !own.by.starts_with("warpwright"))
        .filter_map(|own| Some(of(run, &own.by)?.median_us / own.median_us))
        .collect();
    let mean = (peers.iter().map(|ratio| ratio.ln()).sum::<f64>() / peers.len() as f64).exp();
    Comparison {
        a,
        verdict: verdict(&a.samples_us, &b.samples_us),
        ratio: b.median_us / a.median_us,
        peers: (!peers.is_empty()).then_some(mean),
    }
}

fn verdict(a: &[f64], b: &[f64]) -> Verdict {
    let ratio = statistics::median(b) / statistics::median(a);
    let noise = MATTERS.max(2.0 * spread(a)).max(2.0 * spread(b));
    if ratio > 1.0 + noise && statistics::above(a, b) < CHANCE {
        Verdict::Slower
    } else if ratio < 1.0 / (1.0 + noise) && statistics::above(b, a) < CHANCE {
        Verdict::Faster
    } else {
        Verdict::Same
    }
}

#[cfg(test)]
mod tests {
    use rand::rngs::StdRng;
    use rand::{Rng, SeedableRng};

    use super::super::record::tests::measured;
    use super::*;

    /// 15 samples about `us`, each within ± 0.5 %, now and then one far above.
    fn samples(us: f64, seed: u64) -> Vec<f64> {
        let mut rng = StdRng::seed_from_u64(seed);
        (0..15)
            .map(|_| {
                let outlier = if rng.random_bool(0.07) { 1.6 } else { 1.0 };
                us * outlier * rng.random_range(0.995..1.005)
            })
            .collect()
    }

    fn records(ours: [f64; 2], peer: [f64; 2], seed: u64) -> Records {
        let mut records = Records::default();
        for (number, run) in ["A", "B"].into_iter().enumerate() {
            let seed = 100 * seed + 10 * number as u64;
            records.measurements.push(measured("sum", "n=1", "warpwright", run, &samples(ours[number], seed)));
            records.measurements.push(measured("sum", "n=1", "cub", run, &samples(peer[number], seed + 1)));
        }
        records
    }

    #[test]
    fn noise_raises_no_alarm() {
        let alarms = (0..500).filter(|&seed| !compare(&records([10.0; 2], [12.0; 2], seed), "A", "B", &[]).unwrap().1);
        assert_eq!(alarms.count(), 0);
    }

    #[test]
    fn four_percent_slower_is_noticed_and_one_percent_is_not() {
        let caught = |ratio: f64| {
            (0..200)
                .filter(|&seed| !compare(&records([10.0, 10.0 * ratio], [12.0; 2], seed), "A", "B", &[]).unwrap().1)
                .count()
        };
        // Nine times of ten: some runs have outliers enough to hide it.
        assert!(caught(1.04) >= 180, "{}", caught(1.04));
        assert_eq!(caught(1.01), 0);
    }

    #[test]
    fn the_report_says_how_the_peers_moved() {
        let (report, holds) = compare(&records([10.0, 11.0], [12.0, 13.2], 1), "A", "B", &[]).unwrap();
        assert!(!holds);
        assert!(report.starts_with("SLOWER  sum/f32 n=1 burst warpwright:"), "{report}");
        assert!(report.contains("times 1.1") && report.contains("the peers' 1.1"), "{report}");
        assert!(report.contains("1 compared: 1 slower, 0 faster, 0 within the noise, 0 missing"), "{report}");
    }

    #[test]
    fn faster_is_said_and_passes() {
        let (report, holds) = compare(&records([10.0, 8.0], [12.0; 2], 1), "A", "B", &[]).unwrap();
        assert!(holds);
        assert!(report.starts_with("faster  sum/f32") && report.contains("1 faster"), "{report}");
    }

    #[test]
    fn a_missing_case_fails_unless_it_was_not_asked_for() {
        let mut records = records([10.0; 2], [12.0; 2], 1);
        let mut max = measured("max", "n=1", "warpwright", "A", &samples(5.0, 9));
        records.measurements.push(max.clone());
        let (report, holds) = compare(&records, "A", "B", &[]).unwrap();
        assert!(!holds && report.contains("MISSING max/f32 n=1 burst warpwright: run B has it not"), "{report}");
        assert!(compare(&records, "A", "B", &["sum".parse().unwrap()]).unwrap().1);
        // In the other mode it is another case.
        (max.mode, max.run) = ("sustained".into(), "B".into());
        records.measurements.push(max);
        assert!(!compare(&records, "A", "B", &[]).unwrap().1);
    }

    #[test]
    fn a_wide_spread_is_no_regression() {
        let wide = |us: f64, seed| {
            let mut rng = StdRng::seed_from_u64(seed);
            (0..15).map(|_| us * rng.random_range(0.8..1.2)).collect::<Vec<f64>>()
        };
        assert_eq!(verdict(&wide(10.0, 1), &wide(10.8, 2)), Verdict::Same);
        assert_eq!(verdict(&wide(10.0, 1), &wide(20.0, 2)), Verdict::Slower);
    }

    #[test]
    fn an_unknown_run_is_named_with_those_there_are() {
        let error = compare(&records([1.0; 2], [1.0; 2], 1), "A", "C", &[]).unwrap_err().to_string();
        assert_eq!(error, "no run is named C; there are A, B");
    }
}

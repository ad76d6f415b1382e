//! Environment variables that concern all launches of a process: another schedule, and a list of what was launched.
//!
//! `WARPWRIGHT_SCHEDULE=7,32` gives each launch another seed, made of its own and of 7, and 32 resident blocks.
//! `WARPWRIGHT_LAUNCHES=FILE` appends to FILE each launch with checks that had no report: the kernel's name, its number
//! of resident blocks and its seed, as `reduce_sum 32 30064771072`. `cargo warpwright schedules` uses both.

use crate::config::{Config, Level};
use crate::launch::{Launch, LaunchError, Outcome};
use std::borrow::Cow;
use std::env;
use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::sync::OnceLock;

/// A number that changes each launch's seed, and the resident blocks.
type Schedule = (u64, u32);

struct Variables {
    /// `None`: each launch has its own. Invalid: the variable's text.
    schedule: Result<Option<Schedule>, String>,
    /// Where launches are appended.
    launches: Option<OsString>,
}

/// Read once per process.
fn variables() -> &'static Variables {
    static VARIABLES: OnceLock<Variables> = OnceLock::new();
    VARIABLES.get_or_init(|| Variables {
        schedule: match env::var("WARPWRIGHT_SCHEDULE") {
            Err(_) => Ok(None),
            Ok(text) => parse(&text).map(Some).ok_or(text),
        },
        launches: env::var_os("WARPWRIGHT_LAUNCHES"),
    })
}

/// `7,32`
fn parse(text: &str) -> Option<Schedule> {
    let (seed, resident) = text.split_once(',')?;
    Some((seed.trim().parse().ok()?, resident.trim().parse().ok()?))
}

/// The configuration of a launch: `config`, with the schedule of `WARPWRIGHT_SCHEDULE`.
pub(crate) fn configure(config: &Config) -> Result<Cow<'_, Config>, LaunchError> {
    match &variables().schedule {
        Ok(None) => Ok(Cow::Borrowed(config)),
        Ok(Some(schedule)) => Ok(Cow::Owned(rescheduled(config, *schedule))),
        Err(text) => Err(LaunchError::Config {
            problem: format!(
                "WARPWRIGHT_SCHEDULE must be a seed and a number of resident blocks, as 7,32; it is `{text}`"
            ),
        }),
    }
}

/// Small seeds, which tests use, do not meet those of another schedule.
fn rescheduled(config: &Config, (other, resident): Schedule) -> Config {
    Config { seed: config.seed ^ other.rotate_left(32), resident, ..config.clone() }
}

/// After a launch: appends it to the file of `WARPWRIGHT_LAUNCHES`.
pub(crate) fn end_launch(launch: &Launch<'_>, config: &Config, outcome: &Outcome) {
    let Some(path) = &variables().launches else { return };
    if config.level == Level::Off || !outcome.reports.is_empty() {
        return;
    }
    let line = format!("{} {} {}\n", launch.name, config.resident, config.seed);
    let appended = File::options().append(true).create(true).open(path);
    if let Err(error) = appended.and_then(|mut file| file.write_all(line.as_bytes())) {
        eprintln!("WARPWRIGHT_LAUNCHES={}: {error}", path.display());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schedule_is_a_seed_and_a_number_of_blocks() {
        assert_eq!(parse("7,32"), Some((7, 32)));
        assert_eq!(parse("0, 1"), Some((0, 1)));
        for text in ["", "7", "7,", ",32", "7,32,1", "-7,32", "7,x"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn other_schedules_differ_from_each_other_and_from_those_of_small_seeds() {
        let config = |seed| Config::new(Level::Checks).seed(seed);
        let seeds = (0..50).flat_map(|seed| (0..50).map(move |other| rescheduled(&config(seed), (other, 4)).seed));
        assert_eq!(seeds.collect::<std::collections::BTreeSet<_>>().len(), 2500);
        assert_eq!(rescheduled(&config(5), (0, 4)), config(5).resident(4));
    }
}

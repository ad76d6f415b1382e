//! What the simulator does with kernels that have no defect, against plain models: warp operations, barriers, atomics, the
//! order they give, the copy engine, launches and their parameters, counters. Defects are in the planted-bug collection.

mod atomics;
mod barriers;
mod clusters;
mod counters;
mod engine;
mod launches;
mod limits;
mod order;
mod places;
mod products;
mod warps;

use simulator::{Config, Level, Outcome};

/// Checked launches in so many orders, with one block at a time and with four.
fn schedules(seeds: u64) -> impl Iterator<Item = Config> {
    let config = move |resident| (0..seeds).map(move |seed| Config::new(Level::Checks).seed(seed).resident(resident));
    [1, 4].into_iter().flat_map(config)
}

/// Panics with the reports, if there are any.
#[track_caller]
fn silent(outcome: &Outcome, config: &Config) {
    let texts: Vec<String> = outcome.reports.iter().map(ToString::to_string).collect();
    assert!(texts.is_empty(), "{config:?}\n{}", texts.join("\n"));
}

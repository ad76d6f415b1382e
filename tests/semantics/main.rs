//! What the simulator does with kernels that have no defect, compared with simple models: warp operations, barriers,
//! atomics and their order, TMA, launches and their parameters, counters. Kernels with defects are in `tests/defects`.

mod atomics;
mod barriers;
mod clusters;
mod counters;
mod downloads;
mod hangs;
mod launches;
mod limits;
mod locations;
mod order;
mod tma;
mod warps;
mod wgmma;

use simulator::{Config, Level, Outcome};

/// Checked launches with so many seeds, with one resident block and with four.
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

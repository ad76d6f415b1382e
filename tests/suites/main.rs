//! Suites of kernels with and without faults that were published to compare detectors: what the simulator says of each.
//!
//! The kernels are reimplemented from the published patterns; their verdicts are the suites'. Sources, results and the
//! commands are in docs/detection.md.
//!
//! Each kernel runs under several schedules: seeds × numbers of resident blocks. `WARPWRIGHT_SEEDS` is the number of
//! seeds; with `--nocapture` each suite prints its table.

mod indigo;
mod litmus;
mod reported;
mod scor;
mod verdicts;

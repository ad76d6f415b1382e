//! Figures of the teaching texts, computed by the simulator's counters.
//!
//! Each test names the row of the texts' tables that it reproduces: A matrix multiplication, B sums of squares, C warps and
//! divergence, D banks of shared memory. A figure is derived from the rule, for several shapes, and compared with what was counted; where a
//! text counts otherwise, the test says so. Runs on the simulator whatever `WARPWRIGHT_DEVICE` says: a GPU has no counters.

mod banks;
mod matmul;
mod squares;
mod transposes;
mod warps;

use std::collections::BTreeMap;

use warpwright::simulator::{Config, Counters, Level};
use warpwright::{Device, KernelArgs, Launch};
use warpwright_bench::tutorial::figures::{Row, Value};

/// The simulator at the level that counts.
fn device() -> Device {
    Device::simulator_with(Config::new(Level::Counters).seed(1))
}

/// Launches, and gives what was counted.
fn count<P, A>(device: &Device, kernel: &simt::Kernel<P>, launch: Launch<'_>, args: A) -> Counters
where
    P: Copy + Send + Sync,
    A: KernelArgs<P>,
{
    let execution = device.launch(kernel, launch, args).unwrap_or_else(|error| panic!("{error}"));
    execution.counters.expect("the simulator counts at this level")
}

/// What was counted for the figures of the row of this name, each of which must be reproduced: equal to its rule, and to what
/// the text states.
fn computed(rows: Vec<Row>, id: &str) -> BTreeMap<String, Value> {
    let row = rows.into_iter().find(|row| row.id == id).expect("a row of this name");
    let figures = (row.figures)().unwrap_or_else(|error| panic!("{id}: {error:#}"));
    assert!(!figures.is_empty(), "{id} has no figure");
    for figure in &figures {
        assert!(figure.is_reproduced(), "{id} is not reproduced: {figure:#?}");
    }
    let count = figures.len();
    let computed: BTreeMap<_, _> = figures.into_iter().map(|figure| (figure.what, figure.computed)).collect();
    assert_eq!(computed.len(), count, "{id}: two figures have the same name");
    computed
}

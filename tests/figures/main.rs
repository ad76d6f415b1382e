//! The figures of the tutorial's texts, computed by the simulator's counters.
//!
//! The name of a test starts with the row of the texts' tables that it reproduces: A matrix multiplication, B sums of
//! squares, C warps and divergence, D shared memory banks. A figure is derived from a rule for several shapes and
//! compared with the counters; the test says where a text counts differently. These tests always run on the simulator,
//! since a GPU has no counters.

mod banks;
mod matmul;
mod squares;
mod transposes;
mod warps;

use std::collections::BTreeMap;

use warpwright::simulator::{Config, Counters, Level};
use warpwright::{Device, KernelArgs, Launch};
use warpwright_bench::tutorial::figures::{Row, Value};

/// The simulator with counters.
fn device() -> Device {
    Device::simulator_with(Config::new(Level::Counters).seed(1))
}

/// Launches, and returns the counters.
fn count<P, A>(device: &Device, kernel: &simt::Kernel<P>, launch: Launch<'_>, args: A) -> Counters
where
    P: Copy + Send + Sync,
    A: KernelArgs<P>,
{
    let execution = device.launch(kernel, launch, args).unwrap_or_else(|error| panic!("{error}"));
    execution.counters.expect("the simulator counts at this level")
}

/// The counted figures of a row, each of which must be reproduced: equal to its rule and to the text.
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

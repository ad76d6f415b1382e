//! Figures of the teaching texts, computed by the simulator's counters.
//!
//! Each test names the row of the texts' tables that it reproduces: A matrix multiplication, C warps and divergence, D banks
//! of shared memory. A figure is derived from the rule, for several shapes, and compared with what was counted; where a
//! text counts otherwise, the test says so. Runs on the simulator whatever `WARPWRIGHT_DEVICE` says: a GPU has no counters.

mod banks;
mod matmul;
mod warps;

use warpwright::simulator::{Config, Counters, Level};
use warpwright::{Device, KernelArgs, Launch};

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

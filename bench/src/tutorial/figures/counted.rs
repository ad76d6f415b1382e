//! Launches on the simulator, and what they counted.

use anyhow::{Context as _, Result};
use simt::Kernel;
use warpwright::simulator::{Access, Config, Counters, Level, SiteCounts};
use warpwright::{Device, KernelArgs, Launch};

use super::Value;

/// The simulator at the level that counts, with threads in the order of their indices.
pub(super) fn device() -> Device {
    with_warps_of(32)
}

/// The same with another warp size.
pub(super) fn with_warps_of(lanes: u32) -> Device {
    Device::simulator_with(Config::new(Level::Counters).warp_size(lanes))
}

/// Launches, and gives what was counted.
pub(super) fn count<P, A>(device: &Device, kernel: &Kernel<P>, launch: Launch<'_>, args: A) -> Result<Counters>
where
    P: Copy + Send + Sync,
    A: KernelArgs<P>,
{
    device.launch(kernel, launch, args)?.counters.context("the simulator counts at this level")
}

/// The branches that the kernel names, in the order in which they stand in its source.
pub(super) fn branches(counters: &Counters) -> Vec<&SiteCounts> {
    let mut branches: Vec<_> = counters.sites.iter().filter(|((_, access, _), _)| *access == Access::Branch).collect();
    branches.sort_by_key(|((site, ..), _)| (site.line, site.column));
    branches.into_iter().map(|(_, counts)| counts).collect()
}

/// Conflict degrees of the worst store into shared memory and of the worst load from it.
pub(super) fn degrees(counters: &Counters) -> Value {
    let [store, load] = [Access::SharedStore, Access::SharedLoad].map(|access| counters.total(access).worst);
    Value::Degrees(store.into(), load.into())
}

/// Warps of 32 of a block whose lanes disagree on a condition of the thread's index.
pub(super) fn divergent_warps(threads: u32, holds: impl Fn(u32) -> bool) -> u64 {
    let warps = (0..threads.div_ceil(32)).map(|warp| warp * 32..threads.min(warp * 32 + 32));
    warps.filter(|lanes| lanes.clone().any(&holds) && !lanes.clone().all(&holds)).count() as u64
}

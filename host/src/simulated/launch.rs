//! Launches on the simulator.

use std::sync::{RwLockReadGuard, RwLockWriteGuard};

use simulator::{Binding, Config};

use super::Memory;
use crate::backend;
use crate::error::{Error, FaultReport};
use crate::launch::{Bound, Execution, Request};

/// A locked allocation.
enum Guard<'a> {
    Read(RwLockReadGuard<'a, simulator::Memory>),
    Write(RwLockWriteGuard<'a, simulator::Memory>),
}

impl Guard<'_> {
    fn memory(&self) -> &simulator::Memory {
        match self {
            Self::Read(guard) => guard,
            Self::Write(guard) => guard,
        }
    }
}

/// Runs the kernel to its end.
///
/// # Safety
/// The body runs the kernel of `request.info` with views of `request.bound` whose tags are the indices in it.
pub(crate) unsafe fn launch(config: &Config, request: &Request<'_>) -> Result<Execution, Error> {
    let guards = lock(request.bound);
    let bindings: Vec<Binding<'_>> = request
        .bound
        .iter()
        .zip(&guards)
        .map(|(bound, guard)| Binding { name: bound.name, memory: guard.memory(), writable: bound.write })
        .collect();
    let launch = simulator::Launch {
        name: request.info.name,
        grid: request.geometry.grid,
        block: request.geometry.block,
        shared_bytes: request.geometry.shared_bytes,
        cluster: request.geometry.cluster,
        pdl: request.info.pdl,
        bindings: &bindings,
    };
    // SAFETY: the guards give this launch the memory it writes for itself, and keep writers from what it reads; the views
    // in the body point into these bindings, as the caller promises.
    let outcome = unsafe { simulator::launch(&launch, config, request.body) };
    let kernel = || request.info.name.to_owned();
    let outcome = outcome.map_err(|error| Error::Simulator { kernel: kernel(), reason: error.to_string() })?;
    if outcome.reports.is_empty() && outcome.suppressed == 0 {
        return Ok(Execution {
            counters: outcome.counters,
            clock: Some(outcome.clock),
            shadow_bytes: Some(outcome.shadow_bytes),
        });
    }
    Err(Error::Faults(Box::new(FaultReport {
        kernel: kernel(),
        reports: outcome.reports,
        suppressed: outcome.suppressed,
    })))
}

/// Locks each allocation once, in the order of their addresses (see [`Memory::copy`]); guards in the order of `bound`.
fn lock<'a>(bound: &[Bound<'a>]) -> Vec<Guard<'a>> {
    let mut order: Vec<(usize, &'a Memory, bool)> =
        bound.iter().enumerate().map(|(i, bound)| (i, simulated(bound), bound.write)).collect();
    order.sort_by_key(|&(_, memory, _)| std::ptr::from_ref(memory));
    let mut guards: Vec<(usize, Guard<'a>)> = order
        .into_iter()
        .map(|(i, memory, write)| {
            (i, if write { Guard::Write(memory.write_guard()) } else { Guard::Read(memory.read_guard()) })
        })
        .collect();
    guards.sort_by_key(|&(i, _)| i);
    guards.into_iter().map(|(_, guard)| guard).collect()
}

/// The simulated memory behind a binding.
fn simulated<'a>(bound: &Bound<'a>) -> &'a Memory {
    match bound.allocation.memory() {
        backend::Memory::Simulated(memory) => memory,
        #[cfg(feature = "cuda")]
        backend::Memory::Cuda(_) => unreachable!("an argument on another device was refused when it was bound"),
    }
}

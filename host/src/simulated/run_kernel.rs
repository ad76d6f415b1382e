//! Kernel launches on the simulator.

use std::sync::{Once, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};

use simulator::Config;

use super::Memory;
use crate::contract::{Binding, Execution, KernelLaunch};
use crate::error::{Error, FaultReport};
use crate::printer::Printer;

/// If a launch takes longer in a build without optimisation, it says how to make it faster.
const SLOW: Duration = Duration::from_secs(2);

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
/// The body runs the kernel of `launch.info` with views of `bindings` whose tags are the indices in it.
pub(crate) unsafe fn launch<'a>(
    config: &Config,
    printer: &Printer,
    launch: &KernelLaunch<'_>,
    bindings: impl Iterator<Item = Binding<'a, Memory>>,
) -> Result<Execution, Error> {
    let bindings: Vec<_> = bindings.collect();
    let guards = lock(&bindings);
    let bindings: Vec<simulator::Binding<'_>> = bindings
        .iter()
        .zip(&guards)
        .map(|(it, guard)| simulator::Binding { name: it.name, memory: guard.memory(), writable: it.write })
        .collect();
    let KernelLaunch { info, geometry, body, .. } = *launch;
    let print = |line: &str| printer.print(line);
    let launch = simulator::Launch {
        name: info.name,
        grid: geometry.grid,
        block: geometry.block,
        shared_bytes: geometry.shared_bytes,
        cluster: geometry.cluster,
        pdl: info.pdl,
        bindings: &bindings,
        print: Some(&print),
    };
    let started = Instant::now();
    // SAFETY: the guards give this launch exclusive access to the memory it writes, and exclude writers from what it
    // reads; the views in the body point into these bindings, as the caller promises.
    let outcome = unsafe { simulator::launch(&launch, config, body) };
    if cfg!(not(optimised)) {
        hint(info.name, started.elapsed());
    }
    let kernel = || info.name.to_owned();
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

/// Says on standard error, once, how to make a slow launch faster.
fn hint(kernel: &str, took: Duration) {
    static SAID: Once = Once::new();
    if took >= SLOW {
        SAID.call_once(|| {
            eprintln!(
                "warpwright: `{kernel}` took {:.1} s on the simulator, in a build without optimisation. These lines \
                 in Cargo.toml make it twenty times faster:\n\n{}",
                took.as_secs_f64(),
                include_str!("profile.toml")
            );
        });
    }
}

/// Locks each allocation once, in the order of their addresses (see [`Memory::copy`]); guards in the order of
/// `bindings`.
fn lock<'a>(bindings: &[Binding<'a, Memory>]) -> Vec<Guard<'a>> {
    let mut order: Vec<usize> = (0..bindings.len()).collect();
    order.sort_by_key(|&i| std::ptr::from_ref(bindings[i].memory));
    let mut guards: Vec<(usize, Guard<'a>)> = order
        .into_iter()
        .map(|i| {
            let Binding { memory, write, .. } = bindings[i];
            (i, if write { Guard::Write(memory.write_guard()) } else { Guard::Read(memory.read_guard()) })
        })
        .collect();
    guards.sort_by_key(|&(i, _)| i);
    guards.into_iter().map(|(_, guard)| guard).collect()
}

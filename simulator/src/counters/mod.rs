//! The counters of a profiler: requests, sectors and wavefronts per instruction, barriers, divergent branches.
//!
//! Lanes run one after another, so the accesses of a warp-wide instruction arrive one at a time. They are grouped by
//! source location and occurrence: the n-th time that a lane passes a location belongs to the n-th request of the warp
//! there. A request is evaluated as soon as every live lane of the warp is in it, else at a barrier of the block or at
//! its end.

mod block;
mod measure;
pub(crate) mod trace;
mod warp;

pub(crate) use block::BlockCounters;
pub(crate) use measure::Banks;
pub(crate) use trace::Thread;
use warp::WarpCounters;
pub(crate) use warp::{Counted, What};

use crate::report::Site;
use std::collections::BTreeMap;
use std::panic::Location;

/// The kinds of instruction that are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Access {
    /// Read of global memory.
    GlobalLoad,
    /// Write of global memory.
    GlobalStore,
    /// Atomic operation on global memory.
    GlobalAtomic,
    /// Read of shared memory.
    SharedLoad,
    /// Write of shared memory.
    SharedStore,
    /// Atomic operation on shared memory.
    SharedAtomic,
    /// Asynchronous copy, its read of global memory.
    AsyncCopy,
    /// Branch named by `simt::branch`.
    Branch,
    /// Box that TMA loads: the part inside the tensor, in vectors of 16 bytes, each counted as a lane.
    TensorLoad,
    /// Box that TMA stores, counted in the same way.
    TensorStore,
}

impl Access {
    /// Whether it touches global memory, so that sectors are counted.
    pub fn is_global(self) -> bool {
        matches!(
            self,
            Self::GlobalLoad
                | Self::GlobalStore
                | Self::GlobalAtomic
                | Self::AsyncCopy
                | Self::TensorLoad
                | Self::TensorStore
        )
    }

    /// Whether it touches shared memory, so that wavefronts are counted.
    pub fn is_shared(self) -> bool {
        matches!(self, Self::SharedLoad | Self::SharedStore | Self::SharedAtomic)
    }
}

/// Counts of one instruction of the source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SiteCounts {
    /// Warp-wide requests.
    pub requests: u64,
    /// Lanes that took part, over all requests.
    pub lanes: u64,
    /// Global memory: 32-byte sectors touched, over all requests.
    pub sectors: u64,
    /// Shared memory: wavefronts, over all requests (1 per request is free of conflicts).
    pub wavefronts: u64,
    /// Shared memory: most wavefronts of one request, the conflict degree.
    pub worst: u32,
    /// Branches: requests in which the lanes disagreed.
    pub divergent: u64,
    /// Branches: per occurrence in the block (0, 1, 2 …), over all blocks and warps.
    pub steps: Vec<Step>,
}

/// One occurrence of a branch, over all warps that met it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// Warps that met the branch.
    pub warps: u64,
    /// Warps in which the condition held for at least one lane.
    pub active: u64,
    /// Warps whose lanes disagreed.
    pub divergent: u64,
    /// Lanes for which the condition held.
    pub lanes: u64,
}

/// The counters of one launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// By source location, kind and width in bytes.
    pub sites: BTreeMap<(Site, Access, u32), SiteCounts>,
    /// Completed barriers of whole blocks.
    pub barriers: u64,
    /// Warps that the launch had.
    pub warps: u64,
}

impl Counters {
    /// Sum over all instructions of one kind.
    pub fn total(&self, access: Access) -> SiteCounts {
        let mut total = SiteCounts::default();
        for ((_, kind, _), counts) in &self.sites {
            if *kind == access {
                total.add(counts);
            }
        }
        total
    }

    /// Bytes that all lanes together asked of one kind of instruction.
    pub fn bytes(&self, access: Access) -> u64 {
        self.sites
            .iter()
            .filter(|((_, kind, _), _)| *kind == access)
            .map(|((_, _, size), c)| u64::from(*size) * c.lanes)
            .sum()
    }

    /// Counts of the only instruction of this kind on a line of a file whose name ends in `file`; several columns are
    /// added up.
    pub fn line(&self, file: &str, line: u32, access: Access) -> SiteCounts {
        let mut total = SiteCounts::default();
        for ((site, kind, _), counts) in &self.sites {
            if *kind == access && site.line == line && site.file.ends_with(file) {
                total.add(counts);
            }
        }
        total
    }

    /// Adds what another launch counted.
    pub fn merge(&mut self, other: &Self) {
        for (key, counts) in &other.sites {
            self.sites.entry(key.clone()).or_default().add(counts);
        }
        self.barriers += other.barriers;
        self.warps += other.warps;
    }

    pub(crate) fn add(
        &mut self,
        (location, access, size): (&'static Location<'static>, Access, u32),
        counts: &SiteCounts,
    ) {
        self.sites.entry((Site::new(location), access, size)).or_default().add(counts);
    }
}

impl SiteCounts {
    /// Adds the counts of another instruction, or of the same one elsewhere.
    pub fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.lanes += other.lanes;
        self.sectors += other.sectors;
        self.wavefronts += other.wavefronts;
        self.worst = self.worst.max(other.worst);
        self.divergent += other.divergent;
        if self.steps.len() < other.steps.len() {
            self.steps.resize(other.steps.len(), Step::default());
        }
        for (step, more) in self.steps.iter_mut().zip(&other.steps) {
            step.warps += more.warps;
            step.active += more.active;
            step.divergent += more.divergent;
            step.lanes += more.lanes;
        }
    }
}

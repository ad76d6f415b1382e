//! Stream-K: the last tiles of C, which would not fill a wave, are split evenly along k among all blocks:
//! `gpu::gemm::sm90::schedule::stream_k`.
//!
//! ```text
//! workspace   │ up to 3 to reach 16 bytes │ 8 flags of 8 bytes per cluster │ a tile of partial sums per cluster │
//! ```
//!
//! A block that has the beginning of a tile stores its partial sums and sets its flag to the epoch of the launch; the
//! block that has the end waits for the flag and adds them, or goes on from them (fix-up). The workspace is counted in
//! `f32`.

use std::hash::{BuildHasher, RandomState};
use std::ops::Range;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use gpu::gemm::number::Number;
use gpu::gemm::sm90::schedule::stream_k::{split_tiles, split_tiles_in_order};
use simt::element::Element;

use super::configuration::Configuration;
use super::problem::Problem;
use crate::error::Result;
use crate::launch::Fields;
use crate::memory::{Buffer, BufferViewMut};

/// `f32` for the flags of a cluster: 8 bytes for each warpgroup, or warp, that passes partial sums.
const FLAGS: usize = 16;
/// `f32` for aligning the flags to 16 bytes.
const SLACK: usize = 3;
/// Fewest steps per cluster that are worth a fix-up.
const MIN_STEPS: u64 = 4;

/// The workspace for the fix-up of tiles that are split among clusters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FixupMemory {
    clusters: usize,
    /// `f32` of a tile's partial sums.
    partials: usize,
}

impl FixupMemory {
    /// Of so many clusters with tiles of these rows and columns, whose partial sums have so many bytes each.
    pub(super) fn new(clusters: u32, [rows, cols]: [u32; 2], partial_bytes: usize) -> Self {
        let partials = rows as usize * cols as usize * partial_bytes / size_of::<f32>();
        Self { clusters: clusters as usize, partials }
    }

    /// `f32` of workspace.
    pub(super) fn workspace_len(self) -> usize {
        self.flags_len() + self.clusters * self.partials
    }

    /// `f32` at the beginning of the workspace that include all flags.
    fn flags_len(self) -> usize {
        self.clusters * FLAGS + SLACK
    }

    /// Zeroes the flags in a new workspace: any old ones would do, but reading uninitialised memory is an error for
    /// checking tools.
    pub(super) fn zero_flags(self, workspace: &mut Buffer<f32>) -> Result<()> {
        workspace.slice_mut(0..self.flags_len())?.zero()
    }
}

/// Which tiles are split among how many clusters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Schedule {
    pub(super) tiles: u32,
    /// Tiles that are split along k.
    pub(super) split_tiles: u32,
    /// Steps of the main loop per tile.
    pub(super) steps: u32,
    pub(super) clusters: u32,
}

impl Schedule {
    /// The schedule for at most this many clusters, no more than there are steps. `None` if 32 bits do not count the
    /// steps.
    pub(super) fn new<T: Number>(problem: &Problem, configuration: &Configuration<T>, clusters: u32) -> Option<Self> {
        let (tiles, steps) = counts(problem, configuration)?;
        let clusters = u64::from(clusters).min(u64::from(tiles) * u64::from(steps)).max(1) as u32;
        let split_tiles = if configuration.is_sequential {
            split_tiles_in_order(tiles, clusters)
        } else {
            split_tiles(tiles, clusters)
        };
        // The kernel counts the steps of split tiles.
        split_tiles.checked_mul(steps)?;
        Some(Self { tiles, split_tiles, steps, clusters })
    }

    /// The numbers of clusters that may be worth it: all that are resident with at least [`MIN_STEPS`] each; if there
    /// are fewer tiles, a multiple of them, too. (Clusters at different steps of their tiles do not read the same rows
    /// of A and columns of B: 5 to 20 % slower for 16-bit types, unless memory limits.)
    pub(super) fn suggested_clusters<T: Number>(
        problem: &Problem,
        configuration: &Configuration<T>,
        sm_count: u32,
    ) -> impl Iterator<Item = u32> {
        let (tiles, steps) = counts(problem, configuration).unwrap_or_default();
        let resident = u64::from(configuration.resident_clusters(sm_count));
        let most = resident.min(u64::from(tiles) * u64::from(steps) / MIN_STEPS) as u32;
        let even = most / tiles.max(1) * tiles;
        let is_worth_it = move |&clusters: &u32| {
            let schedule = Self::new(problem, configuration, clusters);
            schedule.is_some_and(|schedule| schedule.split_tiles > 0) && clusters > 1 && clusters != tiles
        };
        [even, most].into_iter().skip(usize::from(even == 0 || even == most)).filter(is_worth_it)
    }

    /// Whether equally many clusters share each of the split tiles.
    pub(super) fn is_even(&self) -> bool {
        self.clusters.is_multiple_of(self.split_tiles.max(1))
    }

    /// Clusters for each of the split tiles, if all have equally many; else 0.
    pub(super) fn parts(&self) -> u32 {
        if self.split_tiles > 0 && self.is_even() { self.clusters / self.split_tiles } else { 0 }
    }

    /// What the fix-up needs.
    pub(super) fn memory<T: Number>(&self, configuration: &Configuration<T>) -> FixupMemory {
        FixupMemory::new(self.clusters, configuration.tile, configuration.partial_bytes())
    }

    /// Steps of the cluster with most work.
    pub(super) fn max_steps(&self) -> f64 {
        let whole = (self.tiles - self.split_tiles) / self.clusters * self.steps;
        (f64::from(self.split_tiles) * f64::from(self.steps) / f64::from(self.clusters)).ceil() + f64::from(whole)
    }

    /// Most clusters that have steps of one tile.
    pub(super) fn max_clusters_per_tile(&self) -> f64 {
        (f64::from(self.clusters) / f64::from(self.split_tiles.max(1))).ceil() + if self.is_even() { 0.0 } else { 1.0 }
    }
}

/// Tiles of all matrices, and steps of each.
fn counts<T: Number>(problem: &Problem, configuration: &Configuration<T>) -> Option<(u32, u32)> {
    let [rows, cols] = configuration.tile.map(|edge| edge as usize);
    let tiles = problem.m.div_ceil(rows).checked_mul(problem.n.div_ceil(cols))?.checked_mul(problem.batch)?;
    let steps = problem.k.div_ceil(configuration.k_step() as usize);
    Some((u32::try_from(tiles).ok()?, u32::try_from(steps).ok()?))
}

/// The stream-K arguments of a kernel.
#[derive(Debug)]
pub(super) struct StreamKArgs<'w> {
    split_tiles: u32,
    parts: u32,
    partials: BufferViewMut<'w, f32>,
    flags: BufferViewMut<'w, u64>,
    epoch: u64,
}

impl<'w> StreamKArgs<'w> {
    /// No tile is split. The empty views are made from `memory`.
    pub(super) fn none<X: Element>(memory: &BufferViewMut<'w, X>) -> Self {
        Self { split_tiles: 0, parts: 0, partials: memory.empty(), flags: memory.empty(), epoch: 0 }
    }

    /// Flags and partial sums in a workspace of [`FixupMemory::workspace_len`] elements.
    pub(super) fn new(
        [split_tiles, parts]: [u32; 2],
        memory: FixupMemory,
        workspace: BufferViewMut<'w, f32>,
    ) -> Result<Self> {
        let misalignment = workspace.view().device_ptr().addr() / size_of::<f32>() % (SLACK + 1);
        let start = if misalignment == 0 { 0 } else { SLACK + 1 - misalignment };
        let Range { start, end } = start..start + memory.workspace_len() - SLACK;
        let (flags, partials) = workspace.slice(start..end)?.split_at(memory.flags_len() - SLACK)?;
        let mut flags = flags.into_u64_words();
        // Any old value is not the epoch.
        flags.assume_init();
        Ok(Self { split_tiles, parts, partials, flags, epoch: next_epoch() })
    }

    /// In the order of [`gpu::gemm::args::StreamKArgs`].
    #[allow(clippy::type_complexity, reason = "a tuple of five")]
    pub(super) fn fields(self) -> Fields<(BufferViewMut<'w, f32>, BufferViewMut<'w, u64>, u64, u32, u32)> {
        Fields((self.partials, self.flags, self.epoch, self.split_tiles, self.parts))
    }
}

/// A number that no launch of this process has used, and that is unlikely to be in memory by chance. Not 0, the value
/// of a reset flag.
fn next_epoch() -> u64 {
    static LAUNCHES: AtomicU64 = AtomicU64::new(0);
    static KEY: LazyLock<RandomState> = LazyLock::new(RandomState::new);
    KEY.hash_one(LAUNCHES.fetch_add(1, Ordering::Relaxed)).max(1)
}

#[cfg(test)]
mod tests {
    use half::{bf16, f16};

    use super::super::configuration::Kernels;
    use super::*;

    /// A tensor-core kernel has a flag for each warpgroup or warp that multiplies, others one per block.
    #[test]
    fn there_are_enough_flags_per_cluster() {
        fn check<T: Kernels>() {
            for configuration in T::configurations() {
                if let Some(tma) = configuration.tma().filter(|tma| tma.has_stream_k()) {
                    let info = configuration.info();
                    assert!(2 * tma.flags() * info.cluster <= FLAGS as u32, "{}", info.name);
                }
            }
        }
        check::<f16>();
        check::<bf16>();
        check::<f32>();
        check::<f64>();
    }
}

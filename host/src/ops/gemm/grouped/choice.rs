//! Which kernel computes a grouped product.

use gpu::gemm::args::GroupedGemmKernel;
use gpu::gemm::configs::WgmmaKernel;
use gpu::gemm::sm90::schedule::grouped::{FIXUP_STEPS, WINDOW, worth_splitting};

use super::problem::GroupedProblem;
use super::{CALL, GroupedGemm, GroupedMultiply};
use crate::error::{ArgumentRule, BadArgument, Result};
use crate::ops::gemm::stream_k::FixupMemory;

/// Tiles that blocks count in 32 bits, the number of blocks added.
const MOST_TILES: usize = 1 << 31;

/// A kernel on tensor cores with its row of the table.
pub(super) type Entry<T> = WgmmaKernel<GroupedGemmKernel<T>>;

/// What is launched.
pub(super) struct Choice<T: GroupedMultiply> {
    pub(super) entry: &'static Entry<T>,
    /// Clusters of blocks.
    pub(super) clusters: u32,
    /// The workspace with which the blocks share tiles, if they may.
    pub(super) fixup: Option<FixupMemory>,
}

impl<T: GroupedMultiply> Choice<T> {
    /// With at most so many `f32` of workspace.
    fn new(entry: &'static Entry<T>, problem: &GroupedProblem, sm_count: u32, available: usize) -> Self {
        let &GroupedProblem { m, n, groups, .. } = problem;
        let clusters = most_tiles(entry, [m, n], groups).min(slots(entry, sm_count) as usize) as u32;
        let steps = steps(entry, problem);
        // No more than two waves of tiles are split, whose steps the kernel counts in 32 bits.
        let counts = groups <= WINDOW as usize && u32::try_from(2 * u64::from(clusters) * u64::from(steps)).is_ok();
        let memory = FixupMemory::new(clusters, entry.config.tile(), size_of::<f32>());
        let splits = entry.config.stream_k && counts && steps > FIXUP_STEPS && memory.workspace_len() <= available;
        Self { entry, clusters, fixup: splits.then_some(memory) }
    }

    /// The estimated time in FFMAs of an SM, if all groups had the mean number of rows: how long they are only the
    /// device knows. But of a cluster of two with the last rows of a group one block has none half of the time, if
    /// sizes are random.
    fn cost(&self, problem: &GroupedProblem, sm_count: u32) -> f64 {
        let &GroupedProblem { m, n, k, groups, .. } = problem;
        let [rows, cols] = self.entry.config.tile();
        let rows_of_tiles = m.div_ceil(groups).div_ceil(rows as usize);
        let tiles = groups * rows_of_tiles * n.div_ceil(cols as usize);
        let (steps, slots) = (steps(self.entry, problem), slots(self.entry, sm_count));
        let splits = self.fixup.is_some() && worth_splitting(tiles as u32, slots, steps) > 0;
        let waves = if splits {
            tiles as f64 / f64::from(slots) + f64::from(FIXUP_STEPS) / f64::from(steps)
        } else {
            tiles.div_ceil(slots as usize) as f64
        };
        let idle = if self.entry.config.cluster > 1 { 0.25 / rows_of_tiles as f64 } else { 0.0 };
        let model = &self.entry.config.model;
        (1.0 + idle) * waves * f64::from(rows * cols) * (k as f64 + model.tile_overhead[0]) / model.efficiency[1]
    }
}

/// The kernel that was named, or the one that is estimated to be the fastest, with at most so many `f32` of workspace;
/// none for the reference.
pub(super) fn choose<T: GroupedMultiply>(
    gemm: &GroupedGemm<'_, T>,
    problem: &GroupedProblem,
    available: usize,
) -> Result<Option<Choice<T>>> {
    let applies = |entry: &&Entry<T>| {
        gemm.device.has_kernel(entry.kernel.info()) && applies(entry, problem) && !problem.is_empty()
    };
    let sm_count = gemm.sm_count();
    let choice = |entry| Choice::new(entry, problem, sm_count, available);
    let Some(named) = gemm.kernel else {
        let cost = |choice: &Choice<T>| choice.cost(problem, sm_count);
        let choices = T::KERNELS.iter().filter(applies).map(choice);
        return Ok(choices.min_by(|x, y| cost(x).total_cmp(&cost(y))));
    };
    if *named == *T::REFERENCE.info() {
        return Ok(None);
    }
    if let Some(entry) = T::KERNELS.iter().find(|entry| *entry.kernel.info() == *named).filter(applies) {
        return Ok(Some(choice(entry)));
    }
    let names: Vec<_> = T::KERNELS.iter().filter(applies).map(|entry| entry.kernel.info().name).collect();
    Err(BadArgument::new(ArgumentRule::Algorithm, CALL, "kernel")
        .expected(format_args!("{}, or one of: {}", T::REFERENCE.info().name, names.join(", ")))
        .found(named.name)
        .remedy("leave the choice to the call; kernels on tensor cores need rows at multiples of 16 bytes")
        .into())
}

/// Whether a kernel can compute the problem: TMA loads A and B, and tiles can be counted.
fn applies<T: GroupedMultiply>(entry: &Entry<T>, problem: &GroupedProblem) -> bool {
    let &GroupedProblem { m, n, k, groups, a, b, .. } = problem;
    let bytes = size_of::<T>();
    k > 0
        && !a.transposed
        && b.transposed == entry.layout.transpose_b
        && a.tma_loadable(1, bytes)
        && b.tma_loadable(groups, bytes)
        && most_tiles(entry, [m, n], groups) < MOST_TILES
}

/// Tiles, whatever the offsets: a group's last tile may have one row.
fn most_tiles<T: GroupedMultiply>(entry: &Entry<T>, [m, n]: [usize; 2], groups: usize) -> usize {
    let [rows, cols] = entry.config.tile().map(|edge| edge as usize);
    (m.div_ceil(rows) + groups.min(m)).saturating_mul(n.div_ceil(cols))
}

/// Clusters that run at the same time.
fn slots<T: GroupedMultiply>(entry: &Entry<T>, sm_count: u32) -> u32 {
    (sm_count / entry.config.cluster).max(1)
}

/// Steps of the main loop for a tile.
fn steps<T: GroupedMultiply>(entry: &Entry<T>, problem: &GroupedProblem) -> u32 {
    problem.k.div_ceil(entry.config.depth() as usize) as u32
}

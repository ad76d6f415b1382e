//! Products whose tiles are shared among blocks along k: see `gpu::hopper::gemm::share`.
//!
//! ```text
//! workspace   │ up to 3 to reach 16 bytes │ 4 flags of 8 bytes for each block │ a tile of f32 for each block │
//! ```
//!
//! Where blocks make clusters, *block* is a cluster here, and its tile that of all of its blocks.

use std::hash::{BuildHasher, RandomState};
use std::ops::Range;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use gpu::hopper::gemm::share::{shared, shared_in_order};

use super::candidates::{Candidate, Program};
use super::element::Multiply;
use super::plan::{Demands, Plan};
use super::problem::Problem;
use super::unfit::Unsupported;
use crate::error::Result as WarpwrightResult;
use crate::memory::BufferViewMut;

/// Elements of 4 bytes that the flags of a block, or of a cluster of two, take: one of 8 bytes for each warpgroup that multiplies.
const FLAGS: usize = 8;
/// To begin at a multiple of 16 bytes.
const SLACK: usize = 3;
/// Fewest steps of a block that are worth handing on.
const LEAST_STEPS: u64 = 4;

/// How many tiles there are, and how many of them so many blocks share: where blocks make clusters, so many clusters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cut {
    pub(super) tiles: u32,
    pub(super) shared: u32,
    /// Steps of a tile along k.
    pub(super) steps: u32,
    pub(super) blocks: u32,
}

impl Cut {
    /// The cut for at most so many blocks: no more than there are steps to share.
    pub(super) fn new<T: Multiply>(
        problem: &Problem,
        candidate: &Candidate<T>,
        blocks: u32,
    ) -> Result<Self, Unsupported> {
        let (tiles, steps) = counts(problem, candidate).ok_or(Unsupported::Extents)?;
        let blocks = u64::from(blocks).min(u64::from(tiles) * u64::from(steps)).max(1) as u32;
        let shared = if candidate.is_chain { shared_in_order(tiles, blocks) } else { shared(tiles, blocks) };
        // The kernel counts the steps of shared tiles.
        shared.checked_mul(steps).ok_or(Unsupported::Extents)?;
        Ok(Self { tiles, shared, steps, blocks })
    }

    /// Elements of `f32` that its workspace has.
    pub(super) fn workspace(&self, [rows, cols]: [u32; 2]) -> usize {
        self.blocks as usize * (FLAGS + rows as usize * cols as usize) + SLACK
    }

    /// Elements of `f32` at the workspace's beginning among which all flags are.
    pub(super) fn flags(&self) -> usize {
        self.blocks as usize * FLAGS + SLACK
    }

    /// Steps of the block with most work.
    fn most(&self) -> f64 {
        let whole = (self.tiles - self.shared) / self.blocks * self.steps;
        (f64::from(self.shared) * f64::from(self.steps) / f64::from(self.blocks)).ceil() + f64::from(whole)
    }

    /// Blocks that have steps of one tile, where it is most of them.
    fn sharers(&self) -> f64 {
        let even = self.blocks.is_multiple_of(self.shared.max(1));
        (f64::from(self.blocks) / f64::from(self.shared.max(1))).ceil() + if even { 0.0 } else { 1.0 }
    }

    /// Estimated time, as [`plan`](super::plan) counts it, at least `reading`.
    fn cost<T: Multiply>(&self, candidate: &Candidate<T>, share: f64, lost: f64, reading: f64) -> f64 {
        let [rows, cols] = candidate.speed.tile.map(f64::from);
        let finished = f64::from(self.tiles.div_ceil(self.blocks));
        let depth = self.most() * f64::from(candidate.depth()) + finished * lost;
        // The first stores its sums, the last loads those of all others, one after the other.
        let even = if self.tiles > self.blocks && !candidate.is_chain { EVEN } else { 1.0 };
        let multiplied = even * f64::from(candidate.beside()) * rows * cols * depth / share;
        multiplied.max(reading) + self.sharers() * (WAIT + rows * cols * 4.0 * BYTE)
    }
}

/// What storing or loading sums costs beside the bytes, in multiply-adds of one multiprocessor: 1.4 µs. Measured on an H200: 3 µs
/// for two blocks that share tiles of 128 × 128, 8 µs for four that share tiles of 128 × 256.
const WAIT: f64 = 350_000.0;
/// For each byte.
const BYTE: f64 = 2.4;
/// What a step costs where a last round of tiles that is not full is shared: while some multiprocessors have none, the others are given
/// more power (at 4096³ and 8192³ such a round costs nothing), and blocks that are at different steps read different lines. Fitted.
const EVEN: f64 = 1.2;

/// Tiles, and steps of each.
fn counts<T: Multiply>(problem: &Problem, candidate: &Candidate<T>) -> Option<(u32, u32)> {
    let [rows, cols] = candidate.speed.tile.map(|edge| edge as usize);
    let tiles = problem.m.div_ceil(rows).checked_mul(problem.n.div_ceil(cols))?.checked_mul(problem.batch)?;
    let steps = problem.k.div_ceil(candidate.depth() as usize);
    Some((u32::try_from(tiles).ok()?, u32::try_from(steps).ok()?))
}

/// The number of blocks, or clusters, that may be worth it, of those that run at the same time and have some steps each: all of them; where
/// there are fewer tiles, as many as give every tile the same number of them. (Blocks that are at different steps of their tiles at the
/// same time do not read the same rows of A and columns of B: for 16 bits 5 to 20 % slower.)
pub(super) fn choice<T: Multiply>(problem: &Problem, candidate: &Candidate<T>, sm_count: u32) -> Option<u32> {
    let (tiles, steps) = counts(problem, candidate)?;
    let at_once = u64::from(candidate.at_once(sm_count));
    let most = at_once.min(u64::from(tiles) * u64::from(steps) / LEAST_STEPS) as u32;
    let blocks = if tiles < most { most / tiles.max(1) * tiles } else { most };
    let cut = Cut::new(problem, candidate, blocks).ok()?;
    (cut.shared > 0 && blocks > 1 && blocks != tiles).then_some(blocks)
}

/// The plan in which so many blocks share what fills no wave of them; `whole` is that in which none does.
pub(super) fn plan<T: Multiply>(
    problem: &Problem,
    demands: Demands<'_>,
    whole: Plan,
    blocks: u32,
) -> Result<Plan, Unsupported> {
    let candidate = &T::CANDIDATES[whole.candidate];
    if !matches!(candidate.program, Program::Shared(..)) {
        return Err(Unsupported::Share);
    }
    let (tile, cluster) = (candidate.speed.tile, candidate.cluster());
    let cut = Cut::new(problem, candidate, blocks / cluster)?;
    if cut.shared == 0 {
        return Ok(whole);
    }
    let lost = candidate.speed.lost[usize::from(!demands.is_short::<T>(problem))];
    let algorithm = whole.algorithm.stream_k(cut.blocks * cluster);
    // One after the other, or at once.
    let each = f64::from(candidate.beside().max(if cut.tiles > cut.blocks { 2 } else { 1 }));
    let share = candidate.share(whole.packing.operands, each);
    let tiles = f64::from(candidate.beside()) * cut.most() / f64::from(cut.steps.max(1));
    let reading = demands.reading(problem, candidate, tiles, f64::from(cut.blocks * cluster));
    let multiplied = cut.cost(candidate, share, lost, reading);
    let cost = demands.aside(1, 0.0, &whole.packing) + multiplied;
    let workspace = cut.workspace(tile).checked_add(whole.packing.room()).ok_or(Unsupported::Extents)?;
    Ok(Plan { algorithm, workspace, cut: Some(cut), cost, ..whole })
}

/// What the kernel is told of a cut.
#[doc(hidden)]
#[derive(Debug)]
pub struct Sharing<'w> {
    pub(super) tiles: u32,
    pub(super) sums: BufferViewMut<'w, f32>,
    pub(super) flags: BufferViewMut<'w, u64>,
    pub(super) token: u64,
}

impl<'w> Sharing<'w> {
    /// Nothing is shared; there is no memory for it, of which `memory` is none either.
    pub(super) fn none<X: simt::element::Element>(memory: &BufferViewMut<'w, X>) -> Self {
        Self { tiles: 0, sums: memory.empty(), flags: memory.empty(), token: 0 }
    }

    /// Lays out a workspace, which is long enough.
    pub(super) fn new(cut: &Cut, tile: [u32; 2], workspace: BufferViewMut<'w, f32>) -> WarpwrightResult<Self> {
        let past = workspace.view().device_ptr().addr() / size_of::<f32>() % (SLACK + 1);
        let start = if past == 0 { 0 } else { SLACK + 1 - past };
        let Range { start, end } = start..start + cut.workspace(tile) - SLACK;
        let (flags, sums) = workspace.slice(start..end)?.split_at(cut.blocks as usize * FLAGS)?;
        let mut flags = flags.into_u64_words();
        if flags.device().is_simulator() {
            // Whatever they hold is right, but the simulator wants to have seen it written.
            flags.zero()?;
        }
        Ok(Self { tiles: cut.shared, sums, flags, token: token() })
    }
}

/// A number that no launch of this process had before, and that nothing in memory is likely to be: never 0, which flags are put to.
fn token() -> u64 {
    static LAUNCHES: AtomicU64 = AtomicU64::new(0);
    static KEY: LazyLock<RandomState> = LazyLock::new(RandomState::new);
    KEY.hash_one(LAUNCHES.fetch_add(1, Ordering::Relaxed)).max(1)
}

#[cfg(test)]
mod tests {
    use half::{bf16, f16};

    use super::super::candidates::BoxKind;
    use super::*;

    /// Every warpgroup of tensor cores' kernels that multiplies has a flag, all but one of a block; every block of the others.
    #[test]
    fn there_are_flags_for_all_who_hand_on() {
        fn check<T: Multiply>() {
            for candidate in T::CANDIDATES {
                if let Program::Shared(_, kind) = candidate.program {
                    let info = candidate.info();
                    let groups = if kind == BoxKind::Swizzled { info.max_threads() / 128 - 1 } else { 1 };
                    assert!(2 * groups * info.cluster <= FLAGS as u32, "{}", info.name);
                }
            }
        }
        check::<f16>();
        check::<bf16>();
        check::<f32>();
    }
}

//! The pipeline between TMA and the tensor cores: stages in shared memory, each with a full and an empty mbarrier.
//!
//! ```text
//!  producer: wait until empty ─▶ announce bytes ─▶ TMA loads A and B ──┐
//!                ▲                                                     ▼ full
//!                └───────────── release ◀── multiply ◀── wait until full : consumers
//! ```

use simt::async_copy::SharedBox;
use simt::element::Element;
use simt::mbarrier::{MbarrierSlot, Mbarriers};
use simt::prelude::*;
use simt::tma::{CachePolicy, TensorMap, load_3d, load_3d_multicast, load_3d_with_policy, prefetch_3d};
use simt::warp::lane_id;
use simt::wgmma::{Operand, Swizzle};

use super::config::Config;
use super::layout::MmaLayout;
use crate::gemm::configs::WgmmaConfig;

/// Shared memory: the pipeline, where C is staged, of `E` elements, and `F` factors of blocks.
#[repr(C, align(1024))]
#[derive(Shared)]
pub struct BlockSmem<T: Element, const A: usize, const B: usize, const STAGES: usize, const E: usize, const F: usize> {
    pub(super) pipeline: Smem<T, A, B, STAGES>,
    pub(super) staging: SharedArray<f32, E>,
    pub(super) factors: SharedArray<f32, F>,
}

/// `A` and `B` elements of the operands in all `STAGES` stages, and their mbarriers.
#[repr(C, align(1024))]
#[derive(Shared)]
pub struct Smem<T: Element, const A: usize, const B: usize, const STAGES: usize> {
    pub(super) a: SharedArray<T, A>,
    pub(super) b: SharedArray<T, B>,
    /// A two-width schedule and the block's first tile: here they take no registers while a tile is computed.
    pub(super) schedule: SharedArray<u32, 8>,
    pub(super) full: Mbarriers<STAGES>,
    pub(super) empty: Mbarriers<STAGES>,
}

/// Initialises the mbarriers of `$smem.full` and `$smem.empty`, `$stages` of each, with all threads of the block, of
/// which this is number `$t`, and of the others of its cluster: a stage is full when TMA has brought the bytes that one
/// thread announced, and empty when `$readers` warps have released it.
///
/// Up to here a launch may run beside its predecessor (`pdl`): what follows waits for that before it touches global
/// memory.
///
/// A macro, because of references to mbarriers the compiler knows less than of the struct that they are in, and
/// computes addresses by a dozen more instructions.
macro_rules! init_pipeline {
    ($smem:ident, $stages:expr, $t:ident, $readers:expr, $cluster:expr) => {
        if $t == 0 {
            for stage in 0..$stages as u32 {
                $smem.full.init(stage, 1);
                $smem.empty.init(stage, $readers);
            }
            simt::mbarrier::fence_mbarrier_init();
        }
        if $cluster > 1 {
            simt::cluster::cluster_sync();
        } else {
            simt::prelude::sync_threads();
        }
    };
}
pub(super) use init_pipeline;

impl<T: Element, const A: usize, const B: usize, const STAGES: usize> Smem<T, A, B, STAGES> {
    /// Elements of a stage of A and of B.
    const STAGE_A: u32 = (A / STAGES) as u32;
    const STAGE_B: u32 = (B / STAGES) as u32;
    /// Elements along k in a stage: 128 bytes.
    pub(super) const DEPTH: u32 = (128 / size_of::<T>()) as u32;

    /// Loads stage `state` of the pipeline once it is empty: of A the MMA tile's rows from `row` on, of B `width`
    /// columns from `col` on, of which the blocks of a cluster load equal parts for each other. Policies are for the
    /// loads that are not for other blocks.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn load_stage<C: Config<Operand = T>>(
        &self,
        layout: MmaLayout,
        state: PipelineState<STAGES>,
        maps: (&TensorMap<T>, &TensorMap<T>),
        place: [i32; 5],
        part: (u32, u32),
        streams: [Option<CachePolicy>; 2],
    ) {
        let stage = state.stage();
        self.empty.wait(stage, state.parity);
        self.full.arrive_expect_tx(stage, (C::CONFIG.mma[0] + part.0) * Self::DEPTH * size_of::<T>() as u32);
        StageLoads::of::<C>(layout).load(maps, (place, part), streams, self.full.at(stage), (self, stage));
    }

    /// The operands of the MMA in a stage: of A the 64 rows from row `row` of the tile on.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn operands<C: Config<Operand = T>>(
        &self,
        layout: MmaLayout,
        stage: u32,
        row: u32,
    ) -> (Operand, Operand) {
        let a = Operand::new(self.a.slot::<4>(row * Self::DEPTH), 0, 1024, Swizzle::B128);
        (a.advance(stage * Self::STAGE_A * size_of::<T>() as u32), self.operand_b::<C>(layout, stage))
    }

    /// The MMA's B alone.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn operand_b<C: Config<Operand = T>>(&self, layout: MmaLayout, stage: u32) -> Operand {
        // The leading dimension counts where boxes lie side by side along n.
        let leading = if layout.is_b_mn_major::<C>() { 128 * Self::DEPTH } else { 0 };
        let b = Operand::new(self.b.slot::<4>(0), leading, 1024, Swizzle::B128);
        b.advance(stage * Self::STAGE_B * size_of::<T>() as u32)
    }

    /// The first element of 64 rows of A in a stage.
    #[cfg_attr(optimised, inline(always))]
    pub(super) const fn a_at(stage: u32, row: u32) -> u32 {
        stage * Self::STAGE_A + row * Self::DEPTH
    }

    /// Releases a stage: this warp has read it. Every block of the cluster loads a part of it.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn release<C: Config<Operand = T>>(&self, stage: u32) {
        let (lane, cluster) = (lane_id(), C::CONFIG.cluster);
        if cluster > 1 {
            if lane < cluster {
                self.empty.arrive_at(stage, lane);
            }
        } else if lane == 0 {
            self.empty.arrive(stage);
        }
    }

    /// Waits until every stage is empty: no block of the cluster arrives at this one's mbarriers any more, so it may
    /// exit.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn drain(&self, mut state: PipelineState<STAGES>) {
        for _ in 0..STAGES {
            self.empty.wait(state.stage(), state.parity);
            state.advance();
        }
    }
}

/// The stages of a pipeline, however large they are.
trait Stages<T: Element> {
    /// The memory for a box of A, or of B, in a stage: where it begins there, and how many elements it has.
    fn slot(&self, stage: u32, is_b: bool, range: [u32; 2]) -> SharedBox<'_, T>;
}

impl<T: Element, const A: usize, const B: usize, const STAGES: usize> Stages<T> for Smem<T, A, B, STAGES> {
    #[cfg_attr(optimised, inline(always))]
    fn slot(&self, stage: u32, is_b: bool, [from, len]: [u32; 2]) -> SharedBox<'_, T> {
        if is_b {
            self.b.tma_box(stage * Self::STAGE_B + from, len)
        } else {
            self.a.tma_box(stage * Self::STAGE_A + from, len)
        }
    }
}

/// The TMA loads of a stage by a block. Of the [`Config`] it has numbers alone, so that the host compiles it once.
#[derive(Clone, Copy)]
pub(super) struct StageLoads {
    /// Rows of the MMA tile.
    rows: u32,
    cluster: u32,
    k_major: [bool; 2],
    /// Rows of a box of a K-major B.
    edge: u32,
    /// Elements along k; rows of a box of an MN-major operand along m or n, too: 128 bytes.
    depth: u32,
}

impl StageLoads {
    /// Those of this configuration.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn of<C: Config>(layout: MmaLayout) -> Self {
        let WgmmaConfig { mma: [rows, _], cluster, .. } = C::CONFIG;
        let depth = (128 / size_of::<C::Operand>()) as u32;
        Self { rows, cluster, k_major: layout.k_major::<C>(), edge: C::CONFIG.k_major_rows()[1], depth }
    }

    /// Loads them.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn load<T: Element>(
        self,
        (a, b): (&TensorMap<T>, &TensorMap<T>),
        (place, part): ([i32; 5], (u32, u32)),
        streams: [Option<CachePolicy>; 2],
        full: MbarrierSlot<'_>,
        (stages, stage): (&dyn Stages<T>, u32),
    ) {
        self.for_each(place, part, &mut |is_b, range, at| {
            let (map, slot) = (if is_b { b } else { a }, stages.slot(stage, is_b, range));
            if is_b && self.cluster > 1 {
                load_3d_multicast(slot, map, at, full, (1 << self.cluster) - 1);
            } else if let Some(policy) = streams[usize::from(is_b)] {
                load_3d_with_policy(slot, map, at, full, policy);
            } else {
                load_3d(slot, map, at, full);
            }
        });
    }

    /// Prefetches to L2 those that are loaded with a policy.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(super) fn prefetch<T: Element>(
        self,
        (a, b): (&TensorMap<T>, &TensorMap<T>),
        (place, part): ([i32; 5], (u32, u32)),
        streams: [Option<CachePolicy>; 2],
    ) {
        self.for_each(place, part, &mut |is_b, _, at| {
            if streams[usize::from(is_b)].is_some() {
                prefetch_3d(if is_b { b } else { a }, at);
            }
        });
    }

    /// Calls `visit` for each: whether it is one of B, where it begins in the stage and how many elements it has, and
    /// its place in memory.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn for_each(
        self,
        [row, col, step, matrix_a, matrix_b]: [i32; 5],
        (width, rank): (u32, u32),
        visit: &mut dyn FnMut(bool, [u32; 2], [i32; 3]),
    ) {
        let Self { rows, cluster, k_major, edge, depth } = self;
        if k_major[0] {
            visit(false, [0, rows * depth], [step, row, matrix_a]);
        } else {
            for part in 0..rows / depth {
                let len = depth * depth;
                visit(false, [part * len, len], [row + (part * depth) as i32, step, matrix_a]);
            }
        }
        let edge = if k_major[1] { edge } else { depth };
        let mut part = rank;
        while part < width / edge {
            let len = edge * depth;
            let col = col + (part * edge) as i32;
            let at = if k_major[1] { [step, col, matrix_b] } else { [col, step, matrix_b] };
            visit(true, [part * len, len], at);
            part += cluster;
        }
    }
}

/// The next stage of the pipeline, and the parity of the phase to wait for there.
#[derive(Clone, Copy, Debug)]
pub struct PipelineState<const STAGES: usize> {
    stage: u32,
    /// Of its mbarrier's phase.
    pub parity: u32,
}

impl<const STAGES: usize> PipelineState<STAGES> {
    /// The first stage of a consumer, which waits for full stages.
    pub const CONSUMER: Self = Self { stage: 0, parity: 0 };
    /// The first stage of a producer, which waits for empty stages: at first all are.
    pub const PRODUCER: Self = Self { stage: 0, parity: 1 };

    /// That of a consumer after so many steps.
    #[cfg_attr(optimised, inline(always))]
    #[must_use]
    pub const fn after(steps: u64) -> Self {
        Self { stage: (steps % STAGES as u64) as u32, parity: (steps / STAGES as u64 % 2) as u32 }
    }

    /// The producer's state for the stage `later` steps after this one, fewer than there are stages; this is a
    /// consumer's.
    ///
    /// ```
    /// use gpu::gemm::sm90::pipeline::PipelineState;
    /// let (mut full, mut empty) = (PipelineState::<3>::CONSUMER, PipelineState::<3>::PRODUCER);
    /// empty.advance();
    /// empty.advance();
    /// for _ in 0..7 {
    ///     let ahead = full.producer_after(2);
    ///     assert_eq!((ahead.stage(), ahead.parity), (empty.stage(), empty.parity));
    ///     full.advance();
    ///     empty.advance();
    /// }
    /// ```
    #[cfg_attr(optimised, inline(always))]
    #[must_use]
    pub const fn producer_after(self, later: u32) -> Self {
        let stage = self.stage + later;
        if stage < STAGES as u32 {
            Self { stage, parity: self.parity ^ 1 }
        } else {
            Self { stage: stage - STAGES as u32, parity: self.parity }
        }
    }

    /// The stage. (The minimum tells the compiler that it is one, so that no access to it needs a check of its own.)
    #[cfg_attr(optimised, inline(always))]
    pub const fn stage(self) -> u32 {
        if self.stage < STAGES as u32 { self.stage } else { STAGES as u32 - 1 }
    }

    /// Goes on to the next stage.
    #[cfg_attr(optimised, inline(always))]
    pub const fn advance(&mut self) {
        self.stage += 1;
        if self.stage >= STAGES as u32 {
            self.stage = 0;
            self.parity ^= 1;
        }
    }
}

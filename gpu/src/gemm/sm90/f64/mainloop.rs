//! What a block does.

use simt::grid::{dependency_wait, launch_dependents};
use simt::matrix::mma_sync_f64;
use simt::mbarrier::Mbarriers;
use simt::opaque;
use simt::prelude::*;
use simt::sync::fence_proxy_async;
use simt::tma::{TensorMap, load_3d, prefetch};
use simt::warp::sync_warp;
use simt::warpgroup::{WARPGROUP_SIZE, decrease_registers, increase_registers, warpgroup_id};

use super::config::Config;
use super::fixup::{load_partials, store_partials};
use super::operand::{Fragments, Operand};
use super::store::store;
use super::{BLOCK, DEPTH};
use crate::gemm::args::TmaGemmArgs;
use crate::gemm::sm90::pipeline::{PipelineState, init_pipeline};
use crate::gemm::sm90::schedule::raster::Tiles;
use crate::gemm::sm90::schedule::stream_k::{Blocks, StreamK, WorkUnit};
use crate::unroll::{each, unroll};

/// Registers of a thread of the producer and of a consumer: 128 accumulators, 64 for fragments, addresses.
const REGISTERS: [u32; 2] = [40, 232];

/// Shared memory: `A` and `B` elements of the operands in all `STAGES` stages.
#[repr(C, align(1024))]
#[derive(Shared)]
pub(super) struct Smem<const A: usize, const B: usize, const STAGES: usize> {
    a: SharedArray<f64, A>,
    b: SharedArray<f64, B>,
    full: Mbarriers<STAGES>,
    empty: Mbarriers<STAGES>,
}

/// Elements of an operand of so many lines in all stages.
pub(super) const fn elements(lines: usize, stages: usize) -> usize {
    lines * DEPTH as usize * stages
}

/// The tiles and parts of tiles that this block computes: see [`stream_k`](crate::gemm::sm90::schedule::stream_k) and
/// [`fixup`](super::fixup). A warp has `MB` × `NB` blocks of 16 × 16 of each.
#[cfg_attr(optimised, inline(always))]
pub(super) fn gemm<K: Config, const MB: usize, const NB: usize, const A: usize, const B: usize, const STAGES: usize>(
    smem: &Smem<A, B, STAGES>,
    (a, b): (&TensorMap<f64>, &TensorMap<f64>),
    args: TmaGemmArgs<'_, f64>,
) {
    const {
        let ([m, n], stages) = (K::CONFIG.tile, STAGES);
        assert!(m * n == 8 * (16 * MB * 16 * NB) as u32 && n.is_multiple_of(16 * NB as u32));
        assert!(K::CONFIG.warp[0] as usize == MB && K::CONFIG.warp[1] as usize == NB && K::CONFIG.stages == STAGES);
        assert!(A == elements(m as usize, stages) && B == elements(n as usize, stages));
        assert!(MB <= 4 && NB <= 2 && MB >= 1 && NB >= 1);
    }
    let [tile_m, tile_n] = K::CONFIG.tile;
    let (m, n, k, batch) = (args.gemm.m, args.gemm.n, args.gemm.k, args.gemm.batch);
    if k == 0 {
        dependency_wait();
        return;
    }
    let t = thread_idx_x();
    if t == 0 {
        prefetch(a);
        prefetch(b);
    }
    // Eight warps read each stage.
    init_pipeline!(smem, STAGES, t, 8, 1);
    launch_dependents();
    let tiles = Tiles { rows: m.div_ceil(tile_m), cols: n.div_ceil(tile_n) };
    let (steps, all) = (k.div_ceil(DEPTH), tiles.per_matrix() * batch);
    let at = |tile: u32| {
        let (matrix, row, col) = tiles.at(tile);
        [row * tile_m, col * tile_n, matrix]
    };
    // Found again before and after the products of a unit: kept, it would not fit into the registers.
    let unit = |number: u32| {
        if !K::CONFIG.stream_k {
            let tile = number * grid_dim_x() + block_idx_x();
            return (tile < all).then_some(WorkUnit { tile, from: 0, to: steps });
        }
        let blocks = Blocks { count: grid_dim_x(), parts: 0, tiles: args.stream_k.tiles, steps };
        StreamK::new(opaque(block_idx_x()), blocks, all).unit(opaque(number))
    };
    let mut number = 0;
    let consumer = warpgroup_id().wrapping_sub(1);
    let is_consumer = consumer < 2;
    if !is_consumer {
        decrease_registers::<{ REGISTERS[0] }>();
        if t == 0 {
            dependency_wait();
            let mut state = PipelineState::PRODUCER;
            while let Some(WorkUnit { tile, from, to }) = unit(number) {
                let place = at(tile);
                for step in from..to {
                    smem.load_stage::<K>(state, (a, b), (place, step * DEPTH), args.batch_step);
                    state.advance();
                }
                number += 1;
            }
        }
        return;
    }
    increase_registers::<{ REGISTERS[1] }>();
    dependency_wait();
    let warp = (t - WARPGROUP_SIZE) / 32 % 8;
    let across = tile_n / (16 * NB as u32);
    let place = [warp / across * MB as u32, warp % across * NB as u32];
    let mut state = PipelineState::CONSUMER;
    while let Some(WorkUnit { from, to, .. }) = unit(number) {
        let mut sums = const { [[[0.0_f64; 4]; 4]; 4] };
        if from > 0 {
            load_partials::<MB, NB>(&args.stream_k, &mut sums);
        }
        let is_last = || unit(number).is_some_and(|unit| unit.to == steps);
        state = smem.accumulate::<K, MB, NB>(&mut sums, state, place, (to - from, k, is_last));
        let Some(WorkUnit { tile, to, .. }) = unit(number) else { return };
        number += 1;
        if to < steps {
            store_partials::<MB, NB>(&args.stream_k, &sums);
            continue;
        }
        let [row, col, matrix] = at(tile);
        let first = [row + place[0] * 16, col + place[1] * 16, matrix];
        store::<K, MB, NB>(&sums, first, &args.gemm);
    }
}

impl<const A: usize, const B: usize, const STAGES: usize> Smem<A, B, STAGES> {
    /// Elements of a stage of A and of B.
    const STAGE_A: u32 = (A / STAGES) as u32;
    const STAGE_B: u32 = (B / STAGES) as u32;

    /// Loads stage `state` once it is empty: of tile `[row, column, matrix]` the elements from `depth` of k on.
    #[cfg_attr(optimised, inline(always))]
    fn load_stage<K: Config>(
        &self,
        state: PipelineState<STAGES>,
        (a, b): (&TensorMap<f64>, &TensorMap<f64>),
        ([row, col, matrix], depth): ([u32; 3], u32),
        batch_step: [u32; 2],
    ) {
        let stage = state.stage();
        self.empty.wait(stage, state.parity);
        self.full.arrive_expect_tx(stage, (Self::STAGE_A + Self::STAGE_B) * size_of::<f64>() as u32);
        let bar = self.full.at(stage);
        let [of_a, of_b] = each!(batch_step, |step| (matrix * step) as i32);
        let (row, col, depth) = (row as i32, col as i32, depth as i32);
        // K-major: one box. MN-major: a box for every 16 lines.
        let to = stage * Self::STAGE_A;
        if K::A::K_MAJOR {
            load_3d(self.a.tma_box(to, Self::STAGE_A), a, [depth, row, of_a], bar);
        } else {
            for block in 0..Self::STAGE_A / BLOCK {
                let place = [row + (block * 16) as i32, depth, of_a];
                load_3d(self.a.tma_box(to + block * BLOCK, BLOCK), a, place, bar);
            }
        }
        let to = stage * Self::STAGE_B;
        if K::B::K_MAJOR {
            load_3d(self.b.tma_box(to, Self::STAGE_B), b, [depth, col, of_b], bar);
        } else {
            for block in 0..Self::STAGE_B / BLOCK {
                let place = [col + (block * 16) as i32, depth, of_b];
                load_3d(self.b.tma_box(to + block * BLOCK, BLOCK), b, place, bar);
            }
        }
    }

    /// Releases a stage: all of it is in registers, or on its way there, where TMA must not overtake it. Every lane has
    /// read before one says so.
    #[cfg_attr(optimised, inline(always))]
    fn release(&self, state: PipelineState<STAGES>, lane: u32) {
        fence_proxy_async();
        sync_warp(u32::MAX);
        if lane == 0 {
            self.empty.arrive(state.stage());
        }
    }

    /// Adds the products of so many steps of `k` to a warp's sums, which begin with block `place` of the tile. `state`
    /// is that of the first step; returns that after the last. `is_last`: the last of these steps is the last of all.
    ///
    /// A warp's instructions are issued in order, and one of its products takes the tensor core 64 clocks: whatever
    /// stands between two products and takes no longer costs nothing. So the fragment of the next block of A is loaded
    /// among the products of this one, those of the next step among the last ones of this step, and whether the next
    /// stage is full is asked long before the answer is needed.
    #[cfg_attr(optimised, inline(always))]
    fn accumulate<K: Config, const MB: usize, const NB: usize>(
        &self,
        sums: &mut [[[f64; 4]; 4]; 4],
        mut state: PipelineState<STAGES>,
        place: [u32; 2],
        (mut steps, k, is_last): (u32, u32, impl Fn() -> bool),
    ) -> PipelineState<STAGES> {
        let lane = opaque(thread_idx_x()) % 32;
        let (of_a, of_b) = (Fragments::new::<K::A>(lane, place[0]), Fragments::new::<K::B>(lane, place[1]));
        let rows =
            |of: PipelineState<STAGES>, block: usize| of_a.load::<K::A, A>(&self.a, of.stage() * Self::STAGE_A, block);
        let cols =
            |of: PipelineState<STAGES>, block: usize| of_b.load::<K::B, B>(&self.b, of.stage() * Self::STAGE_B, block);
        self.full.wait(state.stage(), state.parity);
        let mut left = rows(state, 0);
        let mut right = const { [[0.0; 8]; NB] };
        unroll!(for nb in 0..2 {
            if nb < NB {
                right[nb] = cols(state, nb);
            }
        });
        while steps > 1 {
            let mut following = state;
            following.advance();
            let mut is_full = false;
            unroll!(for mb in 0..4 {
                if mb == MB.saturating_sub(2) {
                    is_full = self.full.test(following.stage(), following.parity);
                }
                if mb + 1 < MB {
                    let next = rows(state, mb + 1);
                    multiply_row(&mut sums[mb], &left, &right);
                    left = next;
                    // Keeps the assembler from moving the loads of the next fragment, too, up to here: it has no
                    // registers for that, and would put others off until their products wait for them.
                    sync_warp(u32::MAX);
                }
            });
            if !is_full {
                self.full.wait(following.stage(), following.parity);
            }
            // The fence waits for loads: of one block of rows the first products do so anyway.
            if MB == 1 {
                multiply(&mut sums[0], 0, &left, &right[0]);
            }
            self.release(state, lane);
            state = following;
            let next = rows(state, 0);
            unroll!(for nb in 0..2 {
                if nb < NB {
                    if MB > 1 || nb > 0 {
                        multiply(&mut sums[MB - 1], nb, &left, &right[nb]);
                    }
                    right[nb] = cols(state, nb);
                }
            });
            left = next;
            steps -= 1;
        }
        if !k.is_multiple_of(DEPTH) && is_last() {
            // A is +0 beyond k.
            unroll!(for nb in 0..2 {
                unroll!(for i in 0..8 {
                    if nb < NB && i as u32 / 2 * 4 + lane % 4 >= k % DEPTH {
                        right[nb][i] = -0.0;
                    }
                });
            });
        }
        unroll!(for mb in 0..4 {
            if mb < MB {
                let fragment = if mb == 0 { left } else { rows(state, mb) };
                multiply_row(&mut sums[mb], &fragment, &right);
            }
        });
        self.release(state, lane);
        state.advance();
        state
    }
}

/// The products of a block of rows with all blocks of columns.
#[cfg_attr(optimised, inline(always))]
fn multiply_row<const NB: usize>(sums: &mut [[f64; 4]; 4], left: &[f64; 8], right: &[[f64; 8]; NB]) {
    unroll!(for nb in 0..2 {
        if nb < NB {
            multiply(sums, nb, left, &right[nb]);
        }
    });
}

/// The products of a block of rows with block `nb` of columns.
#[cfg_attr(optimised, inline(always))]
fn multiply(sums: &mut [[f64; 4]; 4], nb: usize, left: &[f64; 8], right: &[f64; 8]) {
    unroll!(for half in 0..2 {
        let columns = [right[half], right[2 + half], right[4 + half], right[6 + half]];
        sums[2 * nb + half] = mma_sync_f64(*left, columns, sums[2 * nb + half]);
    });
}

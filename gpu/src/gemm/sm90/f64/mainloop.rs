//! What a block does.

use simt::grid::dependency_wait;
use simt::matrix::mma_sync_f64;
use simt::mbarrier::Mbarriers;
use simt::opaque;
use simt::prelude::*;
use simt::tma::{TensorMap, load_3d, prefetch};
use simt::warp::sync_warp;
use simt::warpgroup::{WARPGROUP_SIZE, decrease_registers, increase_registers, warpgroup_id};

use super::config::Config;
use super::operand::{self, Fragments, Operand};
use super::store::{pitch, store};
use super::{BLOCK, DEPTH};
use crate::gemm::args::TmaGemmArgs;
use crate::gemm::sm90::pipeline::{PipelineState, init_pipeline};
use crate::gemm::sm90::schedule::raster::Tiles;
use crate::unroll::unroll;

/// Registers of a thread of the producer and of a consumer: 128 accumulators, 64 for fragments, addresses.
const REGISTERS: [u32; 2] = [40, 232];

/// Shared memory: `A` and `B` elements of the operands in all `STAGES` stages, and where the warps put rows of C
/// together.
#[repr(C, align(1024))]
#[derive(Shared)]
pub(super) struct Smem<const A: usize, const B: usize, const C: usize, const STAGES: usize> {
    a: SharedArray<f64, A>,
    b: SharedArray<f64, B>,
    c: SharedArray<f64, C>,
    full: Mbarriers<STAGES>,
    empty: Mbarriers<STAGES>,
}

/// Elements of an operand of so many lines in all stages.
pub(super) const fn elements(lines: usize, stages: usize) -> usize {
    lines * DEPTH as usize * stages
}

/// Elements of C that the warps put together at once, of `blocks` blocks of 16 columns each: 16 rows for each warp.
pub(super) const fn staging(blocks: usize) -> usize {
    8 * 16 * pitch(blocks) as usize
}

/// The tiles of C whose number is that of this block modulo the grid's size. A warp has `MB` × `NB` blocks of 16 × 16
/// of each.
#[inline(always)]
pub(super) fn gemm<
    K: Config,
    const MB: usize,
    const NB: usize,
    const A: usize,
    const B: usize,
    const C: usize,
    const STAGES: usize,
>(
    smem: &Smem<A, B, C, STAGES>,
    (a, b): (&TensorMap<f64>, &TensorMap<f64>),
    args: TmaGemmArgs<'_, f64>,
) {
    const {
        let ([m, n], stages) = (K::CONFIG.tile, STAGES);
        assert!(m * n == 8 * (16 * MB * 16 * NB) as u32 && n.is_multiple_of(16 * NB as u32));
        assert!(A == elements(m as usize, stages) && B == elements(n as usize, stages) && C == staging(NB));
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
    let tiles = Tiles { rows: m.div_ceil(tile_m), cols: n.div_ceil(tile_n) };
    let (steps, all) = (k.div_ceil(DEPTH), tiles.per_matrix() * batch);
    let at = |tile: u32| {
        let (matrix, row, col) = tiles.at(tile);
        [row * tile_m, col * tile_n, matrix]
    };
    let consumer = warpgroup_id().wrapping_sub(1);
    let is_consumer = consumer < 2;
    if !is_consumer {
        decrease_registers::<{ REGISTERS[0] }>();
        if t == 0 {
            dependency_wait();
            let mut state = PipelineState::<STAGES>::PRODUCER;
            let mut tile = block_idx_x();
            while tile < all {
                let [row, col, matrix] = at(tile);
                for step in 0..steps {
                    let stage = state.stage();
                    smem.empty.wait(stage, state.parity);
                    smem.full.arrive_expect_tx(stage, (tile_m + tile_n) * DEPTH * size_of::<f64>() as u32);
                    let (bar, depth) = (smem.full.at(stage), (step * DEPTH) as i32);
                    let [of_a, of_b] = args.batch_step.map(|step| (matrix * step) as i32);
                    let first = stage * tile_m * DEPTH;
                    if K::K_MAJOR[0] {
                        load_3d(smem.a.tma_box(first, tile_m * DEPTH), a, [depth, row as i32, of_a], bar);
                    } else {
                        for block in 0..tile_m / 16 {
                            let place = [(row + block * 16) as i32, depth, of_a];
                            load_3d(smem.a.tma_box(first + block * BLOCK, BLOCK), a, place, bar);
                        }
                    }
                    let first = stage * tile_n * DEPTH;
                    if K::K_MAJOR[1] {
                        load_3d(smem.b.tma_box(first, tile_n * DEPTH), b, [depth, col as i32, of_b], bar);
                    } else {
                        for block in 0..tile_n / 16 {
                            let place = [(col + block * 16) as i32, depth, of_b];
                            load_3d(smem.b.tma_box(first + block * BLOCK, BLOCK), b, place, bar);
                        }
                    }
                    state.advance();
                }
                tile += grid_dim_x();
            }
        }
        return;
    }
    increase_registers::<{ REGISTERS[1] }>();
    dependency_wait();
    let (warp, lane) = ((t - WARPGROUP_SIZE) / 32 % 8, t % 32);
    let across = tile_n / (16 * NB as u32);
    let place = [warp / across * MB as u32, warp % across * NB as u32];
    let mut state = PipelineState::<STAGES>::CONSUMER;
    let mut tile = block_idx_x();
    while tile < all {
        let mut sums = const { [[[0.0_f64; 4]; 4]; 4] };
        macro_rules! accumulate {
            ($a:literal, $b:literal) => {
                accumulate::<K, operand::A<$a>, operand::B<$b>, MB, NB, A, B, C, STAGES>(
                    smem, &mut sums, state, place, k,
                )
            };
        }
        state = match K::K_MAJOR {
            [false, false] => accumulate!(false, false),
            [false, true] => accumulate!(false, true),
            [true, false] => accumulate!(true, false),
            [true, true] => accumulate!(true, true),
        };
        let [row, col, matrix] = at(opaque(tile));
        let first = [row + place[0] * 16, col + place[1] * 16, matrix];
        store::<K, MB, NB, C>(&smem.c, (warp, lane), &sums, first, &args.gemm);
        tile += grid_dim_x();
    }
}

/// Adds the products of all steps to a warp's sums, which begin with block `place` of the tile. `state` is that of the
/// first step; returns that after the last.
///
/// A warp's instructions are issued in order: so the fragments of the next block of A are loaded before the products
/// of this one, and those of B's next step behind the last products of this one.
#[inline(always)]
fn accumulate<
    K: Config,
    Left: Operand,
    Right: Operand,
    const MB: usize,
    const NB: usize,
    const A: usize,
    const B: usize,
    const C: usize,
    const STAGES: usize,
>(
    smem: &Smem<A, B, C, STAGES>,
    sums: &mut [[[f64; 4]; 4]; 4],
    mut state: PipelineState<STAGES>,
    place: [u32; 2],
    k: u32,
) -> PipelineState<STAGES> {
    let [tile_m, tile_n] = K::CONFIG.tile;
    let lane = opaque(thread_idx_x()) % 32;
    let (of_a, of_b) = (Fragments::new::<Left>(lane, place[0]), Fragments::new::<Right>(lane, place[1]));
    let rows = |stage: u32, block: usize| of_a.load::<Left, A>(&smem.a, stage * tile_m * DEPTH, block);
    let cols = |stage: u32, block: usize| of_b.load::<Right, B>(&smem.b, stage * tile_n * DEPTH, block);
    let mut left_steps = k.div_ceil(DEPTH);
    let mut stage = state.stage();
    smem.full.wait(stage, state.parity);
    let mut left = rows(stage, 0);
    let mut right = const { [[0.0; 8]; NB] };
    unroll!(for nb in 0..2 {
        if nb < NB {
            right[nb] = cols(stage, nb);
        }
    });
    loop {
        left_steps -= 1;
        if left_steps == 0 && k % DEPTH != 0 {
            // A is +0 beyond k.
            unroll!(for nb in 0..2 {
                unroll!(for i in 0..8 {
                    if nb < NB && i as u32 / 2 * 4 + lane % 4 >= k % DEPTH {
                        right[nb][i] = -0.0;
                    }
                });
            });
        }
        let mut following = state;
        following.advance();
        // Asked for before the answer is needed: a wait takes its time even where it is over.
        let is_full = left_steps == 0 || smem.full.test(following.stage(), following.parity);
        unroll!(for mb in 0..4 {
            if mb + 1 < MB {
                let next = rows(stage, mb + 1);
                unroll!(for nb in 0..2 {
                    if nb < NB {
                        multiply(&mut sums[mb], nb, &left, &right[nb]);
                    }
                });
                left = next;
            }
        });
        let current = stage;
        (state, stage) = (following, following.stage());
        if left_steps == 0 {
            unroll!(for nb in 0..2 {
                if nb < NB {
                    multiply(&mut sums[MB - 1], nb, &left, &right[nb]);
                }
            });
            sync_warp(u32::MAX);
            if lane == 0 {
                smem.empty.arrive(current);
            }
            return state;
        }
        if !is_full {
            smem.full.wait(stage, state.parity);
        }
        let next = rows(stage, 0);
        unroll!(for nb in 0..2 {
            if nb < NB {
                multiply(&mut sums[MB - 1], nb, &left, &right[nb]);
                right[nb] = cols(stage, nb);
            }
        });
        left = next;
        // All of the stage before is in registers. Every lane has read before one says so.
        sync_warp(u32::MAX);
        if lane == 0 {
            smem.empty.arrive(current);
        }
    }
}

/// The products of a block of rows with block `nb` of columns.
#[inline(always)]
fn multiply(sums: &mut [[f64; 4]; 4], nb: usize, left: &[f64; 8], right: &[f64; 8]) {
    unroll!(for half in 0..2 {
        let columns = [right[half], right[2 + half], right[4 + half], right[6 + half]];
        sums[2 * nb + half] = mma_sync_f64(*left, columns, sums[2 * nb + half]);
    });
}

//! What a block does.

use simt::cluster::cluster_rank;
use simt::element::Element;
use simt::grid::dependency_wait;
use simt::matrix::Kind;
use simt::mbarrier::Mbarriers;
use simt::opaque;
use simt::prelude::*;
use simt::tma::{TensorMap, TensorMapMut, load_3d, load_3d_multicast, prefetch};
use simt::warp::lane_id;
use simt::warpgroup::{WARPGROUP_SIZE, decrease_registers, increase_registers, warpgroup_id};
use simt::wgmma::{Accumulators, Columns, Operand, Swizzle, Width};

use super::finish::{self, Finish, Half, STAGING, TMA_STORE};
use super::parts::Parts;
use super::ring::{Turn, begin};
use super::share::{Piece, Share};
use super::tiles::Tiles;

/// Threads of a block: a warpgroup that loads and `groups` that multiply.
#[must_use]
pub const fn threads(groups: u32) -> u32 {
    (1 + groups) * WARPGROUP_SIZE
}
/// Rows of C that a warpgroup multiplies.
pub const ROWS: u32 = 64;
/// Steps along k in a stage: 128 bytes.
pub const DEPTH: u32 = 64;
/// Registers of a thread that multiplies: 128 sums, addresses, and room to finish a tile.
pub(in crate::hopper) const REGISTERS: u32 = 232;
/// Registers of the others: what is left of 65 536.
pub(in crate::hopper) const LOADER_REGISTERS: u32 = 40;
/// Elements of the boxes in which an operand comes that is not along k: 64 of m or n, [`DEPTH`] of k.
const BOX: usize = 64 * DEPTH as usize;

/// Shared memory: `A` and `B` elements in all `STAGES` stages of the ring, and where C is put together.
#[repr(C, align(1024))]
#[derive(Shared)]
pub struct Stages<T: Element, const A: usize, const B: usize, const STAGES: usize> {
    a: SharedArray<T, A>,
    b: SharedArray<T, B>,
    c: SharedArray<f32, { 2 * STAGING }>,
    full: Mbarriers<STAGES>,
    empty: Mbarriers<STAGES>,
}

/// What this block computes of C: see [`share`](super::share). Blocks of a cluster have tiles one below the other, and each loads an
/// equal part of B's box for all of them.
///
/// A is m × k, with `TRANS_A` k × m; B is n × k, with `TRANS_B` k × n, so that both boxes run along the contiguous dimension.
/// `batches` says by how much A's and B's matrix in the map goes on with C's: 1, or 0 for the same one again. k is not 0. With `ACROSS`
/// this is Cᵀ = Bᵀ·Aᵀ, so that m is the number of C's columns, and what is written is C nevertheless. `BOX_A` and `BOX_B` are the
/// elements of the boxes of an operand along k; of a cluster's part of B the blocks fetch one box each, by turns, until all are fetched.
#[inline(always)]
#[track_caller]
#[allow(clippy::too_many_arguments, reason = "a product is told much: see `gemm::call`")]
pub(super) fn product<
    T: Kind + Half,
    const GROUPS: u32,
    const CLUSTER: u32,
    const ACROSS: bool,
    const COLS: usize,
    const A: usize,
    const B: usize,
    const STAGES: usize,
    const RING: u32,
    const TRANS_A: bool,
    const TRANS_B: bool,
    const STEP_A: u32,
    const STEP_B: u32,
    const BOX_A: usize,
    const BOX_B: usize,
>(
    stages: &Stages<T, A, B, STAGES>,
    a: &TensorMap<T>,
    b: &TensorMap<T>,
    stored: &TensorMapMut<T>,
    [m, n, k, count]: [u32; 4],
    batches: [u32; 2],
    shared: u32,
    parts: Parts<'_>,
    how: Finish<'_, T>,
) where
    Columns<COLS>: Width,
{
    if k == 0 {
        dependency_wait();
        return;
    }
    let t = thread_idx_x();
    if t == 0 {
        prefetch(a);
        prefetch(b);
        if how.flags & TMA_STORE != 0 {
            prefetch(stored);
        }
    }
    begin!(stages, RING, t, CLUSTER * GROUPS * WARPGROUP_SIZE / 32, CLUSTER);
    let rank = if CLUSTER > 1 { cluster_rank() } else { 0 };
    let rows = GROUPS * ROWS;
    // Of a cluster.
    let tiles = Tiles { rows: m.div_ceil(CLUSTER * rows), cols: n.div_ceil(COLS as u32) };
    let (steps, all) = (k.div_ceil(DEPTH), tiles.per_matrix() * count);
    let (of_a, of_b) = (A as u32 / RING, B as u32 / RING);
    // Matrix, first row and first column of this block's tile.
    let at = |tile: u32| {
        let (matrix, row, col) = tiles.at(tile);
        (matrix, (row * CLUSTER + rank) * rows, col * COLS as u32)
    };
    let mut share = Share::new([block_idx_x() / CLUSTER, grid_dim_x() / CLUSTER], all, shared, steps);
    let parts = Parts { steps: shared * steps, ..parts };
    let group = warpgroup_id();
    if group == 0 {
        if GROUPS > 1 {
            decrease_registers::<LOADER_REGISTERS>();
        }
        let mut piece = share.next_piece();
        let first = at(piece.map_or(0, |piece| piece.tile));
        // The first place is known before the predecessor ends, for which the others of this warpgroup need not wait.
        let mut place = (opaque(first.0), opaque(first.1), opaque(first.2));
        if t == 0 {
            dependency_wait();
            let mut turn = Turn::<RING>::EMPTY;
            while let Some(Piece { from, to, .. }) = piece {
                let (matrix, row, col) = place;
                let (row, col) = (row as i32, col as i32);
                let (in_a, in_b) = ((matrix * batches[0]) as i32, (matrix * batches[1]) as i32);
                for step in from..to {
                    let depth = (step * DEPTH) as i32;
                    stages.empty.wait(turn.stage(), turn.parity);
                    stages.full.arrive_expect_tx(turn.stage(), (of_a + of_b) * size_of::<T>() as u32);
                    let bar = stages.full.at(turn.stage());
                    let (a_at, b_at) = (turn.stage() * of_a, turn.stage() * of_b);
                    if TRANS_A {
                        load_3d(stages.a.slot::<BOX>(a_at), a, [row, depth, in_a], bar);
                        if GROUPS > 1 {
                            load_3d(stages.a.slot::<BOX>(a_at + BOX as u32), a, [row + 64, depth, in_a], bar);
                        }
                    } else {
                        load_3d(stages.a.slot::<BOX_A>(a_at), a, [depth, row, in_a], bar);
                    }
                    if TRANS_B {
                        let boxes = COLS as u32 / 64 / CLUSTER;
                        for part in rank * boxes..(rank + 1) * boxes {
                            let place = [col + (part * 64) as i32, depth, in_b];
                            let slot = stages.b.slot::<BOX>(b_at + part * BOX as u32);
                            if CLUSTER > 1 {
                                load_3d_multicast(slot, b, place, bar, (1 << CLUSTER) - 1);
                            } else {
                                load_3d(slot, b, place, bar);
                            }
                        }
                    } else if CLUSTER > 1 && of_b == CLUSTER * BOX_B as u32 {
                        let part = rank * (COLS as u32 / CLUSTER);
                        let slot = stages.b.slot::<BOX_B>(b_at + part * DEPTH);
                        load_3d_multicast(slot, b, [depth, col + part as i32, in_b], bar, (1 << CLUSTER) - 1);
                    } else if CLUSTER > 1 {
                        let mut part = rank;
                        while part < of_b / BOX_B as u32 {
                            let place = [depth, col + (part * (BOX_B as u32 / DEPTH)) as i32, in_b];
                            let slot = stages.b.slot::<BOX_B>(b_at + part * BOX_B as u32);
                            load_3d_multicast(slot, b, place, bar, (1 << CLUSTER) - 1);
                            part += CLUSTER;
                        }
                    } else {
                        load_3d(stages.b.slot::<BOX_B>(b_at), b, [depth, col, in_b], bar);
                    }
                    turn.advance();
                }
                piece = share.next_piece();
                if let Some(piece) = piece {
                    place = at(piece.tile);
                }
            }
            if CLUSTER > 1 {
                // Nobody arrives here any more: this block's mbarriers may go.
                for _ in 0..RING {
                    stages.empty.wait(turn.stage(), turn.parity);
                    turn.advance();
                }
            }
        }
        return;
    }

    if GROUPS > 1 {
        increase_registers::<REGISTERS>();
    }
    dependency_wait();
    // 0 or 1; so the compiler sees it.
    let half = (group - 1).min(GROUPS - 1);
    let lane = lane_id();
    // This warp is done with a stage, of which all blocks of the cluster have brought a part.
    let release = |stage: u32| {
        if CLUSTER > 1 {
            if lane < CLUSTER {
                stages.empty.arrive_at(stage, lane);
            }
        } else if lane == 0 {
            stages.empty.arrive(stage);
        }
    };
    let mut turn = Turn::<RING>::FULL;
    let mut buffer = 0;
    while let Some(Piece { tile, from, to }) = share.next_piece() {
        let operands = |stage: u32| {
            let a = stages.a.slot::<8>(stage * of_a + half * BOX as u32);
            let b = stages.b.slot::<8>(stage * of_b);
            // The second counts where B's boxes lie side by side along n.
            (Operand::new(a, 0, 1024, Swizzle::B128), Operand::new(b, 128 * DEPTH, 1024, Swizzle::B128))
        };
        let mut sums = Accumulators::<COLS>::zeroed();
        stages.full.wait(turn.stage(), turn.parity);
        let (x, y) = operands(turn.stage());
        sums.multiply::<T, 4, STEP_A, STEP_B, TRANS_A, TRANS_B, 1>(x, y, true);
        // Where the tile lies is computed while products are under way.
        let (matrix, row, col) = at(tile);
        let place = [opaque(row) + half * ROWS, opaque(col), opaque(matrix)];
        let mut before = turn.stage();
        turn.advance();
        for _ in from + 1..to {
            stages.full.wait(turn.stage(), turn.parity);
            let (x, y) = operands(turn.stage());
            sums.multiply::<T, 4, STEP_A, STEP_B, TRANS_A, TRANS_B, 1>(x, y, false);
            // All but the group just started are done: the stage before can be filled again.
            release(before);
            before = turn.stage();
            turn.advance();
        }
        sums.wait::<0>();
        release(before);
        if to < steps {
            parts.hand_on::<GROUPS, COLS>(&sums, half);
            continue;
        }
        if from > 0 {
            parts.take::<GROUPS, CLUSTER, COLS>(&mut sums, half, tile * steps);
        }
        finish::tile::<_, _, ACROSS>(&sums, &stages.c, stored, place, [m, n], &mut buffer, how);
    }
    finish::drain(how.flags);
}

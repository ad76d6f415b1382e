//! What a block does.

use simt::element::Element;
use simt::matrix::Kind;
use simt::mbarrier::Mbarriers;
use simt::prelude::*;
use simt::tma::{TensorMap, TensorMapMut, load_3d};
use simt::warp::lane_id;
use simt::warpgroup::{WARPGROUP_SIZE, decrease_registers, increase_registers, warpgroup_id};
use simt::wgmma::{Accumulators, Columns, Operand, Swizzle, Width};

use super::finish::{self, Finish, Half, STAGING};
use super::parts::Parts;
use super::ring::{Turn, begin};
use super::share::{Piece, Share};
use super::tiles::place;

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
const REGISTERS: u32 = 232;
/// Registers of the others: what is left of 65 536.
const LOADER_REGISTERS: u32 = 40;
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

/// What this block computes of C: see [`share`](super::share).
///
/// A is m × k, with `TRANS_A` k × m; B is n × k, with `TRANS_B` k × n, so that both boxes run along the contiguous dimension.
/// `batches` says by how much A's and B's matrix in the map goes on with C's: 1, or 0 for the same one again. k is not 0.
#[inline(always)]
#[track_caller]
#[allow(clippy::too_many_arguments, reason = "a product is told much: see `gemm::call`")]
pub(super) fn product<
    T: Kind + Half,
    const GROUPS: u32,
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
    let t = thread_idx_x();
    begin!(stages, RING, t, GROUPS * WARPGROUP_SIZE / 32);
    if k == 0 {
        return;
    }
    let rows = GROUPS * ROWS;
    let (tile_rows, tile_cols, steps) = (m.div_ceil(rows), n.div_ceil(COLS as u32), k.div_ceil(DEPTH));
    let per_matrix = tile_rows * tile_cols;
    let tiles = per_matrix * count;
    let (of_a, of_b) = (A as u32 / RING, B as u32 / RING);
    // `Tiles::at`, which in its place makes longer programs of some of these kernels: matrix, row and column of a tile.
    let at = |tile: u32| {
        let matrix = tile / per_matrix.max(1);
        let (row, col) = place(tile - matrix * per_matrix, tile_rows, tile_cols);
        (matrix, row, col)
    };
    let mut share = Share::new([block_idx_x(), grid_dim_x()], tiles, shared, steps);
    let parts = Parts { steps: shared * steps, ..parts };
    let group = warpgroup_id();
    if group == 0 {
        if GROUPS > 1 {
            decrease_registers::<LOADER_REGISTERS>();
        }
        if t == 0 {
            let mut turn = Turn::<RING>::EMPTY;
            while let Some(Piece { tile, from, to }) = share.next_piece() {
                let (matrix, row, col) = at(tile);
                let (row, col) = ((row * rows) as i32, (col * COLS as u32) as i32);
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
                        for part in 0..COLS as u32 / 64 {
                            let place = [col + (part * 64) as i32, depth, in_b];
                            load_3d(stages.b.slot::<BOX>(b_at + part * BOX as u32), b, place, bar);
                        }
                    } else {
                        load_3d(stages.b.slot::<BOX_B>(b_at), b, [depth, col, in_b], bar);
                    }
                    turn.advance();
                }
            }
        }
        return;
    }

    if GROUPS > 1 {
        increase_registers::<REGISTERS>();
    }
    // 0 or 1; so the compiler sees it.
    let half = (group - 1).min(GROUPS - 1);
    let lane = lane_id();
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
        let mut before = turn.stage();
        turn.advance();
        for _ in from + 1..to {
            stages.full.wait(turn.stage(), turn.parity);
            let (x, y) = operands(turn.stage());
            sums.multiply::<T, 4, STEP_A, STEP_B, TRANS_A, TRANS_B, 1>(x, y, false);
            // All but the group just started are done: the stage before can be filled again.
            if lane == 0 {
                stages.empty.arrive(before);
            }
            before = turn.stage();
            turn.advance();
        }
        sums.wait::<0>();
        if lane == 0 {
            stages.empty.arrive(before);
        }
        if to < steps {
            parts.hand_on::<GROUPS, COLS>(&sums, half);
            continue;
        }
        if from > 0 {
            parts.take::<GROUPS, COLS>(&mut sums, half, tile * steps);
        }
        let (matrix, row, col) = at(tile);
        let at = [row * rows + half * ROWS, col * COLS as u32, matrix];
        finish::tile(&sums, &stages.c, stored, at, [m, n], &mut buffer, how);
    }
    finish::drain(how.flags);
}

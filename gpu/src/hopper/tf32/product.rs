//! What a block does.

use simt::matrix::Tf32;
use simt::mbarrier::Mbarriers;
use simt::prelude::*;
use simt::tma::{TensorMap, TensorMapMut, load_3d};
use simt::warp::{FULL_MASK, lane_id, sync_warp};
use simt::warpgroup::{WARPGROUP_SIZE, decrease_registers, increase_registers, warpgroup_id};
use simt::wgmma::{Accumulators, Columns, Operand, Swizzle, Width};

use super::finish;
use super::fragments::{self, BOX};
use crate::hopper::gemm::finish::{Finish, STAGING, drain};
use crate::hopper::gemm::ring::{Turn, begin};
use crate::hopper::gemm::tiles::Tiles;

/// Threads of a block: a warpgroup that loads and two that multiply.
pub const THREADS: u32 = 3 * WARPGROUP_SIZE;
/// Rows of D in a tile.
pub const ROWS: u32 = 128;
/// Steps along k in a stage.
pub const DEPTH: u32 = 32;
/// Numbers in 128 bytes, a line of a box.
pub(super) const LINE: u32 = 32;
/// Registers of a thread that multiplies: 128 sums, twice 16 of an operand, addresses, and room to finish a tile.
const REGISTERS: u32 = 232;
/// Registers of the others: what is left of 65 536.
const LOADER_REGISTERS: u32 = 40;

/// Shared memory: `X` numbers of D's rows and `Y` of its columns in all `STAGES` stages of the ring, and where C is put together.
#[repr(C, align(1024))]
#[derive(Shared)]
pub struct Stages<const X: usize, const Y: usize, const STAGES: usize> {
    x: SharedArray<f32, X>,
    y: SharedArray<f32, Y>,
    c: SharedArray<f32, { 2 * STAGING }>,
    full: Mbarriers<STAGES>,
    empty: Mbarriers<STAGES>,
}

/// The tiles of D = X·Yᵀ that this block computes: those whose index is that of the block modulo the grid's size.
///
/// X is m × k, with `ACROSS` k × m; Y is n × k. TmaTensor run along the contiguous dimension. D is C, with `TRANSPOSED` Cᵀ; m and n are
/// D's. `batches` says by how much X's and Y's matrix in the map goes on with C's: 1, or 0 for the same one again. k is not 0.
#[inline(always)]
#[track_caller]
#[allow(clippy::too_many_arguments, reason = "a product is told much: see `gemm::call`")]
pub(super) fn product<
    const COLS: usize,
    const X: usize,
    const Y: usize,
    const STAGES: usize,
    const RING: u32,
    const ACROSS: bool,
    const TRANSPOSED: bool,
    const BOX_Y: usize,
>(
    stages: &Stages<X, Y, STAGES>,
    x: &TensorMap<f32>,
    y: &TensorMap<f32>,
    stored: &TensorMapMut<f32>,
    [m, n, k, count]: [u32; 4],
    batches: [u32; 2],
    how: Finish<'_, f32>,
) where
    Columns<COLS>: Width,
{
    let t = thread_idx_x();
    begin!(stages, RING, t, 2 * WARPGROUP_SIZE / 32);
    if k == 0 {
        return;
    }
    let tiles = Tiles { rows: m.div_ceil(ROWS), cols: n.div_ceil(COLS as u32) };
    let (steps, all) = (k.div_ceil(DEPTH), tiles.per_matrix() * count);
    let (of_x, of_y) = (X as u32 / RING, Y as u32 / RING);
    let group = warpgroup_id();
    if group == 0 {
        decrease_registers::<LOADER_REGISTERS>();
        if t == 0 {
            let mut turn = Turn::<RING>::EMPTY;
            let mut tile = block_idx_x();
            while tile < all {
                let (matrix, row, col) = tiles.at(tile);
                let (row, col) = ((row * ROWS) as i32, (col * COLS as u32) as i32);
                let (in_x, in_y) = ((matrix * batches[0]) as i32, (matrix * batches[1]) as i32);
                for step in 0..steps {
                    let depth = (step * DEPTH) as i32;
                    stages.empty.wait(turn.stage(), turn.parity);
                    stages.full.arrive_expect_tx(turn.stage(), (of_x + of_y) * size_of::<f32>() as u32);
                    let bar = stages.full.at(turn.stage());
                    let (x_at, y_at) = (turn.stage() * of_x, turn.stage() * of_y);
                    if ACROSS {
                        for part in 0..ROWS / LINE {
                            let place = [row + (part * LINE) as i32, depth, in_x];
                            load_3d(stages.x.slot::<BOX>(x_at + part * BOX as u32), x, place, bar);
                        }
                    } else {
                        load_3d(stages.x.slot::<{ (ROWS * DEPTH) as usize }>(x_at), x, [depth, row, in_x], bar);
                    }
                    load_3d(stages.y.slot::<BOX_Y>(y_at), y, [depth, col, in_y], bar);
                    turn.advance();
                }
                tile += grid_dim_x();
            }
        }
        return;
    }

    increase_registers::<REGISTERS>();
    // 0 or 1; so the compiler sees it.
    let half = (group - 1).min(1);
    let lane = lane_id();
    let mut turn = Turn::<RING>::FULL;
    let mut buffer = 0;
    let mut tile = block_idx_x();
    while tile < all {
        let of_half = |stage: u32| stage * of_x + half * (64 * DEPTH);
        let rows = |stage: u32| Operand::new(stages.x.slot::<4>(of_half(stage)), 0, 1024, Swizzle::B128);
        let columns = |stage: u32| Operand::new(stages.y.slot::<4>(stage * of_y), 0, 1024, Swizzle::B128);
        let mut sums = Accumulators::<COLS>::zeroed();
        stages.full.wait(turn.stage(), turn.parity);
        let mut before = turn.stage();
        if ACROSS {
            // What comes next is on its way from shared memory while the tensor cores work.
            let mut fragment = fragments::load(&stages.x, of_half(before), t);
            turn.advance();
            for step in 1..steps {
                stages.full.wait(turn.stage(), turn.parity);
                let next = fragments::load(&stages.x, of_half(turn.stage()), t);
                sums.multiply_registers::<Tf32, 4, 32, false>(fragment, columns(before), step == 1);
                // The engine may write again what all lanes have read.
                sync_warp(FULL_MASK);
                if lane == 0 {
                    stages.empty.arrive(before);
                }
                fragment = next;
                before = turn.stage();
                turn.advance();
            }
            sums.multiply_registers::<Tf32, 4, 32, false>(fragment, columns(before), steps == 1);
            sync_warp(FULL_MASK);
        } else {
            sums.multiply::<Tf32, 4, 32, 32, false, false, 1>(rows(before), columns(before), true);
            turn.advance();
            for _ in 1..steps {
                stages.full.wait(turn.stage(), turn.parity);
                let now = turn.stage();
                sums.multiply::<Tf32, 4, 32, 32, false, false, 1>(rows(now), columns(now), false);
                // All but the group just started are done: the stage before can be filled again.
                if lane == 0 {
                    stages.empty.arrive(before);
                }
                before = now;
                turn.advance();
            }
            sums.wait::<0>();
        }
        if lane == 0 {
            stages.empty.arrive(before);
        }
        let (matrix, row, col) = tiles.at(tile);
        let at = [row * ROWS + half * 64, col * COLS as u32, matrix];
        if TRANSPOSED {
            finish::transposed(&sums, &stages.c, stored, at, [m, n], how);
        } else {
            finish::tile::<COLS, ACROSS>(&sums, &stages.c, stored, at, [m, n], &mut buffer, how);
        }
        tile += grid_dim_x();
    }
    drain(how.flags);
}

//! How a warpgroup's sums become C.
//!
//! ```text
//!                     ┌─▶ boxes of 64 × 32, swizzled ─▶ copy engine ─▶ C      TMA_STORE
//!   64 × COLS sums ───┤
//!                     └─▶ 64 × 64 ─▶ four elements a thread ─────────▶ C      everything else
//! ```

use simt::element::Vec2;
use simt::opaque;
use simt::prelude::*;
use simt::sync::{fence_proxy_async, named_barrier};
use simt::tma::{TensorMapMut, store_3d, store_commit, store_wait_read};
use simt::warpgroup::WARPGROUP_SIZE;
use simt::wgmma::{Accumulators, Columns, Width};

use super::fragments;
use super::product::LINE;
use crate::hopper::gemm::finish::{Finish, STAGING, TMA_STORE, by_threads, part_by_threads, swizzled};

/// Numbers of a box of C: 64 rows of 128 bytes.
const BOX: u32 = 64 * LINE;

/// Where element (`row`, `col`) of a box lies, as the copy engine has it with its swizzle of 128 bytes.
#[inline(always)]
const fn in_box(row: u32, col: u32) -> u32 {
    row * LINE + ((col / 4) ^ (row % 8)) * 4 + col % 4
}

/// Writes the part of C at `[row, column, matrix]` from the sums of this warpgroup, whose rows are in the order of
/// [`fragments::row`] with `ACROSS`. `buffer` is which half of its staging memory comes next.
#[inline(always)]
#[track_caller]
pub(super) fn tile<const COLS: usize, const ACROSS: bool>(
    sums: &Accumulators<COLS>,
    staging: &SharedArray<f32, { 2 * STAGING }>,
    stored: &TensorMapMut<f32>,
    [row, col, matrix]: [u32; 3],
    [m, n]: [u32; 2],
    buffer: &mut u32,
    how: Finish<'_, f32>,
) where
    Columns<COLS>: Width,
{
    // No address of what follows is worth a register while the tile is multiplied.
    let t = opaque(thread_idx_x());
    let (half, t) = ((t / WARPGROUP_SIZE - 1) & 1, t % WARPGROUP_SIZE);
    let (own, lane) = (half * STAGING as u32, t % 32);
    let left = lane % 4 * 2;
    let rows = |t: u32| if ACROSS { fragments::row(t) } else { t / 32 * 16 + t % 32 / 4 };
    let (top, down) = (rows(t), if ACROSS { 4 } else { 8 });
    if how.flags & TMA_STORE == 0 {
        by_threads::<_, _, false>(sums, staging, [half, t], (rows, down), [row, col, matrix], [m, n], how);
        return;
    }
    sums.for_each_8_columns(|first, sums| {
        if first % LINE == 0 {
            // The buffer is free once the engine has read what was there two stores ago.
            if t == 0 {
                store_wait_read::<1>();
            }
            named_barrier(half + 1, WARPGROUP_SIZE);
        }
        let base = own + (*buffer & 1) * BOX;
        let [a, b, c, d] = sums.map(|sum| how.scale[0] * sum);
        staging.set_vec::<2>(base + in_box(top, first % LINE + left), Vec2::new([a, b]));
        staging.set_vec::<2>(base + in_box(top + down, first % LINE + left), Vec2::new([c, d]));
        if first % LINE == LINE - 8 {
            fence_proxy_async();
            named_barrier(half + 1, WARPGROUP_SIZE);
            if t == 0 {
                let place = [(col + first - (LINE - 8)) as i32, row as i32, matrix as i32];
                store_3d(stored, place, staging.slot::<{ BOX as usize }>(base));
                store_commit();
            }
            *buffer ^= 1;
        }
    });
}

/// The same where the sums are those of Cᵀ: `row`, `col`, m and n are its own. 64 rows of C at a time, two boxes side by side.
#[inline(always)]
#[track_caller]
pub(super) fn transposed<const COLS: usize>(
    sums: &Accumulators<COLS>,
    staging: &SharedArray<f32, { 2 * STAGING }>,
    stored: &TensorMapMut<f32>,
    [row, col, matrix]: [u32; 3],
    [m, n]: [u32; 2],
    how: Finish<'_, f32>,
) where
    Columns<COLS>: Width,
{
    let t = opaque(thread_idx_x());
    let (half, t) = ((t / WARPGROUP_SIZE - 1) & 1, t % WARPGROUP_SIZE);
    let own = half * STAGING as u32;
    let (across, down) = (fragments::row(t), t % 4 * 2);
    let by_engine = how.flags & TMA_STORE != 0;
    // The box of the columns that this warp has.
    let boxed = own + across / LINE * BOX;
    sums.for_each_8_columns(|first, sums| {
        if first % 64 == 0 {
            // All is free once the engine has read it.
            if by_engine && t == 0 {
                store_wait_read::<0>();
            }
            named_barrier(half + 1, WARPGROUP_SIZE);
        }
        let places = [(0, 0), (1, 0), (0, 4), (1, 4)].map(|(i, j)| (first % 64 + down + i, across + j));
        if by_engine {
            for ((line, column), sum) in places.into_iter().zip(sums) {
                staging.set(boxed + in_box(line, column % LINE), how.scale[0] * sum);
            }
        } else {
            for ((line, column), sum) in places.into_iter().zip(sums) {
                staging.set(own + swizzled(line, column), sum);
            }
        }
        if first % 64 == 56 {
            let at = [col + first - 56, row, matrix];
            if by_engine {
                fence_proxy_async();
                named_barrier(half + 1, WARPGROUP_SIZE);
                if t == 0 {
                    let [down, across, matrix] = at.map(|place| place as i32);
                    store_3d(stored, [across, down, matrix], staging.slot::<{ BOX as usize }>(own));
                    let beside = staging.slot::<{ BOX as usize }>(own + BOX);
                    store_3d(stored, [across + LINE as i32, down, matrix], beside);
                    store_commit();
                }
            } else {
                named_barrier(half + 1, WARPGROUP_SIZE);
                part_by_threads(staging, [half, t], at, [n, m], how);
            }
        }
    });
}

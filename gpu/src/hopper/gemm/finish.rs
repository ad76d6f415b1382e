//! How a warpgroup's sums become C.
//!
//! ```text
//!                     ┌─ stmatrix ─▶ 64 × 64 of 16 bits, swizzled ─▶ copy engine ─▶ C     TMA_STORE
//!   64 × COLS sums ───┤
//!                     └────────────▶ 64 × 64 of f32 ─▶ four elements a thread ────▶ C     everything else
//! ```
//!
//! The short way takes alpha alone, and C where the copy engine can write it, in tiles of whole boxes. The long way does all that
//! [`call`](crate::gemm::call) knows, at any address: four neighbours at a time where they are aligned, else one.

use half::{bf16, f16};
use simt::convert::{bf16_pair_from_f32, f16_pair_from_f32};
use simt::element::{Lanes, Vec2, Vec4, zeroed};
use simt::matrix::stmatrix;
use simt::opaque;
use simt::prelude::*;
use simt::sync::{fence_proxy_async, named_barrier};
use simt::tma::{TensorMapMut, store_3d, store_commit, store_wait_read};
use simt::warpgroup::WARPGROUP_SIZE;
use simt::wgmma::{Accumulators, Columns, Width};

use crate::gemm::call::{WIDE_C, epilogue, finish};
use crate::gemm::number::Number;

/// The copy engine writes C by a tensor map, its rows a multiple of 16 bytes long; the flags ask for nothing else, and beta is 0.
pub const TMA_STORE: u32 = 1 << 16;

/// `f32` in which a warpgroup puts C together: 16 KiB.
pub(in crate::hopper) const STAGING: usize = 4096;
/// Columns that are put together at a time, on the long way.
pub(in crate::hopper) const PART: u32 = 64;

/// Rows of the boxes, 64 columns wide, in which the copy engine writes C, of tiles with so many rows: as many as make whole tiles. None
/// where threads write them.
///
/// ```
/// use gpu::hopper::gemm::finish::box_rows;
/// assert_eq!([256, 144, 16, 136].map(box_rows), [Some(64), Some(48), None, None]);
/// ```
#[must_use]
pub const fn box_rows(rows: u32) -> Option<u32> {
    if rows.is_multiple_of(64) {
        Some(64)
    } else if rows.is_multiple_of(48) {
        Some(48)
    } else {
        None
    }
}

/// Where a sum lies among [`PART`] columns of a warpgroup: its column is changed so that the rows that a warp writes at once
/// start in different banks. Eight neighbours stay neighbours.
#[inline(always)]
pub(in crate::hopper) const fn swizzled(row: u32, col: u32) -> u32 {
    row * PART + (col ^ (row % 4 * 8))
}

/// A number of 16 bits.
pub trait Half: Number<Wide = f32> + Lanes<4> {
    /// Two of them as `stmatrix` takes them, the first in the lower half.
    fn pair(low: f32, high: f32) -> u32;
}
impl Half for f16 {
    #[inline(always)]
    fn pair(low: f32, high: f32) -> u32 {
        f16_pair_from_f32(low, high)
    }
}
impl Half for bf16 {
    #[inline(always)]
    fn pair(low: f32, high: f32) -> u32 {
        bf16_pair_from_f32(low, high)
    }
}

/// Everything after the sums.
#[derive(Clone, Copy)]
pub(in crate::hopper) struct Finish<'a, T: Number<Wide = f32>> {
    pub(in crate::hopper) c: VecMut<'a, T>,
    pub(in crate::hopper) wide: VecMut<'a, f32>,
    pub(in crate::hopper) bias: VecRef<'a, f32>,
    /// Elements of C from row to row, and from matrix to matrix.
    pub(in crate::hopper) strides: [u64; 2],
    pub(in crate::hopper) scale: [f32; 2],
    pub(in crate::hopper) flags: u32,
}

/// Writes the part of C at `[row, column, matrix]` from the sums of this warpgroup. `buffer` is which
/// half of its staging memory comes next. With `ACROSS` the sums are those of Cᵀ, and `row`, `col`, m and n its own.
#[inline(always)]
#[track_caller]
#[allow(clippy::too_many_arguments, reason = "called once: it is the second half of a block's program")]
pub(in crate::hopper) fn tile<T: Half, const COLS: usize, const ACROSS: bool>(
    sums: &Accumulators<COLS>,
    staging: &SharedArray<f32, { 2 * STAGING }>,
    stored: &TensorMapMut<T>,
    [row, col, matrix]: [u32; 3],
    [m, n]: [u32; 2],
    buffer: &mut u32,
    how: Finish<'_, T>,
) where
    Columns<COLS>: Width,
{
    // No address of what follows is worth a register while the tile is multiplied.
    let t = opaque(thread_idx_x());
    let (half, t) = ((t / WARPGROUP_SIZE - 1) & 1, t % WARPGROUP_SIZE);
    let own = half * STAGING as u32;
    if ACROSS && COLS.is_multiple_of(48) && how.flags & TMA_STORE != 0 {
        across(sums, staging, stored, [half, t], [row, col, matrix], buffer, how.scale[0]);
        return;
    }
    if ACROSS || !COLS.is_multiple_of(64) || how.flags & TMA_STORE == 0 {
        let top = |t: u32| t / 32 * 16 + t % 32 / 4;
        by_threads::<_, _, ACROSS>(sums, staging, [half, t], (top, 8), [row, col, matrix], [m, n], how);
        return;
    }
    let lane = t % 32;
    // The row that this lane names for `stmatrix`: of the upper or the lower 8 × 8 of two, in the left or the right pair.
    let named = t / 32 * 16 + lane / 8 % 2 * 8 + lane % 8;
    sums.for_each_16_columns(|first, sums| {
        if first % 64 == 0 {
            // The buffer is free once the engine has read what was there two stores ago.
            if t == 0 {
                store_wait_read::<1>();
            }
            named_barrier(half + 1, WARPGROUP_SIZE);
        }
        let chunk = (first % 64 / 8 + lane / 16) ^ (named % 8);
        let pairs = [0, 2, 4, 6].map(|i| T::pair(how.scale[0] * sums[i], how.scale[0] * sums[i + 1]));
        let base = own + (*buffer & 1) * (STAGING as u32 / 2);
        stmatrix::<4, false, _, 4>(staging.slot::<4>(base + named * 32 + chunk * 4), pairs);
        if first % 64 == 48 {
            fence_proxy_async();
            named_barrier(half + 1, WARPGROUP_SIZE);
            if t == 0 {
                let place = [(col + first - 48) as i32, row as i32, matrix as i32];
                store_3d(stored, place, staging.slot::<{ STAGING / 2 }>(base).cast::<T, STAGING>());
                store_commit();
            }
            *buffer ^= 1;
        }
    });
}

/// The short way of sums of Cᵀ, 48 columns of it at a time, which are rows of C.
#[inline(always)]
#[track_caller]
fn across<T: Half, const COLS: usize>(
    sums: &Accumulators<COLS>,
    staging: &SharedArray<f32, { 2 * STAGING }>,
    stored: &TensorMapMut<T>,
    [half, t]: [u32; 2],
    [row, col, matrix]: [u32; 3],
    buffer: &mut u32,
    alpha: f32,
) where
    Columns<COLS>: Width,
{
    let (own, lane) = (half * STAGING as u32, t % 32);
    // What this lane names for `stmatrix`: a row of the left or the right pair of 8 × 8, which are below each other once they are
    // transposed, and of which the upper and the lower one lie side by side then.
    let (named, chunk) = (lane / 16 * 8 + lane % 8, (t / 32 * 2 + lane / 8 % 2) ^ (lane % 8));
    sums.for_each_16_columns(|first, sums| {
        let within = first % 48;
        if within == 0 {
            // The buffer is free once the engine has read what was there two stores ago.
            if t == 0 {
                store_wait_read::<1>();
            }
            named_barrier(half + 1, WARPGROUP_SIZE);
        }
        let pairs = [0, 2, 4, 6].map(|i| T::pair(alpha * sums[i], alpha * sums[i + 1]));
        let base = own + (*buffer & 1) * (STAGING as u32 / 2);
        stmatrix::<4, true, _, 4>(staging.slot::<4>(base + (within + named) * 32 + chunk * 4), pairs);
        if within == 32 {
            fence_proxy_async();
            named_barrier(half + 1, WARPGROUP_SIZE);
            if t == 0 {
                let place = [row as i32, (col + first - 32) as i32, matrix as i32];
                store_3d(stored, place, staging.slot::<{ 48 * 32 }>(base).cast::<T, { 48 * 64 }>());
                store_commit();
            }
            *buffer ^= 1;
        }
    });
}

/// Waits until the copy engine has read all that this thread told it to store.
#[inline(always)]
#[track_caller]
pub(in crate::hopper) fn drain(flags: u32) {
    if flags & TMA_STORE != 0 && thread_idx_x().is_multiple_of(WARPGROUP_SIZE) {
        store_wait_read::<0>();
    }
}

impl<T: Number<Wide = f32> + Lanes<4>> Finish<'_, T> {
    /// Whether four elements of C whose columns begin at a multiple of 4 are all there, and are one access.
    #[inline(always)]
    pub(in crate::hopper) fn by_fours(&self, n: u32) -> bool {
        let aligned = |address: usize, bytes: usize| address.is_multiple_of(4 * bytes);
        let base = if self.flags & WIDE_C == 0 {
            aligned(self.c.as_ptr().addr(), size_of::<T>())
        } else {
            aligned(self.wide.as_ptr().addr(), size_of::<f32>())
        };
        base && n.is_multiple_of(4) && (self.strides[0] | self.strides[1]).is_multiple_of(4)
    }

    /// [`epilogue`] of four neighbours, the first of them element `at` of C.
    #[inline(always)]
    #[track_caller]
    pub(in crate::hopper) fn four(&self, sums: [f32; 4], at: u64, (row, col): (u32, u32)) {
        let (at, is_wide) = ((at / 4) as usize, self.flags & WIDE_C != 0);
        let mut old = [0.0; 4];
        if self.scale[1] != 0.0 {
            old = if is_wide {
                self.wide.vectors::<4>().get_or(at, zeroed()).lanes
            } else {
                self.c.vectors::<4>().get_or(at, zeroed()).lanes.map(T::wide)
            };
        }
        let done = [0, 1, 2, 3].map(|i: u32| {
            let of = i as usize;
            finish(sums[of], || old[of], self.bias, (row, col + i), self.scale, self.flags)
        });
        if is_wide {
            self.wide.vectors_mut::<4>().set_within(at, Vec4::new(done));
        } else {
            self.c.vectors_mut::<4>().set_within(at, Vec4::new(done.map(T::narrow)));
        }
    }
}

/// The long way: 64 columns at a time through shared memory, so that a warp writes neighbours of C. Thread `t` has sums of row
/// `top(t)` and of that `down` further down, 4 or 8. With `ACROSS` columns become C's rows.
#[inline(always)]
#[track_caller]
pub(in crate::hopper) fn by_threads<T: Number<Wide = f32> + Lanes<4>, const COLS: usize, const ACROSS: bool>(
    sums: &Accumulators<COLS>,
    staging: &SharedArray<f32, { 2 * STAGING }>,
    [half, t]: [u32; 2],
    (top, down): (impl Fn(u32) -> u32, u32),
    [row, col, matrix]: [u32; 3],
    [m, n]: [u32; 2],
    how: Finish<'_, T>,
) where
    Columns<COLS>: Width,
{
    let own = half * STAGING as u32;
    // A tile that is no multiple of PART wide ends within one.
    let n = n.min(col + COLS as u32);
    // Each part is the same code, but for the registers that are put down: a loop that is not written out.
    let mut part = opaque(0);
    while part < (COLS as u32).div_ceil(PART) {
        // All of it anew for each part: beside what could be kept from one to the next there is no room for the sums.
        let (t, row, n) = (opaque(t) % WARPGROUP_SIZE, opaque(row), opaque(n));
        let (top, left) = (top(t), t % 4 * 2);
        sums.for_each_8_columns(|first, [a, b, c, d]| {
            if first / PART != part {
                return;
            }
            let left = first % PART + left;
            if ACROSS {
                let places = [(left, top), (left + 1, top), (left, top + down), (left + 1, top + down)];
                for ((line, column), sum) in places.into_iter().zip([a, b, c, d]) {
                    staging.set(own + swizzled(line, column), sum);
                }
            } else {
                // The row further down is changed as this one.
                let at = own + swizzled(top, left);
                staging.set_vec::<2>(at, Vec2::new([a, b]));
                staging.set_vec::<2>(at + down * PART, Vec2::new([c, d]));
            }
            if first % PART == PART - 8 {
                // The stores of the parts are the same but for what they store: joined, they would want it copied.
                let _ = opaque(part);
            }
        });
        named_barrier(half + 1, WARPGROUP_SIZE);
        let col = col + part * PART;
        let (at, extents) = if ACROSS { ([col, row, matrix], [n, m]) } else { ([row, col, matrix], [m, n]) };
        part_by_threads(staging, [half, t], at, extents, how);
        named_barrier(half + 1, WARPGROUP_SIZE);
        part += 1;
    }
}

/// The part of C at `[row, column, matrix]`, 64 rows and [`PART`] columns, from this warpgroup's half of the staging memory.
#[inline(always)]
#[track_caller]
pub(in crate::hopper) fn part_by_threads<T: Number<Wide = f32> + Lanes<4>>(
    staging: &SharedArray<f32, { 2 * STAGING }>,
    [half, t]: [u32; 2],
    [row, columns, matrix]: [u32; 3],
    [m, n]: [u32; 2],
    how: Finish<'_, T>,
) {
    let own = half * STAGING as u32;
    let start =
        |line: u32, column: u32| matrix as u64 * how.strides[1] + (row + line) as u64 * how.strides[0] + column as u64;
    let lines = m.saturating_sub(row).min(64);
    if how.by_fours(n) {
        let piece = t % (PART / 4) * 4;
        let mut line = t / (PART / 4);
        while line < lines && columns + piece < n {
            let sums = staging.get_vec4(own + swizzled(line % 64, piece)).lanes;
            how.four(sums, start(line, columns + piece), (row + line, columns + piece));
            line += WARPGROUP_SIZE / (PART / 4);
        }
    } else {
        let column = columns + t % PART;
        let mut line = t / PART;
        while line < lines && column < n {
            let sum = staging.get(own + swizzled(line % 64, t % PART));
            let at = start(line, column);
            epilogue(sum, at, (how.c, how.wide), how.bias, (row + line, column), how.scale, how.flags);
            line += WARPGROUP_SIZE / PART;
        }
    }
}

//! From a warp's accumulators to C.
//!
//! A lane has pairs of accumulators all over its warp's tile. The warp stages 32 rows of them in shared memory, where
//! the block's stages of B were, and reads them back by rows, four neighbours to a lane: whole lines of C are read and
//! written, and the epilogue stands in the kernel once.
//!
//! Every 8 accumulators of a row are permuted with others, by row: the pairs of 4 rows that are written at once then
//! lie in different banks.

use simt::element::{Lanes, Vec2, Vec4};
use simt::global::{Window, WindowMut};
use simt::prelude::*;
use simt::warp::sync_warp;

use super::element::MmaElement;
use crate::gemm::args::{ACTIVATION, BIAS_PER_COLUMN, BIAS_PER_ROW, GemmArgs, WIDE_C};
use crate::gemm::number::Number;
use crate::unroll::{each, from_fn, unroll};

/// What stores a warp's tile. `LEN` elements of shared memory have room for 32 rows of every warp's tile.
pub(super) struct Store<'a, T: MmaElement, const LEN: usize, const MT: usize, const NT: usize> {
    pub(super) staging: &'a SharedArray<T, LEN>,
    pub(super) gemm: &'a GemmArgs<'a, T>,
    pub(super) warp: u32,
    pub(super) lane: u32,
}

impl<T: MmaElement, const LEN: usize, const MT: usize, const NT: usize> Store<'_, T, LEN, MT, NT> {
    /// Columns of the warp's tile.
    const WIDTH: u32 = 8 * NT as u32;

    /// Writes the warp's tile of a matrix of the batch, whose first element is (`row0`, `col0`) of C.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn tile(&self, accumulators: &[[[f32; 4]; NT]; MT], matrix: u32, (row0, col0): (u32, u32)) {
        // Nobody needs the stages any more.
        sync_threads();
        unroll!(for part in 0..2 {
            if 2 * part < MT {
                unroll!(for i in 0..2 {
                    unroll!(for j in 0..8 {
                        if j < NT {
                            let [a, b, c, d] = accumulators[2 * part + i][j];
                            let (row, col) = (16 * i as u32 + self.lane / 4, 8 * j as u32 + self.lane % 4 * 2);
                            self.set(row, col, [a, b]);
                            self.set(row + 8, col, [c, d]);
                        }
                    });
                });
                sync_warp(u32::MAX);
                let place = (row0.saturating_add(32 * part as u32), col0);
                if !self.rows_scaled_only(matrix, place) {
                    self.rows(matrix, place);
                }
                sync_warp(u32::MAX);
            }
        });
    }

    /// The place of accumulator (`row`, `col`) of 32 rows.
    #[cfg_attr(optimised, inline(always))]
    fn at(&self, row: u32, col: u32) -> u32 {
        (self.warp * 32 + row) * Self::WIDTH + (col ^ (row % 4 * 8))
    }

    #[cfg_attr(optimised, inline(always))]
    fn set(&self, row: u32, col: u32, pair: [f32; 2]) {
        self.staging.cast::<f32>().set_vec(self.at(row, col), Vec2::new(pair));
    }

    /// Writes alpha times 32 rows to C from (`row0`, `col0`) on, if that is all there is to do to them and C has them
    /// all, aligned for four at once; and tells whether it did. It takes a tenth of the time of [`Self::rows`].
    #[cfg_attr(optimised, inline(always))]
    fn rows_scaled_only(&self, matrix: u32, (row0, col0): (u32, u32)) -> bool {
        let GemmArgs { c, m, n, ldc, stride_c, alpha, beta, flags, .. } = *self.gemm;
        if beta != 0.0 || flags & (WIDE_C | BIAS_PER_COLUMN | BIAS_PER_ROW | ACTIVATION) != 0 {
            return false;
        }
        let Some(c) = c.window_mut((matrix as u64).wrapping_mul(stride_c), m, n, ldc) else { return false };
        let Some(c) = c.part_mut(row0, col0, 32, Self::WIDTH) else { return false };
        if !c.has_aligned_rows::<4>() {
            return false;
        }
        let lanes = const { 2 * NT as u32 };
        let (row, col) = (self.lane / lanes, self.lane % lanes * 4);
        unroll!(for step in 0..16 {
            let row = row + step as u32 * (32 / lanes);
            if step as u32 * (32 / lanes) < 32 {
                let accumulators = self.staging.cast::<f32>().get_vec4(self.at(row, col)).lanes;
                let new = each!(accumulators, |accumulator| T::narrow(alpha * accumulator));
                c.set_vec_within::<4>(row, col, Vec4::new(new));
            }
        });
        true
    }

    /// Finishes 32 rows and writes them to C from (`row0`, `col0`) on.
    #[cfg_attr(optimised, inline(always))]
    fn rows(&self, matrix: u32, (row0, col0): (u32, u32)) {
        let GemmArgs { c, c_wide, m, n, ldc, stride_c, beta, flags, .. } = *self.gemm;
        let start = (matrix as u64).wrapping_mul(stride_c);
        let is_wide = flags & WIDE_C != 0;
        let c = if is_wide { None } else { c.window_mut(start, m, n, ldc) };
        let wide = if is_wide { c_wide.window_mut(start, m, n, ldc) } else { None };

        let lanes = const { 2 * NT as u32 };
        let mut step = 0;
        while step < 32 {
            let (row, col) = ((step + self.lane / lanes) % 32, self.lane % lanes * 4);
            let accumulators = self.staging.cast::<f32>().get_vec4(self.at(row, col)).lanes;
            let (row, col) = (row0.saturating_add(row), col0.saturating_add(col));
            let mut old = [0.0; 4];
            if beta != 0.0 {
                old = match (&wide, &c) {
                    (Some(wide), _) => quad(wide, row, col),
                    (_, Some(c)) => quad(c, row, col),
                    _ => old,
                };
            }
            let new = from_fn(|j| self.gemm.finish(accumulators[j], || old[j], (row, col.saturating_add(j as u32))));
            match (&wide, &c) {
                (Some(wide), _) => set_quad(wide, row, col, new),
                (_, Some(c)) => set_quad(c, row, col, new),
                _ => {}
            }
            step += 32 / lanes;
        }
    }
}

/// Four neighbours in a row of C.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn quad<T: Number<Wide = f32> + Lanes<4>>(c: &Window<T>, row: u32, col: u32) -> [f32; 4] {
    if c.has_aligned_rows::<4>() && c.part(row, col, 1, 4).is_some() {
        each!(c.get_vec_or::<4>(row, col, Vec4::new([T::ZERO; 4])).lanes, T::wide)
    } else {
        from_fn(|j| c.get_or(row, col.saturating_add(j as u32), T::ZERO).wide())
    }
}

/// Writes those of four neighbours in a row that C has.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn set_quad<T: Number<Wide = f32> + Lanes<4>>(c: &WindowMut<T>, row: u32, col: u32, new: [f32; 4]) {
    let new = each!(new, T::narrow);
    if !(c.has_aligned_rows::<4>() && c.set_vec_within::<4>(row, col, Vec4::new(new))) {
        unroll!(for j in 0..4 {
            c.set_within(row, col.saturating_add(j as u32), new[j]);
        });
    }
}

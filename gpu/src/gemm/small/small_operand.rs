//! The small operand: at most 16 rows of it, staged in shared memory chunk by chunk, each warp's for itself.

use simt::element::{Lanes, Vector, zeroed};
use simt::opaque;
use simt::prelude::*;

use super::operand::Strip;
use crate::gemm::number::Number;
use crate::unroll::unroll;

/// Vectors that a lane loads of a chunk of 16 rows.
const PIECES: usize = 2;

/// Puts the chunk that begins at `k0` into shared memory from `own` on, `ROWS` rows along k; zeros beyond the edges.
/// All lanes of the warp share the work.
#[cfg_attr(optimised, inline(always))]
pub(super) fn stage<T: Number + Lanes<V>, const V: usize, const ROWS: usize, const STAGE: usize>(
    small: Strip<T>,
    stage: &SharedArray<T, STAGE>,
    own: u32,
    k0: u32,
    lane: u32,
) {
    let Some(window) = small.window else { return };
    let chunk = 4 * V as u32;
    let (count, cols) = (window.rows(), window.cols());
    let whole = cols.is_multiple_of(V as u32) || cols.checked_sub(k0).is_some_and(|left| left >= chunk);
    if small.k_major && whole && window.has_aligned_rows::<V>() && count > 0 && cols >= V as u32 {
        // 4 vectors a row: 8 rows at a time. Rows that there are not may be anything.
        let (row, piece) = (lane / 4 % ROWS as u32, lane % 4 * V as u32);
        let col = k0.saturating_add(piece);
        let mut vectors = [zeroed::<Vector<T, V>>(); PIECES];
        unroll!(for i in 0..PIECES {
            if i < ROWS.div_ceil(8) {
                let row = (8 * i as u32 + row).min(count - 1);
                // SAFETY: the row is below `count`, the column at most `cols - V`.
                vectors[i] = unsafe { window.get_vec_unchecked(row, col.min(cols - V as u32)) };
            }
        });
        unroll!(for i in 0..PIECES {
            if i < ROWS.div_ceil(8) && lane / 4 < ROWS as u32 {
                let vector = if col < cols { vectors[i] } else { zeroed() };
                stage.set_vec(own + (8 * i as u32 + row) * chunk + piece, vector);
            }
        });
        return;
    }
    // Neighbouring lanes take neighbours in memory, 4 elements each at a time.
    let place = |element: u32| {
        let element = element % (ROWS as u32 * chunk);
        if small.k_major { (element / chunk, element % chunk) } else { (element % ROWS as u32, element / ROWS as u32) }
    };
    let (mut first, k0) = (opaque(lane), opaque(k0));
    while first < ROWS as u32 * chunk {
        let mut elements = [T::ZERO; 4];
        unroll!(for i in 0..4 {
            let (row, step) = place(first + 32 * i as u32);
            let at = k0.saturating_add(step);
            let (down, across) = if small.k_major { (row, at) } else { (at, row) };
            elements[i] = window.get_or(down, across, T::ZERO);
        });
        unroll!(for i in 0..4 {
            let (row, step) = place(first + 32 * i as u32);
            // The remainder tells the compiler that it is inside.
            stage.set((own + row * chunk + step) % STAGE as u32, elements[i]);
        });
        first += 4 * 32;
    }
}

//! The large operand: a block's 64 rows or columns of it, as vectors in registers.
//!
//! Where rows start at multiples of 16 bytes and no vector is cut off, vectors are loaded as they are. Elsewhere they
//! are put together element by element, in shared memory: a loop, where registers would ask for 64 loads written out.

use simt::element::{Lanes, Vec4, Vector, bits_as, zeroed};
use simt::opaque;
use simt::prelude::*;

use super::LOADS;
use super::operand::Strip;
use crate::gemm::number::Number;
use crate::unroll::unroll;

/// This lane's vectors of the chunk that begins at `k0`, as [`Accumulators`](super::mainloop::Accumulators) says; zeros
/// beyond the end of k, and anything in rows or columns that there are not.
#[cfg_attr(optimised, inline(always))]
pub(super) fn chunk<
    T: Number + Lanes<V>,
    const V: usize,
    const THREADS: u32,
    const SCRATCH: usize,
    const K_MAJOR: bool,
>(
    large: Strip<T>,
    scratch: &SharedArray<f32, SCRATCH>,
    k0: u32,
    thread: u32,
) -> [Vector<T, V>; LOADS] {
    let lane = thread % 32;
    let mut vectors = [zeroed::<Vector<T, V>>(); LOADS];
    let Some(window) = large.window else { return vectors };
    let (rows, cols, per_vector) = (window.rows(), window.cols(), V as u32);
    let left = if K_MAJOR { cols } else { rows }.saturating_sub(k0);
    let ends_here = left < 4 * per_vector;
    let whole = cols.is_multiple_of(per_vector) || K_MAJOR && !ends_here;
    if window.has_aligned_rows::<V>() && whole && rows > 0 && cols >= per_vector {
        let last = [rows - 1, cols - per_vector];
        unroll!(for i in 0..LOADS {
            let (row, col) = place::<V, K_MAJOR>(i as u32, k0, lane);
            // SAFETY: the row is below `rows`, the column at most `cols - V`.
            vectors[i] = unsafe { window.get_vec_unchecked(row.min(last[0]), col.min(last[1])) };
        });
        if ends_here {
            unroll!(for i in 0..LOADS {
                let (row, col) = place::<V, K_MAJOR>(i as u32, k0, lane);
                let inside = if K_MAJOR { col < cols } else { row < rows };
                vectors[i] = if inside { vectors[i] } else { zeroed() };
            });
        }
    } else {
        // Bounds of which nobody sees that they are 8 apart: it stays a loop.
        let (mut at, k0) = (slot::<THREADS>(0, opaque(thread) % THREADS), opaque(k0));
        while at < slot::<THREADS>(LOADS as u32, 0) {
            let (row, col) = place::<V, K_MAJOR>(at / slot::<THREADS>(1, 0), k0, at / 4 % 32);
            let mut lanes = [T::ZERO; V];
            unroll!(for element in 0..V {
                lanes[element] = window.get_or(row, col.saturating_add(element as u32), T::ZERO);
            });
            scratch.set_vec4(at, bits_as::<_, Vec4<f32>>(Vector::<T, V>::new(lanes)));
            at += slot::<THREADS>(1, 0);
        }
        unroll!(for i in 0..LOADS {
            vectors[i] = bits_as(scratch.get_vec4(slot::<THREADS>(i as u32, thread)));
        });
    }
    vectors
}

/// Row and column in the window of vector `i` of a lane.
#[cfg_attr(optimised, inline(always))]
const fn place<const V: usize, const K_MAJOR: bool>(i: u32, k0: u32, lane: u32) -> (u32, u32) {
    let per_vector = V as u32;
    if K_MAJOR {
        (8 * i + lane / 4, k0.saturating_add(lane % 4 * per_vector))
    } else {
        let subs = per_vector / 2;
        (k0.saturating_add(i / 4 * 4 * subs + lane % subs * 4 + i % 4), lane / subs * per_vector)
    }
}

/// Where this thread's vector `i` lies in shared memory: side by side with its neighbours'.
#[cfg_attr(optimised, inline(always))]
const fn slot<const THREADS: u32>(i: u32, thread: u32) -> u32 {
    (i * THREADS + thread) * 4
}

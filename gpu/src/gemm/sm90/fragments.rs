//! An MN-major A of tf32, loaded from shared memory to registers.
//!
//! ```text
//!            32 rows of A, 128 bytes, swizzled
//!   k   0  │ 0  1  2  3  4  5  6  7 │     16-byte vectors: four rows of A
//!       1  │ 1  0  3  2  5  4  7  6 │     A load takes vectors c and c + 4 of four steps of k, which are all
//!       2  │ 2  3  0  1  6  7  4  5 │     in different banks: lane 4·i + q row i % 4 of vector c + i / 4 · 4,
//!       3  │ 3  2  1  0  7  6  5  4 │     step q. So c = 0, 1, 2, 3 are loads without conflicts.
//! ```
//!
//! Any assignment of rows of A to the 16 of a fragment will do, if the accumulators are stored accordingly: `row`.

use crate::unroll::each;
use simt::prelude::*;

/// `f32` in a row of a box, 128 bytes, and steps along k in a stage.
const LINE: u32 = 32;
const DEPTH: u32 = 32;

/// Elements of a box: [`LINE`] rows of A, [`DEPTH`] steps along k.
const BOX: usize = (LINE * DEPTH) as usize;

/// The row, of the 64 of a warpgroup, whose accumulators thread `t` of it has; its other one is 4 further down.
#[cfg_attr(optimised, inline(always))]
pub(super) const fn row(t: u32) -> u32 {
    let (warp, i) = (t / 32, t % 32 / 4);
    warp / 2 * LINE + warp % 2 * 8 + i / 4 * 16 + i % 4
}

/// The fragments of thread `t` of the warpgroup whose boxes begin at element `start`, for four instructions: for each 8
/// steps of k, its two rows at step q and at q + 4.
#[cfg_attr(optimised, inline(always))]
pub(super) fn load<const N: usize>(x: &SharedArray<f32, N>, start: u32, t: u32) -> [[u32; 4]; 4] {
    let (row, q) = (row(t % 128), t % 4);
    let (in_box, vector) = (start + row / LINE * BOX as u32, row % LINE / 4);
    let steps = [(vector, q), (vector + 1, q), (vector, q + 4), (vector + 1, q + 4)];
    let places = each!(steps, |(vector, step)| in_box + step * LINE + (vector ^ step) * 4 + row % 4);
    each!([0, 1, 2, 3], |eight: u32| {
        each!(places, |place| {
            // SAFETY: two boxes begin at `start`, a stage of the pipeline: the row is below 64, vector and
            // step are below 8.
            unsafe { x.get_unchecked(place + eight * 8 * LINE) }.to_bits()
        })
    })
}

#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests {
    use super::*;

    /// Every row once, and no two lanes in one bank.
    #[test]
    fn rows_are_all_there_and_loads_free_of_conflicts() {
        let mut rows: Vec<_> = (0..128).step_by(4).flat_map(|t| [row(t), row(t) + 4]).collect();
        rows.sort_unstable();
        assert!(rows.into_iter().eq(0..64));
        for (warp, more, later) in [(0, 0, 0), (1, 4, 0), (2, 0, 4), (3, 4, 4)] {
            let mut banks: Vec<_> = (0..32)
                .map(|lane| {
                    let (row, step) = (row(warp * 32 + lane) + more, lane % 4 + later);
                    (step * LINE + ((row % LINE / 4) ^ step) * 4 + row % 4) % 32
                })
                .collect();
            banks.sort_unstable();
            assert!(banks.into_iter().eq(0..32), "warp {warp}");
        }
    }
}

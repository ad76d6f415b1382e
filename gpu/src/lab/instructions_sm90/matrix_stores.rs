//! `stmatrix`: matrices from a warp's registers to shared memory.

use simt::{matrix::stmatrix, prelude::*, warp::lane_id};

/// Each lane l has the four words `x[4 · l …]`: fragments of 8 × 8 matrices. `y` becomes six times 256 numbers: four
/// row-major matrices after stores of 1, 2 and 4 matrices, then the same after transposed stores. Matrices that are not
/// stored are filled with 7. One warp.
#[kernel(block = (32), barriers = 12)]
pub fn matrix_stores(#[shared] rows: &SharedTile<u16, 32, 8>, x: VecRef<u32>, y: VecMut<u16>) {
    let lane = lane_id();
    let word = |i| x.get_or(4 * lane as usize + i, 0);
    let row = rows.slot::<8>(lane, 0);
    let fill = || {
        for col in 0..8 {
            rows.set(lane, col, 7);
        }
        sync_threads();
    };
    let read_back = |round: usize| {
        sync_threads();
        for col in 0..8 {
            y.set_within(256 * round + (8 * lane + col) as usize, rows.get(lane, col));
        }
    };
    fill();
    stmatrix::<1, false, _, 8>(row, [word(0)]);
    read_back(0);
    fill();
    stmatrix::<2, false, _, 8>(row, [word(0), word(1)]);
    read_back(1);
    fill();
    stmatrix::<4, false, _, 8>(row, [word(0), word(1), word(2), word(3)]);
    read_back(2);
    fill();
    stmatrix::<1, true, _, 8>(row, [word(0)]);
    read_back(3);
    fill();
    stmatrix::<2, true, _, 8>(row, [word(0), word(1)]);
    read_back(4);
    fill();
    stmatrix::<4, true, _, 8>(row, [word(0), word(1), word(2), word(3)]);
    read_back(5);
}

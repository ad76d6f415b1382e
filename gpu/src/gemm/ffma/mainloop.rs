//! What a block does.

use simt::async_copy::cp_async_wait_all;
use simt::prelude::*;

use super::Stages;
use super::load::{ShareOfA, copy_b, permuted};
use crate::gemm::microtile::{Microtile, accumulate};
use crate::gemm::raster::tile_of;
use crate::unroll::unroll;

/// C's tile of this block: `M` × `N` elements, `MQ` · 4 × `NQ` · 4 of them per thread, in steps of
/// `ROWS` / 2 along k: there are two stages.
#[cfg_attr(optimised, inline(always))]
pub(super) fn multiply<
    const ROWS: usize,
    const M: usize,
    const N: usize,
    const MQ: usize,
    const NQ: usize,
    const THREADS: usize,
>(
    stages: &Stages<ROWS, M, N>,
    a: MatRef<f32>,
    b: MatRef<f32>,
    c: MatMut<f32>,
) {
    const {
        assert!(ROWS.is_power_of_two() && ROWS >= 16 && ROWS <= 64);
        assert!(THREADS * MQ * NQ * 16 == M * N && MQ.is_multiple_of(2) && MQ <= 4 && NQ <= 2);
        assert!(M.is_power_of_two() && N.is_power_of_two());
    }
    let depth = const { ROWS as u32 / 2 };
    // The remainder tells the compiler what the launch has made sure of.
    let thread = thread_idx_x() % THREADS as u32;
    let mine = Microtile::of::<MQ, NQ>(const { N as u32 / (32 * NQ as u32) }, thread);
    // The masks do the same: they clear bits that are 0.
    let mine = Microtile {
        row: mine.row & const { (M as u32 - 1) & !(16 * (MQ as u32 - 1)) },
        col: mine.col & const { (N as u32 - 1) & !(32 * (NQ as u32 - 1)) },
    };
    let (row0, col0) = tile_of(block_idx_x(), [M as u32, N as u32], c.rows(), c.cols());
    let inner = a.cols().min(b.rows());
    let (Some(a), Some(b)) = (a.part(0, 0, a.rows(), inner), b.part(0, 0, inner, b.cols())) else { return };
    let (a_aligned, b_aligned) = (a.has_aligned_rows::<4>(), b.has_aligned_rows::<4>());
    let fetch_a = |stage, k| ShareOfA::<ROWS, M, THREADS>::fetch(&stages.a, stage, a, a_aligned, (row0, k), thread);
    let copy_b = |stage, k| copy_b::<ROWS, N, THREADS>(&stages.b, stage, b, b_aligned, (k, col0), thread);

    let mut sums = const { [[[[0.0_f32; 4]; NQ]; 4]; MQ] };
    copy_b(0, 0);
    fetch_a(0, 0).store(&stages.a, 0, thread);
    cp_async_wait_all();
    sync_threads();
    copy_b(depth, depth);
    let mut share = fetch_a(depth, depth);
    // The stage of a step is known to be one of two by its bits.
    let (mut k0, mut parity) = (0_u32, 0);
    while k0 < inner {
        let stage = parity & depth;
        let other = stage ^ depth;
        unroll!(for k in 0..32 {
            if k < ROWS / 2 {
                let a = mine.column_of_a::<ROWS, M, MQ>(&stages.a, stage, k);
                let b = mine.row_of_b::<ROWS, N, NQ>(&stages.b, stage, k);
                if k + 1 == ROWS / 2 {
                    // Nobody needs this stage any more: the step after the next may come. Beyond the last come zeros.
                    share.store(&stages.a, other, thread);
                    cp_async_wait_all();
                    sync_threads();
                    let after_next = k0.saturating_add(2 * depth);
                    copy_b(stage, after_next);
                    share = fetch_a(stage, after_next);
                }
                accumulate(&mut sums, &a, &b);
            }
        });
        parity ^= depth;
        k0 = k0.saturating_add(depth);
    }
    write(&sums, c, row0 + mine.row, col0 + mine.col);
}

/// Writes a thread's elements, the first of which is (`row`, `col`) of C: 16 bytes at a time where they all are in C
/// and rows start at multiples of 16 bytes. Eight lanes write 128 bytes of a row.
#[cfg_attr(optimised, inline(always))]
fn write<const MQ: usize, const NQ: usize>(sums: &[[[[f32; 4]; NQ]; 4]; MQ], c: MatMut<f32>, row: u32, col: u32) {
    // From the first element to the last.
    let (height, width) = (16 * MQ as u32 - 12, 32 * NQ as u32 - 28);
    match c.part_mut(row, col, height, width) {
        Some(part) if c.has_aligned_rows::<4>() => unroll!(for quad in 0..4 {
            if quad < MQ {
                unroll!(for i in 0..4 {
                    unroll!(for j in 0..4 {
                        if j < NQ {
                            part.set_vec4((16 * quad + i) as u32, 32 * j as u32, sums[quad][i][j].into());
                        }
                    });
                });
            }
        }),
        _ => unroll!(for quad in 0..4 {
            if quad < MQ {
                unroll!(for i in 0..4 {
                    unroll!(for j in 0..8 {
                        if j < 4 * NQ {
                            let (down, across) = ((16 * quad + i) as u32, (j / 4 * 32 + j % 4) as u32);
                            let (row, col) = (row.saturating_add(down), col.saturating_add(across));
                            c.set_within(row, col, sums[quad][i][j / 4][j % 4]);
                        }
                    });
                });
            }
        }),
    }
}

impl Microtile {
    /// The thread's elements of column `k` of A, in the stage that starts at row `stage`.
    #[cfg_attr(optimised, inline(always))]
    fn column_of_a<const ROWS: usize, const M: usize, const MQ: usize>(
        self,
        tile: &SharedTile<f32, ROWS, M>,
        stage: u32,
        k: usize,
    ) -> [[f32; 4]; MQ] {
        let mut a = [[0.0; 4]; MQ];
        unroll!(for i in 0..4 {
            if i < MQ {
                a[i] = tile.get_vec4(stage + k as u32, self.row + 16 * (i ^ permuted(k)) as u32).lanes;
            }
        });
        a
    }

    /// The thread's elements of row `k` of B.
    #[cfg_attr(optimised, inline(always))]
    fn row_of_b<const ROWS: usize, const N: usize, const NQ: usize>(
        self,
        tile: &SharedTile<f32, ROWS, N>,
        stage: u32,
        k: usize,
    ) -> [[f32; 4]; NQ] {
        let mut b = [[0.0; 4]; NQ];
        unroll!(for i in 0..4 {
            if i < NQ {
                b[i] = tile.get_vec4(stage + k as u32, self.col + 32 * i as u32).lanes;
            }
        });
        b
    }
}

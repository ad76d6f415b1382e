//! What a block does for `f64`.
//!
//! ```text
//!   step along k: 16 rows of A's and of B's tile in shared memory, each 4 elements longer than the tile
//!
//!     A's rows: k     0 ▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓ m        A warp reads 4 rows of 8 neighbours at once: 32 banks of
//!                     1 ▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓          8 bytes apart from each other, since each row begins 4 banks
//!                     …                               after the one before it.
//! ```
//!
//! Each element is copied on its own, by an asynchronous copy of 8 bytes, to where fragments need it: so one kernel
//! serves all layouts, and operands at any address. That takes 16 copies of a thread for 128 × 128 × 16 products, in
//! 2048 clocks, and what bounds the kernel is the rate of the tensor cores: 128 multiply-adds a clock on an SM, 67
//! TFLOP/s on an H200.
//!
//! Sums are chains of fused multiply-adds in the order of k, as in [`reference`](crate::gemm::reference).

use simt::async_copy::{cp_async_commit, cp_async_or_zero, cp_async_wait_group};
use simt::element::Vec2;
use simt::global::Window;
use simt::matrix::mma_sync_f64;
use simt::opaque;
use simt::prelude::*;
use simt::warp::sync_warp;

use super::Stages;
use crate::gemm::args::{GemmArgs, Operands, TRANSPOSE_A, TRANSPOSE_B};
use crate::gemm::raster::tile_of;
use crate::unroll::unroll;

/// Steps along k in shared memory: three that are on their way while one is multiplied.
const STAGES: u32 = 4;
/// Extent of a step along k.
const DEPTH: u32 = 16;
/// Elements by which a row in shared memory is longer than the tile.
const PADDING: usize = 4;
/// Copies of a thread for an operand in a step.
const COPIES: usize = 8;
/// Elements from row to row of a warp's sums in shared memory.
const PITCH: u32 = 40;

/// Elements of an operand in all stages.
pub(super) const fn elements(extent: usize) -> usize {
    (STAGES * DEPTH) as usize * (extent + PADDING)
}

/// C's tile of `M` × `N` of this block, in every matrix of the batch that is its: `MT` · 16 × `NT` · 8 of it per warp.
#[cfg_attr(optimised, inline(always))]
pub(super) fn gemm<
    const M: usize,
    const N: usize,
    const MT: usize,
    const NT: usize,
    const THREADS: usize,
    const LEN_A: usize,
    const LEN_B: usize,
>(
    stages: &Stages<LEN_A, LEN_B>,
    operands: Operands<f64>,
    args: GemmArgs<f64>,
) {
    const {
        assert!(THREADS * MT * NT * 4 == M * N && matches!(MT, 2 | 4) && NT == 4);
        assert!(LEN_A == elements(M) && LEN_B == elements(N) && THREADS / 32 * 16 * PITCH as usize <= LEN_A);
        assert!(M * DEPTH as usize == THREADS * COPIES && N * DEPTH as usize == THREADS * COPIES);
    }
    // A is M-major if it is transposed, B is N-major if it is not.
    let k_major = [args.flags & TRANSPOSE_A == 0, args.flags & TRANSPOSE_B != 0];
    let mut matrix = block_idx_z();
    while matrix < args.batch {
        let mut sums = const { [[[0.0_f64; 4]; NT]; MT] };
        if args.k > 0 {
            let window = |operand: usize, extent: u32| {
                let (rows, cols) = if k_major[operand] { (extent, args.k) } else { (args.k, extent) };
                let from = (matrix as u64).wrapping_mul(operands.stride[operand]);
                [operands.a, operands.b][operand].window(from, rows, cols, operands.ld[operand])
            };
            let Some(a) = window(0, args.m) else { return };
            let Some(b) = window(1, args.n) else { return };
            let (first, thread) = (tile::<M, N>(&args), thread::<THREADS>());
            let block = Block { stages, windows: [a, b], first, thread, place: place::<N, MT>(thread), k: args.k };
            // The main loop is in the code once for each layout.
            match k_major {
                [false, false] => block.accumulate::<M, N, THREADS, false, false, MT, NT>(&mut sums),
                [false, true] => block.accumulate::<M, N, THREADS, false, true, MT, NT>(&mut sums),
                [true, false] => block.accumulate::<M, N, THREADS, true, false, MT, NT>(&mut sums),
                [true, true] => block.accumulate::<M, N, THREADS, true, true, MT, NT>(&mut sums),
            }
        }
        let ([row0, col0], thread) = (tile::<M, N>(&args), thread::<THREADS>());
        let (row, col) = place::<N, MT>(thread);
        let from = (matrix, row0.saturating_add(row), col0.saturating_add(col));
        store::<MT, NT, LEN_A>(&stages.a, &args, (thread / 32, thread % 32), &sums, from);
        matrix = matrix.saturating_add(grid_dim_z());
        // The next matrix comes to the memory that this one was written through.
        sync_threads();
    }
}

/// First row and column of the block's tile. This, and [`thread`], are computed again where they are needed: kept, they
/// would not fit into the registers.
#[cfg_attr(optimised, inline(always))]
fn tile<const M: usize, const N: usize>(args: &GemmArgs<f64>) -> [u32; 2] {
    tile_of(opaque(block_idx_x()), [M as u32, N as u32], args.m, args.n).into()
}

/// Number of the thread.
#[cfg_attr(optimised, inline(always))]
fn thread<const THREADS: usize>() -> u32 {
    opaque(thread_idx_x()) % THREADS as u32
}

/// Row and column in the block's tile of a warp's, which is 32 columns wide.
#[cfg_attr(optimised, inline(always))]
const fn place<const N: usize, const MT: usize>(thread: u32) -> (u32, u32) {
    let (warp, across) = (thread / 32, (N / 32) as u32);
    (warp / across * (16 * MT as u32), warp % across * 32)
}

/// A block's tile of one matrix.
#[derive(Clone, Copy)]
struct Block<'a, const LEN_A: usize, const LEN_B: usize> {
    stages: &'a Stages<LEN_A, LEN_B>,
    /// A and B.
    windows: [Window<'a, f64>; 2],
    /// First row and column of the tile.
    first: [u32; 2],
    thread: u32,
    /// Row and column in the tile of the warp's.
    place: (u32, u32),
    k: u32,
}

impl<const LEN_A: usize, const LEN_B: usize> Block<'_, LEN_A, LEN_B> {
    /// Adds the products of all steps to a warp's sums.
    ///
    /// A warp's instructions are issued in order, and only two or three warps share a tensor core: so whatever else
    /// there is to do, copies for three steps ahead and fragments for the next 16 rows, stands between the products,
    /// each of which takes the tensor core 64 clocks.
    #[cfg_attr(optimised, inline(always))]
    fn accumulate<
        const M: usize,
        const N: usize,
        const THREADS: usize,
        const A_K_MAJOR: bool,
        const B_K_MAJOR: bool,
        const MT: usize,
        const NT: usize,
    >(
        &self,
        sums: &mut [[[f64; 4]; NT]; MT],
    ) {
        // Each layout computes its addresses on its own, where they are needed.
        let block = Self { thread: opaque(self.thread), ..*self };
        let copy = |step: u32, number: usize| {
            if number < COPIES {
                block.copy::<M, THREADS, A_K_MAJOR, LEN_A>(&block.stages.a, 0, step, number);
            } else {
                block.copy::<N, THREADS, B_K_MAJOR, LEN_B>(&block.stages.b, 1, step, number - COPIES);
            }
        };
        // Of a step that it knows nothing about the compiler keeps no addresses from step to step: there are 32.
        let mut step = 0;
        while step < STAGES - 1 {
            let ahead = opaque(step);
            unroll!(for number in 0..16 {
                copy(ahead, number);
            });
            cp_async_commit();
            step += 1;
        }
        cp_async_wait_group::<{ STAGES - 2 }>();
        sync_threads();
        let mut left = block.rows::<M>(0, 0);
        let mut right = const { [[0.0; 4]; NT] };
        unroll!(for nt in 0..4 {
            right[nt] = block.cols::<N>(0, nt);
        });
        let steps = block.k.div_ceil(DEPTH);
        step = 0;
        while step < steps {
            let ahead = opaque(step.saturating_add(STAGES - 1));
            unroll!(for mt in 0..4 {
                if mt < MT {
                    unroll!(for nt in 0..4 {
                        sums[mt][nt] = mma_sync_f64(left, right[nt], sums[mt][nt]);
                        if mt + 1 == MT {
                            right[nt] = block.cols::<N>((step + 1) % STAGES, nt);
                        }
                        // After the first 16 rows: as many copies after each product as it takes for all.
                        let each = const { (2 * COPIES).div_ceil(NT * (MT - 1)) };
                        unroll!(for i in 0..4 {
                            let number = (NT * mt.saturating_sub(1) + nt) * each + i;
                            if mt > 0 && i < each && number < 2 * COPIES {
                                copy(ahead, number);
                            }
                        });
                    });
                    // The fragment of the next 16 rows, behind the last ones that of the next step.
                    let next = if mt + 1 < MT { (step, mt + 1) } else { (step + 1, 0) };
                    left = block.rows::<M>(next.0 % STAGES, next.1);
                    if mt == 0 {
                        // The next step has come, and everybody has read all of the one before this: its stage may be
                        // overwritten.
                        cp_async_wait_group::<{ STAGES - 3 }>();
                        sync_threads();
                    }
                }
            });
            cp_async_commit();
            step += 1;
        }
        cp_async_wait_group::<0>();
    }

    /// Starts one of the [`COPIES`] of a thread for an operand in a step; zeros where there is nothing.
    ///
    /// A warp copies 32 neighbours along m or n, or, if rows in memory run along k, 4 neighbours of 8 rows each: whole
    /// sectors of global memory either way, and different banks of shared memory.
    #[cfg_attr(optimised, inline(always))]
    fn copy<const EXTENT: usize, const THREADS: usize, const K_MAJOR: bool, const LEN: usize>(
        &self,
        stages: &SharedArray<f64, LEN>,
        operand: usize,
        step: u32,
        number: usize,
    ) {
        let (extent, threads, number) = (EXTENT as u32, THREADS as u32, number as u32);
        let (k, along) = if K_MAJOR {
            // Threads are numbered along 4 of k, then along the rows.
            (self.thread % 4 + number % 4 * 4, self.thread / 4 + number / 4 * (threads / 4))
        } else {
            (self.thread / extent + number * (threads / extent), self.thread % extent)
        };
        let (from_k, from) = (step.saturating_mul(DEPTH).saturating_add(k), self.first[operand].saturating_add(along));
        let from = if K_MAJOR { (from, from_k) } else { (from_k, from) };
        let to = ((step % STAGES * DEPTH + k) * (extent + PADDING as u32) + along) % LEN as u32;
        cp_async_or_zero(stages.slot_by_number::<1>(to), self.windows[operand].slot_or_zero::<1>(from.0, from.1));
    }

    /// The warp's fragment of 16 rows of A, number `tile` of them, in a stage.
    #[cfg_attr(optimised, inline(always))]
    fn rows<const M: usize>(&self, stage: u32, tile: usize) -> [f64; 8] {
        let (group, t) = (self.thread % 32 / 4, self.thread % 4);
        let pitch = const { (M + PADDING) as u32 };
        let first = (stage * DEPTH + t) * pitch + self.place.0 + group + 16 * tile as u32;
        let mut fragment = [0.0; 8];
        unroll!(for i in 0..8 {
            let (half, step) = (i as u32 % 2, i as u32 / 2);
            fragment[i] = self.stages.a.get((first + 4 * step * pitch + 8 * half) % LEN_A as u32);
        });
        fragment
    }

    /// The warp's fragment of 8 columns of B, number `tile` of them, in a stage.
    #[cfg_attr(optimised, inline(always))]
    fn cols<const N: usize>(&self, stage: u32, tile: usize) -> [f64; 4] {
        let (group, t) = (self.thread % 32 / 4, self.thread % 4);
        let pitch = const { (N + PADDING) as u32 };
        let first = (stage * DEPTH + t) * pitch + self.place.1 + group + 8 * tile as u32;
        let mut fragment = [0.0; 4];
        unroll!(for i in 0..4 {
            fragment[i] = self.stages.b.get((first + 4 * i as u32 * pitch) % LEN_B as u32);
        });
        fragment
    }
}

/// Writes a warp's tile, whose first element is (`row0`, `col0`), of a matrix of the batch. 16 rows at a time go
/// through shared memory: a warp writes 32 neighbours of a row.
#[cfg_attr(optimised, inline(always))]
fn store<const MT: usize, const NT: usize, const LEN: usize>(
    staging: &SharedArray<f64, LEN>,
    args: &GemmArgs<f64>,
    (warp, lane): (u32, u32),
    sums: &[[[f64; 4]; NT]; MT],
    (matrix, row0, col0): (u32, u32, u32),
) {
    let at = |row: u32, col: u32| ((warp * 16 + row) * PITCH + col) % LEN as u32;
    // Nobody needs the stages any more.
    sync_threads();
    unroll!(for mt in 0..4 {
        if mt < MT {
            unroll!(for nt in 0..4 {
                let [a, b, c, d] = sums[mt][nt];
                let (row, col) = (lane / 4, 8 * nt as u32 + lane % 4 * 2);
                staging.set_vec(at(row, col) / 2 * 2, Vec2::new([a, b]));
                staging.set_vec(at(row + 8, col) / 2 * 2, Vec2::new([c, d]));
            });
            sync_warp(u32::MAX);
            let mut i = 0;
            while i < 16 {
                let (row, col) = (row0.saturating_add(16 * mt as u32 + i), col0.saturating_add(lane));
                if row < args.m && col < args.n {
                    args.store(staging.get(at(i, lane)), args.index(matrix, row, col), (row, col));
                }
                i += 1;
            }
            sync_warp(u32::MAX);
        }
    });
}

//! The microtile of a thread of the FFMA kernels: `MQ` × `NQ` quads of 4 × 4 elements of C, 16 rows and 32 columns
//! apart.

use simt::prelude::*;

use crate::unroll::unroll;

/// Row and column of its first element in the block's tile of C.
#[derive(Clone, Copy)]
pub(crate) struct Microtile {
    pub(crate) row: u32,
    pub(crate) col: u32,
}

impl Microtile {
    /// That of a thread of a block whose tile has `across` microtiles in a row. The bits of a lane, highest first: row
    /// bit 1, column bits 2 and 1, row bit 0, column bit 0. Loads of 16 bytes then take two wavefronts, the least there
    /// is: see [`block_tiled`](crate::lab::tutorial::matmul::block_tiled).
    #[cfg_attr(optimised, inline(always))]
    pub(crate) const fn of<const MQ: usize, const NQ: usize>(across: u32, thread: u32) -> Self {
        let (warp, lane) = (thread / 32, thread % 32);
        let ty = lane / 16 * 2 + lane / 2 % 2;
        let tx = lane / 4 % 4 * 2 + lane % 2;
        let (height, width) = (16 * MQ as u32, 32 * NQ as u32);
        Self { row: warp / across * height + ty * 4, col: warp % across * width + tx * 4 }
    }
}

/// Adds the outer product of a column of A and a row of B. Every second row is done from right to left, so that each
/// FFMA has an operand in common with the one before: the registers have two ports, and the third operand comes from
/// the operand cache.
#[cfg_attr(optimised, inline(always))]
pub(crate) fn accumulate<const MQ: usize, const NQ: usize>(
    accumulators: &mut [[[[f32; 4]; NQ]; 4]; MQ],
    a: &[[f32; 4]; MQ],
    b: &[[f32; 4]; NQ],
) {
    unroll!(for quad in 0..4 {
        if quad < MQ {
            unroll!(for i in 0..4 {
                unroll!(for j in 0..8 {
                    if j < 4 * NQ {
                        let j = if i % 2 == 0 { j } else { 4 * NQ - 1 - j };
                        let sum = &mut accumulators[quad][i][j / 4][j % 4];
                        *sum = fma(a[quad][i], b[j / 4][j % 4], *sum);
                    }
                });
            });
        }
    });
}

//! C = A·B with tiles that the Tensor Memory Accelerator loads: one thread asks for a whole tile.
//!
//! ```text
//!            thread 0: load A, B ──▶ TMA ──▶ shared ──ldmatrix──▶ fragments ──mma.sync──▶ sums
//!            all threads: wait on the mbarrier ──┘ └───────────── barrier ─────────────┘
//! ```
//!
//! The host describes A and B once, as tensor maps: address, extents, strides, and the box that a load takes. A load
//! names the box by the coordinates of its first element. What is outside the matrix arrives as zeros, without a
//! comparison in the kernel. The bytes are counted by an *mbarrier* in shared memory; the threads wait until those of a
//! step have arrived.
//!
//! Rows of a box are 128 bytes and packed, without padding. So TMA permutes the eight 16-byte vectors of each row
//! (*swizzle*): vector v of row r lies at v ^ (r % 8), and eight rows' vectors v are in different banks.
//!
//! Per step and block: 3 instructions load 32 KiB, where [`mma`](super::mma) has 8 loads and 8 stores in each of 256
//! threads. Loading and multiplying still alternate.
//!
//! Predicted on an H200 at 4096³: 300 TFLOP/s. The wait for memory stays; the instructions and registers around it go.
//! Measured: 334.

use half::bf16;
use simt::mbarrier::{Mbarriers, fence_mbarrier_init};
use simt::prelude::*;
use simt::sync::fence_proxy_async;
use simt::tma::{TensorMap, load_2d};

use super::warp_tile::WarpTile;
use super::{DEPTH, OF_A, OF_B, ROWS};
use crate::unroll::unroll;

/// Columns of C per block: two boxes of B.
pub const COLS: u32 = 128;
/// Threads of a block.
pub const THREADS: u32 = 256;

/// Shared memory: a tile of A, one of B, and the mbarrier on which they arrive.
#[repr(C, align(1024))]
#[derive(Shared)]
pub struct Tiles {
    pub(super) a: SharedArray<bf16, OF_A>,
    pub(super) b: SharedArray<bf16, { 2 * OF_B }>,
    pub(super) full: Mbarriers<1>,
}

/// Where a vector of 8 elements lies in a box whose rows are 64 elements: by its row and its first column.
#[cfg_attr(optimised, inline(always))]
const fn swizzled(row: u32, col: u32) -> u32 {
    row * 64 + ((col / 8) ^ (row % 8)) * 8
}

/// C = A·B, in tiles of [`ROWS`] × [`COLS`]; `depth` is k.
#[kernel(block = (THREADS), min_blocks = 2, registers = 128, barriers = 2)]
pub fn matmul_tma(#[shared] tiles: &Tiles, a: &TensorMap<bf16>, b: &TensorMap<bf16>, depth: u32, c: MatMut<bf16>) {
    let t = thread_idx_x();
    let (row0, col0) = (block_idx_y() * ROWS, block_idx_x() * COLS);
    if t == 0 {
        tiles.full.init(0, 1);
        fence_mbarrier_init();
    }
    sync_threads();
    let mut sums = WarpTile::zeroed();
    for step in 0..depth.div_ceil(DEPTH) {
        if t == 0 {
            let k = (step * DEPTH) as i32;
            tiles.full.arrive_expect_tx(0, ((OF_A + 2 * OF_B) * size_of::<bf16>()) as u32);
            load_2d(tiles.a.slot::<OF_A>(0), a, [k, row0 as i32], tiles.full.at(0));
            for part in 0..2 {
                let slot = tiles.b.slot::<OF_B>(part * OF_B as u32);
                load_2d(slot, b, [(col0 + part * 64) as i32, k], tiles.full.at(0));
            }
        }
        // The mbarrier's phases alternate in parity.
        tiles.full.wait(0, step % 2);
        unroll!(for i in 0..4 {
            sums.multiply(
                16 * i as u32,
                |row, col| tiles.a.slot::<8>(swizzled(row, col)),
                |row, col| tiles.b.slot::<8>(col / 64 * OF_B as u32 + swizzled(row, col % 64)),
            );
        });
        // TMA, which writes there next, must not overtake a load.
        fence_proxy_async();
        sync_threads();
    }
    sums.store(c, (row0, col0));
}

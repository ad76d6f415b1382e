//! C = A·B by `wgmma`: four warps, a *warpgroup*, multiply 64 × 16 by 16 × 128, both straight from shared memory.
//!
//! ```text
//!            thread 0: load A, B ──▶ TMA ──▶ shared ─────────────wgmma─────────────▶ sums
//!            all threads: wait on the mbarrier ──┘ └────── wait, barrier ─────────┘
//! ```
//!
//! No fragment of A or B passes through registers. The instruction is told where the operands lie and how they are
//! swizzled (*matrix descriptors*), is asynchronous, and the warps wait for a group of them. B is row-major: its rows
//! run along n (*MN-major*), two boxes of 64 columns side by side.
//!
//! Per step 8 `wgmma` of 64 × 128 × 16 in the 128 threads of the block, where [`tma`](super::tma) has 24 `ldmatrix` and
//! 64 `mma.sync` in each of 8 warps. A thread has 128 sums.
//!
//! Predicted on an H200 at 4096³: 500 TFLOP/s. An SM holds three blocks: while one waits for its loads, others
//! multiply. Measured: 528.

use half::bf16;
use simt::mbarrier::fence_mbarrier_init;
use simt::prelude::*;
use simt::tma::{TensorMap, load_2d};
use simt::wgmma::{Accumulators, KMajor, MnMajor, Operand, Swizzle};

use super::store::store;
pub use super::tma::{COLS, Tiles};
use super::{DEPTH, OF_A, OF_B, ROWS};

/// Threads of a block: a warpgroup.
pub const THREADS: u32 = 128;

/// Bytes of eight rows of 128 bytes, from which the next eight are as far away, and of a box of B.
const EIGHT_ROWS: u32 = 1024;
const BOX_BYTES: u32 = (OF_B * size_of::<bf16>()) as u32;

/// C = A·B, in tiles of [`ROWS`] × [`COLS`]; `depth` is k.
#[kernel(block = (THREADS), min_blocks = 3, registers = 168, barriers = 2)]
pub fn matmul_wgmma(#[shared] tiles: &Tiles, a: &TensorMap<bf16>, b: &TensorMap<bf16>, depth: u32, c: MatMut<bf16>) {
    let t = thread_idx_x();
    let (row0, col0) = (block_idx_y() * ROWS, block_idx_x() * COLS);
    if t == 0 {
        tiles.full.init(0, 1);
        fence_mbarrier_init();
    }
    sync_threads();
    let top = Operand::new(tiles.a.slot::<8>(0), 0, EIGHT_ROWS, Swizzle::B128);
    let bottom = top.advance(8 * EIGHT_ROWS);
    let of_b = Operand::new(tiles.b.slot::<8>(0), BOX_BYTES, EIGHT_ROWS, Swizzle::B128);
    let (mut upper, mut lower) = (Accumulators::<128>::zeroed(), Accumulators::<128>::zeroed());
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
        tiles.full.wait(0, step % 2);
        // Four instructions of 16 along k in a group. The second group starts before the first is complete.
        upper.multiply::<bf16, 4, KMajor, MnMajor, 1>(top, of_b, false);
        lower.multiply::<bf16, 4, KMajor, MnMajor, 0>(bottom, of_b, false);
        upper.wait::<0>();
        sync_threads();
    }
    store(c, &upper, (row0, col0));
    store(c, &lower, (row0 + 64, col0));
}

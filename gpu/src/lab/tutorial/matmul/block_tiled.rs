//! C = A·B, one 128 × 128 tile of C per block and 8 × 8 elements of it per thread, held in registers.
//!
//! ```text
//!            ┌──── B ────┐       In a step along k, 256 threads load 128 × 8 of A and 8 × 128 of B, 4 elements
//!            │    ▓▓▓    │ 8     of each per thread, and stage them in shared memory, A transposed. Then
//!            └───────────┘       each thread reads 8 elements of a column of A and 8 of a row of B, for
//!  ┌ A ┐     ┌─── C ─────┐       64 fma, 8 times.
//!  │ ▓ │     │   ┌──┐    │
//!  │   │     │   └──┘ 128│       The block's 8 warps are arranged 4 × 2, the 32 lanes of a warp 4 × 8:
//!  └───┘     └────128────┘
//!    8                                tx 0 1 … 7   0 1 … 7       32 × 64 elements of C per warp, in quads
//!                                ty 0    ▓ ░ … ░   ▓ ░ … ░       of 4 × 4. A lane has four of them, 16 rows
//!                                …                               and 32 columns apart (▓: lane 0's), so
//!                                ty 3    ░ ░ … ░   ░ ░ … ░       that neighbours read neighbouring quads.
//!                                ty 0    ▓ ░ … ░   ▓ ░ … ░
//!                                …
//! ```
//!
//! Per thread and step: 8 loads of 4 bytes, 8 stores into and 32 loads of 16 bytes from shared memory, 512 fma, 2
//! barriers. m·n·k·(1/128 + 1/128) loads of elements in all: 4 times fewer than with 32 × 32 tiles, 32 operations per
//! byte; and 16 fma per load from shared memory, where [`matmul_tiled`](crate::gemm::tiled::matmul_tiled) has one per
//! two. At the end 64 stores of 4 bytes, which fill a quarter of every sector: negligible for k in the thousands.
//!
//! No bank conflicts. A's tile is stored by lanes arranged as 4 rows × 8 columns, so element (row, k) is in bank
//! (k·pitch + row) mod 32: with a pitch of 132 that is 4·k + row, 32 different banks. A wavefront of 16-byte loads
//! serves 16 lanes only if pairs of lanes have the same address. So one of the two lowest bits of the lane selects its
//! column and the other its row, and each load takes two wavefronts, the minimum.

use simt::{element::Vec4, prelude::*};

/// Rows and columns of C per block.
pub const TILE: u32 = 128;
/// Columns of A and rows of B per step.
pub const DEPTH: u32 = 8;
/// Threads per block: each has 8 · 8 of the 128 · 128 elements.
pub const THREADS: u32 = 256;

/// Row pitch of A's staged tile in elements: not 128, against bank conflicts; a multiple of 4, for loads of 16 bytes.
const PITCH: u32 = TILE + 4;
/// Elements of A, and of B, that a thread loads per step.
const FETCHED: usize = (TILE * DEPTH / THREADS) as usize;
/// Rows and columns of C per thread: two quads each.
const EDGE: usize = 8;

/// Shared memory: a tile of A, transposed, and one of B.
#[repr(C)]
#[derive(Shared)]
pub struct Tiles {
    a: SharedTile<f32, { DEPTH as usize }, { PITCH as usize }>,
    b: SharedTile<f32, { DEPTH as usize }, { TILE as usize }>,
}

/// Unrolls a loop over 0 to 7. An array stays in registers only if every index is a constant, and the compiler does not
/// unroll a loop of this length.
macro_rules! unroll {
    (for $i:ident in 0..8 $body:block) => {
        unroll!(@each $i $body 0 1 2 3 4 5 6 7)
    };
    (@each $i:ident $body:block $($value:literal)+) => {
        $({
            let $i = $value;
            $body
        })+
    };
}

/// Blocks for an m × n matrix C. A grid is at most 65 535 blocks high: beyond 65 535 · [`TILE`] rows, launch again
/// on the rows below.
pub const fn grid(m: u32, n: u32) -> [u32; 3] {
    [n.div_ceil(TILE), m.div_ceil(TILE), 1]
}

/// C = A·B in `f32`, each element summed in order of k by fused multiply-adds.
///
/// `a` is m × k, `b` is k × n, `c` is m × n; elements outside a matrix count as 0.
///
/// With 128 registers per thread, two blocks fill the 65 536 registers of an SM: one computes while the other waits at
/// a barrier.
#[kernel(
    block = (THREADS), min_blocks = 2, registers = 128, barriers = 2, global_load_bytes = 4, global_store_bytes = 4
)]
pub fn matmul_block_tiled(#[shared] tiles: &Tiles, a: MatRef<f32>, b: MatRef<f32>, c: MatMut<f32>) {
    let thread = thread_idx_x();
    let (row0, col0) = (block_idx_y() * TILE, block_idx_x() * TILE);
    let place = Place::of(thread);
    let mut sums = [[0.0; EDGE]; EDGE];
    let mut next = Fetched::from(a, b, row0, col0, 0, thread);
    let mut k0 = 0;
    while k0 < a.cols() {
        next.stage(tiles, thread);
        sync_threads();
        // The next step's elements are loaded while this step's are multiplied.
        k0 = k0.saturating_add(DEPTH);
        next = Fetched::from(a, b, row0, col0, k0, thread);
        unroll!(for k in 0..8 {
            let a = join(tiles.a.get_vec4(k, place.row), tiles.a.get_vec4(k, place.row + 16));
            let b = join(tiles.b.get_vec4(k, place.col), tiles.b.get_vec4(k, place.col + 32));
            unroll!(for i in 0..8 {
                unroll!(for j in 0..8 {
                    sums[i][j] = fma(a[i], b[j], sums[i][j]);
                });
            });
        });
        sync_threads();
    }
    unroll!(for i in 0..8 {
        unroll!(for j in 0..8 {
            let (row, col) = (place.row + i % 4 + i / 4 * 16, place.col + j % 4 + j / 4 * 32);
            c.set_within(row0 + row, col0 + col, sums[i as usize][j as usize]);
        });
    });
}

/// Row and column of a thread's first quad in the block's tile.
struct Place {
    row: u32,
    col: u32,
}

impl Place {
    /// The bits of `thread`, highest first: two select the warp's row of the 4 × 2 warps, one its column; then the
    /// lane's row bit 1, column bits 2 and 1, row bit 0, column bit 0.
    #[cfg_attr(optimised, inline(always))]
    const fn of(thread: u32) -> Self {
        let (warp, lane) = (thread / 32, thread % 32);
        let ty = lane / 16 * 2 + lane / 2 % 2;
        let tx = lane / 4 % 4 * 2 + lane % 2;
        Self { row: warp / 2 * 32 + ty * 4, col: warp % 2 * 64 + tx * 4 }
    }
}

/// The elements that a thread loads for one step.
struct Fetched {
    a: [f32; FETCHED],
    b: [f32; FETCHED],
}

impl Fetched {
    /// A warp reads 4 rows of A, 8 elements (a sector of 32 bytes) each, and one row of B, 4 times 32 elements.
    #[cfg_attr(optimised, inline(always))]
    fn from(a: MatRef<f32>, b: MatRef<f32>, row0: u32, col0: u32, k0: u32, thread: u32) -> Self {
        let mut fetched = Self { a: [0.0; FETCHED], b: [0.0; FETCHED] };
        for i in 0..FETCHED {
            fetched.a[i] = a.get_or(row0 + thread / DEPTH + 32 * i as u32, k0 + thread % DEPTH, 0.0);
            fetched.b[i] = b.get_or(k0 + thread / 32, col0 + thread % 32 + 32 * i as u32, 0.0);
        }
        fetched
    }

    /// Writes the elements to shared memory.
    #[cfg_attr(optimised, inline(always))]
    fn stage(&self, tiles: &Tiles, thread: u32) {
        for i in 0..FETCHED {
            tiles.a.set(thread % DEPTH, thread / DEPTH + 32 * i as u32, self.a[i]);
            tiles.b.set(thread / 32, thread % 32 + 32 * i as u32, self.b[i]);
        }
    }
}

/// Two quads as one row of eight.
#[cfg_attr(optimised, inline(always))]
fn join(low: Vec4<f32>, high: Vec4<f32>) -> [f32; EDGE] {
    let ([a, b, c, d], [e, f, g, h]) = (low.lanes, high.lanes);
    [a, b, c, d, e, f, g, h]
}

//! Products of which one factor is skinny: C = act(alpha · op(A)·op(B) + beta · C + bias) with at most 16 rows, or columns.
//!
//! ```text
//!                  large, 64 of it per block          k runs down here; a chunk of it is 64 bytes of elements. Chunk i
//!                 ┌────┬────┬────┬───  ───┐           is warp i modulo 12's: it loads its 64 × 64 bytes of the large factor
//!       ┌─────┐   │ w0 │    │    │        │           to registers, 16 bytes at a time and all of them under way at once,
//!  chunk│ w0  │   │ w1 │    │    │        │ k         its piece of the small factor to shared memory of its own, and
//!       │ w1  │   │ …  │    │    │        │           multiplies. No warp waits for another until the end of k, when the
//!       └─────┘   └────┴────┴────┴───  ───┘           twelve add up their sums, in their order.
//!        small           ─────▶ C
//! ```
//!
//! What bounds it is memory: every element of the large factor is read once and used at most 16 times. In a block's 12
//! warps 48 KiB are under way, 1.5 times what 132 multiprocessors need for 4.6 TB/s at 0.9 µs. Per 4 KiB and warp:
//!
//! - 16 bits, [`tensor`]: 8 loads of 16 bytes, 16 `mma.sync` of 16 × 8 × 16; the vectors are fragments as they come, because
//!   the sum over k does not care for its order: see there;
//! - `f32`, [`chains`]: 8 loads, `32 · ROWS` fused multiply-adds; at 4.6 TB/s a multiprocessor gets 5 elements a clock, which
//!   for 4 rows takes 16 % of its multiply-adds, for 16 rows 62 %.
//!
//! Either factor may be the skinny one, each by rows or by columns, at any address. The vectors need the large factor's rows at
//! multiples of 16 bytes; elsewhere, and where an extent cuts a vector off, it is read element by element, at about half the
//! speed. Arguments and grid are those of [`call`](crate::gemm::call).

#![allow(clippy::too_many_arguments, reason = "the arguments of a product: `gemm::call`")]

pub mod chains;
mod large;
mod product;
mod small;
mod strip;
pub mod tensor;

use half::{bf16, f16};
use simt::prelude::*;

use self::chains::Chains;
use self::product::product;
use self::tensor::Fragments;

/// Threads of a block, whose warps share k.
pub const THREADS: u32 = 384;
/// The same where a thread has 128 sums, and needs twice as many registers.
pub const FEWER_THREADS: u32 = 256;
/// Rows or columns of the large factor per block.
pub const ACROSS: u32 = 64;
/// Vectors of 16 bytes that a thread has under way: a chunk.
const LOADS: usize = 8;
/// Bytes of a chunk along k: 4 vectors of a row.
const CHUNK_BYTES: usize = 64;
/// From row to row of a warp's sums in shared memory: both orders in which they are written then have two at most in a bank.
const PITCH_OF_SUMS: u32 = 74;

/// Shared memory: `STAGE` elements of the small factor, `SCRATCH` sums.
#[repr(C, align(16))]
#[derive(Shared)]
pub struct Memory<T: simt::element::Element, const STAGE: usize, const SCRATCH: usize> {
    small: SharedArray<T, STAGE>,
    scratch: SharedArray<f32, SCRATCH>,
}

/// Elements of the staged pieces of all warps, where elements have `bytes` bytes. Memory is for a power of two of warps: so the
/// compiler sees that every index is inside.
const fn staged(threads: u32, rows: usize, bytes: usize) -> usize {
    threads.next_power_of_two() as usize / 32 * rows * CHUNK_BYTES / bytes
}

/// The sums of all warps; before that, all vectors of each thread: see [`large`].
const fn scratch(threads: u32, rows: usize) -> usize {
    let threads = threads.next_power_of_two() as usize;
    let (sums, vectors) = (threads / 32 * rows * PITCH_OF_SUMS as usize, LOADS * 4 * threads);
    if sums > vectors { sums } else { vectors }
}

/// `name: type, elements in 16 bytes, sums, rows of the small factor, whether that is A; threads, registers, bytes;`
macro_rules! kernels {
    ($($(#[$doc:meta])+ $name:ident: $t:ty, $per_vector:literal, $sums:ty, $rows:literal, $small_is_a:literal;
        $threads:ident, $registers:literal, $load:literal;)+) => {
        $(
            $(#[$doc])+
            #[kernel(
                block = ($threads), min_blocks = 1, registers = $registers, barriers = 4, global_load_bytes = $load,
                global_store_bytes = $load
            )]
            pub fn $name(
                #[shared] memory: &Memory<
                    $t,
                    { staged($threads, $rows, size_of::<$t>()) },
                    { scratch($threads, $rows) },
                >,
                a: VecRef<$t>,
                b: VecRef<$t>,
                c: VecMut<$t>,
                wide: VecMut<f32>,
                bias: VecRef<f32>,
                extents: [u32; 4],
                ld: [u64; 3],
                batch: [u64; 3],
                scale: [f32; 2],
                flags: u32,
            ) {
                product::<$t, $sums, $per_vector, $rows, $threads, $small_is_a, _, _>(
                    memory, (a, b), (c, wide), bias, extents, ld, batch, scale, flags,
                );
            }
        )+

        /// The family's kernels.
        #[cfg(not(target_arch = "nvptx64"))]
        pub const KERNELS: &[&simt::KernelInfo] = &[$($name.info()),+];
    };
}

kernels! {
    /// [The product above](self) of `bf16` for at most 16 rows of C.
    gemm_skinny_bf16_16x64: bf16, 8, Fragments, 16, true; THREADS, 168, 2;
    /// The same for at most 16 columns.
    gemm_skinny_bf16_64x16: bf16, 8, Fragments, 16, false; THREADS, 168, 2;
    /// The same for `f16`.
    gemm_skinny_f16_16x64: f16, 8, Fragments, 16, true; THREADS, 168, 2;
    /// The same for `f16`.
    gemm_skinny_f16_64x16: f16, 8, Fragments, 16, false; THREADS, 168, 2;
    /// The same for `f32`, every product rounded once with its sum.
    gemm_skinny_f32_16x64: f32, 4, Chains<16>, 16, true; FEWER_THREADS, 255, 4;
    /// The same for at most 4 rows: less arithmetic.
    gemm_skinny_f32_4x64: f32, 4, Chains<4>, 4, true; THREADS, 168, 4;
    /// The same for at most 16 columns.
    gemm_skinny_f32_64x16: f32, 4, Chains<16>, 16, false; FEWER_THREADS, 255, 4;
    /// The same for at most 4 columns.
    gemm_skinny_f32_64x4: f32, 4, Chains<4>, 4, false; THREADS, 168, 4;
}

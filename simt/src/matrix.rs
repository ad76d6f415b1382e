//! Matrix multiply-accumulate by a warp on tensor cores (`mma.sync`, compute capability 8.0), and the loads and stores
//! of its operands in shared memory (`ldmatrix`; `stmatrix`, compute capability 9.0).
//!
//! All threads of a warp call together. Each holds a *fragment* of every matrix. Of an 8 × 8 matrix of 16-bit numbers,
//! lane l holds the neighbours (l / 4, 2 · (l % 4)), in the lower half of one `u32`, and (l / 4, 2 · (l % 4) + 1), in
//! the upper half.
//!
//! ```text
//!            columns 0 1   2 3   4 5   6 7
//!   row 0       lane 0    1     2     3
//!   row 1       lane 4    5     6     7
//!    …
//!   row 7      lane 28   29    30    31
//! ```
//!
//! [`mma_sync`] multiplies A (16 × k) by B (k × 8). Their fragments consist of such matrices:
//!
//! - A, four registers: rows 0–7 of the left half, rows 8–15 of the left half, rows 0–7 of the right half, rows 8–15 of
//!   the right half;
//! - B, two registers: the *transposes* of the upper and the lower half, so that a register holds two numbers of one
//!   column;
//! - C, four `f32`: two neighbours of rows 0–7, at this lane's place in the picture, and the two neighbours 8 rows
//!   below.
//!
//! For [`Tf32`] a register holds one number instead of two, k is 8, and the halves are 4 columns wide: lane l holds
//! column l % 4.
//!
//! [`mma_sync_f64`] has fragments of its own.
//!
//! # Numbers
//!
//! Products of [`mma_sync`] are exact. NVIDIA does not document the order and rounding in which a tensor core adds
//! them; the result is at least as accurate as sequential additions in `f32` that round towards zero. The simulator
//! adds the products of one instruction and C in `f64`, and rounds the sum to `f32` towards zero.

use half::{bf16, f16};

use crate::float8::{E4m3, E5m2};
use crate::{arch, async_copy::SharedSlot, element::Element};

mod sealed {
    /// The operand types.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[allow(unreachable_pub, reason = "in the signature of a public trait")]
    pub enum Code {
        F16,
        Bf16,
        Tf32,
        I8,
        E4m3,
        E5m2,
    }
    pub trait Sealed {
        const CODE: Code;
    }
}
pub(crate) use sealed::{Code, Sealed};

/// Operand types of tensor cores: [`f16`](struct@f16), [`bf16`] and [`Tf32`]; for [`wgmma`](crate::wgmma) also
/// [`E4m3`], [`E5m2`] and `i8`. Sums are `f32`, of `i8` they are `i32`.
#[diagnostic::on_unimplemented(
    message = "tensor cores do not multiply `{Self}`",
    note = "choose `f16`, `bf16`, `E4m3`, `E5m2`, `i8`, or `Tf32` for `f32` of which 10 bits after the point are used"
)]
pub trait Kind: Sealed {
    /// Bytes of one number.
    const BYTES: u32;
    /// Extent along k of one instruction: 32 bytes.
    const DEPTH: u32 = 32 / Self::BYTES;
}

/// `f32` of which tensor cores use the sign, the exponent and the upper 10 bits of the fraction; they ignore the other
/// 13.
#[derive(Clone, Copy, Debug)]
pub enum Tf32 {}

macro_rules! kinds {
    ($($t:ty: $code:ident, $bytes:literal;)+) => {$(
        impl Sealed for $t {
            const CODE: Code = Code::$code;
        }
        impl Kind for $t {
            const BYTES: u32 = $bytes;
        }
    )+};
}
kinds! {
    f16: F16, 2;
    bf16: Bf16, 2;
    Tf32: Tf32, 4;
    i8: I8, 1;
    E4m3: E4m3, 1;
    E5m2: E5m2, 1;
}

const fn check<T, const N: usize, const COUNT: usize>() {
    assert!(N * size_of::<T>() == 16, "a row of an 8 x 8 matrix of 16-bit numbers has 16 bytes");
    assert!(matches!(COUNT, 1 | 2 | 4), "1, 2 or 4 matrices are moved at once");
}

/// Loads `COUNT` = 1, 2 or 4 matrices of 8 × 8 16-bit numbers (`ldmatrix.sync.aligned.m8n8`), the fragment of each to
/// one register. With `TRANSPOSE` each is transposed.
///
/// Lane 8·i + r passes the address of row r of matrix i: 16 bytes, aligned to 16. The rows of lanes from 8·`COUNT` on
/// are not read.
///
/// ```
/// use simt::{matrix::ldmatrix, prelude::*, warp::lane_id};
///
/// /// The fragment of A for `mma_sync` from a row-major tile of 16 x 16.
/// fn fragment_of_a(tile: &SharedTile<u16, 16, 16>) -> [u32; 4] {
///     let lane = lane_id();
///     ldmatrix::<4, false, _, 8>(tile.slot::<8>(lane % 16, lane / 16 * 8))
/// }
/// ```
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub fn ldmatrix<const COUNT: usize, const TRANSPOSE: bool, T: Element, const N: usize>(
    row: SharedSlot<'_, T, N>,
) -> [u32; COUNT] {
    const { check::<T, N, COUNT>() }
    // SAFETY: 16 bytes of the block's shared memory, or null after a report.
    unsafe { arch::matrix::load::<COUNT, TRANSPOSE>(row.address().cast()) }
}

/// Stores `COUNT` = 1, 2 or 4 matrices of 8 × 8 16-bit numbers (`stmatrix.sync.aligned.m8n8`, compute capability 9.0),
/// the fragment of each from one register. With `TRANSPOSE` each is transposed.
///
/// Lane 8·i + r passes the address of row r of matrix i: 16 bytes, aligned to 16. The rows of lanes from 8·`COUNT` on
/// are not written.
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub fn stmatrix<const COUNT: usize, const TRANSPOSE: bool, T: Element, const N: usize>(
    row: SharedSlot<'_, T, N>,
    fragments: [u32; COUNT],
) {
    const { check::<T, N, COUNT>() }
    // SAFETY: 16 bytes of the block's shared memory, or null after a report.
    unsafe { arch::matrix::store::<COUNT, TRANSPOSE>(row.address().cast(), fragments) }
}

/// A · B + C of 16 × k, k × 8 and 16 × 8, k = [`Kind::DEPTH`] (`mma.sync.aligned.m16n8k16.row.col`, for [`Tf32`]
/// `m16n8k8`). The [module](self) defines the fragments. Not for 8-bit numbers.
#[cfg_attr(optimised, inline(always))]
#[track_caller]
#[must_use]
pub fn mma_sync<K: Kind>(a: [u32; 4], b: [u32; 2], c: [f32; 4]) -> [f32; 4] {
    const { assert!(K::BYTES > 1, "8-bit numbers are multiplied by `wgmma` alone") }
    arch::matrix::multiply(K::CODE, a, b, c)
}

/// A · B + C of `f64`, 16 × 16, 16 × 8 and 16 × 8: `mma.sync.aligned.m16n8k16.row.col` on compute capability 9.0, eight
/// `m8n8k4` before.
///
/// With g = lane / 4, t = lane % 4 and i from 0 to 3, a lane holds of A (g, 4·i + t) in `a[2 * i]` and (g + 8, 4·i + t)
/// in `a[2 * i + 1]`, of B (4·i + t, g) in `b[i]`, and of C (g, 2·t), (g, 2·t + 1), (g + 8, 2·t) and (g + 8, 2·t + 1).
///
/// Each sum begins with C and goes on by fused multiply-adds in the order of k, so it has the bits of a loop over
/// [`fma`](crate::math::fma). NVIDIA does not document that; the instruction test compares the bits.
#[cfg_attr(optimised, inline(always))]
#[track_caller]
#[must_use]
pub fn mma_sync_f64(a: [f64; 8], b: [f64; 4], c: [f64; 4]) -> [f64; 4] {
    arch::matrix::multiply_f64(a, b, c)
}

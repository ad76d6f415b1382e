//! Products of small matrices by a warp, on its tensor cores (`mma.sync`, compute capability 8.0), and the loads and
//! stores that bring their operands from and to shared memory (`ldmatrix`; `stmatrix`, compute capability 9.0).
//!
//! All of a warp's threads call together. Each holds a *fragment* of every matrix. Of an 8 × 8 matrix of 16-bit
//! numbers, lane l holds in one `u32` the numbers (l / 4, 2 · (l % 4)) and, in the upper half, the one to its right:
//! row l / 4.
//!
//! ```text
//!            columns 0 1   2 3   4 5   6 7
//!   row 0       lane 0    1     2     3
//!   row 1       lane 4    5     6     7
//!    …
//!   row 7      lane 28   29    30    31
//! ```
//!
//! [`mma_sync`] multiplies A (16 × k) by B (k × 8); its fragments are made of such matrices:
//!
//! - A, four registers: rows 0–7 of the left half, rows 8–15 of it, rows 0–7 of the right half, rows 8–15 of it;
//! - B, two registers: the *transposes* of the upper and the lower half, so that a register holds two numbers of a
//!   column;
//! - C, four `f32`: two neighbours of rows 0–7, where the picture shows this lane, and two of rows 8–15.
//!
//! For [`Tf32`] a register holds one number instead of two, k is 8, and the halves are 4 wide: lane l holds column l %
//! 4.
//!
//! # Numbers
//!
//! Products are exact. How a tensor core adds them is its own affair: in an order and with a rounding that no
//! document fixes, at least as exact as a chain of additions in `f32` that are rounded towards zero. The simulator adds
//! the products of one instruction and C in `f64`, and rounds the sum to `f32` towards zero.

use half::{bf16, f16};

use crate::{arch, async_copy::SharedSlot, element::Element};

mod sealed {
    /// What distinguishes the kinds of operands.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[allow(unreachable_pub, reason = "in the signature of a public trait")]
    pub enum Code {
        F16,
        Bf16,
        Tf32,
    }
    pub trait Sealed {
        const CODE: Code;
    }
}
pub(crate) use sealed::{Code, Sealed};

/// Numbers that tensor cores multiply: [`f16`](struct@f16), [`bf16`] and [`Tf32`]. They add in `f32`.
#[diagnostic::on_unimplemented(
    message = "tensor cores do not multiply `{Self}`",
    note = "choose `f16`, `bf16`, or `Tf32` for `f32` of which 10 bits after the point are used"
)]
pub trait Kind: Sealed {
    /// Bytes of one number.
    const BYTES: u32;
    /// Extent along k of one instruction: 32 bytes of numbers.
    const DEPTH: u32 = 32 / Self::BYTES;
}

/// `f32` of which the tensor cores use the sign, the exponent and the upper 10 bits of the fraction; they ignore the
/// other 13.
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
}

const fn check<T, const N: usize, const COUNT: usize>() {
    assert!(N * size_of::<T>() == 16, "a row of an 8 x 8 matrix of 16-bit numbers has 16 bytes");
    assert!(matches!(COUNT, 1 | 2 | 4), "1, 2 or 4 matrices are moved at once");
}

/// Loads `COUNT` = 1, 2 or 4 matrices of 8 × 8 16-bit numbers (`ldmatrix.sync.aligned.m8n8`), the fragment of each in
/// one register. With `TRANSPOSE` each is transposed on the way.
///
/// Lane 8·i + r names row r of matrix i: 16 bytes, aligned to 16. The rows that lanes from 8·`COUNT` on name are
/// not read.
///
/// ```
/// use simt::{matrix::ldmatrix, prelude::*, warp::lane_id};
///
/// /// Of a row-major tile of 16 x 16: the fragment of A for `mma_sync`.
/// fn fragment_of_a(tile: &SharedTile<u16, 16, 16>) -> [u32; 4] {
///     let lane = lane_id();
///     ldmatrix::<4, false, _, 8>(tile.slot::<8>(lane % 16, lane / 16 * 8))
/// }
/// ```
#[inline(always)]
#[track_caller]
pub fn ldmatrix<const COUNT: usize, const TRANSPOSE: bool, T: Element, const N: usize>(
    row: SharedSlot<'_, T, N>,
) -> [u32; COUNT] {
    const { check::<T, N, COUNT>() }
    // SAFETY: 16 bytes of the block's shared memory, or null after a report.
    unsafe { arch::matrix::load::<COUNT, TRANSPOSE>(row.address().cast()) }
}

/// Stores `COUNT` = 1, 2 or 4 matrices of 8 × 8 16-bit numbers (`stmatrix.sync.aligned.m8n8`, compute capability 9.0),
/// the fragment of each in one register. With `TRANSPOSE` each is transposed on the way.
///
/// Lane 8·i + r names row r of matrix i: 16 bytes, aligned to 16. The rows that lanes from 8·`COUNT` on name are
/// not written.
#[inline(always)]
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
/// `m16n8k8`). The [module](self) says which numbers are in which register.
#[inline(always)]
#[track_caller]
#[must_use]
pub fn mma_sync<K: Kind>(a: [u32; 4], b: [u32; 2], c: [f32; 4]) -> [f32; 4] {
    arch::matrix::multiply(K::CODE, a, b, c)
}

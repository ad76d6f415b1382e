//! What the kernels of `Device::gemm` are told, and what they do with a finished sum.
//!
//! ```text
//! C = act(alpha · op(A)·op(B) + beta · C + bias)
//! ```
//!
//! All of them take the same arguments, after `#[shared]`:
//!
//! | argument | is |
//! |---|---|
//! | `a`, `b` | the elements of all matrices of A and of B: op(A) is m × k, op(B) k × n, the first at element 0, rows `ld` apart |
//! | `c` | those of C, m × n, in the type of A and B; empty with [`WIDE_C`] |
//! | `wide` | C in the type of the sums; empty without [`WIDE_C`] |
//! | `bias` | n numbers with [`BIAS_PER_COLUMN`], m with [`BIAS_PER_ROW`], else none |
//! | `extents` | m, n, k and the number of matrices in a batch |
//! | `ld` | elements from row to row of A, B and C as they lie in memory |
//! | `batch` | elements from matrix to matrix of A, B and C; 0 for the same one again |
//! | `scale` | alpha, beta |
//! | `flags` | the constants below |
//!
//! The grid has the tiles of C along x, row by row unless the kernel says otherwise, and along z matrices of the batch: a kernel
//! goes on by `grid_dim_z`. With k = 0 neither A nor B is read, with beta = 0 C is not. Leaving out the product because alpha
//! is 0 is the caller's business: it says k = 0.
//!
//! Everything after the accumulation happens here, so that all kernels do the same: [`finish`].

use simt::prelude::*;

use super::number::{Number, Real};

/// op(A) = Aᵀ: A lies in memory as k × m. Kernels that are written for one layout ignore it.
pub const TRANSPOSE_A: u32 = 1;
/// op(B) = Bᵀ: B lies in memory as n × k. Kernels that are written for one layout ignore it.
pub const TRANSPOSE_B: u32 = 1 << 1;
/// C lies in `wide`, in the type of the sums.
pub const WIDE_C: u32 = 1 << 2;
/// Every column of C has a number of its own that is added.
pub const BIAS_PER_COLUMN: u32 = 1 << 3;
/// Every row of C has a number of its own that is added.
pub const BIAS_PER_ROW: u32 = 1 << 4;
/// The bits of the activation: none of them for the identity.
pub const ACTIVATION: u32 = 3 << 8;
/// max(x, 0), a NaN for a NaN.
pub const RELU: u32 = 1 << 8;
/// x·Φ(x), Φ the distribution function of the normal distribution: see [`gelu`](super::gelu::gelu). Not for `f64`.
pub const GELU: u32 = 2 << 8;

/// Element (`row`, `col`) of C, from its sum of products and its old value `old`, which is not read unless beta says so.
///
/// alpha · sum is rounded, beta · C added by a fused multiply-add, the bias added and rounded; then comes the activation.
#[inline(always)]
pub fn finish<W: Real>(
    sum: W,
    old: impl FnOnce() -> W,
    bias: VecRef<W>,
    (row, col): (u32, u32),
    [alpha, beta]: [W; 2],
    flags: u32,
) -> W {
    let mut value = alpha * sum;
    if beta != W::ZERO {
        value = fma(beta, old(), value);
    }
    if flags & (BIAS_PER_COLUMN | BIAS_PER_ROW) != 0 {
        let place = if flags & BIAS_PER_COLUMN == 0 { row } else { col };
        value = value + bias.get_or(place as usize, W::ZERO);
    }
    value.activated(flags)
}

/// [`finish`], and its result written to element `at` of C.
#[inline(always)]
#[track_caller]
pub fn epilogue<T: Number>(
    sum: T::Wide,
    at: u64,
    (c, wide): (VecMut<T>, VecMut<T::Wide>),
    bias: VecRef<T::Wide>,
    place: (u32, u32),
    scale: [T::Wide; 2],
    flags: u32,
) {
    let at = at as usize;
    if flags & WIDE_C == 0 {
        let old = || c.get_or(at, T::ZERO).wide();
        c.set_within(at, T::narrow(finish(sum, old, bias, place, scale, flags)));
    } else {
        let old = || wide.get_or(at, T::Wide::ZERO);
        wide.set_within(at, finish(sum, old, bias, place, scale, flags));
    }
}

/// Elements from one row of op(X) to the next, and from one column to the next.
#[inline(always)]
pub const fn strides(ld: u64, transposed: bool) -> (u64, u64) {
    if transposed { (1, ld) } else { (ld, 1) }
}

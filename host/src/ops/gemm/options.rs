//! The options of a call.

use gpu::gemm::args::{GELU, RELU};

/// The operation's name in error messages.
pub(super) const CALL: &str = "gemm";

/// op(X) = X or Xᵀ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Op {
    /// X.
    #[default]
    N,
    /// Xᵀ.
    T,
}

/// The function applied to alpha · op(A)·op(B) + beta · C + bias.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Activation {
    /// The identity.
    #[default]
    None,
    /// max(x, 0); a NaN stays a NaN.
    Relu,
    /// x·Φ(x), where Φ(x) = (1 + erf(x/√2)) / 2 is the normal distribution function: the exact form, not the tanh
    /// approximation.
    Gelu,
}

impl Activation {
    /// Every activation.
    pub const ALL: &[Self] = &[Self::None, Self::Relu, Self::Gelu];

    /// The bits [`ACTIVATION`](gpu::gemm::args::ACTIVATION) of the kernels' flags.
    pub(super) const fn flag(self) -> u32 {
        match self {
            Self::None => 0,
            Self::Relu => RELU,
            Self::Gelu => GELU,
        }
    }
}

/// How `f32` operands are multiplied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Arithmetic {
    /// With all bits of the operands. Products of `f32`, `f16` and `bf16` are accumulated in `f32`.
    #[default]
    Full,
    /// With `f32` operands rounded to tf32 (10 explicit mantissa bits), by tensor cores; products are accumulated in
    /// `f32`.
    Tf32,
    /// As accurate as [`Self::Full`], by tensor cores where they are faster: an `f32` is the sum of three `bf16`, and
    /// six of the nine products are added. The kernels for Hopper do so where k is at least 256; else, for other
    /// elements and on other GPUs it is [`Self::Full`].
    ///
    /// An element of A·B is off by at most (140 + k / 64 + p) · 2⁻²⁴ · (|A||B|)ᵢⱼ, p being at most 132 with stream-K
    /// and 0 without; in practice by less than SGEMM is. Infinities and NaN are where IEEE 754 puts them. Elements of C
    /// whose row of A or column of B has an element of 2¹¹¹ or more, an infinity or a NaN, or which are 2⁹⁶ or more,
    /// are computed one by one with sums in `f64`, which is slow: a product that has many takes up to a thousand times
    /// longer.
    ///
    /// The planes are copies in the workspace: 6 bytes for each element of A and of B, with k rounded up to a multiple
    /// of 64. Without a workspace there is none of these kernels.
    Bf16x6,
    /// Products of `E4m3` and `E5m2` are added by tensor cores alone, which have some 14 bits for a sum. (With
    /// [`Self::Full`], sums of at most 128 products are added to others in `f32`.) For other elements it is
    /// [`Self::Full`]. As `CUBLASLT_MATMUL_DESC_FAST_ACCUM`.
    FastAccumulation,
}

/// Which elements of C share one element of the bias.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bias {
    PerColumn,
    PerRow,
}

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
}

/// Which elements of C share one element of the bias.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bias {
    PerColumn,
    PerRow,
}

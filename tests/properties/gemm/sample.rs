//! Element types, and the combinations of them that `Device::gemm` has.

use std::fmt::Debug;

use gpu::gemm::gelu::gelu;
use gpu::gemm::number::{Number, tf32};
use warpwright::Element;
use warpwright::gemm::{Activation, Arithmetic, Gemm, Multiply, Output};
use warpwright::half::{bf16, f16};
use warpwright::reference::{Format, U_F32};

/// An element that test data is made of.
pub(crate) trait Sample: Element + Debug {
    /// The nearest element.
    fn of(x: f64) -> Self;
    /// The same number.
    fn value(self) -> f64;
    /// Its bits.
    fn bits(self) -> u64;
    /// A quiet NaN whose payload depends on the index.
    fn canary(index: usize) -> Self;
}

macro_rules! samples {
    ($($t:ident: $of:expr, $canary:literal | $free:literal;)+) => {$(
        impl Sample for $t {
            fn of(x: f64) -> Self {
                $of(x)
            }
            fn value(self) -> f64 {
                f64::from(self)
            }
            fn bits(self) -> u64 {
                self.to_bits().into()
            }
            fn canary(index: usize) -> Self {
                let free = (index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - $free);
                Self::from_bits(($canary | free) as _)
            }
        }
    )+};
}
samples! {
    f32: |x| x as f32, 0x7fc0_0000 | 22;
    f64: |x| x, 0x7ff8_0000_0000_0000 | 51;
    f16: f16::from_f64, 0x7e00 | 9;
    bf16: bf16::from_f64, 0x7fc0 | 6;
}

/// Element types of A and B and of C, and the arithmetic.
pub(crate) trait Kind: 'static {
    /// Elements of A and B.
    type Operand: Multiply<Wide: Sample> + Sample;
    /// Elements of C.
    type Result: Output<Self::Operand> + Sample;
    /// The part of its kernels' names that says so.
    const NAME: &'static str;
    /// What C is rounded to, if the reference implementation knows it.
    const FORMAT: Option<Format>;
    /// The relative error of an addition: with tensor cores, which truncate, twice that of rounding to nearest.
    const UNIT: f64 = U_F32;
    /// The activations that it has.
    const ACTIVATIONS: &'static [Activation];
    /// The least k for which kernels of this name are planned.
    const LEAST_K: usize = 0;

    /// An element as it is multiplied.
    fn rounded(x: f64) -> f64 {
        Self::Operand::of(x).value()
    }

    /// The call with arithmetic and activation.
    fn with_options(gemm: Gemm<'_, Self::Operand>, activation: Activation) -> Gemm<'_, Self::Operand>;
}

/// The activation of the exact sum `x`, as kernels compute it.
pub(crate) fn activated(x: f64, activation: Activation) -> f64 {
    match activation {
        Activation::None => x,
        Activation::Relu => {
            if x <= 0.0 {
                0.0
            } else {
                x
            }
        }
        Activation::Gelu => f64::from(gelu(x as f32)),
        other => panic!("the tests do not know {other:?}"),
    }
}

macro_rules! kinds {
    ($($(#[$doc:meta])+ $kind:ident: $rounded:ident => $result:ident, $format:expr, $unit:expr;)+) => {$(
        $(#[$doc])+
        pub(crate) struct $kind;
        impl Kind for $kind {
            type Operand = $rounded;
            type Result = $result;
            const NAME: &'static str = stringify!($rounded);
            const FORMAT: Option<Format> = Some($format);
            const UNIT: f64 = $unit;
            const ACTIVATIONS: &'static [Activation] = Activation::ALL;
            fn with_options(gemm: Gemm<'_, $rounded>, activation: Activation) -> Gemm<'_, $rounded> {
                gemm.activation(activation)
            }
        }
    )+};
}
kinds! {
    /// All `f32`.
    F32: f32 => f32, Format::F32, U_F32;
    /// All `f16`, accumulated in `f32`.
    F16: f16 => f16, Format::F16, 2.0 * U_F32;
    /// All `bf16`, accumulated in `f32`.
    Bf16: bf16 => bf16, Format::BF16, 2.0 * U_F32;
    /// `f16` with C in `f32`.
    F16ToF32: f16 => f32, Format::F32, 2.0 * U_F32;
    /// `bf16` with C in `f32`.
    Bf16ToF32: bf16 => f32, Format::F32, 2.0 * U_F32;
}

/// `f32` rounded to tf32.
pub(crate) struct Tf32;
impl Kind for Tf32 {
    type Operand = f32;
    type Result = f32;
    const NAME: &'static str = "tf32";
    const FORMAT: Option<Format> = Some(Format::F32);
    const ACTIVATIONS: &'static [Activation] = Activation::ALL;
    fn rounded(x: f64) -> f64 {
        f64::from(tf32(x as f32))
    }
    fn with_options(gemm: Gemm<'_, f32>, activation: Activation) -> Gemm<'_, f32> {
        gemm.arithmetic(Arithmetic::Tf32).activation(activation)
    }
}

/// `f32` as the sum of three `bf16`, by the kernels for that alone. The reference's bound is that of fused
/// multiply-adds, rounded to nearest: no more is granted.
pub(crate) struct Bf16x6;
impl Kind for Bf16x6 {
    type Operand = f32;
    type Result = f32;
    const NAME: &'static str = "bf16x6";
    const FORMAT: Option<Format> = Some(Format::F32);
    const ACTIVATIONS: &'static [Activation] = Activation::ALL;
    const LEAST_K: usize = 256;
    fn with_options(gemm: Gemm<'_, f32>, activation: Activation) -> Gemm<'_, f32> {
        gemm.arithmetic(Arithmetic::Bf16x6).activation(activation)
    }
}

/// All `f64`.
pub(crate) struct F64;
impl Kind for F64 {
    type Operand = f64;
    type Result = f64;
    const NAME: &'static str = "f64";
    const FORMAT: Option<Format> = None;
    const ACTIVATIONS: &'static [Activation] = &[Activation::None, Activation::Relu];
    fn with_options(gemm: Gemm<'_, f64>, activation: Activation) -> Gemm<'_, f64> {
        if activation == Activation::Relu { gemm.relu() } else { gemm }
    }
}

/// The type of alpha, beta and the bias.
pub(crate) type Wide<K> = <<K as Kind>::Operand as Number>::Wide;

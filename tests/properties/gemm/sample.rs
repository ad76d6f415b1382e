//! The element types of products, and the kinds of products that are made of them.

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
    /// A quiet NaN that tells as well as its free bits can where it belongs.
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

/// What is multiplied, how, and what C is made of.
pub(crate) trait Kind {
    /// Elements of A and B.
    type Factor: Multiply<Wide: Sample> + Sample;
    /// Elements of C.
    type Result: Output<Self::Factor> + Sample;
    /// What the names of its kernels have.
    const NAME: &'static str;
    /// What C is rounded to, and whether that is known to the oracle.
    const FORMAT: Option<Format>;
    /// What an addition adds to the error: where some ways are tensor cores', which cut off, twice a rounding to nearest.
    const UNIT: f64 = U_F32;
    /// The activations that there are.
    const ACTIVATIONS: &'static [Activation];

    /// An element as it is multiplied.
    fn factor(x: f64) -> f64 {
        Self::Factor::of(x).value()
    }

    /// The product with arithmetic and activation.
    fn dressed(gemm: Gemm<'_, Self::Factor>, activation: Activation) -> Gemm<'_, Self::Factor>;

    /// What the kernels make of the exact sum `x`.
    fn activated(x: f64, activation: Activation) -> f64 {
        match activation {
            Activation::Relu if x <= 0.0 => 0.0,
            Activation::Gelu => f64::from(gelu(x as f32)),
            _ => x,
        }
    }
}

const ALL: &[Activation] = &[Activation::None, Activation::Relu, Activation::Gelu];

macro_rules! kinds {
    ($($(#[$doc:meta])+ $kind:ident: $factor:ident => $result:ident, $format:expr, $unit:expr;)+) => {$(
        $(#[$doc])+
        pub(crate) struct $kind;
        impl Kind for $kind {
            type Factor = $factor;
            type Result = $result;
            const NAME: &'static str = stringify!($factor);
            const FORMAT: Option<Format> = Some($format);
            const UNIT: f64 = $unit;
            const ACTIVATIONS: &'static [Activation] = ALL;
            fn dressed(gemm: Gemm<'_, $factor>, activation: Activation) -> Gemm<'_, $factor> {
                gemm.activation(activation)
            }
        }
    )+};
}
kinds! {
    /// `f32` throughout.
    Single: f32 => f32, Format::F32, U_F32;
    /// `f16` throughout, but for the sums.
    Half: f16 => f16, Format::F16, 2.0 * U_F32;
    /// `bf16` throughout, but for the sums.
    Brain: bf16 => bf16, Format::BF16, 2.0 * U_F32;
    /// `f16` to `f32`.
    HalfToSingle: f16 => f32, Format::F32, 2.0 * U_F32;
    /// `bf16` to `f32`.
    BrainToSingle: bf16 => f32, Format::F32, 2.0 * U_F32;
}

/// `f32` rounded to tf32.
pub(crate) struct Tensor;
impl Kind for Tensor {
    type Factor = f32;
    type Result = f32;
    const NAME: &'static str = "tf32";
    const FORMAT: Option<Format> = Some(Format::F32);
    const ACTIVATIONS: &'static [Activation] = ALL;
    fn factor(x: f64) -> f64 {
        f64::from(tf32(x as f32))
    }
    fn dressed(gemm: Gemm<'_, f32>, activation: Activation) -> Gemm<'_, f32> {
        gemm.arithmetic(Arithmetic::Tf32).activation(activation)
    }
}

/// `f64` throughout.
pub(crate) struct Double;
impl Kind for Double {
    type Factor = f64;
    type Result = f64;
    const NAME: &'static str = "f64";
    const FORMAT: Option<Format> = None;
    const ACTIVATIONS: &'static [Activation] = &[Activation::None, Activation::Relu];
    fn dressed(gemm: Gemm<'_, f64>, activation: Activation) -> Gemm<'_, f64> {
        if activation == Activation::Relu { gemm.relu() } else { gemm }
    }
}

/// The numbers of alpha, beta and the bias.
pub(crate) type Wide<K> = <<K as Kind>::Factor as Number>::Wide;

//! Arithmetic by LLVM's operations, each one instruction.

/// Numbers with arithmetic.
pub trait Float {
    /// Fused multiply-add.
    fn fma(self, b: Self, c: Self) -> Self;
    /// Square root.
    fn sqrt(self) -> Self;
}

macro_rules! floats {
    ($($t:ident)+) => {$(
        impl Float for $t {
            #[inline(always)]
            fn fma(self, b: Self, c: Self) -> Self {
                core::$t::math::mul_add(self, b, c)
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                core::$t::math::sqrt(self)
            }
        }
    )+};
}
floats! { f32 f64 }

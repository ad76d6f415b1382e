//! Arithmetic by the standard library. Where a kernel is compiled without FMA instructions, `mul_add` calls the C
//! library's function, which is exact too.

/// Numbers with arithmetic.
pub trait Float {
    /// Fused multiply-add.
    #[must_use]
    fn fma(self, b: Self, c: Self) -> Self;
    /// Square root.
    #[must_use]
    fn sqrt(self) -> Self;
}

macro_rules! floats {
    ($($t:ident)+) => {$(
        impl Float for $t {
            #[inline(always)]
            fn fma(self, b: Self, c: Self) -> Self {
                self.mul_add(b, c)
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                $t::sqrt(self)
            }
        }
    )+};
}
floats! { f32 f64 }

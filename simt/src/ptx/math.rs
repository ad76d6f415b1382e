//! Arithmetic by LLVM operations that are one instruction each, and by `asm!` where LLVM has none.

use core::arch::asm;

/// Floating-point arithmetic.
pub trait Float {
    /// Fused multiply-add.
    fn fma(self, b: Self, c: Self) -> Self;
    /// Square root.
    fn sqrt(self) -> Self;
    /// Rounded down.
    fn floor(self) -> Self;
    /// Rounded up.
    fn ceil(self) -> Self;
    /// Rounded towards 0.
    fn trunc(self) -> Self;
    /// Rounded to nearest, ties away from 0.
    fn round(self) -> Self;
    /// Rounded to nearest, ties to even.
    fn round_ties_even(self) -> Self;
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
            #[inline(always)]
            fn floor(self) -> Self {
                core::$t::math::floor(self)
            }
            #[inline(always)]
            fn ceil(self) -> Self {
                core::$t::math::ceil(self)
            }
            #[inline(always)]
            fn trunc(self) -> Self {
                core::$t::math::trunc(self)
            }
            #[inline(always)]
            fn round(self) -> Self {
                core::$t::math::round(self)
            }
            #[inline(always)]
            fn round_ties_even(self) -> Self {
                core::$t::math::round_ties_even(self)
            }
        }
    )+};
}
floats! { f32 f64 }

macro_rules! choices {
    ($($name:ident: $op:literal;)+) => {$(
        #[inline(always)]
        pub(crate) fn $name(a: f32, b: f32) -> f32 {
            let choice: f32;
            // SAFETY: arithmetic on registers.
            unsafe {
                asm!(
                    concat!($op, " {choice}, {a}, {b};"),
                    choice = out(reg32) choice,
                    a = in(reg32) a,
                    b = in(reg32) b,
                    options(pure, nomem, nostack, preserves_flags)
                );
            }
            choice
        }
    )+};
}
choices! {
    maximum: "max.NaN.f32";
    minimum: "min.NaN.f32";
    maximum_number: "max.f32";
    minimum_number: "min.f32";
}

macro_rules! approximations {
    ($($name:ident: $op:literal;)+) => {$(
        #[inline(always)]
        pub(crate) fn $name(x: f32) -> f32 {
            let y: f32;
            // SAFETY: arithmetic on registers.
            unsafe {
                asm!(
                    concat!($op, " {y}, {x};"),
                    y = out(reg32) y,
                    x = in(reg32) x,
                    options(pure, nomem, nostack, preserves_flags)
                );
            }
            y
        }
    )+};
}
approximations! {
    fast_exp2: "ex2.approx.ftz.f32";
    fast_log2: "lg2.approx.ftz.f32";
    fast_sin: "sin.approx.ftz.f32";
    fast_cos: "cos.approx.ftz.f32";
    fast_tanh: "tanh.approx.f32";
    fast_recip: "rcp.approx.ftz.f32";
    fast_rsqrt: "rsqrt.approx.ftz.f32";
    fast_sqrt: "sqrt.approx.ftz.f32";
}

/// Selects four of eight bytes.
#[inline(always)]
pub(crate) fn byte_perm(low: u32, high: u32, selector: u32) -> u32 {
    let bytes: u32;
    // SAFETY: arithmetic on registers.
    unsafe {
        asm!(
            "prmt.b32 {bytes}, {low}, {high}, {selector};",
            bytes = out(reg32) bytes,
            low = in(reg32) low,
            high = in(reg32) high,
            selector = in(reg32) selector,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    bytes
}

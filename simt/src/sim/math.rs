//! Arithmetic by the standard library, and the processor's instruction for fused multiply-add.
//!
//! Kernels are compiled once, for every x86-64, and there `mul_add` calls the C library. To compile them a second time
//! for processors with the instruction doubled the build, and to ask at each use whether there is one made a product
//! take a fifth longer. So there must be one: the simulator refuses launches where there is not. With
//! `--cfg warpwright_software_fma` the library is called.

/// Floating-point arithmetic.
pub trait Float {
    /// Fused multiply-add.
    #[must_use]
    fn fma(self, b: Self, c: Self) -> Self;
    /// Square root.
    #[must_use]
    fn sqrt(self) -> Self;
    /// Rounded down.
    #[must_use]
    fn floor(self) -> Self;
    /// Rounded up.
    #[must_use]
    fn ceil(self) -> Self;
    /// Rounded towards 0.
    #[must_use]
    fn trunc(self) -> Self;
    /// Rounded to nearest, ties away from 0.
    #[must_use]
    fn round(self) -> Self;
    /// Rounded to nearest, ties to even.
    #[must_use]
    fn round_ties_even(self) -> Self;
}

macro_rules! floats {
    ($($t:ident $instruction:literal)+) => {$(
        impl Float for $t {
            #[cfg(all(target_arch = "x86_64", not(any(target_feature = "fma", warpwright_software_fma))))]
            #[cfg_attr(optimised, inline(always))]
            fn fma(self, b: Self, c: Self) -> Self {
                // The addend's register takes the result: of a sum that grows, it is the same.
                let mut result = c;
                // SAFETY: it changes its first operand, and the exception flags of MXCSR, which belong to the flags
                // that an `asm!` may change unless it says otherwise. A processor without it ends the process.
                unsafe {
                    std::arch::asm!(
                        concat!($instruction, " {}, {}, {}"),
                        inout(xmm_reg) result, in(xmm_reg) self, in(xmm_reg) b,
                        options(pure, nomem, nostack)
                    );
                }
                result
            }
            #[cfg(not(all(target_arch = "x86_64", not(any(target_feature = "fma", warpwright_software_fma)))))]
            #[cfg_attr(optimised, inline(always))]
            fn fma(self, b: Self, c: Self) -> Self {
                self.mul_add(b, c)
            }
            #[cfg_attr(optimised, inline(always))]
            fn sqrt(self) -> Self {
                $t::sqrt(self)
            }
            #[cfg_attr(optimised, inline(always))]
            fn floor(self) -> Self {
                $t::floor(self)
            }
            #[cfg_attr(optimised, inline(always))]
            fn ceil(self) -> Self {
                $t::ceil(self)
            }
            #[cfg_attr(optimised, inline(always))]
            fn trunc(self) -> Self {
                $t::trunc(self)
            }
            #[cfg_attr(optimised, inline(always))]
            fn round(self) -> Self {
                $t::round(self)
            }
            #[cfg_attr(optimised, inline(always))]
            fn round_ties_even(self) -> Self {
                $t::round_ties_even(self)
            }
        }
    )+};
}
floats! { f32 "vfmadd231ss" f64 "vfmadd231sd" }

/// The NaN that PTX's `max` and `min` return.
const NAN: f32 = f32::from_bits(0x7fff_ffff);

#[cfg_attr(optimised, inline(always))]
pub(crate) fn maximum(a: f32, b: f32) -> f32 {
    if a.is_nan() || b.is_nan() { NAN } else { maximum_number(a, b) }
}
#[cfg_attr(optimised, inline(always))]
pub(crate) fn minimum(a: f32, b: f32) -> f32 {
    if a.is_nan() || b.is_nan() { NAN } else { minimum_number(a, b) }
}
#[cfg_attr(optimised, inline(always))]
pub(crate) fn maximum_number(a: f32, b: f32) -> f32 {
    match (a.is_nan(), b.is_nan()) {
        (true, true) => NAN,
        (true, false) => b,
        (false, true) => a,
        // +0 is greater than −0.
        (false, false) => {
            if a > b || (a == b && b.is_sign_negative()) {
                a
            } else {
                b
            }
        }
    }
}
#[cfg_attr(optimised, inline(always))]
pub(crate) fn minimum_number(a: f32, b: f32) -> f32 {
    if a.is_nan() || b.is_nan() { maximum_number(a, b) } else { -maximum_number(-a, -b) }
}

/// A subnormal number as 0 of the same sign, as instructions with `.ftz` read and write it.
#[cfg_attr(optimised, inline(always))]
fn flush(x: f32) -> f32 {
    if x.abs() < f32::MIN_POSITIVE { 0.0_f32.copysign(x) } else { x }
}

macro_rules! approximations {
    ($($name:ident: $of:ident;)+) => {$(
        #[cfg_attr(optimised, inline(always))]
        pub(crate) fn $name(x: f32) -> f32 {
            flush(f64::from(flush(x)).$of() as f32)
        }
    )+};
}
approximations! {
    fast_exp2: exp2;
    fast_log2: log2;
    fast_sin: sin;
    fast_cos: cos;
    fast_recip: recip;
    fast_sqrt: sqrt;
}
#[cfg_attr(optimised, inline(always))]
pub(crate) fn fast_tanh(x: f32) -> f32 {
    f64::from(x).tanh() as f32
}
#[cfg_attr(optimised, inline(always))]
pub(crate) fn fast_rsqrt(x: f32) -> f32 {
    f64::from(flush(x)).sqrt().recip() as f32
}

/// Selects four of eight bytes.
#[cfg_attr(optimised, inline(always))]
pub(crate) fn byte_perm(low: u32, high: u32, selector: u32) -> u32 {
    let bytes = u64::from(high) << 32 | u64::from(low);
    (0..4).fold(0, |result, place| {
        let pick = selector >> (4 * place);
        let byte = (bytes >> (8 * (pick & 7))) as u8;
        let byte = if pick & 8 == 0 { byte } else { 0_u8.wrapping_sub(byte >> 7) };
        result | u32::from(byte) << (8 * place)
    })
}

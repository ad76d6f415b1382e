//! Mathematical functions, which must have the same bits as on the host, and the hardware's approximations.

use simt::{
    math::{self, Float, fast},
    prelude::*,
};

/// Threads of a block.
pub const BLOCK: u32 = 128;

/// Functions by number: their names, and `function(x)` with each.
macro_rules! functions {
    ($names:ident, $apply:ident, $($number:literal $name:ident),+) => {
        /// Names, by number.
        pub const $names: &[&str] = &[$(stringify!($name)),+];

        /// Function `number` of `x`; 0 for other numbers.
        #[cfg_attr(optimised, inline(always))]
        pub fn $apply<T: Float>(number: u32, x: T, zero: T) -> T {
            match number {
                $($number => math::$name(x),)+
                _ => zero,
            }
        }
    };
}
functions! { EXPONENTIALS, exponential, 0 exp, 1 exp2, 2 exp10, 3 expm1, 4 log, 5 log2, 6 log10, 7 log1p }
functions! { CIRCULAR, circular, 0 sin, 1 cos, 2 tan, 3 tanh, 4 erf, 5 erfc }
functions! {
    ALGEBRAIC, algebraic,
    0 sqrt, 1 rsqrt, 2 cbrt, 3 rcbrt, 4 floor, 5 ceil, 6 trunc, 7 round, 8 round_ties_even
}

macro_rules! kernels {
    ($($kernel:ident: $t:ty as $bits:ty, $apply:ident, $names:ident;)+) => {$(
        #[doc = concat!(
            "`y[i]` = function `number` of [`", stringify!($names), "`] of the number with the bits `first` + i·`step`."
        )]
        #[kernel(block = (BLOCK), registers = 64)]
        pub fn $kernel(number: u32, first: $bits, step: $bits, y: VecMut<$t>) {
            let i = index_1d();
            let x = <$t>::from_bits(first.wrapping_add((i as $bits).wrapping_mul(step)));
            y.set_within(i, $apply(number, x, 0.0));
        }
    )+};
}
kernels! {
    exponentials_f32: f32 as u32, exponential, EXPONENTIALS;
    exponentials_f64: f64 as u64, exponential, EXPONENTIALS;
    circular_f32: f32 as u32, circular, CIRCULAR;
    circular_f64: f64 as u64, circular, CIRCULAR;
    algebraic_f32: f32 as u32, algebraic, ALGEBRAIC;
    algebraic_f64: f64 as u64, algebraic, ALGEBRAIC;
}

/// `z[4i]` = `x[i]` to the power `y[i]`, `z[4i + 1]` = √(`x[i]`² + `y[i]`²), then sine and cosine of `x[i]`.
#[kernel(block = (BLOCK))]
pub fn pairs_f32(x: VecRef<f32>, y: VecRef<f32>, z: VecMut<f32>) {
    let i = index_1d();
    let (x, y) = (x.get_or(i, 0.0), y.get_or(i, 0.0));
    z.set_within(4 * i, math::pow(x, y));
    z.set_within(4 * i + 1, math::hypot(x, y));
    let (sin, cos) = math::sincos(x);
    z.set_within(4 * i + 2, sin);
    z.set_within(4 * i + 3, cos);
}

/// [`pairs_f32`] with 64 bits.
#[kernel(block = (BLOCK))]
pub fn pairs_f64(x: VecRef<f64>, y: VecRef<f64>, z: VecMut<f64>) {
    let i = index_1d();
    let (x, y) = (x.get_or(i, 0.0), y.get_or(i, 0.0));
    z.set_within(4 * i, math::pow(x, y));
    z.set_within(4 * i + 1, math::hypot(x, y));
    let (sin, cos) = math::sincos(x);
    z.set_within(4 * i + 2, sin);
    z.set_within(4 * i + 3, cos);
}

/// `y[8i]` to `y[8i + 7]` = the approximations exp2, log2, sin, cos, tanh, rcp, rsqrt, sqrt of `x[i]`.
#[kernel(block = (BLOCK))]
pub fn approximations(x: VecRef<f32>, y: VecMut<f32>) {
    let i = index_1d();
    let x = x.get_or(i, 0.0);
    y.set_within(8 * i, fast::exp2(x));
    y.set_within(8 * i + 1, fast::log2(x));
    y.set_within(8 * i + 2, fast::sin(x));
    y.set_within(8 * i + 3, fast::cos(x));
    y.set_within(8 * i + 4, fast::tanh(x));
    y.set_within(8 * i + 5, fast::rcp(x));
    y.set_within(8 * i + 6, fast::rsqrt(x));
    y.set_within(8 * i + 7, fast::sqrt(x));
}

//! tanh, erf, erfc.
//!
//! Near 0 tanh x and erf x are x plus x times a polynomial in x², elsewhere they come from their complements:
//! tanh x = 1 − 2/(e²ˣ + 1), erf x = 1 − erfc x.
//!
//! erfc x = e^(−x²)·erfcx(x), where (1 + 2x)·erfcx(x) is nearly constant on the positive axis: a polynomial in
//! t = (x − k)/(x + k), which maps the axis to an interval (M. Shepherd, J. Laframboise, *Chebyshev approximation of
//! (1 + 2x)exp(x²)erfc x in 0 ≤ x < ∞*, 1981).

#![allow(
    clippy::approx_constant,
    clippy::excessive_precision,
    clippy::unreadable_literal,
    reason = "coefficients as `minimax.py` prints them"
)]

use super::exponential::{Coefficients as Exponential, exp, exp_parts};
use super::real::{clamp, fma, polynomial, scale, two_product};

/// Constants of a format.
pub trait Coefficients: Exponential {
    /// k of the map to an interval.
    const CENTER: Self;
    /// erfc is 0 from here up.
    const ERFC_END: Self;
    /// (tanh √z / √z − 1) / z, for z to 0.55².
    fn tanh_tail(z: Self) -> Self;
    /// erf √z / √z − 1, for z to 1.
    fn erf_tail(z: Self) -> Self;
    /// (1 + 2x)·erfcx(x) of t, for x from 0.4.
    fn erfcx(t: Self) -> Self;
}

impl Coefficients for f32 {
    const CENTER: Self = 2.0;
    const ERFC_END: Self = 10.25;
    #[cfg_attr(optimised, inline(always))]
    fn tanh_tail(z: Self) -> Self {
        polynomial!(z, [-3.333332e-01, 1.3332601e-01, -5.3853758e-02, 2.1077309e-02, -6.2817927e-03])
    }
    #[cfg_attr(optimised, inline(always))]
    fn erf_tail(z: Self) -> Self {
        polynomial!(
            z,
            [1.2837917e-01, -3.7612626e-01, 1.1283588e-01, -2.685401e-02, 5.188813e-03, -8.015065e-04, 7.871347e-05]
        )
    }
    #[cfg_attr(optimised, inline(always))]
    fn erfcx(t: Self) -> Self {
        polynomial!(
            t,
            [
                1.2769784e+00,
                -9.276378e-02,
                -1.6603115e-01,
                1.6404964e-01,
                -5.4206282e-02,
                -8.015983e-03,
                8.636007e-03,
                1.1887746e-03,
                -1.2324825e-03,
                -2.8175992e-04,
            ]
        )
    }
}

impl Coefficients for f64 {
    const CENTER: Self = 4.0;
    const ERFC_END: Self = 27.25;
    #[cfg_attr(optimised, inline(always))]
    fn tanh_tail(z: Self) -> Self {
        polynomial!(
            z,
            [
                -0.333333333333333,
                0.13333333333326813,
                -0.05396825396386665,
                0.021869488388748318,
                -0.00886323264677449,
                0.0035920924698279516,
                -0.0014555455677695455,
                0.0005884552853229462,
                -0.00023340811246417266,
                8.335327100749391e-05,
                -1.9516719456113064e-05,
            ]
        )
    }
    #[cfg_attr(optimised, inline(always))]
    fn erf_tail(z: Self) -> Self {
        polynomial!(
            z,
            [
                0.1283791670955126,
                -0.3761263890318375,
                0.11283791670954811,
                -0.0268661706450677,
                0.005223977624748173,
                -0.0008548326977494571,
                0.00012055331006830135,
                -1.4925593047552607e-05,
                1.6460968568981053e-06,
                -1.6350005370482195e-07,
                1.4657878193276976e-08,
                -1.1366063407294845e-09,
                5.946482552072181e-11,
            ]
        )
    }
    #[cfg_attr(optimised, inline(always))]
    fn erfcx(t: Self) -> Self {
        polynomial!(
            t,
            [
                1.2329951186255526,
                -0.13962111684056253,
                0.015379652102618846,
                0.06809705425469392,
                -0.1010390660362434,
                0.09373283499830946,
                -0.06633036581383432,
                0.03716751553797298,
                -0.016197734035774545,
                0.005031969976304485,
                -0.0007577734641252218,
                -0.00019925671057606135,
                0.00015062255253435832,
                -2.4399015596975573e-05,
                -1.122486212214144e-05,
                5.70875773165658e-06,
                2.997321920432713e-07,
                -8.227722236946043e-07,
                6.689784768904399e-08,
                1.0588264945813031e-07,
                -1.2185978049060011e-08,
                -1.0555410516560139e-08,
            ]
        )
    }
}

#[cfg_attr(optimised, inline(always))]
pub(crate) fn tanh<T: Coefficients>(x: T) -> T {
    let one = T::number(1.0);
    let size = x.abs();
    if size < T::number(0.55) {
        let z = x * x;
        let tanh = fma(x * z, T::tanh_tail(z), x);
        if x == T::number(0.0) { x } else { tanh }
    } else {
        let tanh = one - T::number(2.0) / (exp(size + size) + one);
        tanh.copysign(x)
    }
}

/// erf x for |x| < 1.
#[cfg_attr(optimised, inline(always))]
fn erf_near_zero<T: Coefficients>(x: T) -> T {
    let erf = fma(x, T::erf_tail(x * x), x);
    if x == T::number(0.0) { x } else { erf }
}

/// erfc x for x from 0.4 up.
#[cfg_attr(optimised, inline(always))]
fn erfc_positive<T: Coefficients>(x: T) -> T {
    let (one, two) = (T::number(1.0), T::number(2.0));
    let x = clamp(x, T::number(0.4), T::ERFC_END);
    let (square, square_low) = two_product(x, x);
    let (exp, exp_low, n) = exp_parts(-square);
    // q = erfcx(x), as high + low.
    let t = (x - T::CENTER) / (x + T::CENTER);
    let p = T::erfcx(t);
    let divisor = fma(two, x, one);
    let divisor_low = fma(two, x, one - divisor);
    let inverse = one / divisor;
    let q = p * inverse;
    let q_low = fma(-q, divisor_low, fma(-q, divisor, p)) * inverse;
    // e^(−square − square_low) is e^(−square)·(1 − square_low).
    let (product, product_low) = two_product(exp, q);
    let product_low = product_low + fma(exp, fma(-q, square_low, q_low), exp_low * q);
    let product = product + product_low;
    scale(product, n)
}

#[cfg_attr(optimised, inline(always))]
pub(crate) fn erf<T: Coefficients>(x: T) -> T {
    let one = T::number(1.0);
    let size = x.abs();
    if size < one { erf_near_zero(x) } else { (one - erfc_positive(size)).copysign(x) }
}

#[cfg_attr(optimised, inline(always))]
pub(crate) fn erfc<T: Coefficients>(x: T) -> T {
    let size = x.abs();
    if size < T::number(0.4) {
        T::number(1.0) - erf_near_zero(x)
    } else {
        let erfc = erfc_positive(size);
        if x < T::number(0.0) { T::number(2.0) - erfc } else { erfc }
    }
}

//! sin, cos, tan.
//!
//! x = n·π/2 + r with |r| ≤ π/4, r as high + low; then a polynomial in r, chosen by n mod 4.
//!
//! The reduction subtracts n·π/2 in three steps, π/2 as the sum of three numbers. The first difference is exact, the
//! second is kept with its error: near a multiple of π/2 they cancel. For large |x| it multiplies x by 2/π as integers
//! (M. Payne, R. Hanek, *Radian reduction for trigonometric functions*, 1983): only the bits of 2/π that decide n mod 4
//! and r are taken.

#![allow(
    clippy::approx_constant,
    clippy::excessive_precision,
    clippy::unreadable_literal,
    reason = "coefficients as `minimax.py` prints them"
)]

use super::real::Real;
use super::real::{fast_two_sum, fma, polynomial, two_difference, two_product};

/// Constants of a format.
pub trait Coefficients: Real {
    /// π/2 as a sum.
    const HALF_PI: (Self, Self, Self);
    /// 2/π.
    const TWO_OVER_PI: Self;
    /// From here up the integers are multiplied.
    const LARGE: Self;
    /// (sin √z / √z − 1) / z.
    fn sin_tail(z: Self) -> Self;
    /// (cos √z − 1 + z/2) / z².
    fn cos_tail(z: Self) -> Self;
    /// (tan √z / √z − 1) / z.
    fn tan_tail(z: Self) -> Self;
    /// n mod 4 and r as high + low, for finite x of at least [`LARGE`](Self::LARGE).
    fn reduce_large(x: Self) -> (i32, Self, Self);
}

impl Coefficients for f32 {
    const HALF_PI: (Self, Self, Self) = (1.5707964e+00, -4.371139e-08, -1.7151245e-15);
    const TWO_OVER_PI: Self = 6.3661975e-01;
    const LARGE: Self = 65536.0;
    #[cfg_attr(optimised, inline(always))]
    fn sin_tail(z: Self) -> Self {
        polynomial!(z, [-1.6666667e-01, 8.333329e-03, -1.9839327e-04, 2.718239e-06])
    }
    #[cfg_attr(optimised, inline(always))]
    fn cos_tail(z: Self) -> Self {
        polynomial!(z, [4.1666646e-02, -1.3887362e-03, 2.4437746e-05])
    }
    #[cfg_attr(optimised, inline(always))]
    fn tan_tail(z: Self) -> Self {
        polynomial!(z, [3.3333138e-01, 1.333927e-01, 5.337536e-02, 2.4549367e-02, 2.9404236e-03, 9.485856e-03])
    }
    #[cfg_attr(optimised, inline(always))]
    fn reduce_large(x: Self) -> (i32, Self, Self) {
        // 32 zeros and the first 224 bits of 2/π behind the point.
        const ZERO: [u32; 8] =
            [0, 0xa2f9_836e, 0x4e44_1529, 0xfc27_57d1, 0xf534_ddc0, 0xdb62_9599, 0x3c43_9041, 0xfe51_63ab];
        let bits = x.to_bits();
        let mantissa = u64::from(bits & 0x007f_ffff | 0x0080_0000);
        // |x| = mantissa · 2ᵉ. Bits of 2/π whose product with it is a multiple of 4 are left out: the first that is
        // taken has the weight 2¹⁻ᵉ.
        let e = ((bits >> 23) & 255).wrapping_sub(150);
        let at = e.wrapping_add(30);
        // Words at / 32 to at / 32 + 3, by selection: an array would be read from memory.
        let w = ZERO;
        let w =
            if at & 128 == 0 { [w[0], w[1], w[2], w[3], w[4], w[5], w[6]] } else { [w[4], w[5], w[6], w[7], 0, 0, 0] };
        let w = if at & 64 == 0 { [w[0], w[1], w[2], w[3], w[4]] } else { [w[2], w[3], w[4], w[5], w[6]] };
        let w = if at & 32 == 0 { [w[0], w[1], w[2], w[3]] } else { [w[1], w[2], w[3], w[4]] };
        let shift = at & 31;
        let word = |i: usize| ((u64::from(w[i]) << 32 | u64::from(w[i + 1])) << shift >> 32) & 0xffff_ffff;
        // The product modulo 2⁹⁶: 2 bits before the point, 94 behind it.
        let low = mantissa * word(2);
        let middle = mantissa * word(1) + (low >> 32);
        let high = (mantissa * word(0)).wrapping_add(middle >> 32) & 0xffff_ffff;
        let product = high << 32 | middle & 0xffff_ffff;
        // To the nearest integer.
        let n = (product.wrapping_add(1 << 61) >> 62) as i32;
        let fraction = (product << 2 | (low & 0xffff_ffff) >> 30) as i64;
        // Two's complement: a fraction from ½ up is negative. In parts that convert exactly.
        let rounded = fraction as f32;
        let rest = fraction.wrapping_sub(rounded as i64) as f32;
        let scale = f32::from_bits((127 - 64) << 23);
        let (rounded, rest) = (rounded * scale, rest * scale);
        let (r, r_low) = two_product(rounded, Self::HALF_PI.0);
        let r_low = fma(rest, Self::HALF_PI.0, fma(rounded, Self::HALF_PI.1, r_low));
        let (r, r_low) = fast_two_sum(r, r_low);
        if x < 0.0 { (-n, -r, -r_low) } else { (n, r, r_low) }
    }
}

/// The first 1280 bits of 2/π behind the point, and zeros.
static TWO_OVER_PI_BITS: [u64; 32] = [
    0,
    0xa2f9_836e_4e44_1529,
    0xfc27_57d1_f534_ddc0,
    0xdb62_9599_3c43_9041,
    0xfe51_63ab_debb_c561,
    0xb724_6e3a_424d_d2e0,
    0x0649_2eea_09d1_921c,
    0xfe1d_eb1c_b129_a73e,
    0xe882_35f5_2ebb_4484,
    0xe99c_7026_b45f_7e41,
    0x3991_d639_8353_39f4,
    0x9c84_5f8b_bdf9_283b,
    0x1ff8_97ff_de05_980f,
    0xef2f_118b_5a0a_6d1f,
    0x6d36_7ecf_27cb_09b7,
    0x4f46_3f66_9e5f_ea2d,
    0x7527_bac7_ebe5_f17b,
    0x3d07_39f7_8a52_92ea,
    0x6bfb_5fb1_1f8d_5d08,
    0x5603_3046_fc7b_6bab,
    0xf0cf_bc20_9af4_361d,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
];

impl Coefficients for f64 {
    const HALF_PI: (Self, Self, Self) = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33);
    const TWO_OVER_PI: Self = 0.6366197723675814;
    const LARGE: Self = 536_870_912.0;
    #[cfg_attr(optimised, inline(always))]
    fn sin_tail(z: Self) -> Self {
        polynomial!(
            z,
            [
                -0.16666666666666666,
                0.008333333333333323,
                -0.00019841269841254993,
                2.755731921415067e-06,
                -2.5052104901023034e-08,
                1.60583652560091e-10,
                -7.578628663864042e-13,
            ]
        )
    }
    #[cfg_attr(optimised, inline(always))]
    fn cos_tail(z: Self) -> Self {
        polynomial!(
            z,
            [
                0.0416666666666666,
                -0.0013888888888873995,
                2.4801587289397244e-05,
                -2.7557314326726806e-07,
                2.0875719656754124e-09,
                -1.1359453924967713e-11,
            ]
        )
    }
    #[cfg_attr(optimised, inline(always))]
    fn tan_tail(z: Self) -> Self {
        polynomial!(
            z,
            [
                0.33333333333333387,
                0.13333333333324765,
                0.05396825397319415,
                0.02186948839192328,
                0.008863238033615098,
                0.003592099799292991,
                0.001456052721203765,
                0.0005888310578149778,
                0.00024386346551843414,
                8.328766709809133e-05,
                6.768894920685132e-05,
                -2.619329513735892e-05,
                4.907894021470424e-05,
                -2.448229707524147e-05,
                9.843122981740567e-06,
            ]
        )
    }
    #[cfg_attr(optimised, inline(always))]
    fn reduce_large(x: Self) -> (i32, Self, Self) {
        let bits = x.to_bits();
        let mantissa = u128::from(bits & 0x000f_ffff_ffff_ffff | 0x0010_0000_0000_0000);
        // As in the `f32` version, with words of 64 bits, and 64 zeros before the bits of 2/π.
        let e = ((bits >> 52) & 2047).wrapping_sub(1075);
        let at = e.wrapping_add(62);
        let (first, shift) = ((at >> 6) as usize, at & 63);
        let table = |i: usize| u128::from(TWO_OVER_PI_BITS[(first + i) & 31]);
        let word = |i: usize| (table(i) << 64 | table(i + 1)) << shift >> 64 & u128::from(u64::MAX);
        // The product modulo 2¹⁹²: 2 bits before the point, 190 behind it.
        let low = mantissa * word(2);
        let middle = mantissa * word(1) + (low >> 64);
        let high = (mantissa * word(0)).wrapping_add(middle >> 64);
        let product = high << 64 | middle & u128::from(u64::MAX);
        let n = (product.wrapping_add(1 << 125) >> 126) as i32;
        let fraction = (product << 2 | (low & u128::from(u64::MAX)) >> 62) as i128;
        // As size and sign, with the highest bit of the size in bit 125: 62 of its bits, and the 63 after them.
        let negative = fraction < 0;
        let size = fraction.unsigned_abs();
        let zeros = size.leading_zeros().min(125);
        let size = size << zeros >> 2;
        let (top, rest) = ((size >> 64) as i64, (size as u64 >> 1) as i64);
        let rounded = top as f64;
        let left = (top - rounded as i64) as f64;
        let unit = f64::power_of_two(-62 - zeros as i32);
        let left = fma(rest as f64, f64::power_of_two(-63), left) * unit;
        let (rounded, left) = fast_two_sum(rounded * unit, left);
        let (r, r_low) = two_product(rounded, Self::HALF_PI.0);
        let r_low = fma(left, Self::HALF_PI.0, fma(rounded, Self::HALF_PI.1, r_low));
        let (r, r_low) = fast_two_sum(r, r_low);
        let (r, r_low) = if negative { (-r, -r_low) } else { (r, r_low) };
        if x < 0.0 { (-n, -r, -r_low) } else { (n, r, r_low) }
    }
}

/// n mod 4 in the lowest bits, and r as high + low. r is a NaN for ±∞ and NaN.
#[cfg_attr(optimised, inline(always))]
fn reduce<T: Coefficients>(x: T) -> (i32, T, T) {
    let size = x.abs();
    if size < T::LARGE {
        let (n, integer) = T::nearest(x * T::TWO_OVER_PI);
        let (p0, p1, p2) = T::HALF_PI;
        let first = fma(-n, p0, x);
        let (product, product_low) = two_product(n, p1);
        let (second, low) = two_difference(first, product);
        let low = fma(-n, p2, low - product_low);
        let (second, low) = fast_two_sum(second, low);
        (integer, second, low)
    } else if size < T::INFINITY {
        T::reduce_large(x)
    } else {
        (0, T::NAN, T::NAN)
    }
}

#[cfg_attr(optimised, inline(always))]
fn sin_near_zero<T: Coefficients>(r: T, low: T) -> T {
    let z = r * r;
    r + fma(r * z, T::sin_tail(z), fma(low * z, T::number(-0.5), low))
}

#[cfg_attr(optimised, inline(always))]
fn cos_near_zero<T: Coefficients>(r: T, low: T) -> T {
    let z = r * r;
    // 1 − z/2 loses the last bits of z/2, which are added with the smaller terms.
    let half = T::number(0.5) * z;
    let first = T::number(1.0) - half;
    let lost = (T::number(1.0) - first) - half;
    first + fma(z * z, T::cos_tail(z), fma(-r, low, lost))
}

/// sin(r + n·π/2).
#[cfg_attr(optimised, inline(always))]
fn sin_of<T: Coefficients>(n: i32, r: T, low: T) -> T {
    let size = if n & 1 == 0 { sin_near_zero(r, low) } else { cos_near_zero(r, low) };
    if n & 2 == 0 { size } else { -size }
}

#[cfg_attr(optimised, inline(always))]
pub(crate) fn sin<T: Coefficients>(x: T) -> T {
    let (n, r, low) = reduce(x);
    if x == T::number(0.0) { x } else { sin_of(n, r, low) }
}

#[cfg_attr(optimised, inline(always))]
pub(crate) fn cos<T: Coefficients>(x: T) -> T {
    let (n, r, low) = reduce(x);
    sin_of(n.wrapping_add(1), r, low)
}

#[cfg_attr(optimised, inline(always))]
pub(crate) fn sincos<T: Coefficients>(x: T) -> (T, T) {
    let (n, r, low) = reduce(x);
    let (sin, cos) = (sin_near_zero(r, low), cos_near_zero(r, low));
    let (sin, cos) = if n & 1 == 0 { (sin, cos) } else { (cos, -sin) };
    let (sin, cos) = if n & 2 == 0 { (sin, cos) } else { (-sin, -cos) };
    (if x == T::number(0.0) { x } else { sin }, cos)
}

#[cfg_attr(optimised, inline(always))]
pub(crate) fn tan<T: Coefficients>(x: T) -> T {
    let one = T::number(1.0);
    let (n, r, low) = reduce(x);
    let z = r * r;
    // tan(r + low) = r + r·z·tail + low·(1 + tan² r).
    let (t, t_low) = fast_two_sum(r, fma(r * z, T::tan_tail(z), fma(low, z, low)));
    let tan = if n & 1 == 0 {
        t + t_low
    } else {
        // −1/(t + t_low), with one step of Newton's iteration.
        let inverse = -one / t;
        fma(fma(inverse, t_low, fma(inverse, t, one)), inverse, inverse)
    };
    if x == T::number(0.0) { x } else { tan }
}

//! The arithmetic of a tensor core.
//!
//! Products are exact in `f64`. A tensor core adds the products of one instruction to the accumulator in an
//! undocumented order and width, and truncates. Here they are added one after the other in `f64`, and the sum is
//! rounded to `f32` towards zero once per instruction: more exact than the hardware by a few bits, and equal to it
//! where the sums are exact. Sums of 8-bit integers are `i32`, whose bits the accumulators hold, and wrap around.

use half::{bf16, f16};

/// Kinds of numbers that tensor cores multiply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TensorKind {
    /// `f16`.
    F16,
    /// `bf16`.
    Bf16,
    /// `f32` without the last 13 bits.
    Tf32,
    /// `i8`.
    I8,
    /// Floating point of 4 bits of exponent and 3 of fraction.
    E4m3,
    /// Floating point of 5 bits of exponent and 2 of fraction.
    E5m2,
}

impl TensorKind {
    /// Bytes of a number in memory.
    pub(crate) const fn bytes(self) -> usize {
        match self {
            Self::I8 | Self::E4m3 | Self::E5m2 => 1,
            Self::F16 | Self::Bf16 => 2,
            Self::Tf32 => 4,
        }
    }

    /// Numbers along k in one instruction.
    pub(crate) const fn depth(self) -> usize {
        32 / self.bytes()
    }

    /// The number with these bits.
    pub(crate) fn number(self, bits: u32) -> f64 {
        match self {
            Self::F16 => f16::from_bits(bits as u16).to_f64(),
            Self::Bf16 => bf16::from_bits(bits as u16).to_f64(),
            Self::Tf32 => f64::from(f32::from_bits(bits & !0x1fff)),
            Self::I8 => f64::from(bits as i8),
            Self::E4m3 => e4m3(bits as u8),
            // The upper half of an `f16`.
            Self::E5m2 => f16::from_bits((bits as u16) << 8).to_f64(),
        }
    }

    /// The numbers in these bytes.
    pub(crate) fn numbers(self, bytes: &[u8]) -> impl Iterator<Item = f64> {
        bytes.chunks_exact(self.bytes()).map(move |bytes| {
            let mut word = [0; 4];
            word[..bytes.len()].copy_from_slice(bytes);
            self.number(u32::from_le_bytes(word))
        })
    }
}

/// The E4M3 with these bits: without infinities, and one NaN of each sign.
fn e4m3(bits: u8) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 3 & 15), f64::from(bits & 7));
    let magnitude = match (bits & 0x7f, exponent) {
        (0x7f, _) => f64::NAN,
        (_, 0) => fraction * 2.0_f64.powi(-9),
        _ => (8.0 + fraction) * 2.0_f64.powi(exponent - 10),
    };
    if bits & 0x80 == 0 { magnitude } else { -magnitude }
}

/// D += A · B for row-major A of `depth` and D of `cols` columns: one instruction.
pub(crate) fn add_product(
    kind: TensorKind,
    d: &mut [f32],
    (a, b): (&[f64], &[f64]),
    (depth, cols): (usize, usize),
    fresh: bool,
) {
    let is_integer = kind == TensorKind::I8;
    let mut sums = vec![0.0; cols];
    for (d, a) in d.chunks_exact_mut(cols).zip(a.chunks_exact(depth)) {
        for (sum, &d) in sums.iter_mut().zip(&*d) {
            *sum = match (fresh, is_integer) {
                (true, _) => 0.0,
                (false, true) => f64::from(d.to_bits() as i32),
                (false, false) => f64::from(d),
            };
        }
        add_row(&mut sums, a, b);
        for (d, &sum) in d.iter_mut().zip(&sums) {
            // An integer sum is exact in `f64`.
            *d = if is_integer { f32::from_bits(sum as i64 as u32) } else { towards_zero(sum) };
        }
    }
}

/// Adds a row of A times B to a row of D: with vectors of four numbers where the processor has them, and the same bits.
fn add_row(sums: &mut [f64], a: &[f64], b: &[f64]) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        #[target_feature(enable = "avx2")]
        fn by_avx2(sums: &mut [f64], a: &[f64], b: &[f64]) {
            add_row_plainly(sums, a, b);
        }
        // SAFETY: the processor has AVX2.
        return unsafe { by_avx2(sums, a, b) };
    }
    add_row_plainly(sums, a, b);
}

#[inline(always)]
fn add_row_plainly(sums: &mut [f64], a: &[f64], b: &[f64]) {
    for (&a, b) in a.iter().zip(b.chunks_exact(sums.len())) {
        for (sum, &b) in sums.iter_mut().zip(b) {
            *sum += a * b;
        }
    }
}

/// The `f32` next to `sum` that is not further from zero. A NaN becomes the one that tensor cores return.
fn towards_zero(sum: f64) -> f32 {
    const INFINITE: f64 = 2.0 * (1_u128 << 127) as f64;
    if sum.is_nan() {
        return f32::from_bits(0x7fff_ffff);
    }
    if sum.abs() >= INFINITE {
        return if sum > 0.0 { f32::INFINITY } else { f32::NEG_INFINITY };
    }
    let nearest = sum as f32;
    if f64::from(nearest).abs() > sum.abs() { f32::from_bits(nearest.to_bits() - 1) } else { nearest }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_give_the_same_bits() {
        let numbers = |n: usize, by: usize| -> Vec<f64> { (0..n).map(|i| ((i * by % 97) as f64).sin()).collect() };
        for (depth, cols) in [(16, 8), (8, 136), (32, 256), (3, 5)] {
            let (a, b) = (numbers(depth, 31), numbers(depth * cols, 17));
            let (mut sums, mut plain) = (numbers(cols, 7), numbers(cols, 7));
            add_row(&mut sums, &a, &b);
            add_row_plainly(&mut plain, &a, &b);
            assert!(sums.iter().zip(&plain).all(|(x, y)| x.to_bits() == y.to_bits()), "{depth} x {cols}");
        }
    }

    #[test]
    fn sums_are_truncated() {
        let one = 1.0_f64;
        let cases = [
            (one + 2.0_f64.powi(-24), 1.0),
            (one + 2.0_f64.powi(-23) - 2.0_f64.powi(-40), 1.0),
            (-one - 2.0_f64.powi(-23) + 2.0_f64.powi(-40), -1.0),
            (one + 2.0_f64.powi(-23), 1.0 + f32::EPSILON),
            (f64::from(f32::MAX) + 2.0_f64.powi(103), f32::MAX),
            (2.0_f64.powi(128), f32::INFINITY),
            (f64::NEG_INFINITY, f32::NEG_INFINITY),
            (2.0_f64.powi(-150), 0.0),
            (-0.0, -0.0),
        ];
        for (sum, expected) in cases {
            assert_eq!(towards_zero(sum).to_bits(), f32::to_bits(expected), "{sum:e}");
        }
        assert_eq!(towards_zero(f64::NAN).to_bits(), 0x7fff_ffff);
    }

    #[test]
    fn tf32_ignores_the_last_13_bits() {
        assert_eq!(TensorKind::Tf32.number(1.5_f32.to_bits() | 0x1fff), 1.5);
        assert_eq!(TensorKind::Tf32.number(f32::NEG_INFINITY.to_bits()), f64::NEG_INFINITY);
    }

    #[test]
    fn numbers_of_8_bits() {
        let numbers = |kind: TensorKind, bits: [u8; 4]| kind.numbers(&bits).collect::<Vec<_>>();
        assert_eq!(numbers(TensorKind::I8, [0, 0x7f, 0x80, 0xff]), [0.0, 127.0, -128.0, -1.0]);
        assert_eq!(numbers(TensorKind::E4m3, [0x01, 0x38, 0xfe, 0x0f]), [0.001_953_125, 1.0, -448.0, 0.029_296_875]);
        assert_eq!(
            numbers(TensorKind::E5m2, [0x01, 0x3c, 0xfb, 0x7c]),
            [2.0_f64.powi(-16), 1.0, -57344.0, f64::INFINITY]
        );
        assert!(TensorKind::E4m3.number(0xff).is_nan() && TensorKind::E5m2.number(0x7d).is_nan());
    }

    #[test]
    fn integer_sums_wrap_around() {
        let mut d = [f32::from_bits(i32::MAX as u32), f32::from_bits(7)];
        add_product(TensorKind::I8, &mut d, (&[127.0, 1.0], &[1.0, -128.0, 1.0, -3.0]), (2, 2), false);
        assert_eq!(d.map(|x| x.to_bits() as i32), [i32::MIN + 127, 7 - 127 * 128 - 3]);
    }

    #[test]
    fn a_nan_reaches_its_row_and_column_only() {
        let (a, b) = ([f64::NAN, 1.0, 2.0, 3.0], [1.0, 0.0, f64::INFINITY, 2.0]);
        let mut d = [f32::NAN, 1.0, 10.0, 20.0];
        add_product(TensorKind::F16, &mut d, (&a, &b), (2, 2), false);
        assert!(d[0].is_nan() && d[1].is_nan());
        assert_eq!(d[2..], [f32::INFINITY, 26.0]);
        let mut d = [f32::NAN];
        add_product(TensorKind::F16, &mut d, (&[2.0], &[3.0]), (1, 1), true);
        assert_eq!(d, [6.0], "a fresh product ignores what was there");
    }
}

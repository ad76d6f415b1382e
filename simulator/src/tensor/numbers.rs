//! The arithmetic of a tensor core.
//!
//! Products are exact in `f64`. A tensor core adds the products of one instruction to the accumulator in an
//! undocumented order and width, and truncates. Here they are added one after the other in `f64`, and the sum is
//! rounded to `f32` towards zero once per instruction: more exact than the hardware by a few bits, and equal to it
//! where the sums are exact. Sums of 8-bit integers are `i32`, whose bits the accumulators hold, and wrap around.

use half::f16;
use std::sync::LazyLock;

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
    #[inline]
    pub(crate) fn number(self, bits: u32) -> f64 {
        match self {
            Self::F16 => f16::from_bits(bits as u16).to_f64(),
            // The upper half of an `f32`. `bf16::to_f64` takes the bits apart: kernels of `bf16` run 6 % longer by it.
            Self::Bf16 => f64::from(f32::from_bits(bits << 16)),
            Self::Tf32 => f64::from(f32::from_bits(bits & !0x1fff)),
            Self::I8 => f64::from(bits as i8),
            Self::E4m3 => e4m3(bits as u8),
            // The upper half of an `f16`.
            Self::E5m2 => f16::from_bits((bits as u16) << 8).to_f64(),
        }
    }

    /// The numbers in these bytes, 16 divided by [`Self::bytes`]; what follows them in the array is 0.
    pub(crate) fn numbers(self, bytes: &[u8; 16]) -> [f64; 16] {
        let mut numbers = [0.0; 16];
        // The kind is a constant of each loop.
        match self {
            Self::F16 => {
                #[cfg(target_arch = "x86_64")]
                if std::arch::is_x86_feature_detected!("f16c") {
                    // SAFETY: the processor has the instruction.
                    unsafe { halves_by_f16c(bytes, &mut numbers) };
                    return numbers;
                }
                Self::F16.each_number::<2>(bytes, &mut numbers);
            }
            Self::Bf16 => Self::Bf16.each_number::<2>(bytes, &mut numbers),
            Self::Tf32 => Self::Tf32.each_number::<4>(bytes, &mut numbers),
            Self::I8 => Self::I8.each_number::<1>(bytes, &mut numbers),
            Self::E4m3 | Self::E5m2 => {
                static TABLES: LazyLock<[[f64; 256]; 2]> = LazyLock::new(|| {
                    [TensorKind::E4m3, TensorKind::E5m2]
                        .map(|kind| std::array::from_fn(|bits| kind.number(bits as u32)))
                });
                let table = &TABLES[usize::from(self == Self::E5m2)];
                for (number, &byte) in numbers.iter_mut().zip(bytes) {
                    *number = table[usize::from(byte)];
                }
            }
        }
        numbers
    }

    /// The numbers in four registers: [`Self::numbers`].
    pub(crate) fn numbers_in(self, registers: [u32; 4]) -> [f64; 16] {
        let mut bytes = [0; 16];
        for (bytes, register) in bytes.as_chunks_mut().0.iter_mut().zip(registers) {
            *bytes = register.to_le_bytes();
        }
        self.numbers(&bytes)
    }

    /// [`Self::number`] of every `BYTES` bytes.
    #[inline(always)]
    fn each_number<const BYTES: usize>(self, bytes: &[u8; 16], numbers: &mut [f64; 16]) {
        for (number, part) in numbers.iter_mut().zip(bytes.as_chunks::<BYTES>().0) {
            let mut word = [0; 4];
            word[..BYTES].copy_from_slice(part);
            *number = self.number(u32::from_le_bytes(word));
        }
    }
}

/// The 8 numbers of `f16` in these bytes.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "f16c")]
fn halves_by_f16c(bytes: &[u8; 16], numbers: &mut [f64; 16]) {
    use std::arch::x86_64::{_mm_loadu_si128, _mm256_cvtph_ps, _mm256_storeu_ps};
    let mut singles = [0.0_f32; 8];
    // SAFETY: reads and writes the arrays.
    unsafe { _mm256_storeu_ps(singles.as_mut_ptr(), _mm256_cvtph_ps(_mm_loadu_si128(bytes.as_ptr().cast()))) };
    for (number, single) in numbers.iter_mut().zip(singles) {
        *number = f64::from(single);
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

/// D += A · B for row-major A of `depth` and D of `cols` columns: one instruction. With vectors where the processor has
/// them, and the same bits: products are exact, so that it does not matter whether a sum is fused with one.
pub(crate) fn add_product(
    kind: TensorKind,
    d: &mut [f32],
    operands: (&[f64], &[f64]),
    extents: (usize, usize),
    fresh: bool,
) {
    if kind == TensorKind::I8 {
        add::<true>(d, operands, extents, fresh);
    } else {
        add::<false>(d, operands, extents, fresh);
    }
}

fn add<const INTEGERS: bool>(d: &mut [f32], operands: (&[f64], &[f64]), (depth, cols): (usize, usize), fresh: bool) {
    #[cfg(target_arch = "x86_64")]
    if cols.is_multiple_of(8) && d.len().is_multiple_of(ROWS * cols) {
        if std::arch::is_x86_feature_detected!("avx512f") {
            // SAFETY: the processor has AVX-512.
            return unsafe { add_by_avx512::<INTEGERS>(d, operands, (depth, cols), fresh) };
        }
        if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
            // SAFETY: the processor has AVX2 and FMA.
            return unsafe { add_by_avx2::<INTEGERS>(d, operands, (depth, cols), fresh) };
        }
    }
    add_rows::<INTEGERS>(d, operands, (depth, cols), fresh);
}

/// Rows of D whose sums are in registers at the same time.
#[cfg(target_arch = "x86_64")]
const ROWS: usize = 8;

/// [`add_rows`] for vectors of so many numbers, which divides the columns. [`ROWS`] divides the rows.
#[cfg(target_arch = "x86_64")]
macro_rules! by_vectors {
    ($(
        $name:ident, $features:literal:
        $width:literal, $repeat:ident, $load:ident, $store:ident, $multiply_add:ident;
    )+) => {$(
        #[target_feature(enable = $features)]
        fn $name<const INTEGERS: bool>(
            d: &mut [f32],
            (a, b): (&[f64], &[f64]),
            (depth, cols): (usize, usize),
            fresh: bool,
        ) {
            use std::arch::x86_64::{$load, $multiply_add, $repeat, $store};
            for (d, a) in d.chunks_exact_mut(ROWS * cols).zip(a.chunks_exact(ROWS * depth)) {
                for col in (0..cols).step_by($width) {
                    let mut sums = [$repeat(0.0); ROWS];
                    if !fresh {
                        for (sum, d) in sums.iter_mut().zip(d.chunks_exact(cols)) {
                            let Some(d) = d[col..].first_chunk::<$width>() else { continue };
                            let start: [f64; $width] = std::array::from_fn(|i| started::<INTEGERS>(d[i]));
                            // SAFETY: reads the array.
                            *sum = unsafe { $load(start.as_ptr()) };
                        }
                    }
                    for (k, b) in b.chunks_exact(cols).enumerate() {
                        let b = &b[col..][..$width];
                        // SAFETY: reads the slice, which is so long.
                        let b = unsafe { $load(b.as_ptr()) };
                        for (row, sum) in sums.iter_mut().enumerate() {
                            *sum = $multiply_add($repeat(a[row * depth + k]), b, *sum);
                        }
                    }
                    for (sum, d) in sums.into_iter().zip(d.chunks_exact_mut(cols)) {
                        let mut numbers = [0.0; $width];
                        // SAFETY: writes the array.
                        unsafe { $store(numbers.as_mut_ptr(), sum) };
                        if let Some(d) = d[col..].first_chunk_mut::<$width>() {
                            *d = std::array::from_fn(|i| rounded::<INTEGERS>(numbers[i]));
                        }
                    }
                }
            }
        }
    )+};
}
#[cfg(target_arch = "x86_64")]
by_vectors! {
    add_by_avx2, "avx2,fma": 4, _mm256_set1_pd, _mm256_loadu_pd, _mm256_storeu_pd, _mm256_fmadd_pd;
    add_by_avx512, "avx512f": 8, _mm512_set1_pd, _mm512_loadu_pd, _mm512_storeu_pd, _mm512_fmadd_pd;
}

/// Most columns of D.
const MAX_COLS: usize = 256;

fn add_rows<const INTEGERS: bool>(d: &mut [f32], (a, b): (&[f64], &[f64]), (depth, cols): (usize, usize), fresh: bool) {
    let mut sums = [0.0; MAX_COLS];
    let sums = &mut sums[..cols];
    for (d, a) in d.chunks_exact_mut(cols).zip(a.chunks_exact(depth)) {
        for (sum, &d) in sums.iter_mut().zip(&*d) {
            *sum = if fresh { 0.0 } else { started::<INTEGERS>(d) };
        }
        for (&a, b) in a.iter().zip(b.chunks_exact(cols)) {
            for (sum, &b) in sums.iter_mut().zip(b) {
                *sum += a * b;
            }
        }
        for (d, &sum) in d.iter_mut().zip(&*sums) {
            *d = rounded::<INTEGERS>(sum);
        }
    }
}

/// The sum that an accumulator is.
#[inline(always)]
fn started<const INTEGERS: bool>(d: f32) -> f64 {
    if INTEGERS { f64::from(d.to_bits() as i32) } else { f64::from(d) }
}

/// The accumulator that a sum becomes. A sum of integers is exact in `f64`.
#[inline(always)]
fn rounded<const INTEGERS: bool>(sum: f64) -> f32 {
    if INTEGERS { f32::from_bits(sum as i64 as u32) } else { towards_zero(sum) }
}

/// The `f32` next to `sum` that is not further from zero. A NaN becomes the one that tensor cores return.
#[inline(always)]
fn towards_zero(sum: f64) -> f32 {
    const INFINITE: f64 = 2.0 * (1_u128 << 127) as f64;
    // Without branches, so that vectors compute it.
    let nearest = sum as f32;
    let is_further = f64::from(nearest).abs() > sum.abs() && sum.abs() < INFINITE;
    let bits = nearest.to_bits().wrapping_sub(u32::from(is_further));
    f32::from_bits(if sum.is_nan() { 0x7fff_ffff } else { bits })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_give_the_same_bits() {
        // Products of two of them are exact in `f64`.
        let number = |i: usize| f64::from((i as f32).sin());
        let numbers = |n: usize, by: usize| -> Vec<f64> { (0..n).map(|i| number(i * by % 97)).collect() };
        let integers = |n: usize, by: usize| -> Vec<f64> { (0..n).map(|i| (i * by % 255) as f64 - 127.0).collect() };
        for (rows, depth, cols) in [(16, 16, 8), (64, 8, 136), (64, 32, 256), (3, 3, 5)] {
            let mut operands = (numbers(rows * depth, 31), numbers(depth * cols, 17));
            if cols == 136 {
                // Of row 3 and column 5.
                (operands.0[3 * depth], operands.1[5]) = (f64::NAN, f64::INFINITY);
            }
            let of_integers = (integers(rows * depth, 31), integers(depth * cols, 17));
            let start: Vec<f32> = numbers(rows * cols, 7).into_iter().map(|x| x as f32).collect();
            for fresh in [false, true] {
                let (extents, what) = ((depth, cols), format!("{rows} x {depth} x {cols}, {fresh}"));
                let run = |add: &dyn Fn(&mut [f32])| {
                    let mut d = start.clone();
                    add(&mut d);
                    d.iter().map(|d| d.to_bits()).collect::<Vec<_>>()
                };
                let (reals, integers) = ((&operands.0[..], &operands.1[..]), (&of_integers.0[..], &of_integers.1[..]));
                let expected = [
                    run(&|d| add_rows::<false>(d, reals, extents, fresh)),
                    run(&|d| add_rows::<true>(d, integers, extents, fresh)),
                ];
                let vectors = [
                    run(&|d| add_product(TensorKind::Bf16, d, reals, extents, fresh)),
                    run(&|d| add_product(TensorKind::I8, d, integers, extents, fresh)),
                ];
                assert_eq!(vectors, expected, "{what}");
                // Processors with larger vectors have these, too.
                #[cfg(target_arch = "x86_64")]
                if rows % ROWS == 0 && is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                    // SAFETY: the processor has both.
                    let narrow = unsafe {
                        [
                            run(&|d| add_by_avx2::<false>(d, reals, extents, fresh)),
                            run(&|d| add_by_avx2::<true>(d, integers, extents, fresh)),
                        ]
                    };
                    assert_eq!(narrow, expected, "AVX2, {what}");
                }
            }
        }
    }

    #[test]
    fn vectors_of_16_bytes_have_the_numbers_of_their_parts() {
        for kind in
            [TensorKind::F16, TensorKind::Bf16, TensorKind::Tf32, TensorKind::I8, TensorKind::E4m3, TensorKind::E5m2]
        {
            for first in 0..=u8::MAX {
                let bytes: [u8; 16] = std::array::from_fn(|i| first.wrapping_add((i * 37) as u8));
                let numbers = kind.numbers(&bytes);
                for (part, number) in bytes.chunks(kind.bytes()).zip(numbers) {
                    let mut word = [0; 4];
                    word[..part.len()].copy_from_slice(part);
                    let expected = kind.number(u32::from_le_bytes(word));
                    let is_equal = number.to_bits() == expected.to_bits() || number.is_nan() && expected.is_nan();
                    assert!(is_equal, "{kind:?} {part:?}: {number}, expected {expected}");
                }
            }
        }
    }

    #[test]
    fn a_bf16_is_the_upper_half_of_an_f32() {
        for bits in 0..=u16::MAX {
            let (number, expected) = (TensorKind::Bf16.number(bits.into()), half::bf16::from_bits(bits).to_f64());
            let is_equal = number.to_bits() == expected.to_bits() || number.is_nan() && expected.is_nan();
            assert!(is_equal, "{bits:#06x}: {number}, expected {expected}");
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
        let numbers = |kind: TensorKind, bits: [u8; 4]| bits.map(|bits| kind.number(bits.into()));
        assert_eq!(numbers(TensorKind::I8, [0, 0x7f, 0x80, 0xff]), [0.0, 127.0, -128.0, -1.0]);
        assert_eq!(numbers(TensorKind::E4m3, [0x01, 0x38, 0xfe, 0x0f]), [0.001_953_125, 1.0, -448.0, 0.029_296_875]);
        let expected = [2.0_f64.powi(-16), 1.0, -57344.0, f64::INFINITY];
        assert_eq!(numbers(TensorKind::E5m2, [0x01, 0x3c, 0xfb, 0x7c]), expected);
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

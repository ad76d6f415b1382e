//! One product by launch, and what it must be.

use gpu::gemm::args::{BIAS_PER_COLUMN, BIAS_PER_ROW, GELU, GemmKernel, RELU, WIDE_C};
use gpu::gemm::configs::ThreadKernel;
use gpu::gemm::gelu::gelu;
use gpu::gemm::mma;
use gpu::gemm::number;
use rand::Rng;
use simt::KernelInfo;
use warpwright::half::{bf16, f16};
use warpwright::{Device, Element, Fields, Launch};

use crate::support::device::under_test;
use crate::support::values;

/// An element of A and B.
pub(super) trait Number: Element + std::fmt::Debug + number::Number<Wide = f32> {
    /// A NaN that surrounds the matrices.
    const CANARY: Self;
    fn bits(self) -> u32;
    fn of_bits(bits: u32) -> Self;
}

macro_rules! numbers {
    ($($t:ident: $bits:literal;)+) => {$(
        impl Number for $t {
            const CANARY: Self = Self::from_bits($bits);
            fn bits(self) -> u32 {
                self.to_bits().into()
            }
            fn of_bits(bits: u32) -> Self {
                Self::from_bits(bits as _)
            }
        }
    )+};
}
numbers! { f16: 0x7e55; bf16: 0x7fd5; f32: 0x7fc1_2345; }

/// A kernel.
pub(super) struct UnderTest<T: Number> {
    pub(super) kernel: &'static GemmKernel<T>,
    pub(super) tile: [u32; 2],
    /// Whether A lies in memory as k × m, B as n × k.
    transposed: [bool; 2],
}

impl<T: Number> UnderTest<T> {
    pub(super) fn of(row: &ThreadKernel<T>) -> Self {
        let layout = row.layout.expect("a kernel for one layout");
        Self { kernel: row.kernel, tile: row.config.tile, transposed: layout.transposed() }
    }
}

/// A product.
#[derive(Clone, Copy, Debug)]
pub(super) struct Case {
    pub(super) m: usize,
    pub(super) n: usize,
    pub(super) k: usize,
    pub(super) batches: usize,
    /// Blocks along z.
    pub(super) depth: u32,
    /// Whether all matrices of A, of B, are the same one.
    pub(super) shared: [bool; 2],
    /// Elements before A, B and C, and between their rows.
    pub(super) offset: [usize; 3],
    pub(super) gap: [usize; 3],
    /// Fill rows up to multiples of 16 bytes.
    pub(super) fill: bool,
    pub(super) scale: [f32; 2],
    pub(super) flags: u32,
    /// Whether it is in A, row of op(A) or column of op(B), place along k, and the value.
    pub(super) special: Option<(bool, usize, usize, f32)>,
    pub(super) data: u64,
}

impl Default for Case {
    /// Rows without gaps, C = A·B.
    fn default() -> Self {
        Self {
            m: 1,
            n: 1,
            k: 1,
            batches: 1,
            depth: 1,
            shared: [false; 2],
            offset: [0; 3],
            gap: [0; 3],
            fill: false,
            scale: [1.0, 0.0],
            flags: 0,
            special: None,
            data: 1,
        }
    }
}

impl Case {
    /// The same, with all rows at multiples of 16 bytes.
    pub(super) fn aligned(self) -> Self {
        Self { fill: true, offset: [8, 0, 16], ..self }
    }

    /// The same, `by` elements from everywhere.
    pub(super) fn misaligned(self, by: usize) -> Self {
        Self { offset: [by, 1, by], gap: [1, by, 2], ..self }
    }
}

/// An element of C: `sum` of products, `old` of the one that was there.
fn epilogue(case: &Case, sum: f32, old: f32, bias: &[f32], row: usize, col: usize) -> f32 {
    let [alpha, beta] = case.scale;
    let mut value = alpha * sum;
    if beta != 0.0 {
        value = beta.mul_add(old, value);
    }
    if let Some(bias) = bias.get(if case.flags & BIAS_PER_COLUMN == 0 { row } else { col }) {
        value += bias;
    }
    match case.flags & (RELU | GELU) {
        RELU if !value.is_nan() => value.max(0.0),
        GELU => gelu(value),
        _ => value,
    }
}

/// All matrices of an operand in a buffer.
struct Held<T> {
    image: Vec<T>,
    offset: usize,
    ld: usize,
    batch: usize,
}

impl<T: Number> Held<T> {
    /// Canaries.
    fn new(case: &Case, of: usize, rows: usize, cols: usize, matrices: usize) -> Self {
        let filled = if case.fill { cols.next_multiple_of(8) } else { cols };
        let (ld, offset) = ((filled + case.gap[of]).max(1), case.offset[of]);
        let extent = if rows == 0 || cols == 0 { 0 } else { (rows - 1) * ld + cols };
        let batch = if case.fill { (rows * ld).next_multiple_of(8) } else { rows * ld + 1 };
        let end = if matrices == 0 { 0 } else { (matrices - 1) * batch + extent };
        Self { image: vec![T::CANARY; offset + end], offset, ld, batch }
    }

    fn at(&self, matrix: usize, row: usize, col: usize) -> usize {
        self.offset + matrix * self.batch + row * self.ld + col
    }
}

impl<T: Number> UnderTest<T> {
    /// Launches the kernel and compares all of C's buffer.
    pub(super) fn is_exact(&self, case: &Case) {
        let verdict = if case.flags & WIDE_C == 0 { self.check::<T>(case) } else { self.check::<f32>(case) };
        verdict.unwrap_or_else(|error| panic!("{}: {error}\n{case:#?}", self.info().name));
    }

    fn info(&self) -> &'static KernelInfo {
        self.kernel.info()
    }

    /// Whether rows in memory go along k.
    fn lies_along_rows(&self, of: usize) -> bool {
        self.transposed[of] == (of == 1)
    }

    fn check<U: Number>(&self, case: &Case) -> Result<(), String> {
        let Case { m, n, k, batches, .. } = *case;
        let mut rng = values::rng(case.data);
        let mut operand = |of: usize, rows: usize| {
            let matrices = if case.shared[of] { 1 } else { batches };
            let (down, across) = if self.lies_along_rows(of) { (rows, k) } else { (k, rows) };
            let mut held = Held::<T>::new(case, of, down, across, matrices);
            for matrix in 0..matrices {
                for (i, along) in (0..rows).flat_map(|i| (0..k).map(move |along| (i, along))) {
                    // Not 0, so that an infinity stays one.
                    let mut value = [-3.0, -2.0, -1.0, 1.0, 2.0, 3.0][rng.random_range(0..6)];
                    if let Some((in_a, row, depth, number)) = case.special
                        && (in_a == (of == 0) && row == i && depth == along)
                    {
                        value = number;
                    }
                    let (row, col) = if self.lies_along_rows(of) { (i, along) } else { (along, i) };
                    let at = held.at(matrix, row, col);
                    held.image[at] = T::narrow(value);
                }
            }
            held
        };
        let (a, b) = (operand(0, m), operand(1, n));
        let mut c = Held::<U>::new(case, 2, m, n, batches);
        let biases = if case.flags & BIAS_PER_COLUMN != 0 {
            n
        } else if case.flags & BIAS_PER_ROW != 0 {
            m
        } else {
            0
        };
        let bias: Vec<f32> = (0..biases).map(|i| (i % 7) as f32 - 3.0).collect();
        let mut expected = c.image.clone();
        for matrix in 0..batches {
            for (row, col) in (0..m).flat_map(|row| (0..n).map(move |col| (row, col))) {
                let at = c.at(matrix, row, col);
                if case.scale[1] != 0.0 {
                    c.image[at] = U::narrow(rng.random_range(-9..10) as f32);
                }
                let sum = (0..k).fold(0.0, |sum, along| {
                    let of = |held: &Held<T>, of: usize, i: usize| {
                        let matrix = if case.shared[of] { 0 } else { matrix };
                        let (row, col) = if self.lies_along_rows(of) { (i, along) } else { (along, i) };
                        held.image[held.at(matrix, row, col)].wide()
                    };
                    sum + of(&a, 0, row) * of(&b, 1, col)
                });
                let old = c.image[at].wide();
                expected[at] = U::narrow(epilogue(case, sum, old, &bias, row, col));
            }
        }

        let got = self.launch(&under_test(case.data), case, [&a, &b], &c, &bias).map_err(|error| error.to_string())?;
        for (at, (expected, got)) in expected.iter().zip(&got).enumerate() {
            let canary = expected.bits() == U::CANARY.bits();
            let same = expected.bits() == got.bits() || !canary && expected.wide().is_nan() && got.wide().is_nan();
            if !same {
                return Err(format!("element {at} of C's buffer is {got:?}, expected {expected:?}"));
            }
        }
        Ok(())
    }

    fn launch<U: Number>(
        &self,
        device: &Device,
        case: &Case,
        [a, b]: [&Held<T>; 2],
        c: &Held<U>,
        bias: &[f32],
    ) -> warpwright::Result<Vec<U>> {
        let Case { m, n, k, batches, .. } = *case;
        let stride = |of: usize, held: &Held<T>| if case.shared[of] { 0 } else { held.batch as u64 };
        let [m, n, k, batch] = [m, n, k, batches].map(|extent| extent as u32);
        let (on_a, on_b) = (device.upload(&a.image)?, device.upload(&b.image)?);
        let on_c = device.upload(&c.image)?;
        let bias = device.upload(bias)?;
        let (from_a, from_b) =
            (on_a.view().slice(a.offset..a.image.len())?, on_b.view().slice(b.offset..b.image.len())?);
        let blocks = m.div_ceil(self.tile[0]) * n.div_ceil(self.tile[1]);
        if blocks == 0 {
            return on_c.download();
        }
        let launch = Launch::grid([blocks, 1, case.depth.min(batch)]);
        let is_wide = case.flags & WIDE_C != 0;
        let image = |is_here: bool| if is_here { &c.image[..] } else { &[] };
        let mut narrow = device.upload(&image(!is_wide).iter().map(|x| T::of_bits(x.bits())).collect::<Vec<T>>())?;
        let mut wide = device.upload(&image(is_wide).iter().map(|x| f32::of_bits(x.bits())).collect::<Vec<f32>>())?;
        let range = |is_here: bool| if is_here { c.offset..c.image.len() } else { 0..0 };
        let (to, to_wide) = (narrow.view_mut().slice(range(!is_wide))?, wide.view_mut().slice(range(is_wide))?);
        let operands = Fields((from_a, from_b, [a.ld as u64, b.ld as u64], [stride(0, a), stride(1, b)]));
        let ([ldc, stride_c], [alpha, beta]) = ([c.ld as u64, c.batch as u64], case.scale);
        let gemm = Fields((to, to_wide, bias.view(), ldc, stride_c, m, n, k, batch, alpha, beta, case.flags));
        device.launch(self.kernel, launch, (operands, gemm))?;
        Ok(if is_wide {
            wide.download()?.into_iter().map(|x| U::of_bits(x.bits())).collect()
        } else {
            narrow.download()?.into_iter().map(|x| U::of_bits(x.bits())).collect()
        })
    }
}

/// Halves are rounded to even, in every place of a fragment.
pub(super) fn tf32_is_rounded() {
    let half = 2_f32.powi(-11);
    for kernel in mma::TF32.iter().filter(|kernel| kernel.config.name == "64x64") {
        for (value, rounded) in
            [(1.0 + 3.0 * half, 1.0 + 4.0 * half), (-1.0 - half, -1.0), (1.0 + 1.01 * half, 1.0 + 2.0 * half)]
        {
            let device = under_test(1);
            let [a, b, c] = [value, 1.0, 0.0].map(|x| device.upload(&vec![x; 64 * 64]).expect("memory"));
            let mut c = c;
            let (none, mut empty) =
                (device.upload(&[0.0_f32; 0][..]).expect("memory"), device.upload(&[0.0_f32; 0][..]).expect("memory"));
            let operands = Fields((a.view(), b.view(), [64_u64; 2], [0_u64; 2]));
            let (to, to_wide) = (c.view_mut(), empty.view_mut());
            let gemm = Fields((
                to,
                to_wide,
                none.view(),
                64_u64,
                0_u64,
                64_u32,
                64_u32,
                64_u32,
                1_u32,
                1.0_f32,
                0.0_f32,
                0_u32,
            ));
            device.launch(kernel.kernel, Launch::grid([1, 1, 1]), (operands, gemm)).expect("a launch");
            assert_eq!(c.download().expect("C"), vec![64.0 * rounded; 64 * 64], "{value}");
        }
    }
}

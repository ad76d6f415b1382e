//! One product by one kernel, and what it must be.

use gpu::gemm::args::{BIAS_PER_COLUMN, BIAS_PER_ROW, WIDE_C};
use gpu::gemm::configs::ThreadKernel;
use gpu::gemm::mma;
use ndarray::Array2;
use rand::Rng;
use simt::KernelInfo;
use warpwright::gemm::{Activation, Algorithm, Arithmetic, Gemm, Multiply, Op, Output};
use warpwright::half::{bf16, f16};
use warpwright::{Buffer, Device, Element, TensorView};

use crate::gemm::sample::activated;
use crate::support::device::under_test;
use crate::support::values;

/// An element of A and B.
pub(super) trait Number: Element + std::fmt::Debug + Multiply<Wide = f32> + Output<Self> {
    /// A NaN that surrounds the matrices.
    const CANARY: Self;
    /// The product by the arithmetic of the kernels under test.
    fn on_tensor_cores(gemm: Gemm<'_, Self>) -> Gemm<'_, Self>;
    fn bits(self) -> u32;
    fn of_bits(bits: u32) -> Self;
}

macro_rules! numbers {
    ($($t:ident: $bits:literal, $on_tensor_cores:expr;)+) => {$(
        impl Number for $t {
            const CANARY: Self = Self::from_bits($bits);
            fn on_tensor_cores(gemm: Gemm<'_, Self>) -> Gemm<'_, Self> {
                let on_tensor_cores: fn(Gemm<'_, Self>) -> Gemm<'_, Self> = $on_tensor_cores;
                on_tensor_cores(gemm)
            }
            fn bits(self) -> u32 {
                self.to_bits().into()
            }
            fn of_bits(bits: u32) -> Self {
                Self::from_bits(bits as _)
            }
        }
    )+};
}
numbers! {
    f16: 0x7e55, |gemm| gemm;
    bf16: 0x7fd5, |gemm| gemm;
    f32: 0x7fc1_2345, |gemm| gemm.arithmetic(Arithmetic::Tf32);
}

/// A kernel.
pub(super) struct UnderTest<T: Number> {
    pub(super) kernel: &'static ThreadKernel<T>,
    pub(super) tile: [u32; 2],
    /// Whether A lies in memory as k × m, B as n × k.
    transposed: [bool; 2],
}

impl<T: Number> UnderTest<T> {
    pub(super) fn of(row: &'static ThreadKernel<T>) -> Self {
        let layout = row.layout.expect("a kernel for one layout");
        Self { kernel: row, tile: row.config.tile, transposed: layout.transposed() }
    }
}

/// A product.
#[derive(Clone, Copy, Debug)]
pub(super) struct Case {
    pub(super) m: usize,
    pub(super) n: usize,
    pub(super) k: usize,
    pub(super) batches: usize,
    /// Whether all matrices of A, of B, are the same one.
    pub(super) shared: [bool; 2],
    /// Elements before A, B and C, and between their rows.
    pub(super) offset: [usize; 3],
    pub(super) gap: [usize; 3],
    /// Fill rows up to multiples of 16 bytes.
    pub(super) fill: bool,
    pub(super) scale: [f32; 2],
    pub(super) flags: u32,
    pub(super) activation: Activation,
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
            shared: [false; 2],
            offset: [0; 3],
            gap: [0; 3],
            fill: false,
            scale: [1.0, 0.0],
            flags: 0,
            activation: Activation::None,
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

    /// How many matrices an operand has; none for one that all share.
    fn batches(&self, of: usize) -> Option<usize> {
        (!self.shared[of]).then_some(self.batches)
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
    activated(f64::from(value), case.activation) as f32
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

    /// Its matrices in `buffer`, stored `transposed`; without a number of them, one matrix.
    fn tensor<'b>(
        &self,
        buffer: &'b Buffer<T>,
        matrices: Option<usize>,
        [rows, cols]: [usize; 2],
        transposed: bool,
    ) -> warpwright::Result<TensorView<'b, T>> {
        let [rows, cols] = if transposed { [cols, rows] } else { [rows, cols] };
        let view = buffer.view().slice(self.offset..self.image.len())?;
        match matrices {
            Some(matrices) => view.as_tensor_strided(&[matrices, rows, cols], &[self.batch, self.ld, 1]),
            None => view.as_tensor_strided(&[rows, cols], &[self.ld, 1]),
        }
    }
}

impl<T: Number> UnderTest<T>
where
    f32: Output<T>,
{
    /// Launches the kernel and compares all of C's buffer.
    pub(super) fn is_exact(&self, case: &Case) {
        let verdict = if case.flags & WIDE_C == 0 { self.check::<T>(case) } else { self.check::<f32>(case) };
        verdict.unwrap_or_else(|error| panic!("{}: {error}\n{case:#?}", self.info().name));
    }

    fn info(&self) -> &'static KernelInfo {
        self.kernel.kernel.info()
    }

    /// Whether it is for row-major A and B.
    pub(super) fn is_nn(&self) -> bool {
        self.transposed == [false, false]
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
        let wide = |held: &Held<T>| held.image.iter().map(|&x| x.wide()).collect::<Vec<_>>();
        let (wide_a, wide_b) = (wide(&a), wide(&b));
        for matrix in 0..batches {
            for (row, col) in (0..m).flat_map(|row| (0..n).map(move |col| (row, col))) {
                let at = c.at(matrix, row, col);
                if case.scale[1] != 0.0 {
                    c.image[at] = U::narrow(rng.random_range(-9..10) as f32);
                }
                let sum = (0..k).fold(0.0, |sum, along| {
                    let of = |held: &Held<T>, wide: &[f32], of: usize, i: usize| {
                        let matrix = if case.shared[of] { 0 } else { matrix };
                        let (row, col) = if self.lies_along_rows(of) { (i, along) } else { (along, i) };
                        wide[held.at(matrix, row, col)]
                    };
                    sum + of(&a, &wide_a, 0, row) * of(&b, &wide_b, 1, col)
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

    /// The product as a program computes it, with this kernel.
    fn launch<U: Number>(
        &self,
        device: &Device,
        case: &Case,
        [a, b]: [&Held<T>; 2],
        c: &Held<U>,
        bias: &[f32],
    ) -> warpwright::Result<Vec<U>> {
        let Case { m, n, k, batches, flags, scale: [alpha, beta], .. } = *case;
        let (on_a, on_b, bias) = (device.upload(&a.image)?, device.upload(&b.image)?, device.upload(bias)?);
        let gemm = device.gemm(a.tensor(&on_a, case.batches(0), [m, k], self.transposed[0])?, {
            b.tensor(&on_b, case.batches(1), [k, n], self.transposed[1])?
        });
        let gemm = if self.transposed[0] { gemm.transpose_a() } else { gemm };
        let gemm = if self.transposed[1] { gemm.transpose_b() } else { gemm };
        let gemm = T::on_tensor_cores(gemm)
            .algorithm(Algorithm::of(self.info()))
            .alpha(alpha)
            .beta(beta)
            .activation(case.activation);
        let gemm = match flags & (BIAS_PER_COLUMN | BIAS_PER_ROW) {
            BIAS_PER_COLUMN => gemm.bias(&bias),
            BIAS_PER_ROW => gemm.bias_per_row(&bias),
            _ => gemm,
        };
        let (shape, strides) = ([batches, m, n], [c.batch, c.ld, 1]);
        if flags & WIDE_C == 0 {
            let mut on_c = device.upload(&c.image.iter().map(|x| T::of_bits(x.bits())).collect::<Vec<T>>())?;
            gemm.into(on_c.slice_mut(c.offset..c.image.len())?.as_tensor_strided(&shape, &strides)?)?;
            Ok(on_c.download()?.into_iter().map(|x| U::of_bits(x.bits())).collect())
        } else {
            let mut on_c = device.upload(&c.image.iter().map(|x| f32::of_bits(x.bits())).collect::<Vec<f32>>())?;
            gemm.into(on_c.slice_mut(c.offset..c.image.len())?.as_tensor_strided(&shape, &strides)?)?;
            Ok(on_c.download()?.into_iter().map(|x| U::of_bits(x.bits())).collect())
        }
    }
}

/// Halves are rounded to even, in every place of a fragment.
pub(super) fn tf32_is_rounded() {
    let half = 2_f32.powi(-11);
    for kernel in mma::TF32.iter().filter(|kernel| kernel.config.name == "64x64") {
        let algorithm = Algorithm::of(kernel.kernel.info());
        let [ta, tb] = kernel.layout.expect("a kernel for one layout").transposed();
        for (value, rounded) in
            [(1.0 + 3.0 * half, 1.0 + 4.0 * half), (-1.0 - half, -1.0), (1.0 + 1.01 * half, 1.0 + 2.0 * half)]
        {
            let device = under_test(1);
            let matrix = |x: f32| device.upload(&Array2::from_elem((64, 64), x)).expect("a matrix");
            let (a, b, mut c) = (matrix(value), matrix(1.0), matrix(0.0));
            let op = |transposed: bool| if transposed { Op::T } else { Op::N };
            let gemm = device.gemm(&a, &b).op(op(ta), op(tb)).arithmetic(Arithmetic::Tf32).algorithm(algorithm);
            gemm.into(&mut c).expect("a product");
            assert_eq!(c.download().expect("C"), Array2::from_elem((64, 64), 64.0 * rounded), "{value}");
        }
    }
}

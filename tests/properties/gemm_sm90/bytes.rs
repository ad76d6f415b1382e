//! 8-bit operands: `i8`, whose sums are exact, and [`E4m3`] and [`E5m2`], of which small integers have exact sums.

use gpu::gemm::args::{BlockScaledGemmKernel, ScaledGemmKernel};
use gpu::gemm::configs::WgmmaKernel;
use gpu::gemm::reference;
use gpu::gemm::sm90 as kernels;
use ndarray::Array2;
use rand::Rng;
use warpwright::gemm::{Algorithm, Arithmetic, Gemm, Op, Output, Quantized};
use warpwright::half::{bf16, f16};
use warpwright::{Device, E4m3, E5m2, Element, Layout};

use crate::support::device::under_test;
use crate::support::values;

/// An element of A and B.
trait Byte: Quantized {
    /// A number whose products have exact sums.
    fn exact(rng: &mut impl Rng) -> Self;
    fn value(self) -> f64;
}
impl Byte for i8 {
    fn exact(rng: &mut impl Rng) -> Self {
        rng.random()
    }
    fn value(self) -> f64 {
        self.into()
    }
}
macro_rules! floats {
    ($($t:ident)+) => {$(
        impl Byte for $t {
            fn exact(rng: &mut impl Rng) -> Self {
                Self::from_f32(rng.random_range(-4..=4) as f32)
            }
            fn value(self) -> f64 {
                self.to_f32().into()
            }
        }
    )+};
}
floats! { E4m3 E5m2 }

/// An element of C.
trait Cell: Element + PartialEq + std::fmt::Debug {
    /// The nearest element.
    fn of(x: f64) -> Self;
}
impl Cell for i32 {
    fn of(x: f64) -> Self {
        x as Self
    }
}
impl Cell for f32 {
    fn of(x: f64) -> Self {
        x as Self
    }
}
impl Cell for bf16 {
    fn of(x: f64) -> Self {
        // Sums of `i8` are converted to `f32` first.
        Self::from_f32(x as f32)
    }
}
impl Cell for f16 {
    fn of(x: f64) -> Self {
        Self::from_f32(x as f32)
    }
}

/// What follows the product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Epilogue {
    Product,
    /// Powers of two as factors of rows and columns.
    Scaled,
    /// 0.5 times the product, minus the old C, plus a bias, at least 0.
    Everything,
}

/// Elements from row to row of an operand: a multiple of 16 bytes, and of nothing more.
fn ld(cols: usize) -> usize {
    cols.next_multiple_of(16) + 16
}

/// C of one kernel: every element, and the padding between rows.
fn check<T: Byte, C: Output<T> + Cell>(
    (device, kernel): (&Device, &WgmmaKernel<ScaledGemmKernel<T>>),
    arithmetic: fn(Gemm<'_, T>) -> Gemm<'_, T>,
    extents: [usize; 4],
    epilogue: Epilogue,
) {
    // Two clusters, each of which may compute several tiles.
    let algorithm = (Algorithm::of(kernel.kernel.info()), 2 * kernel.config.cluster);
    check_algorithm::<T, C>(device, algorithm, arithmetic, extents, epilogue);
}

/// [`check`] for an algorithm, on so many SMs.
fn check_algorithm<T: Byte, C: Output<T> + Cell>(
    device: &Device,
    (algorithm, sms): (Algorithm, u32),
    arithmetic: fn(Gemm<'_, T>) -> Gemm<'_, T>,
    [m, n, k, count]: [usize; 4],
    epilogue: Epilogue,
) {
    let mut rng = values::rng((m * n + k) as u64);
    let mut numbers = |len: usize| (0..len).map(|_| T::exact(&mut rng)).collect::<Vec<_>>();
    // A is the same for all matrices of the batch.
    let (a, b) = (numbers(m * ld(k)), numbers(count * n * ld(k)));
    let bias: Vec<f32> = (0..n).map(|col| col as f32 % 7.0 - 3.0).collect();
    let ld_c = n.next_multiple_of(8) + 8;
    let old = C::of(-77.0);
    let (on_a, on_b, on_bias) = (device.upload(&a).unwrap(), device.upload(&b).unwrap(), device.upload(&bias).unwrap());
    let mut c = device.upload(&vec![old; count * m * ld_c]).unwrap();
    let view_a = on_a.view().as_tensor_strided(&[m, k], &[ld(k), 1]).unwrap();
    let view_b = on_b.view().as_tensor_strided(&[count, n, k], &[n * ld(k), ld(k), 1]).unwrap();
    let to_c = c.view_mut().as_tensor_strided(&[count, m, n], &[m * ld_c, ld_c, 1]).unwrap();
    let gemm = arithmetic(device.gemm(view_a, view_b).transpose_b());
    let gemm = gemm.algorithm(algorithm).sm_count_target(sms);
    let (of_row, of_column) = (|row: usize| [0.5, 2.0, 1.0][row % 3], |col: usize| [1.0, 0.25, 4.0, 2.0, 0.5][col % 5]);
    let rows = device.upload(&(0..m).map(|row| of_row(row) as f32).collect::<Vec<_>>()).unwrap();
    let columns = device.upload(&(0..n).map(|col| of_column(col) as f32).collect::<Vec<_>>()).unwrap();
    match epilogue {
        Epilogue::Product => gemm.into(to_c),
        Epilogue::Scaled => gemm.row_scales(&rows).column_scales(&columns).into(to_c),
        Epilogue::Everything => gemm.alpha(0.5).beta(-1.0).bias(&on_bias).relu().into(to_c),
    }
    .unwrap();
    let got = c.download().unwrap();
    let [a, b] = [a, b].map(values_of);
    for (at, got) in got.iter().enumerate() {
        let (matrix, row, col) = (at / (m * ld_c), at / ld_c % m, at % ld_c);
        let sum = || -> f64 {
            let rows = (&a[row * ld(k)..][..k], &b[(matrix * n + col) * ld(k)..][..k]);
            rows.0.iter().zip(rows.1).map(|(a, b)| a * b).sum()
        };
        let expected = match epilogue {
            _ if col >= n => old,
            Epilogue::Product => C::of(sum()),
            Epilogue::Scaled => C::of(f64::from(sum() as f32) * of_row(row) * of_column(col)),
            Epilogue::Everything => C::of((0.5 * f64::from(sum() as f32) + 77.0 + f64::from(bias[col])).max(0.0)),
        };
        assert_eq!(*got, expected, "{algorithm}, {epilogue:?}, matrix {matrix}, {row}, {col} of {m} x {n} x {k}");
    }
}

/// The numbers of an operand, converted once.
fn values_of<T: Byte>(operand: Vec<T>) -> Vec<f64> {
    operand.into_iter().map(T::value).collect()
}

/// Every kernel: tiles cut off on every side, more steps than stages, and C in rows that TMA can store, or not.
macro_rules! every_kernel {
    ($t:ident, $list:ident, $arithmetic:expr, $($c:ident)+) => {
        for (number, kernel) in kernels::$list.iter().enumerate() {
            let [rows, cols] = kernel.config.tile().map(|edge| edge as usize);
            let device = under_test(number as u64);
            let long = [70, 80, kernel.config.stages * 128 + 45, 1];
            let tiles = [rows + 1, cols + 16, 100, 2];
            $(
                check::<$t, $c>((&device, kernel), $arithmetic, long, Epilogue::Product);
                check::<$t, $c>((&device, kernel), $arithmetic, tiles, Epilogue::Product);
                check::<$t, $c>((&device, kernel), $arithmetic, [67, 77, 200, 1], Epilogue::Product);
            )+
        }
    };
}

/// Every kernel with all that an epilogue may do.
macro_rules! every_epilogue {
    ($t:ident, $list:ident, $arithmetic:expr) => {
        for (number, kernel) in kernels::$list.iter().enumerate() {
            let device = under_test(number as u64);
            check::<$t, f32>((&device, kernel), $arithmetic, [70, 80, 300, 1], Epilogue::Everything);
            check::<$t, bf16>((&device, kernel), $arithmetic, [65, 79, 130, 2], Epilogue::Everything);
            check::<$t, f16>((&device, kernel), $arithmetic, [66, 144, 40, 1], Epilogue::Everything);
            check::<$t, f32>((&device, kernel), $arithmetic, [70, 144, 200, 1], Epilogue::Scaled);
            check::<$t, bf16>((&device, kernel), $arithmetic, [130, 77, 90, 2], Epilogue::Scaled);
        }
    };
}

#[test]
fn i8_is_exact() {
    every_kernel!(i8, I8, |gemm| gemm, i32 f32 bf16);
}

#[test]
fn i8_is_exact_with_epilogues() {
    every_epilogue!(i8, I8, |gemm| gemm);
}

#[test]
fn e4m3_is_exact() {
    every_kernel!(E4m3, E4M3, |gemm| gemm, f32 bf16 f16);
    every_kernel!(E4m3, E4M3_FAST, |gemm| gemm.arithmetic(Arithmetic::FastAccumulation), bf16);
}

#[test]
fn e5m2_is_exact() {
    every_kernel!(E5m2, E5M2, |gemm| gemm, bf16);
    every_kernel!(E5m2, E5M2_FAST, |gemm| gemm.arithmetic(Arithmetic::FastAccumulation), f32);
}

#[test]
fn e4m3_is_exact_with_epilogues() {
    every_epilogue!(E4m3, E4M3, |gemm| gemm);
    every_epilogue!(E4m3, E4M3_FAST, |gemm| gemm.arithmetic(Arithmetic::FastAccumulation));
}

#[test]
fn the_reference_is_exact() {
    fn check<T: Byte>(algorithm: Algorithm)
    where
        f32: Output<T>,
        bf16: Output<T>,
    {
        let device = under_test(6);
        check_algorithm::<T, f32>(&device, (algorithm, 4), |gemm| gemm, [33, 70, 300, 1], Epilogue::Product);
        check_algorithm::<T, bf16>(&device, (algorithm, 4), |gemm| gemm, [9, 31, 77, 2], Epilogue::Everything);
    }
    check::<i8>(Algorithm::of(reference::I8.kernel.info()));
    check::<E4m3>(Algorithm::of(reference::E4M3.kernel.info()));
    check::<E5m2>(Algorithm::of(reference::E5M2.kernel.info()));
}

/// Every layout, with rows that begin anywhere: operands are copied first, transposed where they must be.
#[test]
fn other_layouts_are_packed() {
    let device = under_test(5);
    let [m, n, k] = [70, 67, 141];
    let mut rng = values::rng(5);
    let mut numbers = |len: usize| (0..len).map(|_| rng.random::<i8>()).collect::<Vec<_>>();
    let (a, b) = (numbers(1 + m * k), numbers(3 + n * k));
    let (on_a, on_b) = (device.upload(&a).unwrap(), device.upload(&b).unwrap());
    let kernel = kernels::I8.iter().find(|kernel| kernel.config.name == "64x128").unwrap();
    let algorithm = Algorithm::of(kernel.kernel.info()).pack([true; 2]);
    for ops in [[Op::N, Op::N], [Op::N, Op::T], [Op::T, Op::N], [Op::T, Op::T]] {
        let shape = |op: Op, rows, cols| if op == Op::N { [rows, cols] } else { [cols, rows] };
        let view_a = on_a.view().slice(1..1 + m * k).unwrap().as_tensor(&shape(ops[0], m, k)).unwrap();
        let view_b = on_b.view().slice(3..3 + n * k).unwrap().as_tensor(&shape(ops[1], k, n)).unwrap();
        let at = |op: Op, row: usize, col: usize, rows: usize, cols: usize| {
            if op == Op::N { row * cols + col } else { col * rows + row }
        };
        let expected: Vec<i32> = (0..m * n)
            .map(|i| {
                let product = |l| {
                    let (x, y) = (a[1 + at(ops[0], i / n, l, m, k)], b[3 + at(ops[1], l, i % n, k, n)]);
                    i32::from(x) * i32::from(y)
                };
                (0..k).map(product).sum()
            })
            .collect();
        for gemm in [device.gemm(view_a, view_b).algorithm(algorithm), device.gemm(view_a, view_b)] {
            let c = gemm.op(ops[0], ops[1]).run_as::<i32>().unwrap();
            assert_eq!(c.download().unwrap().into_raw_vec_and_offset().0, expected, "{ops:?}");
        }
    }
}

/// Numbers of all magnitudes. A term is cut off 13 bits below the leading bit of the largest of 32 products and the
/// accumulator (`simt::wgmma`), which is at most the sum S of magnitudes: 33 terms for each instruction, four of them
/// in a sum that is promoted, all where none is; then the additions of promoted sums, and the conversion to f32.
#[test]
fn random_numbers_are_within_the_bound() {
    let device = under_test(9);
    let [m, n, k] = [64, 128, 1000];
    let mut rng = values::rng(9);
    let mut numbers = |len: usize| (0..len).map(|_| E4m3::from_f32(rng.random_range(-2.0..2.0))).collect::<Vec<_>>();
    let (a, b) = (numbers(m * ld(k)), numbers(n * ld(k)));
    let (on_a, on_b) = (device.upload(&a).unwrap(), device.upload(&b).unwrap());
    let view_a = on_a.view().as_tensor_strided(&[m, k], &[ld(k), 1]).unwrap();
    let view_b = on_b.view().as_tensor_strided(&[n, k], &[ld(k), 1]).unwrap();
    let (instruction, single) = (33.0 / 8192.0, f64::from(f32::EPSILON));
    let [a, b] = [a, b].map(values_of);
    for (list, arithmetic, instructions) in
        [(kernels::E4M3, Arithmetic::Full, 4.0), (kernels::E4M3_FAST, Arithmetic::FastAccumulation, 32.0)]
    {
        for kernel in list {
            let name = kernel.kernel.info().name;
            let gemm = device.gemm(view_a, view_b).transpose_b().arithmetic(arithmetic);
            // Uploaded, because compute-sanitizer's initcheck does not see what TMA stores.
            let mut c = device.upload(&Array2::from_elem((m, n), f32::NAN)).unwrap();
            gemm.algorithm(Algorithm::of(kernel.kernel.info())).into(&mut c).unwrap();
            let c = c.download().unwrap();
            for ((row, col), &got) in c.indexed_iter() {
                let terms = (0..k).map(|l| a[row * ld(k) + l] * b[col * ld(k) + l]);
                let (sum, size) = terms.fold((0.0, 0.0), |(sum, size), x| (sum + x, size + x.abs()));
                let bound = (instructions * instruction + 9.0 * single) * size;
                let error = (f64::from(got) - sum).abs();
                assert!(error <= bound, "{name}: {got} for {sum} at {row}, {col}: {error:e} of {bound:e}");
            }
        }
    }
}

/// Factors of blocks, powers of two: tiles cut off on every side, more steps than stages, leading dimensions of the
/// factors, and an epilogue.
fn check_blocks<C: Output<E4m3> + Cell>(
    (device, kernel): (&Device, &WgmmaKernel<BlockScaledGemmKernel<E4m3>>),
    [m, n, k]: [usize; 3],
    with_epilogue: bool,
) {
    let mut rng = values::rng((m * n + k) as u64);
    let mut numbers = |len: usize| (0..len).map(|_| E4m3::exact(&mut rng)).collect::<Vec<_>>();
    let (a, b) = (numbers(m * ld(k)), numbers(n * ld(k)));
    let (blocks_n, blocks_k) = (n.div_ceil(128), k.div_ceil(128));
    let ld_scales = blocks_k + 3;
    let factor = |row: usize, block: usize| [0.5_f32, 2.0, 1.0, 4.0, 0.25][(row + 2 * block) % 5];
    let factors = |rows: usize| {
        let values = (0..rows * ld_scales).map(|i| {
            let (row, block) = (i / ld_scales, i % ld_scales);
            // Nothing reads the padding.
            if block < blocks_k { factor(row, block) } else { f32::NAN }
        });
        device.upload(&values.collect::<Vec<_>>()).unwrap()
    };
    let (on_a, on_b, of_a, of_b) =
        (device.upload(&a).unwrap(), device.upload(&b).unwrap(), factors(m), factors(blocks_n));
    let view_a = on_a.view().as_tensor_strided(&[m, k], &[ld(k), 1]).unwrap();
    let view_b = on_b.view().as_tensor_strided(&[n, k], &[ld(k), 1]).unwrap();
    let layout = |rows: usize| Layout { offset: 0, rows, cols: blocks_k, ld: ld_scales };
    let (of_a, of_b) = (of_a.view().as_matrix(layout(m)).unwrap(), of_b.view().as_matrix(layout(blocks_n)).unwrap());
    let old = C::of(-77.0);
    let mut c = device.upload(&Array2::from_elem((m, n), old)).unwrap();
    let gemm = device.gemm(view_a, view_b).transpose_b().block_scales(of_a, of_b);
    let gemm = gemm.algorithm(Algorithm::of(kernel.kernel.info())).sm_count_target(2 * kernel.config.cluster);
    if with_epilogue { gemm.alpha(0.5).beta(-1.0).relu().into(&mut c) } else { gemm.into(&mut c) }.unwrap();
    let name = kernel.kernel.info().name;
    let [a, b] = [a, b].map(values_of);
    for ((row, col), got) in c.download().unwrap().indexed_iter() {
        let product = |l: usize| {
            let factors = factor(row, l / 128) * factor(col / 128, l / 128);
            a[row * ld(k) + l] * b[col * ld(k) + l] * f64::from(factors)
        };
        let sum: f64 = (0..k).map(product).sum();
        let expected = C::of(if with_epilogue { (0.5 * sum + 77.0).max(0.0) } else { sum });
        assert_eq!(*got, expected, "{name}, {row}, {col} of {m} x {n} x {k}");
    }
}

#[test]
fn factors_of_blocks_are_exact() {
    for (number, kernel) in kernels::E4M3_BLOCKS.iter().enumerate() {
        let [rows, cols] = kernel.config.tile().map(|edge| edge as usize);
        let device = under_test(number as u64);
        check_blocks::<f32>((&device, kernel), [70, 80, kernel.config.stages * 128 + 45], false);
        check_blocks::<f32>((&device, kernel), [rows + 1, cols + 16, 260], false);
        // Several tiles for each block, one after the other.
        check_blocks::<bf16>((&device, kernel), [rows + 1, 2 * cols + 16, 900], false);
        check_blocks::<bf16>((&device, kernel), [67, 264, 128], false);
        check_blocks::<f16>((&device, kernel), [65, 144, 300], true);
        check_blocks::<f32>((&device, kernel), [2, 3, 5], true);
    }
}

#[test]
fn factors_of_blocks_that_do_not_fit_are_refused() {
    let device = under_test(7);
    let a = device.upload(&Array2::from_elem((16, 144), E4m3::from_f32(1.0))).unwrap();
    let factors = |rows, cols| device.upload(&Array2::from_elem((rows, cols), 1.0_f32)).unwrap();
    let (of_a, of_b, one) = (factors(16, 2), factors(1, 2), device.upload(&[1.0_f32; 16]).unwrap());
    let gemm = || device.gemm(&a, &a).transpose_b();
    let refused = |gemm: Gemm<'_, E4m3>| gemm.run_as::<f32>().unwrap_err().to_string();
    let error = refused(gemm().block_scales(&of_b, &of_b));
    assert!(error.contains("`a_scales`: expected 16 x 2 factors") && error.contains("found 1 x 2"), "{error}");
    let error = refused(gemm().block_scales(&of_a, &of_a));
    assert!(error.contains("`b_scales`: expected 1 x 2 factors") && error.contains("found 16 x 2"), "{error}");
    let error = refused(gemm().block_scales(&of_a, &of_b).row_scales(&one));
    assert!(error.contains("`row_scales`: expected none beside factors of blocks"), "{error}");
    let error = refused(gemm().block_scales(&of_a, &of_b).column_scales(&one));
    assert!(error.contains("`column_scales`: expected none beside factors of blocks, found 16"), "{error}");
    let mut c = device.alloc::<f32>(2 * 16 * 16).unwrap();
    let mut into = |shape: &[usize], strides: &[usize]| {
        let c = c.view_mut().as_tensor_strided(shape, strides).unwrap();
        gemm().block_scales(&of_a, &of_b).into(c).unwrap_err().to_string()
    };
    let error = into(&[2, 16, 16], &[256, 16, 1]);
    assert!(error.contains("`c`: expected one matrix with factors of blocks, found 2"), "{error}");
    let error = into(&[16, 16], &[1, 16]);
    assert!(error.contains("`c`: expected a row-major matrix with factors of blocks, found a column-major"), "{error}");
    let error = refused(gemm().block_scales(&of_a, &of_b).algorithm(Algorithm::of(kernels::E4M3[0].kernel.info())));
    assert!(error.contains("has no factors of blocks"), "{error}");
    let error = refused(gemm().algorithm(Algorithm::of(kernels::E4M3_BLOCKS[0].kernel.info())));
    assert!(error.contains("needs factors of blocks"), "{error}");
    // Without a product there is nothing to scale.
    let c = gemm().block_scales(&of_a, &of_b).alpha(0.0).run_wide().unwrap().download().unwrap();
    assert!(c.iter().all(|&x| x == 0.0));
}

/// Nothing is read where k or alpha is 0, and C of no rows stays as it is.
#[test]
fn empty_products() {
    let device = under_test(3);
    let none = device.alloc_matrix::<i8>(5, 0).unwrap();
    assert_eq!(device.gemm(&none, &none).transpose_b().run_as::<i32>().unwrap().download().unwrap().sum(), 0);
    let nan = device.upload(&Array2::from_elem((5, 7), E4m3::from_bits(0x7f))).unwrap();
    let c = device.gemm(&nan, &nan).transpose_b().alpha(0.0).run_wide().unwrap().download().unwrap();
    assert!(c.iter().all(|&x| x == 0.0));
    let no_rows = device.alloc_matrix::<E4m3>(0, 7).unwrap();
    assert!(device.gemm(&no_rows, &nan).transpose_b().run_wide().unwrap().download().unwrap().is_empty());
}

#[test]
fn sums_of_integers_take_no_epilogue() {
    let device = under_test(4);
    let a = device.upload(&Array2::from_elem((4, 4), 3_i8)).unwrap();
    let error = device.gemm(&a, &a).alpha(2.0).run_as::<i32>().unwrap_err().to_string();
    assert!(error.contains("found i32") && error.contains("alpha = 1"), "{error}");
    let factors = device.upload(&[1.0_f32; 3]).unwrap();
    let error = device.gemm(&a, &a).row_scales(&factors).run_as::<f32>().unwrap_err().to_string();
    assert!(error.contains("`row_scales`: expected 4 factors") && error.contains("found 3"), "{error}");
    assert_eq!(device.gemm(&a, &a).alpha(2.0).run_as::<f32>().unwrap().download().unwrap()[[0, 0]], 72.0);
}

//! More than 2³² elements, or 2³¹ for GEMM, to detect 32-bit overflow of indices. Only on a GPU with 20 GB of free
//! memory.

use simt::element::Element;
use warpwright::gemm::{Multiply, Output};
use warpwright::half::{bf16, f16};
use warpwright::{Buffer, Device, Layout};

use crate::support::device::{is_gpu, under_test};

/// Period of the data, which divides no power of two.
const PERIOD: usize = 16_777_213;

/// `n` elements, where element i is `of(i % PERIOD)`.
fn repeated<T: Element>(device: &Device, n: usize, of: impl Fn(usize) -> T) -> warpwright::Result<Buffer<T>> {
    let period: Vec<T> = (0..PERIOD.min(n)).map(of).collect();
    let piece = device.upload(&period)?;
    let mut x = device.alloc::<T>(n)?;
    let mut at = 0;
    while at < n {
        let len = PERIOD.min(n - at);
        x.slice_mut(at..at + len)?.copy_from(piece.slice(0..len)?)?;
        at += len;
    }
    Ok(x)
}

/// `n` bytes, where element i is `element(i)`.
fn bytes(device: &Device, n: usize) -> warpwright::Result<Buffer<u8>> {
    repeated(device, n, element)
}

fn element(i: usize) -> u8 {
    (i % PERIOD % 251) as u8
}

#[test]
fn reductions_count_more_than_2_to_32_elements() {
    if !is_gpu() {
        return;
    }
    let device = under_test(0);
    let n = (1 << 32) + 12_345;
    let x = bytes(&device, n).expect("4 GiB");
    let zeros_of = |n: usize| (n / PERIOD) * PERIOD.div_ceil(251) + (n % PERIOD).div_ceil(251);
    for start in [0, 1, 251] {
        let expected = (n - start) - (zeros_of(n) - zeros_of(start));
        assert_eq!(device.count_nonzero(x.slice(start..n).expect("a part")).expect("a count"), expected as u64);
    }
}

#[test]
fn an_argmax_finds_an_index_above_2_to_32() {
    if !is_gpu() {
        return;
    }
    let device = under_test(0);
    let n = (1 << 32) + 77;
    let mut x = device.alloc_zeros::<f16>(n).expect("8 GiB");
    x.slice_mut(n - 3..n - 2).and_then(|mut one| one.write(&[f16::ONE])).expect("one");
    assert_eq!(device.argmax(&x).expect("an argmax"), n - 3);
    assert_eq!(device.sum(&x).expect("a sum"), 1.0);
}

#[test]
fn a_transpose_moves_more_than_2_to_32_elements() {
    if !is_gpu() {
        return;
    }
    let device = under_test(0);
    let (rows, cols) = (65_543, 65_551);
    let x = bytes(&device, rows * cols).expect("4 GiB");
    let mut y = device.alloc::<u8>(rows * cols).expect("4 GiB");
    let a = x.view().as_matrix(Layout::contiguous(rows, cols)).expect("a matrix");
    let b = y.view_mut().as_matrix(Layout::contiguous(cols, rows)).expect("a matrix");
    device.transpose_into(a, b).expect("a transpose");
    // Whole rows of the result: the first, the last and some between.
    for row in [0, 1, 31, 32, 127, 40_000, 65_535, 65_536, cols - 2, cols - 1] {
        let got = y.slice(row * rows..(row + 1) * rows).and_then(warpwright::BufferView::download).expect("a row");
        let wrong = (0..rows).find(|&col| got[col] != element(col * cols + row));
        assert_eq!(wrong, None, "row {row}");
    }
}

/// Small integers, so that sums are exact: element i of A, and of B.
fn of_a(i: usize) -> i32 {
    (i % PERIOD % 7) as i32 - 3
}
fn of_b(i: usize) -> i32 {
    (i % PERIOD % 5) as i32 - 2
}

/// C = A·B of m × k and k × n with elements [`of_a`] and [`of_b`]: checks the first rows, the last rows, and some
/// between.
fn product_is_exact<T: Multiply + Element, C: Output<T> + Element>(
    device: &Device,
    [m, n, k]: [usize; 3],
    from: impl Fn(f32) -> T,
    to: impl Fn(C) -> f32,
) {
    let a = repeated(device, m * k, |i| from(of_a(i) as f32)).expect("A");
    let b = repeated(device, k * n, |i| from(of_b(i) as f32)).expect("B");
    let mut c = device.alloc::<C>(m * n).expect("C");
    let [x, y] = [(&a, [m, k]), (&b, [k, n])]
        .map(|(x, [rows, cols])| x.view().as_matrix(Layout::contiguous(rows, cols)).expect("a matrix"));
    let z = c.view_mut().as_matrix(Layout::contiguous(m, n)).expect("a matrix");
    device.gemm(x, y).into(z).expect("a product");
    let rows = [0, 1, 127, 128, m / 3, m / 2 + 1, m.saturating_sub(129), m - 2, m - 1];
    for row in rows.into_iter().filter(|&row| row < m) {
        let got = c.slice(row * n..(row + 1) * n).and_then(warpwright::BufferView::download).expect("a row");
        let wrong = (0..n).find(|&col| {
            let sum: i32 = (0..k).map(|p| of_a(row * k + p) * of_b(p * n + col)).sum();
            to(got[col]) != sum as f32
        });
        assert_eq!(wrong, None, "row {row} of {m} x {n} x {k}");
    }
}

/// C, then A, then B has more than 2³¹ elements; sums of 24 products are at most 144, which 8 bits hold.
const HUGE: [[usize; 3]; 3] = [[65_600, 32_808, 24], [32_808, 40, 65_600], [40, 32_808, 65_600]];

#[test]
fn gemm_of_16_bit_elements_with_more_than_2_to_31_elements() {
    if !is_gpu() {
        return;
    }
    let device = under_test(0);
    product_is_exact::<bf16, bf16>(&device, HUGE[0], bf16::from_f32, bf16::to_f32);
    product_is_exact::<f16, f32>(&device, HUGE[1], f16::from_f32, |x| x);
    product_is_exact::<bf16, f32>(&device, HUGE[2], bf16::from_f32, |x| x);
    // Rows that are not aligned to 16 bytes.
    product_is_exact::<bf16, f32>(&device, [32_801, 17, 65_601], bf16::from_f32, |x| x);
}

#[test]
fn gemm_of_f32_with_more_than_2_to_31_elements() {
    if !is_gpu() {
        return;
    }
    let device = under_test(0);
    for shape in HUGE {
        product_is_exact::<f32, f32>(&device, shape, |x| x, |x| x);
    }
}

//! More than 2³² elements, where every index that someone keeps in 32 bits goes wrong. On a GPU with 10 GB to spare only.

use warpwright::{Device, Layout};

use crate::support::device::{is_gpu, under_test};

/// Bytes of a repetition that divides no power of two.
const PERIOD: usize = 16_777_213;

/// `n` bytes, element i being i modulo 251 but for the repetition's start anew.
fn bytes(device: &Device, n: usize) -> warpwright::Result<warpwright::Buffer<u8>> {
    let period: Vec<u8> = (0..PERIOD).map(|i| (i % 251) as u8).collect();
    let piece = device.upload(&period)?;
    let mut x = device.alloc::<u8>(n)?;
    let mut at = 0;
    while at < n {
        let len = PERIOD.min(n - at);
        x.slice_mut(at..at + len)?.copy_from(piece.slice(0..len)?)?;
        at += len;
    }
    Ok(x)
}

fn element(i: usize) -> u8 {
    (i % PERIOD % 251) as u8
}

#[test]
fn reductions_count_beyond_32_bits() {
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
fn an_argmax_finds_the_last_of_more_than_2_to_32() {
    if !is_gpu() {
        return;
    }
    let device = under_test(0);
    let n = (1 << 32) + 77;
    let mut x = device.alloc_zeros::<warpwright::half::f16>(n).expect("8 GiB");
    x.slice_mut(n - 3..n - 2).and_then(|mut one| one.write(&[warpwright::half::f16::ONE])).expect("one");
    assert_eq!(device.argmax(&x).expect("an argmax"), n - 3);
    assert_eq!(device.sum(&x).expect("a sum"), 1.0);
}

#[test]
fn a_transpose_reaches_beyond_32_bits() {
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
    // Whole rows of the result, the first and the last ones and some between.
    for row in [0, 1, 31, 32, 127, 40_000, 65_535, 65_536, cols - 2, cols - 1] {
        let got = y.slice(row * rows..(row + 1) * rows).and_then(warpwright::BufferView::download).expect("a row");
        let wrong = (0..rows).find(|&col| got[col] != element(col * cols + row));
        assert_eq!(wrong, None, "row {row}");
    }
}

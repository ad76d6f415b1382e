//! The operations against [`reference`], for shapes at the edges of tiles, empty shapes, any leading dimension and
//! offset.

use ndarray::{Array2, s};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use warpwright::reduce::reduction_depth;
use warpwright::reference::{self, same_bits};
use warpwright::{Device, Layout, Matrix};

fn device() -> Device {
    Device::best().unwrap()
}

/// The value of the elements around a matrix, which must not change.
const CANARY: f32 = -123.25;

fn random(rows: usize, cols: usize, rng: &mut StdRng) -> Array2<f32> {
    Array2::from_shape_simple_fn((rows, cols), || rng.random_range(-1.0..1.0))
}

/// `data` on the device, with `gap` elements between its rows and `offset` before it, surrounded by canaries.
fn embed(device: &Device, data: &Array2<f32>, gap: usize, offset: usize) -> Matrix<f32> {
    let (rows, cols) = data.dim();
    let layout = Layout::contiguous(rows, cols).ld(cols + gap).offset(offset);
    let buffer = device.upload(&vec![CANARY; offset + rows * (cols + gap) + 7]).unwrap();
    let mut matrix = Matrix::from_buffer(buffer, layout).unwrap();
    matrix.view_mut().write(data.view()).unwrap();
    matrix
}

/// Downloads the matrix, after a check that the elements around it did not change.
#[track_caller]
fn extract(matrix: Matrix<f32>) -> Array2<f32> {
    let data = matrix.download().unwrap();
    let Layout { rows, cols, ld, offset } = matrix.layout();
    let all = matrix.into_buffer().download().unwrap();
    for (i, &value) in all.iter().enumerate() {
        let inside = i >= offset && (i - offset) / ld.max(1) < rows && (i - offset) % ld.max(1) < cols;
        assert!(inside || value == CANARY, "element {i} around a {rows} x {cols} matrix became {value}");
    }
    data
}

#[test]
fn matmul_is_within_its_bound_for_every_shape_and_layout() {
    let device = device();
    let mut rng = StdRng::seed_from_u64(1);
    let shapes = [
        (0, 0, 0),
        (0, 5, 3),
        (3, 0, 5),
        (3, 5, 0),
        (1, 1, 1),
        (31, 32, 33),
        (32, 32, 32),
        (33, 31, 65),
        (64, 100, 1),
        (1, 257, 40),
    ];
    for (m, k, n) in shapes {
        for (gap, offset) in [(0, 0), (1, 3), (29, 1)] {
            let (a, b) = (random(m, k, &mut rng), random(k, n, &mut rng));
            let (left, right) = (embed(&device, &a, gap, offset), embed(&device, &b, gap, offset));
            let mut c = embed(&device, &Array2::from_elem((m, n), f32::NAN), gap, offset);
            device.matmul_into(&left, &right, &mut c).unwrap();
            let verdict = reference::matmul(a.view(), b.view()).unwrap().check(&extract(c)).unwrap();
            assert!(verdict.passes(), "{m} x {k} x {n}, gap {gap}, offset {offset}: {verdict}");
            let c = device.matmul(&left, &right).unwrap().download().unwrap();
            assert_eq!(c.dim(), (m, n));
        }
    }
}

#[test]
fn matmul_of_doubles_sums_in_order_of_k() {
    let device = device();
    let mut rng = StdRng::seed_from_u64(9);
    for (m, k, n) in [(0, 3, 2), (3, 0, 2), (1, 1, 1), (7, 65, 5), (33, 31, 65), (64, 100, 32)] {
        let mut random = |rows, cols| Array2::<f64>::from_shape_simple_fn((rows, cols), || rng.random_range(-1.0..1.0));
        let (a, b) = (random(m, k), random(k, n));
        let sum = |(i, j)| (0..k).fold(0.0, |sum, l| a[(i, l)].mul_add(b[(l, j)], sum));
        let c = device.matmul(&device.upload(&a).unwrap(), &device.upload(&b).unwrap()).unwrap().download().unwrap();
        assert_eq!(c, Array2::from_shape_fn((m, n), sum), "{m} x {k} x {n}");
    }
}

#[test]
fn transpose_copies_every_bit() {
    let device = device();
    let mut rng = StdRng::seed_from_u64(2);
    for (m, n) in [(0, 0), (0, 4), (4, 0), (1, 1), (1, 100), (100, 1), (16, 32), (15, 33), (17, 31), (50, 70)] {
        for (gap, offset) in [(0, 0), (3, 5)] {
            // Random bits: NaNs with payloads, subnormals, both zeros.
            let a = Array2::from_shape_simple_fn((m, n), || f32::from_bits(rng.random()));
            let source = embed(&device, &a, gap, offset);
            let mut target = embed(&device, &Array2::from_elem((n, m), 0.5), gap, offset);
            device.transpose_into(&source, &mut target).unwrap();
            same_bits(&reference::transpose(a.view()), &extract(target)).unwrap_or_else(|e| panic!("{m} x {n}: {e}"));
        }
    }
}

#[test]
fn sums_are_within_their_bound_and_exact_for_integers() {
    let device = device();
    let mut rng = StdRng::seed_from_u64(3);
    for n in [0, 1, 2, 31, 32, 33, 255, 256, 257, 1000, 65_536, 65_537, 100_003] {
        let x: Vec<f32> = (0..n).map(|_| rng.random_range(-1.0..1.0)).collect();
        let sum = device.sum(&device.upload(&x).unwrap()).unwrap();
        let verdict = reference::sum_in_f64(&x, reduction_depth(n, 4)).check(&[sum]).unwrap();
        assert!(verdict.passes(), "{n}: {verdict}");
        // Sums of so few small integers are exact in any order.
        let x: Vec<f32> = (0..n).map(|_| rng.random_range(-8..=8) as f32).collect();
        let buffer = device.upload(&x).unwrap();
        assert_eq!(device.sum(&buffer).unwrap(), x.iter().sum::<f32>(), "{n} integers");
        if n > 1 {
            let part = buffer.slice(1..n).unwrap();
            assert_eq!(device.sum(part).unwrap(), x[1..].iter().sum::<f32>(), "{n} integers without the first");
        }
    }
}

#[test]
fn a_sum_ignores_the_elements_between_rows() {
    let device = device();
    let a = Array2::from_shape_fn((20, 30), |(i, j)| (i as f32) - (j as f32));
    let matrix = embed(&device, &a, 5, 2);
    assert_eq!(device.sum(&matrix).unwrap(), a.sum());
    assert_eq!(device.sum(matrix.block(3..7, 4..9).unwrap()).unwrap(), a.slice(s![3..7, 4..9]).sum());
}

#[test]
fn additions_have_the_bits_of_f32() {
    let device = device();
    let mut rng = StdRng::seed_from_u64(4);
    for n in [0, 1, 63, 64, 65, 1003] {
        let mut values = || (0..n).map(|_| rng.random_range(-1e3_f32..1e3)).collect::<Vec<_>>();
        let (x, y) = (values(), values());
        let z = device.add(&device.upload(&x).unwrap(), &device.upload(&y).unwrap()).unwrap();
        same_bits(&reference::add(&x, &y), &z.download().unwrap()).unwrap_or_else(|e| panic!("{n}: {e}"));
    }
    let (a, b) = (random(9, 11, &mut rng), random(9, 11, &mut rng));
    let sum = device.add(&embed(&device, &a, 2, 1), embed(&device, &b, 0, 3).view()).unwrap();
    assert_eq!(sum.download().unwrap(), a + b);
}

#[test]
fn copies_change_only_their_block() {
    let device = device();
    let a = Array2::from_shape_fn((8, 9), |(i, j)| (10 * i + j) as f32);
    let source = embed(&device, &a, 4, 1);
    let mut target = embed(&device, &Array2::zeros((8, 9)), 3, 2);
    target.block_mut(2..5, 1..4).unwrap().copy_from(source.block(4..7, 6..9).unwrap()).unwrap();
    let mut expected = Array2::zeros((8, 9));
    expected.slice_mut(s![2..5, 1..4]).assign(&a.slice(s![4..7, 6..9]));
    assert_eq!(extract(target), expected);
    assert_eq!(source.view().to_contiguous().unwrap().into_buffer().download().unwrap(), a.as_slice().unwrap());
    // Contiguous rows in the source or in the target only.
    let mut contiguous = device.alloc_matrix(8, 9).unwrap();
    contiguous.view_mut().copy_from(&source).unwrap();
    let mut strided = embed(&device, &Array2::zeros((8, 9)), 6, 0);
    strided.view_mut().copy_from(&contiguous).unwrap();
    assert_eq!(extract(strided), a);
}

#[test]
fn arrays_of_any_memory_order_are_uploaded() {
    let device = device();
    let a = Array2::from_shape_fn((5, 6), |(i, j)| (10 * i + j) as i64);
    for view in [a.view(), a.t(), a.slice(s![..;2, ..;-1])] {
        assert_eq!(device.upload(&view).unwrap().download().unwrap(), view);
    }
    let row = a.row(2);
    assert_eq!(device.upload(&row).unwrap().download().unwrap(), row.to_vec());
    let column = a.column(3);
    assert_eq!(device.upload(&column).unwrap().download().unwrap(), column.to_vec());
}

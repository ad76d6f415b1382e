//! Operands so large that each launch leaves little of them in the L2 cache: few rows times a large B, and a large A
//! times few columns. Their kernels prefetch before the launch before has ended, and let the next one begin late.

use ndarray::Array2;
use rand::Rng;
use warpwright::Device;
use warpwright::half::bf16;

use crate::support::device::{is_gpu, under_test};
use crate::support::values;

/// −1, 0 and 1, so that sums of them are exact.
fn numbers(rows: usize, cols: usize, seed: u64) -> Array2<i8> {
    let mut rng = values::rng(seed);
    Array2::from_shape_simple_fn((rows, cols), || rng.random_range(-1..=1))
}

fn uploaded(device: &Device, x: &Array2<i8>) -> warpwright::Matrix<bf16> {
    let elements: Vec<bf16> = x.iter().map(|&x| bf16::from_f32(f32::from(x))).collect();
    device.upload_matrix(&elements, x.nrows(), x.ncols()).expect("memory")
}

/// By every algorithm on a GPU; by the one that is chosen on the simulator.
fn is_exact([m, n, k]: [usize; 3], [ta, tb]: [bool; 2]) {
    let device = under_test(m as u64);
    let (a, b) = (numbers(m, k, 1), numbers(k, n, 2));
    let expected = a.mapv(f32::from).dot(&b.mapv(f32::from));
    let on = |x: &Array2<i8>, transposed: bool| {
        uploaded(&device, &if transposed { x.t().as_standard_layout().into_owned() } else { x.clone() })
    };
    let (on_a, on_b) = (on(&a, ta), on(&b, tb));
    let nothing = || device.upload_matrix(&vec![f32::NAN; m * n], m, n).expect("memory");
    let gemm = || {
        let gemm = device.gemm(&on_a, &on_b);
        let gemm = if ta { gemm.transpose_a() } else { gemm };
        if tb { gemm.transpose_b() } else { gemm }
    };
    let plans = gemm().plans(&nothing()).expect("plans");
    for plan in plans.iter().take(if is_gpu() { usize::MAX } else { 1 }) {
        let mut c = nothing();
        let mut workspace = device.alloc::<f32>(plan.workspace_len()).expect("memory");
        gemm().algorithm(plan.algorithm()).workspace(&mut workspace).into(&mut c).expect("a product");
        let got = c.download().expect("C");
        assert!(got == expected, "{}: {m} × {n} × {k}", plan.algorithm());
    }
}

#[test]
fn few_rows_times_a_large_operand_are_exact() {
    // 27 MB.
    is_exact([3, 64, 210_000], [false, false]);
    if is_gpu() {
        is_exact([17, 5120, 4096], [false, false]);
        is_exact([32, 4224, 4096], [false, true]);
        is_exact([64, 8192, 2048], [false, true]);
        is_exact([1, 4096, 4104], [true, false]);
    }
}

#[test]
fn a_large_operand_times_few_columns_is_exact() {
    is_exact([64, 3, 210_000], [false, true]);
    if is_gpu() {
        is_exact([5120, 16, 4096], [true, true]);
        is_exact([4224, 32, 4096], [false, true]);
        is_exact([8192, 64, 2048], [false, false]);
    }
}

/// Each product reads what the one before has written, and is launched before that has ended.
#[test]
fn products_in_a_row_wait_for_each_other() {
    let (n, steps) = if is_gpu() { (4224, 60) } else { (192, 3) };
    let device = under_test(3);
    let stream = device.stream().expect("a stream");
    for m in [1, 17, 64] {
        let first = numbers(m, n, 5);
        // Each step rotates the columns by 7: x · P, P having a single 1 in each row and column.
        let rotation = Array2::from_shape_fn((n, n), |(row, col)| i8::from((row + 7) % n == col));
        let on_rotation = uploaded(&device, &rotation);
        let mut x = [uploaded(&device, &first), uploaded(&device, &numbers(m, n, 6))];
        for step in 0..steps {
            let [even, odd] = &mut x;
            let (from, to) = if step % 2 == 0 { (&*even, odd) } else { (&*odd, even) };
            device.gemm(from, &on_rotation).stream(&stream).into(to).expect("a product");
        }
        stream.synchronize().expect("an end");
        let got = x[steps % 2].download().expect("x");
        let expected = Array2::from_shape_fn((m, n), |(row, col)| first[[row, (col + 7 * (n - steps)) % n]]);
        assert!(got.mapv(bf16::to_f32) == expected.mapv(f32::from), "{m} rows");
    }
}

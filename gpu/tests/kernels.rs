//! Kernels on the simulator, with small integers as floats: sums are exact in any order, so results must be equal.
//! Shapes are empty, and below, at and above the edges of tiles.

mod common;

use common::{Buffer, SEEDS, noise, run};
use gpu::{
    gemm::{naive, tiled},
    lab::tutorial::vector_add,
    reduce::dynamic,
    transpose::padded,
};
use simt::{
    Kernel,
    global::{MatMut, MatRef},
};

fn small_integers(n: usize) -> Vec<f32> {
    noise(n).into_iter().map(|x| (x % 17) as f32 - 8.0).collect()
}

type Gemm = Kernel<(MatRef<'static, f32>, MatRef<'static, f32>, MatMut<'static, f32>)>;

fn check_gemm(kernel: Gemm, grid: fn(u32, u32) -> [u32; 3], shared_bytes: usize) {
    for (m, n, k) in [(1, 1, 1), (32, 32, 32), (33, 31, 65), (7, 70, 3), (64, 5, 0), (40, 64, 96)] {
        let (a, b) = (small_integers((m * k) as usize), small_integers((k * n) as usize));
        let mut expected = vec![0.0; (m * n) as usize];
        for (row, out) in expected.chunks_mut(n as usize).enumerate() {
            for (col, out) in out.iter_mut().enumerate() {
                *out = (0..k as usize).map(|i| a[row * k as usize + i] * b[i * n as usize + col]).sum();
            }
        }
        for seed in SEEDS {
            let (a, b) = (Buffer::input(0, &a), Buffer::input(1, &b));
            let c = Buffer::output(2, expected.len());
            let args = (a.mat(m, k), b.mat(k, n), c.mat_mut(m, n));
            let block = kernel.info().block.expect("a fixed block");
            run(kernel.info(), seed, grid(m, n), block, shared_bytes, &[&a, &b, &c], || kernel.entry()(args));
            assert_eq!(c.read(), expected, "{} of {m} × {n} × {k}, seed {seed}", kernel.info().name);
        }
    }
}

#[test]
fn matmul_naive_multiplies() {
    check_gemm(naive::matmul_naive, naive::grid, 0);
}

#[test]
fn matmul_tiled_multiplies() {
    check_gemm(tiled::matmul_tiled, tiled::grid, size_of::<tiled::Tiles>());
}

#[test]
fn matmul_tiled_rounds_each_multiply_add_once() {
    let n = 40;
    let values = |n| noise(n).into_iter().map(|x| x as f32 * 1e-9 - 2.0).collect::<Vec<_>>();
    let (left, right) = (values(n * n), values(n * n));
    let (a, b, c) = (Buffer::input(0, &left), Buffer::input(1, &right), Buffer::<f32>::output(2, n * n));
    let args = (a.mat(40, 40), b.mat(40, 40), c.mat_mut(40, 40));
    let (kernel, shared) = (tiled::matmul_tiled, size_of::<tiled::Tiles>());
    run(kernel.info(), 0, tiled::grid(40, 40), [32, 32, 1], shared, &[&a, &b, &c], || kernel.entry()(args));
    for (at, got) in c.read().into_iter().enumerate() {
        let (row, col) = (at / n, at % n);
        let exact = (0..n).fold(0.0_f32, |sum, k| left[row * n + k].mul_add(right[k * n + col], sum));
        assert_eq!(got.to_bits(), exact.to_bits(), "row {row}, column {col}");
    }
}

#[test]
fn vector_add_adds() {
    for n in [1, 63, 64, 100, 1003] {
        let (x, y) = (small_integers(n), small_integers(2 * n).split_off(n));
        let expected: Vec<_> = x.iter().zip(&y).map(|(x, y)| x + y).collect();
        for seed in SEEDS {
            let (x, y, z) = (Buffer::input(0, &x), Buffer::input(1, &y), Buffer::output(2, n));
            let args = (x.vec(), y.vec(), z.vec_mut());
            let kernel = vector_add::vector_add;
            run(kernel.info(), seed, vector_add::grid(n), [vector_add::BLOCK, 1, 1], 0, &[&x, &y, &z], || {
                kernel.entry()(args);
            });
            assert_eq!(z.read(), expected, "{n} elements, seed {seed}");
        }
    }
}

#[test]
fn reduce_sum_dynamic_sums_per_block() {
    let kernel = dynamic::reduce_sum_dynamic;
    // Powers of two as the kernel is meant, and others, for which it is right, too.
    for (n, threads) in [(0, 64), (1, 32), (512, 512), (1000, 128), (777, 96), (50, 1), (300, 7)] {
        let x = small_integers(n);
        let grid = dynamic::grid(n, threads);
        let mut expected: Vec<f32> = x.chunks(threads as usize).map(|section| section.iter().sum()).collect();
        expected.resize(grid[0] as usize, 0.0);
        for seed in SEEDS {
            let (x, sums) = (Buffer::input(0, &x), Buffer::output(1, expected.len()));
            let args = (x.vec(), sums.vec_mut());
            run(kernel.info(), seed, grid, [threads, 1, 1], 4 * threads as usize, &[&x, &sums], || {
                kernel.entry()(args);
            });
            assert_eq!(sums.read(), expected, "{n} elements, {threads} threads, seed {seed}");
        }
    }
}

#[test]
fn transpose_smem_pad_transposes_every_shape() {
    let kernels = [padded::transpose_smem_pad1, padded::transpose_smem_pad2];
    let shared = [size_of::<padded::Tile<33>>(), size_of::<padded::Tile<34>>()];
    for (kernel, shared) in kernels.into_iter().zip(shared) {
        for (rows, cols) in [(1, 1), (16, 32), (32, 16), (17, 33), (5, 100), (100, 5)] {
            let a = small_integers((rows * cols) as usize);
            let at = |row: u32, col: u32| a[(row * cols + col) as usize];
            let expected: Vec<_> = (0..cols).flat_map(|col| (0..rows).map(move |row| at(row, col))).collect();
            for seed in SEEDS {
                let (a, b) = (Buffer::input(0, &a), Buffer::output(1, expected.len()));
                let args = (a.mat(rows, cols), b.mat_mut(cols, rows));
                let block = kernel.info().block.expect("a fixed block");
                run(kernel.info(), seed, padded::grid(rows, cols), block, shared, &[&a, &b], || kernel.entry()(args));
                assert_eq!(b.read(), expected, "{} of {rows} × {cols}, seed {seed}", kernel.info().name);
            }
        }
    }
}

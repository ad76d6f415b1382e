//! `ldmatrix` and `mma.sync`: matrices in a warp's registers, and products on tensor cores.

use half::{bf16, f16};
use simt::{
    element::Element,
    matrix::{Kind, Tf32, ldmatrix, mma_sync, mma_sync_f64},
    prelude::*,
    warp::lane_id,
};

/// Each lane writes the words that it loads of the four row-major 8 × 8 matrices in `x`: by loads of 1, 2 and 4
/// matrices, then by transposed loads of 1, 2 and 4. Lane l's 14 words are `y[14 · l …]`. One warp.
#[kernel(block = (32), barriers = 1)]
pub fn matrix_loads(#[shared] rows: &SharedTile<u16, 32, 8>, x: VecRef<u16>, y: VecMut<u32>) {
    let lane = lane_id();
    for col in 0..8 {
        rows.set(lane, col, x.get_or((8 * lane + col) as usize, 0));
    }
    sync_threads();
    let row = rows.slot::<8>(lane, 0);
    let [a] = ldmatrix::<1, false, _, 8>(row);
    let [b, c] = ldmatrix::<2, false, _, 8>(row);
    let [d, e, f, g] = ldmatrix::<4, false, _, 8>(row);
    let [h] = ldmatrix::<1, true, _, 8>(row);
    let [i, j] = ldmatrix::<2, true, _, 8>(row);
    let [k, l, m, n] = ldmatrix::<4, true, _, 8>(row);
    for (at, word) in [a, b, c, d, e, f, g, h, i, j, k, l, m, n].into_iter().enumerate() {
        y.set_within(14 * lane as usize + at, word);
    }
}

/// A (16 × k) and B (k × 8), of 32 bytes along k; B also transposed.
#[repr(C)]
#[derive(Shared)]
pub struct Operands<T: Element, const K: usize> {
    a: SharedTile<T, 16, K>,
    b: SharedTile<T, K, 8>,
    columns_of_b: SharedTile<T, 8, K>,
}

/// Loads the operands.
#[cfg_attr(optimised, inline(always))]
fn fetch<T: Element, const K: usize>(operands: &Operands<T, K>, a: MatRef<T>, b: MatRef<T>, zero: T) {
    let lane = lane_id();
    for k in 0..K as u32 {
        if lane < 16 {
            operands.a.set(lane, k, a.get_or(lane, k, zero));
        } else if lane < 24 {
            operands.b.set(k, lane - 16, b.get_or(k, lane - 16, zero));
        } else {
            operands.columns_of_b.set(lane - 24, k, b.get_or(k, lane - 24, zero));
        }
    }
    sync_threads();
}

/// Writes C.
#[cfg_attr(optimised, inline(always))]
fn write(sums: [f32; 4], c: MatMut<f32>) {
    let (row, col) = (lane_id() / 4, lane_id() % 4 * 2);
    c.set_within(row, col, sums[0]);
    c.set_within(row, col + 1, sums[1]);
    c.set_within(row + 8, col, sums[2]);
    c.set_within(row + 8, col + 1, sums[3]);
}

/// Twice the product: with B's fragment once from its transpose, once by a transposed load.
#[cfg_attr(optimised, inline(always))]
fn twice<K: Kind, T: Element>(operands: &Operands<T, 16>) -> [f32; 4] {
    let lane = lane_id();
    let a = ldmatrix::<4, false, _, 8>(operands.a.slot::<8>(lane % 16, lane / 16 * 8));
    let b = ldmatrix::<2, false, _, 8>(operands.columns_of_b.slot::<8>(lane % 8, lane / 8 % 2 * 8));
    let transposed = ldmatrix::<2, true, _, 8>(operands.b.slot::<8>(lane % 16, 0));
    mma_sync::<K>(a, transposed, mma_sync::<K>(a, b, [0.0; 4]))
}

/// `c` (16 × 8) becomes twice the product of `a` (16 × 16) and `b` (16 × 8). One warp.
#[kernel(block = (32), barriers = 1)]
pub fn mma_sync_f16(#[shared] operands: &Operands<f16, 16>, a: MatRef<f16>, b: MatRef<f16>, c: MatMut<f32>) {
    fetch(operands, a, b, f16::ZERO);
    write(twice::<f16, f16>(operands), c);
}

/// `c` (16 × 8) becomes twice the product of `a` (16 × 16) and `b` (16 × 8). One warp.
#[kernel(block = (32), barriers = 1)]
pub fn mma_sync_bf16(#[shared] operands: &Operands<bf16, 16>, a: MatRef<bf16>, b: MatRef<bf16>, c: MatMut<f32>) {
    fetch(operands, a, b, bf16::ZERO);
    write(twice::<bf16, bf16>(operands), c);
}

/// `c` (16 × 8) becomes the product of `a` (16 × 8) and `b` (8 × 8). One warp. `ldmatrix` treats an 8 × 4
/// matrix of 32-bit numbers as an 8 × 8 matrix of 16-bit numbers.
#[kernel(block = (32), barriers = 1)]
pub fn mma_sync_tf32(#[shared] operands: &Operands<f32, 8>, a: MatRef<f32>, b: MatRef<f32>, c: MatMut<f32>) {
    fetch(operands, a, b, 0.0);
    let lane = lane_id();
    let a = ldmatrix::<4, false, _, 4>(operands.a.slot::<4>(lane % 16, lane / 16 * 4));
    let b = ldmatrix::<2, false, _, 4>(operands.columns_of_b.slot::<4>(lane % 8, lane / 8 % 2 * 4));
    write(mma_sync::<Tf32>(a, b, [0.0; 4]), c);
}

/// `c` (16 × 8) becomes the product of `a` (16 × 16) and `b` (16 × 8) plus `c`. One warp.
#[kernel(block = (32), barriers = 0)]
pub fn mma_sync_doubles(a: MatRef<f64>, b: MatRef<f64>, c: MatMut<f64>) {
    let (group, t) = (lane_id() / 4, lane_id() % 4);
    let from_a = core::array::from_fn(|i| {
        let (half, step) = (i as u32 % 2, i as u32 / 2);
        a.get_or(group + 8 * half, 4 * step + t, 0.0)
    });
    let from_b = core::array::from_fn(|i| b.get_or(4 * i as u32 + t, group, 0.0));
    let old = core::array::from_fn(|i| c.get_or(group + 8 * (i as u32 / 2), 2 * t + i as u32 % 2, 0.0));
    let sums = mma_sync_f64(from_a, from_b, old);
    c.set_within(group, 2 * t, sums[0]);
    c.set_within(group, 2 * t + 1, sums[1]);
    c.set_within(group + 8, 2 * t, sums[2]);
    c.set_within(group + 8, 2 * t + 1, sums[3]);
}

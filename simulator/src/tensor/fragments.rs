//! The layout of matrices in a warp's registers: which lane holds which number.

use super::numbers::{TensorKind, add_product};

/// A lane's registers for a warp-wide operation of the tensor cores.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fragments {
    /// The row of a matrix in shared memory whose address this lane gives; null for one outside its container.
    pub(crate) row: *mut u8,
    pub(crate) a: [u32; 4],
    pub(crate) b: [u32; 2],
    pub(crate) c: [f32; 4],
}

/// Row and column in A (16 × depth) of the first number in register `register` of lane `lane`; the others follow it in
/// its row.
fn a_position(kind: TensorKind, lane: usize, register: usize) -> (usize, usize) {
    let parts = 4 / kind.bytes();
    (lane / 4 + register % 2 * 8, parts * (lane % 4) + register / 2 * (kind.depth() / 2))
}

/// Writes the numbers in a lane's registers to their places in A.
pub(crate) fn store_a(kind: TensorKind, lane: usize, registers: [u32; 4], a: &mut [f64]) {
    let (depth, parts) = (kind.depth(), 4 / kind.bytes());
    for (register, numbers) in kind.numbers_in(registers).chunks_exact(parts).take(4).enumerate() {
        let (row, col) = a_position(kind, lane, register);
        a[row * depth + col..][..parts].copy_from_slice(numbers);
    }
}

/// Row and column in a warp's 16 rows of D of value `i` of lane `lane`.
pub(crate) fn d_position(lane: usize, i: usize) -> (usize, usize) {
    (lane / 4 + i / 2 % 2 * 8, i / 4 * 8 + 2 * (lane % 4) + i % 2)
}

/// Most numbers along k of one instruction.
const MAX_DEPTH: usize = 32;

/// `mma.sync`: each lane's C becomes its part of A · B + C.
pub(crate) fn multiply_fragments(kind: TensorKind, lanes: &mut [Fragments; 32]) {
    let (depth, parts) = (kind.depth(), 4 / kind.bytes());
    let (mut a, mut b, mut d) = ([0.0; 16 * MAX_DEPTH], [0.0; MAX_DEPTH * 8], [0.0; 16 * 8]);
    let (a, b) = (&mut a[..16 * depth], &mut b[..depth * 8]);
    for (lane, fragments) in lanes.iter().enumerate() {
        store_a(kind, lane, fragments.a, a);
        // B is as the upper 8 rows of A, transposed.
        let [first, second] = fragments.b;
        let numbers = kind.numbers_in([first, second, 0, 0]);
        for (register, numbers) in numbers.chunks_exact(parts).take(2).enumerate() {
            let (col, row) = a_position(kind, lane, 2 * register);
            for (part, &number) in numbers.iter().enumerate() {
                b[(row + part) * 8 + col] = number;
            }
        }
        for (i, &value) in fragments.c.iter().enumerate() {
            let (row, col) = d_position(lane, i);
            d[row * 8 + col] = value;
        }
    }
    add_product(kind, &mut d, (a, b), (depth, 8), false);
    for (lane, fragments) in lanes.iter_mut().enumerate() {
        for (i, value) in fragments.c.iter_mut().enumerate() {
            let (row, col) = d_position(lane, i);
            *value = d[row * 8 + col];
        }
    }
}

/// A lane's registers for a product of `f64`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DoubleFragments {
    pub(crate) a: [f64; 8],
    pub(crate) b: [f64; 4],
    pub(crate) c: [f64; 4],
}

/// `mma.sync` of `f64`, 16 × 16 by 16 × 8: each lane's C becomes its part of A · B + C, each sum by fused multiply-adds
/// in the order of k.
pub(crate) fn multiply_doubles(lanes: &mut [DoubleFragments; 32]) {
    let (mut a, mut b) = ([[0.0; 16]; 16], [[0.0; 8]; 16]);
    for (lane, fragments) in lanes.iter().enumerate() {
        let (row, k) = (lane / 4, lane % 4);
        for i in 0..4 {
            a[row][4 * i + k] = fragments.a[2 * i];
            a[row + 8][4 * i + k] = fragments.a[2 * i + 1];
            b[4 * i + k][row] = fragments.b[i];
        }
    }
    for (lane, fragments) in lanes.iter_mut().enumerate() {
        for (i, sum) in fragments.c.iter_mut().enumerate() {
            let (row, col) = d_position(lane, i);
            *sum = a[row].iter().zip(&b).fold(*sum, |sum, (&a, b)| a.mul_add(b[col], sum));
        }
    }
}

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

/// Row and column in A (16 × depth) of the number that lane `lane` holds in part `part` of register `register`.
pub(crate) fn a_position(kind: TensorKind, lane: usize, register: usize, part: usize) -> (usize, usize) {
    let parts = 4 / kind.bytes();
    (lane / 4 + register % 2 * 8, parts * (lane % 4) + part + register / 2 * (kind.depth() / 2))
}

/// Row and column in a warp's 16 rows of D of value `i` of lane `lane`.
pub(crate) fn d_position(lane: usize, i: usize) -> (usize, usize) {
    (lane / 4 + i / 2 % 2 * 8, i / 4 * 8 + 2 * (lane % 4) + i % 2)
}

/// Part `part` of a register: the whole of it for 32-bit numbers, else a half or a quarter.
pub(crate) fn part_of_row(kind: TensorKind, register: u32, part: usize) -> f64 {
    let bits = 8 * kind.bytes() as u32;
    kind.number(register >> (bits * part as u32) & (u32::MAX >> (32 - bits)))
}

/// `mma.sync`: each lane's C becomes its part of A · B + C.
pub(crate) fn multiply_fragments(kind: TensorKind, lanes: &mut [Fragments; 32]) {
    let depth = kind.depth();
    let (mut a, mut b, mut d) = (vec![0.0; 16 * depth], vec![0.0; depth * 8], [0.0; 16 * 8]);
    for (lane, fragments) in lanes.iter().enumerate() {
        for part in 0..4 / kind.bytes() {
            for (register, &bits) in fragments.a.iter().enumerate() {
                let (row, col) = a_position(kind, lane, register, part);
                a[row * depth + col] = part_of_row(kind, bits, part);
            }
            // B is as the upper 8 rows of A, transposed.
            for (register, &bits) in fragments.b.iter().enumerate() {
                let (col, row) = a_position(kind, lane, 2 * register, part);
                b[row * 8 + col] = part_of_row(kind, bits, part);
            }
        }
        for (i, &value) in fragments.c.iter().enumerate() {
            let (row, col) = d_position(lane, i);
            d[row * 8 + col] = value;
        }
    }
    add_product(kind, &mut d, (&a, &b), (depth, 8), false);
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

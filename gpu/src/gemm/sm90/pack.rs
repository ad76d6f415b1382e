//! Copies of A and B for TMA, which reads only rows that start at multiples of 16 bytes: both in one launch.
//!
//! ```text
//!   from   … a₀ a₁ a₂ … a₅₅₄ b₀ b₁ b₂ …            rows start at any element
//!   to     │ a₀ … a₇ │ a₈ … a₁₅ │ … │ a₅₅₂ a₅₅₃ a₅₅₄ 0 0 0 0 0 │ · │ b₀ … b₇ │ …
//! ```
//!
//! A thread reads the elements of a vector of 16 bytes one by one, whatever their alignment, and writes the vector. The
//! lanes of a warp read neighbouring vectors, so every sector of a row is requested from memory once, and 4, 8 or 16
//! times from the L1 cache. Launches overlap with their predecessor and with the GEMM kernel after them.

use simt::KernelArg;
use simt::element::{Element, Vec4};
use simt::grid::{dependency_wait, launch_dependents};
use simt::prelude::*;

use crate::unroll::unroll;

/// Threads of a block.
pub const THREADS: u32 = 256;

/// An operand and its copy.
#[repr(C)]
#[derive(Clone, Copy, KernelArg)]
pub struct PackArgs<'a, T: Element> {
    /// The matrices, the first at element 0.
    pub from: VecRef<'a, T>,
    /// The copies, in vectors of 16 bytes.
    pub to: VecMut<'a, Vec4<u32>>,
    /// Elements of `from` from row to row, and from matrix to matrix.
    pub from_strides: [u64; 2],
    /// Vectors of `to` from row to row, and from matrix to matrix.
    pub to_strides: [u64; 2],
    /// Rows of a matrix, and elements of a row.
    pub shape: [u32; 2],
    /// Vectors that the rows of all matrices have together; 0: nothing is copied.
    pub vectors: u32,
}

/// Blocks for so many vectors of A and of B.
pub const fn grid(vectors: [u32; 2]) -> u32 {
    vectors[0].div_ceil(THREADS).saturating_add(vectors[1].div_ceil(THREADS))
}

/// Writes vector `i` of the copy, of elements of which `LANES` make a vector.
#[cfg_attr(optimised, inline(always))]
fn pack_vector<T: Element + Into<u32>, const LANES: usize>(x: PackArgs<'_, T>, zero: T, i: u32) {
    let [rows, cols] = x.shape.map(|extent| extent.max(1));
    let across = cols.div_ceil(LANES as u32);
    let (line, vector) = (i / across, i % across);
    let (matrix, row) = (line / rows, line % rows);
    let offset = |strides: [u64; 2]| matrix as u64 * strides[1] + row as u64 * strides[0];
    let col = vector * LANES as u32;
    let (from, len) = (offset(x.from_strides) + col as u64, (cols - col).min(LANES as u32));
    let Some(elements) = x.from.part(from as usize, len as usize) else { return };
    let mut words = [0; 4];
    unroll!(for k in 0..16 {
        if k < LANES {
            let element: u32 = elements.get_or(k, zero).into();
            words[k * 4 / LANES] |= element << (k * 4 % LANES * (32 / LANES));
        }
    });
    x.to.set_within((offset(x.to_strides) + vector as u64) as usize, Vec4::new(words));
}

#[cfg_attr(optimised, inline(always))]
fn pack<T: Element + Into<u32>, const LANES: usize>(a: PackArgs<'_, T>, b: PackArgs<'_, T>, zero: T) {
    launch_dependents();
    dependency_wait();
    let blocks_of_a = a.vectors.div_ceil(THREADS);
    let is_a = block_idx_x() < blocks_of_a;
    let x = if is_a { a } else { b };
    let block = if is_a { block_idx_x() } else { block_idx_x() - blocks_of_a };
    let i = block * THREADS + thread_idx_x();
    if i < x.vectors {
        pack_vector::<T, LANES>(x, zero, i);
    }
}

/// Copies of A and B, of 1-byte elements.
#[kernel(pdl, block = (THREADS), registers = 40, barriers = 0, global_load_bytes = 1, global_store_bytes = 16)]
pub fn gemm_sm90_pack_b8(a: PackArgs<u8>, b: PackArgs<u8>) {
    pack::<u8, 16>(a, b, 0);
}

/// [`gemm_sm90_pack_b8`] for 2-byte elements.
#[kernel(pdl, block = (THREADS), registers = 40, barriers = 0, global_load_bytes = 2, global_store_bytes = 16)]
pub fn gemm_sm90_pack_b16(a: PackArgs<u16>, b: PackArgs<u16>) {
    pack::<u16, 8>(a, b, 0);
}

/// [`gemm_sm90_pack_b8`] for 4-byte elements.
#[kernel(pdl, block = (THREADS), registers = 40, barriers = 0, global_load_bytes = 4, global_store_bytes = 16)]
pub fn gemm_sm90_pack_b32(a: PackArgs<u32>, b: PackArgs<u32>) {
    pack::<u32, 4>(a, b, 0);
}

/// The kernel of an element type.
#[cfg(not(target_arch = "nvptx64"))]
pub type Pack<T> = simt::Kernel<(PackArgs<'static, T>, PackArgs<'static, T>)>;

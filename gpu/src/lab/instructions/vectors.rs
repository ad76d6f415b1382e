//! Accesses of 1 to 16 bytes: `y` becomes a copy of `x`. A thread copies one vector; remaining elements at the end that
//! do not fill a vector are unchanged.

use simt::{
    element::{Element, Lanes, Vec4},
    prelude::*,
};

pub use half::f16;

/// Threads of a block.
pub const BLOCK: u32 = 128;

/// Blocks for n elements, `lanes` per thread.
pub const fn grid(n: usize, lanes: usize) -> [u32; 3] {
    [(n / lanes).div_ceil(BLOCK as usize) as u32, 1, 1]
}

#[cfg_attr(optimised, inline(always))]
fn copy_element<T: Element>(x: VecRef<T>, y: VecMut<T>) {
    let i = index_1d();
    if i < x.len().min(y.len()) {
        y.set(i, x.get(i));
    }
}

#[cfg_attr(optimised, inline(always))]
fn copy_vector<T: Lanes<N>, const N: usize>(x: VecRef<T>, y: VecMut<T>) {
    copy_element(x.vectors::<N>(), y.vectors_mut::<N>());
}

/// One access of 1 byte.
#[kernel(block = (BLOCK), global_load_bytes = 1, global_store_bytes = 1)]
pub fn copy_u8(x: VecRef<u8>, y: VecMut<u8>) {
    copy_element(x, y);
}

/// One access of 2 bytes.
#[kernel(block = (BLOCK), global_load_bytes = 2, global_store_bytes = 2)]
pub fn copy_f16(x: VecRef<f16>, y: VecMut<f16>) {
    copy_element(x, y);
}

/// One access of 8 bytes.
#[kernel(block = (BLOCK), global_load_bytes = 8, global_store_bytes = 8)]
pub fn copy_f64(x: VecRef<f64>, y: VecMut<f64>) {
    copy_element(x, y);
}

/// Four lanes of 1 byte.
#[kernel(block = (BLOCK), global_load_bytes = 4, global_store_bytes = 4)]
pub fn copy_u8x4(x: VecRef<u8>, y: VecMut<u8>) {
    copy_vector::<u8, 4>(x, y);
}

/// Sixteen lanes of 1 byte.
#[kernel(block = (BLOCK), global_load_bytes = 16, global_store_bytes = 16)]
pub fn copy_u8x16(x: VecRef<u8>, y: VecMut<u8>) {
    copy_vector::<u8, 16>(x, y);
}

/// Eight lanes of 2 bytes.
#[kernel(block = (BLOCK), global_load_bytes = 16, global_store_bytes = 16)]
pub fn copy_f16x8(x: VecRef<f16>, y: VecMut<f16>) {
    copy_vector::<f16, 8>(x, y);
}

/// Two lanes of 4 bytes.
#[kernel(block = (BLOCK), global_load_bytes = 8, global_store_bytes = 8)]
pub fn copy_f32x2(x: VecRef<f32>, y: VecMut<f32>) {
    copy_vector::<f32, 2>(x, y);
}

/// Four lanes of 4 bytes.
#[kernel(block = (BLOCK), global_load_bytes = 16, global_store_bytes = 16)]
pub fn copy_f32x4(x: VecRef<f32>, y: VecMut<f32>) {
    copy_vector::<f32, 4>(x, y);
}

/// Two lanes of 8 bytes.
#[kernel(block = (BLOCK), global_load_bytes = 16, global_store_bytes = 16)]
pub fn copy_f64x2(x: VecRef<f64>, y: VecMut<f64>) {
    copy_vector::<f64, 2>(x, y);
}

/// Four lanes of 4 bytes, with the cache-streaming hint (evict first).
#[kernel(block = (BLOCK), global_load_bytes = 16, global_store_bytes = 16)]
pub fn copy_f32x4_cs(x: VecRef<f32>, y: VecMut<f32>) {
    let i = 4 * index_1d();
    if i + 4 <= x.len().min(y.len()) {
        y.set_vec4_cs(i, x.get_vec4_cs(i));
    }
}

/// Each block reverses its 4·[`BLOCK`] elements of `x` into `y`, 16 bytes at a time through shared memory. Lengths are
/// multiples of that.
#[kernel(block = (BLOCK), barriers = 1, global_load_bytes = 16, global_store_bytes = 16)]
pub fn reverse_in_shared(#[shared] section: &SharedArray<f32, { 4 * BLOCK as usize }>, x: VecRef<f32>, y: VecMut<f32>) {
    let t = thread_idx_x();
    let (x, y) = (x.vectors::<4>(), y.vectors_mut::<4>());
    let first = block_idx_x() as usize * BLOCK as usize;
    section.set_vec4(4 * t, x.get_or(first + t as usize, Vec4::new([0.0; 4])));
    sync_threads();
    let mut vector = section.get_vec4(4 * (BLOCK - 1 - t));
    vector.lanes.reverse();
    y.set_within(first + t as usize, vector);
}

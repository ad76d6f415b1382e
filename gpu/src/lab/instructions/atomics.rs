//! Atomic operations of each kind, on global and on shared memory.

use simt::prelude::*;

/// Threads of a block.
pub const BLOCK: u32 = 64;

/// Each `x[i]` is applied to `out[0]` to `out[5]` by addition, minimum, maximum, and, or, exclusive or.
#[kernel(block = (BLOCK))]
pub fn atomic_tally_u32(x: VecRef<u32>, out: VecMut<u32>) {
    let i = index_1d();
    if i < x.len() && out.len() >= 6 {
        let value = x.get(i);
        out.atomic(0).fetch_add(value, Order::Relaxed, Scope::Device);
        out.atomic(1).fetch_min(value, Order::Relaxed, Scope::Device);
        out.atomic(2).fetch_max(value, Order::Relaxed, Scope::Device);
        out.atomic(3).fetch_and(value, Order::Relaxed, Scope::Device);
        out.atomic(4).fetch_or(value, Order::Relaxed, Scope::Device);
        out.atomic(5).fetch_xor(value, Order::Relaxed, Scope::Device);
    }
}

/// [`atomic_tally_u32`] with 64 bits.
#[kernel(block = (BLOCK))]
pub fn atomic_tally_u64(x: VecRef<u64>, out: VecMut<u64>) {
    let i = index_1d();
    if i < x.len() && out.len() >= 6 {
        let value = x.get(i);
        out.atomic(0).fetch_add(value, Order::Relaxed, Scope::Device);
        out.atomic(1).fetch_min(value, Order::Relaxed, Scope::Device);
        out.atomic(2).fetch_max(value, Order::Relaxed, Scope::Device);
        out.atomic(3).fetch_and(value, Order::Relaxed, Scope::Device);
        out.atomic(4).fetch_or(value, Order::Relaxed, Scope::Device);
        out.atomic(5).fetch_xor(value, Order::Relaxed, Scope::Device);
    }
}

/// Each `x[i]` is applied to `out[0]` to `out[2]` by addition, minimum, maximum.
#[kernel(block = (BLOCK))]
pub fn atomic_tally_i32(x: VecRef<i32>, out: VecMut<i32>) {
    let i = index_1d();
    if i < x.len() && out.len() >= 3 {
        let value = x.get(i);
        out.atomic(0).fetch_add(value, Order::Relaxed, Scope::Device);
        out.atomic(1).fetch_min(value, Order::Relaxed, Scope::Device);
        out.atomic(2).fetch_max(value, Order::Relaxed, Scope::Device);
    }
}

/// Each `x[i]` is applied to `out[0]` by minimum and to `out[1]` by maximum.
#[kernel(block = (BLOCK))]
pub fn atomic_bounds_i64(x: VecRef<i64>, out: VecMut<i64>) {
    let i = index_1d();
    if i < x.len() && out.len() >= 2 {
        out.atomic(0).fetch_min(x.get(i), Order::Relaxed, Scope::Device);
        out.atomic(1).fetch_max(x.get(i), Order::Relaxed, Scope::Device);
    }
}

/// Adds every `x[i]` to `out[0]`, in any order.
#[kernel(block = (BLOCK))]
pub fn atomic_sum_f32(x: VecRef<f32>, out: VecMut<f32>) {
    let i = index_1d();
    if i < x.len() && !out.is_empty() {
        out.atomic(0).fetch_add(x.get(i), Order::Relaxed, Scope::Device);
    }
}

/// Adds every `x[i]` to `out[0]`, in any order.
#[kernel(block = (BLOCK))]
pub fn atomic_sum_f64(x: VecRef<f64>, out: VecMut<f64>) {
    let i = index_1d();
    if i < x.len() && !out.is_empty() {
        out.atomic(0).fetch_add(x.get(i), Order::Relaxed, Scope::Device);
    }
}

/// Raises `out[0]`, the bits of an `f32`, to the greatest `x[i]` by a compare-exchange loop, since floats have no
/// atomic maximum. No `x[i]` is NaN.
#[kernel(block = (BLOCK))]
pub fn atomic_max_by_cas(x: VecRef<f32>, out: VecMut<u32>) {
    let i = index_1d();
    if i < x.len() && !out.is_empty() {
        let (value, cell) = (x.get(i), out.atomic(0));
        let mut found = cell.load(Order::Relaxed, Scope::Device);
        while value > f32::from_bits(found) {
            match cell.compare_exchange(found, value.to_bits(), Order::Relaxed, Scope::Device) {
                Ok(_) => break,
                Err(other) => found = other,
            }
        }
    }
}

/// Thread `i` of `seen.len()` swaps `i` + 1 into `cell[0]` and writes the previous value to `seen[i]`. Together, `seen`
/// and the final `cell[0]` are the initial value and each of 1, 2, … once.
#[kernel(block = (BLOCK))]
pub fn atomic_swap_chain(seen: VecMut<u32>, cell: VecMut<u32>) {
    let i = index_1d();
    if i < seen.len() && !cell.is_empty() {
        seen.set(i, cell.atomic(0).swap(i as u32 + 1, Order::Relaxed, Scope::Device));
    }
}

/// Bins of [`shared_histogram`]; as many as a block has threads.
pub const BINS: u32 = BLOCK;

/// Adds to `counts[b]` how many `x[i]` have `x[i]` mod [`BINS`] = `b`: each block counts in shared memory, then adds
/// its counts to the total.
#[kernel(block = (BLOCK), barriers = 2)]
pub fn shared_histogram(#[shared] bins: &SharedArray<u32, { BINS as usize }>, x: VecRef<u32>, counts: VecMut<u32>) {
    let (i, t) = (index_1d(), thread_idx_x());
    bins.set(t, 0);
    sync_threads();
    if i < x.len() {
        bins.atomic(x.get(i) % BINS).fetch_add(1, Order::Relaxed, Scope::Block);
    }
    sync_threads();
    if (t as usize) < counts.len() {
        counts.atomic(t as usize).fetch_add(bins.get(t), Order::Relaxed, Scope::Device);
    }
}

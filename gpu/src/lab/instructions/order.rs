//! Memory order: atomic operations and fences that make writes of one thread visible to another.

use simt::{prelude::*, sync::fence, warp::WARP_SIZE};

/// Threads of a block: two warps.
pub const BLOCK: u32 = 2 * WARP_SIZE;

/// The orders of [`orders_and_scopes`], its inner loop.
pub const ORDERS: [Order; 4] = [Order::Relaxed, Order::Acquire, Order::Release, Order::AcqRel];
/// The scopes of [`orders_and_scopes`], its outer loop.
pub const SCOPES: [Scope; 3] = [Scope::Block, Scope::Device, Scope::System];

/// Counters of [`orders_and_scopes`]: one for each order and scope.
pub const CELLS: usize = ORDERS.len() * SCOPES.len();

/// Every thread of one block adds 1 to counter `scope · 4 + order` of a shared array with each order and scope, then
/// adds the shared counter to that of `out` in the same way. Last, thread 0 loads and stores each counter of `out` with
/// its order and scope, so that each ends at its initial value + [`BLOCK`]².
#[kernel(block = (BLOCK))]
pub fn orders_and_scopes(#[shared] cells: &SharedArray<u32, CELLS>, out: VecMut<u32>) {
    let t = thread_idx_x();
    if t < CELLS as u32 {
        cells.set(t, 0);
    }
    sync_threads();
    macro_rules! each {
        ($(($order:ident, $scope:ident, $cell:literal))*) => {{
            $(cells.atomic($cell).fetch_add(1, Order::$order, Scope::$scope);)*
            sync_threads();
            if out.len() >= CELLS {
                $({
                    let count = cells.atomic($cell).load(Order::$order, Scope::$scope);
                    out.atomic($cell).fetch_add(count, Order::$order, Scope::$scope);
                })*
            }
            sync_threads();
            if t == 0 && out.len() >= CELLS {
                $({
                    let total = out.atomic($cell).load(Order::$order, Scope::$scope);
                    out.atomic($cell).store(total, Order::$order, Scope::$scope);
                    cells.atomic($cell).store(total, Order::$order, Scope::$scope);
                })*
            }
        }};
    }
    each! {
        (Relaxed, Block, 0) (Acquire, Block, 1) (Release, Block, 2) (AcqRel, Block, 3)
        (Relaxed, Device, 4) (Acquire, Device, 5) (Release, Device, 6) (AcqRel, Device, 7)
        (Relaxed, System, 8) (Acquire, System, 9) (Release, System, 10) (AcqRel, System, 11)
    }
}

/// Shared memory of [`shared_flag`].
#[repr(C)]
#[derive(Shared)]
pub struct Message {
    words: SharedArray<u32, { WARP_SIZE as usize }>,
    flag: SharedArray<u32, 1>,
}

/// `out[lane] = x[lane] + 1`: warp 0 writes the words, its first lane sets the flag with release order, and warp 1
/// waits for it with acquire order.
#[kernel(block = (BLOCK))]
pub fn shared_flag(#[shared] message: &Message, x: VecRef<u32>, out: VecMut<u32>) {
    let t = thread_idx_x();
    let lane = t % WARP_SIZE;
    if t == 0 {
        message.flag.set(0, 0);
    }
    sync_threads();
    let flag = message.flag.atomic(0);
    if t < WARP_SIZE {
        message.words.set(lane, x.get_or(lane as usize, 0) + 1);
        simt::warp::sync_warp(simt::warp::FULL_MASK);
        if lane == 0 {
            flag.store(1, Order::Release, Scope::Block);
        }
    } else {
        while flag.load(Order::Acquire, Scope::Block) == 0 {
            nanosleep(100);
        }
        out.set_within(lane as usize, message.words.get(lane));
    }
}

/// Block `b` writes `partial[b]` = 3·`b`; the last block to increment `ticket[0]` (initially 0) writes their sum to
/// `out[0]`. The ticket is relaxed; fences before and after it order the other accesses.
#[kernel(block = (BLOCK))]
pub fn last_block_by_fence(partial: VecMut<u32>, ticket: VecMut<u32>, out: VecMut<u32>) {
    let block = block_idx_x();
    if thread_idx_x() == 0 && (block as usize) < partial.len() && !ticket.is_empty() {
        partial.set(block as usize, 3 * block);
        fence(Scope::Device);
        let done = ticket.atomic(0).fetch_add(1, Order::Relaxed, Scope::Device);
        fence(Scope::Device);
        if done + 1 == grid_dim_x() {
            out.set_within(0, total(partial));
        }
    }
}

/// [`last_block_by_fence`] with an acquire-release ticket instead of fences.
#[kernel(block = (BLOCK))]
pub fn last_block_by_order(partial: VecMut<u32>, ticket: VecMut<u32>, out: VecMut<u32>) {
    let block = block_idx_x();
    if thread_idx_x() == 0 && (block as usize) < partial.len() && !ticket.is_empty() {
        partial.set(block as usize, 3 * block);
        let done = ticket.atomic(0).fetch_add(1, Order::AcqRel, Scope::Device);
        if done + 1 == grid_dim_x() {
            out.set_within(0, total(partial));
        }
    }
}

#[cfg_attr(optimised, inline(always))]
fn total(partial: VecMut<u32>) -> u32 {
    let mut sum = 0;
    for b in 0..partial.len() {
        sum += partial.get(b);
    }
    sum
}

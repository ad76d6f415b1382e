//! TMA loads and stores between global and shared memory, proxy fences, and the asynchronous reads of a matrix product.

use super::Place;
use super::memory::is_inside;
use crate::block::{AsyncProxy, Block, TmaRequest};
use crate::mutation::{self, Change, mutated};
use crate::overflow::{enter, enter_at};
use std::panic::Location;

/// `cp.async.bulk.tensor` to shared memory, for elements of `element` bytes: the box at `at`, innermost dimension
/// first, to the `bytes` bytes at `dst`, completing on `bar`. Null addresses mean indices out of bounds, which were
/// reported.
///
/// # Safety
/// `dst` and `bar` are null or in the block's shared memory; a map that [`crate::TensorMap::encode`] made is of memory
/// that the launch binds under its tag.
#[track_caller]
pub unsafe fn tensor_load(dst: *mut u8, bytes: usize, words: &[u64; 16], element: usize, at: &[i32], bar: *mut u64) {
    let (lane, address, location) = (enter(), dst as usize, Location::caller());
    let Block { state, async_proxy, .. } = Block::of(&lane);
    async_proxy.issue_load(state, &lane, &TmaRequest { words, element, at, address, bytes, location }, bar as usize);
}

/// `cp.async.bulk.tensor` to global memory, as [`tensor_load`] in the other direction.
///
/// # Safety
/// As there; the launch may write the memory.
#[track_caller]
pub unsafe fn tensor_store(words: &[u64; 16], element: usize, at: &[i32], src: *const u8, bytes: usize) {
    let (lane, address, location) = (enter(), src as usize, Location::caller());
    let Block { state, async_proxy, .. } = Block::of(&lane);
    async_proxy.issue_store(state, &lane, &TmaRequest { words, element, at, address, bytes, location });
}

/// `cp.async.bulk.commit_group`.
#[track_caller]
pub fn tensor_store_commit() {
    if mutated(Location::caller(), Change::Remove) {
        return;
    }
    let lane = enter();
    AsyncProxy::commit_stores(&Block::of(&lane).state, &lane);
}

/// `cp.async.bulk.wait_group`; with `only_read`, `.read`.
#[track_caller]
pub fn tensor_store_wait(pending: u32, only_read: bool) {
    let (lane, location) = (enter(), Location::caller());
    if mutated(location, Change::Remove) {
        return;
    }
    let pending = mutation::pending(location, pending);
    let only_read = only_read || mutated(location, Change::Read);
    let Block { state, async_proxy, .. } = Block::of(&lane);
    async_proxy.wait_stores(state, &lane, pending, only_read);
}

/// `fence.proxy.async.shared::cta`: this thread's ordinary accesses come before those of TMA and the tensor cores, for
/// threads that are ordered behind this fence.
#[track_caller]
pub fn fence_proxy_async() {
    if mutated(Location::caller(), Change::Remove) {
        return;
    }
    let lane = enter();
    Block::of(&lane).state.threads.count_step();
    let Block { state, async_proxy, .. } = Block::of(&lane);
    async_proxy.fence_proxy(state, &lane);
}

/// An asynchronous read of `bytes` bytes of shared memory at `address` by an operation of this lane, from now until
/// [`async_shared_read_done`] with the token that this gives. Reports bytes out of bounds or never written, writes that
/// are not ordered before, ordinary writes without a proxy fence, and writes before the read has ended.
pub fn async_shared_read(address: *const u8, bytes: usize, location: &'static Location<'static>) -> u64 {
    let lane = enter_at(location);
    let inside = is_inside(Place::Shared, address as usize, bytes, false, location);
    if inside { Block::of(&lane).state.begin_async_read(&lane, address as usize, bytes, location) } else { 0 }
}

/// This lane has waited for the operation: the read is over.
pub fn async_shared_read_done(token: u64) {
    let lane = enter();
    Block::of(&lane).state.end_async_read(&lane, token);
}

/// Row, and 16-byte vector of the row, in the box that TMA wrote to `address` of shared memory, without the swizzle.
/// None where no load wrote, where something was written since, and at `Level::Off`.
#[must_use]
pub fn written_by_box(address: *const u8) -> Option<(u32, u32)> {
    let lane = enter();
    Block::of(&lane).state.shadow().and_then(|shadow| shadow.vector_of_box(address as usize))
}

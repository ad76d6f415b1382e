//! Asynchronous copies from global to shared memory (`cp.async`): they land when they are waited for, not before.

use super::Place;
use super::memory::is_inside;
use crate::async_queues::{Copy, Source};
use crate::block::Block;
use crate::counters::Access;
use crate::lane::Lane;
use crate::mutation::{self, Change, mutated};
use crate::overflow::enter;
use crate::shadow::{AccessKind, Accessed};
use std::panic::Location;

/// Starts an asynchronous copy of 4, 8 or 16 bytes from an address of the memory bound as a tag; of zeros, if there is
/// no source.
///
/// # Safety
/// The source lies in the memory bound as its tag, the destination in the block's shared memory.
///
/// # Panics
/// If `bytes` is none of 4, 8, 16.
#[track_caller]
pub unsafe fn cp_async(shared: *mut u8, source: Option<(*const u8, u32)>, bytes: u32) {
    assert!(matches!(bytes, 4 | 8 | 16), "cp.async copies 4, 8 or 16 bytes, not {bytes}");
    let (lane, location, size) = (enter(), Location::caller(), bytes as usize);
    let state = &Block::of(&lane).state;
    let accessed = |address, kind| Accessed { address, size, kind, location };
    let from = source.map(|(global, tag)| (accessed(global as usize, AccessKind::Read), tag));
    let to = accessed(shared as usize, AccessKind::AsyncWrite);
    for accessed in from.map(|(from, _)| from).into_iter().chain([to]) {
        if !accessed.is_aligned() {
            accessed.report_misaligned(&state.threads, &lane);
        }
    }
    let mut watched = None;
    if lane.watched() {
        let inside =
            |(from, tag): (Accessed, u32)| is_inside(Place::Global { tag }, from.address, size, false, location);
        if !from.is_none_or(inside) || !is_inside(Place::Shared, to.address, size, true, location) {
            return;
        }
        if let Some((from, tag)) = from {
            state.check_global(&lane, tag, from, Access::AsyncCopy);
            let writes = state.source_writes(tag, from.address, size);
            watched = writes.map(|writes| Source { tag, address: from.address, writes });
        }
        state.begin_async_write(&lane, to);
    }
    let mut copy = Copy { to: shared, bytes: [0; 16], len: size, source: watched, site: location };
    if let Some((global, _)) = source {
        for (i, byte) in copy.bytes.iter_mut().take(size).enumerate() {
            // SAFETY: the source lies in the buffer; others access it at most by relaxed atomics.
            *byte = unsafe { std::sync::atomic::AtomicU8::from_ptr(global.add(i).cast_mut()) }
                .load(std::sync::atomic::Ordering::Relaxed);
        }
    }
    lane.extension().copies.open.push(copy);
}

/// Puts this thread's open copies into a group.
#[track_caller]
pub fn cp_async_commit() {
    let lane = enter();
    Block::of(&lane).state.threads.count_step();
    if mutated(Location::caller(), Change::Remove) {
        return;
    }
    let copies = &mut lane.extension().copies;
    let group = std::mem::take(&mut copies.open);
    copies.groups.push_back(group);
}

/// Waits until at most `pending` of this thread's groups are under way.
#[track_caller]
pub fn cp_async_wait_group(pending: u32) {
    let (lane, location) = (enter(), Location::caller());
    Block::of(&lane).state.threads.count_step();
    if mutated(location, Change::Remove) {
        return;
    }
    let pending = mutation::pending(location, pending);
    land_groups(&lane, pending);
}

/// All groups but the last `pending` land.
fn land_groups(lane: &Lane, pending: u32) {
    loop {
        let groups = &mut lane.extension().copies.groups;
        if groups.len() <= pending as usize {
            return;
        }
        let group = groups.pop_front().unwrap_or_default();
        land(lane, group);
    }
}

/// Waits for all of this thread's copies, committed or not.
#[track_caller]
pub fn cp_async_wait_all() {
    let lane = enter();
    Block::of(&lane).state.threads.count_step();
    if mutated(Location::caller(), Change::Remove) {
        return;
    }
    land_groups(&lane, 0);
    let open = std::mem::take(&mut lane.extension().copies.open);
    land(&lane, open);
}

fn land(lane: &Lane, group: Vec<Copy>) {
    for copy in group {
        // SAFETY: the destination was checked when the copy was issued (or promised by its caller), and the block's
        // shared memory lives on; only this OS thread touches it.
        unsafe { copy.to.copy_from_nonoverlapping(copy.bytes.as_ptr(), copy.len) };
        if lane.watched() {
            let state = &Block::of(lane).state;
            if let Some(source) = copy.source {
                state.check_source(lane, source, copy.len, copy.site);
            }
            state.end_async_write(lane, copy.to as usize, copy.len, copy.site);
        }
    }
}

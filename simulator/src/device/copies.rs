//! Asynchronous copies from global to shared memory (`cp.async`): they land when they are waited for, not before.

use super::Place;
use super::memory::is_inside;
use crate::async_queues::{Copy, Source};
use crate::block::Block;
use crate::counters::Access;
use crate::lane::Lane;
use crate::overflow::enter;
use crate::shadow::{AccessKind, Accessed};
use std::panic::Location;

/// Starts an asynchronous copy of 4, 8 or 16 bytes.
///
/// # Safety
/// The source lies in the memory bound as `tag`, the destination in the block's shared memory.
///
/// # Panics
/// If `bytes` is none of 4, 8, 16.
#[track_caller]
pub unsafe fn cp_async(shared: *mut u8, global: *const u8, tag: u32, bytes: u32) {
    assert!(matches!(bytes, 4 | 8 | 16), "cp.async copies 4, 8 or 16 bytes, not {bytes}");
    let (lane, location, size) = (enter(), Location::caller(), bytes as usize);
    let state = &Block::of(&lane).state;
    let from = Accessed { address: global as usize, size, kind: AccessKind::Read, location };
    let to = Accessed { address: shared as usize, size, kind: AccessKind::AsyncWrite, location };
    for accessed in [from, to] {
        if !accessed.is_aligned() {
            accessed.report_misaligned(&state.threads, &lane);
        }
    }
    let mut source = None;
    if lane.watched() {
        if !is_inside(Place::Global { tag }, from.address, size, false, location)
            || !is_inside(Place::Shared, to.address, size, true, location)
        {
            return;
        }
        state.check_global(&lane, tag, from, Access::AsyncCopy);
        source =
            state.source_writes(tag, from.address, size).map(|writes| Source { tag, address: from.address, writes });
        state.begin_async_write(&lane, to);
    }
    let mut copy = Copy { to: shared, bytes: [0; 16], len: size, source, site: location };
    for (i, byte) in copy.bytes.iter_mut().take(size).enumerate() {
        // SAFETY: the source lies in the buffer; others access it at most by relaxed atomics.
        *byte = unsafe { std::sync::atomic::AtomicU8::from_ptr(global.add(i).cast_mut()) }
            .load(std::sync::atomic::Ordering::Relaxed);
    }
    lane.extension().copies.open.push(copy);
}

/// Puts this thread's open copies into a group.
#[track_caller]
pub fn cp_async_commit() {
    let lane = enter();
    Block::of(&lane).state.threads.count_step();
    let copies = &mut lane.extension().copies;
    let group = std::mem::take(&mut copies.open);
    copies.groups.push_back(group);
}

/// Waits until at most `pending` of this thread's groups are under way.
#[track_caller]
pub fn cp_async_wait_group(pending: u32) {
    let lane = enter();
    Block::of(&lane).state.threads.count_step();
    loop {
        let groups = &mut lane.extension().copies.groups;
        if groups.len() <= pending as usize {
            return;
        }
        let group = groups.pop_front().unwrap_or_default();
        land(&lane, group);
    }
}

/// Waits for all of this thread's copies, committed or not.
#[track_caller]
pub fn cp_async_wait_all() {
    let lane = enter();
    cp_async_wait_group(0);
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

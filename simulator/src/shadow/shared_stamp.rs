//! Stamps of accesses to shared memory: clock, thread, place and flags in 8 bytes.

use super::locations::{DISTANCE_BITS, at_distance, distance};
use crate::happens_before::Stamp;
use crate::lane::Lane;
use crate::threads::{MAX_CLOCK, Threads};
use std::panic::Location;

pub(super) const CLOCK_SHIFT: u32 = 42;
pub(super) const THREAD_SHIFT: u32 = 32;
pub(super) const FLAGS: u64 = 3;
const CLOCK_MASK: u32 = (1 << (63 - CLOCK_SHIFT)) - 1;

/// Write stamp: by an atomic operation.
pub(super) const ATOMIC: u64 = 1;
/// Write stamp, beside [`ATOMIC`]: the plain write before it is kept in `SharedShadow::plain`.
pub(super) const OVER: u64 = 2;
/// Write stamp: an asynchronous copy is under way. The topmost bit, so that such a stamp is above those of every clock
/// and one comparison finds that it is unordered.
pub(super) const ASYNC: u64 = 1 << 63;
/// Read stamp: several threads of one warp, none ordered after another; the thread is the first, the clock the latest.
pub(super) const SEVERAL_IN_WARP: u64 = 1;
/// Read stamp: the same for threads of several warps.
pub(super) const SEVERAL: u64 = 2;
/// Read stamp: by an atomic load. Only plain writes race with it.
pub(super) const LOAD: u64 = 3;
/// Read stamp: the last write came before everything that the block did since its last barrier, so that later reads, up
/// to the next barrier, need not check it. The topmost bit, so that one comparison finds such a stamp.
pub(super) const SETTLED: u64 = 1 << 63;

const _: () = assert!(MAX_CLOCK <= CLOCK_MASK);
const _: () = assert!(THREAD_SHIFT == DISTANCE_BITS + 2 && CLOCK_SHIFT == THREAD_SHIFT + 10);

/// The bits that tell the accesses of one thread from those of others.
pub(super) const THREAD_BITS: u64 = (1 << CLOCK_SHIFT) - (1 << THREAD_SHIFT);

#[inline(always)]
pub(super) fn stamp(lane: &Lane, location: &'static Location<'static>, flags: u64) -> u64 {
    stamp_of(lane.linear, lane.clock(), location, flags)
}

#[inline(always)]
pub(super) fn stamp_of(thread: u16, clock: u32, location: &'static Location<'static>, flags: u64) -> u64 {
    u64::from(clock) << CLOCK_SHIFT | u64::from(thread) << THREAD_SHIFT | distance(location) << 2 | flags
}

#[inline(always)]
pub(super) fn clock(stamp: u64) -> u32 {
    (stamp >> CLOCK_SHIFT) as u32 & CLOCK_MASK
}

/// Stamps below this one are of accesses in the lane's epoch: they came before.
#[inline(always)]
pub(super) fn horizon(lane: &Lane) -> u64 {
    (u64::from(lane.epoch.get()) + 1) << CLOCK_SHIFT
}

#[inline(always)]
pub(super) fn thread(stamp: u64) -> u16 {
    (stamp >> THREAD_SHIFT) as u16 & 0x3ff
}

pub(super) fn place(stamp: u64) -> &'static Location<'static> {
    at_distance(stamp >> 2)
}

pub(super) fn stamped(threads: &Threads, stamp: u64) -> Stamp {
    let thread = thread(stamp);
    Stamp { block: threads.number(), thread, warp: threads.warp_of(thread), clock: clock(stamp) }
}

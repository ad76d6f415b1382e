//! Stamps of accesses to global memory: clock, block, thread, place and flags in 8 bytes.

use crate::happens_before::Stamp;
use crate::threads::{MAX_CLOCK, Threads};

pub(super) const CLOCK_SHIFT: u32 = 44;
pub(super) const BLOCK_SHIFT: u32 = 22;
pub(super) const THREAD_SHIFT: u32 = 12;
pub(super) const PLACE_SHIFT: u32 = 3;
pub(super) const PLACE_BITS: u32 = THREAD_SHIFT - PLACE_SHIFT;
pub(super) const FLAGS: u64 = 7;
/// Most blocks a stamp can tell apart.
pub(crate) const MAX_BLOCKS: u64 = 1 << (CLOCK_SHIFT - BLOCK_SHIFT);

const _: () = assert!(MAX_CLOCK < 1 << (64 - CLOCK_SHIFT));

/// Write stamp: by an atomic operation.
pub(super) const ATOMIC: u64 = 1;
/// Write stamp, beside [`ATOMIC`]: the plain write before it is kept in `Buffer::atomics`.
pub(super) const OVER: u64 = 2;
/// Stamp of an atomic operation: its scope is the block.
pub(super) const NARROW: u64 = 4;

pub(super) fn clock(stamp: u64) -> u32 {
    (stamp >> CLOCK_SHIFT) as u32
}
pub(super) fn thread(stamp: u64) -> u16 {
    (stamp >> THREAD_SHIFT) as u16 & 0x3ff
}
pub(super) fn block_number(stamp: u64) -> u32 {
    (stamp >> BLOCK_SHIFT) as u32 & ((1 << (CLOCK_SHIFT - BLOCK_SHIFT)) - 1)
}
pub(super) fn place(stamp: u64) -> u64 {
    stamp >> PLACE_SHIFT & ((1 << PLACE_BITS) - 1)
}

/// The bits that tell the accesses of one thread from those of others.
pub(super) const THREAD_BITS: u64 = (1 << CLOCK_SHIFT) - (1 << THREAD_SHIFT);

pub(super) fn stamped(threads: &Threads, stamp: u64) -> Stamp {
    let thread = thread(stamp);
    Stamp { block: block_number(stamp), thread, warp: threads.warp_of(thread), clock: clock(stamp) }
}

pub(super) fn name(threads: &Threads, stamp: u64) -> String {
    let who = threads.name_thread(thread(stamp));
    if block_number(stamp) == threads.number() {
        who
    } else {
        let [x, y, z] = threads.index_of(block_number(stamp));
        format!("{who} of block ({x}, {y}, {z})")
    }
}

//! Shadow of a block's shared memory: 16 bytes for each word of 4.
//!
//! A cell is a last write and the reads since, each a stamp of clock, thread and place; no write at all is what
//! "uninitialised" means. The two lie in arrays of their own: most reads need to look at the second alone, and the
//! second of a tile fits into the fastest cache. Words of 4 bytes share a cell until the first narrower access; from then
//! on each byte has its own.

use super::bulk::Bulk;
use super::locations::{DISTANCE_BITS, at_distance, distance};
use super::{Accessed, Touch, Unwritten, before, before_otherwise};
use crate::block::Block;
use crate::lane::Lane;
use crate::order::{NOBODY, Stamp};
use crate::report::Kind;
use std::collections::HashMap;
use std::panic::Location;

const CLOCK_SHIFT: u32 = 42;
const THREAD_SHIFT: u32 = 32;
pub(super) const FLAGS: u64 = 3;
/// Largest clock a stamp can hold.
pub(super) const MAX_CLOCK: u32 = (1 << (63 - CLOCK_SHIFT)) - 1;

/// Write stamp: by an atomic operation.
const ATOMIC: u64 = 1;
/// Write stamp, beside [`ATOMIC`]: the plain write before it is kept in [`SharedShadow::plain`].
const OVER: u64 = 2;
/// Write stamp: an asynchronous copy is under way. The topmost bit, so that such a stamp is above those of every clock and
/// one comparison finds out that it is in no order.
pub(super) const ASYNC: u64 = 1 << 63;
/// Read stamp: several threads of one warp, none ordered after another; the thread is the first, the clock the latest.
const SEVERAL_IN_WARP: u64 = 1;
/// Read stamp: the same for threads of several warps.
const SEVERAL: u64 = 2;
/// Read stamp: by an atomic load. Only plain writes race with it.
pub(super) const LOAD: u64 = 3;
/// Read stamp: the last write came before everything that the block did since its last barrier, so that who reads after this
/// stamp, up to the next barrier, need not look at it. The topmost bit, so that one comparison finds such a stamp.
const SETTLED: u64 = 1 << 63;

const _: () = assert!(THREAD_SHIFT == DISTANCE_BITS + 2 && CLOCK_SHIFT == THREAD_SHIFT + 10);

#[inline(always)]
fn stamp(lane: &Lane, location: &'static Location<'static>, flags: u64) -> u64 {
    stamp_of(lane.linear, lane.clock.get(), location, flags)
}

#[inline(always)]
pub(super) fn stamp_of(thread: u16, clock: u32, location: &'static Location<'static>, flags: u64) -> u64 {
    u64::from(clock) << CLOCK_SHIFT | u64::from(thread) << THREAD_SHIFT | distance(location) << 2 | flags
}

#[inline(always)]
pub(super) fn clock(stamp: u64) -> u32 {
    (stamp >> CLOCK_SHIFT) as u32 & MAX_CLOCK
}

/// The stamps below this one are of what the lane knows to have come before.
#[inline(always)]
fn horizon(lane: &Lane) -> u64 {
    (u64::from(lane.known.get()) + 1) << CLOCK_SHIFT
}

#[inline(always)]
pub(super) fn thread(stamp: u64) -> u16 {
    (stamp >> THREAD_SHIFT) as u16 & 0x3ff
}

pub(super) fn place(stamp: u64) -> &'static Location<'static> {
    at_distance(stamp >> 2)
}

/// The shadow of one resident block's shared memory.
pub(crate) struct SharedShadow {
    pub(super) writes: Vec<u64>,
    pub(super) reads: Vec<u64>,
    pub(super) base: usize,
    /// log2 of the bytes per cell: 2, or 0 once bytes are told apart.
    pub(super) shift: u32,
    /// Readers one by one, for cells with several, kept once partial barriers are in use.
    readers: HashMap<usize, Vec<(u16, u32, &'static Location<'static>)>>,
    /// The last plain write of cells that atomic operations have written since: atomics in no order with it race.
    plain: HashMap<usize, u64>,
    /// Whether readers are to be kept one by one.
    fine: bool,
    /// Whether a further reader is to be looked at closely: because of that, or because some readers were atomic loads.
    closely: bool,
    pub(crate) unwritten: Unwritten,
    /// What the copy engine and the tensor cores do there.
    pub(super) bulk: Bulk,
}

impl SharedShadow {
    pub(crate) fn new(base: usize, bytes: usize) -> Self {
        let cells = bytes.div_ceil(4);
        Self {
            writes: vec![0; cells],
            reads: vec![0; cells],
            base,
            shift: 2,
            readers: HashMap::new(),
            plain: HashMap::new(),
            fine: false,
            closely: false,
            unwritten: Unwritten::default(),
            bulk: Bulk::default(),
        }
    }

    /// For the next block.
    pub(crate) fn reset(&mut self) {
        self.writes.fill(0);
        self.reads.fill(0);
        self.readers.clear();
        self.plain.clear();
        (self.fine, self.closely) = (false, false);
        self.unwritten = Unwritten::default();
        self.bulk.reset();
    }

    /// From now on readers are kept one by one.
    pub(crate) fn be_fine(&mut self) {
        (self.fine, self.closely) = (true, true);
    }

    /// Bytes this shadow takes.
    pub(crate) fn bytes(&self) -> usize {
        (self.writes.len() + self.reads.len()) * size_of::<u64>()
    }

    /// Number of the cell of an access that has exactly one.
    #[inline(always)]
    fn only_cell(&self, accessed: Accessed) -> Option<usize> {
        (accessed.size == 1 << self.shift).then(|| (accessed.address - self.base) >> self.shift)
    }

    /// A read of one cell that leaves nothing to note, because enough others have read it since the last barrier: nearly
    /// every read. False: look closer.
    #[inline(always)]
    pub(crate) fn is_read_again(&self, lane: &Lane, accessed: Accessed, lanes_shift: u32) -> bool {
        let Some(&stamp) = self.only_cell(accessed).and_then(|index| self.reads.get(index)) else { return false };
        if stamp < SETTLED | u64::from(lane.clock.get()) << CLOCK_SHIFT || self.closely {
            return false;
        }
        let flags = stamp & FLAGS;
        flags == SEVERAL || flags == SEVERAL_IN_WARP && thread(stamp) >> lanes_shift == lane.warp
    }

    /// A further read of a cell since the last barrier, where nothing was written since. False: look closer.
    #[inline(always)]
    pub(crate) fn read_next(&mut self, lane: &Lane, accessed: Accessed, lanes_shift: u32) -> bool {
        let closely = self.closely;
        let Some(reads) = self.only_cell(accessed).and_then(|index| self.reads.get_mut(index)) else { return false };
        let stamp = *reads;
        if stamp < SETTLED | u64::from(lane.clock.get()) << CLOCK_SHIFT || closely {
            return false;
        }
        if thread(stamp) >> lanes_shift != lane.warp {
            *reads = stamp & !FLAGS | SEVERAL;
        } else if thread(stamp) != lane.linear {
            *reads = stamp | SEVERAL_IN_WARP;
        }
        true
    }

    /// The first read of a cell since the last barrier, where nothing was written since. False: look closer.
    #[inline(always)]
    pub(crate) fn read_first(&mut self, lane: &Lane, accessed: Accessed) -> bool {
        let Some(index) = self.only_cell(accessed).filter(|&index| index < self.writes.len()) else { return false };
        let horizon = horizon(lane);
        // 0, nothing written, becomes the largest number.
        if self.writes[index].wrapping_sub(1) >= horizon - 1 || self.reads[index] & !SETTLED >= horizon {
            return false;
        }
        self.reads[index] = stamp(lane, accessed.location, SETTLED);
        true
    }

    /// A write of one cell whose last write and reads are known to have come before. False: look closer.
    #[inline(always)]
    pub(crate) fn write_in_order(&mut self, lane: &Lane, accessed: Accessed) -> bool {
        let Some(index) = self.only_cell(accessed).filter(|&index| index < self.writes.len()) else { return false };
        let horizon = horizon(lane);
        if self.bulk.is_used() || self.writes[index] >= horizon || self.reads[index] & !SETTLED >= horizon {
            return false;
        }
        (self.writes[index], self.reads[index]) = (stamp(lane, accessed.location, 0), 0);
        true
    }

    /// Checks and notes one access.
    #[inline(never)]
    pub(crate) fn access(&mut self, block: &Block, lane: &Lane, accessed: Accessed) {
        let offset = accessed.address - self.base;
        if accessed.size < 1 << self.shift {
            self.refine();
        }
        if self.bulk.is_used() && accessed.touch.writes() {
            self.check_readings(block, lane, accessed);
        }
        let first = offset >> self.shift;
        if accessed.touch == Touch::BulkRead {
            for index in first..first + (accessed.size >> self.shift) {
                self.bulk_read_cell(index, block, lane, accessed);
            }
        } else if accessed.size >> self.shift == 1 {
            self.cell(first, block, lane, accessed);
        } else {
            for index in first..first + (accessed.size >> self.shift) {
                self.cell(index, block, lane, accessed);
            }
        }
    }

    #[cold]
    fn refine(&mut self) {
        for cells in [&mut self.writes, &mut self.reads] {
            *cells = cells.iter().flat_map(|&cell| [cell; 4]).collect();
        }
        self.readers = std::mem::take(&mut self.readers)
            .into_iter()
            .flat_map(|(cell, list)| (0..4).map(move |byte| (cell * 4 + byte, list.clone())))
            .collect();
        self.plain = self.plain.iter().flat_map(|(cell, &at)| (0..4).map(move |byte| (cell * 4 + byte, at))).collect();
        self.unwritten.refine(4);
        self.shift = 0;
    }

    #[inline(always)]
    fn cell(&mut self, index: usize, block: &Block, lane: &Lane, accessed: Accessed) {
        if index >= self.writes.len() {
            return;
        }
        let (write, reads) = (self.writes[index], self.reads[index]);
        let touch = accessed.touch;
        if touch == Touch::Read {
            // Reader after writer.
            if write == 0 {
                self.unwritten.hold(index, lane, accessed, block);
            } else if write & ASYNC != 0 || !before(lane, thread(write), clock(write)) {
                self.unordered_write(index, write, block, lane, accessed);
            }
            self.note_read(index, block, lane, accessed);
            return;
        }
        // Writer after writer, writer after readers.
        if write != 0 && (write & ASYNC != 0 || !before(lane, thread(write), clock(write))) {
            self.unordered_write(index, write, block, lane, accessed);
        } else if touch == Touch::BulkWrite && write != 0 {
            Self::check_fenced(write, block, lane, accessed);
        }
        if write == 0 && matches!(touch, Touch::AtomicRead | Touch::AtomicUpdate) {
            self.unwritten.hold(index, lane, accessed, block);
        }
        let mut plain = if write & OVER == 0 { None } else { self.plain.get(&index).copied() };
        if let Some(plain) = plain
            && touch.is_atomic()
            && !before(lane, thread(plain), clock(plain))
        {
            self.unordered_write(index, plain, block, lane, accessed);
        }
        if touch == Touch::AtomicRead {
            if reads == 0 || reads & FLAGS == LOAD {
                self.reads[index] = stamp(lane, accessed.location, LOAD);
                self.closely = true;
            }
            return;
        }
        let among_atomics = touch.is_atomic() && reads & FLAGS == LOAD;
        if reads != 0 && !among_atomics && (reads & FLAGS != 0 || !before(lane, thread(reads), clock(reads))) {
            self.unordered_reads(index, reads, block, lane, accessed);
        }
        if write != 0 && write & (ATOMIC | ASYNC) == 0 && clock(write) > lane.known.get() {
            plain = Some(write);
        }
        let flags = match (touch, plain) {
            (Touch::AtomicWrite | Touch::AtomicUpdate, None) => ATOMIC,
            (Touch::AtomicWrite | Touch::AtomicUpdate, Some(plain)) => {
                self.plain.insert(index, plain);
                ATOMIC | OVER
            }
            (Touch::AsyncWrite, _) => ASYNC,
            _ => 0,
        };
        let write = stamp(lane, accessed.location, flags);
        (self.writes[index], self.reads[index]) = (write, 0);
    }

    /// Notes a read, unless one of the same time is noted that says as much.
    #[inline(always)]
    pub(super) fn note_read(&mut self, index: usize, block: &Block, lane: &Lane, accessed: Accessed) {
        let (reads, now) = (self.reads[index], lane.clock.get());
        if reads == 0
            || before(lane, thread(reads), clock(reads)) && reads & FLAGS == 0
            || clock(reads) <= lane.known.get()
            || reads & FLAGS == LOAD
        {
            self.reads[index] = stamp(lane, accessed.location, 0);
        } else {
            self.several(index, reads, (lane.linear, now), block, accessed.location);
        }
    }

    /// The asynchronous copies of this lane to `address..address + size` have landed.
    pub(crate) fn land(&mut self, lane: &Lane, address: usize, size: usize, location: &'static Location<'static>) {
        let first = (address - self.base) >> self.shift;
        for index in first..first + (size >> self.shift) {
            if let Some(write) = self.writes.get_mut(index)
                && *write & ASYNC != 0
                && thread(*write) == lane.linear
            {
                *write = stamp(lane, location, 0);
            }
        }
    }

    /// A further reader that is not ordered after the noted ones.
    #[cold]
    pub(super) fn several(
        &mut self,
        index: usize,
        reads: u64,
        (reader, now): (u16, u32),
        block: &Block,
        location: &'static Location<'static>,
    ) {
        let same_warp = block.warp_of(thread(reads)) == block.warp_of(reader);
        let flags = if same_warp && reads & FLAGS != SEVERAL { SEVERAL_IN_WARP } else { SEVERAL };
        if self.fine {
            let list = self.readers.entry(index).or_default();
            if reads & FLAGS == 0 {
                list.clear();
                list.push((thread(reads), clock(reads), place(reads)));
            }
            // A list that was not begun with the first of several readers stays away: its absence says "unknown".
            if list.is_empty() {
                self.readers.remove(&index);
            } else if let Some(own) = list.iter_mut().find(|(thread, ..)| *thread == reader) {
                *own = (reader, now, location);
            } else {
                list.push((reader, now, location));
            }
        }
        if clock(reads) < now || reads & FLAGS != flags {
            let latest = u64::from(clock(reads).max(now));
            let rest = reads & (SETTLED | ((1 << CLOCK_SHIFT) - 1)) & !FLAGS;
            self.reads[index] = latest << CLOCK_SHIFT | rest | flags;
        }
    }

    #[cold]
    #[inline(never)]
    pub(super) fn unordered_write(&mut self, index: usize, write: u64, block: &Block, lane: &Lane, accessed: Accessed) {
        let (writer, at) = (thread(write), place(write));
        let what = accessed.touch.verb();
        let copying = write & ASYNC != 0;
        if accessed.touch.is_bulk() || block.is_engine(writer) {
            self.unordered_bulk(index, write, block, lane, accessed);
            return;
        }
        let issued_before =
            || before(lane, writer, clock(write)) || before_otherwise(block, lane, Self::stamped(block, write));
        if copying && issued_before() {
            block.fault(lane, Kind::AsyncNotWaited, accessed.location, Some(at), || {
                let whose = if writer == lane.linear { "this thread".to_owned() } else { block.name_thread(writer) };
                let offset = block.name_shared(accessed.address);
                format!("{what} of {offset} while the copy that {whose} issued there is under way")
            });
            return;
        }
        if write & ATOMIC != 0 && accessed.touch.is_atomic()
            || !copying && before_otherwise(block, lane, Self::stamped(block, write))
        {
            return;
        }
        self.unwritten.race(index);
        block.fault(lane, Kind::Race, accessed.location, Some(at), || {
            let how = match write & ATOMIC {
                _ if copying => "asynchronous copy",
                0 => "write",
                _ => "atomic write",
            };
            let offset = block.name_shared(accessed.address);
            format!("{what} of {offset} has no order with the {how} by {}", block.name_thread(writer))
        });
    }

    #[cold]
    #[inline(never)]
    fn unordered_reads(&mut self, index: usize, reads: u64, block: &Block, lane: &Lane, accessed: Accessed) {
        let (first, latest) = (thread(reads), clock(reads));
        if latest <= lane.known.get() {
            return;
        }
        let culprit = match reads & FLAGS {
            0 | LOAD => (!before_otherwise(block, lane, Self::stamped(block, reads))).then(|| (first, place(reads))),
            SEVERAL_IN_WARP if block.warp_of(first) == lane.warp && latest <= lane.known_warp.get() => None,
            _ if self.fine => self.readers.get(&index).and_then(|list| {
                let late = |&&(thread, clock, _): &&(u16, u32, &'static Location<'static>)| {
                    let stamp = Stamp { block: block.number(), thread, warp: block.warp_of(thread), clock };
                    !before(lane, thread, clock) && !before_otherwise(block, lane, stamp)
                };
                list.iter().find(late).map(|&(thread, _, at)| (thread, at))
            }),
            _ => {
                // Scalars alone: every reader has at most the latest clock; whoever is covered at that clock is covered.
                let whole = Stamp { clock: latest, ..Self::stamped(block, reads) };
                let covered = before_otherwise(block, lane, Stamp { thread: NOBODY, warp: NOBODY, ..whole });
                (!covered).then(|| (first, place(reads)))
            }
        };
        self.readers.remove(&index);
        let Some((reader, at)) = culprit else { return };
        self.unwritten.race(index);
        let bulk = accessed.touch.is_bulk() || self.bulk.is_reading_at(at);
        let kind = if bulk { Kind::AsyncRace } else { Kind::Race };
        block.fault(lane, kind, accessed.location, Some(at), || {
            let (what, offset) = (accessed.touch.verb(), block.name_shared(accessed.address));
            let (how, who) = match reads & FLAGS {
                0 => ("read", block.name_thread(reader)),
                LOAD => ("atomic read", block.name_thread(reader)),
                _ if reader == lane.linear => ("read", "other threads".to_owned()),
                _ => ("read", format!("{} and others", block.name_thread(reader))),
            };
            format!("{what} of {offset} has no order with the {how} by {who}")
        });
    }

    pub(super) fn stamped(block: &Block, stamp: u64) -> Stamp {
        let thread = thread(stamp);
        Stamp { block: block.number(), thread, warp: block.warp_of(thread), clock: clock(stamp) }
    }
}

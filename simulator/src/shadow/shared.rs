//! Shadow of a block's shared memory: 20 bytes for each word of 4.
//!
//! A cell is a last write and the reads since, each a stamp of clock, thread and place; "uninitialised" is a cell
//! without a write. Writes and reads are two arrays, and the marks of [`quick`] a third: most checks of a read need
//! only that, which for a tile fits into the first-level cache. The 4 bytes of a word share a cell until the first
//! narrower access; from then on there is a cell for each 2 bytes, or for each byte.

use super::access::{AccessKind, Accessed};
use super::atomic_sizes::AtomicSizes;
use super::bulk::Bulk;
use super::listed::Listed;
use super::ordered::{Reader, after_several};
use super::quick;
use super::shared_readers::ReaderLists;
use super::shared_stamp::{
    ASYNC, ATOMIC, CLOCK_SHIFT, FLAGS, LOAD, OVER, SETTLED, SEVERAL, SEVERAL_IN_WARP, THREAD_BITS, clock, horizon,
    place, stamp, stamp_of, stamped, thread,
};
use super::unwritten::Unwritten;
use crate::lane::Lane;
use crate::report::{Finding, Kind, MIXED_SIZES, Site};
use crate::threads::{Threads, is_before};
use std::cell::Cell;
use std::collections::HashMap;
use std::ops::Range;
use std::panic::Location;

/// The cell of an offset, of `1 << shift` bytes. Of a misaligned offset the lower bits become the topmost ones.
#[inline(always)]
fn rotated(offset: usize, shift: u32) -> usize {
    offset.rotate_right(shift)
}

/// Reads since the lane's last barrier, without a write since, have stamps from this one on.
#[inline(always)]
fn now(lane: &Lane) -> u64 {
    SETTLED | u64::from(lane.clock()) << CLOCK_SHIFT
}

/// Whether there is a write, and it came before what the lane does now: its stamp is below [`horizon`].
#[inline(always)]
fn is_written_before(write: u64, horizon: u64) -> bool {
    // 0, nothing written, becomes the largest number.
    write.wrapping_sub(1) < horizon - 1
}

/// Whether the reads, if any, came before what the lane does now.
#[inline(always)]
fn is_read_before(reads: u64, horizon: u64) -> bool {
    reads & !SETTLED < horizon
}

/// The shadow of one resident block's shared memory.
pub(crate) struct SharedShadow {
    pub(super) writes: Vec<u64>,
    pub(super) reads: Vec<u64>,
    /// Marks for [`quick`], by word, and one more.
    marks: Vec<Cell<u32>>,
    pub(super) base: usize,
    /// log2 of the bytes per cell: 2, or less after a narrower access.
    pub(super) shift: u32,
    /// The readers one by one where there are several, once clocks are kept per thread.
    pub(super) readers: ReaderLists,
    /// The last plain write of cells that atomic operations have written since: atomics that are not ordered behind it
    /// race with it.
    plain: HashMap<usize, u64>,
    /// Atomic operations that the last write of their cell does not stand for, as for global memory: updates,
    /// with [`ATOMIC`] alone, and loads, with [`LOAD`].
    pub(super) atomics: Listed,
    sizes: AtomicSizes,
    /// Whether readers are recorded one by one.
    pub(super) per_thread_clocks: bool,
    /// The size of accesses whose further readers may skip the full check: that of a cell. 0 if none may, because
    /// readers are recorded one by one, or because some were atomic loads.
    quick_size: usize,
    /// log2 of the threads per warp.
    warp_shift: u32,
    pub(crate) unwritten: Unwritten,
    /// Accesses of TMA and the tensor cores.
    pub(super) bulk: Bulk,
    /// Whether nothing has been recorded yet.
    is_new: bool,
}

impl SharedShadow {
    pub(crate) fn new(base: usize, bytes: usize, warp_shift: u32) -> Self {
        let cells = bytes.div_ceil(4);
        Self {
            writes: vec![0; cells],
            reads: vec![0; cells],
            marks: vec![Cell::new(0); cells + 1],
            base,
            shift: 2,
            readers: ReaderLists::default(),
            plain: HashMap::new(),
            atomics: Listed::new(THREAD_BITS | FLAGS),
            sizes: AtomicSizes::new(THREAD_BITS | FLAGS),
            per_thread_clocks: false,
            quick_size: 4,
            warp_shift,
            unwritten: Unwritten::default(),
            bulk: Bulk::default(),
            is_new: true,
        }
    }

    /// For the next block.
    pub(crate) fn reset(&mut self) {
        if std::mem::take(&mut self.is_new) {
            return;
        }
        self.writes.fill(0);
        self.reads.fill(0);
        self.marks.iter().for_each(|mark| mark.set(0));
        self.readers.clear();
        self.plain.clear();
        self.atomics.clear();
        self.sizes.clear();
        self.per_thread_clocks = false;
        self.set_quick_size(1 << self.shift);
        self.unwritten = Unwritten::default();
        self.bulk.reset();
    }

    /// From now on readers are recorded one by one.
    pub(crate) fn enable_per_thread_clocks(&mut self) {
        self.per_thread_clocks = true;
        self.readers.enable(self.reads.len());
        self.set_quick_size(0);
    }

    fn set_quick_size(&mut self, size: usize) {
        self.quick_size = size;
        quick::update(self);
    }

    /// Whether further readers of a word may skip the full check.
    pub(super) fn is_quick(&self) -> bool {
        self.quick_size == 4
    }

    /// Where the mark for [`quick`] of a word at address 0 would be: that at another address of shared memory is as
    /// many bytes further on. They stay there until [`quick::update`].
    pub(super) fn marks(&self) -> *const u8 {
        self.marks.as_ptr().cast::<u8>().wrapping_sub(self.base)
    }

    /// Records the reads of a cell.
    #[inline(always)]
    fn set_read(&mut self, index: usize, reads: u64) {
        self.reads[index] = reads;
        if self.shift == 2 {
            self.marks[index].set(self.mark(reads));
        }
    }

    /// Records the reads of cells that have the same.
    #[inline(always)]
    pub(super) fn set_reads(&mut self, cells: Range<usize>, reads: u64) {
        self.reads[cells.clone()].fill(reads);
        if self.shift == 2 {
            let mark = self.mark(reads);
            self.marks[cells].iter().for_each(|cell| cell.set(mark));
        }
    }

    /// The mark of a word with these reads.
    #[inline(always)]
    fn mark(&self, reads: u64) -> u32 {
        // Of an atomic load the flags are both.
        match reads & FLAGS {
            _ if reads < SETTLED => 0,
            SEVERAL => quick::mark(clock(reads), None),
            SEVERAL_IN_WARP => quick::mark(clock(reads), Some(self.warp_of(reads))),
            _ => 0,
        }
    }

    /// Bytes of this shadow.
    pub(crate) fn bytes(&self) -> usize {
        (self.writes.len() + self.reads.len()) * size_of::<u64>() + self.marks.len() * size_of::<u32>()
    }

    /// Number of the cell of an access that has exactly one; a misaligned access has none, and a number beyond all.
    #[inline(always)]
    fn only_cell(&self, accessed: Accessed) -> Option<usize> {
        (accessed.size == 1 << self.shift).then(|| self.cell_at(accessed.address))
    }

    /// The cells of an aligned access to at least one.
    #[inline(always)]
    fn whole_cells(&self, accessed: Accessed) -> Option<Range<usize>> {
        let (offset, size) = (accessed.address.checked_sub(self.base)?, accessed.size);
        let cells = offset >> self.shift..(offset + size) >> self.shift;
        (accessed.is_aligned() && size >= 1 << self.shift && cells.end <= self.writes.len()).then_some(cells)
    }

    /// Number of the cell at an address. Of a misaligned address the lower bits become the topmost ones.
    #[inline(always)]
    fn cell_at(&self, address: usize) -> usize {
        rotated(address.wrapping_sub(self.base), self.shift)
    }

    /// Checks a read of one cell that needs no record, because enough others have read it since the last barrier:
    /// nearly every read. False: it needs the full check.
    #[inline(always)]
    pub(crate) fn is_read_again(&self, lane: &Lane, accessed: Accessed) -> bool {
        let stamp = match self.reads.get(self.cell_at(accessed.address)) {
            Some(&stamp) if accessed.size == self.quick_size => stamp,
            _ => return false,
        };
        if stamp < now(lane) {
            return false;
        }
        // No reader was an atomic load, whose flags are both.
        stamp & SEVERAL != 0 || stamp & SEVERAL_IN_WARP != 0 && self.is_of_warp(lane, stamp)
    }

    /// The warp of a stamp's thread.
    #[inline(always)]
    fn warp_of(&self, stamp: u64) -> u16 {
        thread(stamp) >> self.warp_shift
    }

    /// Whether a stamp is of the lane's warp.
    #[inline(always)]
    fn is_of_warp(&self, lane: &Lane, stamp: u64) -> bool {
        self.warp_of(stamp) == lane.warp
    }

    /// Checks a read of a word that is one of the first since the last barrier. False: it needs the full check.
    #[inline(always)]
    pub(crate) fn read_word(&mut self, lane: &Lane, address: usize, location: &'static Location<'static>) -> bool {
        let index = rotated(address.wrapping_sub(self.base), 2);
        let (true, Some(&reads), Some(&write)) = (self.is_quick(), self.reads.get(index), self.writes.get(index))
        else {
            return false;
        };
        if reads >= now(lane) {
            self.note_next(index, lane);
        } else if is_written_before(write, horizon(lane)) && is_read_before(reads, horizon(lane)) {
            self.set_read(index, stamp(lane, location, SETTLED));
        } else {
            return false;
        }
        true
    }

    /// Records a further read of a cell since the last barrier, without a write since.
    #[inline(always)]
    fn note_next(&mut self, index: usize, lane: &Lane) {
        let reads = self.reads[index];
        if !self.is_of_warp(lane, reads) {
            if reads & SEVERAL == 0 {
                self.set_read(index, reads & !FLAGS | SEVERAL);
            }
        } else if thread(reads) != lane.linear && reads & FLAGS == 0 {
            self.set_read(index, reads | SEVERAL_IN_WARP);
        }
    }

    /// Checks a further read of cells since the last barrier, without a write since. False: it needs the full check.
    #[inline(always)]
    pub(crate) fn read_next(&mut self, lane: &Lane, accessed: Accessed) -> bool {
        let (Some(cells), now) = (self.whole_cells(accessed), now(lane)) else { return false };
        if self.quick_size == 0 || self.reads[cells.clone()].iter().any(|&reads| reads < now) {
            return false;
        }
        cells.for_each(|index| self.note_next(index, lane));
        true
    }

    /// Checks the first read of cells since the last barrier, without a write since. False: it needs the full check.
    #[inline(always)]
    pub(crate) fn read_first(&mut self, lane: &Lane, accessed: Accessed) -> bool {
        let (Some(cells), horizon) = (self.whole_cells(accessed), horizon(lane)) else { return false };
        if !self.writes[cells.clone()].iter().all(|&write| is_written_before(write, horizon))
            || !self.reads[cells.clone()].iter().all(|&reads| is_read_before(reads, horizon))
        {
            return false;
        }
        self.set_reads(cells, stamp(lane, accessed.location, SETTLED));
        true
    }

    /// Checks a write of cells whose last writes and reads are in the lane's epoch. False: it needs the full check.
    #[inline(always)]
    pub(crate) fn write_all_in_order(&mut self, lane: &Lane, accessed: Accessed) -> bool {
        let (Some(cells), horizon) = (self.whole_cells(accessed), horizon(lane)) else { return false };
        if self.bulk.is_used()
            || self.writes[cells.clone()].iter().any(|&write| write >= horizon)
            || !self.reads[cells.clone()].iter().all(|&reads| is_read_before(reads, horizon))
        {
            return false;
        }
        self.writes[cells.clone()].fill(stamp(lane, accessed.location, 0));
        self.set_reads(cells, 0);
        true
    }

    /// Checks a write of one cell whose last write and reads are in the lane's epoch. False: it needs the full check.
    #[inline(always)]
    pub(crate) fn write_in_order(&mut self, lane: &Lane, accessed: Accessed) -> bool {
        let Some(index) = self.only_cell(accessed).filter(|&index| index < self.writes.len()) else { return false };
        let horizon = horizon(lane);
        if self.bulk.is_used() || self.writes[index] >= horizon || !is_read_before(self.reads[index], horizon) {
            return false;
        }
        self.writes[index] = stamp(lane, accessed.location, 0);
        self.set_read(index, 0);
        true
    }

    /// Checks and records one access.
    #[inline(never)]
    pub(crate) fn access(&mut self, threads: &Threads, lane: &Lane, accessed: Accessed) {
        let offset = accessed.address - self.base;
        if accessed.size < 1 << self.shift {
            self.refine(accessed.size);
        }
        if self.bulk.is_used() && accessed.kind.writes() {
            self.check_readings(threads, lane, accessed);
        }
        if accessed.kind.is_atomic() {
            let Self { writes, atomics, sizes, .. } = self;
            sizes.see(accessed.size, || {
                let last = writes.iter().copied().enumerate().filter(|(_, write)| write & ATOMIC != 0);
                atomics.all().chain(last.map(|(index, write)| (index, write & !OVER)))
            });
        }
        let cells = offset >> self.shift..(offset >> self.shift) + (accessed.size >> self.shift);
        if accessed.kind.is_atomic() {
            cells.for_each(|cell| self.cell(cell, threads, lane, accessed));
        } else {
            self.access_cells(cells, threads, lane, accessed);
        }
    }

    /// From now on there is a cell for each `size` bytes, 1 or 2.
    #[cold]
    fn refine(&mut self, size: usize) {
        let parts = (1 << self.shift) / size;
        for cells in [&mut self.writes, &mut self.reads] {
            *cells = cells.iter().flat_map(|&cell| std::iter::repeat_n(cell, parts)).collect();
        }
        self.readers.refine(parts);
        let plain = self.plain.iter().flat_map(|(cell, &at)| (0..parts).map(move |part| (cell * parts + part, at)));
        self.plain = plain.collect();
        self.atomics.refine(parts);
        self.sizes.refine(parts);
        self.unwritten.refine(parts);
        self.shift = size.ilog2();
        self.set_quick_size(self.quick_size.min(size));
    }

    #[inline(never)]
    pub(super) fn cell(&mut self, index: usize, threads: &Threads, lane: &Lane, accessed: Accessed) {
        if index >= self.writes.len() {
            return;
        }
        let (write, reads) = (self.writes[index], self.reads[index]);
        let kind = accessed.kind;
        if kind == AccessKind::Read {
            // Reader after writer.
            if write == 0 {
                self.unwritten.hold(index, lane, accessed, threads);
            } else if write & ASYNC != 0 || !is_before(lane, thread(write), clock(write)) {
                self.unordered_write(index, write, threads, lane, accessed);
            }
            if write & ATOMIC != 0 && clock(write) > lane.epoch.get() {
                self.check_atomics(index, threads, lane, accessed);
            }
            self.note_reads(index..index + 1, threads, Reader::new(lane, accessed.location));
            return;
        }
        // Writer after writer, writer after readers.
        if write != 0 && (write & ASYNC != 0 || !is_before(lane, thread(write), clock(write))) {
            self.unordered_write(index, write, threads, lane, accessed);
        } else if kind == AccessKind::BulkWrite && write != 0 {
            Self::check_fenced(write, threads, lane, accessed);
        }
        if write == 0 && matches!(kind, AccessKind::AtomicRead | AccessKind::AtomicUpdate) {
            self.unwritten.hold(index, lane, accessed, threads);
        }
        let mut plain = if write & OVER == 0 { None } else { self.plain.get(&index).copied() };
        if let Some(plain) = plain
            && kind.is_atomic()
            && !is_before(lane, thread(plain), clock(plain))
        {
            self.unordered_write(index, plain, threads, lane, accessed);
        }
        if kind.is_atomic() && self.sizes.are_mixed() {
            self.check_sizes(index, threads, lane, accessed);
        }
        if kind == AccessKind::AtomicRead {
            let stamp = stamp(lane, accessed.location, LOAD);
            self.atomics.note(index, stamp);
            if reads == 0 || reads & FLAGS == LOAD || clock(reads) <= lane.epoch.get() {
                self.set_read(index, stamp);
            }
            self.set_quick_size(0);
            return;
        }
        if kind == AccessKind::BulkWrite && reads != 0 && reads & FLAGS != LOAD {
            self.check_settled(index, threads, lane, accessed);
        }
        if reads != 0 && reads & FLAGS != LOAD && (reads & FLAGS != 0 || !is_before(lane, thread(reads), clock(reads)))
        {
            self.unordered_reads(index, reads, threads, lane, accessed);
        }
        if write != 0 && write & (ATOMIC | ASYNC) == 0 && clock(write) > lane.epoch.get() {
            plain = Some(write);
        }
        if !self.atomics.is_empty() && !kind.is_atomic() {
            self.check_atomics(index, threads, lane, accessed);
            // What is not ordered behind the listed operations is in no order with this write.
            self.atomics.forget(index);
            self.sizes.forget(index);
        }
        if kind.is_atomic() && write & ATOMIC != 0 && !is_before(lane, thread(write), clock(write)) {
            self.note_update(index, write, threads, lane);
        }
        let flags = match (kind, plain) {
            (AccessKind::AtomicWrite | AccessKind::AtomicUpdate, None) => ATOMIC,
            (AccessKind::AtomicWrite | AccessKind::AtomicUpdate, Some(plain)) => {
                self.plain.insert(index, plain);
                ATOMIC | OVER
            }
            (AccessKind::AsyncWrite, _) => ASYNC,
            _ => 0,
        };
        let write = stamp(lane, accessed.location, flags);
        self.writes[index] = write;
        self.set_read(index, 0);
    }

    /// The `cp.async` copies of this lane to `address..address + size` have landed.
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

    /// Records a reader that is not ordered behind the recorded ones.
    #[inline(never)]
    pub(super) fn several(&mut self, index: usize, reads: u64, threads: &Threads, reader: Reader) {
        if self.per_thread_clocks {
            let own = stamp_of(reader.thread, reader.clock, reader.location, 0);
            let list = self.readers.list(index);
            if reads & FLAGS == 0 {
                list.clear();
                list.push(reads & !SETTLED);
            }
            // No list that lacks the first of several readers: an empty one means "unknown".
            if let Some(other) = list.iter_mut().find(|other| **other & THREAD_BITS == own & THREAD_BITS) {
                *other = own;
            } else if !list.is_empty() {
                list.push(own);
            }
        }
        self.set_read(index, after_several(reads, threads, reader));
    }

    #[cold]
    #[inline(never)]
    pub(super) fn unordered_write(
        &mut self,
        index: usize,
        write: u64,
        threads: &Threads,
        lane: &Lane,
        accessed: Accessed,
    ) {
        let (writer, at) = (thread(write), place(write));
        let what = accessed.kind.verb();
        let copying = write & ASYNC != 0;
        if accessed.kind.is_bulk() || threads.is_async_proxy(writer) {
            self.unordered_bulk(index, write, threads, lane, accessed);
            return;
        }
        let issued_before = || threads.has_acquired(lane, writer, clock(write));
        if copying && issued_before() {
            threads.fault(lane, Kind::AsyncNotWaited, accessed.location, Some(at), || {
                let whose = if writer == lane.linear { "this thread".to_owned() } else { threads.name_thread(writer) };
                let offset = threads.name_shared(accessed.address);
                format!("{what} of {offset} while the copy that {whose} issued there is under way")
            });
            return;
        }
        if write & ATOMIC != 0 && accessed.kind.is_atomic()
            || !copying && threads.is_ordered(lane, stamped(threads, write))
        {
            return;
        }
        self.unwritten.race(index);
        threads.fault(lane, Kind::Race, accessed.location, Some(at), || {
            let how = match write & ATOMIC {
                _ if copying => "asynchronous copy",
                0 => "write",
                _ => "atomic write",
            };
            let offset = threads.name_shared(accessed.address);
            format!("{what} of {offset} has no order with the {how} by {}", threads.name_thread(writer))
        });
    }

    /// Lists the last update of a cell, unless the one that follows stands for it.
    #[cold]
    fn note_update(&mut self, index: usize, write: u64, threads: &Threads, lane: &Lane) {
        if !threads.is_ordered(lane, stamped(threads, write)) {
            self.atomics.note(index, write & !OVER);
        }
    }

    /// Checks an atomic operation against those of another size on its cell, one of the two a write.
    #[cold]
    #[inline(never)]
    fn check_sizes(&mut self, index: usize, threads: &Threads, lane: &Lane, accessed: Accessed) {
        let flags = if accessed.kind.writes() { ATOMIC } else { LOAD };
        let others = self.sizes.note(index, accessed.size, stamp(lane, accessed.location, flags));
        let weak = |&other: &u64| {
            (flags == ATOMIC || other & FLAGS == ATOMIC) && !threads.has_acquired(lane, thread(other), clock(other))
        };
        let Some(other) = others.iter().copied().find(weak) else { return };
        self.unwritten.race(index);
        let finding = Finding {
            kind: Kind::Race,
            site: Site::new(accessed.location),
            other: Some(Site::new(place(other))),
            block: threads.index(),
            thread: lane.thread_index(),
            hint: Some(MIXED_SIZES),
        };
        threads.report(finding, || {
            let (what, offset) = (accessed.kind.verb(), threads.name_shared(accessed.address));
            let how = if other & FLAGS == ATOMIC { "atomic write" } else { "atomic read" };
            let who = threads.name_thread(thread(other));
            format!("{what} of {offset} has no order with the {how} by {who}, and the two differ in size")
        });
    }

    /// Checks a plain access against the listed atomic operations on its cell: a read against updates, a write against
    /// all.
    #[cold]
    #[inline(never)]
    fn check_atomics(&mut self, index: usize, threads: &Threads, lane: &Lane, accessed: Accessed) {
        let writes = accessed.kind.writes();
        let unordered = self.atomics.at(index).iter().copied().find(|&other| {
            (writes || other & FLAGS == ATOMIC) && !threads.has_acquired(lane, thread(other), clock(other))
        });
        let Some(other) = unordered else { return };
        self.unwritten.race(index);
        let kind = if accessed.kind.is_bulk() { Kind::AsyncRace } else { Kind::Race };
        threads.fault(lane, kind, accessed.location, Some(place(other)), || {
            let (what, offset) = (accessed.kind.verb(), threads.name_shared(accessed.address));
            let how = if other & FLAGS == ATOMIC { "atomic write" } else { "atomic read" };
            format!("{what} of {offset} has no order with the {how} by {}", threads.name_thread(thread(other)))
        });
    }

    #[cold]
    #[inline(never)]
    fn unordered_reads(&mut self, index: usize, reads: u64, threads: &Threads, lane: &Lane, accessed: Accessed) {
        let (first, latest) = (thread(reads), clock(reads));
        if latest <= lane.epoch.get() {
            return;
        }
        let unordered = match reads & FLAGS {
            0 => (!threads.is_ordered(lane, stamped(threads, reads))).then(|| (first, place(reads))),
            SEVERAL_IN_WARP if threads.warp_of(first) == lane.warp && latest <= lane.warp_epoch.get() => None,
            _ if self.per_thread_clocks => {
                let late = |&&read: &&u64| !threads.has_acquired(lane, thread(read), clock(read));
                self.readers.of(index).iter().find(late).map(|&read| (thread(read), place(read)))
            }
            _ => {
                // With scalar clocks alone, every reader has at most the latest clock: if that is ordered, all are.
                let covered = threads.are_ordered(lane, threads.number(), None, latest);
                (!covered).then(|| (first, place(reads)))
            }
        };
        self.readers.forget(index);
        let Some((reader, at)) = unordered else { return };
        self.unwritten.race(index);
        let bulk = accessed.kind.is_bulk() || self.bulk.is_reading_at(at);
        let kind = if bulk { Kind::AsyncRace } else { Kind::Race };
        threads.fault(lane, kind, accessed.location, Some(at), || {
            let (what, offset) = (accessed.kind.verb(), threads.name_shared(accessed.address));
            let (how, who) = match reads & FLAGS {
                0 => ("read", threads.name_thread(reader)),
                _ if reader == lane.linear => ("read", "other threads".to_owned()),
                _ => ("read", format!("{} and others", threads.name_thread(reader))),
            };
            format!("{what} of {offset} has no order with the {how} by {who}")
        });
    }
}

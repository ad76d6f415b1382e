//! Accesses that come after all that their cell records, of which nothing is to be reported: nearly all.
//!
//! What becomes of such a cell depends on its two stamps alone. So it is found out once for neighbouring cells with the
//! same stamps: those of a vector, of a box, of an operand of the tensor cores.

use super::access::{AccessKind, Accessed};
use super::shared::SharedShadow;
use super::shared_stamp::{
    ASYNC, ATOMIC, CLOCK_SHIFT, FLAGS, LOAD, SETTLED, SEVERAL, SEVERAL_IN_WARP, clock, stamp, stamp_of, thread,
};
use crate::lane::Lane;
use crate::threads::Threads;
use std::ops::Range;
use std::panic::Location;

/// What a cell records.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Stamps {
    write: u64,
    reads: u64,
}

/// What becomes of a cell.
enum After {
    Stamps(Stamps),
    /// Nothing is to be reported: one more reader is to be listed.
    Reader,
    /// There is something to report, or the stamps are not all that is recorded.
    Other,
}

/// A thread that reads, or the async proxy in its place.
#[derive(Clone, Copy)]
pub(super) struct Reader {
    pub(super) thread: u16,
    pub(super) clock: u32,
    /// What was done at this clock or before comes before the read.
    pub(super) epoch: u32,
    pub(super) location: &'static Location<'static>,
}

impl Reader {
    pub(super) fn new(lane: &Lane, location: &'static Location<'static>) -> Self {
        Self { thread: lane.linear, clock: lane.clock(), epoch: lane.epoch.get(), location }
    }
}

impl SharedShadow {
    /// Checks and records an access to cells, other than an atomic one.
    pub(super) fn access_cells(&mut self, cells: Range<usize>, threads: &Threads, lane: &Lane, accessed: Accessed) {
        let (mut start, end) = (cells.start, cells.end.min(self.writes.len()));
        while start < end {
            let before = Stamps { write: self.writes[start], reads: self.reads[start] };
            let stamps = self.writes[start..end].iter().zip(&self.reads[start..end]);
            let same = stamps.take_while(|&(&write, &reads)| before == Stamps { write, reads }).count();
            let cells = start..start + same;
            start = cells.end;
            match self.after(before, threads, lane, accessed) {
                After::Stamps(Stamps { write, reads }) => {
                    if write != before.write {
                        self.writes[cells.clone()].fill(write);
                    }
                    if reads != before.reads {
                        self.set_reads(cells, reads);
                    }
                }
                After::Reader => {
                    let reader = Reader::new(lane, accessed.location);
                    cells.for_each(|cell| self.several(cell, before.reads, threads, reader));
                }
                After::Other if accessed.kind == AccessKind::BulkRead => {
                    cells.for_each(|cell| self.bulk_read_cell(cell, threads, lane, accessed));
                }
                After::Other => cells.for_each(|cell| self.cell(cell, threads, lane, accessed)),
            }
        }
    }

    /// Records a read of cells.
    pub(super) fn note_reads(&mut self, cells: Range<usize>, threads: &Threads, reader: Reader) {
        let Range { mut start, end } = cells;
        while start < end {
            let reads = self.reads[start];
            let same = self.reads[start..end].iter().take_while(|&&other| other == reads).count();
            let cells = start..start + same;
            start = cells.end;
            match self.after_read(reads, threads, reader) {
                Some(after) if after == reads => {}
                Some(after) => self.set_reads(cells, after),
                None => cells.for_each(|cell| self.several(cell, reads, threads, reader)),
            }
        }
    }

    /// What becomes of a cell in an access, other than an atomic one.
    #[inline]
    fn after(&self, before: Stamps, threads: &Threads, lane: &Lane, accessed: Accessed) -> After {
        let Stamps { write, reads } = before;
        let kind = accessed.kind;
        let is_ordered = |at: u64| threads.has_acquired(lane, thread(at), clock(at));
        if write & (ASYNC | ATOMIC) != 0
            || reads & FLAGS == LOAD
            || write != 0 && !is_ordered(write)
            || write != 0 && kind.is_bulk() && !Self::is_fenced(write, threads, lane)
            || kind == AccessKind::BulkWrite && reads != 0 && !self.is_settled(reads, threads, lane)
        {
            return After::Other;
        }
        if kind.writes() {
            let is_read = reads != 0 && clock(reads) > lane.epoch.get();
            if !self.atomics.is_empty() || is_read && (reads & FLAGS != 0 || !is_ordered(reads)) {
                return After::Other;
            }
            let flags = if kind == AccessKind::AsyncWrite { ASYNC } else { 0 };
            return After::Stamps(Stamps { write: stamp(lane, accessed.location, flags), reads: 0 });
        }
        if write == 0 {
            return After::Other;
        }
        if kind == AccessKind::BulkRead {
            return After::Stamps(before);
        }
        match self.after_read(reads, threads, Reader::new(lane, accessed.location)) {
            Some(reads) => After::Stamps(Stamps { write, reads }),
            None => After::Reader,
        }
    }

    /// The stamp of a cell's reads after another one. `None` if the readers are recorded one by one.
    #[inline]
    pub(super) fn after_read(&self, reads: u64, threads: &Threads, reader: Reader) -> Option<u64> {
        let is_own = thread(reads) == reader.thread && reads & FLAGS == 0;
        if reads == 0 || is_own || clock(reads) <= reader.epoch || reads & FLAGS == LOAD {
            return Some(stamp_of(reader.thread, reader.clock, reader.location, 0));
        }
        (!self.per_thread_clocks).then(|| after_several(reads, threads, reader))
    }
}

/// The stamp of the reads of several threads, after one more that is not ordered behind them.
pub(super) fn after_several(reads: u64, threads: &Threads, reader: Reader) -> u64 {
    let same_warp = threads.warp_of(thread(reads)) == threads.warp_of(reader.thread);
    let flags = if same_warp && reads & FLAGS != SEVERAL { SEVERAL_IN_WARP } else { SEVERAL };
    if clock(reads) >= reader.clock && reads & FLAGS == flags {
        return reads;
    }
    let latest = u64::from(clock(reads).max(reader.clock));
    let rest = reads & (SETTLED | ((1 << CLOCK_SHIFT) - 1)) & !FLAGS;
    latest << CLOCK_SHIFT | rest | flags
}

//! A trace of what the lanes of one warp do, grouped into requests when another warp takes over.
//!
//! ```text
//!             lane 0        lane 1       …  lane 31
//!  entry 0   what, where   what, where  …  what, where    every lane did the same thing here: a request
//!  entry 1   what, where   what, where  …
//!    ⋮
//! ```
//!
//! Writing an entry takes a tenth of the instructions that finding its request takes. Where all lanes have done the
//! same things in the same order, which is nearly always, each row is a request of the whole warp and is evaluated at
//! once; else the lanes are replayed one by one through [`WarpCounters::record`].
//!
//! Memory has the entries of a lane, a column of the picture, one after another: a lane writes its own before the next
//! one has its turn, four to a cache line.

use super::measure::Banks;
use super::warp::{Counted, Lanes, WarpCounters, What};
use crate::lane::Lane;
use std::panic::Location;

/// Most entries per lane: 1 MiB in all, the size of a second-level cache. If a lane does more before another warp takes
/// over, the warp is counted access by access.
pub(super) const MOST: u32 = 2048;

/// What a lane did, and its address: two words, so that several entries are an array of words.
type Entry = [u64; 2];

#[inline(always)]
fn entry(counted: Counted) -> Entry {
    let place = std::ptr::from_ref(counted.location).expose_provenance() as u64;
    debug_assert!(place >> (64 - What::BITS) == 0, "addresses of user space leave the topmost byte free");
    [place << What::BITS | u64::from(counted.what.bits()), counted.address as u64]
}

#[inline]
fn counted([what, address]: Entry) -> Counted {
    let place = std::ptr::with_exposed_provenance::<Location<'static>>((what >> What::BITS) as usize);
    // SAFETY: `entry` made the word from a reference that lives for ever, and lost no bit of it.
    let location = unsafe { &*place };
    Counted { location, what: What::from_bits(what as u32 & ((1 << What::BITS) - 1)), address: address as usize }
}

/// A thread that does something: its number in the block, its warp and its place there.
#[derive(Clone, Copy)]
pub(crate) struct Thread {
    pub(crate) number: u16,
    pub(crate) warp: u16,
    pub(crate) lane: u8,
}

impl Thread {
    #[inline(always)]
    pub(crate) fn of(lane: &Lane) -> Self {
        Self { number: lane.linear, warp: lane.warp, lane: lane.lane }
    }
}

/// The trace of the warp that runs at present.
pub(crate) struct Trace {
    /// As many for each lane, `room` of them and [`PADDING`].
    entries: Vec<Entry>,
    room: u32,
    /// Entries per lane, without those that [`Self::writer`] has written since it took over.
    passed: [u32; 32],
    /// This warp is counted access by access.
    is_full: bool,
    warp: u16,
    /// Lanes of the warp that had not exited when the trace began.
    live: u32,
    /// The thread that writes, or [`NO_THREAD`].
    writer: u32,
    /// Its place in the warp.
    lane: u8,
    /// Where its next entry and the end of its room are.
    next: u32,
    end: u32,
}

/// Rows that are compared at once. The room is a multiple.
const AT_ONCE: usize = 4;
/// No thread's number.
const NO_THREAD: u32 = u32::MAX;
/// Entries behind those of a lane, so that the same entry of each lane is in another set of the first-level cache.
const PADDING: u32 = 4;

impl Trace {
    pub(crate) fn new() -> Self {
        Self {
            entries: vec![[0; 2]; 32 * PADDING as usize],
            room: 0,
            passed: [0; 32],
            is_full: false,
            warp: 0,
            live: 0,
            writer: NO_THREAD,
            lane: 0,
            next: 0,
            end: 0,
        }
    }

    /// Where the entries of a lane begin.
    #[inline(always)]
    fn start(&self, lane: u8) -> u32 {
        (self.room + PADDING) * u32::from(lane)
    }

    /// What a lane has done.
    fn entries(&self, lane: u8) -> &[Entry] {
        let lane = lane & 31;
        &self.entries[self.start(lane) as usize..][..self.passed[usize::from(lane)] as usize]
    }

    /// Writes down one access. False: another thread has written last, or there is no room.
    #[inline(always)]
    pub(crate) fn write(&mut self, thread: Thread, counted: Counted) -> bool {
        if self.writer != u32::from(thread.number) || self.next >= self.end {
            return false;
        }
        // SAFETY: less than `end`, which is at most the length while there is a writer.
        unsafe { *self.entries.get_unchecked_mut(self.next as usize) = entry(counted) };
        self.next += 1;
        true
    }

    /// The warp whose trace this is.
    pub(crate) fn warp(&self) -> u16 {
        self.warp
    }

    /// Begins the trace of a warp; the one before must have been closed.
    pub(crate) fn begin(&mut self, warp: u16, live: u32) {
        (self.warp, self.live) = (warp, live);
    }

    /// A thread of the warp writes from now on. Gives whether it has room.
    #[inline(always)]
    pub(crate) fn take_over(&mut self, thread: Thread) -> bool {
        self.note_passed();
        let lane = thread.lane & 31;
        let passed = self.passed[usize::from(lane)];
        let has_room = passed < self.room && !self.is_full;
        if has_room {
            let start = self.start(lane);
            (self.writer, self.lane) = (thread.number.into(), lane);
            (self.next, self.end) = (start + passed, start + self.room);
        }
        has_room
    }

    /// Nobody writes from now on.
    #[inline(always)]
    fn note_passed(&mut self) {
        if self.writer != NO_THREAD {
            self.passed[usize::from(self.lane & 31)] = self.next - self.start(self.lane);
            self.writer = NO_THREAD;
        }
    }

    /// Makes room for more entries. If there are too many, replays them instead, and has the rest of this warp's
    /// accesses counted one by one. Gives whether there is room.
    pub(crate) fn grow(&mut self, counters: &mut WarpCounters, banks: Banks) -> bool {
        self.note_passed();
        if self.room < MOST {
            let room = self.room + self.room.clamp(16, MOST - self.room);
            let stride = (room + PADDING) as usize;
            let mut entries = Vec::with_capacity(32 * stride);
            for lane in 0..32 {
                entries.extend_from_slice(self.entries(lane));
                entries.resize(usize::from(lane + 1) * stride, [0; 2]);
            }
            (self.entries, self.room) = (entries, room);
        } else if !self.is_full {
            self.replay(0, counters, banks);
            (self.passed, self.is_full) = ([0; 32], true);
        }
        !self.is_full
    }

    /// Hands everything over to the warp's counters. `met`: no lane of the warp will add to the requests that are open.
    pub(crate) fn close(&mut self, counters: &mut WarpCounters, banks: Banks, met: bool) {
        self.note_passed();
        let taken = (0..32).fold(0, |mask, lane| mask | u32::from(self.passed[lane] != 0) << lane);
        let entries = self.passed[taken.trailing_zeros() as usize & 31];
        let same = (0..32).all(|lane| self.passed[lane] == if taken >> lane & 1 == 0 { 0 } else { entries });
        let whole = same && (met || taken == self.live) && counters.is_settled();
        let rows = if whole { entries as usize } else { 0 };
        let done = self.count_rows(rows, taken, counters, banks);
        self.replay(done as u32, counters, banks);
        (self.passed, self.is_full) = ([0; 32], false);
    }

    /// Counts the entries from `first` on lane by lane. Lanes that have exited since had not when they wrote theirs.
    fn replay(&self, first: u32, counters: &mut WarpCounters, banks: Banks) {
        let live = std::mem::replace(&mut counters.live, self.live);
        for lane in 0..32 {
            for &entry in self.entries(lane).iter().skip(first as usize) {
                counters.record(lane.into(), counted(entry), banks);
            }
        }
        counters.live = live;
    }

    /// Counts rows, each as one request, up to the first in which not all lanes of `mask` did the same. Gives how many.
    fn count_rows(&self, rows: usize, mask: u32, counters: &mut WarpCounters, banks: Banks) -> usize {
        let mut affine = [None; AT_ONCE];
        for row in 0..rows {
            if row % AT_ONCE == 0 && mask == u32::MAX {
                affine = self.strides(row);
            }
            let first = self.entries(mask.trailing_zeros() as u8)[row];
            let [what, origin] = first;
            let mut addresses;
            let lanes = if let Some(stride) = affine[row % AT_ONCE] {
                Lanes { mask, origin: origin as usize, stride, scattered: None }
            } else {
                addresses = [0; 32];
                for (lane, entries) in self.lanes().enumerate() {
                    if mask >> lane & 1 != 0 && entries[row][0] != what {
                        return row;
                    }
                    addresses[lane] = entries[row][1] as usize;
                }
                Lanes { mask, origin: 0, stride: 0, scattered: Some(&addresses) }
            };
            counters.whole(counted(first), lanes, banks);
        }
        rows
    }

    /// The entries of each lane.
    fn lanes(&self) -> impl Iterator<Item = &[Entry]> {
        self.entries.chunks_exact((self.room + PADDING) as usize)
    }

    /// The strides of some rows in which all lanes did the same, at addresses that are affine in the lane: what most
    /// requests are.
    fn strides(&self, row: usize) -> [Option<isize>; AT_ONCE] {
        let [steps, differs] = second_differences::<{ 2 * AT_ONCE }>(
            self.lanes().map(|lane| lane[row..].as_flattened().first_chunk().expect("the room is a multiple")),
        );
        let mut strides = [None; AT_ONCE];
        for (i, stride) in strides.iter_mut().enumerate() {
            let [what, address] = [2 * i, 2 * i + 1];
            if steps[what] | differs[what] | differs[address] == 0 {
                *stride = Some(steps[address] as isize);
            }
        }
        strides
    }
}

/// For each of several sequences, given side by side, the difference between the first two of its numbers, and 0 if all
/// the others follow at the same distance. A function of its own, so that the compiler takes the sequences for a vector
/// instead of regrouping them as the caller will.
#[inline(never)]
fn second_differences<'a, const N: usize>(mut rows: impl Iterator<Item = &'a [u64; N]>) -> [[u64; N]; 2] {
    let (mut steps, mut differs) = ([0; N], [0; N]);
    let (Some(first), Some(second)) = (rows.next(), rows.next()) else { return [steps, differs] };
    for i in 0..N {
        steps[i] = second[i].wrapping_sub(first[i]);
    }
    let mut before = *second;
    for row in rows {
        for i in 0..N {
            differs[i] |= row[i].wrapping_sub(before[i]) ^ steps[i];
        }
        before = *row;
    }
    [steps, differs]
}

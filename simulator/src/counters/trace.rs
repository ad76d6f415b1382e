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
#[derive(Clone, Copy, Default)]
pub(super) struct Entry([u64; 2]);

impl Entry {
    #[inline(always)]
    fn new(counted: Counted) -> Self {
        let place = std::ptr::from_ref(counted.location).expose_provenance() as u64;
        debug_assert!(place >> (64 - What::BITS) == 0, "addresses of user space leave the topmost byte free");
        Self([place << What::BITS | u64::from(counted.what.bits()), counted.address as u64])
    }

    fn key(self) -> u64 {
        self.0[0]
    }

    fn address(self) -> usize {
        self.0[1] as usize
    }

    fn counted(self) -> Counted {
        let place = std::ptr::with_exposed_provenance::<Location<'static>>((self.key() >> What::BITS) as usize);
        // SAFETY: `new` made the key from a reference that lives for ever, and lost no bit of it.
        let location = unsafe { &*place };
        Counted {
            location,
            what: What::from_bits(self.key() as u32 & ((1 << What::BITS) - 1)),
            address: self.address(),
        }
    }
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
            entries: vec![Entry::default(); 32 * PADDING as usize],
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
        unsafe { *self.entries.get_unchecked_mut(self.next as usize) = Entry::new(counted) };
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
                entries.resize(usize::from(lane + 1) * stride, Entry::default());
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
            for entry in self.entries(lane).iter().skip(first as usize) {
                counters.record(lane.into(), entry.counted(), banks);
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
            let mut addresses = [0; 32];
            let lanes = if let Some(stride) = affine[row % AT_ONCE] {
                Lanes { mask, origin: first.address(), stride, scattered: None }
            } else {
                for (lane, entries) in self.lanes().enumerate() {
                    if mask >> lane & 1 != 0 && entries[row].key() != first.key() {
                        return row;
                    }
                    addresses[lane] = entries[row].address();
                }
                Lanes { mask, origin: 0, stride: 0, scattered: Some(&addresses) }
            };
            counters.whole(first.counted(), lanes, banks);
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
        let words = |lane: &[Entry]| -> [u64; 2 * AT_ONCE] {
            let entries: &[Entry; AT_ONCE] = lane[row..].first_chunk().expect("the room is a multiple");
            let words = entries.map(|entry| entry.0);
            *words.as_flattened().first_chunk().expect("two words each")
        };
        let [steps, differs] = second_differences(self.lanes().map(words));
        std::array::from_fn(|i| {
            let is_affine = steps[2 * i] | differs[2 * i] | differs[2 * i + 1] == 0;
            is_affine.then_some(steps[2 * i + 1] as isize)
        })
    }
}

/// For each of several sequences, given side by side, the difference between the first two of its numbers, and 0 if all
/// the others follow at the same distance. A function of its own, so that the compiler takes the sequences for a vector
/// instead of regrouping them as the caller will.
#[inline(never)]
fn second_differences<const N: usize>(mut rows: impl Iterator<Item = [u64; N]>) -> [[u64; N]; 2] {
    let [first, mut before] = [(); 2].map(|()| rows.next().unwrap_or([0; N]));
    let step: [u64; N] = std::array::from_fn(|i| before[i].wrapping_sub(first[i]));
    let mut differs = [0; N];
    for row in rows {
        for i in 0..N {
            differs[i] |= row[i].wrapping_sub(before[i]) ^ step[i];
        }
        before = row;
    }
    [step, differs]
}

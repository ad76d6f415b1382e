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

use super::measure::Banks;
use super::warp::{Counted, Lanes, WarpCounters, What};
use std::panic::Location;

/// Most entries per lane: 1 MiB in all, the size of a second-level cache. If a lane does more before another warp takes
/// over, the warp is counted access by access.
const MOST: usize = 2048;

/// What a lane did, and its address.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Entry {
    key: u64,
    address: usize,
}

impl Entry {
    #[inline(always)]
    fn new(counted: Counted) -> Self {
        let place = std::ptr::from_ref(counted.location).expose_provenance() as u64;
        debug_assert!(place >> (64 - What::BITS) == 0, "addresses of user space leave the topmost byte free");
        Self { key: place << What::BITS | u64::from(counted.what.bits()), address: counted.address }
    }

    fn counted(self) -> Counted {
        let place = std::ptr::with_exposed_provenance::<Location<'static>>((self.key >> What::BITS) as usize);
        // SAFETY: `new` made the key from a reference that lives for ever, and lost no bit of it.
        let location = unsafe { &*place };
        Counted { location, what: What::from_bits(self.key as u32 & ((1 << What::BITS) - 1)), address: self.address }
    }
}

/// One entry of each lane.
type Row = [Entry; 32];

/// The trace of the warp that runs at present.
pub(crate) struct Trace {
    rows: Vec<Row>,
    /// Entries per lane. `MOST` in every lane: this warp is counted access by access.
    passed: [u32; 32],
    warp: u16,
    /// Lanes of the warp that had not exited when the trace began.
    live: u32,
}

/// Whether a lane could write its entry down.
#[derive(PartialEq, Eq)]
pub(crate) enum Written {
    Yes,
    /// The trace is another warp's.
    OtherWarp,
    /// There is no room.
    Full,
}

impl Trace {
    pub(crate) fn new() -> Self {
        Self { rows: Vec::new(), passed: [0; 32], warp: 0, live: 0 }
    }

    /// Writes down one access.
    #[inline(always)]
    pub(crate) fn write(&mut self, warp: u16, lane: u8, counted: Counted) -> Written {
        if warp != self.warp {
            return Written::OtherWarp;
        }
        let lane = usize::from(lane) & 31;
        let passed = self.passed[lane];
        let Some(row) = self.rows.get_mut(passed as usize) else { return Written::Full };
        row[lane] = Entry::new(counted);
        self.passed[lane] = passed + 1;
        Written::Yes
    }

    /// The warp whose trace this is.
    pub(crate) fn warp(&self) -> u16 {
        self.warp
    }

    /// Begins the trace of a warp; the one before must have been closed.
    pub(crate) fn begin(&mut self, warp: u16, live: u32) {
        (self.warp, self.live) = (warp, live);
    }

    /// Makes room for more entries. If there are too many, replays them instead, and has the rest of this warp's
    /// accesses counted one by one. Gives whether there is room.
    pub(crate) fn grow(&mut self, counters: &mut WarpCounters, banks: Banks) -> bool {
        let has_room = self.rows.len() < MOST;
        if has_room {
            let more = self.rows.len().clamp(16, MOST - self.rows.len());
            self.rows.resize(self.rows.len() + more, [Entry::default(); 32]);
        } else if self.passed != [MOST as u32; 32] {
            self.replay(0, counters, banks);
            self.passed = [MOST as u32; 32];
        }
        has_room
    }

    /// Hands everything over to the warp's counters. `met`: no lane of the warp will add to the requests that are open.
    pub(crate) fn close(&mut self, counters: &mut WarpCounters, banks: Banks, met: bool) {
        if self.passed != [MOST as u32; 32] {
            let taken = (0..32).fold(0, |mask, lane| mask | u32::from(self.passed[lane] != 0) << lane);
            let entries = self.passed[taken.trailing_zeros() as usize & 31];
            let same = (0..32).all(|lane| self.passed[lane] == if taken >> lane & 1 == 0 { 0 } else { entries });
            let whole = same && (met || taken == self.live) && counters.is_settled();
            let rows = if whole { entries as usize } else { 0 };
            let done = self.rows[..rows].iter().take_while(|row| in_step(row, taken, counters, banks)).count();
            self.replay(done as u32, counters, banks);
        }
        self.passed = [0; 32];
    }

    /// Counts the entries from `first` on lane by lane. Lanes that have exited since had not when they wrote theirs.
    fn replay(&self, first: u32, counters: &mut WarpCounters, banks: Banks) {
        let live = std::mem::replace(&mut counters.live, self.live);
        for lane in 0..32 {
            for at in first..self.passed[lane] {
                counters.record(lane, self.rows[at as usize][lane].counted(), banks);
            }
        }
        counters.live = live;
    }
}

/// Counts a row as one request, if all lanes of `mask` did the same.
#[inline(always)]
fn in_step(row: &Row, mask: u32, counters: &mut WarpCounters, banks: Banks) -> bool {
    let first = row[mask.trailing_zeros() as usize & 31];
    if mask == u32::MAX {
        // What most requests are: affine. Keys and addresses are compared at once.
        let stride = row[1].address.wrapping_sub(row[0].address);
        let (mut expected, mut differs) = (row[0], 0);
        for entry in row {
            differs |= entry.key ^ expected.key | (entry.address ^ expected.address) as u64;
            expected.address = expected.address.wrapping_add(stride);
        }
        if differs == 0 {
            let lanes = Lanes { mask, origin: row[0].address, stride: stride as isize, scattered: None };
            counters.whole(first.counted(), lanes, banks);
            return true;
        }
    }
    let same = row.iter().enumerate().all(|(lane, entry)| mask >> lane & 1 == 0 || entry.key == first.key);
    if same {
        let addresses = row.map(|entry| entry.address);
        let lanes = Lanes { mask, origin: 0, stride: 0, scattered: Some(&addresses) };
        counters.whole(first.counted(), lanes, banks);
    }
    same
}

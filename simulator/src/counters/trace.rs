//! A trace of what the lanes of one warp do, grouped into requests when another warp takes over.
//!
//! ```text
//!          what            addresses
//!  row 0   place, access   origin + stride · lane    the first thing that every lane did: a request
//!  row 1   place, access   origin + stride · lane
//!    ⋮
//! ```
//!
//! The lanes of a warp have their turns one after another, and nearly always do the same things in the same order. So a
//! row says what is expected of a lane, from the lanes before it and from the last time: the next lane only compares,
//! and its access costs a third of what finding its request would. If the lanes of a warp do not do the same things,
//! what they did is replayed through [`WarpCounters::record`], and so is what follows until another warp takes over.

use super::measure::Banks;
use super::warp::{Addresses, Counted, Lanes, WarpCounters, What};
use crate::local;
use std::cell::Cell;
use std::panic::Location;

/// Most rows: 64 KiB in all, a fraction of a second-level cache. If a lane does more before another warp takes over,
/// the warp is counted access by access.
pub(super) const MOST: u32 = 2048;

/// What all lanes do as their n-th thing.
#[derive(Default)]
struct Row {
    /// Place in the source, and [`What`].
    what: u64,
    addresses: Addresses,
}

impl Row {
    #[inline(always)]
    fn what(counted: Counted) -> u64 {
        let place = std::ptr::from_ref(counted.location).expose_provenance() as u64;
        debug_assert!(place >> (64 - What::BITS) == 0, "addresses of user space leave the topmost byte free");
        place << What::BITS | u64::from(counted.what.bits())
    }

    /// What a lane did here.
    #[inline]
    fn counted(&self, lane: usize) -> Counted {
        let place = std::ptr::with_exposed_provenance::<Location<'static>>((self.what >> What::BITS) as usize);
        // SAFETY: `Row::what` made the word from a reference that lives for ever, and lost no bit of it. A row that
        // a lane has passed has such a word.
        let location = unsafe { &*place };
        let what = What::from_bits(self.what as u32 & ((1 << What::BITS) - 1));
        Counted { location, what, address: self.addresses.at(lane) }
    }
}

/// A thread that does something: its warp and its place there.
#[derive(Clone, Copy)]
pub(crate) struct Thread {
    pub(crate) warp: u16,
    pub(crate) lane: u8,
}

/// The rows in front of the thread that writes, at fixed addresses of the OS thread: [`write`] is compiled into what
/// each access calls.
struct Ahead {
    next: Cell<*const Row>,
    /// Behind the last one; null if nobody writes.
    end: Cell<*const Row>,
    /// The thread's place in its warp.
    lane: Cell<usize>,
}

thread_local! {
    static AHEAD: Ahead = const {
        Ahead { next: Cell::new(std::ptr::null()), end: Cell::new(std::ptr::null()), lane: Cell::new(0) }
    };
}

/// Writes down one access of the running thread, if it is what is expected. False: it has not been counted.
#[inline(always)]
pub(crate) fn write(counted: Counted) -> bool {
    local::with(&AHEAD, |ahead| {
        let next = ahead.next.get();
        if next >= ahead.end.get() {
            return false;
        }
        // SAFETY: in front of the end there are rows of a trace of this OS thread, which does not move or drop them
        // without setting the end again.
        let row = unsafe { &*next };
        // A branch: the next access does not wait for this comparison.
        if row.what != Row::what(counted) || row.addresses.expected(ahead.lane.get()) != counted.address {
            return false;
        }
        ahead.next.set(next.wrapping_add(1));
        true
    })
}

/// Another thread runs from now on.
#[inline(always)]
pub(crate) fn change_thread() {
    local::with(&AHEAD, |ahead| ahead.end.set(std::ptr::null()));
}

/// The trace of the warp that runs at present.
pub(crate) struct Trace {
    /// Those that a lane has passed since the trace began, and behind them what is expected.
    rows: Vec<Row>,
    /// How many each lane has passed; of the one that writes, how many it had when its turn began.
    passed: [u32; 32],
    /// This warp is counted access by access.
    is_given_up: bool,
    warp: u16,
    /// Lanes of the warp that had not exited when the trace began.
    live: u32,
    /// A thread writes, or wrote last, whose next row is in [`AHEAD`].
    is_written: bool,
    /// Its place in the warp.
    lane: usize,
}

impl Trace {
    pub(crate) fn new() -> Self {
        Self { rows: Vec::new(), passed: [0; 32], is_given_up: false, warp: 0, live: 0, is_written: false, lane: 0 }
    }

    /// Writes down one access of a thread of this warp. False: it is not what other lanes did, or there is no room, or
    /// the warp is counted access by access.
    pub(crate) fn write_next(&mut self, thread: Thread, counted: Counted) -> bool {
        self.pause();
        if self.is_given_up {
            return false;
        }
        self.lane = usize::from(thread.lane & 31);
        self.go_on();
        write(counted) || self.expect(counted)
    }

    /// Has the next row say what the thread that writes has done.
    fn expect(&mut self, counted: Counted) -> bool {
        let next = self.passed[self.lane];
        if next == MOST {
            return false;
        }
        if next as usize == self.rows.len() {
            self.rows.push(Row::default());
        }
        let others = (0..32).fold(0, |mask, lane| mask | u32::from(self.passed[lane] > next) << lane);
        let (row, what) = (&mut self.rows[next as usize], Row::what(counted));
        if row.what != what {
            if others != 0 {
                return false;
            }
            *row = Row { what, addresses: Addresses::default() };
        }
        row.addresses.set(self.lane, counted.address, others);
        self.passed[self.lane] += 1;
        self.go_on();
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

    /// Has a thread write behind what it has passed.
    fn go_on(&mut self) {
        let rows = self.rows.as_ptr_range();
        local::with(&AHEAD, |ahead| {
            ahead.next.set(rows.start.wrapping_add(self.passed[self.lane] as usize));
            ahead.end.set(rows.end);
            ahead.lane.set(self.lane);
        });
        self.is_written = true;
    }

    /// Nobody writes from now on.
    #[inline(always)]
    pub(crate) fn pause(&mut self) {
        if std::mem::take(&mut self.is_written) {
            let passed = local::with(&AHEAD, |ahead| {
                ahead.end.set(std::ptr::null());
                (ahead.next.get() as usize - self.rows.as_ptr() as usize) / size_of::<Row>()
            });
            self.passed[self.lane] = passed as u32;
        }
    }

    /// Replays what the lanes have done, and has what they do from now on counted access by access.
    pub(crate) fn give_up(&mut self, counters: &mut WarpCounters, banks: Banks) {
        if !self.is_given_up {
            self.pause();
            self.replay(counters, banks);
            self.is_given_up = true;
        }
    }

    /// Hands everything over to the warp's counters. `met`: no lane of the warp will add to the requests that are open.
    pub(crate) fn close(&mut self, counters: &mut WarpCounters, banks: Banks, met: bool) {
        self.pause();
        let mask = (0..32).fold(0, |mask, lane| mask | u32::from(self.passed[lane] != 0) << lane);
        let rows = self.passed[mask.trailing_zeros() as usize & 31];
        let same = (0..32).all(|lane| self.passed[lane] == if mask >> lane & 1 == 0 { 0 } else { rows });
        if same && (met || mask == self.live) && counters.is_settled() {
            let first = mask.trailing_zeros() as usize & 31;
            for row in &mut self.rows[..rows as usize] {
                counters.whole(row.counted(first), Lanes { mask, addresses: &row.addresses }, banks);
                row.addresses.reset();
            }
            self.passed = [0; 32];
        } else {
            self.replay(counters, banks);
        }
        self.is_given_up = false;
    }

    /// Counts what the lanes have done one by one. Lanes that have exited since had not when they did it.
    fn replay(&mut self, counters: &mut WarpCounters, banks: Banks) {
        let live = std::mem::replace(&mut counters.live, self.live);
        for lane in 0..32 {
            for row in &self.rows[..self.passed[lane] as usize] {
                counters.record(lane, row.counted(lane), banks);
            }
        }
        counters.live = live;
        let most = std::mem::take(&mut self.passed).into_iter().max().unwrap_or(0);
        self.rows[..most as usize].iter_mut().for_each(|row| row.addresses.reset());
    }
}

//! The check of a read of shared memory that needs no record, because enough others have read the word since the last
//! barrier: nearly every read.
//!
//! What it looks at lies at fixed addresses of the OS thread, and it has two branches: looking it up through the lane,
//! its block and the shadow takes three times as many instructions, and a processor's branches are soon its limit here.

use super::shared::SharedShadow;
use crate::lane::Lane;
use crate::local;
use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// So many reads pass before one is taken as a sample of what a lane reads. A power of two.
pub(crate) const SAMPLE: u64 = 1 << 14;
/// The mark of no word.
const NONE: u32 = u32::MAX;
/// Where the clock is in a mark.
const CLOCK_SHIFT: u32 = 12;
/// In the place of the warp: threads of several warps have read the word.
const SEVERAL: u32 = (1 << CLOCK_SHIFT) - 1;

/// The mark of a word that several threads have read at `clock`, those of `warp` or of several warps, and that others
/// may read at this clock without a record. It is not in the stamps of the shadow because it takes half as much of the
/// processor's cache. All other words have mark 0.
#[inline(always)]
pub(super) fn mark(clock: u32, warp: Option<u16>) -> u32 {
    let mark = clock << CLOCK_SHIFT | warp.map_or(SEVERAL, |warp| u32::from(warp) + 1);
    if mark == NONE { 0 } else { mark }
}

struct Quick {
    /// As [`SharedShadow::marks`] says.
    marks: Cell<*const u8>,
    /// The marks of words that the running lane may read. Atomic, because the handler of a stack overflow interrupts
    /// the lane.
    several: AtomicU32,
    of_warp: AtomicU32,
    /// Whether reads of the block may pass at all.
    is_open: Cell<bool>,
    /// Reads that pass before one is a sample.
    left: Cell<u64>,
    is_counted: Cell<bool>,
    /// Whose reads these are.
    shadow: Cell<*const SharedShadow>,
}

thread_local! {
    static QUICK: Quick = const {
        Quick {
            marks: Cell::new(std::ptr::null()),
            several: AtomicU32::new(NONE),
            of_warp: AtomicU32::new(NONE),
            is_open: Cell::new(false),
            left: Cell::new(SAMPLE),
            is_counted: Cell::new(false),
            shadow: Cell::new(std::ptr::null()),
        }
    };
}

impl Quick {
    #[inline(always)]
    fn allow(&self, several: u32, of_warp: u32) {
        self.several.store(several, Relaxed);
        self.of_warp.store(of_warp, Relaxed);
    }
}

/// What becomes of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Read {
    /// It needs the full check.
    Unchecked,
    /// It is checked, and is to be taken as a sample.
    Sample,
    /// It is checked, and is to be counted.
    Uncounted,
    /// That is all.
    Done,
}

/// Checks a read of four bytes.
///
/// # Safety
/// They lie in the shared memory of the running block.
#[inline(always)]
pub(crate) unsafe fn check(address: usize) -> Read {
    local::with(&QUICK, |quick| {
        // SAFETY: `SharedShadow::marks` says that there is one for each word, and one more; only this OS thread writes
        // them. A block that is checked has a shadow.
        let mark = unsafe { quick.marks.get().wrapping_add(address).cast::<u32>().read_unaligned() };
        let misaligned = address as u32 & 3;
        let is_several = (mark ^ quick.several.load(Relaxed)) | misaligned == 0;
        let is_of_warp = (mark ^ quick.of_warp.load(Relaxed)) | misaligned == 0;
        if !(is_several | is_of_warp) {
            return Read::Unchecked;
        }
        let left = quick.left.get() - 1;
        quick.left.set(left);
        match (left, quick.is_counted.get()) {
            (0, _) => Read::Sample,
            (_, true) => Read::Uncounted,
            (_, false) => Read::Done,
        }
    })
}

/// Lanes of the block with this shadow run from now on.
pub(crate) fn enter_block(shadow: &SharedShadow, is_counted: bool) {
    local::with(&QUICK, |quick| {
        quick.shadow.set(shadow);
        quick.is_counted.set(is_counted);
    });
    update(shadow);
}

/// The reads that may pass of this shadow have changed.
pub(super) fn update(shadow: &SharedShadow) {
    local::with(&QUICK, |quick| {
        if std::ptr::eq(quick.shadow.get(), shadow) {
            quick.marks.set(shadow.marks());
            quick.is_open.set(shadow.is_quick());
            if !shadow.is_quick() {
                refuse();
            }
        }
    });
}

/// No lane of the block runs any more.
pub(crate) fn leave_block() {
    local::with(&QUICK, |quick| {
        quick.shadow.set(std::ptr::null());
        quick.is_open.set(false);
        refuse();
    });
}

/// This lane runs from now on, or its clock has changed.
#[inline(always)]
pub(crate) fn enter_lane(lane: &Lane) {
    local::with(&QUICK, |quick| {
        if quick.is_open.get() {
            let at = lane.clock() << CLOCK_SHIFT;
            quick.allow(at | SEVERAL, at | (u32::from(lane.warp) + 1));
        }
    });
}

/// Until another lane runs, no read passes. A signal handler may call it.
pub(crate) fn refuse() {
    local::with(&QUICK, |quick| quick.allow(NONE, NONE));
}

/// Reads that have passed since they were last taken.
pub(crate) fn passed() -> u64 {
    local::with(&QUICK, |quick| SAMPLE - quick.left.get())
}

/// Takes the reads that have passed.
pub(crate) fn take_passed() -> u64 {
    local::with(&QUICK, |quick| SAMPLE - quick.left.replace(SAMPLE))
}

#[cfg(test)]
mod tests {
    use super::super::shared_stamp::{self, SETTLED, SEVERAL_IN_WARP, stamp_of};
    use super::*;
    use std::panic::Location;

    const WARP: u16 = 32;

    /// The stamp of a read at `clock` by `thread`.
    fn read_by(thread: u16, clock: u32, flags: u64) -> u64 {
        SETTLED | stamp_of(thread, clock, Location::caller(), flags)
    }

    #[test]
    fn reads_pass_of_words_that_others_have_read_at_this_clock() {
        let memory = [0_u64; 8];
        let address = |word: usize| memory.as_ptr() as usize + 4 * word;
        let mut shadow = SharedShadow::new(address(0), size_of_val(&memory), WARP.trailing_zeros());
        let lane = Lane::new(std::ptr::null(), std::ptr::null(), [0; 3], 7, WARP);
        // SAFETY: as shared memory, `memory` is what the shadow stands for.
        let check = |address| unsafe { check(address) };
        for is_counted in [false, true] {
            let passed = if is_counted { Read::Uncounted } else { Read::Done };
            enter_block(&shadow, is_counted);
            lane.set_clock(5);
            enter_lane(&lane);
            take_passed();
            let several = shared_stamp::SEVERAL;
            for (word, reads, expected) in [
                (0, 0, Read::Unchecked),
                (1, read_by(40, 5, several), passed),
                (2, read_by(3, 5, SEVERAL_IN_WARP), passed),
                (3, read_by(40, 5, SEVERAL_IN_WARP), Read::Unchecked),
                (4, read_by(3, 5, 0), Read::Unchecked),
                (5, read_by(40, 4, several), Read::Unchecked),
                (6, read_by(40, 5, several) & !SETTLED, Read::Unchecked),
                (7, read_by(3, 5, several | SEVERAL_IN_WARP), Read::Unchecked),
            ] {
                shadow.set_reads(word..word + 1, reads);
                assert_eq!(check(address(word)), expected, "word {word}");
            }
            assert_eq!(take_passed(), 2);
            assert_eq!(check(address(1) + 2), Read::Unchecked, "misaligned");
            refuse();
            assert_eq!(check(address(1)), Read::Unchecked, "refused");
            enter_lane(&lane);
            assert_eq!(check(address(1)), passed);
            shadow.set_reads(1..2, 0);
            assert_eq!(check(address(1)), Read::Unchecked, "written since");
            leave_block();
        }
        enter_block(&shadow, false);
        enter_lane(&lane);
        shadow.enable_per_thread_clocks();
        assert_eq!(check(address(2)), Read::Unchecked, "readers are recorded one by one");
        enter_lane(&lane);
        assert_eq!(check(address(2)), Read::Unchecked, "for the next lane, too");
        leave_block();
    }

    #[test]
    fn the_last_of_many_reads_is_a_sample() {
        let memory = [0_u64; 1];
        let mut shadow = SharedShadow::new(memory.as_ptr() as usize, 8, WARP.trailing_zeros());
        let lane = Lane::new(std::ptr::null(), std::ptr::null(), [0; 3], 0, WARP);
        enter_block(&shadow, false);
        enter_lane(&lane);
        shadow.set_reads(0..1, read_by(1, 1, SEVERAL_IN_WARP));
        take_passed();
        for i in 1..=SAMPLE {
            // SAFETY: as above.
            let read = unsafe { check(memory.as_ptr() as usize) };
            assert_eq!(read, if i < SAMPLE { Read::Done } else { Read::Sample }, "read {i}");
        }
        assert_eq!(take_passed(), SAMPLE);
        leave_block();
    }

    #[test]
    fn marks_differ() {
        let marks = [mark(1, None), mark(1, Some(0)), mark(1, Some(1)), mark(2, None), mark(2, Some(0)), 0];
        let distinct: std::collections::HashSet<u32> = marks.into();
        assert_eq!(distinct.len(), marks.len());
        assert_eq!(mark(crate::threads::MAX_CLOCK, None), 0, "no read passes by the mark of no word");
    }
}

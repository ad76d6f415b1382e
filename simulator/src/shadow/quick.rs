//! The check of a read of shared memory that needs no record, because enough others have read the word since the last
//! barrier: nearly every read.
//!
//! It is compiled into the kernel: a dozen instructions and three branches that are rarely taken. As a function that
//! the kernel calls it takes twice as long on Zen 4, most of it for calls and jumps. What it looks at lies at fixed
//! addresses of the OS thread: looking it up through the lane, its block and the shadow takes three times as many
//! instructions.

use super::shared::SharedShadow;
use crate::lane::Lane;
use crate::local;
use crate::threads::MAX_CLOCK;
use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// So many reads pass before one is taken as a sample of what a lane reads. A prime: samples of a loop are of all its
/// reads by turns.
pub(crate) const SAMPLE: i64 = 16_381;
/// Less by this is left where reads are counted: one comparison tells a read with nothing more to do.
const COUNTED: i64 = 1 << 32;
/// The mark of no word.
const NONE: u32 = u32::MAX;
/// Set in the lowest byte of a mark, and in no other: four bytes that do not begin where a word does are no mark, so
/// that a misaligned address needs no test.
const TAG: u32 = 0x80;
/// In the place of the warp: threads of several warps have read the word.
const SEVERAL: u32 = 0x7f;

/// The mark of a word that several threads have read at `clock`, those of `warp` or of several warps, and that others
/// may read at this clock without a record. It is not in the stamps of the shadow because it takes half as much of the
/// processor's cache. All other words have mark 0, as have those of warps from number 127 on.
#[inline(always)]
pub(super) fn mark(clock: u32, warp: Option<u16>) -> u32 {
    match warp.map(u32::from) {
        None => at_clock(clock) | SEVERAL,
        Some(warp) if warp < SEVERAL => at_clock(clock) | warp,
        Some(_) => 0,
    }
}

/// A mark without its warp. The clock is in the upper three bytes, seven bits in each.
#[inline(always)]
fn at_clock(clock: u32) -> u32 {
    const { assert!(MAX_CLOCK < 1 << 21) };
    (clock & 0x7f) << 8 | (clock & 0x3f80) << 9 | (clock & 0x1f_c000) << 10 | TAG
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
    /// Reads that pass before one is a sample; less by [`COUNTED`] if reads are counted.
    left: Cell<i64>,
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

    /// What is left behind a sample.
    #[inline(always)]
    fn all(&self) -> i64 {
        if self.is_counted.get() { SAMPLE - COUNTED } else { SAMPLE }
    }
}

/// What becomes of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Read {
    /// It needs the full check.
    Unchecked,
    /// It is checked, and is to be counted, or taken as a sample: [`is_sample`].
    Noted,
    /// That is all.
    Done,
}

/// Checks a read of four bytes.
///
/// # Safety
/// They lie in the shared memory of the running block, which is checked.
#[inline(always)]
pub(crate) unsafe fn check(address: usize) -> Read {
    local::with(&QUICK, |quick| {
        // SAFETY: `SharedShadow::marks` says that there is one for each word, and one more; only this OS thread writes
        // them. A block that is checked has a shadow.
        let mark = unsafe { quick.marks.get().wrapping_add(address).cast::<u32>().read_unaligned() };
        if mark != quick.several.load(Relaxed) && mark != quick.of_warp.load(Relaxed) {
            return Read::Unchecked;
        }
        let left = quick.left.get() - 1;
        quick.left.set(left);
        if left > 0 { Read::Done } else { Read::Noted }
    })
}

/// Whether a read that has just become [`Read::Noted`] is to be taken as a sample.
#[inline(always)]
pub(crate) fn is_sample() -> bool {
    // 0, or less by `COUNTED`.
    local::with(&QUICK, |quick| quick.left.get() as u32 == 0)
}

/// Lanes of the block with this shadow run from now on.
pub(crate) fn enter_block(shadow: &SharedShadow, is_counted: bool) {
    local::with(&QUICK, |quick| {
        quick.shadow.set(shadow);
        quick.is_counted.set(is_counted);
        quick.left.set(quick.all());
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
            let at = at_clock(lane.clock());
            quick.allow(at | SEVERAL, at | u32::from(lane.warp).min(SEVERAL));
        }
    });
}

/// Until another lane runs, no read passes. A signal handler may call it.
pub(crate) fn refuse() {
    local::with(&QUICK, |quick| quick.allow(NONE, NONE));
}

/// Reads that have passed since they were last taken.
pub(crate) fn passed() -> u64 {
    local::with(&QUICK, |quick| (quick.all() - quick.left.get()) as u64)
}

/// Takes the reads that have passed.
pub(crate) fn take_passed() -> u64 {
    local::with(&QUICK, |quick| (quick.all() - quick.left.replace(quick.all())) as u64)
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
            let passed = if is_counted { Read::Noted } else { Read::Done };
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
        for is_counted in [false, true] {
            enter_block(&shadow, is_counted);
            enter_lane(&lane);
            shadow.set_reads(0..1, read_by(1, 1, SEVERAL_IN_WARP));
            take_passed();
            for i in 1..=SAMPLE {
                // SAFETY: as above.
                let read = unsafe { check(memory.as_ptr() as usize) };
                assert_eq!(read == Read::Noted, is_counted || i == SAMPLE, "read {i}");
                assert_eq!(is_sample(), i == SAMPLE, "read {i}");
            }
            assert_eq!(take_passed(), SAMPLE as u64);
            leave_block();
        }
    }

    /// Every mark differs from every other, and from the bytes between two.
    #[test]
    fn marks_differ() {
        let clocks = [1, 2, 0x7f, 0x80, 0x3fff, 0x4000, 0x8_0000, MAX_CLOCK];
        let warps = [None, Some(0), Some(1), Some(31), Some(126)];
        let marks: Vec<u32> = clocks.iter().flat_map(|&clock| warps.map(|warp| mark(clock, warp))).collect();
        let distinct: std::collections::HashSet<u32> = marks.iter().copied().chain([0, NONE]).collect();
        assert_eq!(distinct.len(), marks.len() + 2);
        for (low, high) in marks.iter().flat_map(|&low| marks.iter().map(move |&high| (low, high))) {
            for bytes in 1..4 {
                let between = (u64::from(high) << 32 | u64::from(low)) >> (8 * bytes);
                assert!(!distinct.contains(&(between as u32)) || between as u32 == 0, "{low:#x}, {high:#x}, {bytes}");
            }
        }
        assert_eq!([mark(1, Some(127)), mark(1, Some(1023))], [0; 2], "warps that a mark cannot name");
    }
}

//! The readers of an element of global memory since its last write, when there is more than one.
//!
//! A read stamp represents one thread, several of one warp, or several of one block; it then has the thread of the
//! first and the clock of the latest. Readers of several blocks, and all readers once clocks are kept per thread, are
//! in lists.

use super::global_stamp::{CLOCK_SHIFT, FLAGS, block_number, clock, stamped, thread};
use crate::happens_before::{MULTIPLE, Stamp};
use crate::lane::Lane;
use crate::threads::Threads;
use std::collections::HashMap;

/// Read stamp: several threads of one warp, none ordered after another.
pub(super) const IN_WARP: u64 = 1;
/// Read stamp: the same for several threads of one block.
pub(super) const IN_BLOCK: u64 = 2;
/// Read stamp: the readers are listed.
pub(super) const LISTED: u64 = 3;
/// Beside a read stamp, or alone: atomic loads are recorded in `Buffer::atomics`.
pub(super) const LOADS: u64 = 4;

/// Most stamps in one buffer's lists. Further readers are not recorded, and a race with such a reader alone is missed:
/// a buffer that a launch may write but only reads must not cost more than its shadow.
const MOST: usize = 1 << 20;

/// Lists of readers of one buffer, by element.
#[derive(Default)]
pub(super) struct Readers {
    lists: HashMap<usize, Vec<u64>>,
    stamps: usize,
}

/// Whether two comparisons show that all readers of `reads` come before what `lane` does now.
#[inline(always)]
pub(super) fn come_before(reads: u64, threads: &Threads, lane: &Lane) -> bool {
    block_number(reads) == threads.number()
        && (reads & FLAGS != LISTED && clock(reads) <= lane.epoch.get()
            || reads & FLAGS == 0 && thread(reads) == lane.linear)
}

impl Readers {
    /// Bytes of these lists.
    pub(super) fn bytes(&self) -> usize {
        self.stamps * 8 + self.lists.len() * (size_of::<usize>() + size_of::<Vec<u64>>())
    }

    /// Each element has become `parts` elements.
    pub(super) fn refine(&mut self, parts: usize) {
        let lists = std::mem::take(&mut self.lists).into_iter();
        let each = |(index, list): (usize, Vec<u64>)| (0..parts).map(move |part| (index * parts + part, list.clone()));
        self.lists = lists.flat_map(each).collect();
        self.stamps *= parts;
    }

    /// Adds a reader that is not ordered behind those of `reads`. Gives the stamp for all of them.
    #[inline(never)]
    pub(super) fn add(&mut self, index: usize, reads: u64, new: u64, threads: &Threads) -> u64 {
        let fine = threads.has_per_thread_clocks();
        if reads & FLAGS != LISTED && !fine && block_number(reads) == threads.number() {
            return merged(reads, new, threads);
        }
        let list = self.lists.entry(index).or_default();
        if reads & FLAGS != LISTED {
            list.clear();
            list.push(reads);
            self.stamps += 1;
        }
        let alike = |old: &&mut u64| {
            block_number(**old) == threads.number() && (!fine || **old & FLAGS == 0 && thread(**old) == thread(new))
        };
        if let Some(old) = list.iter_mut().find(alike) {
            *old = merged(*old, new, threads);
        } else if self.stamps < MOST {
            list.push(new);
            self.stamps += 1;
        }
        new | LISTED
    }

    /// Removes all readers; gives the stamp of one that does not come before what `lane` does now.
    pub(super) fn take_unordered(&mut self, index: usize, reads: u64, threads: &Threads, lane: &Lane) -> Option<u64> {
        let listed = if reads & FLAGS == LISTED { self.lists.remove(&index) } else { None };
        self.stamps -= listed.as_ref().map_or(0, Vec::len);
        listed.unwrap_or_else(|| vec![reads]).into_iter().find(|&reads| !ordered(reads, threads, lane))
    }
}

/// One stamp for the readers of two, of one block.
fn merged(old: u64, new: u64, threads: &Threads) -> u64 {
    let flags = if old & FLAGS == 0 && thread(old) == thread(new) {
        0
    } else if old & FLAGS != IN_BLOCK && threads.warp_of(thread(old)) == threads.warp_of(thread(new)) {
        IN_WARP
    } else {
        IN_BLOCK
    };
    // Reports name the first: the latest is often the thread that goes on to write.
    let latest = u64::from(clock(old).max(clock(new)));
    latest << CLOCK_SHIFT | old & ((1 << CLOCK_SHIFT) - 1) & !FLAGS | flags
}

fn ordered(reads: u64, threads: &Threads, lane: &Lane) -> bool {
    let several = matches!(reads & FLAGS, IN_WARP | IN_BLOCK);
    // Merged before readers were recorded one by one: they are unknown, and are not reported.
    let unknown = several && threads.has_per_thread_clocks() && block_number(reads) == threads.number();
    let stamp = stamped(threads, reads);
    let stamp = match reads & FLAGS {
        IN_WARP => Stamp { thread: MULTIPLE, ..stamp },
        IN_BLOCK => Stamp { thread: MULTIPLE, warp: MULTIPLE, ..stamp },
        _ => stamp,
    };
    unknown || come_before(reads, threads, lane) || threads.is_ordered(lane, stamp)
}

//! Atomic operations on elements of global memory.
//!
//! Two atomic operations do not race with each other if the scope of each includes the other's thread; each races with
//! plain accesses that are in no order with it. The last update of an element stands in the shadow like any write. It
//! stands for an earlier operation that came before it: what is in no order with that one is in none with it either.
//! All others are listed here, one for each thread, so that what is found does not depend on which was the last.

use super::access::{AccessKind, Accessed};
use super::atomic_sizes::AtomicSizes;
use super::global::{Buffer, is_trivially_before, stamp_of};
use super::global_stamp::{ATOMIC, FLAGS, NARROW, OVER, THREAD_BITS, block_number, name, place, stamped};
use super::listed::Listed;
use super::locations::Numbers;
use super::readers::LOADS;
use crate::lane::Lane;
use crate::memory::Memory;
use crate::ordering::Scope;
use crate::report::{MIXED_SIZES, NARROW_SCOPE};
use crate::threads::Threads;
use std::collections::HashMap;

/// The operations on one buffer that the last writes of their elements do not stand for.
pub(super) struct Atomics {
    /// The last plain write of elements that atomic operations have written since: atomics that are not ordered behind
    /// it race with it.
    plain: HashMap<usize, u64>,
    /// Updates, with [`ATOMIC`], and loads.
    others: Listed,
    /// Whether some operation had block scope.
    narrow: bool,
    sizes: AtomicSizes,
}

/// Why an atomic operation races with another one.
#[derive(Clone, Copy)]
enum Weak {
    Scope,
    Size,
}

/// What tells the listed operations of an element apart.
const KEY: u64 = THREAD_BITS | ATOMIC | NARROW;

impl Default for Atomics {
    fn default() -> Self {
        let (others, sizes) = (Listed::new(KEY), AtomicSizes::new(KEY));
        Self { plain: HashMap::new(), others, narrow: false, sizes }
    }
}

impl Atomics {
    /// Bytes of these lists.
    pub(super) fn bytes(&self) -> usize {
        self.plain.len() * 16 + self.others.bytes() + self.sizes.bytes()
    }

    /// Each element has become `parts` elements.
    pub(super) fn refine(&mut self, parts: usize) {
        let each = |index: usize| (0..parts).map(move |part| index * parts + part);
        self.plain = self.plain.iter().flat_map(|(&at, &write)| each(at).map(move |at| (at, write))).collect();
        self.others.refine(parts);
        self.sizes.refine(parts);
    }

    /// A plain write follows: what is not ordered behind that is in no order with it.
    #[cold]
    pub(super) fn forget(&mut self, index: usize) {
        self.others.forget(index);
        self.sizes.forget(index);
    }
}

impl Buffer {
    /// Checks a plain access against the listed atomic operations on its element: a read against updates, a write
    /// against all.
    #[cold]
    #[inline(never)]
    pub(super) fn check_atomics(
        &mut self,
        index: usize,
        places: &Numbers,
        threads: &Threads,
        lane: &Lane,
        accessed: Accessed,
    ) {
        let writes = accessed.kind.writes();
        let unordered = self
            .atomics
            .others
            .at(index)
            .iter()
            .copied()
            .find(|&other| (writes || other & ATOMIC != 0) && !is_ordered(other, threads, lane));
        if let Some(other) = unordered {
            self.report_atomic(index, other, None, places, threads, lane, accessed);
        }
    }

    /// Checks and records an atomic operation on one element.
    #[expect(clippy::too_many_arguments, reason = "what is accessed, by whom, and where it is recorded")]
    #[inline(never)]
    pub(super) fn atomic_cell(
        &mut self,
        index: usize,
        places: &mut Numbers,
        memory: &Memory,
        threads: &Threads,
        lane: &Lane,
        accessed: Accessed,
        scope: Scope,
    ) {
        let write = self.writes.get(index).copied().unwrap_or(0);
        let updates = accessed.kind.writes();
        if write == 0 && !self.full && accessed.kind != AccessKind::AtomicWrite {
            self.hold_unwritten(index, memory, threads, lane, accessed);
        }
        if !self.writable || index >= self.writes.len() {
            return;
        }
        let flags = if updates { ATOMIC } else { 0 } | if scope == Scope::Block { NARROW } else { 0 };
        let stamp = stamp_of(places, threads, lane, accessed) | flags;
        let plain = match write {
            _ if write & ATOMIC == 0 => write,
            _ if write & OVER != 0 => self.atomics.plain.get(&index).copied().unwrap_or(0),
            _ => 0,
        };
        if plain != 0 && !is_trivially_before(plain, threads, lane) {
            self.unordered_write(index, plain, places, threads, lane, accessed);
        }
        self.atomics.narrow |= flags & NARROW != 0;
        if self.atomics.narrow {
            self.check_scopes(index, stamp, places, threads, lane, accessed);
        }
        if self.atomics.sizes.are_mixed() {
            self.check_sizes(index, stamp, places, threads, lane, accessed);
        }
        if !updates {
            if !self.has_reads(threads, lane, accessed) {
                return;
            }
            self.reads[index] |= LOADS;
            self.atomics.others.note(index, stamp);
            return;
        }
        if let Some(reads) = self.reads.get_mut(index) {
            let plain = std::mem::replace(reads, *reads & LOADS) & !LOADS;
            self.check_readers(index, plain, places, threads, lane, accessed);
        }
        if write & ATOMIC != 0 {
            let stands_for = flags & NARROW != 0 || write & NARROW == 0;
            if !(stands_for && is_ordered(write, threads, lane)) {
                self.atomics.others.note(index, write & !OVER);
            }
        } else if write != 0 {
            self.atomics.plain.insert(index, write);
        }
        self.writes[index] = stamp | if plain == 0 { 0 } else { OVER };
    }

    /// Checks an atomic operation against those on its element, one of the two a write, to which it is not *morally
    /// strong*: the scope of one does not include the thread of the other.
    #[cold]
    #[inline(never)]
    fn check_scopes(
        &mut self,
        index: usize,
        stamp: u64,
        places: &Numbers,
        threads: &Threads,
        lane: &Lane,
        accessed: Accessed,
    ) {
        let last = Some(self.writes[index]).filter(|write| write & ATOMIC != 0);
        let weak = |other: &u64| {
            block_number(*other) != block_number(stamp)
                && (other | stamp) & NARROW != 0
                && (other | stamp) & ATOMIC != 0
                && !is_ordered(*other, threads, lane)
        };
        let found = last.into_iter().chain(self.atomics.others.at(index).iter().copied()).find(weak);
        if let Some(other) = found {
            self.report_atomic(index, other, Some(Weak::Scope), places, threads, lane, accessed);
        }
    }

    /// Notes the size of an atomic operation.
    #[inline(always)]
    pub(super) fn see_atomic_size(&mut self, size: usize) {
        let Self { writes, atomics: Atomics { others, sizes, .. }, .. } = self;
        sizes.see(size, || {
            let last = writes.iter().copied().enumerate().filter(|(_, write)| write & ATOMIC != 0);
            others.all().chain(last.map(|(index, write)| (index, write & !OVER)))
        });
    }

    /// Checks an atomic operation against those of another size on its element, one of the two a write.
    #[cold]
    #[inline(never)]
    fn check_sizes(
        &mut self,
        index: usize,
        stamp: u64,
        places: &mut Numbers,
        threads: &Threads,
        lane: &Lane,
        accessed: Accessed,
    ) {
        let others = self.atomics.sizes.note(index, accessed.size, stamp);
        let weak = |other: &u64| (other | stamp) & ATOMIC != 0 && !is_ordered(*other, threads, lane);
        if let Some(other) = others.iter().copied().find(weak) {
            self.report_atomic(index, other, Some(Weak::Size), places, threads, lane, accessed);
        }
    }

    #[expect(clippy::too_many_arguments, reason = "as `atomic_cell`")]
    fn report_atomic(
        &mut self,
        index: usize,
        other: u64,
        weak: Option<Weak>,
        places: &Numbers,
        threads: &Threads,
        lane: &Lane,
        accessed: Accessed,
    ) {
        self.unwritten.race(index);
        let (hint, why) = match weak {
            None => (None, ""),
            Some(Weak::Scope) => (Some(NARROW_SCOPE), ", and the scope of one of the two is its block"),
            Some(Weak::Size) => (Some(MIXED_SIZES), ", and the two differ in size"),
        };
        let at = (places.location(place(other)), block_number(other));
        threads.global_race(lane, accessed.location, at, hint, || {
            let (what, where_) = (accessed.kind.verb(), threads.name_global(accessed.address));
            let how = if other & ATOMIC == 0 { "atomic read" } else { "atomic write" };
            format!("{what} of {where_} has no order with the {how} by {}{why}", name(threads, other))
        });
    }
}

/// Whether an operation came before what `lane` does now.
fn is_ordered(stamp: u64, threads: &Threads, lane: &Lane) -> bool {
    is_trivially_before(stamp, threads, lane) || threads.is_ordered(lane, stamped(threads, stamp & !FLAGS))
}

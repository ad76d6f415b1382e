//! Puts the accesses of one warp's lanes together into requests.

use super::measure::{Banks, sectors, wavefronts};
use super::{Access, SiteCounts, Step};
use std::panic::Location;

/// One counted access of one lane.
#[derive(Clone, Copy)]
pub(crate) struct Counted {
    pub(crate) location: &'static Location<'static>,
    pub(crate) access: Access,
    pub(crate) size: u32,
    /// Its address; for a branch, the condition.
    pub(crate) address: usize,
}

/// A request in the making. Addresses are kept as distances from the first one: half the memory, and the requests of a
/// warp's loop stay in the fastest cache.
#[derive(Clone)]
struct Request {
    mask: u32,
    distances: [i32; 32],
    origin: usize,
    /// All addresses in full, once one is too far away.
    far: Option<Box<[usize; 32]>>,
}

impl Request {
    const EMPTY: Self = Self { mask: 0, distances: [0; 32], origin: 0, far: None };

    #[inline(always)]
    fn add(&mut self, lane: usize, address: usize) {
        if self.mask == 0 {
            self.origin = address;
        }
        self.mask |= 1 << lane;
        let distance = address.wrapping_sub(self.origin) as isize;
        self.distances[lane] = distance as i32;
        if distance as i32 as isize != distance || self.far.is_some() {
            self.add_far(lane, address);
        }
    }

    #[cold]
    fn add_far(&mut self, lane: usize, address: usize) {
        let near = self.near();
        self.far.get_or_insert_with(|| Box::new(near))[lane] = address;
    }

    fn near(&self) -> [usize; 32] {
        self.distances.map(|distance| self.origin.wrapping_add_signed(distance as isize))
    }

    /// Mask and addresses; the request is empty afterwards.
    fn take(&mut self) -> (u32, [usize; 32]) {
        let addresses = self.far.take().map_or_else(|| self.near(), |far| *far);
        (std::mem::take(&mut self.mask), addresses)
    }
}

/// An instruction of the source as one warp sees it.
struct Slot {
    location: &'static Location<'static>,
    access: Access,
    size: u32,
    /// The slot that followed this one last time: programs repeat themselves.
    next: u16,
    /// Per lane, how often it has come by since the last flush.
    passed: [u32; 32],
    /// Occurrences before the last flush.
    base: u32,
    requests: Vec<Request>,
    /// Requests that are not evaluated yet.
    open: u32,
    counts: SiteCounts,
}

/// Room for requests that no warp uses at present: the next warp takes it while it is still in the cache.
#[derive(Default)]
pub(crate) struct Spare(Vec<Vec<Request>>);

/// The counters of one warp of a resident block.
#[derive(Default)]
pub(crate) struct WarpCounters {
    slots: Vec<Slot>,
}

impl WarpCounters {
    /// Counts one access of lane `lane`; `live` are the lanes of the warp that have not exited. Gives the slot, from which
    /// the next one is guessed.
    #[inline(always)]
    pub(crate) fn record(
        &mut self,
        (lane, previous): (u8, u16),
        counted: Counted,
        live: u32,
        banks: Banks,
        spare: &mut Spare,
    ) -> u16 {
        let index = self.find(previous, counted);
        let slot = &mut self.slots[usize::from(index)];
        let lane = usize::from(lane) & 31;
        let occurrence = slot.passed[lane] as usize;
        slot.passed[lane] += 1;
        if occurrence >= slot.requests.len() {
            slot.grow(spare);
        }
        let request = &mut slot.requests[occurrence];
        request.add(lane, counted.address);
        if request.mask == live {
            slot.evaluate(occurrence, banks);
            // Nothing open: every live lane has passed equally often, and counting can begin anew.
            if slot.open == 0 {
                slot.restart(spare);
            }
        }
        index
    }

    #[inline]
    fn find(&mut self, previous: u16, counted: Counted) -> u16 {
        if let Some(before) = self.slots.get(usize::from(previous)) {
            let guess = before.next;
            if self.slots[usize::from(guess)].is(counted) {
                return guess;
            }
        }
        self.search(previous, counted)
    }

    #[cold]
    fn search(&mut self, previous: u16, counted: Counted) -> u16 {
        let found = self.slots.iter().position(|slot| slot.is(counted)).unwrap_or_else(|| {
            let Counted { location, access, size, .. } = counted;
            let (passed, requests, counts) = ([0; 32], Vec::new(), SiteCounts::default());
            self.slots.push(Slot { location, access, size, next: 0, passed, base: 0, requests, open: 0, counts });
            self.slots.len() - 1
        }) as u16;
        if let Some(before) = self.slots.get_mut(usize::from(previous)) {
            before.next = found;
        }
        found
    }

    /// Evaluates what is still open: the warp has met with the whole block, or ended.
    pub(crate) fn flush(&mut self, banks: Banks, spare: &mut Spare) {
        for slot in &mut self.slots {
            for occurrence in 0..slot.requests.len() {
                if slot.requests[occurrence].mask != 0 {
                    slot.evaluate(occurrence, banks);
                }
            }
            if !slot.requests.is_empty() {
                slot.restart(spare);
            }
        }
    }

    /// Hands over what was counted, and starts anew for the next block.
    pub(crate) fn drain(&mut self, mut take: impl FnMut((&'static Location<'static>, Access, u32), &SiteCounts)) {
        for slot in &mut self.slots {
            take((slot.location, slot.access, slot.size), &slot.counts);
            slot.counts = SiteCounts::default();
            slot.base = 0;
        }
    }
}

impl Slot {
    #[inline]
    fn is(&self, counted: Counted) -> bool {
        std::ptr::eq(self.location, counted.location) && self.access == counted.access && self.size == counted.size
    }

    /// Room for one more request.
    #[inline(never)]
    fn grow(&mut self, spare: &mut Spare) {
        if self.requests.capacity() == 0
            && let Some(room) = spare.0.pop()
        {
            self.requests = room;
        }
        self.requests.push(Request::EMPTY);
        self.open += 1;
    }

    /// Back to the first occurrence, nothing open.
    fn restart(&mut self, spare: &mut Spare) {
        self.base += self.requests.len() as u32;
        self.passed = [0; 32];
        let mut room = std::mem::take(&mut self.requests);
        room.clear();
        spare.0.push(room);
    }

    fn evaluate(&mut self, occurrence: usize, banks: Banks) {
        let (mask, addresses) = self.requests[occurrence].take();
        self.open -= 1;
        let (counts, size) = (&mut self.counts, self.size as usize);
        counts.requests += 1;
        counts.lanes += u64::from(mask.count_ones());
        if self.access.is_global() {
            counts.sectors += u64::from(sectors(mask, &addresses, size));
        } else if self.access.is_shared() {
            let wavefronts = wavefronts(mask, &addresses, size, banks);
            counts.wavefronts += u64::from(wavefronts);
            counts.worst = counts.worst.max(wavefronts);
        } else {
            let taken = (0..32).filter(|&lane| mask >> lane & 1 != 0 && addresses[lane] != 0).count() as u32;
            let divergent = u64::from(taken != 0 && taken != mask.count_ones());
            counts.divergent += divergent;
            let at = self.base as usize + occurrence;
            if counts.steps.len() <= at {
                counts.steps.resize(at + 1, Step::default());
            }
            let step = &mut counts.steps[at];
            step.warps += 1;
            step.active += u64::from(taken != 0);
            step.divergent += divergent;
            step.lanes += u64::from(taken);
        }
    }
}

//! Puts the accesses of one warp's lanes together into requests.

use super::measure::{Banks, sectors, wavefronts};
use super::{Access, SiteCounts, Step};
use std::panic::Location;

/// One counted access of one lane.
#[derive(Clone, Copy)]
pub(crate) struct Counted {
    pub(crate) location: &'static Location<'static>,
    pub(crate) what: What,
    /// Its address; for a branch, the condition.
    pub(crate) address: usize,
}

/// Kind and width of an access in one word: told apart by one comparison.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct What(u32);

impl What {
    /// An access of `size` bytes.
    #[inline(always)]
    pub(crate) const fn new(access: Access, size: usize) -> Self {
        Self((access as u32) << 8 | size as u32)
    }

    fn access(self) -> Access {
        const ALL: [Access; 8] = [
            Access::GlobalLoad,
            Access::GlobalStore,
            Access::GlobalAtomic,
            Access::SharedLoad,
            Access::SharedStore,
            Access::SharedAtomic,
            Access::AsyncCopy,
            Access::Branch,
        ];
        ALL[(self.0 >> 8) as usize]
    }

    fn size(self) -> u32 {
        self.0 & 0xff
    }
}

/// Requests in the making, [`CHUNK`] successive ones of one instruction.
///
/// A lane runs through many requests before the next lane does. So its addresses lie side by side, as distances from the
/// first lane's: what one lane touches of a chunk is a handful of cache lines.
struct Chunk {
    masks: [u32; CHUNK],
    origins: [usize; CHUNK],
    distances: [[i32; CHUNK]; 32],
    /// Addresses too far from the origin: request, lane, address.
    far: Vec<(usize, usize, usize)>,
}

const CHUNK: usize = 16;

impl Chunk {
    /// Adds a lane's address; gives the request's mask.
    #[inline(always)]
    fn add(&mut self, at: usize, lane: usize, address: usize) -> u32 {
        if self.masks[at] == 0 {
            self.origins[at] = address;
        }
        self.masks[at] |= 1 << lane;
        let distance = address.wrapping_sub(self.origins[at]) as isize;
        self.distances[lane][at] = distance as i32;
        if distance as i32 as isize != distance {
            self.add_far(at, lane, address);
        }
        self.masks[at]
    }

    #[cold]
    fn add_far(&mut self, at: usize, lane: usize, address: usize) {
        self.far.push((at, lane, address));
    }

    /// The addresses of a request, whose mask is emptied.
    #[inline(always)]
    fn take(&mut self, at: usize) -> Request {
        let mask = std::mem::take(&mut self.masks[at]);
        let distances = self.distances.each_ref().map(|lane| lane[at]);
        let mut request = Request { mask, origin: self.origins[at], distances, far: None };
        if !self.far.is_empty() {
            self.take_far(at, &mut request);
        }
        request
    }

    #[cold]
    fn take_far(&mut self, at: usize, request: &mut Request) {
        let mut addresses = request.addresses();
        for &(_, lane, address) in self.far.iter().filter(|far| far.0 == at) {
            addresses[lane] = address;
        }
        self.far.retain(|far| far.0 != at);
        request.far = Some(Box::new(addresses));
    }
}

/// A complete request.
struct Request {
    mask: u32,
    origin: usize,
    distances: [i32; 32],
    far: Option<Box<[usize; 32]>>,
}

impl Request {
    fn addresses(&self) -> [usize; 32] {
        match &self.far {
            Some(far) => **far,
            None => self.distances.map(|distance| self.origin.wrapping_add_signed(distance as isize)),
        }
    }

    /// The distance from each lane's address to the next one's, if it is the same for all 32 lanes.
    #[inline(always)]
    fn stride(&self) -> Option<i32> {
        let stride = self.distances[1].wrapping_sub(self.distances[0]);
        let mut same = self.mask == u32::MAX && self.far.is_none();
        for pair in self.distances.windows(2) {
            same &= pair[1].wrapping_sub(pair[0]) == stride;
        }
        same.then_some(stride)
    }

    fn sectors(&self, size: usize) -> u32 {
        match self.stride() {
            Some(0) => sectors(1, &[self.origin; 32], size),
            Some(stride) if stride as usize == size => {
                let first = self.origin.wrapping_add_signed(self.distances[0] as isize);
                ((first + 32 * size - 1) / 32 - first / 32 + 1) as u32
            }
            _ => sectors(self.mask, &self.addresses(), size),
        }
    }

    fn wavefronts(&self, size: usize, banks: Banks) -> u32 {
        match self.stride() {
            Some(0 | 4) if size == 4 => 1,
            _ => wavefronts(self.mask, &self.addresses(), size, banks),
        }
    }
}

/// An instruction of the source as one warp sees it.
struct Slot {
    location: &'static Location<'static>,
    what: What,
    /// The slot that followed this one last time: programs repeat themselves.
    next: u16,
    /// Per lane, how often it has come by since the last flush.
    passed: [u32; 32],
    /// Occurrences before the last flush.
    base: u32,
    #[expect(clippy::vec_box, reason = "chunks change hands: the box moves, not its two kilobytes")]
    chunks: Vec<Box<Chunk>>,
    /// Requests that were begun, and those of them that are not evaluated yet.
    begun: usize,
    open: usize,
    counts: SiteCounts,
}

/// Room for requests that no warp uses at present: the next warp takes it while it is still in the cache.
#[derive(Default)]
#[expect(clippy::vec_box, reason = "as in `Slot`")]
pub(crate) struct Spare(Vec<Box<Chunk>>);

/// The counters of one warp of a resident block.
#[derive(Default)]
pub(crate) struct WarpCounters {
    slots: Vec<Slot>,
    /// Lanes of the warp that have not exited.
    pub(crate) live: u32,
}

impl WarpCounters {
    /// Counts one access of lane `lane`. `slots` are the slot that it probably has and the one before. Gives its slot and
    /// the one that will probably follow.
    #[inline(always)]
    pub(crate) fn record(
        &mut self,
        lane: u8,
        (guess, before): (u16, u16),
        counted: Counted,
        banks: Banks,
        spare: &mut Spare,
    ) -> (u16, u16) {
        let mut index = guess;
        if !self.slots.get(usize::from(guess)).is_some_and(|slot| slot.is(counted)) {
            index = self.search(before, counted);
        }
        let slot = &mut self.slots[usize::from(index)];
        let lane = usize::from(lane) & 31;
        let occurrence = slot.passed[lane] as usize;
        slot.passed[lane] += 1;
        if occurrence >= slot.begun {
            slot.begin(spare);
        }
        let mask = slot.chunks[occurrence / CHUNK].add(occurrence % CHUNK, lane, counted.address);
        let next = slot.next;
        if mask == self.live {
            slot.complete(occurrence, banks, spare);
        }
        (index, next)
    }

    #[cold]
    #[inline(never)]
    fn search(&mut self, previous: u16, counted: Counted) -> u16 {
        let found = self.slots.iter().position(|slot| slot.is(counted)).unwrap_or_else(|| {
            let Counted { location, what, .. } = counted;
            let (passed, chunks, counts) = ([0; 32], Vec::new(), SiteCounts::default());
            self.slots.push(Slot { location, what, next: 0, passed, base: 0, chunks, begun: 0, open: 0, counts });
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
            for occurrence in 0..slot.begun {
                if slot.chunks[occurrence / CHUNK].masks[occurrence % CHUNK] != 0 {
                    slot.evaluate(occurrence, banks);
                }
            }
            if slot.begun > 0 {
                slot.restart(spare);
            }
        }
    }

    /// Hands over what was counted, and starts anew for the next block.
    pub(crate) fn drain(&mut self, mut take: impl FnMut((&'static Location<'static>, Access, u32), &SiteCounts)) {
        for slot in &mut self.slots {
            take((slot.location, slot.what.access(), slot.what.size()), &slot.counts);
            slot.counts = SiteCounts::default();
            slot.base = 0;
        }
    }
}

impl Slot {
    #[inline]
    fn is(&self, counted: Counted) -> bool {
        std::ptr::eq(self.location, counted.location) && self.what == counted.what
    }

    /// A request that every live lane is in.
    #[cold]
    #[inline(never)]
    fn complete(&mut self, occurrence: usize, banks: Banks, spare: &mut Spare) {
        self.evaluate(occurrence, banks);
        // Nothing open: every live lane has passed equally often, and counting can begin anew.
        if self.open == 0 {
            self.restart(spare);
        }
    }

    /// Room for one more request.
    #[cold]
    #[inline(never)]
    fn begin(&mut self, spare: &mut Spare) {
        if self.begun == self.chunks.len() * CHUNK {
            self.chunks.push(spare.0.pop().unwrap_or_else(|| {
                let (masks, origins, distances) = ([0; CHUNK], [0; CHUNK], [[0; CHUNK]; 32]);
                Box::new(Chunk { masks, origins, distances, far: Vec::new() })
            }));
        }
        self.begun += 1;
        self.open += 1;
    }

    /// Back to the first occurrence, nothing open.
    fn restart(&mut self, spare: &mut Spare) {
        self.base += self.begun as u32;
        self.begun = 0;
        self.passed = [0; 32];
        spare.0.append(&mut self.chunks);
    }

    #[inline(always)]
    fn evaluate(&mut self, occurrence: usize, banks: Banks) {
        let request = self.chunks[occurrence / CHUNK].take(occurrence % CHUNK);
        self.open -= 1;
        let (counts, access, size) = (&mut self.counts, self.what.access(), self.what.size() as usize);
        let lanes = request.mask.count_ones();
        counts.requests += 1;
        counts.lanes += u64::from(lanes);
        if access.is_global() {
            counts.sectors += u64::from(request.sectors(size));
        } else if access.is_shared() {
            let wavefronts = request.wavefronts(size, banks);
            counts.wavefronts += u64::from(wavefronts);
            counts.worst = counts.worst.max(wavefronts);
        } else {
            let addresses = request.addresses();
            let taken = (0..32).filter(|&lane| request.mask >> lane & 1 != 0 && addresses[lane] != 0).count() as u32;
            let divergent = u64::from(taken != 0 && taken != lanes);
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

//! Groups the accesses of one warp's lanes into requests.

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

/// Kind and width of an access in one byte, so that one comparison distinguishes them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct What(u32);

impl What {
    /// How many bits it takes.
    pub(super) const BITS: u32 = 8;

    /// An access of `size` bytes, at most 16.
    #[inline(always)]
    pub(crate) const fn new(access: Access, size: usize) -> Self {
        debug_assert!(size <= 16);
        Self((access as u32) << 5 | size as u32)
    }

    #[inline(always)]
    pub(super) const fn bits(self) -> u32 {
        self.0
    }

    pub(super) const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    pub(super) fn access(self) -> Access {
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
        ALL[(self.0 >> 5) as usize]
    }

    pub(super) fn size(self) -> u32 {
        self.0 & 0x1f
    }
}

/// The addresses of a request's lanes.
///
/// Nearly every request is affine in the lane: a broadcast, a row, a column, a diagonal. So it is an address and a
/// stride as long as its lanes are affine, and 32 addresses only once one is not.
#[derive(Default)]
pub(super) struct Addresses {
    /// Address that lane 0 has, or would have.
    origin: usize,
    /// Distance from a lane's address to the next one's.
    stride: isize,
    /// All addresses, where they follow no such rule; what it gives for lanes that have none yet.
    scattered: Option<Box<[usize; 32]>>,
}

impl Addresses {
    /// What the rule gives for a lane.
    #[inline(always)]
    pub(super) fn expected(&self, lane: usize) -> usize {
        self.origin.wrapping_add_signed(self.stride.wrapping_mul(lane as isize))
    }

    /// The address of a lane that takes part.
    #[inline]
    pub(super) fn at(&self, lane: usize) -> usize {
        self.scattered.as_ref().map_or_else(|| self.expected(lane), |addresses| addresses[lane])
    }

    /// All of them.
    fn all(&self) -> [usize; 32] {
        std::array::from_fn(|lane| self.at(lane))
    }

    /// Sets the address of a lane that is not what is expected of it. The lanes of the mask have theirs.
    #[inline(never)]
    pub(super) fn set(&mut self, lane: usize, address: usize, others: u32) {
        if let Some(addresses) = &mut self.scattered {
            addresses[lane] = address;
            return;
        }
        if others != 0 {
            let first = others.trailing_zeros() as usize;
            let (lanes, distance) =
                (lane as isize - first as isize, address.wrapping_sub(self.expected(first)) as isize);
            if !others.is_power_of_two() || distance % lanes != 0 {
                let mut addresses = Box::new(self.all());
                addresses[lane] = address;
                self.scattered = Some(addresses);
                return;
            }
            self.stride = distance / lanes;
        }
        self.origin = address.wrapping_sub_signed(self.stride.wrapping_mul(lane as isize));
    }

    /// Forgets what was no rule. The rule is kept: a warp most often does the same again.
    #[inline]
    pub(super) fn reset(&mut self) {
        self.scattered = None;
    }
}

/// A request: the lanes that take part, and their addresses.
#[derive(Clone, Copy)]
pub(super) struct Lanes<'a> {
    pub(super) mask: u32,
    pub(super) addresses: &'a Addresses,
}

impl Lanes<'_> {
    /// The stride of an affine request of all 32 lanes.
    fn full_stride(&self) -> Option<isize> {
        (self.mask == u32::MAX && self.addresses.scattered.is_none()).then_some(self.addresses.stride)
    }

    fn sectors(&self, size: usize) -> u32 {
        let origin = self.addresses.origin;
        match self.full_stride() {
            Some(stride) if stride == size as isize => ((origin + 32 * size - 1) / 32 - origin / 32 + 1) as u32,
            Some(0) => sectors(1, &[origin; 32], size),
            _ => sectors(self.mask, &self.addresses.all(), size),
        }
    }

    fn wavefronts(&self, size: usize, banks: Banks) -> u32 {
        match self.full_stride() {
            Some(0 | 4) if size == 4 => 1,
            _ => wavefronts(self.mask, &self.addresses.all(), size, banks),
        }
    }
}

/// A request that collects lanes.
#[derive(Default)]
struct Request {
    addresses: Addresses,
    mask: u32,
}

impl Request {
    fn lanes(&self) -> Lanes<'_> {
        Lanes { mask: self.mask, addresses: &self.addresses }
    }

    /// Adds a lane's address; gives the mask.
    #[inline(always)]
    fn add(&mut self, lane: usize, address: usize) -> u32 {
        let others = self.mask;
        self.mask |= 1 << lane;
        if others == 0 || self.addresses.expected(lane) != address {
            self.addresses.set(lane, address, others);
        }
        self.mask
    }
}

/// An instruction of the source as one warp sees it.
struct Slot {
    location: &'static Location<'static>,
    what: What,
    /// Per lane, how often it has come by since the last flush.
    passed: [u32; 32],
    /// Occurrences before the last flush.
    base: u32,
    requests: Vec<Request>,
    /// Requests that are not evaluated yet.
    open: usize,
    counts: SiteCounts,
}

/// Entries of the table that finds a slot by its place in the source.
const TABLE: usize = 64;

/// The counters of one warp of a resident block.
pub(crate) struct WarpCounters {
    slots: Vec<Slot>,
    /// Slot by place, as far as entries do not collide.
    table: [u16; TABLE],
    /// Lanes of the warp that have not exited.
    pub(crate) live: u32,
}

impl WarpCounters {
    pub(crate) fn new() -> Self {
        Self { slots: Vec::new(), table: [0; TABLE], live: 0 }
    }

    /// Counts one access of lane `lane`.
    pub(crate) fn record(&mut self, lane: usize, counted: Counted, banks: Banks) {
        let index = self.slot(counted);
        let slot = &mut self.slots[index];
        let occurrence = slot.passed[lane] as usize;
        slot.passed[lane] += 1;
        if occurrence >= slot.requests.len() {
            slot.begin();
        }
        let mask = slot.requests[occurrence].add(lane, counted.address);
        if mask == self.live {
            slot.complete(occurrence, banks);
        }
    }

    /// Counts a request that is whole; none may be open.
    pub(super) fn whole(&mut self, counted: Counted, lanes: Lanes<'_>, banks: Banks) {
        let index = self.slot(counted);
        let slot = &mut self.slots[index];
        slot.count(0, lanes, banks);
        slot.base += 1;
    }

    /// Whether no request is open: every lane that has not exited has passed every place equally often.
    pub(super) fn is_settled(&self) -> bool {
        self.slots.iter().all(|slot| slot.requests.is_empty())
    }

    #[inline(always)]
    fn slot(&mut self, counted: Counted) -> usize {
        // Locations are 24 bytes apart, or multiples of that.
        let entry = std::ptr::from_ref(counted.location) as usize / 8 % TABLE;
        let index = usize::from(self.table[entry]);
        if self.slots.get(index).is_some_and(|slot| slot.is(counted)) { index } else { self.search(entry, counted) }
    }

    #[cold]
    #[inline(never)]
    fn search(&mut self, entry: usize, counted: Counted) -> usize {
        let index = self.slots.iter().position(|slot| slot.is(counted)).unwrap_or_else(|| {
            let Counted { location, what, .. } = counted;
            let (passed, requests, counts) = ([0; 32], Vec::new(), SiteCounts::default());
            self.slots.push(Slot { location, what, passed, base: 0, requests, open: 0, counts });
            self.slots.len() - 1
        });
        self.table[entry] = u16::try_from(index).unwrap_or(0);
        index
    }

    /// Evaluates open requests: the block has completed a barrier, or ended.
    pub(crate) fn flush(&mut self, banks: Banks) {
        for slot in &mut self.slots {
            for occurrence in 0..slot.requests.len() {
                if slot.requests[occurrence].mask != 0 {
                    slot.evaluate(occurrence, banks);
                }
            }
            if !slot.requests.is_empty() {
                slot.restart();
            }
        }
    }

    /// Hands over the counts, and resets them for the next block.
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
    fn complete(&mut self, occurrence: usize, banks: Banks) {
        self.evaluate(occurrence, banks);
        // Nothing open: every live lane has passed equally often, and counting can restart.
        if self.open == 0 {
            self.restart();
        }
    }

    /// Room for one more request.
    #[cold]
    #[inline(never)]
    fn begin(&mut self) {
        self.requests.push(Request::default());
        self.open += 1;
    }

    /// Back to the first occurrence, nothing open.
    fn restart(&mut self) {
        self.base += self.requests.len() as u32;
        self.passed = [0; 32];
        self.requests.clear();
    }

    /// Counts an open request, and empties it.
    fn evaluate(&mut self, occurrence: usize, banks: Banks) {
        let request = std::mem::take(&mut self.requests[occurrence]);
        self.open -= 1;
        self.count(occurrence, request.lanes(), banks);
    }

    /// Counts a request that no lane will add to.
    fn count(&mut self, occurrence: usize, request: Lanes<'_>, banks: Banks) {
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
            let addresses = request.addresses.all();
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

#[cfg(test)]
mod tests {
    use super::Request;

    /// Adds lanes in a given order and gives the addresses back.
    fn through(lanes: &[usize], address: impl Fn(usize) -> usize) -> Request {
        let mut request = Request::default();
        for &lane in lanes {
            request.add(lane, address(lane));
        }
        for &lane in lanes {
            assert_eq!(request.addresses.at(lane), address(lane), "lane {lane} of {lanes:?}");
        }
        assert_eq!(request.mask, lanes.iter().fold(0, |mask, lane| mask | 1 << lane));
        request
    }

    #[test]
    fn requests_keep_every_address() {
        let orders: [Vec<usize>; 4] =
            [(0..32).collect(), (0..32).rev().collect(), (0..32).map(|i| ((i + 5) % 32) ^ 3).collect(), vec![7, 3, 30]];
        for order in &orders {
            assert!(through(order, |_| 4096).addresses.scattered.is_none(), "a broadcast is affine");
            assert!(through(order, |lane| 4096 + 4 * lane).addresses.scattered.is_none(), "a row is affine");
            assert!(
                through(order, |lane| 1 << 40 | (31 - lane) << 34).addresses.scattered.is_none(),
                "a falling column is affine"
            );
            through(order, |lane| 4096 + lane * lane * 4);
            through(order, |lane| if lane == 30 { 0 } else { usize::MAX - lane });
            through(order, |lane| if lane == 7 { 5 } else { 4 });
        }
    }
}

//! The counters of a resident block: its warps', and the trace of the one that runs.

use super::trace::{self, Thread, Trace};
use super::{Access, Banks, Counted, SiteCounts, WarpCounters};
use crate::bulk::Row;
use std::collections::BTreeMap;
use std::panic::Location;

/// Bytes of the vectors in which TMA copies a box.
const VECTOR: usize = 16;
/// Bytes of a sector.
const SECTOR: usize = 32;

/// The counters of one resident block.
pub(crate) struct BlockCounters {
    warps: Vec<WarpCounters>,
    trace: Trace,
    banks: Banks,
    /// Of boxes that TMA copies, which are requests of their own.
    boxes: BTreeMap<(&'static Location<'static>, Access), SiteCounts>,
}

impl BlockCounters {
    /// For a block of so many warps.
    pub(crate) fn new(warps: usize, banks: Banks) -> Self {
        let warps = (0..warps).map(|_| WarpCounters::new()).collect();
        Self { warps, trace: Trace::new(), banks, boxes: BTreeMap::new() }
    }

    /// Sets which lanes of a warp have not exited.
    pub(crate) fn set_live(&mut self, warp: u16, live: u32) {
        self.warps[usize::from(warp)].live = live;
    }

    /// Counts one access of a thread that is not what is expected of the one that wrote last: most often the next one
    /// of its warp has its turn.
    #[inline(never)]
    fn count_next(&mut self, thread: Thread, counted: Counted) -> bool {
        self.trace.warp() == thread.warp && self.trace.write_next(thread, counted)
    }

    /// Counts one access of a thread.
    #[inline(always)]
    pub(crate) fn count(&mut self, thread: Thread, counted: Counted) {
        if !trace::write(counted) && !self.count_next(thread, counted) {
            self.count_after(thread, counted);
        }
    }

    /// The same where the trace must be closed or given up first.
    #[cold]
    #[inline(never)]
    fn count_after(&mut self, thread: Thread, counted: Counted) {
        let (warp, last) = (usize::from(thread.warp), usize::from(self.trace.warp()));
        if warp == last {
            self.trace.give_up(&mut self.warps[warp], self.banks);
            self.warps[warp].record(thread.lane.into(), counted, self.banks);
        } else {
            self.trace.close(&mut self.warps[last], self.banks, false);
            self.trace.begin(thread.warp, self.warps[warp].live);
            self.count(thread, counted);
        }
    }

    /// Counts a box that TMA copies, by its rows in global memory.
    pub(crate) fn count_box(&mut self, key: (&'static Location<'static>, Access), rows: impl Iterator<Item = Row>) {
        let counts = self.boxes.entry(key).or_default();
        counts.requests += 1;
        for Row { address, bytes, .. } in rows {
            let (address, end) = (address as usize, address as usize + bytes);
            counts.lanes += bytes.div_ceil(VECTOR) as u64;
            counts.sectors += (end.div_ceil(SECTOR) - address / SECTOR) as u64;
        }
    }

    /// No thread of the block runs from now on.
    pub(crate) fn leave(&mut self) {
        self.trace.pause();
    }

    /// Evaluates open requests: the block has completed a barrier, or ended.
    pub(crate) fn flush(&mut self) {
        let warp = self.trace.warp();
        self.trace.close(&mut self.warps[usize::from(warp)], self.banks, true);
        for warp in &mut self.warps {
            warp.flush(self.banks);
        }
        self.trace.begin(warp, self.warps[usize::from(warp)].live);
    }

    /// Hands over the counts, and resets them for the next block.
    pub(crate) fn drain(&mut self, mut take: impl FnMut((&'static Location<'static>, Access, u32), &SiteCounts)) {
        for warp in &mut self.warps {
            warp.drain(&mut take);
        }
        for ((location, access), counts) in std::mem::take(&mut self.boxes) {
            take((location, access, VECTOR as u32), &counts);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::measure::{sectors, wavefronts};
    use super::super::trace::MOST;
    use super::*;
    use crate::counters::{Step, What};
    use rand::prelude::*;

    type Key = (usize, Access, u32);

    fn sites() -> [(&'static Location<'static>, What); 5] {
        #[track_caller]
        fn here() -> &'static Location<'static> {
            Location::caller()
        }
        let twice = here();
        [
            (here(), What::new(Access::GlobalLoad, 4)),
            (twice, What::new(Access::SharedLoad, 4)),
            (twice, What::new(Access::SharedLoad, 16)),
            (here(), What::new(Access::SharedStore, 2)),
            (here(), What::new(Access::Branch, 0)),
        ]
    }

    /// The definition, literally: the n-th time that a lane passes a location since the last barrier belongs to the
    /// n-th request of its warp there.
    #[derive(Default)]
    struct Definition {
        open: BTreeMap<(u16, usize, usize), (u32, [usize; 32])>,
        passed: BTreeMap<(u16, usize, usize), usize>,
        begun: BTreeMap<(u16, usize), usize>,
        counts: BTreeMap<Key, SiteCounts>,
    }

    impl Definition {
        fn count(&mut self, warp: u16, lane: usize, site: usize, address: usize) {
            let passed = self.passed.entry((warp, site, lane)).or_default();
            let request = self.open.entry((warp, site, *passed)).or_insert((0, [0; 32]));
            *passed += 1;
            request.0 |= 1 << lane;
            request.1[lane] = address;
        }

        fn flush(&mut self, banks: Banks) {
            let mut requests = BTreeMap::<(u16, usize), usize>::new();
            for ((warp, site, occurrence), (mask, addresses)) in std::mem::take(&mut self.open) {
                let (location, what) = sites()[site];
                let (access, size) = (what.access(), what.size());
                let counts = self.counts.entry((std::ptr::from_ref(location) as usize, access, size)).or_default();
                counts.requests += 1;
                counts.lanes += u64::from(mask.count_ones());
                if access.is_global() {
                    counts.sectors += u64::from(sectors(mask, &addresses, size as usize));
                } else if access.is_shared() {
                    let wavefronts = wavefronts(mask, &addresses, size as usize, banks);
                    counts.wavefronts += u64::from(wavefronts);
                    counts.worst = counts.worst.max(wavefronts);
                } else {
                    let taken = (0..32).filter(|&lane| mask >> lane & 1 != 0 && addresses[lane] != 0).count() as u32;
                    let divergent = u64::from(taken != 0 && taken != mask.count_ones());
                    counts.divergent += divergent;
                    let at = self.begun.get(&(warp, site)).copied().unwrap_or(0) + occurrence;
                    if counts.steps.len() <= at {
                        counts.steps.resize(at + 1, Step::default());
                    }
                    let step = Step { warps: 1, active: u64::from(taken != 0), divergent, lanes: u64::from(taken) };
                    let sum = &mut counts.steps[at];
                    sum.warps += step.warps;
                    sum.active += step.active;
                    sum.divergent += step.divergent;
                    sum.lanes += step.lanes;
                }
                let most = requests.entry((warp, site)).or_default();
                *most = (*most).max(occurrence + 1);
            }
            for (key, count) in requests {
                *self.begun.entry(key).or_default() += count;
            }
            self.passed.clear();
        }
    }

    /// What a lane does between two barriers.
    fn program(common: &[(usize, usize)], lane: usize, random: &mut StdRng, stray: f64) -> Vec<(usize, usize)> {
        let mut program: Vec<_> = common
            .iter()
            .filter_map(|&(site, stride)| {
                let keep = !random.random_bool(stray);
                let address =
                    1 << 20 | if random.random_bool(stray) { 16 * random.random_range(0..999) } else { stride * lane };
                let branch = usize::from(random.random_bool(stray) || stride == 0);
                keep.then_some((site, if site == 4 { branch } else { address }))
            })
            .collect();
        if random.random_bool(stray) {
            program.reverse();
        }
        program
    }

    /// Blocks whose warps and lanes agree, or do not, come in any order, exit early, and do more than a trace can hold.
    #[test]
    fn traces_give_what_the_definition_gives() {
        let banks = Banks::new(4);
        for seed in 0..400 {
            let random = &mut StdRng::seed_from_u64(seed);
            // One warp that does what a trace can hold, to the last entry.
            let fills_a_trace = seed % 50 == 8;
            let warps: u16 = if fills_a_trace { 1 } else { random.random_range(1..4) };
            let lanes = if fills_a_trace || random.random_bool(0.5) { 32 } else { random.random_range(1..32) };
            let stray = [0.0, 0.0, 0.02, 0.3][seed as usize % 4];
            let (mut counters, mut definition) = (BlockCounters::new(warps.into(), banks), Definition::default());
            // A block on the same OS thread.
            let (mut other, mut of_other) = (BlockCounters::new(1, banks), 0);
            let mut live = vec![u32::MAX >> (32 - lanes); warps.into()];
            (0..warps).for_each(|warp| counters.set_live(warp, live[usize::from(warp)]));
            for _ in 0..random.random_range(1..4) {
                let length = match seed % 50 {
                    7 => 3000,
                    8 => MOST as usize,
                    _ => random.random_range(0..60),
                };
                let common: Vec<_> = (0..length)
                    .map(|_| (random.random_range(0..5), [0, 4, 16, 128, 36][random.random_range(0..5)]))
                    .collect();
                let mut left: Vec<Vec<_>> =
                    (0..warps).map(|_| (0..32).map(|lane| program(&common, lane, random, stray)).collect()).collect();
                // Some turns end early, as at a shuffle, or are not every lane's; the last one takes what is left.
                for turn in 0..3 {
                    let mut order: Vec<_> = (0..warps).collect();
                    order.shuffle(random);
                    for warp in order {
                        let most = if turn == 2 { usize::MAX } else { random.random_range(0..40) };
                        let some = if turn == 2 || random.random_bool(0.5) { u32::MAX } else { random.random() };
                        for lane in
                            (0..32).filter(|lane| (live[usize::from(warp)] & some) >> lane & 1 != 0).collect::<Vec<_>>()
                        {
                            trace::change_thread();
                            let program: &mut Vec<_> = &mut left[usize::from(warp)][lane];
                            for (site, address) in program.drain(..most.min(program.len())) {
                                let (location, what) = sites()[site];
                                let thread = Thread { warp, lane: lane as u8 };
                                counters.count(thread, Counted { location, what, address });
                                definition.count(warp, lane, site, address);
                            }
                            if random.random_bool(0.02) {
                                counters.leave();
                                let (location, what) = sites()[0];
                                other.count(Thread { warp: 0, lane: 0 }, Counted { location, what, address: 1 << 20 });
                                of_other += 1;
                                other.leave();
                            }
                            if program.is_empty() && random.random_bool(stray / 4.0) {
                                live[usize::from(warp)] &= !(1 << lane);
                                counters.set_live(warp, live[usize::from(warp)]);
                            }
                        }
                    }
                }
                counters.flush();
                definition.flush(banks);
            }
            let mut got = BTreeMap::<Key, SiteCounts>::new();
            counters.drain(|(location, access, size), counts| {
                if counts.requests != 0 {
                    got.entry((std::ptr::from_ref(location) as usize, access, size)).or_default().add(counts);
                }
            });
            assert_eq!(got, definition.counts, "seed {seed}");
            other.flush();
            other.drain(|_, counts| assert_eq!(counts.requests, of_other, "seed {seed}"));
        }
    }
}

//! How the lanes of a warp meet: every lane that the mask names and that has not exited must arrive; the last one
//! computes the results of all.

use super::group::{Group, Op, WarpOp, lanes};
use super::mma;
use super::values::{combine, shuffle_source};
use crate::block::barrier::Barriers;
use crate::block::state::BlockState;
use crate::lane::{Lane, suspend};
use crate::overflow;
use crate::report::Kind;
use std::cell::{Cell, UnsafeCell};
use std::panic::Location;

/// Operations of one warp under way, and the results of its lanes.
pub(crate) struct WarpOps {
    warp: u16,
    groups: UnsafeCell<Vec<Group>>,
    results: [Cell<u64>; 32],
    flags: Cell<u32>,
}

impl WarpOps {
    pub(in crate::block) fn new(warp: u16) -> Self {
        Self { warp, groups: UnsafeCell::default(), results: [const { Cell::new(0) }; 32], flags: Cell::new(0) }
    }

    pub(in crate::block) fn reset(&self) {
        self.groups().clear();
    }

    #[expect(clippy::mut_from_ref, reason = "one OS thread; no two of these borrows live at once")]
    fn groups(&self) -> &mut Vec<Group> {
        // SAFETY: only this OS thread touches the warp; callers end the borrow before the next call or switch.
        unsafe { &mut *self.groups.get() }
    }

    /// Executes a warp-wide operation for one lane. Inlined up to the switch of stacks: see [`suspend`].
    #[inline(always)]
    pub(crate) fn run(
        &self,
        state: &BlockState,
        lane: &Lane,
        (op, mask): (Op, u32),
        (value, argument): (u64, u32),
        location: &'static Location<'static>,
    ) -> (u64, bool) {
        if self.join_group(state, lane, (op, mask), (value, argument), location) {
            suspend(lane);
        }
        (self.results[usize::from(lane.lane) & 31].get(), self.flags.get() & lane.bit() != 0)
    }

    /// Adds a lane and its value. Gives whether it must wait for others.
    #[inline(never)]
    fn join_group(
        &self,
        state: &BlockState,
        lane: &Lane,
        (op, mask): (Op, u32),
        (value, argument): (u64, u32),
        location: &'static Location<'static>,
    ) -> bool {
        overflow::enter_as(lane, location);
        state.threads.count_step();
        let warp = state.warp(lane);
        if mask & lane.bit() == 0 {
            state.threads.fault(lane, Kind::WarpMask, location, None, || {
                format!("lane {} calls with mask {mask:#010x}, which does not name it", lane.lane)
            });
            self.results[usize::from(lane.lane) & 31].set(value);
            self.flags.set(self.flags.get() & !lane.bit());
            return false;
        }
        let groups = self.groups();
        let at = groups.iter().position(|group| group.mask == mask && group.arrived & lane.bit() == 0);
        let at = at.unwrap_or_else(|| {
            let (values, arguments) = ([0; 32], [0; 32]);
            groups.push(Group { op, mask, arrived: 0, mixed: false, location, values, arguments });
            groups.len() - 1
        });
        let group = &mut groups[at];
        group.arrived |= lane.bit();
        group.values[usize::from(lane.lane) & 31] = value;
        group.arguments[usize::from(lane.lane) & 31] = argument;
        group.mixed |= group.op != op;
        // Nearly always the same address: equal locations are compared by name.
        let elsewhere = !std::ptr::eq(group.location, location) && group.location != location;
        if group.op != op || elsewhere {
            let first = group.location;
            state.threads.fault(lane, Kind::WarpMask, location, Some(first), || {
                format!("lane {} is here while other lanes of mask {mask:#010x} carry out another operation", lane.lane)
            });
        }
        let complete = group.arrived == mask & warp.live.get();
        if complete {
            self.complete(state, group);
            groups.swap_remove(at);
            warp.keep_running(lane);
        }
        !complete
    }

    /// A lane has exited: operations may have waited for it alone.
    #[inline]
    pub(in crate::block) fn complete_after_exit(&self, state: &BlockState) {
        let live = state.warps[usize::from(self.warp)].live.get();
        while let Some(at) = self.groups().iter().position(|group| group.arrived == group.mask & live) {
            let group = self.groups().swap_remove(at);
            self.complete(state, &group);
        }
    }

    /// Whether an operation waits for this lane.
    pub(in crate::block) fn awaits(&self, lane: &Lane) -> bool {
        self.groups().iter().any(|group| group.mask & !group.arrived & lane.bit() != 0)
    }

    /// Reports and ends operations that no lane will complete. Gives whether there was any.
    pub(in crate::block) fn resolve(&self, state: &BlockState, barriers: &Barriers) -> bool {
        let stuck = std::mem::take(self.groups());
        for group in &stuck {
            let missing = group.mask & state.warps[usize::from(self.warp)].live.get() & !group.arrived;
            let lane = self.lane(state, group.arrived.trailing_zeros() as usize);
            let other = barriers.site_of(usize::from(self.warp), missing);
            state.threads.fault(lane, Kind::WarpMask, group.location, other, || {
                let at = if other.is_some() { "wait at a barrier" } else { "wait in another operation" };
                format!("lanes {:#010x} wait here for lanes {missing:#010x}, which {at}", group.arrived)
            });
            self.complete(state, group);
        }
        !stuck.is_empty()
    }

    fn lane<'a>(&self, state: &'a BlockState, lane: usize) -> &'a Lane {
        &state.threads.lanes[state.threads.first_of(self.warp) + lane]
    }

    /// Computes the results of all lanes that arrived and wakes them. No other operation of the warp begins or ends
    /// meanwhile.
    fn complete(&self, state: &BlockState, group: &Group) {
        state.threads.note_activity();
        match group.op {
            Op::Tensor(op) => mma::complete(state, self.warp, group, op),
            Op::Values(WarpOp::Sync) => self.synchronise(state, group),
            Op::Numbers(op, count) => {
                // If they are mixed, the values are not all addresses, which was reported.
                if let Some(sources) = self.sources(state, group, op)
                    && !group.mixed
                {
                    // SAFETY: the operation is the same for all.
                    unsafe { exchange(group, &sources, count) };
                }
            }
            Op::Gather { width, stride, bytes } => {
                if !group.mixed {
                    // SAFETY: the operation is the same for all.
                    unsafe { self.gather(state, group, (width.into(), stride.into()), bytes.into()) };
                }
            }
            Op::Values(op) => {
                if let Some(sources) = self.sources(state, group, op) {
                    for lane in lanes(group.arrived) {
                        self.results[lane].set(group.values[sources[lane]]);
                    }
                } else {
                    self.combine(group, op);
                }
            }
        }
        state.warps[usize::from(self.warp)].wake(group.arrived);
    }

    /// The results of a vote, match or reduction: the same for all lanes, but where each looks for its own value.
    fn combine(&self, group: &Group, op: WarpOp) {
        let first = group.arrived.trailing_zeros() as usize;
        let same = (op != WarpOp::MatchAny).then(|| combine(op, group, first));
        for lane in lanes(group.arrived) {
            let (value, flag) = same.unwrap_or_else(|| combine(op, group, lane));
            self.results[lane].set(value);
            let bit = 1 << lane;
            self.flags.set(self.flags.get() & !bit | if flag { bit } else { 0 });
        }
    }

    /// The lane from which each lane takes its value in a shuffle, itself if the source is out of range; none if `op`
    /// is another operation. Sets the flags.
    fn sources(&self, state: &BlockState, group: &Group, op: WarpOp) -> Option<[usize; 32]> {
        let width = op.shuffle_width()?;
        let mut flags = self.flags.get();
        let mut sources = [0; 32];
        for lane in lanes(group.arrived) {
            let own = lane as u32;
            let source = shuffle_source(op, width, own, group.arguments[lane]);
            let bit = 1 << lane;
            flags = flags & !bit | if source.is_some() { bit } else { 0 };
            let source = source.unwrap_or(own) & 31;
            if group.arrived >> source & 1 == 0 {
                self.report_source(state, group, lane, source);
            }
            sources[lane] = source as usize;
        }
        self.flags.set(flags);
        Some(sources)
    }

    #[cold]
    pub(super) fn report_source(&self, state: &BlockState, group: &Group, lane: usize, source: u32) {
        let warp = &state.warps[usize::from(self.warp)];
        let (kind, why) = if warp.existing() >> source & 1 == 0 {
            (Kind::WarpExited, "the block has no such lane")
        } else if warp.live.get() >> source & 1 == 0 {
            (Kind::WarpExited, "that lane has exited")
        } else {
            (Kind::WarpMask, "that lane takes no part in it")
        };
        state.threads.fault(self.lane(state, lane), kind, group.location, None, || {
            format!("lane {lane} takes its value from lane {source} in a shuffle with mask {:#010x}: {why}", group.mask)
        });
    }

    /// `sync_warp` orders what its lanes did; shuffles and votes do not (CUDA promises no memory order for them).
    fn synchronise(&self, state: &BlockState, group: &Group) {
        let threads = &state.threads;
        if !threads.watched() {
            return;
        }
        let members = lanes(group.arrived).map(|lane| self.lane(state, lane));
        let whole = group.arrived == state.warps[usize::from(self.warp)].existing();
        if whole && !threads.has_per_thread_clocks() {
            threads.synchronise_warp(members);
            return;
        }
        state.enable_per_thread_clocks();
        let lanes: Vec<&Lane> = members.collect();
        let epoch = lanes.iter().map(|lane| lane.epoch.get()).max().unwrap_or(0);
        let members: Vec<_> = lanes.iter().map(|lane| threads.member(lane)).collect();
        threads.synchronise_some(&members, epoch, &lanes);
    }
}

/// Replaces the numbers of each lane by those of its source.
///
/// # Safety
/// Each value of a lane that has arrived is the address of `count` numbers on the stack of that lane, which waits.
unsafe fn exchange(group: &Group, sources: &[usize; 32], count: usize) {
    // SAFETY: the caller's promise.
    let number = |lane: usize, at: usize| unsafe {
        std::ptr::with_exposed_provenance_mut::<u64>(group.values[lane] as usize).add(at)
    };
    for at in 0..count {
        let mut numbers = [0; 32];
        for lane in lanes(group.arrived) {
            // SAFETY: as above. Nothing else accesses it while the lane waits.
            numbers[lane] = unsafe { number(lane, at).read() };
        }
        for lane in lanes(group.arrived) {
            // SAFETY: as above.
            unsafe { number(lane, at).write(numbers[sources[lane]]) };
        }
    }
}

//! Warp-wide operations: sync, shuffles, votes, matches, reductions.
//!
//! Every lane that the mask names and that has not exited must come; the last one computes everybody's result.

use super::Block;
use super::tensor::TensorOp;
use crate::device::WarpOp;
use crate::lane::{Lane, suspend};
use crate::report::Kind;
use std::cell::{Cell, UnsafeCell};
use std::panic::Location;

/// One warp of a resident block.
pub(super) struct Warp {
    /// Lanes that the block has: fewer than the warp's size in a last, partial warp.
    pub(super) lanes: u32,
    pub(super) live: Cell<u32>,
    pub(super) ready: Cell<u32>,
    /// Lanes that spin on an atomic: they get a turn when nothing else is ready.
    pub(super) spinning: Cell<u32>,
    groups: UnsafeCell<Vec<Group>>,
    results: [Cell<u64>; 32],
    flags: Cell<u32>,
}

/// What lanes carry out together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    /// An operation on values.
    Values(WarpOp),
    /// One of the tensor cores. The values are addresses of the lanes' `Fragments`.
    Tensor(TensorOp),
}

/// Lanes that carry out one operation together.
pub(super) struct Group {
    op: Op,
    pub(super) mask: u32,
    pub(super) arrived: u32,
    /// Some lane carries out another operation than the first: the values are not of one kind.
    pub(super) mixed: bool,
    pub(super) location: &'static Location<'static>,
    pub(super) values: [u64; 32],
    arguments: [u32; 32],
}

impl Warp {
    pub(super) fn new(lanes: u32) -> Self {
        Self {
            lanes,
            live: Cell::new(0),
            ready: Cell::new(0),
            spinning: Cell::new(0),
            groups: UnsafeCell::default(),
            results: [const { Cell::new(0) }; 32],
            flags: Cell::new(0),
        }
    }

    pub(super) fn reset(&self) {
        self.live.set(self.existing());
        self.ready.set(0);
        self.spinning.set(0);
        self.groups().clear();
    }

    /// Mask of the lanes that the block has.
    pub(super) fn existing(&self) -> u32 {
        u32::MAX >> (32 - self.lanes)
    }

    pub(super) fn is_waiting(&self) -> bool {
        !self.groups().is_empty()
    }

    #[expect(clippy::mut_from_ref, reason = "one OS thread; no two of these borrows live at once")]
    fn groups(&self) -> &mut Vec<Group> {
        // SAFETY: only this OS thread touches the warp; callers end the borrow before the next call or switch.
        unsafe { &mut *self.groups.get() }
    }
}

impl Block {
    /// Carries out a warp-wide operation for one lane. Inlined up to the switch of stacks: see [`suspend`].
    #[inline(always)]
    pub(crate) fn warp_op(
        &self,
        lane: &Lane,
        op: Op,
        mask: u32,
        (value, argument): (u64, u32),
        location: &'static Location<'static>,
    ) -> (u64, bool) {
        if self.join_group(lane, op, mask, (value, argument), location) {
            suspend(lane);
        }
        let warp = &self.warps[usize::from(lane.warp)];
        (warp.results[usize::from(lane.lane) & 31].get(), warp.flags.get() & lane.bit() != 0)
    }

    /// Brings a lane's value. Gives whether it must wait for others.
    #[inline(never)]
    fn join_group(
        &self,
        lane: &Lane,
        op: Op,
        mask: u32,
        (value, argument): (u64, u32),
        location: &'static Location<'static>,
    ) -> bool {
        self.advance_clock();
        let warp = &self.warps[usize::from(lane.warp)];
        if mask & lane.bit() == 0 {
            self.fault(lane, Kind::WarpMask, location, None, || {
                format!("lane {} calls with mask {mask:#010x}, which does not name it", lane.lane)
            });
            warp.results[usize::from(lane.lane) & 31].set(value);
            warp.flags.set(warp.flags.get() & !lane.bit());
            return false;
        }
        let groups = warp.groups();
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
        if group.op != op || group.location != location {
            let first = group.location;
            self.fault(lane, Kind::WarpMask, location, Some(first), || {
                format!("lane {} is here while other lanes of mask {mask:#010x} carry out another operation", lane.lane)
            });
        }
        let complete = group.arrived == mask & warp.live.get();
        if complete {
            let group = groups.swap_remove(at);
            self.complete(lane.warp, &group);
            warp.ready.set(warp.ready.get() & !lane.bit());
        }
        !complete
    }

    /// A lane has exited: operations may have waited for it alone.
    pub(super) fn complete_after_exit(&self, index: u16) {
        let warp = &self.warps[usize::from(index)];
        while let Some(at) = warp.groups().iter().position(|group| group.arrived == group.mask & warp.live.get()) {
            let group = warp.groups().swap_remove(at);
            self.complete(index, &group);
        }
    }

    /// Whether an operation of its warp or warpgroup waits for this lane.
    pub(super) fn is_awaited(&self, lane: &Lane) -> bool {
        let groups = self.warps[usize::from(lane.warp)].groups();
        groups.iter().any(|group| group.mask & !group.arrived & lane.bit() != 0) || self.is_awaited_for_product(lane)
    }

    /// Ends operations that nobody will complete. Gives whether there was any.
    pub(super) fn resolve_warp(&self, index: u16) -> bool {
        let warp = &self.warps[usize::from(index)];
        let stuck = std::mem::take(warp.groups());
        for group in &stuck {
            let missing = group.mask & warp.live.get() & !group.arrived;
            let first = usize::from(index) * self.run().config.warp_size as usize;
            let lane = &self.lanes[first + group.arrived.trailing_zeros() as usize];
            let elsewhere = self.barriers.iter().find(|b| b.waiting(usize::from(index)) & missing != 0);
            let other = elsewhere.and_then(|barrier| barrier.site.get());
            self.fault(lane, Kind::WarpMask, group.location, other, || {
                let at = if other.is_some() { "wait at a barrier" } else { "wait in another operation" };
                format!("lanes {:#010x} wait here for lanes {missing:#010x}, which {at}", group.arrived)
            });
            self.complete(index, group);
        }
        !stuck.is_empty()
    }

    /// Computes the results of all lanes that arrived and lets them go on.
    fn complete(&self, index: u16, group: &Group) {
        self.note_progress();
        let warp = &self.warps[usize::from(index)];
        match group.op {
            Op::Tensor(op) => self.complete_tensor(index, group, op),
            Op::Values(WarpOp::Sync) => self.order_warp(index, group),
            Op::Values(
                op @ (WarpOp::ShuffleIdx { width }
                | WarpOp::ShuffleUp { width }
                | WarpOp::ShuffleDown { width }
                | WarpOp::ShuffleXor { width }),
            ) => {
                self.shuffle(index, group, op, width);
            }
            Op::Values(op) => {
                for lane in lanes(group.arrived) {
                    let (value, flag) = combine(op, group, lane);
                    warp.results[lane].set(value);
                    let bit = 1 << lane;
                    warp.flags.set(warp.flags.get() & !bit | if flag { bit } else { 0 });
                }
            }
        }
        warp.ready.set(warp.ready.get() | group.arrived);
    }

    /// PTX `shfl.sync`: the source lane by mode, within segments of `width` lanes; outside, a lane keeps its own value.
    fn shuffle(&self, index: u16, group: &Group, op: WarpOp, width: u32) {
        let warp = &self.warps[usize::from(index)];
        let mut flags = warp.flags.get();
        for lane in lanes(group.arrived) {
            let (own, argument) = (lane as u32, group.arguments[lane]);
            let (first, last) = (own & !(width - 1), own | (width - 1));
            let source = match op {
                WarpOp::ShuffleIdx { .. } => Some(first | argument & (width - 1)),
                WarpOp::ShuffleUp { .. } => own.checked_sub(argument).filter(|&source| source >= first),
                WarpOp::ShuffleDown { .. } => own.checked_add(argument).filter(|&source| source <= last),
                _ => Some(own ^ argument).filter(|&source| source <= last),
            };
            let bit = 1 << lane;
            flags = flags & !bit | if source.is_some() { bit } else { 0 };
            let source = source.unwrap_or(own);
            if group.arrived >> source & 1 == 0 {
                self.report_source(index, group, lane, source);
            }
            warp.results[lane].set(group.values[source as usize & 31]);
        }
        warp.flags.set(flags);
    }

    #[cold]
    fn report_source(&self, index: u16, group: &Group, lane: usize, source: u32) {
        let warp = &self.warps[usize::from(index)];
        let first = usize::from(index) * self.run().config.warp_size as usize;
        let (kind, why) = if warp.existing() >> source & 1 == 0 {
            (Kind::WarpExited, "the block has no such lane")
        } else if warp.live.get() >> source & 1 == 0 {
            (Kind::WarpExited, "that lane has exited")
        } else {
            (Kind::WarpMask, "that lane takes no part in it")
        };
        self.fault(&self.lanes[first + lane], kind, group.location, None, || {
            format!("lane {lane} takes its value from lane {source} in a shuffle with mask {:#010x}: {why}", group.mask)
        });
    }

    /// `sync_warp` orders what its lanes did; shuffles and votes do not (CUDA promises no memory order for them).
    fn order_warp(&self, index: u16, group: &Group) {
        if !self.lanes[0].watched() {
            return;
        }
        let warp = &self.warps[usize::from(index)];
        let first = usize::from(index) * self.run().config.warp_size as usize;
        let members = lanes(group.arrived).map(|lane| &self.lanes[first + lane]);
        if group.arrived == warp.existing() && !self.is_fine() {
            let latest = members.clone().map(|lane| lane.clock.get()).max().unwrap_or(0);
            let known = members.clone().map(|lane| lane.known.get()).max().unwrap_or(0);
            let next = self.bounded(latest + 1);
            let mut acquired = crate::order::Acquired::default();
            for rare in members.clone().filter_map(Lane::rare_if_any) {
                acquired.merge(&rare.acquired);
            }
            for lane in members {
                lane.known_warp.set(latest);
                lane.known.set(known);
                lane.clock.set(next);
                if !acquired.is_empty() {
                    lane.rare().acquired.merge(&acquired);
                }
            }
            return;
        }
        self.be_fine();
        let lanes: Vec<&Lane> = members.collect();
        let known = lanes.iter().map(|lane| lane.known.get()).max().unwrap_or(0);
        let members: Vec<_> = lanes.iter().map(|lane| self.member(lane)).collect();
        self.share(&members, known, &lanes);
    }
}

pub(super) fn lanes(mask: u32) -> impl Iterator<Item = usize> + Clone {
    (0..32).filter(move |lane| mask >> lane & 1 != 0)
}

/// Votes, matches and reductions over the lanes that arrived.
fn combine(op: WarpOp, group: &Group, lane: usize) -> (u64, bool) {
    let all = || lanes(group.arrived).map(|lane| group.values[lane]);
    let words = || all().map(|value| value as u32);
    let signed = || all().map(|value| value as u32 as i32);
    let own = group.values[lane];
    let mask = |holds: &dyn Fn(u64) -> bool| {
        lanes(group.arrived).filter(|&lane| holds(group.values[lane])).fold(0_u32, |mask, lane| mask | 1 << lane)
    };
    match op {
        WarpOp::Ballot => (u64::from(mask(&|value| value != 0)), true),
        WarpOp::MatchAny => (u64::from(mask(&|value| value == own)), true),
        WarpOp::MatchAll => {
            let equal = all().all(|value| value == own);
            (if equal { u64::from(group.mask) } else { 0 }, equal)
        }
        WarpOp::AddU32 => (u64::from(words().fold(0, u32::wrapping_add)), true),
        WarpOp::MinU32 => (u64::from(words().min().unwrap_or(0)), true),
        WarpOp::MaxU32 => (u64::from(words().max().unwrap_or(0)), true),
        WarpOp::MinI32 => (u64::from(signed().min().unwrap_or(0) as u32), true),
        WarpOp::MaxI32 => (u64::from(signed().max().unwrap_or(0) as u32), true),
        WarpOp::And => (u64::from(words().fold(u32::MAX, |a, b| a & b)), true),
        WarpOp::Or => (u64::from(words().fold(0, |a, b| a | b)), true),
        WarpOp::Xor => (u64::from(words().fold(0, |a, b| a ^ b)), true),
        WarpOp::Sync
        | WarpOp::ShuffleIdx { .. }
        | WarpOp::ShuffleUp { .. }
        | WarpOp::ShuffleDown { .. }
        | WarpOp::ShuffleXor { .. } => (own, true),
    }
}

//! TmaTensor as threads ask for them: the checks of an operation when it is issued, and of asynchronous reads.

use super::Block;
use crate::bulk::{Operation, Row, Stage, rows, stored_rows};
use crate::lane::Lane;
use crate::order::Store;
use crate::report::Kind;
use crate::shadow::{Accessed, MAX_CLOCK, Touch};
use crate::tensor_map::TensorMap;
use std::panic::Location;

/// What a thread asks the engine for.
#[derive(Clone, Copy)]
pub(crate) struct Ask<'a> {
    pub(crate) words: &'a [u64; 16],
    /// Bytes of an element, as the kernel has it.
    pub(crate) element: usize,
    /// The box's first element, innermost dimension first.
    pub(crate) at: &'a [i32],
    /// The place in shared memory, 0 where there is none, and its bytes.
    pub(crate) address: usize,
    pub(crate) bytes: usize,
    pub(crate) location: &'static Location<'static>,
}

impl Ask<'_> {
    /// The box's first element, in all dimensions that there can be.
    fn first(&self) -> [i32; 5] {
        let mut at = [0; 5];
        at[..self.at.len()].copy_from_slice(self.at);
        at
    }
}

impl Block {
    /// Issues a load that completes on an mbarrier.
    pub(crate) fn issue_load(&self, lane: &Lane, ask: &Ask<'_>, mbarrier: usize) {
        self.advance_clock();
        if mbarrier == 0 {
            return;
        }
        let (map, mut unfit) = self.fitting(lane, ask, Touch::Read);
        unfit |= ask.address == 0;
        if self.load_here(lane, lane.linear, ask, mbarrier, (map, unfit)) && lane.watched() && !unfit {
            self.global_rows(lane, &map, ask.first(), Touch::Read, ask.location);
        }
    }

    /// Issues a load of many: to this place, and completing on the mbarrier at this place, of each block of the cluster whose
    /// bit is set.
    pub(crate) fn issue_multicast(&self, lane: &Lane, ask: &Ask<'_>, mbarrier: usize, mask: u16) {
        self.advance_clock();
        if mbarrier == 0 {
            return;
        }
        let (map, mut unfit) = self.fitting(lane, ask, Touch::Read);
        unfit |= ask.address == 0;
        if mask == 0 {
            self.fault(lane, Kind::Cluster, ask.location, None, || "a load to no block: the mask is 0".to_owned());
        }
        let mut issued = false;
        for rank in (0..u16::BITS).filter(|rank| mask >> rank & 1 != 0) {
            let Some(there) = self.peer_for(lane, rank, ask.location) else {
                self.forgo(rank, mbarrier, &map);
                continue;
            };
            let at = |address: usize| if address == 0 { 0 } else { self.address_in(there, address) };
            let ask = Ask { address: at(ask.address), ..*ask };
            issued |= if std::ptr::eq(there, self) {
                self.load_here(lane, lane.linear, &ask, mbarrier, (map, unfit))
            } else {
                there.load_here(&self.seen_from(there, lane), lane.linear, &ask, at(mbarrier), (map, unfit))
            };
        }
        if issued && lane.watched() && !unfit {
            self.global_rows(lane, &map, ask.first(), Touch::Read, ask.location);
        }
    }

    /// A load is not sent to block `rank`, which was reported: what it was to bring is not missed there.
    fn forgo(&self, rank: u32, mbarrier: usize, map: &TensorMap) {
        let Some(there) = self.peer(rank as usize) else { return };
        if let Some(index) = there.engine().find(self.address_in(there, mbarrier)) {
            there.engine().mbarriers[index].bytes -= map.box_bytes() as i64;
        }
    }

    /// A load to this block by `thread`, which is `lane` as this block sees it. False: there is no mbarrier for it.
    fn load_here(
        &self,
        lane: &Lane,
        thread: u16,
        ask: &Ask<'_>,
        mbarrier: usize,
        (map, unfit): (TensorMap, bool),
    ) -> bool {
        let Some((phase, writer)) = self.mbarrier_for_copy(lane, mbarrier, ask.location) else { return false };
        let mut stamp = 0;
        if lane.watched() && ask.address != 0 {
            let size = if unfit { ask.bytes } else { map.box_bytes() as usize };
            let accessed = Accessed { address: ask.address, size, touch: Touch::BulkWrite, location: ask.location };
            if let Some(shadow) = self.shadow() {
                stamp = shadow.bulk_write(self, lane, accessed, writer);
            }
        }
        self.issue((lane.block().index(), thread), map, ask, Stage::Load { mbarrier, phase, stamp, unfit });
        true
    }

    /// Issues a store.
    pub(crate) fn issue_store(&self, lane: &Lane, ask: &Ask<'_>) {
        self.advance_clock();
        let (map, unfit) = self.fitting(lane, ask, Touch::Write);
        if unfit || ask.address == 0 {
            return;
        }
        let mut token = 0;
        if lane.watched() {
            token = self.begin_async_read(lane, ask.address, map.box_bytes() as usize, ask.location);
            // Until its thread has waited for it the write comes before nothing that others do: a clock that they never know.
            let now = lane.clock.replace(MAX_CLOCK);
            self.global_rows(lane, &map, ask.first(), Touch::Write, ask.location);
            lane.clock.set(now);
        }
        let number = self.engine().issued;
        self.issue((self.index(), lane.linear), map, ask, Stage::Read);
        let store = Store { number, token, map, at: ask.first(), site: ask.location, waited: false };
        lane.rare().stores.open.push(store);
    }

    fn issue(&self, (from, thread): ([u32; 3], u16), map: TensorMap, ask: &Ask<'_>, stage: Stage) {
        let engine = self.engine();
        engine.operations.push(Operation {
            number: engine.issued,
            map,
            at: ask.first(),
            address: ask.address,
            size: ask.bytes,
            // A map that is none has no bytes of its own: those that the kernel thinks of, so that its wait ends.
            count: if map.rank == 0 { ask.bytes } else { map.box_bytes() as usize },
            stage,
            thread,
            from,
            site: ask.location,
        });
        engine.issued += 1;
    }

    /// The map, and whether it does not fit what the kernel asks; reported.
    fn fitting(&self, lane: &Lane, ask: &Ask<'_>, touch: Touch) -> (TensorMap, bool) {
        let unfit = |map: TensorMap, why: String| {
            self.fault(lane, Kind::UnfitBox, ask.location, None, || why);
            (map, true)
        };
        let Some(map) = TensorMap::decode(ask.words) else {
            return unfit(TensorMap::default(), "the map was not made by `tma` of a view".to_owned());
        };
        if map.rank as usize != ask.at.len() {
            return unfit(map, format!("a copy of {} dimensions with a map of {}", ask.at.len(), map.rank));
        }
        if map.element as usize != ask.element {
            return unfit(map, format!("elements of {} bytes with a map of ones of {}", ask.element, map.element));
        }
        if ask.address == 0 {
            return (map, true);
        }
        let bytes = map.box_bytes();
        if bytes != ask.bytes as u64 {
            self.fault(lane, Kind::UnfitBox, ask.location, None, || {
                let extents = &map.boxes[..map.rank as usize];
                format!("the place has {} bytes, the map's box of {extents:?} elements has {bytes}", ask.bytes)
            });
            return (map, bytes > ask.bytes as u64);
        }
        let offset = ask.address - self.geometry.get().shared as usize;
        let unit = if map.swizzle == 0 { 128 } else { 128 << map.swizzle };
        if !offset.is_multiple_of(unit) {
            self.fault(lane, Kind::Misaligned, ask.location, None, || {
                let why = if unit > 128 { ", with which the pattern of its swizzle begins" } else { "" };
                format!("a box at byte {offset} of shared memory, which is no multiple of {unit}{why}")
            });
        }
        // Found on an H200, which ends the launch with an illegal instruction.
        let start = i64::from(ask.at[0]) * ask.element as i64;
        if touch == Touch::Read && start % 16 != 0 {
            self.fault(lane, Kind::Misaligned, ask.location, None, || {
                format!("a box from byte {start} of the tensor's rows, which is no multiple of 16")
            });
        }
        match self.bindings().get(map.tag as usize) {
            Some(binding) if touch == Touch::Read || binding.writable => (map, false),
            Some(binding) => unfit(map, format!("a store to `{}`, which is bound for reading", binding.name)),
            None => unfit(map, "a map of memory that the launch does not bind".to_owned()),
        }
    }

    /// Checks and notes what the box at `at` reads or writes of global memory.
    pub(super) fn global_rows(
        &self,
        lane: &Lane,
        map: &TensorMap,
        at: [i32; 5],
        touch: Touch,
        location: &'static Location<'static>,
    ) {
        let Some(binding) = self.bindings().get(map.tag as usize) else { return };
        let check = |row: Row| {
            let accessed = Accessed { address: row.address as usize, size: row.bytes, touch, location };
            self.check_waited(lane, accessed);
            // SAFETY: one OS thread works on a watched run, and no borrow of the shadow lives across this call.
            let global = unsafe { &mut *self.run().global.get() };
            global.access(map.tag, binding.memory, self, lane, accessed);
        };
        if touch == Touch::Read {
            rows(map, at).for_each(check);
        } else {
            stored_rows(map, at).for_each(check);
        }
    }

    /// An asynchronous read of shared memory begins; gives the token by which it ends. 0 where nobody watches.
    pub(crate) fn begin_async_read(
        &self,
        lane: &Lane,
        address: usize,
        size: usize,
        location: &'static Location<'static>,
    ) -> u64 {
        if !lane.watched() {
            return 0;
        }
        let accessed = Accessed { address, size, touch: Touch::BulkRead, location };
        self.shadow().map_or(0, |shadow| shadow.begin_read(self, lane, accessed))
    }

    /// It has ended, for the lane that issued it.
    pub(crate) fn end_async_read(&self, lane: &Lane, token: u64) {
        if lane.watched()
            && let Some(shadow) = self.shadow()
        {
            shadow.end_read(self, lane, token);
        }
    }

    /// This thread's ordinary writes so far are for the engine to see, once it learns of this.
    pub(crate) fn fence_proxy(&self, lane: &Lane) {
        self.fence_mbarriers(lane);
        if lane.watched() {
            lane.rare().proxy_fences.push(lane.clock.get());
            self.tick(lane);
        }
    }
}

//! The copy engine's operations on boxes: issued by threads, carried out when the seed says.

use super::Block;
use crate::bulk::{Landing, Operation, Stage, row_bytes, rows, swizzle, to_tf32};
use crate::lane::Lane;
use crate::order::Store;
use crate::report::Kind;
use crate::schedule::Order;
use crate::shadow::{Accessed, Touch};
use crate::tensor_map::TensorMap;
use std::panic::Location;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::Relaxed};

/// Of so many turns the engine takes one for an operation, on average.
const RARELY: u64 = 3;

/// What a thread asks the engine for.
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

impl Block {
    /// Issues a load that completes on an mbarrier.
    pub(crate) fn issue_load(&self, lane: &Lane, ask: &Ask<'_>, mbarrier: usize) {
        self.advance_clock();
        if mbarrier == 0 {
            return;
        }
        let (map, mut unfit) = self.fitting(lane, ask, Touch::Read);
        unfit |= ask.address == 0;
        let Some((phase, writer)) = self.mbarrier_for_copy(lane, mbarrier, ask.location) else { return };
        let mut stamp = 0;
        if lane.watched() && ask.address != 0 {
            if !unfit {
                self.global_rows(lane, &map, ask, Touch::Read);
            }
            let size = if unfit { ask.bytes } else { map.box_bytes() as usize };
            let accessed = Accessed { address: ask.address, size, touch: Touch::BulkWrite, location: ask.location };
            if let Some(shadow) = self.shadow() {
                stamp = shadow.bulk_write(self, lane, accessed, writer);
            }
        }
        self.issue(lane, map, ask, Stage::Load { mbarrier, phase, stamp, unfit });
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
            self.global_rows(lane, &map, ask, Touch::Write);
        }
        let number = self.engine().issued;
        self.issue(lane, map, ask, Stage::Read);
        lane.rare().stores.open.push(Store { number, token, site: ask.location, waited: false });
    }

    fn issue(&self, lane: &Lane, map: TensorMap, ask: &Ask<'_>, stage: Stage) {
        let mut at = [0; 5];
        at[..ask.at.len()].copy_from_slice(ask.at);
        let engine = self.engine();
        engine.operations.push(Operation {
            number: engine.issued,
            map,
            at,
            address: ask.address,
            size: ask.bytes,
            // A map that is none has no bytes of its own: those that the kernel thinks of, so that its wait ends.
            count: if map.rank == 0 { ask.bytes } else { map.box_bytes() as usize },
            stage,
            thread: lane.linear,
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
            return unfit(TensorMap::default(), "the map was not made by `boxes` of a view".to_owned());
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
        match self.bindings().get(map.tag as usize) {
            Some(binding) if touch == Touch::Read || binding.writable => (map, false),
            Some(binding) => unfit(map, format!("a store to `{}`, which is bound for reading", binding.name)),
            None => unfit(map, "a map of memory that the launch does not bind".to_owned()),
        }
    }

    /// Checks and notes what the box reads or writes of global memory.
    fn global_rows(&self, lane: &Lane, map: &TensorMap, ask: &Ask<'_>, touch: Touch) {
        let mut at = [0; 5];
        at[..ask.at.len()].copy_from_slice(ask.at);
        let Some(binding) = self.bindings().get(map.tag as usize) else { return };
        for row in rows(map, at) {
            let accessed = Accessed { address: row.address as usize, size: row.bytes, touch, location: ask.location };
            // SAFETY: one OS thread works on a watched run, and no borrow of the shadow lives across this call.
            let global = unsafe { &mut *self.run().global.get() };
            global.access(map.tag, binding.memory, self, lane, accessed);
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

    /// Closes the thread's stores into a group.
    pub(crate) fn commit_stores(&self, lane: &Lane) {
        self.advance_clock();
        let stores = &mut lane.rare().stores;
        let group = std::mem::take(&mut stores.open);
        stores.groups.push_back(group);
    }

    /// Waits until all but the `pending` youngest groups have read their shared memory, or are done.
    pub(crate) fn wait_stores(&self, lane: &Lane, pending: u32, only_read: bool) {
        self.advance_clock();
        let count = lane.rare().stores.groups.len().saturating_sub(pending as usize);
        for group in 0..count {
            for at in 0..lane.rare().stores.groups[group].len() {
                let store = &mut lane.rare().stores.groups[group][at];
                let (number, token, first) = (store.number, store.token, !std::mem::replace(&mut store.waited, true));
                while let Some(index) = self.engine().operations.iter().position(|it| it.number == number)
                    && (!only_read || matches!(self.engine().operations[index].stage, Stage::Read))
                {
                    self.advance(index);
                }
                if first {
                    self.end_async_read(lane, token);
                }
            }
        }
        if !only_read {
            lane.rare().stores.groups.drain(..count);
        }
    }

    /// A thread that exits has waited for its stores to read.
    pub(super) fn check_stores(&self, lane: &Lane) {
        let Some(rare) = lane.rare_if_any() else { return };
        let left = rare.stores.groups.iter().flatten().chain(&rare.stores.open).find(|store| !store.waited);
        if let Some(site) = left.map(|store| store.site) {
            self.fault(lane, Kind::AsyncNotWaited, site, None, || {
                "the thread exits while the store that it issued here may still read shared memory".to_owned()
            });
        }
    }

    /// Perhaps carries out an operation; surely, if it must and there is one. Gives whether it did.
    pub(super) fn turn_engine(&self, must: bool) -> bool {
        let engine = self.engine();
        let count = engine.operations.len() as u64;
        if count == 0 {
            return false;
        }
        let seed = self.run().config.seed;
        let salt = u64::from(self.number.get()) << 32 ^ self.interval.get() << 8 ^ engine.issued;
        if !must && seed != 0 && Order::new(RARELY, seed, salt).at(0) != 0 {
            return false;
        }
        self.advance(Order::new(count, seed, salt ^ 1 << 63).at(0) as usize);
        true
    }

    /// Takes an operation one step further.
    fn advance(&self, index: usize) {
        self.note_progress();
        let operation = &mut self.engine().operations[index];
        match &operation.stage {
            Stage::Load { .. } => {
                let operation = self.engine().operations.remove(index);
                self.land(&operation);
            }
            Stage::Read => {
                let bytes = self.read_box(operation);
                operation.stage = Stage::Write { bytes };
            }
            Stage::Write { .. } => {
                let operation = self.engine().operations.remove(index);
                if let Stage::Write { bytes } = &operation.stage {
                    self.write_box(&operation, bytes);
                }
            }
        }
    }

    /// Pieces of 16 bytes of the operation's box: number of the row, offset in it, and address in shared memory.
    fn pieces(&self, operation: &Operation) -> impl Iterator<Item = (usize, usize, *mut u8)> + use<> {
        let map = operation.map;
        let geometry = self.geometry.get();
        let (base, len) = (geometry.shared, geometry.shared_len);
        let start = operation.address - base as usize;
        let row = row_bytes(&map);
        (0..map.box_bytes() as usize).step_by(16).filter_map(move |at| {
            let place = swizzle(map.swizzle, start + at);
            (place + 16 <= len).then(|| (at / row, at % row, base.wrapping_add(place)))
        })
    }

    /// The box arrives: its bytes, and their count.
    fn land(&self, operation: &Operation) {
        let Stage::Load { mbarrier, phase, stamp, unfit } = operation.stage else { return };
        let map = &operation.map;
        if !unfit {
            let row_bytes = row_bytes(map);
            let mut whole = vec![0; map.box_bytes() as usize];
            for row in rows(map, operation.at) {
                let first = row.number * row_bytes + row.skip;
                if self.is_bound(map, row.address, row.bytes) {
                    // SAFETY: inside memory that the launch binds; others touch it at most by relaxed atomics.
                    unsafe { bytes_from(row.address as usize, &mut whole[first..first + row.bytes]) };
                }
            }
            if map.tf32 {
                to_tf32(&mut whole);
            }
            for (row, offset, place) in self.pieces(operation) {
                let from = &whole[row * row_bytes + offset..][..16];
                // SAFETY: 16 bytes of the block's shared memory, which only this OS thread touches.
                unsafe { place.copy_from_nonoverlapping(from.as_ptr(), 16) };
                if let Some(shadow) = self.shadow() {
                    shadow.note_piece(place as usize, row as u32, (offset / 16) as u32);
                }
            }
        }
        let Some(index) = self.engine().find(mbarrier) else { return };
        let size = if unfit { operation.size } else { map.box_bytes() as usize };
        let landing = Landing { address: operation.address, size, stamp, site: operation.site };
        let it = &mut self.engine().mbarriers[index];
        let place = (operation.address != 0).then_some(landing);
        if it.phases != phase {
            let site = it.site;
            it.landed.extend(place);
            let thread = self.lanes[usize::from(operation.thread)].thread_index();
            self.fault_at(Kind::Mbarrier, operation.site, Some(site), self.index(), thread, || {
                "the phase in which this copy was issued has ended without it: its bytes were not expected".to_owned()
            });
            return;
        }
        it.landing.extend(place);
        it.bytes -= operation.count as i64;
        self.check_phase(index, operation.site);
    }

    /// The bytes of a box in shared memory, row by row.
    fn read_box(&self, operation: &Operation) -> Vec<u8> {
        let row_bytes = row_bytes(&operation.map);
        let mut whole = vec![0; operation.map.box_bytes() as usize];
        for (row, offset, place) in self.pieces(operation) {
            let to = &mut whole[row * row_bytes + offset..][..16];
            // SAFETY: 16 bytes of the block's shared memory, which only this OS thread touches.
            unsafe { to.as_mut_ptr().copy_from_nonoverlapping(place, 16) };
        }
        whole
    }

    /// Writes the part of a box that lies in the tensor.
    fn write_box(&self, operation: &Operation, bytes: &[u8]) {
        let map = &operation.map;
        for row in rows(map, operation.at) {
            let first = row.number * row_bytes(map) + row.skip;
            if self.is_bound(map, row.address, row.bytes) {
                // SAFETY: inside memory that the launch binds for writing; others touch it at most by relaxed atomics.
                unsafe { bytes_to(row.address as usize, &bytes[first..first + row.bytes]) };
            }
        }
    }

    /// Whether the bytes lie in the map's memory. The host saw to it; a map from elsewhere might not.
    fn is_bound(&self, map: &TensorMap, address: u64, bytes: usize) -> bool {
        self.bindings().get(map.tag as usize).is_some_and(|binding| {
            let start = binding.memory.as_ptr() as u64;
            address >= start && address + bytes as u64 <= start + binding.memory.len() as u64
        })
    }

    /// The block ends: carries out what is left, and reports what nobody has waited for.
    pub(super) fn finish_engine(&self) {
        let silent = self.abandoned.get() || self.run().reports.borrow().has(Kind::Panic);
        let under_way = |site: &'static Location<'static>| {
            self.fault_at(Kind::AsyncNotWaited, site, None, self.index(), [0; 3], || {
                "the block ends, and nobody has waited for the copy that was issued here".to_owned()
            });
        };
        if !silent {
            let loads = self.engine().operations.iter().filter(|it| matches!(it.stage, Stage::Load { .. }));
            for site in loads.map(|it| it.site).collect::<Vec<_>>() {
                under_way(site);
            }
        }
        while !self.engine().operations.is_empty() && !self.abandoned.get() {
            self.advance(0);
        }
        for index in 0..self.engine().mbarriers.len() {
            let mbarrier = &self.engine().mbarriers[index];
            let landed: Vec<_> = mbarrier.landing.iter().chain(&mbarrier.landed).map(|landing| landing.site).collect();
            let (bytes, site, valid) = (mbarrier.bytes, mbarrier.site, mbarrier.valid);
            if silent {
                continue;
            }
            for site in landed {
                under_way(site);
            }
            if bytes != 0 && valid {
                self.fault_at(Kind::Mbarrier, site, None, self.index(), [0; 3], || {
                    format!("the block ends while a phase waits for {}", self.engine().mbarriers[index].missing())
                });
            }
        }
        self.engine().reset();
    }
}

/// Copies from global memory by relaxed atomics, of the widest kind that both address and length allow.
///
/// # Safety
/// The bytes lie in memory that others touch at most by relaxed atomics now.
unsafe fn bytes_from(address: usize, to: &mut [u8]) {
    macro_rules! by {
        ($atomic:ty, $word:ty) => {
            for (at, to) in to.chunks_exact_mut(size_of::<$word>()).enumerate() {
                let from = (address + at * size_of::<$word>()) as *mut $word;
                // SAFETY: as the caller promises; aligned, as tested.
                let word = unsafe { <$atomic>::from_ptr(from) }.load(Relaxed);
                to.copy_from_slice(&word.to_ne_bytes());
            }
        };
    }
    match (address | to.len()).trailing_zeros() {
        0 => by!(AtomicU8, u8),
        1 => by!(AtomicU16, u16),
        2 => by!(AtomicU32, u32),
        _ => by!(AtomicU64, u64),
    }
}

/// Copies to global memory, as [`bytes_from`].
///
/// # Safety
/// The bytes lie in memory that the launch may write and that others touch at most by relaxed atomics now.
unsafe fn bytes_to(address: usize, from: &[u8]) {
    macro_rules! by {
        ($atomic:ty, $word:ty) => {
            for (at, from) in from.chunks_exact(size_of::<$word>()).enumerate() {
                let to = (address + at * size_of::<$word>()) as *mut $word;
                let mut bytes = [0; size_of::<$word>()];
                bytes.copy_from_slice(from);
                // SAFETY: as the caller promises; aligned, as tested.
                unsafe { <$atomic>::from_ptr(to) }.store(<$word>::from_ne_bytes(bytes), Relaxed);
            }
        };
    }
    match (address | from.len()).trailing_zeros() {
        0 => by!(AtomicU8, u8),
        1 => by!(AtomicU16, u16),
        2 => by!(AtomicU32, u32),
        _ => by!(AtomicU64, u64),
    }
}

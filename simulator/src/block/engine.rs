//! The copy engine at work: operations carried out between the turns of threads.

use super::Block;
use crate::bulk::{
    Landing, Mbarrier, Operation, Stage, Visit, bytes_from, bytes_to, row_bytes, rows, stored_rows, swizzle, to_tf32,
};
use crate::report::Kind;
use crate::schedule::Order;
use crate::tensor_map::TensorMap;
use std::panic::Location;

/// Of so many turns the engine takes one for an operation, on average.
const RARELY: u64 = 3;

impl Block {
    /// The engine's turn after a sweep: it must do something if the lanes did nothing and none spins.
    #[inline]
    pub(super) fn turn_engine_after(&self, progressed: bool) -> bool {
        if self.engine().operations.is_empty() {
            return false;
        }
        let spins = self.warps.iter().any(|warp| warp.spinning.get() != 0);
        self.turn_engine(!progressed && !spins)
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
    pub(super) fn advance(&self, index: usize) {
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
        let Stage::Load { mbarrier, phase, .. } = operation.stage else { return };
        let landing = self.bring(operation);
        let Some(index) = self.engine().find(mbarrier) else { return };
        let it = &mut self.engine().mbarriers[index];
        if it.phases != phase {
            // Another mbarrier in its place: such as one that was made again.
            it.landed.extend(landing);
            self.report_unexpected(index, operation);
            return;
        }
        it.landing.extend(landing);
        it.bytes -= operation.count as i64;
        self.check_phase(index, operation.site);
    }

    /// Before a phase ends: copies that were issued in it are too late for it. They arrive now, lest reports of those who use
    /// their places hide the cause.
    pub(super) fn land_unexpected(&self, index: usize) {
        let Mbarrier { address, phases, .. } = self.engine().mbarriers[index];
        let is_late = |operation: &Operation| matches!(operation.stage, Stage::Load { mbarrier, phase, .. } if mbarrier == address && phase == phases);
        while let Some(at) = self.engine().operations.iter().position(is_late) {
            let operation = self.engine().operations.remove(at);
            let landing = self.bring(&operation);
            self.engine().mbarriers[index].landing.extend(landing);
            self.report_unexpected(index, &operation);
        }
    }

    fn report_unexpected(&self, index: usize, operation: &Operation) {
        let site = self.engine().mbarriers[index].site;
        let thread = self.lanes[usize::from(operation.thread)].thread_index();
        self.fault_at(Kind::Mbarrier, operation.site, Some(site), operation.from, thread, || {
            "the phase in which this copy was issued has ended without it: its bytes were not expected".to_owned()
        });
    }

    /// Brings the bytes of a box, if it fits. Gives where they are now.
    fn bring(&self, operation: &Operation) -> Option<Landing> {
        let Stage::Load { stamp, unfit, .. } = operation.stage else { return None };
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
        let size = if unfit { operation.size } else { map.box_bytes() as usize };
        let landing = Landing { address: operation.address, size, stamp, from: operation.from, site: operation.site };
        (operation.address != 0).then_some(landing)
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

    /// Writes the part of a box that lies in the tensor, and the rest of pieces that lie there in part.
    fn write_box(&self, operation: &Operation, bytes: &[u8]) {
        let map = &operation.map;
        for row in stored_rows(map, operation.at) {
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
        let under_way = |(from, site): ([u32; 3], &'static Location<'static>)| {
            if from == self.index() {
                self.fault_at(Kind::AsyncNotWaited, site, None, from, [0; 3], || {
                    "the block ends, and nobody has waited for the copy that was issued here".to_owned()
                });
            } else {
                self.fault_at(Kind::Cluster, site, None, from, [0; 3], || {
                    format!("{} ends, and nobody in it has waited for the copy that is sent to it here", self.name())
                });
            }
        };
        if !silent {
            let loads = self.engine().operations.iter().filter(|it| matches!(it.stage, Stage::Load { .. }));
            for load in loads.map(|it| (it.from, it.site)).collect::<Vec<_>>() {
                under_way(load);
            }
        }
        while !self.engine().operations.is_empty() && !self.abandoned.get() {
            self.advance(0);
        }
        for index in 0..self.engine().mbarriers.len() {
            let mbarrier = &self.engine().mbarriers[index];
            let landed = mbarrier.landing.iter().chain(&mbarrier.landed);
            let landed: Vec<_> = landed.map(|landing| (landing.from, landing.site)).collect();
            let (bytes, site, valid, visit) =
                (mbarrier.bytes, mbarrier.site, mbarrier.valid, mbarrier.visit.or(mbarrier.visited));
            if silent {
                continue;
            }
            for load in landed {
                under_way(load);
            }
            if let Some(Visit { block, thread, site }) = visit {
                self.fault_at(Kind::Cluster, site, None, block, thread, || {
                    format!("{} ends, and nothing in it has waited for the arrival that comes from here", self.name())
                });
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

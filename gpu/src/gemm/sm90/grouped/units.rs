//! The work units that the producer's warp finds, on their way to the consumers.
//!
//! ```text
//!  producer: wait until the slot is read ─▶ store unit ─▶ fill its first stage ──┐
//!                         ▲                                                      ▼ full
//!                         └────── load unit again, for the epilogue ◀── load unit: consumers
//! ```
//!
//! A unit of 0 steps ends the work. Unit i is in slot i modulo their number.

use simt::element::{Element, Vec4};
use simt::mbarrier::Mbarriers;
use simt::prelude::*;
use simt::warp::{lane_id, sync_warp};

use crate::gemm::sm90::pipeline::{BlockSmem, PipelineState};
use crate::gemm::sm90::schedule::grouped::GroupTile;

/// Slots for units, enough for the producer to be ahead of the consumers.
const SLOTS: usize = 4;
/// Words of a unit.
const WORDS: usize = 8;

/// Shared memory: that of [a product](BlockSmem), and the units.
#[repr(C, align(1024))]
#[derive(Shared)]
pub struct GroupedSmem<T: Element, const A: usize, const B: usize, const STAGES: usize, const E: usize> {
    pub(super) block: BlockSmem<T, A, B, STAGES, E, 0>,
    pub(super) units: UnitSlots,
}

/// The slots, and for each an mbarrier at which a warp arrives when it has read the unit.
#[repr(C)]
#[derive(Shared)]
pub struct UnitSlots {
    words: SharedArray<u32, { SLOTS * WORDS }>,
    read: Mbarriers<SLOTS>,
}

/// A work unit with the place of its tile.
#[derive(Clone, Copy)]
pub(super) struct Unit {
    pub(super) place: GroupTile,
    /// The tile's number.
    pub(super) tile: u32,
    /// The step after the unit's last.
    pub(super) to: u32,
    /// How many it has.
    pub(super) steps: u32,
    /// How many tiles are split.
    pub(super) split: u32,
}

/// A warp's view of the slots, of which one has the present unit.
#[derive(Clone, Copy)]
pub(super) struct Units<'a> {
    slots: &'a UnitSlots,
    state: PipelineState<SLOTS>,
}

impl<'a> Units<'a> {
    /// Initialises the mbarriers, by one thread: `readers` warps read a unit.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn init(slots: &UnitSlots, readers: u32) {
        for slot in 0..SLOTS as u32 {
            slots.read.init(slot, readers);
        }
    }

    #[cfg_attr(optimised, inline(always))]
    pub(super) const fn producer(slots: &'a UnitSlots) -> Self {
        Self { slots, state: PipelineState::PRODUCER }
    }

    #[cfg_attr(optimised, inline(always))]
    pub(super) const fn consumer(slots: &'a UnitSlots) -> Self {
        Self { slots, state: PipelineState::CONSUMER }
    }

    /// Where the slot begins.
    #[cfg_attr(optimised, inline(always))]
    const fn at(&self) -> u32 {
        self.state.stage() * WORDS as u32
    }

    /// Stores a unit once the slot is free, by one thread.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn store(&mut self, unit: Unit) {
        let Unit { place: GroupTile { group, row, end, col }, tile, to, steps, split } = unit;
        self.slots.read.wait(self.state.stage(), self.state.parity);
        self.slots.words.set_vec4(self.at(), Vec4::new([steps, row, end, col]));
        self.slots.words.set_vec4(self.at() + 4, Vec4::new([group, tile, to, split]));
        self.state.advance();
    }

    /// Stores that there are no more, by one thread.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn finish(&mut self) {
        let place = GroupTile { group: 0, row: 0, end: 0, col: 0 };
        self.store(Unit { place, tile: 0, to: 0, steps: 0, split: 0 });
    }

    /// Steps of the present unit, the first row of its tile and where the group's rows end; 0 steps after the last.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn range(&self) -> [u32; 3] {
        let [steps, row, end, _] = self.slots.words.get_vec4(self.at()).lanes;
        [steps, row, end]
    }

    /// The present unit, which this warp reads no more.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn take(&mut self) -> Unit {
        let [steps, row, end, col] = self.slots.words.get_vec4(self.at()).lanes;
        let [group, tile, to, split] = self.slots.words.get_vec4(self.at() + 4).lanes;
        sync_warp(u32::MAX);
        if lane_id() == 0 {
            self.slots.read.arrive(self.state.stage());
        }
        self.state.advance();
        Unit { place: GroupTile { group, row, end, col }, tile, to, steps, split }
    }
}

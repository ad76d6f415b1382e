//! Which lanes of a warp exist, are alive, can run, or spin.

use crate::lane::Lane;
use std::cell::Cell;

/// Lanes of one warp of a resident block, as masks.
pub(super) struct Warp {
    /// Lanes that the block has: fewer than the warp's size in a last, partial warp.
    pub(super) lanes: u32,
    /// Lanes that have not exited.
    pub(super) live: Cell<u32>,
    /// Lanes that can run.
    pub(super) ready: Cell<u32>,
    /// Lanes that spin on an atomic: they get a turn when nothing else is ready.
    pub(super) spinning: Cell<u32>,
}

impl Warp {
    pub(super) fn new(lanes: u32) -> Self {
        Self { lanes, live: Cell::new(0), ready: Cell::new(0), spinning: Cell::new(0) }
    }

    pub(super) fn reset(&self) {
        self.live.set(self.existing());
        self.ready.set(0);
        self.spinning.set(0);
    }

    /// Mask of the lanes that the block has.
    pub(super) fn existing(&self) -> u32 {
        u32::MAX >> (32 - self.lanes)
    }

    /// Makes lanes ready.
    #[inline]
    pub(super) fn wake(&self, lanes: u32) {
        self.ready.set(self.ready.get() | lanes);
    }

    /// The lane that completed an operation goes on in its fiber: the scheduler need not resume it.
    #[inline]
    pub(super) fn keep_running(&self, lane: &Lane) {
        self.ready.set(self.ready.get() & !lane.bit());
    }
}

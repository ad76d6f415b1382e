//! One block's part of the barrier of its cluster.

use super::state::BlockState;
use crate::lane::Lane;
use crate::report::Kind;
use std::cell::Cell;
use std::panic::Location;

/// The threads of one block that have arrived at the barrier of the cluster.
pub(super) struct ClusterBarrier {
    arrived: Cell<u32>,
    /// Where the first thread arrived, and a thread that arrived elsewhere.
    site: Cell<Option<&'static Location<'static>>>,
    other: Cell<Option<(&'static Location<'static>, u16)>>,
    /// Per warp the lanes that wait.
    waiting: Box<[Cell<u32>]>,
}

impl ClusterBarrier {
    pub(super) fn new(warps: usize) -> Self {
        Self {
            arrived: Cell::new(0),
            site: Cell::new(None),
            other: Cell::new(None),
            waiting: (0..warps).map(|_| Cell::new(0)).collect(),
        }
    }

    pub(super) fn clear(&self) {
        self.arrived.set(0);
        self.site.set(None);
        self.other.set(None);
        for waiting in &self.waiting {
            waiting.set(0);
        }
    }

    /// Threads that have arrived.
    pub(super) fn arrived(&self) -> u32 {
        self.arrived.get()
    }

    /// Where lanes wait, if any do.
    pub(super) fn site(&self) -> Option<&'static Location<'static>> {
        self.site.get()
    }

    /// Lanes of `warp` that wait here.
    pub(super) fn waiting(&self, warp: usize) -> u32 {
        self.waiting[warp].get()
    }

    /// A thread arrives, to wait.
    pub(super) fn arrive(&self, lane: &Lane, location: &'static Location<'static>) {
        match self.site.get() {
            None => self.site.set(Some(location)),
            Some(site) if !std::ptr::eq(site, location) && site != location => {
                self.other.set(Some((location, lane.linear)));
            }
            Some(_) => {}
        }
        self.arrived.set(self.arrived.get() + 1);
        let waiting = &self.waiting[usize::from(lane.warp)];
        waiting.set(waiting.get() | lane.bit());
    }

    /// Releases the threads that wait.
    pub(super) fn release(&self, state: &BlockState) {
        for (warp, waiting) in state.warps.iter().zip(&self.waiting) {
            warp.wake(waiting.replace(0));
        }
        self.clear();
    }

    /// Reports threads of this block that are at another place than the first of the cluster.
    pub(super) fn check_sites(&self, state: &BlockState, first: Option<&'static Location<'static>>) {
        let (Some(first), Some(site)) = (first, self.site.get()) else { return };
        let of_block = || {
            let waiting = state.threads.in_masks(|warp| self.waiting(warp));
            Some((site, *waiting.first()?)).filter(|_| site != first)
        };
        if let Some((other, thread)) = self.other.get().or_else(of_block) {
            let threads = &state.threads;
            threads.fault(threads.lane(thread), Kind::DivergentBarrier, other, Some(first), || {
                format!(
                    "{} is at this barrier of the cluster while others are at another one",
                    threads.name_thread(thread)
                )
            });
        }
    }
}

//! Programmatic dependent launch: what a thread may do before `griddepcontrol.wait`.

use crate::lane::{Lane, UNWAITED};
use crate::report::Kind;
use crate::shadow::Accessed;
use crate::threads::Threads;
use std::cell::Cell;
use std::panic::Location;

/// Whether the threads of a block have waited for the grid before theirs.
#[derive(Default)]
pub(crate) struct Dependency {
    /// Whether one has.
    waited: Cell<bool>,
    /// Where one has ended without.
    ended_unwaited: Cell<Option<&'static Location<'static>>>,
}

impl Dependency {
    pub(super) fn reset(&self) {
        self.waited.set(false);
        self.ended_unwaited.set(None);
    }

    /// A thread waits for the grid before its own.
    pub(crate) fn wait(&self, lane: &Lane) {
        if lane.watch.get() & UNWAITED != 0 {
            lane.end_unwaited();
            self.waited.set(true);
        }
    }

    /// A thread ends.
    pub(crate) fn end(&self, lane: &Lane, location: &'static Location<'static>) {
        if lane.watch.get() & UNWAITED != 0 {
            self.ended_unwaited.set(Some(location));
        }
    }

    /// Reports an access to global memory by a thread that has not waited.
    #[inline]
    pub(super) fn check(threads: &Threads, lane: &Lane, accessed: Accessed) {
        if lane.watch.get() & UNWAITED != 0 {
            report_access(threads, lane, accessed);
        }
    }

    /// The block ends: reports that none of its threads has waited.
    pub(super) fn finish(&self, threads: &Threads) {
        let Some(location) = self.ended_unwaited.take() else { return };
        if self.waited.get() {
            return;
        }
        threads.fault_at(Kind::PredecessorNotWaited, location, None, threads.index(), [0; 3], || {
            "the block ends, and none of its threads has waited: this grid might be done before the one before it, and \
             the next one, which waits for this one alone, begin too soon"
                .to_owned()
        });
    }
}

#[cold]
fn report_access(threads: &Threads, lane: &Lane, accessed: Accessed) {
    threads.fault(lane, Kind::PredecessorNotWaited, accessed.location, None, || {
        let what = if accessed.kind.writes() { "write" } else { "read" };
        let name = threads.name_global(accessed.address);
        format!("{what} of {name}, while the grid before this one may still write it or read it")
    });
}

//! Launches that begin before their predecessor is done: what a thread may do before it has waited for that.

use super::Block;
use crate::lane::{Lane, UNWAITED};
use crate::report::Kind;
use crate::shadow::Accessed;
use std::panic::Location;

impl Block {
    /// Reports an access to global memory by a thread that has yet to wait.
    #[inline]
    pub(super) fn check_waited(&self, lane: &Lane, accessed: Accessed) {
        if lane.watch.get() & UNWAITED != 0 {
            self.touched_unwaited(lane, accessed);
        }
    }

    #[cold]
    fn touched_unwaited(&self, lane: &Lane, accessed: Accessed) {
        self.fault(lane, Kind::PredecessorNotWaited, accessed.location, None, || {
            let what = if accessed.touch.writes() { "write" } else { "read" };
            let name = self.name_global(accessed.address);
            format!("{what} of {name}, while the grid before this one may still write it or read it")
        });
    }

    /// A thread ends without having waited, which is right if another of its block has.
    pub(crate) fn ended_unwaited(&self, location: &'static Location<'static>) {
        self.unwaited.set(Some(location));
    }

    /// The block ends: reports that none of its threads has waited.
    pub(super) fn check_some_waited(&self) {
        let Some(location) = self.unwaited.take() else { return };
        if self.waited.get() || self.abandoned.get() {
            return;
        }
        self.fault_at(Kind::PredecessorNotWaited, location, None, self.index(), [0; 3], || {
            "the block ends, and none of its threads has waited: this grid might be done before the one before it, and the next \
             one, which waits for this one alone, begin too soon"
                .to_owned()
        });
    }
}

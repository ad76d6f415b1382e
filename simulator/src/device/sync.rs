//! Barriers, warp operations and branches.

use crate::block::Op;
use crate::counters::{Access, What};
use crate::lane::{COUNTERS, UNWAITED, current, suspend};
use std::panic::Location;

/// Barrier of all threads of the block.
#[inline(always)]
#[track_caller]
pub fn sync_threads() {
    let lane = current();
    lane.block().sync_threads(&lane, Location::caller());
}

/// What [`sync_threads_vote`] tells every thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockVote {
    /// Threads whose predicate holds.
    pub count: u32,
    /// It holds for all of them.
    pub all: bool,
    /// It holds for at least one.
    pub any: bool,
}

/// Barrier of all threads of the block that counts those whose predicate holds.
#[inline(always)]
#[track_caller]
pub fn sync_threads_vote(predicate: bool) -> BlockVote {
    let lane = current();
    let count = lane.block().sync_threads_vote(&lane, predicate, Location::caller());
    let [x, y, z] = lane.geometry().block_dim;
    BlockVote { count, all: count == x * y * z, any: count > 0 }
}

/// Barrier `id` (0 to 15) for `threads` threads, a multiple of the warp size; with `wait` false the thread only counts.
///
/// # Panics
/// If there is no barrier `id`, or `threads` is 0 or no multiple of the warp size.
#[inline(always)]
#[track_caller]
pub fn named_barrier(id: u32, threads: u32, wait: bool) {
    let lane = current();
    let size = lane.geometry().warp_size;
    assert!(id < 16, "there is no barrier {id}: a block has barriers 0 to 15");
    assert!(
        threads > 0 && threads.is_multiple_of(size),
        "barrier {id} is to wait for {threads} threads: it counts whole warps, multiples of {size}"
    );
    lane.block().named_barrier(&lane, id, threads, wait, Location::caller());
}

/// A warp-wide operation, carried out by every lane of the mask that has not exited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarpOp {
    /// Barrier and memory order among the lanes of the mask.
    Sync,
    /// Value of lane `arg` of this lane's segment.
    ShuffleIdx {
        /// Lanes per segment, a power of two.
        width: u32,
    },
    /// Value of the lane `arg` below, if it lies in this lane's segment.
    ShuffleUp {
        /// Lanes per segment, a power of two.
        width: u32,
    },
    /// Value of the lane `arg` above, if it lies in this lane's segment.
    ShuffleDown {
        /// Lanes per segment, a power of two.
        width: u32,
    },
    /// Value of the lane whose number is this one's exclusive-or `arg`, unless it lies in a later segment.
    ShuffleXor {
        /// Lanes per segment, a power of two.
        width: u32,
    },
    /// Bit i is set where lane i's value is not 0.
    Ballot,
    /// Mask of the lanes whose value equals this lane's.
    MatchAny,
    /// The whole mask if all values are equal (flag true), else 0.
    MatchAll,
    /// Sum modulo 2³².
    AddU32,
    /// Smallest, unsigned.
    MinU32,
    /// Largest, unsigned.
    MaxU32,
    /// Smallest, signed.
    MinI32,
    /// Largest, signed.
    MaxI32,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive-or.
    Xor,
}

/// Carries out `op` with this lane's `value` (bits) and `arg` (lane, delta or xor mask). Gives result and flag; for
/// shuffles the flag says whether the source lane lay in range.
#[inline(always)]
#[track_caller]
pub fn warp_op(op: WarpOp, mask: u32, value: u64, arg: u32) -> (u64, bool) {
    let lane = current();
    lane.block().warp_op(&lane, Op::Values(op), mask, (value, arg), Location::caller())
}

/// Records a branch of the kernel for the divergence counter; the identity.
#[inline(always)]
#[track_caller]
pub fn branch(condition: bool) -> bool {
    if current().watch.get() & COUNTERS != 0 {
        note_branch(condition, Location::caller());
    }
    condition
}

#[inline(never)]
fn note_branch(condition: bool, location: &'static Location<'static>) {
    let lane = current();
    lane.block().count(&lane, location, What::new(Access::Branch, 0), usize::from(condition));
}

/// `griddepcontrol.wait`: from here on this thread may touch global memory although its launch overlaps the one before it.
#[inline]
pub fn dependency_wait() {
    let lane = current();
    if lane.watch.get() & UNWAITED != 0 {
        lane.watch.set(lane.watch.get() & !UNWAITED);
        lane.block().waited.set(true);
    }
}

/// This thread has come to the end of a kernel whose launches overlap.
#[inline]
#[track_caller]
pub fn end_of_kernel() {
    let lane = current();
    if lane.watch.get() & UNWAITED != 0 {
        lane.block().ended_unwaited(Location::caller());
    }
}

/// Lets others run: this thread waits for one of them.
#[inline]
#[track_caller]
pub fn yield_now() {
    let lane = current();
    lane.block().spin(&lane, Location::caller());
    suspend(&lane);
}

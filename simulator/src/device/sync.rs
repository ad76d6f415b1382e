//! Barriers, warp operations and branches.

pub use crate::block::WarpOp;
use crate::block::{Block, Gathered, Op};
use crate::counters::{Access, What};
use crate::lane::{COUNTERS, UNWAITED, current, suspend};
use crate::mutation::{self, Change, mutated};
use crate::overflow::{enter, enter_at};
use std::mem::MaybeUninit;
use std::panic::Location;

/// Barrier of all threads of the block.
#[inline(always)]
#[track_caller]
pub fn sync_threads() {
    let lane = current();
    let Block { state, barriers, .. } = Block::of(&lane);
    barriers.sync(state, &lane, Location::caller());
}

/// The result of [`sync_threads_vote`].
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
    if mutated(Location::caller(), Change::Remove) {
        return BlockVote { count: predicate.into(), all: predicate, any: predicate };
    }
    let lane = current();
    let Block { state, barriers, .. } = Block::of(&lane);
    let count = barriers.sync_vote(state, &lane, predicate, Location::caller());
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
    let location = Location::caller();
    if mutated(location, Change::Remove) {
        return;
    }
    let threads = if threads > size && mutated(location, Change::Threads) { threads - size } else { threads };
    let Block { state, barriers, .. } = Block::of(&lane);
    barriers.sync_some(state, &lane, (id as usize, threads), wait, location);
}

/// Executes `op` with this lane's `value` (bits) and `arg` (lane, delta or xor mask). Gives result and flag; for
/// shuffles the flag says whether the source lane lay in range.
#[inline(always)]
#[track_caller]
pub fn warp_op(op: WarpOp, mask: u32, value: u64, arg: u32) -> (u64, bool) {
    let (lane, location) = (current(), Location::caller());
    if op == WarpOp::Sync && mutated(location, Change::Remove) {
        return (value, true);
    }
    let block = Block::of(&lane);
    let op = (Op::Values(op), mutation::mask(location, mask));
    block.warp_ops(&lane).run(&block.state, &lane, op, (value, arg), location)
}

/// A shuffle of all `numbers` at once. Gives whether the source lane lay in range.
#[inline(always)]
#[track_caller]
pub fn warp_shuffle(op: WarpOp, mask: u32, numbers: &mut [u64], arg: u32) -> bool {
    let (lane, location) = (current(), Location::caller());
    let block = Block::of(&lane);
    let address = numbers.as_mut_ptr().expose_provenance() as u64;
    let op = (Op::Numbers(op, numbers.len()), mutation::mask(location, mask));
    block.warp_ops(&lane).run(&block.state, &lane, op, (address, arg), location).1
}

/// The values of the lanes that are `stride` apart in this lane's segment of `width` lanes, if it is the first of them;
/// its own alone if not. Its own is the first.
///
/// # Panics
/// `width` and `stride` are not powers of two, `width` is more than 32, or `stride` is not less than `width`.
#[inline(always)]
#[track_caller]
pub fn warp_gather<T: Copy>(
    mask: u32,
    value: T,
    (width, stride): (u32, u32),
    values: &mut [MaybeUninit<T>; 32],
) -> &mut [T] {
    const { assert!(size_of::<T>() <= u16::MAX as usize, "a lane's value is small") };
    let are_powers = width.is_power_of_two() && stride.is_power_of_two();
    assert!(are_powers && stride < width && width <= 32, "there are no lanes {stride} apart in segments of {width}");
    let (lane, location) = (current(), Location::caller());
    let block = Block::of(&lane);
    values[0].write(value);
    let mut gathered = Gathered { values: values.as_mut_ptr().cast(), count: 1 };
    let address = (&raw mut gathered).expose_provenance() as u64;
    let op = Op::Gather { width: width as u8, stride: stride as u8, bytes: size_of::<T>() as u16 };
    let op = (op, mutation::mask(location, mask));
    block.warp_ops(&lane).run(&block.state, &lane, op, (address, 0), location);
    // SAFETY: so many values are written: the first above, others by the lane that completed the operation.
    unsafe { std::slice::from_raw_parts_mut(gathered.values.cast(), gathered.count) }
}

/// Records a branch of the kernel for the divergence counter; returns the condition.
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
    let lane = enter_at(location);
    Block::of(&lane).state.count(&lane, location, What::new(Access::Branch, 0), usize::from(condition));
}

/// `griddepcontrol.wait`: from here on this thread may access global memory, which the grid before its own has written.
#[inline]
#[track_caller]
pub fn dependency_wait() {
    let lane = enter();
    if lane.watch.get() & UNWAITED != 0 && !mutated(Location::caller(), Change::Remove) {
        Block::of(&lane).state.dependency.wait(&lane);
    }
}

/// This thread ends, in a kernel with programmatic dependent launch.
#[inline]
#[track_caller]
pub fn end_of_kernel() {
    let lane = enter();
    if lane.watch.get() & UNWAITED != 0 {
        Block::of(&lane).state.dependency.end(&lane, Location::caller());
    }
}

/// Lets others run: this thread waits for one of them.
#[inline]
#[track_caller]
pub fn yield_now() {
    let lane = enter();
    Block::of(&lane).state.spin(&lane, Location::caller(), None, 1);
    suspend(&lane);
}

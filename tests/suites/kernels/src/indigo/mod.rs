//! *Indigo* (Liu, Azami, Walters, Burtscher, ISPASS 2022), in the selection of *`HiRace`* (Jacobson and others, SC
//! 2024): 590 kernels on graphs.
//!
//! Each is one of 21 patterns with some of twelve options; the patterns are five operations on a vertex and its
//! neighbours, each by four shapes of parallelism, and path compression. The options that inject faults have `Bug` in
//! the suite's names. The kernels here are one body for each operation and shape, whose options are a parameter of the
//! launch.
//!
//! Plain accesses have no check of the bounds on a GPU: kernels with `BOUNDS_BUG` access memory outside there, as the
//! suite's do. The simulator checks them.

#[cfg(not(target_arch = "nvptx64"))]
mod entries;
#[cfg(not(target_arch = "nvptx64"))]
mod graphs;

use simt::prelude::*;
use simt::shared::SharedArray;
use simt::warp::{warp_shuffle_up, warp_shuffle_xor, warp_vote_any, warp_vote_ballot};

#[cfg(not(target_arch = "nvptx64"))]
pub use entries::{Entry, entries};
#[cfg(not(target_arch = "nvptx64"))]
pub use graphs::{Graph, graphs};

/// Threads of a block.
const THREADS: u32 = 64;
/// Blocks: more threads than any graph has vertices, and a block for each vertex.
const BLOCKS: u32 = 208;

/// The options, in the order of the suite's names.
const OPTIONS: [(&str, u32); 12] = [
    ("raceBug", RACE_BUG),
    ("traverse", TRAVERSE),
    ("shfl", SHUFFLE),
    ("persistent", PERSISTENT),
    ("boundsBug", BOUNDS_BUG),
    ("last", LAST),
    ("reverse", REVERSE),
    ("cond", COND),
    ("syncBug", SYNC_BUG),
    ("guardBug", GUARD_BUG),
    ("atomicBug", ATOMIC_BUG),
    ("break", BREAK),
];
/// A loop over the vertices instead of a thread, warp or block for each.
const PERSISTENT: u32 = 1;
/// The last neighbour instead of the first.
const LAST: u32 = 2;
/// The neighbours from the last one on.
const REVERSE: u32 = 4;
/// Stops at the first neighbour that counts.
const BREAK: u32 = 8;
/// Only neighbours with a larger number count.
const COND: u32 = 16;
/// Reduction in a block by shuffles.
const SHUFFLE: u32 = 32;
/// Path compression that writes elsewhere.
const TRAVERSE: u32 = 64;
/// No check that there is such a vertex, or a first neighbour.
const BOUNDS_BUG: u32 = 128;
/// A plain read and write instead of an atomic operation.
const ATOMIC_BUG: u32 = 256;
/// A plain read first, which decides whether the operation is needed.
const GUARD_BUG: u32 = 512;
/// A missing barrier.
const SYNC_BUG: u32 = 1024;
/// Path compression by plain accesses.
const RACE_BUG: u32 = 2048;

/// Plain accesses whose bounds a GPU does not check.
trait Unchecked {
    fn read(&self, i: usize) -> u32;
}

impl Unchecked for VecRef<'_, u32> {
    #[inline(always)]
    #[track_caller]
    fn read(&self, i: usize) -> u32 {
        // SAFETY: the simulator checks it. On a GPU the index is outside in kernels with `BOUNDS_BUG` alone, which are
        // launched there to see what compute-sanitizer says of that.
        unsafe { self.get_unchecked(i) }
    }
}

impl Unchecked for VecMut<'_, u32> {
    #[inline(always)]
    #[track_caller]
    fn read(&self, i: usize) -> u32 {
        // SAFETY: as above.
        unsafe { self.get_unchecked(i) }
    }
}

/// [`Unchecked`], for writing.
trait UncheckedMut {
    fn write(&self, i: usize, value: u32);
}

impl UncheckedMut for VecMut<'_, u32> {
    #[inline(always)]
    #[track_caller]
    fn write(&self, i: usize, value: u32) {
        // SAFETY: as above.
        unsafe { self.set_unchecked(i, value) }
    }
}

/// A graph in compressed rows, and two vectors.
#[derive(Clone, Copy)]
struct Memory<'a> {
    index: VecRef<'a, u32>,
    neighbours: VecRef<'a, u32>,
    data1: VecMut<'a, u32>,
    data2: VecMut<'a, u32>,
}

#[repr(C)]
#[derive(Shared)]
struct Carry {
    words: SharedArray<u32, 64>,
}

/// The views of a launch with its options.
#[derive(Clone, Copy)]
struct Run<'a> {
    m: Memory<'a>,
    options: u32,
}

impl Run<'_> {
    fn has(&self, option: u32) -> bool {
        self.options & option != 0
    }

    fn vertices(&self) -> usize {
        self.m.index.len() - 1
    }

    /// Calls `body` for the vertices of worker `first` of so many.
    #[inline(always)]
    fn each_vertex(&self, first: usize, workers: usize, body: impl Fn(usize)) {
        if self.has(PERSISTENT) {
            (first..self.vertices()).step_by(workers).for_each(body);
        } else if first < self.vertices() || self.has(BOUNDS_BUG) && !self.has(ONE) {
            body(first);
        }
    }

    /// First edge of a vertex, and the one after its last.
    fn edges(&self, i: usize) -> (i64, i64) {
        (self.m.index.read(i).into(), self.m.index.read(i + 1).into())
    }

    /// The edges of a vertex that worker `first` of so many has, in order.
    fn share(&self, i: usize, first: usize, workers: usize) -> impl Iterator<Item = i64> {
        let ((begin, end), reverse) = (self.edges(i), self.has(REVERSE));
        let edge = move |step: i64| if reverse { end - 1 - step } else { begin + step };
        (first as i64..end - begin).step_by(workers).map(edge)
    }

    fn neighbour(&self, edge: i64) -> u32 {
        self.m.neighbours.read(edge as usize)
    }

    /// Whether this neighbour counts.
    fn counts(&self, i: usize, neighbour: u32) -> bool {
        !self.has(COND) || (i as u32) < neighbour
    }

    /// Raises the first element to `value`.
    fn raise(&self, value: u32) {
        if self.has(GUARD_BUG) && self.m.data1.read(0) >= value {
            return;
        }
        if self.has(ATOMIC_BUG) {
            self.m.data1.write(0, self.m.data1.read(0).max(value));
        } else {
            self.m.data1.atomic(0).fetch_max(value, Order::Relaxed, Scope::Device);
        }
    }

    /// Adds to an element; gives its old value.
    fn add(&self, to: &VecMut<u32>, value: u32) -> u32 {
        if self.has(ATOMIC_BUG) {
            let old = to.read(0);
            to.write(0, old + value);
            old
        } else {
            to.atomic(0).fetch_add(value, Order::Relaxed, Scope::Device)
        }
    }

    /// What an operation does for one neighbour. Gives whether the neighbour counts.
    #[inline(always)]
    fn visit(&self, operation: Operation, i: usize, edge: i64) -> bool {
        let neighbour = self.neighbour(edge);
        let is_larger = (i as u32) < neighbour;
        let Memory { data1, data2, .. } = self.m;
        match operation {
            Operation::ConditionalEdge if self.counts(i, neighbour) => self.raise(data2.read(neighbour as usize)),
            Operation::ConditionalVertex if is_larger => {
                self.add(&data1, 1);
            }
            Operation::PopulateWorklist if is_larger => {
                data1.write(self.add(&data2, 1) as usize, edge as u32);
            }
            Operation::PullNode if self.counts(i, neighbour) => {
                data1.write(i, data1.read(i) + data2.read(neighbour as usize));
            }
            Operation::PushNode if self.counts(i, neighbour) => {
                let (at, value) = (neighbour as usize, data2.read(i));
                if self.has(ATOMIC_BUG) {
                    data1.write(at, data1.read(at).min(value));
                } else {
                    data1.atomic(at).fetch_min(value, Order::Relaxed, Scope::Device);
                }
            }
            _ => return false,
        }
        true
    }

    /// The sum or maximum of what a worker of many reads for a vertex.
    fn collect(&self, operation: Operation, i: usize, first: usize, workers: usize) -> u32 {
        self.share(i, first, workers).fold(0, |value, edge| {
            let neighbour = self.neighbour(edge);
            if self.counts(i, neighbour) {
                operation.combine(value, self.m.data2.read(neighbour as usize))
            } else {
                value
            }
        })
    }

    /// One thread of many has the combined value of a vertex.
    fn deliver(&self, operation: Operation, i: usize, value: u32) {
        if operation == Operation::ConditionalEdge {
            self.raise(value);
        } else {
            self.m.data1.write(i, self.m.data1.read(i) + value);
        }
    }
}

/// Set beside the options of the patterns with one neighbour.
const ONE: u32 = 1 << 31;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    /// The largest value of all neighbours.
    ConditionalEdge,
    /// The number of edges to a larger vertex.
    ConditionalVertex,
    /// The list of these edges.
    PopulateWorklist,
    /// The sum of the neighbours' values, for each vertex.
    PullNode,
    /// The smallest value of the vertices of which each is a neighbour.
    PushNode,
}

impl Operation {
    fn combine(self, x: u32, y: u32) -> u32 {
        if self == Self::ConditionalEdge { x.max(y) } else { x + y }
    }

    /// Whether a warp or block combines what its threads read before it writes.
    fn combines(self) -> bool {
        matches!(self, Self::ConditionalEdge | Self::PullNode)
    }

    fn of(number: u32) -> Self {
        [Self::ConditionalEdge, Self::ConditionalVertex, Self::PopulateWorklist, Self::PullNode, Self::PushNode]
            [number as usize]
    }
}

/// A thread for each vertex and its first neighbour.
#[kernel(block = 64)]
fn neighbor(n: u32, options: u32, index: VecRef<u32>, neighbours: VecRef<u32>, data1: VecMut<u32>, data2: VecMut<u32>) {
    let run = Run { m: Memory { index, neighbours, data1, data2 }, options: options | ONE };
    run.each_vertex(index_1d(), (BLOCKS * THREADS) as usize, |i| {
        let (begin, end) = run.edges(i);
        if begin < end || run.has(BOUNDS_BUG) {
            run.visit(Operation::of(n), i, if run.has(LAST) { end - 1 } else { begin });
        }
    });
}

/// A thread for each vertex and its neighbours.
#[kernel(block = 64)]
fn neighbors(
    n: u32,
    options: u32,
    index: VecRef<u32>,
    neighbours: VecRef<u32>,
    data1: VecMut<u32>,
    data2: VecMut<u32>,
) {
    let run = Run { m: Memory { index, neighbours, data1, data2 }, options };
    run.each_vertex(index_1d(), (BLOCKS * THREADS) as usize, |i| {
        for edge in run.share(i, 0, 1) {
            if run.visit(Operation::of(n), i, edge) && run.has(BREAK) {
                break;
            }
        }
    });
}

/// A warp for each vertex.
#[kernel(block = 64)]
fn neighbors_warp(
    n: u32,
    options: u32,
    index: VecRef<u32>,
    neighbours: VecRef<u32>,
    data1: VecMut<u32>,
    data2: VecMut<u32>,
) {
    let run = Run { m: Memory { index, neighbours, data1, data2 }, options };
    let (operation, lane) = (Operation::of(n), thread_idx_x() % 32);
    run.each_vertex(index_1d() / 32, (BLOCKS * THREADS / 32) as usize, |i| {
        if operation.combines() {
            let (value, last) = warp_combine(operation, run.collect(operation, i, lane as usize, 32));
            if lane == last {
                run.deliver(operation, i, value);
            }
        } else if operation == Operation::ConditionalVertex {
            let (mut edges, mut sum) = (run.share(i, lane as usize, 32), 0);
            loop {
                let edge = edges.next();
                if !warp_vote_any(u32::MAX, edge.is_some()) {
                    break;
                }
                let neighbour = edge.map_or(i as u32, |edge| run.neighbour(edge));
                sum += warp_vote_ballot(u32::MAX, (i as u32) < neighbour).count_ones();
            }
            if lane == 0 {
                run.add(&run.m.data1, sum);
            }
        } else {
            run.share(i, lane as usize, 32).for_each(|edge| {
                run.visit(operation, i, edge);
            });
        }
    });
}

/// The combined values of a warp, and a lane that has it.
fn warp_combine(operation: Operation, mut value: u32) -> (u32, u32) {
    let lane = thread_idx_x() % 32;
    for step in (0..5).map(|bit| 1 << bit) {
        if operation == Operation::ConditionalEdge {
            value = value.max(warp_shuffle_xor(u32::MAX, value, step, 32).0);
        } else {
            let below = warp_shuffle_up(u32::MAX, value, step, 32).0;
            value += if lane >= step { below } else { 0 };
        }
    }
    (value, if operation == Operation::ConditionalEdge { 0 } else { 31 })
}

/// A block for each vertex.
#[kernel(block = 64)]
fn neighbors_block(
    #[shared] carry: &Carry,
    n: u32,
    options: u32,
    index: VecRef<u32>,
    neighbours: VecRef<u32>,
    data1: VecMut<u32>,
    data2: VecMut<u32>,
) {
    let run = Run { m: Memory { index, neighbours, data1, data2 }, options };
    let (operation, t) = (Operation::of(n), thread_idx_x());
    let first = t as usize;
    if operation.combines() && (!run.has(SHUFFLE) || t < 32) {
        carry.words.set(t, 0);
    }
    run.each_vertex(block_idx_x() as usize, BLOCKS as usize, |i| {
        if operation.combines() {
            sync_threads();
            let value = run.collect(operation, i, first, THREADS as usize);
            if run.has(SHUFFLE) {
                let (value, last) = warp_combine(operation, value);
                if t % 32 == last {
                    carry.words.set(t / 32, value);
                }
                sync_threads();
                if t < 32 {
                    let (value, last) = warp_combine(operation, carry.words.get(t));
                    if t == last {
                        run.deliver(operation, i, value);
                    }
                }
                return;
            }
            carry.words.set(t, value);
            if !run.has(SYNC_BUG) {
                sync_threads();
            }
            let mut stride = THREADS / 2;
            while stride > 0 {
                if t < stride {
                    carry.words.set(t, operation.combine(carry.words.get(t), carry.words.get(t + stride)));
                }
                sync_threads();
                stride /= 2;
            }
            if t == 0 {
                run.deliver(operation, i, carry.words.get(0));
            }
        } else if operation == Operation::ConditionalVertex {
            let (mut edges, mut sum) = (run.share(i, first, THREADS as usize), 0);
            loop {
                let edge = edges.next();
                if !sync_threads_or(edge.is_some()) {
                    break;
                }
                let neighbour = edge.map_or(i as u32, |edge| run.neighbour(edge));
                sum += sync_threads_count((i as u32) < neighbour);
            }
            if t == 0 {
                run.add(&run.m.data1, sum);
            }
        } else {
            run.share(i, first, THREADS as usize).for_each(|edge| {
                run.visit(operation, i, edge);
            });
        }
    });
}

/// Follows the parents of each vertex to the root, and makes that its parent.
#[kernel(block = 64)]
fn path_compression(
    _n: u32,
    options: u32,
    index: VecRef<u32>,
    neighbours: VecRef<u32>,
    data1: VecMut<u32>,
    data2: VecMut<u32>,
) {
    let run = Run { m: Memory { index, neighbours, data1, data2 }, options };
    run.each_vertex(index_1d(), (BLOCKS * THREADS) as usize, |i| {
        let is_plain = run.has(RACE_BUG | TRAVERSE);
        let parent = |v: usize| {
            if is_plain { data1.read(v) } else { data1.atomic(v).fetch_or(0, Order::Relaxed, Scope::Device) }
        };
        let mut v = i as u32;
        while v > parent(v as usize) {
            v = parent(v as usize);
        }
        if run.has(TRAVERSE) {
            data2.write(i, v);
        } else if is_plain {
            data1.write(i, v);
        } else {
            data1.atomic(i).swap(v, Order::Relaxed, Scope::Device);
        }
    });
}

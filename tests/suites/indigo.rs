//! *Indigo* (Liu, Azami, Walters, Burtscher, ISPASS 2022), in the selection of *`HiRace`* (Jacobson and others, SC
//! 2024): 590 kernels on graphs.
//!
//! Each is one of 21 patterns with some of twelve options; the patterns are five operations on a vertex and its
//! neighbours, each by four shapes of parallelism, and path compression. The options that inject faults have `Bug` in
//! the suite's names. The kernels here are one body for each operation and shape, whose options are a parameter of the
//! launch.
//!
//! `WARPWRIGHT_INDIGO` names a folder with the suite's graphs (`*.egr`); otherwise graphs of the same sizes and kinds
//! are made.

use crate::verdicts::{Found, Verdicts, schedules};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use rayon::prelude::*;
use simt::Kernel;
use simt::prelude::*;
use simt::shared::SharedArray;
use simt::warp::{warp_shuffle_up, warp_shuffle_xor, warp_vote_any, warp_vote_ballot};
use simulator::{Config, Kind, Outcome};
use std::fmt::Write;
use std::path::Path;
use warpwright_tests::sim::{Buffer, Grid, launch};

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
        (self.m.index.get(i).into(), self.m.index.get(i + 1).into())
    }

    /// The edges of a vertex that worker `first` of so many has, in order.
    fn share(&self, i: usize, first: usize, workers: usize) -> impl Iterator<Item = i64> {
        let ((begin, end), reverse) = (self.edges(i), self.has(REVERSE));
        let edge = move |step: i64| if reverse { end - 1 - step } else { begin + step };
        (first as i64..end - begin).step_by(workers).map(edge)
    }

    fn neighbour(&self, edge: i64) -> u32 {
        self.m.neighbours.get(edge as usize)
    }

    /// Whether this neighbour counts.
    fn counts(&self, i: usize, neighbour: u32) -> bool {
        !self.has(COND) || (i as u32) < neighbour
    }

    /// Raises the first element to `value`.
    fn raise(&self, value: u32) {
        if self.has(GUARD_BUG) && self.m.data1.get(0) >= value {
            return;
        }
        if self.has(ATOMIC_BUG) {
            self.m.data1.set(0, self.m.data1.get(0).max(value));
        } else {
            self.m.data1.atomic(0).fetch_max(value, Order::Relaxed, Scope::Device);
        }
    }

    /// Adds to an element; gives its old value.
    fn add(&self, to: &VecMut<u32>, value: u32) -> u32 {
        if self.has(ATOMIC_BUG) {
            let old = to.get(0);
            to.set(0, old + value);
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
            Operation::ConditionalEdge if self.counts(i, neighbour) => self.raise(data2.get(neighbour as usize)),
            Operation::ConditionalVertex if is_larger => {
                self.add(&data1, 1);
            }
            Operation::PopulateWorklist if is_larger => {
                data1.set(self.add(&data2, 1) as usize, edge as u32);
            }
            Operation::PullNode if self.counts(i, neighbour) => {
                data1.set(i, data1.get(i) + data2.get(neighbour as usize));
            }
            Operation::PushNode if self.counts(i, neighbour) => {
                let (at, value) = (neighbour as usize, data2.get(i));
                if self.has(ATOMIC_BUG) {
                    data1.set(at, data1.get(at).min(value));
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
                operation.combine(value, self.m.data2.get(neighbour as usize))
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
            self.m.data1.set(i, self.m.data1.get(i) + value);
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
            if is_plain { data1.get(v) } else { data1.atomic(v).fetch_or(0, Order::Relaxed, Scope::Device) }
        };
        let mut v = i as u32;
        while v > parent(v as usize) {
            v = parent(v as usize);
        }
        if run.has(TRAVERSE) {
            data2.set(i, v);
        } else if is_plain {
            data1.set(i, v);
        } else {
            data1.atomic(i).swap(v, Order::Relaxed, Scope::Device);
        }
    });
}

type Words = VecMut<'static, u32>;
type Edges = VecRef<'static, u32>;
type Pattern = Kernel<(u32, u32, Edges, Edges, Words, Words)>;

/// A kernel of the suite: its name there, the pattern with its number, the options.
struct Entry {
    name: String,
    kernel: Pattern,
    number: u32,
    options: u32,
}

impl Entry {
    fn has(&self, options: u32) -> bool {
        self.options & options != 0
    }

    /// Whether its faults include a race.
    fn is_race(&self) -> bool {
        self.has(ATOMIC_BUG | GUARD_BUG | SYNC_BUG | RACE_BUG)
    }
}

/// All kernels: each operation and shape with all combinations of its options.
fn entries() -> Vec<Entry> {
    let operations = ["conditional_edge", "conditional_vertex", "populate_worklist", "pull_node", "push_node"];
    let mut entries = Vec::new();
    for (number, name) in operations.into_iter().enumerate() {
        let operation = Operation::of(number as u32);
        let conditions = match operation {
            Operation::ConditionalEdge => COND | ATOMIC_BUG | GUARD_BUG,
            Operation::PullNode => COND,
            Operation::PushNode => COND | ATOMIC_BUG,
            _ => ATOMIC_BUG,
        };
        let block = if operation.combines() { SYNC_BUG | SHUFFLE } else { 0 };
        let shapes: [(&str, Pattern, u32); 4] = [
            ("neighbor", neighbor, PERSISTENT | BOUNDS_BUG | LAST),
            ("neighbors", neighbors, PERSISTENT | BOUNDS_BUG | REVERSE | BREAK),
            ("neighbors_warp", neighbors_warp, PERSISTENT | REVERSE),
            ("neighbors_block", neighbors_block, PERSISTENT | REVERSE | block),
        ];
        for (shape, kernel, options) in shapes {
            push_all(&mut entries, &format!("{name}_{shape}"), kernel, number as u32, conditions | options);
        }
    }
    push_all(&mut entries, "path_compression", path_compression, 0, PERSISTENT | TRAVERSE | RACE_BUG);
    entries
}

/// Adds a pattern with all combinations of these options that the suite has.
fn push_all(entries: &mut Vec<Entry>, name: &str, kernel: Pattern, number: u32, allowed: u32) {
    let mut options = 0_u32;
    loop {
        let has = |all: u32| options & all == all;
        // A loop over the vertices ends with them; a reduction by shuffles has another barrier.
        let never =
            has(PERSISTENT | BOUNDS_BUG) && allowed & LAST == 0 || has(SHUFFLE | SYNC_BUG) || has(TRAVERSE | RACE_BUG);
        if !never {
            let mut name = name.to_owned();
            for (word, _) in OPTIONS.into_iter().filter(|&(_, option)| has(option)) {
                write!(name, "_{word}").expect("a string");
            }
            entries.push(Entry { name, kernel, number, options });
        }
        options = options.wrapping_sub(allowed) & allowed;
        if options == 0 {
            return;
        }
    }
}

/// A graph: for each vertex its first edge, and one more; the vertices at which the edges end.
struct Graph {
    name: String,
    index: Vec<u32>,
    neighbours: Vec<u32>,
}

impl Graph {
    /// Distinct edges by vertex.
    fn new(name: &str, vertices: u32, edges: impl IntoIterator<Item = (u32, u32)>) -> Self {
        let mut edges: Vec<_> = edges.into_iter().collect();
        edges.sort_unstable();
        let index = (0..=vertices).map(|i| edges.partition_point(|&(from, _)| from < i) as u32).collect();
        Self { name: name.to_owned(), index, neighbours: edges.into_iter().map(|(_, to)| to).collect() }
    }

    /// So many distinct edges of `edge`.
    fn random(name: &str, vertices: u32, edges: usize, mut edge: impl FnMut(&mut StdRng) -> (u32, u32)) -> Self {
        let (mut random, mut found) = (StdRng::seed_from_u64(edges as u64), std::collections::BTreeSet::new());
        while found.len() < edges {
            let (from, to) = edge(&mut random);
            if from != to {
                found.insert((from, to));
            }
        }
        Self::new(name, vertices, found)
    }

    /// Edges from the vertices of a random order to earlier ones.
    fn acyclic(name: &str, vertices: u32, edges: usize, reverse: bool) -> Self {
        let order = |v: u32| (u64::from(v) * 77 + 31) % u64::from(vertices);
        Self::random(name, vertices, edges, |random| {
            let (a, b) = (random.random_range(0..vertices), random.random_range(0..vertices));
            if (order(a) > order(b)) == reverse { (b, a) } else { (a, b) }
        })
    }

    /// A graph of the suite's files: vertices, edges, index, neighbours.
    fn read(path: &Path) -> Self {
        let bytes = std::fs::read(path).expect("a readable graph");
        let words: Vec<u32> = bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
        let vertices = words[0] as usize;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Self { name, index: words[2..3 + vertices].to_vec(), neighbours: words[3 + vertices..].to_vec() }
    }

    fn vertices(&self) -> usize {
        self.index.len() - 1
    }
}

/// The six graphs of the suite, or graphs like them.
fn graphs() -> Vec<Graph> {
    if let Some(folder) = std::env::var_os("WARPWRIGHT_INDIGO") {
        let files = std::fs::read_dir(folder).expect("the folder of WARPWRIGHT_INDIGO");
        let mut paths: Vec<_> = files.map(|file| file.expect("a file").path()).collect();
        paths.sort();
        return paths
            .iter()
            .filter(|path| path.extension().is_some_and(|it| it == "egr"))
            .map(|p| Graph::read(p))
            .collect();
    }
    vec![
        Graph::acyclic("DAG_100n_200e", 100, 200, false),
        Graph::acyclic("DAG_200n_400e", 200, 400, false),
        Graph::new("DAG_5n_5e", 5, [(1, 0), (2, 0), (2, 1), (3, 1), (4, 1)]),
        Graph::acyclic("counterDAG_200n_1000e", 200, 1000, true),
        Graph::new("counterDAG_5n_5e", 5, [(0, 2), (0, 3), (1, 2), (1, 3), (2, 4)]),
        Graph::random("power_law_200n_1000e", 200, 1000, |random| {
            // No edges at the ends, as in the suite's.
            let mut skewed = || (198.0 * random.random::<f64>().powi(2)) as u32 + 1;
            (skewed(), skewed())
        }),
    ]
}

#[test]
fn the_kernels_are_those_of_the_suite() {
    let entries = entries();
    let count = |is: &dyn Fn(&Entry) -> bool| entries.iter().filter(|entry| is(entry)).count();
    let bounds_alone = |entry: &Entry| entry.has(BOUNDS_BUG) && !entry.is_race();
    let clean = |entry: &Entry| !entry.has(BOUNDS_BUG) && !entry.is_race();
    let counts = [count(&Entry::is_race), count(&bounds_alone), count(&clean), count(&|it| it.has(BOUNDS_BUG))];
    assert_eq!((entries.len(), counts), (590, [346, 64, 180, 144]));
}

/// What a launch of a kernel on a graph reports.
fn run(entry: &Entry, graph: &Graph, config: &Config) -> Outcome {
    let mut random = StdRng::seed_from_u64(1);
    let (vertices, edges) = (graph.vertices(), graph.neighbours.len());
    let mut values = |below: usize| {
        let mut values: Vec<u32> = (0..vertices.max(edges)).map(|_| random.random_range(0..below as u32)).collect();
        values[0] = 0;
        Buffer::new(&values)
    };
    let (mut data1, mut data2) = (values(vertices), values(edges));
    let (index, neighbours) = (Buffer::new(&graph.index), Buffer::new(&graph.neighbours));
    let args = (entry.number, entry.options, &index, &neighbours, &mut data1, &mut data2);
    launch(config, entry.kernel, Grid::line(BLOCKS, THREADS), args).expect("a valid launch")
}

/// An outcome's reports of accesses out of bounds alone, or all others.
fn only(outcome: &Outcome, bounds: bool) -> Outcome {
    let mut outcome = outcome.clone();
    outcome.reports.retain(|report| (report.kind == Kind::OutOfBounds) == bounds);
    outcome
}

/// What is reported of a kernel on the graphs: races, and accesses out of bounds.
fn judge(entry: &Entry, graphs: &[Graph]) -> [Verdicts; 2] {
    let (mut races, mut bounds) = (Verdicts::default(), Verdicts::default());
    // An access out of bounds depends on the graph: it is found if it is on one of them.
    let mut outside: Vec<Outcome> = Vec::new();
    for graph in graphs {
        let outcomes: Vec<_> = schedules(1).iter().map(|config| run(entry, graph, config)).collect();
        let outside_here = outcomes.iter().map(|outcome| only(outcome, true));
        if outside.is_empty() || outside.iter().any(|outcome| outcome.reports.is_empty()) {
            outside = outside_here.collect();
        }
        let listed = |outcome: &Outcome| if entry.has(BOUNDS_BUG) { only(outcome, false) } else { outcome.clone() };
        let outcomes: Vec<_> = outcomes.iter().map(listed).collect();
        // With five vertices there need not be two threads that meet.
        let group = if graph.vertices() > 5 { "race" } else { "race, if two threads meet on 5 vertices" };
        let faults = if entry.is_race() { &[(group, Kind::Race)][..] } else { &[] };
        races.note(&format!("{} on {}", entry.name, graph.name), faults, &outcomes);
    }
    if entry.has(BOUNDS_BUG) {
        bounds.note(&entry.name, &[("out of bounds", Kind::OutOfBounds)], &outside);
    }
    [races, bounds]
}

#[test]
fn indigo() {
    let (entries, graphs) = (entries(), graphs());
    let verdicts: Vec<_> = entries.par_iter().map(|entry| judge(entry, &graphs)).collect();
    let (mut races, mut bounds) = (Verdicts::default(), Verdicts::default());
    for [of_races, of_bounds] in verdicts {
        races.append(of_races);
        bounds.append(of_bounds);
    }
    races.print("Indigo, kernels × graphs");
    bounds.print("Indigo, kernels");
    let larger = graphs.iter().filter(|graph| graph.vertices() > 5).count();
    assert_eq!(races.count("race", Found::Always), 346 * larger, "races");
    assert_eq!(bounds.count("out of bounds", Found::Always), 144, "accesses out of bounds");
    assert_eq!((races.clean(), races.false_alarms()), ((180 + 64) * graphs.len(), Vec::new()));
}

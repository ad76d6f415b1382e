//! The 590 kernels: which pattern with which options.

use super::{
    ATOMIC_BUG, BLOCKS, BOUNDS_BUG, BREAK, COND, GUARD_BUG, Graph, LAST, OPTIONS, Operation, PERSISTENT, RACE_BUG,
    REVERSE, SHUFFLE, SYNC_BUG, TRAVERSE, neighbor, neighbors, neighbors_block, neighbors_warp, path_compression,
};
use crate::Subject;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use simt::Kernel;
use simt::global::{VecMut, VecRef};
use simulator::Kind;
use std::fmt::Write;
use std::sync::Arc;
use warpwright::{Device, Launch, Result};

type Words = VecMut<'static, u32>;
type Edges = VecRef<'static, u32>;
type Pattern = Kernel<(u32, u32, Edges, Edges, Words, Words)>;

/// A kernel of the suite.
pub struct Entry {
    /// Its name there.
    pub name: String,
    /// The pattern with its number.
    kernel: Pattern,
    number: u32,
    options: u32,
}

impl Entry {
    /// Launches it on a graph.
    ///
    /// # Errors
    /// Those of the launch, with the faults that the simulator finds.
    pub fn launch(&self, graph: &Graph, device: &Device) -> Result<()> {
        let mut random = StdRng::seed_from_u64(1);
        let (vertices, edges) = (graph.vertices(), graph.neighbours.len());
        let mut values = |below: usize| {
            let values = (0..vertices.max(edges)).map(|_| random.random_range(0..below as u32));
            let mut values: Vec<u32> = values.collect();
            values[0] = 0;
            device.upload(&values)
        };
        let (mut data1, mut data2) = (values(vertices)?, values(edges)?);
        let (index, neighbours) = (device.upload(&graph.index)?, device.upload(&graph.neighbours)?);
        let args = (self.number, self.options, &index, &neighbours, &mut data1, &mut data2);
        device.launch(&self.kernel, Launch::grid(BLOCKS), args)?;
        device.synchronize()
    }

    /// It with a graph.
    pub fn on(&self, graph: &Arc<Graph>) -> Subject {
        let bounds = self.is_out_of_bounds().then_some(Kind::OutOfBounds);
        let faults: Vec<_> = self.is_race().then_some(Kind::Race).into_iter().chain(bounds).collect();
        let name = ("Indigo", self.name.clone(), self.kernel.info().name);
        let (it, graph) = (Self { name: self.name.clone(), ..*self }, graph.clone());
        Subject::new(name, faults, move |device| it.launch(&graph, device).map(|()| true))
    }

    fn has(&self, options: u32) -> bool {
        self.options & options != 0
    }

    /// Whether its faults include a race.
    pub fn is_race(&self) -> bool {
        self.has(ATOMIC_BUG | GUARD_BUG | SYNC_BUG | RACE_BUG)
    }

    /// Whether its faults include accesses out of bounds, on some graphs.
    pub fn is_out_of_bounds(&self) -> bool {
        self.has(BOUNDS_BUG)
    }
}

/// All kernels: each operation and shape with all combinations of its options.
pub fn entries() -> Vec<Entry> {
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

//! The state of one mbarrier.

use crate::happens_before::{Acquired, Member, VectorClock, is_same};
use std::panic::Location;
use std::rc::Rc;

/// An mbarrier.
pub(crate) struct Mbarrier {
    pub(crate) address: usize,
    /// Whether it is initialised and not invalidated since.
    pub(crate) valid: bool,
    /// Arrivals of a phase.
    pub(crate) arrivals: u32,
    /// Arrivals that the current phase still waits for.
    pub(crate) pending: u32,
    /// Bytes that the current phase still waits for; less than 0 where they came before they were expected.
    pub(crate) bytes: i64,
    /// Completed phases.
    pub(crate) phases: u64,
    /// The thread that initialised it, its clock, where, and whether a fence has made that visible to TMA.
    pub(crate) by: u16,
    pub(crate) at: u32,
    pub(crate) site: &'static Location<'static>,
    pub(crate) fenced: bool,
    pub(crate) waiters: Vec<Waiter>,
    /// The clocks of those who have arrived in this phase.
    pub(crate) members: Vec<Member>,
    /// The latest epoch of those who have arrived in this phase and all before, and what they had acquired.
    pub(crate) epoch: u32,
    pub(crate) acquired: Acquired,
    /// What the phases that are over have released, and a wait acquires.
    pub(crate) released: VectorClock,
    pub(crate) released_epoch: u32,
    pub(crate) released_acquired: Acquired,
    /// Loads that have landed in this phase, and in completed phases without a wait.
    pub(crate) landing: Vec<Landing>,
    pub(crate) landed: Vec<Landing>,
    /// The last arrival from another block in this phase, and in completed phases without a wait.
    pub(crate) visit: Option<Visit>,
    pub(crate) visited: Option<Visit>,
    /// Joins of `released` that waits have already made: many threads have the same vector clock before they wait.
    pub(crate) merged: Vec<(Option<VectorClock>, VectorClock)>,
}

/// A lane that waits.
#[derive(Clone, Copy)]
pub(crate) struct Waiter {
    pub(crate) lane: u16,
    pub(crate) location: &'static Location<'static>,
}

/// A load that has landed.
#[derive(Clone, Copy)]
pub(crate) struct Landing {
    pub(crate) address: usize,
    pub(crate) size: usize,
    /// The shadow's stamp of the write under way.
    pub(crate) stamp: u64,
    /// The block that issued it.
    pub(crate) from: [u32; 3],
    pub(crate) site: &'static Location<'static>,
}

/// An arrival of a thread of another block.
#[derive(Clone, Copy)]
pub(crate) struct Visit {
    pub(crate) block: [u32; 3],
    pub(crate) thread: [u32; 3],
    pub(crate) site: &'static Location<'static>,
}

impl Mbarrier {
    pub(crate) fn new(address: usize, site: &'static Location<'static>) -> Self {
        Self {
            address,
            valid: false,
            arrivals: 1,
            pending: 1,
            bytes: 0,
            phases: 0,
            by: 0,
            at: 0,
            site,
            fenced: false,
            waiters: Vec::new(),
            members: Vec::new(),
            epoch: 0,
            acquired: Acquired::default(),
            released: [].into(),
            released_epoch: 0,
            released_acquired: Acquired::default(),
            landing: Vec::new(),
            landed: Vec::new(),
            visit: None,
            visited: None,
            merged: Vec::new(),
        }
    }

    /// Whether the phase of this parity is over: the current phase, or the one before, has it.
    pub(crate) fn is_over(&self, parity: u32) -> bool {
        self.phases & 1 != u64::from(parity & 1)
    }

    /// Whether some of what the phase waits for has come, or is expected.
    pub(crate) fn is_begun(&self) -> bool {
        self.pending < self.arrivals || self.bytes != 0
    }

    /// "1 arrival of 2 and 512 bytes …": what the phase waits for.
    pub(crate) fn missing(&self) -> String {
        let mut missing = Vec::new();
        if self.pending > 0 {
            let arrivals = if self.pending == 1 { "arrival" } else { "arrivals" };
            missing.push(format!("{} {arrivals} of {}", self.pending, self.arrivals));
        }
        match self.bytes {
            0 => {}
            1.. => missing.push(format!("{} bytes for which no copy is under way", self.bytes)),
            _ => missing.push(format!("the expectation of {} bytes that have come", -self.bytes)),
        }
        missing.join(" and ")
    }

    /// `vector` joined with what completed phases have released.
    pub(crate) fn merge(&mut self, vector: Option<&VectorClock>) -> VectorClock {
        if let Some((_, merged)) = self.merged.iter().find(|(known, _)| is_same(known.as_ref(), vector)) {
            return Rc::clone(merged);
        }
        let merged: VectorClock = match vector {
            None => Rc::clone(&self.released),
            Some(vector) => vector.iter().zip(self.released.iter()).map(|(&a, &b)| a.max(b)).collect(),
        };
        self.merged.push((vector.cloned(), Rc::clone(&merged)));
        merged
    }
}

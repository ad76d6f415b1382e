//! Asynchronous operations that one thread has issued and not yet waited for.

use crate::shadow::SourceWrites;
use crate::tensor_map::TensorMap;
use std::collections::VecDeque;
use std::panic::Location;

/// `cp.async` copies of one thread.
#[derive(Default)]
pub(crate) struct Copies {
    /// Not yet committed.
    pub(crate) open: Vec<Copy>,
    /// Committed groups under way, oldest first.
    pub(crate) groups: VecDeque<Vec<Copy>>,
}

/// One `cp.async`: its bytes were read when it was issued and are written when it is waited for.
pub(crate) struct Copy {
    pub(crate) to: *mut u8,
    pub(crate) bytes: [u8; 16],
    pub(crate) len: usize,
    /// Where it read, and the last writes there at that time; none where nothing is checked.
    pub(crate) source: Option<Source>,
    pub(crate) site: &'static Location<'static>,
}

/// What a `cp.async` reads until it is waited for.
#[derive(Clone, Copy)]
pub(crate) struct Source {
    pub(crate) tag: u32,
    pub(crate) address: usize,
    pub(crate) writes: SourceWrites,
}

/// TMA stores of one thread.
#[derive(Default)]
pub(crate) struct Stores {
    /// Not yet committed.
    pub(crate) open: Vec<Store>,
    /// Committed groups that the thread has not waited for in full, oldest first.
    pub(crate) groups: VecDeque<Vec<Store>>,
}

/// One TMA store.
pub(crate) struct Store {
    /// The operation's number.
    pub(crate) number: u64,
    /// The read of shared memory, in the shadow.
    pub(crate) token: u64,
    /// What it writes.
    pub(crate) map: TensorMap,
    pub(crate) at: [i32; 5],
    pub(crate) site: &'static Location<'static>,
    /// Whether the thread has waited for the read of shared memory.
    pub(crate) read_awaited: bool,
}

/// Matrix products of the thread's warpgroup, which are numbered from 1.
#[derive(Clone, Copy, Default)]
pub(crate) struct Products {
    /// The last one that this thread started.
    pub(crate) started: u64,
    /// The last one that it has waited for.
    pub(crate) awaited: u64,
}

//! Memory, queues and events of one mock device.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use super::super::driver::codes;

/// One item of queued work.
#[derive(Clone, Debug)]
pub(super) enum Work {
    /// Copies bytes; host addresses and device addresses alike are addresses of this process.
    Copy { to: u64, from: u64, bytes: usize },
    /// Clears bytes.
    Clear { at: u64, bytes: usize },
    /// Marks an event's version as passed.
    Record { event: usize, version: u64 },
    /// Waits until an event's version is passed.
    Wait { event: usize, version: u64 },
    /// z[i] = x[i] + y[i], given the vectors' addresses and length.
    Add { x: u64, y: u64, z: u64, len: usize },
    /// Frees an allocation of the pool.
    Free { at: u64 },
    /// A kernel that fails.
    Fault,
}

/// One mock device.
#[derive(Default)]
pub(in crate::cuda) struct Machine {
    allocations: BTreeMap<u64, Vec<u128>>,
    queues: HashMap<usize, VecDeque<Work>>,
    /// Latest version of each event that was recorded.
    events: HashMap<usize, u64>,
    passed: HashSet<(usize, u64)>,
    next: usize,
    /// Status of every call once a kernel has failed.
    pub(super) lost: i32,
    /// Retained contexts.
    pub(in crate::cuda) contexts: usize,
    /// Memory pools that were not destroyed.
    pub(in crate::cuda) pools: usize,
    /// Times that a pool was told to return unused memory.
    pub(in crate::cuda) trims: usize,
    /// Modules that are loaded.
    pub(in crate::cuda) modules: usize,
    /// Launches so far: grid, block, shared bytes.
    pub(in crate::cuda) launches: Vec<([u32; 3], [u32; 3], u32)>,
    /// For each launch, whether it uses programmatic dependent launch.
    pub(in crate::cuda) pdl: Vec<bool>,
    /// Waits of one queue for another so far.
    pub(in crate::cuda) waits: usize,
    /// The stream that is being captured in a graph. Its work is queued nevertheless.
    pub(in crate::cuda) captured: Option<usize>,
    /// Events that were not destroyed.
    pub(in crate::cuda) live_events: usize,
    /// The function whose next call fails, and the status that it returns.
    pub(in crate::cuda) fail_next: Option<(&'static str, i32)>,
    /// The functions called so far by threads that watch this device.
    pub(in crate::cuda) calls: Vec<&'static str>,
    /// Which of these calls fails, by its index, and the status that it returns.
    pub(in crate::cuda) fail_at: Option<(usize, i32)>,
    /// Errors of the caller: uses of freed memory.
    pub(in crate::cuda) violations: Vec<String>,
}

impl Machine {
    pub(super) fn handle(&mut self) -> usize {
        self.next += 1;
        self.next
    }

    /// Forgets everything, as a new process does.
    pub(in crate::cuda) fn reset(&mut self) {
        *self = Self { next: self.next, ..Self::default() };
    }

    /// Whether the context is lost.
    pub(in crate::cuda) fn is_lost(&self) -> bool {
        self.lost != 0
    }

    /// Counts a call; its status if this is the one that fails. A failure that the context does not survive loses it.
    pub(super) fn count(&mut self, function: &'static str) -> Option<i32> {
        self.calls.push(function);
        let (_, status) = self.fail_at.take_if(|(at, _)| *at + 1 == self.calls.len())?;
        if self.contexts > 0 && codes::STICKY.contains(&status) {
            self.lost = status;
        }
        Some(status)
    }

    /// Notes as violations delayed copies from or to host memory that the driver does not own, and drops them: for use
    /// after a call that borrows host memory has returned.
    pub(in crate::cuda) fn end_of_borrow(&mut self) {
        // A lost context does no further work.
        if self.lost != 0 {
            return;
        }
        let Self { allocations, queues, violations, .. } = self;
        let owned = |address: u64| {
            let before = allocations.range(..=address).next_back();
            before.is_some_and(|(start, memory)| address < start + 16 * memory.len() as u64)
        };
        for works in queues.values_mut() {
            works.retain(|work| match *work {
                Work::Copy { to, from, .. } if !(owned(to) && owned(from)) => {
                    violations.push(format!("{work:?} in progress after the borrow of its host memory"));
                    false
                }
                _ => true,
            });
        }
    }

    /// What was not released: kind and number.
    pub(in crate::cuda) fn left(&self) -> Vec<(&'static str, usize)> {
        let mut left = vec![
            ("allocations", self.live()),
            ("streams", self.streams()),
            ("events", self.live_events),
            ("pools", self.pools),
            ("modules", self.modules),
            ("contexts", self.contexts),
        ];
        left.retain(|(_, number)| *number > 0);
        left
    }

    /// Number of allocations that no queued work frees.
    pub(in crate::cuda) fn live(&self) -> usize {
        let freed = self.queues.values().flatten().filter(|work| matches!(work, Work::Free { .. })).count();
        self.allocations.len() - freed
    }

    /// Number of delayed work items.
    pub(in crate::cuda) fn pending(&self) -> usize {
        self.queues.values().map(VecDeque::len).sum()
    }

    /// Number of delayed work items whose text is `of` this kind.
    pub(in crate::cuda) fn delayed(&self, of: impl Fn(&str) -> bool) -> usize {
        self.queues.values().flatten().filter(|work| of(&format!("{work:?}"))).count()
    }

    /// Number of streams that were not destroyed.
    pub(in crate::cuda) fn streams(&self) -> usize {
        self.queues.len()
    }

    /// Whether a queue has done its work. Freeing takes no time once it is the next.
    pub(super) fn is_idle(&self, queue: usize) -> bool {
        self.queues.get(&queue).is_none_or(|works| works.iter().all(|work| matches!(work, Work::Free { .. })))
    }

    pub(super) fn allocate(&mut self, bytes: usize) -> u64 {
        // Uninitialised memory must not look like zeros.
        let memory = vec![0xdead_beef_dead_beef_dead_beef_dead_beef_u128; bytes.div_ceil(16)];
        let address = memory.as_ptr() as u64;
        self.allocations.insert(address, memory);
        address
    }

    pub(super) fn free(&mut self, address: u64) {
        let Some(memory) = self.allocations.remove(&address) else {
            return self.violations.push(format!("free of {address:#x}, which is not allocated"));
        };
        let end = address + 16 * memory.len() as u64;
        // Leaked, so that a use after free fails its test without undefined behaviour.
        std::mem::forget(memory);
        for work in self.queues.values().flatten() {
            if uses(work).iter().any(|&used| (address..end).contains(&used)) {
                self.violations.push(format!("free of {address:#x}, which {work:?} needs"));
            }
        }
    }

    pub(super) fn new_queue(&mut self) -> usize {
        let queue = self.handle();
        self.queues.insert(queue, VecDeque::new());
        queue
    }

    pub(super) fn remove_queue(&mut self, queue: usize) {
        self.run(queue, None);
        self.queues.remove(&queue);
    }

    pub(super) fn push(&mut self, queue: usize, work: Work) {
        match self.queues.get_mut(&queue) {
            Some(works) => works.push_back(work),
            None => self.violations.push(format!("{work:?} in a destroyed queue")),
        }
    }

    pub(super) fn new_event(&mut self) -> usize {
        let event = self.handle();
        self.live_events += 1;
        self.events.insert(event, 0);
        event
    }

    pub(super) fn record(&mut self, event: usize, queue: usize) {
        let version = self.events.entry(event).or_default();
        *version += 1;
        let version = *version;
        self.push(queue, Work::Record { event, version });
    }

    pub(super) fn wait(&mut self, queue: usize, event: usize) {
        self.waits += 1;
        let version = self.events.get(&event).copied().unwrap_or_default();
        self.push(queue, Work::Wait { event, version });
    }

    pub(super) fn is_passed(&self, event: usize) -> bool {
        let version = self.events.get(&event).copied().unwrap_or_default();
        version == 0 || self.passed.contains(&(event, version))
    }

    pub(super) fn pass(&mut self, event: usize) {
        let version = self.events.get(&event).copied().unwrap_or_default();
        if version > 0 {
            self.run_to(event, version);
        }
    }

    /// Does all work, that of the newest queue first.
    pub(super) fn run_all(&mut self) {
        let mut queues: Vec<usize> = self.queues.keys().copied().collect();
        queues.sort_unstable_by(|a, b| b.cmp(a));
        for queue in queues {
            self.run(queue, None);
        }
    }

    /// Does a queue's work, to its end or until it has passed `until`.
    pub(super) fn run(&mut self, queue: usize, until: Option<(usize, u64)>) {
        while until.is_none_or(|until| !self.passed.contains(&until)) {
            let Some(work) = self.queues.get_mut(&queue).and_then(VecDeque::pop_front) else { return };
            self.perform(&work);
        }
    }

    fn run_to(&mut self, event: usize, version: u64) {
        let recorded =
            |work: &Work| matches!(work, Work::Record { event: e, version: v } if (*e, *v) == (event, version));
        let queue = self.queues.iter().find(|(_, works)| works.iter().any(recorded)).map(|(&queue, _)| queue);
        if let Some(queue) = queue {
            self.run(queue, Some((event, version)));
        }
    }

    fn perform(&mut self, work: &Work) {
        match *work {
            Work::Record { event, version } => {
                self.passed.insert((event, version));
            }
            Work::Wait { event, version } => {
                if version > 0 && !self.passed.contains(&(event, version)) {
                    self.run_to(event, version);
                }
            }
            // A lost context does no further work.
            _ if self.lost != 0 => {}
            Work::Copy { to, from, bytes } => {
                // SAFETY: freed memory of the mock is leaked, so both addresses are valid; the two ranges do not
                // overlap.
                unsafe { (from as *const u8).copy_to_nonoverlapping(to as *mut u8, bytes) };
            }
            Work::Clear { at, bytes } => {
                // SAFETY: as above.
                unsafe { (at as *mut u8).write_bytes(0, bytes) };
            }
            Work::Add { x, y, z, len } => {
                for i in 0..len {
                    // SAFETY: as above, for `len` elements of each vector.
                    unsafe {
                        let sum = (x as *const f32).add(i).read() + (y as *const f32).add(i).read();
                        (z as *mut f32).add(i).write(sum);
                    }
                }
            }
            Work::Free { at } => self.free(at),
            // CUDA_ERROR_ILLEGAL_ADDRESS
            Work::Fault => self.lost = 700,
        }
    }
}

/// Addresses that the work accesses.
fn uses(work: &Work) -> Vec<u64> {
    match *work {
        Work::Copy { to, from, .. } => vec![to, from],
        Work::Clear { at, .. } => vec![at],
        Work::Add { x, y, z, .. } => vec![x, y, z],
        Work::Record { .. } | Work::Wait { .. } | Work::Free { .. } | Work::Fault => vec![],
    }
}

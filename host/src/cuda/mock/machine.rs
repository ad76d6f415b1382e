//! Memory, queues and events of one mock device.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use simt::report::{KIND_TEXT, Report, WRITTEN};

use super::super::driver::codes;

/// One item of queued work.
#[derive(Clone, Debug)]
pub(in crate::cuda) enum Work {
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
    /// A kernel that does nothing: its name, the addresses that it uses, and whether it may write there.
    #[allow(dead_code, reason = "the name is for messages")]
    Kernel { name: &'static str, uses: Vec<(u64, bool)> },
    /// Frees an allocation of the pool.
    Free { at: u64 },
    /// A kernel that fails.
    Fault,
    /// A kernel that writes a report and traps.
    Panic,
}

/// Panics in block (1, 0, 0), thread (37, 0, 0), as kernels do.
///
/// # Safety
/// `report` is null or has room for a report.
unsafe fn panic_report(report: *mut Report) {
    // SAFETY: the caller's promise.
    let Some(report) = (unsafe { report.as_mut() }) else { return };
    let (file, text) = (b"kernels/src/lib.rs", b"a negative number");
    report.file[..file.len()].copy_from_slice(file);
    report.text[..text.len()].copy_from_slice(text);
    (report.file_bytes, report.text_bytes) = (file.len() as u32, text.len() as u32);
    (report.kind, report.line, report.column) = (KIND_TEXT, 12, 5);
    (report.block, report.thread) = ([1, 0, 0], [37, 0, 0]);
    report.state = WRITTEN;
}

/// The last handle: no two devices have one in common, so that each knows its own.
static LAST_HANDLE: AtomicUsize = AtomicUsize::new(0);

/// Memory of all devices: for its first address the end, and the address of the [`Machine`].
static OWNERS: Mutex<BTreeMap<u64, (u64, usize)>> = Mutex::new(BTreeMap::new());

fn owners() -> MutexGuard<'static, BTreeMap<u64, (u64, usize)>> {
    OWNERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A work item in a queue.
struct Queued {
    /// How many were queued on this device before it.
    number: u64,
    /// The memory that it uses, by its first address, and whether it may write it.
    uses: Vec<(u64, bool)>,
    work: Work,
}

/// One mock device.
#[derive(Default)]
pub(in crate::cuda) struct Machine {
    allocations: BTreeMap<u64, Vec<u128>>,
    /// What was freed. It is kept, so that a use after free fails its test without undefined behaviour.
    freed: BTreeMap<u64, Vec<u128>>,
    queues: HashMap<usize, VecDeque<Queued>>,
    /// Work items queued so far.
    queued: u64,
    /// Latest version of each event that was recorded.
    events: HashMap<usize, u64>,
    passed: HashSet<(usize, u64)>,
    /// Status of every call once a kernel has failed.
    pub(super) lost: i32,
    /// Address that the variable for reports of panics has.
    pub(super) report: u64,
    /// Addresses that the variable for lines of kernels has: of buffer and counters.
    pub(in crate::cuda) lines: [u64; 2],
    /// Retained contexts.
    pub(in crate::cuda) contexts: usize,
    /// Memory pools that were not destroyed.
    pub(in crate::cuda) pools: usize,
    /// Times that a pool was told to return unused memory.
    pub(in crate::cuda) trims: usize,
    /// Modules that are loaded.
    pub(in crate::cuda) modules: usize,
    /// Modules that were compiled with line numbers so far.
    pub(in crate::cuda) with_lines: usize,
    /// Launches so far: grid, block, shared bytes.
    pub(in crate::cuda) launches: Vec<([u32; 3], [u32; 3], u32)>,
    /// For each launch, whether it uses programmatic dependent launch.
    pub(in crate::cuda) pdl: Vec<bool>,
    /// Graphs and executable graphs that were not destroyed, with the launches of their kernels, in order.
    pub(in crate::cuda) graphs: HashMap<usize, Vec<KernelLaunch>>,
    /// Launches of graphs so far.
    pub(in crate::cuda) graph_launches: usize,
    /// Times so far that the launch of a graph's node was set after it was added.
    pub(in crate::cuda) node_changes: usize,
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

/// A launch: grid, block and shared bytes, and what the kernel does.
pub(in crate::cuda) type KernelLaunch = (([u32; 3], [u32; 3], u32), Work);

impl Machine {
    pub(super) fn handle() -> usize {
        LAST_HANDLE.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Forgets everything, as a new process does.
    pub(in crate::cuda) fn reset(&mut self) {
        let (allocations, freed) = (std::mem::take(&mut self.allocations), std::mem::take(&mut self.freed));
        for start in allocations.keys() {
            owners().remove(start);
        }
        std::mem::forget(freed);
        *self = Self::default();
    }

    /// Gives back the memory that was freed. No work may be left that could use it.
    pub(in crate::cuda) fn discard_freed(&mut self) {
        assert_eq!(self.pending(), 0, "work that could use freed memory");
        for start in std::mem::take(&mut self.freed).into_keys() {
            owners().remove(&start);
        }
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
            works.retain(|Queued { work, .. }| match *work {
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
        let freed = self.queues.values().flatten().filter(|queued| matches!(queued.work, Work::Free { .. })).count();
        self.allocations.len() - freed
    }

    /// Number of delayed work items.
    pub(in crate::cuda) fn pending(&self) -> usize {
        self.queues.values().map(VecDeque::len).sum()
    }

    /// Number of delayed work items whose text is `of` this kind.
    pub(in crate::cuda) fn delayed(&self, of: impl Fn(&str) -> bool) -> usize {
        self.queues.values().flatten().filter(|queued| of(&format!("{:?}", queued.work))).count()
    }

    /// Number of streams that were not destroyed.
    pub(in crate::cuda) fn streams(&self) -> usize {
        self.queues.len()
    }

    /// Whether a queue has done its work. Freeing takes no time once it is the next.
    pub(super) fn is_idle(&self, queue: usize) -> bool {
        let is_free = |queued: &Queued| matches!(queued.work, Work::Free { .. });
        self.queues.get(&queue).is_none_or(|works| works.iter().all(is_free))
    }

    pub(super) fn allocate(&mut self, bytes: usize) -> u64 {
        // Uninitialised memory must not look like zeros.
        let memory = vec![0xdead_beef_dead_beef_dead_beef_dead_beef_u128; bytes.div_ceil(16)];
        let address = memory.as_ptr() as u64;
        owners().insert(address, (address + 16 * memory.len() as u64, std::ptr::from_ref(self).addr()));
        self.allocations.insert(address, memory);
        address
    }

    pub(super) fn free(&mut self, address: u64) {
        let Some(memory) = self.allocations.remove(&address) else {
            return self.violations.push(format!("free of {address:#x}, which is not allocated"));
        };
        self.freed.insert(address, memory);
        for Queued { uses, work, .. } in self.queues.values().flatten() {
            if uses.iter().any(|(start, _)| *start == address) {
                self.violations.push(format!("free of {address:#x}, which {work:?} needs"));
            }
        }
    }

    /// The start of the allocation that `address` lies in; none for memory that the driver does not know. Notes as a
    /// violation that it was freed, or is another device's.
    fn allocation(&mut self, address: u64, work: &Work) -> Option<u64> {
        let (start, owner) = {
            let owners = owners();
            let (&start, &(end, owner)) = owners.range(..=address).next_back()?;
            if address >= end {
                return None;
            }
            (start, owner)
        };
        if owner != std::ptr::from_ref(self).addr() {
            self.violations.push(format!("{work:?} uses {address:#x}, which is memory of another device"));
        } else if self.freed.contains_key(&start) {
            self.violations.push(format!("{work:?} uses {address:#x}, which was freed"));
        }
        Some(start)
    }

    /// Notes as a violation that a handle is not one of this device's streams.
    pub(super) fn expect_queue(&mut self, queue: usize, call: &str) {
        if !self.queues.contains_key(&queue) {
            self.violations.push(format!("{call} of a stream that this device does not have"));
        }
    }

    pub(super) fn new_queue(&mut self) -> usize {
        let queue = Self::handle();
        self.queues.insert(queue, VecDeque::new());
        queue
    }

    pub(super) fn remove_queue(&mut self, queue: usize) {
        self.expect_queue(queue, "the destruction");
        self.run(queue, None);
        self.queues.remove(&queue);
    }

    pub(super) fn push(&mut self, queue: usize, work: Work) {
        let mut uses = uses(&work);
        uses.retain_mut(|(address, _)| self.allocation(*address, &work).map(|start| *address = start).is_some());
        let number = self.queued;
        self.queued += 1;
        match self.queues.get_mut(&queue) {
            Some(works) => works.push_back(Queued { number, uses, work }),
            None => self.violations.push(format!("{work:?} in a destroyed queue")),
        }
    }

    pub(super) fn new_event(&mut self) -> usize {
        let event = Self::handle();
        self.live_events += 1;
        self.events.insert(event, 0);
        event
    }

    pub(super) fn destroy_event(&mut self, event: usize) {
        self.live_events = self.live_events.saturating_sub(1);
        if self.events.remove(&event).is_none() {
            self.violations.push("the destruction of an event that this device does not have".into());
        }
    }

    pub(super) fn record(&mut self, event: usize, queue: usize) {
        let Some(version) = self.events.get_mut(&event) else {
            return self.violations.push("a record of an event that this device does not have".into());
        };
        *version += 1;
        let version = *version;
        self.push(queue, Work::Record { event, version });
    }

    pub(super) fn wait(&mut self, queue: usize, event: usize) {
        self.waits += 1;
        match self.events.get(&event) {
            Some(&version) => self.push(queue, Work::Wait { event, version }),
            None => self.violations.push("a wait for an event that this device does not have".into()),
        }
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
            let Some(queued) = self.queues.get_mut(&queue).and_then(VecDeque::pop_front) else { return };
            self.check_order(&queued);
            self.perform(&queued.work);
        }
    }

    /// Notes as violations earlier work items, in the order of the calls, that use the same memory and are not done:
    /// nothing made this one wait for them. Two reads need no order.
    fn check_order(&mut self, queued: &Queued) {
        let Queued { number, uses, work } = queued;
        for earlier in self.queues.values().flatten().filter(|other| other.number < *number) {
            let conflicts = |(start, write): &(u64, bool)| {
                earlier.uses.iter().any(|(other, other_write)| other == start && (*write || *other_write))
            };
            if uses.iter().any(conflicts) {
                self.violations.push(format!("{work:?} before {:?}, which was queued first", earlier.work));
            }
        }
    }

    fn run_to(&mut self, event: usize, version: u64) {
        let is_it = |work: &Work| matches!(*work, Work::Record { event: e, version: v } if (e, v) == (event, version));
        let recorded = |queued: &Queued| is_it(&queued.work);
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
            Work::Kernel { .. } => {}
            Work::Free { at } => self.free(at),
            // CUDA_ERROR_ILLEGAL_ADDRESS
            Work::Fault => self.lost = 700,
            // CUDA_ERROR_LAUNCH_FAILED
            Work::Panic => {
                // SAFETY: the host has put the address of a report into the module's variable.
                unsafe { panic_report(self.report as *mut Report) };
                self.lost = 719;
            }
        }
    }
}

/// Addresses that the work accesses, and whether it writes there.
fn uses(work: &Work) -> Vec<(u64, bool)> {
    match *work {
        Work::Copy { to, from, .. } => vec![(to, true), (from, false)],
        Work::Clear { at, .. } | Work::Free { at } => vec![(at, true)],
        // An empty vector may begin where its memory ends.
        Work::Add { x, y, z, len } if len > 0 => vec![(x, false), (y, false), (z, true)],
        Work::Kernel { ref uses, .. } => uses.clone(),
        Work::Add { .. } | Work::Record { .. } | Work::Wait { .. } | Work::Fault | Work::Panic => vec![],
    }
}

//! Reports of a block's faults, and the names of threads and addresses in them.

use super::state::{MAX_CLOCK, Threads};
use crate::lane::{Geometry, Lane};
use crate::panics::PanicMessage;
use crate::report::{ACROSS_BLOCKS, Finding, Kind, Site};
use crate::stack;
use std::panic::Location;

impl Threads {
    /// Reports a fault of a running lane.
    #[cold]
    pub(crate) fn fault(
        &self,
        lane: &Lane,
        kind: Kind,
        location: &'static Location<'static>,
        other: Option<&'static Location<'static>>,
        message: impl FnOnce() -> String,
    ) {
        if lane.geometry.get() == self.geometry.as_ptr() {
            self.fault_at(kind, location, other, self.index(), lane.thread_index(), message);
        } else {
            // A thread of another block of the cluster that acts in this one.
            self.fault_at(kind, location, other, lane.geometry().block_idx, lane.thread_index(), || {
                format!("in {}: {}", self.name(), message())
            });
        }
    }

    /// Reports a fault of a thread that need not be running.
    #[cold]
    pub(crate) fn fault_at(
        &self,
        kind: Kind,
        location: &'static Location<'static>,
        other: Option<&'static Location<'static>>,
        block: [u32; 3],
        thread: [u32; 3],
        message: impl FnOnce() -> String,
    ) {
        let finding =
            Finding { kind, site: Site::new(location), other: other.map(Site::new), block, thread, hint: None };
        self.report(finding, message);
    }

    /// Reports a race of a running lane on global memory, with a hint that fits it: `other` is the other access, made
    /// by a thread of block `by`.
    #[cold]
    pub(crate) fn global_race(
        &self,
        lane: &Lane,
        location: &'static Location<'static>,
        (other, by): (&'static Location<'static>, u32),
        scope: Option<&'static str>,
        message: impl FnOnce() -> String,
    ) {
        let finding = Finding {
            kind: Kind::Race,
            site: Site::new(location),
            other: Some(Site::new(other)),
            block: lane.geometry().block_idx,
            thread: lane.thread_index(),
            hint: scope.or((by != self.number()).then_some(ACROSS_BLOCKS)),
        };
        self.report(finding, message);
    }

    /// Adds a finding to the launch's reports.
    pub(crate) fn report(&self, finding: Finding, message: impl FnOnce() -> String) {
        let launch = self.launch();
        if launch.unwinding.get() {
            return;
        }
        launch.reports.borrow_mut().add(launch.launch.name, launch.config.seed, finding, message);
    }

    /// The kernel panicked in `lane`.
    #[cold]
    pub(crate) fn panicked(&self, lane: &Lane, panic: PanicMessage) {
        let (file, line, column) = panic.place.unwrap_or_else(|| ("unknown".to_owned(), 0, 0));
        let is_own = is_own(&file);
        // A panic's place is a string of unknown lifetime; reports keep places for the whole process, and there are
        // few.
        let site = Site { file: intern(file), line, column };
        let kind = if is_own { Kind::Limit } else { Kind::Panic };
        let hint = is_own.then_some("this is a defect of the simulator, not of the kernel: please report it");
        let finding = Finding { kind, site, other: None, block: self.index(), thread: lane.thread_index(), hint };
        self.launch().panicked.set(true);
        let message = panic.message;
        self.report(finding, || if is_own { format!("the simulator itself panicked: {message}") } else { message });
    }

    /// A thread has overflowed its stack, as the intrinsic called at `location` has noticed, if any.
    #[cold]
    pub(crate) fn overflowed(&self, lane: &Lane, location: Option<&'static Location<'static>>) {
        let unknown = || Site { file: "unknown", line: 0, column: 0 };
        let finding = Finding {
            kind: Kind::Limit,
            site: location.map_or_else(unknown, Site::new),
            other: None,
            block: self.index(),
            thread: lane.thread_index(),
            hint: Some("end the recursion, or move large local arrays to shared memory"),
        };
        self.launch().panicked.set(true);
        self.report(finding, || {
            format!(
                "stack overflow: recursion or local memory needs more than the {} KiB that the simulator has for a \
                 thread",
                stack::USABLE / 1024
            )
        });
    }

    /// The clock, or the largest that stamps can hold: that is reported.
    pub(crate) fn bounded(&self, clock: u32) -> u32 {
        if clock > MAX_CLOCK {
            self.fault_at(Kind::Limit, Location::caller(), None, self.index(), [0; 3], || {
                format!("a thread passed {MAX_CLOCK} points of order in one block; later accesses are not told apart")
            });
        }
        clock.min(MAX_CLOCK)
    }

    /// Whether the kernel has panicked: what follows from a missing thread is then not reported.
    pub(crate) fn has_panicked(&self) -> bool {
        self.launch().panicked.get()
    }

    /// "block (x, y, z)".
    pub(crate) fn name(&self) -> String {
        let [x, y, z] = self.index();
        format!("block ({x}, {y}, {z})")
    }

    /// "thread (x, y, z)".
    pub(crate) fn name_thread(&self, linear: u16) -> String {
        if self.is_tensor(linear) {
            return "the tensor cores".to_owned();
        }
        if self.is_async_proxy(linear) {
            return "TMA".to_owned();
        }
        let [x, y, z] = self.lane(linear).thread_index();
        format!("thread ({x}, {y}, {z})")
    }

    /// "`a[3][4]` in shared memory"; "shared memory at element 3" if elements have only numbers, "at byte 12" if not
    /// even that.
    pub(crate) fn name_shared(&self, address: usize) -> String {
        let (offset, mut name) = (address - self.shared_base(), String::new());
        match self.shared_names.get().map(|names| names(offset, &mut name)) {
            Some(Ok(())) if name.starts_with(|first: char| first.is_ascii_digit()) => {
                format!("shared memory at element {name}")
            }
            Some(Ok(())) if !name.is_empty() => format!("`{name}` in shared memory"),
            _ => format!("shared memory at byte {offset}"),
        }
    }

    /// "`c` at element 3 of its buffer", by the elements that it was allocated for.
    pub(crate) fn name_global(&self, address: usize) -> String {
        for binding in self.bindings() {
            let (start, len) = (binding.memory.as_ptr() as usize, binding.memory.len());
            if (start..start + len).contains(&address) {
                let (byte, element) = (address - start, binding.memory.element());
                let (unit, at) =
                    if byte.is_multiple_of(element) { ("element", byte / element) } else { ("byte", byte) };
                return format!("`{}` at {unit} {at} of its buffer", binding.name);
            }
        }
        format!("global memory at {address:#x}")
    }

    /// The name of an address in the block's shared memory or in a buffer.
    pub(crate) fn name_address(&self, address: usize) -> String {
        let Geometry { shared_len, .. } = self.geometry.get();
        let is_shared = (self.shared_base()..self.shared_base() + shared_len).contains(&address);
        if is_shared { self.name_shared(address) } else { self.name_global(address) }
    }

    /// "threads 0-31, 40" for linear indices in ascending order.
    pub(crate) fn name_threads(threads: &[u16]) -> String {
        let mut ranges: Vec<(u16, u16)> = Vec::new();
        for &thread in threads {
            match ranges.last_mut() {
                Some((_, end)) if *end + 1 == thread => *end = thread,
                _ => ranges.push((thread, thread)),
            }
        }
        let mut words: Vec<String> =
            ranges.iter().take(6).map(|&(a, b)| if a == b { a.to_string() } else { format!("{a}-{b}") }).collect();
        if ranges.len() > 6 {
            words.push("…".to_owned());
        }
        format!("{} thread{} ({})", threads.len(), if threads.len() == 1 { "" } else { "s" }, words.join(", "))
    }
}

/// Whether a panic's file is one of the simulator's own. What a kernel passes to an intrinsic is checked with the
/// kernel's location.
fn is_own(file: &str) -> bool {
    let here = file!();
    here.strip_suffix("threads/faults.rs").is_some_and(|source| file.starts_with(source))
}

fn intern(text: String) -> &'static str {
    use std::collections::HashSet;
    use std::sync::{LazyLock, Mutex, PoisonError};
    static KNOWN: LazyLock<Mutex<HashSet<&'static str>>> = LazyLock::new(Mutex::default);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = known.get(text.as_str()) {
        return found;
    }
    let leaked: &'static str = text.leak();
    known.insert(leaked);
    leaked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_of_the_simulator_are_told_from_those_of_kernels() {
        assert!(is_own(file!()) && is_own(Location::caller().file()));
        assert!(!is_own("gpu/src/gemm/tiled.rs") && !is_own("src/main.rs"));
    }
}

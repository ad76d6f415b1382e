//! Faults of a launch: their kinds, and one report for each distinct place.

use std::fmt;
use std::panic::Location;

/// The kinds of fault the simulator tells apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Kind {
    /// An index outside a view, or an unchecked address outside its buffer.
    OutOfBounds,
    /// An address that is no multiple of the access's size.
    Misaligned,
    /// A read of memory that nothing wrote.
    Uninitialised,
    /// Two accesses to one place, at least one of them a plain or unordered write, with no order between them.
    Race,
    /// Threads of one barrier are at different places or expect different counts.
    DivergentBarrier,
    /// Threads wait at a barrier that others will never reach.
    AbandonedBarrier,
    /// A warp operation whose mask is not that of the lanes that execute it.
    WarpMask,
    /// A warp operation that names a lane which has already exited.
    WarpExited,
    /// A read of the destination of an asynchronous copy before its wait, or an end without a wait.
    AsyncNotWaited,
    /// A launch with programmatic dependent launch that accesses global memory, or ends, before
    /// `grid::dependency_wait`.
    PredecessorNotWaited,
    /// A use of the result of a matrix product before its wait.
    ProductNotWaited,
    /// Threads of a warpgroup that do not execute one matrix product together.
    Warpgroup,
    /// An operand of a matrix product whose descriptor does not match the data in shared memory.
    WrongOperand,
    /// An access to shared memory in no order with a read or write of TMA or the tensor cores.
    AsyncRace,
    /// TMA or the tensor cores access what an ordinary write wrote, or TMA overwrites what an ordinary read read,
    /// without a proxy fence between.
    ProxyFence,
    /// An mbarrier used against its rules: initialisation, arrivals, bytes.
    Mbarrier,
    /// Threads wait at an mbarrier for a phase that will not end.
    AbandonedMbarrier,
    /// A use of another block of the cluster that does not exist, or that may have ended.
    Cluster,
    /// A tensor map that does not match the kernel's tile or call.
    UnfitBox,
    /// The kernel panicked.
    Panic,
    /// Threads spin for something that never happens.
    Hang,
    /// A limit of the simulator itself was reached; the checks of this launch are incomplete.
    Limit,
}

impl Kind {
    /// A short title for tables and messages.
    pub fn title(self) -> &'static str {
        match self {
            Self::OutOfBounds => "out of bounds",
            Self::Misaligned => "misaligned access",
            Self::Uninitialised => "uninitialised read",
            Self::Race => "data race",
            Self::DivergentBarrier => "divergent barrier",
            Self::AbandonedBarrier => "abandoned barrier",
            Self::WarpMask => "wrong warp mask",
            Self::WarpExited => "warp operation with an exited lane",
            Self::AsyncNotWaited => "asynchronous copy not waited for",
            Self::PredecessorNotWaited => "predecessor not waited for",
            Self::ProductNotWaited => "matrix product not waited for",
            Self::Warpgroup => "warpgroup not together",
            Self::WrongOperand => "wrong matrix operand",
            Self::AsyncRace => "race with an asynchronous copy or read",
            Self::ProxyFence => "missing proxy fence",
            Self::Mbarrier => "misused mbarrier",
            Self::AbandonedMbarrier => "abandoned mbarrier",
            Self::Cluster => "misused cluster",
            Self::UnfitBox => "box that does not fit",
            Self::Panic => "panic in the kernel",
            Self::Hang => "hang",
            Self::Limit => "simulator limit",
        }
    }

    /// What to check first.
    pub fn hint(self) -> &'static str {
        match self {
            Self::OutOfBounds => {
                "compare the index with the extent; guard the access with `if`, `get_or` or `set_within`"
            }
            Self::Misaligned => {
                "vector accesses need an address that is a multiple of their size; peel the head or use scalars"
            }
            Self::Uninitialised => "write the element first, or put a barrier between the writer and this read",
            Self::Race => "order the two accesses: `sync_threads`, `sync_warp`, or an atomic with its fence",
            Self::DivergentBarrier => "move the barrier out of the branch, so that all threads reach the same one",
            Self::AbandonedBarrier => {
                "let every thread reach the barrier: guard the work, not the barrier, and return after it"
            }
            Self::WarpMask => "name exactly the lanes that reach this operation, the calling lane included",
            Self::WarpExited => {
                "let lanes with nothing to do stay until the last warp operation, or leave them out of the mask"
            }
            Self::AsyncNotWaited => {
                "call `cp_async_wait_group`/`cp_async_wait_all` in the thread that issued the copy, then a barrier; \
                 for boxes, wait at the mbarrier, or `store_wait_read` before the end"
            }
            Self::PredecessorNotWaited => {
                "call `grid::dependency_wait` in every thread of a kernel with `pdl` that touches global memory, \
                 before its first access, and in some thread of every block"
            }
            Self::ProductNotWaited => {
                "call `wait` on the accumulators before their values are used, and before the kernel ends"
            }
            Self::Warpgroup => {
                "let all 128 threads of the warpgroup reach the same product with the same operands; no branch inside \
                 it"
            }
            Self::WrongOperand => {
                "compare start, leading and stride bytes, swizzle and major order with how the tile was written"
            }
            Self::AsyncRace => {
                "wait at the mbarrier before using what a load brings; arrive at the one that frees a stage only after \
                 the last read, all lanes together; `store_wait_read` before a buffer is written again"
            }
            Self::ProxyFence => {
                "`fence_proxy_async` in each thread that wrote or read, then a barrier; \
                 `fence_mbarrier_init` after `init`"
            }
            Self::Mbarrier => {
                "initialise once, by one thread, before a barrier; count arrivals, and the bytes of whole boxes"
            }
            Self::AbandonedMbarrier => "compare arrivals, bytes and parity with those that the phase waits for",
            Self::Cluster => {
                "keep ranks and masks within the cluster; let no block end before it has waited for what others do to \
                 it, by a `cluster_sync` at the end of the kernel for one"
            }
            Self::UnfitBox => "give the box of the tensor map the extents of the kernel's tile",
            Self::Panic => "the message is the kernel's own",
            Self::Hang => {
                "look at what the spinning threads wait for: a flag nobody sets, a count that is never reached"
            }
            Self::Limit => "use a smaller launch for the checks",
        }
    }
}

/// A place in the source of a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Site {
    /// Source file as the compiler named it.
    pub file: &'static str,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
}

impl Site {
    pub(crate) fn new(location: &'static Location<'static>) -> Self {
        Self { file: location.file(), line: location.line(), column: location.column() }
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// One fault, at one place, seen at least once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// What it is.
    pub kind: Kind,
    /// Name of the kernel.
    pub kernel: String,
    /// Where it was seen.
    pub site: Site,
    /// The other access of a race, the other barrier.
    pub other: Option<Site>,
    /// Block of the first occurrence.
    pub block: [u32; 3],
    /// Thread of the first occurrence.
    pub thread: [u32; 3],
    /// What happened, with addresses and threads.
    pub message: String,
    /// What to check first: [`Kind::hint`], or what fits this fault better.
    pub hint: &'static str,
    /// Seed of the schedule that shows it.
    pub seed: u64,
    /// How often this kind was seen at this place in this launch.
    pub occurrences: u64,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([bx, by, bz], [tx, ty, tz]) = (self.block, self.thread);
        writeln!(f, "{} in kernel `{}` at {}", self.kind.title(), self.kernel, self.site)?;
        writeln!(f, "  block ({bx}, {by}, {bz}), thread ({tx}, {ty}, {tz}): {}", self.message)?;
        if let Some(other) = &self.other {
            writeln!(f, "  other place: {other}")?;
        }
        writeln!(f, "  look at: {}", self.hint)?;
        write!(f, "  seen {} time{}; seed {} replays it", self.occurrences, plural(self.occurrences), self.seed)
    }
}

fn plural(n: u64) -> &'static str {
    if n == 1 { "" } else { "s" }
}

/// A fault before its message is made, once per distinct place.
pub(crate) struct Finding {
    pub(crate) kind: Kind,
    pub(crate) site: Site,
    pub(crate) other: Option<Site>,
    pub(crate) block: [u32; 3],
    pub(crate) thread: [u32; 3],
    /// In place of the kind's hint.
    pub(crate) hint: Option<&'static str>,
}

/// Hint for a race between threads of different blocks: no barrier of a block orders them.
pub(crate) const ACROSS_BLOCKS: &str = "order the two blocks: a release and an acquire of one atomic with \
     `Scope::Device`, or fences of that scope around relaxed ones; or use two launches. `sync_threads` orders the \
     threads of one block alone";

/// Hint for atomic operations of which one has too narrow a scope.
pub(crate) const NARROW_SCOPE: &str =
    "give both atomic operations `Scope::Device`: with `Scope::Block` one is atomic only towards its own block";

/// Hint for atomic operations of different sizes on the same bytes.
pub(crate) const MIXED_SIZES: &str =
    "access these bytes by atomic operations of one size: those of another size are not atomic towards them";

/// The distinct reports of one launch.
#[derive(Default)]
pub(crate) struct Reports {
    found: Vec<Report>,
    suppressed: u64,
    most: usize,
}

impl Reports {
    pub(crate) fn new(most: usize) -> Self {
        Self { most: most.max(1), ..Self::default() }
    }

    /// Counts the finding; if its place is new, keeps it with the message.
    pub(crate) fn add(&mut self, kernel: &str, seed: u64, finding: Finding, message: impl FnOnce() -> String) {
        self.add_times(kernel, seed, finding, 1, message);
    }

    fn add_times(
        &mut self,
        kernel: &str,
        seed: u64,
        finding: Finding,
        occurrences: u64,
        message: impl FnOnce() -> String,
    ) {
        // Few places are kept, and the same one is found again and again: no map is faster.
        let place = |report: &&mut Report| {
            report.kind == finding.kind && report.site == finding.site && report.other == finding.other
        };
        if let Some(known) = self.found.iter_mut().find(place) {
            known.occurrences += occurrences;
        } else if self.found.len() >= self.most {
            self.suppressed += 1;
        } else {
            self.found.push(Report {
                kind: finding.kind,
                kernel: kernel.to_owned(),
                site: finding.site,
                other: finding.other,
                block: finding.block,
                thread: finding.thread,
                message: message(),
                hint: finding.hint.unwrap_or_else(|| finding.kind.hint()),
                seed,
                occurrences,
            });
        }
    }

    /// Adds another worker's reports.
    pub(crate) fn absorb(&mut self, reports: Vec<Report>, suppressed: u64) {
        self.suppressed += suppressed;
        for report in reports {
            let Report { kind, kernel, site, other, block, thread, message, hint, seed, occurrences } = report;
            let finding = Finding { kind, site, other, block, thread, hint: Some(hint) };
            self.add_times(&kernel, seed, finding, occurrences, || message);
        }
    }

    pub(crate) fn into_parts(self) -> (Vec<Report>, u64) {
        (self.found, self.suppressed)
    }
}

//! A launch, and its outcome.

use crate::counters::Counters;
use crate::memory::Memory;
use crate::report::Report;
use std::fmt;

/// Most threads per block.
pub const MAX_THREADS: u32 = 1024;
/// Most blocks of a cluster: what every GPU with clusters can hold.
pub const MAX_CLUSTER: u32 = 8;

/// What a streaming multiprocessor holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Multiprocessor {
    /// Most resident blocks.
    pub blocks: u32,
    /// Most resident threads, in whole warps.
    pub threads: u32,
    /// Bytes of shared memory.
    pub shared_bytes: usize,
    /// Bytes of it that the system takes for each block.
    pub reserved_bytes: usize,
}

/// The streaming multiprocessor of an H100 or H200. Registers are not counted: the simulator does not know them.
pub const MULTIPROCESSOR: Multiprocessor =
    Multiprocessor { blocks: 32, threads: 2048, shared_bytes: 228 * 1024, reserved_bytes: 1024 };

/// A buffer of the launch; its place among the bindings is the tag of the views into it.
#[derive(Clone, Copy)]
pub struct Binding<'a> {
    /// The argument's name, for reports.
    pub name: &'a str,
    /// Its memory.
    pub memory: &'a Memory,
    /// Whether the kernel may write it.
    pub writable: bool,
}

/// A launch to run.
#[derive(Clone, Copy)]
pub struct Launch<'a> {
    /// Name of the kernel, for reports.
    pub name: &'a str,
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads per block in x, y, z.
    pub block: [u32; 3],
    /// Bytes of shared memory per block.
    pub shared_bytes: usize,
    /// Blocks of a cluster, neighbours along x; 1 for a kernel without clusters. Divides the blocks along x.
    pub cluster: u32,
    /// Programmatic dependent launch: the grid may begin before the one before it has ended. Each thread must then wait
    /// for that one before it accesses global memory, and before it ends.
    pub pdl: bool,
    /// The buffers, by tag.
    pub bindings: &'a [Binding<'a>],
    /// What becomes of the lines that the kernel prints; standard output without it.
    pub print: Option<&'a (dyn Fn(&str) + Sync)>,
}

impl Launch<'_> {
    /// How many blocks of this launch a device of so many multiprocessors holds: a whole number of clusters, at least
    /// one.
    pub(crate) fn co_resident(&self, sm_count: u32) -> usize {
        let threads = self.block.into_iter().product::<u32>().next_multiple_of(32);
        let on_one = (MULTIPROCESSOR.blocks as usize)
            .min((MULTIPROCESSOR.threads / threads.max(1)) as usize)
            .min(MULTIPROCESSOR.shared_bytes / (self.shared_bytes + MULTIPROCESSOR.reserved_bytes))
            .max(1);
        let cluster = self.cluster as usize;
        (on_one * sm_count as usize / cluster).max(1) * cluster
    }
}

/// The outcome of a launch.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Outcome {
    /// Distinct faults, in the order in which they were found. Empty: none.
    pub reports: Vec<Report>,
    /// Faults at further places, beyond [`Config::max_reports`](crate::Config::max_reports).
    pub suppressed: u64,
    /// The counters, at [`Level::Counters`](crate::Level::Counters).
    pub counters: Option<Counters>,
    /// Steps of the longest block: accesses (when watched), barriers, atomics and warp operations of all its threads.
    pub clock: u64,
    /// Most bytes of shadow memory in use at once.
    pub shadow_bytes: usize,
}

/// Why a launch could not begin.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LaunchError {
    /// An extent of the grid or the block is 0.
    Empty {
        /// Blocks.
        grid: [u32; 3],
        /// Threads per block.
        block: [u32; 3],
    },
    /// More threads per block than there can be.
    TooManyThreads {
        /// Threads asked for.
        threads: u64,
    },
    /// More blocks than shadow memory can number at this level.
    TooManyBlocks {
        /// Blocks asked for.
        blocks: u64,
        /// Most blocks.
        most: u64,
    },
    /// The blocks along x are not whole clusters, or a cluster has no block or too many.
    Cluster {
        /// Blocks of a cluster.
        cluster: u32,
        /// Blocks along x.
        blocks: u32,
    },
    /// A parameter of the configuration is invalid.
    Config {
        /// Which one, its valid values, its value.
        problem: String,
    },
    /// The launch was made from inside a kernel.
    Nested,
    /// The processor has no instruction for fused multiply-add, which kernels are compiled to.
    Processor,
    /// The host has no memory for stacks, shared memory or shadow memory.
    Memory {
        /// The system's message.
        reason: String,
    },
    /// The simulator itself panicked: a defect of it, not of the kernel.
    Internal {
        /// The panic's message.
        reason: String,
    },
}

impl fmt::Display for LaunchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty { grid, block } => {
                write!(f, "grid {grid:?} of blocks {block:?} is empty: every extent must be at least 1")
            }
            Self::TooManyThreads { threads } => {
                write!(f, "{threads} threads per block, at most {MAX_THREADS} are possible")
            }
            Self::TooManyBlocks { blocks, most } => {
                write!(f, "{blocks} blocks, the simulator can tell {most} apart; use `Level::Off` or a smaller grid")
            }
            Self::Cluster { cluster, blocks } => {
                write!(
                    f,
                    "clusters of {cluster} in a grid of {blocks} blocks along x: a cluster has 1 to {MAX_CLUSTER}, and \
                     divides the grid"
                )
            }
            Self::Config { problem } => write!(f, "simulator configuration: {problem}"),
            Self::Nested => write!(f, "a kernel cannot launch another one"),
            Self::Processor => write!(
                f,
                "simulated kernels use the processor's instruction for fused multiply-add (FMA), and this processor \
                 has none: build with RUSTFLAGS=\"--cfg warpwright_software_fma\""
            ),
            Self::Memory { reason } => write!(f, "no memory for the simulated launch: {reason}"),
            Self::Internal { reason } => write!(f, "the simulator itself panicked, please report it: {reason}"),
        }
    }
}

impl std::error::Error for LaunchError {}

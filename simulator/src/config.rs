//! How a launch is simulated: what is checked, in which order threads run, and the parameters of the machine.

/// What a launch checks and counts. Each level includes the one before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Bounds of views, barriers and warp operations only; blocks spread over the cores. For speed.
    Off,
    /// Every access is checked: races, uninitialised reads, misaligned and invalid addresses.
    #[default]
    Checks,
    /// Checks, and the counters a profiler would show.
    Counters,
}

/// Parameters of a simulated launch.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Config {
    /// What is checked and counted.
    pub level: Level,
    /// Seed of the schedule: order of blocks, of warps in each interval between barriers, of lanes in each warp.
    /// 0 is the order of the indices. The same seed gives the same reports, byte for byte (not at [`Level::Off`]).
    pub seed: u64,
    /// Threads per warp: a power of two from 1 to 32. Real GPUs have 32.
    pub warp_size: u32,
    /// Bytes per shared-memory bank, 4 or 8. There are always 32 banks.
    pub bank_bytes: u32,
    /// Blocks that are resident together and interleaved, at least 1. More become resident when every resident block
    /// waits for others by polling; two once a thread has released something to other blocks.
    pub resident: u32,
    /// Worker threads at [`Level::Off`]; 0 uses every core.
    pub threads: usize,
    /// Distinct reports kept per launch; further ones are only counted.
    pub max_reports: usize,
    /// Streaming multiprocessors of the simulated device. With the limits of one, [`MULTIPROCESSOR`], they say how many
    /// blocks of a kernel are resident together, that is, can wait for each other.
    ///
    /// [`MULTIPROCESSOR`]: crate::MULTIPROCESSOR
    pub sm_count: u32,
    /// Turns that polling threads may take, all together, before the launch counts as hung: while no thread exits and
    /// memory does not change. A turn is 16 polls by atomics, or one pause.
    pub hang_turns: u64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            level: Level::default(),
            seed: 0,
            warp_size: 32,
            bank_bytes: 4,
            resident: 1,
            threads: 0,
            max_reports: 32,
            sm_count: 132,
            hang_turns: 200_000,
        }
    }
}

impl Config {
    /// A configuration of the given level, everything else as by default.
    pub fn new(level: Level) -> Self {
        Self { level, ..Self::default() }
    }

    /// The same with another seed.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The same with another warp size.
    #[must_use]
    pub fn warp_size(mut self, lanes: u32) -> Self {
        self.warp_size = lanes;
        self
    }

    /// The same with another bank width in bytes.
    #[must_use]
    pub fn bank_bytes(mut self, bytes: u32) -> Self {
        self.bank_bytes = bytes;
        self
    }

    /// The same with another number of interleaved blocks.
    #[must_use]
    pub fn resident(mut self, blocks: u32) -> Self {
        self.resident = blocks;
        self
    }

    /// The same with another number of worker threads (used at [`Level::Off`]).
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }
}

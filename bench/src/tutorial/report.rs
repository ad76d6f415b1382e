//! The report of a run of the tutorial: the form of `--json`, from which the page and the tables are made.
//!
//! `docs/tutorial.md` describes every field. Text and page show these numbers and no others.

use serde::{Deserialize, Serialize};

/// Version of this form; it grows when a field changes its meaning or goes.
pub const SCHEMA: u32 = 1;

/// A run of the tutorial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: u32,
    /// Version of Warpwright.
    pub version: String,
    /// Chose the input.
    pub seed: u64,
    /// Where times were taken.
    pub device: DeviceReport,
    /// The steps.
    pub families: Vec<FamilyReport>,
    /// The figures of the texts.
    pub texts: TextsReport,
}

/// The device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeviceReport {
    /// Kind, number and name.
    pub name: String,
    /// What a GPU adds; `None` on the simulator, where nothing is timed.
    pub gpu: Option<GpuReport>,
}

/// A GPU and its limits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GpuReport {
    /// The kernel driver's own line, where the system shows it.
    pub driver: Option<String>,
    /// Compute capability, major and minor.
    pub capability: (u32, u32),
    /// Multiprocessors.
    pub sm_count: u32,
    /// Highest clock of the SMs, in Hz.
    pub clock_hz: f64,
    /// Size of the second-level cache in bytes.
    pub l2_bytes: u64,
    /// f32 operations a second at that clock: SMs × 128 lanes × 2 (a multiply-add).
    pub peak_flops: f64,
    /// `bf16` operations a second of its tensor cores at that clock, where their rate is known.
    pub tensor_flops: Option<f64>,
    /// Bytes read and written a second by a device-to-device copy, measured in this run.
    pub copy_bytes_per_second: f64,
}

/// Steps about one thing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FamilyReport {
    /// What they compute.
    pub name: String,
    /// What there is to learn.
    pub about: String,
    /// Whether the steps run on tensor cores: these set the limit then.
    #[serde(default)]
    pub tensor: bool,
    /// Smallest idea first.
    pub steps: Vec<StepReport>,
}

/// One kernel at work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepReport {
    /// The row of the texts, if it has one.
    pub row: Option<String>,
    /// The kernel.
    pub kernel: String,
    /// What it computes.
    pub operation: String,
    /// What it does better than the step before.
    pub idea: String,
    /// Source file.
    pub file: String,
    /// What the simulator counted, at a small input.
    pub counted: Option<Counted>,
    /// What the GPU took, at a large input.
    pub timed: Option<Timed>,
    /// Why one of these is missing or wrong.
    pub error: Option<String>,
}

/// Counters of one input on the simulator, whose result agreed with the reference.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Counted {
    /// The input, in words.
    pub shape: String,
    /// Bytes that all lanes together, `cp.async` and TMA loaded from global memory.
    pub global_load_bytes: u64,
    /// Bytes that lanes and TMA stored there.
    pub global_store_bytes: u64,
    /// Bytes of the 32-byte sectors that the requests touched: what has to move, caches aside.
    pub sector_bytes: u64,
    /// Bytes that must be read or written at least once; `None` where memory does not set the limit.
    pub necessary_bytes: Option<f64>,
    /// Floating-point operations; `None` for kernels of other arithmetic.
    pub operations: Option<f64>,
    /// Most wavefronts of a store to shared memory, which is the conflict degree where lanes store up to 4 bytes;
    /// `None` where there is none.
    pub store_degree: Option<u32>,
    /// The same of a load from shared memory.
    pub load_degree: Option<u32>,
    /// Widest access to shared memory, in bytes a lane: 16 need up to 4 wavefronts without any conflict.
    pub shared_width: Option<u32>,
    /// Branches that warps met, of those that the kernel names with `branch`.
    pub branches: u64,
    /// Those at which the lanes of a warp disagreed.
    pub divergent: u64,
    /// Barriers, one for each time a block met.
    pub barriers: u64,
    /// Warps launched.
    pub warps: u64,
}

/// Times of one input on a GPU, whose result agreed with the reference.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timed {
    /// The input, in words.
    pub shape: String,
    /// Median time in seconds, between events on the stream.
    pub seconds: f64,
    /// The shortest.
    pub least_seconds: f64,
    /// The longest.
    pub most_seconds: f64,
    /// Work done: floating-point operations, necessary bytes, or elements.
    pub work: f64,
    /// Of what: `FLOP`, `B` or `elements`.
    pub unit: String,
    /// Work over the median time.
    pub per_second: f64,
    /// How many times as fast as the step before that computes the same.
    pub times_over_before: Option<f64>,
    /// Share of the limit: of the peak for operations, of the copy for bytes.
    pub share_of_limit: Option<f64>,
}

/// The rows of the texts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TextsReport {
    /// Rows all of whose figures were reproduced.
    pub reproduced: usize,
    /// Every row.
    pub rows: Vec<RowReport>,
}

/// A row of the texts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RowReport {
    /// A letter for the text, a number.
    pub id: String,
    /// The kernels it is about.
    pub kernels: Vec<String>,
    /// What it teaches.
    pub idea: String,
    /// Whether every figure was reproduced.
    pub reproduced: bool,
    /// Its figures.
    pub figures: Vec<FigureReport>,
    /// Why there are none.
    pub error: Option<String>,
}

/// A figure of a text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FigureReport {
    /// What is counted, at which shape.
    pub what: String,
    /// What the text states; `None` where it states the rule only.
    pub text: Option<String>,
    /// What the rule gives by arithmetic.
    pub rule: String,
    /// What the simulator counted, or the launch did.
    pub computed: String,
    /// Why the text's number is another one.
    pub because: Option<String>,
    /// Whether rule and count agree, and the text with them or for a stated reason not.
    pub reproduced: bool,
}

impl Report {
    /// Every step.
    pub fn steps(&self) -> impl Iterator<Item = &StepReport> {
        self.families.iter().flat_map(|family| &family.steps)
    }

    /// Whether every row was reproduced, every result right and nothing failed.
    pub fn passes(&self) -> bool {
        self.texts.reproduced == self.texts.rows.len() && self.steps().all(|step| step.error.is_none())
    }
}

impl Counted {
    /// Bytes loaded and stored.
    pub fn global_bytes(&self) -> u64 {
        self.global_load_bytes + self.global_store_bytes
    }

    /// Operations for each byte that lanes load or store; where there are operations.
    pub fn operations_per_byte(&self) -> Option<f64> {
        self.operations.map(|operations| operations / self.global_bytes() as f64)
    }

    /// Share of the bytes in the sectors touched that had to be moved; where memory sets the limit.
    pub fn sector_use(&self) -> Option<f64> {
        self.necessary_bytes.map(|bytes| bytes / self.sector_bytes as f64)
    }
}

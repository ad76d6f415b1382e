//! Launching a grid: what is asked for, what comes of it, and the loop over the blocks.

use crate::block::{Block, Run, Turn};
use crate::config::{Config, Level};
use crate::counters::Counters;
use crate::fiber::{Pool, with_pool};
use crate::memory::Memory;
use crate::order::Logs;
use crate::report::{Finding, Kind, Report, Reports, Site};
use crate::schedule::Order;
use crate::shadow::{GlobalShadow, MAX_BLOCKS};
use crate::team::Team;
use crate::{lane, panics};
use std::cell::{Cell, RefCell, UnsafeCell};
use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// Most threads per block.
pub const MAX_THREADS: u32 = 1024;
/// Most blocks of a cluster: what every GPU with clusters can hold.
pub const MAX_CLUSTER: u32 = 8;
/// Most blocks that are made resident because others spin.
const MAX_RESIDENT: usize = 256;

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

/// What is to be run.
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
    /// Whether the grid may begin before the one before it is done: each thread must wait for that one before it touches global
    /// memory, and before it ends.
    pub pdl: bool,
    /// The buffers, by tag.
    pub bindings: &'a [Binding<'a>],
}

/// What a launch did.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Outcome {
    /// Distinct faults, in the order in which they were found. Empty: none.
    pub reports: Vec<Report>,
    /// Faults at further places, beyond [`Config::max_reports`].
    pub suppressed: u64,
    /// The counters, at [`Level::Counters`].
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
    /// More blocks than this level can tell apart.
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
    /// A parameter of the configuration has no meaning.
    Config {
        /// Which one, what it must be, what it is.
        problem: String,
    },
    /// The launch was made from inside a kernel.
    Nested,
    /// The host has no memory for stacks or shared memory.
    Memory {
        /// The system's words.
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
                    "clusters of {cluster} in a grid of {blocks} blocks along x: a cluster has 1 to {MAX_CLUSTER}, and divides the grid"
                )
            }
            Self::Config { problem } => write!(f, "simulator configuration: {problem}"),
            Self::Nested => write!(f, "a kernel cannot launch another one"),
            Self::Memory { reason } => write!(f, "no memory for the simulated threads: {reason}"),
        }
    }
}

impl std::error::Error for LaunchError {}

/// Runs `body` once for every thread of the grid.
///
/// Faults are no error here: they are in the outcome, and the launch goes on past them.
///
/// # Errors
/// When the launch cannot begin or the host runs out of memory; then nothing, or not everything, has run.
///
/// # Safety
/// For the duration of the call nobody else writes any of the bindings' memories, and nobody else touches the writable
/// ones. The views that `body` hands to the kernel lie in the bindings' memories and carry their tags; `body` itself
/// does nothing else that is unsafe.
pub unsafe fn launch(launch: &Launch<'_>, config: &Config, body: &(dyn Fn() + Sync)) -> Result<Outcome, LaunchError> {
    let blocks = check(launch, config)?;
    panics::install();
    if !lane::current().block.get().is_null() {
        return Err(LaunchError::Nested);
    }
    let queue = Queue::new(blocks / u64::from(launch.cluster), config.seed);
    let mut outcome = if config.level == Level::Off {
        spread(launch, config, body, &queue)?
    } else {
        work(launch, config, body, &queue)?
    };
    if config.level == Level::Off {
        for binding in launch.bindings.iter().filter(|binding| binding.writable) {
            // SAFETY: the launch is over, and the memory is still this call's alone. Nobody watched: all may be written.
            unsafe { binding.memory.mark(0, binding.memory.len()) };
        }
    }
    outcome.reports.sort_by_key(|report| report.kind == Kind::Limit);
    Ok(outcome)
}

/// Number of blocks, if the launch makes sense.
fn check(launch: &Launch<'_>, config: &Config) -> Result<u64, LaunchError> {
    let Launch { grid, block, .. } = *launch;
    let product =
        |extents: [u32; 3]| extents.into_iter().try_fold(1_u64, |product, x| product.checked_mul(u64::from(x)));
    let (blocks, threads) = (product(grid).unwrap_or(u64::MAX), product(block).unwrap_or(u64::MAX));
    if blocks == 0 || threads == 0 {
        return Err(LaunchError::Empty { grid, block });
    }
    if threads > u64::from(MAX_THREADS) {
        return Err(LaunchError::TooManyThreads { threads });
    }
    if !(1..=MAX_CLUSTER).contains(&launch.cluster) || !grid[0].is_multiple_of(launch.cluster) {
        return Err(LaunchError::Cluster { cluster: launch.cluster, blocks: grid[0] });
    }
    let most = if config.level == Level::Off { u64::from(u32::MAX) } else { MAX_BLOCKS };
    if blocks > most {
        return Err(LaunchError::TooManyBlocks { blocks, most });
    }
    let problem = |problem: String| Err(LaunchError::Config { problem });
    if !config.warp_size.is_power_of_two() || config.warp_size > 32 {
        return problem(format!("warp_size must be a power of two from 1 to 32, it is {}", config.warp_size));
    }
    if ![4, 8].contains(&config.bank_bytes) {
        return problem(format!("bank_bytes must be 4 or 8, it is {}", config.bank_bytes));
    }
    if config.resident == 0 {
        return problem("resident must be at least 1, it is 0".to_owned());
    }
    Ok(blocks)
}

/// The clusters (or blocks) still to be run, in the seed's order, for all workers.
struct Queue {
    next: AtomicU64,
    clusters: u64,
    order: Order,
    stopped: AtomicBool,
}

impl Queue {
    fn new(clusters: u64, seed: u64) -> Self {
        let (next, stopped) = (AtomicU64::new(0), AtomicBool::new(false));
        Self { next, clusters, order: Order::new(clusters, seed, 0), stopped }
    }

    fn take(&self) -> Option<u32> {
        if self.stopped.load(Ordering::Relaxed) {
            return None;
        }
        let position = self.next.fetch_add(1, Ordering::Relaxed);
        (position < self.clusters).then(|| self.order.at(position) as u32)
    }
}

/// Runs the blocks on the worker threads.
fn spread(
    launch: &Launch<'_>,
    config: &Config,
    body: &(dyn Fn() + Sync),
    queue: &Queue,
) -> Result<Outcome, LaunchError> {
    if config.threads == 1 || queue.clusters == 1 {
        return work(launch, config, body, queue);
    }
    let outcomes = match config.threads {
        0 => rayon::broadcast(|_| work(launch, config, body, queue)),
        threads => workers(threads)?.broadcast(|_| work(launch, config, body, queue)),
    };
    let mut reports = Reports::new(config.max_reports);
    let mut whole = Outcome::default();
    for outcome in outcomes {
        let outcome = outcome?;
        whole.clock = whole.clock.max(outcome.clock);
        reports.absorb(outcome.reports, outcome.suppressed);
    }
    (whole.reports, whole.suppressed) = reports.into_parts();
    Ok(whole)
}

/// A pool of so many workers, made once: each keeps its fibers.
fn workers(threads: usize) -> Result<Arc<rayon::ThreadPool>, LaunchError> {
    static POOLS: LazyLock<Mutex<HashMap<usize, Arc<rayon::ThreadPool>>>> = LazyLock::new(Mutex::default);
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(pool) = pools.get(&threads) {
        return Ok(Arc::clone(pool));
    }
    let built = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = Arc::new(built.map_err(|error| LaunchError::Memory { reason: error.to_string() })?);
    pools.insert(threads, Arc::clone(&pool));
    Ok(pool)
}

/// One worker: takes blocks until there are none.
fn work(launch: &Launch<'_>, config: &Config, body: &(dyn Fn() + Sync), queue: &Queue) -> Result<Outcome, LaunchError> {
    let run = Run {
        launch,
        config,
        body,
        reports: RefCell::new(Reports::new(config.max_reports)),
        counters: RefCell::default(),
        global: UnsafeCell::new(GlobalShadow::new(
            launch.bindings.iter().filter(|_| config.level != Level::Off).map(|b| (b.memory, b.writable)),
        )),
        logs: UnsafeCell::new(Logs::default()),
        fine: Cell::new(false),
        progress: Cell::new(0),
        shadow_bytes: Cell::new(0),
    };
    let clock = with_pool(|pool| {
        Worker { run: &run, queue, resident: Vec::new(), spare: Vec::new(), round: 0, clock: 0 }.work(pool)
    })
    .ok_or(LaunchError::Nested)?
    .map_err(|error| LaunchError::Memory { reason: error.to_string() })?;
    let Run { reports, counters, shadow_bytes, .. } = run;
    let (reports, suppressed) = reports.into_inner().into_parts();
    let counters = (config.level == Level::Counters).then(|| counters.into_inner());
    Ok(Outcome { reports, suppressed, counters, clock, shadow_bytes: shadow_bytes.get() })
}

struct Worker<'a> {
    run: &'a Run<'a>,
    queue: &'a Queue,
    resident: Vec<Team>,
    /// Blocks that are done and can be used again.
    #[expect(clippy::vec_box, reason = "lanes point to their block: it must not move")]
    spare: Vec<Box<Block>>,
    /// Turns that every resident block has had.
    round: u64,
    clock: u64,
}

impl Worker<'_> {
    fn work(mut self, pool: &mut Pool) -> std::io::Result<u64> {
        let result = self.all(pool);
        if result.is_err() {
            for team in &self.resident {
                team.abandon(pool);
            }
        }
        if self.run.config.level != Level::Off {
            let left = self.resident.first().and_then(|team| team.blocks().next());
            let block = self.spare.last().map(|block| &**block).or(left);
            // SAFETY: one OS thread works on a watched run, and no lane runs now.
            let global = unsafe { &mut *self.run.global.get() };
            global.finish(block, self.run.launch.bindings.iter().map(|binding| binding.memory));
        }
        result.map(|()| self.clock)
    }

    fn all(&mut self, pool: &mut Pool) -> std::io::Result<()> {
        let cluster = self.run.launch.cluster as usize;
        let mut wanted = self.run.config.resident as usize;
        let (mut idle_turns, mut progress) = (0_u64, 0);
        loop {
            while self.resident.len() * cluster < wanted && self.admit()? {}
            if self.resident.is_empty() {
                return Ok(());
            }
            self.rotate();
            let mut spinning = 0;
            let mut at = 0;
            while at < self.resident.len() {
                match self.resident[at].turn(pool, self.run.config.seed, self.round)? {
                    Turn::Spinning => {
                        spinning += self.resident[at].len();
                        at += 1;
                    }
                    Turn::Paused | Turn::Stuck => at += 1,
                    Turn::Done => {
                        let team = self.resident.remove(at);
                        self.retire(team);
                    }
                }
            }
            let now = self.run.progress.get();
            if now != progress || spinning == 0 {
                (idle_turns, progress) = (0, now);
                continue;
            }
            idle_turns += 1;
            // Those resident wait for one that is not: let it in.
            wanted = (wanted + 1).min(MAX_RESIDENT).max(spinning);
            if idle_turns > self.run.config.hang_turns {
                self.hang(pool);
            } else if idle_turns.is_multiple_of(64) {
                std::thread::yield_now();
            }
        }
    }

    /// Lets the seed say which cluster comes first in this round.
    fn rotate(&mut self) {
        let (seed, teams) = (self.run.config.seed, self.resident.len() as u64);
        self.round += 1;
        if seed != 0 && teams > 1 {
            self.resident.rotate_left(Order::new(teams, seed, self.round).at(0) as usize);
        }
    }

    /// Begins another cluster, if there is one.
    fn admit(&mut self) -> std::io::Result<bool> {
        let Some(number) = self.queue.take() else { return Ok(false) };
        let cluster = self.run.launch.cluster;
        let mut blocks = Vec::with_capacity(cluster as usize);
        for _ in 0..cluster {
            blocks.push(match self.spare.pop() {
                Some(block) => block,
                None => Block::new(self.run)?,
            });
        }
        // Clusters lie along x, and divide it: their blocks' numbers follow each other.
        self.resident.push(Team::begin(blocks, number * cluster));
        Ok(true)
    }

    /// All of a cluster is done.
    fn retire(&mut self, team: Team) {
        for block in team.finish() {
            self.clock = self.clock.max(block.clock());
            self.spare.push(block);
        }
    }

    /// Nobody gets on any more: says so, and gives the launch up.
    #[cold]
    fn hang(&mut self, pool: &mut Pool) {
        self.queue.stopped.store(true, Ordering::Relaxed);
        for team in std::mem::take(&mut self.resident) {
            team.blocks().for_each(Block::report_hang);
            team.abandon(pool);
            self.spare.extend(team.finish());
        }
    }
}

impl Block {
    fn report_hang(&self) {
        let Some((location, thread, count)) = self.spinner() else { return };
        let (kind, site) = (Kind::Hang, Site::new(location));
        let finding = Finding { kind, site, other: None, block: self.index(), thread };
        let run = self.run();
        run.reports.borrow_mut().add(self.kernel(), run.config.seed, finding, || {
            let threads = if count == 1 { "thread of this block spins" } else { "threads of this block spin" };
            format!("{count} {threads} here, and no thread of the launch gets on")
        });
    }
}

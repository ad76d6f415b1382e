//! Runs a grid: the checks of a launch, and the loop over its clusters.

use crate::block::{Block, Progress, Run};
use crate::cluster::Cluster;
use crate::config::{Config, Level};
use crate::fiber::Pool;
use crate::idle::{self, Idle, Next};
use crate::launch::{Binding, Launch, LaunchError, MAX_CLUSTER, MAX_THREADS, Outcome};
use crate::report::{Kind, Reports};
use crate::schedule::Permutation;
use crate::shadow::MAX_BLOCKS;
use crate::{fiber, lane, mutation, overflow, panics, variables, workers};
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Runs `body` once for every thread of the grid.
///
/// Faults are not errors here: they are in the outcome, and the launch goes on after them.
///
/// # Errors
/// When the launch cannot begin or the host runs out of memory; then nothing, or not everything, has run.
///
/// # Safety
/// For the duration of the call nothing else writes any of the bindings' memories, and nothing else accesses the
/// writable ones. The views that `body` hands to the kernel lie in the bindings' memories and carry their tags; `body`
/// itself does nothing else that is unsafe.
pub unsafe fn launch(launch: &Launch<'_>, config: &Config, body: &(dyn Fn() + Sync)) -> Result<Outcome, LaunchError> {
    let config = &*variables::configure(config)?;
    let blocks = check(launch, config)?;
    panics::install();
    mutation::begin_launch();
    overflow::install();
    if lane::current().is_in_launch() {
        return Err(LaunchError::Nested);
    }
    let queue = Queue::new(blocks / u64::from(launch.cluster), config);
    let mut outcome =
        if queue.workers > 1 { spread(launch, config, body, &queue)? } else { work(launch, config, body, &queue)? };
    mutation::end_launch();
    variables::end_launch(launch, config, &outcome);
    if config.level == Level::Off {
        for binding in launch.bindings.iter().filter(|binding| binding.writable) {
            // SAFETY: the launch is over, and the memory is still this call's alone. Writes were not recorded: any byte
            // may have been written.
            unsafe { binding.memory.mark(0, binding.memory.len()) };
        }
    }
    outcome.reports.sort_by_key(|report| report.kind == Kind::Limit);
    Ok(outcome)
}

/// Number of blocks, if the launch is valid.
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
    // `simt` compiles `fma` to the instruction.
    #[cfg(all(target_arch = "x86_64", not(any(target_feature = "fma", warpwright_software_fma))))]
    if !std::arch::is_x86_feature_detected!("fma") {
        return Err(LaunchError::Processor);
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
    order: Permutation,
    stopped: AtomicBool,
    /// Clusters that are over.
    finished: AtomicU64,
    /// OS threads that share the work.
    workers: usize,
    /// Of these, those that are at work, and those whose blocks only wait.
    at_work: AtomicUsize,
    stalled: AtomicUsize,
}

impl Queue {
    fn new(clusters: u64, config: &Config) -> Self {
        let workers = match (config.level, config.threads) {
            (Level::Off, 0) => std::thread::available_parallelism().map_or(1, usize::from),
            (Level::Off, threads) => threads,
            _ => 1,
        };
        let workers = workers.min(clusters.try_into().unwrap_or(usize::MAX)).max(1);
        let [next, finished] = [const { AtomicU64::new(0) }; 2];
        let [at_work, stalled] = [const { AtomicUsize::new(0) }; 2];
        let stopped = AtomicBool::new(false);
        Self {
            next,
            clusters,
            order: Permutation::new(clusters, config.seed, 0),
            stopped,
            finished,
            workers,
            at_work,
            stalled,
        }
    }

    /// Counts a worker whose blocks only wait, once. Gives whether that is so for all that are at work.
    fn all_stalled(&self, is_counted: &mut bool) -> bool {
        if !std::mem::replace(is_counted, true) {
            self.stalled.fetch_add(1, Ordering::SeqCst);
        }
        self.stalled.load(Ordering::SeqCst) >= self.at_work.load(Ordering::SeqCst)
    }

    fn take(&self) -> Option<u32> {
        if self.stopped.load(Ordering::Relaxed) {
            return None;
        }
        let position = self.next.fetch_add(1, Ordering::Relaxed);
        (position < self.clusters).then(|| self.order.at(position) as u32)
    }
}

/// Runs the blocks on this OS thread and others.
fn spread(
    launch: &Launch<'_>,
    config: &Config,
    body: &(dyn Fn() + Sync),
    queue: &Queue,
) -> Result<Outcome, LaunchError> {
    let outcomes = Mutex::new(Vec::new());
    workers::run(queue.workers, &|| {
        let outcome = work(launch, config, body, queue);
        outcomes.lock().unwrap_or_else(PoisonError::into_inner).push(outcome);
    });
    let mut reports = Reports::new(config.max_reports);
    let mut whole = Outcome::default();
    for outcome in outcomes.into_inner().unwrap_or_else(PoisonError::into_inner) {
        let outcome = outcome?;
        whole.clock = whole.clock.max(outcome.clock);
        reports.absorb(outcome.reports, outcome.suppressed);
    }
    (whole.reports, whole.suppressed) = reports.into_parts();
    Ok(whole)
}

/// One worker: takes blocks until there are none.
fn work(launch: &Launch<'_>, config: &Config, body: &(dyn Fn() + Sync), queue: &Queue) -> Result<Outcome, LaunchError> {
    let run = Run::new(launch, config, body).map_err(|error| LaunchError::Memory { reason: error.to_string() })?;
    overflow::prepare_thread();
    let clock = with_pool(|pool| {
        let _running = panics::Running::new(launch.name);
        Worker { run: &run, queue, resident: Vec::new(), spare: Vec::new(), round: 0, is_stalled: false, clock: 0 }
            .work(pool)
    })
    .ok_or(LaunchError::Nested)??;
    let Run { state, counters, shadow_bytes, .. } = run;
    let (reports, suppressed) = state.reports.into_inner().into_parts();
    let counters = (config.level == Level::Counters).then(|| counters.into_inner());
    Ok(Outcome { reports, suppressed, counters, clock, shadow_bytes: shadow_bytes.get() })
}

thread_local! {
    /// The fibers of this OS thread.
    static POOL: RefCell<Pool<Block>> = RefCell::default();
}

/// Runs `work` with this thread's fibers; `None` if they are in use, that is, inside a kernel.
fn with_pool<R>(work: impl FnOnce(&mut Pool<Block>) -> R) -> Option<R> {
    POOL.with(|pool| pool.try_borrow_mut().ok().map(|mut pool| work(&mut pool)))
}

struct Worker<'a> {
    run: &'a Run<'a>,
    queue: &'a Queue,
    resident: Vec<Cluster>,
    /// Blocks that are over and can be used again.
    #[expect(clippy::vec_box, reason = "lanes point to their block: it must not move")]
    spare: Vec<Box<Block>>,
    /// Turns that every resident block has had.
    round: u64,
    /// Whether this worker is counted in `Queue::stalled`.
    is_stalled: bool,
    clock: u64,
}

impl Worker<'_> {
    fn work(mut self, pool: &mut Pool<Block>) -> Result<u64, LaunchError> {
        // Fibers that wait point to their blocks: also a panic of the simulator itself must not leave them behind.
        self.queue.at_work.fetch_add(1, Ordering::SeqCst);
        let result = catch_unwind(AssertUnwindSafe(|| self.all(pool)));
        self.queue.at_work.fetch_sub(1, Ordering::SeqCst);
        if self.is_stalled {
            self.queue.stalled.fetch_sub(1, Ordering::SeqCst);
        }
        let result = match result {
            Ok(result) => result.map_err(|error| LaunchError::Memory { reason: error.to_string() }),
            Err(payload) => {
                lane::set_current(std::ptr::null());
                let reason = panics::text_of(&*payload);
                panics::drop_payload(payload);
                Err(LaunchError::Internal { reason })
            }
        };
        if result.is_err() {
            self.queue.stopped.store(true, Ordering::Relaxed);
            for cluster in &self.resident {
                cluster.abandon(pool);
            }
            // Other OS threads may need the stacks.
            pool.clear();
        }
        if self.run.state.config.level != Level::Off && !matches!(result, Err(LaunchError::Internal { .. })) {
            let left = self.resident.first().and_then(|cluster| cluster.blocks().next());
            let block = self.spare.last().map(|block| &**block).or(left);
            // SAFETY: one OS thread works on a watched run, and no lane runs now.
            let global = unsafe { &mut *self.run.global.get() };
            global.finish(
                block.map(|block| &block.state.threads),
                self.run.state.launch.bindings.iter().map(|binding| binding.memory),
            );
        }
        result.map(|()| self.clock)
    }

    fn all(&mut self, pool: &mut Pool<Block>) -> std::io::Result<()> {
        let launch = self.run.state.launch;
        let cluster = launch.cluster as usize;
        let most = self.most_resident();
        let mut wanted = self.run.state.config.resident as usize;
        let mut idle = Idle::new();
        loop {
            if self.run.state.interleave.get() {
                wanted = wanted.max(2 * cluster);
            }
            while self.resident.len() * cluster < wanted && self.admit()? {}
            if self.resident.is_empty() {
                return Ok(());
            }
            self.rotate();
            let mut at = 0;
            while at < self.resident.len() {
                let turn = self.resident[at].turn(pool, self.run.state.config.seed, self.round);
                if turn.is_err() && self.run.state.lost.get() {
                    self.end(pool);
                    return Ok(());
                }
                match turn? {
                    Progress::Spinning | Progress::Paused | Progress::Stuck => at += 1,
                    Progress::Done => {
                        let cluster = self.resident.remove(at);
                        self.retire(cluster);
                    }
                }
            }
            let finished = self.queue.finished.load(Ordering::Relaxed);
            let next = idle.after_round(&self.run.state, finished, || self.hash_seen());
            if self.is_stalled && !idle.is_stalled {
                self.is_stalled = false;
                self.queue.stalled.fetch_sub(1, Ordering::SeqCst);
            }
            match next {
                Next::Round => {}
                // The resident blocks may wait for one that is not resident: admit it.
                Next::Admit => {
                    wanted = (self.resident.len() * cluster + 1).min(most).max(wanted);
                    if self.round.is_multiple_of(64) {
                        std::thread::yield_now();
                    }
                }
                Next::Hang if self.queue.all_stalled(&mut self.is_stalled) => self.hang(pool),
                Next::Hang => std::thread::yield_now(),
            }
        }
    }

    /// How many blocks can be resident together: as many as the device holds, if this worker has stacks for their
    /// threads.
    fn most_resident(&self) -> usize {
        let Launch { block, cluster, .. } = *self.run.state.launch;
        let (threads, cluster) = (block.into_iter().product::<u32>() as usize, cluster as usize);
        let stacks = fiber::most() / self.queue.workers / threads.max(1) / cluster;
        self.run.state.launch.co_resident(self.run.state.config.sm_count).min(stacks.max(1) * cluster)
    }

    /// A hash of the memory that the resident blocks can see and the launch may write, and of how often their plain
    /// reads were of other places than before.
    fn hash_seen(&self) -> u64 {
        let blocks = self.resident.iter().flat_map(Cluster::blocks);
        let shared = blocks.fold(0, |hash, block| block.state.hash_seen(hash));
        let written = self.run.state.launch.bindings.iter().filter(|binding| binding.writable);
        // SAFETY: the launch's own memory, which its threads access by relaxed atomics.
        written.fold(shared, |hash, Binding { memory, .. }| unsafe { idle::hash(hash, memory.as_ptr(), memory.len()) })
    }

    /// Chooses by the seed which cluster comes first in this round.
    fn rotate(&mut self) {
        let (seed, clusters) = (self.run.state.config.seed, self.resident.len() as u64);
        self.round += 1;
        if seed != 0 && clusters > 1 {
            self.resident.rotate_left(Permutation::new(clusters, seed, self.round).at(0) as usize);
        }
    }

    /// Begins another cluster, if there is one.
    fn admit(&mut self) -> std::io::Result<bool> {
        let Some(number) = self.queue.take() else { return Ok(false) };
        let cluster = self.run.state.launch.cluster;
        let mut blocks = Vec::with_capacity(cluster as usize);
        for _ in 0..cluster {
            blocks.push(match self.spare.pop() {
                Some(block) => block,
                None => Block::new(self.run)?,
            });
        }
        // Clusters lie along x, and divide it: their blocks' numbers follow each other.
        self.resident.push(Cluster::begin(blocks, number * cluster));
        Ok(true)
    }

    /// All blocks of a cluster are over.
    fn retire(&mut self, cluster: Cluster) {
        self.queue.finished.fetch_add(1, Ordering::Relaxed);
        for block in cluster.finish() {
            self.clock = self.clock.max(block.state.threads.steps());
            self.spare.push(block);
        }
    }

    /// No thread makes progress any more: reports it, and abandons the launch.
    #[cold]
    fn hang(&mut self, pool: &mut Pool<Block>) {
        let launch = self.run.state.launch;
        let left = self.queue.clusters.saturating_sub(self.queue.next.load(Ordering::Relaxed));
        let most = self.most_resident();
        let (kind, who) = if most < launch.co_resident(self.run.state.config.sm_count) {
            (Kind::Limit, "simulator")
        } else {
            (Kind::Hang, "device")
        };
        let (kind, unstarted) = match left * u64::from(launch.cluster) {
            0 => (Kind::Hang, String::new()),
            left => (kind, format!(", and {left} blocks have not begun: the {who} holds {most} at once")),
        };
        let blocks = self.resident.iter().flat_map(Cluster::blocks);
        blocks.for_each(|block| block.report_hang(kind, &unstarted));
        self.end(pool);
    }

    /// Abandons the launch.
    fn end(&mut self, pool: &mut Pool<Block>) {
        self.queue.stopped.store(true, Ordering::Relaxed);
        for cluster in std::mem::take(&mut self.resident) {
            cluster.abandon(pool);
            self.spare.extend(cluster.finish());
        }
    }
}

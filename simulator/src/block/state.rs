//! What every part of a resident block works on: its threads, its warps, its memory and the checks of it.

use super::dependency::Dependency;
use super::plain_polls::PlainPolls;
use super::run::Run;
use super::warp::Warp;
use crate::async_queues::Source;
use crate::bulk::{Row, rows, stored_rows};
use crate::config::Level;
use crate::counters::{Access, Banks, BlockCounters, Counted, Thread, What, trace};
use crate::happens_before::{AtomicOp, Effect};
use crate::idle;
use crate::lane::{COUNTERS, Geometry, Lane, OVERFLOWED, UNWAITED};
use crate::ordering::{Order, Scope};
use crate::overflow;
use crate::shadow::{AccessKind, Accessed, SharedShadow, SourceWrites, quick};
use crate::tensor_map::TensorMap;
use crate::threads::Threads;
use std::cell::{Cell, UnsafeCell};
use std::io;
use std::panic::Location;
use std::ptr::NonNull;

/// Alignment of shared memory: that of a swizzled tile for TMA, the largest that anything needs.
const SHARED_ALIGN: usize = 1024;
/// Content of shared memory at the start of a checked block.
const POISON: u8 = 0xa5;
/// An atomic operation lets other lanes run every so many times: it may be waiting for them.
const POLLS: u16 = 16;
/// Releases of a thread after each of which others run: more than the stages of a usual ring.
const PAUSES: u16 = 64;
/// A loop of plain reads counts as so many turns each time it is noticed.
const PLAIN_POLL_TURNS: u64 = 64;

/// The rows of global memory that TMA reads or writes of the box at `at`.
fn rows_of(map: &TensorMap, at: [i32; 5], kind: AccessKind) -> Box<dyn Iterator<Item = Row>> {
    if kind == AccessKind::Read { Box::new(rows(map, at)) } else { Box::new(stored_rows(map, at)) }
}

/// Threads, warps and memory of one resident block.
pub(crate) struct BlockState {
    /// Erased lifetime of the run: see [`BlockState::new`].
    run: *const Run<'static>,
    pub(crate) threads: Threads,
    pub(super) warps: Box<[Warp]>,
    shared: SharedMemory,
    /// Whether accesses are checked.
    is_checked: bool,
    /// Without a cell if they are not.
    shadow: UnsafeCell<SharedShadow>,
    counters: UnsafeCell<BlockCounters>,
    pub(crate) dependency: Dependency,
    /// Where a lane last polled, and which address.
    last_poll: Cell<Option<(&'static Location<'static>, Option<usize>)>>,
    /// Loops of plain reads.
    plain_polls: PlainPolls,
}

struct SharedMemory {
    base: NonNull<u8>,
    layout: std::alloc::Layout,
}

impl SharedMemory {
    fn new(bytes: usize) -> io::Result<Self> {
        let error = || io::Error::new(io::ErrorKind::OutOfMemory, "no memory for simulated shared memory");
        let layout = std::alloc::Layout::from_size_align(bytes.max(16), SHARED_ALIGN).map_err(|_| error())?;
        // SAFETY: the layout's size is not 0.
        let base = NonNull::new(unsafe { std::alloc::alloc_zeroed(layout) }).ok_or_else(error)?;
        Ok(Self { base, layout })
    }
}

impl Drop for SharedMemory {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with this layout.
        unsafe { std::alloc::dealloc(self.base.as_ptr(), self.layout) };
    }
}

impl BlockState {
    /// State for blocks of the run's launch. It must be dropped before `run`.
    pub(super) fn new(run: &Run<'_>) -> io::Result<Self> {
        let (launch, config) = (run.state.launch, run.state.config);
        let shared = SharedMemory::new(launch.shared_bytes)?;
        let base = shared.base.as_ptr();
        let threads = Threads::new(&run.state, base);
        let (lanes, size) = (threads.lanes.len(), config.warp_size as usize);
        let warps = (0..threads.warps()).map(|warp| Warp::new((lanes - warp * size).min(size) as u32));
        let is_checked = config.level >= Level::Checks;
        let shadowed = if is_checked { launch.shared_bytes } else { 0 };
        Ok(Self {
            run: std::ptr::from_ref(run).cast(),
            warps: warps.collect(),
            is_checked,
            shadow: UnsafeCell::new(SharedShadow::new(base as usize, shadowed, threads.warp_shift)),
            counters: UnsafeCell::new(BlockCounters::new(threads.warps(), Banks::new(config.bank_bytes))),
            shared,
            threads,
            dependency: Dependency::default(),
            last_poll: Cell::new(None),
            plain_polls: PlainPolls::default(),
        })
    }

    /// Begins block `number` of the grid.
    pub(super) fn begin(&self, number: u32, watch: u8) {
        self.threads.begin(number, watch);
        self.dependency.reset();
        self.last_poll.set(None);
        for (index, warp) in self.warps.iter().enumerate() {
            warp.reset();
            self.counters().set_live(index as u16, warp.live.get());
        }
        if watch != 0 {
            let len = self.threads.geometry.get().shared_len;
            // SAFETY: no lane runs now; the block's own memory.
            unsafe { self.shared.base.as_ptr().write_bytes(POISON, len) };
            if let Some(shadow) = self.shadow() {
                shadow.reset();
                if self.threads.has_per_thread_clocks() {
                    shadow.enable_per_thread_clocks();
                }
            }
        }
    }

    /// Lanes of the block run from now on.
    pub(super) fn enter(&self) {
        if let Some(shadow) = self.shadow() {
            quick::enter_block(shadow, self.run().state.config.level == Level::Counters);
        }
    }

    /// No lane of the block runs any more.
    pub(super) fn leave(&self) {
        self.counters().leave();
        self.threads.take_quick_reads();
        quick::leave_block();
    }

    /// The block has ended: reports what the shadow has held back, and adds the counters to the launch's.
    pub(super) fn finish(&self) {
        let run = self.run();
        self.end_interval();
        let Geometry { shared, shared_len, .. } = self.threads.geometry.get();
        // SAFETY: the scheduler's OS thread; no lane runs.
        let (logs, global) = unsafe { (&mut *run.logs.get(), &*run.global.get()) };
        logs.forget(shared as usize..shared as usize + shared_len);
        let shadow = global.bytes() + self.shadow().map_or(0, |shadow| shadow.bytes());
        run.shadow_bytes.set(run.shadow_bytes.get().max(shadow));
        if run.state.config.level == Level::Counters {
            let mut counters = run.counters.borrow_mut();
            counters.warps += self.warps.len() as u64;
            self.counters().drain(|key, counts| counters.add(key, counts));
        }
    }

    /// All threads of the block have met, or the block has ended.
    pub(super) fn end_interval(&self) {
        if let Some(shadow) = self.shadow()
            && !shadow.unwritten.is_settled()
        {
            shadow.unwritten.settle(&self.threads, |address| self.threads.name_shared(address));
        }
        if self.run().state.config.level == Level::Counters {
            self.counters().flush();
        }
    }

    /// A barrier of the whole block is complete: orders all its threads.
    pub(super) fn synchronise_all(&self) {
        self.threads.synchronise_all();
        self.end_interval();
        if self.threads.lanes[0].watch.get() & COUNTERS != 0 {
            self.run().counters.borrow_mut().barriers += 1;
        }
    }

    /// From now on some threads synchronise without the others.
    pub(crate) fn enable_per_thread_clocks(&self) {
        self.run().state.per_thread_clocks.set(true);
        if let Some(shadow) = self.shadow() {
            shadow.enable_per_thread_clocks();
        }
    }

    /// The warp of a lane.
    #[inline(always)]
    pub(super) fn warp(&self, lane: &Lane) -> &Warp {
        &self.warps[usize::from(lane.warp)]
    }

    /// A lane has exited.
    pub(super) fn exited(&self, lane: &Lane) {
        let warp = self.warp(lane);
        warp.live.set(warp.live.get() & !lane.bit());
        self.counters().set_live(lane.warp, warp.live.get());
    }

    /// "3 threads (0-2) have exited", if any have.
    pub(super) fn describe_exited(&self) -> Option<String> {
        let exited = self.threads.in_masks(|warp| self.warps[warp].existing() & !self.warps[warp].live.get());
        (!exited.is_empty()).then(|| format!("{} have exited", Threads::name_threads(&exited)))
    }

    /// Whether there are other blocks in the cluster.
    pub(crate) fn is_in_cluster(&self) -> bool {
        self.threads.geometry.get().cluster > 1
    }

    /// Checks an access to shared memory if it is of the most frequent kinds. False: nothing was done.
    #[inline(always)]
    pub(crate) fn check_shared_fast(&self, lane: &Lane, accessed: Accessed) -> bool {
        let shadow = self.any_shadow();
        let is_done = match accessed.kind {
            AccessKind::Read => shadow.is_read_again(lane, accessed),
            AccessKind::Write => shadow.write_in_order(lane, accessed),
            _ => false,
        };
        if is_done {
            self.threads.count_step();
        }
        is_done
    }

    /// Checks a read of a word of shared memory that is one of the first since the last barrier. False: nothing was
    /// done.
    #[inline(always)]
    pub(crate) fn check_shared_word(&self, lane: &Lane, address: usize, location: &'static Location<'static>) -> bool {
        let is_done = self.any_shadow().read_word(lane, address, location);
        if is_done {
            self.threads.count_step();
        }
        is_done
    }

    /// Checks an access to shared memory if it is of the second most frequent kinds: a read that is one of the first
    /// since the last barrier, a write of several words. False: nothing was done.
    #[inline(always)]
    pub(crate) fn check_shared_simply(&self, lane: &Lane, accessed: Accessed) -> bool {
        let shadow = self.any_shadow();
        let is_done = match accessed.kind {
            AccessKind::Read => shadow.read_next(lane, accessed) || shadow.read_first(lane, accessed),
            AccessKind::Write => shadow.write_all_in_order(lane, accessed),
            _ => false,
        };
        if is_done {
            self.threads.count_step();
        }
        is_done
    }

    /// Checks any access to shared memory.
    #[inline(never)]
    pub(crate) fn check_shared(&self, lane: &Lane, accessed: Accessed) {
        self.threads.count_step();
        if let Some(shadow) = self.shadow() {
            shadow.access(&self.threads, lane, accessed);
        }
    }

    /// Checks and counts an aligned read of the buffer `tag` if there is nothing to check, as in most inputs. False:
    /// nothing was done.
    #[inline(always)]
    pub(crate) fn check_input(&self, lane: &Lane, tag: u32, accessed: Accessed) -> bool {
        let attention = lane.attention() & (COUNTERS | UNWAITED | OVERFLOWED);
        // SAFETY: one OS thread works on a watched run, and no borrow of the shadow lives across this call.
        let global = unsafe { &*self.run().global.get() };
        let what = What::new(Access::GlobalLoad, accessed.size);
        let is_done = attention & !COUNTERS == 0
            && global.is_input(tag)
            && (attention == 0
                || trace::write(Counted { location: accessed.location, what, address: accessed.address }));
        if is_done {
            self.threads.count_step();
        }
        is_done
    }

    /// Checks and counts an access to the buffer `tag`, in which the address lies.
    #[inline(always)]
    pub(crate) fn check_global(&self, lane: &Lane, tag: u32, accessed: Accessed, access: Access) {
        self.check_global_scoped(lane, tag, accessed, access, None);
    }

    /// Checks and counts an atomic operation on the buffer `tag`, in which the address lies.
    #[inline(never)]
    pub(crate) fn check_global_atomic(&self, lane: &Lane, tag: u32, accessed: Accessed, scope: Scope) {
        self.check_global_scoped(lane, tag, accessed, Access::GlobalAtomic, Some(scope));
    }

    #[inline(always)]
    fn check_global_scoped(&self, lane: &Lane, tag: u32, accessed: Accessed, access: Access, scope: Option<Scope>) {
        self.threads.count_step();
        if lane.attention() & (COUNTERS | UNWAITED | OVERFLOWED) != 0 {
            overflow::enter_as(lane, accessed.location);
            if lane.watch.get() & COUNTERS != 0 {
                self.count(lane, accessed.location, What::new(access, accessed.size), accessed.address);
            }
            Dependency::check(&self.threads, lane, accessed);
        }
        if let Some(binding) = self.threads.bindings().get(tag as usize) {
            // SAFETY: one OS thread works on a watched run, and no borrow of the shadow lives across this call.
            let global = unsafe { &mut *self.run().global.get() };
            global.access(tag, binding.memory, &self.threads, lane, accessed, scope);
        }
    }

    /// Counts a box at `at` that TMA is told to copy, where accesses are counted, and checks it.
    pub(super) fn access_global_box(
        &self,
        lane: &Lane,
        map: &TensorMap,
        at: [i32; 5],
        kind: AccessKind,
        location: &'static Location<'static>,
    ) {
        if lane.watch.get() & COUNTERS != 0 {
            let access = if kind == AccessKind::Read { Access::TensorLoad } else { Access::TensorStore };
            self.counters().count_box((location, access), rows_of(map, at, kind));
        }
        self.check_global_box(lane, map, at, kind, location);
    }

    /// Checks what the box at `at` reads or writes of global memory.
    pub(super) fn check_global_box(
        &self,
        lane: &Lane,
        map: &TensorMap,
        at: [i32; 5],
        kind: AccessKind,
        location: &'static Location<'static>,
    ) {
        let Some(binding) = self.threads.bindings().get(map.tag as usize) else { return };
        for row in rows_of(map, at, kind) {
            let accessed = Accessed { address: row.address as usize, size: row.bytes, kind, location };
            Dependency::check(&self.threads, lane, accessed);
            // SAFETY: one OS thread works on a watched run, and no borrow of the shadow lives across this call.
            let global = unsafe { &mut *self.run().global.get() };
            global.access(map.tag, binding.memory, &self.threads, lane, accessed, None);
        }
    }

    /// The last writes of what a `cp.async` reads.
    pub(crate) fn source_writes(&self, tag: u32, address: usize, size: usize) -> Option<SourceWrites> {
        // SAFETY: one OS thread works on a watched run, and no borrow of the shadow lives across this call.
        unsafe { &*self.run().global.get() }.source_writes(tag, address, size)
    }

    /// Checks that nothing has overwritten what a `cp.async` reads.
    pub(crate) fn check_source(&self, lane: &Lane, source: Source, size: usize, site: &'static Location<'static>) {
        // SAFETY: as `source_writes`.
        unsafe { &*self.run().global.get() }.check_source(&self.threads, lane, source, size, site);
    }

    /// Checks the start of a `cp.async`'s write.
    pub(crate) fn begin_async_write(&self, lane: &Lane, accessed: Accessed) {
        if let Some(shadow) = self.shadow() {
            shadow.access(&self.threads, lane, accessed);
        }
    }

    /// Notes that a `cp.async` has written.
    pub(crate) fn end_async_write(&self, lane: &Lane, address: usize, size: usize, site: &'static Location<'static>) {
        if let Some(shadow) = self.shadow() {
            shadow.land(lane, address, size, site);
        }
    }

    /// Begins an asynchronous read of shared memory; gives the token by which it ends, 0 at `Level::Off`.
    pub(crate) fn begin_async_read(
        &self,
        lane: &Lane,
        address: usize,
        size: usize,
        location: &'static Location<'static>,
    ) -> u64 {
        if !lane.watched() {
            return 0;
        }
        let accessed = Accessed { address, size, kind: AccessKind::BulkRead, location };
        self.shadow().map_or(0, |shadow| shadow.begin_read(&self.threads, lane, accessed))
    }

    /// Ends an asynchronous read, for the lane that issued it.
    pub(crate) fn end_async_read(&self, lane: &Lane, token: u64) {
        if lane.watched()
            && let Some(shadow) = self.shadow()
        {
            shadow.end_read(&self.threads, lane, token);
        }
    }

    /// The order that an atomic operation makes. Gives whether it has published what its thread did before.
    pub(crate) fn order_atomic(&self, lane: &Lane, address: usize, op: AtomicOp, how: (Order, Scope)) -> bool {
        // SAFETY: one OS thread works on a watched run, and no borrow of the logs lives across this call.
        let logs = unsafe { &mut *self.run().logs.get() };
        let effect = self.threads.order_atomic(logs, lane, address, op, how);
        if effect != Effect::None && self.threads.has_several_releasers(lane) {
            self.enable_per_thread_clocks();
        }
        if effect != Effect::None && how.1 != Scope::Block {
            self.threads.launch().interleave.set(true);
        }
        effect != Effect::None
    }

    /// After a release: lets others run, each of the first times and later at times. Gives whether the caller must
    /// suspend.
    ///
    /// A thread that publishes one item after another thus meets readers that are behind it, whatever the seed: a ring
    /// that is overwritten too early is then found.
    pub(crate) fn pause_after_release(&self, lane: &Lane) -> bool {
        let releases = lane.releases.get().saturating_add(1);
        lane.releases.set(releases);
        let pauses = releases <= PAUSES || releases.is_multiple_of(POLLS);
        if pauses {
            self.warp(lane).wake(lane.bit());
        }
        pauses
    }

    /// Counts one instruction of a lane that is not the running one.
    pub(crate) fn count_for(&self, lane: &Lane, location: &'static Location<'static>, what: What, address: usize) {
        trace::change_thread();
        self.count(lane, location, what, address);
        trace::change_thread();
    }

    /// Counts one instruction of the running lane.
    #[inline(always)]
    pub(crate) fn count(&self, lane: &Lane, location: &'static Location<'static>, what: What, address: usize) {
        let thread = Thread { warp: lane.warp, lane: lane.lane };
        self.counters().count(thread, Counted { location, what, address });
    }

    /// Counts an atomic operation, or an access out of bounds, and at times lets others run, because this one may wait
    /// for them. Gives whether the caller must suspend.
    #[inline]
    pub(crate) fn poll(&self, lane: &Lane, location: &'static Location<'static>, at: Option<usize>) -> bool {
        let polls = lane.polls.get().wrapping_add(1);
        lane.polls.set(polls);
        let due = polls.is_multiple_of(POLLS);
        if due {
            self.spin(lane, location, at, 1);
        }
        due
    }

    /// Whether the next read is a sample of [`Self::poll_plainly`].
    #[inline(always)]
    pub(crate) fn is_sample_due(&self) -> bool {
        self.threads.is_sample_due()
    }

    /// Counts reads of a lane that runs and runs. Gives whether it reads the same again and again, and the caller must
    /// suspend.
    #[cold]
    #[inline(never)]
    pub(crate) fn poll_plainly(&self, lane: &Lane, location: &'static Location<'static>, at: usize) -> bool {
        self.threads.begin_sample();
        let polled = self.last_poll.get().and_then(|(_, at)| at);
        let polls = self.plain_polls.is_repeated(lane.linear, at, polled);
        if polls {
            self.spin(lane, location, Some(at), PLAIN_POLL_TURNS);
        }
        polls
    }

    /// Marks the lane as waiting for another's action that no barrier announces, by polling an address or by a pause.
    /// It counts as so many turns.
    pub(crate) fn spin(&self, lane: &Lane, location: &'static Location<'static>, at: Option<usize>, turns: u64) {
        let spins = &self.threads.launch().spins;
        spins.set(spins.get() + turns);
        // A pause in a loop of polls names what is polled.
        if at.is_some() || self.last_poll.get().is_none() {
            self.last_poll.set(Some((location, at)));
        }
        let warp = self.warp(lane);
        warp.spinning.set(warp.spinning.get() | lane.bit());
    }

    /// Where a lane polled last, what it polled, and all lanes that do.
    pub(crate) fn spinners(&self) -> Option<(&'static Location<'static>, Option<String>, Vec<u16>)> {
        let threads = self.threads.in_masks(|warp| self.warps[warp].ready.get());
        let (location, at) = self.last_poll.get().filter(|_| !threads.is_empty())?;
        Some((location, at.map(|address| self.threads.name_address(address)), threads))
    }

    /// A hash of the block's shared memory, and of how often plain reads were of other places than before.
    pub(crate) fn hash_seen(&self, hash: u64) -> u64 {
        let Geometry { shared, shared_len, .. } = self.threads.geometry.get();
        // SAFETY: the block's own memory, which only this OS thread accesses.
        unsafe { idle::hash(idle::mix(hash, self.plain_polls.others()), shared, shared_len) }
    }

    /// The block's shared memory.
    pub(super) fn shared_bytes(&self) -> &[u8] {
        let geometry = self.threads.geometry.get();
        // SAFETY: the block's shared memory, which only this OS thread accesses, and nothing writes before the borrow
        // ends.
        unsafe { std::slice::from_raw_parts(geometry.shared, geometry.shared_len) }
    }

    #[inline(always)]
    pub(super) fn run(&self) -> &Run<'static> {
        // SAFETY: `new`'s contract: the run outlives the block. The lifetime inside is erased, and no reference taken
        // through it is kept.
        unsafe { &*self.run }
    }

    /// The shadow, if accesses are checked.
    #[inline(always)]
    pub(crate) fn shadow(&self) -> Option<&mut SharedShadow> {
        self.is_checked.then(|| self.any_shadow())
    }

    /// The shadow, which has no cell if accesses are not checked.
    #[expect(clippy::mut_from_ref, reason = "one OS thread; no two of these borrows live at once")]
    #[inline(always)]
    fn any_shadow(&self) -> &mut SharedShadow {
        // SAFETY: only this OS thread touches the block, and callers end the borrow before the next call or switch; the
        // reports made meanwhile do not come back here.
        unsafe { &mut *self.shadow.get() }
    }

    #[expect(clippy::mut_from_ref, reason = "as `any_shadow`")]
    #[inline(always)]
    fn counters(&self) -> &mut BlockCounters {
        // SAFETY: as `any_shadow`.
        unsafe { &mut *self.counters.get() }
    }
}

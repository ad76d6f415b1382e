//! The threads of one resident block, and what they share with the launch.

use super::order::AcquiredClock;
use crate::config::Config;
use crate::device::SharedNames;
use crate::happens_before::Acquired;
use crate::lane::{Geometry, Lane};
use crate::launch::{Binding, Launch};
use crate::report::Reports;
use crate::shadow::quick;
use std::cell::{Cell, RefCell, UnsafeCell};

/// Largest clock that the stamps of shadow memory can hold.
pub(crate) const MAX_CLOCK: u32 = (1 << 20) - 1;

/// Largest thread number that the stamps of shadow memory can hold.
pub(crate) const MAX_THREAD: usize = 0x3ff;

/// What all blocks of a launch on one OS thread share: the request, the reports, and the flags of the checks.
pub(crate) struct LaunchState<'a> {
    pub(crate) launch: &'a Launch<'a>,
    pub(crate) config: &'a Config,
    pub(crate) reports: RefCell<Reports>,
    /// Lanes are being unwound: what their destructors do is not reported.
    pub(crate) unwinding: Cell<bool>,
    /// Some thread has panicked.
    pub(crate) panicked: Cell<bool>,
    /// Some thread is suspended for ever: the launch ends.
    pub(crate) lost: Cell<bool>,
    /// Some barrier or warp sync of this launch took only some threads: readers are recorded one by one from then on.
    pub(crate) per_thread_clocks: Cell<bool>,
    /// Some thread has released something to other blocks: at least two are resident from then on, and take turns.
    pub(crate) interleave: Cell<bool>,
    /// Counts exits, and what TMA and the tensor cores complete.
    pub(crate) progress: Cell<u64>,
    /// Counts these, barriers and warp operations.
    pub(crate) activity: Cell<u64>,
    /// Counts turns of polling threads.
    pub(crate) spins: Cell<u64>,
}

impl<'a> LaunchState<'a> {
    pub(crate) fn new(launch: &'a Launch<'a>, config: &'a Config) -> Self {
        Self {
            launch,
            config,
            reports: RefCell::new(Reports::new(config.max_reports)),
            unwinding: Cell::new(false),
            panicked: Cell::new(false),
            lost: Cell::new(false),
            per_thread_clocks: Cell::new(false),
            interleave: Cell::new(false),
            progress: Cell::new(0),
            activity: Cell::new(0),
            spins: Cell::new(0),
        }
    }
}

/// The threads of one resident block.
pub(crate) struct Threads {
    /// Erased lifetime of the launch: see [`Threads::new`].
    launch: *const LaunchState<'static>,
    pub(crate) geometry: Cell<Geometry>,
    pub(super) number: Cell<u32>,
    pub(crate) lanes: Box<[Lane]>,
    /// log2 of the lanes per warp.
    pub(crate) warp_shift: u32,
    pub(super) acquired: UnsafeCell<Acquired>,
    /// The kernel's names for places of shared memory, if it has said them.
    pub(crate) shared_names: Cell<Option<SharedNames>>,
    /// The thread that was the last to release through an atomic, and the epoch of the block then.
    pub(super) releaser: Cell<(u32, u16)>,
    /// The last clock that a lane acquired on its own.
    pub(super) last_acquired: RefCell<Option<AcquiredClock>>,
    /// Accesses, barriers, atomics and warp operations so far, without the reads of a turn that has not ended.
    steps: Cell<u64>,
    /// Steps at which a read is taken as a sample.
    next_sample: Cell<u64>,
}

impl Threads {
    /// Threads for blocks of a launch, whose shared memory is at `shared`. They must be dropped before `state`.
    pub(crate) fn new(state: &LaunchState<'_>, shared: *mut u8) -> Self {
        let Launch { block, grid, shared_bytes, cluster, .. } = *state.launch;
        let warp_size = state.config.warp_size;
        let geometry = Geometry {
            block_idx: [0; 3],
            block_dim: block,
            grid_dim: grid,
            cluster,
            warp_size,
            shared,
            shared_len: shared_bytes,
        };
        let lanes = (0..block.into_iter().product::<u32>()).map(|i| {
            let index = [i % block[0], i / block[0] % block[1], i / block[0] / block[1]].map(|x| x as u16);
            Lane::new(std::ptr::null(), std::ptr::null(), index, i as u16, warp_size as u16)
        });
        Self {
            launch: std::ptr::from_ref(state).cast(),
            geometry: Cell::new(geometry),
            number: Cell::new(0),
            lanes: lanes.collect(),
            warp_shift: warp_size.trailing_zeros(),
            acquired: UnsafeCell::default(),
            shared_names: Cell::new(None),
            releaser: Cell::new((u32::MAX, 0)),
            last_acquired: RefCell::default(),
            steps: Cell::new(0),
            next_sample: Cell::new(quick::SAMPLE as u64),
        }
    }

    /// Binds the lanes to the block that owns them. Neither it nor these threads may move from then on.
    pub(crate) fn bind(&self, block: *const ()) {
        for lane in &self.lanes {
            lane.block.set(block);
            lane.geometry.set(self.geometry.as_ptr());
        }
    }

    /// Begins block `number` of the grid; lanes are watched as `watch` says.
    pub(crate) fn begin(&self, number: u32, watch: u8) {
        let mut geometry = self.geometry.get();
        geometry.block_idx = self.index_of(number);
        self.geometry.set(geometry);
        self.number.set(number);
        self.steps.set(0);
        self.releaser.set((u32::MAX, 0));
        *self.acquired_mut() = Acquired::default();
        for lane in &self.lanes {
            lane.reset(watch);
        }
    }

    #[inline(always)]
    pub(crate) fn launch(&self) -> &LaunchState<'static> {
        // SAFETY: `new`'s contract: the launch outlives the threads. The lifetime inside is erased, and no reference
        // taken through it is kept.
        unsafe { &*self.launch }
    }

    pub(crate) fn bindings(&self) -> &[Binding<'_>] {
        self.launch().launch.bindings
    }

    /// The block's number in the grid.
    pub(crate) fn number(&self) -> u32 {
        self.number.get()
    }

    /// The block's index in the grid.
    pub(crate) fn index(&self) -> [u32; 3] {
        self.geometry.get().block_idx
    }

    /// Index in the grid of block `number`.
    pub(crate) fn index_of(&self, number: u32) -> [u32; 3] {
        let [x, y, _] = self.geometry.get().grid_dim;
        let row = number / x;
        [number % x, row % y, row / y]
    }

    /// Address of the block's shared memory.
    #[inline]
    pub(crate) fn shared_base(&self) -> usize {
        self.geometry.get().shared as usize
    }

    /// The lane with this linear index.
    #[inline]
    pub(crate) fn lane(&self, thread: u16) -> &Lane {
        &self.lanes[usize::from(thread)]
    }

    /// Whether accesses are checked or counted.
    #[inline]
    pub(crate) fn watched(&self) -> bool {
        self.lanes[0].watched()
    }

    #[inline]
    pub(crate) fn warp_of(&self, thread: u16) -> u16 {
        thread >> self.warp_shift
    }

    /// Linear index of the first lane of a warp.
    #[inline]
    pub(crate) fn first_of(&self, warp: u16) -> usize {
        usize::from(warp) << self.warp_shift
    }

    /// Number of warps.
    pub(crate) fn warps(&self) -> usize {
        self.lanes.len().div_ceil(1 << self.warp_shift)
    }

    /// Linear indices of the threads in per-warp masks.
    pub(crate) fn in_masks(&self, mask: impl Fn(usize) -> u32) -> Vec<u16> {
        let is_in = |lane: &&Lane| mask(usize::from(lane.warp)) & lane.bit() != 0;
        self.lanes.iter().filter(is_in).map(|lane| lane.linear).collect()
    }

    /// Steps so far, of the running block or of any while none runs.
    pub(crate) fn steps(&self) -> u64 {
        self.steps.get() + quick::passed()
    }

    /// Whether a read is to be taken as a sample: [`quick::SAMPLE`] steps after the last one, without the reads of
    /// [`quick`], of which samples are taken, too.
    #[inline(always)]
    pub(crate) fn is_sample_due(&self) -> bool {
        self.steps.get() >= self.next_sample.get()
    }

    /// A sample is taken: the next one is due after so many steps, or reads of [`quick`].
    pub(crate) fn begin_sample(&self) {
        self.take_quick_reads();
        self.next_sample.set(self.steps.get() + quick::SAMPLE as u64);
    }

    /// Adds the reads that have passed quickly, all of this block.
    pub(crate) fn take_quick_reads(&self) {
        self.steps.set(self.steps.get() + quick::take_passed());
    }

    /// Counts a step.
    #[inline(always)]
    pub(crate) fn count_step(&self) {
        self.steps.set(self.steps.get() + 1);
    }

    /// Notes that a thread of the launch has made progress.
    pub(crate) fn note_progress(&self) {
        let progress = &self.launch().progress;
        progress.set(progress.get() + 1);
        self.note_activity();
    }

    /// Notes that threads have met: progress, unless they do so in a loop that waits for something else.
    pub(crate) fn note_activity(&self) {
        let activity = &self.launch().activity;
        activity.set(activity.get() + 1);
    }
}

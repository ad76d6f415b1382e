//! One simulated GPU thread, in one cache line, and the pointer to the running one.

use crate::async_queues::{Copies, Products, Stores};
use crate::counters::trace;
use crate::fiber::{Pause, Switch};
use crate::happens_before::ThreadOrder;
use crate::local;
use crate::shadow::quick;
use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// [`Lane::watch`]: accesses are checked.
pub(crate) const CHECKS: u8 = 1;
/// [`Lane::watch`]: accesses are counted.
pub(crate) const COUNTERS: u8 = 2;
/// [`Lane::watch`]: this thread has not yet called `griddepcontrol.wait`, in a launch that needs it.
pub(crate) const UNWAITED: u8 = 4;
/// [`Lane::attention`]: this thread has overflowed its stack.
pub(crate) const OVERFLOWED: u8 = 8;

/// State of a lane that few lanes need, allocated on first use.
#[derive(Default)]
pub(crate) struct Extension {
    pub(crate) order: ThreadOrder,
    pub(crate) copies: Copies,
    pub(crate) stores: Stores,
    pub(crate) products: Products,
    /// Clocks at which this thread executed a proxy fence, ascending.
    pub(crate) proxy_fences: Vec<u32>,
    /// Clocks at which this thread began a matrix product of registers, ascending.
    pub(crate) products_of_registers: Vec<u32>,
}

/// Indices and extents that a kernel may ask for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Geometry {
    pub(crate) block_idx: [u32; 3],
    pub(crate) block_dim: [u32; 3],
    pub(crate) grid_dim: [u32; 3],
    /// Blocks of a cluster.
    pub(crate) cluster: u32,
    pub(crate) warp_size: u32,
    pub(crate) shared: *mut u8,
    pub(crate) shared_len: usize,
}

/// A thread of a resident block. Its state is in `Cell`s: the fibers of its block and the scheduler share it, all on
/// one OS thread.
#[expect(clippy::struct_field_names, reason = "`lane` is the field's word for the index in the warp")]
#[repr(C, align(64))]
pub(crate) struct Lane {
    /// The resident block, whose type is defined above this module; null outside a launch.
    pub(crate) block: Cell<*const ()>,
    pub(crate) geometry: Cell<*const Geometry>,
    /// How to leave the fiber that runs this lane.
    pub(crate) switch: Cell<*const Switch>,
    /// Null until needed.
    extension: Cell<*mut Extension>,
    pub(crate) thread: [u16; 3],
    /// Linear index in the block.
    pub(crate) linear: u16,
    /// This thread's scalar clock: accesses are stamped with it.
    clock: Cell<u32>,
    /// Everything that threads of this block did up to this clock came before.
    pub(crate) epoch: Cell<u32>,
    /// The same for the threads of this warp.
    pub(crate) warp_epoch: Cell<u32>,
    pub(crate) watch: Cell<u8>,
    pub(crate) lane: u8,
    pub(crate) warp: u16,
    /// The fiber that runs this lane; `u16::MAX` before it has started.
    pub(crate) fiber: Cell<u16>,
    /// Atomic operations since this lane last let others run.
    pub(crate) polls: Cell<u16>,
    /// Releases by this lane.
    pub(crate) releases: Cell<u16>,
    /// `watch` and [`OVERFLOWED`]. Atomic, because the handler of a stack overflow interrupts the lane.
    attention: AtomicU8,
}

const _: () = assert!(size_of::<Lane>() == 64, "a lane is one cache line");

/// What [`current`] returns outside a launch: a grid of one thread that is not watched and belongs to no block.
struct Outside(Lane);
// SAFETY: nothing ever writes to it: writers need a block, and this lane has none.
unsafe impl Sync for Outside {}
struct OutsideGeometry(Geometry);
// SAFETY: it is never written, and its pointer is null.
unsafe impl Sync for OutsideGeometry {}

static OUTSIDE_GEOMETRY: OutsideGeometry = OutsideGeometry(Geometry {
    block_idx: [0; 3],
    block_dim: [1; 3],
    grid_dim: [1; 3],
    cluster: 1,
    warp_size: 32,
    shared: std::ptr::null_mut(),
    shared_len: 0,
});
static OUTSIDE: Outside = Outside(Lane::new(std::ptr::null(), &raw const OUTSIDE_GEOMETRY.0, [0; 3], 0, 32));

thread_local! {
    static CURRENT: Cell<*const Lane> = const { Cell::new(&raw const OUTSIDE.0) };
    /// [`Lane::watched`] of the running lane: each access of a kernel looks here first.
    static WATCHED: Cell<bool> = const { Cell::new(false) };
}

impl Lane {
    pub(crate) const fn new(
        block: *const (),
        geometry: *const Geometry,
        thread: [u16; 3],
        linear: u16,
        warp_size: u16,
    ) -> Self {
        Self {
            block: Cell::new(block),
            geometry: Cell::new(geometry),
            switch: Cell::new(std::ptr::null()),
            extension: Cell::new(std::ptr::null_mut()),
            thread,
            linear,
            clock: Cell::new(1),
            epoch: Cell::new(0),
            warp_epoch: Cell::new(0),
            watch: Cell::new(0),
            lane: (linear % warp_size) as u8,
            warp: linear / warp_size,
            fiber: Cell::new(u16::MAX),
            polls: Cell::new(0),
            releases: Cell::new(0),
            attention: AtomicU8::new(0),
        }
    }

    /// Whether accesses are checked or counted.
    #[inline(always)]
    pub(crate) fn watched(&self) -> bool {
        self.watch.get() != 0
    }

    /// This thread's scalar clock.
    #[inline(always)]
    pub(crate) fn clock(&self) -> u32 {
        self.clock.get()
    }

    /// Sets this thread's clock.
    #[inline(always)]
    pub(crate) fn set_clock(&self, clock: u32) {
        self.clock.set(clock);
        if std::ptr::eq(self, local::with(&CURRENT, Cell::get)) {
            quick::enter_lane(self);
        }
    }

    /// What an access has to look at: `watch`, and [`OVERFLOWED`].
    #[inline(always)]
    pub(crate) fn attention(&self) -> u8 {
        self.attention.load(Relaxed)
    }

    /// Whether this lane has overflowed its stack.
    #[inline(always)]
    pub(crate) fn has_overflowed(&self) -> bool {
        self.attention() & OVERFLOWED != 0
    }

    /// Marks this lane as one that has overflowed its stack. Gives whether it was.
    pub(crate) fn overflow(&self) -> bool {
        quick::refuse();
        self.attention.fetch_or(OVERFLOWED, Relaxed) & OVERFLOWED != 0
    }

    /// This lane has left its stack.
    pub(crate) fn end_overflow(&self) {
        self.attention.fetch_and(!OVERFLOWED, Relaxed);
    }

    /// This lane has called `griddepcontrol.wait`.
    pub(crate) fn end_unwaited(&self) {
        self.watch.set(self.watch.get() & !UNWAITED);
        self.attention.fetch_and(!UNWAITED, Relaxed);
    }

    /// Whether this is a thread of a launch.
    #[inline(always)]
    pub(crate) fn is_in_launch(&self) -> bool {
        !self.block.get().is_null()
    }

    /// Indices and extents.
    #[inline(always)]
    pub(crate) fn geometry(&self) -> &Geometry {
        // SAFETY: set to the geometry of the lane's block, which outlives the lane's run, or to the static one outside.
        unsafe { &*self.geometry.get() }
    }

    /// Whether a fiber runs, or has run, this lane.
    pub(crate) fn has_started(&self) -> bool {
        self.fiber.get() != u16::MAX
    }

    /// Bit of this lane in masks of its warp.
    #[inline]
    pub(crate) fn bit(&self) -> u32 {
        1 << self.lane
    }

    /// Thread index, as reports give it.
    pub(crate) fn thread_index(&self) -> [u32; 3] {
        self.thread.map(u32::from)
    }

    /// The lane's extension, allocated on first use.
    #[expect(clippy::mut_from_ref, reason = "one OS thread; no two of these borrows live at once")]
    pub(crate) fn extension(&self) -> &mut Extension {
        if self.extension.get().is_null() {
            self.extension.set(Box::into_raw(Box::default()));
        }
        // SAFETY: not null, made by `Box::into_raw`, freed only in `drop_extension`; callers do not hold it across a
        // switch or a second call for the same lane.
        unsafe { &mut *self.extension.get() }
    }

    /// The lane's extension, if there is one.
    #[expect(clippy::mut_from_ref, reason = "as `extension`")]
    #[inline]
    pub(crate) fn extension_if_any(&self) -> Option<&mut Extension> {
        // SAFETY: as in `extension`; null gives `None`.
        unsafe { self.extension.get().as_mut() }
    }

    fn drop_extension(&self) {
        let extension = self.extension.replace(std::ptr::null_mut());
        if !extension.is_null() {
            // SAFETY: made by `Box::into_raw` in `extension`, and no longer reachable.
            drop(unsafe { Box::from_raw(extension) });
        }
    }

    /// Back to the state before the first instruction, for the next block.
    pub(crate) fn reset(&self, watch: u8) {
        self.clock.set(1);
        self.epoch.set(0);
        self.warp_epoch.set(0);
        self.watch.set(watch);
        self.fiber.set(u16::MAX);
        self.polls.set(0);
        self.releases.set(0);
        self.attention.store(watch, Relaxed);
        self.drop_extension();
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        self.drop_extension();
    }
}

/// The lane that runs on this OS thread; outside a launch, one that belongs to no block.
#[inline(always)]
pub(crate) fn current() -> Current {
    Current { lane: local::with(&CURRENT, Cell::get), here: PhantomData }
}

/// Reference to the running lane; must not leave the OS thread.
#[derive(Clone, Copy)]
pub(crate) struct Current {
    lane: *const Lane,
    here: PhantomData<*const ()>,
}

impl std::ops::Deref for Current {
    type Target = Lane;
    #[inline(always)]
    fn deref(&self) -> &Lane {
        // SAFETY: made by `current` of a pointer to `OUTSIDE`, or to a lane of a resident block, which the scheduler
        // keeps alive while it runs. It is dereferenced only by functions of that lane and of its scheduler.
        unsafe { &*self.lane }
    }
}

/// Whether accesses of the lane that runs the calling function are checked or counted. For the kernel's side of an
/// access: the compiler reads it once in a kernel, and may compile a loop twice, for both answers. Read at each access
/// it would take two instructions, and keep a loop that is not watched from being unrolled.
///
/// It tells the compiler that a function gets the same answer whenever it asks. That holds for a kernel, which one lane
/// runs from its beginning to its end: what a lane watches changes in one bit alone, and not whether it watches
/// anything. The scheduler, which goes from lane to lane, must not ask.
#[expect(clippy::pointers_in_nomem_asm_block, reason = "the byte stays the same for those who ask, as explained above")]
#[inline(always)]
pub(crate) fn is_watched() -> bool {
    let watched = local::with(&WATCHED, Cell::as_ptr);
    // SAFETY: reads a byte that this OS thread alone accesses. `pure` and `nomem` say that the answer depends on the
    // address alone, as explained above.
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    let value = unsafe {
        let value: u32;
        std::arch::asm!(
            #[cfg(target_arch = "x86_64")]
            "movzx {:e}, byte ptr [{}]",
            #[cfg(target_arch = "aarch64")]
            "ldrb {:w}, [{}]",
            out(reg) value,
            in(reg) watched,
            options(pure, nomem, nostack, preserves_flags)
        );
        value
    };
    // SAFETY: as above.
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let value = u32::from(unsafe { watched.read() });
    value != 0
}

/// Makes `lane` the running one (null: none).
#[inline(always)]
pub(crate) fn set_current(lane: *const Lane) {
    local::with(&CURRENT, |current| current.set(if lane.is_null() { &raw const OUTSIDE.0 } else { lane }));
    // What a lane watches changes in one bit alone, and not whether it watches anything.
    local::with(&WATCHED, |watched| watched.set(current().watched()));
    enter(&current());
}

/// [`set_current`] where a lane of the same block ran last.
#[inline(always)]
pub(crate) fn set_next(lane: &Lane) {
    local::with(&CURRENT, |current| current.set(lane));
    if local::with(&WATCHED, Cell::get) {
        enter(lane);
    }
}

/// A lane whose accesses may be watched runs from now on.
#[inline(always)]
fn enter(lane: &Lane) {
    quick::enter_lane(lane);
    trace::change_thread();
}

/// Lets others run until this lane is ready again.
///
/// Inlined into the kernel: the processor predicts no return address across a change of stacks, so every function
/// between here and the kernel would cost a misprediction.
#[inline(always)]
pub(crate) fn suspend(lane: &Lane) {
    // SAFETY: `switch` was set when this lane was started, by the fiber that is running now. It is null once the lane
    // is abandoned: a destructor that waits while the stack is unwound does not.
    if let Some(switch) = unsafe { lane.switch.get().as_ref() } {
        switch.suspend(Pause::Blocked);
    }
}

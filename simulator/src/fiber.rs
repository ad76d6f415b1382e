//! Fibers: stackful coroutines that carry lanes, kept for ever by the OS thread that made them.
//!
//! A fiber starts lanes one after another until one of them blocks. Kernels without barriers thus run on a single stack,
//! and only as many fibers exist as lanes were ever blocked at once.

use crate::block::Block;
use crate::lane::{self, Lane};
use crate::panics;
#[cfg(unix)]
use crate::stack::FiberStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use std::cell::RefCell;
use std::io;
use std::panic::AssertUnwindSafe;

#[cfg(not(unix))]
type FiberStack = corosensei::stack::DefaultStack;

/// Why a fiber came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pause {
    /// Its lane waits for something.
    Blocked,
    /// It has no lane.
    Idle,
}

/// The inner end of a fiber.
pub(crate) type Switch = Yielder<*const Block, Pause>;

type Fiber = Coroutine<*const Block, Pause, (), FiberStack>;

/// The fibers of one OS thread.
#[derive(Default)]
pub(crate) struct Pool {
    fibers: Vec<Fiber>,
    idle: Vec<u16>,
}

thread_local! {
    static POOL: RefCell<Pool> = RefCell::default();
}

/// Runs `work` with this thread's pool; `None` if it is in use, that is, inside a kernel.
pub(crate) fn with_pool<R>(work: impl FnOnce(&mut Pool) -> R) -> Option<R> {
    POOL.with(|pool| pool.try_borrow_mut().ok().map(|mut pool| work(&mut pool)))
}

impl Pool {
    /// An idle fiber's number.
    pub(crate) fn take(&mut self) -> io::Result<u16> {
        if let Some(fiber) = self.idle.pop() {
            return Ok(fiber);
        }
        let number = u16::try_from(self.fibers.len()).map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
        #[cfg(unix)]
        let stack = FiberStack::new()?;
        #[cfg(not(unix))]
        let stack = FiberStack::new(64 * 1024)?;
        self.fibers.push(fiber(stack, number));
        Ok(number)
    }

    /// Lets fiber `number` go on for `block`; gives it back to the idle ones when it has nothing more to do.
    #[inline(always)]
    pub(crate) fn resume(&mut self, number: u16, block: &Block) -> Pause {
        match self.fibers[usize::from(number)].resume(&raw const *block) {
            CoroutineResult::Yield(Pause::Blocked) => Pause::Blocked,
            CoroutineResult::Yield(Pause::Idle) => {
                self.idle.push(number);
                Pause::Idle
            }
            CoroutineResult::Return(()) => unreachable!("a fiber never ends"),
        }
    }

    /// Gives up the lane that fiber `number` carries; its values are not dropped. The fiber begins anew.
    pub(crate) fn abandon(&mut self, number: u16) {
        let old = &mut self.fibers[usize::from(number)];
        // SAFETY: the frames left behind are the kernel's and the simulator's own, and neither keeps anything whose
        // destructor others rely on: kernels hold plain values and views.
        unsafe { old.force_reset() };
        let placeholder = std::mem::replace(old, fiber_without_stack_reuse(number));
        drop(placeholder);
        self.idle.push(number);
    }
}

fn fiber_without_stack_reuse(number: u16) -> Fiber {
    #[cfg(unix)]
    let stack = FiberStack::new();
    #[cfg(not(unix))]
    let stack = FiberStack::new(64 * 1024);
    fiber(stack.expect("a slot was free a moment ago"), number)
}

fn fiber(stack: FiberStack, number: u16) -> Fiber {
    Coroutine::with_stack(stack, move |switch: &Switch, mut block: *const Block| {
        loop {
            // SAFETY: the scheduler resumes with a block that it keeps alive until the fiber is idle again.
            carry(unsafe { &*block }, switch, number);
            block = switch.suspend(Pause::Idle);
        }
    })
}

/// Runs lanes of `block` that have not started yet, until there is none or one blocks for good.
fn carry(block: &Block, switch: &Switch, number: u16) {
    while let Some(lane) = block.next_unstarted() {
        start(block, lane, switch, number);
    }
}

#[inline(always)]
fn start(block: &Block, lane: &Lane, switch: &Switch, number: u16) {
    lane.switch.set(switch);
    lane.fiber.set(number);
    lane::set_current(lane);
    let outcome = std::panic::catch_unwind(AssertUnwindSafe(|| block.run_body()));
    if outcome.is_err() {
        block.panicked(lane, panics::take());
    }
    block.exited(lane);
}

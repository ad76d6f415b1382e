//! Fibers: stackful coroutines that run lanes, kept by the OS thread that made them.
//!
//! A fiber starts lanes one after another until one of them blocks. Kernels without barriers thus run on a single
//! stack, and there are only as many fibers as lanes were ever blocked at once.

#[cfg(unix)]
use crate::stack::FiberStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use std::io;
use std::marker::PhantomData;

#[cfg(not(unix))]
type FiberStack = corosensei::stack::DefaultStack;

/// Why a fiber came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pause {
    /// Its lane waits for something.
    Blocked,
    /// It has no lane.
    Idle,
    /// Its lane has exhausted the stack where it cannot be unwound, and must not be resumed.
    Lost,
}

/// The inner end of a fiber. The fiber is resumed with a pointer to its source of lanes.
pub(crate) type Switch = Yielder<*const (), Pause>;

type Fiber = Coroutine<*const (), Pause, (), FiberStack>;

/// What fibers take lanes from: a resident block.
pub(crate) trait Lanes {
    /// On fiber `number`, starts lanes one after another until none is left to start.
    fn run_on(&self, switch: &Switch, number: u16);
}

/// How many fibers a process can have.
pub(crate) fn most() -> usize {
    #[cfg(unix)]
    let most = crate::stack::most();
    #[cfg(not(unix))]
    let most = usize::from(u16::MAX);
    most
}

/// The fibers of one OS thread.
pub(crate) struct Pool<L> {
    fibers: Vec<Fiber>,
    idle: Vec<u16>,
    /// Fibers that stay suspended for ever: their stacks are neither unwound nor used again.
    lost: Vec<u16>,
    lanes: PhantomData<fn(&L)>,
}

impl<L> Default for Pool<L> {
    fn default() -> Self {
        Self { fibers: Vec::new(), idle: Vec::new(), lost: Vec::new(), lanes: PhantomData }
    }
}

impl<L> Drop for Pool<L> {
    fn drop(&mut self) {
        self.clear();
    }
}

impl<L> Pool<L> {
    /// Gives up all fibers, which are idle, or lost.
    pub(crate) fn clear(&mut self) {
        self.idle.clear();
        let lost = std::mem::take(&mut self.lost);
        for (number, fiber) in std::mem::take(&mut self.fibers).into_iter().enumerate() {
            if lost.iter().any(|&lost| usize::from(lost) == number) {
                // What its frames hold, and whoever borrows from them, needs the stack for ever.
                std::mem::forget(fiber);
            }
        }
    }
}

impl<L: Lanes> Pool<L> {
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
        self.fibers.push(fiber::<L>(stack, number));
        Ok(number)
    }

    /// Resumes fiber `number` for `lanes`; it is idle again when no lane is left to start.
    #[inline(always)]
    pub(crate) fn resume(&mut self, number: u16, lanes: &L) -> Pause {
        match self.fibers[usize::from(number)].resume((&raw const *lanes).cast()) {
            CoroutineResult::Yield(Pause::Blocked) => Pause::Blocked,
            CoroutineResult::Yield(Pause::Idle) => {
                self.idle.push(number);
                Pause::Idle
            }
            CoroutineResult::Yield(Pause::Lost) => {
                self.lost.push(number);
                Pause::Lost
            }
            CoroutineResult::Return(()) => unreachable!("a fiber never ends"),
        }
    }

    /// Abandons the lane that fiber `number` runs: unwinds its stack, so that its values are dropped, and starts over
    /// on the same stack. The lane must not suspend meanwhile, and must pass the unwinding on.
    pub(crate) fn abandon(&mut self, number: u16) {
        let at = usize::from(number);
        self.fibers[at].force_unwind();
        let old = self.fibers.swap_remove(at);
        let stack = old.into_stack();
        #[cfg(unix)]
        stack.close_reserve();
        self.fibers.push(fiber::<L>(stack, number));
        let last = self.fibers.len() - 1;
        self.fibers.swap(at, last);
        self.idle.push(number);
    }
}

fn fiber<L: Lanes>(stack: FiberStack, number: u16) -> Fiber {
    Coroutine::with_stack(stack, move |switch: &Switch, mut lanes: *const ()| {
        loop {
            // SAFETY: `Pool::resume` passes an `L`, which the scheduler keeps alive until the fiber is idle again.
            unsafe { &*lanes.cast::<L>() }.run_on(switch, number);
            lanes = switch.suspend(Pause::Idle);
        }
    })
}

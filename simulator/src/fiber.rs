//! Fibers: stackful coroutines that run lanes, kept by the OS thread that made them.
//!
//! A fiber starts lanes one after another until one of them blocks. Kernels without barriers thus run on a single
//! stack, and there are only as many fibers as lanes were ever blocked at once.

#[cfg(unix)]
use crate::stack::FiberStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use std::cell::Cell;
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

/// The inner end of a fiber.
pub(crate) type Switch = Yielder<(), Pause>;

/// It is resumed with nothing, so that all that a switch passes on is in a register.
type Fiber = Coroutine<(), Pause, (), FiberStack>;

thread_local! {
    /// What an idle fiber takes lanes from when it is resumed.
    static LANES: Cell<*const ()> = const { Cell::new(std::ptr::null()) };
}

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
        // An idle fiber that finds no lanes ends. Dropped as it is, its stack would be unwound, for some 7 µs.
        LANES.set(std::ptr::null());
        for number in self.idle.drain(..) {
            self.fibers[usize::from(number)].resume(());
        }
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
    /// Starts lanes of `lanes` on an idle fiber.
    pub(crate) fn start(&mut self, lanes: &L) -> io::Result<Pause> {
        let number = match self.idle.pop() {
            Some(number) => number,
            None => self.add()?,
        };
        LANES.set((&raw const *lanes).cast());
        // SAFETY: the fiber has just been taken from the pool, and waits for a source of lanes.
        let pause = unsafe { self.fibers().resume(number) };
        self.note(number, pause);
        Ok(pause)
    }

    /// Makes a fiber. Gives its number.
    fn add(&mut self) -> io::Result<u16> {
        let number = u16::try_from(self.fibers.len()).map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
        #[cfg(unix)]
        let stack = FiberStack::new()?;
        #[cfg(not(unix))]
        let stack = FiberStack::new(64 * 1024)?;
        self.fibers.push(fiber::<L>(stack, number));
        Ok(number)
    }

    /// The fibers, until one is made or abandoned.
    pub(crate) fn fibers(&mut self) -> Fibers {
        Fibers(self.fibers.as_mut_ptr())
    }

    /// Fiber `number` has come back: it is idle again when no lane is left to start.
    pub(crate) fn note(&mut self, number: u16, pause: Pause) {
        match pause {
            Pause::Blocked => {}
            Pause::Idle => self.idle.push(number),
            Pause::Lost => self.lost.push(number),
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

/// Where the fibers of a [`Pool`] are.
#[derive(Clone, Copy)]
pub(crate) struct Fibers(*mut Fiber);

impl Fibers {
    /// No fibers.
    pub(crate) const NONE: Self = Self(std::ptr::null_mut());

    /// Resumes fiber `number`. [`Pool::note`] must be told how it came back, unless its lane waits.
    ///
    /// # Safety
    /// The pool has this fiber, has not changed since [`Pool::fibers`], and the fiber is suspended.
    #[inline(always)]
    pub(crate) unsafe fn resume(self, number: u16) -> Pause {
        // SAFETY: as the caller promises; fibers run one at a time, so nothing else refers to this one.
        match unsafe { &mut *self.0.add(usize::from(number)) }.resume(()) {
            CoroutineResult::Yield(pause) => pause,
            CoroutineResult::Return(()) => unreachable!("a fiber that finds lanes does not end"),
        }
    }
}

fn fiber<L: Lanes>(stack: FiberStack, number: u16) -> Fiber {
    Coroutine::with_stack(stack, move |switch: &Switch, ()| {
        // SAFETY: `Pool::start` sets it to an `L`, which the scheduler keeps alive until the fiber is idle again; else
        // it is null.
        while let Some(lanes) = unsafe { LANES.get().cast::<L>().as_ref() } {
            lanes.run_on(switch, number);
            switch.suspend(Pause::Idle);
        }
    })
}

//! Kernels that overflow their stack, by recursion or by local memory.
//!
//! The thread runs into the closed reserve at the end of its fiber's stack. The signal handler opens the reserve and
//! marks the lane, which goes on; at its next intrinsic it is unwound, and the overflow is reported. (At `Level::Off`
//! plain accesses do not look at the mark: that would make them slower.) A lane that exhausts the reserve, too, is
//! suspended for ever, on its own stack, which is never used again: as if an OS thread blocked for ever. That is
//! reported, and ends the launch. It happens only in the kernel's own code, because the simulator's needs less than the
//! reserve, and every intrinsic that needs any begins with [`enter`] or its like.
//!
//! Where this is not possible (other targets, a destructor while the lane is unwound, a call into the C library), the
//! handler says whose stack it was and calls the former handler, which ends the process.

use crate::lane::{Current, Lane, current};
use std::panic::Location;

/// What a lane is unwound with.
pub(crate) struct Overflow {
    /// Of the intrinsic.
    pub(crate) location: &'static Location<'static>,
}

/// The lane that runs on this OS thread, at the beginning of an intrinsic: where one that has overflowed its stack is
/// unwound.
#[inline(always)]
#[track_caller]
pub(crate) fn enter() -> Current {
    enter_at(Location::caller())
}

/// [`enter`] for an intrinsic that was called at `location`.
#[inline(always)]
pub(crate) fn enter_at(location: &'static Location<'static>) -> Current {
    let lane = current();
    enter_as(&lane, location);
    lane
}

/// [`enter`] for the running lane, where that is known.
#[inline(always)]
pub(crate) fn enter_as(lane: &Lane, location: &'static Location<'static>) {
    if lane.has_overflowed() {
        unwind(lane, location);
    }
}

/// A lane that has overflowed its stack calls an intrinsic at `location`: unwinds it, unless it is being unwound.
#[cold]
#[inline(never)]
fn unwind(lane: &Lane, location: &'static Location<'static>) {
    if std::thread::panicking() || lane.switch.get().is_null() {
        return;
    }
    recovery::suspend_without_room(lane);
    std::panic::resume_unwind(Box::new(Overflow { location }));
}

/// The lane of this fiber has left its stack.
pub(crate) fn recovered() {
    recovery::close_reserve();
}

#[cfg(not(unix))]
pub(crate) fn install() {}
#[cfg(not(unix))]
pub(crate) fn prepare_thread() {}
#[cfg(unix)]
pub(crate) use handler::{install, prepare_thread};

#[cfg(unix)]
mod handler {
    use crate::{lane, panics, stack};
    use std::cell::Cell;
    use std::mem::MaybeUninit;
    use std::sync::{Once, OnceLock};

    const SIGNALS: [libc::c_int; 2] = [libc::SIGSEGV, libc::SIGBUS];
    static FORMER: [OnceLock<Former>; 2] = [OnceLock::new(), OnceLock::new()];

    struct Former(libc::sigaction);
    // SAFETY: a plain record of a handler's address and flags.
    unsafe impl Send for Former {}
    // SAFETY: as above.
    unsafe impl Sync for Former {}

    /// Installs the handler, once per process.
    pub(crate) fn install() {
        static ONCE: Once = Once::new();
        ONCE.call_once(install_handler);
    }

    fn install_handler() {
        super::recovery::find_c_library();
        for (signal, former) in SIGNALS.into_iter().zip(&FORMER) {
            let mut old = MaybeUninit::<libc::sigaction>::zeroed();
            // SAFETY: all-zero is a valid `sigaction`; its fields are set below.
            let mut new: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
            new.sa_sigaction = handler as *const () as usize;
            new.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            // SAFETY: both records are valid; the handler calls only what a signal handler may.
            if unsafe { libc::sigaction(signal, &raw const new, old.as_mut_ptr()) } == 0 {
                // SAFETY: filled by the call.
                let _ = former.set(Former(unsafe { old.assume_init() }));
            }
        }
    }

    /// Gives this OS thread the stacks for an overflow: one for the handler, unless it has one (Rust's own threads do),
    /// and one from which a lane is suspended for ever.
    pub(crate) fn prepare_thread() {
        thread_local!(static DONE: Cell<bool> = const { Cell::new(false) });
        if DONE.replace(true) {
            return;
        }
        let mut now = MaybeUninit::<libc::stack_t>::zeroed();
        // SAFETY: a query; the record is valid.
        let has_one = unsafe {
            libc::sigaltstack(std::ptr::null(), now.as_mut_ptr()) == 0
                && now.assume_init().ss_flags & libc::SS_DISABLE == 0
        };
        if !has_one {
            let size = 64 * 1024;
            // One per OS thread that ever launches; leaked, because nothing runs late enough to free it.
            let memory = Box::leak(vec![0_u8; size].into_boxed_slice());
            let stack = libc::stack_t { ss_sp: memory.as_mut_ptr().cast(), ss_flags: 0, ss_size: size };
            // SAFETY: the memory is this thread's and is never freed.
            unsafe { libc::sigaltstack(&raw const stack, std::ptr::null_mut()) };
        }
        super::recovery::prepare_thread();
    }

    extern "C" fn handler(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
        // SAFETY: the system hands a valid record to an SA_SIGINFO handler.
        let address = unsafe { (*info).si_addr() } as usize;
        if let Some(place) = stack::Place::of(address).filter(|place| place.is_below_limit()) {
            // SAFETY: the system hands a valid context to an SA_SIGINFO handler.
            if super::recovery::recovers(place, unsafe { &mut *context.cast() }) {
                return;
            }
            print_overflow();
        }
        let former = SIGNALS.iter().position(|&s| s == signal).and_then(|at| FORMER[at].get());
        match former {
            Some(Former(old)) if old.sa_sigaction != libc::SIG_DFL && old.sa_sigaction != libc::SIG_IGN => {
                // SAFETY: the record came from `sigaction`, so the address is that of a handler of the kind its flags
                // say.
                unsafe {
                    if old.sa_flags & libc::SA_SIGINFO != 0 {
                        let call: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) =
                            std::mem::transmute(old.sa_sigaction);
                        call(signal, info, context);
                    } else {
                        let call: extern "C" fn(libc::c_int) = std::mem::transmute(old.sa_sigaction);
                        call(signal);
                    }
                }
            }
            _ => {
                // SAFETY: back to the default action; the faulting instruction runs again and ends the process.
                unsafe { libc::signal(signal, libc::SIG_DFL) };
            }
        }
    }

    /// Prints whose stack overflowed, with calls that a signal handler may make.
    fn print_overflow() {
        let lane = lane::current();
        let mut line = Line { text: [0; 256], len: 0 };
        line.push(b"warpwright simulator: stack overflow in kernel `");
        // SAFETY: `Running` keeps the name alive while lanes run.
        line.push(unsafe { &*panics::KERNEL.with(Cell::get) }.as_bytes());
        line.push(b"`, block ");
        line.tuple(lane.geometry().block_idx);
        line.push(b", thread ");
        line.tuple(lane.thread_index());
        line.push(b": a simulated thread has 256 KiB of stack; use less of it, or shared memory\n");
        // SAFETY: writes bytes of a live buffer to standard error.
        unsafe { libc::write(2, line.text.as_ptr().cast(), line.len) };
    }

    struct Line {
        text: [u8; 256],
        len: usize,
    }

    impl Line {
        fn push(&mut self, bytes: &[u8]) {
            for &byte in bytes {
                if self.len < self.text.len() {
                    self.text[self.len] = byte;
                    self.len += 1;
                }
            }
        }

        fn tuple(&mut self, numbers: [u32; 3]) {
            for (before, number) in [&b"("[..], b", ", b", "].into_iter().zip(numbers) {
                self.push(before);
                self.number(number);
            }
            self.push(b")");
        }

        fn number(&mut self, value: u32) {
            if value >= 10 {
                self.number(value / 10);
            }
            self.push(&[b'0' + (value % 10) as u8]);
        }
    }
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod recovery {
    use crate::fiber::Pause;
    use crate::lane::{self, Lane};
    use crate::stack::Place;
    use std::cell::Cell;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Bytes of stack that unwinding needs, and the intrinsics that destructors call meanwhile.
    const UNWINDING: usize = 40 * 1024;
    /// Bytes of the stack from which a lane is suspended for ever.
    const LAST: usize = 16 * 1024;

    /// The code of the C library, if it is an object of its own. A lane that is suspended in it would hold its locks
    /// for ever.
    static C_LIBRARY: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];

    thread_local! {
        /// Top of the stack from which a lane of this OS thread is suspended for ever; 0 if there is none.
        static LAST_STACK: Cell<usize> = const { Cell::new(0) };
        static MEMORY: LastStack = LastStack::new();
    }

    /// Memory of the stack from which a lane is suspended for ever.
    struct LastStack {
        _memory: Vec<u8>,
    }

    impl LastStack {
        fn new() -> Self {
            let mut memory = vec![0_u8; LAST];
            LAST_STACK.set(memory.as_mut_ptr_range().end.expose_provenance() & !63);
            Self { _memory: memory }
        }
    }

    impl Drop for LastStack {
        fn drop(&mut self) {
            LAST_STACK.set(0);
        }
    }

    pub(super) fn prepare_thread() {
        // Without it, in a destructor at the end of the OS thread, an overflow ends the process.
        let _ = MEMORY.try_with(|_| ());
    }

    /// Finds the code of the C library.
    pub(super) fn find_c_library() {
        unsafe extern "C" fn visit(
            object: *mut libc::dl_phdr_info,
            _size: libc::size_t,
            _data: *mut libc::c_void,
        ) -> libc::c_int {
            // SAFETY: the system hands valid records to this function.
            let (base, segments) = unsafe {
                let object = &*object;
                let segments = std::slice::from_raw_parts(object.dlpi_phdr, usize::from(object.dlpi_phnum));
                (object.dlpi_addr as usize, segments)
            };
            for segment in segments.iter().filter(|segment| segment.p_type == libc::PT_LOAD) {
                let start = base + segment.p_vaddr as usize;
                let code = start..start + segment.p_memsz as usize;
                if code.contains(&(libc::malloc as *const () as usize))
                    && !code.contains(&(visit as *const () as usize))
                {
                    C_LIBRARY[0].store(code.start, Ordering::Relaxed);
                    C_LIBRARY[1].store(code.end, Ordering::Relaxed);
                }
            }
            0
        }
        // SAFETY: the function has the right type, and takes no data.
        unsafe { libc::dl_iterate_phdr(Some(visit), std::ptr::null_mut()) };
    }

    /// In the signal handler, for a fault at `place`: whether the code that `context` describes can go on.
    pub(super) fn recovers(place: Place, context: &mut libc::ucontext_t) -> bool {
        let registers = &mut context.uc_mcontext.gregs;
        let stack = Place::of(registers[libc::REG_RSP as usize] as usize);
        let lane = lane::current();
        if !lane.is_in_launch() || !stack.is_some_and(|stack| stack.shares_slot(place)) {
            return false;
        }
        if !place.is_guard() {
            return !lane.overflow() && place.open_reserve();
        }
        let code = registers[libc::REG_RIP as usize] as usize;
        let [start, end] = [0, 1].map(|at: usize| C_LIBRARY[at].load(Ordering::Relaxed));
        let last = LAST_STACK.get();
        if (start..end).contains(&code) || last == 0 || std::thread::panicking() || lane.switch.get().is_null() {
            return false;
        }
        // As at the start of a function: the return address (there is none) has been pushed.
        registers[libc::REG_RSP as usize] = (last - 8) as i64;
        registers[libc::REG_RIP as usize] = suspended as *const () as i64;
        true
    }

    /// Where a lane that has exhausted its reserve goes on, on another stack.
    extern "C" fn suspended() -> ! {
        suspend_for_ever(&lane::current())
    }

    /// Leaves the lane's frames as they are.
    fn suspend_for_ever(lane: &Lane) -> ! {
        // SAFETY: `switch` was set when this lane was started, by the fiber that is running now, and is null once the
        // lane is abandoned. Its stack is never freed, because `Pool` neither resumes nor drops a fiber that is lost.
        if let Some(switch) = unsafe { lane.switch.get().as_ref() } {
            switch.suspend(Pause::Lost);
        }
        std::process::abort()
    }

    /// Suspends the lane for ever if its reserve has no room for unwinding.
    pub(super) fn suspend_without_room(lane: &Lane) {
        let here = std::hint::black_box(0_u8);
        let room = Place::of((&raw const here) as usize).map_or(usize::MAX, Place::room);
        if room < UNWINDING {
            suspend_for_ever(lane);
        }
    }

    /// Closes the reserve of the running fiber.
    pub(super) fn close_reserve() {
        let here = std::hint::black_box(0_u8);
        if let Some(place) = Place::of((&raw const here) as usize).filter(|place| !place.is_below_limit()) {
            // SAFETY: the stack is used down to here.
            unsafe { place.close_reserve() };
        }
    }
}

/// Where an overflow ends the process.
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
mod recovery {
    use crate::lane::Lane;

    #[cfg(unix)]
    pub(super) fn prepare_thread() {}
    #[cfg(unix)]
    pub(super) fn find_c_library() {}
    #[cfg(unix)]
    pub(super) fn recovers(_place: crate::stack::Place, _context: &mut u8) -> bool {
        false
    }
    pub(super) fn suspend_without_room(_lane: &Lane) {}
    pub(super) fn close_reserve() {}
}

//! Panics and stack overflows inside a kernel: caught, and said with kernel, block and thread.

use crate::lane;
use std::cell::RefCell;
use std::sync::Once;

/// What a kernel said when it panicked.
#[derive(Clone, Debug, Default)]
pub(crate) struct Said {
    pub(crate) message: String,
    pub(crate) place: Option<(String, u32, u32)>,
}

thread_local! {
    static SAID: RefCell<Option<Said>> = const { RefCell::new(None) };
}

/// Installs the hook and the handler, once per process.
pub(crate) fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if lane::current().block.get().is_null() {
                before(info);
                return;
            }
            let message = info.payload_as_str().unwrap_or("a panic without text").to_owned();
            let place = info.location().map(|at| (at.file().to_owned(), at.line(), at.column()));
            SAID.with(|said| *said.borrow_mut() = Some(Said { message, place }));
        }));
        #[cfg(unix)]
        overflow::install();
    });
    #[cfg(unix)]
    overflow::alternate_stack();
}

/// The last panic's words.
pub(crate) fn take() -> Said {
    SAID.with(|said| said.borrow_mut().take()).unwrap_or_default()
}

#[cfg(unix)]
mod overflow {
    //! A kernel that overflows its fiber's stack runs into a guard page. The handler says whose stack it was and hands the
    //! signal on to whoever had it before, so that the process ends as it would have, but not without a word.

    use crate::{lane, stack};
    use std::cell::Cell;
    use std::mem::MaybeUninit;
    use std::sync::OnceLock;

    const SIGNALS: [libc::c_int; 2] = [libc::SIGSEGV, libc::SIGBUS];
    static BEFORE: [OnceLock<Former>; 2] = [OnceLock::new(), OnceLock::new()];

    struct Former(libc::sigaction);
    // SAFETY: a plain record of a handler's address and flags.
    unsafe impl Send for Former {}
    // SAFETY: as above.
    unsafe impl Sync for Former {}

    pub(super) fn install() {
        for (signal, before) in SIGNALS.into_iter().zip(&BEFORE) {
            let mut old = MaybeUninit::<libc::sigaction>::zeroed();
            // SAFETY: all-zero is a valid `sigaction`; its fields are set below.
            let mut new: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
            new.sa_sigaction = handler as *const () as usize;
            new.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            // SAFETY: both records are valid; the handler calls only what a signal handler may.
            if unsafe { libc::sigaction(signal, &raw const new, old.as_mut_ptr()) } == 0 {
                // SAFETY: filled by the call.
                let _ = before.set(Former(unsafe { old.assume_init() }));
            }
        }
    }

    /// Gives this OS thread a stack for the handler, unless it has one (Rust's own threads do).
    pub(super) fn alternate_stack() {
        thread_local!(static DONE: Cell<bool> = const { Cell::new(false) });
        if DONE.replace(true) {
            return;
        }
        let mut now = MaybeUninit::<libc::stack_t>::zeroed();
        // SAFETY: asks only; the record is valid.
        let has_one = unsafe {
            libc::sigaltstack(std::ptr::null(), now.as_mut_ptr()) == 0
                && now.assume_init().ss_flags & libc::SS_DISABLE == 0
        };
        if !has_one {
            let size = 64 * 1024;
            // One per OS thread that ever launches, kept until the thread's end would need it no more: left to the process.
            let memory = Box::leak(vec![0_u8; size].into_boxed_slice());
            let stack = libc::stack_t { ss_sp: memory.as_mut_ptr().cast(), ss_flags: 0, ss_size: size };
            // SAFETY: the memory is this thread's and is never freed.
            unsafe { libc::sigaltstack(&raw const stack, std::ptr::null_mut()) };
        }
    }

    extern "C" fn handler(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
        // SAFETY: the system hands a valid record to an SA_SIGINFO handler.
        let address = unsafe { (*info).si_addr() } as usize;
        if stack::is_guard(address) {
            tell();
        }
        let former = SIGNALS.iter().position(|&s| s == signal).and_then(|at| BEFORE[at].get());
        match former {
            Some(Former(old)) if old.sa_sigaction != libc::SIG_DFL && old.sa_sigaction != libc::SIG_IGN => {
                // SAFETY: the record came from `sigaction`, so the address is that of a handler of the kind its flags say.
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

    /// Says whose stack overflowed, with calls that a signal handler may make.
    fn tell() {
        let lane = lane::current();
        let block = lane.block.get();
        let mut line = Line { text: [0; 256], len: 0 };
        line.push(b"warpwright simulator: stack overflow in kernel `");
        if !block.is_null() {
            // SAFETY: the block of the running lane is alive; its name is not written while it runs.
            line.push(unsafe { (*block).kernel() }.as_bytes());
        }
        line.push(b"`, thread (");
        for (i, index) in lane.thread.into_iter().enumerate() {
            if i > 0 {
                line.push(b", ");
            }
            line.number(u32::from(index));
        }
        line.push(b"): a simulated thread has 64 KiB of stack; use less of it, or shared memory\n");
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

        fn number(&mut self, value: u32) {
            if value >= 10 {
                self.number(value / 10);
            }
            self.push(&[b'0' + (value % 10) as u8]);
        }
    }
}

//! Panics and stack overflows inside a kernel: caught, and reported with kernel, block and thread.

use crate::lane;
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

/// Message and place of a kernel's panic.
#[derive(Clone, Debug, Default)]
pub(crate) struct PanicMessage {
    pub(crate) message: String,
    pub(crate) place: Option<(String, u32, u32)>,
}

thread_local! {
    static LAST: RefCell<Option<PanicMessage>> = const { RefCell::new(None) };
    /// Name of the kernel that this OS thread runs, for the signal handler.
    static KERNEL: Cell<*const str> = const { Cell::new(&raw const *"") };
}

/// Keeps the kernel's name for reports of stack overflows, as long as this OS thread runs it.
pub(crate) struct Running<'a>(PhantomData<&'a str>);

impl<'a> Running<'a> {
    pub(crate) fn new(kernel: &'a str) -> Self {
        KERNEL.with(|name| name.set(kernel));
        Self(PhantomData)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        KERNEL.with(|name| name.set(""));
    }
}

/// Installs the panic hook and the signal handler, once per process.
pub(crate) fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // A thread that unwinds (a launch in a destructor) must not change the hook: another one does.
        if std::thread::panicking() {
            // Without a thread for it the messages of panics go to the former hook, and reports lack them.
            if let Ok(thread) = std::thread::Builder::new().spawn(install_hook) {
                let _ = thread.join();
            }
        } else {
            install_hook();
        }
        #[cfg(unix)]
        overflow::install();
    });
    #[cfg(unix)]
    overflow::alternate_stack();
}

fn install_hook() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if !lane::current().is_in_launch() {
            before(info);
            return;
        }
        let message = info.payload_as_str().unwrap_or("a panic without text").to_owned();
        let place = info.location().map(|at| (at.file().to_owned(), at.line(), at.column()));
        LAST.with(|last| *last.borrow_mut() = Some(PanicMessage { message, place }));
    }));
}

/// Drops the payload of a panic, whose destructor may panic, too.
pub(crate) fn drop_payload(payload: Box<dyn Any + Send>) {
    if let Err(second) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        // Its destructor may panic in turn, and so on: it is leaked.
        std::mem::forget(second);
        let _ = take();
    }
}

/// The text of a panic's payload.
pub(crate) fn text_of(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("a panic without text").to_owned()
}

/// The last panic of this OS thread.
pub(crate) fn take() -> PanicMessage {
    LAST.with(|last| last.borrow_mut().take()).unwrap_or_default()
}

#[cfg(unix)]
mod overflow {
    //! A kernel that overflows its fiber's stack runs into a guard page. The handler prints whose stack it was and
    //! calls the former handler, so that the process ends as it would have, but with a message.

    use crate::{lane, stack};
    use std::cell::Cell;
    use std::mem::MaybeUninit;
    use std::sync::OnceLock;

    const SIGNALS: [libc::c_int; 2] = [libc::SIGSEGV, libc::SIGBUS];
    static FORMER: [OnceLock<Former>; 2] = [OnceLock::new(), OnceLock::new()];

    struct Former(libc::sigaction);
    // SAFETY: a plain record of a handler's address and flags.
    unsafe impl Send for Former {}
    // SAFETY: as above.
    unsafe impl Sync for Former {}

    pub(super) fn install() {
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

    /// Gives this OS thread a stack for the handler, unless it has one (Rust's own threads do).
    pub(super) fn alternate_stack() {
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
    }

    extern "C" fn handler(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
        // SAFETY: the system hands a valid record to an SA_SIGINFO handler.
        let address = unsafe { (*info).si_addr() } as usize;
        if stack::is_guard(address) {
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
        line.push(unsafe { &*super::KERNEL.with(Cell::get) }.as_bytes());
        line.push(b"`, thread (");
        for (i, index) in lane.thread.into_iter().enumerate() {
            if i > 0 {
                line.push(b", ");
            }
            line.number(u32::from(index));
        }
        line.push(b"): a simulated thread has 256 KiB of stack; use less of it, or shared memory\n");
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

//! Panics inside a kernel: caught, and reported with kernel, block and thread.

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
    pub(crate) static KERNEL: Cell<*const str> = const { Cell::new(&raw const *"") };
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

/// Installs the panic hook, once per process.
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
    });
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

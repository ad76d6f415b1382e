//! A device's primary context: current during each call, and marked as lost after a fatal error.

use std::fmt::Display;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use cust::context::{Context, CurrentContext};
use cust::device::Device;
use cust::sys;
use qcell::{QCell, QCellOwner, QCellOwnerID};
use simt::KernelInfo;

use super::driver::{self, Failure, codes};
use super::memory_pool::Pool;
use super::panic_report::PanicReport;
use super::printing::Lines;
use crate::error::{DeviceLost, DriverError, Error, Result};

/// The primary context of one GPU, released when dropped.
pub(crate) struct Primary {
    context: Context,
    device: Device,
    /// Where memory comes from; `None` if the device or the driver has no pools.
    pool: Option<Pool>,
    name: String,
    lost: OnceLock<DeviceLost>,
    /// Who holds the owner may access what is in its cells: the users of memory.
    enqueue: Mutex<QCellOwner>,
    owner: QCellOwnerID,
    /// The kernel launched last; null before the first one.
    last_kernel: AtomicPtr<KernelInfo>,
    panic_report: PanicReport,
    lines: Lines,
}

/// The lock that is held while a use of memory is registered and the work is queued.
pub(super) type Enqueue<'a> = MutexGuard<'a, QCellOwner>;

impl Primary {
    /// Loads the driver and retains the context of device `ordinal`.
    pub(super) fn open(ordinal: u32) -> Result<Self> {
        driver::load().map_err(|missing| Error::NoDriver { library: missing.library, reason: missing.reason })?;
        let opening = |failure: Failure| match failure.code {
            codes::NO_DEVICE => Error::NoSuchDevice { asked: ordinal, found: 0 },
            _ => Error::Driver(Box::new(describe("the NVIDIA driver", "starting", &failure))),
        };
        driver::check_cust("cuInit", cust::init(cust::CudaFlags::empty())).map_err(opening)?;
        let found = driver::check_cust("cuDeviceGetCount", Device::num_devices()).map_err(opening)?;
        if ordinal >= found {
            return Err(Error::NoSuchDevice { asked: ordinal, found });
        }
        let device = driver::check_cust("cuDeviceGet", Device::get_device(ordinal)).map_err(opening)?;
        let name = driver::check_cust("cuDeviceGetName", device.name()).map_err(opening)?;
        let name = format!("CUDA device {ordinal} ({name})");
        let _callers = CallersContext { context: current_context().map_err(opening)? };
        let context = driver::check_cust("cuDevicePrimaryCtxRetain", Context::new(device))
            .map_err(|failure| Error::Driver(Box::new(describe(&name, "opening the device", &failure))))?;
        let owner = QCellOwner::new();
        let mut primary = Self {
            owner: owner.id(),
            enqueue: owner.into(),
            context,
            device,
            pool: None,
            name,
            lost: OnceLock::new(),
            last_kernel: AtomicPtr::default(),
            panic_report: PanicReport::default(),
            lines: Lines::default(),
        };
        // Without a pool memory comes from `cuMemAlloc`: slower, but right.
        primary.pool = primary.call("creating a memory pool", || Pool::new(primary.device.as_raw())).ok();
        Ok(primary)
    }

    /// The pool that memory comes from, if there are pools.
    pub(super) fn pool(&self) -> Option<&Pool> {
        self.pool.as_ref()
    }

    /// Where panics of kernels are reported.
    pub(super) fn panic_report(&self) -> &PanicReport {
        &self.panic_report
    }

    /// What kernels print.
    pub(super) fn lines(&self) -> &Lines {
        &self.lines
    }

    /// Number and name, for messages.
    pub(super) fn describe(&self) -> &str {
        &self.name
    }

    /// Calls `work` with the context current on this thread.
    ///
    /// # Errors
    /// The device is lost, or `work` fails; `doing` describes the attempt in the message.
    pub(super) fn call<T>(&self, doing: impl Display, work: impl FnOnce() -> Result<T, Failure>) -> Result<T> {
        self.check_lost()?;
        self.enter().and_then(|_entered| work()).map_err(|failure| self.failed(doing, &failure))
    }

    /// As [`Primary::call`], for a wait that host memory depends on: the driver is called even if the device is lost,
    /// so that no copy is in progress when the memory's borrow ends. Prints what kernels have left until then.
    pub(super) fn wait(&self, doing: impl Display, work: impl FnOnce() -> Result<(), Failure>) -> Result<()> {
        let waited = self.enter().and_then(|_entered| {
            work()?;
            self.lines.print();
            Ok(())
        });
        self.check_lost()?;
        waited.map_err(|failure| self.failed(doing, &failure))
    }

    fn check_lost(&self) -> Result<()> {
        match self.lost.get() {
            None => Ok(()),
            Some(lost) => Err(Error::DeviceLost(Box::new(lost.clone()))),
        }
    }

    /// Makes the context current to free a handle, while the value exists; `None` if that fails.
    pub(super) fn enter_to_clean_up(&self) -> Option<CallersContext> {
        self.enter().ok()
    }

    /// Makes the context current on this thread, while the value exists.
    fn enter(&self) -> Result<CallersContext, Failure> {
        let callers = current_context()?;
        if callers == self.context.as_raw() {
            return Ok(CallersContext { context: ptr::null_mut() });
        }
        driver::check_cust("cuCtxSetCurrent", CurrentContext::set_current(&self.context))?;
        Ok(CallersContext { context: callers })
    }

    /// The lock under which work is queued.
    pub(super) fn enqueue(&self) -> Enqueue<'_> {
        self.enqueue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A cell for what may be accessed under that lock.
    pub(super) fn cell<T>(&self, value: T) -> QCell<T> {
        self.owner.cell(value)
    }

    /// Remembers the kernel launched last, for [`DeviceLost`].
    pub(super) fn launched(&self, kernel: &'static KernelInfo) {
        self.last_kernel.store(ptr::from_ref(kernel).cast_mut(), Ordering::Relaxed);
    }

    /// The error for a failure; a fatal one is kept for all later calls.
    pub(super) fn failed(&self, doing: impl Display, failure: &Failure) -> Error {
        let error = describe(&self.name, doing, failure);
        if !failure.is_sticky() {
            return Error::Driver(Box::new(error));
        }
        // What was printed before the failure may say why.
        self.lines.print();
        // SAFETY: null, or from a reference that is valid for ever.
        let last_kernel = unsafe { self.last_kernel.load(Ordering::Relaxed).as_ref() };
        let lost = self.lost.get_or_init(|| DeviceLost {
            cause: error,
            last_kernel: last_kernel.map(|kernel| kernel.name.to_owned()),
            panic: self.panic_report.read(),
        });
        Error::DeviceLost(Box::new(lost.clone()))
    }

    /// A device attribute.
    pub(super) fn attribute(&self, attribute: sys::CUdevice_attribute) -> Result<u32> {
        self.call(format_args!("reading {attribute:?}"), || {
            let mut value = 0;
            // SAFETY: `value` is writable, and the device handle is valid.
            driver::check("cuDeviceGetAttribute", unsafe {
                sys::cuDeviceGetAttribute(&raw mut value, attribute, self.device.as_raw())
            })?;
            Ok(u32::try_from(value).unwrap_or(0))
        })
    }

    /// Waits for all work of the context.
    pub(super) fn synchronize(&self) -> Result<()> {
        self.call("waiting for the device", || {
            driver::check_cust("cuCtxSynchronize", CurrentContext::synchronize())?;
            self.lines.print();
            Ok(())
        })
    }

    /// Free and total bytes of device memory, for messages.
    pub(super) fn memory(&self) -> String {
        let (mut free, mut total) = (0, 0);
        let asked = self.enter().and_then(|_entered| {
            // SAFETY: both are writable.
            driver::check("cuMemGetInfo_v2", unsafe { sys::cuMemGetInfo_v2(&raw mut free, &raw mut total) })
        });
        match asked {
            Ok(()) => format!("{free} of {total} bytes are free"),
            Err(failure) => format!("free memory unknown: {}", failure.text()),
        }
    }
}

impl Drop for Primary {
    fn drop(&mut self) {
        let Some(_entered) = self.enter_to_clean_up() else {
            self.lines.leak();
            return self.panic_report.leak();
        };
        self.panic_report.free();
        self.lines.free();
        if let Some(pool) = &self.pool {
            // SAFETY: every allocation holds a reference to this context, so there is none.
            unsafe { pool.destroy() };
        }
    }
}

/// The context that the caller's code has chosen on this thread; current again when this is dropped, so that code
/// beside ours goes on with its GPU. Null if it has chosen none: then ours stays, which saves a call at the next one.
pub(super) struct CallersContext {
    context: sys::CUcontext,
}

/// The context that is current on this thread; null if there is none.
fn current_context() -> Result<sys::CUcontext, Failure> {
    let mut context = ptr::null_mut();
    // SAFETY: `context` is writable.
    driver::check("cuCtxGetCurrent", unsafe { sys::cuCtxGetCurrent(&raw mut context) })?;
    Ok(context)
}

impl Drop for CallersContext {
    fn drop(&mut self) {
        if !self.context.is_null() {
            // SAFETY: it was current when the call began. There is no handling of a failure.
            let _ = unsafe { sys::cuCtxSetCurrent(self.context) };
        }
    }
}

/// A failure with the driver's name and text for it.
pub(super) fn describe(device: &str, doing: impl Display, failure: &Failure) -> DriverError {
    DriverError {
        device: device.to_owned(),
        doing: doing.to_string(),
        call: failure.call,
        code: failure.code,
        name: failure.name(),
        text: failure.text(),
    }
}

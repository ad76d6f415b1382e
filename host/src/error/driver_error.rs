//! Failures of the CUDA driver, with the driver's text.

use std::fmt;

/// A call to the driver that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DriverError {
    /// The device's name and number.
    pub device: String,
    /// What this crate attempted.
    pub doing: String,
    /// The C function.
    pub call: &'static str,
    /// The driver's status code.
    pub code: i32,
    /// The driver's name for the code.
    pub name: String,
    /// The driver's text for the code.
    pub text: String,
}

impl fmt::Display for DriverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { device, doing, call, code, name, text } = self;
        write!(f, "{device}: {doing}: {call} returned {name} ({code}): {text}")
    }
}

impl std::error::Error for DriverError {}

/// The device's context was lost by an earlier failure, its `cause`, and refuses all work.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceLost {
    /// The failure that lost the context.
    pub cause: DriverError,
    /// The kernel launched last before the failure was reported: the likely cause.
    pub last_kernel: Option<String>,
    /// What a kernel that panicked has said, if the failure is a panic in PTX that was compiled with reports.
    pub panic: Option<KernelPanic>,
}

impl fmt::Display for DeviceLost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(panic) = &self.panic {
            write!(f, "{panic}; ")?;
        }
        write!(f, "the CUDA context is lost, and with it every buffer on this device: {}", self.cause)?;
        if let Some(kernel) = &self.last_kernel {
            write!(f, "; the last kernel launched was `{kernel}`")?;
        }
        if self.panic.is_some() {
            return write!(f, "; restart the program");
        }
        write!(
            f,
            "; restart the program; to find the fault, make the same launch on Device::simulator(), which reports \
             line, block and thread, or run the program under compute-sanitizer"
        )
    }
}

impl std::error::Error for DeviceLost {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.cause)
    }
}

/// A panic in a kernel on a GPU: a failed `assert!`, an index outside an array or a view, `panic!`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KernelPanic {
    /// The message, as the same panic has on the host; of an access outside a view the indices and extents.
    pub message: String,
    /// Source file, line and column, if the PTX was compiled with them.
    pub place: Option<(String, u32, u32)>,
    /// Block in the grid: x, y, z.
    pub block: [u32; 3],
    /// Thread in the block: x, y, z.
    pub thread: [u32; 3],
}

impl fmt::Display for KernelPanic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { message, place, block: [bx, by, bz], thread: [x, y, z] } = self;
        write!(f, "a kernel panicked ")?;
        if let Some((file, line, column)) = place {
            write!(f, "at {file}:{line}:{column} ")?;
        }
        write!(f, "in block ({bx}, {by}, {bz}), thread ({x}, {y}, {z}): {message}")?;
        if place.is_none() {
            write!(f, " (the PTX was compiled without lines)")?;
        }
        Ok(())
    }
}

/// PTX that the driver rejected, with its compiler's log.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PtxError {
    /// The module's name and architecture.
    pub module: String,
    /// The driver's failure.
    pub cause: DriverError,
    /// The log of the driver's PTX compiler, trimmed; may be empty.
    pub log: String,
    /// What to do.
    pub remedy: String,
}

impl fmt::Display for PtxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { module, cause, log, remedy } = self;
        let log = if log.is_empty() { "the log of the driver's PTX compiler is empty" } else { log };
        write!(f, "PTX module `{module}`: {cause}\n{log}\n{remedy}")
    }
}

impl std::error::Error for PtxError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.cause)
    }
}

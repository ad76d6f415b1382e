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
}

impl fmt::Display for DeviceLost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the CUDA context is lost, and with it every buffer on this device: {}", self.cause)?;
        if let Some(kernel) = &self.last_kernel {
            write!(f, "; the last kernel launched was `{kernel}`")?;
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

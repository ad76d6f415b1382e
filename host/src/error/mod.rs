//! The crate's error type: each message has the kernel or call, the argument, what was expected, what was found, and
//! what to do.

mod bad_input;
mod driver_error;
mod faults;

pub use bad_input::{ArgumentRule, BadArgument, BadLaunch, LaunchRule};
pub use driver_error::{DeviceLost, DriverError, KernelPanic, PtxError};
pub use faults::FaultReport;

use std::{error, fmt};

use ndarray::ShapeError;

use crate::families::FAMILIES;
use crate::reference::Mismatch;

/// Every error of this crate. Nothing in it panics on a caller's input.
///
/// `Debug` prints the message, too, so that `main` and `unwrap` show it.
#[non_exhaustive]
pub enum Error {
    /// The NVIDIA driver's library could not be loaded.
    NoDriver {
        /// The requested library.
        library: String,
        /// The dynamic linker's message.
        reason: String,
    },

    /// There is a driver, but no GPU of this number.
    NoSuchDevice {
        /// The requested number.
        asked: u32,
        /// How many devices the driver lists.
        found: u32,
    },

    /// This build of the crate has no CUDA back end.
    CudaNotBuilt,

    /// No device has the name that was given to [`Device::named`](crate::Device::named), or in the environment
    /// variable `WARPWRIGHT_DEVICE`.
    UnknownDevice {
        /// The name.
        name: String,
    },

    /// No PTX in this build runs on the device.
    TooOld {
        /// The device's name and number.
        device: String,
        /// Its compute capability, major and minor.
        capability: (u32, u32),
        /// The family of the kernel.
        family: String,
        /// The architectures built, or `nothing`.
        built: String,
    },

    /// The device's CUDA context was lost by an earlier failure.
    DeviceLost(Box<DeviceLost>),

    /// The driver rejected PTX.
    Ptx(Box<PtxError>),

    /// Any other failure of the driver.
    Driver(Box<DriverError>),

    /// The device or the host has too little memory.
    OutOfMemory {
        /// The device.
        device: String,
        /// Requested bytes.
        bytes: usize,
        /// Free memory, as the device reports it.
        available: String,
    },

    /// An invalid argument.
    Argument(Box<BadArgument>),

    /// A launch that the kernel or the device does not allow.
    Launch(Box<BadLaunch>),

    /// The simulator ran the kernel and reports its faults. Device and buffers stay usable; the buffers contain what
    /// the kernel wrote.
    Faults(Box<FaultReport>),

    /// Operands of a [`reference`](crate::reference) whose shapes do not agree.
    ReferenceShapes(ShapeError),

    /// A result that differs from its [`reference`](crate::reference).
    Mismatch(Mismatch),

    /// The simulator could not run the kernel.
    Simulator {
        /// The kernel.
        kernel: String,
        /// The simulator's reason.
        reason: String,
    },
}

// Written out: a macro for it would be a twentieth of the time that a user's build takes.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoDriver { library, reason } => write!(
                f,
                "no NVIDIA driver: {library} could not be loaded ({reason}); install the driver, or use \
                 Device::simulator(), or Device::best(), which uses the simulator if there is no GPU"
            ),
            Self::NoSuchDevice { asked, found } => write!(
                f,
                "no CUDA device {asked}: the driver lists {found}; use a smaller number (the environment variable \
                 CUDA_VISIBLE_DEVICES hides devices), or Device::simulator()"
            ),
            Self::CudaNotBuilt => f.write_str(
                "warpwright was built without its feature `cuda`; in Cargo.toml write warpwright = { …, features = \
                 [\"cuda\"] }, or use Device::simulator()",
            ),
            Self::UnknownDevice { name } => write!(
                f,
                "there is no device `{name}`; expected best, simulator, cuda or cuda:N with N the device's number, as \
                 argument of Device::named or in WARPWRIGHT_DEVICE"
            ),
            Self::TooOld { device, capability: (major, minor), family, built } => write!(
                f,
                "{device} has compute capability {major}.{minor}; the PTX of `{family}` is built for {built}; {}, or \
                 use Device::simulator()",
                other_gpu(family)
            ),
            Self::DeviceLost(lost) => lost.fmt(f),
            Self::Ptx(error) => error.fmt(f),
            Self::Driver(error) => error.fmt(f),
            Self::OutOfMemory { device, bytes, available } => write!(
                f,
                "{device}: no memory for {bytes} bytes ({available}); drop unused buffers, or work on parts of the data"
            ),
            Self::Argument(bad) => bad.fmt(f),
            Self::Launch(bad) => bad.fmt(f),
            Self::Faults(report) => report.fmt(f),
            Self::ReferenceShapes(error) => {
                write!(f, "the shapes of a reference's operands do not agree: {error}")
            }
            Self::Mismatch(mismatch) => write!(f, "the result differs from its reference: {mismatch}"),
            Self::Simulator { kernel, reason } => {
                write!(f, "kernel `{kernel}`: the simulator could not run it: {reason}")
            }
        }
    }
}

impl error::Error for Error {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Self::DeviceLost(lost) => lost.source(),
            Self::Ptx(error) => error.source(),
            Self::ReferenceShapes(error) => Some(error),
            Self::Mismatch(mismatch) => Some(mismatch),
            _ => None,
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A result with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl From<BadArgument> for Error {
    fn from(bad: BadArgument) -> Self {
        Self::Argument(Box::new(bad))
    }
}

impl From<BadLaunch> for Error {
    fn from(bad: BadLaunch) -> Self {
        Self::Launch(Box::new(bad))
    }
}

impl From<ShapeError> for Error {
    fn from(error: ShapeError) -> Self {
        Self::ReferenceShapes(error)
    }
}

impl From<Mismatch> for Error {
    fn from(mismatch: Mismatch) -> Self {
        Self::Mismatch(mismatch)
    }
}

/// The remedy if the PTX of a family does not run on a GPU.
fn other_gpu(family: &str) -> String {
    match FAMILIES.iter().find(|known| known.name == family).and_then(|family| family.arch) {
        Some(arch) => format!("no other GPU has its instructions: use one of {arch}"),
        None => "use a newer GPU".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference;

    #[test]
    fn errors_of_the_reference_are_errors_of_the_crate() {
        let compare = || -> Result<()> { Ok(reference::same_bits(&[1.0], &[2.0])?) };
        let error = compare().unwrap_err().to_string();
        assert!(error.starts_with("the result differs from its reference: element 0: expected 1e0"), "{error}");
        let (a, b) = (ndarray::Array2::<f32>::zeros((2, 3)), ndarray::Array2::<f32>::zeros((2, 3)));
        let multiply = || -> Result<reference::Reference> { Ok(reference::matmul(a.view(), b.view())?) };
        let error = multiply().unwrap_err().to_string();
        assert!(error.starts_with("the shapes of a reference's operands do not agree: "), "{error}");
    }
}

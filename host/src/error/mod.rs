//! What can go wrong: one enum, whose messages name the kernel or call, the argument, what was expected, what came, and
//! what to do.

mod bad_input;
mod driver_error;
mod faults;

pub use bad_input::{ArgumentRule, BadArgument, BadLaunch, LaunchRule};
pub use driver_error::{DeviceLost, DriverError, PtxError};
pub use faults::FaultReport;

use std::fmt;

/// Everything that this crate refuses or fails to do. Nothing in it panics on a caller's input.
///
/// Its `Debug` form is its message too, so that `main` and `unwrap` show something to read.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The NVIDIA driver's library is not on this machine.
    #[error(
        "no NVIDIA driver: {library} could not be loaded ({reason}); install the driver, or take Device::simulator(), or \
         Device::best(), which takes the simulator where there is no GPU"
    )]
    NoDriver {
        /// The library asked for.
        library: String,
        /// What the dynamic linker says.
        reason: String,
    },

    /// A driver is there but no such GPU.
    #[error(
        "no CUDA device {asked}: the driver lists {found}; take a number below that (the environment variable \
         CUDA_VISIBLE_DEVICES hides devices), or Device::simulator()"
    )]
    NoSuchDevice {
        /// The number asked for.
        asked: u32,
        /// How many devices the driver lists.
        found: u32,
    },

    /// This build of the crate has no CUDA back end.
    #[error(
        "warpwright was built without its feature `cuda`; in Cargo.toml write warpwright = {{ …, features = [\"cuda\"] }}, or \
         take Device::simulator()"
    )]
    CudaNotBuilt,

    /// The environment variable that picks the device says something else.
    #[error("WARPWRIGHT_DEVICE is `{value}`; expected best, simulator, cuda or cuda:N with N the device's number")]
    DeviceVariable {
        /// The variable's value.
        value: String,
    },

    /// No PTX in this build runs on the device.
    #[error(
        "{device} has compute capability {}.{}; the PTX of `{family}` is built for {built}; {}, or take Device::simulator()",
        capability.0, capability.1, other_gpu(family, *capability)
    )]
    TooOld {
        /// The device's name and number.
        device: String,
        /// Its compute capability, major and minor.
        capability: (u32, u32),
        /// The kernel family asked for.
        family: String,
        /// The architectures built, or `nothing`.
        built: String,
    },

    /// The device's CUDA context is gone after an earlier failure.
    #[error(transparent)]
    DeviceLost(Box<DeviceLost>),

    /// The driver refused PTX.
    #[error(transparent)]
    Ptx(Box<PtxError>),

    /// Any other failure of the driver.
    #[error(transparent)]
    Driver(Box<DriverError>),

    /// The device or the host has too little memory.
    #[error("{device}: no memory for {bytes} bytes ({available}); drop buffers that are done with, or work in parts")]
    OutOfMemory {
        /// The device.
        device: String,
        /// Bytes asked for.
        bytes: usize,
        /// What the device says of its memory.
        available: String,
    },

    /// An argument that does not fit.
    #[error(transparent)]
    Argument(Box<BadArgument>),

    /// A launch that does not fit the kernel or the device.
    #[error(transparent)]
    Launch(Box<BadLaunch>),

    /// The simulator ran the kernel and reports its faults. Device and buffers stay usable; what the kernel wrote up to
    /// then is in the buffers.
    #[error(transparent)]
    Faults(Box<FaultReport>),

    /// The simulator could not run the kernel.
    #[error("kernel `{kernel}`: the simulator could not run it: {reason}")]
    Simulator {
        /// The kernel.
        kernel: String,
        /// The simulator's reason.
        reason: String,
    },
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

/// What to do where the PTX of a family does not run on a GPU.
fn other_gpu(family: &str, (major, minor): (u32, u32)) -> String {
    match gpu::FAMILIES.iter().find(|known| known.name == family).and_then(|family| family.arch) {
        Some(arch) => format!("no other GPU has its instructions: take one of {arch}"),
        None => {
            format!("take a newer GPU, build the PTX for this one with `cargo xtask build --arch sm_{major}{minor}`")
        }
    }
}

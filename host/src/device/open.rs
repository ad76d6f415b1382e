//! Constructors of [`Device`].

use std::env;
#[cfg(feature = "cuda")]
use std::sync::{Arc, Mutex, PoisonError, Weak};

#[cfg(feature = "cuda")]
use super::Inner;
use super::{Backend, Device};
use crate::backend::Queue;
use crate::error::{Error, Result};

/// The environment variable that [`Device::from_env`] reads.
const VARIABLE: &str = "WARPWRIGHT_DEVICE";

/// The GPUs in use, so that every handle of one GPU is the same device.
#[cfg(feature = "cuda")]
static OPEN: Mutex<Vec<(u32, Weak<Inner>)>> = Mutex::new(Vec::new());

impl Device {
    /// The first GPU; the simulator if there is no driver or no GPU, or if the cargo feature `cuda` is off.
    ///
    /// # Errors
    /// There is a GPU, but the driver cannot use it.
    pub fn best() -> Result<Self> {
        match Self::cuda(0) {
            Err(Error::NoDriver { .. } | Error::NoSuchDevice { .. } | Error::CudaNotBuilt) => Ok(Self::simulator()),
            other => other,
        }
    }

    /// The GPU with number `ordinal`, in the driver's order; needs the cargo feature `cuda`.
    ///
    /// The device's *primary context* is used. The CUDA runtime uses it too, so other CUDA libraries in the process
    /// share it.
    ///
    /// # Errors
    /// [`Error::CudaNotBuilt`], [`Error::NoDriver`], [`Error::NoSuchDevice`], or another driver failure.
    #[cfg(feature = "cuda")]
    pub fn cuda(ordinal: u32) -> Result<Self> {
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|(_, device)| device.strong_count() > 0);
        if let Some(inner) = open.iter().find(|(number, _)| *number == ordinal).and_then(|(_, inner)| inner.upgrade()) {
            return Ok(Self { inner });
        }
        let cuda = crate::cuda::Backend::open(ordinal)?;
        let queue = Queue::Cuda(cuda.queue()?);
        let device = Self::new(Backend::Cuda(cuda), queue);
        open.push((ordinal, Arc::downgrade(&device.inner)));
        Ok(device)
    }

    /// The GPU with number `ordinal`; this build has no CUDA back end.
    ///
    /// # Errors
    /// Always [`Error::CudaNotBuilt`].
    #[cfg(not(feature = "cuda"))]
    pub fn cuda(ordinal: u32) -> Result<Self> {
        let _ = ordinal;
        Err(Error::CudaNotBuilt)
    }

    /// A simulated device with all checks on. Each call creates a new device.
    pub fn simulator() -> Self {
        Self::simulator_with(simulator::Config::default())
    }

    /// A simulated device with the given level of checking, schedule and parameters.
    ///
    /// ```
    /// use warpwright::simulator::{Config, Level};
    /// let device = warpwright::Device::simulator_with(Config::new(Level::Counters).seed(7));
    /// assert_eq!(device.simulator_config().map(|config| config.seed), Some(7));
    /// ```
    pub fn simulator_with(config: simulator::Config) -> Self {
        Self::new(Backend::Simulated(config), Queue::Simulated)
    }

    /// The device that the environment variable `WARPWRIGHT_DEVICE` names: `best` (also if unset), `simulator`, `cuda`
    /// or `cuda:N`.
    ///
    /// # Errors
    /// [`Error::DeviceVariable`] for any other value; for `cuda` as [`Device::cuda`].
    pub fn from_env() -> Result<Self> {
        match env::var_os(VARIABLE) {
            None => Self::best(),
            Some(value) => Self::named(&value.to_string_lossy()),
        }
    }

    fn named(value: &str) -> Result<Self> {
        let unknown = || Error::DeviceVariable { value: value.to_owned() };
        match value {
            "" | "best" => Self::best(),
            "simulator" => Ok(Self::simulator()),
            "cuda" => Self::cuda(0),
            other => Self::cuda(other.strip_prefix("cuda:").and_then(|n| n.parse().ok()).ok_or_else(unknown)?),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_devices() {
        assert!(Device::named("simulator").unwrap().is_simulator());
        for wrong in ["gpu", "cuda:", "cuda:x", "cuda:-1", "Simulator"] {
            let error = Device::named(wrong).unwrap_err();
            assert!(matches!(&error, Error::DeviceVariable { value } if value == wrong), "{wrong}: {error}");
        }
    }

    #[test]
    fn clones_are_one_device_and_simulators_are_not() {
        let device = Device::simulator();
        assert!(device.is(&device.clone()));
        assert!(!device.is(&Device::simulator()));
    }
}

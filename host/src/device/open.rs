//! Constructors of [`Device`].

use std::env;
use std::sync::Once;
#[cfg(feature = "cuda")]
use std::sync::{Arc, Mutex, PoisonError, Weak};

#[cfg(feature = "cuda")]
use super::Inner;
use super::{Backend, Device};
use crate::backend::Queue;
use crate::error::{Error, Result};
use crate::printer::Printer;

/// The environment variable that [`Device::best`] reads.
const VARIABLE: &str = "WARPWRIGHT_DEVICE";

/// The GPUs in use, so that every handle of one GPU is the same device.
#[cfg(feature = "cuda")]
static OPEN: Mutex<Vec<(u32, Weak<Inner>)>> = Mutex::new(Vec::new());

impl Device {
    /// The first GPU; the simulator if there is no driver or no GPU, or if the cargo feature `cuda` is off. The
    /// environment variable `WARPWRIGHT_DEVICE` overrides it with a name that [`Device::named`] takes.
    ///
    /// A program that falls back to the simulator says so on standard error, once: the simulator checks every access,
    /// and is thousands of times slower. [`Device::name`] and [`Device::is_simulator`] tell, too.
    ///
    /// # Errors
    /// There is a GPU, but the driver cannot use it; as [`Device::named`] for the value of the variable.
    pub fn best() -> Result<Self> {
        match env::var_os(VARIABLE) {
            None => Self::gpu_or_simulator(),
            Some(value) => Self::named(&value.to_string_lossy()),
        }
    }

    /// The device of this name: `simulator`, `cuda` for the first GPU, `cuda:N` for the one with number N, or `best`
    /// for the first GPU if there is one, else the simulator.
    ///
    /// ```
    /// assert!(warpwright::Device::named("simulator")?.is_simulator());
    /// # Ok::<(), warpwright::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::UnknownDevice`] for any other name; for `cuda` as [`Device::cuda`].
    pub fn named(name: &str) -> Result<Self> {
        let unknown = || Error::UnknownDevice { name: name.to_owned() };
        match name {
            "" | "best" => Self::gpu_or_simulator(),
            "simulator" => Ok(Self::simulator()),
            "cuda" => Self::cuda(0),
            other => Self::cuda(other.strip_prefix("cuda:").and_then(|n| n.parse().ok()).ok_or_else(unknown)?),
        }
    }

    fn gpu_or_simulator() -> Result<Self> {
        static ANNOUNCED: Once = Once::new();
        let why = match Self::cuda(0) {
            Err(Error::NoDriver { library, .. }) => format!("the NVIDIA driver's {library} could not be loaded"),
            Err(Error::NoSuchDevice { .. }) => "there is no GPU".to_owned(),
            Err(Error::CudaNotBuilt) => "the cargo feature `cuda` is off".to_owned(),
            other => return other,
        };
        ANNOUNCED.call_once(|| {
            eprintln!("warpwright: kernels run on the simulator, because {why} ({VARIABLE}=simulator hides this line)");
        });
        Ok(Self::simulator())
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
        Self::new(Backend::Simulated(config, Printer::default()), Queue::Simulated)
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
            assert!(matches!(&error, Error::UnknownDevice { name } if name == wrong), "{wrong}: {error}");
        }
    }

    #[test]
    fn clones_are_one_device_and_simulators_are_not() {
        let device = Device::simulator();
        assert!(device.is(&device.clone()));
        assert!(!device.is(&Device::simulator()));
    }
}

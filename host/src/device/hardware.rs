//! What a GPU is made of, as far as its driver says: the figures from which limits of speed are computed.

use super::Device;
use crate::backend::Backend;
use crate::error::Result;

/// The parts of a GPU that bound how fast a kernel can be.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hardware {
    /// Multiprocessors.
    pub sm_count: u32,
    /// Highest clock of the multiprocessors in kHz. Power and heat may keep the clock below it.
    pub clock_khz: u32,
    /// Highest clock of the memory in kHz.
    pub memory_clock_khz: u32,
    /// Width of the path to memory in bits.
    pub memory_bus_bits: u32,
    /// Size of the second-level cache in bytes.
    pub l2_bytes: usize,
}

impl Device {
    /// What the GPU is made of; `None` for the simulator, which has no clock and no caches.
    ///
    /// ```
    /// assert_eq!(warpwright::Device::simulator().hardware()?, None);
    /// # Ok::<(), warpwright::Error>(())
    /// ```
    ///
    /// # Errors
    /// The driver refuses.
    #[cfg_attr(not(feature = "cuda"), allow(clippy::unnecessary_wraps, reason = "it is the driver that refuses"))]
    pub fn hardware(&self) -> Result<Option<Hardware>> {
        match self.backend() {
            Backend::Simulated(_) => Ok(None),
            #[cfg(feature = "cuda")]
            Backend::Cuda(cuda) => cuda.hardware().map(Some),
        }
    }
}

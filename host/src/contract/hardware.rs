//! The hardware figures from which speed limits are computed.

/// The parts of a GPU that bound how fast a kernel can be, as the driver reports them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hardware {
    /// Number of SMs.
    pub sm_count: u32,
    /// Maximum SM clock in kHz. The power limit and temperature may keep the clock below it.
    pub clock_khz: u32,
    /// Maximum memory clock in kHz.
    pub memory_clock_khz: u32,
    /// Width of the memory bus in bits.
    pub memory_bus_bits: u32,
    /// Size of the L2 cache in bytes.
    pub l2_bytes: usize,
}

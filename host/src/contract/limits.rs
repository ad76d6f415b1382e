//! Limits of a device on one launch.

/// Limits of a device on the geometry and shared memory of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Maximum threads of a block.
    pub threads_per_block: u32,
    /// Maximum threads of a block along x, y and z.
    pub block: [u32; 3],
    /// Maximum blocks of a grid along x, y and z.
    pub grid: [u32; 3],
    /// Maximum shared memory of a block, in bytes.
    pub shared_bytes: usize,
    /// Number of SMs.
    pub sm_count: u32,
    /// Peak bandwidth of the device's memory in bytes per second: twice its clock times the width of its bus. 0 if the
    /// driver does not say.
    pub memory_bandwidth: u64,
}

impl Limits {
    /// Limits of the simulator: those of compute capability 9.0 (CUDA C++ Programming Guide, "Compute Capabilities"),
    /// so that what it accepts runs on the GPU, with the SM count and the memory of an H200.
    pub const SIMULATED: Self = Self {
        threads_per_block: 1024,
        block: [1024, 1024, 64],
        grid: [i32::MAX as u32, 65_535, 65_535],
        shared_bytes: 227 * 1024,
        sm_count: 132,
        memory_bandwidth: 4_916_736_000_000,
    };
}

//! A checked kernel launch, as a back end receives it.

use std::ffi::c_void;
use std::fmt;

use simt::KernelInfo;

use super::shape;

/// A launch geometry that kernel and device accept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Geometry {
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) shared_bytes: usize,
    /// Blocks of a cluster.
    pub(crate) cluster: u32,
}

impl Geometry {
    /// Threads of a block.
    #[cfg(feature = "cuda")]
    pub(crate) fn threads_per_block(&self) -> u64 {
        self.block.iter().map(|&extent| u64::from(extent)).product()
    }
}

impl fmt::Display for Geometry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { grid, block, shared_bytes, cluster } = self;
        write!(f, "grid {}, block {}, {shared_bytes} bytes of shared memory", shape(grid), shape(block))?;
        if *cluster > 1 { write!(f, ", clusters of {cluster} blocks") } else { Ok(()) }
    }
}

/// A kernel with its arguments and a checked geometry.
pub(crate) struct KernelLaunch<'a> {
    pub(crate) info: &'static KernelInfo,
    pub(crate) geometry: Geometry,
    /// Addresses of the argument values.
    #[cfg_attr(not(feature = "cuda"), allow(dead_code, reason = "the simulator calls the body"))]
    pub(crate) parameters: &'a [*mut c_void],
    /// Runs the kernel for the simulator's current thread.
    pub(crate) body: &'a (dyn Fn() + Sync),
}

/// Which one of a pair of launches.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Role {
    First,
    Second,
}

/// Memory `M` of a back end that a launch uses. The views in its arguments name it by its index among the bindings.
pub(crate) struct Binding<'a, M> {
    /// The first parameter that uses it.
    pub(crate) name: &'static str,
    pub(crate) memory: &'a M,
    /// Whether any parameter may write it.
    pub(crate) write: bool,
}

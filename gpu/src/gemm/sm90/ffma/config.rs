//! A row of the table as a type.

use crate::gemm::configs::FfmaConfig;

/// A configuration for a layout.
pub(super) trait Config {
    /// The row of the table.
    const CONFIG: FfmaConfig;
    /// Whether A and B are K-major in memory.
    const K_MAJOR: [bool; 2];
}

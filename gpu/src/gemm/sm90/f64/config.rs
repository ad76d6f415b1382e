//! A row of the table as a type.

use crate::gemm::configs::MmaF64Config;

/// A configuration for a layout.
pub(super) trait Config {
    /// The row of the table.
    const CONFIG: MmaF64Config;
    /// Whether A and B are K-major in memory.
    const K_MAJOR: [bool; 2];
}

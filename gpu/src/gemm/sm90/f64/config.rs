//! A row of the table as a type.

use super::operand::Operand;
use crate::gemm::configs::MmaF64Config;

/// A configuration for a layout.
pub(super) trait Config {
    /// A, K-major or not.
    type A: Operand;
    /// B.
    type B: Operand;
    /// The row of the table.
    const CONFIG: MmaF64Config;
}

//! The shared memory that a kernel requires.

/// Shared memory that a launch must reserve for a kernel. Alignments are at least 16.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedSpec {
    /// The kernel uses none.
    None,
    /// A layout of fixed size.
    Fixed {
        /// Size in bytes.
        bytes: usize,
        /// Alignment in bytes.
        align: usize,
    },
    /// A number of elements that the launch chooses.
    PerLaunch {
        /// Size of an element in bytes.
        element: usize,
        /// Alignment in bytes.
        align: usize,
    },
}

impl SharedSpec {
    /// Bytes of a layout of fixed size; 0 where the launch chooses the size.
    #[doc(hidden)]
    pub const fn fixed_bytes(self) -> usize {
        match self {
            Self::Fixed { bytes, .. } => bytes,
            Self::None | Self::PerLaunch { .. } => 0,
        }
    }

    /// Bytes of an element where the launch chooses their number; 0 for a layout of fixed size.
    #[doc(hidden)]
    pub const fn element_bytes(self) -> usize {
        match self {
            Self::PerLaunch { element, .. } => element,
            Self::None | Self::Fixed { .. } => 0,
        }
    }
}

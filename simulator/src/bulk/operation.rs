//! One TMA operation.

use crate::tensor_map::TensorMap;
use std::panic::Location;

/// A load or store of a box under way.
pub(crate) struct Operation {
    /// Its number among those of the block.
    pub(crate) number: u64,
    pub(crate) map: TensorMap,
    /// The box's first element, innermost dimension first.
    pub(crate) at: [i32; 5],
    /// Its tile in shared memory, and the bytes of that.
    pub(crate) address: usize,
    pub(crate) size: usize,
    /// Bytes that a load counts on its mbarrier.
    pub(crate) count: usize,
    pub(crate) stage: Stage,
    /// The thread that issued it, its block (for a load, perhaps another of the cluster), and where.
    pub(crate) thread: u16,
    pub(crate) from: [u32; 3],
    pub(crate) site: &'static Location<'static>,
}

/// The next stage of an operation.
pub(crate) enum Stage {
    /// Reads global memory, writes shared memory, counts the bytes.
    Load {
        /// Address of the mbarrier.
        mbarrier: usize,
        /// The phase that is to count the bytes.
        phase: u64,
        /// The shadow's stamp of the write under way.
        stamp: u64,
        /// Whether the map is invalid: only the count is done.
        invalid: bool,
    },
    /// Reads shared memory.
    Read,
    /// Writes these bytes to global memory, row by row.
    Write {
        /// The box.
        bytes: Vec<u8>,
    },
}

impl Operation {
    /// Whether its bytes are to count on the mbarrier at `address`.
    pub(crate) fn completes_on(&self, address: usize) -> bool {
        matches!(self.stage, Stage::Load { mbarrier, .. } if mbarrier == address)
    }
}

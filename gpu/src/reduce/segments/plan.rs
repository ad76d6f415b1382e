//! The partition of the work, from the two lengths alone.

use crate::reduce::along::{THREADS, TICKETS};

/// Most blocks: four for each of an H200's 132 SMs. More would only add work, since every block starts with a search
/// and the last one merges the carries of all.
const MAX_BLOCKS: u64 = 528;
/// Least items of a warp.
const MIN_ITEMS: u64 = 256;

/// Launch configuration for segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Blocks.
    pub blocks: u32,
    /// Items (elements and ends of segments) for each warp.
    pub items: u32,
}

impl Plan {
    /// The plan for `n` elements in `segments` segments, at least one.
    ///
    /// ```
    /// use gpu::reduce::segments::plan::Plan;
    /// assert_eq!(Plan::new(2000, 48), Plan { blocks: 1, items: 256 });
    /// assert_eq!(Plan::new(1 << 28, 1 << 16).blocks, 528);
    /// ```
    pub fn new(n: u64, segments: u32) -> Self {
        let warps = u64::from(THREADS / 32);
        let total = n + u64::from(segments);
        let items = total.div_ceil(warps * MAX_BLOCKS).next_multiple_of(128).clamp(MIN_ITEMS, 1 << 31);
        Self { blocks: total.div_ceil(warps * items) as u32, items: items as u32 }
    }

    /// 8-byte words of workspace for a state of `state` words; 0 if none is needed.
    pub fn workspace_words(&self, state: usize) -> usize {
        if self.blocks == 1 { 0 } else { TICKETS + (1 + 2 * state) * self.blocks as usize }
    }

    /// The most merges that an element passes through.
    pub fn depth(&self, vector: u64) -> u64 {
        let blocks = u64::from(self.blocks);
        let items = u64::from(self.items);
        // Sequential in short segments; a lane's elements and a warp in long ones; then warps and blocks.
        let part = 128.max(vector + 2 + items.div_ceil(vector * 128) + 1 + 2 * vector + 5);
        part + 2 * u64::from(THREADS / 32) + blocks.div_ceil(u64::from(THREADS)) + 2 + u64::from(THREADS)
    }
}

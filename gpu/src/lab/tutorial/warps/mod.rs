//! Warps: which threads they consist of, where they diverge, and how reductions avoid divergence.

pub mod color_to_gray;
pub mod divergent_branch;
pub mod interleaved;
pub mod partition;
pub mod sequential;
pub mod shuffle;

//! Warps: which threads they are made of, where they diverge, and how reductions keep them whole.

pub mod color_to_gray;
pub mod divergent_branch;
pub mod interleaved;
pub mod partition;
pub mod sequential;
pub mod shuffle;

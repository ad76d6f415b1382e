//! Kernels that no operation launches: those of the tutorial, and one for each intrinsic, which the instruction tests run.
//!
//! The feature `lab` switches them on; `warpwright` embeds their PTX under its own feature of that name alone.

#[cfg(any(not(target_arch = "nvptx64"), feature = "instructions"))]
pub mod instructions;
#[cfg(any(not(target_arch = "nvptx64"), feature = "instructions_sm90"))]
pub mod instructions_sm90;
#[cfg(any(not(target_arch = "nvptx64"), feature = "tutorial"))]
pub mod tutorial;

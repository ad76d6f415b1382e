//! Kernels that no operation launches: those of the tutorial, and those of the instruction tests, one for each
//! intrinsic.
//!
//! They are compiled with the feature `lab`; `warpwright` embeds their PTX only with its own feature of that name.

#[cfg(feature = "instructions")]
pub mod instructions;
#[cfg(feature = "instructions_sm90")]
pub mod instructions_sm90;
#[cfg(feature = "tutorial")]
pub mod tutorial;
#[cfg(feature = "tutorial_sm90")]
pub mod tutorial_sm90;

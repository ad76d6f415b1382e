//! What a crate with kernels uses: `use warpwright::prelude::*;`.
//!
//! The prelude of [`simt`], for kernels, and the launching side. Compiled for a GPU, by a build script with
//! `warpwright_build::KernelBuilder`, the crate `warpwright` is the intrinsics alone, and its prelude that of [`simt`]:
//! what launches is left out there, as is all other host code of the file.

pub use ::simt::through_warpwright::prelude::*;

pub use crate::{Buffer, Device, Error, Launch, Matrix, Result};

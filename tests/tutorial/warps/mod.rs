//! C1 to C8: warps and divergence. (C3 and C7 are tested in `properties/add` and `properties/sum`.)

mod branch;
mod partition;
mod picture;
mod sections;

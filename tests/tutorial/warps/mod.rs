//! C1 to C8: warps and divergence. (C3 and C7 are in the properties of addition and sum.)

mod branch;
mod partition;
mod picture;
mod sections;

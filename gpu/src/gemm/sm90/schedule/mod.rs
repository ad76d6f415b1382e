//! Which tiles of C a block computes, and in which order.

pub mod grouped;
pub mod raster;
pub mod stream_k;
pub mod two_width;

//! B = Aᵀ, from the naive kernels to two padded tiles per block.
//!
//! | | idea | sectors per request, read / written | conflict degree, store / load |
//! |---|---|--:|--:|
//! | [`naive`] | each thread moves one element, no shared memory | 4 / 32, or 32 / 4 | |
//! | [`smem`] | by way of a tile: both sides of global memory are coalesced | 4 / 4 | 1 / 16 |
//! | `gpu::transpose::padded` | its rows padded: no conflicts | 4 / 4 | 1 / 1 |
//! | [`unrolled`] | two tiles side by side per block: twice the accesses under way | 4 / 4 | 1 / 1 |

pub mod naive;
pub mod smem;
pub mod unrolled;

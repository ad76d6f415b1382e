//! B = Aᵀ, from the naive kernels to two padded tiles per block.
//!
//! | | idea | sectors per request, read / written | conflict degree, store / load |
//! |---|---|--:|--:|
//! | [`naive`] | each thread moves one element, no shared memory | 4 / 32, or 32 / 4 | |
//! | [`smem`] | through a tile: loads and stores of global memory are coalesced | 4 / 4 | 1 / 16 |
//! | `gpu::transpose::padded` | rows of the tile padded: no conflicts | 4 / 4 | 1 / 1 |
//! | [`unrolled`] | two tiles per block: twice the loads in flight | 4 / 4 | 1 / 1 |

pub mod naive;
pub mod smem;
pub mod unrolled;

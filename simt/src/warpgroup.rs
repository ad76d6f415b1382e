//! Warpgroups: four consecutive warps, the first with an index that is a multiple of four (compute capability 9.0).
//! They execute [`wgmma`](crate::wgmma) together and can reallocate registers among each other.
//!
//! ```
//! use simt::{prelude::*, warpgroup::*};
//!
//! /// A warpgroup that needs few registers leaves some to one that needs many: 40 + 216 = 2 · 128.
//! #[kernel(block = 256, registers = 128)]
//! pub fn uneven(groups: VecMut<u32>) {
//!     let group = warpgroup_id();
//!     if group == 0 {
//!         decrease_registers::<40>();
//!     } else {
//!         increase_registers::<216>();
//!     }
//!     groups.set(index_1d(), group);
//! }
//! ```

use crate::arch;

/// Threads of a warpgroup.
pub const WARPGROUP_SIZE: u32 = 128;

/// Index of this thread's warpgroup in the block. It is uniform over a warp, as the compiler knows: a branch on it does
/// not diverge. All threads of a warp call together.
#[cfg_attr(optimised, inline(always))]
#[track_caller]
#[must_use]
pub fn warpgroup_id() -> u32 {
    crate::warp::warp_shuffle_idx(u32::MAX, crate::thread::index_in_block(), 0, 32).0 / WARPGROUP_SIZE
}

const fn check(registers: u32) {
    assert!(registers >= 24 && registers <= 256 && registers.is_multiple_of(8), "24 to 256 registers, a multiple of 8");
}

/// Raises the registers of each thread to `REGISTERS`, 24 to 256, a multiple of 8, and waits until other warpgroups
/// have released enough (`setmaxnreg.inc.sync.aligned`). All threads of the warpgroup call together.
///
/// The kernel must declare the registers it starts with: `registers` and `max_threads` or `block` in `#[kernel(…)]`.
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub fn increase_registers<const REGISTERS: u32>() {
    const { check(REGISTERS) }
    arch::wgmma::increase_registers::<REGISTERS>();
}

/// Lowers the registers of each thread to `REGISTERS`, 24 to 256, a multiple of 8 (`setmaxnreg.dec.sync.aligned`). All
/// threads of the warpgroup call together.
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub fn decrease_registers<const REGISTERS: u32>() {
    const { check(REGISTERS) }
    arch::wgmma::decrease_registers::<REGISTERS>();
}

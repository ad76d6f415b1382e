//! Warpgroups: four consecutive warps, the first of which has an index that is a multiple of four (compute capability
//! 9.0). They multiply matrices together ([`wgmma`](crate::wgmma)), and their threads share out registers.

use crate::arch;

/// Threads of a warpgroup.
pub const WARPGROUP_SIZE: u32 = 128;

/// Index of this thread's warpgroup in the block, the same for all threads of a warp as the compiler sees it too: a
/// branch on it does not diverge. All of a warp's threads call together.
#[inline(always)]
#[track_caller]
#[must_use]
pub fn warpgroup_id() -> u32 {
    crate::warp::warp_shuffle_idx(u32::MAX, crate::thread::index_in_block(), 0, 32).0 / WARPGROUP_SIZE
}

const fn check(registers: u32) {
    assert!(registers >= 24 && registers <= 256 && registers.is_multiple_of(8), "24 to 256 registers, a multiple of 8");
}

/// Raises each thread's registers to `REGISTERS`, 24 to 256, a multiple of 8, waiting until others have given up
/// enough (`setmaxnreg.inc.sync.aligned`). All threads of the warpgroup call together.
///
/// The kernel must say how many registers it starts with: `registers` and `max_threads` or `block` in `#[kernel(…)]`.
#[inline(always)]
#[track_caller]
pub fn increase_registers<const REGISTERS: u32>() {
    const { check(REGISTERS) }
    arch::wgmma::increase_registers::<REGISTERS>();
}

/// Lowers each thread's registers to `REGISTERS`, 24 to 256, a multiple of 8 (`setmaxnreg.dec.sync.aligned`). All
/// threads of the warpgroup call together.
#[inline(always)]
#[track_caller]
pub fn decrease_registers<const REGISTERS: u32>() {
    const { check(REGISTERS) }
    arch::wgmma::decrease_registers::<REGISTERS>();
}

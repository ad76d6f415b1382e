//! Copies by TMA. Not `nomem`: LLVM must not move accesses to shared memory across them.

use core::arch::asm;

use super::memory::shared_address;

/// # Safety
/// `dst` and `bar` are in the block's shared memory, `map` is a tensor map of `RANK` dimensions.
#[inline(always)]
pub(crate) unsafe fn load<const RANK: usize>(
    dst: *mut u8,
    _bytes: usize,
    map: *const [u64; 16],
    _element: usize,
    at: [i32; RANK],
    bar: *mut u64,
) {
    let (dst, bar) = (shared_address(dst), shared_address(bar));
    // SAFETY: the caller's promise.
    unsafe {
        if RANK == 2 {
            asm!(
                "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes \
                 [{dst}], [{map}, {{{x}, {y}}}], [{bar}];",
                dst = in(reg32) dst, map = in(reg64) map, bar = in(reg32) bar,
                x = in(reg32) at[0], y = in(reg32) at[1],
                options(nostack, preserves_flags)
            );
        } else {
            asm!(
                "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes \
                 [{dst}], [{map}, {{{x}, {y}, {z}}}], [{bar}];",
                dst = in(reg32) dst, map = in(reg64) map, bar = in(reg32) bar,
                x = in(reg32) at[0], y = in(reg32) at[1], z = in(reg32) at[RANK - 1],
                options(nostack, preserves_flags)
            );
        }
    }
}

/// # Safety
/// As for [`load`].
#[inline(always)]
pub(crate) unsafe fn load_multicast<const RANK: usize>(
    dst: *mut u8,
    _bytes: usize,
    map: *const [u64; 16],
    _element: usize,
    at: [i32; RANK],
    bar: *mut u64,
    mask: u16,
) {
    let (dst, bar) = (shared_address(dst), shared_address(bar));
    // SAFETY: the caller's promise.
    unsafe {
        if RANK == 2 {
            asm!(
                "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster \
                 [{dst}], [{map}, {{{x}, {y}}}], [{bar}], {mask};",
                dst = in(reg32) dst, map = in(reg64) map, bar = in(reg32) bar, mask = in(reg16) mask,
                x = in(reg32) at[0], y = in(reg32) at[1],
                options(nostack, preserves_flags)
            );
        } else {
            asm!(
                "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster \
                 [{dst}], [{map}, {{{x}, {y}, {z}}}], [{bar}], {mask};",
                dst = in(reg32) dst, map = in(reg64) map, bar = in(reg32) bar, mask = in(reg16) mask,
                x = in(reg32) at[0], y = in(reg32) at[1], z = in(reg32) at[RANK - 1],
                options(nostack, preserves_flags)
            );
        }
    }
}

/// # Safety
/// `src` is in the block's shared memory, `map` is a tensor map of `RANK` dimensions of a tensor that may be written.
#[inline(always)]
pub(crate) unsafe fn store<const RANK: usize>(
    map: *const [u64; 16],
    _element: usize,
    at: [i32; RANK],
    src: *const u8,
    _bytes: usize,
) {
    let src = shared_address(src);
    // SAFETY: the caller's promise.
    unsafe {
        if RANK == 2 {
            asm!(
                "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [{map}, {{{x}, {y}}}], [{src}];",
                map = in(reg64) map, src = in(reg32) src, x = in(reg32) at[0], y = in(reg32) at[1],
                options(nostack, preserves_flags)
            );
        } else {
            asm!(
                "cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [{map}, {{{x}, {y}, {z}}}], [{src}];",
                map = in(reg64) map, src = in(reg32) src,
                x = in(reg32) at[0], y = in(reg32) at[1], z = in(reg32) at[RANK - 1],
                options(nostack, preserves_flags)
            );
        }
    }
}

#[inline(always)]
pub(crate) fn commit() {
    // SAFETY: commits a group.
    unsafe { asm!("cp.async.bulk.commit_group;", options(nostack, preserves_flags)) }
}
#[inline(always)]
pub(crate) fn wait_group_read<const PENDING: u32>() {
    // SAFETY: waits.
    unsafe { asm!("cp.async.bulk.wait_group.read {};", const PENDING, options(nostack, preserves_flags)) }
}
#[inline(always)]
pub(crate) fn wait_group<const PENDING: u32>() {
    // SAFETY: waits.
    unsafe { asm!("cp.async.bulk.wait_group {};", const PENDING, options(nostack, preserves_flags)) }
}

#[inline(always)]
pub(crate) fn prefetch(map: *const [u64; 16]) {
    // SAFETY: a hint.
    unsafe { asm!("prefetch.tensormap [{}];", in(reg64) map, options(nostack, preserves_flags)) }
}

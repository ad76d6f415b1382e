//! Copies by TMA. Not `nomem`: LLVM must not move accesses to shared memory across them.

use core::arch::asm;

use super::memory::shared_address;

/// `cp.async.bulk.$copy` of `RANK` dimensions: `$op $before[map, {coordinates}]$after`.
macro_rules! copy {
    ($op:literal, $before:literal, $after:literal, $at:ident, $($operands:tt)+) => {
        copy!("tensor", $op, $before, $after, $at, $($operands)+)
    };
    ($copy:literal, $op:literal, $before:literal, $after:literal, $at:ident, $($operands:tt)+) => {
        if RANK == 2 {
            asm!(
                concat!("cp.async.bulk.", $copy, ".2d.", $op, " ", $before, "[{map}, {{{x}, {y}}}]", $after, ";"),
                $($operands)+,
                x = in(reg32) $at[0], y = in(reg32) $at[1],
                options(nostack, preserves_flags)
            );
        } else {
            asm!(
                concat!("cp.async.bulk.", $copy, ".3d.", $op, " ", $before, "[{map}, {{{x}, {y}, {z}}}]", $after, ";"),
                $($operands)+,
                x = in(reg32) $at[0], y = in(reg32) $at[1], z = in(reg32) $at[RANK - 1],
                options(nostack, preserves_flags)
            );
        }
    };
}

macro_rules! loads {
    ($($name:ident($($more:ident: $type:ty, $class:ident)?): $op:literal, $after:literal;)+) => {$(
        /// # Safety
        /// `dst` and `bar` are in the block's shared memory, `map` is a tensor map of `RANK` dimensions; a policy is
        /// one of those below.
        #[inline(always)]
        pub(crate) unsafe fn $name<const RANK: usize>(
            dst: *mut u8,
            _bytes: usize,
            map: *const [u64; 16],
            _element: usize,
            at: [i32; RANK],
            bar: *mut u64,
            $($more: $type)?
        ) {
            let (dst, bar) = (shared_address(dst), shared_address(bar));
            // SAFETY: the caller's promise.
            unsafe {
                copy!(
                    $op, "[{dst}], ", $after, at,
                    dst = in(reg32) dst, map = in(reg64) map, bar = in(reg32) bar $(, $more = in($class) $more)?
                );
            }
        }
    )+};
}
loads! {
    load(): "shared::cluster.global.mbarrier::complete_tx::bytes", ", [{bar}]";
    load_with_policy(policy: u64, reg64):
        "shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint", ", [{bar}], {policy}";
    load_multicast(mask: u16, reg16):
        "shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster", ", [{bar}], {mask}";
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
    unsafe { copy!("global.shared::cta.bulk_group", "", ", [{src}]", at, map = in(reg64) map, src = in(reg32) src) }
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
#[inline(always)]
pub(crate) fn prefetch_box<const RANK: usize>(map: *const [u64; 16], at: [i32; RANK]) {
    // SAFETY: a hint.
    unsafe { copy!("prefetch.tensor", "L2.global", "", "", at, map = in(reg64) map) }
}

macro_rules! policies {
    ($($name:ident: $priority:literal;)+) => {$(
        #[inline(always)]
        pub(crate) fn $name() -> u64 {
            let policy;
            // SAFETY: writes a register.
            unsafe {
                asm!(
                    concat!("createpolicy.fractional.L2::", $priority, ".b64 {};"), out(reg64) policy,
                    options(pure, nomem, nostack, preserves_flags)
                );
            }
            policy
        }
    )+};
}
policies! {
    evict_first: "evict_first";
    evict_normal: "evict_normal";
}

//! Asynchronous copies. Not `nomem`: LLVM must not move accesses to shared memory across them.

use core::arch::asm;

use super::memory::shared_address;

macro_rules! copy {
    ($dst:ident, $src:ident, $op:literal) => {
        asm!(
            concat!(
                "{{ .reg .b64 s, g; cvta.to.shared.u64 s, {dst}; cvta.to.global.u64 g, {src}; cp.async.", $op, "; }}"
            ),
            dst = in(reg64) $dst,
            src = in(reg64) $src,
            options(nostack, preserves_flags)
        )
    };
}

/// # Safety
/// Both addresses are inside allocated memory of their space. Misaligned addresses are a hardware fault.
#[inline(always)]
pub(crate) unsafe fn copy<T, const N: usize>(dst: *mut T, src: *const T, _tag: u32) {
    // SAFETY: the caller's promise.
    unsafe {
        match N * size_of::<T>() {
            4 => copy!(dst, src, "ca.shared.global [s], [g], 4"),
            8 => copy!(dst, src, "ca.shared.global [s], [g], 8"),
            _ => copy!(dst, src, "cg.shared.global [s], [g], 16"),
        }
    }
}

macro_rules! copy_or_zero {
    ($dst:ident, $src:ident, $bytes:ident, $op:literal) => {
        asm!(
            concat!("{{ .reg .b64 g; cvta.to.global.u64 g, {src}; cp.async.", $op, ", {bytes}; }}"),
            dst = in(reg32) $dst,
            src = in(reg64) $src,
            bytes = in(reg32) $bytes,
            options(nostack, preserves_flags)
        )
    };
}

/// # Safety
/// `dst` is inside the block's shared memory, and if `is_inside`, `src` is inside global memory. Misaligned addresses
/// are a hardware fault.
#[inline(always)]
pub(crate) unsafe fn copy_or_zero<T, const N: usize>(dst: *mut T, src: *const T, _tag: u32, is_inside: bool) {
    let (dst, bytes) = (shared_address(dst), if is_inside { (N * size_of::<T>()) as u32 } else { 0 });
    // SAFETY: the caller's promise.
    unsafe {
        match N * size_of::<T>() {
            4 => copy_or_zero!(dst, src, bytes, "ca.shared.global [{dst}], [g], 4"),
            8 => copy_or_zero!(dst, src, bytes, "ca.shared.global [{dst}], [g], 8"),
            _ => copy_or_zero!(dst, src, bytes, "cg.shared.global [{dst}], [g], 16"),
        }
    }
}

macro_rules! copy_if {
    ($dst:ident, $src:ident, $is_inside:ident, $op:literal) => {
        asm!(
            concat!(
                "{{ .reg .b64 g; .reg .pred p; cvta.to.global.u64 g, {src}; setp.ne.b32 p, {inside}, 0; ",
                "@p cp.async.", $op, "; }}"
            ),
            dst = in(reg32) $dst,
            src = in(reg64) $src,
            inside = in(reg32) $is_inside,
            options(nostack, preserves_flags)
        )
    };
}

/// # Safety
/// If `is_inside`, `dst` is inside the block's shared memory, and `src` is inside global memory. Misaligned addresses
/// are a hardware fault.
#[inline(always)]
pub(crate) unsafe fn copy_if<T, const N: usize>(dst: *mut T, src: *const T, _tag: u32, is_inside: bool) {
    let (dst, is_inside) = (shared_address(dst), u32::from(is_inside));
    // SAFETY: the caller's promise.
    unsafe {
        match N * size_of::<T>() {
            4 => copy_if!(dst, src, is_inside, "ca.shared.global [{dst}], [g], 4"),
            8 => copy_if!(dst, src, is_inside, "ca.shared.global [{dst}], [g], 8"),
            _ => copy_if!(dst, src, is_inside, "cg.shared.global [{dst}], [g], 16"),
        }
    }
}

#[inline(always)]
pub(crate) fn commit() {
    // SAFETY: commits a group.
    unsafe { asm!("cp.async.commit_group;", options(nostack, preserves_flags)) }
}
#[inline(always)]
pub(crate) fn wait_group<const PENDING: u32>() {
    // SAFETY: waits.
    unsafe { asm!("cp.async.wait_group {};", const PENDING, options(nostack, preserves_flags)) }
}
#[inline(always)]
pub(crate) fn wait_all() {
    // SAFETY: waits.
    unsafe { asm!("cp.async.wait_all;", options(nostack, preserves_flags)) }
}

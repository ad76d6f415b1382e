//! Loads and stores that are one instruction each, of the state space and width that the source states: all accesses to
//! global memory, and vector accesses to shared memory. LLVM may split or merge ordinary accesses of structs.
//!
//! Accesses to global memory are `asm!`, also because LLVM does not know that a pointer in a kernel's argument points
//! to global memory. Loads are `pure, readonly`: LLVM may drop or merge equal ones, but does not move them across
//! stores, barriers and fences. Accesses to shared memory use LLVM's vector types: an `asm!` would take a generic
//! address, whose conversion costs two instructions for each access.

use core::{arch::asm, mem::transmute_copy};

use crate::element::Element;

/// `ld.$at.$type $operands, [ptr]`, where `$operands` are the registers `$r`.
macro_rules! load {
    ($at:literal, $ptr:ident, $type:literal, $operands:literal, $reg:ident $t:ty: $($r:ident)+) => {{
        $(let $r: $t;)+
        asm!(
            concat!(
                "{{ .reg .b64 address; cvta.to.global.u64 address, {p}; ",
                "ld.", $at, ".", $type, " ", $operands, ", [address]; }}"
            ),
            p = in(reg64) $ptr,
            $($r = out($reg) $r,)+
            options(pure, readonly, nostack, preserves_flags)
        );
        transmute_copy(&[$($r),+])
    }};
}

/// `st.$at.$type [ptr], $operands`, where `$operands` are the registers `$r`.
macro_rules! store {
    ($at:literal, $ptr:ident, $value:ident, $type:literal, $operands:literal, $reg:ident $t:ty: $($r:ident)+) => {{
        let [$($r),+]: [$t; _] = transmute_copy(&$value);
        asm!(
            concat!(
                "{{ .reg .b64 address; cvta.to.global.u64 address, {p}; ",
                "st.", $at, ".", $type, " [address], ", $operands, "; }}"
            ),
            p = in(reg64) $ptr,
            $($r = in($reg) $r,)+
            options(nostack, preserves_flags)
        );
    }};
}

macro_rules! global {
    ($load:ident, $store:ident: $at:literal) => {
        /// # Safety
        /// `ptr` is inside allocated global memory. A misaligned address is a hardware fault.
        #[inline(always)]
        pub(super) unsafe fn $load<T: Element>(ptr: *const T) -> T {
            // SAFETY: the caller's promise; the registers have the element's size, and any bits are valid.
            unsafe {
                match (size_of::<T>(), T::LANE) {
                    (1, _) => {
                        let a: u16;
                        asm!(
                            concat!(
                                "{{ .reg .b64 address; cvta.to.global.u64 address, {p}; ",
                                "ld.", $at, ".u8 {a}, [address]; }}"
                            ),
                            p = in(reg64) ptr,
                            a = out(reg16) a,
                            options(pure, readonly, nostack, preserves_flags)
                        );
                        transmute_copy(&(a as u8))
                    }
                    (2, _) => load!($at, ptr, "b16", "{a}", reg16 u16: a),
                    (4, _) => load!($at, ptr, "b32", "{a}", reg32 u32: a),
                    (8, 8) => load!($at, ptr, "b64", "{a}", reg64 u64: a),
                    (8, _) => load!($at, ptr, "v2.b32", "{{{a}, {b}}}", reg32 u32: a b),
                    (_, 8) => load!($at, ptr, "v2.b64", "{{{a}, {b}}}", reg64 u64: a b),
                    _ => load!($at, ptr, "v4.b32", "{{{a}, {b}, {c}, {d}}}", reg32 u32: a b c d),
                }
            }
        }

        /// # Safety
        /// `ptr` is inside allocated, writable global memory. A misaligned address is a hardware fault.
        #[inline(always)]
        pub(super) unsafe fn $store<T: Element>(ptr: *mut T, value: T) {
            // SAFETY: the caller's promise; the registers have the element's size.
            unsafe {
                match (size_of::<T>(), T::LANE) {
                    (1, _) => {
                        let a: u8 = transmute_copy(&value);
                        asm!(
                            concat!(
                                "{{ .reg .b64 address; cvta.to.global.u64 address, {p}; ",
                                "st.", $at, ".u8 [address], {a}; }}"
                            ),
                            p = in(reg64) ptr,
                            a = in(reg16) a as u16,
                            options(nostack, preserves_flags)
                        );
                    }
                    (2, _) => store!($at, ptr, value, "b16", "{a}", reg16 u16: a),
                    (4, _) => store!($at, ptr, value, "b32", "{a}", reg32 u32: a),
                    (8, 8) => store!($at, ptr, value, "b64", "{a}", reg64 u64: a),
                    (8, _) => store!($at, ptr, value, "v2.b32", "{{{a}, {b}}}", reg32 u32: a b),
                    (_, 8) => store!($at, ptr, value, "v2.b64", "{{{a}, {b}}}", reg64 u64: a b),
                    _ => store!($at, ptr, value, "v4.b32", "{{{a}, {b}, {c}, {d}}}", reg32 u32: a b c d),
                }
            }
        }
    };
}

global!(load_global, store_global: "global");
global!(load_global_streaming, store_global_streaming: "global.cs");

/// LLVM's vector types, which it loads and stores in one access.
mod simd {
    #[derive(Clone, Copy)]
    #[repr(simd)]
    pub(super) struct B32x2([u32; 2]);
    #[derive(Clone, Copy)]
    #[repr(simd)]
    pub(super) struct B32x4([u32; 4]);
    #[derive(Clone, Copy)]
    #[repr(simd)]
    pub(super) struct B64x2([u64; 2]);
}

/// Invokes `$do!` with the type that moves a vector `T` in one access.
macro_rules! as_simd {
    ($T:ident, $do:ident!($($args:tt)*)) => {
        match (size_of::<$T>(), $T::LANE) {
            (2, _) => $do!(u16, $($args)*),
            (4, _) => $do!(u32, $($args)*),
            (8, _) => $do!(simd::B32x2, $($args)*),
            (_, 8) => $do!(simd::B64x2, $($args)*),
            _ => $do!(simd::B32x4, $($args)*),
        }
    };
}
macro_rules! load_as {
    ($t:ty, $ptr:ident) => {
        transmute_copy(&*$ptr.cast::<$t>())
    };
}
macro_rules! store_as {
    ($t:ty, $ptr:ident, $value:ident) => {
        *$ptr.cast::<$t>() = transmute_copy(&$value)
    };
}

/// # Safety
/// `ptr` is inside shared memory and aligned, `T` is a vector.
#[inline(always)]
pub(super) unsafe fn load_shared<T: Element>(ptr: *const T) -> T {
    // SAFETY: the caller's promise; the types have the same size, and any bits are valid.
    unsafe { as_simd!(T, load_as!(ptr)) }
}

/// # Safety
/// `ptr` is inside shared memory and aligned, `T` is a vector.
#[inline(always)]
pub(super) unsafe fn store_shared<T: Element>(ptr: *mut T, value: T) {
    // SAFETY: the caller's promise; the types have the same size, and any bits are valid.
    unsafe { as_simd!(T, store_as!(ptr, value)) }
}

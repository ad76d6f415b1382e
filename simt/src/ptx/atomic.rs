//! Atomic operations by `asm!`: no warp has to execute them together. None is `nomem`, whatever its order: LLVM moves
//! no memory access across them.

use core::arch::asm;

use crate::{
    access::Space,
    element::Element,
    sync::{Order, Scope},
};

/// Writes an `asm!` statement for each space, scope and order of an operation; after inlining one is left. `$op` is the
/// instruction's suffix, `$operands` its operands, among them the address `a`.
macro_rules! per_space {
    ($space:expr, $then:ident!($($rest:tt)*)) => {
        match $space {
            Space::Shared => $then!("shared", $($rest)*),
            Space::Global { .. } => $then!("global", $($rest)*),
        }
    };
}
macro_rules! per_scope {
    ($space:literal, $scope:expr, $then:ident!($($rest:tt)*)) => {
        match $scope {
            Scope::Block => $then!($space, "cta", $($rest)*),
            Scope::Device => $then!($space, "gpu", $($rest)*),
            Scope::System => $then!($space, "sys", $($rest)*),
        }
    };
}
macro_rules! per_order {
    ($space:literal, $scope:literal, $order:expr, $then:ident!($($rest:tt)*)) => {
        match $order {
            Order::Relaxed => $then!($space, $scope, "relaxed", $($rest)*),
            Order::Acquire => $then!($space, $scope, "acquire", $($rest)*),
            Order::Release => $then!($space, $scope, "release", $($rest)*),
            Order::AcqRel => $then!($space, $scope, "acq_rel", $($rest)*),
        }
    };
}
macro_rules! atom {
    ($space:literal, $scope:literal, $order:literal, $op:literal, $operands:literal, $($asm:tt)*) => {
        asm!(
            concat!(
                "{{ .reg .b64 a; cvta.to.", $space, ".u64 a, {p}; ",
                "atom.", $order, ".", $scope, ".", $space, ".", $op, " ", $operands, "; }}"
            ),
            $($asm)*,
            options(nostack, preserves_flags)
        )
    };
}
macro_rules! load {
    ($space:literal, $scope:literal, $order:expr, $type:literal, $($asm:tt)*) => {
        match $order {
            Order::Relaxed | Order::Release => load!(@ "relaxed", $space, $scope, $type, $($asm)*),
            Order::Acquire | Order::AcqRel => load!(@ "acquire", $space, $scope, $type, $($asm)*),
        }
    };
    (@ $order:literal, $space:literal, $scope:literal, $type:literal, $($asm:tt)*) => {
        asm!(
            concat!(
                "{{ .reg .b64 a; cvta.to.", $space, ".u64 a, {p}; ",
                "ld.", $order, ".", $scope, ".", $space, ".", $type, " {old}, [a]; }}"
            ),
            $($asm)*,
            options(nostack, preserves_flags)
        )
    };
}
macro_rules! store {
    ($space:literal, $scope:literal, $order:expr, $type:literal, $($asm:tt)*) => {
        match $order {
            Order::Relaxed | Order::Acquire => store!(@ "relaxed", $space, $scope, $type, $($asm)*),
            Order::Release | Order::AcqRel => store!(@ "release", $space, $scope, $type, $($asm)*),
        }
    };
    (@ $order:literal, $space:literal, $scope:literal, $type:literal, $($asm:tt)*) => {
        asm!(
            concat!(
                "{{ .reg .b64 a; cvta.to.", $space, ".u64 a, {p}; ",
                "st.", $order, ".", $scope, ".", $space, ".", $type, " [a], {new}; }}"
            ),
            $($asm)*,
            options(nostack, preserves_flags)
        )
    };
}

/// An operation `old = *p; *p = f(old, new)`.
macro_rules! update {
    ($name:ident: $t:ty, $reg:ident, $op:literal) => {
        #[inline(always)]
        unsafe fn $name(space: Space, ptr: *mut Self, new: Self, order: Order, scope: Scope) -> Self {
            let old: $t;
            // SAFETY: the caller's promise about the address.
            unsafe {
                per_space!(space, per_scope!(scope, per_order!(order, atom!(
                    $op, "{old}, [a], {new}", p = in(reg64) ptr, new = in($reg) new, old = out($reg) old
                ))));
            }
            old
        }
    };
}

/// Numbers with atomic loads, stores and swaps. For all methods of this module's traits, `ptr` is inside allocated
/// memory of `space`, which is writable where they write.
pub trait Cell: Element {
    #[doc(hidden)]
    unsafe fn load(space: Space, ptr: *const Self, order: Order, scope: Scope) -> Self;
    #[doc(hidden)]
    unsafe fn store(space: Space, ptr: *mut Self, new: Self, order: Order, scope: Scope);
    #[doc(hidden)]
    unsafe fn swap(space: Space, ptr: *mut Self, new: Self, order: Order, scope: Scope) -> Self;
}
/// Numbers with an atomic sum.
pub trait Add: Cell {
    #[doc(hidden)]
    unsafe fn add(space: Space, ptr: *mut Self, new: Self, order: Order, scope: Scope) -> Self;
}
/// Integers with atomic comparisons.
pub trait Integer: Cell + PartialEq {
    #[doc(hidden)]
    unsafe fn min(space: Space, ptr: *mut Self, new: Self, order: Order, scope: Scope) -> Self;
    #[doc(hidden)]
    unsafe fn max(space: Space, ptr: *mut Self, new: Self, order: Order, scope: Scope) -> Self;
    #[doc(hidden)]
    unsafe fn cas(space: Space, ptr: *mut Self, expected: Self, new: Self, order: Order, scope: Scope) -> Self;
}
/// Integers with atomic bit operations.
pub trait Bits: Cell {
    #[doc(hidden)]
    unsafe fn and(space: Space, ptr: *mut Self, new: Self, order: Order, scope: Scope) -> Self;
    #[doc(hidden)]
    unsafe fn or(space: Space, ptr: *mut Self, new: Self, order: Order, scope: Scope) -> Self;
    #[doc(hidden)]
    unsafe fn xor(space: Space, ptr: *mut Self, new: Self, order: Order, scope: Scope) -> Self;
}

macro_rules! cells {
    ($($t:ty: $reg:ident $type:literal $swap:literal;)*) => {$(
        impl Cell for $t {
            #[inline(always)]
            unsafe fn load(space: Space, ptr: *const Self, order: Order, scope: Scope) -> Self {
                let old: $t;
                // SAFETY: the caller's promise about the address.
                unsafe {
                    per_space!(space, per_scope!(scope, load!(order, $type, p = in(reg64) ptr, old = out($reg) old)));
                }
                old
            }
            #[inline(always)]
            unsafe fn store(space: Space, ptr: *mut Self, new: Self, order: Order, scope: Scope) {
                // SAFETY: the caller's promise about the address.
                unsafe {
                    per_space!(space, per_scope!(scope, store!(order, $type, p = in(reg64) ptr, new = in($reg) new)));
                }
            }
            update!(swap: $t, $reg, $swap);
        }
    )*};
}
cells! {
    u32: reg32 "b32" "exch.b32";
    i32: reg32 "b32" "exch.b32";
    f32: reg32 "b32" "exch.b32";
    u64: reg64 "b64" "exch.b64";
    i64: reg64 "b64" "exch.b64";
    f64: reg64 "b64" "exch.b64";
}

macro_rules! sums {
    ($($t:ty: $reg:ident $op:literal;)*) => {$(
        impl Add for $t {
            update!(add: $t, $reg, $op);
        }
    )*};
}
sums! {
    u32: reg32 "add.u32";
    i32: reg32 "add.s32";
    u64: reg64 "add.u64";
    f32: reg32 "add.f32";
    f64: reg64 "add.f64";
}

macro_rules! integers {
    ($($t:ty: $reg:ident $min:literal $max:literal $cas:literal;)*) => {$(
        impl Integer for $t {
            update!(min: $t, $reg, $min);
            update!(max: $t, $reg, $max);
            #[inline(always)]
            unsafe fn cas(space: Space, ptr: *mut Self, expected: Self, new: Self, order: Order, scope: Scope) -> Self {
                let old: $t;
                // SAFETY: the caller's promise about the address.
                unsafe {
                    per_space!(space, per_scope!(scope, per_order!(order, atom!(
                        $cas, "{old}, [a], {expected}, {new}",
                        p = in(reg64) ptr, expected = in($reg) expected, new = in($reg) new, old = out($reg) old
                    ))));
                }
                old
            }
        }
    )*};
}
integers! {
    u32: reg32 "min.u32" "max.u32" "cas.b32";
    i32: reg32 "min.s32" "max.s32" "cas.b32";
    u64: reg64 "min.u64" "max.u64" "cas.b64";
    i64: reg64 "min.s64" "max.s64" "cas.b64";
}

macro_rules! bits {
    ($($t:ty: $reg:ident $and:literal $or:literal $xor:literal;)*) => {$(
        impl Bits for $t {
            update!(and: $t, $reg, $and);
            update!(or: $t, $reg, $or);
            update!(xor: $t, $reg, $xor);
        }
    )*};
}
bits! {
    u32: reg32 "and.b32" "or.b32" "xor.b32";
    u64: reg64 "and.b64" "or.b64" "xor.b64";
}

/// # Safety
/// `ptr` is inside allocated memory of `space`.
#[inline(always)]
pub(crate) unsafe fn load<T: Cell>(space: Space, ptr: *const T, order: Order, scope: Scope) -> T {
    // SAFETY: the caller's promise.
    unsafe { T::load(space, ptr, order, scope) }
}

/// # Safety
/// `ptr` is inside allocated, writable memory of `space`.
#[inline(always)]
pub(crate) unsafe fn store<T: Cell>(space: Space, ptr: *mut T, new: T, order: Order, scope: Scope) {
    // SAFETY: the caller's promise.
    unsafe { T::store(space, ptr, new, order, scope) }
}

macro_rules! updates {
    ($($name:ident: $bound:ident;)*) => {$(
        /// # Safety
        /// `ptr` is inside allocated, writable memory of `space`.
        #[inline(always)]
        pub(crate) unsafe fn $name<T: $bound>(space: Space, ptr: *mut T, new: T, order: Order, scope: Scope) -> T {
            // SAFETY: the caller's promise.
            unsafe { T::$name(space, ptr, new, order, scope) }
        }
    )*};
}
updates! {
    swap: Cell;
    add: Add;
    min: Integer;
    max: Integer;
    and: Bits;
    or: Bits;
    xor: Bits;
}

/// # Safety
/// `ptr` is inside allocated, writable memory of `space`.
#[inline(always)]
pub(crate) unsafe fn compare_exchange<T: Integer>(
    space: Space,
    ptr: *mut T,
    expected: T,
    new: T,
    order: Order,
    scope: Scope,
) -> Result<T, T> {
    // SAFETY: the caller's promise.
    let found = unsafe { T::cas(space, ptr, expected, new, order, scope) };
    if found == expected { Ok(found) } else { Err(found) }
}

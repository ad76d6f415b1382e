//! Whether the rows of op(A) or the columns of op(B) are rows in memory.
//!
//! In PTX each layout has kernels of its own, and the order is a constant. On the host it is a value: what layouts have
//! in common is compiled once.

/// The order of an operand.
pub(crate) trait Order: Copy {
    /// Whether it is K-major: see [`is_k_major`].
    #[cfg(target_arch = "nvptx64")]
    const IS_K_MAJOR: bool;

    /// Whether it is K-major: see [`is_k_major`].
    #[cfg(not(target_arch = "nvptx64"))]
    fn is_k_major(self) -> bool;
}

/// The order of an operand that is K-major, or is not.
#[cfg(target_arch = "nvptx64")]
#[derive(Clone, Copy)]
pub(crate) struct KMajor<const YES: bool>;
#[cfg(target_arch = "nvptx64")]
impl<const YES: bool> Order for KMajor<YES> {
    const IS_K_MAJOR: bool = YES;
}
#[cfg(target_arch = "nvptx64")]
pub(crate) const fn order<const K_MAJOR: bool>() -> KMajor<K_MAJOR> {
    KMajor
}

#[cfg(not(target_arch = "nvptx64"))]
impl Order for bool {
    fn is_k_major(self) -> bool {
        self
    }
}
/// The order of an operand that is K-major, or is not.
#[cfg(not(target_arch = "nvptx64"))]
pub(crate) const fn order<const K_MAJOR: bool>() -> bool {
    K_MAJOR
}

/// `is_k_major!(O: order)`: whether an operand of this order, of the type `O`, is K-major.
///
/// `is_k_major!(O: order, one, other)`: the first of two constants if it is, else the other.
#[cfg(target_arch = "nvptx64")]
macro_rules! is_k_major {
    ($type:ident: $order:expr) => {
        $type::IS_K_MAJOR
    };
    ($type:ident: $order:expr, $one:expr, $other:expr) => {
        const { if $type::IS_K_MAJOR { $one } else { $other } }
    };
}
#[cfg(not(target_arch = "nvptx64"))]
macro_rules! is_k_major {
    ($type:ident: $order:expr) => {
        $crate::gemm::order::Order::is_k_major($order)
    };
    ($type:ident: $order:expr, $one:expr, $other:expr) => {
        if $crate::gemm::order::Order::is_k_major($order) { $one } else { $other }
    };
}
pub(crate) use is_k_major;

/// The orders of A and B with the layout `$layout`.
macro_rules! orders {
    ($layout:ident) => {{
        use $crate::gemm::{configs::Layout, order::order};
        (order::<{ Layout::$layout.k_major()[0] }>(), order::<{ Layout::$layout.k_major()[1] }>())
    }};
}
pub(crate) use orders;

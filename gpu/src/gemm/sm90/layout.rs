//! How A and B of the MMA lie in memory.
//!
//! In PTX each layout has kernels of its own, and a [`Config`] is a type for each. On the host the layout is a value,
//! and what the kernels of a row of the table have in common is compiled once, for the `Config` of K-major operands.
//! ([`gemm::order`](crate::gemm::order) does so for one operand.)

use simt::wgmma::{Accumulators, Columns, KMajor, Major, Operand, Width};

use super::config::Config;
use super::epilogue::MmaElement;

/// A layout.
#[derive(Clone, Copy)]
pub(super) struct MmaLayout {
    #[cfg(not(target_arch = "nvptx64"))]
    k_major: [bool; 2],
}

impl MmaLayout {
    /// The layout of which `C` is the type, which is that of all kernels with some main loops.
    #[cfg_attr(optimised, inline(always))]
    pub(super) const fn of<C: Config>() -> Self {
        Self::new(C::K_MAJOR)
    }

    /// The layout in which the MMA's A and its B are K-major, or not.
    #[cfg_attr(optimised, inline(always))]
    #[cfg_attr(target_arch = "nvptx64", allow(unused_variables))]
    pub(super) const fn new(k_major: [bool; 2]) -> Self {
        Self {
            #[cfg(not(target_arch = "nvptx64"))]
            k_major,
        }
    }

    /// Whether they are.
    #[cfg_attr(optimised, inline(always))]
    pub(super) const fn k_major<C: Config>(self) -> [bool; 2] {
        #[cfg(target_arch = "nvptx64")]
        return C::K_MAJOR;
        #[cfg(not(target_arch = "nvptx64"))]
        self.k_major
    }

    /// Whether tensor cores read the B in shared memory MN-major.
    #[cfg_attr(optimised, inline(always))]
    pub(super) const fn is_b_mn_major<C: Config>(self) -> bool {
        #[cfg(target_arch = "nvptx64")]
        return C::MajorB::IS_MN;
        #[cfg(not(target_arch = "nvptx64"))]
        return Mn::<C>::IS_MN && !self.k_major[1];
    }

    /// [`Accumulators::multiply`] of 128 bytes of k, of whose groups one may be in flight.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub(super) fn multiply<C: Config, const N: usize>(
        self,
        accumulators: &mut Accumulators<N>,
        (a, b): (Operand, Operand),
        fresh: bool,
    ) where
        Columns<N>: Width,
    {
        #[cfg(target_arch = "nvptx64")]
        accumulators.multiply::<Kind<C>, 4, C::MajorA, C::MajorB, 1>(a, b, fresh);
        #[cfg(not(target_arch = "nvptx64"))]
        match self.k_major {
            [true, true] => accumulators.multiply::<Kind<C>, 4, KMajor, KMajor, 1>(a, b, fresh),
            [true, false] => accumulators.multiply::<Kind<C>, 4, KMajor, Mn<C>, 1>(a, b, fresh),
            [false, true] => accumulators.multiply::<Kind<C>, 4, Mn<C>, KMajor, 1>(a, b, fresh),
            [false, false] => accumulators.multiply::<Kind<C>, 4, Mn<C>, Mn<C>, 1>(a, b, fresh),
        }
    }
}

/// What the operands of `C` are to the tensor cores.
type Kind<C> = <<C as Config>::Operand as MmaElement>::Kind;
/// How they read them from shared memory where they are MN-major in memory.
#[cfg(not(target_arch = "nvptx64"))]
type Mn<C> = <<C as Config>::Operand as MmaElement>::MnMajor;

/// How the MMA reads an operand of these elements from shared memory, whether it is K-major in memory or not.
pub(super) trait Staged<const K_MAJOR: bool> {
    type Major: Major;
}

impl<T> Staged<true> for T {
    type Major = KMajor;
}
impl<T: MmaElement> Staged<false> for T {
    type Major = T::MnMajor;
}

/// The [`Config`] for a layout of the row `$config`, whose numbers are `$const`.
#[cfg(target_arch = "nvptx64")]
macro_rules! of_layout {
    ($config:ident $const:ident $layout:ident) => {
        $config<{ $const.k_major(Layout::$layout)[0] }, { $const.k_major(Layout::$layout)[1] }>
    };
}
#[cfg(not(target_arch = "nvptx64"))]
macro_rules! of_layout {
    ($config:ident $const:ident $layout:ident) => {
        $config<true, true>
    };
}
pub(super) use of_layout;

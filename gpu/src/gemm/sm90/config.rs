//! A row of the table as a type.

use half::{bf16, f16};
use simt::wgmma::{Accumulators, Columns, KMajor, Major, MnMajor, Width};

use super::epilogue::MmaElement;
use super::mainloop_wgmma;
use super::pipeline::{PipelineState, Smem};
use crate::gemm::configs::WgmmaConfig;

/// A configuration for an element type and a layout.
pub(super) trait Config: Sized {
    /// The elements of A, B and C.
    type Element: MmaElement;
    /// How the MMA reads its A from shared memory.
    type MajorA: Major;
    /// How it reads its B.
    type MajorB: Major;
    /// The row of the table.
    const CONFIG: WgmmaConfig;
    /// Whether the MMA's A and its B are MN-major in memory.
    const MN: [bool; 2];

    /// The main loop: see [`mainloop_wgmma::accumulate`].
    #[inline(always)]
    #[track_caller]
    fn accumulate<const N: usize, const A: usize, const B: usize, const STAGES: usize>(
        smem: &Smem<Self::Element, A, B, STAGES>,
        accumulator: &mut [Accumulators<N>; 1],
        state: &mut PipelineState<STAGES>,
        range: (u32, u32),
        meanwhile: impl FnOnce(),
    ) where
        Columns<N>: Width,
    {
        mainloop_wgmma::accumulate::<Self, 1, N, A, B, STAGES>(smem, accumulator, state, range, meanwhile);
    }
}

/// The majors of the MMA's operands of elements `T`; with `SWAP_AB` its A is op(B)ᵀ and its B is op(A)ᵀ.
pub(super) trait Majors<T, const SWAP_AB: bool> {
    type A: Major;
    type B: Major;
    /// Whether they are MN-major in memory.
    const MN: [bool; 2];
}

macro_rules! layouts {
    ($($layout:ident: $a:ident $b:ident;)+) => {$(
        /// A layout as a type.
        pub(super) enum $layout {}
        layouts!(@ $layout f16 $a $b);
        layouts!(@ $layout bf16 $a $b);
        // Tensor cores read tf32 from shared memory K-major alone: an MN-major A goes through registers.
        impl<const SWAP_AB: bool> Majors<f32, SWAP_AB> for $layout {
            type A = KMajor;
            type B = KMajor;
            const MN: [bool; 2] =
                if SWAP_AB {
                    [<$b as Major>::IS_MN, <$a as Major>::IS_MN]
                } else {
                    [<$a as Major>::IS_MN, <$b as Major>::IS_MN]
                };
        }
    )+};
    (@ $layout:ident $t:ident $a:ident $b:ident) => {
        impl Majors<$t, false> for $layout {
            type A = $a;
            type B = $b;
            const MN: [bool; 2] = [<$a as Major>::IS_MN, <$b as Major>::IS_MN];
        }
        impl Majors<$t, true> for $layout {
            type A = $b;
            type B = $a;
            const MN: [bool; 2] = [<$b as Major>::IS_MN, <$a as Major>::IS_MN];
        }
    };
}
layouts! {
    Nn: KMajor MnMajor;
    Nt: KMajor KMajor;
    Tn: MnMajor MnMajor;
    Tt: MnMajor KMajor;
}

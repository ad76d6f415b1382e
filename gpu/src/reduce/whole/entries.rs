//! The kernels of a reduction: one for each element type, since a PTX entry cannot be generic.

use simt::element::Lanes;
use simt::global::{VecMut, VecRef};
use simt::thread::{block_idx_x, grid_dim_x, thread_idx_x};

use super::block::{Scratch, reduce_block};
use super::grid::reduce_grid;
use super::thread::reduce_thread;
use crate::reduce::reducer::Reducer;

/// The body of a kernel: thread, block, grid.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub(super) fn whole<R: Reducer, const N: usize, const W: usize>(
    r: R,
    scratch: &Scratch<W>,
    x: VecRef<R::Element>,
    workspace: VecMut<u64>,
    out: VecMut<R::Output>,
    parameter: u64,
) where
    R::Element: Lanes<N>,
{
    let state = reduce_thread::<R, N>(r, x, block_idx_x() as usize, grid_dim_x() as usize, parameter);
    let state = reduce_block(r, scratch, state);
    let Some(state) = reduce_grid(r, scratch, state, workspace) else {
        return;
    };
    if thread_idx_x() == 0 {
        out.set_within(0, r.finish(state, parameter));
    }
}

/// Defines kernels, and the list of them.
///
/// `at 4 blocks: name(T by N => U) Reduction, parameter;` is a kernel that reads `T`, N at a time, and writes one `U`;
/// with `parameter` it takes that argument, a `u64`. "4 blocks" is the number of blocks per SM, which the kernel's
/// register limit guarantees on every architecture; 132 times as many are its largest grid.
macro_rules! entries {
    ($(
        $(#[$doc:meta])*
                at $blocks:literal blocks:
        $name:ident($t:ident by $n:literal => $out:ident) $reduction:ty $(, $parameter:ident)?;
    )+) => {
        $(entries!(@one [$(#[$doc])*] $blocks $name $t $n $out [$reduction] $($parameter)?);)+

        /// The kernels of this module.
        #[cfg(not(target_arch = "nvptx64"))]
        pub const KERNELS: &[&simt::KernelInfo] = &[$($name.info()),+];
    };
    (
        @one [$(#[$doc:meta])*] $blocks:literal
        $name:ident $t:ident $n:literal $out:ident [$reduction:ty] $($parameter:ident)?
    ) => {
        $(#[$doc])*
        #[cfg(not(all(target_arch = "nvptx64", feature = "algebra")))]
        #[simt::kernel(
            block = (super::partition::THREADS),
            min_blocks = $blocks,
            registers = super::partition::registers($blocks),
            barriers = 3,
            traps = 2,
            global_load_bytes = size_of::<$t>() as u32,
            global_store_bytes = size_of::<$out>() as u32
        )]
        pub fn $name(
                        #[shared] scratch: &super::block::Scratch<{ super::reduction::state_words::<$reduction>() }>,
            x: simt::global::VecRef<$t>,
            workspace: simt::global::VecMut<u64>,
            out: simt::global::VecMut<$out>,
            $($parameter: u64,)?
        ) {
            let r = crate::reduce::reducer::reducer::<$reduction>();
            super::entries::whole::<_, $n, _>(r, scratch, x.bits_as(), workspace, out.bits_as(), 0 $(+ $parameter)?);
        }
    };
}
pub(super) use entries;

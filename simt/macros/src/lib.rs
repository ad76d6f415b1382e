//! `#[kernel]`, `#[derive(Shared)]` and `#[derive(KernelArg)]`: see their documentation in `simt`, which re-exports them.

mod kernel;
mod kernel_arg;
mod repr;
mod shared;

use proc_macro::TokenStream;

/// Makes a function a GPU kernel.
///
/// ```
/// # use simt::prelude::*;
/// # const TILE: u32 = 32;
/// # #[repr(C)]
/// # #[derive(Shared)]
/// # pub struct Tiles {
/// #     a: SharedTile<f32, 32, 32>,
/// # }
/// #[kernel(block = (TILE, TILE), registers = 40, barriers = 2)]
/// pub fn matmul_tiled(#[shared] tiles: &Tiles, a: MatRef<f32>, b: MatRef<f32>, c: MatMut<f32>) {
///     /* … */
/// }
/// ```
///
/// Compiled for `nvptx64`, the function becomes a PTX entry of its name. Elsewhere it becomes a constant of its name and
/// visibility, a `simt::Kernel` that a host launches; the argument types are part of its type, elided lifetimes being
/// `'static` there. The body sees them with lifetimes of its own, so that no view can leave the kernel.
///
/// The parameters are the launch's arguments (`simt::KernelArg`: views, numbers, and tensor maps, which a kernel takes by
/// reference: `map: &TensorMap<T>`, under this very name), except that the first one may be
/// marked `#[shared]`: the block's shared memory, as `&Layout` with a `#[derive(Shared)]` layout of fixed size, or as
/// `DynShared<T>`, whose size the launch chooses.
///
/// # Keys, all optional
///
/// | key | meaning | in PTX |
/// |---|---|---|
/// | `block = (x, y, z)` | the block shape that a launch must have; `y` and `z` may be left out | `.reqntid` |
/// | `max_threads = n` | else the most threads of a block, 1024 if not said | `.maxntid` |
/// | `min_blocks = n` | blocks that must fit a multiprocessor at once | `.minnctapersm` |
/// | `cluster = n` | blocks of a cluster, 1 to 8, neighbours along x; 1 if not said (Hopper, see `simt::cluster`) | `.explicitcluster`, `.reqnctapercluster` |
/// | `pdl` | a launch may begin before its predecessor in the stream is done: no thread touches global memory before its `grid::dependency_wait`, which some thread of every block calls | a launch attribute |
/// | `registers = n` | audit: most registers per thread | |
/// | `barriers = n` | audit: exact number of barrier instructions | |
/// | `global_load_bytes = n`, `global_store_bytes = n` | audit: narrowest access to global memory | |
/// | `traps = n` | audit: most `trap` instructions, 0 if not said | |
/// | `local_bytes = n` | audit: most bytes of local memory per thread, spilt registers among them, 0 if not said | |
///
/// `pdl` has no value; the module `simt::grid` says what it is for. The other values are constant expressions of type `u32`. What `block` and `max_threads` say is known to the optimiser, so that
/// bounds checks that follow from it disappear.
#[proc_macro_attribute]
pub fn kernel(attribute: TokenStream, item: TokenStream) -> TokenStream {
    kernel::expand(attribute.into(), item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes a struct a layout of shared memory.
///
/// It must be `#[repr(C)]`; its fields are `SharedTile`s, `SharedArray`s, arrays of them, and other such structs.
///
/// ```
/// # use simt::prelude::*;
/// #[repr(C)]
/// #[derive(Shared)]
/// pub struct Tiles {
///     a: SharedTile<f32, 32, 32>,
///     b: SharedTile<f32, 32, 32>,
/// }
/// ```
#[proc_macro_derive(Shared)]
pub fn shared(item: TokenStream) -> TokenStream {
    shared::expand(item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes a struct of arguments one argument of a kernel.
///
/// It must be `#[repr(C)]` and `Copy`; its fields are arguments: views, numbers, arrays of numbers, other such structs. A launch
/// passes `warpwright::Fields((…))`, a tuple with a value for each field, in their order.
///
/// ```
/// # use simt::prelude::*;
/// use simt::KernelArg;
///
/// #[repr(C)]
/// #[derive(Clone, Copy, KernelArg)]
/// pub struct Saxpy<'a> {
///     alpha: f32,
///     x: VecRef<'a, f32>,
///     y: VecMut<'a, f32>,
/// }
///
/// #[kernel(block = 128)]
/// pub fn saxpy(args: Saxpy) {
///     let i = index_1d();
///     args.y.set_within(i, fma(args.alpha, args.x.get_or(i, 0.0), args.y.get_or(i, 0.0)));
/// }
/// ```
#[proc_macro_derive(KernelArg)]
pub fn kernel_arg(item: TokenStream) -> TokenStream {
    kernel_arg::expand(item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

//! `#[kernel]`, `#[derive(Shared)]` and `#[derive(KernelArg)]`. `simt` re-exports them with their documentation.

mod kernel;
mod kernel_arg;
mod repr;
mod shared;
mod simt_path;

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
/// Compiled for `nvptx64`, the function becomes a PTX entry of the same name. On the host it becomes a constant of the
/// same name and visibility, a `simt::Kernel` that a program launches. The argument types are part of its type, with
/// `'static` for elided lifetimes. In the body every lifetime is that of the launch, whatever the signature says, so
/// that no view can leave the kernel.
///
/// The parameters are the arguments of the launch: types that implement `simt::KernelArg`, and tensor maps by
/// reference, `map: &TensorMap<T>`, under exactly this name. Only the first parameter may be marked `#[shared]`: the
/// block's shared memory, as `&Layout` with a `#[derive(Shared)]` layout of fixed size, or as `DynShared<T>`, whose
/// size the launch chooses.
///
/// Methods of numbers that only the standard library has, such as `x.exp()`, are refused in the body, by their names:
/// `simt::math` has functions for them.
///
/// # Generic kernels
///
/// A kernel may have type and const parameters. `instances` lists their values, because each instance is an entry in
/// the PTX, with a name of its own: `scale_f32_128`.
///
/// ```
/// # use simt::prelude::*;
/// #[kernel(instances(<f32, 128>, <f64, 64>), block = N)]
/// pub fn scale<T: Float, const N: usize>(x: VecRef<T>, y: VecMut<T>, factor: T) {
///     let i = index_1d();
///     y.set_within(i, factor * x.get_or(i, factor));
/// }
///
/// assert_eq!(scale::<f32, 128>().info().name, "scale_f32_128");
/// assert_eq!(scale::<f64, 64>().info().block, Some([64, 1, 1]));
/// ```
///
/// Rust has no generic constants, so on the host such a kernel is a `const fn` without arguments: a launch takes
/// `&scale::<f32, 128>()`. An instance that is not in the list does not compile. Keys and the types of the parameters
/// may depend on the kernel's parameters; limits of the audit hold for each instance. `T: Float` is `f32` or `f64` with
/// operators and `simt::math`, `T: Element` whatever memory holds. A type of the same name says whether there is an
/// instance, so that generic code of the host can ask for one: `where scale<T, 128>: simt::Instance`.
///
/// An entry is named after the last words of its types, `bf16` for `half::bf16`, and after the constants as they are
/// written in the list. Two instances with the same name are refused.
///
/// # Keys, all optional
///
/// | key | meaning | in PTX |
/// |---|---|---|
/// | `instances(<…>, …)` | the instances of a generic kernel, which must list them | the entries |
/// | `block = (x, y, z)` | required block shape; `y` and `z` default to 1 | `.reqntid` |
/// | `max_threads = n` | without `block`: maximum number of threads of a block, default 1024 | `.maxntid` |
/// | `min_blocks = n` | blocks per SM for which the compiler limits registers | `.minnctapersm` |
/// | `cluster = n` | blocks of a cluster along x, 1 to 8, default 1 (Hopper; `simt::cluster`) | `.reqnctapercluster` |
/// | `pdl` | programmatic dependent launch (Hopper; `simt::grid`) | a launch attribute |
/// | `registers = n` | audit: maximum number of registers per thread | |
/// | `barriers = n` | audit: exact number of barrier instructions | |
/// | `global_load_bytes = n` | audit: narrowest load from global memory | |
/// | `global_store_bytes = n` | audit: narrowest store to global memory | |
/// | `traps = n` | audit: maximum number of `trap` instructions, default 0 | |
/// | `local_bytes = n` | audit: maximum bytes of local memory per thread, spills included, default 0 | |
///
/// `pdl` has no value; `simt::grid` documents it. The other values but `instances` are constant expressions, those of
/// `block` of any integer type, the rest of type `u32`. The optimiser knows `block` and `max_threads`, and removes
/// bounds checks that follow from them.
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
/// It must be `#[repr(C)]` and `Copy`. Its fields are arguments: views, numbers, arrays of numbers, and other such
/// structs. A launch passes `warpwright::Fields((…))`, a tuple of the field values in order.
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

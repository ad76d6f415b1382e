//! GPU kernels in plain Rust: `#[kernel]` and the intrinsics that a kernel calls.
//!
//! A kernel is a Rust function that is compiled twice from the same source. For `nvptx64` each intrinsic becomes the
//! PTX instruction in the tables below. For the host each intrinsic calls the simulator, which runs the kernel thread
//! by thread and reports data races, accesses out of bounds, reads of uninitialised memory and misused barriers.
//!
//! ```
//! use simt::prelude::*;
//!
//! /// y = α·x + y, one element per thread.
//! #[kernel(block = (256))]
//! pub fn axpy(alpha: f32, x: VecRef<f32>, y: VecMut<f32>) {
//!     let i = index_1d();
//!     if branch(i < x.len().min(y.len())) {
//!         y.set(i, fma(alpha, x.get(i), y.get(i)));
//!     }
//! }
//!
//! // On the host the kernel is a constant that describes its launch.
//! assert_eq!(axpy.info().args, ["alpha", "x", "y"]);
//! assert_eq!(axpy.info().block, Some([256, 1, 1]));
//! ```
//!
//! # How a kernel is written
//!
//! * **Entry.** [`#[kernel]`](macro@kernel) makes a function a kernel. Its keys declare what a launch must provide
//!   (block shape, cluster size) and what the audit of the PTX permits (registers, barriers). The parameters implement
//!   [`KernelArg`](trait@KernelArg): views of global memory, numbers, tensor maps, and structs of arguments.
//! * **Memory.** [Global](global) memory is accessed through views of vectors and matrices, [shared](mod@shared) memory
//!   through a `#[derive(Shared)]` struct. `get` and `set` check bounds: an index outside is a trap on a GPU, and a
//!   report on the simulator. `get_unchecked` and `set_unchecked` omit the check on a GPU; the simulator keeps it.
//! * **Threads.** [`thread`] has indices and `sync_threads`, [`warp`] shuffles and votes, [`cluster`] the barrier of a
//!   cluster, [`sync`] fences and named barriers, [`atomic`] atomics with memory order and scope.
//! * **Asynchronous copies and tensor cores.** [`async_copy`] is `cp.async`, [`tma`] with [`mbarrier`] the bulk tensor
//!   copies of Hopper, [`matrix`] `mma.sync`, and [`wgmma`] the warpgroup instructions of Hopper.
//!
//! * **Output.** [`println!`] prints a line from a kernel, on both back ends.
//!
//! An ordinary kernel needs no `unsafe`.
//!
//! # From `cuda_std` to PTX
//!
//! Names are those of rust-cuda's `cuda_std` where it has an equivalent.
//!
//! **Kernels and threads**
//!
//! | `cuda_std` | `simt` | PTX |
//! |---|---|---|
//! | `#[kernel]` | [`#[kernel(…)]`](macro@kernel) | `.visible .entry` |
//! | `thread::thread_idx_x()` … | [`thread::thread_idx_x`] … | `%tid.x` … |
//! | `thread::block_idx_x()` … | [`thread::block_idx_x`] … | `%ctaid.x` … |
//! | `thread::block_dim_x()` … | [`thread::block_dim_x`] … | `%ntid.x` … |
//! | `thread::grid_dim_x()` … | [`thread::grid_dim_x`] … | `%nctaid.x` … |
//! | `thread::index_1d()`, `index_2d()` | [`thread::index_1d`], [`thread::index_2d`], 64 bits wide | `mad` |
//! | `thread::first()` | [`thread::first`] | |
//! | – | [`thread::index_in_block`] | |
//! | `thread::nanosleep()` | [`thread::nanosleep`] | `nanosleep` |
//! | – | [`thread::clock`], [`thread::global_timer`] | `%clock64`, `%globaltimer` |
//! | – | [`branch()`]: counts divergence on the simulator | |
//! | – | [`opaque`]: hides a value's origin from the optimiser | |
//!
//! **Barriers and fences**
//!
//! | `cuda_std` | `simt` | PTX |
//! |---|---|---|
//! | `thread::sync_threads()` | [`thread::sync_threads`] | `bar.sync 0` |
//! | `thread::sync_threads_count()` | [`thread::sync_threads_count`] | `bar.red.popc` |
//! | `thread::sync_threads_and()` | [`thread::sync_threads_and`] | `bar.red.and` |
//! | `thread::sync_threads_or()` | [`thread::sync_threads_or`] | `bar.red.or` |
//! | – | [`sync::named_barrier`], [`sync::named_barrier_arrive`] | `bar.sync id, n`, `bar.arrive id, n` |
//! | `thread::device_fence()` | [`thread::device_fence`], [`thread::grid_fence`] | `fence.acq_rel.gpu` |
//! | `thread::system_fence()` | [`thread::system_fence`] | `fence.acq_rel.sys` |
//! | – | [`sync::fence`] | `fence.acq_rel.{cta,gpu,sys}` |
//! | – | [`sync::fence_proxy_async`] | `fence.proxy.async` (Hopper) |
//!
//! **Warps**
//!
//! | `cuda_std` | `simt` | PTX |
//! |---|---|---|
//! | `warp::lane_id()` | [`warp::lane_id`], [`warp::warp_id`] | `%laneid` |
//! | `warp::sync_warp(mask)` | [`warp::sync_warp`] | `bar.warp.sync` |
//! | `warp::warp_shuffle_idx()` | [`warp::warp_shuffle_idx`] | `shfl.sync.idx` |
//! | `warp::warp_shuffle_up()` | [`warp::warp_shuffle_up`] | `shfl.sync.up` |
//! | `warp::warp_shuffle_down()` | [`warp::warp_shuffle_down`] | `shfl.sync.down` |
//! | `warp::warp_shuffle_xor()` | [`warp::warp_shuffle_xor`] | `shfl.sync.bfly` |
//! | `warp::warp_vote_all()`, `_any` | [`warp::warp_vote_all`], [`warp::warp_vote_any`] | `vote.sync.all`, `.any` |
//! | `warp::warp_vote_ballot()` | [`warp::warp_vote_ballot`] | `vote.sync.ballot` |
//! | `warp::warp_match_any()`, `_all` | [`warp::warp_match_any`], [`warp::warp_match_all`] | `match.sync` |
//! | `warp::warp_reduce_add()` … | [`warp::warp_reduce_add`] … | `redux.sync` |
//! | – | [`warp::warp_reduce`], [`warp::warp_reduce_strided`] | a tree of `shfl.sync.down` |
//! | `warp::activemask()` | none: its result is not determined by the program | |
//!
//! **Memory and arithmetic**
//!
//! | `cuda_std` | `simt` | PTX |
//! |---|---|---|
//! | `*const T`, `&[T]` arguments | [`global::VecRef`], [`global::MatRef`] | `ld.global` |
//! | `*mut T` arguments | [`global::VecMut`], [`global::MatMut`] | `ld.global`, `st.global` |
//! | – | [`global::Window`], [`global::WindowMut`]: rows with any distance | `ld.global`, `st.global` |
//! | – | [`element::Vector`] by `get_vec`, `set_vec` | `ld.global.v4`, `st.global.v4` … |
//! | – | `get_vec_cs`, `set_vec_cs`: data used once | `ld.global.cs`, `st.global.cs` |
//! | `shared_array![T; N]` | [`shared::SharedArray`], [`shared::SharedTile`] | `ld.shared`, `st.shared` |
//! | `shared::dynamic_shared_mem()` | [`shared::DynShared`], [`shared::dynamic_shared_mem`] | `.extern .shared` |
//! | `atomic::mid::…` | [`atomic::Atomic`] from `atomic(i)` of a view | `atom`, `ld.acquire`, `st.release` |
//! | `GpuFloat::mul_add` | [`math::fma`], [`math::sqrt`] | `fma.rn`, `sqrt.rn` |
//! | – | [`math::maximum`], [`math::minimum`] | `max.NaN`, `min.NaN` |
//! | – | [`math::maximum_number`], [`math::minimum_number`] | `max`, `min` |
//! | – | [`math::byte_perm`] | `prmt` |
//! | `GpuFloat::exp()`, `sin()` … | [`math::exp`], [`math::sin`] … | arithmetic, with the same bits on the host |
//! | `GpuFloat::floor()` … | [`math::floor`] … | `cvt.rmi` … |
//! | – | [`math::fast`]: `exp2`, `sin`, `rsqrt` … | `ex2.approx.ftz`, `sin.approx.ftz`, `rsqrt.approx.ftz` … |
//! | – | [`convert`] for `f16` and `bf16` | `cvt` |
//! | – | [`float8`]: `E4m3`, `E5m2` | integer arithmetic |
//!
//! **Asynchronous copies, clusters, tensor cores**
//!
//! | `simt` | PTX |
//! |---|---|
//! | [`async_copy`] | `cp.async` |
//! | [`matrix::mma_sync`], [`matrix::ldmatrix`], [`matrix::stmatrix`] | `mma.sync`, `ldmatrix`, `stmatrix` (Hopper) |
//! | [`wgmma`] | `wgmma.fence`, `.mma_async`, `.commit_group`, `.wait_group` (Hopper) |
//! | [`warpgroup::increase_registers`], [`warpgroup::decrease_registers`] | `setmaxnreg` (Hopper) |
//! | [`mbarrier::Mbarriers`]: `init`, `arrive`, `expect_tx`, `test`, `wait` … | `mbarrier.*.shared::cta.b64` (Hopper) |
//! | [`mbarrier::Mbarriers::arrive_at`]: in another block of the cluster | `mapa`, `mbarrier.arrive.shared::cluster` |
//! | [`mbarrier::fence_mbarrier_init`] | `fence.mbarrier_init` (Hopper) |
//! | [`cluster::cluster_rank`], [`cluster::cluster_size`] | `%cluster_ctarank`, `%cluster_nctarank` (Hopper) |
//! | [`cluster::cluster_sync`] | `barrier.cluster` (Hopper) |
//! | [`tma::TensorMap`], [`tma::TensorMapMut`], taken by reference | `.param .align 64` (Hopper) |
//! | [`tma::prefetch`] | `prefetch.tensormap` (Hopper) |
//! | [`tma::load_2d`], [`tma::load_3d`], [`tma::store_2d`], [`tma::store_3d`] | `cp.async.bulk.tensor` (Hopper) |
//! | [`tma::load_2d_with_policy`], [`tma::load_3d_with_policy`] | `cp.async.bulk.tensor….L2::cache_hint` (Hopper) |
//! | [`tma::CachePolicy`] | `createpolicy.fractional` |
//! | [`tma::prefetch_2d`], [`tma::prefetch_3d`] | `cp.async.bulk.prefetch.tensor` (Hopper) |
//! | [`tma::load_2d_multicast`], [`tma::load_3d_multicast`] | `cp.async.bulk.tensor….multicast::cluster` (Hopper) |
//! | [`tma::store_commit`] | `cp.async.bulk.commit_group` (Hopper) |
//! | [`tma::store_wait_read`], [`tma::store_wait`] | `cp.async.bulk.wait_group` (Hopper) |
//! | [`grid::dependency_wait`], [`grid::launch_dependents`] | `griddepcontrol.wait`, `.launch_dependents` (Hopper) |
//!
//! # Locations in reports
//!
//! Accesses, barriers and warp operations are `#[track_caller]`: the simulator's reports name the line of the call in
//! the kernel, or in a helper function without that attribute. A method passed as a path, such as
//! `apply(MatMut::set, …)`, is reported at a line of the standard library: pass a closure instead.
//!
//! # Source files
//!
//! A file in `ptx/` or `sim/` holds the PTX or simulator bodies of the public module of the same name, and `memory.rs`
//! those of plain loads and stores.
#![cfg_attr(target_arch = "nvptx64", no_std)]
#![cfg_attr(
    target_arch = "nvptx64",
    feature(
        abi_unadjusted,
        asm_experimental_arch,
        core_intrinsics,
        core_float_math,
        gpu_intrinsics,
        gpu_launch_sized_workgroup_mem,
        link_llvm_intrinsics,
        repr_simd,
        stdarch_nvptx,
    )
)]
#![cfg_attr(target_arch = "nvptx64", allow(internal_features))]

// What the macros write names the crate, here as everywhere.
#[allow(unused_extern_crates, reason = "some builds use no macro here")]
extern crate self as simt;

mod access;
mod accessors;
mod arg;
mod arg_type;
pub mod async_copy;
pub mod atomic;
mod branch;
pub mod cluster;
pub mod convert;
pub mod element;
#[doc(hidden)]
pub mod entry;
pub mod float8;
pub mod global;
pub mod grid;
pub mod index;
#[cfg(not(target_arch = "nvptx64"))]
mod kernel;
pub mod math;
pub mod matrix;
pub mod mbarrier;
pub mod prelude;
pub mod print;
#[cfg(target_arch = "nvptx64")]
mod ptx;
#[doc(hidden)]
pub mod report;
pub mod shared;
#[cfg(not(target_arch = "nvptx64"))]
mod sim;
pub mod sync;
pub mod thread;
#[doc(hidden)]
pub mod through_warpwright;
pub mod tma;
pub mod warp;
pub mod warpgroup;
pub mod wgmma;

#[cfg(target_arch = "nvptx64")]
use ptx as arch;
#[cfg(not(target_arch = "nvptx64"))]
use sim as arch;

pub use arg::KernelArg;
#[cfg(not(target_arch = "nvptx64"))]
pub use arg::StructArg;
pub use arg_type::{ArgPart, ArgType};
pub use branch::{branch, opaque};
#[cfg(not(target_arch = "nvptx64"))]
pub use kernel::{Instance, Kernel, KernelInfo, KernelPtx, Limits, Returns};
pub use shared::{Shared, SharedSpec};
pub use simt_macros::{KernelArg, kernel};

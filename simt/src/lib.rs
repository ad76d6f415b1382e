//! The words of a GPU kernel in Rust.
//!
//! A kernel is written once, with the words of this crate, and compiled twice: for `nvptx64` each word becomes the PTX
//! instruction in the table below, elsewhere a call into the simulator, which runs the kernel thread by thread and reports
//! what is wrong with it.
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
//! // On the host the kernel is a constant that says what a launch must look like.
//! assert_eq!(axpy.info().args, ["alpha", "x", "y"]);
//! assert_eq!(axpy.info().block, Some([256, 1, 1]));
//! ```
//!
//! # How a kernel is built
//!
//! * [`kernel`] makes a function a kernel and says what it demands of a launch; [`KernelArg`]s are its arguments.
//! * [`global`] memory is seen through views with bounds, [`shared`](mod@shared) memory through typed layouts. An index outside
//!   is a trap on a GPU and a report on the simulator; where a check cannot be proved away and matters, there are
//!   `get_unchecked` and `set_unchecked`, which the simulator still checks.
//! * An ordinary kernel needs no `unsafe`.
//!
//! # `cuda_std`, here, PTX
//!
//! Names are those of rust-cuda's `cuda_std` where it has the thing.
//!
//! | `cuda_std` | here | PTX |
//! |---|---|---|
//! | `#[kernel]` | [`#[kernel(…)]`](macro@kernel) | `.visible .entry` |
//! | `thread::thread_idx_x()` … | [`thread::thread_idx_x`] … | `%tid.x` … |
//! | `thread::block_idx_x()`, `block_dim_x()`, `grid_dim_x()` … | [`thread::block_idx_x`], [`thread::block_dim_x`], [`thread::grid_dim_x`] … | `%ctaid`, `%ntid`, `%nctaid` |
//! | `thread::index_1d()`, `index_2d()` | [`thread::index_1d`], [`thread::index_2d`] (64 bits wide) | `mad` |
//! | `thread::first()` | [`thread::first`] | |
//! | – | [`thread::index_in_block`] | |
//! | `thread::sync_threads()` | [`thread::sync_threads`] | `bar.sync 0` |
//! | `thread::sync_threads_count()`, `_and()`, `_or()` | [`thread::sync_threads_count`], [`thread::sync_threads_and`], [`thread::sync_threads_or`] | `bar.red.popc`, `.and`, `.or` |
//! | – | [`sync::named_barrier`], [`sync::named_barrier_arrive`] | `bar.sync id, n`, `bar.arrive id, n` |
//! | `thread::device_fence()`, `grid_fence()`, `system_fence()` | [`thread::device_fence`], [`thread::grid_fence`], [`thread::system_fence`], [`sync::fence`] | `fence.acq_rel.{cta,gpu,sys}` |
//! | `thread::nanosleep()` | [`thread::nanosleep`] | `nanosleep` |
//! | – | [`thread::clock`], [`thread::global_timer`] | `%clock64`, `%globaltimer` |
//! | `warp::lane_id()` | [`warp::lane_id`], [`warp::warp_id`] | `%laneid` |
//! | `warp::sync_warp(mask)` | [`warp::sync_warp`] | `bar.warp.sync` |
//! | `warp::warp_shuffle_idx()`, `_up`, `_down`, `_xor` | [`warp::warp_shuffle_idx`], [`warp::warp_shuffle_up`], [`warp::warp_shuffle_down`], [`warp::warp_shuffle_xor`] | `shfl.sync` |
//! | `warp::warp_vote_all()`, `_any`, `_ballot` | [`warp::warp_vote_all`], [`warp::warp_vote_any`], [`warp::warp_vote_ballot`] | `vote.sync` |
//! | `warp::warp_match_any()`, `_all` | [`warp::warp_match_any`], [`warp::warp_match_all`] | `match.sync` |
//! | `warp::warp_reduce_add()` … | [`warp::warp_reduce_add`] … | `redux.sync` |
//! | `warp::activemask()` | none: what it gives is not defined by the program | |
//! | `shared_array![T; N]` | [`shared::SharedArray`], [`shared::SharedTile`] in a `#[derive(Shared)]` layout | `ld.shared`, `st.shared` |
//! | `shared::dynamic_shared_mem()` | [`shared::DynShared`], [`shared::dynamic_shared_mem`] | `.extern .shared` |
//! | `*const T`, `&[T]` arguments | [`global::VecRef`], [`global::MatRef`] | `ld.global` |
//! | `*mut T` arguments | [`global::VecMut`], [`global::MatMut`] | `ld.global`, `st.global` |
//! | – | [`element::Vector`] by `get_vec`, `vectors`; `…_cs` for data used once | `ld.global.v4`, `ld.global.cs.v4` … |
//! | – | [`global::Window`], [`global::WindowMut`]: rows cut out of a vector or matrix | `ld.global`, `st.global` |
//! | `atomic::mid::…` | [`atomic::Atomic`] from `atomic(i)` of a container | `atom`, `ld.acquire`, `st.release` |
//! | `GpuFloat::mul_add` | [`math::fma`], [`math::sqrt`] | `fma.rn`, `sqrt.rn` |
//! | – | [`math::byte_perm`] | `prmt` |
//! | – | [`math::maximum`], [`math::minimum`], [`math::maximum_number`], [`math::minimum_number`] | `max.NaN`, `min.NaN`, `max`, `min` |
//! | – | [`convert`] for `f16` and `bf16` | `cvt` |
//! | – | [`async_copy`] | `cp.async` |
//! | – | [`matrix::mma_sync`], [`matrix::ldmatrix`], [`matrix::stmatrix`] | `mma.sync`, `ldmatrix`, `stmatrix` |
//! | – | [`wgmma`]: products by a warpgroup | `wgmma.fence`, `.mma_async`, `.commit_group`, `.wait_group` |
//! | – | [`warpgroup::increase_registers`], [`warpgroup::decrease_registers`] | `setmaxnreg` |
//! | – | [`mbarrier::Mbarriers`]: `init`, `arrive`, `expect_tx`, `arrive_expect_tx`, `test`, `wait`, `invalidate` | `mbarrier.*.shared::cta.b64` (Hopper) |
//! | – | [`cluster::cluster_rank`], [`cluster::cluster_size`], [`cluster::cluster_sync`] | `%cluster_ctarank`, `%cluster_nctarank`, `barrier.cluster` (Hopper) |
//! | – | [`mbarrier::Mbarriers::arrive_at`]: in another block of the cluster | `mapa`, `mbarrier.arrive.shared::cluster.b64` (Hopper) |
//! | – | [`mbarrier::fence_mbarrier_init`], [`sync::fence_proxy_async`] | `fence.mbarrier_init`, `fence.proxy.async` (Hopper) |
//! | – | [`tma::TensorMap`], [`tma::TensorMapMut`], taken by reference; [`tma::prefetch`] | a parameter, `.param .align 64`; `prefetch.tensormap` (Hopper) |
//! | – | [`tma::load_2d`], [`tma::load_3d`], [`tma::store_2d`], [`tma::store_3d`] | `cp.async.bulk.tensor` (Hopper) |
//! | – | [`tma::load_2d_multicast`], [`tma::load_3d_multicast`] | `cp.async.bulk.tensor….multicast::cluster` (Hopper) |
//! | – | [`tma::store_commit`], [`tma::store_wait_read`], [`tma::store_wait`] | `cp.async.bulk.commit_group`, `.wait_group` (Hopper) |
//! | – | [`grid::dependency_wait`], [`grid::launch_dependents`] in a kernel declared `pdl` | `griddepcontrol.wait`, `.launch_dependents` (Hopper) |
//! | – | [`branch()`]: counts divergence on the simulator | |
//! | – | [`opaque`]: keeps the compiler from computing something early | |
//!
//! # Locations
//!
//! Accesses, barriers and warp operations are `#[track_caller]`: the simulator's reports name the line of the kernel, or of
//! a helper function without that attribute, that contains the call. A method handed on as a path, such as
//! `apply(MatMut::set, …)`, is reported at a line of the standard library: write a closure instead.
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

mod access;
mod accessors;
mod arg;
pub mod async_copy;
pub mod atomic;
mod branch;
pub mod cluster;
pub mod convert;
pub mod element;
#[cfg(target_arch = "nvptx64")]
#[doc(hidden)]
pub mod entry;
pub mod global;
pub mod grid;
#[cfg(not(target_arch = "nvptx64"))]
mod kernel;
pub mod math;
pub mod matrix;
pub mod mbarrier;
pub mod prelude;
#[cfg(target_arch = "nvptx64")]
mod ptx;
pub mod shared;
#[cfg(not(target_arch = "nvptx64"))]
mod sim;
pub mod sync;
pub mod thread;
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
pub use branch::{branch, opaque};
#[cfg(not(target_arch = "nvptx64"))]
pub use kernel::{Kernel, KernelInfo, Limits};
pub use shared::{Shared, SharedSpec};
pub use simt_macros::{KernelArg, kernel};

//! `#[kernel]`, `#[derive(Shared)]` and `#[derive(KernelArg)]`. `simt` re-exports them with their documentation.
//!
//! Each is there a second time, for crates that have it from `warpwright`: they know `simt` under another path. The
//! documentation of both is in doc/.

mod kernel;
mod kernel_arg;
mod repr;
mod shared;
mod simt_path;

use proc_macro::TokenStream;

use crate::simt_path::{Dependency, through};

#[doc = include_str!("../doc/kernel.md")]
#[proc_macro_attribute]
pub fn kernel(attribute: TokenStream, item: TokenStream) -> TokenStream {
    through(Dependency::Simt, || kernel::expand(attribute.into(), item.into()))
}

#[doc = include_str!("../doc/kernel.md")]
#[proc_macro_attribute]
pub fn kernel_through_warpwright(attribute: TokenStream, item: TokenStream) -> TokenStream {
    through(Dependency::Warpwright, || kernel::expand(attribute.into(), item.into()))
}

#[doc = include_str!("../doc/shared.md")]
#[proc_macro_derive(Shared)]
pub fn shared(item: TokenStream) -> TokenStream {
    through(Dependency::Simt, || shared::expand(item.into()))
}

#[doc = include_str!("../doc/shared.md")]
#[proc_macro_derive(SharedThroughWarpwright)]
pub fn shared_through_warpwright(item: TokenStream) -> TokenStream {
    through(Dependency::Warpwright, || shared::expand(item.into()))
}

#[doc = include_str!("../doc/kernel_arg.md")]
#[proc_macro_derive(KernelArg)]
pub fn kernel_arg(item: TokenStream) -> TokenStream {
    through(Dependency::Simt, || kernel_arg::expand(item.into()))
}

#[doc = include_str!("../doc/kernel_arg.md")]
#[proc_macro_derive(KernelArgThroughWarpwright)]
pub fn kernel_arg_through_warpwright(item: TokenStream) -> TokenStream {
    through(Dependency::Warpwright, || kernel_arg::expand(item.into()))
}

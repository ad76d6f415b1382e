//! The PTX that the package's build script made of a kernel (`warpwright_build::KernelBuilder`).
//!
//! Cargo tells the compiler of the package where it is: `WARPWRIGHT_PTX` is a folder with a file `NAME.ptx.lz` for each
//! kernel, and the place of its source, `NAME.at`. `WARPWRIGHT_PTX_MISSING` says why there is none.

use std::{env, fs, path::Path};

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Ident, ext::IdentExt as _};

use crate::simt_path::simt;

/// The value of `KernelInfo::ptx` for the kernel `name`.
pub(crate) fn of(name: &Ident) -> TokenStream {
    let simt = simt();
    // A program that is built again when the variable changes.
    let tracked = |variable: &str, value: TokenStream| {
        quote! { {
            const _: ::core::option::Option<&str> = ::core::option_env!(#variable);
            #value
        } }
    };
    if let Ok(folder) = env::var("WARPWRIGHT_PTX") {
        return tracked("WARPWRIGHT_PTX", in_folder(Path::new(&folder), &name.unraw().to_string()));
    }
    if let Ok(reason) = env::var("WARPWRIGHT_PTX_MISSING") {
        return tracked("WARPWRIGHT_PTX_MISSING", quote!(#simt::KernelPtx::Missing(#reason)));
    }
    quote!(#simt::KernelPtx::NoBuildScript)
}

fn in_folder(folder: &Path, name: &str) -> TokenStream {
    let simt = simt();
    let archive = folder.join(format!("{name}.ptx.lz"));
    let at = fs::read_to_string(folder.join(format!("{name}.at")));
    if let (Ok(at), Some(archive)) = (at, archive.to_str()) {
        return quote! {
            #simt::KernelPtx::of(::core::include_bytes!(#archive), #at, ::core::file!(), ::core::line!())
        };
    }
    quote!(#simt::KernelPtx::Elsewhere)
}

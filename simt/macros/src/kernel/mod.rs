//! `#[kernel]`: parse the keys, check the signature, write the PTX entry and the host's constant.

mod built_ptx;
mod expand;
mod keys;
mod signature;

use proc_macro2::TokenStream;
use syn::{ItemFn, Result};

pub(crate) fn expand(attribute: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let function: ItemFn = syn::parse2(item)?;
    let keys = syn::parse2::<keys::Keys>(attribute)?;
    let signature = signature::Signature::of(&function.sig)?;
    Ok(expand::kernel(&function, &keys, &signature))
}

//! `#[kernel]`: parse the keys, check the signature and the body, write the PTX entry and the host's constant.

mod built_ptx;
mod expand;
mod instances;
mod keys;
mod methods;
mod signature;

use proc_macro2::TokenStream;
use quote::ToTokens as _;
use syn::{ItemFn, Result};

pub(crate) fn expand(attribute: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let function: ItemFn = syn::parse2(item)?;
    let keys = syn::parse2::<keys::Keys>(attribute)?;
    let signature = signature::Signature::of(&function.sig)?;
    let generic = instances::Generic::of(&function.sig, &keys, &signature)?;
    methods::refuse(function.block.to_token_stream())?;
    Ok(expand::kernel(&function, &keys, &signature, generic.as_ref()))
}

//! The check of a struct's representation for the derives.

use proc_macro2::TokenStream;
use syn::{DeriveInput, Error, Result};

/// Requires `#[repr(C)]` and refuses `packed`. `what` names the struct in messages, `because` is the reason against
/// `packed`.
pub(crate) fn check(input: &DeriveInput, what: &str, because: &str) -> Result<()> {
    let mut c = false;
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("repr")) {
        attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("packed") {
                return Err(meta.error(format!("{what} cannot be packed: {because}")));
            }
            c |= meta.path.is_ident("C");
            if meta.input.peek(syn::token::Paren) {
                let argument;
                syn::parenthesized!(argument in meta.input);
                argument.parse::<TokenStream>()?;
            }
            Ok(())
        })?;
    }
    if c {
        Ok(())
    } else {
        Err(Error::new_spanned(
            &input.ident,
            format!("{what} has a fixed order of fields: write #[repr(C)] above the struct"),
        ))
    }
}

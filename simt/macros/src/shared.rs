//! `#[derive(Shared)]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Result, parse_quote_spanned, spanned::Spanned};

use crate::repr;
use crate::simt_path::{simt, simt_at};

pub(crate) fn expand(item: TokenStream) -> Result<TokenStream> {
    let mut input: DeriveInput = syn::parse2(item)?;
    let Data::Struct(data) = &input.data else {
        return Err(Error::new_spanned(&input.ident, "a layout of shared memory is a struct"));
    };
    repr::check(&input, "a layout of shared memory", "its tiles are aligned to 16 bytes")?;

    let fields: Vec<_> = data.fields.iter().map(|field| field.ty.clone()).collect();
    let names: Vec<_> = data.fields.members().collect();
    let types = fields.clone();
    let bounds = &mut input.generics.make_where_clause().predicates;
    for ty in fields {
        let simt = simt_at(ty.span());
        bounds.push(parse_quote_spanned!(ty.span() => #ty: #simt::Shared));
    }
    let simt = simt();
    let name = &input.ident;
    let (impl_generics, ty_generics, where_clause) = input.generics.split_for_impl();
    Ok(quote! {
        // SAFETY: `#[repr(C)]`, checked by the macro; every field is a layout, by the bounds.
        unsafe impl #impl_generics #simt::Shared for #name #ty_generics #where_clause {
            const PARTS: #simt::shared::Parts = #simt::shared::Parts::Fields(&[#(
                #simt::shared::Field {
                    name: ::core::stringify!(#names),
                    offset: ::core::mem::offset_of!(Self, #names),
                    parts: &<#types as #simt::Shared>::PARTS,
                },
            )*]);
        }
    })
}

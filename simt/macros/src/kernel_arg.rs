//! `#[derive(KernelArg)]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Fields, Result, parse_quote_spanned, spanned::Spanned};

use crate::repr;

pub(crate) fn expand(item: TokenStream) -> Result<TokenStream> {
    let mut input: DeriveInput = syn::parse2(item)?;
    let fields = match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(fields) => fields.named.clone(),
            _ => {
                return Err(Error::new_spanned(
                    &input.ident,
                    "an argument struct has named fields, which messages use",
                ));
            }
        },
        _ => return Err(Error::new_spanned(&input.ident, "an argument of several values is a struct")),
    };
    repr::check(&input, "an argument of a kernel", "its fields would not be aligned")?;

    let types: Vec<_> = fields.iter().map(|field| field.ty.clone()).collect();
    let names: Vec<_> = fields.iter().filter_map(|field| field.ident.clone()).collect();
    let bounds = &mut input.generics.make_where_clause().predicates;
    for ty in &types {
        bounds.push(parse_quote_spanned!(ty.span() => #ty: ::simt::KernelArg));
    }
    let name = &input.ident;
    let (impl_generics, ty_generics, where_clause) = input.generics.split_for_impl();
    Ok(quote! {
        // SAFETY: `#[repr(C)]`, checked by the macro; every field is an argument, by the bounds.
        unsafe impl #impl_generics ::simt::KernelArg for #name #ty_generics #where_clause {}

        #[cfg(not(target_arch = "nvptx64"))]
        impl #impl_generics ::simt::StructArg for #name #ty_generics #where_clause {
            type Fields = (#(#types,)*);
            const NAMES: &'static [&'static str] = &[#(::core::stringify!(#names)),*];

            fn from_fields((#(#names,)*): Self::Fields) -> Self {
                Self { #(#names),* }
            }
        }
    })
}

//! `#[derive(KernelArg)]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{
    Data, DeriveInput, Error, Fields, GenericArgument, GenericParam, Lifetime, Result, parse_quote,
    parse_quote_spanned, spanned::Spanned, visit_mut::VisitMut,
};

use crate::repr;
use crate::simt_path::{simt, simt_at};

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
    let lifetimes: Vec<_> = input.generics.lifetimes().map(|param| param.lifetime.clone()).collect();
    let within = input.generics.params.iter().map(|param| -> GenericArgument {
        match param {
            GenericParam::Lifetime(_) => parse_quote!('__launch),
            GenericParam::Type(param) => {
                let name = &param.ident;
                parse_quote!(#name)
            }
            GenericParam::Const(param) => {
                let name = &param.ident;
                parse_quote!(#name)
            }
        }
    });
    let within: Vec<_> = within.collect();
    let bounds = &mut input.generics.make_where_clause().predicates;
    for ty in &types {
        // In the launch a field has the type that it has in `In`. A view of the struct that is `'static` would not.
        let mut field = ty.clone();
        ForLaunch(&lifetimes).visit_type_mut(&mut field);
        let simt = simt_at(ty.span());
        bounds.push(parse_quote_spanned!(
            ty.span() => #ty: for<'__launch> #simt::KernelArg<In<'__launch> = #field>
        ));
    }
    let simt = simt();
    let name = &input.ident;
    let (impl_generics, ty_generics, where_clause) = input.generics.split_for_impl();
    Ok(quote! {
        // SAFETY: `#[repr(C)]`, checked by the macro; every field is an argument, and in `In` it has the type that it
        // has in a launch, by the bounds.
        unsafe impl #impl_generics #simt::KernelArg for #name #ty_generics #where_clause {
            type In<'__launch> = #name<#(#within),*>;

            const TYPE: #simt::ArgType = #simt::ArgType {
                name: ::core::stringify!(#name),
                size: ::core::mem::size_of::<Self>(),
                align: ::core::mem::align_of::<Self>(),
                parts: &[#(#simt::ArgPart {
                    name: ::core::stringify!(#names),
                    offset: ::core::mem::offset_of!(Self, #names),
                    ty: <#types as #simt::KernelArg>::TYPE,
                }),*],
            };
        }

        #[cfg(not(target_arch = "nvptx64"))]
        impl #impl_generics #simt::StructArg for #name #ty_generics #where_clause {
            type Fields = (#(#types,)*);
            const NAMES: &'static [&'static str] = &[#(::core::stringify!(#names)),*];

            fn from_fields((#(#names,)*): Self::Fields) -> Self {
                Self { #(#names),* }
            }
        }
    })
}

/// Replaces the struct's lifetimes by that of the launch.
struct ForLaunch<'a>(&'a [Lifetime]);

impl VisitMut for ForLaunch<'_> {
    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        if self.0.contains(lifetime) {
            *lifetime = Lifetime::new("'__launch", lifetime.span());
        }
    }
}

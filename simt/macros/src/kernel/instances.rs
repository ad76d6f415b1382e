//! The instances of a generic kernel: the parameters of the function, and the list `instances(<f32, 128>, <f64, 64>)`.

use std::collections::HashSet;

use proc_macro2::{Group, TokenStream, TokenTree};
use quote::{ToTokens as _, format_ident, quote};
use syn::{
    AngleBracketedGenericArguments, Error, GenericArgument, GenericParam, Generics, Ident, Result, Type,
    WherePredicate, ext::IdentExt as _, parse_quote, spanned::Spanned as _,
};

use super::{keys::Keys, signature::Signature};
use crate::simt_path::simt_at;

/// A generic kernel.
pub(crate) struct Generic {
    /// Those of the function, with what its parameters require of the types.
    pub(crate) generics: Generics,
    pub(crate) instances: Vec<Instance>,
}

/// One instance.
pub(crate) struct Instance {
    /// Name of the PTX entry.
    pub(crate) name: Ident,
    /// The value of each parameter.
    values: Vec<(Ident, TokenStream)>,
    /// `type T = f32; const N: usize = 128;`, under which types and keys of the kernel are those of the instance.
    pub(crate) aliases: TokenStream,
}

impl Generic {
    /// `None` for a kernel without parameters.
    pub(crate) fn of(sig: &syn::Signature, keys: &Keys, signature: &Signature<'_>) -> Result<Option<Self>> {
        let params = &sig.generics.params;
        if let Some(lifetime) = sig.generics.lifetimes().next() {
            return Err(Error::new(
                lifetime.span(),
                "a kernel has no lifetime parameters: in its body every lifetime is that of the launch",
            ));
        }
        if params.is_empty() {
            return match (&keys.instances, &sig.generics.where_clause) {
                (Some((key, _)), _) => Err(Error::new(
                    key.span(),
                    "`instances` lists those of a generic kernel, and this one has no type or const parameter",
                )),
                (None, Some(clause)) => Err(Error::new(clause.span(), "a kernel without parameters has no conditions")),
                (None, None) => Ok(None),
            };
        }
        let list = keys.instances.as_ref().map(|(_, list)| list).filter(|list| !list.is_empty()).ok_or_else(|| {
            Error::new(
                params.span(),
                "a generic kernel lists its instances, each of which is an entry in the PTX: \
                 #[kernel(instances(<f32, 128>, <f64, 64>))]",
            )
        })?;
        let mut names = HashSet::new();
        let mut instances = Vec::new();
        for arguments in list {
            let instance = Instance::of(sig, arguments)?;
            if !names.insert(instance.name.to_string()) {
                return Err(Error::new(
                    arguments.span(),
                    format!(
                        "two instances are named `{}`, and each is one entry in the PTX: keep one, or give a type \
                         another name by `use … as …`",
                        instance.name
                    ),
                ));
            }
            instances.push(instance);
        }
        let mut generics = sig.generics.clone();
        let numbers = signature.args.iter().filter(|param| is_parameter(param.ty, sig));
        let conditions: Vec<WherePredicate> = numbers
            .map(|param| {
                let (ty, simt) = (param.ty, simt_at(param.ty.span()));
                parse_quote!(#ty: for<'__any> #simt::KernelArg<In<'__any> = #ty>)
            })
            .collect();
        generics.make_where_clause().predicates.extend(conditions);
        Ok(Some(Self { generics, instances }))
    }

    /// `<T, N>`.
    pub(crate) fn arguments(&self) -> TokenStream {
        let names = names(&self.generics);
        quote!(<#(#names),*>)
    }

    /// `T` and `const N: usize`, without bounds.
    pub(crate) fn unbounded(&self) -> Vec<TokenStream> {
        let params = self.generics.params.iter().map(|param| match param {
            GenericParam::Const(param) => {
                let (name, ty) = (&param.ident, &param.ty);
                quote!(const #name: #ty)
            }
            GenericParam::Type(param) => param.ident.to_token_stream(),
            GenericParam::Lifetime(param) => param.lifetime.to_token_stream(),
        });
        params.collect()
    }

    /// The types among the parameters.
    pub(crate) fn types(&self) -> impl Iterator<Item = &Ident> {
        self.generics.type_params().map(|param| &param.ident)
    }
}

impl Instance {
    fn of(sig: &syn::Signature, arguments: &AngleBracketedGenericArguments) -> Result<Self> {
        let (expected, found) = (sig.generics.params.len(), arguments.args.len());
        if expected != found {
            let message = format!("`{}` has {expected} type and const parameters, not {found}", sig.ident);
            return Err(Error::new(arguments.span(), message));
        }
        let mut name = sig.ident.unraw().to_string();
        for argument in &arguments.args {
            push_words(&mut name, last_segment(argument));
        }
        let params = sig.generics.params.iter().zip(&arguments.args);
        let aliases = params.map(|(param, value)| match param {
            GenericParam::Const(param) => {
                let (name, ty) = (&param.ident, &param.ty);
                quote!(#[allow(dead_code)] const #name: #ty = #value;)
            }
            GenericParam::Type(syn::TypeParam { ident: name, .. }) => quote!(#[allow(dead_code)] type #name = #value;),
            GenericParam::Lifetime(_) => TokenStream::new(),
        });
        let values = names(&sig.generics).into_iter().zip(arguments.args.iter().map(quote::ToTokens::to_token_stream));
        let name = format_ident!("{name}", span = sig.ident.span());
        let (values, aliases) = (values.collect(), aliases.collect());
        Ok(Self { name, values, aliases })
    }

    /// A type of the kernel as it is in this instance, for people: `VecRef<f32>`.
    pub(crate) fn text_of(&self, tokens: TokenStream) -> TokenStream {
        let tokens = tokens.into_iter().map(|token| match &token {
            TokenTree::Group(group) => {
                TokenTree::from(Group::new(group.delimiter(), self.text_of(group.stream()))).into()
            }
            TokenTree::Ident(name) => {
                let value = self.values.iter().find(|(param, _)| param == name);
                value.map_or_else(|| token.to_token_stream(), |(_, value)| value.clone())
            }
            _ => token.to_token_stream(),
        });
        tokens.collect()
    }
}

/// The names of the parameters.
fn names(generics: &Generics) -> Vec<Ident> {
    let names = generics.params.iter().filter_map(|param| match param {
        GenericParam::Type(param) => Some(param.ident.clone()),
        GenericParam::Const(param) => Some(param.ident.clone()),
        GenericParam::Lifetime(_) => None,
    });
    names.collect()
}

/// Whether a type is a type parameter or an array of one: such an argument has the same type in the body.
fn is_parameter(ty: &Type, sig: &syn::Signature) -> bool {
    match ty {
        Type::Path(path) => {
            path.qself.is_none() && sig.generics.type_params().any(|param| path.path.is_ident(&param.ident))
        }
        Type::Array(array) => is_parameter(&array.elem, sig),
        _ => false,
    }
}

/// `bf16` of `half::bf16`.
fn last_segment(argument: &GenericArgument) -> TokenStream {
    if let GenericArgument::Type(Type::Path(path)) = argument
        && let Some(last) = path.path.segments.last()
    {
        return last.to_token_stream();
    }
    argument.to_token_stream()
}

/// Adds the words and numbers of these tokens to a name.
fn push_words(name: &mut String, tokens: TokenStream) {
    for token in tokens {
        let word = match token {
            TokenTree::Group(group) => {
                push_words(name, group.stream());
                continue;
            }
            TokenTree::Ident(ident) => ident.unraw().to_string(),
            TokenTree::Literal(literal) => literal.to_string(),
            TokenTree::Punct(punct) if punct.as_char() == '-' => "minus".to_owned(),
            TokenTree::Punct(_) => continue,
        };
        name.push('_');
        name.extend(word.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }));
    }
}

#[cfg(test)]
mod tests {
    use quote::ToTokens as _;
    use syn::{ItemFn, parse_quote};

    use super::{Generic, Keys, Signature};

    fn generic(function: &ItemFn, keys: &Keys) -> syn::Result<Option<Generic>> {
        Generic::of(&function.sig, keys, &Signature::of(&function.sig).unwrap())
    }

    #[test]
    fn entries_are_named_after_their_types_and_numbers() {
        let function = parse_quote! { fn scale<T: Float, const N: i32>(x: VecRef<T>, factor: T) {} };
        let keys = parse_quote! { instances(<f32, 128>, <half::bf16, { -1 }>, <Vector<f32, 4>, SIZE>) };
        let generic = generic(&function, &keys).unwrap().unwrap();
        let names: Vec<_> = generic.instances.iter().map(|instance| instance.name.to_string()).collect();
        assert_eq!(names, ["scale_f32_128", "scale_bf16_minus_1", "scale_Vector_f32_4_SIZE"]);
        let text = generic.instances[0].text_of(parse_quote!(VecRef<T>)).to_string();
        assert_eq!(text.replace(' ', ""), "VecRef<f32>");
        let conditions = generic.generics.where_clause.to_token_stream().to_string();
        assert_eq!(conditions.matches("KernelArg").count(), 1, "{conditions}");
    }

    #[test]
    fn a_list_that_does_not_fit_is_refused() {
        for (function, keys, expected) in [
            (parse_quote! { fn k<T: Float>() {} }, Keys::default(), "a generic kernel lists its instances"),
            (
                parse_quote! { fn k<T: Float>() {} },
                parse_quote! { instances() },
                "a generic kernel lists its instances",
            ),
            (parse_quote! { fn k() {} }, parse_quote! { instances(<f32>) }, "no type or const parameter"),
            (parse_quote! { fn k<'a, T>() {} }, parse_quote! { instances(<f32>) }, "no lifetime parameters"),
            (
                parse_quote! { fn k<T>() {} },
                parse_quote! { instances(<f32, 1>) },
                "`k` has 1 type and const parameters, not 2",
            ),
            (parse_quote! { fn k<T>() {} }, parse_quote! { instances(<f32>, <f64>, <f32>) }, "are named `k_f32`"),
            (parse_quote! { fn k<T>() {} }, parse_quote! { instances(<a::X>, <b::X>) }, "are named `k_X`"),
            (parse_quote! { fn k() where u32: Copy {} }, Keys::default(), "has no conditions"),
        ] {
            let message = generic(&function, &keys).err().unwrap().to_string();
            assert!(message.contains(expected), "{message}");
        }
    }
}

//! The code that `#[kernel]` generates.

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Attribute, Expr, Ident, Index, ItemFn, Type, spanned::Spanned};

use super::{
    built_ptx,
    instances::{Generic, Instance},
    keys::Keys,
    signature::{Param, Signature},
};
use crate::simt_path::{simt, simt_at};

pub(crate) fn kernel(
    function: &ItemFn,
    keys: &Keys,
    signature: &Signature<'_>,
    generic: Option<&Generic>,
) -> TokenStream {
    let body = body(function, signature, generic);
    let ptx = ptx(function, keys, signature, generic, &body);
    let host = match generic {
        None => host(function, keys, signature, &body),
        Some(generic) => host_generic(function, keys, signature, generic, &body),
    };
    quote! { #ptx #host }
}

/// The user's code as a function, generic over the lifetime of the launch. The types of its parameters are those of the
/// signature with this lifetime in place of every other, also of `'static` and of those in a type alias: the compiler
/// replaces them in types, the macro would have to do it in syntax.
fn body(function: &ItemFn, signature: &Signature<'_>, generic: Option<&Generic>) -> TokenStream {
    let lints = function.attrs.iter().filter(|attribute| !attribute.path().is_ident("doc"));
    let shared = signature.shared.iter().map(|param| {
        let (pattern, ty) = (param.pattern, param.ty);
        let simt = simt_at(ty.span());
        let ty = quote_spanned! { ty.span() => <#ty as #simt::shared::SharedParam>::In<'__launch> };
        quote!(#pattern: #ty)
    });
    let args = signature.args.iter().map(|param| {
        let (pattern, ty) = (param.pattern, param.argument());
        let reference = param.in_place().map(|_| quote!(&'__launch));
        let simt = simt_at(ty.span());
        let ty = quote_spanned! { ty.span() => <#ty as #simt::KernelArg>::In<'__launch> };
        quote!(#pattern: #reference #ty)
    });
    let params = shared.chain(args);
    let block = &function.block;
    let (of_kernel, conditions) =
        generic.map(|generic| (generic.generics.params.iter(), &generic.generics.where_clause)).unzip();
    let of_kernel = of_kernel.into_iter().flatten();
    quote! {
        #(#lints)*
        #[inline(always)]
        #[allow(clippy::multiple_bound_locations)]
        fn __body<'__launch, #(#of_kernel),*>(#(#params),*) #conditions #block
    }
}

/// The block's shared memory, if the kernel has any.
fn take_shared(signature: &Signature<'_>) -> Option<TokenStream> {
    let ty = signature.shared.as_ref()?.ty;
    let simt = simt_at(ty.span());
    Some(quote_spanned! { ty.span() =>
        // SAFETY: this is the kernel's entry; launches reserve what `SharedParam::SPEC` requests.
        unsafe { <#ty as #simt::shared::SharedParam>::take() }
    })
}

/// The call of the body with this shared memory, if it has any, and these launch arguments.
fn call(generic: Option<&Generic>, shared: Option<TokenStream>, arguments: &[TokenStream]) -> TokenStream {
    let shared = shared.into_iter();
    let parameters = generic.map(|generic| {
        let parameters = generic.arguments();
        quote!(::#parameters)
    });
    quote! { __body #parameters (#(#shared,)* #(#arguments),*) }
}

/// The PTX entries: one, or one for each instance.
fn ptx(
    function: &ItemFn,
    keys: &Keys,
    signature: &Signature<'_>,
    generic: Option<&Generic>,
    body: &TokenStream,
) -> TokenStream {
    let cfgs = function.attrs.iter().filter(|attribute| attribute.path().is_ident("cfg"));
    let entries = match generic {
        None => entry(&function.sig.ident, keys, signature, None),
        Some(generic) => {
            let entries = generic.instances.iter().map(|instance| {
                let entry = entry(&instance.name, keys, signature, Some((generic, instance)));
                let aliases = &instance.aliases;
                quote! { const _: () = { #aliases #entry }; }
            });
            entries.collect()
        }
    };
    quote! {
        #(#cfgs)*
        #[cfg(target_arch = "nvptx64")]
        const _: () = {
            #body
            #entries
        };
    }
}

/// A PTX entry. The optimiser is told the block shape that the keys declare.
fn entry(name: &Ident, keys: &Keys, signature: &Signature<'_>, instance: Option<(&Generic, &Instance)>) -> TokenStream {
    let simt = simt();
    let types = signature.args.iter().map(Param::argument);
    let names: Vec<_> = (0..signature.args.len()).map(|i| format_ident!("__{i}")).collect();
    let in_place = signature.args.iter().zip(&names).enumerate().filter(|(_, (param, _))| param.in_place().is_some());
    let in_place =
        in_place.map(|(i, (param, argument))| in_place_ptx(&name.to_string(), i, argument, param.argument()));
    let geometry = if let Some(extents) = &keys.block {
        let [x, y, z] = shape(extents);
        quote! { #simt::entry::assume_block([#x, #y, #z]) }
    } else {
        let threads = keys.number("max_threads").map_or_else(|| quote!(1024), |threads| quote!(#threads));
        quote! { #simt::entry::assume_at_most(#threads) }
    };
    let arguments: Vec<_> = names.iter().map(ToTokens::to_token_stream).collect();
    let call = call(instance.map(|(generic, _)| generic), take_shared(signature), &arguments);
    let declaration = declaration(name, keys, signature, instance.map(|(_, instance)| instance));
    quote! {
        #declaration

        // There is no C caller: a parameter is passed as its bytes, arrays included.
        #[allow(improper_ctypes_definitions)]
        #[unsafe(no_mangle)]
        unsafe extern "ptx-kernel" fn #name(#(#names: #types),*) {
            // SAFETY: the crate `warpwright` and the driver refuse launches with another block shape.
            unsafe { #geometry };
            #(#in_place)*
            #call
        }
    }
}

/// What the kernel declares, as one line of comment in the PTX file:
///
/// `// warpwright.kernel NAME block=32,8,1 cluster=2 registers=40 pdl shared_bytes=4096 … arg=x:HASH:VecRef<f32> …
/// at=gpu/src/file.rs:23`
///
/// `cargo xtask build` adds the launch bounds to the entry's header, and `cargo xtask audit` checks the limits. Neither
/// compiles the kernels for the host, so the PTX has to carry both. A program that launches the kernel compares bounds,
/// shared memory and arguments with its own: each argument has its name, the hash of its type, and the type as it is
/// written, for messages. A key that the kernel leaves out is left out here.
/// The line is assembly of the file, not of the entry: `asm!` in a function changes what LLVM makes of it.
fn declaration(name: &Ident, keys: &Keys, signature: &Signature<'_>, instance: Option<&Instance>) -> TokenStream {
    let simt = simt();
    let mut fields = vec![format!("// warpwright.kernel {name}")];
    let mut operands: Vec<TokenStream> = Vec::new();
    let mut operand = |value: TokenStream| {
        operands.push(value);
        format!("{{{}}}", operands.len() - 1)
    };
    let number = |value: &TokenStream| quote!({ let __value: u32 = #value; __value });
    if let Some(extents) = &keys.block {
        fields.push(format!("block={}", shape(extents).map(|extent| operand(number(&extent))).join(",")));
    }
    for (key, value) in keys.numbers() {
        let value = if key == "cluster" { cluster(keys) } else { value.to_token_stream() };
        fields.push(format!("{key}={}", operand(number(&value))));
    }
    if keys.pdl {
        fields.push("pdl".to_owned());
    }
    if let Some(param) = &signature.shared {
        let ty = param.ty;
        for (field, bytes) in [("shared_bytes", quote!(fixed_bytes)), ("shared_element", quote!(element_bytes))] {
            let value = operand(quote!(<#ty as #simt::shared::SharedParam>::SPEC.#bytes()));
            fields.push(format!("{field}={value}"));
        }
    }
    for param in &signature.args {
        let (ty, text) = (param.argument(), type_text(param.ty, instance));
        let hash = operand(quote!(<#ty as #simt::KernelArg>::HASH));
        fields.push(format!("arg={}:{hash}:{text}", param.name()));
    }
    let text = fields.join(" ") + " at=";
    quote! {
        ::core::arch::global_asm!(
            ::core::concat!(#text, ::core::file!(), ":", ::core::line!()),
            #(const #operands),*
        );
    }
}

/// A type as it is written, without spaces, as a part of a template of `asm!`.
fn type_text(ty: &Type, instance: Option<&Instance>) -> String {
    let text = ty.to_token_stream();
    let text = instance.map_or_else(|| text.clone(), |instance| instance.text_of(text.clone())).to_string();
    let text: String = text.split_whitespace().collect();
    text.replace('{', "{{").replace('}', "}}")
}

/// A reference to parameter `index` at its place in parameter space. A reference taken in Rust would point to a copy in
/// local memory.
fn in_place_ptx(entry: &str, index: usize, argument: &Ident, ty: &Type) -> TokenStream {
    // LLVM's names of parameters. `mov` takes the address in parameter space, `cvta` converts it to a generic one.
    let text = format!("mov.b64 {{0}}, {entry}_param_{index}; cvta.param.u64 {{0}}, {{0}};");
    quote! {
        let #argument = {
            let __at: u64;
            // SAFETY: takes the address of a parameter.
            unsafe { ::core::arch::asm!(#text, out(reg64) __at, options(pure, nomem, nostack, preserves_flags)) };
            // SAFETY: the launch stored a value of this type there, which does not change while the kernel runs.
            unsafe { &*::core::ptr::with_exposed_provenance::<#ty>(__at as usize) }
        };
    }
}

/// The constant that a host program launches.
fn host(function: &ItemFn, keys: &Keys, signature: &Signature<'_>, body: &TokenStream) -> TokenStream {
    let simt = simt();
    let kept = kept(function);
    let (vis, name) = (&function.vis, &function.sig.ident);
    let types: Vec<_> = signature.args.iter().map(Param::argument).collect();
    let (run, info) = (run(function, keys, signature, None), info(name, keys, signature));
    // `__body` and the entries are in the constant's block: they see the module's names and are private. Names of the
    // block begin with two underscores, so that they hide none of the module.
    //
    // But for the kernel's own: a parameter or a variable of this name would be taken for the constant.
    quote! {
        #(#kept)*
        #[cfg(not(target_arch = "nvptx64"))]
        #[allow(non_upper_case_globals)]
        #vis const #name: #simt::Kernel<(#(#types,)*)> = {
            #[allow(dead_code)]
            const fn #name() {}

            #body

            #run

            const __INFO: #simt::KernelInfo = #info;
            // SAFETY: all of it is generated from one function, as is the PTX entry.
            unsafe { #simt::Kernel::new(&__INFO, __run) }
        };
    }
}

/// The function that gives a host program an instance to launch, and the type of the same name that says whether there
/// is one. Rust has no generic constants.
fn host_generic(
    function: &ItemFn,
    keys: &Keys,
    signature: &Signature<'_>,
    generic: &Generic,
    body: &TokenStream,
) -> TokenStream {
    let simt = simt();
    let cfgs: Vec<_> = function.attrs.iter().filter(|attribute| attribute.path().is_ident("cfg")).collect();
    let kept = kept(function);
    let (vis, name) = (&function.vis, &function.sig.ident);
    let types = signature.args.iter().map(Param::argument);
    let run = run(function, keys, signature, Some(generic));
    let (params, arguments, unbounded) = (&generic.generics.params, generic.arguments(), generic.unbounded());
    let predicates = generic.generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    let marked = generic.types();
    let instances = generic.instances.iter().map(|instance| {
        let (info, aliases) = (info(&instance.name, keys, signature), &instance.aliases);
        quote! {
            #(#cfgs)*
            #[cfg(not(target_arch = "nvptx64"))]
            const _: () = {
                #aliases

                impl #simt::Instance for #name #arguments {
                    const INFO: &'static #simt::KernelInfo = &#info;
                }

                // It meets the bounds.
                const _: () = {
                    let _ = #name::#arguments;
                };
            };
        }
    });
    quote! {
        #(#cfgs)*
        #[cfg(not(target_arch = "nvptx64"))]
        #[doc(hidden)]
        #[allow(non_camel_case_types, dead_code)]
        #vis struct #name<#(#unbounded),*> {
            __types: ::core::marker::PhantomData<(#(#marked,)*)>,
        }

        #(#kept)*
        #[cfg(not(target_arch = "nvptx64"))]
        #[must_use]
        // In the type below, elided lifetimes of the arguments are that of its parameter, which is `'static`.
        #[allow(mismatched_lifetime_syntaxes, clippy::multiple_bound_locations)]
        #vis const fn #name<#params>() -> #simt::Kernel<<fn(&'static ()) -> (#(#types,)*) as #simt::Returns>::Output>
        where
            #(#predicates,)*
            #name #arguments: #simt::Instance,
        {
            #body

            #run

            // SAFETY: all of it is generated from one function, as is the PTX entry.
            unsafe { #simt::Kernel::new(<#name #arguments as #simt::Instance>::INFO, __run::#arguments) }
        }

        #(#instances)*
    }
}

/// The attributes of the function that the host's item has.
fn kept(function: &ItemFn) -> impl Iterator<Item = &Attribute> {
    function.attrs.iter().filter(|attribute| attribute.path().is_ident("doc") || attribute.path().is_ident("cfg"))
}

/// The kernel for the simulator's current thread.
fn run(function: &ItemFn, keys: &Keys, signature: &Signature<'_>, generic: Option<&Generic>) -> TokenStream {
    let types = signature.args.iter().map(Param::argument);
    let arguments = signature.args.iter().enumerate().map(|(i, param)| {
        let (i, reference) = (Index::from(i), param.in_place().map(|_| quote!(&)));
        quote!(#reference arguments.#i)
    });
    let arguments: Vec<_> = arguments.collect();
    let shared = take_shared(signature).map(|shared| quote!(let __shared = #shared;));
    let call = call(generic, shared.as_ref().map(|_| quote!(__shared)), &arguments);
    // Directly before the body, where the compiler can tell that the body reads the same indices.
    let simt = simt();
    let geometry = keys.block.as_deref().map(shape).map(|[x, y, z]| quote!(#simt::entry::check_block([#x, #y, #z]);));
    // The span is the kernel's name, so that reports have a source line.
    let span = function.sig.ident.span();
    let end_at = simt_at(span);
    let end = keys.pdl.then(|| quote_spanned! { span => ; #end_at::grid::end(); });
    let params = generic.map(|generic| {
        let params = &generic.generics.params;
        quote!(<#params>)
    });
    let conditions = generic.map(|generic| &generic.generics.where_clause);
    quote! {
        #[allow(clippy::multiple_bound_locations)]
        fn __run #params (arguments: (#(#types,)*)) #conditions {
            #shared
            #geometry
            #call
            #end
        }
    }
}

/// The description of a kernel or of an instance.
fn info(name: &Ident, keys: &Keys, signature: &Signature<'_>) -> TokenStream {
    let (simt, ptx, fields) = (simt(), built_ptx::of(name), fields(keys, signature));
    quote! {
        #simt::KernelInfo {
            name: ::core::stringify!(#name),
            path: ::core::module_path!(),
            file: ::core::file!(),
            line: ::core::line!(),
            ptx: #ptx,
            #fields
        }
    }
}

/// The fields of `KernelInfo` that the keys and the parameters determine.
fn fields(keys: &Keys, signature: &Signature<'_>) -> TokenStream {
    let simt = simt();
    let args = signature.args.iter().map(|param| param.name().to_string());
    let arg_types = signature.args.iter().map(|param| {
        // A type that is no argument is reported where the body takes it, not here again.
        let ty = at_the_attribute(param.argument().to_token_stream());
        quote! { <#ty as #simt::KernelArg>::TYPE }
    });
    let block = option(keys.block.as_deref().map(shape).map(|[x, y, z]| quote!([#x, #y, #z])));
    let shared = signature.shared.as_ref().map_or_else(
        || quote!(#simt::SharedSpec::None),
        |param| {
            let ty = param.ty;
            let simt = simt_at(ty.span());
            quote_spanned! { ty.span() => <#ty as #simt::shared::SharedParam>::SPEC }
        },
    );
    let launch = options(keys, &["max_threads", "min_blocks"]);
    let cluster = cluster(keys);
    let pdl = keys.pdl;
    let limits = options(keys, &["registers", "barriers", "global_load_bytes", "global_store_bytes", "traps"]);
    let local_bytes = keys.number("local_bytes").map_or_else(|| quote!(0), |value| quote!(#value));
    quote! {
        args: &[#(#args),*],
        arg_types: &[#(#arg_types),*],
        block: #block,
        #launch
        cluster: #cluster,
        pdl: #pdl,
        shared: #shared,
        limits: #simt::Limits { #limits local_bytes: #local_bytes },
    }
}

/// These tokens with the attribute as their place in messages.
fn at_the_attribute(tokens: TokenStream) -> TokenStream {
    let tokens = tokens.into_iter().map(|mut token| {
        if let TokenTree::Group(group) = &token {
            token = Group::new(group.delimiter(), at_the_attribute(group.stream())).into();
        }
        token.set_span(Span::call_site().resolved_at(token.span()));
        token
    });
    tokens.collect()
}

/// Blocks of a cluster: at most 8, which every GPU with clusters supports.
fn cluster(keys: &Keys) -> TokenStream {
    let Some(blocks) = keys.number("cluster") else { return quote!(1) };
    quote_spanned! { blocks.span() =>
        {
            let __blocks: u32 = #blocks;
            ::core::assert!(1 <= __blocks && __blocks <= 8, "a cluster has 1 to 8 blocks");
            __blocks
        }
    }
}

/// Fields of type `Option<u32>` with the names and values of keys.
fn options(keys: &Keys, names: &[&str]) -> TokenStream {
    names
        .iter()
        .map(|name| {
            let (field, value) = (format_ident!("{name}"), option(keys.number(name)));
            quote! { #field: #value, }
        })
        .collect()
}

/// `Some(value)` or `None`.
fn option(value: Option<impl ToTokens>) -> TokenStream {
    value.map_or_else(|| quote!(::core::option::Option::None), |value| quote!(::core::option::Option::Some(#value)))
}

/// Extents of a block in x, y and z. They may be constants of any integer type, such as the length of an array.
fn shape(extents: &[Expr]) -> [TokenStream; 3] {
    core::array::from_fn(|axis| {
        extents.get(axis).map_or_else(
            || quote!(1),
            |extent| {
                // Integers alone have this operator: a number with a fraction is refused here.
                let integer = quote_spanned!(Span::call_site().located_at(extent.span())=> __extent & !0);
                quote! {
                    const {
                        let __extent = #extent;
                        let __extent = #integer;
                        ::core::assert!(__extent as u32 as u128 == __extent as u128, "a block's extent has 32 bits");
                        __extent as u32
                    }
                }
            },
        )
    })
}

#[cfg(test)]
mod tests {
    use syn::{ItemFn, parse_quote};

    use super::{Keys, Signature, declaration};

    fn text(keys: &Keys, function: &ItemFn) -> String {
        let signature = Signature::of(&function.sig).unwrap();
        declaration(&function.sig.ident, keys, &signature, None).to_string()
    }

    #[test]
    fn the_ptx_declares_each_key_that_the_kernel_has() {
        let function = parse_quote! { fn copy(#[shared] tile: &Tile, x: VecRef<f32>, offsets: [u32; { 2 * TILE }]) {} };
        let keys = parse_quote! { pdl, block = (2 * TILE, 8), registers = 40, cluster = 2, traps = 0 };
        let text = text(&keys, &function);
        let template = "\"// warpwright.kernel copy block={0},{1},{2} cluster={3} registers={4} traps={5} pdl \
            shared_bytes={6} shared_element={7} arg=x:{8}:VecRef<f32> arg=offsets:{9}:[u32;{{2*TILE}}] at=\"";
        assert!(text.contains(template), "{text}");
        assert!(text.contains("__extent = 2 * TILE ;"), "{text}");
    }

    #[test]
    fn a_bare_kernel_declares_its_place() {
        let text = text(&Keys::default(), &parse_quote! { fn bare() {} });
        assert!(text.contains("\"// warpwright.kernel bare at=\""), "{text}");
    }
}

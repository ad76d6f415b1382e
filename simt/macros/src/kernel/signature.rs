//! The permitted signatures of kernels, and the messages for others.

use syn::{Error, FnArg, Ident, Pat, PatIdent, PatType, Result, ReturnType, Type, TypeReference, spanned::Spanned};

/// The parameters of a kernel.
pub(crate) struct Signature<'a> {
    /// The parameter marked `#[shared]`.
    pub(crate) shared: Option<Param<'a>>,
    /// The launch's arguments.
    pub(crate) args: Vec<Param<'a>>,
}

/// A parameter.
pub(crate) struct Param<'a> {
    pub(crate) pattern: &'a PatIdent,
    pub(crate) ty: &'a Type,
}

impl Param<'_> {
    pub(crate) fn name(&self) -> &Ident {
        &self.pattern.ident
    }

    /// The type behind the `&` of a tensor map, which the kernel takes by reference because TMA reads it in parameter
    /// space. It is recognised by its name: a macro does not see types.
    pub(crate) fn in_place(&self) -> Option<&Type> {
        let Type::Reference(TypeReference { mutability: None, elem, .. }) = self.ty else { return None };
        is_tensor_map(elem).then_some(&**elem)
    }

    /// The type of the launch's argument.
    pub(crate) fn argument(&self) -> &Type {
        self.in_place().unwrap_or(self.ty)
    }
}

impl<'a> Signature<'a> {
    pub(crate) fn of(sig: &'a syn::Signature) -> Result<Self> {
        refuse_qualifiers(sig)?;
        let mut shared = None;
        let mut args = Vec::new();
        for (position, input) in sig.inputs.iter().enumerate() {
            let typed = match input {
                FnArg::Receiver(receiver) => {
                    return Err(Error::new(
                        receiver.span(),
                        "a kernel is a free function: pass what it needs as arguments",
                    ));
                }
                FnArg::Typed(typed) => typed,
            };
            let is_shared = is_shared(typed)?;
            let Pat::Ident(pattern @ PatIdent { by_ref: None, subpat: None, .. }) = &*typed.pat else {
                return Err(Error::new(
                    typed.pat.span(),
                    "a kernel's parameter is a plain name, which messages use for the argument: \
                     destructure it in the body",
                ));
            };
            let param = Param { pattern, ty: &typed.ty };
            if is_tensor_map(param.ty) {
                return Err(Error::new(
                    typed.ty.span(),
                    "a kernel takes a tensor map by reference, since TMA reads it in parameter space: write `&`",
                ));
            }
            match (is_shared, position) {
                (false, _) => args.push(param),
                (true, 0) => shared = Some(param),
                (true, _) => {
                    return Err(Error::new(
                        typed.pat.span(),
                        "a kernel has one #[shared] parameter, the first: put several tiles into one \
                         #[derive(Shared)] struct",
                    ));
                }
            }
        }
        Ok(Self { shared, args })
    }
}

fn is_tensor_map(ty: &Type) -> bool {
    let Type::Path(path) = ty else { return false };
    path.path.segments.last().is_some_and(|last| last.ident == "TensorMap" || last.ident == "TensorMapMut")
}

fn refuse_qualifiers(sig: &syn::Signature) -> Result<()> {
    if let Some(token) = sig.asyncness {
        return Err(Error::new(token.span, "a kernel cannot be async: threads wait by barriers"));
    }
    if let Some(token) = sig.constness {
        return Err(Error::new(token.span, "a kernel cannot be const: it runs on a GPU"));
    }
    if let Some(token) = sig.unsafety {
        return Err(Error::new(
            token.span,
            "a kernel is a safe function: put `unsafe` blocks, each with its reason, into the body",
        ));
    }
    if let Some(abi) = &sig.abi {
        return Err(Error::new(abi.span(), "#[kernel] chooses the calling convention: leave `extern` out"));
    }
    if let ReturnType::Type(_, ty) = &sig.output {
        return Err(Error::new(
            ty.span(),
            "a kernel returns nothing: write results through a `VecMut` or `MatMut` argument",
        ));
    }
    if let Some(variadic) = &sig.variadic {
        return Err(Error::new(variadic.span(), "a kernel has a fixed number of arguments"));
    }
    Ok(())
}

/// Whether a parameter is marked `#[shared]`, the only attribute that it may have.
fn is_shared(param: &PatType) -> Result<bool> {
    let mut shared = false;
    for attribute in &param.attrs {
        if attribute.path().is_ident("shared") && !shared {
            attribute.meta.require_path_only()?;
            shared = true;
        } else {
            return Err(Error::new(
                attribute.path().span(),
                "the only attribute of a kernel's parameter is #[shared], once",
            ));
        }
    }
    Ok(shared)
}

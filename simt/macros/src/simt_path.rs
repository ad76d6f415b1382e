//! Under which path the code that the macros write finds the crate `simt`.

use std::cell::Cell;

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;

/// The crate on which the user's crate depends.
#[derive(Clone, Copy)]
pub(crate) enum Dependency {
    Simt,
    /// It re-exports `simt`.
    Warpwright,
}

thread_local! {
    static DEPENDENCY: Cell<Dependency> = const { Cell::new(Dependency::Simt) };
}

/// Expands a macro that the user's crate has from this dependency. A macro does not learn where it was imported from:
/// there is one of each for each dependency.
pub(crate) fn through(
    dependency: Dependency,
    expand: impl FnOnce() -> syn::Result<TokenStream>,
) -> proc_macro::TokenStream {
    DEPENDENCY.set(dependency);
    expand().unwrap_or_else(syn::Error::into_compile_error).into()
}

/// The path of `simt`. A crate that calls the dependency otherwise says `extern crate its_name as warpwright;`.
pub(crate) fn simt() -> TokenStream {
    simt_at(Span::call_site())
}

/// The same, at a place that messages of the compiler name.
pub(crate) fn simt_at(span: Span) -> TokenStream {
    match DEPENDENCY.get() {
        Dependency::Simt => quote_spanned!(span=> ::simt),
        Dependency::Warpwright => quote_spanned!(span=> ::warpwright::simt),
    }
}

#[cfg(test)]
mod tests {
    use super::{DEPENDENCY, Dependency, simt};

    #[test]
    fn the_path_is_that_of_the_dependency() {
        assert_eq!(simt().to_string(), ":: simt");
        DEPENDENCY.set(Dependency::Warpwright);
        assert_eq!(simt().to_string(), ":: warpwright :: simt");
    }
}

//! Under which path the code that the macros write finds the crate `simt`.

use std::sync::OnceLock;

use proc_macro_crate::{FoundCrate, crate_name};
use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::Ident;

/// The two ways to depend on the crate, as paths of identifiers.
static FOUND: OnceLock<Vec<String>> = OnceLock::new();

/// `::simt`, whatever the crate calls it: its dependency on `warpwright-simt`, else on `warpwright`, which re-exports
/// it.
pub(crate) fn simt() -> TokenStream {
    simt_at(Span::call_site())
}

/// The same, at a place that messages of the compiler name.
pub(crate) fn simt_at(span: Span) -> TokenStream {
    let names = FOUND.get_or_init(find).iter().map(|name| Ident::new(name, span));
    let colons = syn::Token![::](span);
    names.flat_map(|name| [colons.to_token_stream(), name.to_token_stream()]).collect()
}

fn find() -> Vec<String> {
    match (crate_name("warpwright-simt"), crate_name("warpwright")) {
        // The library is called `simt`, unless the dependency is renamed.
        (Ok(FoundCrate::Name(name)), _) if name == "warpwright_simt" => vec!["simt".to_owned()],
        (Ok(FoundCrate::Name(name)), _) => vec![name],
        (Err(_), Ok(FoundCrate::Name(name))) => vec![name, "simt".to_owned()],
        // The crate itself, which names itself so; a compiler that was not started by cargo.
        _ => vec!["simt".to_owned()],
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_renamed_dependency_is_found() {
        assert_eq!(super::simt().to_string(), ":: simt");
    }
}

//! Methods of `f32` and `f64` that only the standard library has.
//!
//! On the host they would compile, and call the C library: other bits than on the GPU, for which the same line does not
//! compile. A macro does not see types, so these methods are refused by name and number of arguments.

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use syn::{Error, Result};

/// Method, number of arguments, and what to write instead.
const METHODS: &[(&str, usize, &str)] = &[
    ("acos", 0, ""),
    ("acosh", 0, ""),
    ("asin", 0, ""),
    ("asinh", 0, ""),
    ("atan", 0, ""),
    ("atan2", 1, ""),
    ("atanh", 0, ""),
    ("cbrt", 0, "math::cbrt(x)"),
    ("ceil", 0, "math::ceil(x)"),
    ("cos", 0, "math::cos(x)"),
    ("cosh", 0, ""),
    ("exp", 0, "math::exp(x)"),
    ("exp2", 0, "math::exp2(x)"),
    ("exp_m1", 0, "math::expm1(x)"),
    ("floor", 0, "math::floor(x)"),
    ("fract", 0, "x - math::trunc(x)"),
    ("hypot", 1, "math::hypot(x, y)"),
    ("ln", 0, "math::log(x)"),
    ("ln_1p", 0, "math::log1p(x)"),
    ("log", 1, "math::log(x) / math::log(base)"),
    ("log10", 0, "math::log10(x)"),
    ("log2", 0, "math::log2(x)"),
    ("mul_add", 2, "fma(x, a, b)"),
    ("powf", 1, "math::pow(x, y)"),
    ("powi", 1, "math::pow(x, y)"),
    ("round", 0, "math::round(x)"),
    ("round_ties_even", 0, "math::round_ties_even(x)"),
    ("sin", 0, "math::sin(x)"),
    ("sin_cos", 0, "math::sincos(x)"),
    ("sinh", 0, ""),
    ("sqrt", 0, "math::sqrt(x)"),
    ("tan", 0, "math::tan(x)"),
    ("tanh", 0, "math::tanh(x)"),
    ("trunc", 0, "math::trunc(x)"),
];

/// Refuses these methods in a kernel's body, also within macros, and names them all.
pub(crate) fn refuse(body: TokenStream) -> Result<()> {
    let mut errors = None;
    search(body, &mut errors);
    errors.map_or(Ok(()), Err)
}

fn search(tokens: TokenStream, errors: &mut Option<Error>) {
    let tokens: Vec<_> = tokens.into_iter().collect();
    for (i, token) in tokens.iter().enumerate() {
        if let TokenTree::Group(group) = token {
            search(group.stream(), errors);
        }
        let dot = |i: usize| matches!(&tokens[i], TokenTree::Punct(punct) if punct.as_char() == '.');
        // `.name(…)`, and not the end of a range, `..name(…)`.
        if let [TokenTree::Punct(_), TokenTree::Ident(name), TokenTree::Group(arguments), ..] = &tokens[i..]
            && dot(i)
            && (i == 0 || !dot(i - 1))
            && let Some(error) = judge(name, arguments)
        {
            match errors {
                Some(errors) => errors.combine(error),
                None => *errors = Some(error),
            }
        }
    }
}

fn judge(name: &Ident, arguments: &Group) -> Option<Error> {
    let count = (arguments.delimiter() == Delimiter::Parenthesis).then(|| count(arguments.stream()))?;
    let (text, _, instead) = METHODS.iter().find(|(method, n, _)| name == method && *n == count)?;
    let instead = if instead.is_empty() {
        "`simt::math` has no such function".to_owned()
    } else {
        format!("write `{instead}` with `simt::math`")
    };
    Some(Error::new(
        name.span(),
        format!(
            "the method `{text}` of floating-point numbers is the standard library's, which does not exist on a GPU: \
             {instead}; a method of a type of your own can be called as `Type::{text}(…)`"
        ),
    ))
}

/// Arguments, separated by commas.
fn count(arguments: TokenStream) -> usize {
    let mut count = 0;
    let mut within = false;
    for token in arguments {
        let comma = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == ',');
        count += usize::from(!comma && !within);
        within = !comma;
    }
    count
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::refuse;

    #[test]
    fn methods_are_found_in_expressions_and_macros() {
        for (body, name) in [
            (quote!(let y = x.exp();), "math::exp(x)"),
            (
                quote!(if a {
                    (b + 1.0).sqrt()
                }),
                "math::sqrt(x)",
            ),
            (quote!(assert!(x.mul_add(a, f(b, c),) > 0.0)), "fma(x, a, b)"),
            (quote!(x.powi(3)), "math::pow(x, y)"),
            (quote!(x.atan2(y)), "no such function"),
        ] {
            let message = refuse(body).unwrap_err().to_string();
            assert!(message.contains(name), "{message}");
        }
    }

    #[test]
    fn each_use_is_reported() {
        assert_eq!(refuse(quote!(x.sin() + x.cos())).unwrap_err().into_iter().count(), 2);
    }

    #[test]
    fn functions_fields_ranges_and_other_methods_are_permitted() {
        refuse(quote! {
            let y = math::exp(x) + z.exp + Complex::exp(z);
            for i in 0..round() { x.log(); x.floor(1); x.abs().max(y); u.pow(2); }
        })
        .unwrap();
    }
}

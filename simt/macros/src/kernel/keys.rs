//! The keys of `#[kernel(key = value, …)]`, `pdl`, which takes no value, and the list `instances(<…>, …)`.

use syn::{
    AngleBracketedGenericArguments, Error, Expr, Ident, Result, Token, parenthesized,
    parse::{Parse, ParseStream},
    punctuated::Punctuated,
};

/// The keys whose value is a number, in the order of messages and of the PTX declaration.
const NUMBERS: [&str; 9] = [
    "max_threads",
    "min_blocks",
    "cluster",
    "registers",
    "barriers",
    "global_load_bytes",
    "global_store_bytes",
    "traps",
    "local_bytes",
];

/// The keys of one attribute.
#[derive(Default)]
pub(crate) struct Keys {
    /// One to three extents.
    pub(crate) block: Option<Vec<Expr>>,
    /// Programmatic dependent launch: a launch may start before the previous grid has finished.
    pub(crate) pdl: bool,
    /// The key and the instances of a generic kernel.
    pub(crate) instances: Option<(Ident, Punctuated<AngleBracketedGenericArguments, Token![,]>)>,
    numbers: [Option<Expr>; NUMBERS.len()],
}

impl Keys {
    /// The value of a key that is a number.
    pub(crate) fn number(&self, key: &str) -> Option<&Expr> {
        let index = NUMBERS.iter().position(|name| *name == key);
        index.and_then(|index| self.numbers[index].as_ref())
    }

    /// The numeric keys of the attribute and their values.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = (&'static str, &Expr)> {
        NUMBERS.iter().zip(&self.numbers).filter_map(|(&key, value)| Some((key, value.as_ref()?)))
    }
}

impl Parse for Keys {
    fn parse(input: ParseStream) -> Result<Self> {
        let mut keys = Self::default();
        while !input.is_empty() {
            let key: Ident = input.parse()?;
            let twice = if key == "pdl" {
                if input.peek(Token![=]) {
                    return Err(Error::new(key.span(), "`pdl` takes no value: write `pdl` alone"));
                }
                std::mem::replace(&mut keys.pdl, true)
            } else if key == "instances" {
                let list;
                parenthesized!(list in input);
                keys.instances.replace((key.clone(), Punctuated::parse_terminated(&list)?)).is_some()
            } else {
                input.parse::<Token![=]>()?;
                let value: Expr = input.parse()?;
                if key == "block" {
                    keys.block.replace(extents(value)?).is_some()
                } else if let Some(index) = NUMBERS.iter().position(|name| key == name) {
                    keys.numbers[index].replace(value).is_some()
                } else {
                    let list = NUMBERS.join("`, `");
                    let message = format!("not a key of #[kernel]: the keys are `instances`, `pdl`, `block`, `{list}`");
                    return Err(Error::new(key.span(), message));
                }
            };
            if twice {
                return Err(Error::new(key.span(), format!("`{key}` is given twice: keep one")));
            }
            if key == "max_threads" && keys.block.is_some() || key == "block" && keys.number("max_threads").is_some() {
                return Err(Error::new(key.span(), "`block` fixes the number of threads: leave `max_threads` out"));
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(keys)
    }
}

/// The extents of `(x)`, `(x,)`, `(x, y)`, `(x, y, z)` or a bare `x`.
fn extents(value: Expr) -> Result<Vec<Expr>> {
    match value {
        Expr::Tuple(tuple) if (1..=3).contains(&tuple.elems.len()) => Ok(tuple.elems.into_iter().collect()),
        Expr::Tuple(tuple) => Err(Error::new_spanned(tuple, "a block has one to three extents: block = (x, y, z)")),
        Expr::Paren(paren) => Ok(vec![*paren.expr]),
        other => Ok(vec![other]),
    }
}

//! Conditions on the values at the end of a litmus test: comparisons with `/\`, `\/` and brackets.

/// The value of a number, of a location or of a thread's register.
pub(super) type Value<'a> = &'a dyn Fn(&str) -> Result<u32, String>;

/// Whether the condition holds; the error names what cannot be understood.
pub(super) fn holds(condition: &str, value: Value) -> Result<bool, String> {
    let mut text = condition;
    let holds = any(&mut text, value)?;
    if text.trim().is_empty() { Ok(holds) } else { Err(format!("condition {condition}")) }
}

/// Takes a word off the front of the text, if it is there.
fn take(text: &mut &str, word: &str) -> bool {
    let rest = text.trim_start().strip_prefix(word);
    rest.is_some_and(|rest| {
        *text = rest;
        true
    })
}

/// Terms of which one must hold.
fn any(text: &mut &str, value: Value) -> Result<bool, String> {
    let mut holds = all(text, value)?;
    while take(text, "\\/") {
        holds |= all(text, value)?;
    }
    Ok(holds)
}

/// Terms that must all hold.
fn all(text: &mut &str, value: Value) -> Result<bool, String> {
    let mut holds = term(text, value)?;
    while take(text, "/\\") {
        holds &= term(text, value)?;
    }
    Ok(holds)
}

/// A condition in brackets, or a comparison.
fn term(text: &mut &str, value: Value) -> Result<bool, String> {
    if take(text, "(") {
        let holds = any(text, value)?;
        return if take(text, ")") { Ok(holds) } else { Err(format!("no bracket at {text}")) };
    }
    let end = text.find(['=', '!']).ok_or_else(|| format!("no comparison at {text}"))?;
    let (left, rest) = text.split_at(end);
    let differs = rest.starts_with('!');
    let rest = rest.trim_start_matches(['=', '!']);
    let end = rest.find(['/', '\\', ')']).unwrap_or(rest.len());
    let (right, rest) = rest.split_at(end);
    *text = rest;
    Ok((value(left)? == value(right)?) != differs)
}

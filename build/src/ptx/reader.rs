//! From text to functions and statements, in one pass over the characters.

use std::mem;

use anyhow::{Result, bail};

use super::{Declared, ExternFunction, Function, Module, Statement};

/// Reads a whole PTX file. Fails on unbalanced braces and on a header without a name: such a file was cut short.
pub fn read(text: &str) -> Result<Module> {
    let declared = text.lines().filter_map(|line| Declared::read(line).transpose()).collect::<Result<_>>()?;
    let text = blank_comments(text);
    let mut reader = Reader { line: 1, ..Reader::default() };
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let next = characters.peek().map(|&(_, next)| next);
        reader.take(at, character, next)?;
        if character == '\n' {
            reader.line += 1;
        }
    }
    if let Some(function) = reader.function {
        bail!("the body of {} (line {}) does not end", function.name, function.line);
    }
    Ok(Module { declared, ..reader.module })
}

#[derive(Default)]
struct Reader {
    module: Module,
    /// The function whose body we are in.
    function: Option<Function>,
    /// Scopes open inside that body.
    scopes: usize,
    /// Braces open inside the pending statement: a vector operand or an initialiser.
    braces: usize,
    /// The statement so far, and the line of its first character.
    pending: String,
    pending_line: usize,
    line: usize,
}

impl Reader {
    fn take(&mut self, at: usize, character: char, next: Option<char>) -> Result<()> {
        match character {
            '{' if self.braces == 0 && self.function.is_none() && is_header(&self.pending) => self.open_body(at)?,
            '{' if self.function.is_some() && self.pending.trim().is_empty() => self.scopes += 1,
            '}' if self.braces > 0 => {
                self.braces -= 1;
                self.push(character);
            }
            '}' => self.close(at)?,
            ';' if self.braces == 0 => self.end_statement()?,
            ':' if next != Some(':') && is_label(self.pending.trim_end()) => self.pending.clear(),
            '\n' if ends_with_its_line(&self.pending) => self.end_statement()?,
            _ => {
                self.braces += usize::from(character == '{');
                self.push(character);
            }
        }
        Ok(())
    }

    fn push(&mut self, character: char) {
        if self.pending.is_empty() {
            if character.is_whitespace() {
                return;
            }
            self.pending_line = self.line;
        }
        self.pending.push(character);
    }

    fn open_body(&mut self, at: usize) -> Result<()> {
        let header = mem::take(&mut self.pending);
        let name = header_name(&header, self.pending_line)?;
        let kernel = header.split_whitespace().any(|word| word == ".entry");
        let header = header.trim_end().to_owned();
        self.function =
            Some(Function { name, kernel, line: self.pending_line, header, body_at: at, statements: Vec::new() });
        Ok(())
    }

    fn close(&mut self, at: usize) -> Result<()> {
        if !self.pending.trim().is_empty() {
            bail!("line {}: `{}` has no `;` before the `}}` at byte {at}", self.pending_line, self.pending.trim());
        }
        self.pending.clear();
        match (self.scopes, self.function.take()) {
            (_, None) => bail!("line {}: a `}}` that closes nothing", self.line),
            (0, Some(function)) => self.module.functions.push(function),
            (_, function) => {
                self.scopes -= 1;
                self.function = function;
            }
        }
        Ok(())
    }

    fn end_statement(&mut self) -> Result<()> {
        let text = mem::take(&mut self.pending).trim().to_owned();
        let line = self.pending_line;
        if let Some(function) = &mut self.function {
            if !text.is_empty() {
                function.statements.push(Statement { line, text });
            }
        } else if let Some(target) = text.strip_prefix(".target") {
            target
                .split([',', ' '])
                .find(|word| !word.is_empty())
                .unwrap_or_default()
                .clone_into(&mut self.module.target);
        } else if is_header(&text) && text.split_whitespace().any(|word| word == ".extern") {
            self.module.extern_functions.push(ExternFunction { name: header_name(&text, line)?, line });
        }
        Ok(())
    }
}

/// Whether a statement at file level declares or defines a function.
fn is_header(text: &str) -> bool {
    text.split_whitespace().any(|word| word == ".entry" || word == ".func")
}

/// `NAME` of `.visible .entry NAME(…)`, `.func (.param .b32 r) NAME(…)`.
fn header_name(header: &str, line: usize) -> Result<String> {
    let after =
        [".entry", ".func"].iter().find_map(|word| header.split_once(word)).map_or("", |(_, after)| after.trim_start());
    let after = match after.strip_prefix('(') {
        Some(result) => result.split_once(')').map_or("", |(_, name)| name.trim_start()),
        None => after,
    };
    let name = after.split(|c: char| c.is_whitespace() || c == '(').next().unwrap_or_default();
    if name.is_empty() {
        bail!("line {line}: a function without a name: `{header}`");
    }
    Ok(name.to_owned())
}

/// Whether `text` is all of a label up to its colon.
fn is_label(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | '%'))
}

/// Directives that no `;` ends.
fn ends_with_its_line(text: &str) -> bool {
    [".version", ".target", ".address_size", ".file", ".loc"].iter().any(|word| text.starts_with(word))
}

/// Comments become blanks, so that offsets and lines stay what they are in the file.
fn blank_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['/', '"']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let (kept, length) = if rest.starts_with("//") {
            (false, rest.find('\n').unwrap_or(rest.len()))
        } else if rest.starts_with("/*") {
            (false, rest.find("*/").map_or(rest.len(), |end| end + 2))
        } else if let Some(string) = rest.strip_prefix('"') {
            (true, string.find('"').map_or(rest.len(), |end| end + 2))
        } else {
            (true, 1)
        };
        if kept {
            out.push_str(&rest[..length]);
        } else {
            // One blank per byte, not per character: offsets are bytes.
            out.extend(rest[..length].bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
        }
        rest = &rest[length..];
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::read;

    const TEXT: &str = r#"
// a comment with ; and { and "
.version 7.0
.target sm_80, debug
.address_size 64
.func known(.param .b64 p) .noreturn;
.extern .func (.param .b32 r) missing ( .param .b32 a );
.extern .shared .align 16 .b8 tiles[];
.global .align 4 .b32 table[2] = {1, 2};
.visible .entry first(
	.param .u64 first_param_0
)
.maxntid 64
{
	.reg .b32 %r<4>; /* a comment
	over lines */
$L__BB0_1: @%p1 bra $L__BB0_1;
	ld.global.v2.b32 {%r1, %r2}, [%rd1];
	{ // callseq 0, 0
	call.uni (retval0), known, (param0);
	}
	mapa.shared::cluster.u32 %r1, %r2, 0;
	trap; exit;
}
.func known(.param .b64 p) .noreturn
{
	.pragma "no // comment";
	ret;
}
"#;

    #[test]
    fn functions_statements_and_declarations_are_told_apart() {
        let module = read(TEXT).unwrap();
        assert_eq!(module.target, "sm_80");
        assert_eq!(module.extern_functions.len(), 1);
        assert_eq!(module.extern_functions[0].name, "missing");
        assert_eq!(module.extern_functions[0].line, 7);
        let names: Vec<_> = module.functions.iter().map(|f| (f.name.as_str(), f.kernel, f.line)).collect();
        assert_eq!(names, [("first", true, 10), ("known", false, 25)]);
        let first = &module.functions[0];
        assert!(TEXT[first.body_at..].starts_with('{'));
        assert!(first.header.ends_with(".maxntid 64"));
        let statements: Vec<_> = first.statements.iter().map(|s| (s.line, s.text.as_str())).collect();
        assert_eq!(
            statements,
            [
                (15, ".reg .b32 %r<4>"),
                (17, "@%p1 bra $L__BB0_1"),
                (18, "ld.global.v2.b32 {%r1, %r2}, [%rd1]"),
                (20, "call.uni (retval0), known, (param0)"),
                (22, "mapa.shared::cluster.u32 %r1, %r2, 0"),
                (23, "trap"),
                (23, "exit"),
            ]
        );
        assert_eq!(module.functions[1].statements.len(), 2);
    }

    #[test]
    fn what_kernels_declare_is_read_from_comments() {
        let module = read(&format!("// warpwright.kernel first max_threads=64 at=f.rs:3\n{TEXT}")).unwrap();
        assert_eq!(module.declared("first").unwrap().max_threads, Some(64));
        assert_eq!(module.declared("second"), None);
        assert!(read("// warpwright.kernel first\n").is_err());
    }

    #[test]
    fn a_file_cut_short_is_refused() {
        let cut = &TEXT[..TEXT.find("trap").unwrap()];
        let message = read(cut).unwrap_err().to_string();
        assert!(message.contains("first") && message.contains("does not end"), "{message}");
    }

    #[test]
    fn a_brace_too_many_is_refused() {
        assert!(read("}").unwrap_err().to_string().contains("closes nothing"));
    }
}

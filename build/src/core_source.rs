//! Where the source of `core` comes from: the rust-src component, else the toolchain's own documentation.
//!
//! nvptx64 has no precompiled `core` that a target-cpu of our choice could be mixed with, so `core` is compiled here.
//! rust-src is the obvious source. A machine that lacks it and cannot fetch it still has every line in rust-docs, whose
//! source view shows each file of `core` in full.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};

use crate::toolchain::Nightly;
use crate::{aside, html, parallel};

/// Source of `core`, ready to compile.
pub struct CoreSource {
    /// Holds core/src/lib.rs, and stdarch/ and portable-simd/ beside core/.
    pub library: PathBuf,
    /// Which of the two it is: part of the private sysroot's key.
    pub kind: Kind,
}

/// Where `core`'s source was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The component rust-src.
    RustSrc,
    /// The component rust-docs.
    RustDocs,
}

impl Kind {
    /// The component's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::RustSrc => "rust-src",
            Self::RustDocs => "rust-docs",
        }
    }
}

/// What `simt::ptx::message` relies on: the fields of a message, and how the template of one is read.
const MESSAGES: [(&str, &[&str]); 3] = [
    (
        "fmt/mod.rs",
        &[
            "pub struct Arguments<'a> { template: NonNull<u8>, args: NonNull<rt::Argument<'a>>, }",
            "if n == 0 { return Ok(()); } else if n < 0x80 {",
            "} else if n == 0x80 { let s = unsafe { let len = usize::from(u16::from_le_bytes(",
            "} else if n == 0xC0 {",
            "if n & 1 != 0 { opt.flags = u32::from_le_bytes(",
            "if n & 2 != 0 { opt.width = u16::from_le_bytes(",
            "if n & 4 != 0 { opt.precision = u16::from_le_bytes(",
            "if n & 8 != 0 { arg_index = usize::from(u16::from_le_bytes(",
            "if n & 16 != 0 { unsafe { opt.width = args.add(opt.width as usize)",
            "if n & 32 != 0 { unsafe { opt.precision = args.add(opt.precision as usize)",
            "pub struct FormattingOptions { flags: u32, width: u16, precision: u16, }",
        ],
    ),
    (
        "fmt/rt.rs",
        &[
            "enum ArgumentType<'a> { Placeholder { value: NonNull<()>, formatter: unsafe fn(NonNull<()>, &mut \
             Formatter<'_>) -> Result, _lifetime: PhantomData<&'a ()>, }, Count(u16), }",
            "pub struct Argument<'a> { ty: ArgumentType<'a>, }",
        ],
    ),
    ("panic/panic_info.rs", &["pub struct PanicMessage<'a> { message: &'a fmt::Arguments<'a>, }"]),
];

impl CoreSource {
    /// Whether messages with values are those that kernels can send: `core` may change them at any time.
    pub(crate) fn has_known_messages(&self) -> bool {
        MESSAGES.iter().all(|(file, snippets)| {
            let text = fs::read_to_string(self.library.join("core/src").join(file)).unwrap_or_default();
            let code: String = text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect();
            let code = without_blanks(&code);
            snippets.iter().all(|snippet| code.contains(&without_blanks(snippet)))
        })
    }
}

fn without_blanks(text: &str) -> String {
    text.split_whitespace().collect()
}

/// Which component of `nightly` has the source; rust-src before rust-docs.
pub fn available(nightly: &Nightly) -> Result<Kind> {
    if rust_src(nightly).join("core/src/lib.rs").is_file() {
        return Ok(Kind::RustSrc);
    }
    if rust_docs(nightly).join("lib.rs.html").is_file() {
        return Ok(Kind::RustDocs);
    }
    bail!(
        "the nightly at {} has neither rust-src nor rust-docs, so there is no source of `core` to compile for the GPU; \
        `rustup component add rust-src --toolchain {}` (or rust-docs) adds it",
        nightly.sysroot.display(),
        nightly.name
    )
}

/// Finds the source, rebuilding it under `cache` where only rust-docs has it.
pub fn find(cache: &Path, nightly: &Nightly) -> Result<CoreSource> {
    let kind = available(nightly)?;
    let library = match kind {
        Kind::RustSrc => rust_src(nightly),
        Kind::RustDocs => {
            let library = cache.join("core-source").join(&nightly.commit);
            if !library.is_dir() {
                aside::build(&library, |aside| rebuild(&rust_docs(nightly), &nightly.version, aside))?;
            }
            library
        }
    };
    Ok(CoreSource { library, kind })
}

fn rust_src(nightly: &Nightly) -> PathBuf {
    nightly.sysroot.join("lib/rustlib/src/rust/library")
}

fn rust_docs(nightly: &Nightly) -> PathBuf {
    nightly.sysroot.join("share/doc/rust/html/src/core")
}

/// Writes the source tree that `pages` (src/core of rust-docs) shows under `library`.
fn rebuild(pages: &Path, version: &str, library: &Path) -> Result<()> {
    // `rustc 1.97.0-nightly (…)` documents itself as `1.97.0-nightly (…)`.
    let version = version.trim_start_matches("rustc ");
    let front = fs::read_to_string(pages.join("lib.rs.html"))?;
    ensure!(
        front.contains(&format!("data-rustdoc-version=\"{version}\"")),
        "rust-docs at {} is not of {version}; `rustup component add rust-docs --toolchain nightly` renews it",
        pages.display()
    );
    let sources = parallel::map(&files_below(pages)?, |page| -> Result<Option<(PathBuf, String)>> {
        let relative = page.strip_prefix(pages)?;
        let Some(name) = relative.to_str().and_then(|name| name.strip_suffix(".html")) else { return Ok(None) };
        // stdarch/ and portable-simd/ are beside core/ in the source tree, under it in the documentation.
        let beside = ["stdarch", "portable-simd"].iter().any(|folder| relative.starts_with(folder));
        let path = if beside { library.join(name) } else { library.join("core/src").join(name) };
        let text = fs::read_to_string(page)?;
        let text = html::source_text(&text).with_context(|| format!("{} is no source page", page.display()))?;
        write(&path, &text)?;
        Ok(Some((path, text)))
    });
    let sources = sources.into_iter().filter_map(Result::transpose).collect::<Result<Vec<_>>>()?;
    // Documentation that the source includes is not in the pages, and no code depends on it: empty files do.
    for (path, text) in &sources {
        let folder = path.parent().expect("a file is in a folder");
        for name in markdown_names(text) {
            if !folder.join(name).exists() {
                write(&folder.join(name), "")?;
            }
        }
    }
    Ok(())
}

/// Every string literal that ends in `.md`: some `include_str!` take the name through a macro.
fn markdown_names(text: &str) -> impl Iterator<Item = &str> {
    text.split('"').filter(|piece| {
        let plain = piece.chars().all(|c| c.is_ascii_alphanumeric() || "._-/".contains(c));
        plain && piece.strip_suffix(".md").is_some_and(|stem| !stem.is_empty())
    })
}

fn files_below(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))? {
            let path = entry?.path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    Ok(files)
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::create_dir_all(path.parent().expect("a file is in a folder"))?;
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{markdown_names, rebuild};

    fn page(version: &str, source: &str) -> String {
        let line = format!("<a data-nosnippet>1</a>{source}\n");
        format!("<meta data-rustdoc-version=\"{version}\"><pre class=\"rust\"><code>{line}</code></pre>")
    }

    #[test]
    fn the_tree_is_rebuilt_with_stdarch_beside_core_and_empty_documentation() {
        let dir = tempfile::tempdir().unwrap();
        let (pages, library) = (dir.path().join("html"), dir.path().join("library"));
        let table = [
            ("lib.rs.html", "#![doc = include_str!(\"../docs/front.md\")]"),
            ("num/mod.rs.html", "// num"),
            ("stdarch/crates/core_arch/src/mod.rs.html", "// arch"),
            ("portable-simd/crates/core_simd/src/mod.rs.html", "// simd"),
        ];
        for (name, source) in table {
            super::write(&pages.join(name), &page("1.97.0-nightly (x)", source)).unwrap();
        }
        rebuild(&pages, "rustc 1.97.0-nightly (x)", &library).unwrap();
        let read = |name: &str| fs::read_to_string(library.join(name)).unwrap();
        assert_eq!(read("core/src/num/mod.rs"), "// num\n");
        assert_eq!(read("stdarch/crates/core_arch/src/mod.rs"), "// arch\n");
        assert_eq!(read("portable-simd/crates/core_simd/src/mod.rs"), "// simd\n");
        assert_eq!(read("core/src/../docs/front.md"), "");
    }

    #[test]
    fn documentation_of_another_rustc_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        super::write(&dir.path().join("lib.rs.html"), &page("1.96.0-nightly (y)", "//")).unwrap();
        let error = rebuild(dir.path(), "rustc 1.97.0-nightly (x)", &dir.path().join("out")).unwrap_err();
        assert!(error.to_string().contains("is not of 1.97.0-nightly (x)"), "{error}");
    }

    #[test]
    fn names_of_documentation_are_found_in_macros_too() {
        let text = "type_alias! { \"c_char.md\", c_char = 1; }\n// see \"the book\", \".md\", \"a b.md\"\n\
            include_str!(\"./docs/add.md\")";
        assert_eq!(markdown_names(text).collect::<Vec<_>>(), ["c_char.md", "./docs/add.md"]);
    }
}

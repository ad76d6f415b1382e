//! Writing an archive.

use std::fmt::Write as _;
use std::io::Write as _;

use lzma_rust2::{LzipOptions, LzipWriter};

use crate::LINE;

/// Text of a block, in bytes; a kernel that is longer is a block of its own. Larger blocks make smaller archives, and
/// take longer to decode: of 50 MB of text 3.1 MB and up to 5 ms; with half of it 3.9 MB and half the time.
pub const BLOCK_BYTES: usize = 1 << 19;

/// One text of an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kernel<'a> {
    /// Name of the entry; no white space.
    pub name: &'a str,
    /// Architecture, as `sm_80`; no white space.
    pub arch: &'a str,
    /// Complete PTX.
    pub text: &'a str,
}

/// The archive of `kernels`, in their order. The same kernels give the same bytes.
///
/// `title` becomes the first line of the table of contents.
///
/// # Panics
/// If a name, an architecture or the title does not fit into its line.
pub fn write(title: &str, kernels: &[Kernel<'_>]) -> Vec<u8> {
    let one_line = |text: &str| !text.contains(['\n', '\r']);
    assert!(one_line(title), "a title is one line, this one is {title:?}");
    let mut table = format!("// {title}\n");
    let (mut blocks, mut block) = (Vec::new(), String::new());
    for kernel in kernels {
        for word in [kernel.name, kernel.arch] {
            assert!(!word.is_empty() && !word.contains(char::is_whitespace), "a name without spaces, not {word:?}");
        }
        if !block.is_empty() && block.len() + kernel.text.len() > BLOCK_BYTES {
            blocks.push(compress(&block));
            block.clear();
        }
        let (name, arch, start, length) = (kernel.name, kernel.arch, block.len(), kernel.text.len());
        writeln!(table, "{LINE}{name} {arch} {} {start} {length}", blocks.len()).expect("writing to a string");
        block.push_str(kernel.text);
    }
    // Empty, too, if the texts of its kernels are: the table names it.
    if !kernels.is_empty() {
        blocks.push(compress(&block));
    }
    let mut file = compress(&table);
    file.extend(blocks.into_iter().flatten());
    file
}

/// One lzip member.
fn compress(text: &str) -> Vec<u8> {
    let mut options = LzipOptions::with_preset(6);
    // No match lies further back than the text is long; a reader allocates what is named here.
    options.lzma_options.dict_size = u32::try_from(text.len().next_power_of_two()).unwrap_or(u32::MAX).max(1 << 12);
    let mut writer = LzipWriter::new(Vec::new(), options);
    writer.write_all(text.as_bytes()).expect("writing to a vector");
    writer.finish().expect("writing to a vector")
}

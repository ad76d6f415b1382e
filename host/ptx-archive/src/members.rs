//! Where the members of an lzip file lie, and their text.

use std::io::{Error, ErrorKind, Read as _, Result};
use std::ops::Range;

use lzma_rust2::LzipReader;

/// Bytes of a member's header: magic, version, dictionary size.
const HEADER: usize = 6;
/// Bytes of a member's trailer: checksum, data size, member size.
const TRAILER: usize = 20;

/// Finds the members of `file`, first to last. Each ends with its own size in bytes, so they are found from the end.
pub(crate) fn find(file: &[u8]) -> Result<Vec<Range<usize>>> {
    let mut members = Vec::new();
    let mut end = file.len();
    while end > 0 {
        let size = file[..end].last_chunk().map(|bytes| u64::from_le_bytes(*bytes));
        let size = size.and_then(|size| usize::try_from(size).ok()).filter(|size| *size >= HEADER + TRAILER);
        let start = size.and_then(|size| end.checked_sub(size));
        let start = start.ok_or_else(|| damaged("a member's size is not that of a member"))?;
        members.push(start..end);
        end = start;
    }
    members.reverse();
    Ok(members)
}

/// The text of one member, with its checksum checked.
pub(crate) fn text(member: &[u8]) -> Result<String> {
    let mut text = String::new();
    LzipReader::new(member).read_to_string(&mut text)?;
    Ok(text)
}

/// The error for a file that is no archive, or not as it was written.
pub(crate) fn damaged(what: &str) -> Error {
    Error::new(ErrorKind::InvalidData, format!("the PTX archive is damaged: {what}"))
}

//! Archives of PTX: the kernels of a family, for several architectures, in one compressed file that is read kernel by
//! kernel.
//!
//! A program embeds the PTX of hundreds of kernels and launches a few of them. PTX of related kernels is repetitive:
//! compressed together, 46 MB took 3 MB. Compressed as one stream, a program would decode all of it for one kernel. An
//! archive is therefore a series of blocks of about [`BLOCK_BYTES`] of text, each compressed for itself; texts that
//! resemble each other (one kernel for two architectures, one tile for several element types) are neighbours.
//!
//! The format is lzip (<https://www.nongnu.org/lzip/manual/lzip_manual.html#File-format>): each block is a member,
//! which ends with its checksum and size. `lzip -dc` and `xz -dc` (from 5.4) print an archive's text. The first member
//! is the table of contents, as PTX comments: a title, then one line per kernel and architecture:
//!
//! ```text
//! // kernel NAME ARCH BLOCK START LENGTH
//! ```
//!
//! where `BLOCK` counts the members after the table, and `START` and `LENGTH` are bytes of that member's text.
//!
//! ```
//! # #[cfg(feature = "write")] {
//! use ptx_archive::{Archive, Kernel, write};
//!
//! let text = ".version 7.0\n.target sm_80\n.visible .entry scale()\n{\n\tret;\n}\n";
//! let bytes = write("example", &[Kernel { name: "scale", arch: "sm_80", text }]);
//! let archive = Archive::open(&bytes).unwrap();
//! assert_eq!(archive.text("scale", "sm_80").unwrap().as_deref(), Some(text));
//! assert_eq!(archive.text("scale", "sm_90a").unwrap(), None);
//! # }
//! ```

mod members;
mod read;
#[cfg(feature = "write")]
mod write;

pub use read::Archive;
#[cfg(feature = "write")]
pub use write::{BLOCK_BYTES, Kernel, write};

/// What begins a line of the table of contents.
const LINE: &str = "// kernel ";

//! What a panic on a GPU leaves for the host: the layout of one report.
//!
//! After a `trap` no memory of the device can be read, so the report is in host memory that the device can write. Its
//! address is in a `.global` variable of the module, which the host sets when it loads the module; PTX without a panic
//! does not have the variable. The first thread that panics writes: fields, a fence, then `state`; others wait for
//! that. Only PTX that is compiled with `--cfg warpwright_report` has reports; without it a panic is a bare `trap`.
//!
//! For the crate `warpwright` and this one; not part of the public interface.

/// A part of the name of the module's variable. It is a 64-bit address, 0 for none, and a 32-bit flag.
pub const VARIABLE: &str = "warpwright_panic_report";

/// Bytes of a name of a source file, at most.
pub const FILE_BYTES: usize = 256;
/// Bytes of a message, at most.
pub const TEXT_BYTES: usize = 640;

/// A report that is written completely.
pub const WRITTEN: u32 = 1;

/// The message is `text`.
pub const KIND_TEXT: u32 = 0;
/// An access outside a view: `index`, `extent`, and `dimensions`.
pub const KIND_READ: u32 = 1;
/// Likewise, of a write.
pub const KIND_WRITE: u32 = 2;

/// One report.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Report {
    /// 0, or [`WRITTEN`].
    pub state: u32,
    /// What the message is.
    pub kind: u32,
    /// Line and column in the file; 0 if unknown.
    pub line: u32,
    /// Column in the line.
    pub column: u32,
    /// Block in the grid.
    pub block: [u32; 3],
    /// Thread in the block.
    pub thread: [u32; 3],
    /// Bytes of `file`.
    pub file_bytes: u32,
    /// Bytes of `text`.
    pub text_bytes: u32,
    /// Dimensions of `index` and `extent` in use.
    pub dimensions: u32,
    /// For alignment.
    pub unused: u32,
    /// The requested indices.
    pub index: [u64; 2],
    /// The view's extents.
    pub extent: [u64; 2],
    /// Name of the file, cut off if it is longer.
    pub file: [u8; FILE_BYTES],
    /// The message, cut off if it is longer.
    pub text: [u8; TEXT_BYTES],
}

//! What a panic or `println!` on a GPU leaves for the host: the layout of one report, and of lines.
//!
//! After a `trap` no memory of the device can be read, so the report is in host memory that the device can write. Its
//! address is in a `.global` variable of the module, which the host sets when it loads the module; PTX without a panic
//! does not have the variable. The first thread that panics writes: fields, a fence, then `state`; others wait for
//! that. PTX has reports if it is compiled with `--cfg warpwright_report`, as that of users' kernels is by default;
//! without it a panic is a bare `trap`.
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
/// The message is a template with values, in `text`: see [`value`].
pub const KIND_VALUES: u32 = 3;

/// How a message with values is sent.
///
/// `core::fmt::Arguments` is a template and a list of arguments. A kernel sends the template as it is, and then for
/// each argument a 16-bit number of its type and style, and its bytes. `warpwright-build` has put these numbers where
/// the compiler had the addresses of functions, so that no kernel contains `core::fmt`: see its `formatters.rs`. A
/// message that is too long ends where the room ends.
///
/// Such a number has [`MARK`](value::MARK) in its upper half, and below, from the highest byte: references to follow;
/// bytes of the value, or [`STRING`](value::STRING) and the like; style; type.
pub mod value {
    /// The upper half of each number.
    pub const MARK: u64 = 0x5752_4d54;
    /// In place of the size: an address and a length in bytes, 64 bits each. The kernel sends the length in 16 bits,
    /// and the text.
    pub const STRING: u64 = 0x20;
    /// A message within the message. It is sent behind all arguments of the outer one; only one is.
    pub const MESSAGE: u64 = 0x21;
    /// A trait object: the address of a value, and of a table with the true number at index 3. That one is sent.
    pub const DYNAMIC: u64 = 0x22;
    /// Sent for a value of unknown type, without bytes.
    pub const UNKNOWN: u16 = 0;
    /// Sent for a width or a precision that is an argument, of 16 bits.
    pub const COUNT: u16 = 0xffff;
}

/// What `println!` of a kernel leaves for the host.
///
/// A line is a message like that of a panic, in a slot of a buffer in host memory, for all modules of a device. A
/// thread takes a slot by counters in device memory, writes kind, bytes and text, a fence, and then `sequence`. The
/// host reads the slots in order up to the first that is not written, and says in `read` how many it has read: these
/// are free again. The addresses of both are in a `.global` variable of the module; PTX that prints nothing does not
/// have it.
pub mod print {
    use core::sync::atomic::AtomicU32;

    /// A part of the name of the module's variable: the 64-bit addresses of a [`Buffer`] and of [`Counters`].
    pub const VARIABLE: &str = "warpwright_print";
    /// Lines that are not read yet, at most. A power of 2, so that numbers of lines may wrap.
    pub const SLOTS: usize = 2048;
    /// Bytes of a message, at most.
    pub const TEXT_BYTES: usize = 512 - 16;

    /// Counts of lines, in device memory.
    #[repr(C)]
    #[derive(Debug, Default)]
    pub struct Counters {
        /// Lines that have a slot. For a moment also one that finds none.
        pub taken: AtomicU32,
        /// The number of the next line.
        pub next: AtomicU32,
        /// Lines that found no slot.
        pub lost: AtomicU32,
    }

    /// The lines, in host memory.
    #[repr(C)]
    pub struct Buffer {
        /// Lines that the host has read.
        pub read: u32,
        /// Not 0 if a line has found no slot since the host has set it to 0.
        pub full: u32,
        /// For alignment.
        pub unused: [u32; 2],
        /// Line `n` is in slot `n % SLOTS`.
        pub slots: [Slot; SLOTS],
    }

    /// One line.
    #[repr(C)]
    #[derive(Clone, Copy)]
    pub struct Slot {
        /// The number of the line that is written completely, plus 1.
        pub sequence: u32,
        /// What the message is, as in a report.
        pub kind: u32,
        /// Bytes of the message; of a text all, also those that found no room.
        pub bytes: u32,
        /// For alignment.
        pub unused: u32,
        /// The message, cut off if it is longer.
        pub text: [u8; TEXT_BYTES],
    }
}

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

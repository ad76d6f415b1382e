//! Reductions of many lines at once: the common parts of the kernels for rows, columns and segments.
//!
//! A *line* is the elements that are reduced to one result. States and their merges are those of
//! [`whole`](super::whole). Sum and mean, minimum and maximum, `i32` and `u32` share kernels: a run-time parameter
//! selects between them for one instruction or none. This leaves a third of the kernels, which the driver compiles in a
//! third of the time.
//!
//! | module | contents |
//! |---|---|
//! | [`totals`], [`best`] | the reductions with a parameter |
//! | `line` | reduces contiguous elements of a line by a group of threads |
//! | [`chunks`] | merges the states of blocks that share a line |
//! | [`dims`] | computes where a line starts from its number |
//! | `list` | the table of reductions and element types |

#![allow(clippy::needless_range_loop, reason = "an iterator over an array held by value keeps it in local memory")]

pub mod best;
pub mod chunks;
pub mod dims;
pub(crate) mod line;
pub(crate) mod list;
pub mod totals;

/// Threads of a block.
pub const THREADS: u32 = 256;
/// Loads of 16 bytes that a thread has in flight.
pub const IN_FLIGHT: usize = 4;
/// Most lines that are shared by several blocks. A workspace starts with so many words, a ticket counter for each.
pub const TICKETS: usize = 4224;

/// Registers per thread with which `blocks` blocks fit in an SM of 65536, allocated in units of eight.
pub(crate) const fn registers(blocks: u32) -> u32 {
    65_536 / THREADS / blocks / 8 * 8
}

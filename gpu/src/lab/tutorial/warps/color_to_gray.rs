//! Converts a colour picture to grey, one pixel per thread.
//!
//! ```text
//!  76 × 62 pixels, 5 × 4 blocks of 16 × 16      A warp is two rows of a block. Warps diverge where the
//!  ┌────┬────┬────┬────┬────┐                   right edge of the picture is inside: 31 times two rows.
//!  │    │    │    │    │  ▒░│                   Below the last row whole warps are idle; if the height
//!  ├────┼────┼────┼────┼────┤                   is odd, a row of warps is half inside.
//!  …                        …
//! ```
//!
//! Per thread: three loads of 1 byte, 3 bytes apart from the next lane's, and one store of 1 byte. A warp touches 2
//! rows of 48 bytes in each of its three loads: the sectors come from memory once and from the cache twice.

use simt::prelude::*;

/// Edge of a block.
pub const EDGE: u32 = 16;

/// Blocks for a picture of this many rows and columns. A grid is at most 65 535 blocks high: beyond 65 535 · [`EDGE`]
/// rows, launch again on the rows below.
pub const fn grid(rows: u32, cols: u32) -> [u32; 3] {
    [cols.div_ceil(EDGE), rows.div_ceil(EDGE), 1]
}

/// `gray[row][col]` = ⌊(21·r + 72·g + 7·b) / 100⌋ of the pixel: weights of the eye in hundredths, so that the result is
/// exact. `rgb` has the pixels of the picture row by row without gaps, three bytes each; bytes outside it count as 0.
#[kernel(block = (EDGE, EDGE), registers = 16, barriers = 0, global_load_bytes = 1, global_store_bytes = 1)]
pub fn color_to_gray(rgb: VecRef<u8>, gray: MatMut<u8>) {
    let row = block_idx_y() * EDGE + thread_idx_y();
    let col = block_idx_x() * EDGE + thread_idx_x();
    if branch(row < gray.rows() && col < gray.cols()) {
        let first = 3 * (row as usize * gray.cols() as usize + col as usize);
        let [r, g, b] = [0, 1, 2].map(|channel| u32::from(rgb.get_or(first + channel, 0)));
        gray.set(row, col, ((21 * r + 72 * g + 7 * b) / 100) as u8);
    }
}

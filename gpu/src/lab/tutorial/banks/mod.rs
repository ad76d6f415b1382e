//! Shared memory banks: the cost of writing a tile along its rows and reading it along its columns.
//!
//! Shared memory has 32 banks of 4 bytes; word w is in bank w mod 32. A warp's request takes as many wavefronts as its
//! conflict degree: the largest number of *different* words in one bank. Lanes that access the same word share it.
//!
//! ```text
//!  bank      0   1   2   3  …  31             bank      0   1   2   3  …  31
//!  row 0    0,0 0,1 0,2 0,3 … 0,31            row 0    0,0 0,1 0,2 0,3 … 0,31
//!  row 1    1,0 1,1 1,2 1,3 … 1,31            row 1     ×  1,0 1,1 1,2 … 1,30
//!  row 2    2,0 2,1 2,2 2,3 … 2,31            row 2    1,31 ×  2,0 2,1 … 2,29
//!            ▲                                           ▲   ▲   ▲
//!   rows of 32 words: column 0 is in           rows of 33 words, one of them (×) unused:
//!   bank 0 only, degree 32                     column 0 is in all 32 banks, degree 1
//! ```
//!
//! Every kernel here does the same: thread t writes t to the tile along the rows; after a barrier it reads along the
//! columns, and writes the result to global memory at t. That is the numbered tile, transposed. Only the layout differs
//! from step to step.
//!
//! | | tile | row pitch | store / load degree |
//! |---|---|--:|--:|
//! | [`square`] | 32 × 32, laid out at compile time and at launch | 32 | 1 / 32 |
//! | | | 33 | 1 / 1 |
//! | [`rectangular`] | 16 × 32, the same | 32 | 1 / 16 |
//! | | | 33 | 1 / 2 |
//! | | | 34 | 1 / 1 |

pub mod rectangular;
pub mod square;

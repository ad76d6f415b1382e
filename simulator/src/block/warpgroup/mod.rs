//! Matrix products by a warpgroup: `wgmma`.
//!
//! The 128 threads start a product together: each contributes its part of D (and of A, if that is in registers) and
//! waits for the others, so that the product is one. It then has a number and runs on its own. At some time between its
//! start and the first wait that covers it, which the seed chooses, it reads its operands; its result is handed out at
//! the waits.
//!
//! Its reads of shared memory are checked when it starts, against the order of the first thread of the warpgroup, and
//! are under way until the first wait. They then count as reads by the tensor cores, which have an entry of their own
//! in vector clocks: whoever has waited has acquired it, whichever of the 128 threads it is.

mod operands;
mod products;
mod start;
mod wait;

pub(crate) use products::{Operand, Product, Shape, Warpgroup};

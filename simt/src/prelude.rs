//! What an ordinary kernel uses: `use simt::prelude::*;`.

pub use crate::{
    Shared,
    branch::branch,
    global::{MatMut, MatRef, VecMut, VecRef},
    kernel,
    math::{self, Float, fma},
    shared::{DynShared, SharedArray, SharedTile},
    sync::{Order, Scope},
    thread::*,
};

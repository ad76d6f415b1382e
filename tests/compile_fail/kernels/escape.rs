//! A view cannot outlive the launch that it was made for.
use std::sync::OnceLock;

use simt::prelude::*;

static KEPT: OnceLock<VecRef<'static, f32>> = OnceLock::new();

#[kernel]
fn keep(x: VecRef<f32>) {
    let _ = KEPT.set(x);
}

fn main() {}

use simt::prelude::*;

#[kernel]
fn slice(_x: &[f32]) {}

#[kernel]
fn shared_as_argument(_section: DynShared<f32>) {}

#[kernel]
fn plain_array(#[shared] _tile: &[f32; 32]) {}

#[kernel]
fn by_value(#[shared] _tile: SharedArray<f32, 32>) {}

#[kernel]
fn no_element(_x: VecRef<bool>) {}

fn main() {}

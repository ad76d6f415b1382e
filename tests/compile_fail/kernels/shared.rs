use simt::prelude::*;

#[kernel]
fn not_first(x: VecRef<f32>, #[shared] tile: &SharedArray<f32, 32>) {}

#[kernel]
fn twice(#[shared] a: &SharedArray<f32, 32>, #[shared] b: &SharedArray<f32, 32>) {}

#[kernel]
fn other_attribute(#[global] x: VecRef<f32>) {}

fn main() {}

use simt::prelude::*;

#[kernel]
fn returns(x: VecRef<f32>) -> f32 {
    x.get(0)
}

#[kernel]
fn with_lifetime<'a>(x: VecRef<'a, f32>) {}

#[kernel]
async fn waits() {}

#[kernel]
unsafe fn dangerous() {}

#[kernel]
extern "C" fn foreign() {}

#[kernel]
fn method(&self) {}

#[kernel]
fn pattern((x, y): (u32, u32)) {}

#[kernel]
fn map_by_value(map: simt::tma::TensorMap<f32>) {}

fn main() {}

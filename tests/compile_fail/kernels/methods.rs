//! Methods of the standard library's floating-point numbers do not exist on a GPU.
use simt::prelude::*;

#[kernel]
fn softplus(x: VecRef<f32>, y: VecMut<f32>) {
    let i = index_1d();
    y.set(i, x.get(i).exp().ln_1p());
}

#[kernel]
fn angle(x: VecMut<f64>) {
    x.set(0, x.get(0).atan());
}

fn main() {}

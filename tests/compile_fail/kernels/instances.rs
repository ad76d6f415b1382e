use simt::prelude::*;

#[kernel(instances(<f32, 128>, <f64, 64>))]
fn scale<T: Float, const N: usize>(x: VecRef<T>, y: VecMut<T>, factor: T) {
    y.set(N, factor * x.get(N));
}

/// The body is wrong: one message, at its place, for all instances.
#[kernel(instances(<f32>, <f64>))]
fn wrong_body<T: Float>(y: VecMut<T>) {
    y.set(0, 1.0_f32);
}

#[kernel]
fn no_list<T: simt::element::Element>(x: VecRef<T>) {}

#[kernel(instances(<f32>))]
fn not_generic(x: VecRef<f32>) {}

#[kernel(instances(<f32>, <f64, 64>))]
fn count<T: Float>(x: VecRef<T>) {}

#[kernel(instances(<f32>, <f64>, <f32>))]
fn twice<T: Float>(x: VecRef<T>) {}

/// `i32` is no `Float`.
#[kernel(instances(<f32>, <i32>))]
fn bound<T: Float>(x: VecRef<T>) {}

fn main() {
    let _ = scale::<f32, 64>();
}


use simt::prelude::*;

/// A view would leave the launch.
#[kernel(instances(<f32>, <VecRef<'static, f32>>))]
fn stored<T: Copy>(_x: T) {}

fn main() {}

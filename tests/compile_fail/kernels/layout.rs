use simt::prelude::*;

#[derive(Shared)]
struct Unordered {
    a: SharedArray<f32, 32>,
}

#[repr(C)]
#[derive(Shared)]
struct Plain {
    a: f32,
}

#[repr(C, packed)]
#[derive(Shared)]
struct Packed {
    a: SharedArray<f32, 32>,
}

#[repr(C)]
#[derive(Shared)]
enum Choice {
    A,
}

fn main() {}

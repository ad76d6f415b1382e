//! A struct of arguments holds views of its own lifetime: others would outlive the launch.
use simt::{KernelArg, prelude::*};

#[repr(C)]
#[derive(Clone, Copy, KernelArg)]
struct Held {
    x: VecRef<'static, f32>,
}

#[repr(C)]
#[derive(Clone, Copy, KernelArg)]
struct HeldWithOthers<'a> {
    x: VecRef<'static, f32>,
    y: VecMut<'a, f32>,
}

#[repr(C)]
#[derive(Clone, Copy, KernelArg)]
struct Generic<A: Copy> {
    value: A,
}

#[kernel]
fn holds(_held: Held) {}

#[kernel]
fn holds_with_others(_held: HeldWithOthers) {}

#[kernel]
fn holds_a_number(_held: Generic<f32>) {}

#[kernel]
fn holds_a_view(_held: Generic<VecRef<'static, f32>>) {}

fn main() {}

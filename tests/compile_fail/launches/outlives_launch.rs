//! No view can outlive its launch, whatever lifetime the kernel's signature names.
use simt::KernelArg;
use simt::prelude::*;
use simt::tma::{TensorMap, TensorMapMut};

type StaticView = VecMut<'static, u32>;
type StaticTile = &'static SharedArray<f32, 32>;
type StaticMap = TensorMap<'static, f32>;

#[repr(C)]
#[derive(Clone, Copy, KernelArg)]
struct Views<'a> {
    view: VecMut<'a, u32>,
}

/// A static or another thread could keep the value.
fn keep(_: impl Sized + 'static) {}

#[kernel]
fn explicit(view: VecMut<'static, u32>) {
    keep(view);
}

#[kernel]
fn alias(view: StaticView) {
    keep(view);
}

#[kernel]
fn field(views: Views<'static>) {
    keep(views.view);
}

#[kernel]
fn shared(#[shared] tile: &'static SharedArray<f32, 32>) {
    keep(tile);
}

#[kernel]
fn shared_alias(#[shared] tile: StaticTile) {
    keep(tile);
}

#[kernel]
fn dyn_shared(#[shared] section: DynShared<'static, f32>) {
    keep(section);
}

#[kernel]
fn tensor_map(map: &'static TensorMap<'static, f32>) {
    keep(map);
}

#[kernel]
fn tensor_map_copy(map: &TensorMap<f32>) {
    keep(*map);
}

#[kernel]
fn tensor_map_mut(map: &TensorMapMut<'static, f32>) {
    keep(**map);
}

#[kernel]
fn tensor_map_alias(map: StaticMap) {
    keep(map);
}

fn main() {}

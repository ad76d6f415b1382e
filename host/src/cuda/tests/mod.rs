//! The CUDA back end on the mock driver.

mod algorithms;
mod clusters;
mod failures;
mod fault_injection;
mod order;
mod pdl;
mod tma_encoding;

use gpu::elementwise::add::{add_f32, grid};

use super::mock::{self, Character};
use crate::{Buffer, Device, Launch, Module, Stream};

/// The part of PTX that the mock reads.
const PTX: &str = ".version 8.0\n.target sm_80\n.visible .entry add_f32(";

fn device(ordinal: u32) -> Device {
    mock::install();
    Device::cuda(ordinal).unwrap()
}

fn module(device: &Device) -> Module {
    // SAFETY: the mock runs what the kernel computes.
    unsafe { Module::from_ptx(device, "mock", PTX) }.unwrap()
}

/// z = x + y on a stream.
fn add(stream: &Stream, module: &Module, x: &Buffer<f32>, y: &Buffer<f32>, z: &mut Buffer<f32>) {
    let launch = Launch::grid(grid(z.len())).module(module).stream(stream);
    stream.device().launch(&add_f32, launch, (x, y, z)).unwrap();
}

#[test]
fn hardware_figures_come_from_the_driver() {
    let hardware = device(0).hardware().unwrap().expect("a GPU");
    assert_eq!((hardware.sm_count, hardware.clock_khz, hardware.l2_bytes), (132, 1_980_000, 50 << 20));
    assert_eq!((hardware.memory_clock_khz, hardware.memory_bus_bits), (3_201_000, 6144));
}

//! The CUDA back end on the mock driver.

mod algorithms;
mod allocations;
mod clusters;
mod declared;
mod failures;
mod fault_injection;
mod graph_launches;
mod order;
mod own_kernels;
mod pdl;
mod printing;
mod random_calls;
mod tma_encoding;

use gpu::elementwise::add::{add_f32, grid};
use simt::KernelInfo;

use super::declared::line;
use super::mock::{self, Character};
use crate::{Buffer, Device, Launch, Module, Stream};

/// PTX of these kernels, as far as this crate and the mock read it.
fn ptx(kernels: &[&KernelInfo]) -> String {
    let entry = |info: &&KernelInfo| {
        let cluster =
            if info.cluster > 1 { format!(".reqnctapercluster {}, 1, 1\n", info.cluster) } else { String::new() };
        format!(".visible .entry {}(\n)\n{}\n{cluster}{{\n\tret;\n}}\n", info.name, line(info))
    };
    ".version 8.0\n.target sm_80\n".to_owned() + &kernels.iter().map(entry).collect::<String>()
}

fn device(ordinal: u32) -> Device {
    mock::install();
    Device::cuda(ordinal).unwrap()
}

fn module(device: &Device) -> Module {
    // SAFETY: the mock runs what the kernel computes.
    unsafe { Module::from_ptx(device, "mock", &ptx(&[add_f32.info()])) }.unwrap()
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
    assert_eq!(device(0).limits().memory_bandwidth, Device::simulator().limits().memory_bandwidth);
}

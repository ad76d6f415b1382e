//! Programmatic dependent launch (PDL).

use gpu::elementwise::add::add_f32;
use simt::prelude::*;

use super::{Character, device, mock, ptx};
use crate::{Device, Launch, Module};

/// z = x + y.
#[kernel(pdl, block = 64)]
fn add_with_pdl(x: VecRef<f32>, y: VecRef<f32>, z: VecMut<f32>) {
    simt::grid::dependency_wait();
    let i = index_1d();
    if branch(i < z.len()) {
        z.set(i, x.get(i) + y.get(i));
    }
}

/// 4·x by three launches, the second one with PDL.
fn run(device: &Device) -> Vec<f32> {
    // SAFETY: the mock runs what the kernels compute.
    let module = unsafe { Module::from_ptx(device, "mock", &ptx(&[add_f32.info(), add_with_pdl.info()])) }.unwrap();
    let x = device.upload(&[1.0_f32, 2.0, 3.0]).unwrap();
    let [mut y, mut z] = [0; 2].map(|_| device.alloc::<f32>(3).unwrap());
    let launch = || Launch::grid(1).module(&module);
    device.launch(&add_f32, launch(), (&x, &x, &mut y)).unwrap();
    device.launch(&add_with_pdl, launch(), (&y, &x, &mut z)).unwrap();
    device.launch(&add_f32, launch(), (&z, &x, &mut y)).unwrap();
    y.download().unwrap()
}

#[test]
fn a_pdl_kernel_is_launched_with_the_attribute_and_no_other() {
    let ordinal = mock::ordinal(Character::Pdl);
    assert_eq!(run(&device(ordinal)), [4.0, 8.0, 12.0]);
    let machine = mock::machine(ordinal);
    assert_eq!(machine.pdl, [false, true, false]);
    assert_eq!(machine.launches, [256, 64, 256].map(|threads| ([1, 1, 1], [threads, 1, 1], 0)));
    assert!(machine.violations.is_empty(), "{:?}", machine.violations);
}

#[test]
fn a_driver_without_launch_attributes_launches_without_pdl() {
    let ordinal = mock::ordinal(Character::OldDriver);
    assert_eq!(run(&device(ordinal)), [4.0, 8.0, 12.0]);
    assert_eq!(mock::machine(ordinal).pdl, [false; 3]);
}

#[test]
fn the_simulator_runs_a_pdl_kernel() {
    let device = Device::simulator();
    let x = device.upload(&[1.0_f32, 2.0, 3.0]).unwrap();
    let mut y = device.alloc::<f32>(3).unwrap();
    device.launch(&add_with_pdl, Launch::grid(1), (&x, &x, &mut y)).unwrap();
    assert_eq!(y.download().unwrap(), [2.0, 4.0, 6.0]);
}

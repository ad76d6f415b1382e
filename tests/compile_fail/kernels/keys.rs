use simt::kernel;

#[kernel(blocks = (32, 32))]
fn unknown() {}

#[kernel(block = (1, 2, 3, 4))]
fn four_extents() {}

#[kernel(registers = 32, registers = 40)]
fn twice() {}

#[kernel(block = (32), max_threads = 64)]
fn contradiction() {}

#[kernel(block = (32.5))]
fn a_fraction_of_a_thread() {}

#[kernel(pdl = true)]
fn no_value() {}

#[kernel(pdl, block = 32, pdl)]
fn pdl_twice() {}

fn main() {}

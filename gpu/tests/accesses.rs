//! Vector accesses, asynchronous copies and arithmetic on the simulator: each kernel of the instruction tests must give
//! the results that its documentation defines.

mod common;

use common::{Buffer, SEEDS, noise, run};
use gpu::lab::instructions::{arithmetic, async_copy, vectors};
use half::{bf16, f16};
use simt::{
    Kernel,
    element::Element,
    global::{VecMut, VecRef},
};

/// A copy of `n` elements in vectors of `lanes`; remaining elements are unchanged.
fn check_copy<T: Element + PartialEq + std::fmt::Debug>(
    kernel: Kernel<(VecRef<'static, T>, VecMut<'static, T>)>,
    lanes: usize,
    convert: fn(u32) -> T,
) {
    for n in [lanes, 5 * lanes, 128 * lanes, 300 * lanes + lanes - 1] {
        let x: Vec<T> = noise(n).into_iter().map(convert).collect();
        let before: Vec<T> = noise(2 * n).into_iter().skip(n).map(convert).collect();
        let expected = [&x[..n / lanes * lanes], &before[n / lanes * lanes..]].concat();
        let (input, out) = (Buffer::input(0, &x), Buffer::inout(1, &before));
        let args = (input.vec(), out.vec_mut());
        run(kernel.info(), 0, vectors::grid(n, lanes), [vectors::BLOCK, 1, 1], 0, &[&input, &out], || {
            kernel.entry()(args);
        });
        assert_eq!(out.read(), expected, "{}, {n} elements", kernel.info().name);
    }
}

#[test]
fn vector_accesses_of_every_width_copy() {
    let half = |x| f16::from_bits(x as u16 & 0x7bff);
    check_copy(vectors::copy_u8, 1, |x| x as u8);
    check_copy(vectors::copy_f16, 1, half);
    check_copy(vectors::copy_f64, 1, f64::from);
    check_copy(vectors::copy_u8x4, 4, |x| x as u8);
    check_copy(vectors::copy_u8x16, 16, |x| x as u8);
    check_copy(vectors::copy_f16x8, 8, half);
    check_copy(vectors::copy_f32x2, 2, |x| x as f32);
    check_copy(vectors::copy_f32x4, 4, |x| x as f32);
    check_copy(vectors::copy_f32x4_cs, 4, |x| x as f32);
    check_copy(vectors::copy_f64x2, 2, f64::from);
}

/// `x` with each section of `section` elements reversed.
fn reversed(x: &[f32], section: usize) -> Vec<f32> {
    x.chunks(section).flat_map(|section| section.iter().rev().copied()).collect()
}

fn floats(n: usize) -> Vec<f32> {
    noise(n).into_iter().map(|x| x as f32).collect()
}

#[test]
fn vectors_pass_through_shared_memory() {
    let x = floats(3 * 512);
    for seed in SEEDS {
        let (input, out) = (Buffer::input(0, &x), Buffer::output(1, x.len()));
        let (kernel, args) = (vectors::reverse_in_shared, (input.vec(), out.vec_mut()));
        run(kernel.info(), seed, [3, 1, 1], [128, 1, 1], 2048, &[&input, &out], || kernel.entry()(args));
        assert_eq!(out.read(), reversed(&x, 512), "seed {seed}");
    }
}

#[test]
fn asynchronous_copies_complete() {
    let x = floats(3 * async_copy::WIDTHS);
    for seed in SEEDS {
        let (input, out) = (Buffer::input(0, &x), Buffer::output(1, x.len()));
        let (kernel, args) = (async_copy::async_widths, (input.vec(), out.vec_mut()));
        let shared = 4 * async_copy::WIDTHS;
        run(kernel.info(), seed, [3, 1, 1], [64, 1, 1], shared, &[&input, &out], || kernel.entry()(args));
        assert_eq!(out.read(), reversed(&x, async_copy::WIDTHS), "seed {seed}");
    }
}

#[test]
fn an_asynchronous_pipeline_keeps_the_order_of_rows() {
    for rows in [1, 2, 7] {
        let x = floats(rows * 64);
        for seed in SEEDS {
            let (input, out) = (Buffer::input(0, &x), Buffer::output(1, x.len()));
            let (kernel, args) = (async_copy::async_pipeline, (input.vec(), out.vec_mut()));
            run(kernel.info(), seed, [1, 1, 1], [64, 1, 1], 512, &[&input, &out], || kernel.entry()(args));
            assert_eq!(out.read(), reversed(&x, 64), "{rows} rows, seed {seed}");
        }
    }
}

/// All exponents and signs, no NaN.
fn wide_range(n: usize) -> Vec<f32> {
    noise(n).into_iter().map(f32::from_bits).map(|x| if x.is_nan() { 1.5 } else { x }).collect()
}

#[test]
fn fma_and_sqrt_round_correctly() {
    let x = wide_range(3 * 500);
    let (a, b, c) = (&x[..500], &x[500..1000], &x[1000..]);
    let bits = |x: f32| if x.is_nan() { f32::NAN.to_bits() } else { x.to_bits() };
    let expected: Vec<_> = (0..500).map(|i| bits(a[i].mul_add(b[i], c[i]).abs().sqrt())).collect();
    let buffers = (Buffer::input(0, a), Buffer::input(1, b), Buffer::input(2, c), Buffer::output(3, 500));
    let args = (buffers.0.vec(), buffers.1.vec(), buffers.2.vec(), buffers.3.vec_mut());
    let kernel = arithmetic::fma_and_sqrt_f32;
    let bound: [&dyn common::Bound; 4] = [&buffers.0, &buffers.1, &buffers.2, &buffers.3];
    run(kernel.info(), 0, [4, 1, 1], [128, 1, 1], 0, &bound, || kernel.entry()(args));
    assert_eq!(buffers.3.read().into_iter().map(bits).collect::<Vec<_>>(), expected);

    let x: Vec<f64> = noise(3 * 500).into_iter().map(|x| f64::from(x).sqrt() - 30000.0).collect();
    let (a, b, c) = (&x[..500], &x[500..1000], &x[1000..]);
    let expected: Vec<_> = (0..500).map(|i| a[i].mul_add(b[i], c[i]).abs().sqrt()).collect();
    let buffers = (Buffer::input(0, a), Buffer::input(1, b), Buffer::input(2, c), Buffer::output(3, 500));
    let args = (buffers.0.vec(), buffers.1.vec(), buffers.2.vec(), buffers.3.vec_mut());
    let kernel = arithmetic::fma_and_sqrt_f64;
    let bound: [&dyn common::Bound; 4] = [&buffers.0, &buffers.1, &buffers.2, &buffers.3];
    run(kernel.info(), 0, [4, 1, 1], [128, 1, 1], 0, &bound, || kernel.entry()(args));
    assert_eq!(buffers.3.read(), expected);
}

#[test]
fn narrow_floats_round_to_nearest_even() {
    let x = wide_range(1000);
    let (input, z) = (Buffer::input(0, &x), Buffer::output(2, 1000));
    let y = Buffer::<f16>::output(1, 1000);
    let (kernel, args) = (arithmetic::round_to_f16, (input.vec(), y.vec_mut(), z.vec_mut()));
    run(kernel.info(), 0, [8, 1, 1], [128, 1, 1], 0, &[&input, &y, &z], || kernel.entry()(args));
    let expected: Vec<_> = x.iter().map(|&x| f16::from_f32(x)).collect();
    assert_eq!(y.read(), expected);
    assert_eq!(z.read(), expected.into_iter().map(f16::to_f32).collect::<Vec<_>>());

    let (input, z) = (Buffer::input(0, &x), Buffer::output(2, 1000));
    let y = Buffer::<bf16>::output(1, 1000);
    let (kernel, args) = (arithmetic::round_to_bf16, (input.vec(), y.vec_mut(), z.vec_mut()));
    run(kernel.info(), 0, [8, 1, 1], [128, 1, 1], 0, &[&input, &y, &z], || kernel.entry()(args));
    let expected: Vec<_> = x.iter().map(|&x| bf16::from_f32(x)).collect();
    assert_eq!(y.read(), expected);
    assert_eq!(z.read(), expected.into_iter().map(bf16::to_f32).collect::<Vec<_>>());
}

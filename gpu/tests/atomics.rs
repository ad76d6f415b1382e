//! Atomic operations and memory order on the simulator: each kernel of the instruction tests must give the results that
//! its documentation defines.

mod common;

use common::{Buffer, SEEDS, noise, run};
use gpu::lab::instructions::{atomics, order};
use simt::{
    Kernel,
    element::Element,
    global::{VecMut, VecRef},
};

/// Runs a kernel that combines `x` into `out` with 2 blocks more than needed. Returns `out`.
fn tally<T: Element, U: Element>(
    kernel: Kernel<(VecRef<'static, T>, VecMut<'static, U>)>,
    seed: u64,
    x: &[T],
    before: &[U],
    shared: usize,
) -> Vec<U> {
    let (input, out) = (Buffer::input(0, x), Buffer::inout(1, before));
    let (args, blocks) = ((input.vec(), out.vec_mut()), x.len().div_ceil(64) as u32 + 2);
    run(kernel.info(), seed, [blocks, 1, 1], [64, 1, 1], shared, &[&input, &out], || kernel.entry()(args));
    out.read()
}

#[test]
fn atomics_combine_integers() {
    let x = noise(1000);
    let wide: Vec<u64> = x.iter().map(|&x| u64::from(x) << 20 | u64::from(x) >> 7).collect();
    let signed: Vec<i32> = x.iter().map(|&x| x as i32).collect();
    let long: Vec<i64> = wide.iter().map(|&x| x.cast_signed().wrapping_neg() / 3).collect();
    let u32s = [
        x.iter().fold(5, |a: u32, &b| a.wrapping_add(b)),
        x.iter().fold(u32::MAX, |a, &b| a.min(b)),
        x.iter().fold(0, |a, &b| a.max(b)),
        x[..3].iter().fold(u32::MAX, |a, &b| a & b),
        x.iter().fold(0, |a, &b| a | b),
        x.iter().fold(0, |a, &b| a ^ b),
    ];
    let u64s = [
        wide.iter().fold(5, |a: u64, &b| a.wrapping_add(b)),
        wide.iter().fold(u64::MAX, |a, &b| a.min(b)),
        wide.iter().fold(0, |a, &b| a.max(b)),
        wide.iter().fold(u64::MAX, |a, &b| a & b),
        wide.iter().fold(0, |a, &b| a | b),
        wide.iter().fold(0, |a, &b| a ^ b),
    ];
    for seed in SEEDS {
        let got = tally(atomics::atomic_tally_u32, seed, &x, &[5, u32::MAX, 0, u32::MAX, 0, 0], 0);
        // The bitwise and of many numbers is 0, so that of three is tested instead.
        let few = tally(atomics::atomic_tally_u32, seed, &x[..3], &[0, 0, 0, u32::MAX, 0, 0], 0);
        assert_eq!([got[0], got[1], got[2], few[3], got[4], got[5]], u32s, "u32, seed {seed}");
        assert_eq!(tally(atomics::atomic_tally_u64, seed, &wide, &[5, u64::MAX, 0, u64::MAX, 0, 0], 0), u64s);
        let expected = [
            signed.iter().fold(-7, |a: i32, &b| a.wrapping_add(b)),
            *signed.iter().min().unwrap(),
            *signed.iter().max().unwrap(),
        ];
        assert_eq!(tally(atomics::atomic_tally_i32, seed, &signed, &[-7, i32::MAX, i32::MIN], 0), expected);
        let expected = [*long.iter().min().unwrap(), *long.iter().max().unwrap()];
        assert_eq!(tally(atomics::atomic_bounds_i64, seed, &long, &[i64::MAX, i64::MIN], 0), expected);
    }
}

#[test]
fn atomics_sum_floats() {
    // Integers as floats: exact in every order.
    let x: Vec<f32> = noise(500).into_iter().map(|x| (x % 100) as f32).collect();
    let y: Vec<f64> = x.iter().map(|&x| f64::from(x) * 0.5).collect();
    for seed in SEEDS {
        assert_eq!(tally(atomics::atomic_sum_f32, seed, &x, &[1.0], 0), [1.0 + x.iter().sum::<f32>()]);
        assert_eq!(tally(atomics::atomic_sum_f64, seed, &y, &[1.0], 0), [1.0 + y.iter().sum::<f64>()]);
        let greatest = tally(atomics::atomic_max_by_cas, seed, &x, &[f32::NEG_INFINITY.to_bits()], 0);
        assert_eq!(f32::from_bits(greatest[0]), x.iter().fold(f32::NEG_INFINITY, |a, &b| a.max(b)));
    }
}

#[test]
fn swaps_return_every_value_exactly_once() {
    for seed in SEEDS {
        let (seen, cell) = (Buffer::output(0, 200), Buffer::inout(1, &[0_u32]));
        let (kernel, args) = (atomics::atomic_swap_chain, (seen.vec_mut(), cell.vec_mut()));
        run(kernel.info(), seed, [4, 1, 1], [64, 1, 1], 0, &[&seen, &cell], || kernel.entry()(args));
        let mut all = [seen.read(), cell.read()].concat();
        all.sort_unstable();
        assert_eq!(all, (0..=200).collect::<Vec<u32>>(), "seed {seed}");
    }
}

#[test]
fn blocks_count_in_shared_memory() {
    let x = noise(777);
    let mut expected = vec![3; atomics::BINS as usize];
    for value in &x {
        expected[(value % atomics::BINS) as usize] += 1;
    }
    for seed in SEEDS {
        let counts = tally(atomics::shared_histogram, seed, &x, &vec![3; atomics::BINS as usize], 4 * 64);
        assert_eq!(counts, expected, "seed {seed}");
    }
}

#[test]
fn every_order_and_scope_is_atomic() {
    for seed in SEEDS {
        let out = Buffer::inout(0, &(0..order::CELLS as u32).collect::<Vec<_>>());
        let (kernel, view) = (order::orders_and_scopes, out.vec_mut());
        run(kernel.info(), seed, [1, 1, 1], [64, 1, 1], 4 * order::CELLS.next_multiple_of(4), &[&out], || {
            kernel.entry()((view,));
        });
        assert_eq!(out.read(), (0..order::CELLS as u32).map(|cell| cell + 64 * 64).collect::<Vec<_>>());
    }
}

#[test]
fn a_release_flag_makes_shared_memory_visible() {
    let x = noise(32).into_iter().map(|x| x / 2).collect::<Vec<_>>();
    for seed in SEEDS {
        let (input, out) = (Buffer::input(0, &x), Buffer::output(1, 32));
        let (kernel, args) = (order::shared_flag, (input.vec(), out.vec_mut()));
        let shared = size_of::<order::Message>();
        run(kernel.info(), seed, [1, 1, 1], [64, 1, 1], shared, &[&input, &out], || kernel.entry()(args));
        assert_eq!(out.read(), x.iter().map(|x| x + 1).collect::<Vec<_>>(), "seed {seed}");
    }
}

#[test]
fn the_last_block_sees_all_others() {
    let blocks = 37;
    for kernel in [order::last_block_by_fence, order::last_block_by_order] {
        for seed in SEEDS {
            let (partial, ticket, out) = (Buffer::output(0, blocks), Buffer::inout(1, &[0_u32]), Buffer::output(2, 1));
            let args = (partial.vec_mut(), ticket.vec_mut(), out.vec_mut());
            run(kernel.info(), seed, [blocks as u32, 1, 1], [64, 1, 1], 0, &[&partial, &ticket, &out], || {
                kernel.entry()(args);
            });
            assert_eq!(
                out.read(),
                [(0..blocks as u32).map(|b| 3 * b).sum::<u32>()],
                "{}, seed {seed}",
                kernel.info().name
            );
        }
    }
}

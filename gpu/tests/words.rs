//! The words of `simt` on the simulator: each kernel of the vocabulary against the rule that its documentation states.

mod common;

use common::{Buffer, SEEDS, noise, run};
use gpu::ladder::vocabulary::{arithmetic, async_copy, atomics, barriers, geometry, order, vectors, warps};
use half::{bf16, f16};
use simt::{
    Kernel,
    element::Element,
    global::{VecMut, VecRef},
};

#[test]
fn threads_know_where_they_stand() {
    let (grid, block) = ([2, 3, 2], [4, 8, 2]);
    let threads: u32 = grid.iter().chain(&block).product();
    let mut expected = Vec::new();
    for (bz, by, bx) in indices(grid) {
        for (number, (z, y, x)) in indices(block).enumerate() {
            let n = number as u32;
            expected.extend([x, y, z, bx, by, bz, 4, 8, 2, 2, 3, 2, n, n / 32, n % 32, 32]);
        }
    }
    let out = Buffer::output(0, expected.len());
    let kernel = geometry::thread_geometry;
    let view = out.mat_mut(threads, geometry::FIELDS as u32);
    run(kernel.info(), 7, grid, block, 0, &[&out], || kernel.entry()((view,)));
    assert_eq!(out.read(), expected);
}

/// All (z, y, x) below the extents, x fastest.
fn indices([x, y, z]: [u32; 3]) -> impl Iterator<Item = (u32, u32, u32)> {
    (0..z).flat_map(move |z| (0..y).flat_map(move |y| (0..x).map(move |x| (z, y, x))))
}

#[test]
fn clocks_do_not_run_backwards() {
    let out = Buffer::output(0, 4 * 64);
    let (kernel, view) = (geometry::clocks, out.vec_mut());
    run(kernel.info(), 0, [2, 1, 1], [32, 1, 1], 0, &[&out], || kernel.entry()((view,)));
    for (thread, times) in out.read().chunks(4).enumerate() {
        assert!(times[0] <= times[1] && times[2] <= times[3], "thread {thread}: {times:?}");
    }
}

#[test]
fn shuffles_follow_the_rule_of_ptx() {
    let x = noise(warps::BLOCK as usize);
    for width in [32, 16, 8, 4, 2, 1] {
        for arg in [0, 1, 3, 5, 16, 31] {
            let expected: Vec<u32> = (0..warps::BLOCK)
                .flat_map(|thread| {
                    let (warp, lane) = (thread / 32 * 32, thread % 32);
                    let (first, end) = (lane / width * width, lane / width * width + width);
                    let from = |source: u32, inside: bool| {
                        [x[(warp + if inside { source } else { lane }) as usize], u32::from(inside)]
                    };
                    let (up, down, xor) = (lane.wrapping_sub(arg), lane + arg, lane ^ arg);
                    [
                        from(first + arg % width, true),
                        from(up, lane >= first + arg),
                        from(down, down < end),
                        from(xor, xor < end),
                    ]
                })
                .flatten()
                .collect();
            let (input, out) = (Buffer::input(0, &x), Buffer::output(1, expected.len()));
            let (kernel, args) = (warps::warp_shuffles, (input.vec(), width, arg, out.mat_mut(warps::BLOCK, 8)));
            run(kernel.info(), 3, [1, 1, 1], [warps::BLOCK, 1, 1], 0, &[&input, &out], || kernel.entry()(args));
            assert_eq!(out.read(), expected, "width {width}, argument {arg}");
        }
    }
}

#[test]
fn eight_byte_values_are_shuffled_whole() {
    let x: Vec<f64> = noise(64).into_iter().map(|x| f64::from(x) * 1e-3).collect();
    let mut expected = x.clone();
    for apart in [16, 8, 4, 2, 1] {
        expected = (0..64).map(|i| expected[i] + expected[i ^ apart]).collect();
    }
    let (input, out) = (Buffer::input(0, &x), Buffer::output(1, 64));
    let (kernel, args) = (warps::warp_sum_f64, (input.vec(), out.vec_mut()));
    run(kernel.info(), 1, [1, 1, 1], [64, 1, 1], 0, &[&input, &out], || kernel.entry()(args));
    assert_eq!(out.read(), expected);
}

#[test]
fn halves_of_a_warp_vote_apart() {
    let x = noise(64);
    for limit in [0, 1 << 31, u32::MAX] {
        let expected: Vec<u32> = (0..64_usize)
            .flat_map(|i| {
                let half = i / 16 * 16;
                let votes = (half..half + 16).map(|j| u32::from(x[j] >= limit) << (j % 32));
                let (all, any) = (votes.clone().all(|vote| vote != 0), votes.clone().any(|vote| vote != 0));
                [u32::from(all), u32::from(any), votes.sum()]
            })
            .collect();
        for seed in SEEDS {
            let (input, out) = (Buffer::input(0, &x), Buffer::output(1, expected.len()));
            let (kernel, args) = (warps::warp_votes, (input.vec(), limit, out.mat_mut(64, 3)));
            run(kernel.info(), seed, [1, 1, 1], [64, 1, 1], 0, &[&input, &out], || kernel.entry()(args));
            assert_eq!(out.read(), expected, "limit {limit}, seed {seed}");
        }
    }
}

#[test]
fn lanes_find_their_equals() {
    // The second warp's values are all the same; 64-bit values differ in their upper half only.
    let x: Vec<u32> = noise(64).into_iter().enumerate().map(|(i, x)| if i < 32 { x % 5 } else { 9 }).collect();
    let y: Vec<u64> =
        noise(64).into_iter().enumerate().map(|(i, x)| if i < 32 { u64::from(x % 3) << 32 } else { 1 }).collect();
    let expected: Vec<u32> = (0..64_usize)
        .flat_map(|i| {
            let warp = i / 32 * 32..i / 32 * 32 + 32;
            let narrow: u32 = warp.clone().map(|j| u32::from(x[j] == x[i]) << (j % 32)).sum();
            let wide: u32 = warp.map(|j| u32::from(y[j] == y[i]) << (j % 32)).sum();
            let all = |lanes| if lanes == u32::MAX { [lanes, 1] } else { [0, 0] };
            [[narrow, wide], all(narrow), all(wide)].concat()
        })
        .collect();
    let (x, y, out) = (Buffer::input(0, &x), Buffer::input(1, &y), Buffer::output(2, expected.len()));
    let (kernel, args) = (warps::warp_matches, (x.vec(), y.vec(), out.mat_mut(64, 6)));
    run(kernel.info(), 5, [1, 1, 1], [64, 1, 1], 0, &[&x, &y, &out], || kernel.entry()(args));
    assert_eq!(out.read(), expected);
}

#[test]
fn a_warp_reduces_integers() {
    let x = noise(64);
    let expected: Vec<u32> = x
        .chunks(32)
        .flat_map(|warp| {
            let signed = || warp.iter().map(|&x| x as i32);
            let row = [
                warp.iter().fold(0, |a: u32, &b| a.wrapping_add(b)),
                *warp.iter().min().unwrap(),
                *warp.iter().max().unwrap(),
                signed().fold(0, i32::wrapping_add) as u32,
                signed().min().unwrap() as u32,
                signed().max().unwrap() as u32,
                warp.iter().fold(u32::MAX, |a, &b| a & b),
                warp.iter().fold(0, |a, &b| a | b),
                warp.iter().fold(0, |a, &b| a ^ b),
            ];
            row.repeat(32)
        })
        .collect();
    let (input, out) = (Buffer::input(0, &x), Buffer::output(1, expected.len()));
    let (kernel, args) = (warps::warp_reductions, (input.vec(), out.mat_mut(64, 9)));
    run(kernel.info(), 2, [1, 1, 1], [64, 1, 1], 0, &[&input, &out], || kernel.entry()(args));
    assert_eq!(out.read(), expected);
}

#[test]
fn barriers_vote() {
    for threads in [1, 48, 256] {
        for x in [noise(2 * threads), vec![1; 2 * threads], vec![2; 2 * threads]] {
            let expected: Vec<u32> = x
                .chunks(threads)
                .flat_map(|block| {
                    let odd = block.iter().filter(|&&x| x % 2 == 1).count();
                    [odd as u32, u32::from(odd == threads), u32::from(odd > 0)].repeat(threads)
                })
                .collect();
            let (input, out) = (Buffer::input(0, &x), Buffer::output(1, expected.len()));
            let (kernel, args) = (barriers::barrier_votes, (input.vec(), out.mat_mut(2 * threads as u32, 3)));
            run(kernel.info(), 4, [2, 1, 1], [threads as u32, 1, 1], 0, &[&input, &out], || kernel.entry()(args));
            assert_eq!(out.read(), expected, "{threads} threads");
        }
    }
}

#[test]
fn named_barriers_hand_over() {
    let x = noise(5 * 32);
    let expected: Vec<_> = (0..x.len()).map(|i| x[i ^ 31]).collect();
    for seed in SEEDS {
        let (input, out) = (Buffer::input(0, &x), Buffer::output(1, x.len()));
        let (kernel, args) = (barriers::named_hand_over, (input.vec(), out.vec_mut()));
        run(kernel.info(), seed, [1, 1, 1], [64, 1, 1], 128, &[&input, &out], || kernel.entry()(args));
        assert_eq!(out.read(), expected, "seed {seed}");
    }
}

#[test]
fn a_warp_barrier_orders_shared_memory() {
    let x = noise(128);
    let expected: Vec<_> = (0..128).map(|i| x[i / 32 * 32 + (i + 1) % 32]).collect();
    for seed in SEEDS {
        let (input, out) = (Buffer::input(0, &x), Buffer::output(1, 128));
        let (kernel, args) = (barriers::warp_rotate, (input.vec(), out.vec_mut()));
        run(kernel.info(), seed, [2, 1, 1], [64, 1, 1], 256, &[&input, &out], || kernel.entry()(args));
        assert_eq!(out.read(), expected, "seed {seed}");
    }
}

/// Runs a kernel that combines `x` into `out` by 2 blocks more than there is work for, and gives `out`.
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
        // The and of many numbers is 0, which says little: that of three is computed apart.
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
fn swaps_lose_and_double_nothing() {
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
fn a_flag_publishes_shared_memory() {
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

/// A copy of `n` elements in vectors of `lanes`: those that fill no vector stay.
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
fn accesses_of_every_width_copy() {
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
fn asynchronous_copies_land() {
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
fn an_asynchronous_pipeline_keeps_its_order() {
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
fn fma_and_sqrt_round_as_the_standard_says() {
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

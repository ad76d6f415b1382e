//! Thread geometry, warps and barriers on the simulator: each kernel of the instruction tests must give the results
//! that its documentation defines.

mod common;

use common::{Buffer, SEEDS, noise, run};
use gpu::lab::instructions::{barriers, geometry, warps};

#[test]
fn threads_read_their_indices_and_extents() {
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
fn shuffles_match_the_definition_in_ptx() {
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
fn eight_byte_values_are_shuffled_as_one() {
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
fn halves_of_a_warp_vote_separately() {
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
fn lanes_find_lanes_with_equal_values() {
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
fn named_barriers_synchronise_a_pipeline() {
    let x = noise(5 * 32);
    let expected: Vec<_> = (0..x.len()).map(|i| x[i ^ 31]).collect();
    for seed in SEEDS {
        let (input, out) = (Buffer::input(0, &x), Buffer::output(1, x.len()));
        let (kernel, args) = (barriers::named_barrier_pipeline, (input.vec(), out.vec_mut()));
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

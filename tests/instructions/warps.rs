//! Shuffles, votes, matches and reductions of a warp.

use gpu::lab::instructions::warps::{self as kernels, BLOCK};
use warpwright::{Device, Error, Launch, Matrix};

use crate::case::{CANARY, Case, Outcome, noise, same};

pub(crate) const CASES: &[Case] = &[
    Case { kernel: kernels::warp_shuffles.info(), run: shuffles },
    Case { kernel: kernels::warp_shuffle_several.info(), run: several },
    Case { kernel: kernels::warp_sum_f64.info(), run: sum_f64 },
    Case { kernel: kernels::warp_trees.info(), run: trees },
    Case { kernel: kernels::warp_votes.info(), run: votes },
    Case { kernel: kernels::warp_matches.info(), run: matches },
    Case { kernel: kernels::warp_reductions.info(), run: reductions },
];

/// Threads of the one block that each case launches: two warps.
const N: usize = BLOCK as usize;

/// A matrix with a row of `cols` elements for each thread.
fn rows(device: &Device, cols: usize) -> Result<Matrix<u32>, Error> {
    device.upload_matrix(&vec![CANARY; N * cols], N, cols)
}

/// The expected results, from the definition of `shfl.sync` in the PTX manual.
fn shuffled(x: &[u32], width: u32, arg: u32) -> Vec<u32> {
    let row = |thread: u32| {
        let (warp, lane) = (thread / 32 * 32, thread % 32);
        let (first, end) = (lane / width * width, lane / width * width + width);
        let from =
            |source: u32, inside: bool| [x[(warp + if inside { source } else { lane }) as usize], u32::from(inside)];
        let (up, down, xor) = (lane.wrapping_sub(arg), lane + arg, lane ^ arg);
        let by_index = from(first + arg % width, true);
        [by_index, from(up, lane >= first + arg), from(down, down < end), from(xor, xor < end)].concat()
    };
    (0..BLOCK).flat_map(row).collect()
}

fn shuffles(device: &Device) -> Outcome {
    let x = noise(N);
    let input = device.upload(&x[..])?;
    let mut all = Vec::new();
    for width in [32, 16, 8, 4, 2, 1_u32] {
        for arg in [0, 1, 3, 5, 16, 31_u32] {
            let mut out = rows(device, 8)?;
            device.launch(&kernels::warp_shuffles, Launch::grid(1), (&input, width, arg, &mut out))?;
            let what = format!("width {width}, argument {arg}");
            all.extend(same(&out.into_buffer().download()?, &shuffled(&x, width, arg), &what));
        }
    }
    Ok(all)
}

fn several(device: &Device) -> Outcome {
    let x = noise(N);
    let input = device.upload(&x[..])?;
    let mut all = Vec::new();
    for apart in [0, 1, 6, 31] {
        let received = |thread: usize| x[thread ^ apart as usize];
        let row = |thread: usize| {
            let (value, from_3) = (received(thread), received(thread / 32 * 32 + 3));
            let half = (f64::from(value) / 2.0).to_bits();
            [value, half as u32, (half >> 32) as u32, !value, value ^ 1, value.wrapping_mul(3), from_3, !from_3]
        };
        let expected: Vec<u32> = (0..N).flat_map(row).collect();
        let mut out = rows(device, 8)?;
        device.launch(&kernels::warp_shuffle_several, Launch::grid(1), (&input, apart, &mut out))?;
        all.extend(same(&out.into_buffer().download()?, &expected, &format!("{apart} apart")));
    }
    Ok(all)
}

fn sum_f64(device: &Device) -> Outcome {
    let x: Vec<_> = noise(N).into_iter().map(|x| f64::from(x) * 1e-3).collect();
    let mut expected = x.clone();
    for apart in [16, 8, 4, 2, 1] {
        expected = (0..N).map(|i| expected[i] + expected[i ^ apart]).collect();
    }
    let (input, mut out) = (device.upload(&x[..])?, device.upload(&[-1.0_f64; N])?);
    device.launch(&kernels::warp_sum_f64, Launch::grid(1), (&input, &mut out))?;
    Ok(same(&out.download()?, &expected, "sums"))
}

/// What the first of a warp's lanes from `first` on, `stride` apart and `count` in all, gets: lane i merges with lane
/// i + `count` / 2, then with i + `count` / 4, and so on.
fn tree<T: Copy>(of_warp: &[T], (first, stride, count): (usize, usize, usize), merge: impl Fn(T, T) -> T) -> T {
    let mut values: Vec<T> = (0..count).map(|i| of_warp[first + i * stride]).collect();
    while values.len() > 1 {
        let upper = values.split_off(values.len() / 2);
        values = values.into_iter().zip(upper).map(|(a, b)| merge(a, b)).collect();
    }
    values[0]
}

fn trees(device: &Device) -> Outcome {
    let x = noise(N);
    let input = device.upload(&x[..])?;
    let reals: Vec<f64> = x.iter().map(|&x| f64::from(x) / 3.0).collect();
    let mut all = Vec::new();
    for width in [32, 16, 8, 4, 2, 1] {
        for stride in [1, 2, 4, 8, 16, 32] {
            let row = |i: usize| {
                let (warp, lane) = (i / 32 * 32..i / 32 * 32 + 32, i % 32);
                let mut row = [CANARY; 4];
                if lane % width < stride {
                    let lanes = (lane, stride, (width / stride).max(1));
                    row[0] = tree(&x[warp.clone()], lanes, |a, b| a.wrapping_mul(31) ^ b);
                    let real = tree(&reals[warp.clone()], lanes, |a, b| a * 0.5 + b).to_bits();
                    [row[1], row[2]] = [real as u32, (real >> 32) as u32];
                }
                if lane % width == 0 {
                    row[3] = tree(&x[warp], (lane, 1, width), |a, b| a.wrapping_mul(31) ^ b);
                }
                row
            };
            let expected: Vec<_> = (0..N).flat_map(row).collect();
            let mut out = rows(device, 4)?;
            let arguments = (&input, width as u32, stride as u32, &mut out);
            device.launch(&kernels::warp_trees, Launch::grid(1), arguments)?;
            let what = format!("lanes {stride} apart in segments of {width}");
            all.extend(same(&out.into_buffer().download()?, &expected, &what));
        }
    }
    Ok(all)
}

fn votes(device: &Device) -> Outcome {
    let x = noise(N);
    let input = device.upload(&x[..])?;
    let mut all = Vec::new();
    for limit in [0, 1 << 31, u32::MAX] {
        let row = |i: usize| {
            let half = i / 16 * 16;
            let ballot: u32 = (half..half + 16).map(|j| u32::from(x[j] >= limit) << (j % 32)).sum();
            [u32::from(ballot.count_ones() == 16), u32::from(ballot != 0), ballot]
        };
        let expected: Vec<_> = (0..N).flat_map(row).collect();
        let mut out = rows(device, 3)?;
        device.launch(&kernels::warp_votes, Launch::grid(1), (&input, limit, &mut out))?;
        all.extend(same(&out.into_buffer().download()?, &expected, &format!("limit {limit}")));
    }
    Ok(all)
}

fn matches(device: &Device) -> Outcome {
    // The second warp's values are all the same; 64-bit values of the first differ in their upper half only.
    let x: Vec<_> = noise(N).into_iter().enumerate().map(|(i, x)| if i < 32 { x % 5 } else { 9 }).collect();
    let upper = |(i, x): (usize, u32)| if i < 32 { u64::from(x % 3) << 32 } else { 1 };
    let y: Vec<_> = noise(N).into_iter().enumerate().map(upper).collect();
    let row = |i: usize| {
        let warp = i / 32 * 32..i / 32 * 32 + 32;
        let narrow: u32 = warp.clone().map(|j| u32::from(x[j] == x[i]) << (j % 32)).sum();
        let wide: u32 = warp.map(|j| u32::from(y[j] == y[i]) << (j % 32)).sum();
        let all = |lanes| if lanes == u32::MAX { [lanes, 1] } else { [0, 0] };
        [[narrow, wide], all(narrow), all(wide)].concat()
    };
    let expected: Vec<_> = (0..N).flat_map(row).collect();
    let (x, y, mut out) = (device.upload(&x[..])?, device.upload(&y[..])?, rows(device, 6)?);
    device.launch(&kernels::warp_matches, Launch::grid(1), (&x, &y, &mut out))?;
    Ok(same(&out.into_buffer().download()?, &expected, "lanes with equal values"))
}

fn reductions(device: &Device) -> Outcome {
    let x = noise(N);
    let reduced = |warp: &[u32]| {
        let signed = || warp.iter().map(|&x| x.cast_signed());
        let row = [
            warp.iter().fold(0, |a: u32, &b| a.wrapping_add(b)),
            warp.iter().fold(u32::MAX, |a, &b| a.min(b)),
            warp.iter().fold(0, |a, &b| a.max(b)),
            signed().fold(0, i32::wrapping_add).cast_unsigned(),
            signed().fold(i32::MAX, i32::min).cast_unsigned(),
            signed().fold(i32::MIN, i32::max).cast_unsigned(),
            warp.iter().fold(u32::MAX, |a, &b| a & b),
            warp.iter().fold(0, |a, &b| a | b),
            warp.iter().fold(0, |a, &b| a ^ b),
        ];
        row.repeat(32)
    };
    let expected: Vec<_> = x.chunks(32).flat_map(reduced).collect();
    let (input, mut out) = (device.upload(&x[..])?, rows(device, 9)?);
    device.launch(&kernels::warp_reductions, Launch::grid(1), (&input, &mut out))?;
    Ok(same(&out.into_buffer().download()?, &expected, "reductions"))
}

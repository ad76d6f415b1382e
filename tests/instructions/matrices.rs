//! `ldmatrix`, `stmatrix` and `mma.sync`, by the fragments that each lane holds.

use gpu::lab::instructions::matrices as kernels;
use gpu::lab::instructions_sm90::matrix_stores as stores;
use simt::matrix::Tf32;
use warpwright::half::{bf16, f16};
use warpwright::ndarray::Array2;
use warpwright::{Device, Launch};

use crate::case::{Case, Outcome, noise, same};
use crate::tensor_cores;

pub(crate) const CASES: &[Case] = &[
    Case { kernel: kernels::matrix_loads.info(), run: loads },
    Case {
        kernel: kernels::mma_sync_f16.info(),
        run: |device| tensor_cores::run::<f16>(device, &kernels::mma_sync_f16, [16, 8, 16], 2),
    },
    Case {
        kernel: kernels::mma_sync_bf16.info(),
        run: |device| tensor_cores::run::<bf16>(device, &kernels::mma_sync_bf16, [16, 8, 16], 2),
    },
    Case {
        kernel: kernels::mma_sync_tf32.info(),
        run: |device| tensor_cores::run::<Tf32>(device, &kernels::mma_sync_tf32, [16, 8, 8], 1),
    },
    Case { kernel: kernels::mma_sync_doubles.info(), run: doubles },
];

/// Cases for compute capability 9.0.
pub(crate) const STORES: &[Case] = &[Case { kernel: stores::matrix_stores.info(), run: stores }];

/// Number of matrices, and whether they are transposed, in the order of the kernels' loads and stores.
const ROUNDS: [(usize, bool); 6] = [(1, false), (2, false), (4, false), (1, true), (2, true), (4, true)];

/// Position in an 8 × 8 matrix of half `half` of lane `lane`'s register.
fn position(lane: usize, half: usize, transposed: bool) -> usize {
    let (row, col) = (lane / 4, lane % 4 * 2 + half);
    if transposed { 8 * col + row } else { 8 * row + col }
}

fn loads(device: &Device) -> Outcome {
    let x: Vec<u16> = noise(256).into_iter().map(|x| (x >> 16) as u16).collect();
    let word = |lane, matrix: usize, transposed| {
        let [low, high] = [0, 1].map(|half| u32::from(x[64 * matrix + position(lane, half, transposed)]));
        low | high << 16
    };
    let of_lane = |lane| {
        let rounds = ROUNDS.into_iter();
        rounds.flat_map(move |(count, transposed)| (0..count).map(move |matrix| (lane, matrix, transposed)))
    };
    let expected: Vec<u32> = (0..32).flat_map(of_lane).map(|(lane, matrix, t)| word(lane, matrix, t)).collect();
    let (input, mut y) = (device.upload(&x[..])?, device.upload(&[0_u32; 14 * 32][..])?);
    device.launch(&kernels::matrix_loads, Launch::grid(1), (&input, &mut y))?;
    Ok(same(&y.download()?, &expected, "fragments"))
}

fn stores(device: &Device) -> Outcome {
    let x = noise(128);
    let mut expected = vec![7_u16; 6 * 256];
    for (round, (count, transposed)) in ROUNDS.into_iter().enumerate() {
        for (lane, matrix, half) in (0..64 * count).map(|i| (i % 32, i / 64, i / 32 % 2)) {
            expected[256 * round + 64 * matrix + position(lane, half, transposed)] =
                (x[4 * lane + matrix] >> (16 * half)) as u16;
        }
    }
    let (input, mut y) = (device.upload(&x[..])?, device.upload(&[0_u16; 6 * 256][..])?);
    device.launch(&stores::matrix_stores, Launch::grid(1), (&input, &mut y))?;
    Ok(same(&y.download()?, &expected, "matrices"))
}

/// Sums of numbers of very different sizes, whose bits depend on the order of the additions, on each rounding, and on
/// whether products are rounded.
fn doubles(device: &Device) -> Outcome {
    let bits = noise(4 * (16 * 16 + 16 * 8 + 16 * 8));
    let mut words = bits.chunks_exact(4);
    let mut matrix = |rows, cols| {
        Array2::from_shape_simple_fn((rows, cols), || {
            let word = words.next().map_or(0, |word| u64::from(word[0]) << 32 | u64::from(word[1]));
            // Exponents from -16 to 15.
            f64::from_bits(word & 0x801f_ffff_ffff_ffff | (1007 + (word >> 52) % 32) << 52)
        })
    };
    let (a, b, c) = (matrix(16, 16), matrix(16, 8), matrix(16, 8));
    let sum = |row: usize, col: usize| (0..16).fold(c[[row, col]], |sum, k| a[[row, k]].mul_add(b[[k, col]], sum));
    let expected: Vec<u64> = (0..128).map(|i| sum(i / 8, i % 8).to_bits()).collect();
    let mut sums = device.upload(&c)?;
    device.launch(
        &kernels::mma_sync_doubles,
        Launch::grid(1),
        (&device.upload(&a)?, &device.upload(&b)?, &mut sums),
    )?;
    let got: Vec<u64> = sums.download()?.iter().map(|x| x.to_bits()).collect();
    Ok(same(&got, &expected, "bits of sums"))
}

//! Each kernel against the same computation on the CPU, at shapes that are no multiple of its tiles, under several
//! schedules of the simulator, which also looks for data races.

use own_kernels::{each_format, histogram, matmul, mma, print, saxpy, scan, softmax, stencil, transpose};
use warpwright::half::f16;
use warpwright::ndarray::Array2;
use warpwright::prelude::*;
use warpwright::simulator::{Config, Level};

/// Where the tests run: on a GPU once, else on the simulator with different orders of its threads.
fn devices() -> Vec<Device> {
    let best = Device::best().expect("a device");
    if !best.is_simulator() {
        return vec![best];
    }
    (0..5).map(|seed| Device::simulator_with(Config::new(Level::Checks).seed(seed))).collect()
}

/// Held by tests of output: a GPU is one device for all of them.
static PRINTS: std::sync::Mutex<()> = std::sync::Mutex::new(());

/// Numbers that look random, the same each time.
fn numbers(count: usize, below: u32) -> Vec<u32> {
    let mut state = 12345_u32;
    let next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) % below
    };
    std::iter::repeat_with(next).take(count).collect()
}

fn floats(count: usize) -> Vec<f32> {
    numbers(count, 2001).into_iter().map(|x| x as f32 / 1000.0 - 1.0).collect()
}

fn matrix(rows: usize, cols: usize) -> Array2<f32> {
    Array2::from_shape_vec((rows, cols), floats(rows * cols)).expect("so many elements")
}

/// Tiles of this size that cover the columns and rows.
fn tiles(rows: usize, cols: usize, tile: u32) -> (u32, u32) {
    ((cols as u32).div_ceil(tile), (rows as u32).div_ceil(tile))
}

// ANCHOR: saxpy
#[test]
fn saxpy_is_that_of_the_cpu() -> Result<()> {
    for device in devices() {
        let (x, y) = (floats(1000), floats(1001)[1..].to_vec());
        let mut result = device.upload(&y)?;
        device.launch(&saxpy::saxpy, Launch::cover(1000, saxpy::THREADS), (3.5, &device.upload(&x)?, &mut result))?;
        let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| 3.5_f32.mul_add(*x, *y)).collect();
        assert_eq!(result.download()?, expected);
    }
    Ok(())
}
// ANCHOR_END: saxpy

#[test]
fn histogram_counts() -> Result<()> {
    for device in devices() {
        let x = numbers(10_000, 300);
        let mut counts = device.alloc_zeros(256)?;
        let blocks = x.len().div_ceil(histogram::ELEMENTS) as u32;
        device.launch(&histogram::histogram, Launch::grid(blocks), (&device.upload(&x)?, &mut counts))?;
        let mut expected = vec![0; 256];
        x.iter().filter(|x| **x < 256).for_each(|x| expected[*x as usize] += 1);
        assert_eq!(counts.download()?, expected);
    }
    Ok(())
}

#[test]
fn stencil_takes_means() -> Result<()> {
    for device in devices() {
        let (rows, cols) = (37, 50);
        let from = matrix(rows, cols);
        let mut to = device.alloc_matrix(rows, cols)?;
        let launch = Launch::grid(tiles(rows, cols, stencil::TILE));
        device.launch(&stencil::stencil, launch, (&device.upload(&from)?, &mut to))?;
        let expected = Array2::from_shape_fn((rows, cols), |(i, j)| {
            if i == 0 || j == 0 || i + 1 == rows || j + 1 == cols {
                return from[(i, j)];
            }
            0.25 * ((from[(i - 1, j)] + from[(i + 1, j)]) + (from[(i, j - 1)] + from[(i, j + 1)]))
        });
        assert_eq!(to.download()?, expected);
    }
    Ok(())
}

// ANCHOR: transpose
#[test]
fn transpose_moves_each_element() -> Result<()> {
    for device in devices() {
        let from = matrix(45, 70);
        let mut to = device.alloc_matrix(70, 45)?;
        let launch = Launch::grid(tiles(45, 70, transpose::TILE));
        device.launch(&transpose::transpose::<f32>(), launch, (&device.upload(&from)?, &mut to))?;
        assert_eq!(to.download()?, from.t());
        let (from, mut to) = (from.mapv(f64::from), device.alloc_matrix(70, 45)?);
        device.launch(&transpose::transpose::<f64>(), launch, (&device.upload(&from)?, &mut to))?;
        assert_eq!(to.download()?, from.t());
    }
    Ok(())
}
// ANCHOR_END: transpose

#[test]
fn matmul_is_exact_for_small_integers() -> Result<()> {
    for device in devices() {
        let (m, k, n) = (33, 50, 17);
        let a = matrix(m, k).map(|x| (x * 10.0).round());
        let b = matrix(k, n).map(|x| (x * 10.0).round());
        let mut c = device.alloc_matrix(m, n)?;
        let launch = Launch::grid(tiles(m, n, matmul::TILE));
        device.launch(&matmul::matmul, launch, (&device.upload(&a)?, &device.upload(&b)?, &mut c))?;
        assert_eq!(c.download()?, a.dot(&b));
    }
    Ok(())
}

#[test]
fn mma_is_exact_for_small_integers() -> Result<()> {
    for device in devices() {
        let (m, k, n) = (33, 50, 17);
        let a = matrix(m, k).map(|x| (x * 10.0).round());
        let b = matrix(k, n).map(|x| (x * 10.0).round());
        let half = |x: &Array2<f32>| device.upload(&x.map(|x| f16::from_f32(*x)));
        let mut c = device.alloc_matrix(m, n)?;
        let launch = Launch::grid(((n as u32).div_ceil(mma::COLS), (m as u32).div_ceil(mma::ROWS)));
        device.launch(&mma::mma, launch, (&half(&a)?, &half(&b)?, &mut c))?;
        assert_eq!(c.download()?, a.dot(&b));
    }
    Ok(())
}

#[test]
fn softmax_is_that_of_the_cpu() -> Result<()> {
    for device in devices() {
        let (rows, cols) = (9, 300);
        let x = matrix(rows, cols) * 20.0;
        let mut y = device.alloc_matrix(rows, cols)?;
        device.launch(&softmax::softmax, Launch::grid(rows as u32), (&device.upload(&x)?, &mut y))?;
        let y = y.download()?;
        for (x, y) in x.rows().into_iter().zip(y.rows()) {
            let largest = x.iter().fold(f64::NEG_INFINITY, |largest, x| largest.max(f64::from(*x)));
            let sum: f64 = x.iter().map(|x| (f64::from(*x) - largest).exp()).sum();
            for (x, y) in x.iter().zip(y) {
                let expected = (f64::from(*x) - largest).exp() / sum;
                // The subtraction rounds by at most 40 · 2⁻²⁴; expf errs by 1 ulp; a thread adds 3 numbers, the tree 7
                // times; and a division: (40 + 2 + (40 + 2 + 10) + 1) · 2⁻²⁴, and a subnormal's last place.
                let bound = expected * 95.0 * 2.0_f64.powi(-24) + f64::from(f32::from_bits(2));
                assert!((f64::from(*y) - expected).abs() <= bound, "{y}, expected {expected} ± {bound}");
            }
        }
    }
    Ok(())
}

#[test]
fn scan_is_that_of_the_cpu() -> Result<()> {
    for device in devices() {
        for length in [1, scan::TILE, scan::TILE + 1, 40 * scan::TILE - 5] {
            let x = numbers(length, u32::MAX);
            let blocks = length.div_ceil(scan::TILE);
            let mut y = device.alloc(length)?;
            let mut status = device.alloc_zeros::<u64>(blocks + 1)?;
            device.launch(&scan::scan, Launch::grid(blocks as u32), (&device.upload(&x)?, &mut y, &mut status))?;
            let sums = x.iter().scan(0_u32, |sum, x| {
                *sum = sum.wrapping_add(*x);
                Some(*sum)
            });
            assert_eq!(y.download()?, sums.collect::<Vec<_>>(), "{length} elements");
        }
    }
    Ok(())
}

/// What the kernels of a device print until `work` has waited for it.
fn lines_of(device: &Device, work: impl FnOnce() -> Result<()>) -> Result<Vec<String>> {
    let (send, lines) = std::sync::mpsc::channel();
    device.on_print(move |line| drop(send.send(line.to_owned())));
    work()?;
    device.synchronize()?;
    Ok(lines.try_iter().collect())
}

#[test]
fn kernels_print_what_format_writes() -> Result<()> {
    let mut expected = Vec::new();
    macro_rules! push {
        ($($argument:tt)*) => { expected.push(format!($($argument)*)) };
    }
    each_format!(push: 40_007, -1.25e-3, 1234.5678);
    let _one = PRINTS.lock();
    for device in devices() {
        let launch = || device.launch(&print::formats, Launch::grid(1), (40_007, -1.25e-3, 1234.5678)).map(drop);
        assert_eq!(lines_of(&device, launch)?, expected);
    }
    Ok(())
}

/// More lines than a GPU keeps until the host waits.
#[test]
fn lines_that_find_no_room_are_counted() -> Result<()> {
    let _one = PRINTS.lock();
    for device in devices() {
        for count in [100, 5000, 70] {
            let x = device.upload(&vec![f32::INFINITY; count])?;
            let launch = || device.launch(&print::not_finite, Launch::cover(count, print::THREADS), (&x,)).map(drop);
            let lines = lines_of(&device, launch)?;
            let (told, found): (Vec<_>, Vec<_>) = lines.iter().partition(|line| line.starts_with("warpwright: "));
            let kept = if device.is_simulator() { count } else { count.min(2048) };
            assert_eq!(found.len(), kept);
            assert_eq!(told.is_empty(), kept == count, "{told:?}");
            assert!(told.iter().all(|line| line.contains(&format!(" {} more lines ", count - kept))), "{told:?}");
            // Each line is whole, and none comes twice.
            let mut at: Vec<usize> = found
                .iter()
                .map(|line| {
                    let i = line.strip_prefix("x[").and_then(|rest| rest.split_once(']')).map_or("", |(i, _)| i);
                    let i = i.parse().unwrap_or_else(|_| panic!("{line}"));
                    assert_eq!(**line, format!("x[{i}] is inf, in block {}", i / print::THREADS as usize));
                    i
                })
                .collect();
            at.sort_unstable();
            at.dedup();
            assert_eq!(at.len(), kept);
        }
    }
    Ok(())
}

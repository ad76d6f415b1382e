//! The methods of `Device`: empty vectors, matrices with gaps, wrong arguments, and the same bits for every schedule.

use ndarray::Array2;
use warpwright::gpu::reduce::read::read_f32;
use warpwright::gpu::reduce::whole::partition::{MAX_BLOCKS, THREADS, TILE_BYTES};
use warpwright::reduce::{ArgMax, Max, Sum, Variance, Workspace};
use warpwright::{Error, Launch, Layout, Matrix};

use super::case::{Bits, Case, reduce};
use super::values::{uniform, wide};
use crate::support::device::under_test;
use crate::support::values;

#[test]
fn empty_vectors_give_the_identity_or_an_error() {
    let device = under_test(1);
    let x = device.alloc::<f32>(0).unwrap();
    assert_eq!((device.sum(&x).unwrap(), device.sum_of_squares(&x).unwrap()), (0.0, 0.0));
    assert_eq!((device.product(&x).unwrap(), device.norm(&x).unwrap()), (1.0, 0.0));
    assert_eq!((device.count_nonzero(&x).unwrap(), device.any(&x).unwrap(), device.all(&x).unwrap()), (0, false, true));
    assert_eq!(device.dot(&x, &x).unwrap(), 0.0);
    let errors = [
        device.max(&x).map(|_| ()),
        device.min(&x).map(|_| ()),
        device.nan_max(&x).map(|_| ()),
        device.nan_min(&x).map(|_| ()),
        device.argmax(&x).map(|_| ()),
        device.argmin(&x).map(|_| ()),
        device.nan_argmax(&x).map(|_| ()),
        device.nan_argmin(&x).map(|_| ()),
        device.mean(&x).map(|_| ()),
        device.variance(&x, 0).map(|_| ()),
    ];
    for error in errors {
        let message = error.expect_err("there is no result").to_string();
        assert!(message.contains("argument `x`: expected at least one element, found 0"), "{message}");
    }
}

#[test]
fn wrong_arguments_are_named_in_errors() {
    let device = under_test(1);
    let x = device.upload(&[f32::NAN, 1.0]).unwrap();
    let mut workspace = Workspace::new(&device).unwrap();
    let mut out = device.alloc::<f32>(2).unwrap();
    let message = |result: Result<(), Error>| result.expect_err("a wrong argument").to_string();
    let text = message(device.reduce_into(Sum, &x, &mut out, &mut workspace, None));
    assert!(text.contains("reduce_into: argument `out`: expected one element, found 2"), "{text}");
    let text = message(device.variance(&x, 2).map(|_| ()));
    assert!(text.contains("variance: argument `x`: expected at least 3 elements, found 2"), "{text}");
    let text = message(device.dot(&x, x.slice(1..2).unwrap()).map(|_| ()));
    assert!(text.contains("dot: argument `y`: expected 1 x 2, the shape of x, found 1 x 1"), "{text}");
    let text = message(device.nan_argmax(x.slice(0..1).unwrap()).map(|_| ()));
    assert!(
        text.contains("nan_argmax: argument `x`: expected at least one element that is not NaN, found only NaN"),
        "{text}"
    );
    assert_eq!(device.nan_argmax(&x).unwrap(), 1);
    let stranger = under_test(2);
    if !stranger.is_simulator() {
        return;
    }
    let text = message(stranger.reduce_into(Sum, &x, out.slice_mut(0..1).unwrap(), &mut workspace, None));
    assert!(text.contains("argument `x`"), "{text}");
}

#[test]
fn matrices_with_gaps_are_reduced_without_them() {
    let device = under_test(3);
    let a = Array2::from_shape_fn((20, 30), |(i, j)| (i * 30 + j) as i32 % 97 - 50);
    let layout = Layout::contiguous(20, 30).ld(33).offset(5);
    let mut matrix = Matrix::from_buffer(device.upload(&vec![1000; 20 * 33 + 9]).unwrap(), layout).unwrap();
    matrix.view_mut().write(a.view()).unwrap();
    assert_eq!(device.sum(&matrix).unwrap(), a.iter().map(|&x| i64::from(x)).sum::<i64>());
    assert_eq!((device.max(&matrix).unwrap(), device.min(&matrix).unwrap()), (46, -50));
    assert_eq!(device.argmax(&matrix).unwrap(), 96);
    assert_eq!(device.count_nonzero(&matrix).unwrap(), a.iter().filter(|&&x| x != 0).count() as u64);
    let squares: i64 = a.iter().map(|&x| i64::from(x) * i64::from(x)).sum();
    assert_eq!(device.dot(&matrix, &matrix).unwrap(), squares);
}

/// One workspace for reductions of every state and length, one after the other: each leaves it at 0.
#[test]
fn one_workspace_serves_reductions_of_every_kind() {
    let device = under_test(4);
    let mut workspace = Workspace::new(&device).unwrap();
    let tile = TILE_BYTES / 4;
    for n in [5 * tile, 3, 2 * tile + 1, tile, 3 * tile] {
        let mut x = vec![0.0_f32; n];
        x[n / 2] = 3.0;
        let x = device.upload(&x).unwrap();
        let (mut sum, mut place) = (device.alloc(1).unwrap(), device.alloc(1).unwrap());
        device.reduce_into(Sum, &x, &mut sum, &mut workspace, None).unwrap();
        device.reduce_into(ArgMax, &x, &mut place, &mut workspace, Some(&device.default_stream())).unwrap();
        assert_eq!((sum.download().unwrap(), place.download().unwrap()), (vec![3.0], vec![(n / 2) as u64]));
    }
}

/// More than one vector for each thread of the largest grid: blocks take tiles in turn, the last tile is incomplete,
/// and the last block merges the states of all.
#[test]
fn vectors_longer_than_the_largest_grid() {
    let device = under_test(9);
    let n = (MAX_BLOCKS * THREADS) as usize * 4 + 5 * TILE_BYTES / 4 + 7;
    let mut x: Vec<f32> = (0..n).map(|i| (i % 7) as f32 - 3.0).collect();
    let place = n - 70_001;
    x[place] = 5.0;
    let sum = x.iter().map(|&x| f64::from(x)).sum::<f64>();
    let squares = x.iter().map(|&x| f64::from(x * x)).sum::<f64>();
    let x = device.upload(&x).unwrap();
    for start in [0, 1] {
        let part = x.slice(start..n).unwrap();
        // Without the first element, which is −3.
        let (sum, squares) = (sum + 3.0 * start as f64, squares - 9.0 * start as f64);
        assert_eq!(f64::from(device.sum(part).unwrap()), sum);
        assert_eq!(device.argmax(part).unwrap(), place - start);
        assert_eq!(device.max(part).unwrap(), 5.0);
        assert_eq!(f64::from(device.dot(part, part).unwrap()), f64::from(squares as f32));
        let nonzero = (start..n).filter(|&i| i % 7 != 3 || i == place).count() as u64;
        assert_eq!(device.count_nonzero(part).unwrap(), nonzero);
        let count = (n - start) as f64;
        let (variance, exact) = (f64::from(device.variance(part, 0).unwrap()), squares / count - (sum / count).powi(2));
        // Sums are exact: only the result is rounded, to `f32` and in this line.
        assert!((variance - exact).abs() <= exact * f64::from(f32::EPSILON), "{variance} for {exact}");
    }
}

/// The read benchmark reads every element, for any number of blocks.
#[test]
fn the_read_benchmark_reads_every_element() {
    let device = under_test(3);
    for (n, blocks) in [(0, 1), (4, 1), (TILE_BYTES / 4, 2), (3 * TILE_BYTES / 4 + 36, 2), (5 * TILE_BYTES / 4 - 8, 7)]
    {
        let x = uniform::<f32>(n, &mut values::rng(n as u64));
        let mut parity = device.upload(&[0_u64]).unwrap();
        let arguments = (&device.upload(&x).unwrap(), &mut parity);
        device.launch(&read_f32, Launch::grid(blocks), arguments).unwrap();
        let expected = x.iter().fold(0, |bits, x| bits ^ x.to_bits());
        assert_eq!(parity.download().unwrap(), [u64::from(expected)], "{n} elements, {blocks} blocks");
    }
}

/// Six blocks, fifty schedules, one result: for sums, whose merges round, above all.
#[test]
fn runs_are_equal_whatever_the_schedule() {
    let n = 5 * TILE_BYTES / 8 + 5;
    let mut rng = values::rng(16);
    let (x, y) = (uniform::<f64>(n, &mut rng), uniform::<f32>(n, &mut rng));
    let case = |schedule| Case { n, around: [1, 2], data: 0, schedule };
    let run = |schedule| {
        let case = case(schedule);
        [
            reduce(&case, Sum, &x).unwrap().bits(),
            reduce(&case, Sum, &y).unwrap().bits(),
            reduce(&case, Max, &x).unwrap().bits(),
            reduce(&case, ArgMax, &y).unwrap(),
            reduce(&case, Variance { ddof: 1 }, &x).unwrap().bits(),
        ]
    };
    let first = run(0);
    let largest = wide(&x).into_iter().fold(f64::NEG_INFINITY, f64::max);
    assert_eq!(first[2], largest.bits());
    for schedule in 1..50 {
        assert_eq!(run(schedule), first, "schedule {schedule}");
    }
}

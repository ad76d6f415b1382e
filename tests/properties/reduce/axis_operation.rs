//! The methods of `Device` along an axis: empty axes, wrong arguments, one workspace for all, long lines shared by
//! blocks.

use rand::Rng;
use warpwright::Error;
use warpwright::reduce::{ArgMax, LinesWorkspace, Max, Mean, Product, Sum, Variance};

use super::axis_case::{AxisCase, reduce_axis};
use super::case::Bits;
use super::values::uniform;
use crate::support::device::under_test;
use crate::support::values;

#[test]
fn an_empty_axis_gives_the_identity_or_an_error() {
    let device = under_test(1);
    let none = device.alloc::<f32>(0).unwrap();
    for shape in [[5, 0, 7], [0, 5, 7], [5, 7, 0]] {
        let x = none.view().as_tensor(&shape).unwrap();
        let axis = shape.iter().position(|&extent| extent == 0).unwrap();
        let sums = device.reduce_axis(Sum, x, axis).unwrap();
        assert_eq!((sums.shape(), sums.download().unwrap()), (&[5, 7][..], vec![0.0; 35]), "{shape:?}");
        assert_eq!(device.reduce_axis(Product, x, axis).unwrap().download().unwrap(), [1.0; 35]);
        let text = device.reduce_axis(Max, x, axis).unwrap_err().to_string();
        assert!(text.contains("max: argument `x`: expected at least one element, found 0"), "{text}");
        // With no lines, there is no line without elements.
        let other = (axis + 1) % 3;
        assert_eq!(device.reduce_axis(Max, x, other).unwrap().download().unwrap(), [0.0_f32; 0]);
    }
}

#[test]
fn wrong_arguments_along_an_axis_are_named_in_errors() {
    let device = under_test(1);
    let x = device.upload(&[1.0_f32; 12]).unwrap();
    let x = x.view().as_tensor(&[3, 4]).unwrap();
    let mut out = device.alloc::<f32>(4).unwrap();
    let mut workspace = LinesWorkspace::new(&device, 0).unwrap();
    let message = |result: Result<(), Error>| result.expect_err("a wrong argument").to_string();
    let text = message(device.reduce_axis(Sum, x, 2).map(|_| ()));
    assert!(text.contains("argument `axis`: expected one of the 2 axes of shape [3, 4], from 0 on, found 2"), "{text}");
    let text = message(device.reduce_axis_into(Sum, x, 1, &mut out, &mut workspace, None));
    assert!(text.contains("argument `out`: expected 3 elements, one for each line, found 4"), "{text}");
    let text = message(device.reduce_axis(Variance { ddof: 3 }, x, 0).map(|_| ()));
    assert!(text.contains("variance: argument `x`: expected at least 4 elements, found 3"), "{text}");
    let long = device.upload(&vec![1.0_f32; 20_000]).unwrap();
    let long = long.view().as_tensor(&[1, 20_000]).unwrap();
    let mut one = device.alloc::<f32>(1).unwrap();
    let text = message(device.reduce_axis_into(Sum, long, 1, &mut one, &mut workspace, None));
    assert!(text.contains("argument `workspace`: expected at least "), "{text}");
}

/// One workspace for reductions of every state and shape, one after the other: each leaves the tickets at 0.
#[test]
fn one_workspace_serves_every_axis() {
    let device = under_test(4);
    let n = 1 << 16;
    let mut x = vec![0.0_f32; n];
    x[n / 2] = 3.0;
    let x = device.upload(&x).unwrap();
    let shapes = [([n, 1], 0), ([1, n], 1), ([n / 4, 4], 0), ([2, n / 2], 1), ([n / 8, 8], 0), ([3, n / 3], 1)];
    let views = shapes.map(|(shape, axis)| (x.view().as_tensor(&shape).unwrap(), axis));
    let bytes = views.iter().flat_map(|&(x, axis)| {
        [
            device.reduce_axis_bytes(Sum, x, axis).unwrap(),
            device.reduce_axis_bytes(Variance { ddof: 0 }, x, axis).unwrap(),
        ]
    });
    let mut workspace = LinesWorkspace::new(&device, bytes.max().unwrap()).unwrap();
    assert!(views.iter().all(|&(x, axis)| device.reduce_axis_bytes(Sum, x, axis).unwrap() > 0), "blocks share lines");
    for (x, axis) in views.into_iter().chain(views) {
        let count = x.shape()[1 - axis];
        let (mut sums, mut places) = (device.alloc(count).unwrap(), device.alloc(count).unwrap());
        let mut variances = device.alloc::<f32>(count).unwrap();
        device.reduce_axis_into(Sum, x, axis, &mut sums, &mut workspace, None).unwrap();
        device.reduce_axis_into(ArgMax, x, axis, &mut places, &mut workspace, None).unwrap();
        device.reduce_axis_into(Variance { ddof: 0 }, x, axis, &mut variances, &mut workspace, None).unwrap();
        let (line, index) =
            if axis == 1 { (n / 2 / x.shape()[1], n / 2 % x.shape()[1]) } else { (n / 2 % count, n / 2 / count) };
        let (mut sum, mut place) = (vec![0.0; count], vec![0; count]);
        (sum[line], place[line]) = (3.0, index as u64);
        assert_eq!(sums.download().unwrap(), sum, "{:?} along {axis}", x.shape());
        assert_eq!(places.download().unwrap(), place, "{:?} along {axis}", x.shape());
    }
}

/// So many aligned lines that each thread has four in flight, in several steps (17 vectors by 8 lanes, 128 by 32), with
/// an incomplete last block.
#[test]
fn many_aligned_lines_are_reduced_exactly() {
    let device = under_test(9);
    for (lines, length) in [(33_797, 68), (33_793, 512)] {
        let number = |at: usize| (at % 8191 * 37 % 101) as f32;
        let x: Vec<f32> = (0..lines * length).map(number).collect();
        let on = device.upload(&x).unwrap();
        let view = on.view().as_tensor(&[lines, length]).unwrap();
        let sums = device.reduce_axis(Sum, view, 1).unwrap().download().unwrap();
        let expected: Vec<f32> = x.chunks(length).map(|line| line.iter().sum()).collect();
        assert!(sums == expected, "sums of {lines} lines of {length}");
        let places = device.reduce_axis(ArgMax, view, 1).unwrap().download().unwrap();
        for (line, place) in x.chunks(length).zip(places) {
            let best = line.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            assert_eq!(Some(place as usize), line.iter().position(|&x| x == best));
        }
    }
}

/// Lines shared by several blocks give the same bits for thirty schedules.
#[test]
fn axis_runs_are_equal_for_every_schedule() {
    let mut rng = values::rng(17);
    let shapes: [(&[usize], usize); 5] =
        [(&[2, 9001], 1), (&[9001, 6], 0), (&[9000, 4], 0), (&[5000, 1], 0), (&[500, 131], 0)];
    for (shape, axis) in shapes {
        let x: Vec<f64> = uniform(shape.iter().product(), &mut rng);
        let y: Vec<f32> = x.iter().map(|&x| x as f32).collect();
        let run = |schedule| {
            let case = AxisCase { before: 1, ..AxisCase::plain(shape, axis, schedule) };
            let bits = |x: Vec<f64>| x.into_iter().map(Bits::bits).collect::<Vec<_>>();
            let mut results = bits(reduce_axis(&case, Sum, &x).unwrap());
            results.extend(bits(reduce_axis(&case, Mean, &x).unwrap()));
            results.extend(bits(reduce_axis(&case, Variance { ddof: 1 }, &x).unwrap()));
            results.extend(reduce_axis(&case, ArgMax, &y).unwrap());
            results
        };
        let first = run(0);
        for _ in 0..30 {
            let schedule = rng.random();
            assert_eq!(run(schedule), first, "{shape:?} along {axis}, schedule {schedule}");
        }
    }
}

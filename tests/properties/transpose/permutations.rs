//! `Device::permute`, `permute_into` and `TensorViewMut::copy_from`: all orders of three and four axes, many of five
//! and six, for every element size and any strides.

use proptest::prelude::*;
use proptest::sample::{Index, select};
use simt::element::Vec4;
use warpwright::simulator::{Config, Level};
use warpwright::{Device, Error, Result};

use super::bits::{Bits, random, verify};
use crate::support::device::{is_gpu, under_test};
use crate::support::runner::check;

/// Position of a tensor: elements before it, and gaps after each axis.
#[derive(Clone, Debug)]
struct Where {
    offset: usize,
    gaps: Vec<usize>,
}

#[derive(Clone, Debug)]
struct Case {
    shape: Vec<usize>,
    axes: Vec<usize>,
    from: Where,
    to: Where,
    seed: u64,
}

/// Strides for a shape with gaps, and the elements up to the end.
fn strides(shape: &[usize], at: &Where) -> (Vec<usize>, usize) {
    let (mut strides, mut stride) = (vec![0; shape.len()], 1);
    for axis in (0..shape.len()).rev() {
        strides[axis] = stride;
        stride = stride * shape[axis].max(1) + at.gaps[axis];
    }
    (strides, at.offset + stride)
}

/// All indices below a shape.
fn indices(shape: &[usize]) -> impl Iterator<Item = Vec<usize>> {
    let len: usize = shape.iter().product();
    (0..len).map(move |mut rest| {
        let mut index = vec![0; shape.len()];
        for axis in (0..shape.len()).rev() {
            (index[axis], rest) = (rest % shape[axis], rest / shape[axis]);
        }
        index
    })
}

fn permuted<T: Bits>(case: &Case) -> Result<f64, String> {
    let Case { shape, axes, from, to, seed } = case;
    let result: Vec<_> = axes.iter().map(|&axis| shape[axis]).collect();
    let ((a_strides, input), (b_strides, output)) = (strides(shape, from), strides(&result, to));
    let place = |index: &[usize], strides: &[usize]| index.iter().zip(strides).map(|(i, s)| i * s).sum::<usize>();
    let moves: Vec<_> = indices(shape)
        .map(|index| {
            let there: Vec<_> = axes.iter().map(|&axis| index[axis]).collect();
            (from.offset + place(&index, &a_strides), to.offset + place(&there, &b_strides))
        })
        .collect();
    verify::<T>((input, output), &moves, *seed, |device, a, b| {
        let (a, mut b) = (device.upload(a)?, device.upload(b)?);
        let (all, len) = (a.len(), b.len());
        let a = a.slice(from.offset..all)?.as_tensor_strided(shape, &a_strides)?;
        let mut into = b.slice_mut(to.offset..len)?.as_tensor_strided(&result, &b_strides)?;
        // A copy from a permuted view gives the same result.
        if seed % 3 == 0 {
            into.copy_from(a.permuted(axes)?)?;
        } else {
            device.permute_into(a, axes, into)?;
        }
        b.download()
    })
}

/// For element size number `size`.
fn of_size(size: usize, case: &Case) -> Result<f64, String> {
    match size % 5 {
        0 => permuted::<u8>(case),
        1 => permuted::<warpwright::half::f16>(case),
        2 => permuted::<f32>(case),
        3 => permuted::<u64>(case),
        _ => permuted::<Vec4<i32>>(case),
    }
}

/// All orders of `rank` axes.
fn orders(rank: usize) -> Vec<Vec<usize>> {
    if rank == 0 {
        return vec![vec![]];
    }
    let insert = |order: &Vec<usize>, at: usize| {
        let mut order = order.clone();
        order.insert(at, rank - 1);
        order
    };
    orders(rank - 1).iter().flat_map(|order| (0..rank).map(|at| insert(order, at)).collect::<Vec<_>>()).collect()
}

fn every_order(shape: &[usize]) {
    for axes in orders(shape.len()) {
        for size in 0..5 {
            for (offset, gap) in [(0, 0), (16, 16), (1, 3)] {
                let at = |offset| Where { offset, gaps: vec![gap; shape.len()] };
                let case =
                    Case { shape: shape.to_vec(), axes: axes.clone(), from: at(offset), to: at(2 * offset), seed: 5 };
                of_size(size, &case).unwrap_or_else(|error| panic!("{case:?}, size {size}: {error}"));
            }
        }
    }
}

#[test]
fn every_order_of_three_axes() {
    assert_eq!(orders(3).len(), 6);
    every_order(&[18, 33, 35]);
    every_order(&[3, 70, 16]);
}

#[test]
fn every_order_of_four_axes() {
    assert_eq!(orders(4).len(), 24);
    every_order(&[3, 17, 5, 20]);
    every_order(&[2, 1, 16, 24]);
}

#[test]
fn orders_of_up_to_six_axes() {
    let shape = prop_oneof![
        prop::collection::vec(select(&[0_usize, 1, 2, 3, 4, 5, 7][..]), 0..=6),
        prop::collection::vec(select(&[1_usize, 2, 3, 4, 8, 16][..]), 5..=6),
        prop::collection::vec(select(&[1_usize, 2, 17, 33][..]), 2..=4),
    ]
    .prop_filter("small", |shape| shape.iter().product::<usize>() <= 20_000);
    let cases = shape.prop_flat_map(|shape| {
        let rank = shape.len();
        let order = Just((0..rank).collect::<Vec<_>>()).prop_shuffle();
        let at = || {
            let gaps = prop_oneof![Just(vec![0; rank]), prop::collection::vec(select(&[0_usize, 1, 4, 16][..]), rank)];
            (select(&[0_usize, 1, 2, 16][..]), gaps).prop_map(|(offset, gaps)| Where { offset, gaps })
        };
        (Just(shape), order, at(), at(), any::<u64>()).prop_map(|(shape, axes, from, to, seed)| Case {
            shape,
            axes,
            from,
            to,
            seed,
        })
    });
    check((cases, any::<Index>()), |(case, size)| of_size(size.index(5), case));
}

/// Images with few channels, to and from both orders: rows of B start at every byte, and tiles at every pixel.
#[test]
fn images_with_few_channels() {
    let (images, channels) = (select(&[1_usize, 2][..]), 2_usize..=9);
    let pixels = prop_oneof![1_usize..=40, select(&[63_usize, 64, 85, 86, 128, 255, 256, 257, 341, 683, 1024][..])];
    let shapes = (images, channels, pixels, any::<bool>()).prop_map(
        |(n, c, p, planes)| {
            if planes { vec![n, c, p] } else { vec![n, p, c] }
        },
    );
    let at = || {
        let gaps = select(&[[0_usize, 0, 0], [1, 0, 0], [3, 5, 0], [16, 32, 0], [0, 0, 1]][..]);
        (0_usize..=17, gaps).prop_map(|(offset, gaps)| Where { offset, gaps: gaps.to_vec() })
    };
    let cases = (shapes, at(), at(), any::<u64>()).prop_map(|(shape, from, to, seed)| {
        let axes = vec![0, 2, 1];
        Case { shape, axes, from, to, seed }
    });
    check((cases, any::<Index>()), |(case, size)| of_size(size.index(5), case));
}

/// Orders in which rows of A and of B span two dimensions, with incomplete tiles along each.
#[test]
fn short_dimensions_on_both_sides() {
    for (shape, axes) in [
        (vec![4, 2, 5, 3, 7, 6], vec![5, 3, 1, 4, 2, 0]),
        (vec![9, 3, 10, 2, 11], vec![4, 1, 3, 0, 2]),
        (vec![16, 5, 16, 17], vec![0, 3, 1, 2]),
        (vec![16, 16, 16, 3], vec![2, 0, 1, 3]),
        (vec![7, 9, 31, 5], vec![1, 2, 0, 3]),
        (vec![150, 2, 51], vec![2, 1, 0]),
        (vec![3, 5, 7, 11, 13], vec![4, 3, 2, 1, 0]),
    ] {
        for (size, (offset, gap)) in (0..5).flat_map(|size| [(0, 0), (3, 1)].map(|at| (size, at))) {
            let at = |offset| Where { offset, gaps: vec![gap; shape.len()] };
            let case = Case { shape: shape.clone(), axes: axes.clone(), from: at(offset), to: at(offset + 1), seed: 7 };
            of_size(size, &case).unwrap_or_else(|error| panic!("{case:?}, size {size}: {error}"));
        }
    }
}

/// Orders that exchange two long dimensions: of 128 elements and more, whatever their size.
#[test]
fn long_dimensions_on_both_sides() {
    for (shape, axes) in [(vec![3, 129, 131], vec![0, 2, 1]), (vec![128, 2, 140], vec![2, 1, 0])] {
        for (size, (offset, gap)) in (0..5).flat_map(|size| [(0, 0), (3, 1)].map(|at| (size, at))) {
            let at = |offset| Where { offset, gaps: vec![gap; shape.len()] };
            let case = Case { shape: shape.clone(), axes: axes.clone(), from: at(offset), to: at(offset + 1), seed: 8 };
            of_size(size, &case).unwrap_or_else(|error| panic!("{case:?}, size {size}: {error}"));
        }
    }
}

/// Tiles of the largest size, which needs many of them. Without checks on the simulator, because of its many threads.
#[test]
fn the_largest_tiles() {
    let device = if is_gpu() { under_test(0) } else { Device::simulator_with(Config::new(Level::Off)) };
    let (channels, pixels) = (3, 8192 * 1024 + 5001);
    let planes = random::<u8>(channels * pixels, 3);
    let on_device = device.upload(&planes).expect("planes");
    let interleaved = device
        .permute(on_device.view().as_tensor(&[channels, pixels]).expect("planes"), &[1, 0])
        .expect("a permutation");
    let back = device.permute(&interleaved, &[1, 0]).and_then(|back| back.download()).expect("planes");
    let interleaved = interleaved.download().expect("pixels");
    let wrong = (0..channels * pixels).find(|i| interleaved[*i] != planes[i % channels * pixels + i / channels]);
    assert_eq!(wrong, None, "an element of {pixels} by {channels}");
    assert!(back == planes, "permuting back gives another result");
}

/// Views without a stride of 1, and views that repeat an element.
#[test]
fn views_with_any_strides_are_read() {
    let device = Device::simulator();
    let a = random::<f32>(1000, 1);
    let on_device = device.upload(&a).expect("a");
    for (shape, strides) in [([20, 25], [50, 2]), ([20, 25], [0, 1]), ([25, 20], [1, 0]), ([30, 30], [3, 5])] {
        let view = on_device.view().as_tensor_strided(&shape, &strides).expect("a view");
        let got = device.permute(view, &[1, 0]).and_then(|b| b.download()).expect("a permutation");
        let expected = (0..shape[1]).flat_map(|j| (0..shape[0]).map(move |i| (i, j)));
        assert!(
            expected.map(|(i, j)| a[i * strides[0] + j * strides[1]].to_bits()).eq(got.iter().map(|x| x.to_bits())),
            "{shape:?}, {strides:?}"
        );
    }
}

/// The text of every error.
#[test]
fn wrong_arguments_are_refused() {
    let device = Device::simulator();
    let text = |result: Result<()>| match result.expect_err("a refusal") {
        Error::Argument(bad) => bad.to_string(),
        other => panic!("{other}"),
    };
    let (a, mut b) = (device.upload(&[0_u16; 24]).expect("a"), device.upload(&[0_u16; 24]).expect("b"));
    let view = a.view().as_tensor(&[2, 3, 4]).expect("24 elements");
    assert_eq!(
        text(device.permute(view, &[0, 2]).map(drop)),
        "permute: argument `axes`: expected each of the 3 axes 0 to 2 once, in any order, found [0, 2]; pass for each \
         axis of the result the axis of the source"
    );
    assert_eq!(
        text(device.permute_into(view, &[2, 1, 0], b.view_mut().as_tensor(&[4, 2, 3]).expect("24 elements"))),
        "permute_into: argument `b`: expected the permuted shape of a, [4, 3, 2], found [4, 2, 3]; pass tensors of the \
         same shape"
    );
    assert_eq!(
        text(a.view().as_tensor(&[5, 5]).map(drop)),
        "as_tensor: argument `buffer`: expected at least 25 elements (shape [5, 5], strides [5, 1]), found 24; use a \
         longer buffer, smaller extents or smaller strides"
    );
    assert_eq!(
        text(b.view_mut().as_tensor_strided(&[4, 5], &[4, 1]).map(drop)),
        "as_tensor_strided: argument `strides`: expected a stride of at least 5 along the axis of extent 4 (shape [4, \
         5], strides [4, 1]), found 4; use strides that are at least the span of the inner axes, so that no elements \
         share memory"
    );
    let other = Device::simulator();
    let far = other.upload(&[0_u16; 24]).expect("elsewhere");
    let refused = device.permute(far.view().as_tensor(&[4, 6]).expect("24 elements"), &[1, 0]).map(drop);
    assert!(text(refused).starts_with("permute: argument `a`: expected an object of this device"));
}

//! Reductions of segments: all lengths, ends at every position of a warp's range, offsets of 32 and 64 bits.

use std::cmp::Ordering::{Greater, Less};

use proptest::prelude::*;
use rand::Rng;
use warpwright::half::{bf16, f16};
use warpwright::reduce::{
    All, Any, ArgMax, ArgMin, CountNonzero, LinesWorkspace, Max, Mean, Min, NanArgMin, NanMax, NanSum, Norm, Product,
    SegmentReduction, Sum, SumOfSquares, Variance, segments_depth,
};
use warpwright::reference::reduce::{self as reference, Added, Format, Nan, Scalar, best, segments};

use super::agreement::{agreed, twice};
use super::case::{Bits, is_nan};
use super::judge::{equal, within};
use super::values::{Real, small, uniform, wide};
use crate::support::device::under_test;
use crate::support::runner::{check, check_within};
use crate::support::values;

/// Lengths of segments, elements of the buffer before the first, and seeds of data and schedule.
#[derive(Clone, Debug)]
struct Case {
    offsets: Vec<u64>,
    before: usize,
    data: u64,
    schedule: u64,
}

impl Case {
    fn new(first: u64, lengths: &[u64], before: usize, data: u64, schedule: u64) -> Self {
        let mut offsets = vec![first];
        offsets.extend(lengths.iter().scan(first, |end, length| {
            *end += length;
            Some(*end)
        }));
        Self { offsets, before, data, schedule }
    }

    /// Elements, including some after the last segment.
    fn n(&self) -> usize {
        self.offsets[self.offsets.len() - 1] as usize + (self.data % 3) as usize
    }
}

fn any_segments() -> impl Strategy<Value = Case> {
    let empty = Just(0_u64).boxed();
    let short = (1..20_u64).boxed();
    let edges = proptest::sample::select(vec![
        15_u64, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 2047, 2048, 2049,
    ])
    .boxed();
    let giant = (3000..9000_u64).boxed();
    let mixed = prop_oneof![4 => empty.clone(), 6 => short.clone(), 2 => edges.clone(), 1 => giant.clone()].boxed();
    let lengths = prop_oneof![
        1 => proptest::collection::vec(empty, 1..600),
        2 => proptest::collection::vec(short, 1..300),
        2 => proptest::collection::vec(edges, 1..6),
        1 => proptest::collection::vec(giant, 1..3),
        4 => proptest::collection::vec(mixed, 1..40),
    ];
    (lengths, prop_oneof![3 => Just(0), 1 => 1..70_u64], 0..5_usize, any::<u64>(), any::<u64>())
        .prop_map(|(lengths, first, before, data, schedule)| Case::new(first, &lengths, before, data, schedule))
}

/// The results, if they are the same with 64-bit offsets and, in a second launch, 32-bit ones, on two devices.
fn reduce<T: Bits, R: SegmentReduction<T>>(case: &Case, reduction: R, x: &[T]) -> Result<Vec<R::Output>, String>
where
    R::Output: Bits,
{
    let mut image = vec![T::CANARY; case.before];
    image.extend_from_slice(x);
    let count = case.offsets.len() - 1;
    agreed(case.schedule, &|device| {
        let on = device.upload(&image)?;
        let x = on.slice(case.before..image.len())?;
        let wide = device.upload(&case.offsets)?;
        let narrow: Vec<u32> = case.offsets.iter().map(|&offset| offset as u32).collect();
        let narrow = device.upload(&narrow)?;
        let mut workspace = LinesWorkspace::new(device, device.reduce_segments_bytes(reduction, x, count))?;
        twice(device, count, &mut |launch, out| match launch {
            0 => device.reduce_segments_into(reduction, x, &wide, out, &mut workspace, None),
            _ => device.reduce_segments_into(reduction, x, &narrow, out, &mut workspace, None),
        })
    })
}

/// Checks that each segment's result equals that of the reference.
fn each<T: Bits, R: SegmentReduction<T>>(
    what: &str,
    case: &Case,
    reduction: R,
    x: &[T],
    expected: impl Fn(&[T]) -> R::Output,
) -> Result<(), String>
where
    R::Output: Bits,
{
    equal(what, &segments(x, &case.offsets), &reduce(case, reduction, x)?, &expected)
}

/// The number of nonzero elements, and whether any or all are nonzero.
fn counted<T: Bits>(case: &Case, x: &[T], counts: impl Fn(T) -> bool + Copy) -> Result<(), String>
where
    CountNonzero: SegmentReduction<T, Output = u64>,
    Any: SegmentReduction<T, Output = u64>,
    All: SegmentReduction<T, Output = u64>,
{
    each("count", case, CountNonzero, x, |x| x.iter().filter(|&&x| counts(x)).count() as u64)?;
    each("any", case, Any, x, |x| u64::from(x.iter().any(|&x| counts(x))))?;
    each("all", case, All, x, |x| u64::from(x.iter().all(|&x| counts(x))))
}

#[test]
fn nonzero_bytes_of_segments_are_counted() {
    check(any_segments(), |case| {
        let mut rng = values::rng(case.data);
        let x: Vec<u8> = (0..case.n()).map(|_| rng.random_range(0..5)).collect();
        counted(case, &x, |x| x != 0).map(|()| 0.0)
    });
}

/// The worst error over bound of all segments with an element.
fn judged<T: Real, R: SegmentReduction<T, Output: Into<f64>>>(
    what: &str,
    case: &Case,
    reduction: R,
    x: &[T],
    expected: impl Fn(&[f64], u64) -> Scalar,
) -> Result<f64, String>
where
    R::Output: Bits,
{
    let depth = segments_depth(case.n(), case.offsets.len() - 1, size_of::<T>());
    let got = reduce(case, reduction, x)?;
    let with_elements = segments(x, &case.offsets).into_iter().zip(got).filter(|(segment, _)| !segment.is_empty());
    let (segments, got): (Vec<_>, Vec<_>) = with_elements.unzip();
    within(what, &segments, &got, |x| expected(x, depth))
}

fn rounded<T: Real, U: Real + Into<f64>>(what: &str, format: Format)
where
    Norm: SegmentReduction<T, Output = U>,
    Product: SegmentReduction<T, Output = U>,
    SumOfSquares: SegmentReduction<T, Output = U>,
    Variance: SegmentReduction<T, Output = U>,
    CountNonzero: SegmentReduction<T, Output = u64>,
    Any: SegmentReduction<T, Output = u64>,
    All: SegmentReduction<T, Output = u64>,
{
    check_within(what, any_segments(), |case| {
        let mut rng = values::rng(case.data);
        let small: Vec<T> = small(case.n(), &mut rng, 0);
        each("squares of integers", case, SumOfSquares, &small, |x| {
            U::from_f64(wide(x).iter().map(|x| x * x).sum::<f64>())
        })?;
        counted(case, &small, |x| x.wide() != 0.0)?;
        let x: Vec<T> = uniform(case.n(), &mut rng);
        let mut worst = judged("norm", case, Norm, &x, |x, depth| reference::norm(x, depth, format))?;
        for ddof in [0, 1] {
            worst = worst.max(judged("variance", case, Variance { ddof }, &x, |x, depth| {
                reference::variance(x, ddof, depth, format)
            })?);
        }
        let near_one: Vec<T> = (0..case.n()).map(|_| T::from_f64(rng.random_range(0.9..1.1))).collect();
        judged("product", case, Product, &near_one, |x, _| reference::product(x, format))?;
        // The results of empty segments.
        let empty = Case::new(0, &[0, 0], case.before, case.data, case.schedule);
        let none: [T; 2] = [T::from_f64(7.0); 2];
        each("squares of nothing", &empty, SumOfSquares, &none, |_| U::from_f64(0.0))?;
        each("norm of nothing", &empty, Norm, &none, |_| U::from_f64(0.0))?;
        each("product of nothing", &empty, Product, &none, |_| U::from_f64(1.0))?;
        each("variance of nothing", &empty, Variance { ddof: 0 }, &none, |_| U::from_f64(f64::NAN))?;
        Ok(worst)
    });
}

#[test]
fn products_and_moments_of_segments_stay_within_the_bounds() {
    rounded::<f32, f32>("moments of segments of f32", Format::F32);
    rounded::<f16, f32>("moments of segments of f16", Format::F32);
    rounded::<bf16, f32>("moments of segments of bf16", Format::F32);
    rounded::<f64, f64>("moments of segments of f64", Format::F64);
}

macro_rules! integers {
    ($($name:ident: $t:ty => $u:ty;)+) => {$(
        #[test]
        fn $name() {
            check(any_segments(), |case| {
                let mut rng = values::rng(case.data);
                let x: Vec<$t> = (0..case.n()).map(|_| if rng.random() { rng.random() } else { 3 }).collect();
                let at = |x: &[$t], extreme| best(x, extreme, Nan::Propagate);
                let place = |x: &[$t], extreme| at(x, extreme).map_or(u64::MAX, |at| at as u64);
                each("sum", case, Sum, &x, |x| x.iter().fold(0, |sum: $u, &x| sum.wrapping_add(x.into())))?;
                each("max", case, Max, &x, |x| at(x, Greater).map_or(<$t>::MIN, |at| x[at]))?;
                each("min", case, Min, &x, |x| at(x, Less).map_or(<$t>::MAX, |at| x[at]))?;
                each("argmax", case, ArgMax, &x, |x| place(x, Greater))?;
                each("argmin", case, ArgMin, &x, |x| place(x, Less))?;
                let squares = |x: &[$t]| x.iter().fold(0, |sum: $u, &x| {
                    sum.wrapping_add(<$u>::from(x).wrapping_mul(x.into()))
                });
                each("squares", case, SumOfSquares, &x, |x| squares(x) as u64)?;
                let product = |x: &[$t]| x.iter().fold(1, |product: $u, &x| product.wrapping_mul(x.into()));
                each("product", case, Product, &x, product)?;
                let few: Vec<$t> = (0..case.n()).map(|_| <$t>::from(rng.random_range(0..9) > 0)).collect();
                counted(case, &few, |x| x != 0)?;
                Ok(0.0)
            });
        }
    )+};
}
integers! {
    segments_of_i32_are_reduced_exactly: i32 => i64;
    segments_of_u32_are_reduced_exactly: u32 => u64;
    segments_of_i64_are_reduced_exactly: i64 => i64;
    segments_of_u64_are_reduced_exactly: u64 => u64;
}

fn reals<T: Real, U: Bits + Into<f64>>(what: &str, added: Added, of: impl Fn(f64) -> U)
where
    Sum: SegmentReduction<T, Output = U>,
    NanSum: SegmentReduction<T, Output = U>,
    Mean: SegmentReduction<T, Output = U>,
    Max: SegmentReduction<T, Output = T>,
    NanMax: SegmentReduction<T, Output = T>,
    ArgMin: SegmentReduction<T, Output = u64>,
    NanArgMin: SegmentReduction<T, Output = u64>,
{
    check_within(what, any_segments(), |case| {
        let mut rng = values::rng(case.data);
        let integers: Vec<T> = small(case.n(), &mut rng, -8);
        each("sum of integers", case, Sum, &integers, |x| of(wide(x).iter().sum::<f64>() + 0.0))?;
        let mut x: Vec<T> = uniform(case.n(), &mut rng);
        let depth = segments_depth(case.n(), case.offsets.len() - 1, size_of::<T>());
        let mut worst = 0.0_f64;
        let (sums, means) = (reduce(case, Sum, &x)?, reduce(case, Mean, &x)?);
        for (number, segment) in segments(&x, &case.offsets).into_iter().enumerate() {
            let sum = reference::sum(&wide(segment), depth, added).error_over_bound(sums[number].into());
            let mean = if segment.is_empty() {
                if is_nan(means[number]) { 0.0 } else { f64::INFINITY }
            } else {
                reference::mean(&wide(segment), depth, added).error_over_bound(means[number].into())
            };
            if !(sum <= 1.0 && mean <= 1.0) {
                return Err(format!(
                    "segment {number}, {} elements: errors over bound {sum:e}, {mean:e}",
                    segment.len()
                ));
            }
            worst = worst.max(sum).max(mean);
        }
        for _ in 0..x.len() / 5 {
            let at = rng.random_range(0..x.len());
            x[at] = T::from_f64(if rng.random() { f64::NAN } else { f64::INFINITY });
        }
        let place = |at: Option<usize>| at.map_or(u64::MAX, |at| at as u64);
        let lowest = T::from_f64(f64::NEG_INFINITY);
        each("max", case, Max, &x, |x| best(x, Greater, Nan::Propagate).map_or(lowest, |at| x[at]))?;
        let nan = T::from_f64(f64::NAN);
        each("nan_max", case, NanMax, &x, |x| best(x, Greater, Nan::Ignore).map_or(nan, |at| x[at]))?;
        each("argmin", case, ArgMin, &x, |x| place(best(x, Less, Nan::Propagate)))?;
        each("nan_argmin", case, NanArgMin, &x, |x| place(best(x, Less, Nan::Ignore)))?;
        let holes: Vec<T> =
            integers.iter().zip(&x).map(|(&x, hole)| if hole.wide().is_nan() { *hole } else { x }).collect();
        each("nan_sum", case, NanSum, &holes, |x| of(wide(x).into_iter().filter(|x| !x.is_nan()).sum::<f64>() + 0.0))?;
        Ok(worst)
    });
}

#[test]
fn segments_of_reals_are_reduced_within_the_bounds() {
    reals::<f32, f32>("segments of f32", Added::InF64, |sum| sum as f32);
    reals::<f16, f32>("segments of f16", Added::InF64, |sum| sum as f32);
    reals::<bf16, f32>("segments of bf16", Added::InF64, |sum| sum as f32);
    reals::<f64, f64>("segments of f64", Added::Compensated, |sum| sum);
}

/// Invalid offsets on the device: no fault, and nothing is written outside the results.
#[test]
fn invalid_offsets_access_nothing_out_of_bounds() {
    check(any_segments(), |case| {
        let mut rng = values::rng(case.data);
        let x = [1.0_f32; 4];
        let wild: Vec<u64> = case.offsets.iter().map(|_| rng.random::<u64>() >> rng.random_range(0..64)).collect();
        let device = under_test(case.schedule);
        let (x, wild) = (device.upload(&x).unwrap(), device.upload(&wild).unwrap());
        let count = wild.len() - 1;
        let mut out = device.upload(&vec![f32::CANARY; count + 2]).unwrap();
        let mut workspace = LinesWorkspace::new(&device, device.reduce_segments_bytes(Sum, &x, count)).unwrap();
        let place = out.slice_mut(1..count + 1).unwrap();
        // Two warps may finish the same segment: a race is reported, but no access out of bounds.
        let queued = device.reduce_segments_into(Sum, &x, &wild, place, &mut workspace, None);
        if let Err(error) = queued {
            let text = error.to_string();
            if !text.contains("data race") || text.contains("out of bounds") {
                return Err(text);
            }
        }
        let out = out.download().unwrap();
        let beside = [out[0].bits(), out[count + 1].bits()] == [f32::CANARY.bits(); 2];
        if beside { Ok(0.0) } else { Err("written beside the results".to_owned()) }
    });
}

#[test]
fn wrong_offsets_are_named_in_errors() {
    let device = under_test(1);
    let x = device.upload(&[1.0_f32; 10]).unwrap();
    let text = |offsets: &[u32]| {
        device.reduce_segments(Sum, &x, &device.upload(offsets).unwrap()).map(|_| ()).expect_err("wrong").to_string()
    };
    assert!(text(&[]).contains("argument `offsets`: expected 1 to "), "{}", text(&[]));
    assert!(
        text(&[0, 5, 4]).contains("expected non-decreasing offsets, here at least 5, found 4 at index 2"),
        "{}",
        text(&[0, 5, 4])
    );
    assert!(
        text(&[0, 11]).contains("expected offsets of at most 10, the length of x, found 11 at index 1"),
        "{}",
        text(&[0, 11])
    );
    let offsets = device.upload(&[0_u64, 10]).unwrap();
    let (mut out, mut workspace) = (device.alloc(2).unwrap(), LinesWorkspace::new(&device, 0).unwrap());
    let error = device.reduce_segments_into(Sum, &x, &offsets, &mut out, &mut workspace, None).unwrap_err().to_string();
    assert!(error.contains("argument `out`: expected 1 elements, one for each segment, found 2"), "{error}");
    assert_eq!(device.reduce_segments(Sum, &x, offsets.slice(0..1).unwrap()).unwrap().len(), 0);
}

/// Many warps and blocks give the same bits for thirty schedules.
#[test]
fn segment_runs_are_equal_for_every_schedule() {
    let mut rng = values::rng(18);
    let lengths: Vec<u64> = [5000, 0, 1, 700, 3, 2048, 90].into_iter().chain((0..200).map(|i| i % 7)).collect();
    let case = |schedule| Case::new(2, &lengths, 1, 0, schedule);
    let x: Vec<f64> = uniform(case(0).n(), &mut rng);
    let run = |schedule| reduce(&case(schedule), Sum, &x).unwrap().into_iter().map(Bits::bits).collect::<Vec<_>>();
    let first = run(0);
    for _ in 0..30 {
        let schedule = rng.random();
        assert_eq!(run(schedule), first, "schedule {schedule}");
    }
}

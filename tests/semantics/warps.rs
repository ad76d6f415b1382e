//! Shuffles, votes, matches and reductions compared with simple models, for every warp size and random masks.

use crate::silent;
use proptest::prelude::*;
use simt::prelude::*;
use simt::warp::{
    ShuffleValue, lane_id, warp_match_all, warp_match_any, warp_reduce_add, warp_reduce_and, warp_reduce_max,
    warp_reduce_min, warp_reduce_or, warp_reduce_strided, warp_reduce_xor, warp_shuffle_down, warp_shuffle_idx,
    warp_shuffle_up, warp_shuffle_xor, warp_size, warp_vote_all, warp_vote_any, warp_vote_ballot,
};
use simulator::{Config, Kind};
use warpwright_tests::sim::{Buffer, Grid, launch};

const MODES: [&str; 4] = ["idx", "up", "down", "xor"];

/// One shuffle of any mode.
fn shuffle_by<T: ShuffleValue>(mode: u32, mask: u32, value: T, arg: u32, width: u32) -> (T, bool) {
    match mode {
        0 => warp_shuffle_idx(mask, value, arg, width),
        1 => warp_shuffle_up(mask, value, arg, width),
        2 => warp_shuffle_down(mask, value, arg, width),
        _ => warp_shuffle_xor(mask, value, arg, width),
    }
}

/// One shuffle by the lanes of a mask; `how` is mode, width, mask, and how many numbers each lane derives from its
/// value: 1, 4 or 18. `y` gets value and flag of each lane; 0 for a value whose other numbers do not come from it.
#[kernel(max_threads = 32)]
fn shuffle(x: VecRef<u64>, args: VecRef<u32>, how: VecRef<u32>, y: VecMut<u64>) {
    let i = index_1d();
    let (mode, width, mask) = (how.get(0), how.get(1), how.get(2));
    if mask >> lane_id() & 1 == 1 {
        let (v, arg) = (x.get(i), args.get(i));
        let (value, inside) = match how.get(3) {
            1 => shuffle_by(mode, mask, v, arg, width),
            4 => {
                let four = |v: u64| (v, v as u32, [v as i64 ^ 5, -(v as i64 >> 1)]);
                let (received, inside) = shuffle_by(mode, mask, four(v), arg, width);
                (if received == four(received.0) { received.0 } else { 0 }, inside)
            }
            _ => {
                let many = |v: u64| ([v; 6], [[f64::from(v as u32); 3]; 4]);
                let (received, inside) = shuffle_by(mode, mask, many(v), arg, width);
                (if received == many(received.0[0]) { received.0[0] } else { 0 }, inside)
            }
        };
        y.set(2 * i, value);
        y.set(2 * i + 1, u64::from(inside));
    }
    sync_threads();
}

/// The lane whose value `lane` gets, if it lies in range: PTX ISA, `shfl.sync`.
fn source(mode: usize, lane: usize, arg: usize, width: usize) -> Option<usize> {
    let segment: Vec<usize> = (lane / width * width..(lane / width + 1) * width).collect();
    let place = lane % width;
    match MODES[mode] {
        "idx" => Some(segment[arg % width]),
        "up" => place.checked_sub(arg).map(|place| segment[place]),
        "down" => segment.get(place + arg).copied(),
        // Lanes of earlier segments are in range, those of later ones are not.
        _ => (lane ^ arg <= segment[width - 1]).then_some(lane ^ arg),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn shuffles_move_what_ptx_says(
        (size, width) in (0_u32..6).prop_flat_map(|log| (Just(1_u32 << log), (0..=log).prop_map(|w| 1_u32 << w))),
        mode in 0_usize..4,
        count in prop::sample::select(vec![1_u32, 4, 18]),
        mask in any::<u32>(),
        full in any::<bool>(),
        args in prop::collection::vec(0_u32..32, 32),
        values in prop::collection::vec(any::<u64>(), 32),
        seed in 0_u64..1000,
    ) {
        let all = u32::MAX >> (32 - size);
        let mask = if full { all } else { (mask & all).max(1) };
        let args: Vec<u32> = args.into_iter().map(|arg| arg % size).collect();
        let (x, a, mut y) = (Buffer::new(&values), Buffer::new(&args), Buffer::zeroed(64));
        let how = Buffer::new(&[mode as u32, width, mask, count]);
        let config = Config::default().seed(seed).warp_size(size);
        let outcome = launch(&config, shuffle, Grid::line(1, size), (&x, &a, &how, &mut y)).unwrap();
        let takes_part = |lane: usize| mask >> lane & 1 == 1;
        let (results, mut outside) = (y.to_vec(), 0);
        for lane in (0..size as usize).filter(|&lane| takes_part(lane)) {
            let source = source(mode, lane, args[lane] as usize, width as usize);
            prop_assert_eq!(results[2 * lane + 1], u64::from(source.is_some()), "flag of lane {}", lane);
            let source = source.unwrap_or(lane);
            if takes_part(source) {
                prop_assert_eq!(results[2 * lane], values[source], "lane {} takes from {}", lane, source);
            } else {
                outside += 1;
            }
        }
        let reports = outcome.reports.iter();
        let reported: Vec<(Kind, u64)> = reports.map(|report| (report.kind, report.occurrences)).collect();
        prop_assert_eq!(reported, if outside > 0 { vec![(Kind::WarpMask, outside)] } else { vec![] });
    }
}

/// Lanes of `mask` merge their elements, and twice each as an `f64`; `how` is width, stride and mask. `y` gets both of
/// the first lanes.
#[kernel(max_threads = 32)]
fn merge_lanes(x: VecRef<u32>, how: VecRef<u32>, y: VecMut<u64>) {
    let (i, width, stride, mask) = (index_1d(), how.get(0), how.get(1), how.get(2));
    if mask >> lane_id() & 1 == 1 {
        let own = (x.get(i), f64::from(x.get(i)) * 2.0);
        let (a, b) = warp_reduce_strided(mask, own, width, stride, |a, b| (merged(a.0, b.0), a.1 / 2.0 + b.1));
        if lane_id() % width < stride {
            y.set(2 * i, u64::from(a));
            y.set(2 * i + 1, b.to_bits());
        }
    }
    sync_threads();
}

/// Neither associative nor commutative.
fn merged(a: u32, b: u32) -> u32 {
    a.wrapping_mul(7) ^ b
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn reductions_merge_in_a_tree(
        (size, width) in (0_u32..6).prop_flat_map(|log| (Just(1_u32 << log), (0..=log).prop_map(|w| 1_u32 << w))),
        stride in (0_u32..6).prop_map(|log| 1_u32 << log),
        mask in any::<u32>(),
        full in any::<bool>(),
        values in prop::collection::vec(any::<u32>(), 32),
        seed in 0_u64..1000,
    ) {
        let all = u32::MAX >> (32 - size);
        let mask = if full { all } else { (mask & all).max(1) };
        let (x, how, mut y) = (Buffer::new(&values), Buffer::new(&[width, stride, mask]), Buffer::zeroed(64));
        let config = Config::default().seed(seed).warp_size(size);
        let outcome = launch(&config, merge_lanes, Grid::line(1, size), (&x, &how, &mut y)).unwrap();
        let takes_part = |lane: usize| mask >> lane & 1 == 1;
        let (results, mut outside) = (y.to_vec(), 0);
        let (width, stride) = (width as usize, stride as usize);
        // By shuffles down, for all lanes: what a lane outside a tree gets reaches none of the first lanes.
        let mut state: Vec<(u32, f64)> = values.iter().map(|&x| (x, f64::from(x) * 2.0)).collect();
        let mut distance = width / 2;
        while distance >= stride {
            let merge = |a: (u32, f64), b: (u32, f64)| (merged(a.0, b.0), a.1 / 2.0 + b.1);
            state = (0..32).map(|i| merge(state[i], state[(i + distance).min(31)])).collect();
            distance /= 2;
        }
        for lane in (0..size as usize).filter(|&lane| takes_part(lane) && lane % width < stride) {
            let lanes = (lane..lane / width * width + width).step_by(stride);
            let missing = lanes.filter(|&lane| !takes_part(lane)).count();
            if missing > 0 {
                outside += missing as u64;
                continue;
            }
            prop_assert_eq!(results[2 * lane], u64::from(state[lane].0), "lane {}", lane);
            prop_assert_eq!(results[2 * lane + 1], state[lane].1.to_bits(), "lane {}", lane);
        }
        let reports = outcome.reports.iter();
        let reported: Vec<(Kind, u64)> = reports.map(|report| (report.kind, report.occurrences)).collect();
        prop_assert_eq!(reported, if outside > 0 { vec![(Kind::WarpMask, outside)] } else { vec![] });
    }
}

/// All operations without lanes as arguments, by the lanes of a mask and, at the same source line, by the others.
#[kernel(max_threads = 32)]
fn together(x: VecRef<u32>, mask: u32, y: MatMut<u32>) {
    let (lane, v) = (lane_id(), x.get(index_1d()));
    let all = u32::MAX >> (32 - warp_size());
    let mine = if mask >> lane & 1 == 1 { mask & all } else { !mask & all };
    let (same, equal) = warp_match_all(mine, v);
    let results = [
        u32::from(warp_vote_all(mine, v % 2 == 0)),
        u32::from(warp_vote_any(mine, v % 2 == 0)),
        warp_vote_ballot(mine, v % 2 == 0),
        warp_match_any(mine, v),
        same,
        u32::from(equal),
        warp_reduce_add(mine, v),
        warp_reduce_min(mine, v),
        warp_reduce_max(mine, v),
        warp_reduce_add(mine, v as i32) as u32,
        warp_reduce_min(mine, v as i32) as u32,
        warp_reduce_max(mine, v as i32) as u32,
        warp_reduce_and(mine, v),
        warp_reduce_or(mine, v),
        warp_reduce_xor(mine, v),
    ];
    for (i, result) in (0..).zip(results) {
        y.set(lane, i, result);
    }
}

/// What `together` should give for the lanes of `mine`, whose values are `v`.
fn model(lane: usize, values: &[u32], mine: u32) -> [u32; 15] {
    let lanes: Vec<usize> = (0..32).filter(|&lane| mine >> lane & 1 == 1).collect();
    let v: Vec<u32> = lanes.iter().map(|&lane| values[lane]).collect();
    let signed: Vec<i32> = v.iter().map(|&v| v as i32).collect();
    let mask = |holds: &dyn Fn(u32) -> bool| {
        lanes.iter().filter(|&&lane| holds(values[lane])).map(|&lane| 1_u32 << lane).sum::<u32>()
    };
    let equal = v.iter().all(|&other| other == v[0]);
    let sum = v.iter().map(|&v| u64::from(v)).sum::<u64>() as u32;
    [
        u32::from(v.iter().all(|v| v % 2 == 0)),
        u32::from(v.iter().any(|v| v % 2 == 0)),
        mask(&|v| v % 2 == 0),
        mask(&|v| v == values[lane]),
        if equal { mine } else { 0 },
        u32::from(equal),
        sum,
        *v.iter().min().unwrap(),
        *v.iter().max().unwrap(),
        sum,
        *signed.iter().min().unwrap() as u32,
        *signed.iter().max().unwrap() as u32,
        v.iter().fold(u32::MAX, |a, b| a & b),
        v.iter().fold(0, |a, b| a | b),
        v.iter().fold(0, |a, b| a ^ b),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn votes_matches_and_reductions_agree_with_their_models(
        log in 0_u32..6,
        mask in any::<u32>(),
        few in any::<bool>(),
        values in prop::collection::vec(any::<u32>(), 32),
        seed in 0_u64..1000,
    ) {
        let size = 1_u32 << log;
        // Few different values, so that some match.
        let values: Vec<u32> = values.into_iter().map(|v| if few { v % 2 } else { v }).collect();
        let (x, mut y) = (Buffer::new(&values), Buffer::unwritten(32 * 15));
        let config = Config::default().seed(seed).warp_size(size);
        let args = (&x, mask, y.matrix_mut(32, 15));
        silent(&launch(&config, together, Grid::line(1, size), args).unwrap(), &config);
        let (results, all) = (y.to_vec(), u32::MAX >> (32 - size));
        for lane in 0..size as usize {
            let mine = if mask >> lane & 1 == 1 { mask & all } else { !mask & all };
            let found = &results[lane * 15..][..15];
            prop_assert_eq!(found, &model(lane, &values, mine), "lane {}, mask {:#x}", lane, mine);
        }
    }
}

/// A shuffle of each type, from lane 3.
#[kernel(block = 32)]
fn types(y: VecMut<f64>) {
    let lane = lane_id();
    let from3 = [
        f64::from(warp_shuffle_idx(u32::MAX, lane, 3, 32).0),
        f64::from(warp_shuffle_idx(u32::MAX, -(lane as i32), 3, 32).0),
        f64::from(warp_shuffle_idx(u32::MAX, lane as f32 + 0.5, 3, 32).0),
        warp_shuffle_idx(u32::MAX, u64::from(lane) << 40, 3, 32).0 as f64,
        warp_shuffle_idx(u32::MAX, -(i64::from(lane) << 40), 3, 32).0 as f64,
        warp_shuffle_idx(u32::MAX, f64::from(lane) / 3.0, 3, 32).0,
    ];
    for (i, value) in from3.into_iter().enumerate() {
        y.set(6 * lane as usize + i, value);
    }
}

#[test]
fn values_of_all_types_can_be_shuffled() {
    let mut y = Buffer::unwritten(6 * 32);
    let config = Config::default();
    silent(&launch(&config, types, Grid::line(1, 32), (&mut y,)).unwrap(), &config);
    let big = 3.0 * 2.0_f64.powi(40);
    assert!(y.to_vec().chunks(6).all(|lane| lane == [3.0, -3.0, 3.5, big, -big, 1.0]));
}

/// A shuffle of any width.
#[kernel(block = 32)]
fn any_width(width: u32) {
    warp_shuffle_up(u32::MAX, lane_id(), 1, width);
}

#[test]
fn impossible_widths_are_reported_at_the_call() {
    let line = line!() - 5;
    for width in [0, 12, 64] {
        let outcome = launch(&Config::default(), any_width, Grid::line(1, 32), (width,)).unwrap();
        let [report] = &outcome.reports[..] else { panic!("one report, not {:?}", outcome.reports) };
        assert_eq!((report.kind, report.site.line), (Kind::Panic, line));
        assert!(report.message.contains(&format!("from 1 to 32, not {width}")), "{report}");
    }
}

/// Two halves of a warp, each summed through shared memory with a `sync_warp` of its own.
#[kernel(block = 32)]
fn halves(#[shared] words: DynShared<u32>, x: VecRef<u32>, y: VecMut<u32>) {
    let (lane, place) = (lane_id(), lane_id() % 16);
    words.set(lane, x.get(index_1d()));
    let mut stride = 8;
    while stride > 0 {
        simt::warp::sync_warp(0xffff << (lane / 16 * 16));
        if place < stride {
            words.set(lane, words.get(lane) + words.get(lane + stride));
        }
        stride /= 2;
    }
    if place == 0 {
        y.set(index_1d() / 16, words.get(lane));
    }
}

#[test]
fn partial_warp_syncs_order_their_lanes() {
    let x = Buffer::new(&(0..96).collect::<Vec<_>>());
    for config in crate::schedules(50) {
        let mut y = Buffer::unwritten(6);
        let grid = Grid::line(3, 32).shared(128);
        silent(&launch(&config, halves, grid, (&x, &mut y)).unwrap(), &config);
        assert_eq!(y.to_vec(), (0..6).map(|half| half * 256 + 120).collect::<Vec<u32>>());
    }
}

/// Lanes exit in three steps; the rest vote with the mask of the whole warp, as PTX permits.
#[kernel(block = 32)]
fn leaving(y: VecMut<u32>) {
    let lane = lane_id();
    for step in 0..3 {
        if lane >= 32 - 8 * step {
            return;
        }
        y.set((step * 32 + lane) as usize, warp_vote_ballot(u32::MAX, true));
    }
}

#[test]
fn exited_lanes_are_not_waited_for() {
    for config in crate::schedules(20) {
        let mut y = Buffer::zeroed(96);
        silent(&launch(&config, leaving, Grid::line(1, 32), (&mut y,)).unwrap(), &config);
        let expected = |i: u32| if i % 32 < 32 - 8 * (i / 32) { u32::MAX >> (8 * (i / 32)) } else { 0 };
        assert_eq!(y.to_vec(), (0..96).map(expected).collect::<Vec<_>>());
    }
}

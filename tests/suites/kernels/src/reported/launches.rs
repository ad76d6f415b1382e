//! How the kernels are launched.

use super::asynchronous::{
    TILE, accumulators_before_the_wait, exit_before_the_peer, loads_past_the_end, no_dependency_wait, no_proxy_fence,
    one_arrival_for_a_warp, one_lane_releases, parity_of_a_ring, scales_not_waited_for, staging_written_again,
    tail_not_filled,
};
use super::races::{
    barrier_in_branch, counted_without_release, dropped_barrier, histogram_cleared, lanes_past_the_array,
    mask_of_the_lower_half, next_loop, odd_samples, one_lane_sets_up, return_before_the_barrier, store_then_load,
    two_reductions,
};
use crate::Subject;
use simt::tma::Swizzle;
use simulator::Kind;
use warpwright::{Device, Launch, Result};

/// Launches a kernel, with or without its defect; gives whether the result is right.
type Run = fn(&Device, u32) -> Result<bool>;

/// [`Run`] of a kernel that writes one word, 47, with one more argument or none.
macro_rules! word {
    ($kernel:ident, $blocks:expr, $threads:expr $(, |$device:ident| $arg:expr)?) => {
        |device, faulty| {
            let mut y = device.alloc_zeros(1)?;
            $(let $device = device;)?
            device.launch(&$kernel, Launch::grid($blocks).block($threads), (faulty, $($arg,)? &mut y))?;
            Ok(y.download()? == [47])
        }
    };
}

/// The same of a kernel that loads so many tiles of ones.
macro_rules! ones {
    ($kernel:ident, $threads:expr, $tiles:expr) => {
        |device, faulty| {
            let mut y = device.alloc_zeros(1)?;
            let x = device.upload_matrix(&[1.0_f32; $tiles * TILE], $tiles * 32, 32)?;
            let map = x.view().tma(32, 32, Swizzle::None)?;
            device.launch(&$kernel, Launch::grid(1).block($threads), (faulty, map, &mut y))?;
            Ok(y.download()? == [47])
        }
    };
}

/// [`Run`] of a kernel that stores tiles.
macro_rules! tiles {
    ($kernel:ident, $tiles:expr) => {
        |device, faulty| {
            let mut y = device.alloc_matrix_zeros::<f32>($tiles * 32, 32)?;
            let map = y.view_mut().tma(32, 32, Swizzle::None)?;
            device.launch(&$kernel, Launch::grid(1).block(64), (faulty, map))?;
            Ok(y.download()?.iter().all(|&value| value == 47.0))
        }
    };
}

const DEFECTS: &[(&str, Kind, Run)] = &[
    ("two_reductions", Kind::Race, |device, faulty| {
        let mut y = device.alloc_zeros(1)?;
        device.launch(&two_reductions, Launch::grid(1).block(128), (faulty, &mut y))?;
        Ok(y.download()? == [127 * 64])
    }),
    ("dropped_barrier", Kind::Race, word!(dropped_barrier, 1, 64)),
    ("barrier_in_branch", Kind::DivergentBarrier, word!(barrier_in_branch, 1, 64)),
    ("next_loop", Kind::Race, word!(next_loop, 1, 32)),
    ("one_lane_sets_up", Kind::Race, word!(one_lane_sets_up, 1, 32)),
    ("one_arrival_for_a_warp", Kind::Race, word!(one_arrival_for_a_warp, 1, 64)),
    ("no_dependency_wait", Kind::PredecessorNotWaited, word!(no_dependency_wait, 1, 32)),
    ("exit_before_the_peer", Kind::Cluster, word!(exit_before_the_peer, 2, 32)),
    ("no_proxy_fence", Kind::ProxyFence, tiles!(no_proxy_fence, 1)),
    ("staging_written_again", Kind::AsyncRace, tiles!(staging_written_again, 4)),
    ("histogram_cleared", Kind::Race, word!(histogram_cleared, 1, 64)),
    ("store_then_load", Kind::Race, word!(store_then_load, 1, 64, |device| &mut device.alloc_zeros(64)?)),
    (
        "counted_without_release",
        Kind::Race,
        word!(counted_without_release, 2, 32, |device| &mut device.alloc_zeros(2)?),
    ),
    ("mask_of_the_lower_half", Kind::WarpMask, word!(mask_of_the_lower_half, 1, 32)),
    ("return_before_the_barrier", Kind::AbandonedBarrier, word!(return_before_the_barrier, 1, 64)),
    ("lanes_past_the_array", Kind::OutOfBounds, word!(lanes_past_the_array, 1, 32)),
    (
        "odd_samples",
        Kind::Misaligned,
        word!(odd_samples, 1, 32, |device| &device.upload(&[1.0, 2.0, 3.0, 15.0, 16.0, 16.0])?),
    ),
    (
        "tail_not_filled",
        Kind::Uninitialised,
        word!(tail_not_filled, 1, 32, |device| &device.upload(&[5, 6, 7, 14, 15])?),
    ),
    (
        "scales_not_waited_for",
        Kind::AsyncNotWaited,
        word!(scales_not_waited_for, 1, 32, |device| &device.upload(&[23, 24])?),
    ),
    ("one_lane_releases", Kind::AsyncRace, ones!(one_lane_releases, 64, 2)),
    ("loads_past_the_end", Kind::AsyncNotWaited, ones!(loads_past_the_end, 32, 4)),
    ("parity_of_a_ring", Kind::AsyncRace, ones!(parity_of_a_ring, 32, 2)),
    ("accumulators_before_the_wait", Kind::ProductNotWaited, word!(accumulators_before_the_wait, 1, 128)),
];

/// A defect, in a kernel that is launched with and without it.
pub struct Defect {
    /// Its name, that of the kernel.
    pub name: &'static str,
    /// As what it is found.
    pub kind: Kind,
    /// The kernel with the defect.
    pub faulty: Subject,
    /// The kernel without it.
    pub fixed: Subject,
}

/// The defects.
pub fn defects() -> impl Iterator<Item = Defect> {
    DEFECTS.iter().map(|&(name, kind, run)| {
        let subject = |is: &str, faults: &[Kind], faulty| {
            let name = ("Defects reported in public", format!("{name}, {is}"), name);
            Subject::new(name, faults, move |device| run(device, faulty))
        };
        Defect { name, kind, faulty: subject("faulty", &[kind], 1), fixed: subject("fixed", &[], 0) }
    })
}

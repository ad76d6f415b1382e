//! The results of operations on values.

use super::group::{Group, WarpOp, lanes};

/// Votes, matches and reductions over the lanes that arrived.
pub(super) fn combine(op: WarpOp, group: &Group, lane: usize) -> (u64, bool) {
    let all = || lanes(group.arrived).map(|lane| group.values[lane]);
    let words = || all().map(|value| value as u32);
    let signed = || all().map(|value| value as u32 as i32);
    let own = group.values[lane];
    let mask = |holds: &dyn Fn(u64) -> bool| {
        lanes(group.arrived).filter(|&lane| holds(group.values[lane])).fold(0_u32, |mask, lane| mask | 1 << lane)
    };
    match op {
        WarpOp::Ballot => (u64::from(mask(&|value| value != 0)), true),
        WarpOp::MatchAny => (u64::from(mask(&|value| value == own)), true),
        WarpOp::MatchAll => {
            let equal = all().all(|value| value == own);
            (if equal { u64::from(group.mask) } else { 0 }, equal)
        }
        WarpOp::AddU32 => (u64::from(words().fold(0, u32::wrapping_add)), true),
        WarpOp::MinU32 => (u64::from(words().min().unwrap_or(0)), true),
        WarpOp::MaxU32 => (u64::from(words().max().unwrap_or(0)), true),
        WarpOp::MinI32 => (u64::from(signed().min().unwrap_or(0) as u32), true),
        WarpOp::MaxI32 => (u64::from(signed().max().unwrap_or(0) as u32), true),
        WarpOp::And => (u64::from(words().fold(u32::MAX, |a, b| a & b)), true),
        WarpOp::Or => (u64::from(words().fold(0, |a, b| a | b)), true),
        WarpOp::Xor => (u64::from(words().fold(0, |a, b| a ^ b)), true),
        WarpOp::Sync
        | WarpOp::ShuffleIdx { .. }
        | WarpOp::ShuffleUp { .. }
        | WarpOp::ShuffleDown { .. }
        | WarpOp::ShuffleXor { .. } => (own, true),
    }
}

/// PTX `shfl.sync`: the lane that lane `own` takes its value from, within segments of `width` lanes; none outside.
pub(super) fn shuffle_source(op: WarpOp, width: u32, own: u32, argument: u32) -> Option<u32> {
    let (first, last) = (own & !(width - 1), own | (width - 1));
    match op {
        WarpOp::ShuffleIdx { .. } => Some(first | argument & (width - 1)),
        WarpOp::ShuffleUp { .. } => own.checked_sub(argument).filter(|&source| source >= first),
        WarpOp::ShuffleDown { .. } => own.checked_add(argument).filter(|&source| source <= last),
        _ => Some(own ^ argument).filter(|&source| source <= last),
    }
}

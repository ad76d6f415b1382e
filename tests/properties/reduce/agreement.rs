//! The results of one reduction: twice on the device under test, and once on its counterpart.
//!
//! What does not depend on the reduction takes closures as trait objects: it is compiled once for each type of results,
//! not for each of a hundred reductions.

use std::ops::Range;

use warpwright::{BufferViewMut, Device, Result as WarpwrightResult};

use super::case::{Bits, is_nan};
use crate::support::device::{counterpart, under_test};

/// Runs `queue` for each of these launches, 0 or 1, with `count` results; returns them after checking the canaries
/// around them.
pub(super) fn launched<U: Bits>(
    device: &Device,
    launches: Range<usize>,
    count: usize,
    queue: &mut dyn FnMut(usize, BufferViewMut<'_, U>) -> WarpwrightResult<()>,
) -> WarpwrightResult<Vec<Vec<U>>> {
    let mut results = Vec::new();
    for launch in launches {
        let mut out = device.upload(&vec![U::CANARY; count + 2])?;
        queue(launch, out.slice_mut(1..count + 1)?)?;
        let mut out = out.download()?;
        let last = out.pop().expect("a canary");
        assert_eq!([out.remove(0).bits(), last.bits()], [U::CANARY.bits(); 2], "canaries around the results");
        results.push(out);
    }
    Ok(results)
}

/// The results of some launches on a device.
type Launches<'r, U> = dyn Fn(&Device, Range<usize>) -> WarpwrightResult<Vec<Vec<U>>> + 'r;

/// The results, if they are the same in both launches on the device under test, with one workspace, and in one of them
/// on its counterpart.
pub(super) fn agreed<U: Bits>(schedule: u64, run: &Launches<'_, U>) -> Result<Vec<U>, String> {
    let mut results = run(&under_test(schedule), 0..2).map_err(|error| error.to_string())?;
    let launch = (schedule % 2) as usize;
    let there = run(&counterpart(schedule), launch..launch + 1);
    results.extend(there.map_err(|error| format!("on the counterpart: {error}"))?);
    let first = results.remove(0);
    for (which, other) in ["the second launch", "the counterpart"].into_iter().zip(&results) {
        let same = |a: U, b: U| a.bits() == b.bits() || (is_nan(a) && is_nan(b));
        if let Some(at) = (0..first.len()).find(|&at| !same(first[at], other[at])) {
            return Err(format!("result {at}: {:?}, and {:?} by {which}", first[at], other[at]));
        }
    }
    Ok(first)
}

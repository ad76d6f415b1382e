//! The results of one reduction: twice on the device under test, twice on its counterpart.
//!
//! What does not depend on the reduction takes closures as trait objects: it is compiled once for each type of results,
//! not for each of a hundred reductions.

use warpwright::{BufferViewMut, Device, Result as WarpwrightResult};

use super::case::{Bits, is_nan};
use crate::support::device::{counterpart, under_test};

/// The results of two launches with one workspace.
type Two<U> = [Vec<U>; 2];

/// Runs `queue` twice, for launch 0 and 1, each with `count` results; returns them after checking the canaries around
/// them.
pub(super) fn twice<U: Bits>(
    device: &Device,
    count: usize,
    queue: &mut dyn FnMut(usize, BufferViewMut<'_, U>) -> WarpwrightResult<()>,
) -> WarpwrightResult<Two<U>> {
    let mut results = [Vec::new(), Vec::new()];
    for (launch, result) in results.iter_mut().enumerate() {
        let mut out = device.upload(&vec![U::CANARY; count + 2])?;
        queue(launch, out.slice_mut(1..count + 1)?)?;
        let mut out = out.download()?;
        let last = out.pop().expect("a canary");
        assert_eq!([out.remove(0).bits(), last.bits()], [U::CANARY.bits(); 2], "canaries around the results");
        *result = out;
    }
    Ok(results)
}

/// The results, if they are the same in both launches on the device under test and on its counterpart.
pub(super) fn agreed<U: Bits>(
    schedule: u64,
    run: &dyn Fn(&Device) -> WarpwrightResult<Two<U>>,
) -> Result<Vec<U>, String> {
    let [first, second] = run(&under_test(schedule)).map_err(|error| error.to_string())?;
    let [third, fourth] = run(&counterpart(schedule)).map_err(|error| format!("on the counterpart: {error}"))?;
    for (which, other) in [("the second launch", &second), ("the counterpart", &third), ("its second launch", &fourth)]
    {
        let same = |a: U, b: U| a.bits() == b.bits() || (is_nan(a) && is_nan(b));
        if let Some(at) = (0..first.len()).find(|&at| !same(first[at], other[at])) {
            return Err(format!("result {at}: {:?}, and {:?} by {which}", first[at], other[at]));
        }
    }
    Ok(first)
}

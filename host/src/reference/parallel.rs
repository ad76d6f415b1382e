//! Work on all cores. `rayon` would do it as well, but a program would compile it and five crates with it, a twentieth
//! of its debug build.

use std::num::NonZero;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Calls `work` with each item, on as many threads as there are cores or items. An item is taken by the thread that
/// works on it.
pub(super) fn for_each<T>(items: impl ExactSizeIterator<Item = T> + Send, work: impl Fn(T) + Sync) {
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(items.len());
    let items = Mutex::new(items);
    let next = || items.lock().unwrap_or_else(PoisonError::into_inner).next();
    let take = || {
        while let Some(item) = next() {
            work(item);
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            // Without one more thread the others do its part.
            let _ = thread::Builder::new().spawn_scoped(scope, take);
        }
        take();
    });
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

    use super::*;

    #[test]
    fn each_item_is_taken_once() {
        for count in [0, 1, 2, 1000] {
            let taken: Vec<AtomicU64> = (0..count).map(|_| AtomicU64::new(0)).collect();
            for_each(taken.iter(), |item| {
                item.fetch_add(1, Relaxed);
            });
            assert!(taken.iter().all(|item| item.load(Relaxed) == 1), "{count} items");
        }
    }

    #[test]
    fn a_panic_of_the_work_is_passed_on() {
        let work = |item| assert_ne!(item, 7, "the seventh");
        assert!(std::panic::catch_unwind(|| for_each(0..100, work)).is_err());
    }
}

//! Work on all processors. With rayon xtask would take longer to build.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// `f` of each of `items`, on as many threads as the machine runs at a time; the results in the order of the items.
pub fn map<T: Sync, R: Send>(items: &[T], f: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let work = || -> Vec<(usize, R)> {
        let numbers = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        numbers.map_while(|number| Some((number, f(items.get(number)?)))).collect()
    };
    let threads = thread::available_parallelism().map_or(1, Into::into).min(items.len());
    let mut results: Vec<(usize, R)> = thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        running.into_iter().flat_map(|thread| thread.join().expect("the work does not panic")).collect()
    });
    results.sort_unstable_by_key(|&(number, _)| number);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn results_are_in_the_order_of_the_items() {
        let items: Vec<u32> = (0..1000).collect();
        assert_eq!(super::map(&items, |item| item * 2), items.iter().map(|item| item * 2).collect::<Vec<_>>());
        assert!(super::map(&[] as &[u32], |item| item * 2).is_empty());
    }
}

//! What a device keeps of the plans that it made last.

use std::hash::Hash;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

use foldhash::fast::RandomState;
use lru::LruCache;

/// Problems of which plans are kept: a few hundred bytes each.
const CAPACITY: NonZeroUsize = NonZeroUsize::new(1024).expect("not 0");

/// The plans `P` for the problems `K` of an operation, those used last.
pub(super) struct PlanCache<K: Eq + Hash, P: ?Sized>(Mutex<LruCache<K, Arc<P>, RandomState>>);

impl<K: Eq + Hash, P: ?Sized> Default for PlanCache<K, P> {
    fn default() -> Self {
        Self(Mutex::new(LruCache::with_hasher(CAPACITY, RandomState::default())))
    }
}

impl<K: Eq + Hash, P: ?Sized> PlanCache<K, P> {
    /// What `make` has made for this problem at an earlier call, or makes now. An error is not kept.
    pub(super) fn get_or_make<E>(&self, problem: K, make: impl FnOnce(&K) -> Result<Arc<P>, E>) -> Result<Arc<P>, E> {
        // Kept whole by a panic elsewhere: it is changed by the two calls below alone.
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(plan) = lock().get(&problem) {
            return Ok(Arc::clone(plan));
        }
        let plan = make(&problem)?;
        lock().put(problem, Arc::clone(&plan));
        Ok(plan)
    }

    /// Number of problems.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}

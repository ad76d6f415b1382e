//! OS threads that help with unchecked launches, shared by all launches of the process.
//!
//! The caller of a launch works itself; helpers join while there is something to do. A launch thus never waits for a
//! helper that has not begun with it, and never runs foreign work while it waits: callers may hold locks.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Work that helpers may join.
struct Job {
    /// Erased lifetime: valid until `Open` is dropped, which waits for all who have joined.
    work: *const (dyn Fn() + Sync),
    joined: Mutex<Joined>,
    left: Condvar,
}

struct Joined {
    /// Helpers that may still join.
    wanted: usize,
    /// Helpers that have joined and not left.
    at_work: usize,
}

// SAFETY: the work is `Sync`, and the pointer is used only while `Joined::at_work` keeps it alive.
unsafe impl Send for Job {}
// SAFETY: as above.
unsafe impl Sync for Job {}

struct Helpers {
    jobs: VecDeque<Arc<Job>>,
    /// Helpers that exist.
    threads: usize,
}

static HELPERS: Mutex<Helpers> = Mutex::new(Helpers { jobs: VecDeque::new(), threads: 0 });
static NEWS: Condvar = Condvar::new();

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs `work` on this OS thread, and on up to `threads - 1` others that find the time meanwhile.
pub(crate) fn run(threads: usize, work: &(dyn Fn() + Sync)) {
    let helpers = threads.saturating_sub(1);
    // SAFETY: only the lifetime changes; `Open` keeps the promise of `Job::work`.
    let erased = unsafe { std::mem::transmute::<&(dyn Fn() + Sync + '_), &'static (dyn Fn() + Sync)>(work) };
    let joined = Mutex::new(Joined { wanted: helpers, at_work: 0 });
    let job = Arc::new(Job { work: erased, joined, left: Condvar::new() });
    let _open = Open::new(&job, helpers);
    work();
}

/// A job that helpers may join. Dropped, it is closed, and all have left it.
struct Open<'a>(&'a Arc<Job>);

impl<'a> Open<'a> {
    fn new(job: &'a Arc<Job>, wanted: usize) -> Self {
        let mut helpers = lock(&HELPERS);
        helpers.jobs.push_back(Arc::clone(job));
        while helpers.threads < wanted {
            // Without it the others do the work.
            if std::thread::Builder::new().name("simulator".to_owned()).spawn(help).is_err() {
                break;
            }
            helpers.threads += 1;
        }
        NEWS.notify_all();
        Self(job)
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        lock(&HELPERS).jobs.retain(|job| !Arc::ptr_eq(job, self.0));
        let mut joined = lock(&self.0.joined);
        joined.wanted = 0;
        while joined.at_work > 0 {
            joined = self.0.left.wait(joined).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// A helper: joins one job after another.
fn help() {
    let mut helpers = lock(&HELPERS);
    loop {
        let Some(job) = helpers.jobs.iter().find(|job| job.join()).map(Arc::clone) else {
            helpers = NEWS.wait(helpers).unwrap_or_else(PoisonError::into_inner);
            continue;
        };
        drop(helpers);
        // SAFETY: this helper has joined: `Open` waits for it before the work goes.
        let work = unsafe { &*job.work };
        if let Err(payload) = catch_unwind(AssertUnwindSafe(work)) {
            crate::panics::drop_payload(payload);
        }
        job.leave();
        helpers = lock(&HELPERS);
    }
}

impl Job {
    /// Joins, if helpers are still wanted.
    fn join(&self) -> bool {
        let mut joined = lock(&self.joined);
        let joins = joined.wanted > 0;
        if joins {
            joined.wanted -= 1;
            joined.at_work += 1;
        }
        joins
    }

    fn leave(&self) {
        lock(&self.joined).at_work -= 1;
        self.left.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn all_work_is_done_when_a_run_ends() {
        for threads in 1..6 {
            let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let work = || {
                while next.fetch_add(1, Ordering::Relaxed) < 100 {
                    done.fetch_add(1, Ordering::Relaxed);
                }
            };
            std::thread::scope(|scope| (0..3).for_each(|_| drop(scope.spawn(|| run(threads, &work)))));
            assert_eq!(done.load(Ordering::Relaxed), 100);
        }
    }

    #[test]
    fn a_panic_of_the_caller_waits_for_its_helpers() {
        let at_work = AtomicUsize::new(0);
        let work = || {
            if std::thread::current().name() == Some("simulator") {
                at_work.fetch_add(1, Ordering::SeqCst);
                std::thread::sleep(std::time::Duration::from_millis(20));
                at_work.fetch_sub(1, Ordering::SeqCst);
            } else {
                std::thread::sleep(std::time::Duration::from_millis(5));
                panic!("the caller");
            }
        };
        assert!(catch_unwind(AssertUnwindSafe(|| run(3, &work))).is_err());
        assert_eq!(at_work.load(Ordering::SeqCst), 0);
    }
}

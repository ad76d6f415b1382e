//! The simulator reports its own limits.

use simt::prelude::*;
use simt::warp;
use simulator::{Config, Kind, Level};
use std::hint::black_box;
use std::process::Command;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Mutex, PoisonError};
use warpwright_tests::sim::{Buffer, Grid, launch};

/// Passes so many barriers, then swaps two elements.
#[kernel(block = 2)]
fn barriers(#[shared] words: DynShared<u32>, count: u32, y: VecMut<u32>) {
    let t = thread_idx_x();
    for _ in 0..count {
        sync_threads();
    }
    words.set(t, t);
    sync_threads();
    y.set(t as usize, words.get(1 - t));
}

#[test]
fn a_clock_that_has_run_out_is_reported_as_the_simulators_limit() {
    for (count, kinds) in [(1000, &[][..]), (1 << 20, &[Kind::Limit])] {
        let mut y = Buffer::unwritten(2);
        let grid = Grid::line(1, 2).shared(8);
        let outcome = launch(&Config::default(), barriers, grid, (count, &mut y)).unwrap();
        let reported: Vec<Kind> = outcome.reports.iter().map(|report| report.kind).collect();
        assert_eq!((reported.as_slice(), y.to_vec()), (kinds, vec![1, 0]), "{count} barriers");
    }
}

/// Counts those that are alive.
struct Alive;
static ALIVE: AtomicI32 = AtomicI32::new(0);
/// Held by the tests that look at [`ALIVE`].
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

impl Alive {
    fn new() -> Self {
        ALIVE.fetch_add(1, Ordering::SeqCst);
        Self
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        ALIVE.fetch_sub(1, Ordering::SeqCst);
    }
}

/// What the threads of [`overflows`] do, apart from threads 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    /// Recursion without end, with reads.
    Reads,
    /// Recursion without end, with writes.
    Writes,
    /// Recursion without end, with barriers.
    Barriers,
    /// Recursion without end, with atomics.
    Atomics,
    /// Recursion without end that calls nothing.
    Nothing,
    /// 270 KiB of local memory, and one access.
    Large,
    /// 270 KiB of local memory, and nothing else.
    LargeAlone,
    /// 1 MiB of local memory.
    Huge,
}

impl Cause {
    const ALL: [Self; 8] = [
        Self::Reads,
        Self::Writes,
        Self::Barriers,
        Self::Atomics,
        Self::Nothing,
        Self::Large,
        Self::LargeAlone,
        Self::Huge,
    ];

    /// Whether the thread makes a call at which it is unwound while it has room for that. Unchecked plain accesses are
    /// none.
    fn is_unwound(self, level: Level) -> bool {
        match self {
            Self::Nothing | Self::Huge => false,
            Self::Reads | Self::Writes => level != Level::Off,
            _ => true,
        }
    }

    /// Whether the report names the place of that call.
    fn is_located(self, level: Level) -> bool {
        self.is_unwound(level) && self != Self::LargeAlone && (self != Self::Large || level != Level::Off)
    }
}

#[inline(never)]
fn deeper(cause: Cause, depth: u32, x: VecRef<u32>, y: VecMut<u32>) -> u32 {
    let (frame, _alive) = (black_box([depth; 64]), (cause != Cause::Nothing).then(Alive::new));
    match cause {
        Cause::Reads => _ = black_box(x.get(depth as usize % 64)),
        Cause::Writes => y.set(index_1d(), depth),
        Cause::Barriers => warp::sync_warp(1 << warp::lane_id()),
        Cause::Atomics => _ = y.atomic(index_1d()).load(Order::Relaxed, Scope::Device),
        _ => {}
    }
    if depth == u32::MAX { 0 } else { deeper(cause, depth + 1, x, y).wrapping_add(black_box(frame)[7]) }
}

/// Calls `then` with one of so many bytes of local memory. A function of its own, because memory is taken where a
/// function begins.
#[inline(never)]
fn local<const BYTES: usize>(then: impl Fn(u32)) {
    let mut bytes = [1_u8; BYTES];
    black_box(&mut bytes);
    then(u32::from(bytes[BYTES / 2]));
    black_box(&mut bytes);
}

/// Every thread but the first of each block overflows its stack.
#[kernel(block = 64)]
fn overflows(cause: u32, x: VecRef<u32>, y: VecMut<u32>) {
    let cause = Cause::ALL[cause as usize];
    if thread_idx_x() == 0 {
        y.set(index_1d(), 7);
        return;
    }
    match cause {
        Cause::Large | Cause::LargeAlone => {
            local::<{ 270 * 1024 }>(|byte| {
                if cause == Cause::Large {
                    y.set(index_1d(), byte);
                }
            });
        }
        Cause::Huge => local::<{ 1 << 20 }>(|byte| y.set(index_1d(), byte)),
        _ => y.set(index_1d(), deeper(cause, 0, x, y)),
    }
}

/// Its threads wait for each other, and each adds the elements of the next.
#[kernel(block = 64)]
fn sound(#[shared] words: DynShared<u32>, x: VecRef<u32>, y: VecMut<u32>) {
    let t = thread_idx_x();
    words.set(t, x.get(t as usize));
    sync_threads();
    y.set(index_1d(), words.get((t + 1) % 64));
}

/// The configurations under which kernels overflow their stacks.
fn configs() -> impl Iterator<Item = Config> {
    let off = [1, 2].map(|threads| Config::new(Level::Off).threads(threads));
    let checked = [Level::Checks, Level::Counters].map(Config::new);
    off.into_iter().chain(checked).chain([Config::default().resident(4).seed(3)])
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn a_stack_overflow_is_reported_and_the_process_goes_on() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let x = Buffer::new(&(0..64).collect::<Vec<u32>>());
    for cause in Cause::ALL {
        for config in configs() {
            ALIVE.store(0, Ordering::SeqCst);
            let mut y = Buffer::zeroed(64 * 5);
            let outcome = launch(&config, overflows, Grid::line(5, 64), (cause as u32, &x, &mut y)).unwrap();
            let found: Vec<_> = outcome.reports.iter().filter(|r| r.message.contains("stack overflow")).collect();
            assert!(!found.is_empty(), "{cause:?} {config:?}: {:?}", outcome.reports);
            for report in found {
                assert_eq!((report.kind, report.kernel.as_str()), (Kind::Limit, "overflows"), "{cause:?}: {report}");
                assert!(report.thread[0] > 0 && report.block[0] < 5, "{cause:?}: {report}");
                let names_place = report.site.file.ends_with("limits.rs");
                assert_eq!(names_place, cause.is_located(config.level), "{cause:?}: {report}");
            }
            if cause.is_unwound(config.level) {
                assert_eq!(outcome.reports.iter().map(|report| report.occurrences).sum::<u64>(), 63 * 5, "{cause:?}");
                assert!(y.to_vec().chunks(64).all(|block| block[0] == 7), "{cause:?}: the other threads end");
                assert_eq!(ALIVE.load(Ordering::SeqCst), 0, "{cause:?}: every value is dropped");
            }
            let mut y = Buffer::zeroed(128);
            let outcome = launch(&config, sound, Grid::line(2, 64).shared(256), (&x, &mut y)).unwrap();
            assert!(outcome.reports.is_empty(), "after {cause:?}: {}", outcome.reports[0]);
            assert!(y.to_vec().iter().enumerate().all(|(i, &y)| y == (i as u32 + 1) % 64), "after {cause:?}");
        }
    }
}

/// Thread 40 overflows its stack while the others wait for it.
#[kernel(block = 64)]
fn overflows_beside_others(cause: u32, x: VecRef<u32>, y: VecMut<u32>) {
    let _alive = (thread_idx_x() != 40).then(Alive::new);
    if thread_idx_x() == 40 {
        y.set(index_1d(), deeper(Cause::ALL[cause as usize], 0, x, y));
    }
    sync_threads();
    y.set(index_1d(), 1);
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn threads_that_wait_for_one_that_overflows_its_stack_are_unwound() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let x = Buffer::new(&(0..64).collect::<Vec<u32>>());
    for cause in [Cause::Atomics, Cause::Nothing] {
        for config in configs() {
            ALIVE.store(0, Ordering::SeqCst);
            let mut y = Buffer::zeroed(64 * 5);
            let outcome =
                launch(&config, overflows_beside_others, Grid::line(5, 64), (cause as u32, &x, &mut y)).unwrap();
            let threads: Vec<_> = outcome.reports.iter().map(|report| (report.kind, report.thread[0])).collect();
            assert!(!threads.is_empty() && threads.iter().all(|&it| it == (Kind::Limit, 40)), "{:?}", outcome.reports);
            assert_eq!(ALIVE.load(Ordering::SeqCst), 0, "{cause:?}: every value is dropped");
        }
    }
}

/// Its destructor recurses without end.
struct Recurses;

impl Drop for Recurses {
    fn drop(&mut self) {
        fn deeper(depth: u32) -> u32 {
            let frame = black_box([depth; 256]);
            if depth == u32::MAX { 0 } else { deeper(depth + 1).wrapping_add(frame[7]) }
        }
        black_box(deeper(0));
    }
}

/// Thread 3 of block 1 overflows its stack while it is unwound.
#[kernel(block = 32)]
fn overflows_in_a_destructor() {
    if index_1d() == 35 {
        let _recurses = Recurses;
        panic!("unwinds");
    }
}

#[test]
#[ignore = "ends the process: run by the test below"]
fn overflow() {
    let _ = launch(&Config::default(), overflows_in_a_destructor, Grid::line(2, 32), ());
}

/// Runs a test that ends its process. Gives what it wrote to standard error.
#[cfg(unix)]
fn said_by(test: &str) -> String {
    let program = std::env::current_exe().expect("the path of this test program");
    let child = Command::new(program).args(["--exact", test, "--ignored", "--nocapture"]).output();
    let child = child.expect("a child process");
    let said = String::from_utf8_lossy(&child.stderr).into_owned();
    assert!(!child.status.success(), "the child succeeded:\n{said}");
    said
}

#[cfg(unix)]
#[test]
fn an_overflow_that_ends_the_process_names_kernel_block_and_thread() {
    let said = said_by("limits::overflow");
    let expected = "stack overflow in kernel `overflows_in_a_destructor`, block (1, 0, 0), thread (3, 0, 0)";
    assert!(said.contains(expected), "`{expected}` is not in\n{said}");
}

#[test]
#[ignore = "ends the process: run by the test below"]
fn overflow_outside_kernels() {
    let (x, mut y) = (Buffer::zeroed(64), Buffer::zeroed(64));
    let _ = launch(&Config::default(), overflows, Grid::line(1, 64), (Cause::Nothing as u32, &x, &mut y));
    let thread = std::thread::Builder::new().name("host".to_owned()).spawn(|| drop(Recurses));
    let _ = thread.expect("a thread").join();
}

#[cfg(target_os = "linux")]
#[test]
fn overflows_outside_kernels_are_left_to_the_standard_library() {
    let said = said_by("limits::overflow_outside_kernels");
    assert!(said.contains("has overflowed its stack") && !said.contains("warpwright"), "{said}");
}

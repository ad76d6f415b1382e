//! Launches: their geometry, their errors, and the parameters of the simulated machine.

use crate::silent;
use simt::prelude::*;
use simt::warp::{lane_id, warp_id, warp_size};
use simulator::{Config, Kind, Launch, LaunchError, Level};
use std::process::{Command, Output};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use warpwright_tests::sim::{Buffer, Grid, launch};

/// Every index and extent of a thread.
#[kernel]
fn places(y: MatMut<u32>) {
    let (t, b, threads, blocks) = (thread_idx(), block_idx(), block_dim(), grid_dim());
    let block = (b.z * blocks.y + b.y) * blocks.x + b.x;
    let row = block * threads.x * threads.y * threads.z + index_in_block();
    let values = [t.x, t.y, t.z, b.x, b.y, b.z, lane_id(), warp_id(), warp_size(), index_1d() as u32];
    for (col, value) in (0..).zip(values) {
        y.set(row, col, value);
    }
}

#[test]
fn every_thread_has_its_index() {
    let (blocks, threads) = ([3, 2, 4], [5, 3, 2]);
    for size in [1_u32, 2, 4, 8, 16, 32] {
        for seed in 0..4 {
            let mut y = Buffer::unwritten(24 * 30 * 10);
            let config = Config::default().warp_size(size).seed(seed).resident(3);
            let args = (y.matrix_mut(24 * 30, 10),);
            silent(&launch(&config, places, Grid::new(blocks, threads), args).unwrap(), &config);
            for (row, got) in (0_u32..).zip(y.to_vec().chunks(10)) {
                let (b, t) = (row / 30, row % 30);
                let (tx, ty, tz) = (t % 5, t / 5 % 3, t / 15);
                let (bx, by, bz) = (b % 3, b / 3 % 2, b / 6);
                assert_eq!(got, [tx, ty, tz, bx, by, bz, t % size, t / size, size, bx * 5 + tx]);
            }
        }
    }
}

/// Times its first argument, whose name it has.
#[kernel]
fn factor(factor: u32, y: VecMut<u32>) {
    for i in 0..y.len() {
        y.set(i, factor * y.get(i));
    }
}

/// With a variable of its own name.
#[kernel]
fn total(x: VecRef<u32>, y: VecMut<u32>) {
    let mut total = 0;
    for i in 0..x.len() {
        total += x.get(i);
    }
    y.set(0, total);
}

#[test]
fn a_parameter_or_a_variable_may_have_the_kernels_name() {
    let config = Config::default();
    let mut y = Buffer::new(&[1_u32, 2, 3]);
    silent(&launch(&config, factor, Grid::line(1, 1), (5, &mut y)).unwrap(), &config);
    assert_eq!(y.to_vec(), [5, 10, 15]);
    let mut sum = Buffer::unwritten(1);
    silent(&launch(&config, total, Grid::line(1, 1), (&y, &mut sum)).unwrap(), &config);
    assert_eq!(sum.to_vec(), [30]);
}

fn error(config: &Config, grid: Grid) -> LaunchError {
    launch(config, places, grid, (Buffer::unwritten(0).matrix_mut(0, 0),)).expect_err("a launch that cannot begin")
}

#[test]
fn invalid_launches_are_refused_with_a_reason() {
    let good = Config::default();
    let cases = [
        (error(&good, Grid::new([1, 0, 1], [32, 1, 1])), "grid [1, 0, 1] of blocks [32, 1, 1] is empty"),
        (error(&good, Grid::new([1, 1, 1], [32, 1, 0])), "every extent must be at least 1"),
        (error(&good, Grid::line(1, 1025)), "1025 threads per block, at most 1024"),
        (error(&good, Grid::new([1; 3], [1 << 16, 1 << 16, 2])), "threads per block, at most 1024"),
        (error(&good, Grid::new([1 << 31, 1 << 31, 4], [1, 1, 1])), "use `Level::Off` or a smaller grid"),
        (error(&good.clone().warp_size(0), Grid::line(1, 1)), "warp_size must be a power of two from 1 to 32, it is 0"),
        (
            error(&good.clone().warp_size(24), Grid::line(1, 1)),
            "warp_size must be a power of two from 1 to 32, it is 24",
        ),
        (
            error(&good.clone().warp_size(64), Grid::line(1, 1)),
            "warp_size must be a power of two from 1 to 32, it is 64",
        ),
        (error(&good.clone().bank_bytes(16), Grid::line(1, 1)), "bank_bytes must be 4 or 8, it is 16"),
        (error(&good.clone().resident(0), Grid::line(1, 1)), "resident must be at least 1, it is 0"),
    ];
    for (error, words) in cases {
        assert!(error.to_string().contains(words), "`{words}` is not in `{error}`");
    }
}

#[test]
fn a_kernel_cannot_launch() {
    for level in [Level::Off, Level::Checks, Level::Counters] {
        let config = Config::new(level).threads(1);
        let grid = Launch {
            name: "outer",
            grid: [1; 3],
            block: [1; 3],
            shared_bytes: 0,
            cluster: 1,
            pdl: false,
            bindings: &[],
            print: None,
        };
        let inner = Mutex::new(None);
        let body = || {
            // SAFETY: no memory is bound and the body does nothing.
            let result = unsafe { simulator::launch(&Launch { name: "inner", ..grid }, &config, &|| {}) };
            *inner.lock().unwrap() = Some(result.map(|outcome| outcome.reports));
        };
        // SAFETY: no memory is bound; the body is safe.
        let outer = unsafe { simulator::launch(&grid, &config, &body) };
        assert_eq!(outer.unwrap().reports, []);
        assert_eq!(inner.into_inner().unwrap(), Some(Err(LaunchError::Nested)));
    }
}

/// Three faults at three places.
#[kernel(block = 1)]
fn three(y: VecMut<u32>) {
    y.set(1, 0);
    y.set(2, 0);
    y.set(3, 0);
}

#[test]
fn reports_beyond_the_limit_are_counted() {
    let mut config = Config::default();
    config.max_reports = 2;
    let mut y = Buffer::unwritten(1);
    let outcome = launch(&config, three, Grid::line(1, 1), (&mut y,)).unwrap();
    assert_eq!((outcome.reports.len(), outcome.suppressed), (2, 1));
}

/// Waits forever, or adds 1 to every element.
#[kernel(block = 64)]
fn hang_or_add(hang: u32, flag: VecMut<u32>, y: VecMut<u32>) {
    while hang == 1 && flag.atomic(0).load(Order::Relaxed, Scope::Device) == 0 {}
    sync_threads();
    y.set(index_1d(), y.get(index_1d()) + 1);
}

#[test]
fn a_hung_launch_leaves_nothing_behind() {
    let mut config = Config::default();
    config.hang_turns = 100;
    let (mut flag, mut y) = (Buffer::zeroed(1), Buffer::zeroed(128));
    for round in 0..5_u32 {
        let outcome = launch(&config, hang_or_add, Grid::line(2, 64), (1, &mut flag, &mut y)).unwrap();
        assert!(outcome.reports.iter().all(|report| report.kind == Kind::Hang) && !outcome.reports.is_empty());
        silent(&launch(&config, hang_or_add, Grid::line(2, 64), (0, &mut flag, &mut y)).unwrap(), &config);
        assert_eq!(y.to_vec(), vec![round + 1; 128]);
    }
}

#[test]
fn launches_on_several_threads_are_independent() {
    let work = || {
        for seed in 0..20 {
            let (mut flag, mut y) = (Buffer::zeroed(1), Buffer::zeroed(128));
            let config = Config::default().seed(seed);
            silent(&launch(&config, hang_or_add, Grid::line(2, 64), (0, &mut flag, &mut y)).unwrap(), &config);
            assert_eq!(y.to_vec(), vec![1; 128]);
        }
    };
    std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(work))));
}

/// Stores the steps of the block between two calls of `clock`.
#[kernel(block = 32)]
fn clocks(y: VecMut<u64>) {
    let before = clock();
    sync_threads();
    y.set(index_1d(), clock() - before);
}

#[test]
fn the_logical_clock_advances() {
    for level in [Level::Off, Level::Checks] {
        let mut y = Buffer::unwritten(32);
        let outcome = launch(&Config::new(level), clocks, Grid::line(1, 32), (&mut y,)).unwrap();
        assert!(y.to_vec().iter().all(|&steps| steps >= 1));
        assert!(outcome.clock >= 32, "32 arrivals at a barrier");
    }
}

/// Every block logs its number once in each interval between barriers.
#[kernel(block = 32)]
fn sign(log: VecMut<u32>, next: VecMut<u32>) {
    for _ in 0..4 {
        if thread_idx_x() == 0 {
            let at = next.atomic(0).fetch_add(1, Order::Relaxed, Scope::Device);
            log.set(at as usize, block_idx_x());
        }
        sync_threads();
    }
}

#[test]
fn resident_blocks_take_turns_at_barriers() {
    let signed = |resident, seed| {
        let (mut log, mut next) = (Buffer::<u32>::zeroed(32), Buffer::<u32>::zeroed(1));
        let config = Config::default().resident(resident).seed(seed);
        assert!(launch(&config, sign, Grid::line(8, 32), (&mut log, &mut next)).unwrap().reports.is_empty());
        log.to_vec()
    };
    let alternations = |log: &[u32]| log.windows(2).filter(|pair| pair[0] != pair[1]).count();
    for seed in 0..10 {
        assert_eq!(alternations(&signed(1, seed)), 7, "one at a time, seed {seed}");
        assert!(alternations(&signed(4, seed)) > 14, "four at a time, seed {seed}: {:?}", signed(4, seed));
        assert_eq!(signed(4, seed), signed(4, seed), "seed {seed} repeats itself");
    }
}

/// Lanes whose destructors have run.
static DROPPED: AtomicU32 = AtomicU32::new(0);

struct Counted;

impl Drop for Counted {
    fn drop(&mut self) {
        DROPPED.fetch_add(1, Ordering::Relaxed);
        // A lane that is abandoned waits for nobody.
        sync_threads();
    }
}

/// Thread 0 waits for a flag that nobody sets, the others at a barrier.
#[kernel(block = 64)]
fn hang_with_destructors(flag: VecMut<u32>) {
    let _counted = Counted;
    while thread_idx_x() == 0 && flag.atomic(0).load(Order::Relaxed, Scope::Device) == 0 {}
    sync_threads();
}

#[test]
fn destructors_run_where_a_launch_is_abandoned() {
    let mut config = Config::default();
    config.hang_turns = 100;
    let mut flag = Buffer::zeroed(1);
    let outcome = launch(&config, hang_with_destructors, Grid::line(1, 64), (&mut flag,)).unwrap();
    assert_eq!(outcome.reports.iter().map(|report| report.kind).collect::<Vec<_>>(), [Kind::Hang]);
    assert_eq!(DROPPED.load(Ordering::Relaxed), 64);
}

/// A payload whose destructor panics with another one.
struct Bomb(u32);

impl Drop for Bomb {
    fn drop(&mut self) {
        if self.0 > 0 {
            std::panic::panic_any(Bomb(self.0 - 1));
        }
    }
}

#[kernel(block = 64)]
fn panic_with_bomb(y: VecMut<u32>) {
    if thread_idx_x() == 40 {
        std::panic::panic_any(Bomb(3));
    }
    sync_threads();
    y.set(index_1d(), 1);
}

#[test]
fn a_payload_whose_destructor_panics_does_no_harm() {
    for level in [Level::Off, Level::Checks] {
        let mut y = Buffer::zeroed(128);
        let outcome = launch(&Config::new(level), panic_with_bomb, Grid::line(2, 64), (&mut y,)).unwrap();
        assert_eq!(outcome.reports.iter().map(|report| report.kind).collect::<Vec<_>>(), [Kind::Panic]);
        let (mut flag, mut y) = (Buffer::zeroed(1), Buffer::zeroed(128));
        silent(
            &launch(&Config::new(level), hang_or_add, Grid::line(2, 64), (0, &mut flag, &mut y)).unwrap(),
            &Config::new(level),
        );
    }
}

/// Uses 100 KiB of local memory on both sides of a barrier.
#[kernel(block = 32)]
fn large_locals(y: VecMut<u32>) {
    let mut local = [thread_idx_x(); 25 * 1024];
    std::hint::black_box(&mut local);
    sync_threads();
    let sum = std::hint::black_box(&local).iter().step_by(1024).sum();
    y.set(thread_idx_x() as usize, sum);
}

#[test]
fn a_thread_may_have_100_kib_of_local_memory() {
    let mut y = Buffer::unwritten(32);
    silent(&launch(&Config::default(), large_locals, Grid::line(1, 32), (&mut y,)).unwrap(), &Config::default());
    assert_eq!(y.to_vec(), (0..32).map(|t| 25 * t).collect::<Vec<_>>());
}

/// Waits at a barrier.
#[kernel(block = 1024)]
fn wait_once(y: VecMut<u32>) {
    sync_threads();
    y.set(index_1d(), 1);
}

#[test]
#[ignore = "takes all stacks of its process: run by the test below"]
fn too_many_waiting_threads() {
    let mut y = Buffer::unwritten(70 * 1024);
    let config = Config::default().resident(70);
    match launch(&config, wait_once, Grid::line(70, 1024), (&mut y,)) {
        Err(LaunchError::Memory { reason }) => assert!(reason.contains("threads are blocked at once"), "{reason}"),
        outcome => panic!("{outcome:?}"),
    }
    silent(&launch(&Config::default(), wait_once, Grid::line(70, 1024), (&mut y,)).unwrap(), &Config::default());
    assert_eq!(y.to_vec(), vec![1; 70 * 1024]);
}

#[test]
fn more_waiting_threads_than_there_can_be_are_an_error() {
    let child = child("launches::too_many_waiting_threads");
    assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stderr));
}

#[test]
fn shadow_memory_that_the_host_does_not_have_is_an_error() {
    let memory = simulator::Memory::new(64 << 20, 1).unwrap();
    // 16 bytes of shadow for each byte of each binding: 1 GiB each.
    let bindings = vec![simulator::Binding { name: "x", memory: &memory, writable: true }; 1 << 14];
    let grid = Launch {
        name: "idle",
        grid: [1; 3],
        block: [1; 3],
        shared_bytes: 0,
        cluster: 1,
        pdl: false,
        bindings: &bindings,
        print: None,
    };
    // SAFETY: the body accesses no memory.
    let outcome = unsafe { simulator::launch(&grid, &Config::default(), &|| {}) };
    assert!(matches!(outcome, Err(LaunchError::Memory { .. })), "{outcome:?}");
}

#[test]
fn unchecked_launches_do_not_wait_for_the_callers_own_pool() {
    let lock = Mutex::new(());
    let work = || {
        for _ in 0..50 {
            let _guard = lock.lock().unwrap();
            let (mut flag, mut y) = (Buffer::zeroed(1), Buffer::zeroed(256));
            let config = Config::new(Level::Off);
            silent(&launch(&config, hang_or_add, Grid::line(4, 64), (0, &mut flag, &mut y)).unwrap(), &config);
            assert_eq!(y.to_vec(), vec![1; 256]);
        }
    };
    rayon::scope(|scope| (0..4).for_each(|_| scope.spawn(|_| work())));
}

/// Runs an ignored test in a process of its own.
fn child(name: &str) -> Output {
    let program = std::env::current_exe().expect("the path of this test program");
    let child = Command::new(program).args(["--exact", name, "--ignored", "--nocapture"]).output();
    child.expect("a child process")
}

/// Launches when it is dropped.
struct Launches;

impl Drop for Launches {
    fn drop(&mut self) {
        let (mut flag, mut y) = (Buffer::zeroed(1), Buffer::zeroed(64));
        let config = Config::default();
        silent(&launch(&config, hang_or_add, Grid::line(1, 64), (0, &mut flag, &mut y)).unwrap(), &config);
        let outcome = launch(&config, panic_with_bomb, Grid::line(1, 64), (&mut y,)).unwrap();
        assert_eq!(outcome.reports[0].kind, Kind::Panic);
        eprintln!("launched while unwinding");
    }
}

#[test]
#[ignore = "must be the first launch of its process: run by the test below"]
fn first_launch_while_unwinding() {
    let _launches = Launches;
    panic!("unwinds");
}

#[test]
fn the_first_launch_of_a_process_may_be_in_a_destructor_while_unwinding() {
    let said = child("launches::first_launch_while_unwinding");
    let text = String::from_utf8_lossy(&said.stderr);
    assert!(text.contains("launched while unwinding"), "{text}");
    assert_eq!(said.status.code(), Some(101), "a failed test, not an abort: {text}");
}

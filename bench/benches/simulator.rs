//! Speed of the simulator: nanoseconds per multiply-add, per element and per thread, by level.
//!
//! `cargo bench -p warpwright-bench --bench simulator`. Each figure is time over the elements given as throughput: for
//! `matmul_tiled` the m·n·k multiply-adds, for the others the elements of the input.
#![allow(missing_docs, reason = "criterion's macros make public functions")]
#![allow(clippy::cast_ptr_alignment, reason = "simulated memory starts at a multiple of 256 bytes")]

use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main, measurement::WallTime};
use simt::Kernel;
use simt::global::{MatMut, MatRef, VecMut, VecRef};
use simulator::{Binding, Config, Launch, Level, Memory};
use std::hint::black_box;
use std::time::Duration;

/// Memory with `n` values in [-1, 1) that are not zero and not all the same.
fn filled(n: usize) -> Memory {
    let memory = Memory::new(n * 4, 4).expect("memory");
    let values: Vec<u8> = (0..n)
        .flat_map(|i| ((i as u32).wrapping_mul(2_654_435_761) as i32 as f32 / 2_147_483_648.0).to_ne_bytes())
        .collect();
    // SAFETY: nobody else has the memory.
    unsafe { memory.write(0, &values) };
    memory
}

/// Runs a kernel once and insists on a clean outcome.
fn run<P: Copy + Sync>(
    kernel: &Kernel<P>,
    args: P,
    grid: [u32; 3],
    block: [u32; 3],
    shared: usize,
    bound: &[(&Memory, bool)],
    config: &Config,
) {
    let bindings: Vec<Binding<'_>> =
        bound.iter().map(|&(memory, writable)| Binding { name: "buffer", memory, writable }).collect();
    let launch = Launch {
        name: kernel.info().name,
        grid,
        block,
        shared_bytes: shared,
        cluster: kernel.info().cluster,
        pdl: kernel.info().pdl,
        bindings: &bindings,
        print: None,
    };
    let entry = kernel.entry();
    // SAFETY: the views in `args` lie in the bound memories and carry their tags; nobody else uses them.
    let outcome = unsafe { simulator::launch(&launch, config, &|| entry(args)) }.expect("launch");
    assert!(outcome.reports.is_empty(), "{}", outcome.reports[0]);
}

fn levels() -> Vec<(&'static str, Config)> {
    vec![
        ("off, 1 core", Config::new(Level::Off).seed(7).threads(1)),
        ("off, 2 cores", Config::new(Level::Off).seed(7).threads(2)),
        ("checks", Config::new(Level::Checks).seed(7)),
        ("counters", Config::new(Level::Counters).seed(7)),
    ]
}

fn group<'a>(c: &'a mut Criterion, name: &str, elements: usize) -> BenchmarkGroup<'a, WallTime> {
    let mut group = c.benchmark_group(name);
    group.throughput(Throughput::Elements(elements as u64)).sample_size(10).warm_up_time(Duration::from_millis(300));
    group.measurement_time(Duration::from_secs(4));
    group
}

fn matmul(c: &mut Criterion) {
    const N: u32 = 512;
    let n = (N * N) as usize;
    let (a, b, out) = (filled(n), filled(n), filled(n));
    let mut group = group(c, "matmul_tiled 512^3", n * N as usize);
    for (name, config) in levels() {
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                // SAFETY: each view covers its memory exactly.
                let args = unsafe {
                    (
                        MatRef::from_raw_parts(a.as_ptr().cast::<f32>(), N, N, N, 0),
                        MatRef::from_raw_parts(b.as_ptr().cast::<f32>(), N, N, N, 1),
                        MatMut::from_raw_parts(out.as_ptr().cast::<f32>(), N, N, N, 2),
                    )
                };
                let bound = [(&a, false), (&b, false), (&out, true)];
                let kernel = &gpu::gemm::tiled::matmul_tiled;
                let shared = size_of::<gpu::gemm::tiled::Tiles>();
                run(kernel, args, gpu::gemm::tiled::grid(N, N), [32, 32, 1], shared, &bound, &config);
            });
        });
    }
}

fn reduce(c: &mut Criterion) {
    const N: usize = 1 << 22;
    const THREADS: u32 = 256;
    let grid = gpu::reduce::dynamic::grid(N, THREADS);
    let (input, out) = (filled(N), filled(grid[0] as usize));
    let mut group = group(c, "reduce_sum_dynamic 2^22", N);
    for (name, config) in levels() {
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                // SAFETY: each view covers its memory exactly.
                let args = unsafe {
                    (
                        VecRef::from_raw_parts(input.as_ptr().cast::<f32>(), N as u64, 0),
                        VecMut::from_raw_parts(out.as_ptr().cast::<f32>(), u64::from(grid[0]), 1),
                    )
                };
                let bound = [(&input, false), (&out, true)];
                let kernel = &gpu::reduce::dynamic::reduce_sum_dynamic;
                run(kernel, args, grid, [THREADS, 1, 1], 4 * THREADS as usize, &bound, &config);
            });
        });
    }
}

/// A chain of `f32::mul_add` through libm: how fast this machine is, so that figures of two machines can be compared.
fn calibration(c: &mut Criterion) {
    const N: usize = 1 << 22;
    let mut group = group(c, "calibration", N);
    group.bench_function("f32::mul_add chain", |bencher| {
        let (a, b) = (black_box(0.999_f32), black_box(0.5_f32));
        bencher.iter(|| (0..N).fold(black_box(1.0_f32), |sum, _| sum.mul_add(a, b)));
    });
}

criterion_group!(benches, calibration, matmul, reduce);
criterion_main!(benches);

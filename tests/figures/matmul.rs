//! A1 to A5: loads from global memory, and the resulting roofline bound.

use gpu::gemm::naive::{self, matmul_naive};
use gpu::gemm::tiled::{self, TILE, matmul_tiled};
use gpu::lab::tutorial::matmul::block_tiled::{self, matmul_block_tiled};
use gpu::lab::tutorial::matmul::single_block::matmul_single_block;
use simt::Kernel;
use simt::global::{MatMut, MatRef};
use warpwright::Launch;
use warpwright::simulator::{Access, Counters};
use warpwright_bench::tutorial::figures::Value::{Count, Gflops};
use warpwright_bench::tutorial::figures::matmul::rows;

use crate::{computed, count, device};

/// m, n, k: multiples of the tile, and not.
const SHAPES: [(usize, usize, usize); 7] =
    [(32, 32, 32), (64, 96, 128), (128, 128, 128), (33, 31, 65), (1, 100, 7), (100, 1, 40), (40, 50, 60)];

type Gemm = Kernel<(MatRef<'static, f32>, MatRef<'static, f32>, MatMut<'static, f32>)>;

fn counters(kernel: &Gemm, grid: fn(u32, u32) -> [u32; 3], shape: (usize, usize, usize)) -> Counters {
    launched(kernel, Launch::grid(grid(shape.0 as u32, shape.1 as u32)), shape)
}

fn launched(kernel: &Gemm, launch: Launch<'_>, (m, n, k): (usize, usize, usize)) -> Counters {
    let device = device();
    let a = device.alloc_matrix_zeros(m, k).expect("a");
    let b = device.alloc_matrix_zeros(k, n).expect("b");
    let mut c = device.alloc_matrix(m, n).expect("c");
    count(&device, kernel, launch, (&a, &b, &mut c))
}

/// Elements loaded from global memory, over all threads.
fn loads(counters: &Counters) -> u64 {
    assert_eq!(counters.bytes(Access::GlobalLoad), 4 * counters.total(Access::GlobalLoad).lanes, "4 bytes each");
    counters.total(Access::GlobalLoad).lanes
}

#[test]
fn a1_one_block_loads_twice_its_edge_per_thread() {
    let figures = computed(rows(), "A1");
    for (width, loads) in [(8, 16), (16, 32), (32, 64)] {
        assert_eq!(figures[&format!("loads per thread, W = {width}")], Count(loads));
    }
}

/// The rule for matrices larger than the block: 2·k loads for each element of C, for any block.
#[test]
fn a1_one_block_loads_two_elements_per_multiply_add() {
    for shape @ (m, n, k) in SHAPES {
        for block in [(1, 1), (7, 5), (32, 32)] {
            let counters = launched(&matmul_single_block, Launch::grid(1).block(block), shape);
            assert_eq!(loads(&counters), 2 * (m * n * k) as u64, "m {m}, n {n}, k {k} by {block:?}");
            assert_eq!(counters.total(Access::GlobalStore).lanes, (m * n) as u64, "m {m}, n {n}, k {k} by {block:?}");
        }
    }
}

#[test]
fn a2_to_a4_state_what_is_counted() {
    let figures = computed(rows(), "A2");
    assert_eq!(figures["loads, m 64, n 96, k 128"], Count(2 * 64 * 96 * 128));
    let figures = computed(rows(), "A3");
    assert_eq!(figures["loads of A2 over loads of A3, m 96, n 128, k 64"], Count(32));
    let figures = computed(rows(), "A4");
    assert_eq!(figures["blocks, m 512, n 512, k 512"], Count(16));
    // M·N·K·(1/128 + 1/128).
    assert_eq!(figures["loads, m 512, n 512, k 512"], Count(512 * 512 * 512 / 64));
}

#[test]
fn a2_naive_loads_two_elements_per_multiply_add() {
    for (m, n, k) in SHAPES {
        let counters = counters(&matmul_naive, naive::grid, (m, n, k));
        assert_eq!(loads(&counters), 2 * (m * n * k) as u64, "m {m}, n {n}, k {k}");
        assert_eq!(counters.total(Access::GlobalStore).lanes, (m * n) as u64, "each element of C is stored once");
    }
}

/// A row of blocks loads all of B once, a column of blocks all of A: m·n·k/32 each if the tiles fit.
#[test]
fn a3_tiled_loads_32_times_fewer() {
    for (m, n, k) in SHAPES {
        let naive = loads(&counters(&matmul_naive, naive::grid, (m, n, k)));
        let tiled = loads(&counters(&matmul_tiled, tiled::grid, (m, n, k)));
        let tile = TILE as usize;
        let rule = n.div_ceil(tile) * m * k + m.div_ceil(tile) * k * n;
        assert_eq!(tiled, rule as u64, "m {m}, n {n}, k {k}");
        if m % tile == 0 && n % tile == 0 {
            assert_eq!(naive, 32 * tiled, "m {m}, n {n}, k {k}");
        }
    }
}

/// Two barriers for each step of 32 along k.
#[test]
fn a3_tiled_has_two_barriers_per_tile() {
    for (m, n, k) in SHAPES {
        let counters = counters(&matmul_tiled, tiled::grid, (m, n, k));
        let tile = TILE as usize;
        let blocks = m.div_ceil(tile) * n.div_ceil(tile);
        assert_eq!(counters.barriers, (2 * blocks * k.div_ceil(tile)) as u64, "m {m}, n {n}, k {k}");
    }
}

/// Tiles of 128: a row of blocks loads all of B once, a column of blocks all of A, M·N·K·(1/128 + 1/128) if the tiles
/// fit.
#[test]
fn a4_block_tiled_loads_m_n_k_by_128_twice() {
    let ragged = [(128, 128, 8), (256, 128, 24), (129, 127, 9), (1, 300, 7), (200, 1, 16), (100, 100, 1)];
    for shape @ (m, n, k) in ragged {
        let counters = counters(&matmul_block_tiled, block_tiled::grid, shape);
        let tile = block_tiled::TILE as usize;
        let rule = n.div_ceil(tile) * m * k + m.div_ceil(tile) * k * n;
        assert_eq!(loads(&counters), rule as u64, "m {m}, n {n}, k {k}");
        let steps = k.div_ceil(block_tiled::DEPTH as usize);
        let barriers = 2 * m.div_ceil(tile) * n.div_ceil(tile) * steps;
        assert_eq!(counters.barriers, barriers as u64, "m {m}, n {n}, k {k}: two barriers per step");
        assert_eq!(counters.total(Access::GlobalStore).lanes, (m * n) as u64, "m {m}, n {n}, k {k}");
    }
}

/// Stores to shared memory have no conflict: each takes one wavefront. A load of 16 bytes per lane takes two, the
/// minimum.
#[test]
fn a4_block_tiled_has_no_bank_conflict() {
    let counters = counters(&matmul_block_tiled, block_tiled::grid, (256, 256, 32));
    let stores = counters.total(Access::SharedStore);
    assert_eq!((stores.worst, stores.wavefronts), (1, stores.requests));
    let loads = counters.total(Access::SharedLoad);
    assert_eq!((loads.worst, loads.wavefronts), (2, 2 * loads.requests));
    assert_eq!(counters.bytes(Access::SharedLoad), 16 * loads.lanes, "16 bytes each");
}

/// A warp's request of A is four rows of a sector each, of B one row of four sectors.
#[test]
fn a4_block_tiled_loads_whole_sectors() {
    let counters = counters(&matmul_block_tiled, block_tiled::grid, (128, 256, 64));
    let loads = counters.total(Access::GlobalLoad);
    assert_eq!((loads.lanes, loads.sectors), (32 * loads.requests, 4 * loads.requests));
}

#[test]
fn a5_roofline_of_a2_is_21_6_gflops() {
    let figures = computed(rows(), "A5");
    assert_eq!(figures["bytes loaded by A2 per operation"], Count(4));
    assert_eq!(figures["bound of A2 at 346.5 GFLOP/s and 86.4 GB/s"], Gflops(21.6));
}

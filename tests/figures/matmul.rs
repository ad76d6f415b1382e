//! A2 and A3: loads from global memory.

use gpu::gemm::naive::{self, matmul_naive};
use gpu::gemm::tiled::{self, TILE, matmul_tiled};
use simt::Kernel;
use simt::global::{MatMut, MatRef};
use warpwright::Launch;
use warpwright::simulator::{Access, Counters};

use crate::{count, device};

/// m, n, k: multiples of the tile, and not.
const SHAPES: [(usize, usize, usize); 7] =
    [(32, 32, 32), (64, 96, 128), (128, 128, 128), (33, 31, 65), (1, 100, 7), (100, 1, 40), (40, 50, 60)];

type Gemm = Kernel<(MatRef<'static, f32>, MatRef<'static, f32>, MatMut<'static, f32>)>;

fn counters(kernel: &Gemm, grid: fn(u32, u32) -> [u32; 3], (m, n, k): (usize, usize, usize)) -> Counters {
    let device = device();
    let a = device.alloc_matrix_zeros(m, k).expect("a");
    let b = device.alloc_matrix_zeros(k, n).expect("b");
    let mut c = device.alloc_matrix(m, n).expect("c");
    count(&device, kernel, Launch::grid(grid(m as u32, n as u32)), (&a, &b, &mut c))
}

/// Elements loaded from global memory, over all threads.
fn loads(counters: &Counters) -> u64 {
    assert_eq!(counters.bytes(Access::GlobalLoad), 4 * counters.total(Access::GlobalLoad).lanes, "4 bytes each");
    counters.total(Access::GlobalLoad).lanes
}

#[test]
fn a2_naive_loads_two_elements_per_multiply_add() {
    for (m, n, k) in SHAPES {
        let counters = counters(&matmul_naive, naive::grid, (m, n, k));
        assert_eq!(loads(&counters), 2 * (m * n * k) as u64, "m {m}, n {n}, k {k}");
        assert_eq!(counters.total(Access::GlobalStore).lanes, (m * n) as u64, "each element of C is stored once");
    }
}

/// A row of blocks loads all of B once, a column of blocks all of A: m·n·k/32 each where the tiles fit.
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

/// Two barriers for each step of 32 along k, as the listing has them.
#[test]
fn a3_tiled_has_two_barriers_per_tile() {
    for (m, n, k) in SHAPES {
        let counters = counters(&matmul_tiled, tiled::grid, (m, n, k));
        let tile = TILE as usize;
        let blocks = m.div_ceil(tile) * n.div_ceil(tile);
        assert_eq!(counters.barriers, (2 * blocks * k.div_ceil(tile)) as u64, "m {m}, n {n}, k {k}");
    }
}

//! Kernels with tiles of up to 256: tile edges, and code paths for rows aligned to 16 bytes.

use gpu::gemm::ffma;
use warpwright::reference::same_bits;
use warpwright::simulator::{Access, Config, Counters, Level};
use warpwright::{Device, Launch};

use super::variants::{Variant, by_naive};
use super::{integer_problem, real_problem};
use crate::support::device::under_test;
use crate::support::frame::Place;
use crate::support::product::{Case, Gemm, sample};

/// Rows start at multiples of 16 bytes, except those of matrix `misaligned` (3 for none).
fn places(cols: [usize; 3], misaligned: usize) -> [Place; 3] {
    std::array::from_fn(|i| {
        let gap = (4 - cols[i] % 4) % 4;
        match (i == misaligned, i % 2) {
            (false, _) => Place { offset: 4 * i, gap: gap + 4 * i, after: 3 },
            // Either the distance of rows is a multiple of 16 bytes and the first address is not, or vice versa.
            (true, 0) => Place { offset: 1, gap, after: 2 },
            (true, _) => Place { offset: 0, gap: gap + 1, after: 0 },
        }
    })
}

/// Extents one below, at and one above the edges of all tiles, with depths at the edges of all steps.
pub(super) fn tile_edges_are_exact_aligned_or_not(variant: Variant) {
    let mut depths = [8, 15, 16, 17, 31, 32, 33, 64, 65, 4, 12, 100].into_iter().cycle();
    let mut number = 0;
    for (m, n) in [(64, 64), (128, 128), (128, 256), (256, 128)] {
        for (m, n) in [(m, n), (m - 1, n), (m, n - 1), (m + 1, n), (m, n + 1), (m - 1, n + 1), (m, n + 4)] {
            // All matrices aligned, then all but one.
            for misaligned in [3, number % 3] {
                let k = depths.next().unwrap_or_default();
                let case = Case { m, k, n, places: places([k, n, n], misaligned), data: number as u64, schedule: 7 };
                let verdict = integer_problem(&case).verify(case.schedule, variant);
                verdict.unwrap_or_else(|error| panic!("m {m}, k {k}, n {n}, matrix {misaligned} misaligned: {error}"));
            }
            number += 1;
        }
    }
}

/// Sequential accumulation in order of k from +0, for every tile. With products so small that a sum can be −0, the
/// zeros that pad the last step would be visible.
pub(super) fn sums_have_the_bits_of_matmul_naive(variant: Variant) {
    let device = under_test(3);
    for (m, k, n) in [(65, 37, 70), (64, 33, 64), (3, 1, 5), (130, 50, 260)] {
        for power in [0, -76] {
            for misaligned in [3, 0, 1, 2] {
                let case = Case { places: places([k, n, n], misaligned), ..sample(m, k, n) };
                let problem = real_problem(&case, 2_f32.powi(power));
                let [naive, output] =
                    [by_naive, variant].map(|variant| variant(&device, &problem).expect("a run").output);
                let what = format!("m {m}, k {k}, n {n}, times 2^{power}, matrix {misaligned} misaligned");
                same_bits(&naive, &output).unwrap_or_else(|error| panic!("{what}: {error}"));
            }
        }
    }
}

/// Counters of one block for depth `k`, with everything aligned.
fn counters(kernel: &Gemm, [m, n]: [u32; 2], k: usize) -> Counters {
    let device = Device::simulator_with(Config::new(Level::Counters));
    let a = device.alloc_matrix_zeros(m as usize, k).expect("a");
    let b = device.alloc_matrix_zeros(k, n as usize).expect("b");
    let mut c = device.alloc_matrix(m as usize, n as usize).expect("c");
    device.launch(kernel, Launch::grid(1), (&a, &b, &mut c)).expect("a run").counters.expect("counted")
}

/// The difference of two depths, 64 columns of A or several steps: no bank conflicts, no redundant loads, and loads of
/// full width. Work done once per block cancels.
#[test]
fn a_step_has_no_bank_conflicts_and_no_redundant_loads() {
    let kernels: [(&Gemm, [u32; 2], [u64; 2]); 3] = [
        (&ffma::gemm_ffma_f32_128x256, [128, 256], [16, 8]),
        (&ffma::gemm_ffma_f32_128x128, [128, 128], [16, 8]),
        (&ffma::gemm_ffma_f32_64x64, [64, 64], [8, 4]),
    ];
    for (kernel, tile, [down, across]) in kernels {
        let (name, [few, many]) = (kernel.info().name, [64, 128].map(|k| counters(kernel, tile, k)));
        let more = |access, count: fn(&Counters, Access) -> u64| count(&many, access) - count(&few, access);
        let (requests, wavefronts, sectors): (fn(&Counters, Access) -> u64, _, _) = (
            |counters, access| counters.total(access).requests,
            |counters: &Counters, access| counters.total(access).wavefronts,
            |counters: &Counters, access| counters.total(access).sectors,
        );
        let [m, n] = tile.map(u64::from);
        let warps = m * n / (down * across) / 32;
        // Columns and rows in quads; 16-byte loads take at least two wavefronts.
        let loads = 64 * warps * (down + across) / 4;
        assert_eq!(more(Access::SharedLoad, requests), loads, "{name}");
        assert_eq!(more(Access::SharedLoad, wavefronts), 2 * loads, "{name}");
        // A, 4 bytes a lane.
        assert_eq!(more(Access::SharedStore, requests), 64 * m / 32, "{name}");
        assert_eq!(more(Access::SharedStore, wavefronts), 64 * m / 32, "{name}");
        // 16 bytes a lane, and sectors of 8 elements.
        assert_eq!(more(Access::GlobalLoad, requests), 64 * m / 128, "{name}");
        assert_eq!(more(Access::GlobalLoad, sectors), 64 * m / 8, "{name}");
        assert_eq!(more(Access::AsyncCopy, requests), 64 * n / 128, "{name}");
        assert_eq!(more(Access::AsyncCopy, sectors), 64 * n / 8, "{name}");
        assert_eq!(many.total(Access::GlobalStore).sectors, m * n / 8, "{name}");
    }
}

//! C3 and C7: warps, divergent warps, values that come back.

use gpu::ladder::vector_add::{self, vector_add};
use gpu::reduce::dynamic::{self, reduce_sum_dynamic};
use warpwright::Launch;
use warpwright::simulator::{Access, Counters};

use crate::{count, device};

fn add(n: usize) -> Counters {
    let device = device();
    let (x, y) = (device.alloc_zeros(n).expect("x"), device.alloc_zeros(n).expect("y"));
    let mut z = device.alloc(n).expect("z");
    count(&device, &vector_add, Launch::grid(vector_add::grid(n)), (&x, &y, &mut z))
}

/// Blocks, warps launched, warps that hold data, divergent warps.
fn census(n: usize) -> [u64; 4] {
    let counters = add(n);
    let branch = counters.total(Access::Branch);
    assert_eq!(branch.requests, counters.warps, "every warp meets the one branch once");
    [u64::from(vector_add::grid(n)[0]), counters.warps, branch.steps[0].active, branch.divergent]
}

#[test]
fn c3_vector_add_diverges_in_the_last_warp_with_data() {
    assert_eq!(census(1003), [16, 32, 32, 1]);
    assert_eq!(census(100), [2, 4, 4, 1]);
    assert_eq!(census(1000), [16, 32, 32, 1]);
}

/// The text speaks of 313 warps: those hold data. 157 blocks of two warps are 314, the last of which finds nothing to do; 10 000
/// is no multiple of 32, so one warp diverges.
#[test]
fn c3_of_ten_thousand_elements_launches_one_warp_without_data() {
    assert_eq!(census(10_000), [157, 314, 313, 1]);
}

/// The rule behind the figures.
#[test]
fn c3_no_warp_diverges_where_warps_are_full() {
    for n in [1_usize, 31, 32, 33, 64, 96, 1001, 1024] {
        let divergent = u64::from(n % 32 != 0);
        let blocks = n.div_ceil(64) as u64;
        assert_eq!(census(n), [blocks, 2 * blocks, n.div_ceil(32) as u64, divergent], "{n} elements");
    }
}

fn reduce(n: usize, threads: u32) -> (u64, Counters) {
    let device = device();
    let x = device.alloc_zeros(n).expect("x");
    let grid = dynamic::grid(n, threads);
    let mut sums = device.alloc(grid[0] as usize).expect("sums");
    let launch = Launch::grid(grid).block(threads).shared_elements(threads as usize);
    (u64::from(grid[0]), count(&device, &reduce_sum_dynamic, launch, (&x, &mut sums)))
}

/// Whatever n and the size of shared memory: missing elements are not loaded, and one value per block is stored.
#[test]
fn c7_one_value_per_block_comes_back() {
    for threads in [1, 2, 32, 64, 512, 1024] {
        for n in [0, 1, 511, 512, 513, 1500, 5000] {
            let (blocks, counters) = reduce(n, threads);
            assert_eq!(blocks, n.div_ceil(threads as usize).max(1) as u64, "{n} elements, blocks of {threads}");
            assert_eq!(counters.total(Access::GlobalStore).lanes, blocks, "{n} elements, blocks of {threads}");
            assert_eq!(counters.total(Access::GlobalLoad).lanes, n as u64, "{n} elements, blocks of {threads}");
        }
    }
}

/// C7 is C6 over a grid. A section of 512: strides of 256 to 32 take whole warps, those of 16 to 1 the first half, quarter …
/// of one warp; that warp diverges, once more where only thread 0 writes the result.
#[test]
fn c7_diverges_like_c6_in_the_last_five_steps_only() {
    let (blocks, counters) = reduce(3 * 512, 512);
    assert_eq!(blocks, 3);
    let mut branches: Vec<_> = counters.sites.iter().filter(|((_, access, _), _)| *access == Access::Branch).collect();
    branches.sort_by_key(|((site, ..), _)| site.line);
    let [(_, tree), (_, result)] = branches[..] else { panic!("two branches, not {}", branches.len()) };
    let divergent: Vec<u64> = tree.steps.iter().map(|step| step.divergent / blocks).collect();
    assert_eq!(divergent, [0, 0, 0, 0, 1, 1, 1, 1, 1]);
    let active: Vec<u64> = tree.steps.iter().map(|step| step.active / blocks).collect();
    assert_eq!(active, [8, 4, 2, 1, 1, 1, 1, 1, 1]);
    let additions: u64 = tree.steps.iter().map(|step| step.lanes).sum();
    assert_eq!(additions, blocks * 511, "N − 1 additions per section");
    assert_eq!(result.divergent, blocks);
}

//! C1 to C9: warps, divergent warps, active warps, returned values.

use gpu::lab::tutorial::vector_add::{self, vector_add};
use gpu::reduce::dynamic::{self, reduce_sum_dynamic};
use warpwright::Launch;
use warpwright::simulator::{Access, Counters};
use warpwright_bench::tutorial::figures::Value::{Count, Steps};
use warpwright_bench::tutorial::figures::warps::rows;

use crate::{computed, count, device};

#[test]
fn c1_threads_are_assigned_to_warps_x_first() {
    let figures = computed(rows(), "C1");
    assert_eq!(figures["48 threads: warps"], Count(2));
    assert_eq!(figures["48 threads: of warp 1"], Count(16), "half of the second warp is idle");
    assert_eq!(figures["8 x 8: last of warp 0 (z, y, x)"], Steps(vec![0, 3, 7]));
    assert_eq!(figures["8 x 8: first of warp 1 (z, y, x)"], Steps(vec![0, 4, 0]));
    assert_eq!(figures["8 x 8: last of warp 1 (z, y, x)"], Steps(vec![0, 7, 7]));
    assert_eq!(figures["4 x 8 x 2: warps"], Count(2));
    assert_eq!(figures["4 x 8 x 2: last of warp 0 (z, y, x)"], Steps(vec![0, 7, 3]));
}

#[test]
fn c2_branch_inside_a_warp_diverges_and_between_warps_does_not() {
    let figures = computed(rows(), "C2");
    assert_eq!(figures["tx > 15: divergent warps of 2"], Count(1));
    assert_eq!(figures["tx > 31: divergent warps of 2"], Count(0));
}

/// The text says 313 warps; the figure gives the reason why 314 are launched.
#[test]
fn c3_vector_add_states_what_is_counted() {
    let figures = computed(rows(), "C3");
    assert_eq!(figures["1003 elements: blocks"], Count(16));
    for (n, warps, with_data) in [(1003, 32, 32), (100, 4, 4), (1000, 32, 32), (10_000, 314, 313)] {
        assert_eq!(figures[&format!("{n} elements: warps")], Count(warps));
        assert_eq!(figures[&format!("{n} elements: warps that hold data")], Count(with_data));
        assert_eq!(figures[&format!("{n} elements: divergent warps")], Count(1));
    }
    reasons("C3", &["10000 elements: warps"]);
}

/// The text counts 80 divergent warps for 200 × 150, including 5 of the corner block that are entirely outside.
#[test]
fn c4_color_to_gray() {
    let figures = computed(rows(), "C4");
    for (picture, [blocks, warps, divergent]) in [("76 x 62", [20, 160, 31]), ("200 x 150", [130, 1040, 75])] {
        assert_eq!(figures[&format!("{picture}: blocks")], Count(blocks));
        assert_eq!(figures[&format!("{picture}: warps")], Count(warps));
        assert_eq!(figures[&format!("{picture}: divergent warps")], Count(divergent));
    }
    reasons("C4", &["200 x 150: divergent warps"]);
}

/// The figures that differ from the text, and no others, give a reason.
fn reasons(id: &str, expected: &[&str]) {
    let row = rows().into_iter().find(|row| row.id == id).expect("a row of this name");
    let figures = (row.figures)().expect("figures");
    let off: Vec<&str> = figures.iter().filter(|figure| figure.because.is_some()).map(|f| f.what.as_str()).collect();
    assert_eq!(off, expected, "{id}");
}

#[test]
fn c5_interleaved_diverges_in_each_of_its_9_steps() {
    let figures = computed(rows(), "C5");
    assert_eq!(figures["steps for a section of 512"], Count(9));
    assert_eq!(figures["steps in which a warp diverges"], Count(9));
    assert_eq!(figures["divergent warps, step by step"], Steps(vec![16, 16, 16, 16, 16, 8, 4, 2, 1]));
    assert_eq!(figures["additions"], Count(511));
}

#[test]
fn c6_sequential_diverges_in_the_last_5_steps_only() {
    let figures = computed(rows(), "C6");
    assert_eq!(figures["divergent warps, step by step"], Steps(vec![0, 0, 0, 0, 1, 1, 1, 1, 1]));
    assert_eq!(figures["additions"], Count(511));
}

#[test]
fn c7_states_what_is_counted() {
    let figures = computed(rows(), "C7");
    assert_eq!(figures["5000 elements in blocks of 512: values that come back"], Count(10));
    assert_eq!(figures["5000 elements in blocks of 512: elements read, missing ones not among them"], Count(5000));
}

#[test]
fn c8_shuffles_need_no_shared_memory_in_the_last_5_steps() {
    let figures = computed(rows(), "C8");
    assert_eq!(figures["requests of shared memory in the last 5 of 9 steps"], Count(0));
    assert_eq!(figures["the same of C6"], Count(15), "the figure is not 0 where there is traffic");
    assert_eq!(figures["barriers"], Count(5));
}

#[test]
fn c9_active_warps_of_both_trees() {
    let figures = computed(rows(), "C9");
    assert_eq!(figures["halves first: warps active in steps 1, 2, 3"], Steps(vec![2, 1, 1]));
    assert_eq!(figures["neighbours first: warps active in steps 1, 2, 3"], Steps(vec![4, 2, 1]));
}

fn add(n: usize) -> Counters {
    let device = device();
    let (x, y) = (device.alloc_zeros(n).expect("x"), device.alloc_zeros(n).expect("y"));
    let mut z = device.alloc(n).expect("z");
    count(&device, &vector_add, Launch::grid(vector_add::grid(n)), (&x, &y, &mut z))
}

/// Blocks, launched warps, warps with data, divergent warps.
fn warp_counts(n: usize) -> [u64; 4] {
    let counters = add(n);
    let branch = counters.total(Access::Branch);
    assert_eq!(branch.requests, counters.warps, "every warp executes the one branch once");
    [u64::from(vector_add::grid(n)[0]), counters.warps, branch.steps[0].active, branch.divergent]
}

#[test]
fn c3_vector_add_diverges_in_the_last_warp_with_data() {
    assert_eq!(warp_counts(1003), [16, 32, 32, 1]);
    assert_eq!(warp_counts(100), [2, 4, 4, 1]);
    assert_eq!(warp_counts(1000), [16, 32, 32, 1]);
}

/// The text's 313 warps have data. 157 blocks of two warps are 314, the last of which is idle; 10 000 is not a multiple
/// of 32, so one warp diverges.
#[test]
fn c3_of_ten_thousand_elements_launches_one_warp_without_data() {
    assert_eq!(warp_counts(10_000), [157, 314, 313, 1]);
}

/// The rule for the figures.
#[test]
fn c3_no_warp_diverges_where_warps_are_full() {
    for n in [1_usize, 31, 32, 33, 64, 96, 1001, 1024] {
        let divergent = u64::from(n % 32 != 0);
        let blocks = n.div_ceil(64) as u64;
        assert_eq!(warp_counts(n), [blocks, 2 * blocks, n.div_ceil(32) as u64, divergent], "{n} elements");
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

/// For any n and size of shared memory: missing elements are not loaded, and one value per block is stored.
#[test]
fn c7_every_block_returns_one_value() {
    for threads in [1, 2, 32, 64, 512, 1024] {
        for n in [0, 1, 511, 512, 513, 1500, 5000] {
            let (blocks, counters) = reduce(n, threads);
            assert_eq!(blocks, n.div_ceil(threads as usize).max(1) as u64, "{n} elements, blocks of {threads}");
            assert_eq!(counters.total(Access::GlobalStore).lanes, blocks, "{n} elements, blocks of {threads}");
            assert_eq!(counters.total(Access::GlobalLoad).lanes, n as u64, "{n} elements, blocks of {threads}");
        }
    }
}

/// C7 is C6 over a grid. For a section of 512, strides of 256 to 32 use whole warps, those of 16 to 1 the first half,
/// quarter, … of one warp. That warp diverges, and once more when only thread 0 writes the result.
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

//! B1 to B3: returned values, divergence, logical clock.

use warpwright_bench::tutorial::figures::Value::{Count, Steps};
use warpwright_bench::tutorial::figures::squares::rows;

use crate::computed;

const VALUES: &str = "values that come back, 32 blocks of 256";
const CLOCK: &str = "steps of the logical clock from first start to last end, 1048576 elements";

#[test]
fn b1_every_thread_returns_a_partial_sum() {
    let figures = computed(rows(), "B1");
    assert_eq!(figures[VALUES], Count(8192));
}

#[test]
fn b2_every_block_returns_one_sum() {
    let figures = computed(rows(), "B2");
    assert_eq!(figures[VALUES], Count(32));
}

#[test]
fn b3_tree_by_mask_diverges_in_each_of_its_8_steps() {
    let figures = computed(rows(), "B3");
    assert_eq!(figures[VALUES], Count(32));
    assert_eq!(figures["steps in which a warp diverges"], Count(8));
    // Five steps in which each of the 8 warps has 16, 8, 4, 2, 1 active lanes, then every second warp has one, and so
    // on.
    assert_eq!(figures["divergent warps of a block, step by step"], Steps(vec![8, 8, 8, 8, 8, 4, 2, 1]));
}

/// The clock includes the block-level step in addition to the 32 768 loads of a block: only the store in B1, the reads
/// of thread 0 in B2, the accesses and barriers of the tree in B3.
#[test]
fn b1_to_b3_clocks_differ_by_the_block_level_step() {
    let clock = |row: &str| match computed(rows(), row)[CLOCK] {
        Count(steps) => steps,
        ref other => panic!("{row}: {other}"),
    };
    let [partials, thread0, tree] = ["B1", "B2", "B3"].map(clock);
    assert_eq!(partials, 1 + 32_768 + 256 + 256);
    assert_eq!(thread0 - partials, 256 + 1);
    assert_eq!(tree - partials, 8 * 256 + 3 * 255 + 2);
}

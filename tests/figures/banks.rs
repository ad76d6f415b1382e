//! D1 to D7: conflict degrees of a tile that is written along its rows and read along its columns, with banks of 4
//! bytes, and of 8 bytes as in the texts' older hardware.

use warpwright_bench::tutorial::figures::Value::{self, Count, Degrees};
use warpwright_bench::tutorial::figures::banks::rows;

use crate::computed;

/// Conflict degrees of store and load, for banks of 4 and of 8 bytes.
fn degrees(row: &str, kernel: &str) -> [Value; 2] {
    let figures = computed(rows(), row);
    [4, 8].map(|bytes| figures[&format!("{kernel}, banks of {bytes} bytes: conflict degree, store / load")].clone())
}

#[test]
fn d1_column_of_a_square_tile_has_degree_32() {
    assert_eq!(degrees("D1", "set_row_read_col"), [Degrees(1, 32), Degrees(1, 16)]);
}

/// With banks of 8 bytes every other column ends in the bank in which it starts.
#[test]
fn d2_padded_square_tile_has_no_conflict() {
    assert_eq!(degrees("D2", "set_row_read_col_pad"), [Degrees(1, 1), Degrees(1, 2)]);
    let figures = computed(rows(), "D2");
    assert_eq!(figures["set_row_read_col_pad, banks of 8 bytes: wavefronts of the 32 loads"], Count(16 + 2 * 16));
}

#[test]
fn d3_shared_memory_sized_at_launch_has_the_same_degree() {
    assert_eq!(degrees("D3", "set_row_read_col_dyn"), [Degrees(1, 32), Degrees(1, 16)]);
}

#[test]
fn d4_padding_computed_by_the_kernel_has_no_conflict() {
    assert_eq!(degrees("D4", "set_row_read_col_dyn_pad"), [Degrees(1, 1), Degrees(1, 2)]);
}

#[test]
fn d5_two_columns_of_a_rectangular_tile_have_degree_16() {
    assert_eq!(degrees("D5", "set_row_read_col_rect"), [Degrees(1, 16), Degrees(1, 8)]);
}

#[test]
fn d6_padded_by_1_has_degree_2_and_by_2_no_conflict() {
    assert_eq!(degrees("D6", "set_row_read_col_rect_pad1"), [Degrees(1, 2), Degrees(1, 2)]);
    assert_eq!(degrees("D6", "set_row_read_col_rect_pad2"), [Degrees(1, 1), Degrees(1, 1)]);
}

#[test]
fn d7_size_chosen_at_launch_unpadded_and_padded_by_2() {
    assert_eq!(degrees("D7", "set_row_read_col_rect_dyn"), [Degrees(1, 16), Degrees(1, 8)]);
    assert_eq!(degrees("D7", "set_row_read_col_rect_dyn_pad2"), [Degrees(1, 1), Degrees(1, 1)]);
}

/// Every request of the unpadded kernels has the worst degree: the wavefronts are that many times the requests.
#[test]
fn d1_to_d7_every_request_has_the_degree() {
    let steps = [
        ("D1", "set_row_read_col", 32, [32, 16]),
        ("D2", "set_row_read_col_pad", 32, [1, 0]),
        ("D3", "set_row_read_col_dyn", 32, [32, 16]),
        ("D4", "set_row_read_col_dyn_pad", 32, [1, 0]),
        ("D5", "set_row_read_col_rect", 16, [16, 8]),
        ("D6", "set_row_read_col_rect_pad1", 16, [2, 2]),
        ("D6", "set_row_read_col_rect_pad2", 16, [1, 1]),
        ("D7", "set_row_read_col_rect_dyn", 16, [16, 8]),
        ("D7", "set_row_read_col_rect_dyn_pad2", 16, [1, 1]),
    ];
    for (row, kernel, warps, degrees) in steps {
        let figures = computed(rows(), row);
        for (bytes, degree) in [4, 8].into_iter().zip(degrees) {
            let what = format!("{kernel}, banks of {bytes} bytes: wavefronts of the {warps}");
            assert_eq!(figures[&format!("{what} stores")], Count(warps), "{what} stores");
            // With wide banks the padded squares have degrees of 1 and 2: see D2.
            if degree > 0 {
                assert_eq!(figures[&format!("{what} loads")], Count(degree * warps), "{what} loads");
            }
        }
    }
}

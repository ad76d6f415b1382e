//! D10: conflict degrees of shared memory, and sectors of global memory, of the padded transposes.

use gpu::transpose::padded::{grid, transpose_smem_pad1, transpose_smem_pad2};
use simt::Kernel;
use simt::global::{MatMut, MatRef};
use warpwright::simulator::{Access, Counters};
use warpwright::{Launch, Layout, Matrix};

use crate::{count, device};

type Transpose = Kernel<(MatRef<'static, f32>, MatMut<'static, f32>)>;

/// Leading dimensions 0 mean rows without gaps.
fn counters(kernel: &Transpose, (rows, cols): (usize, usize), [lda, ldb]: [usize; 2]) -> Counters {
    let device = device();
    let matrix = |rows, cols, ld: usize| {
        let layout = Layout::contiguous(rows, cols).ld(ld.max(cols));
        Matrix::from_buffer(device.alloc_zeros(rows * layout.ld).expect("memory"), layout).expect("a layout that fits")
    };
    let (a, mut b) = (matrix(rows, cols, lda), matrix(cols, rows, ldb));
    count(&device, kernel, Launch::grid(grid(rows as u32, cols as u32)), (&a, &mut b))
}

/// Shapes whose tiles are all full: multiples of 16 rows and 32 columns.
const FULL: [(usize, usize); 4] = [(16, 32), (32, 32), (48, 96), (128, 64)];

/// Store and load degree, of every request and on average.
fn check_degrees(kernel: &Transpose, store: u32, load: u32) {
    for shape in FULL {
        let counters = counters(kernel, shape, [0, 0]);
        for (access, degree) in [(Access::SharedStore, store), (Access::SharedLoad, load)] {
            let counts = counters.total(access);
            assert_eq!(counts.lanes, (shape.0 * shape.1) as u64, "{access:?} of {shape:?}");
            assert_eq!(counts.worst, degree, "{access:?} of {shape:?}: degree of the worst request");
            let rule = u64::from(degree) * counts.requests;
            assert_eq!(counts.wavefronts, rule, "{access:?} of {shape:?}: every request has that degree");
        }
    }
}

#[test]
fn d10_pad_1_stores_without_conflict_and_loads_with_degree_2() {
    check_degrees(&transpose_smem_pad1, 1, 2);
}

#[test]
fn d10_pad_2_has_no_conflict() {
    check_degrees(&transpose_smem_pad2, 1, 1);
}

/// At the edges part of a tile is used: the degree can only be lower.
#[test]
fn d10_edge_tiles_are_no_worse() {
    for shape in [(1, 1), (17, 33), (15, 31), (100, 70), (5, 200)] {
        for (kernel, most) in [(&transpose_smem_pad1, 2), (&transpose_smem_pad2, 1)] {
            let counters = counters(kernel, shape, [0, 0]);
            assert_eq!(counters.total(Access::SharedStore).worst, 1, "{} of {shape:?}", kernel.info().name);
            assert!(counters.total(Access::SharedLoad).worst <= most, "{} of {shape:?}", kernel.info().name);
        }
    }
}

/// Both sides of global memory coalesced: a warp reads a row of 32 elements, 4 sectors of 32 bytes, and writes two rows of 16
/// elements, 2 sectors each.
#[test]
fn d10_both_sides_are_coalesced() {
    for kernel in [&transpose_smem_pad1, &transpose_smem_pad2] {
        for shape in FULL {
            let counters = counters(kernel, shape, [0, 0]);
            for access in [Access::GlobalLoad, Access::GlobalStore] {
                let counts = counters.total(access);
                assert_eq!(counts.requests, (shape.0 * shape.1 / 32) as u64, "{access:?} of {shape:?}");
                assert_eq!(counts.sectors, 4 * counts.requests, "{access:?} of {shape:?}");
            }
        }
    }
}

/// With odd leading dimensions most rows start inside a sector, and a request touches one sector more, for a write one more in
/// each of its two rows.
#[test]
fn d10_odd_leading_dimensions_cost_a_sector_per_row() {
    let (rows, cols) = (16, 32);
    let [lda, ldb] = [33, 17];
    let counters = counters(&transpose_smem_pad2, (rows, cols), [lda, ldb]);
    let starts_inside = |row: usize, ld: usize| !(row * ld).is_multiple_of(8);
    let reads: usize = (0..rows).map(|row| 4 + usize::from(starts_inside(row, lda))).sum();
    let writes: usize = (0..cols).map(|row| 2 + usize::from(starts_inside(row, ldb))).sum();
    // Two rows that one request writes may share a sector where the first ends: 17 · row + 15 and 17 · (row + 1).
    let shared = (0..cols).step_by(2).filter(|row| (row * ldb + rows - 1) / 8 == (row + 1) * ldb / 8).count();
    assert_eq!(counters.total(Access::GlobalLoad).sectors, reads as u64);
    assert_eq!(counters.total(Access::GlobalStore).sectors, (writes - shared) as u64);
}

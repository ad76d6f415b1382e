//! D8 to D11: sectors of global memory, and conflict degrees of shared memory, of the transposes.

use std::collections::BTreeSet;

use gpu::lab::tutorial::transposes::naive::{grid_col, grid_row, transpose_naive_col, transpose_naive_row};
use gpu::lab::tutorial::transposes::smem::{self, transpose_smem};
use gpu::lab::tutorial::transposes::unrolled::{self, transpose_smem_unroll_pad1, transpose_smem_unroll_pad2};
use gpu::transpose::padded::{self, transpose_smem_pad1, transpose_smem_pad2};
use simt::Kernel;
use simt::global::{MatMut, MatRef};
use warpwright::simulator::{Access, Counters};
use warpwright::{Launch, Layout, Matrix};
use warpwright_bench::tutorial::figures::Value::{Count, Degrees};
use warpwright_bench::tutorial::figures::transposes::rows;

use crate::{computed, count, device};

#[test]
fn d8_naive_transposes_access_one_matrix_along_columns() {
    let figures = computed(rows(), "D8");
    for (kernel, read, written) in [("transpose_naive_row", 4, 32), ("transpose_naive_col", 32, 4)] {
        assert_eq!(figures[&format!("{kernel}: sectors read per request")], Count(read));
        assert_eq!(figures[&format!("{kernel}: sectors written per request")], Count(written));
    }
}

#[test]
fn d9_unpadded_tile_has_degree_16_and_coalesced_accesses() {
    let figures = computed(rows(), "D9");
    assert_eq!(figures["transpose_smem, banks of 4 bytes: conflict degree, store / load"], Degrees(1, 16));
    assert_eq!(figures["transpose_smem, banks of 8 bytes: conflict degree, store / load"], Degrees(1, 8));
    assert_eq!(figures["transpose_smem: sectors read per request"], Count(4));
    assert_eq!(figures["transpose_smem: sectors written per request"], Count(4));
}

#[test]
fn d10_padded_by_1_loads_with_degree_2_and_by_2_without_conflict() {
    let figures = computed(rows(), "D10");
    assert_eq!(figures["transpose_smem_pad1, banks of 4 bytes: conflict degree, store / load"], Degrees(1, 2));
    assert_eq!(figures["transpose_smem_pad2, banks of 4 bytes: conflict degree, store / load"], Degrees(1, 1));
}

#[test]
fn d11_two_tiles_padded_by_2_have_no_conflict() {
    let figures = computed(rows(), "D11");
    assert_eq!(figures["transpose_smem_unroll_pad1, banks of 4 bytes: conflict degree, store / load"], Degrees(1, 2));
    assert_eq!(figures["transpose_smem_unroll_pad2, banks of 4 bytes: conflict degree, store / load"], Degrees(1, 1));
}

type Grid = fn(u32, u32) -> [u32; 3];

/// A kernel that uses tiles.
struct Tiled {
    kernel: &'static Kernel<(MatRef<'static, f32>, MatMut<'static, f32>)>,
    grid: Grid,
    /// Columns of a block.
    cols: usize,
    /// Conflict degree of a read of the tile; writes have none.
    load: u32,
}

const TILED: [Tiled; 5] = [
    Tiled { kernel: &transpose_smem, grid: smem::grid, cols: 32, load: 16 },
    Tiled { kernel: &transpose_smem_pad1, grid: padded::grid, cols: 32, load: 2 },
    Tiled { kernel: &transpose_smem_pad2, grid: padded::grid, cols: 32, load: 1 },
    Tiled { kernel: &transpose_smem_unroll_pad1, grid: unrolled::grid, cols: 64, load: 2 },
    Tiled { kernel: &transpose_smem_unroll_pad2, grid: unrolled::grid, cols: 64, load: 1 },
];

/// A leading dimension of 0 means contiguous rows.
fn counters(
    kernel: &Kernel<(MatRef<'static, f32>, MatMut<'static, f32>)>,
    grid: Grid,
    (rows, cols): (usize, usize),
    [lda, ldb]: [usize; 2],
) -> Counters {
    let device = device();
    let matrix = |rows, cols, ld: usize| {
        let layout = Layout::contiguous(rows, cols).ld(ld.max(cols));
        Matrix::from_buffer(device.alloc_zeros(rows * layout.ld).expect("memory"), layout).expect("a layout that fits")
    };
    let (a, mut b) = (matrix(rows, cols, lda), matrix(cols, rows, ldb));
    count(&device, kernel, Launch::grid(grid(rows as u32, cols as u32)), (&a, &mut b))
}

impl Tiled {
    /// Shapes whose tiles are all full: multiples of 16 rows and of a block's columns.
    fn full(&self) -> impl Iterator<Item = (usize, usize)> {
        let shapes: [(usize, usize); 6] = [(16, 32), (32, 32), (48, 96), (16, 64), (48, 192), (128, 64)];
        shapes.into_iter().filter(|(_, cols)| cols.is_multiple_of(self.cols))
    }
}

/// For every request, not only the worst one.
#[test]
fn d9_to_d11_every_request_has_the_degree() {
    for tiled in &TILED {
        let Tiled { kernel, grid, load, .. } = *tiled;
        for shape in tiled.full() {
            let counters = counters(kernel, grid, shape, [0, 0]);
            for (access, degree) in [(Access::SharedStore, 1), (Access::SharedLoad, load)] {
                let counts = counters.total(access);
                let what = format!("{access:?} of {shape:?} by {}", kernel.info().name);
                assert_eq!(counts.lanes, (shape.0 * shape.1) as u64, "{what}");
                assert_eq!(counts.worst, degree, "{what}: degree of the worst request");
                assert_eq!(counts.wavefronts, u64::from(degree) * counts.requests, "{what}: wavefronts of all");
            }
        }
    }
}

/// At the edges only part of a tile is used, so the degree can only be lower.
#[test]
fn d9_to_d11_edge_tiles_are_no_worse() {
    for shape in [(1, 1), (17, 33), (15, 31), (100, 70), (5, 200)] {
        for Tiled { kernel, grid, load, .. } in TILED {
            let counters = counters(kernel, grid, shape, [0, 0]);
            assert_eq!(counters.total(Access::SharedStore).worst, 1, "{} of {shape:?}", kernel.info().name);
            assert!(counters.total(Access::SharedLoad).worst <= load, "{} of {shape:?}", kernel.info().name);
        }
    }
}

/// A warp reads a row of 32 elements, 4 sectors of 32 bytes, and writes two rows of 16 elements, 2 sectors each.
#[test]
fn d9_to_d11_loads_and_stores_are_coalesced() {
    for tiled in &TILED {
        let Tiled { kernel, grid, .. } = *tiled;
        for shape in tiled.full() {
            let counters = counters(kernel, grid, shape, [0, 0]);
            for access in [Access::GlobalLoad, Access::GlobalStore] {
                let counts = counters.total(access);
                let what = format!("{access:?} of {shape:?} by {}", kernel.info().name);
                assert_eq!(counts.requests, (shape.0 * shape.1 / 32) as u64, "{what}");
                assert_eq!(counts.sectors, 4 * counts.requests, "{what}");
            }
        }
    }
}

/// With odd leading dimensions most rows start inside a sector, and a read touches one sector more, a write one more in
/// each of its two rows.
#[test]
fn d9_to_d11_odd_leading_dimensions_cost_a_sector_per_row() {
    let (rows, cols) = (16, 64);
    let [lda, ldb] = [65, 17];
    let starts_inside = |row: usize, ld: usize| !(row * ld).is_multiple_of(8);
    let reads: usize = (0..rows).map(|row| 2 * (4 + usize::from(starts_inside(row, lda)))).sum();
    let writes: usize = (0..cols).map(|row| 2 + usize::from(starts_inside(row, ldb))).sum();
    // Two rows that one request writes may share the sector in which the first ends: 17 · row + 15 and 17 · (row + 1).
    let shared = (0..cols).step_by(2).filter(|row| (row * ldb + rows - 1) / 8 == (row + 1) * ldb / 8).count();
    for Tiled { kernel, grid, .. } in TILED {
        let counters = counters(kernel, grid, (rows, cols), [lda, ldb]);
        assert_eq!(counters.total(Access::GlobalLoad).sectors, reads as u64, "{}", kernel.info().name);
        assert_eq!(counters.total(Access::GlobalStore).sectors, (writes - shared) as u64, "{}", kernel.info().name);
    }
}

/// Requests and sectors of warps that access the rows of a `rows` × `cols` matrix in blocks of 32 columns, where
/// element (row, col) is element `at(row, col)` of a buffer that starts at a sector.
fn by_rows(rows: usize, cols: usize, at: impl Fn(usize, usize) -> usize) -> (u64, u64) {
    let warps = (0..rows).flat_map(|row| (0..cols).step_by(32).map(move |col| (row, col..cols.min(col + 32))));
    let sectors = warps.map(|(row, cols)| cols.map(|col| at(row, col) / 8).collect::<BTreeSet<_>>().len() as u64);
    sectors.fold((0, 0), |(requests, sectors), more| (requests + 1, sectors + more))
}

/// Misaligned matrices, and columns so short that several of their elements share a sector.
#[test]
fn d8_of_any_shape() {
    for (rows, cols, [lda, ldb]) in [(33, 65, [67, 33]), (3, 100, [100, 3]), (70, 5, [7, 71]), (1, 1, [1, 1])] {
        let (in_a, in_b) = (|row: usize, col: usize| row * lda + col, |row: usize, col: usize| row * ldb + col);
        let by_row = counters(&transpose_naive_row, grid_row, (rows, cols), [lda, ldb]);
        let by_col = counters(&transpose_naive_col, grid_col, (rows, cols), [lda, ldb]);
        let expected = [
            (&by_row, Access::GlobalLoad, by_rows(rows, cols, in_a)),
            (&by_row, Access::GlobalStore, by_rows(rows, cols, |row, col| in_b(col, row))),
            (&by_col, Access::GlobalLoad, by_rows(cols, rows, |row, col| in_a(col, row))),
            (&by_col, Access::GlobalStore, by_rows(cols, rows, in_b)),
        ];
        for (counters, access, expected) in expected {
            let counts = counters.total(access);
            assert_eq!((counts.requests, counts.sectors), expected, "{access:?} of {rows} × {cols}");
            assert_eq!(counts.lanes, (rows * cols) as u64, "{access:?} of {rows} × {cols}");
        }
    }
}

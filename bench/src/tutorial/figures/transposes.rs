//! D8 to D11: sectors of global memory and conflict degrees of shared memory of the transposes.

use anyhow::{Result, ensure};
use gpu::lab::tutorial::transposes::naive::{self, transpose_naive_col, transpose_naive_row};
use gpu::lab::tutorial::transposes::smem::{self, transpose_smem};
use gpu::lab::tutorial::transposes::unrolled::{self, transpose_smem_unroll_pad1, transpose_smem_unroll_pad2};
use gpu::transpose::padded::{self, transpose_smem_pad1, transpose_smem_pad2};
use simt::Kernel;
use simt::global::{MatMut, MatRef};
use warpwright::simulator::{Access, Counters};
use warpwright::{Device, Launch};

use super::conflicts::{BANK_WIDTHS, Tiles, with_banks_of};
use super::counted::{count, device};
use super::{Figure, Row, Value};

/// Rows and columns of the matrix that is transposed: whole tiles, whole sectors.
const SHAPE: [u32; 2] = [96, 128];
/// Rows of a tile.
const ROWS: u32 = smem::ROWS;

/// The rows.
pub fn rows() -> Vec<Row> {
    vec![
        Row {
            id: "D8",
            kernels: &["transpose_naive_row", "transpose_naive_col"],
            idea: "without shared memory one side of global memory is walked along columns",
            figures: || {
                let by_row = on(&device(), &transpose_naive_row, naive::grid_row)?;
                let by_col = on(&device(), &transpose_naive_col, naive::grid_col)?;
                let mut figures = sectors("transpose_naive_row", [A_ROW, COLUMN], Some([4, 32]), &by_row)?;
                figures.extend(sectors("transpose_naive_col", [COLUMN, A_ROW], Some([32, 4]), &by_col)?);
                Ok(figures)
            },
        },
        Row {
            id: "D9",
            kernels: &["transpose_smem"],
            idea: "by way of a tile both sides are coalesced; the column is walked in shared memory",
            figures: || tiled(&transpose_smem, smem::grid, 32, 1, [Some([1, 16]), Some([1, 8])]),
        },
        Row {
            id: "D10",
            kernels: &["transpose_smem_pad1", "transpose_smem_pad2"],
            idea: "rows of the tile padded: by two words no conflict is left",
            figures: || {
                let mut figures = tiled(&transpose_smem_pad1, padded::grid, 33, 1, [Some([1, 2]), None])?;
                figures.extend(tiled(&transpose_smem_pad2, padded::grid, 34, 1, [Some([1, 1]), None])?);
                Ok(figures)
            },
        },
        Row {
            id: "D11",
            kernels: &["transpose_smem_unroll_pad1", "transpose_smem_unroll_pad2"],
            idea: "two tiles side by side per block: twice the accesses under way",
            figures: || {
                let mut figures = tiled(&transpose_smem_unroll_pad1, unrolled::grid, 65, 2, [None, None])?;
                figures.extend(tiled(&transpose_smem_unroll_pad2, unrolled::grid, 66, 2, [Some([1, 1]), None])?);
                Ok(figures)
            },
        },
    ]
}

type Transpose = Kernel<(MatRef<'static, f32>, MatMut<'static, f32>)>;
type Grid = fn(u32, u32) -> [u32; 3];

/// What a transpose of [`SHAPE`] counts.
fn on(device: &Device, kernel: &Transpose, grid: Grid) -> Result<Counters> {
    let [rows, cols] = SHAPE;
    let a = device.alloc_matrix_zeros(rows as usize, cols as usize)?;
    let mut b = device.alloc_matrix(cols as usize, rows as usize)?;
    count(device, kernel, Launch::grid(grid(rows, cols)), (&a, &mut b))
}

/// Elements that a warp takes of each row it touches, and rows.
type Touched = [u64; 2];
const A_ROW: Touched = [32, 1];
const TWO_ROWS: Touched = [16, 2];
const COLUMN: Touched = [1, 32];

/// Sectors of each read and of each write. The rows lie whole sectors apart and the elements start at one, so that n
/// elements of 4 bytes of a row touch ⌈4·n / 32⌉ sectors.
fn sectors(kernel: &str, touched: [Touched; 2], text: Option<[u64; 2]>, counters: &Counters) -> Result<Vec<Figure>> {
    let sides = [("read", Access::GlobalLoad), ("written", Access::GlobalStore)];
    let figure = |side: usize| {
        let (what, access) = sides[side];
        let counts = counters.total(access);
        // Equal for all of them: a request of 32 lanes touches 4 sectors at least and 32 at most.
        ensure!(
            counts.lanes == 32 * counts.requests && counts.sectors.is_multiple_of(counts.requests.max(1)),
            "{kernel}: {} sectors and {} lanes in {} requests are not the same for each",
            counts.sectors,
            counts.lanes,
            counts.requests
        );
        let [elements, rows] = touched[side];
        Ok(Figure {
            what: format!("{kernel}: sectors {what} per request"),
            text: text.map(|text| Value::Count(text[side])),
            rule: Value::Count(rows * (4 * elements).div_ceil(32)),
            computed: Value::Count(counts.sectors / counts.requests.max(1)),
            because: None,
        })
    };
    (0..2).map(figure).collect()
}

/// Sectors and conflict degrees of a transpose by way of tiles; `text` for each of [`BANK_WIDTHS`].
fn tiled(
    kernel: &Transpose,
    grid: Grid,
    pitch: u32,
    side_by_side: u32,
    text: [Option<[u64; 2]>; 2],
) -> Result<Vec<Figure>> {
    let name = kernel.info().name;
    let [rows, cols] = SHAPE;
    let tiles = Tiles { rows: ROWS, pitch, side_by_side, blocks: rows / ROWS * (cols / (32 * side_by_side)) };
    let mut figures = Vec::new();
    for (bank_bytes, text) in BANK_WIDTHS.into_iter().zip(text) {
        let counters = on(&with_banks_of(bank_bytes), kernel, grid)?;
        if figures.is_empty() {
            figures = sectors(name, [A_ROW, TWO_ROWS], None, &counters)?;
        }
        figures.extend(tiles.figures(name, bank_bytes, text, &counters));
    }
    Ok(figures)
}

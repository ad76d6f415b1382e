//! D1 to D7: conflict degrees of a tile that is written along its rows and read along its columns.

use anyhow::Result;
use gpu::lab::tutorial::banks::{rectangular as rect, square};
use simt::Kernel;
use simt::global::VecMut;
use warpwright::Launch;

use super::conflicts::{BANK_WIDTHS, Tiles, with_banks_of};
use super::counted::count;
use super::{Figure, Row};

/// The rows.
pub fn rows() -> Vec<Row> {
    vec![
        Row {
            id: "D1",
            kernels: &["set_row_read_col"],
            idea: "a column of a square tile lies in one bank",
            figures: || figures(&[fixed(&square::set_row_read_col, SQUARE, 32, [Some([1, 32]), Some([1, 16])])]),
        },
        Row {
            id: "D2",
            kernels: &["set_row_read_col_pad"],
            idea: "one word of padding per row spreads it over all banks",
            figures: || figures(&[fixed(&square::set_row_read_col_pad, SQUARE, 33, [Some([1, 1]), None])]),
        },
        Row {
            id: "D3",
            kernels: &["set_row_read_col_dyn"],
            idea: "D1 with shared memory sized at launch",
            figures: || figures(&[sized(&square::set_row_read_col_dyn, SQUARE, 32, [Some([1, 32]), Some([1, 16])])]),
        },
        Row {
            id: "D4",
            kernels: &["set_row_read_col_dyn_pad"],
            idea: "D2 with shared memory sized at launch: the padding is in the kernel's arithmetic",
            figures: || figures(&[sized(&square::set_row_read_col_dyn_pad, SQUARE, 33, [Some([1, 1]), None])]),
        },
        Row {
            id: "D5",
            kernels: &["set_row_read_col_rect"],
            idea: "in a tile of 16 rows a warp reads two columns, in two banks",
            figures: || figures(&[fixed(&rect::set_row_read_col_rect, RECT, 32, [Some([1, 16]), Some([1, 8])])]),
        },
        Row {
            id: "D6",
            kernels: &["set_row_read_col_rect_pad1", "set_row_read_col_rect_pad2"],
            idea: "padded by one word the two columns overlap, by two they do not",
            figures: || {
                figures(&[
                    fixed(&rect::set_row_read_col_rect_pad1, RECT, 33, [Some([1, 2]), None]),
                    fixed(&rect::set_row_read_col_rect_pad2, RECT, 34, [Some([1, 1]), None]),
                ])
            },
        },
        Row {
            id: "D7",
            kernels: &["set_row_read_col_rect_dyn", "set_row_read_col_rect_dyn_pad2"],
            idea: "D5 and D6 with shared memory sized at launch",
            figures: || {
                figures(&[
                    sized(&rect::set_row_read_col_rect_dyn, RECT, 32, [Some([1, 16]), Some([1, 8])]),
                    sized(&rect::set_row_read_col_rect_dyn_pad2, RECT, 34, [Some([1, 1]), None]),
                ])
            },
        },
    ]
}

/// A kernel, its tile, and what the text states for each of [`BANK_WIDTHS`].
struct Case {
    kernel: &'static Kernel<(VecMut<'static, i32>,)>,
    tiles: Tiles,
    shared_elements: Option<usize>,
    text: [Option<[u64; 2]>; 2],
}

/// Rows of the tile: as many as the block has warps.
const SQUARE: u32 = square::SIDE;
const RECT: u32 = rect::ROWS;

/// Shared memory laid out by the compiler.
fn fixed(kernel: &'static Kernel<(VecMut<'static, i32>,)>, rows: u32, pitch: u32, text: [Option<[u64; 2]>; 2]) -> Case {
    Case { kernel, tiles: Tiles { rows, pitch, side_by_side: 1, blocks: 1 }, shared_elements: None, text }
}

/// Shared memory sized at launch.
fn sized(kernel: &'static Kernel<(VecMut<'static, i32>,)>, rows: u32, pitch: u32, text: [Option<[u64; 2]>; 2]) -> Case {
    Case { shared_elements: Some((rows * pitch) as usize), ..fixed(kernel, rows, pitch, text) }
}

fn figures(cases: &[Case]) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for Case { kernel, tiles, shared_elements, text } in cases {
        for (bank_bytes, text) in BANK_WIDTHS.into_iter().zip(text) {
            let device = with_banks_of(bank_bytes);
            let mut out = device.alloc(32 * tiles.rows as usize)?;
            let mut launch = Launch::grid(1);
            if let Some(elements) = shared_elements {
                launch = launch.shared_elements(*elements);
            }
            let counters = count(&device, kernel, launch, (&mut out,))?;
            figures.extend(tiles.figures(kernel.info().name, bank_bytes, *text, &counters));
        }
    }
    Ok(figures)
}

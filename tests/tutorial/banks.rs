//! D1 to D7: the numbered tile, transposed, written to a vector of any length.

use gpu::lab::tutorial::banks::{rectangular as rect, square};
use ndarray::Array2;
use proptest::prelude::*;
use simt::Kernel;
use simt::global::VecMut;
use warpwright::{Device, Launch, Result, reference};

use crate::support::device::{counterpart, is_gpu, under_test};
use crate::support::runner::check;
use crate::support::suite;

suite! {
    [any_part_of_a_buffer_is_written, lengths_around_the_tile_are_written];
    set_row_read_col => SET_ROW_READ_COL;
    set_row_read_col_pad => SET_ROW_READ_COL_PAD;
    set_row_read_col_dyn => SET_ROW_READ_COL_DYN;
    set_row_read_col_dyn_pad => SET_ROW_READ_COL_DYN_PAD;
    set_row_read_col_rect => SET_ROW_READ_COL_RECT;
    set_row_read_col_rect_pad1 => SET_ROW_READ_COL_RECT_PAD1;
    set_row_read_col_rect_pad2 => SET_ROW_READ_COL_RECT_PAD2;
    set_row_read_col_rect_dyn => SET_ROW_READ_COL_RECT_DYN;
    set_row_read_col_rect_dyn_pad2 => SET_ROW_READ_COL_RECT_DYN_PAD2;
}

/// A kernel, the rows of its tile of 32 columns, and the shared memory that its launch reserves, if it is sized at
/// launch.
#[derive(Clone, Copy)]
struct Variant {
    kernel: &'static Kernel<(VecMut<'static, i32>,)>,
    rows: usize,
    shared: Option<usize>,
}

const fn fixed(kernel: &'static Kernel<(VecMut<'static, i32>,)>, rows: u32) -> Variant {
    Variant { kernel, rows: rows as usize, shared: None }
}

const fn sized(kernel: &'static Kernel<(VecMut<'static, i32>,)>, rows: u32, shared: usize) -> Variant {
    Variant { kernel, rows: rows as usize, shared: Some(shared) }
}

const SET_ROW_READ_COL: Variant = fixed(&square::set_row_read_col, 32);
const SET_ROW_READ_COL_PAD: Variant = fixed(&square::set_row_read_col_pad, 32);
const SET_ROW_READ_COL_DYN: Variant = sized(&square::set_row_read_col_dyn, 32, square::shared_elements(32));
const SET_ROW_READ_COL_DYN_PAD: Variant = sized(&square::set_row_read_col_dyn_pad, 32, square::shared_elements(33));
const SET_ROW_READ_COL_RECT: Variant = fixed(&rect::set_row_read_col_rect, 16);
const SET_ROW_READ_COL_RECT_PAD1: Variant = fixed(&rect::set_row_read_col_rect_pad1, 16);
const SET_ROW_READ_COL_RECT_PAD2: Variant = fixed(&rect::set_row_read_col_rect_pad2, 16);
const SET_ROW_READ_COL_RECT_DYN: Variant = sized(&rect::set_row_read_col_rect_dyn, 16, rect::shared_elements(32));
const SET_ROW_READ_COL_RECT_DYN_PAD2: Variant =
    sized(&rect::set_row_read_col_rect_dyn_pad2, 16, rect::shared_elements(34));

/// Position of the vector in its buffer, and how much more shared memory than needed is reserved.
#[derive(Clone, Copy, Debug)]
struct Case {
    offset: usize,
    len: usize,
    after: usize,
    spare: usize,
    schedule: u64,
}

/// Negative numbers that depend on their index; the kernels write none.
fn canaries(len: usize) -> Vec<i32> {
    (0..len).map(|place| i32::MIN + place as i32).collect()
}

impl Case {
    /// The buffer before the launch.
    fn image(self) -> Vec<i32> {
        canaries(self.offset + self.len + self.after)
    }

    /// The buffer after the launch: the reference's transpose of the numbered tile, up to the length of the vector. The
    /// numbers are exact in `f32`.
    fn expected(self, variant: Variant) -> Vec<i32> {
        let tile = Array2::from_shape_fn((variant.rows, 32), |(row, col)| (32 * row + col) as f32);
        let mut image = self.image();
        let vector = &mut image[self.offset..self.offset + self.len];
        for (place, number) in vector.iter_mut().zip(&reference::transpose(tile.view())) {
            *place = *number as i32;
        }
        image
    }

    fn run(self, variant: Variant, device: &Device) -> Result<Vec<i32>> {
        let mut buffer = device.upload(&self.image()[..])?;
        let mut launch = Launch::grid(1);
        if let Some(elements) = variant.shared {
            launch = launch.shared_elements(elements + self.spare);
        }
        let out = buffer.slice_mut(self.offset..self.offset + self.len)?;
        device.launch(variant.kernel, launch, (out,))?;
        buffer.download()
    }

    fn verify(self, variant: Variant) -> Result<f64, String> {
        let expected = self.expected(variant);
        for device in [under_test(self.schedule), counterpart(self.schedule)] {
            let got = self.run(variant, &device).map_err(|error| format!("{}: {error}", device.name()))?;
            if let Some(place) = (0..expected.len()).find(|&place| got[place] != expected[place]) {
                let (got, expected) = (got[place], expected[place]);
                return Err(format!("{}: element {place} is {got}, expected {expected}", device.name()));
            }
        }
        Ok(0.0)
    }
}

fn any_part_of_a_buffer_is_written(variant: Variant) {
    let cases = (0..9_usize, 0..1100_usize, 0..9_usize, 0..40_usize, any::<u64>());
    let cases = cases.prop_map(|(offset, len, after, spare, schedule)| Case { offset, len, after, spare, schedule });
    check(cases, |case| case.verify(variant));
}

fn lengths_around_the_tile_are_written(variant: Variant) {
    let whole = 32 * variant.rows;
    for len in [0, 1, 31, 32, 33, whole - 33, whole - 1, whole, whole + 1, 2 * whole] {
        let case = Case { offset: 3, len, after: 5, spare: 0, schedule: len as u64 };
        case.verify(variant).unwrap_or_else(|error| panic!("{len} elements: {error}"));
    }
}

/// Shared memory of one element less than the tile is reported. On a GPU it would be a trap, which would end the
/// context for all following tests, so the launch is skipped there.
#[test]
fn too_little_shared_memory_is_reported() {
    let variants =
        [SET_ROW_READ_COL_DYN, SET_ROW_READ_COL_DYN_PAD, SET_ROW_READ_COL_RECT_DYN, SET_ROW_READ_COL_RECT_DYN_PAD2];
    for variant in variants.into_iter().filter(|_| !is_gpu()) {
        let Some(needed) = variant.shared else { panic!("{} is not sized at launch", variant.kernel.info().name) };
        let case = Case { offset: 0, len: 32 * variant.rows, after: 0, spare: 0, schedule: 1 };
        let short = Variant { shared: Some(needed - 1), ..variant };
        let error = case.run(short, &under_test(1)).expect_err("a launch that reserves too little").to_string();
        let part = format!("index {} of a shared array, whose extent is {}", needed - 1, needed - 1);
        assert!(error.contains(&part), "`{part}` is not in\n{error}");
    }
}

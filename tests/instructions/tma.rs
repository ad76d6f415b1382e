//! TMA loads and stores, and the mbarriers on which they complete. Kernels for Hopper only.

use gpu::gemm::number::tf32;
use gpu::lab::instructions_sm90::tma_copy::{self as kernels, BOX};
use gpu::lab::instructions_sm90::tma_pipeline::{self, COLS, ROWS, tma_pipeline_sums};
use ndarray::Array2;
use simt::tma::Swizzle;
use warpwright::{Device, Launch, Layout, Matrix};

use crate::case::{Case, Outcome, floats, same};

pub(crate) const CASES: &[Case] = &[
    Case { kernel: kernels::tma_copy.info(), run: copy },
    Case { kernel: kernels::tma_copy_3d.info(), run: copy_3d },
    Case { kernel: kernels::tma_layout.info(), run: layouts },
    Case { kernel: tma_pipeline_sums.info(), run: pipeline },
];

/// Rows and columns of a box of [`BOX`] elements, and the swizzles that its rows permit.
const SHAPES: [(usize, usize, &[Swizzle]); 4] = [
    (128, 8, &[Swizzle::None, Swizzle::B32]),
    (64, 16, &[Swizzle::None, Swizzle::B64]),
    (32, 32, &[Swizzle::None, Swizzle::B128]),
    (4, 256, &[Swizzle::None]),
];

/// A matrix of `values` with at least `pad` elements of -3 between its rows.
fn padded(
    device: &Device,
    rows: usize,
    cols: usize,
    pad: usize,
    values: &[f32],
) -> Result<Matrix<f32>, warpwright::Error> {
    let ld = (cols + pad).next_multiple_of(4);
    let mut all = vec![-3.0; rows * ld];
    for (row, values) in all.chunks_mut(ld).zip(values.chunks(cols)) {
        row[..cols].copy_from_slice(values);
    }
    Matrix::from_buffer(device.upload(&all[..])?, Layout::contiguous(rows, cols).ld(ld))
}

fn copy(device: &Device) -> Outcome {
    let mut all = Vec::new();
    for (box_rows, box_cols, swizzles) in SHAPES {
        // Tensors of one box, less than one, and slightly more than some; boxes at the edges are partly out of bounds.
        for (rows, cols) in
            [(box_rows, box_cols), (1, 4), (box_rows + 1, box_cols - 4), (2 * box_rows - 1, box_cols + 4)]
        {
            let values = floats(rows * cols);
            let x = padded(device, rows, cols, 5, &values)?;
            for &swizzle in swizzles {
                let mut y = padded(device, rows, cols, 3, &vec![-1.0; rows * cols])?;
                let grid = [cols.div_ceil(box_cols) as u32, rows.div_ceil(box_rows) as u32];
                let (r, c) = (box_rows as u32, box_cols as u32);
                let arguments = (x.view().tma(r, c, swizzle)?, y.view_mut().tma(r, c, swizzle)?, c, r);
                device.launch(&kernels::tma_copy, Launch::grid((grid[0], grid[1])), arguments)?;
                let expected: Vec<f32> = values.iter().map(|x| x + 1.0).collect();
                let got = y.download()?.into_raw_vec_and_offset().0;
                all.extend(same(&got, &expected, &format!("{rows} x {cols} by {box_rows} x {box_cols}, {swizzle:?}")));
                let between = y.into_buffer().download()?;
                let kept = between.iter().filter(|&&value| value == -3.0).count();
                assert_eq!(kept, between.len() - rows * cols, "elements between the rows are unchanged");
            }
        }
    }
    Ok(all)
}

fn copy_3d(device: &Device) -> Outcome {
    let mut all = Vec::new();
    let (box_rows, box_cols) = (32, 32);
    for (planes, rows, cols) in [(1, 1, 4), (3, 33, 36), (2, 64, 20)] {
        let values = floats(planes * rows * cols);
        let (x, mut y) = (device.upload(&values[..])?, device.upload(&vec![-1.0_f32; values.len()][..])?);
        let grid = (cols.div_ceil(box_cols) as u32, rows.div_ceil(box_rows) as u32, planes as u32);
        let (shape, extents) = ([1, box_rows as u32, box_cols as u32], [planes, rows, cols]);
        let arguments = (
            x.view().as_tensor(&extents)?.tma(&shape, Swizzle::B128)?,
            y.view_mut().as_tensor(&extents)?.tma(&shape, Swizzle::B128)?,
            box_cols as u32,
            box_rows as u32,
        );
        device.launch(&kernels::tma_copy_3d, Launch::grid(grid), arguments)?;
        let expected: Vec<f32> = values.iter().map(|x| x + 1.0).collect();
        all.extend(same(&y.download()?, &expected, &format!("{planes} x {rows} x {cols}")));
    }
    Ok(all)
}

fn layouts(device: &Device) -> Outcome {
    let mut all = Vec::new();
    let (rows, cols) = (70, 44);
    let values = floats(rows * cols);
    let x = device.upload(&Array2::from_shape_vec((rows, cols), values.clone()).expect("as many as the shape says"))?;
    for (box_rows, box_cols, swizzles) in SHAPES {
        for &swizzle in swizzles {
            for (left, top) in [(0, 0), (-4, -5), (cols as i32 - 8, rows as i32 - 1), (4, 1), (1000, -1000)] {
                for rounded in [false, true] {
                    let mut map = x.view().tma(box_rows as u32, box_cols as u32, swizzle)?;
                    if rounded {
                        map = map.rounded_to_tf32();
                    }
                    let mut expected = vec![0.0; BOX];
                    for (i, value) in (0..).zip(0..BOX) {
                        let (row, col) = (top + i / box_cols as i32, left + i % box_cols as i32);
                        let inside = (0..rows as i32).contains(&row) && (0..cols as i32).contains(&col);
                        if inside {
                            let found = values[row as usize * cols + col as usize];
                            let index = swizzle.place(4 * value as u32) as usize / 4;
                            expected[index] = if rounded { tf32(found) } else { found };
                        }
                    }
                    let mut y = device.upload(&vec![-1.0_f32; 2 * BOX][..])?;
                    device.launch(&kernels::tma_layout, Launch::grid(1), (map, left, top, &mut y))?;
                    let got = y.download()?;
                    let what = format!("{box_rows} x {box_cols} at ({left}, {top}), {swizzle:?}, rounded {rounded}");
                    all.extend(same(&got[..BOX], &expected, &what));
                    all.extend(same(&got[BOX..], &expected, &format!("{what}, again")));
                }
            }
        }
    }
    Ok(all)
}

fn pipeline(device: &Device) -> Outcome {
    let mut all = Vec::new();
    for blocks in [1, 2] {
        let cols = blocks * COLS as usize;
        for rows in [1, ROWS as usize, ROWS as usize * tma_pipeline::STAGES as usize + 1, 100] {
            let values = floats(rows * cols);
            let expected: Vec<f32> =
                (0..cols).map(|col| values.iter().skip(col).step_by(cols).fold(0.0, |sum, x| sum + x)).collect();
            let x = device.upload(&Array2::from_shape_vec((rows, cols), values).expect("as many as the shape says"))?;
            let mut sums = device.upload(&vec![-1.0_f32; cols][..])?;
            let map = x.view().tma(ROWS, COLS, Swizzle::None)?;
            device.launch(&tma_pipeline_sums, Launch::grid(blocks as u32), (map, rows as u32, &mut sums))?;
            all.extend(same(&sums.download()?, &expected, &format!("sums of {rows} rows")));
        }
    }
    Ok(all)
}

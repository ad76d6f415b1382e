//! D1 to D7: the tile that is written along its rows and read along its columns. One block each: the kernels have no
//! more.

use gpu::lab::tutorial::banks::{rectangular as rect, square};
use simt::Kernel;
use simt::global::VecMut;
use warpwright::Launch;

use super::Case;

type Bank = &'static Kernel<(VecMut<'static, i32>,)>;

pub(super) fn cases() -> Vec<Case> {
    let fixed = |kernel: Bank, rows| case(kernel, rows, None);
    let sized = |kernel: Bank, rows, shared| case(kernel, rows, Some(shared));
    vec![
        fixed(&square::set_row_read_col, 32),
        fixed(&square::set_row_read_col_pad, 32),
        sized(&square::set_row_read_col_dyn, 32, square::shared_elements(32)),
        sized(&square::set_row_read_col_dyn_pad, 32, square::shared_elements(33)),
        fixed(&rect::set_row_read_col_rect, 16),
        fixed(&rect::set_row_read_col_rect_pad1, 16),
        fixed(&rect::set_row_read_col_rect_pad2, 16),
        sized(&rect::set_row_read_col_rect_dyn, 16, rect::shared_elements(32)),
        sized(&rect::set_row_read_col_rect_dyn_pad2, 16, rect::shared_elements(34)),
    ]
}

/// `shared` elements where it is the launch that chooses.
fn case(kernel: Bank, rows: usize, shared: Option<usize>) -> Case {
    Case {
        kernel: kernel.info().name,
        shape: format!("one block of 32 x {rows}"),
        make: Box::new(move |device| {
            let mut out = device.alloc(32 * rows)?;
            let launch = shared.into_iter().fold(Launch::grid(1), Launch::shared_elements);
            device.launch(kernel, launch, (&mut out,))
        }),
    }
}

//! A matrix in shared memory.

use core::cell::UnsafeCell;

use super::{Parts, Shared};
use crate::{
    access::{Access, Space, fits32},
    accessors::accessors,
    arch,
    async_copy::SharedSlot,
    element::{Element, Lanes, Vector},
};

/// `ROWS` × `COLS` elements in row-major order, aligned to 16 bytes.
///
/// A tile of 32-bit elements that is read by columns should be *padded* to an odd `COLS`: consecutive rows then start
/// in different banks.
#[repr(C, align(16))]
pub struct SharedTile<T, const ROWS: usize, const COLS: usize> {
    cells: [[UnsafeCell<T>; COLS]; ROWS],
}

// SAFETY: any bytes are valid elements, all in `UnsafeCell`s; `#[repr(C)]`; elements are `Copy`, so need no drop.
unsafe impl<T: Element, const ROWS: usize, const COLS: usize> Shared for SharedTile<T, ROWS, COLS> {
    const PARTS: Parts = Parts::Tile { element: size_of::<T>(), cols: COLS };
}

impl<T: Element, const ROWS: usize, const COLS: usize> SharedTile<T, ROWS, COLS> {
    #[cfg_attr(optimised, inline(always))]
    fn at<const LANES: usize>(&self, row: u32, col: u32) -> Access<T, 2> {
        let offset = row as usize * COLS + col as usize;
        Access {
            space: Space::Shared,
            ptr: self.cells.as_ptr().cast::<T>().cast_mut().wrapping_add(offset),
            inside: row < ROWS as u32 && fits32::<LANES>(col, COLS as u32),
            index: [row as u64, col as u64],
            extent: [ROWS as u64, COLS as u64],
        }
    }

    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    fn vector_at<const LANES: usize>(&self, row: u32, col: u32) -> Access<Vector<T, LANES>, 2>
    where
        T: Lanes<LANES>,
    {
        arch::memory::expect_aligned(row * COLS as u32 + col, LANES as u32);
        self.at::<LANES>(row, col).cast()
    }

    accessors!(get set: shared "tile"[row: u32, col: u32], inside "`row < ROWS` and `col < COLS`");

    /// Elements (`row`, `col`) to (`row`, `col + N − 1`) as the destination of
    /// [`cp_async`](crate::async_copy::cp_async). Outside the tile: as for [`Self::set`].
    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    pub fn slot<const N: usize>(&self, row: u32, col: u32) -> SharedSlot<'_, T, N> {
        SharedSlot::new(self.at::<N>(row, col))
    }
}

#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests {
    use super::SharedTile;

    #[test]
    fn a_tile_is_its_elements_padded_to_16_bytes() {
        assert_eq!(size_of::<SharedTile<f32, 32, 32>>(), 4096);
        assert_eq!(size_of::<SharedTile<f32, 32, 33>>(), 4224);
        assert_eq!(size_of::<SharedTile<u8, 3, 5>>(), 16);
        assert_eq!(align_of::<SharedTile<u8, 3, 5>>(), 16);
    }
}

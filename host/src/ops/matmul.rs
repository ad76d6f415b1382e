//! Matrix multiplication.

use gpu::gemm::ffma::{self, gemm_f32_64x64, gemm_f32_128x128, gemm_f32_128x256, gemm_f32_256x128};
use simt::Kernel;
use simt::global::{MatMut, MatRef};

use super::{bands, shape};
use crate::device::Device;
use crate::error::Result;
use crate::launch::Launch;
use crate::memory::{Matrix, MatrixView, MatrixViewMut};

impl Device {
    /// A·B in `f32`: `a` is m × k, `b` is k × n, the result m × n.
    ///
    /// Each element is summed in order of k by fused multiply-adds from 0; with k = 0 it is 0.
    ///
    /// ```
    /// use ndarray::array;
    /// let device = warpwright::Device::simulator();
    /// let a = device.upload(&array![[1.0_f32, 2.0], [3.0, 4.0]])?;
    /// let b = device.upload(&array![[5.0_f32], [6.0]])?;
    /// assert_eq!(device.matmul(&a, &b)?.download()?, array![[17.0], [39.0]]);
    /// # Ok::<(), warpwright::Error>(())
    /// ```
    ///
    /// # Errors
    /// `b` has not as many rows as `a` has columns; as [`Device::alloc_matrix`] and [`Device::launch`].
    pub fn matmul<'a>(
        &self,
        a: impl Into<MatrixView<'a, f32>>,
        b: impl Into<MatrixView<'a, f32>>,
    ) -> Result<Matrix<f32>> {
        let (a, b) = (a.into(), b.into());
        check_inner(a, b)?;
        let mut c = self.alloc_matrix(a.rows(), b.cols())?;
        self.matmul_into(a, b, &mut c)?;
        Ok(c)
    }

    /// C = A·B in `f32`, as [`Device::matmul`], to memory of the caller's.
    ///
    /// # Errors
    /// `b` has not as many rows as `a` has columns, or `c` is not m × n; as [`Device::launch`].
    pub fn matmul_into<'a, 'c>(
        &self,
        a: impl Into<MatrixView<'a, f32>>,
        b: impl Into<MatrixView<'a, f32>>,
        c: impl Into<MatrixViewMut<'c, f32>>,
    ) -> Result<()> {
        let (a, b, c) = (a.into(), b.into(), c.into());
        check_inner(a, b)?;
        let (m, k, n) = (a.rows(), a.cols(), b.cols());
        if (c.rows(), c.cols()) != (m, n) {
            let (expected, found) =
                (format!("{m} x {n}, rows of a by columns of b"), format!("{} x {}", c.rows(), c.cols()));
            return Err(shape("matmul_into", "c", &expected, &found, "give c the shape of the product"));
        }
        if c.is_empty() {
            return Ok(());
        }
        let way = Way::of(m, n, k, self.limits().multiprocessors);
        // Blocks go along x alone, which is nearly unlimited.
        let across = n.div_ceil(way.tile[1] as usize) as u32;
        let mut rest = c;
        for rows in bands(m, way.tile[0], (self.limits().grid[0] / across).max(1)) {
            let grid = ffma::grid(rows.len() as u32, n as u32, way.tile);
            let (band, below) = rest.split_at_row(rows.len())?;
            self.launch(way.kernel, Launch::grid(grid), (a.block(rows, 0..k)?, b, band))?;
            rest = below;
        }
        Ok(())
    }
}

/// A kernel that multiplies, with what its cost depends on.
struct Way {
    kernel: &'static Kernel<(MatRef<'static, f32>, MatRef<'static, f32>, MatMut<'static, f32>)>,
    /// Rows and columns of C per block.
    tile: [u32; 2],
    /// Share of a multiprocessor's multiply-adds that it issues, with one block on it and with more.
    share: [f64; 2],
    /// Steps along k that a block takes before its first multiply-add and after its last, in units of k.
    lost: f64,
}

/// From the largest tile to the smallest: of equally fast ones the first is taken. The shares are the predictions of
/// docs/gemm.md.
const WAYS: [Way; 4] = [
    Way { kernel: &gemm_f32_128x256, tile: ffma::TILE_128X256, share: [0.82, 0.82], lost: 16.0 },
    Way { kernel: &gemm_f32_256x128, tile: ffma::TILE_256X128, share: [0.82, 0.82], lost: 16.0 },
    Way { kernel: &gemm_f32_128x128, tile: ffma::TILE_128X128, share: [0.55, 0.78], lost: 16.0 },
    Way { kernel: &gemm_f32_64x64, tile: ffma::TILE_64X64, share: [0.40, 0.70], lost: 32.0 },
];

impl Way {
    /// The fastest for an m × n × k product by a model of the cost: the multiprocessor that gets most blocks works on
    /// ⌈blocks / multiprocessors⌉ of them, for rows · columns · (k + lost) multiply-adds each, at the kernel's share.
    fn of(m: usize, n: usize, k: usize, multiprocessors: u32) -> &'static Self {
        let mut best = &WAYS[0];
        for way in &WAYS[1..] {
            if way.cost(m, n, k, multiprocessors) < best.cost(m, n, k, multiprocessors) {
                best = way;
            }
        }
        best
    }

    /// In multiply-adds at full speed of one multiprocessor.
    fn cost(&self, m: usize, n: usize, k: usize, multiprocessors: u32) -> f64 {
        let [rows, cols] = self.tile.map(|edge| edge as usize);
        let blocks = (m.div_ceil(rows) * n.div_ceil(cols)).div_ceil(multiprocessors.max(1) as usize);
        let share = self.share[usize::from(blocks > 1)];
        blocks as f64 * (rows * cols) as f64 * (k as f64 + self.lost) / share
    }
}

fn check_inner(a: MatrixView<'_, f32>, b: MatrixView<'_, f32>) -> Result<()> {
    if a.cols() == b.rows() {
        return Ok(());
    }
    let expected = format!("{} rows, as many as a has columns", a.cols());
    let found = format!("{} x {}", b.rows(), b.cols());
    Err(shape("matmul", "b", &expected, &found, "check the order of the factors, or transpose one"))
}

#[cfg(test)]
mod tests {
    use super::Way;

    fn tile(m: usize, n: usize, k: usize) -> [u32; 2] {
        Way::of(m, n, k, 132).tile
    }

    #[test]
    fn large_products_take_large_tiles_and_small_ones_small_tiles() {
        for edge in [2048, 4096, 8192, 16384] {
            let [rows, cols] = tile(edge, edge, edge);
            assert_eq!(rows * cols, 128 * 256, "{edge}");
        }
        assert_eq!(tile(512, 512, 512), [64, 64]);
        assert_eq!(tile(1024, 1024, 1024), [64, 64]);
        assert_eq!(tile(1, 1, 1), [64, 64]);
    }

    #[test]
    fn the_model_stands_every_extent() {
        // A single column fills least of a wide tile.
        assert_eq!(tile(usize::MAX / 4, 1, 1000)[1], 64);
        assert_eq!(Way::of(100, 100, 100, 0).tile, [64, 64]);
    }
}

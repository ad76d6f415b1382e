//! `gemm_…_nn` to `gemm_…_tt`, the products by `mma.sync`: integers, for which every order of additions
//! gives the same bits, at the edges of tiles and steps, at every alignment.

mod run;

use gpu::gemm::args::{BIAS_PER_COLUMN, BIAS_PER_ROW, WIDE_C};
use gpu::gemm::mma;
use warpwright::gemm::{Activation, Output};

use run::{Case, Number, UnderTest};

/// A module for each type of elements, with a test of all its kernels for each property.
macro_rules! tests {
    ($($module:ident => $list:ident;)+) => {
        $(tests! {
            @ $module $list
            tile_edges_are_exact alignments_are_exact epilogues_are_exact a_non_finite_number_reaches_its_row_or_column
            batches_are_exact
        })+
    };
    (@ $module:ident $list:ident $($property:ident)+) => {
        mod $module {
            use super::*;

            $(
                #[test]
                fn $property() {
                    for row in mma::$list {
                        super::$property(&UnderTest::of(row));
                    }
                }
            )+
        }
    };
}
tests! {
    f16 => F16;
    bf16 => BF16;
    tf32 => TF32;
}

/// Extents one below, at and one above the edges of the tile, with depths at the edges of steps and of the stages.
/// A matrix of one row or column, which is row-major and column-major, is an operand of the NN kernels alone.
fn tile_edges_are_exact<T: Number>(kernel: &UnderTest<T>)
where
    f32: Output<T>,
{
    let [rows, cols] = kernel.tile.map(|extent| extent as usize);
    let mut depths = [2, 32, 15, 16, 17, 33, 64, 100, 128, 161].into_iter().cycle();
    for (m, n) in
        [(rows, cols), (rows - 1, cols + 1), (rows + 1, cols - 1), (rows + 8, cols + 8), (2, 2), (3, cols), (rows, 5)]
    {
        for aligned in [true, false] {
            let k = depths.next().unwrap_or_default();
            let case = Case { m, n, k, ..Case::default() };
            kernel.is_exact(&if aligned { case.aligned() } else { case.misaligned(3) });
        }
    }
    for (m, n, k) in [(0, 5, 3), (5, 0, 3), (5, 3, 0), (rows + 1, cols + 1, 0)] {
        kernel.is_exact(&Case { m, n, k, ..Case::default() });
    }
    let vectors = [(1, 1, 128), (rows, cols, 1), (1, cols + 1, 17), (rows + 1, 1, 33), (1, 1, 1)];
    for (m, n, k) in vectors.into_iter().filter(|_| kernel.is_nn()) {
        kernel.is_exact(&Case { m, n, k, ..Case::default() }.aligned());
        kernel.is_exact(&Case { m, n, k, ..Case::default() }.misaligned(3));
    }
}

/// Rows at multiples of 16, 8, 4, 2 bytes, in one matrix or all.
fn alignments_are_exact<T: Number>(kernel: &UnderTest<T>)
where
    f32: Output<T>,
{
    let [rows, cols] = kernel.tile.map(|extent| extent as usize);
    for by in [1, 2, 4] {
        for of in 0..3 {
            let case = Case { m: rows + 2, n: cols, k: 70, ..Case::default() }.aligned();
            let mut offset = case;
            offset.offset[of] += by;
            kernel.is_exact(&offset);
            let mut gap = case;
            gap.gap[of] += by;
            kernel.is_exact(&gap);
        }
    }
}

/// Every part of what is done to a sum, C in either type.
fn epilogues_are_exact<T: Number>(kernel: &UnderTest<T>)
where
    f32: Output<T>,
{
    let small = Case { m: 37, n: 70, k: 20, ..Case::default() };
    let biases = [0, BIAS_PER_COLUMN, BIAS_PER_ROW];
    let options = biases.into_iter().flat_map(|bias| Activation::ALL.iter().map(move |&activation| (bias, activation)));
    for (i, (bias, activation)) in options.enumerate() {
        for wide in [0, WIDE_C] {
            let scale = [[1.0, 0.0], [-2.0, 3.0], [0.0, 1.0], [3.0, -1.0]][(i + wide as usize / 2) % 4];
            let case = Case { flags: bias | wide, activation, scale, data: i as u64, ..small };
            kernel.is_exact(&if i % 2 == 0 { case } else { case.aligned() });
        }
    }
}

/// A NaN or infinity in A spoils its row of C, in B its column, and nothing else.
fn a_non_finite_number_reaches_its_row_or_column<T: Number>(kernel: &UnderTest<T>)
where
    f32: Output<T>,
{
    let [rows, cols] = kernel.tile.map(|extent| extent as usize);
    for (i, value) in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY].into_iter().enumerate() {
        for (m, n, k) in [(rows + 3, cols, 17), (9, cols + 1, 70)] {
            for in_a in [true, false] {
                let extent = if in_a { m } else { n };
                let special = Some((in_a, extent - 1 - i, (k - 1) / (i + 1), value));
                let case = Case { m, n, k, special, ..Case::default() };
                kernel.is_exact(&case);
                kernel.is_exact(&case.aligned());
            }
        }
    }
}

/// Batches, with operands that are the same for all.
fn batches_are_exact<T: Number>(kernel: &UnderTest<T>)
where
    f32: Output<T>,
{
    let [rows, _] = kernel.tile.map(|extent| extent as usize);
    for shared in [[false, false], [true, false], [false, true]] {
        let case = Case { m: rows + 1, n: 33, k: 40, batches: 5, shared, ..Case::default() };
        kernel.is_exact(&case);
        kernel.is_exact(&case.aligned());
    }
}

/// Numbers that lie halfway between two of tf32 are rounded to even, not cut off.
#[test]
fn tf32_is_rounded() {
    run::tf32_is_rounded();
}

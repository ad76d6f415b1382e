//! The table.

use gpu::gemm::ffma::{self, gemm_ffma_f32_128x256};
use gpu::gemm::naive::{self, matmul_naive};
use gpu::gemm::tiled::{self, matmul_tiled};
use gpu::lab::tutorial::banks::{rectangular as rect, square};
use gpu::lab::tutorial::matmul::block_tiled::{self, matmul_block_tiled};
use gpu::lab::tutorial::matmul::single_block::{MAX_EDGE, matmul_single_block};
use gpu::lab::tutorial::transposes::{naive as rows_or_columns, smem, unrolled};
use gpu::lab::tutorial::vector_add::{self, vector_add};
use gpu::lab::tutorial::warps::interleaved::reduce_interleaved;
use gpu::lab::tutorial::warps::sequential::reduce_sequential;
use gpu::lab::tutorial::warps::shuffle::reduce_shuffle;
use gpu::reduce::dynamic::reduce_sum_dynamic;
use gpu::transpose::{padded, swizzled};
use warpwright::Launch;

use super::{Family, Step};
use crate::job::add;
use crate::job::matmul::Plan;
use crate::tutorial::jobs::{banks, gray, squares, threads};

/// All steps.
pub const FAMILIES: &[Family] = &[
    Family {
        name: "Matrix multiplication",
        about: "C = A·B in f32. Each step fetches the same elements fewer times: into threads, into shared memory, \
                into registers.",
        steps: &[
            Step {
                row: Some("A1"),
                operation: "product",
                idea: "one block: a thread walks a row of A and a column of B",
                job: |inputs| {
                    let plan: Plan = |m, n| Launch::grid(1).block((n.min(MAX_EDGE), m.min(MAX_EDGE)));
                    inputs.gemm(&matmul_single_block, plan, inputs.pick(32, 512))
                },
            },
            Step {
                row: Some("A2"),
                operation: "product",
                idea: "a grid of blocks: one element of C per thread, any shape",
                job: |inputs| {
                    inputs.gemm(&matmul_naive, |m, n| Launch::grid(naive::grid(m, n)), inputs.pick(256, 4096))
                },
            },
            Step {
                row: Some("A3"),
                operation: "product",
                idea: "32 x 32 tiles in shared memory: each element fetched 32 times less",
                job: |inputs| {
                    inputs.gemm(&matmul_tiled, |m, n| Launch::grid(tiled::grid(m, n)), inputs.pick(256, 4096))
                },
            },
            Step {
                row: Some("A4"),
                operation: "product",
                idea: "128 x 128 per block, 8 x 8 outputs per thread in registers",
                job: |inputs| {
                    inputs.gemm(
                        &matmul_block_tiled,
                        |m, n| Launch::grid(block_tiled::grid(m, n)),
                        inputs.pick(256, 4096),
                    )
                },
            },
            Step {
                row: None,
                operation: "product",
                idea: "128 x 256 per block, 16 x 8 per thread: 9 of 10 instructions multiply",
                job: |inputs| {
                    inputs.gemm(
                        &gemm_ffma_f32_128x256,
                        |m, n| Launch::grid(ffma::grid(m, n, [128, 256])),
                        inputs.pick(256, 4096),
                    )
                },
            },
        ],
    },
    Family {
        name: "Sum of squares and reduction",
        about: "Many numbers to one. Memory sets the limit: every element is read once. What differs is how many \
                values come back, and how many warps do useless steps on the way.",
        steps: &[
            Step {
                row: Some("B1"),
                operation: "sum of squares",
                idea: "every thread brings back its partial sum; the host adds them",
                job: |inputs| inputs.squares(squares::PARTIALS),
            },
            Step {
                row: Some("B2"),
                operation: "sum of squares",
                idea: "partial sums meet in shared memory; thread 0 adds them",
                job: |inputs| inputs.squares(squares::THREAD0),
            },
            Step {
                row: Some("B3"),
                operation: "sum of squares",
                idea: "a tree by bit mask: log T steps, but every step diverges",
                job: |inputs| inputs.squares(squares::TREE_MASK),
            },
            Step {
                row: Some("C5"),
                operation: "sum",
                idea: "neighbours first: every warp stays busy to the end, and diverges",
                job: |inputs| inputs.sum(&reduce_interleaved),
            },
            Step {
                row: Some("C6"),
                operation: "sum",
                idea: "halves first: whole warps go idle, only the last five steps diverge",
                job: |inputs| inputs.sum(&reduce_sequential),
            },
            Step {
                row: Some("C7"),
                operation: "sum",
                idea: "the same for any n, with shared memory sized at launch",
                job: |inputs| inputs.sum(&reduce_sum_dynamic),
            },
            Step {
                row: Some("C8"),
                operation: "sum",
                idea: "the last 32 values by warp shuffles: no shared memory, no barrier",
                job: |inputs| inputs.sum(&reduce_shuffle),
            },
            Step {
                row: None,
                operation: "sum",
                idea: "one launch: 16-byte loads; the last block adds up the blocks",
                job: |inputs| inputs.whole_sum(),
            },
        ],
    },
    Family {
        name: "Transposition",
        about: "B = Aᵀ. Each element is read once and written once, so a copy of the same size is the limit. Rows and \
                columns cannot both be walked along sectors of 32 bytes, unless the turn happens in shared memory.",
        steps: &[
            Step {
                row: Some("D8"),
                operation: "transposition",
                idea: "reads along rows, writes down columns: 32 sectors a store",
                job: |inputs| inputs.transpose(&rows_or_columns::transpose_naive_row, rows_or_columns::grid_row),
            },
            Step {
                row: Some("D8"),
                operation: "transposition",
                idea: "reads down columns, writes along rows: 32 sectors a load",
                job: |inputs| inputs.transpose(&rows_or_columns::transpose_naive_col, rows_or_columns::grid_col),
            },
            Step {
                row: Some("D9"),
                operation: "transposition",
                idea: "turns a tile in shared memory: both sides along rows",
                job: |inputs| inputs.transpose(&smem::transpose_smem, smem::grid),
            },
            Step {
                row: Some("D10"),
                operation: "transposition",
                idea: "rows of the tile padded by one word: two lanes per bank",
                job: |inputs| inputs.transpose(&padded::transpose_smem_pad1, padded::grid),
            },
            Step {
                row: Some("D10"),
                operation: "transposition",
                idea: "rows padded by two words: no conflicts",
                job: |inputs| inputs.transpose(&padded::transpose_smem_pad2, padded::grid),
            },
            Step {
                row: Some("D11"),
                operation: "transposition",
                idea: "two tiles per block: twice the loads under way; padded by one",
                job: |inputs| inputs.transpose(&unrolled::transpose_smem_unroll_pad1, unrolled::grid),
            },
            Step {
                row: Some("D11"),
                operation: "transposition",
                idea: "two tiles per block, padded by two: no conflicts",
                job: |inputs| inputs.transpose(&unrolled::transpose_smem_unroll_pad2, unrolled::grid),
            },
            Step {
                row: None,
                operation: "transposition",
                idea: "4 x 4 elements per thread, 16-byte accesses, a swizzle for padding",
                job: |inputs| inputs.transpose(&swizzled::transpose_b32, swizzled::grid),
            },
        ],
    },
    Family {
        name: "Warps, branches and banks",
        about: "32 threads share one instruction and 32 banks. A branch that splits a warp takes the time of both \
                sides; lanes that want different words of one bank wait for each other.",
        steps: &[
            Step {
                row: Some("C1"),
                operation: "warps",
                idea: "threads are dealt to warps x fastest, then y, then z",
                job: |inputs| threads::partition(inputs.pick(16, 1 << 20)),
            },
            Step {
                row: Some("C2"),
                operation: "branch",
                idea: "tx > 15 splits every first warp: it walks both sides",
                job: |inputs| threads::branch(15, inputs.pick(1 << 10, 1 << 24)),
            },
            Step {
                row: Some("C2"),
                operation: "branch",
                idea: "tx > 31 falls between warps: the same branch, nothing diverges",
                job: |inputs| threads::branch(31, inputs.pick(1 << 10, 1 << 24)),
            },
            Step {
                row: Some("C3"),
                operation: "vector sum",
                idea: "if i < n: at most one warp of the whole grid diverges",
                job: |inputs| add::job(&vector_add, vector_add::grid, inputs.pick(1003, 1 << 28), inputs.seed),
            },
            Step {
                row: Some("C4"),
                operation: "grey picture",
                idea: "a picture's edges cut through warps that are two rows of 16",
                job: |inputs| gray::job(inputs.pick([76, 62], [16_380, 16_382]), inputs.seed),
            },
            Step {
                row: Some("D1"),
                operation: "square tile",
                idea: "a column of a 32 x 32 tile: all lanes in one bank",
                job: |_| banks::job(&square::set_row_read_col, 32, 32),
            },
            Step {
                row: Some("D2"),
                operation: "square tile",
                idea: "rows 33 words apart: a column meets all banks",
                job: |_| banks::job(&square::set_row_read_col_pad, 32, 33),
            },
            Step {
                row: Some("D3"),
                operation: "square tile",
                idea: "D1 with shared memory sized at launch",
                job: |_| banks::job(&square::set_row_read_col_dyn, 32, 32),
            },
            Step {
                row: Some("D4"),
                operation: "square tile",
                idea: "D2 with shared memory sized at launch: the padding is arithmetic",
                job: |_| banks::job(&square::set_row_read_col_dyn_pad, 32, 33),
            },
            Step {
                row: Some("D5"),
                operation: "rectangular tile",
                idea: "two columns of a 16 x 32 tile: 16 lanes in each of two banks",
                job: |_| banks::job(&rect::set_row_read_col_rect, 16, 32),
            },
            Step {
                row: Some("D6"),
                operation: "rectangular tile",
                idea: "padded by one: neighbouring columns overlap, two lanes per bank",
                job: |_| banks::job(&rect::set_row_read_col_rect_pad1, 16, 33),
            },
            Step {
                row: Some("D6"),
                operation: "rectangular tile",
                idea: "padded by two: no conflicts",
                job: |_| banks::job(&rect::set_row_read_col_rect_pad2, 16, 34),
            },
            Step {
                row: Some("D7"),
                operation: "rectangular tile",
                idea: "D5 with shared memory sized at launch",
                job: |_| banks::job(&rect::set_row_read_col_rect_dyn, 16, 32),
            },
            Step {
                row: Some("D7"),
                operation: "rectangular tile",
                idea: "padded by two, with shared memory sized at launch",
                job: |_| banks::job(&rect::set_row_read_col_rect_dyn_pad2, 16, 34),
            },
        ],
    },
];

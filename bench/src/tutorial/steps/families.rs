//! The table.

use gpu::gemm::ffma::{self, gemm_ffma_f32_128x256};
use gpu::gemm::naive::{self, matmul_naive};
use gpu::gemm::sm90::{gemm_sm90_bf16_nn_128x256, gemm_sm90_bf16x6_nt_128x128};
use gpu::gemm::tiled::{self, matmul_tiled};
use gpu::lab::tutorial::banks::{rectangular as rect, square};
use gpu::lab::tutorial::matmul::block_tiled::{self, matmul_block_tiled};
use gpu::lab::tutorial::matmul::single_block::{MAX_EDGE, matmul_single_block};
use gpu::lab::tutorial::transposes::{naive as rows_or_columns, smem, unrolled};
use gpu::lab::tutorial::vector_add::{self, vector_add};
use gpu::lab::tutorial::warps::interleaved::reduce_interleaved;
use gpu::lab::tutorial::warps::sequential::reduce_sequential;
use gpu::lab::tutorial::warps::shuffle::reduce_shuffle;
use gpu::lab::tutorial_sm90 as sm90;
use gpu::lab::tutorial_sm90::consumers::{self, matmul_consumers};
use gpu::lab::tutorial_sm90::mma::{self, matmul_mma};
use gpu::lab::tutorial_sm90::overlapped::{self, matmul_overlapped};
use gpu::lab::tutorial_sm90::persistent::matmul_persistent;
use gpu::lab::tutorial_sm90::pipelined::{self, matmul_pipelined};
use gpu::lab::tutorial_sm90::tma::{self, matmul_tma};
use gpu::lab::tutorial_sm90::wgmma::{self, matmul_wgmma};
use gpu::reduce::dynamic::reduce_sum_dynamic;
use gpu::transpose::{padded, swizzled};
use simt::tma::Swizzle;
use warpwright::Launch;

use super::{Family, Step};
use crate::job::add;
use crate::job::matmul::Plan;
use crate::tutorial::jobs::{banks, gray, squares, tensor, threads};

/// A step of a kernel with tensor maps of A and B, and a block for each tile.
macro_rules! by_tma {
    ($module:ident $kernel:ident, $idea:literal) => {
        Step {
            row: None,
            operation: "product of bf16",
            idea: $idea,
            job: |inputs| {
                tensor::job(
                    $kernel.info(),
                    |device, (a, b, c), _| {
                        let blocks = sm90::grid(c.rows() as u32, c.cols() as u32, $module::COLS);
                        tensor::launch(device, &$kernel, Launch::grid(blocks), (a, b, c))
                    },
                    &inputs.tensor_problem(),
                )
            },
        }
    };
}

/// All steps.
pub const FAMILIES: &[Family] = &[
    Family {
        name: "Matrix multiplication",
        about: "C = A·B in f32. Each step fetches the same elements fewer times: into threads, into shared memory, \
                into registers.",
        tensor: false,
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
        name: "Matrix multiplication on tensor cores",
        about: "C = A·B of bf16 on Hopper. Tensor cores multiply sixteen times as fast as all other units together; \
                what each step removes is something that they wait for.",
        tensor: true,
        steps: &[
            Step {
                row: None,
                operation: "product of bf16",
                idea: "mma.sync: a warp multiplies 16 x 16 by 16 x 8 in one instruction",
                job: |inputs| {
                    tensor::job(
                        matmul_mma.info(),
                        |device, (a, b, c), _| {
                            let blocks = sm90::grid(c.rows() as u32, c.cols() as u32, mma::COLS);
                            Ok(device.launch(&matmul_mma, Launch::grid(blocks), (a, b, c))?.counters)
                        },
                        &inputs.tensor_problem(),
                    )
                },
            },
            by_tma!(tma matmul_tma, "TMA: one thread asks for whole tiles; an mbarrier counts their bytes"),
            by_tma!(wgmma matmul_wgmma, "wgmma: four warps multiply 64 x 16 by 16 x 128 from shared memory"),
            by_tma!(pipelined matmul_pipelined, "a producer warp fills a ring of stages that a warpgroup empties"),
            by_tma!(consumers matmul_consumers, "two consumers of 64 x 256; registers move from the producer to them"),
            Step {
                row: None,
                operation: "product of bf16",
                idea: "one block an SM computes tile after tile; loads go on meanwhile",
                job: |inputs| {
                    tensor::job(
                        matmul_persistent.info(),
                        |device, operands, prepared| {
                            tensor::launch(device, &matmul_persistent, Launch::grid(prepared.blocks), operands)
                        },
                        &inputs.tensor_problem(),
                    )
                },
            },
            Step {
                row: None,
                operation: "product of bf16",
                idea: "stmatrix and TMA store a tile while the next one is computed",
                job: |inputs| {
                    tensor::job(
                        matmul_overlapped.info(),
                        |device, (a, b, c), prepared| {
                            let extents = [c.rows(), c.cols(), a.cols()].map(|extent| extent as u32);
                            let ([a, b], [rows, cols]) = (tensor::maps(a, b)?, overlapped::BOX_C);
                            let arguments = (a, b, c.tma(rows, cols, Swizzle::B128)?, extents);
                            Ok(device.launch(&matmul_overlapped, Launch::grid(prepared.blocks), arguments)?.counters)
                        },
                        &inputs.tensor_problem(),
                    )
                },
            },
            Step {
                row: None,
                operation: "product of bf16",
                idea: "the shipped kernel: raster order, stream-K, overlapping launches",
                job: |inputs| {
                    tensor::job(
                        gemm_sm90_bf16_nn_128x256.info(),
                        |device, operands, prepared| {
                            tensor::gemm(device, gemm_sm90_bf16_nn_128x256.info(), operands, prepared, |gemm| gemm)
                        },
                        &inputs.tensor_problem(),
                    )
                },
            },
            Step {
                row: None,
                operation: "product of f32",
                idea: "f32 as sums of three bf16: six products, as accurate as fma",
                job: |inputs| {
                    tensor::job(
                        gemm_sm90_bf16x6_nt_128x128.info(),
                        |device, operands, prepared| {
                            let kernel = gemm_sm90_bf16x6_nt_128x128.info();
                            tensor::gemm(device, kernel, operands, prepared, tensor::emulated)
                        },
                        &inputs.problem(inputs.tensor_edge()),
                    )
                },
            },
        ],
    },
    Family {
        name: "Sum of squares and reduction",
        about: "Many numbers to one. Memory sets the limit: every element is read once. What differs is how many \
                values come back, and how many warps do useless steps on the way.",
        tensor: false,
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
        tensor: false,
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
        tensor: false,
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

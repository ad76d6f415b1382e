//! The launches that are counted: each kernel at a shape whose tiles and rows are aligned, and at one where nothing is.
//!
//! Small enough to simulate in seconds, large enough for hundreds of blocks.

mod banks;
mod transposes;
mod warps;

use gpu::gemm::naive::{self, matmul_naive};
use gpu::gemm::tiled::{self, matmul_tiled};
use gpu::lab::tutorial::matmul::block_tiled::{self, matmul_block_tiled};
use gpu::lab::tutorial::vector_add::{self, vector_add};
use gpu::reduce::dynamic::{self, reduce_sum_dynamic};
use simt::Kernel;
use simt::global::{MatMut, MatRef};
use warpwright::{Device, Launch};

use super::Launched;
use crate::data::uniform;

/// One launch.
pub(super) struct Case {
    /// The kernel's name.
    pub(super) kernel: &'static str,
    /// The input's shape, in words; of products m x n x k.
    pub(super) shape: String,
    make: Box<dyn Fn(&Device) -> Launched>,
}

impl Case {
    /// Brings the input to the device and launches once.
    pub(super) fn launch(&self, device: &Device) -> Launched {
        (self.make)(device)
    }
}

type Gemm = &'static Kernel<(MatRef<'static, f32>, MatRef<'static, f32>, MatMut<'static, f32>)>;

/// Every case, in the order in which they are launched.
pub(super) fn all() -> Vec<Case> {
    let mut cases = Vec::new();
    cases.extend([1 << 20, 1_000_003].map(add));
    cases.extend([[256, 192, 128], [251, 193, 131]].map(|mnk| gemm(&matmul_naive, naive::grid, mnk)));
    cases.extend([[512, 384, 256], [509, 387, 251]].map(|mnk| gemm(&matmul_tiled, tiled::grid, mnk)));
    cases.extend([[512, 384, 256], [509, 387, 251]].map(|mnk| gemm(&matmul_block_tiled, block_tiled::grid, mnk)));
    cases.extend([1 << 20, 1_000_003].map(sum));
    cases.extend(warps::cases());
    cases.extend(banks::cases());
    cases.extend(transposes::cases());
    cases
}

fn add(n: usize) -> Case {
    Case {
        kernel: vector_add.info().name,
        shape: format!("{n} elements"),
        make: Box::new(move |device| {
            let (x, y) = (device.upload(&uniform(n, 1, 0))?, device.upload(&uniform(n, 1, 1))?);
            let mut z = device.alloc(n)?;
            device.launch(&vector_add, Launch::grid(vector_add::grid(n)), (&x, &y, &mut z))
        }),
    }
}

fn sum(n: usize) -> Case {
    const THREADS: u32 = 256;
    Case {
        kernel: reduce_sum_dynamic.info().name,
        shape: format!("{n} elements in blocks of {THREADS}"),
        make: Box::new(move |device| {
            let x = device.upload(&uniform(n, 1, 2))?;
            let grid = dynamic::grid(n, THREADS);
            let mut sums = device.alloc(grid[0] as usize)?;
            let launch = Launch::grid(grid).block(THREADS).shared_elements(THREADS as usize);
            device.launch(&reduce_sum_dynamic, launch, (&x, &mut sums))
        }),
    }
}

fn gemm(kernel: Gemm, grid: fn(u32, u32) -> [u32; 3], [m, n, k]: [usize; 3]) -> Case {
    Case {
        kernel: kernel.info().name,
        shape: format!("{m} x {n} x {k}"),
        make: Box::new(move |device| {
            let a = device.upload_matrix(&uniform(m * k, 1, 3), m, k)?;
            let b = device.upload_matrix(&uniform(k * n, 1, 4), k, n)?;
            let mut c = device.alloc_matrix(m, n)?;
            device.launch(kernel, Launch::grid(grid(m as u32, n as u32)), (&a, &b, &mut c))
        }),
    }
}

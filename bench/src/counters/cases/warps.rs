//! C2, C4 to C6: branches that divide warps.

use gpu::lab::tutorial::warps::color_to_gray::{self, color_to_gray};
use gpu::lab::tutorial::warps::divergent_branch::{self, divergent_branch};
use gpu::lab::tutorial::warps::interleaved::reduce_interleaved;
use gpu::lab::tutorial::warps::sequential::reduce_sequential;
use gpu::reduce::dynamic;
use simt::Kernel;
use simt::global::{VecMut, VecRef};
use warpwright::Launch;

use super::Case;
use crate::data::uniform;

type Sum = &'static Kernel<(VecRef<'static, f32>, VecMut<'static, f32>)>;

/// Elements of vectors: whole blocks, and not.
const LENGTHS: [usize; 2] = [1 << 20, 1_000_003];

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    // Through every first warp of a block, and between the warps.
    cases.extend([15, 31].into_iter().flat_map(|threshold| LENGTHS.map(|n| branch(threshold, n))));
    cases.extend([[512, 384], [509, 387]].map(gray));
    for kernel in [&reduce_interleaved as Sum, &reduce_sequential] {
        cases.extend(LENGTHS.map(|n| sum(kernel, n)));
    }
    cases
}

fn branch(threshold: u32, n: usize) -> Case {
    Case {
        kernel: divergent_branch.info().name,
        shape: format!("{n} elements by tx > {threshold}"),
        make: Box::new(move |device| {
            let mut out = device.alloc(n)?;
            device.launch(&divergent_branch, Launch::grid(divergent_branch::grid(n)), (threshold, &mut out))
        }),
    }
}

fn gray([width, height]: [usize; 2]) -> Case {
    Case {
        kernel: color_to_gray.info().name,
        shape: format!("{width} x {height} pixels"),
        make: Box::new(move |device| {
            // Any bytes: the kernel's accesses do not depend on them.
            let bytes: Vec<u8> = (0..3 * width * height).map(|byte| byte as u8).collect();
            let rgb = device.upload(&bytes)?;
            let mut gray = device.alloc_matrix(height, width)?;
            let launch = Launch::grid(color_to_gray::grid(height as u32, width as u32));
            device.launch(&color_to_gray, launch, (&rgb, &mut gray))
        }),
    }
}

/// In sections of 512.
fn sum(kernel: Sum, n: usize) -> Case {
    const SECTION: u32 = 512;
    Case {
        kernel: kernel.info().name,
        shape: format!("{n} elements in sections of {SECTION}"),
        make: Box::new(move |device| {
            let x = device.upload(&uniform(n, 1, 2))?;
            let grid = dynamic::grid(n, SECTION);
            let mut sums = device.alloc(grid[0] as usize)?;
            let launch = Launch::grid(grid).block(SECTION).shared_elements(SECTION as usize);
            device.launch(kernel, launch, (&x, &mut sums))
        }),
    }
}

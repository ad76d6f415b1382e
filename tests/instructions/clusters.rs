//! Clusters: the cluster barrier, arrivals on another block's mbarriers, and multicast. Kernels for Hopper only.

use gpu::lab::instructions_sm90::clusters::{self, CLUSTER, ROUNDS, cluster_exchange};
use gpu::lab::instructions_sm90::multicast::{
    self, COLS, PLANE, PLANE_BOX, PLANE_CLUSTER, ROWS, STAGES, multicast_pipeline_sums, multicast_planes,
};
use ndarray::Array2;
use simt::tma::Swizzle;
use warpwright::{Device, Launch};

use crate::case::{Case, Outcome, floats, same};

pub(crate) const CASES: &[Case] = &[
    Case { kernel: cluster_exchange.info(), run: exchange },
    Case { kernel: multicast_planes.info(), run: planes },
    Case { kernel: multicast_pipeline_sums.info(), run: pipeline },
];

fn exchange(device: &Device) -> Outcome {
    let mut all = Vec::new();
    // The last grid is too large for all blocks to be resident at once.
    for blocks in [CLUSTER, 5 * CLUSTER, 700 * CLUSTER] {
        let threads = blocks * clusters::BLOCK;
        let (mut x, mut ranks) = (device.upload(&vec![0_u32; threads as usize][..])?, device.alloc(blocks as usize)?);
        device.launch(&cluster_exchange, Launch::grid(blocks), (&mut x, &mut ranks))?;
        let rank = |block: u32| block % CLUSTER;
        let mut expected: Vec<u32> = (0..threads).collect();
        for _ in 0..ROUNDS {
            let before = expected.clone();
            for (i, value) in (0..).zip(&mut expected) {
                let (block, t) = (i / clusters::BLOCK, i % clusters::BLOCK);
                let next = block - rank(block) + (rank(block) + 1) % CLUSTER;
                let opposite = next * clusters::BLOCK + clusters::BLOCK - 1 - t;
                *value = before[opposite as usize].wrapping_mul(2).wrapping_add(rank(block));
            }
        }
        all.extend(same(&x.download()?, &expected, &format!("{blocks} blocks")));
        let expected: Vec<u32> = (0..blocks).map(|block| 10 * CLUSTER + rank(block)).collect();
        all.extend(same(&ranks.download()?, &expected, &format!("ranks of {blocks} blocks")));
    }
    Ok(all)
}

fn planes(device: &Device) -> Outcome {
    let mut all = Vec::new();
    let (cols, rows) = (PLANE.0 as usize, PLANE.1 as usize);
    for clusters in [1, 40] {
        let blocks = clusters * PLANE_CLUSTER as usize;
        let values = floats(blocks * PLANE_BOX);
        let (x, mut y) = (device.upload(&values[..])?, device.upload(&vec![-1.0_f32; 2 * values.len()][..])?);
        let map = x.view().as_tensor(&[blocks, rows, cols])?.tma(&[1, PLANE.1, PLANE.0], Swizzle::None)?;
        device.launch(&multicast_planes, Launch::grid(blocks as u32), (map, &mut y))?;
        let size = PLANE_CLUSTER as usize;
        let plane = |block: usize| &values[block * PLANE_BOX..][..PLANE_BOX];
        let both = |block: usize| [plane(block), plane(block / size * size + (block + size - 1) % size)].concat();
        let expected: Vec<f32> = (0..blocks).flat_map(both).collect();
        all.extend(same(&y.download()?, &expected, &format!("{clusters} clusters")));
    }
    Ok(all)
}

fn pipeline(device: &Device) -> Outcome {
    let mut all = Vec::new();
    for clusters in [1, 3] {
        let cols = clusters * COLS as usize;
        let tile = 2 * ROWS as usize;
        // Less than a tile, one tile, slightly more than all stages, many tiles.
        for rows in [1, tile - 3, tile, tile * STAGES as usize + 1, 40 * tile] {
            let values = floats(rows * cols);
            let sums = (0..cols).map(|col| values.iter().skip(col).step_by(cols).fold(0.0, |sum, x| sum + x));
            let expected: Vec<f32> = sums.clone().chain(sums).collect();
            let x = device
                .upload(&Array2::from_shape_vec((rows, cols), values.clone()).expect("as many as the shape says"))?;
            let mut y = device.upload(&vec![-1.0_f32; 2 * cols][..])?;
            let arguments = (x.view().tma(ROWS, COLS, Swizzle::None)?, rows as u32, cols as u32, &mut y);
            device.launch(&multicast_pipeline_sums, Launch::grid(2 * clusters as u32), arguments)?;
            all.extend(same(&y.download()?, &expected, &format!("sums of {rows} rows, {} stages", multicast::STAGES)));
        }
    }
    Ok(all)
}

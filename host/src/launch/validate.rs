//! Checks grid, block and shared memory of a launch against the kernel and the device.

use simt::{KernelInfo, SharedSpec};

use super::{Dims, Launch};
use crate::contract::{Geometry, Limits, shape};
use crate::error::{BadLaunch, LaunchRule};

/// The geometry of a launch of a kernel, if kernel and device accept it.
pub(super) fn geometry(launch: &Launch<'_>, info: &KernelInfo, limits: &Limits) -> Result<Geometry, BadLaunch> {
    let grid = grid(launch.grid, info, limits)?;
    let block = block(launch.block, info, limits)?;
    let shared_bytes = shared(launch.shared_elements, info, limits)?;
    Ok(Geometry { grid, block, shared_bytes, cluster: info.cluster })
}

fn grid(Dims(asked): Dims, info: &KernelInfo, limits: &Limits) -> Result<[u32; 3], BadLaunch> {
    if asked.iter().any(|&extent| extent < 1) {
        return Err(BadLaunch::new(
            LaunchRule::EmptyGrid,
            info.name,
            "at least one block along x, y and z",
            format_args!("a grid of {}", shape(&asked)),
            "do not launch for empty input; the operations of Device handle it without a launch",
        ));
    }
    let fits = asked.iter().zip(limits.grid).all(|(&asked, most)| asked <= i128::from(most));
    if !fits {
        return Err(BadLaunch::new(
            LaunchRule::GridLimit,
            info.name,
            format_args!("at most {} blocks", shape(&limits.grid)),
            format_args!("a grid of {}", shape(&asked)),
            "put the longest extent along x, or launch several times on parts of the data",
        ));
    }
    let grid = asked.map(|extent| extent as u32);
    if !grid[0].is_multiple_of(info.cluster) {
        return Err(BadLaunch::new(
            LaunchRule::Cluster,
            info.name,
            format_args!("a multiple of {} blocks along x, the cluster size of the kernel", info.cluster),
            format_args!("a grid of {}", shape(&asked)),
            "round the blocks along x up (the kernel skips blocks beyond its data), or use a kernel without clusters",
        ));
    }
    Ok(grid)
}

fn block(asked: Option<Dims>, info: &KernelInfo, limits: &Limits) -> Result<[u32; 3], BadLaunch> {
    let block = match (info.block, asked) {
        (Some(required), None) => required.map(i128::from),
        (Some(required), Some(Dims(asked))) if required.map(i128::from) == asked => asked,
        (Some(required), Some(Dims(asked))) => {
            return Err(BadLaunch::new(
                LaunchRule::RequiredBlock,
                info.name,
                format_args!("blocks of {} threads, which the kernel requires", shape(&required)),
                shape(&asked),
                "leave out Launch::block; the launch then uses the kernel's shape",
            ));
        }
        (None, Some(Dims(asked))) => asked,
        (None, None) => {
            return Err(BadLaunch::new(
                LaunchRule::BlockShape,
                info.name,
                format_args!("a block shape of at most {} threads", info.max_threads()),
                "none",
                "set it with Launch::block",
            ));
        }
    };
    let fits = block.iter().zip(limits.block).all(|(&extent, most)| (1..=i128::from(most)).contains(&extent));
    if !fits {
        return Err(BadLaunch::new(
            LaunchRule::BlockShape,
            info.name,
            format_args!("1 to {} threads along x, y and z", shape(&limits.block)),
            shape(&block),
            "set another shape with Launch::block",
        ));
    }
    let block = block.map(|extent| extent as u32);
    let most = info.max_threads().min(limits.threads_per_block);
    if threads(block) > u64::from(most) {
        return Err(BadLaunch::new(
            LaunchRule::Threads,
            info.name,
            format_args!("at most {most} threads per block ({})", whose_limit(info, limits)),
            format_args!("{}, that is {}", shape(&block), threads(block)),
            "use smaller blocks, and more of them",
        ));
    }
    Ok(block)
}

fn whose_limit(info: &KernelInfo, limits: &Limits) -> &'static str {
    if info.max_threads() < limits.threads_per_block { "the kernel's limit" } else { "the device's limit" }
}

fn shared(asked: Option<i128>, info: &KernelInfo, limits: &Limits) -> Result<usize, BadLaunch> {
    let bad = |expected: &str, found: String, remedy: &str| {
        Err(BadLaunch::new(LaunchRule::SharedMemory, info.name, expected, found, remedy))
    };
    let bytes = match (info.shared, asked) {
        (SharedSpec::None, None) => Some(0),
        (SharedSpec::Fixed { bytes, .. }, None) => Some(bytes),
        (SharedSpec::PerLaunch { .. }, Some(elements)) if elements < 0 => {
            let remedy = "set another number with Launch::shared_elements";
            return bad("a number of elements of shared memory", format!("{elements}"), remedy);
        }
        (SharedSpec::PerLaunch { element, .. }, Some(elements)) => usize::try_from(elements * element as i128).ok(),
        (SharedSpec::None, Some(elements)) => {
            return bad(
                "no elements of shared memory, since the kernel uses none",
                format!("{elements} elements"),
                "leave out shared_elements",
            );
        }
        (SharedSpec::Fixed { bytes, .. }, Some(elements)) => {
            let expected = format!("the kernel's own layout of {bytes} bytes");
            return bad(&expected, format!("{elements} elements"), "leave out shared_elements");
        }
        (SharedSpec::PerLaunch { element, .. }, None) => {
            let expected = format!("a number of elements of shared memory, of {element} bytes each");
            return bad(&expected, "none".into(), "set it with Launch::shared_elements");
        }
    };
    match bytes {
        Some(bytes) if bytes <= limits.shared_bytes => Ok(bytes),
        bytes => Err(BadLaunch::new(
            LaunchRule::SharedLimit,
            info.name,
            format_args!("at most {} bytes of shared memory per block, which the device has", limits.shared_bytes),
            bytes.map_or("more bytes than the address space has".into(), |bytes| format!("{bytes} bytes")),
            "use smaller tiles, or fewer elements in Launch::shared_elements",
        )),
    }
}

fn threads(block: [u32; 3]) -> u64 {
    // Saturates, because it is called before the extents are known to be within the limits.
    block.iter().map(|&extent| u64::from(extent)).fold(1, u64::saturating_mul)
}

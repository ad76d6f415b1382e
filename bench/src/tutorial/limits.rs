//! The limits that speed is measured against.

use std::fs;

use anyhow::{Context as _, Result};
use warpwright::Device;

use super::figures::roofline::Roofline;
use super::report::GpuReport;
use crate::data::uniform;
use crate::run::measure;
use crate::units::Work;

/// f32 multiply-adds that a multiprocessor starts in a cycle: 128 from compute capability 8.6 on, and 9.0, the H200's
/// (CUDA C++ Programming Guide, "Arithmetic Instructions"); 64 for 8.0.
fn lanes((major, minor): (u32, u32)) -> u32 {
    if (major, minor) == (8, 0) { 64 } else { 128 }
}

/// Operations on `bf16` that the tensor cores of an SM do in a clock, where it is known (NVIDIA's architecture papers).
fn tensor_operations((major, minor): (u32, u32)) -> Option<f64> {
    match (major, minor) {
        (8, 0) => Some(2048.0),
        (9, 0) => Some(4096.0),
        _ => None,
    }
}

/// Elements of the copy that is timed: 1 GiB read and 1 GiB written, far more than any cache holds.
const COPIED: usize = 1 << 28;

/// Asks the driver, and measures the copy; `None` for the simulator.
///
/// # Errors
/// The device has too little memory, or the driver refuses.
pub(super) fn of(device: &Device, seed: u64) -> Result<Option<GpuReport>> {
    let Some(hardware) = device.hardware()? else { return Ok(None) };
    let capability = device.compute_capability().context("a GPU has a compute capability")?;
    let clock_hz = 1e3 * f64::from(hardware.clock_khz);
    Ok(Some(GpuReport {
        driver: driver(),
        capability,
        sm_count: hardware.sm_count,
        clock_hz,
        l2_bytes: hardware.l2_bytes as u64,
        peak_flops: f64::from(hardware.sm_count) * f64::from(lanes(capability)) * 2.0 * clock_hz,
        tensor_flops: tensor_operations(capability).map(|each| f64::from(hardware.sm_count) * each * clock_hz),
        copy_bytes_per_second: copy(device, seed)?,
    }))
}

/// Bytes a second that a device-to-device copy reads and writes.
fn copy(device: &Device, seed: u64) -> Result<f64> {
    let source = device.upload(&uniform(COPIED, seed, 8)).context("the copy that gives the limit of memory")?;
    let mut goal = device.alloc::<f32>(COPIED)?;
    let times = measure::events(
        device,
        &mut goal,
        |_| Ok(()),
        |goal| {
            goal.view_mut().copy_from(&source)?;
            Ok(())
        },
    )?;
    Ok(8.0 * COPIED as f64 / times.median().as_secs_f64())
}

/// The kernel driver's line, on Linux.
fn driver() -> Option<String> {
    let text = fs::read_to_string("/proc/driver/nvidia/version").ok()?;
    Some(text.lines().next()?.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// The device of row A5, that the texts describe.
pub(super) const OF_THE_TEXTS: Roofline = Roofline { peak: 346.5e9, bandwidth: 86.4e9 };

/// The H200 by its datasheet, for the steps on its tensor cores.
pub(super) const H200: Roofline = Roofline { peak: 989e12, bandwidth: 4.8e12 };

/// The roofline of a GPU, of its tensor cores or of its other units.
pub(super) fn roofline(gpu: &GpuReport, tensor: bool) -> Roofline {
    let peak = if tensor { gpu.tensor_flops.unwrap_or(H200.peak) } else { gpu.peak_flops };
    Roofline { peak, bandwidth: gpu.copy_bytes_per_second }
}

/// The limit of work of this kind, in its unit a second.
pub(super) fn limit(gpu: &GpuReport, work: Work) -> Option<f64> {
    match work {
        Work::Operations(_) => Some(gpu.peak_flops),
        Work::TensorOperations(_) => gpu.tensor_flops,
        Work::Bytes(_) => Some(gpu.copy_bytes_per_second),
        Work::Elements(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_simulator_has_no_limits() {
        assert_eq!(of(&Device::simulator(), 1).unwrap(), None);
    }

    #[test]
    fn an_a100_starts_half_as_many_multiply_adds_a_cycle() {
        assert_eq!([(8, 0), (8, 6), (8, 9), (9, 0), (12, 0)].map(lanes), [64, 128, 128, 128, 128]);
    }
}

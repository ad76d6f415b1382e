//! The jobs: a kernel, a real-sized random input, and the check of the result against the reference.
//!
//! [`Job`] is the description; preparing it on a device makes a [`Task`], which can be launched again and again. The
//! main job and the tutorial ([`crate::tutorial`]) share them.

pub(crate) mod add;
pub(crate) mod matmul;
mod output;
pub(crate) mod sum;
pub(crate) mod transpose;
pub(crate) mod whole_sum;

use std::sync::Arc;

use anyhow::Result;
use gpu::elementwise::add::{add_f32, grid as add_grid};
use gpu::reduce::dynamic::reduce_sum_dynamic;
use simt::KernelInfo;
use warpwright::Device;
use warpwright::simulator::Counters;

use crate::data::Poison;
use crate::units::Work;
pub use output::Output;

/// A kernel and its input.
pub struct Job {
    /// The kernel.
    pub kernel: &'static KernelInfo,
    /// The input's shape, in words.
    pub shape: String,
    /// What one launch does.
    pub work: Work,
    pub(crate) prepare: Prepare,
}

/// Makes the input and brings it to a device.
pub(crate) type Prepare = Box<dyn FnOnce(&Device) -> Result<Box<dyn Task>> + Send>;

impl Job {
    /// Makes the input and brings it to the device.
    ///
    /// # Errors
    /// The device has too little memory.
    pub fn prepare(self, device: &Device) -> Result<Box<dyn Task>> {
        (self.prepare)(device)
    }
}

/// A job on a device.
pub trait Task {
    /// Overwrites every output.
    ///
    /// # Errors
    /// The driver refuses.
    fn poison(&mut self, poison: &Poison) -> Result<()>;

    /// Launches the kernel; gives what the simulator counted, where it counts.
    ///
    /// # Errors
    /// As [`Device::launch`].
    fn launch(&mut self, device: &Device) -> Result<Option<Counters>>;

    /// All outputs, one after the other.
    ///
    /// # Errors
    /// The work failed.
    fn output(&self) -> Result<Output>;

    /// Compares every element of the outputs with the reference.
    ///
    /// # Errors
    /// There are not as many elements as there should be.
    fn check(&self, output: &Output) -> Result<Finding>;
}

/// The result of the comparison with the reference.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The largest error over its bound; 0 where all bits are as they should be, infinite where one is not that should
    /// be.
    pub worst: f64,
    /// Where that is, in words.
    pub detail: String,
}

impl Finding {
    /// Whether rounding explains every error.
    pub fn passes(&self) -> bool {
        self.worst <= 1.0
    }

    /// The finding for a result that must have these bits.
    pub(crate) fn of_bits(expected: impl Into<Output>, got: &Output) -> Self {
        match expected.into().same_bits(got) {
            Ok(()) => Self { worst: 0.0, detail: "equal bits".into() },
            Err(mismatch) => Self { worst: f64::INFINITY, detail: mismatch },
        }
    }
}

/// Sizes of the jobs' inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Elements of vectors.
    pub elements: usize,
    /// Edge of the square factors of matrix products.
    pub factors: usize,
    /// Edge of square matrices to transpose.
    pub transposed: usize,
}

impl Sizes {
    /// Sizes for the device: what fills a GPU, or what the simulator does in seconds. `quick` asks for less.
    pub fn for_device(is_simulator: bool, quick: bool) -> Self {
        match (is_simulator, quick) {
            (true, false) => Self { elements: 1 << 24, factors: 512, transposed: 4096 },
            (true, true) => Self { elements: 1 << 18, factors: 128, transposed: 512 },
            (false, false) => Self { elements: 1 << 28, factors: 4096, transposed: 16384 },
            (false, true) => Self { elements: 1 << 24, factors: 1024, transposed: 4096 },
        }
    }
}

/// Every job; the longest on the simulator first, so that two workers end together.
pub fn all(sizes: &Sizes, seed: u64) -> Vec<Job> {
    let mut jobs = Vec::new();
    let problem = Arc::new(matmul::Problem::new(sizes.factors, seed));
    jobs.extend(matmul::KERNELS.map(|(kernel, grid)| matmul::job(kernel, grid, &problem)));
    jobs.push(sum::job(&reduce_sum_dynamic, sizes.elements, sum::THREADS, seed));
    jobs.push(whole_sum::job(sizes.elements, seed));
    jobs.extend(transpose::KERNELS.map(|(kernel, grid)| transpose::job(kernel, grid, sizes.transposed, seed)));
    jobs.push(add::job(&add_f32, add_grid, sizes.elements, seed));
    jobs
}

#[cfg(test)]
mod tests {
    use warpwright::simulator::{Config, Level};

    use super::*;

    /// Sizes whose jobs take no time.
    const SMALL: Sizes = Sizes { elements: 5000, factors: 40, transposed: 70 };

    /// Every `f32` kernel but those of the lab, which the tutorial and the instruction tests run. Reductions and
    /// transposes of other types, other reductions, those of rows, columns and segments, and the kernels of
    /// `Device::gemm` are for the property tests and the benchmark, whose ceiling is the kernel that only reads.
    #[test]
    fn every_kernel_has_a_job() {
        const INSTANCES: [&str; 16] = [
            "read_f32",
            "reduce_",
            "rows_",
            "columns_",
            "segments_",
            "transpose_b",
            "transpose_misaligned_b",
            "transpose_in_place_b",
            "permute_b",
            "gemm_reference_",
            "gemm_reduce_k_",
            "gemm_sm90_",
            "gemm_mma_",
            "gemm_small_",
            "gemm_grouped_",
            "permute_nd_b",
        ];
        let is_instance = |name: &str| {
            let others = INSTANCES.iter().any(|start| name.starts_with(start)) || name.starts_with("copy_strided_b");
            others && !["reduce_sum_dynamic", "reduce_sum_f32", "transpose_b32"].contains(&name)
        };
        let kernels = gpu::FAMILIES.iter().flat_map(|family| family.kernels.iter());
        let is_lab = |path: &str| path.starts_with("gpu::lab::");
        let kernels = kernels.filter(|info| !is_lab(info.path)).map(|info| info.name);
        let mut expected: Vec<&str> = kernels.filter(|name| !is_instance(name)).collect();
        let mut jobs: Vec<&str> = all(&SMALL, 1).iter().map(|job| job.kernel.name).collect();
        expected.sort_unstable();
        jobs.sort_unstable();
        assert_eq!(jobs, expected);
    }

    #[test]
    fn a_correct_result_passes_and_any_wrong_element_does_not() {
        let device = Device::simulator_with(Config::new(Level::Checks));
        let poison = Poison::new(&device).unwrap();
        for job in all(&SMALL, 1) {
            let kernel = job.kernel.name;
            let mut task = job.prepare(&device).unwrap();
            task.poison(&poison).unwrap();
            let poisoned = task.output().unwrap();
            assert!(poisoned.is_poison(), "{kernel}: not all is poisoned");
            assert!(!task.check(&poisoned).unwrap().passes(), "{kernel}: poison passes");
            task.launch(&device).unwrap();
            let output = task.output().unwrap();
            let finding = task.check(&output).unwrap();
            assert!(finding.passes(), "{kernel}: {}", finding.detail);
            for index in (0..output.len()).step_by(1 + output.len() / 300) {
                for spoilt in [output.spoilt_at(index), output.poisoned_at(index)] {
                    assert!(!task.check(&spoilt).unwrap().passes(), "{kernel}: element {index} is wrong, unnoticed");
                }
            }
        }
    }
}

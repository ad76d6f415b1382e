//! The jobs: a kernel, a real-sized random input, and the oracle's judgement of what came out.
//!
//! [`Job`] is the description; preparing it on a device makes a [`Task`], which can be launched again and again.

mod matmul;
mod sum;
mod transpose;
mod vector_add;

use anyhow::Result;
use warpwright::Device;

use crate::data::Poison;
use crate::units::Work;

/// A kernel and its input.
pub struct Job {
    /// The kernel's name.
    pub kernel: &'static str,
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

    /// Launches the kernel.
    ///
    /// # Errors
    /// As [`Device::launch`].
    fn launch(&mut self, device: &Device) -> Result<()>;

    /// All outputs, one after the other.
    ///
    /// # Errors
    /// The work failed.
    fn output(&self) -> Result<Vec<f32>>;

    /// Compares every element of the outputs with the oracle's.
    ///
    /// # Errors
    /// There are not as many elements as there should be.
    fn check(&self, output: &[f32]) -> Result<Finding>;
}

/// What the oracle says.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The largest error over its bound; 0 where all bits are as they should be, infinite where one is not that should be.
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
    fn of_bits(expected: &[f32], got: &[f32]) -> Self {
        match warpwright::oracle::same_bits(expected, got) {
            Ok(()) => Self { worst: 0.0, detail: "equal bits".into() },
            Err(mismatch) => Self { worst: f64::INFINITY, detail: mismatch.to_string() },
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
    jobs.extend(matmul::jobs(sizes.factors, seed));
    jobs.push(sum::job(sizes.elements, seed));
    jobs.extend(transpose::jobs(sizes.transposed, seed));
    jobs.push(vector_add::job(sizes.elements, seed));
    jobs
}

#[cfg(test)]
mod tests {
    use warpwright::simulator::{Config, Level};

    use super::*;

    /// Sizes whose jobs take no time.
    const SMALL: Sizes = Sizes { elements: 5000, factors: 40, transposed: 70 };

    /// Kernels that exercise single words of `simt` are no work to be done.
    #[test]
    fn every_kernel_has_a_job() {
        let kernels = gpu::FAMILIES.iter().flat_map(|(_, kernels)| kernels.iter());
        let mut expected: Vec<&str> =
            kernels.filter(|info| !info.path.contains("vocabulary")).map(|info| info.name).collect();
        let mut jobs: Vec<&str> = all(&SMALL, 1).iter().map(|job| job.kernel).collect();
        expected.sort_unstable();
        jobs.sort_unstable();
        assert_eq!(jobs, expected);
    }

    #[test]
    fn a_right_result_passes_and_any_spoilt_element_does_not() {
        let device = Device::simulator_with(Config::new(Level::Checks));
        let poison = Poison::new(&device).unwrap();
        for job in all(&SMALL, 1) {
            let kernel = job.kernel;
            let mut task = job.prepare(&device).unwrap();
            task.poison(&poison).unwrap();
            let poisoned = task.output().unwrap();
            assert!(poisoned.iter().all(|x| x.to_bits() == Poison::VALUE.to_bits()), "{kernel}: not all is poisoned");
            assert!(!task.check(&poisoned).unwrap().passes(), "{kernel}: poison passes");
            task.launch(&device).unwrap();
            let output = task.output().unwrap();
            let finding = task.check(&output).unwrap();
            assert!(finding.passes(), "{kernel}: {}", finding.detail);
            for index in (0..output.len()).step_by(1 + output.len() / 300) {
                let mut spoilt = output.clone();
                spoilt[index] += 1.0;
                assert!(!task.check(&spoilt).unwrap().passes(), "{kernel}: element {index} is wrong, unnoticed");
                spoilt[index] = Poison::VALUE;
                assert!(!task.check(&spoilt).unwrap().passes(), "{kernel}: element {index} is left out, unnoticed");
            }
        }
    }
}

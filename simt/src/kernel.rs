//! What a `#[kernel]` is on the host: its name, what it demands of a launch, its audit limits, and its compiled code for
//! the simulator. `#[kernel]` writes these values.

use crate::SharedSpec;

/// A kernel whose arguments are the tuple `P`, such as `(MatRef<'static, f32>, MatMut<'static, f32>)`.
///
/// It is compiled for the host twice, for every processor and for those with fused multiply-add. Both run it for the
/// simulator's current thread, and panic where there is none.
#[derive(Debug)]
pub struct Kernel<P> {
    info: &'static KernelInfo,
    baseline: fn(P),
    fma: unsafe fn(P),
}

impl<P> Clone for Kernel<P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P> Copy for Kernel<P> {}

impl<P> Kernel<P> {
    /// A kernel. Called by `#[kernel]` alone: launches rely on what it says, on a GPU as much as here.
    ///
    /// # Safety
    /// `info` describes the PTX entry that was compiled from the same source as `baseline` and `fma`: its name, its
    /// parameters, which are the fields of `P`, and its demands on a launch. `fma` may be called wherever AVX2, FMA, BMI1
    /// and BMI2 are there or the target is not x86-64.
    #[doc(hidden)]
    pub const unsafe fn new(info: &'static KernelInfo, baseline: fn(P), fma: unsafe fn(P)) -> Self {
        Self { info, baseline, fma }
    }

    /// What there is to know without the argument types.
    pub const fn info(&self) -> &'static KernelInfo {
        self.info
    }

    /// The fastest code for the simulator that this processor can run.
    pub fn entry(&self) -> fn(P) {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::is_x86_feature_detected;
            let features = is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("fma")
                && is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("bmi2");
            if features {
                // SAFETY: same signature and ABI; the one condition of calling it was just checked, and processors do
                // not lose features.
                return unsafe { core::mem::transmute::<unsafe fn(P), fn(P)>(self.fma) };
            }
        }
        self.baseline
    }

    /// The code for any processor of the target.
    pub const fn baseline(&self) -> fn(P) {
        self.baseline
    }
}

/// What a kernel is called, what a launch must give it, and what the audit of its PTX permits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelInfo {
    /// Name of the function and of the PTX entry.
    pub name: &'static str,
    /// Module, as `gpu::gemm::tiled`.
    pub path: &'static str,
    /// Source file, as the compiler names it.
    pub file: &'static str,
    /// Line of the kernel's attribute in `file`.
    pub line: u32,
    /// Names of the launch arguments, in order.
    pub args: &'static [&'static str],
    /// The block shape that the kernel requires (`.reqntid`), if it requires one.
    pub block: Option<[u32; 3]>,
    /// The most threads a block may have (`.maxntid`), if the kernel requires no shape: see [`KernelInfo::max_threads`].
    pub max_threads: Option<u32>,
    /// Blocks per multiprocessor for which the compiler is to limit registers (`.minnctapersm`).
    pub min_blocks: Option<u32>,
    /// Blocks of a cluster, 1 to 8, neighbours along x (`.reqnctapercluster`). The grid's extent along x is a multiple.
    pub cluster: u32,
    /// Whether a launch may begin before its predecessor in the stream is done: see [`grid`](crate::grid).
    pub pdl: bool,
    /// Shared memory that a launch must reserve.
    pub shared: SharedSpec,
    /// What the audit of the PTX permits.
    pub limits: Limits,
}

impl KernelInfo {
    /// The most threads that a block of this kernel may have: the block shape's product, the declared maximum, or 1024.
    pub fn max_threads(&self) -> u32 {
        match self.block {
            Some([x, y, z]) => x * y * z,
            None => self.max_threads.unwrap_or(1024),
        }
    }
}

/// Limits on a kernel's PTX and machine code. Spills are never permitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Most registers per thread.
    pub registers: Option<u32>,
    /// Exact number of block-wide and named barrier instructions in the PTX.
    pub barriers: Option<u32>,
    /// Least width of a load from global memory, in bytes.
    pub global_load_bytes: Option<u32>,
    /// Least width of a store to global memory, in bytes.
    pub global_store_bytes: Option<u32>,
    /// Most `trap` instructions; none if not declared.
    pub traps: Option<u32>,
    /// Most bytes of local memory per thread, spilt registers among them.
    pub local_bytes: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    const INFO: KernelInfo = KernelInfo {
        name: "k",
        path: "gpu::gemm::tiled",
        file: "k.rs",
        line: 1,
        args: &[],
        block: None,
        max_threads: None,
        min_blocks: None,
        cluster: 1,
        pdl: false,
        shared: SharedSpec::None,
        limits: Limits {
            registers: None,
            barriers: None,
            global_load_bytes: None,
            global_store_bytes: None,
            traps: None,
            local_bytes: 0,
        },
    };

    #[test]
    fn most_threads_of_a_block() {
        assert_eq!(INFO.max_threads(), 1024);
        assert_eq!(KernelInfo { max_threads: Some(256), ..INFO }.max_threads(), 256);
        assert_eq!(KernelInfo { block: Some([32, 8, 2]), ..INFO }.max_threads(), 512);
    }

    #[test]
    fn both_entries_run() {
        fn run((out,): (&std::cell::Cell<u32>,)) {
            out.set(out.get() + 1);
        }
        let count = std::cell::Cell::new(0);
        // SAFETY: nobody launches it.
        let kernel = unsafe { Kernel::new(&INFO, run, run) };
        kernel.entry()((&count,));
        kernel.baseline()((&count,));
        assert_eq!(count.get(), 2);
    }
}

//! A `#[kernel]` on the host: its name, what it requires of a launch, its audit limits, and its code compiled for the
//! simulator. `#[kernel]` writes these values.

use std::fmt;

use crate::{ArgType, SharedSpec};

/// A kernel whose arguments are the tuple `P`, such as `(MatRef<'static, f32>, MatMut<'static, f32>)`.
///
/// Its code on the host runs the kernel for the simulator's current thread, and panics if there is none.
#[derive(Debug)]
pub struct Kernel<P> {
    info: &'static KernelInfo,
    run: fn(P),
}

impl<P> Clone for Kernel<P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P> Copy for Kernel<P> {}

impl<P> Kernel<P> {
    /// For `#[kernel]` only: launches on a GPU and on the simulator rely on `info`.
    ///
    /// # Safety
    /// `info` describes the PTX entry that was compiled from the same source as `run`: its name, its parameters, which
    /// are the fields of `P`, and its requirements on a launch.
    #[doc(hidden)]
    pub const unsafe fn new(info: &'static KernelInfo, run: fn(P)) -> Self {
        Self { info, run }
    }

    /// The description of the kernel, without its argument types.
    pub const fn info(&self) -> &'static KernelInfo {
        self.info
    }

    /// The code for the simulator.
    pub const fn entry(&self) -> fn(P) {
        self.run
    }
}

/// An instance of a generic kernel that its `#[kernel]` lists. The macro implements it for a type of the kernel's name
/// with the kernel's parameters, so that a host function can require an instance: `where scale<T, 128>: Instance`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not in the kernel's list of instances",
    label = "the kernel has no such instance",
    note = "each instance is an entry in the PTX: add this one to the list, #[kernel(instances(<…>, …))]"
)]
pub trait Instance {
    /// The description of the instance.
    const INFO: &'static KernelInfo;
}

/// The result of a function type. For `#[kernel]`: in `fn(&'static ()) -> VecRef<f32>` the lifetime is `'static`, which
/// a macro cannot write into a type that it does not know.
#[doc(hidden)]
pub trait Returns {
    /// The type.
    type Output;
}

impl<A, R> Returns for fn(A) -> R {
    type Output = R;
}

/// A kernel's name, its requirements on a launch, and the limits of the audit of its PTX.
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
    /// The PTX that the package's build script made of it.
    pub ptx: KernelPtx,
    /// Names of the launch arguments, in order.
    pub args: &'static [&'static str],
    /// Their types, in the same order.
    pub arg_types: &'static [ArgType],
    /// The required block shape (`.reqntid`), if any.
    pub block: Option<[u32; 3]>,
    /// The maximum number of threads of a block (`.maxntid`), if no shape is required: see [`KernelInfo::max_threads`].
    pub max_threads: Option<u32>,
    /// Blocks per SM for which the compiler limits registers (`.minnctapersm`).
    pub min_blocks: Option<u32>,
    /// Blocks of a cluster along x, 1 to 8 (`.reqnctapercluster`). The grid's extent along x is a multiple.
    pub cluster: u32,
    /// Whether a grid may start before its predecessor in the stream is complete: see [`grid`](crate::grid).
    pub pdl: bool,
    /// Shared memory that a launch must reserve.
    pub shared: SharedSpec,
    /// What the audit of the PTX permits.
    pub limits: Limits,
}

impl KernelInfo {
    /// The maximum number of threads of a block: the product of the block shape, the declared maximum, or 1024.
    pub fn max_threads(&self) -> u32 {
        match self.block {
            Some([x, y, z]) => x * y * z,
            None => self.max_threads.unwrap_or(1024),
        }
    }
}

/// What the build script of a kernel's package made of it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum KernelPtx {
    /// PTX, as an archive of the crate `warpwright-ptx`: a text for each architecture.
    Archive(&'static [u8]),
    /// None, for this reason: there was no toolchain that makes PTX.
    Missing(&'static str),
    /// None: the kernel is not in the source that the build script compiled for the GPU.
    Elsewhere,
    /// None: the package has no build script that makes PTX.
    NoBuildScript,
}

impl KernelPtx {
    /// For `#[kernel]` only: `archive`, if the kernel in it is that of line `line` in `file`. `at` is the place of the
    /// archive's, `src/lib.rs:12`, below the folder of the package.
    #[doc(hidden)]
    pub const fn of(archive: &'static [u8], at: &str, file: &str, line: u32) -> Self {
        let (at, file) = (at.as_bytes(), file.as_bytes());
        // The line, from the end.
        let (mut end, mut rest) = (at.len(), line);
        while end > 0 && at[end - 1] != b':' {
            if at[end - 1] != b'0' + (rest % 10) as u8 {
                return Self::Elsewhere;
            }
            (end, rest) = (end - 1, rest / 10);
        }
        if end == 0 || rest != 0 {
            return Self::Elsewhere;
        }
        // The file, which begins at the workspace or at the root.
        let length = end - 1;
        if file.len() < length || file.len() > length && file[file.len() - length - 1] != b'/' {
            return Self::Elsewhere;
        }
        let mut index = 0;
        while index < length {
            if file[file.len() - length + index] != at[index] {
                return Self::Elsewhere;
            }
            index += 1;
        }
        Self::Archive(archive)
    }
}

impl fmt::Debug for KernelPtx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Archive(bytes) => write!(f, "Archive({} bytes)", bytes.len()),
            Self::Missing(reason) => write!(f, "Missing({reason:?})"),
            Self::Elsewhere => f.write_str("Elsewhere"),
            Self::NoBuildScript => f.write_str("NoBuildScript"),
        }
    }
}

/// Limits of the audit of a kernel's PTX and machine code. Spills are never permitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of registers per thread.
    pub registers: Option<u32>,
    /// Exact number of block-wide and named barrier instructions in the PTX.
    pub barriers: Option<u32>,
    /// Minimum width of a load from global memory in bytes.
    pub global_load_bytes: Option<u32>,
    /// Minimum width of a store to global memory in bytes.
    pub global_store_bytes: Option<u32>,
    /// Maximum number of `trap` instructions; 0 if not declared.
    pub traps: Option<u32>,
    /// Maximum number of bytes of local memory per thread, register spills included.
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
        ptx: KernelPtx::NoBuildScript,
        args: &[],
        arg_types: &[],
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
    fn maximum_threads_of_a_block() {
        assert_eq!(INFO.max_threads(), 1024);
        assert_eq!(KernelInfo { max_threads: Some(256), ..INFO }.max_threads(), 256);
        assert_eq!(KernelInfo { block: Some([32, 8, 2]), ..INFO }.max_threads(), 512);
    }

    #[test]
    fn ptx_belongs_to_the_kernel_of_its_line_in_its_file() {
        const ARCHIVE: KernelPtx = KernelPtx::Archive(b"ptx");
        let of = |file, line| KernelPtx::of(b"ptx", "src/lib.rs:120", file, line);
        for file in ["src/lib.rs", "kernels/src/lib.rs", "/home/a/src/lib.rs"] {
            assert_eq!(of(file, 120), ARCHIVE, "{file}");
        }
        for (file, line) in [
            ("src/lib.rs", 12),
            ("src/lib.rs", 20),
            ("src/lib.rs", 1120),
            ("tests/race.rs", 120),
            ("asrc/lib.rs", 120),
            ("lib.rs", 120),
        ] {
            assert_eq!(of(file, line), KernelPtx::Elsewhere, "{file}:{line}");
        }
        assert_eq!(KernelPtx::of(b"ptx", "", "src/lib.rs", 0), KernelPtx::Elsewhere);
    }

    #[test]
    fn the_entry_runs() {
        fn run((out,): (&std::cell::Cell<u32>,)) {
            out.set(out.get() + 1);
        }
        let count = std::cell::Cell::new(0);
        // SAFETY: it is never launched.
        let kernel = unsafe { Kernel::new(&INFO, run) };
        kernel.entry()((&count,));
        assert_eq!(count.get(), 1);
    }
}

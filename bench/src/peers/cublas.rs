//! cuBLAS: GEMM and `geam`'s transposes.
//!
//! `cublas_v2.h` of CUDA 12 and 13. cuBLAS counts columns first: a row-major matrix is, to it, the transposed one. So
//! C = op(A)·op(B) of row-major matrices is asked for as Cᵀ = op(B)ᵀ·op(A)ᵀ.

use std::ffi::c_void;
use std::ptr;

use anyhow::Result;
use warpwright::{Buffer, Device};

use super::driver::Driver;
use super::library::{Search, check, functions};
use super::{Missing, Status};

type Handle = *mut c_void;

functions! {
    /// Each status is a `cublasStatus_t`; matrices are addresses of device memory, factors of host memory.
    Functions {
        fn create = "cublasCreate_v2"(*mut Handle) -> i32;
        fn destroy = "cublasDestroy_v2"(Handle) -> i32;
        fn property = "cublasGetProperty"(i32, *mut i32) -> i32;
        fn set_stream = "cublasSetStream_v2"(Handle, *mut c_void) -> i32;
        fn set_workspace = "cublasSetWorkspace_v2"(Handle, u64, usize) -> i32;
        fn gemm = "cublasGemmEx"(
            Handle, i32, i32, i32, i32, i32,
            *const c_void, u64, i32, i32, u64, i32, i32, *const c_void, u64, i32, i32,
            i32, i32,
        ) -> i32;
        fn gemm_batch = "cublasGemmStridedBatchedEx"(
            Handle, i32, i32, i32, i32, i32,
            *const c_void, u64, i32, i32, i64, u64, i32, i32, i64, *const c_void, u64, i32, i32, i64,
            i32, i32, i32,
        ) -> i32;
        fn sgeam = "cublasSgeam"(
            Handle, i32, i32, i32, i32, *const f32, u64, i32, *const f32, u64, i32, u64, i32,
        ) -> i32;
        fn dgeam = "cublasDgeam"(
            Handle, i32, i32, i32, i32, *const f64, u64, i32, *const f64, u64, i32, u64, i32,
        ) -> i32;
        fn zgeam = "cublasZgeam"(
            Handle, i32, i32, i32, i32, *const [f64; 2], u64, i32, *const [f64; 2], u64, i32, u64, i32,
        ) -> i32;
    }
}

functions! {
    /// The grouped GEMM of cuBLAS 12.5 and later: lists of a number for each group in host memory, and of the addresses
    /// of its matrices in device memory.
    GroupedFunctions {
        fn gemm_grouped = "cublasGemmGroupedBatchedEx"(
            Handle, *const i32, *const i32, *const i32, *const i32, *const i32,
            *const c_void, u64, i32, *const i32, u64, i32, *const i32, *const c_void, u64, i32, *const i32,
            i32, *const i32, i32,
        ) -> i32;
    }
}

const SEARCH: Search<'_> = Search {
    name: "cuBLAS",
    variable: "WARPWRIGHT_CUBLAS",
    files: &["libcublas.so.13", "libcublas.so.12"],
    remedy: "install the CUDA toolkit's cuBLAS, or `pip install nvidia-cublas` and name its libcublas.so in \
             WARPWRIGHT_CUBLAS",
};

/// `CUBLAS_GEMM_DEFAULT`: cuBLAS chooses.
const GEMM_DEFAULT: i32 = -1;

/// Bytes of the workspace that cuBLAS and cuBLASLt get: what cuBLAS itself takes on Hopper, doubled.
pub const WORKSPACE: usize = 64 << 20;

/// Element and arithmetic of a problem: the numbers of `cudaDataType`, `cublasComputeType_t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arithmetic {
    /// `cudaDataType` of A and B.
    pub(super) element: i32,
    /// `cudaDataType` of C.
    pub(super) output: i32,
    /// `cublasComputeType_t`.
    pub(super) compute: i32,
    /// `cudaDataType` of alpha and beta.
    pub(super) scale: i32,
    /// Bytes of an element of A and B.
    pub(super) bytes: usize,
    /// `CUBLASLT_MATMUL_DESC_FAST_ACCUM`: sums of 8-bit floating point stay in the tensor cores.
    pub(super) fast: bool,
}

impl Arithmetic {
    /// f32 without tensor cores.
    pub const F32: Self = Self { element: 0, output: 0, compute: 68, scale: 0, bytes: 4, fast: false };
    /// f32 in and out, factors rounded to tf32 for the tensor cores.
    pub const TF32: Self = Self { element: 0, output: 0, compute: 77, scale: 0, bytes: 4, fast: false };
    /// f16 in and out, f32 sums.
    pub const F16: Self = Self { element: 2, output: 2, compute: 68, scale: 0, bytes: 2, fast: false };
    /// bf16 in and out, f32 sums.
    pub const BF16: Self = Self { element: 14, output: 14, compute: 68, scale: 0, bytes: 2, fast: false };
    /// f64.
    pub const F64: Self = Self { element: 1, output: 1, compute: 70, scale: 1, bytes: 8, fast: false };
    /// i8 in, i32 out.
    pub const I8: Self = Self { element: 3, output: 10, compute: 72, scale: 10, bytes: 1, fast: false };
    /// E4M3 in, bf16 out, f32 sums.
    pub const E4M3: Self = Self { element: 28, output: 14, compute: 68, scale: 0, bytes: 1, fast: false };
    /// The same with fast accumulation.
    pub const E4M3_FAST: Self = Self { fast: true, ..Self::E4M3 };

    /// Whether `cublasGemmEx` takes it: all but 8-bit floating point.
    #[must_use]
    pub fn is_in_cublas(self) -> bool {
        self.element != Self::E4M3.element
    }
}

/// C = op(A)·op(B), row-major without padding, one GEMM or a batch of them one after the other in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Rows of C.
    pub m: usize,
    /// Columns of C.
    pub n: usize,
    /// Columns of op(A).
    pub k: usize,
    /// A is stored as k × m.
    pub transpose_a: bool,
    /// B is stored as n × k.
    pub transpose_b: bool,
    /// How many.
    pub batch: usize,
    /// Types.
    pub arithmetic: Arithmetic,
}

impl Problem {
    /// Leading dimensions of A, B and C as stored.
    pub(super) fn leading(&self) -> [usize; 3] {
        let a = if self.transpose_a { self.m } else { self.k };
        let b = if self.transpose_b { self.k } else { self.n };
        [a, b, self.n]
    }
}

/// 1 and 0 of the type of alpha and beta.
pub(super) struct Factors {
    single: [f32; 2],
    double: [f64; 2],
    integer: [i32; 2],
}

impl Factors {
    pub(super) const NEW: Self = Self { single: [1.0, 0.0], double: [1.0, 0.0], integer: [1, 0] };

    /// Addresses of 1 and 0.
    pub(super) fn of(&self, arithmetic: Arithmetic) -> [*const c_void; 2] {
        match arithmetic {
            Arithmetic::F64 => [ptr::from_ref(&self.double[0]).cast(), ptr::from_ref(&self.double[1]).cast()],
            Arithmetic::I8 => [ptr::from_ref(&self.integer[0]).cast(), ptr::from_ref(&self.integer[1]).cast()],
            _ => [ptr::from_ref(&self.single[0]).cast(), ptr::from_ref(&self.single[1]).cast()],
        }
    }
}

/// The library.
pub struct Cublas {
    functions: Functions,
    grouped: Option<GroupedFunctions>,
}

/// cuBLAS on one stream, with its workspace. Dropped after the work that it queued is done.
pub struct Session<'a> {
    functions: &'a Functions,
    grouped: Option<&'a GroupedFunctions>,
    handle: Handle,
    workspace: Buffer<u8>,
}

impl Cublas {
    /// Loads the library.
    ///
    /// # Errors
    /// It is not there.
    pub fn load() -> Result<Self, Missing> {
        Ok(Self { functions: Functions::find(&SEARCH)?, grouped: GroupedFunctions::find(&SEARCH).ok() })
    }

    /// Its version, as `13.1.0`.
    pub fn version(&self) -> String {
        // MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL of libraryPropertyType.
        let parts = [0, 1, 2].map(|property| {
            let mut value = 0;
            // SAFETY: a question that needs no handle; `value` is a place for an int.
            let status = unsafe { (self.functions.property)(property, &raw mut value) };
            if status == 0 { value.to_string() } else { "?".into() }
        });
        parts.join(".")
    }

    /// A handle for work on the driver's stream, which is one of `device`.
    ///
    /// # Errors
    /// cuBLAS cannot use the GPU, or there is no memory for its workspace.
    pub fn session(&self, device: &Device, driver: &Driver) -> Result<Session<'_>> {
        let workspace = device.alloc::<u8>(WORKSPACE)?;
        let grouped = self.grouped.as_ref();
        let mut session = Session { functions: &self.functions, grouped, handle: ptr::null_mut(), workspace };
        let address = session.workspace.view().device_ptr() as u64;
        // SAFETY: the first argument is a place for a handle, then the handle; the stream is alive as long as its
        // device, and the workspace as long as the session.
        unsafe {
            check("cublasCreate", (self.functions.create)(&raw mut session.handle))?;
            check("cublasSetStream", (self.functions.set_stream)(session.handle, driver.raw()))?;
            check("cublasSetWorkspace", (self.functions.set_workspace)(session.handle, address, WORKSPACE))?;
        }
        Ok(session)
    }
}

impl Session<'_> {
    /// Queues C = op(A)·op(B).
    ///
    /// # Safety
    /// `a`, `b` and `c` are addresses of device memory with the problem's matrices, alive and used on no other stream
    /// until the stream has passed this point.
    ///
    /// # Errors
    /// cuBLAS refuses.
    pub unsafe fn gemm(&self, problem: &Problem, [a, b, c]: [u64; 3]) -> Result<(), Status> {
        let &Problem { m, n, k, transpose_a, transpose_b, batch, arithmetic } = problem;
        let [lda, ldb, ldc] = problem.leading().map(|ld| ld as i32);
        let factors = Factors::NEW;
        let [one, zero] = factors.of(arithmetic);
        let (element, output) = (arithmetic.element, arithmetic.output);
        let (handle, [op_a, op_b]) = (self.handle, [transpose_a, transpose_b].map(i32::from));
        let (rows, cols, depth) = (n as i32, m as i32, k as i32);
        // SAFETY: as the caller promises; the factors are read before the call returns.
        unsafe {
            if batch == 1 {
                #[rustfmt::skip]
                let status = (self.functions.gemm)(
                    handle, op_b, op_a, rows, cols, depth,
                    one, b, element, ldb, a, element, lda, zero, c, output, ldc,
                    arithmetic.compute, GEMM_DEFAULT,
                );
                return check("cublasGemmEx", status);
            }
            let [next_a, next_b, next_c] = [m * k, k * n, m * n].map(|elements| elements as i64);
            #[rustfmt::skip]
            let status = (self.functions.gemm_batch)(
                handle, op_b, op_a, rows, cols, depth,
                one, b, element, ldb, next_b, a, element, lda, next_a, zero, c, output, ldc, next_c,
                batch as i32, arithmetic.compute, GEMM_DEFAULT,
            );
            check("cublasGemmStridedBatchedEx", status)
        }
    }

    /// Whether this cuBLAS has grouped GEMMs.
    pub fn has_groups(&self) -> bool {
        self.grouped.is_some()
    }

    /// Queues C = op(A)·op(B) for each problem, all of one type; `lists` are the addresses, in device memory, of the
    /// lists of the addresses of all A, all B and all C.
    ///
    /// # Safety
    /// As for [`Session::gemm`], for the lists and for all matrices.
    ///
    /// # Errors
    /// cuBLAS refuses, or has no grouped GEMM: status 15, not supported.
    pub unsafe fn gemm_grouped(&self, problems: &[Problem], [a, b, c]: [u64; 3]) -> Result<(), Status> {
        const CALL: &str = "cublasGemmGroupedBatchedEx";
        let (Some(functions), Some(first)) = (self.grouped, problems.first()) else { return check(CALL, 15) };
        let list = |of: &dyn Fn(&Problem) -> usize| problems.iter().map(|p| of(p) as i32).collect::<Vec<_>>();
        let (op_a, op_b) = (list(&|p| usize::from(p.transpose_a)), list(&|p| usize::from(p.transpose_b)));
        let (rows, cols, depth) = (list(&|p| p.n), list(&|p| p.m), list(&|p| p.k));
        let [lda, ldb, ldc] = [0, 1, 2].map(|of| list(&|p| p.leading()[of]));
        let one_each = list(&|_| 1);
        let (ones, zeros) = (vec![1.0_f32; problems.len()], vec![0.0_f32; problems.len()]);
        let (element, compute) = (first.arithmetic.element, first.arithmetic.compute);
        // SAFETY: as the caller promises; the lists in host memory are read before the call returns.
        #[rustfmt::skip]
        let status = unsafe {
            (functions.gemm_grouped)(
                self.handle, op_b.as_ptr(), op_a.as_ptr(), rows.as_ptr(), cols.as_ptr(), depth.as_ptr(),
                ones.as_ptr().cast(), b, element, ldb.as_ptr(), a, element, lda.as_ptr(),
                zeros.as_ptr().cast(), c, element, ldc.as_ptr(),
                problems.len() as i32, one_each.as_ptr(), compute,
            )
        };
        check(CALL, status)
    }

    /// Queues B = Aᵀ for a row-major `rows` × `cols` matrix with leading dimension `ld`, of elements of `bytes` bytes
    /// (4, 8 or 16, taken for f32, f64 or complex f64); B without gaps. The multiplication by 1 changes no number.
    ///
    /// # Safety
    /// As for [`Session::gemm`].
    ///
    /// # Errors
    /// cuBLAS refuses.
    pub unsafe fn transpose(&self, bytes: usize, [rows, cols, ld]: [usize; 3], a: u64, b: u64) -> Result<(), Status> {
        // Column-major: B is rows × cols, A is cols × rows. With beta = 0 the second operand is not read; in place of B
        // is allowed.
        let (rows, cols, ld) = (rows as i32, cols as i32, ld as i32);
        let (handle, functions) = (self.handle, self.functions);
        // All that differs between the three: the function, its name and the factors' type.
        macro_rules! geam {
            ($function:ident, $name:literal, $one:expr, $zero:expr) => {{
                let (one, zero) = ($one, $zero);
                let factors = (&raw const one, &raw const zero);
                let call = functions.$function;
                // SAFETY: as the caller promises; the factors are read before the call returns.
                let status = unsafe { call(handle, 1, 0, rows, cols, factors.0, a, ld, factors.1, b, rows, b, rows) };
                check($name, status)
            }};
        }
        match bytes {
            4 => geam!(sgeam, "cublasSgeam", 1.0_f32, 0.0_f32),
            8 => geam!(dgeam, "cublasDgeam", 1.0_f64, 0.0_f64),
            _ => geam!(zgeam, "cublasZgeam", [1.0_f64, 0.0], [0.0_f64; 2]),
        }
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        if !self.handle.is_null() {
            // SAFETY: destroyed once, here; cuBLAS waits for its own work.
            let _ = unsafe { (self.functions.destroy)(self.handle) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leading_dimensions_are_those_of_the_stored_rows() {
        let problem =
            Problem { m: 2, n: 3, k: 5, transpose_a: false, transpose_b: false, batch: 1, arithmetic: Arithmetic::F32 };
        assert_eq!(problem.leading(), [5, 3, 3]);
        assert_eq!(Problem { transpose_a: true, transpose_b: true, ..problem }.leading(), [2, 5, 3]);
    }
}

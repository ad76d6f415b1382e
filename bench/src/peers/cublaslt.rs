//! cuBLASLt: GEMM by the fastest of the algorithms that its heuristics propose.
//!
//! `cublasLt.h` of CUDA 12 and 13. Row-major matrices are asked for as in [`cublas`](super::cublas).

use std::ffi::c_void;
use std::ptr;

use anyhow::{Result, ensure};

use super::cublas::{Factors, Problem, WORKSPACE};
use super::library::{Search, check, functions};
use super::{Missing, Status};

type Handle = *mut c_void;

/// `cublasLtMatmulHeuristicResult_t`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Heuristic {
    algorithm: [u64; 8],
    workspace: usize,
    status: i32,
    waves: f32,
    reserved: [i32; 4],
}

const _: () = assert!(size_of::<Heuristic>() == 96);

functions! {
    /// Each status is a `cublasStatus_t`.
    Functions {
        fn create = "cublasLtCreate"(*mut Handle) -> i32;
        fn destroy = "cublasLtDestroy"(Handle) -> i32;
        fn version = "cublasLtGetVersion"() -> usize;
        fn desc_create = "cublasLtMatmulDescCreate"(*mut Handle, i32, i32) -> i32;
        fn desc_set = "cublasLtMatmulDescSetAttribute"(Handle, i32, *const c_void, usize) -> i32;
        fn desc_destroy = "cublasLtMatmulDescDestroy"(Handle) -> i32;
        fn layout_create = "cublasLtMatrixLayoutCreate"(*mut Handle, i32, u64, u64, i64) -> i32;
        fn layout_set = "cublasLtMatrixLayoutSetAttribute"(Handle, i32, *const c_void, usize) -> i32;
        fn layout_destroy = "cublasLtMatrixLayoutDestroy"(Handle) -> i32;
        fn preference_create = "cublasLtMatmulPreferenceCreate"(*mut Handle) -> i32;
        fn preference_set = "cublasLtMatmulPreferenceSetAttribute"(Handle, i32, *const c_void, usize) -> i32;
        fn preference_destroy = "cublasLtMatmulPreferenceDestroy"(Handle) -> i32;
        fn heuristic = "cublasLtMatmulAlgoGetHeuristic"(
            Handle, Handle, Handle, Handle, Handle, Handle, Handle, i32, *mut Heuristic, *mut i32,
        ) -> i32;
        fn matmul = "cublasLtMatmul"(
            Handle, Handle, *const c_void, u64, Handle, u64, Handle, *const c_void, u64, Handle, u64, Handle,
            *const [u64; 8], u64, usize, *mut c_void,
        ) -> i32;
    }
}

const SEARCH: Search<'_> = Search {
    name: "cuBLASLt",
    variable: "WARPWRIGHT_CUBLASLT",
    files: &["libcublasLt.so.13", "libcublasLt.so.12"],
    remedy: "it comes with cuBLAS; name its libcublasLt.so in WARPWRIGHT_CUBLASLT if it is in no usual place",
};

// Numbers of the header's enumerations.
const DESC_TRANSA: i32 = 3;
const DESC_TRANSB: i32 = 4;
const DESC_SCALE_POINTERS: [i32; 2] = [17, 18];
const DESC_FAST_ACCUM: i32 = 25;
const DESC_SCALE_MODES: [i32; 2] = [31, 32];
/// `CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F` of its first factor, our B, and `…_VEC128_32F` of the other.
const BLOCK_SCALES: [i32; 2] = [5, 4];
const LAYOUT_BATCH_COUNT: i32 = 5;
const LAYOUT_BATCH_STRIDE: i32 = 6;
const PREFERENCE_WORKSPACE: i32 = 1;

/// Candidates that are asked for.
const CANDIDATES: usize = 8;

/// The library.
pub struct CublasLt {
    functions: Functions,
}

/// One problem with its candidates. The library's objects are destroyed with it.
pub struct Matmul<'a> {
    functions: &'a Functions,
    problem: Problem,
    handle: Handle,
    desc: Handle,
    /// Of B, A and C: cuBLASLt's first factor is our second.
    layouts: [Handle; 3],
    preference: Handle,
    candidates: Vec<Heuristic>,
}

impl CublasLt {
    /// Loads the library.
    ///
    /// # Errors
    /// It is not there.
    pub fn load() -> Result<Self, Missing> {
        Ok(Self { functions: Functions::find(&SEARCH)? })
    }

    /// Its version, as `13.1.0`.
    pub fn version(&self) -> String {
        // SAFETY: a function without arguments.
        version(unsafe { (self.functions.version)() })
    }

    /// A problem, with the candidates of the heuristics for [`WORKSPACE`] bytes of workspace, the most promising first.
    /// Factors of blocks of both operands, 1 × 128 of A and 128 × 128 of B, lie from address `scales` on, if there are.
    ///
    /// # Errors
    /// cuBLASLt cannot use the GPU, or has no candidate.
    pub fn matmul(&self, problem: &Problem, scales: Option<u64>) -> Result<Matmul<'_>> {
        let null = ptr::null_mut();
        let mut made = Matmul {
            functions: &self.functions,
            problem: *problem,
            handle: null,
            desc: null,
            layouts: [null; 3],
            preference: null,
            candidates: Vec::new(),
        };
        made.describe(scales)?;
        made.ask()?;
        ensure!(!made.candidates.is_empty(), "cuBLASLt's heuristics name no candidate");
        Ok(made)
    }
}

impl Matmul<'_> {
    fn describe(&mut self, scales: Option<u64>) -> Result<(), Status> {
        let functions = self.functions;
        let Problem { m, n, k, transpose_a, transpose_b, batch, arithmetic } = self.problem;
        let [lda, ldb, ldc] = self.problem.leading();
        let stored = |rows: usize, cols: usize, transposed: bool| if transposed { (cols, rows) } else { (rows, cols) };
        // Column-major, and so the other way round: op(B)ᵀ is n × k, op(A)ᵀ is k × m.
        let shapes =
            [(stored(n, k, transpose_b), ldb, k * n), (stored(k, m, transpose_a), lda, m * k), ((n, m), ldc, m * n)];
        // SAFETY: each `create` gets a place for a handle, each `set` a value of the attribute's type and its size.
        unsafe {
            check("cublasLtCreate", (functions.create)(&raw mut self.handle))?;
            let desc = (functions.desc_create)(&raw mut self.desc, arithmetic.compute, arithmetic.scale);
            check("cublasLtMatmulDescCreate", desc)?;
            for (attribute, transposed) in [(DESC_TRANSA, transpose_b), (DESC_TRANSB, transpose_a)] {
                let value = i32::from(transposed);
                let set = (functions.desc_set)(self.desc, attribute, (&raw const value).cast(), size_of::<i32>());
                check("cublasLtMatmulDescSetAttribute", set)?;
            }
            if arithmetic.fast {
                let value = 1_i8;
                let set = (functions.desc_set)(self.desc, DESC_FAST_ACCUM, (&raw const value).cast(), size_of::<i8>());
                check("cublasLtMatmulDescSetAttribute", set)?;
            }
            if let Some(scales) = scales {
                for (number, mode) in BLOCK_SCALES.into_iter().enumerate() {
                    let (at, address) = (DESC_SCALE_MODES[number], DESC_SCALE_POINTERS[number]);
                    let set = (functions.desc_set)(self.desc, at, (&raw const mode).cast(), size_of::<i32>());
                    check("cublasLtMatmulDescSetAttribute", set)?;
                    let set = (functions.desc_set)(self.desc, address, (&raw const scales).cast(), size_of::<u64>());
                    check("cublasLtMatmulDescSetAttribute", set)?;
                }
            }
            let elements = [arithmetic.element, arithmetic.element, arithmetic.output];
            for ((layout, ((rows, cols), ld, stride)), element) in self.layouts.iter_mut().zip(shapes).zip(elements) {
                let made = (functions.layout_create)(layout, element, rows as u64, cols as u64, ld as i64);
                check("cublasLtMatrixLayoutCreate", made)?;
                let (count, stride) = (batch as i32, stride as i64);
                let count = (functions.layout_set)(*layout, LAYOUT_BATCH_COUNT, (&raw const count).cast(), 4);
                check("cublasLtMatrixLayoutSetAttribute", count)?;
                let stride = (functions.layout_set)(*layout, LAYOUT_BATCH_STRIDE, (&raw const stride).cast(), 8);
                check("cublasLtMatrixLayoutSetAttribute", stride)?;
            }
            check("cublasLtMatmulPreferenceCreate", (functions.preference_create)(&raw mut self.preference))?;
            let bytes = WORKSPACE;
            let set = (functions.preference_set)(self.preference, PREFERENCE_WORKSPACE, (&raw const bytes).cast(), 8);
            check("cublasLtMatmulPreferenceSetAttribute", set)
        }
    }

    fn ask(&mut self) -> Result<(), Status> {
        let nothing = Heuristic { algorithm: [0; 8], workspace: 0, status: 1, waves: 0.0, reserved: [0; 4] };
        let (mut found, mut count) = ([nothing; CANDIDATES], 0);
        let [first, second, c] = self.layouts;
        // SAFETY: all handles are alive; the array has room for as many results as are asked for.
        check("cublasLtMatmulAlgoGetHeuristic", unsafe {
            (self.functions.heuristic)(
                self.handle,
                self.desc,
                first,
                second,
                c,
                c,
                self.preference,
                CANDIDATES as i32,
                found.as_mut_ptr(),
                &raw mut count,
            )
        })?;
        let found = found.into_iter().take(usize::try_from(count).unwrap_or(0));
        self.candidates = found.filter(|heuristic| heuristic.status == 0).collect();
        Ok(())
    }

    /// How many candidates there are.
    pub fn candidates(&self) -> usize {
        self.candidates.len()
    }

    /// Queues the problem by candidate `candidate`.
    ///
    /// # Safety
    /// `a`, `b` and `c` are addresses of device memory with the problem's matrices, `workspace` of [`WORKSPACE`] bytes,
    /// all alive and used on no other stream until `stream`, of the current context, has passed this point.
    ///
    /// # Errors
    /// cuBLASLt refuses.
    pub unsafe fn queue(
        &self,
        candidate: usize,
        [a, b, c]: [u64; 3],
        workspace: u64,
        stream: *mut c_void,
    ) -> Result<(), Status> {
        let factors = Factors::NEW;
        let [one, zero] = factors.of(self.problem.arithmetic);
        let [first, second, third] = self.layouts;
        let algorithm = &self.candidates[candidate].algorithm;
        // SAFETY: as the caller promises; factors and algorithm are read before the call returns.
        check("cublasLtMatmul", unsafe {
            (self.functions.matmul)(
                self.handle,
                self.desc,
                one,
                b,
                first,
                a,
                second,
                zero,
                c,
                third,
                c,
                third,
                ptr::from_ref(algorithm),
                workspace,
                WORKSPACE,
                stream,
            )
        })
    }
}

impl Drop for Matmul<'_> {
    fn drop(&mut self) {
        let functions = self.functions;
        // SAFETY: each object that was made is destroyed once, here.
        unsafe {
            for layout in self.layouts.into_iter().filter(|layout| !layout.is_null()) {
                let _ = (functions.layout_destroy)(layout);
            }
            if !self.preference.is_null() {
                let _ = (functions.preference_destroy)(self.preference);
            }
            if !self.desc.is_null() {
                let _ = (functions.desc_destroy)(self.desc);
            }
            if !self.handle.is_null() {
                let _ = (functions.destroy)(self.handle);
            }
        }
    }
}

/// `130100` as `13.1.0`, cuBLAS's way to write versions since 11.
fn version(number: usize) -> String {
    let [major, minor] = if number >= 100_000 { [number / 10_000, number / 100 % 100] } else { [number / 1000, 0] };
    format!("{major}.{minor}.{}", number % 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_written_with_dots() {
        assert_eq!(version(130_100), "13.1.0");
        assert_eq!(version(120_904), "12.9.4");
    }
}

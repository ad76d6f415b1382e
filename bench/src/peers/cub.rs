//! CUB through the shared library that `bench/peers/cub.cu` makes: the bundle's `./run.sh bench` builds it with nvcc.

use std::ffi::c_void;

use anyhow::{Result, bail};

use super::Missing;
use super::library::{Search, check, functions};

type Stream = *mut c_void;

functions! {
    /// Each status is a `cudaError_t`; addresses are of device memory unless said otherwise.
    Functions {
        fn reduce = "ww_cub_reduce"(i32, i32, u64, u64, i64, u64, u64, *mut usize, Stream) -> i32;
        fn argmax = "ww_cub_argmax"(i32, u64, i64, u64, u64, u64, *mut usize, Stream) -> i32;
        fn segments = "ww_cub_sum_segments"(i32, u64, i64, u64, u64, u64, *mut usize, Stream) -> i32;
        fn rows = "ww_cub_sum_rows"(i32, u64, i64, i64, u64, u64, *mut usize, Stream) -> i32;
        fn version = "ww_cub_version"() -> i32;
    }
}

const SEARCH: Search<'_> = Search {
    name: "CUB",
    variable: "WARPWRIGHT_CUB",
    files: &["libwarpwright_cub.so"],
    remedy: "build bench/peers/cub.cu with nvcc and name the result in WARPWRIGHT_CUB; the bundle's `./run.sh bench` \
             does",
};

/// The numbers of element types in cub.cu.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Type {
    /// `float`.
    F32 = 0,
    /// `double`.
    F64 = 1,
    /// `__half`; sums are f32.
    F16 = 2,
    /// `__nv_bfloat16`; sums are f32.
    Bf16 = 3,
    /// `int32_t`.
    I32 = 4,
}

/// What is done to vectors, with the numbers of cub.cu.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Operation {
    /// Σx.
    Sum = 0,
    /// Σx².
    SumSquares = 1,
    /// The least element.
    Min = 2,
    /// The largest element.
    Max = 3,
    /// Σxy.
    Dot = 4,
}

/// One reduction; every field is an address of device memory or an extent.
#[derive(Clone, Copy, Debug)]
pub enum Reduction {
    /// One value of the `n` elements at `x` (and, for a dot product, at `y`), to `out`.
    Vector {
        /// What is done.
        operation: Operation,
        /// The elements.
        x: u64,
        /// The other elements of a dot product, else 0.
        y: u64,
        /// How many.
        n: i64,
        /// The result.
        out: u64,
    },
    /// The largest of the `n` elements at `x` to `out`, its lowest index, an `i64`, to `index`.
    Argmax {
        /// The elements.
        x: u64,
        /// How many.
        n: i64,
        /// The largest element.
        out: u64,
        /// Its index.
        index: u64,
    },
    /// Sums of `count` segments of `x`; `count + 1` boundaries, `i64`, at `offsets`.
    Segments {
        /// The elements.
        x: u64,
        /// Segments.
        count: i64,
        /// Their boundaries.
        offsets: u64,
        /// The sums.
        out: u64,
    },
    /// Sums of `count` rows of `length` elements.
    Rows {
        /// The elements.
        x: u64,
        /// Rows.
        count: i64,
        /// Elements of a row.
        length: i64,
        /// The sums.
        out: u64,
    },
}

/// CUB.
pub struct Cub {
    functions: Functions,
}

impl Cub {
    /// Loads the library.
    ///
    /// # Errors
    /// It is not there.
    pub fn load() -> Result<Self, Missing> {
        Ok(Self { functions: Functions::find(&SEARCH)? })
    }

    /// Its version, as `3.0.2`.
    pub fn version(&self) -> String {
        // SAFETY: a function without arguments.
        let version = unsafe { (self.functions.version)() };
        format!("{}.{}.{}", version / 100_000, version / 100 % 1000, version % 100)
    }

    /// Bytes of temporary memory that a reduction needs.
    ///
    /// # Errors
    /// CUB refuses the reduction.
    pub fn temporary_bytes(&self, element: Type, reduction: Reduction) -> Result<usize> {
        let mut bytes = 0;
        // SAFETY: without temporary memory CUB only writes the size.
        unsafe { self.call(element, reduction, 0, &mut bytes, std::ptr::null_mut()) }?;
        Ok(bytes)
    }

    /// Queues a reduction on `stream`.
    ///
    /// # Safety
    /// The addresses are of device memory of the context that is current, large enough for what the reduction says and
    /// for `temporary` = (address, bytes), alive and used on no other stream until the stream has passed this point.
    ///
    /// # Errors
    /// The launch fails.
    pub unsafe fn queue(
        &self,
        element: Type,
        reduction: Reduction,
        temporary: (u64, usize),
        stream: *mut c_void,
    ) -> Result<()> {
        let (address, mut bytes) = temporary;
        if address == 0 || bytes == 0 {
            bail!(
                "CUB takes a null address of temporary memory for the question how much it needs; pass at least one \
                 byte"
            );
        }
        // SAFETY: as the caller promises.
        unsafe { self.call(element, reduction, address, &mut bytes, stream) }
    }

    /// # Safety
    /// As for [`Cub::queue`], or `temporary` is 0.
    unsafe fn call(
        &self,
        element: Type,
        reduction: Reduction,
        temporary: u64,
        bytes: &mut usize,
        stream: *mut c_void,
    ) -> Result<()> {
        let (element, functions) = (element as i32, &self.functions);
        // SAFETY: as the caller promises; `bytes` is read and written before each call returns.
        let (call, status) = unsafe {
            match reduction {
                Reduction::Vector { operation, x, y, n, out } => {
                    let operation = operation as i32;
                    ("ww_cub_reduce", (functions.reduce)(operation, element, x, y, n, out, temporary, bytes, stream))
                }
                Reduction::Argmax { x, n, out, index } => {
                    ("ww_cub_argmax", (functions.argmax)(element, x, n, out, index, temporary, bytes, stream))
                }
                Reduction::Segments { x, count, offsets, out } => {
                    let status = (functions.segments)(element, x, count, offsets, out, temporary, bytes, stream);
                    ("ww_cub_sum_segments", status)
                }
                Reduction::Rows { x, count, length, out } => {
                    ("ww_cub_sum_rows", (functions.rows)(element, x, count, length, out, temporary, bytes, stream))
                }
            }
        };
        Ok(check(call, status)?)
    }
}

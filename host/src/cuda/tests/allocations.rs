//! A call that is repeated allocates no memory on the host.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use half::{bf16, f16};

use super::super::graphs::FEW_LAUNCHES;
use super::{Character, device, mock};
use crate::gemm::Arithmetic;
use crate::reduce::{LinesWorkspace, Sum, Workspace};
use crate::{Device, Result};

thread_local! {
    /// Allocations of this thread, except those of the mock.
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

/// Counts allocations.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: as the system's allocator, which does the work.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !mock::is_driving() {
            ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        }
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// Repeats a call until a stream launches graphs, and counts the allocations of the next calls.
fn repeated(mut call: impl FnMut() -> Result<()>) -> usize {
    (0..2 * FEW_LAUNCHES).for_each(|_| call().unwrap());
    let before = ALLOCATIONS.get();
    (0..10).for_each(|_| call().unwrap());
    ALLOCATIONS.get() - before
}

/// Products of two matrices of `$t`, of these extents and, of `f32`, in this arithmetic.
macro_rules! gemm {
    ($device:ident, $t:ty, $m:expr, $k:expr, $n:expr $(, $arithmetic:expr)?) => {{
        let (a, b) = ($device.alloc_matrix::<$t>($m, $k).unwrap(), $device.alloc_matrix::<$t>($k, $n).unwrap());
        let (mut c, stream) = ($device.alloc_matrix::<$t>($m, $n).unwrap(), $device.stream().unwrap());
        let mut workspace = $device.alloc::<f32>(1 << 24).unwrap();
        repeated(|| {
            let gemm = $device.gemm(&a, &b)$(.arithmetic($arithmetic))?;
            gemm.workspace(&mut workspace).stream(&stream).into(&mut c)
        })
    }};
}

#[test]
fn a_repeated_call_allocates_nothing() {
    let device: Device = device(mock::ordinal(Character::Repeated));
    let counted = [
        ("gemm", gemm!(device, bf16, 512, 512, 512)),
        ("a few rows", gemm!(device, bf16, 17, 5120, 5120)),
        ("packed", gemm!(device, f16, 333, 555, 777)),
        ("tf32", gemm!(device, f32, 512, 512, 512, Arithmetic::Tf32)),
        ("planes", gemm!(device, f32, 1024, 1024, 1024, Arithmetic::Bf16x6)),
        ("transpose", {
            let a = device.alloc_matrix::<f32>(256, 1024).unwrap();
            let mut c = device.alloc_matrix::<f32>(1024, 256).unwrap();
            repeated(|| device.transpose_into(&a, &mut c))
        }),
        ("sum", {
            let (x, mut out) = (device.alloc::<f32>(4096).unwrap(), device.alloc::<f32>(1).unwrap());
            let mut workspace = Workspace::new(&device).unwrap();
            repeated(|| device.reduce_into(Sum, &x, &mut out, &mut workspace, None))
        }),
        ("sums of rows", {
            let (x, mut out) = (device.alloc_matrix::<f32>(256, 1024).unwrap(), device.alloc::<f32>(256).unwrap());
            let bytes = device.reduce_axis_bytes(Sum, &x, 1).unwrap();
            let mut workspace = LinesWorkspace::new(&device, bytes).unwrap();
            repeated(|| device.reduce_axis_into(Sum, &x, 1, &mut out, &mut workspace, None))
        }),
    ];
    assert_eq!(counted.map(|(_, count)| count), [0; 8], "{counted:?}");
}

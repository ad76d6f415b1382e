//! The driver calls whose failure is no error of the operation.

use super::super::super::driver::codes;
use super::operations::{GEMM, TOO_LARGE};

/// Why an operation may succeed although a call of it failed.
pub(super) enum Tolerated {
    /// The call releases something, which may stay.
    CleansUp,
    /// There is another way.
    OtherWay,
}

/// The calls within an operation that release something, or restore a state of the thread.
const CLEAN_UP: [&str; 3] = ["cuEventDestroy_v2", "cuMemFreeAsync", "cuThreadExchangeStreamCaptureMode"];

/// Whether a call only asks for the current context, or sets it.
fn is_of_context(call: &str) -> bool {
    matches!(call, "cuCtxGetCurrent" | "cuCtxSetCurrent")
}

/// The index of call `at`, or of the one for which it makes a context current.
pub(super) fn purpose(calls: &[&str], at: usize) -> Option<usize> {
    (at..calls.len()).find(|&i| !is_of_context(calls[i]))
}

/// Whether operation `name` may succeed although call `at` of `calls` fails with `status`. What the drop of its results
/// calls may fail in any case.
pub(super) fn tolerated(name: &str, calls: &[&str], at: usize, status: i32) -> Option<Tolerated> {
    if calls[at] == "cuCtxSetCurrent" && at > 0 && !is_of_context(calls[at - 1]) {
        // The end of a call: the caller's context stays another one. Or the context was just retained, and each later
        // call makes it current itself.
        return Some(Tolerated::CleansUp);
    }
    let (is_direct, at) = (!is_of_context(calls[at]), purpose(calls, at)?);
    let before = calls[..at].iter().rev().find(|call| !is_of_context(call)).copied().unwrap_or_default();
    let after = purpose(calls, at + 1).map(|next| calls[next]).unwrap_or_default();
    let no_memory = status == codes::OUT_OF_MEMORY;
    #[allow(clippy::match_same_arms, reason = "each has a reason of its own")]
    match calls[at] {
        call if CLEAN_UP.contains(&call) => Some(Tolerated::CleansUp),
        // Whether a stream is captured, or done: if that is not known, a slower way is taken, or the memory that is to
        // be released stays.
        "cuStreamIsCapturing" if after == "cuMemFreeAsync" => Some(Tolerated::CleansUp),
        "cuStreamIsCapturing" if after == "cuMemAllocFromPoolAsync" => Some(Tolerated::OtherWay),
        "cuStreamIsCapturing" if after == "cuThreadExchangeStreamCaptureMode" => Some(Tolerated::OtherWay),
        "cuStreamQuery" => Some(Tolerated::OtherWay),
        // Without a pool memory comes from `cuMemAlloc`.
        "cuMemPoolCreate" | "cuMemPoolSetAttribute" => Some(Tolerated::OtherWay),
        "cuStreamCreateWithPriority" if before == "cuMemPoolCreate" => Some(Tolerated::OtherWay),
        // The pool is trimmed, and the allocation tried again.
        "cuMemAllocFromPoolAsync" if no_memory && is_direct => Some(Tolerated::OtherWay),
        "cuStreamSynchronize" if no_memory && is_direct && before == "cuMemAllocFromPoolAsync" => {
            Some(Tolerated::OtherWay)
        }
        // The text of an error.
        "cuMemGetInfo_v2" | "cuGetErrorName" | "cuGetErrorString" => Some(Tolerated::OtherWay),
        // Without memory for a workspace an algorithm that needs none is taken.
        "cuMemAllocFromPoolAsync" | "cuMemAlloc_v2" if no_memory && name == GEMM => Some(Tolerated::OtherWay),
        // Its workspace is released within the call, without a pool by waiting.
        "cuStreamSynchronize" if name == GEMM && after == "cuMemFree_v2" => Some(Tolerated::CleansUp),
        "cuMemFree_v2" if name == GEMM => Some(Tolerated::CleansUp),
        // The allocation fails for this reason in any case.
        _ if no_memory && name == TOO_LARGE => Some(Tolerated::OtherWay),
        _ => None,
    }
}

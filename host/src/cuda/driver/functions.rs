//! The driver functions that this crate calls, directly or through `cust`, with their signatures.
//!
//! Signatures are those of `cuda.h` (CUDA 11.0 and later) with handles as untyped pointers and enums as `i32`. Where
//! the header renames a function to a later version (`cuMemAlloc` to `cuMemAlloc_v2`), the list has the later name, as
//! `cust_raw` does.

/// Passes the list of functions to the macro `$expand`.
macro_rules! driver_functions {
    ($expand:ident) => {
        $expand! {
            // Driver and devices.
            cuInit(flags: u32);
            cuDriverGetVersion(version: *mut i32);
            cuDeviceGet(device: *mut i32, ordinal: i32);
            cuDeviceGetCount(count: *mut i32);
            cuDeviceGetName(name: *mut c_char, length: i32, device: i32);
            cuDeviceGetAttribute(value: *mut i32, attribute: i32, device: i32);
            cuDeviceTotalMem_v2(bytes: *mut usize, device: i32);
            cuGetErrorName(status: i32, text: *mut *const c_char);
            cuGetErrorString(status: i32, text: *mut *const c_char);
            // Contexts.
            cuDevicePrimaryCtxRetain(context: *mut Handle, device: i32);
            cuDevicePrimaryCtxRelease_v2(device: i32);
            cuCtxGetCurrent(context: *mut Handle);
            cuCtxSetCurrent(context: Handle);
            cuCtxSynchronize();
            // Memory.
            cuMemGetInfo_v2(free: *mut usize, total: *mut usize);
            cuMemAlloc_v2(address: *mut Address, bytes: usize);
            cuMemFree_v2(address: Address);
            cuMemPoolCreate(pool: *mut Handle, properties: *const c_void);
            cuMemPoolDestroy(pool: Handle);
            cuMemPoolSetAttribute(pool: Handle, attribute: i32, value: *mut c_void);
            cuMemPoolTrimTo(pool: Handle, keep: usize);
            cuMemAllocFromPoolAsync(address: *mut Address, bytes: usize, pool: Handle, stream: Handle);
            cuMemFreeAsync(address: Address, stream: Handle);
            cuMemAllocHost_v2(address: *mut *mut c_void, bytes: usize);
            cuMemFreeHost(address: *mut c_void);
            cuMemcpyHtoD_v2(to: Address, from: *const c_void, bytes: usize);
            cuMemcpyDtoH_v2(to: *mut c_void, from: Address, bytes: usize);
            cuMemcpyHtoDAsync_v2(to: Address, from: *const c_void, bytes: usize, stream: Handle);
            cuMemcpyDtoHAsync_v2(to: *mut c_void, from: Address, bytes: usize, stream: Handle);
            cuMemcpyDtoDAsync_v2(to: Address, from: Address, bytes: usize, stream: Handle);
            cuMemcpy2DAsync_v2(copy: *const c_void, stream: Handle);
            cuMemsetD8Async(address: Address, value: u8, bytes: usize, stream: Handle);
            // Streams and events.
            cuStreamCreateWithPriority(stream: *mut Handle, flags: u32, priority: i32);
            cuStreamDestroy_v2(stream: Handle);
            cuStreamSynchronize(stream: Handle);
            cuStreamQuery(stream: Handle);
            cuStreamWaitEvent(stream: Handle, event: Handle, flags: u32);
            cuStreamIsCapturing(stream: Handle, status: *mut u32);
            cuThreadExchangeStreamCaptureMode(mode: *mut u32);
            cuEventCreate(event: *mut Handle, flags: u32);
            cuEventDestroy_v2(event: Handle);
            cuEventRecord(event: Handle, stream: Handle);
            cuEventSynchronize(event: Handle);
            cuEventQuery(event: Handle);
            cuEventElapsedTime(milliseconds: *mut f32, start: Handle, end: Handle);
            // Graphs.
            cuGraphCreate(graph: *mut Handle, flags: u32);
            cuGraphDestroy(graph: Handle);
            cuGraphAddKernelNode_v2(
                node: *mut Handle,
                graph: Handle,
                dependencies: *const Handle,
                count: usize,
                parameters: *const KernelNode
            );
            cuGraphInstantiateWithFlags(executable: *mut Handle, graph: Handle, flags: u64);
            cuGraphExecKernelNodeSetParams_v2(executable: Handle, node: Handle, parameters: *const KernelNode);
            cuGraphLaunch(executable: Handle, stream: Handle);
            cuGraphExecDestroy(executable: Handle);
            // Tensor maps.
            cuTensorMapEncodeTiled(
                map: *mut c_void,
                kind: i32,
                rank: u32,
                base: *mut c_void,
                extents: *const u64,
                strides: *const u64,
                boxes: *const u32,
                steps: *const u32,
                interleave: i32,
                swizzle: i32,
                promotion: i32,
                fill: i32
            );
            cuTensorMapReplaceAddress(map: *mut c_void, base: *mut c_void);
            // Modules and launches.
            cuModuleLoadDataEx(
                module: *mut Handle,
                image: *const c_void,
                count: u32,
                options: *mut i32,
                values: *mut *mut c_void
            );
            cuModuleUnload(module: Handle);
            cuModuleGetFunction(function: *mut Handle, module: Handle, name: *const c_char);
            cuModuleGetGlobal_v2(address: *mut Address, bytes: *mut usize, module: Handle, name: *const c_char);
            cuFuncGetAttribute(value: *mut i32, attribute: i32, function: Handle);
            cuFuncSetAttribute(function: Handle, attribute: i32, value: i32);
            cuLaunchKernel(
                function: Handle,
                grid_x: u32, grid_y: u32, grid_z: u32,
                block_x: u32, block_y: u32, block_z: u32,
                shared_bytes: u32,
                stream: Handle,
                arguments: *mut *mut c_void,
                extra: *mut *mut c_void
            );
            cuLaunchKernelEx(
                config: *const Config,
                function: Handle,
                arguments: *mut *mut c_void,
                extra: *mut *mut c_void
            );
        }
    };
}
pub(super) use driver_functions;

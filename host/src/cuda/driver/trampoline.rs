//! The driver functions that `cust` refers to and this crate never calls: jumps through the slots.
//!
//! The jumps need no signatures: arguments and return address stay where the caller put them. The addresses of the
//! slots come from the global offset table, so that the same code links into programs and shared libraries.

use std::arch::naked_asm;
use std::ffi::c_void;

use super::slots::{Function, Slot};
use super::status::{codes, record};

/// The target of a slot until the driver is loaded.
extern "C" fn no_driver() -> i32 {
    record(codes::NO_DEVICE)
}

/// The target of the slot of a function that the driver lacks.
extern "C" fn not_supported() -> i32 {
    record(codes::NOT_SUPPORTED)
}

#[cfg(target_arch = "x86_64")]
macro_rules! jump {
    ($slot:path) => {
        // r11 is a scratch register at calls.
        naked_asm!("mov r11, qword ptr [rip + {slot}@GOTPCREL]", "jmp qword ptr [r11]", slot = sym $slot)
    };
}

#[cfg(target_arch = "aarch64")]
macro_rules! jump {
    ($slot:path) => {
        // x16 is a scratch register at calls.
        naked_asm!(
            "adrp x16, :got:{slot}",
            "ldr x16, [x16, :got_lo12:{slot}]",
            "ldr x16, [x16]",
            "br x16",
            slot = sym $slot
        )
    };
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
compile_error!(
    "warpwright's feature `cuda` is for x86-64 and aarch64: build without it, or add the jump for this processor"
);

macro_rules! trampolines {
    ($($name:ident)*) => {
        #[allow(non_upper_case_globals)]
        mod slots {
            use super::*;
            $(pub(super) static $name: Slot = Slot::new(no_driver as *mut c_void);)*
        }

        mod entries {
            use super::*;
            $(
                /// Jumps to the driver's function of the same name.
                ///
                /// # Safety
                /// That function's contract.
                #[unsafe(no_mangle)]
                #[unsafe(naked)]
                unsafe extern "C" fn $name() {
                    jump!(slots::$name)
                }
            )*
        }

        /// Every function of this file.
        pub(super) static FUNCTIONS: &[Function] =
            &[$(Function::new(concat!(stringify!($name), "\0"), &slots::$name, Some(not_supported))),*];
    };
}

trampolines! {
    cuArray3DCreate_v2 cuArray3DGetDescriptor_v2 cuArrayDestroy
    cuCtxCreate_v2 cuCtxDestroy_v2 cuCtxGetApiVersion cuCtxGetCacheConfig cuCtxGetDevice cuCtxGetFlags
    cuCtxGetLimit cuCtxGetSharedMemConfig cuCtxGetStreamPriorityRange cuCtxPopCurrent_v2 cuCtxPushCurrent_v2
    cuCtxSetCacheConfig cuCtxSetLimit cuCtxSetSharedMemConfig
    cuDestroyExternalMemory cuDevicePrimaryCtxReset_v2 cuDevicePrimaryCtxSetFlags_v2
    cuExternalMemoryGetMappedBuffer cuFuncSetCacheConfig cuFuncSetSharedMemConfig
    cuGraphAddKernelNode cuGraphDebugDotPrint cuGraphGetEdges cuGraphGetNodes
    cuGraphKernelNodeGetParams cuGraphNodeGetType cuImportExternalMemory
    cuLaunchHostFunc cuLinkAddData_v2 cuLinkComplete cuLinkCreate_v2 cuLinkDestroy
    cuMemAdvise cuMemAllocAsync cuMemAllocManaged cuMemAllocPitch_v2 cuMemPrefetchAsync
    cuMemcpy2D_v2 cuMemcpyAtoH_v2 cuMemcpyDtoD_v2 cuMemcpyHtoA_v2
    cuMemsetD16Async cuMemsetD16_v2 cuMemsetD32Async cuMemsetD32_v2 cuMemsetD8_v2
    cuModuleLoad cuModuleLoadData
    cuOccupancyAvailableDynamicSMemPerBlock cuOccupancyMaxActiveBlocksPerMultiprocessor
    cuOccupancyMaxPotentialBlockSize
    cuStreamGetFlags cuStreamGetPriority
    cuSurfObjectCreate cuSurfObjectDestroy cuSurfObjectGetResourceDesc
    cuTexObjectCreate cuTexObjectDestroy cuTexObjectGetResourceDesc cuTexObjectGetResourceViewDesc
}

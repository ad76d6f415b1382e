//! The configuration of `cuLaunchKernelEx`, which `cust` does not declare.

use super::status::Handle;

/// `CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION`.
const PROGRAMMATIC_STREAM_SERIALIZATION: i32 = 6;

/// `CUlaunchAttribute`: its value is a union of 64 bytes; the attribute set here is an `int`.
#[repr(C, align(8))]
pub(super) struct Attribute {
    id: i32,
    padding: i32,
    value: [i32; 16],
}

/// `CUlaunchConfig`.
#[repr(C)]
pub(crate) struct Config {
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) shared_bytes: u32,
    pub(crate) stream: Handle,
    pub(super) attributes: *const Attribute,
    pub(super) count: u32,
}

// The sizes in `cuda.h` of CUDA 12, with pointers of 8 bytes.
const _: () = assert!(size_of::<Attribute>() == 72 && size_of::<Config>() == 56);

impl Attribute {
    /// Programmatic dependent launch: the kernel may begin before its predecessor in the stream is done.
    pub(super) fn pdl() -> Self {
        let mut value = [0; 16];
        value[0] = 1;
        Self { id: PROGRAMMATIC_STREAM_SERIALIZATION, padding: 0, value }
    }
}

impl Config {
    /// Whether the launch uses programmatic dependent launch. For the mock.
    #[cfg(test)]
    pub(crate) fn is_pdl(&self) -> bool {
        // SAFETY: `attributes` points to `count` attributes.
        let attributes = unsafe { std::slice::from_raw_parts(self.attributes, self.count as usize) };
        attributes.iter().any(|it| (it.id, it.value[0]) == (PROGRAMMATIC_STREAM_SERIALIZATION, 1))
    }
}

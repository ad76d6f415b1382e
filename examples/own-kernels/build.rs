//! Compiles the kernels of src/lib.rs to PTX. Without a nightly toolchain they run on the simulator alone.

fn main() -> Result<(), warpwright_build::Error> {
    warpwright_build::KernelBuilder::default().arch("sm_80").build().map(drop)
}

//! Compiles the kernels of src/lib.rs to PTX, with line numbers for profilers.

fn main() -> Result<(), warpwright_build::Error> {
    warpwright_build::KernelBuilder::default()
        .arch("sm_80")
        .line_info(true)
        .build()
        .map(drop)
}

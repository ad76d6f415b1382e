//! Compiles the kernels to PTX, if they are to run on a GPU.

fn main() -> Result<(), warpwright_build::Error> {
    if std::env::var_os("CARGO_FEATURE_CUDA").is_none() {
        return Ok(());
    }
    warpwright_build::KernelBuilder::default().arch("sm_90a").panic_messages(false).build().map(drop)
}

//! Streams, events and copies that overlap with kernels.
//!
//! Work on one buffer keeps the order of the calls on any streams; so nothing here synchronises explicitly, and nothing
//! can be read too early. On the simulator every call is done when it returns.

use warpwright::gpu::elementwise::add::{self, add_f32};
use warpwright::{Device, Launch, Result};

/// Elements of a chunk.
const CHUNK: usize = 1 << 16;
/// Number of chunks.
const CHUNKS: usize = 4;

fn main() -> Result<()> {
    let device = Device::best()?;
    let (copies, kernels) = (device.stream()?, device.stream()?);
    let step = device.upload(&vec![1.0_f32; CHUNK])?;
    let start = kernels.record()?;

    // One stream copies the chunks, the other computes on them.
    let mut results = Vec::new();
    for chunk in 0..CHUNKS {
        let mut host = device.pinned(CHUNK)?;
        host.fill(chunk as f32);
        let mut x = device.alloc(CHUNK)?;
        let upload = copies.upload(host, &mut x)?;
        let mut y = device.alloc(CHUNK)?;
        let launch = Launch::grid(add::grid(CHUNK)).stream(&kernels);
        device.launch(&add_f32, launch, (&x, &step, &mut y))?;
        // The transfer owns its host memory until the copy is done; `y` and `x` may be dropped at any time.
        results.push((copies.download(&y, upload.wait()?)?, x, y));
    }
    for (chunk, (download, ..)) in results.into_iter().enumerate() {
        let host = download.wait()?;
        println!("chunk {chunk}: first {}, last {}", host[0], host[CHUNK - 1]);
    }

    let end = kernels.record()?;
    println!("{} chunks in {:?} on {}", CHUNKS, end.since(&start)?, device.name());
    Ok(())
}

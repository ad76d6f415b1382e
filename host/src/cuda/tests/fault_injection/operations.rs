//! The operations whose driver calls fail.

use std::any::Any;
use std::thread;

use gpu::elementwise::add::{add_f32, grid};
use ndarray::{Array2, s};
use simt::tma::Swizzle;

use super::super::{Character, mock, ptx};
use crate::memory::{Axes, TmaShape};
use crate::reduce::{Sum, Workspace};
use crate::{Buffer, Device, Error, Launch, Module, Result, Stream};

/// What an operation leaves: dropped later, before its device.
pub(super) type Kept = Box<dyn Any>;

/// Calls of this crate, each a list of driver calls. Results are compared whenever all calls succeed.
pub(super) struct Operation {
    pub(super) name: &'static str,
    /// Runs it on the device of this number, which is open except for the first operation.
    pub(super) run: fn(u32) -> Result<Kept>,
}

pub(super) const OPERATIONS: [Operation; 22] = [
    Operation { name: OPEN, run: |ordinal| Ok(Box::new(Device::cuda(ordinal)?)) },
    Operation { name: "hardware", run: |ordinal| Ok(Box::new(Device::cuda(ordinal)?.hardware()?)) },
    Operation { name: "copies", run: copies },
    Operation { name: "copies of matrices", run: copies_of_matrices },
    Operation { name: "allocations", run: allocations },
    Operation { name: TOO_LARGE, run: too_large },
    Operation { name: "two streams", run: two_streams },
    Operation { name: "many readers", run: many_readers },
    Operation { name: "embedded kernel", run: embedded_kernel },
    Operation { name: "prepare", run: prepare },
    Operation { name: TRANSFERS, run: transfers },
    Operation { name: "dropped transfers", run: dropped_transfers },
    Operation { name: "events", run: events },
    Operation { name: "sum", run: sum },
    Operation { name: "reduce_into", run: reduce_into },
    Operation { name: "transpose", run: transpose },
    Operation { name: GEMM, run: gemm },
    Operation { name: "gemm into", run: gemm_into },
    Operation { name: "captured stream", run: captured_stream },
    Operation { name: "host result", run: host_result },
    Operation { name: "two threads", run: two_threads },
    Operation { name: "beside code with a context", run: beside_code_with_a_context },
];

/// Operations for which there are special rules.
pub(super) const OPEN: &str = "open";
pub(super) const TOO_LARGE: &str = "too large an allocation";
pub(super) const GEMM: &str = "gemm";
pub(super) const TRANSFERS: &str = "transfers";

/// The result of a call that borrowed host memory: no copy from or to it may be in progress.
fn returned<T>(device: &Device, result: Result<T>) -> Result<T> {
    let faulty = [Character::Faulty, Character::FaultyWithoutPools].map(mock::ordinal);
    let ordinal = faulty.into_iter().find(|ordinal| device.name().contains(&format!("device {ordinal} ")));
    mock::machine(ordinal.expect("a device of these tests")).end_of_borrow();
    result
}

fn download(buffer: &Buffer<f32>) -> Result<Vec<f32>> {
    returned(buffer.device(), buffer.download())
}

fn write(buffer: &mut Buffer<f32>, data: &[f32]) -> Result<()> {
    let written = buffer.write(data);
    returned(buffer.device(), written)
}

fn upload(device: &Device, data: &[f32]) -> Result<Buffer<f32>> {
    returned(device, device.upload(data))
}

fn load(device: &Device) -> Result<Module> {
    // SAFETY: the mock runs what the kernel computes.
    unsafe { Module::from_ptx(device, "mock", &ptx(&[add_f32.info()])) }
}

/// z = x + y on a stream.
fn add(stream: &Stream, module: &Module, x: &Buffer<f32>, y: &Buffer<f32>, z: &mut Buffer<f32>) -> Result<()> {
    let launch = Launch::grid(grid(z.len())).module(module).stream(stream);
    stream.device().launch(&add_f32, launch, (x, y, z)).map(drop)
}

fn copies(ordinal: u32) -> Result<Kept> {
    let device = Device::cuda(ordinal)?;
    let mut x = upload(&device, &[1.0; 10])?;
    assert_eq!(download(&x)?, [1.0; 10]);
    write(&mut x, &[2.0; 10])?;
    let mut y = device.alloc::<f32>(20)?;
    y.slice_mut(5..15)?.copy_from(&x)?;
    assert_eq!(download(&y)?[5..15], [2.0; 10]);
    device.synchronize()?;
    Ok(Box::new((x, y)))
}

fn copies_of_matrices(ordinal: u32) -> Result<Kept> {
    let device = Device::cuda(ordinal)?;
    let a = Array2::from_shape_fn((5, 7), |(i, j)| (10 * i + j) as f32);
    let mut matrix = returned(&device, device.upload(&a))?;
    let block = matrix.block(1..4, 2..5)?;
    assert_eq!(returned(&device, block.download())?, a.slice(s![1..4, 2..5]));
    let block = block.to_contiguous()?;
    returned(&device, matrix.block_mut(1..3, 1..3)?.write(Array2::zeros((2, 2)).view()))?;
    matrix.block_mut(0..5, 6..7)?.zero()?;
    Ok(Box::new((matrix, block)))
}

fn allocations(ordinal: u32) -> Result<Kept> {
    let device = Device::cuda(ordinal)?;
    let stream = device.stream()?;
    let (x, y, z) = (device.alloc::<f32>(10)?, device.alloc_zeros::<f32>(10)?, device.alloc_matrix::<f32>(3, 5)?);
    assert_eq!(download(&y)?, [0.0; 10]);
    let tensor = device.alloc_matrix::<f32>(32, 32)?;
    let map = tensor.view().tma(8, 8, Swizzle::None)?.encode(device.backend(), 0)?;
    let shape = TmaShape::new(4, &Axes::contiguous("test", &[2, 4])?, &[2, 4], Swizzle::None)?;
    for buffer in [&x, &y] {
        let words = shape.of(buffer.view())?.encode(device.backend(), 0)?;
        assert_eq!(words[0], buffer.view().address().addr() as u64);
    }
    device.release_unused_memory()?;
    stream.synchronize()?;
    Ok(Box::new((x, y, z, tensor, map, stream)))
}

/// An allocation that fails although no call is made to fail.
fn too_large(ordinal: u32) -> Result<Kept> {
    let device = Device::cuda(ordinal)?;
    match device.alloc::<u8>(mock::CAPACITY + 1) {
        Err(Error::OutOfMemory { .. }) => Ok(Box::new(())),
        Err(error) => Err(error),
        Ok(_) => panic!("it is larger than the device"),
    }
}

/// Write after write, read after write, write after read, each on another stream; a drop with users on two streams.
fn two_streams(ordinal: u32) -> Result<Kept> {
    let device = Device::cuda(ordinal)?;
    let module = load(&device)?;
    let (first, second) = (device.stream()?, device.stream()?);
    let mut x = upload(&device, &[1.0; 10])?;
    let (mut y, mut z) = (device.alloc(10)?, device.alloc(10)?);
    add(&first, &module, &x, &x, &mut y)?;
    add(&second, &module, &x, &y, &mut z)?;
    add(&first, &module, &z, &z, &mut y)?;
    add(&second, &module, &y, &x, &mut z)?;
    write(&mut x, &[7.0; 10])?;
    assert_eq!(download(&z)?, [7.0; 10]);
    add(&first, &module, &x, &y, &mut z)?;
    add(&second, &module, &x, &z, &mut y)?;
    Ok(Box::new((x, y, z, first, second, module)))
}

/// More readers than are kept without asking whether they are done.
fn many_readers(ordinal: u32) -> Result<Kept> {
    let device = Device::cuda(ordinal)?;
    let module = load(&device)?;
    let mut x = upload(&device, &[1.0; 10])?;
    let mut sums = Vec::new();
    for _ in 0..10 {
        let (stream, mut y) = (device.stream()?, device.alloc(10)?);
        add(&stream, &module, &x, &x, &mut y)?;
        sums.push(y);
    }
    write(&mut x, &[7.0; 10])?;
    for y in &sums {
        assert_eq!(download(y)?, [2.0; 10]);
    }
    Ok(Box::new((x, sums, module)))
}

fn embedded_kernel(ordinal: u32) -> Result<Kept> {
    let device = Device::cuda(ordinal)?;
    let x = upload(&device, &[1.0; 10])?;
    let y = device.add(&x, &x)?;
    assert_eq!(download(&y)?, [2.0; 10]);
    Ok(Box::new((x, y)))
}

fn prepare(ordinal: u32) -> Result<Kept> {
    let device = Device::cuda(ordinal)?;
    device.prepare([add_f32.info(), gpu::gemm::tiled::matmul_tiled.info()])?;
    Ok(Box::new(device))
}

fn transfers(ordinal: u32) -> Result<Kept> {
    let device = Device::cuda(ordinal)?;
    let stream = device.stream()?;
    let (mut from, to) = (device.pinned::<f32>(10)?, device.pinned::<f32>(10)?);
    from.fill(3.0);
    let mut x = device.alloc(10)?;
    let upload = stream.upload(from, &mut x)?;
    let download = stream.download(&x, to)?;
    upload.is_done()?;
    let to = download.wait()?;
    assert_eq!(*to, [3.0; 10]);
    Ok(Box::new((upload.wait()?, to, x, stream)))
}

fn dropped_transfers(ordinal: u32) -> Result<Kept> {
    let device = Device::cuda(ordinal)?;
    let stream = device.stream()?;
    let (from, to) = (device.pinned::<f32>(10)?, device.pinned::<f32>(10)?);
    let mut x = device.alloc(10)?;
    Ok(Box::new((stream.upload(from, &mut x)?, stream.download(&x, to)?, x, stream)))
}

fn events(ordinal: u32) -> Result<Kept> {
    let device = Device::cuda(ordinal)?;
    let (stream, other) = (device.stream()?, device.stream()?);
    let (start, end) = (stream.record()?, stream.record()?);
    other.wait(&end)?;
    end.is_done()?;
    assert_eq!(end.since(&start)?.as_micros(), 1500);
    other.synchronize()?;
    Ok(Box::new((start, end, stream, other)))
}

fn sum(ordinal: u32) -> Result<Kept> {
    let device = Device::cuda(ordinal)?;
    let x = upload(&device, &[1.0; 10])?;
    // The kernel does nothing: the result, which host memory holds, stays zero. The second one reuses its memory.
    assert_eq!((device.sum(&x)?, device.sum(&x)?), (0.0, 0.0));
    Ok(Box::new(x))
}

fn reduce_into(ordinal: u32) -> Result<Kept> {
    let device = Device::cuda(ordinal)?;
    let (stream, mut workspace) = (device.stream()?, Workspace::new(&device)?);
    let x = upload(&device, &[1.0; 10])?;
    let mut out = device.alloc_zeros::<f32>(1)?;
    device.reduce_into(Sum, &x, &mut out, &mut workspace, Some(&stream))?;
    assert_eq!(download(&out)?, [0.0]);
    Ok(Box::new((x, out, workspace, stream)))
}

fn transpose(ordinal: u32) -> Result<Kept> {
    let device = Device::cuda(ordinal)?;
    let x = device.alloc_matrix_zeros::<f32>(8, 8)?;
    Ok(Box::new((device.transpose(&x)?, x)))
}

/// A product whose workspace is allocated for the call.
fn gemm(ordinal: u32) -> Result<Kept> {
    let device = Device::cuda(ordinal)?;
    let (a, b) = (device.alloc_matrix::<f32>(64, 4096)?, device.alloc_matrix::<f32>(4096, 64)?);
    Ok(Box::new((device.gemm(&a, &b).run()?, a, b)))
}

fn gemm_into(ordinal: u32) -> Result<Kept> {
    let device = Device::cuda(ordinal)?;
    let stream = device.stream()?;
    let (a, b) = (device.alloc_matrix::<f32>(64, 4096)?, device.alloc_matrix::<f32>(4096, 64)?);
    let mut c = device.alloc_matrix::<f32>(64, 64)?;
    let plans = device.gemm(&a, &b).plans(&c)?;
    let plan = plans.iter().find(|plan| plan.workspace_len() > 0).expect("so few tiles are split");
    let mut workspace = device.alloc(plan.workspace_len())?;
    device.gemm(&a, &b).algorithm(plan.algorithm()).workspace(&mut workspace).stream(&stream).into(&mut c)?;
    Ok(Box::new((a, b, c, workspace, stream)))
}

/// The host waits in place of a stream that is being captured.
fn captured_stream(ordinal: u32) -> Result<Kept> {
    /// While it exists, a stream is being captured.
    struct Capture(u32);
    impl Drop for Capture {
        fn drop(&mut self) {
            mock::machine(self.0).captured = None;
        }
    }
    let device = Device::cuda(ordinal)?;
    let (module, stream) = (load(&device)?, device.stream()?);
    let mut x = device.alloc_zeros(10)?;
    let y = upload(&device, &[1.0; 10])?;
    mock::machine(ordinal).captured = stream.as_raw().map(|raw| raw as usize);
    let capture = Capture(ordinal);
    add(&stream, &module, &y, &y, &mut x)?;
    drop(capture);
    assert_eq!(download(&x)?, [2.0; 10]);
    Ok(Box::new((x, y, module, stream)))
}

/// Host memory that a kernel writes, as a reduction uses it for its result.
fn host_result(ordinal: u32) -> Result<Kept> {
    let device = Device::cuda(ordinal)?;
    let (module, stream) = (load(&device)?, device.stream()?);
    let x = upload(&device, &[1.0; 10])?;
    let memory = device.backend().allocate_result(40)?;
    // SAFETY: memory of this device, for ten elements.
    let mut y = unsafe { Buffer::from_memory(&device, memory, 10) };
    add(&stream, &module, &x, &x, &mut y)?;
    assert_eq!(download(&y)?, [2.0; 10]);
    add(&stream, &module, &x, &x, &mut y)?;
    Ok(Box::new((x, y, module, stream)))
}

/// A launch and the drops on other threads.
fn two_threads(ordinal: u32) -> Result<Kept> {
    let device = Device::cuda(ordinal)?;
    let (module, stream) = (load(&device)?, device.stream()?);
    let x = upload(&device, &[1.0; 10])?;
    let (mut y, mut z) = (device.alloc(10)?, device.alloc(10)?);
    add(&stream, &module, &x, &x, &mut y)?;
    let work = move || {
        mock::watch(ordinal);
        add(&device.default_stream(), &module, &x, &y, &mut z)?;
        Ok::<_, Error>((x, y, z, module))
    };
    let (x, mut y, z, module) = thread::spawn(work).join().expect("no panic")?;
    assert_eq!(download(&z)?, [3.0; 10]);
    add(&stream, &module, &x, &z, &mut y)?;
    Ok(Box::new(DroppedElsewhere { what: Some(Box::new((x, y, z, module, stream))), ordinal }))
}

/// What is dropped on another thread.
struct DroppedElsewhere {
    what: Option<Box<dyn Any + Send>>,
    ordinal: u32,
}

impl Drop for DroppedElsewhere {
    fn drop(&mut self) {
        let (what, ordinal) = (self.what.take(), self.ordinal);
        let drop_it = move || {
            mock::watch(ordinal);
            drop(what);
        };
        thread::spawn(drop_it).join().expect("no panic");
    }
}

/// The caller's code has chosen another GPU.
fn beside_code_with_a_context(ordinal: u32) -> Result<Kept> {
    mock::set_current(7);
    embedded_kernel(ordinal)
}

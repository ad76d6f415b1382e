//! Who does a case: ours and the peers. A line more in [`ALL`] is an implementation more.

use anyhow::{Context as _, Result};
use warpwright::{Device, Launch, Layout};

use super::calls;
use super::case::{Case, Dtype, Shape, Work};
use super::data::AnyBuffer;
use super::slot::Slot;
use crate::peers::Peers;
use crate::peers::cublas::{Cublas, Session};
use crate::peers::driver::Driver;

/// What implementations work with.
pub struct Context<'p> {
    /// The device.
    pub device: Device,
    /// Where there is a GPU: the driver on the stream of all work, the device's default stream.
    pub driver: Option<Driver>,
    /// The libraries.
    pub peers: &'p Peers,
    /// cuBLAS on that stream.
    pub cublas: Option<Session<'p>>,
}

impl<'p> Context<'p> {
    /// A context for a device: on the simulator, ours alone.
    ///
    /// # Errors
    /// cuBLAS is there and cannot use the GPU.
    pub fn new(device: &Device, peers: &'p Peers) -> Result<Self> {
        if device.is_simulator() {
            return Ok(Self { device: device.clone(), driver: None, peers, cublas: None });
        }
        let driver = Driver::new(device.default_stream())?;
        let session = |cublas: &'p Cublas| cublas.session(device, &driver).context("cuBLAS");
        let cublas = peers.cublas.as_ref().ok().map(session).transpose()?;
        Ok(Self { device: device.clone(), driver: Some(driver), peers, cublas })
    }
}

/// One way to do a case, ready to be called again and again.
pub struct Call<'c> {
    /// Queues the work on the stream, for the operands and results of a slot.
    pub run: Run<'c>,
    /// Whether it can be captured in a CUDA graph: it neither waits nor allocates.
    pub captures: bool,
    /// What was chosen on the way, for the record.
    pub note: Option<String>,
}

/// Queues the work of one call.
pub type Run<'c> = Box<dyn FnMut(&mut Slot) -> Result<()> + 'c>;

/// A program that does some of the cases.
pub struct Implementation {
    /// Its name in records.
    pub name: &'static str,
    /// Makes a call for a case; `None` if it does not do it. The slot is one that the call may try things out on.
    pub prepare: for<'c> fn(&'c Context<'_>, &Case, &mut Slot) -> Result<Option<Call<'c>>>,
}

/// Every implementation, ours first.
pub const ALL: &[Implementation] = &[
    Implementation { name: OURS, prepare: ours },
    Implementation { name: "warpwright-blocking", prepare: blocking },
    Implementation { name: "copy", prepare: calls::copy },
    Implementation { name: "cub", prepare: calls::cub },
    Implementation { name: "cublas", prepare: calls::cublas },
    Implementation { name: "cublaslt", prepare: calls::cublaslt },
];

/// The name under which the operations of `warpwright` are recorded; other kernels of ours are `warpwright-…`.
pub const OURS: &str = "warpwright";

/// The operations that users call, or what they launch.
fn ours<'c>(context: &'c Context<'_>, case: &Case, _slot: &mut Slot) -> Result<Option<Call<'c>>> {
    use AnyBuffer::F32;
    let device = &context.device;
    let plain = |run: Run<'c>| Ok(Some(Call { run, captures: true, note: None }));
    match (case.work, case.dtype, &case.shape) {
        (Work::Add, Dtype::F32, _) => plain(Box::new(move |slot| {
            let Slot { a: F32(x), b: Some(F32(y)), out: F32(z), .. } = slot else { return wrong_type() };
            let launch = Launch::cover(z.len(), gpu::ladder::vector_add::BLOCK);
            device.launch(&gpu::ladder::vector_add::vector_add, launch, (&*x, &*y, z))?;
            Ok(())
        })),
        // What `Device::sum` launches, on memory that is there: it neither allocates nor waits.
        (Work::Sum, Dtype::F32, &Shape::Vector { n, offset }) => {
            let blocks = gpu::reduce::sum::blocks(n);
            let mut partials = device.alloc::<f64>(blocks as usize)?;
            // Every launch leaves it at 0 for the next.
            let mut ticket = device.alloc_zeros::<u32>(1)?;
            plain(Box::new(move |slot| {
                let Slot { a: F32(x), out: F32(out), .. } = slot else { return wrong_type() };
                let x = x.slice(offset..offset + n)?;
                let arguments = (x, &mut partials, &mut ticket, out);
                device.launch(&gpu::reduce::sum::sum_f32, Launch::grid(blocks), arguments)?;
                Ok(())
            }))
        }
        (Work::Transpose, Dtype::F32, &Shape::Matrix { rows, cols, ld }) => plain(Box::new(move |slot| {
            let Slot { a: F32(a), out: F32(b), .. } = slot else { return wrong_type() };
            let a = a.view().as_matrix(Layout::contiguous(rows, cols).ld(ld))?;
            Ok(device.transpose_into(a, b.view_mut().as_matrix(Layout::contiguous(cols, rows))?)?)
        })),
        (Work::Gemm, Dtype::F32, &Shape::Product { mnk: [m, n, k], transposed: [false, false], batch: 1 }) => {
            plain(Box::new(move |slot| {
                let Slot { a: F32(a), b: Some(F32(b)), out: F32(c), .. } = slot else { return wrong_type() };
                let a = a.view().as_matrix(Layout::contiguous(m, k))?;
                let b = b.view().as_matrix(Layout::contiguous(k, n))?;
                Ok(device.matmul_into(a, b, c.view_mut().as_matrix(Layout::contiguous(m, n))?)?)
            }))
        }
        _ => Ok(None),
    }
}

#[allow(clippy::unnecessary_wraps, reason = "it has the signature of `Implementation::prepare`")]
/// Operations that hand their result to the host: they allocate, and wait.
fn blocking<'c>(context: &'c Context<'_>, case: &Case, _slot: &mut Slot) -> Result<Option<Call<'c>>> {
    let device = &context.device;
    match (case.work, case.dtype, &case.shape) {
        (Work::Sum, Dtype::F32, &Shape::Vector { n, offset }) => Ok(Some(Call {
            run: Box::new(move |slot| {
                let AnyBuffer::F32(x) = &slot.a else { return wrong_type() };
                slot.returned = Some(device.sum(x.slice(offset..offset + n)?)?.into());
                Ok(())
            }),
            captures: false,
            note: None,
        })),
        _ => Ok(None),
    }
}

fn wrong_type() -> Result<()> {
    anyhow::bail!("the slot holds other types than the case has")
}

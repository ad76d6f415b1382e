//! The implementations: ours and those of other libraries. To add one, add a line to [`ALL`].

use anyhow::{Context as _, Result};
use gpu::gemm::ffma;
use warpwright::{Device, Launch, Layout};

use super::calls;
use super::case::{Case, Dtype, Shape, Work};
use super::data::AnyBuffer;
use super::gemm;
use super::grouped_gemm;
use super::ours;
use super::slot::Slot;
use crate::job::matmul::Gemm;
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

/// A case prepared by an implementation, ready to be called repeatedly.
pub struct Call<'c> {
    /// Queues the work on the stream, for the operands and results of a slot.
    pub run: Run<'c>,
    /// Whether it can be captured in a CUDA graph: it neither waits nor allocates.
    pub captures: bool,
    /// What was chosen in preparing it, for the record.
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
    Implementation { name: OURS, prepare: ours::prepare },
    Implementation { name: "warpwright-blocking", prepare: blocking },
    Implementation { name: "warpwright-128x256", prepare: |context, case, _| tiles(context, case, &GEMMS[0]) },
    Implementation { name: "warpwright-128x128", prepare: |context, case, _| tiles(context, case, &GEMMS[1]) },
    Implementation { name: "warpwright-64x64", prepare: |context, case, _| tiles(context, case, &GEMMS[2]) },
    Implementation { name: "warpwright-mma", prepare: gemm::mma },
    Implementation {
        name: "warpwright-grouped-2x128x256",
        prepare: |c, case, slot| grouped_gemm::tile(c, case, slot, "_2x128x256"),
    },
    Implementation {
        name: "warpwright-grouped-128x256",
        prepare: |c, case, slot| grouped_gemm::tile(c, case, slot, "_128x256"),
    },
    Implementation {
        name: "warpwright-grouped-128x128",
        prepare: |c, case, slot| grouped_gemm::tile(c, case, slot, "_128x128"),
    },
    Implementation {
        name: "warpwright-grouped-64x128",
        prepare: |c, case, slot| grouped_gemm::tile(c, case, slot, "_64x128"),
    },
    Implementation { name: "copy", prepare: calls::copy },
    Implementation { name: "cub", prepare: calls::cub },
    Implementation { name: "cublas", prepare: calls::cublas },
    Implementation { name: "cublas-grouped", prepare: calls::cublas_grouped },
    Implementation { name: "cublaslt", prepare: calls::cublaslt },
];

/// The name under which the operations of `warpwright` are recorded; other kernels of ours are `warpwright-…`.
pub const OURS: &str = "warpwright";

#[allow(clippy::unnecessary_wraps, reason = "it has the signature of `Implementation::prepare`")]
/// Operations that hand their result to the host: they allocate, and wait.
pub(super) fn blocking<'c>(context: &'c Context<'_>, case: &Case, _slot: &mut Slot) -> Result<Option<Call<'c>>> {
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

/// Kernels of which `Device::matmul` chooses one, with their tiles.
const GEMMS: [(Gemm, [u32; 2]); 3] = [
    (&ffma::gemm_ffma_f32_128x256, [128, 256]),
    (&ffma::gemm_ffma_f32_128x128, [128, 128]),
    (&ffma::gemm_ffma_f32_64x64, [64, 64]),
];

#[allow(clippy::unnecessary_wraps, reason = "it is what `Implementation::prepare` gives")]
/// One of them for every shape, to see whether the choice is right. Only where time means something.
fn tiles<'c>(
    context: &'c Context<'_>,
    case: &Case,
    &(kernel, tile): &'static (Gemm, [u32; 2]),
) -> Result<Option<Call<'c>>> {
    use AnyBuffer::F32;
    let device = &context.device;
    match (case.work, case.dtype, &case.shape) {
        (Work::Gemm, Dtype::F32, &Shape::Gemm { mnk: [m, n, k], transposed: [false, false], batch: 1 })
            if !device.is_simulator() =>
        {
            let run: Run<'c> = Box::new(move |slot| {
                let Slot { a: F32(a), b: Some(F32(b)), out: F32(c), .. } = slot else { return wrong_type() };
                let a = a.view().as_matrix(Layout::contiguous(m, k))?;
                let b = b.view().as_matrix(Layout::contiguous(k, n))?;
                let c = c.view_mut().as_matrix(Layout::contiguous(m, n))?;
                device.launch(kernel, Launch::grid(ffma::grid(m as u32, n as u32, tile)), (a, b, c))?;
                Ok(())
            });
            Ok(Some(Call { run, captures: true, note: None }))
        }
        _ => Ok(None),
    }
}

pub(super) fn wrong_type<T>() -> Result<T> {
    anyhow::bail!("the slot holds other types than the case has")
}

//! Products of groups of rows, each with a matrix B of its own: the experts of a mixture.

mod choice;
mod element;
mod launch;
mod problem;

pub use element::{GroupOffset, GroupedMultiply};

use simt::KernelInfo;

use self::problem::GroupedProblem;
use super::element::Output;
use super::options::Op;
use super::stream_k::FixupMemory;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::memory::{BufferView, BufferViewMut, Matrix, TensorView, TensorViewMut};
use crate::stream::Stream;

/// The operation's name in error messages.
const CALL: &str = "grouped_gemm";

/// A builder for a grouped product: see [`Device::grouped_gemm`].
#[derive(Debug)]
#[must_use = "a builder computes nothing: call `run` or `into`"]
pub struct GroupedGemm<'a, T: GroupedMultiply> {
    device: &'a Device,
    stream: Option<&'a Stream>,
    a: TensorView<'a, T>,
    b: TensorView<'a, T>,
    op_b: Op,
    offsets: BufferView<'a, u32>,
    /// alpha and beta.
    scale: [f32; 2],
    /// Factors of rows and of columns.
    scales: [Option<BufferView<'a, f32>>; 2],
    kernel: Option<&'static KernelInfo>,
    sm_count_target: Option<u32>,
    workspace: Option<BufferViewMut<'a, f32>>,
    /// Whether the simulator refuses wrong offsets.
    checks_offsets: bool,
}

impl Device {
    /// A builder for products of groups of rows: `C_g = A_g·B_g` for each group g, in one launch.
    ///
    /// ```text
    ///   ┌───────── k ─────────┐                      ┌─── n ───┐  offsets[0] = 0
    ///   │         A_0         │                      │   C_0   │
    ///   ├─────────────────────┤    B_0, B_1, …       ├─────────┤  offsets[1]
    ///   │         A_1         │    each k × n        │   C_1   │
    ///   └─────────────────────┘                      └─────────┘  offsets[2]
    /// ```
    ///
    /// The groups' rows lie one below the other in A (total rows × k) and C (total rows × n). B is a tensor of three
    /// axes: groups, k and n, or with [`GroupedGemm::transpose_b`] groups, n and k. `offsets` is in the device's
    /// memory, `u32` or `i32`: group g has rows `offsets[g]` to `offsets[g + 1]` − 1. The first offset may be left out:
    /// with as many offsets as groups, each is where a group ends, as `torch._grouped_mm` has them. Groups may have
    /// any number of rows, none too. Rows before the first group and after the last are not written.
    ///
    /// **The host does not read the offsets**: nothing waits, and a CUDA graph can contain the call. So a GPU does not
    /// refuse wrong ones. A group begins where the one before ends, and ends at its offset, but no earlier than it
    /// begins and no later than A does: offsets that decrease or are too large (negative ones as well) change which
    /// rows are multiplied by which B, and nothing outside C is written. The simulator has the offsets at hand, and
    /// refuses such a call.
    ///
    /// Elements are `f16`, `bf16` or [`E4m3`](crate::E4m3), added up in `f32`. The kernels for Hopper need A by rows,
    /// and A and B at addresses and strides of multiples of 16 bytes; those of `E4m3` also
    /// [`GroupedGemm::transpose_b`]. Everything else, other GPUs too, is computed by a kernel with one thread for each
    /// element of C, which is slow: [`GroupedGemm::chosen`] says which it is, and
    /// [docs/gemm.md](https://github.com/warpwright/warpwright/blob/main/docs/gemm.md) how it is chosen.
    ///
    /// ```
    /// use ndarray::array;
    /// use warpwright::half::bf16;
    /// let device = warpwright::Device::simulator();
    /// let numbers = |x: &[f32]| x.iter().map(|&x| bf16::from_f32(x)).collect::<Vec<_>>();
    /// // Three rows of two: one of group 0, none of group 1, two of group 2.
    /// let a = device.upload(&array![[1.0_f32, 2.0], [3.0, 4.0], [5.0, 6.0]].mapv(bf16::from_f32))?;
    /// let b = device.upload(&numbers(&[1.0, 1.0, 7.0, 7.0, 10.0, -1.0]))?;
    /// let offsets = device.upload(&[0_u32, 1, 1, 3])?;
    /// let c = device.grouped_gemm(&a, b.view().as_tensor(&[3, 2, 1])?, &offsets).run()?;
    /// assert_eq!(c.download()?.mapv(f32::from), array![[3.0], [26.0], [44.0]]);
    /// # Ok::<(), warpwright::Error>(())
    /// ```
    pub fn grouped_gemm<'a, T: GroupedMultiply, O: GroupOffset>(
        &'a self,
        a: impl Into<TensorView<'a, T>>,
        b: impl Into<TensorView<'a, T>>,
        offsets: impl Into<BufferView<'a, O>>,
    ) -> GroupedGemm<'a, T> {
        GroupedGemm {
            device: self,
            stream: None,
            a: a.into(),
            b: b.into(),
            op_b: Op::N,
            offsets: offsets.into().cast(),
            scale: [1.0, 0.0],
            scales: [None; 2],
            kernel: None,
            sm_count_target: None,
            workspace: None,
            checks_offsets: true,
        }
    }
}

impl<'a, T: GroupedMultiply> GroupedGemm<'a, T> {
    /// `op(B_g) = B_gᵀ`: B has the axes groups, n and k.
    pub fn transpose_b(self) -> Self {
        Self { op_b: Op::T, ..self }
    }

    /// The factor of `A_g·op(B_g)`; 1 by default. With 0 neither A nor B is read.
    pub fn alpha(self, alpha: f32) -> Self {
        Self { scale: [alpha, self.scale[1]], ..self }
    }

    /// The factor of C's old value; 0 by default. With 0 C is not read.
    pub fn beta(self, beta: f32) -> Self {
        Self { scale: [self.scale[0], beta], ..self }
    }

    /// Multiplies each row of the products by a factor, before alpha: as many as A has rows. Of `E4m3` the factors with
    /// which rows were quantized; of a mixture of experts also the weights of the router.
    pub fn row_scales(self, factors: impl Into<BufferView<'a, f32>>) -> Self {
        Self { scales: [Some(factors.into()), self.scales[1]], ..self }
    }

    /// Multiplies each column of each group's product by a factor, before alpha: n factors for each group, one group
    /// after the other.
    ///
    /// ```
    /// use ndarray::Array2;
    /// use warpwright::{E4m3, half::bf16};
    /// let device = warpwright::Device::simulator();
    /// // Three rows, two experts of 16 x 16.
    /// let a = device.upload(&Array2::from_elem((3, 16), E4m3::from_f32(1.0)))?;
    /// let b = device.upload(&vec![E4m3::from_f32(0.5); 2 * 16 * 16])?;
    /// let (rows, ends) = (device.upload(&[1.0_f32, 10.0, 100.0])?, device.upload(&[1_u32, 3])?);
    /// let columns = device.upload(&[[1.0_f32; 16], [2.0; 16]].concat())?;
    /// let gemm = device.grouped_gemm(&a, b.view().as_tensor(&[2, 16, 16])?, &ends).transpose_b();
    /// let c = gemm.row_scales(&rows).column_scales(&columns).run_as::<bf16>()?.download()?;
    /// assert_eq!(c.column(0).mapv(f32::from), ndarray::arr1(&[8.0, 160.0, 1600.0]));
    /// # Ok::<(), warpwright::Error>(())
    /// ```
    pub fn column_scales(self, factors: impl Into<BufferView<'a, f32>>) -> Self {
        Self { scales: [self.scales[0], Some(factors.into())], ..self }
    }

    /// Queues the work on this stream instead of the device's default stream.
    pub fn stream(self, stream: &'a Stream) -> Self {
        Self { stream: Some(stream), ..self }
    }

    /// Uses this kernel, one of `gpu::gemm::GROUPED` or of `gpu::gemm::grouped_reference`.
    pub fn kernel(self, kernel: &'static KernelInfo) -> Self {
        Self { kernel: Some(kernel), ..self }
    }

    /// The number of SMs that the work should occupy: see
    /// [`Gemm::sm_count_target`](super::Gemm::sm_count_target).
    pub fn sm_count_target(self, sm_count: u32) -> Self {
        Self { sm_count_target: Some(sm_count.max(1)), ..self }
    }

    /// Memory for partial sums of tiles that several blocks compute, so that the last of them leave no SM idle:
    /// [`GroupedGemm::workspace_len`] says how much. With less, or none, each tile is one block's. Otherwise as
    /// [`Gemm::workspace`](super::Gemm::workspace).
    ///
    /// ```
    /// use warpwright::half::bf16;
    /// let device = warpwright::Device::simulator();
    /// let ones = device.upload(&vec![bf16::ONE; 2 * 64 * 2048])?;
    /// let (a, b) = (ones.view().as_tensor(&[64, 2048])?, ones.view().as_tensor(&[2, 64, 2048])?);
    /// let ends = device.upload(&[40_u32, 64])?;
    /// let mut c = device.alloc_matrix::<bf16>(64, 64)?;
    /// let gemm = device.grouped_gemm(a, b, &ends).transpose_b();
    /// let mut workspace = device.alloc(gemm.workspace_len(&c)?)?;
    /// gemm.workspace(&mut workspace).into(&mut c)?;
    /// # Ok::<(), warpwright::Error>(())
    /// ```
    pub fn workspace(self, workspace: impl Into<BufferViewMut<'a, f32>>) -> Self {
        Self { workspace: Some(workspace.into()), ..self }
    }

    /// The elements of [`GroupedGemm::workspace`] that are of use for such a C: 0 with more than 32 groups or a short
    /// k, where tiles are never split.
    ///
    /// # Errors
    /// As [`GroupedGemm::into`], before anything is launched.
    pub fn workspace_len<'c, C: Output<T>>(&self, c: impl Into<TensorView<'c, C>>) -> Result<usize> {
        let problem = GroupedProblem::new(self, c.into())?;
        let choice = choice::choose(self, &problem, usize::MAX)?;
        Ok(choice.and_then(|choice| choice.fixup).map_or(0, FixupMemory::workspace_len))
    }

    /// Has the simulator take offsets as a GPU does: wrong ones are not refused.
    #[doc(hidden)]
    pub fn offsets_unchecked(self) -> Self {
        Self { checks_offsets: false, ..self }
    }

    /// Allocates C, in the type of A and B, and a workspace if none was given. Rows of no group have any content.
    ///
    /// # Errors
    /// As [`GroupedGemm::into`]; beta is not 0; as [`Device::alloc_matrix`].
    pub fn run(self) -> Result<Matrix<T>>
    where
        T: Output<T>,
    {
        self.run_as()
    }

    /// [`GroupedGemm::run`] with a C of another type: `f32`, and of `E4m3` also `bf16` and `f16`.
    ///
    /// # Errors
    /// As [`GroupedGemm::run`].
    pub fn run_as<C: Output<T>>(self) -> Result<Matrix<C>> {
        let [m, n] = problem::product_shape(&self)?;
        self.check_no_beta()?;
        let mut c = self.device.alloc_matrix_on(self.stream_queue()?, m, n)?;
        self.into_with_workspace(c.view_mut().into())?;
        Ok(c)
    }

    /// [`GroupedGemm::into`], with a workspace of its own if tiles may be split and none was given.
    fn into_with_workspace<C: Output<T>>(self, mut c: TensorViewMut<'_, C>) -> Result<()> {
        let problem = GroupedProblem::new(&self, c.view())?;
        let choice = choice::choose(&self, &problem, usize::MAX)?;
        let fixup = choice.as_ref().and_then(|choice| choice.fixup);
        let Some(memory) = fixup.filter(|_| self.workspace.is_none()) else { return self.into(c) };
        self.check_offsets(&problem)?;
        let mut workspace = match self.device.alloc_on(self.stream_queue()?, memory.workspace_len()) {
            Err(Error::OutOfMemory { .. }) => return self.into(c),
            workspace => workspace?,
        };
        memory.zero_flags(&mut workspace)?;
        GroupedGemm { workspace: Some(workspace.view_mut()), ..self }.queue(&problem, choice, &mut c)
    }

    /// Refuses wrong offsets, where the host has them at hand.
    fn check_offsets(&self, problem: &GroupedProblem) -> Result<()> {
        if self.checks_offsets && self.device.is_simulator() {
            problem::check_offsets(&self.offsets.download()?, problem)?;
        }
        Ok(())
    }

    /// `f32` of the workspace that was given.
    fn available(&self) -> usize {
        self.workspace.as_ref().map_or(0, BufferViewMut::len)
    }

    /// Queues the products into C, a matrix by rows, in the type of A and B, in `f32`, or of `E4m3` in `bf16` or `f16`.
    /// It allocates nothing and does not wait.
    ///
    /// ```
    /// use warpwright::half::f16;
    /// let device = warpwright::Device::simulator();
    /// let ones = device.upload(&[f16::ONE; 4 * 8])?;
    /// let (a, b) = (ones.view().as_tensor(&[4, 8])?, ones.view().as_tensor(&[2, 2, 8])?);
    /// let ends = device.upload(&[3_i32, 4])?;
    /// let mut c = device.alloc_matrix_zeros::<f32>(4, 2)?;
    /// device.grouped_gemm(a, b, &ends).transpose_b().alpha(0.5).beta(1.0).into(&mut c)?;
    /// assert_eq!(c.download()?, ndarray::Array2::from_elem((4, 2), 4.0));
    /// # Ok::<(), warpwright::Error>(())
    /// ```
    ///
    /// # Errors
    /// - [`crate::Error::Argument`]: A is not a matrix, B has not three axes, or their k differ; C has not the shape of
    ///   the result, or not its rows contiguous; the number of offsets is neither that of groups nor one more; an
    ///   extent is beyond 2³²; the kernel is not applicable; memory or the stream of another device; on the simulator,
    ///   offsets that decrease or are greater than A's number of rows.
    /// - As [`Device::launch`].
    pub fn into<'c, C: Output<T>>(self, c: impl Into<TensorViewMut<'c, C>>) -> Result<()> {
        let mut c = c.into();
        let problem = GroupedProblem::new(&self, c.view())?;
        self.check_offsets(&problem)?;
        let choice = choice::choose(&self, &problem, self.available())?;
        self.queue(&problem, choice, &mut c)
    }

    /// The kernel that [`GroupedGemm::into`] launches for such a C, with the workspace that was given.
    ///
    /// # Errors
    /// As [`GroupedGemm::into`], before anything is launched.
    pub fn chosen<'c, C: Output<T>>(&self, c: impl Into<TensorView<'c, C>>) -> Result<&'static KernelInfo> {
        let problem = GroupedProblem::new(self, c.into())?;
        Ok(choice::choose(self, &problem, self.available())?
            .map_or(T::REFERENCE.info(), |choice| choice.entry.kernel.info()))
    }
}

//! Reductions along an axis of a tensor.

mod axis_kernels;
mod axis_lines;
mod lines_workspace;

pub use axis_kernels::AxisReduction;
pub use lines_workspace::LinesWorkspace;

use simt::element::Element;

use self::axis_kernels::Kernels;
use self::axis_lines::{Lines, Strategy};
use crate::device::Device;
use crate::error::{ArgumentRule, BadArgument, Result};
use crate::launch::{Fields, Launch};
use crate::memory::{BufferView, BufferViewMut, Tensor, TensorView};
use crate::ops::on;
use crate::stream::Stream;

/// The lines of a tensor, and how a kernel reduces them; `None` if there are none.
type Plan = (Lines, Option<Strategy>);

/// The plan to reduce `x` along `axis`.
fn plan<T: Element, R: AxisReduction<T>>(call: &str, reduction: R, x: &TensorView<'_, T>, axis: usize) -> Result<Plan> {
    let lines = Lines::new(call, x.axes(), axis)?;
    if lines.count == 0 {
        return Ok((lines, None));
    }
    reduction.check(lines.length)?;
    let strategy = lines.strategy(x.address(), size_of::<T>(), R::VECTOR, R::STATE_WORDS);
    Ok((lines, Some(strategy)))
}

/// 8-byte words of workspace for lines whose states have `state_words` each.
fn words(lines: &Lines, strategy: Option<&Strategy>, state_words: usize) -> usize {
    strategy.map_or(0, |strategy| strategy.workspace_words(lines.count, state_words))
}

/// The depth of the reduction tree of `x` along `axis`, for the bounds of [`crate::reference`].
///
/// # Errors
/// As [`Device::reduce_axis`].
pub fn axis_depth<'a, T: Element, R: AxisReduction<T>>(
    reduction: R,
    x: impl Into<TensorView<'a, T>>,
    axis: usize,
) -> Result<u64> {
    let (lines, strategy) = plan("axis_depth", reduction, &x.into(), axis)?;
    Ok(match strategy {
        Some(Strategy::Rows { plan, .. }) => plan.depth(lines.length as u64, R::VECTOR / size_of::<T>() as u64),
        Some(Strategy::Columns { plan, .. }) => plan.depth(),
        None => 0,
    })
}

impl Device {
    /// Reduces each line of `x` along `axis` to one number; the result has the other axes. Does not wait.
    ///
    /// `x` may be any tensor of up to six axes, with any strides. Accuracy, result types and NaN handling are those of
    /// reductions to one number (see [the table](crate::reduce)); an index counts along the axis. Lines that are
    /// contiguous, or whose neighbours are, are read at the speed of memory.
    ///
    /// ```
    /// use warpwright::reduce::{ArgMax, Sum};
    /// use warpwright::{Device, Tensor};
    /// let device = Device::simulator();
    /// let x = Tensor::from_buffer(device.upload(&[1.0_f32, 5.0, 3.0, 4.0, 2.0, 6.0])?, &[2, 3])?;
    /// assert_eq!(device.reduce_axis(Sum, &x, 0)?.download()?, [5.0, 7.0, 9.0]);
    /// assert_eq!(device.reduce_axis(Sum, &x, 1)?.download()?, [9.0, 12.0]);
    /// assert_eq!(device.reduce_axis(ArgMax, x.view().permuted(&[1, 0])?, 0)?.download()?, [1, 2]);
    /// # Ok::<(), warpwright::Error>(())
    /// ```
    ///
    /// # Errors
    /// - [`crate::Error::Argument`]: no such axis; too few elements along it for the reduction to be defined; 2³²
    ///   results or more.
    /// - As [`Device::alloc`] and [`Device::launch`].
    pub fn reduce_axis<'a, T: Element, R: AxisReduction<T>>(
        &self,
        reduction: R,
        x: impl Into<TensorView<'a, T>>,
        axis: usize,
    ) -> Result<Tensor<R::Output>> {
        let x = x.into();
        let (lines, strategy) = plan("reduce_axis", reduction, &x, axis)?;
        let mut workspace = LinesWorkspace::with_words(self, words(&lines, strategy.as_ref(), R::STATE_WORDS))?;
        let mut out = self.alloc_on(self.queue(), lines.count)?;
        let call = LinesCall { device: self, name: "reduce_axis", stream: None };
        call.queue((reduction, x), (&lines, strategy), out.view_mut(), &mut workspace)?;
        Tensor::from_buffer(out, &lines.shape)
    }

    /// Bytes of the [`LinesWorkspace`] for a reduction of `x` along `axis`; often 0. They depend on how `x` is aligned
    /// to 16 bytes, not on its address otherwise.
    ///
    /// # Errors
    /// No such axis; too few elements along it.
    pub fn reduce_axis_bytes<'a, T: Element, R: AxisReduction<T>>(
        &self,
        reduction: R,
        x: impl Into<TensorView<'a, T>>,
        axis: usize,
    ) -> Result<usize> {
        let (lines, strategy) = plan("reduce_axis_bytes", reduction, &x.into(), axis)?;
        Ok(8 * words(&lines, strategy.as_ref(), R::STATE_WORDS))
    }

    /// [`Device::reduce_axis`] into `out`: one launch, no allocation, no waiting, for use on a stream or in a CUDA
    /// graph (once any reduction along an axis has loaded the kernels). `out` has an element for each line, row-major
    /// over the other axes.
    ///
    /// ```
    /// use warpwright::reduce::{LinesWorkspace, Mean};
    /// use warpwright::Device;
    /// let device = Device::simulator();
    /// let (x, mut means) = (device.upload(&[1.0_f64, 2.0, 3.0, 5.0])?, device.alloc::<f64>(2)?);
    /// let x = x.view().as_tensor(&[2, 2])?;
    /// let mut workspace = LinesWorkspace::new(&device, device.reduce_axis_bytes(Mean, x, 0)?)?;
    /// device.reduce_axis_into(Mean, x, 0, &mut means, &mut workspace, None)?;
    /// assert_eq!(means.download()?, [2.0, 3.5]);
    /// # Ok::<(), warpwright::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Device::reduce_axis`] except allocation; the length of `out` is not the number of lines, or the workspace
    /// is too small; the stream or any memory belongs to another device.
    pub fn reduce_axis_into<'x, 'o, T: Element, R: AxisReduction<T>>(
        &self,
        reduction: R,
        x: impl Into<TensorView<'x, T>>,
        axis: usize,
        out: impl Into<BufferViewMut<'o, R::Output>>,
        workspace: &mut LinesWorkspace,
        stream: Option<&Stream>,
    ) -> Result<()> {
        let x = x.into();
        let call = LinesCall { device: self, name: "reduce_axis_into", stream };
        let (lines, strategy) = plan(call.name, reduction, &x, axis)?;
        call.queue((reduction, x), (&lines, strategy), out.into(), workspace)
    }
}

/// One call of a reduction along an axis.
struct LinesCall<'a> {
    device: &'a Device,
    /// Its name in error messages.
    name: &'static str,
    stream: Option<&'a Stream>,
}

impl LinesCall<'_> {
    /// Queues the reduction of the lines of `x`.
    fn queue<T: Element, R: AxisReduction<T>>(
        &self,
        (reduction, x): (R, TensorView<'_, T>),
        (lines, strategy): (&Lines, Option<Strategy>),
        out: BufferViewMut<'_, R::Output>,
        workspace: &mut LinesWorkspace,
    ) -> Result<()> {
        let words = words(lines, strategy.as_ref(), R::STATE_WORDS);
        let parameter = if strategy.is_some() { reduction.parameter(lines.length) } else { 0 };
        // The constructor of the view checked that the extent does not overflow.
        let x = x.cast_range::<R::Read>(0, x.axes().span().unwrap_or(0));
        self.launch(&R::KERNELS, (x, out.cast::<R::Written>()), (lines, strategy, words, parameter), workspace)
    }

    /// Launches a kernel, many reductions' own.
    fn launch<T: Element, U: Element>(
        &self,
        (rows, columns): &Kernels<T, U>,
        (x, out): (BufferView<'_, T>, BufferViewMut<'_, U>),
        (lines, strategy, words, parameter): (&Lines, Option<Strategy>, usize, u64),
        workspace: &mut LinesWorkspace,
    ) -> Result<()> {
        let Self { device, name, stream } = *self;
        if out.len() != lines.count {
            return Err(BadArgument::new(ArgumentRule::Length, name, "out")
                .expected(format_args!("{} elements, one for each line", lines.count))
                .found(out.len())
                .remedy("pass a slice of that length; the results are row-major over the other axes")
                .into());
        }
        device.check_same(x.device(), name, "x")?;
        device.check_same(out.device(), name, "out")?;
        let Some(strategy) = strategy else { return Ok(()) };
        let workspace = workspace.view_mut(name, words)?;
        let grid = |blocks: u32| on(stream, Launch::grid(blocks));
        let length = lines.length as u64;
        match strategy {
            Strategy::Rows { plan, extents, strides } => {
                let arguments = (x, workspace, out, Fields((length, strides, parameter)), extents, plan.config);
                device.launch(rows, grid(plan.blocks), arguments)?;
            }
            Strategy::Columns { plan, extents, strides, out_strides, stride, out_step } => {
                let length = [length, stride, plan.per_chunk];
                let args = Fields((length, strides, out_strides, out_step, parameter));
                let arguments = (x, workspace, out, args, extents, plan.config);
                device.launch(columns, grid(plan.blocks), arguments)?;
            }
        }
        Ok(())
    }
}

//! Reductions along an axis of a tensor.

mod fold;
mod kinds;
mod workspace;

pub use kinds::AxisReduction;
pub use workspace::LinesWorkspace;

use simt::element::Element;

use self::fold::{Lines, Strategy};
use crate::device::Device;
use crate::error::{ArgumentRule, BadArgument, Result};
use crate::launch::Launch;
use crate::memory::{BufferViewMut, Tensor, TensorView};
use crate::stream::Stream;

/// The lines of `x` along `axis` and the way of their kernel, if there are any.
fn ways<T: Element, R: AxisReduction<T>>(
    call: &str,
    reduction: R,
    x: &TensorView<'_, T>,
    axis: usize,
) -> Result<(Lines, Option<Strategy>)> {
    let lines = Lines::new(call, x.axes(), axis)?;
    if lines.count == 0 {
        return Ok((lines, None));
    }
    reduction.check(lines.length)?;
    let strategy = lines.strategy(x.address(), size_of::<T>(), R::VECTOR, R::STATE_WORDS);
    Ok((lines, Some(strategy)))
}

/// The most merges that an element passes through in a reduction of `x` along `axis`: what the oracle's bounds need.
///
/// # Errors
/// As [`Device::reduce_axis`].
pub fn axis_depth<'a, T: Element, R: AxisReduction<T>>(
    reduction: R,
    x: impl Into<TensorView<'a, T>>,
    axis: usize,
) -> Result<u64> {
    let (lines, strategy) = ways("axis_depth", reduction, &x.into(), axis)?;
    Ok(match strategy {
        Some(Strategy::Rows { plan, .. }) => plan.depth(lines.length as u64, R::VECTOR / size_of::<T>() as u64),
        Some(Strategy::Columns { plan, .. }) => plan.depth(),
        None => 0,
    })
}

impl Device {
    /// Reduces each line of `x` along `axis` to one number; the result has the other axes. Does not wait.
    ///
    /// `x` may be any tensor of up to six axes, whatever its strides. Accuracy, what comes out and the policy for NaNs are those
    /// of reductions to one number (see [the table](crate::reduce)); an index counts along the axis. Lines whose elements or
    /// neighbours lie side by side are read at the speed of memory.
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
    /// - [`crate::Error::Argument`]: no such axis; too few elements along it, where the reduction of nothing is not defined;
    ///   2³² results or more.
    /// - As [`Device::alloc`] and [`Device::launch`].
    pub fn reduce_axis<'a, T: Element, R: AxisReduction<T>>(
        &self,
        reduction: R,
        x: impl Into<TensorView<'a, T>>,
        axis: usize,
    ) -> Result<Tensor<R::Output>> {
        let x = x.into();
        let (lines, strategy) = ways("reduce_axis", reduction, &x, axis)?;
        let words = strategy.as_ref().map_or(0, |strategy| strategy.workspace_words(lines.count, R::STATE_WORDS));
        let mut workspace = LinesWorkspace::with_words(self, words)?;
        let mut out = self.alloc(lines.count)?;
        self.queue_lines("reduce_axis", reduction, x, (&lines, strategy), out.view_mut(), &mut workspace, None)?;
        Tensor::from_buffer(out, &lines.shape)
    }

    /// Bytes of a [`LinesWorkspace`] for a reduction of `x` along `axis`; 0 for many, and the same for every start of `x` that is
    /// aligned alike to 16 bytes.
    ///
    /// # Errors
    /// No such axis; too few elements along it.
    pub fn reduce_axis_bytes<'a, T: Element, R: AxisReduction<T>>(
        &self,
        reduction: R,
        x: impl Into<TensorView<'a, T>>,
        axis: usize,
    ) -> Result<usize> {
        let (lines, strategy) = ways("reduce_axis_bytes", reduction, &x.into(), axis)?;
        Ok(strategy.map_or(0, |strategy| 8 * strategy.workspace_words(lines.count, R::STATE_WORDS)))
    }

    /// [`Device::reduce_axis`] to memory of the caller's: one launch, no allocation, no waiting, for use on a stream or in a CUDA
    /// graph (once any reduction of this family has loaded the kernels). `out` has an element for each line, those of the last of
    /// the other axes next to each other.
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
    /// As [`Device::reduce_axis`] but for allocation; `out` has not as many elements as there are lines, or the workspace
    /// too few bytes; the stream or any memory is of another device.
    pub fn reduce_axis_into<'x, 'o, T: Element, R: AxisReduction<T>>(
        &self,
        reduction: R,
        x: impl Into<TensorView<'x, T>>,
        axis: usize,
        out: impl Into<BufferViewMut<'o, R::Output>>,
        workspace: &mut LinesWorkspace,
        stream: Option<&Stream>,
    ) -> Result<()> {
        let (x, call) = (x.into(), "reduce_axis_into");
        let (lines, strategy) = ways(call, reduction, &x, axis)?;
        self.queue_lines(call, reduction, x, (&lines, strategy), out.into(), workspace, stream)
    }

    #[allow(clippy::too_many_arguments, reason = "what a launch needs")]
    fn queue_lines<T: Element, R: AxisReduction<T>>(
        &self,
        call: &str,
        reduction: R,
        x: TensorView<'_, T>,
        (lines, strategy): (&Lines, Option<Strategy>),
        out: BufferViewMut<'_, R::Output>,
        workspace: &mut LinesWorkspace,
        stream: Option<&Stream>,
    ) -> Result<()> {
        if out.len() != lines.count {
            return Err(BadArgument::new(ArgumentRule::Length, call, "out")
                .expected(format_args!("{} elements, one for each line", lines.count))
                .found(out.len())
                .remedy("take a slice of so many; their order is that of the other axes, the last varying fastest")
                .into());
        }
        self.check_same(x.device(), call, "x")?;
        self.check_same(out.device(), call, "out")?;
        let Some(strategy) = strategy else { return Ok(()) };
        let workspace = workspace.view_mut(call, strategy.workspace_words(lines.count, R::STATE_WORDS))?;
        let on = |blocks: u32| {
            let launch = Launch::grid(blocks);
            match stream {
                Some(stream) => launch.stream(stream),
                None => launch,
            }
        };
        // That it can be counted was checked when the view was made.
        let x = x.bits::<R::Read>(0, x.axes().span().unwrap_or(0));
        let out = out.cast::<R::Written>();
        let (length, parameter) = (lines.length as u64, reduction.parameter(lines.length));
        let (rows, columns) = R::KERNELS;
        match strategy {
            Strategy::Rows { plan, extents, strides } => {
                let arguments = (x, workspace, out, length, extents, strides, plan.config, parameter);
                self.launch(&rows, on(plan.blocks), arguments)?;
            }
            Strategy::Columns { plan, extents, strides, out_strides, stride, out_step } => {
                let length = [length, stride, plan.per_chunk];
                let arguments =
                    (x, workspace, out, length, extents, strides, out_strides, plan.config, out_step, parameter);
                self.launch(&columns, on(plan.blocks), arguments)?;
            }
        }
        Ok(())
    }
}

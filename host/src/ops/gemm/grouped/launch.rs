//! The launch of a grouped product.

use gpu::gemm::args::{SCALES, TRANSPOSE_A, TRANSPOSE_B};
use gpu::gemm::reference;
use simt::tma::Swizzle;

use super::choice::Choice;
use super::problem::GroupedProblem;
use super::{CALL, GroupedGemm, GroupedMultiply};
use crate::error::{ArgumentRule, BadArgument, Error, Result};
use crate::launch::{Fields, Launch};
use crate::memory::{BufferView, BufferViewMut, TensorViewMut, TmaShape, TmaShapeMut};
use crate::ops::gemm::arguments::GemmArguments;
use crate::ops::gemm::element::{Output, OutputBuffers};
use crate::ops::gemm::launch::{store_flag, tma_tensor};
use crate::ops::gemm::launch_config::{OperandMap, axes};
use crate::ops::gemm::operands::OperandLayout;
use crate::ops::gemm::stream_k::StreamKArgs;
use crate::ops::on;

impl<T: GroupedMultiply> GroupedGemm<'_, T> {
    /// SMs that the work may occupy.
    pub(super) fn sm_count(&self) -> u32 {
        let all = self.device.limits().sm_count;
        self.sm_count_target.map_or(all, |target| target.min(all))
    }

    /// Launches the kernel that is chosen.
    pub(super) fn queue<C: Output<T>>(
        mut self,
        problem: &GroupedProblem,
        choice: Option<Choice<T>>,
        c: &mut TensorViewMut<'_, C>,
    ) -> Result<()> {
        if problem.is_empty() {
            return Ok(());
        }
        let elements = problem.c.extent(1, problem.m, problem.n);
        let c = OutputBuffers::of(c.cast_range_mut::<C>(0, elements));
        match choice {
            Some(choice) => {
                let workspace = self.workspace.take();
                self.tma(&choice, problem, c, workspace)
            }
            None => self.reference(problem, c),
        }
    }

    fn arguments<'c>(&self, problem: &GroupedProblem, c: OutputBuffers<'c, T>, flags: u32) -> GemmArguments<'c, T>
    where
        Self: 'c,
    {
        let &GroupedProblem { m, n, k, groups, c: to, .. } = problem;
        GemmArguments {
            bias: self.a.cast_range(0, 0),
            ldc: to.ld as u64,
            stride_c: 0,
            extents: [m, n, k, groups].map(|extent| extent as u32),
            scale: if k == 0 { [0.0, self.scale[1]] } else { self.scale },
            flags: flags | c.flag | if self.scales.iter().any(Option::is_some) { SCALES } else { 0 },
            c,
        }
    }

    /// Factors of rows and columns; those that are not given are empty.
    fn scales(&self) -> Fields<(BufferView<'_, f32>, BufferView<'_, f32>)> {
        let none = self.a.cast_range::<T>(0, 0).empty();
        let [rows, columns] = self.scales.map(|factors| factors.unwrap_or(none));
        Fields((rows, columns))
    }

    fn tma(
        &self,
        &Choice { entry, clusters, fixup }: &Choice<T>,
        problem: &GroupedProblem,
        mut c: OutputBuffers<'_, T>,
        workspace: Option<BufferViewMut<'_, f32>>,
    ) -> Result<()> {
        let &GroupedProblem { groups, a, b, c: to, .. } = problem;
        let (config, bytes) = (entry.config, size_of::<T>());
        let none = c.own.empty::<T>();
        let stream_k = match fixup.zip(workspace) {
            // The device counts the tiles, and how many of them are split.
            Some((memory, workspace)) => StreamKArgs::new([u32::MAX, 0], memory, workspace)?,
            None => StreamKArgs::none(&none),
        };
        let ([edge_a, edge_b], line) = (config.k_major_rows(), config.depth());
        let rows = if b.transposed { edge_b } else { line };
        let load = |layout, matrices, rows| {
            let shape = TmaShape::new(bytes, &axes(layout, matrices)?, &[1, rows, line], Swizzle::B128)?;
            Ok::<_, Error>(OperandMap { start: 0, shape })
        };
        let (map_a, map_b) = (load(a, 1, edge_a)?, load(b, groups, rows)?);
        let (from_a, from_b) = (tma_tensor(self.a.elements(), &map_a)?, tma_tensor(self.b.elements(), &map_b)?);
        let box_rows = config.store_rows().filter(|_| !c.is_wide() && self.scale[1] == 0.0);
        let copies = box_rows.is_some() && config.copies_boxes();
        let shape;
        let map_c = if let Some(rows) = box_rows.filter(|_| to.tma_storable(1, c.element_bytes())) {
            // The map has elements of `T`: bytes where these have 8 bits.
            let times = c.element_bytes() / bytes;
            let stored = OperandLayout { cols: to.cols * times, ld: to.ld * times, ..to };
            shape = TmaShapeMut::new(bytes, &axes(stored, 1)?, &[1, rows, line], Swizzle::B128)?;
            let none = c.own.empty();
            // Threads store what TMA does not.
            let (own, stored) = shape.within::<T, _>(std::mem::replace(&mut c.own, none))?;
            c.own = own;
            Some(stored)
        } else {
            None
        };
        let flags = store_flag(map_c.is_some(), copies);
        let arguments = Fields((self.arguments(problem, c, flags), self.offsets, self.scales(), stream_k.fields()));
        let launch = on(self.stream, Launch::grid(clusters * config.cluster));
        self.device.launch(entry.kernel, launch, (from_a, from_b, map_c, arguments))?;
        Ok(())
    }

    fn reference(&self, problem: &GroupedProblem, c: OutputBuffers<'_, T>) -> Result<()> {
        let &GroupedProblem { m, n, k, groups, a, b, .. } = problem;
        let [rows, cols] = reference::TILE.map(|edge| edge as usize);
        let (blocks, most) = (m.div_ceil(rows) * n.div_ceil(cols), self.device.limits().grid[0]);
        if blocks > most as usize {
            return Err(BadArgument::new(ArgumentRule::Extent, CALL, "c")
                .expected(format_args!("at most {most} tiles of {rows} x {cols} elements, without tensor cores"))
                .found(blocks)
                .remedy("align A and B to 16 bytes for kernels on tensor cores, or multiply parts of the groups")
                .into());
        }
        let [from_a, from_b] = if k == 0 {
            [self.a.cast_range(0, 0), self.b.cast_range(0, 0)]
        } else {
            [self.a.cast_range::<T>(0, a.extent(1, m, k)), self.b.cast_range::<T>(0, b.extent(groups, k, n))]
        };
        let transposed = |x: OperandLayout, flag| if x.transposed { flag } else { 0 };
        let flags = transposed(a, TRANSPOSE_A) | transposed(b, TRANSPOSE_B);
        let operands = Fields((from_a, from_b, [a.ld as u64, b.ld as u64], [0, b.stride as u64]));
        let stream_k = StreamKArgs::none(&c.own.empty::<T>()).fields();
        let arguments = Fields((self.arguments(problem, c, flags), self.offsets, self.scales(), stream_k));
        let launch = on(self.stream, Launch::grid(blocks as u32));
        self.device.launch(T::REFERENCE, launch, (operands, arguments))?;
        Ok(())
    }
}

//! The launches of a plan: copies of operands, the kernel that multiplies, and what follows it.

use std::ops::Range;

use gpu::gemm::args::{
    BIAS_PER_COLUMN, BIAS_PER_ROW, COPY_STORE, GemmKernel, LAUNCHES_LATE, SCALES, TMA_STORE, TRANSPOSE_A, TRANSPOSE_B,
};
use gpu::gemm::{ffma, reduce_k};
use half::bf16;
use simt::Kernel;
use simt::element::Element;

use super::algorithm::{FollowUp, Plan, SplitK};
use super::arguments::GemmArguments;
use super::configuration::{Configuration, Entry, Product, TmaConfig};
use super::element::{Multiply, OutputBuffers};
use super::launch_config::{GridLimits, KeptConfig, OperandMap, Operands, launch_config, tiles};
use super::operands::OperandLayout;
use super::problem::Problem;
use super::stream_k::{Schedule, StreamKArgs};
use crate::backend::Pair;
use crate::contract::Role;
use crate::device::Device;
use crate::error::Result;
use crate::launch::{Fields, KernelArgs, Launch};
use crate::memory::{BufferView, BufferViewMut, KeptTensor, MatrixView, MatrixViewMut};
use crate::ops::{grid_parts, on};
use crate::stream::Stream;

/// Estimated time of a product ([`Plan::cost`]) below which its launch and that of the copies are queued at once: 10
/// µs, as long as the host is busy with two launches. That saves the host 3 µs, but such a pair has no programmatic
/// dependent launch, which longer products are better off with.
const PAIRED_BELOW: f64 = 10.0 * 253_440.0;

/// Whether the copies of operands and the product are queued at once.
pub(super) fn is_paired(plan: &Plan) -> bool {
    plan.work.packing.is_one_launch() && plan.cost < PAIRED_BELOW
}

/// A problem with its plan and its memory. C is not empty.
#[derive(Clone, Copy)]
pub(super) struct Task<'t, 'p, T: Multiply> {
    pub(super) device: &'t Device,
    pub(super) stream: Option<&'t Stream>,
    pub(super) problem: &'t Problem,
    pub(super) plan: &'t Plan,
    /// The launch configuration of the plan's kernel, if that takes tensor maps and multiplies all of k at once.
    pub(super) config: &'t KeptConfig,
    pub(super) a: BufferView<'t, T>,
    pub(super) b: BufferView<'t, T>,
    /// A and B as the caller gave them, and their problem, where `a`, `b` and `problem` are of copies.
    pub(super) source: Option<([BufferView<'t, T>; 2], &'t Problem)>,
    pub(super) bias: Option<BufferView<'t, T::Wide>>,
    /// Factors of rows and of columns.
    pub(super) scales: [Option<BufferView<'t, f32>>; 2],
    /// Factors of blocks of A and of B.
    pub(super) block_scales: Option<[MatrixView<'t, f32>; 2]>,
    /// alpha and beta.
    pub(super) scale: [T::Wide; 2],
    /// The kernels' flags for bias and activation.
    pub(super) flags: u32,
    pub(super) limits: GridLimits,
    /// For a plan that [`is_paired`]: the launch that copies operands waits here for that which multiplies.
    pub(super) pair: Option<&'t Pair<'p>>,
}

/// One call of a kernel: its operands and its epilogue.
struct Call<'t, W> {
    operands: Operands,
    /// Where its launch configuration is kept, if it is.
    config: Option<&'t KeptConfig>,
    scale: [W; 2],
    flags: u32,
}

impl<T: Multiply> Task<'_, '_, T> {
    /// Launches everything.
    pub(super) fn run(&self, c: OutputBuffers<'_, T>, workspace: Option<&mut BufferViewMut<'_, f32>>) -> Result<()> {
        let packing = &self.plan.work.packing;
        let workspace = match workspace {
            Some(workspace) if packing.launches() > 0 => workspace,
            workspace => return self.multiply(c, workspace),
        };
        let (copies_len, operands) = (packing.workspace_len(), [self.a, self.b]);
        let (mut partials, rest) = workspace.view_mut().split_at(self.plan.workspace_len() - copies_len)?;
        let (mut copies, _) = rest.split_at(copies_len)?;
        let untyped = operands.map(BufferView::untyped);
        packing.pack((self.device, self.stream, self.pair), self.problem, untyped, &mut copies)?;
        let [a, b] = packing.packed_operands(operands, copies.view())?;
        let (source, problem) = (Some((operands, self.problem)), &packing.apply(self.problem));
        Task { problem, a, b, source, ..*self }.multiply(c, Some(&mut partials))
    }

    /// Launches a kernel after the copies.
    fn launch<P: Copy + Send + Sync, A: KernelArgs<P>>(
        &self,
        kernel: &Kernel<P>,
        launch: Launch<'_>,
        args: A,
    ) -> Result<()> {
        let pair = self.pair.map(|pair| (pair, Role::Second));
        self.device.launch_of_pair(pair, kernel, launch, args).map(drop)
    }

    /// All launches but the copies.
    fn multiply(&self, mut c: OutputBuffers<'_, T>, workspace: Option<&mut BufferViewMut<'_, f32>>) -> Result<()> {
        let configuration = &T::configurations()[self.plan.configuration];
        let work = &self.plan.work;
        match (&configuration.entry, work.follow_up, workspace) {
            (Entry::Product(kernel), FollowUp::Reduce, Some(workspace)) => {
                self.products_reduced(kernel, &mut c, workspace)
            }
            (Entry::Product(kernel), follow_up, _) => self.products(kernel, follow_up, &mut c),
            (_, FollowUp::Reduce, Some(workspace)) => {
                self.partial_products(configuration, &work.split, workspace)?;
                self.reduce(0, work.split.parts, &mut c, workspace)
            }
            (_, _, workspace) => {
                let stream_k = work.stream_k.as_ref().zip(workspace);
                let whole = Call { config: Some(self.config), ..self.whole(0..self.problem.k, self.scale) };
                self.call(configuration, &whole, &mut c, stream_k)
            }
        }
    }

    /// The whole C, of a range of k.
    fn whole(&self, k: Range<usize>, scale: [T::Wide; 2]) -> Call<'_, T::Wide> {
        let Problem { a, b, c, batch, .. } = *self.problem;
        Call { operands: Operands { a, b, c, batch, k }, config: None, scale, flags: self.flags }
    }

    /// Launches a kernel that has the epilogue.
    fn call(
        &self,
        configuration: &Configuration<T>,
        call: &Call<'_, T::Wide>,
        c: &mut OutputBuffers<'_, T>,
        stream_k: Option<(&Schedule, &mut BufferViewMut<'_, f32>)>,
    ) -> Result<()> {
        match (&configuration.entry, configuration.tma()) {
            (Entry::Generic(kernel), _) => self.generic(kernel, configuration.tile, call, c),
            (_, Some(tma)) => self.tma((configuration, tma), call, c, stream_k),
            (_, None) => Ok(()),
        }
    }

    /// Products by a kernel without an epilogue, to C; then the epilogue in place.
    fn products(&self, kernel: &Product<T>, follow_up: FollowUp, c: &mut OutputBuffers<'_, T>) -> Result<()> {
        for number in 0..self.problem.batch {
            self.product(kernel, number, c.own.view_mut().as_matrix(self.problem.c.matrix(number))?)?;
        }
        if follow_up == FollowUp::None {
            return Ok(());
        }
        // alpha times C, added to an empty product by the first kernel, which supports everything.
        let [alpha, _] = self.scale;
        self.call(&T::configurations()[0], &self.whole(0..0, [T::Wide::from(0.0), alpha]), c, None)
    }

    /// Products by a kernel without an epilogue, to the workspace, one after the other; then the epilogue with the old
    /// C.
    fn products_reduced(
        &self,
        kernel: &Product<T>,
        c: &mut OutputBuffers<'_, T>,
        workspace: &mut BufferViewMut<'_, f32>,
    ) -> Result<()> {
        let Problem { m, n, batch, .. } = *self.problem;
        for number in 0..batch {
            let product = T::partials(workspace.view_mut()).own;
            self.product(
                kernel,
                number,
                product.slice(0..m * n)?.as_matrix(OperandLayout::row_major(m, n).matrix(0))?,
            )?;
            self.reduce(number, 1, c, workspace)?;
        }
        Ok(())
    }

    /// Partial products to the workspace: the parts of one length as a batch along k, and a shorter last one.
    fn partial_products(
        &self,
        configuration: &Configuration<T>,
        split: &SplitK,
        workspace: &mut BufferViewMut<'_, f32>,
    ) -> Result<()> {
        let Problem { m, n, k, .. } = *self.problem;
        let [a, b] = self.problem.batched_along_k(split.part);
        let mut multiply = |k: Range<usize>, batch: usize, number: usize| {
            let to = workspace.view_mut().slice(number * m * n..(number + batch) * m * n)?;
            let c = OperandLayout::row_major(m, n).at(to.view().address().addr());
            let call = Call {
                operands: Operands { a, b, c, batch, k },
                config: None,
                scale: [T::Wide::from(1.0), T::Wide::from(0.0)],
                flags: 0,
            };
            self.call(configuration, &call, &mut T::partials(to), None)
        };
        let full = k / split.part;
        multiply(0..split.part, full, 0)?;
        if split.remainder > 0 { multiply(full * split.part..k, 1, full) } else { Ok(()) }
    }

    /// Launches a kernel that reads operands by pointer: for as many sections of C as its grid and its 32-bit extents
    /// need.
    fn generic(
        &self,
        kernel: &GemmKernel<T>,
        tile: [u32; 2],
        call: &Call<'_, T::Wide>,
        c: &mut OutputBuffers<'_, T>,
    ) -> Result<()> {
        let Operands { a, b, c: to, batch, ref k } = call.operands;
        let [max_blocks, _, max_batch] = self.limits.grid;
        for start in (0..batch).step_by(u32::MAX as usize) {
            let count = (batch - start).min(u32::MAX as usize);
            for [rows, cols] in sections([to.rows, to.cols], tile, max_blocks) {
                let (height, width) = (rows.len(), cols.len());
                let [from_a, from_b] = if k.is_empty() {
                    [self.a.cast_range(0, 0), self.b.cast_range(0, 0)]
                } else {
                    let a_start = start * a.stride + a.offset(rows.start, k.start);
                    let b_start = start * b.stride + b.offset(k.start, cols.start);
                    [
                        self.a.cast_range(a_start, a.extent(count, height, k.len())),
                        self.b.cast_range(b_start, b.extent(count, k.len(), width)),
                    ]
                };
                let c_start = start * to.stride + to.offset(rows.start, cols.start);
                let c = c.slice(c_start, to.extent(count, height, width))?;
                let flags = transposes([a, b]) | call.flags | c.flag;
                let (ld, stride) = ([a.ld as u64, b.ld as u64], [a.stride as u64, b.stride as u64]);
                let operands = Fields((from_a, from_b, ld, stride));
                let gemm = GemmArguments {
                    c,
                    bias: self.bias(call.flags, &rows, &cols)?,
                    ldc: to.ld as u64,
                    stride_c: to.stride as u64,
                    extents: [height, width, k.len(), count].map(|extent| extent as u32),
                    scale: call.scale,
                    flags,
                };
                let grid = (tiles([height, width], tile), 1, (count as u32).min(max_batch));
                self.launch(kernel, on(self.stream, Launch::grid(grid)), (operands, gemm))?;
            }
        }
        Ok(())
    }

    /// Launches a TMA kernel, with the grid of the stream-K schedule if there is one.
    fn tma(
        &self,
        (configuration, tma): (&Configuration<T>, TmaConfig),
        call: &Call<'_, T::Wide>,
        c: &mut OutputBuffers<'_, T>,
        stream_k: Option<(&Schedule, &mut BufferViewMut<'_, f32>)>,
    ) -> Result<()> {
        let Operands { c: to, batch, ref k, .. } = call.operands;
        let make = || launch_config(configuration, tma, &call.operands, c.element_bytes(), self.limits);
        let kept = call.config.map_or(Ok(None), |kept| kept.get_or_make(self.limits, make))?;
        let made;
        let config = if let Some(config) = kept {
            config
        } else {
            made = make()?;
            &made
        };
        let is_product = call.flags & !SCALES == 0 && call.scale[1] == T::Wide::from(0.0);
        let store = config.c.as_ref().filter(|_| is_product);
        let copies = is_product && tma.copies_boxes(c.element_bytes());
        let mut c = c.slice(0, to.extent(batch, to.rows, to.cols))?;
        let none = c.own.empty::<T>();
        // C is borrowed once: by its map or as a vector.
        let map_c = if let Some(map) = store {
            let stored = if c.is_wide() {
                std::mem::replace(&mut c.wide, none.empty()).divided::<T>()
            } else {
                std::mem::replace(&mut c.own, none.empty()).divided::<T>()
            };
            Some(map.of(stored)?)
        } else {
            None
        };
        let clusters = stream_k.as_ref().map_or(config.clusters, |(schedule, _)| schedule.clusters);
        // Blocks that fill more than half of the SMs leave no room for all of the next launch, some of which would then
        // begin late, two on the SMs of one TPC.
        let is_late = config.flags != 0 && clusters * configuration.cluster() > self.limits.sm_count / 2;
        let stream_k = match stream_k {
            Some((schedule, workspace)) => {
                let split = [schedule.split_tiles, schedule.parts()];
                StreamKArgs::new(split, schedule.memory(configuration), workspace.view_mut())?
            }
            None => StreamKArgs::none(&none),
        };
        let gemm = GemmArguments {
            bias: self.bias(call.flags, &(0..to.rows), &(0..to.cols))?,
            ldc: to.ld as u64,
            stride_c: to.stride as u64,
            extents: [to.rows, to.cols, k.len(), batch].map(|extent| extent as u32),
            scale: call.scale,
            flags: call.flags
                | c.flag
                | config.flags
                | if is_late { LAUNCHES_LATE } else { 0 }
                | store_flag(store.is_some(), copies),
            c,
        };
        let launch = on(self.stream, Launch::grid(clusters * configuration.cluster()));
        match (&configuration.entry, self.source) {
            (Entry::Tma(kernel, _), _) => {
                let a = tma_tensor::<T, T>(self.a, &config.a)?;
                let b = tma_tensor::<T, T>(self.b, &config.b)?;
                let arguments = Fields((gemm, config.batch_advance, stream_k.fields()));
                self.launch(kernel, launch, (a, b, map_c, arguments))?;
            }
            (Entry::Scaled(kernel, _), _) => {
                let a = tma_tensor::<T, T>(self.a, &config.a)?;
                let b = tma_tensor::<T, T>(self.b, &config.b)?;
                let none = self.a.cast_range::<T>(0, 0).empty();
                let [rows, columns] = self.scales.map(|factors| factors.unwrap_or(none));
                let arguments = Fields((gemm, config.batch_advance, stream_k.fields()));
                self.launch(kernel, launch, (a, b, map_c, arguments, Fields((rows, columns))))?;
            }
            (Entry::BlockScaled(kernel, _), _) => {
                let Some([rows, blocks]) = self.block_scales else { return Ok(()) };
                let a = tma_tensor::<T, T>(self.a, &config.a)?;
                let b = tma_tensor::<T, T>(self.b, &config.b)?;
                let arguments = Fields((gemm, config.batch_advance, stream_k.fields()));
                self.launch(kernel, launch, (a, b, map_c, arguments, Fields((rows, blocks))))?;
            }
            (Entry::Planes(kernel, _), Some((source, problem))) => {
                let a = tma_tensor::<T, bf16>(self.a, &config.a)?;
                let b = tma_tensor::<T, bf16>(self.b, &config.b)?;
                let layouts = [problem.a, problem.b];
                let gemm = GemmArguments { flags: gemm.flags | transposes(layouts), ..gemm };
                let [from_a, from_b] = [0, 1].map(|number| {
                    let layout = layouts[number];
                    let count = if layout.stride == 0 { 1 } else { batch };
                    source[number].cast_range::<T>(0, layout.extent(count, layout.rows, layout.cols))
                });
                let (ld, stride) = (layouts.map(|x| x.ld as u64), layouts.map(|x| x.stride as u64));
                let arguments = Fields((gemm, config.batch_advance, stream_k.fields()));
                let source = Fields((from_a, from_b, ld, stride));
                self.launch(kernel, launch, (a, b, map_c, arguments, source))?;
            }
            _ => {}
        }
        Ok(())
    }

    /// The bias of these rows and columns of C.
    fn bias(&self, flags: u32, rows: &Range<usize>, cols: &Range<usize>) -> Result<BufferView<'_, T::Wide>> {
        match (self.bias, flags & (BIAS_PER_COLUMN | BIAS_PER_ROW)) {
            (Some(bias), BIAS_PER_COLUMN) => bias.slice(cols.clone()),
            (Some(bias), BIAS_PER_ROW) => bias.slice(rows.clone()),
            _ => Ok(self.a.cast_range::<T>(0, 0).empty()),
        }
    }

    /// Launches a kernel for C = A·B on product `number` of the batch.
    fn product(&self, kernel: &Product<T>, number: usize, c: MatrixViewMut<'_, T::Stored>) -> Result<()> {
        let Problem { m, n, k, a, b, .. } = *self.problem;
        let matrix = |x: OperandLayout| (number * x.stride, x.extent(1, x.rows, x.cols), x.matrix(0));
        let ((a_start, a_len, a_layout), (b_start, b_len, b_layout)) = (matrix(a), matrix(b));
        let a = self.a.cast_range::<T>(a_start, a_len).as_matrix(a_layout)?;
        let b = self.b.cast_range::<T>(b_start, b_len).as_matrix(b_layout)?;
        let tile = self.plan.tile();
        // The grid is one-dimensional.
        let tiles_per_row = n.div_ceil(tile[1] as usize) as u32;
        let mut rest = c;
        for rows in grid_parts(m, tile[0], (self.limits.grid[0] / tiles_per_row).max(1)) {
            let grid = ffma::grid(rows.len() as u32, n as u32, tile);
            let (band, below) = rest.split_at_row(rows.len())?;
            self.launch(kernel, on(self.stream, Launch::grid(grid)), (a.block(rows, 0..k)?, b, band))?;
            rest = below;
        }
        Ok(())
    }

    /// Adds the partial products in the workspace, with the epilogue, for product `number` of the batch.
    fn reduce(
        &self,
        number: usize,
        parts: u32,
        c: &mut OutputBuffers<'_, T>,
        workspace: &BufferViewMut<'_, f32>,
    ) -> Result<()> {
        let Problem { m, n, c: to, .. } = *self.problem;
        let Some(kernel) = T::REDUCE else { return Ok(()) };
        let c = c.slice(number * to.stride, to.extent(1, m, n))?;
        let partials = workspace.view().slice(0..parts as usize * m * n)?;
        let gemm = GemmArguments {
            bias: self.bias(self.flags, &(0..m), &(0..n))?,
            ldc: to.ld as u64,
            stride_c: 0,
            extents: [m as u32, n as u32, 0, 1],
            scale: self.scale,
            flags: self.flags | c.flag,
            c,
        };
        let launch = on(self.stream, Launch::grid(tiles([m, n], reduce_k::TILE)));
        self.launch(kernel, launch, (partials, parts, gemm))?;
        Ok(())
    }
}

/// The operand in the memory of `view`, of elements `X`.
pub(super) fn tma_tensor<'v, T: Element, X: Element>(
    view: BufferView<'v, T>,
    map: &'v OperandMap,
) -> Result<KeptTensor<'v, X>> {
    map.shape.of(view.cast_range::<X>(map.start, map.shape.span()))
}

/// The kernels' flags that say which operands are transposed.
fn transposes([a, b]: [OperandLayout; 2]) -> u32 {
    let flag = |x: OperandLayout, flag| if x.transposed { flag } else { 0 };
    flag(a, TRANSPOSE_A) | flag(b, TRANSPOSE_B)
}

/// The sections of an m × n matrix C for one launch each: whole tiles, at most `max_blocks` of them, and extents of 32
/// bits.
fn sections([m, n]: [usize; 2], [rows, cols]: [u32; 2], max_blocks: u32) -> impl Iterator<Item = [Range<usize>; 2]> {
    grid_parts(n, cols, max_blocks.min(u32::MAX / cols)).flat_map(move |columns| {
        let per_row = columns.len().div_ceil(cols as usize) as u32;
        grid_parts(m, rows, (max_blocks / per_row).clamp(1, u32::MAX / rows)).map(move |rows| [rows, columns.clone()])
    })
}

/// The flag for how a kernel stores a C that is alpha times the product: by TMA, where it can, or box by box, where the
/// kernel does so.
pub(super) const fn store_flag(by_tma: bool, copies: bool) -> u32 {
    match (by_tma, copies) {
        (true, _) => TMA_STORE,
        (false, true) => COPY_STORE,
        (false, false) => 0,
    }
}

#[cfg(test)]
mod tests {
    use gpu::gemm::configs::{Layout, ThreadKernel};

    use super::*;
    use crate::gemm::{Arithmetic, Gemm, Output};
    use crate::ops::gemm::algorithm::Algorithm;

    #[test]
    fn sections_cover_c_once_and_fit_a_grid() {
        for (m, n, blocks) in [(1, 1, 1), (9, 100, 3), (64, 64, 16), (70, 33, 5), (17, 200, 1000), (100, 31, 1)] {
            let mut seen = vec![0; m * n];
            for [rows, cols] in sections([m, n], [8, 32], blocks) {
                assert!(tiles([rows.len(), cols.len()], [8, 32]) <= blocks, "{m} x {n}, {blocks} blocks");
                for row in rows {
                    cols.clone().for_each(|col| seen[row * n + col] += 1);
                }
            }
            assert!(seen.iter().all(|&times| times == 1), "{m} x {n}, {blocks} blocks");
        }
    }

    /// Launches of a few blocks each give the same result as one launch.
    #[test]
    fn sections_of_a_product_make_the_whole() {
        let device = Device::simulator();
        let numbers = |count: usize| (0..count).map(|i| (i * i % 23) as f32 - 11.0).collect::<Vec<_>>();
        let (m, n, k, batch) = (70, 130, 9, 3);
        let (a, b) = (device.upload(&numbers(batch * k * m)).unwrap(), device.upload(&numbers(k * n)).unwrap());
        let bias = device.upload(&numbers(n)).unwrap();
        let (full, tf32) = (Arithmetic::Full, Arithmetic::Tf32);
        let mma = gpu::gemm::mma::TF32.iter().filter(|kernel| kernel.layout == Some(Layout::NN));
        let kernels = [(gpu::gemm::reference::F32, full), (gpu::gemm::reference::TF32, tf32)]
            .map(|(kernel, arithmetic)| (kernel.kernel.info(), arithmetic))
            .into_iter()
            .chain(gpu::gemm::small::F32.iter().map(|kernel| (kernel.kernel.info(), full)))
            .chain(gpu::gemm::ffma::KERNELS.iter().map(|kernel| (kernel.kernel.info(), full)))
            .chain(mma.map(|kernel| (kernel.kernel.info(), tf32)));
        for (kernel, arithmetic) in kernels {
            let results = [device.limits().grid, [3, 1, 2]].map(|grid| {
                let mut c = device.upload(&vec![-1.0_f32; batch * m * (n + 1)]).unwrap();
                let mut to = c.view_mut().as_tensor_strided(&[batch, m, n], &[m * (n + 1), n + 1, 1]).unwrap();
                let from = a.view().as_tensor(&[batch, m, k]).unwrap();
                let gemm = device
                    .gemm(from, b.view().as_tensor(&[k, n]).unwrap())
                    .bias(&bias)
                    .relu()
                    .arithmetic(arithmetic)
                    .algorithm(Algorithm::of(kernel));
                gemm.into_with_grid(&mut to, grid).unwrap();
                c.download().unwrap()
            });
            assert!(results[0].iter().any(|&x| x > 0.0), "{}", kernel.name);
            assert_eq!(results[0], results[1], "{}", kernel.name);
        }
    }

    /// Blocks that compute several matrices in whole steps: the memory that one is written through is where the next is
    /// copied to.
    #[test]
    fn blocks_compute_several_matrices() {
        fn check<T: Multiply + Output<T> + PartialEq + From<u8>>(kernels: &[ThreadKernel<T>], by: Arithmetic) {
            let (device, extent, batch) = (Device::simulator(), 64_usize, 3);
            let numbers = |count: usize| (0..count).map(|i| T::from((i * i % 23) as u8)).collect::<Vec<_>>();
            let (a, b) = (numbers(batch * extent * extent), numbers(batch * extent * extent));
            let (a, b) = (device.upload(&a).unwrap(), device.upload(&b).unwrap());
            let shape = [batch, extent, extent];
            for kernel in kernels.iter().filter(|kernel| matches!(kernel.layout, None | Some(Layout::NN))) {
                let results = [3, 2].map(|matrices| {
                    let mut c = device.alloc_zeros::<T>(batch * extent * extent).unwrap();
                    let mut to = c.view_mut().as_tensor(&shape).unwrap();
                    let (a, b) = (a.view().as_tensor(&shape).unwrap(), b.view().as_tensor(&shape).unwrap());
                    let gemm = Gemm { arithmetic: by, ..device.gemm(a, b) };
                    let gemm = gemm.algorithm(Algorithm::of(kernel.kernel.info()));
                    gemm.into_with_grid(&mut to, [64, 1, matrices]).unwrap();
                    c.download().unwrap()
                });
                assert!(results[0] == results[1], "{}", kernel.kernel.info().name);
            }
        }
        check(gpu::gemm::mma::TF32, Arithmetic::Tf32);
        check(gpu::gemm::mma_f64::F64, Arithmetic::Full);
    }

    /// A few persistent blocks compute all tiles of all matrices, of many steps and of one. Sums of integers are exact.
    #[test]
    fn persistent_blocks_compute_all_tiles() {
        let device = Device::simulator();
        let numbers = |count: usize| (0..count).map(|i| (i * i % 23) as f32 - 11.0).collect::<Vec<_>>();
        let (m, n, batch) = (260, 140, 2);
        for (k, blocks) in [(200, 2), (20, 1)] {
            let (a, b) = (device.upload(&numbers(batch * m * k)).unwrap(), device.upload(&numbers(k * n)).unwrap());
            let product = |algorithm: Algorithm, grid| {
                let mut c = device.upload(&vec![-1.0_f32; batch * m * n]).unwrap();
                let mut to = c.view_mut().as_tensor(&[batch, m, n]).unwrap();
                let (a, b) = (a.view().as_tensor(&[batch, m, k]).unwrap(), b.view().as_tensor(&[k, n]).unwrap());
                let gemm = device.gemm(a, b).arithmetic(Arithmetic::Tf32).algorithm(algorithm);
                let mut workspace = device.alloc::<f32>(gemm.plan(algorithm, &to).unwrap().workspace_len()).unwrap();
                gemm.workspace(&mut workspace).into_with_grid(&mut to, grid).unwrap();
                c.download().unwrap()
            };
            let reference = gpu::gemm::reference::gemm_reference_tf32.info();
            let expected = product(Algorithm::of(reference), device.limits().grid);
            for kernel in gpu::gemm::sm90::TF32.iter().map(|kernel| kernel.kernel.info()) {
                let c = product(Algorithm::of(kernel).pack([true; 2]), [blocks, 1, 1]);
                assert!(c == expected, "{}, k = {k}", kernel.name);
            }
        }
    }

    #[test]
    fn extents_beyond_32_bits_are_divided() {
        let long = (1_usize << 33) + 5;
        for [rows, cols] in
            sections([long, 3], [8, 32], i32::MAX as u32).chain(sections([3, long], [8, 32], i32::MAX as u32))
        {
            assert!(u32::try_from(rows.len()).is_ok() && u32::try_from(cols.len()).is_ok());
        }
        assert_eq!(sections([long, 3], [8, 32], i32::MAX as u32).map(|[rows, _]| rows.len()).sum::<usize>(), long);
    }
}

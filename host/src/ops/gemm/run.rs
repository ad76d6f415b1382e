//! From a plan to launches.

use std::ops::Range;

use gpu::gemm::call::{BIAS_PER_COLUMN, BIAS_PER_ROW, TRANSPOSE_A, TRANSPOSE_B};
use gpu::gemm::{ffma, merge};
use gpu::hopper::gemm::finish::TMA_STORE;
use gpu::hopper::gemm::tiles::fetched;
use gpu::hopper::wide::tiles::Mix;
use simt::Kernel;
use simt::global::{MatMut, MatRef};
use simt::tma::Swizzle;

use super::Arithmetic;
use super::candidates::{BoxKind, Call, Candidate, Program};
use super::element::{Arguments, Destination, Maps, Multiply};
use super::plan::{Ending, Plan};
use super::problem::Problem;
use super::share::Sharing;
use super::stored::OperandLayout;
use crate::device::Device;
use crate::error::Result;
use crate::launch::Launch;
use crate::memory::{BufferView, BufferViewMut, MatrixViewMut, TensorView};
use crate::ops::{grid_parts, on};
use crate::stream::Stream;

/// Bytes of a line of a box.
const LINE: u32 = 128;

/// A product with its plan, ready to be launched. C is not empty.
#[derive(Clone, Copy)]
pub(super) struct Task<'t, T: Multiply> {
    pub(super) device: &'t Device,
    pub(super) stream: Option<&'t Stream>,
    pub(super) problem: &'t Problem,
    pub(super) plan: &'t Plan,
    pub(super) a: TensorView<'t, T>,
    pub(super) b: TensorView<'t, T>,
    pub(super) bias: Option<BufferView<'t, T::Wide>>,
    pub(super) scale: [T::Wide; 2],
    /// Bias and activation.
    pub(super) flags: u32,
    /// Most blocks of a grid along x, y and z.
    pub(super) grid: [u32; 3],
}

/// What one kernel call is about: a product of parts of A and B, and how it ends.
#[derive(Clone, Copy)]
struct Part<W> {
    a: OperandLayout,
    b: OperandLayout,
    c: OperandLayout,
    batch: usize,
    /// First element along k, and their number.
    k: (usize, usize),
    scale: [W; 2],
    flags: u32,
}

impl<'t, T: Multiply> Task<'t, T> {
    /// Copies what is to be copied, and multiplies.
    pub(super) fn run(&self, c: Destination<'_, T>, workspace: Option<&mut BufferViewMut<'_, f32>>) -> Result<()> {
        let Plan { packing, workspace: len, .. } = self.plan;
        match workspace {
            Some(workspace) if packing.launches() > 0 => {
                let (mut partial, rest) = workspace.view_mut().split_at(len - packing.room())?;
                let (mut room, _) = rest.split_at(packing.room())?;
                let given = [self.a, self.b];
                packing.pack((self.device, self.stream), self.problem, given, &mut room)?;
                let [a, b] = packing.read(given, room.view())?;
                Task { a, b, problem: &packing.of(self.problem), ..*self }.multiply_all(c, Some(&mut partial))
            }
            workspace => self.multiply_all(c, workspace),
        }
    }

    fn multiply_all(&self, mut c: Destination<'_, T>, workspace: Option<&mut BufferViewMut<'_, f32>>) -> Result<()> {
        let Problem { m, n, k, batch, .. } = *self.problem;
        let candidate = &T::CANDIDATES[self.plan.candidate];
        match (&candidate.program, self.plan.ending, workspace) {
            (Program::Product(kernel), Ending::Merge, Some(workspace)) => (0..batch).try_for_each(|number| {
                let mut product = T::partial(workspace.view_mut());
                self.product(kernel, number, product.own.view_mut().slice(0..m * n)?.as_matrix(super::rows(m, n, n))?)?;
                self.merge(number, 1, &mut c, workspace)
            }),
            (Program::Product(kernel), ending, _) => {
                let OperandLayout { ld, stride, .. } = self.problem.c;
                for number in 0..batch {
                    let start = number * stride;
                    let layout = super::rows(m, n, ld).offset(start);
                    self.product(kernel, number, c.own.view_mut().as_matrix(layout)?)?;
                }
                if ending == Ending::Nothing {
                    return Ok(());
                }
                // The product of nothing, added to alpha · C.
                let [alpha, _] = self.scale;
                self.multiply(&T::CANDIDATES[0], self.whole((0, 0), [T::Wide::from(0.0), alpha]), &mut c)
            }
            (_, Ending::Merge, Some(workspace)) => {
                self.parts(candidate, workspace)?;
                self.merge(0, self.plan.algorithm().parts(), &mut c, workspace)
            }
            (_, _, workspace) => match self.plan.cut.zip(workspace) {
                Some((cut, workspace)) => {
                    let sharing = Sharing::new(&cut, self.plan.tile, workspace.view_mut())?;
                    self.boxed(candidate, self.whole((0, k), self.scale), &mut c, Some((cut.blocks, sharing)))
                }
                None => self.multiply(candidate, self.whole((0, k), self.scale), &mut c),
            },
        }
    }

    /// The whole product, or of parts of A and B along k.
    fn whole(&self, k: (usize, usize), scale: [T::Wide; 2]) -> Part<T::Wide> {
        let Problem { a, b, c, batch, .. } = *self.problem;
        Part { a, b, c, batch, k, scale, flags: self.flags }
    }

    /// Partial products to the workspace: the parts of one length as a batch along k, and a shorter last one.
    fn parts(&self, candidate: &Candidate<T>, workspace: &mut BufferViewMut<'_, f32>) -> Result<()> {
        let Problem { m, n, k, a, b, .. } = *self.problem;
        let part = self.plan.part;
        let along = |start, len, batch, to: BufferView<'_, f32>| Part {
            a: OperandLayout { stride: a.place(0, part), ..a },
            b: OperandLayout { stride: b.place(part, 0), ..b },
            c: OperandLayout { rows: m, cols: n, transposed: false, ld: n, batch: None, stride: m * n, past: 0 }
                .at(to.address().addr()),
            batch,
            k: (start, len),
            scale: [T::Wide::from(1.0), T::Wide::from(0.0)],
            flags: 0,
        };
        let full = k / part;
        let first = along(0, part, full, workspace.view());
        self.multiply(candidate, first, &mut T::partial(workspace.view_mut()))?;
        if k % part == 0 {
            return Ok(());
        }
        let last = workspace.view_mut().slice(full * m * n..(full + 1) * m * n)?;
        let rest = along(full * part, k % part, 1, last.view());
        self.multiply(candidate, rest, &mut T::partial(last))
    }

    /// Launches a kernel that does everything.
    fn multiply(&self, candidate: &Candidate<T>, part: Part<T::Wide>, c: &mut Destination<'_, T>) -> Result<()> {
        match candidate.program {
            Program::Call(kernel) => self.call(kernel, candidate.speed.tile, part, c),
            Program::Boxed(..) | Program::Shared(..) => self.boxed(candidate, part, c, None),
            Program::Product(_) => Ok(()),
        }
    }

    /// In as many sections of C as its grid and 32-bit extents ask for.
    fn call(
        &self,
        kernel: &Call<T, T::Wide>,
        tile: [u32; 2],
        part: Part<T::Wide>,
        c: &mut Destination<'_, T>,
    ) -> Result<()> {
        let Part { a, b, c: to, batch, k: (k0, k), scale, flags } = part;
        let transposes = [(a, TRANSPOSE_A), (b, TRANSPOSE_B)].map(|(x, flag)| if x.transposed { flag } else { 0 });
        let bits = transposes[0] | transposes[1] | c.flag | flags;
        for batch in (0..batch).step_by(u32::MAX as usize).map(|start| start..batch.min(start + u32::MAX as usize)) {
            for [rows, cols] in sections([to.rows, to.cols], tile, self.grid[0]) {
                let (start, count, height, width) = (batch.start, batch.len(), rows.len(), cols.len());
                let corner = start * to.stride + to.place(rows.start, cols.start);
                let (own, wide) = c.part(corner, to.span(count, height, width))?;
                let (from_a, from_b) = if k == 0 {
                    (self.a.cast_range(0, 0), self.b.cast_range(0, 0))
                } else {
                    let starts =
                        [start * a.stride + a.place(rows.start, k0), start * b.stride + b.place(k0, cols.start)];
                    (
                        self.a.cast_range(starts[0], a.span(count, height, k)),
                        self.b.cast_range(starts[1], b.span(count, k, width)),
                    )
                };
                let arguments = Arguments {
                    a: from_a,
                    b: from_b,
                    c: own,
                    wide,
                    bias: self.bias(flags, &rows, &cols)?,
                    extents: [height, width, k, count].map(|extent| extent as u32),
                    ld: [a.ld, b.ld, to.ld].map(|ld| ld as u64),
                    batch: [a.stride, b.stride, to.stride].map(|stride| stride as u64),
                    scale,
                    flags: bits,
                };
                let grid = (tiles([height, width], tile), 1, (count as u32).min(self.grid[2]));
                T::launch(self.device, kernel, on(self.stream, Launch::grid(grid)), arguments)?;
            }
        }
        Ok(())
    }

    /// In one launch: of a block for each tile, or of as many blocks as there are multiprocessors, which share the tiles among
    /// them; or of so many as are given, which share the steps of tiles, too.
    fn boxed(
        &self,
        candidate: &Candidate<T>,
        part: Part<T::Wide>,
        c: &mut Destination<'_, T>,
        sharing: Option<(u32, Sharing<'_>)>,
    ) -> Result<()> {
        let Some(kind) = candidate.program.boxes() else { return Ok(()) };
        let Part { a, b, c: to, batch, k: (k0, k), scale, flags } = part;
        let tile = candidate.speed.tile;
        let cluster = candidate.cluster();
        let (m, n, line) = (to.rows, to.cols, LINE / size_of::<T>() as u32);
        // Each block of a cluster fetches its own part of one operand, and of what all have of the other a part.
        let [rows, cols] = match kind {
            BoxKind::Mixed => [tile[0], line],
            BoxKind::Swizzled | BoxKind::Lines(_) => tile.map(|edge| fetched(edge, cluster)),
        };
        let count = |x: OperandLayout| if x.stride == 0 { 1 } else { batch };
        let axes = |x: OperandLayout, count: usize| ([count, x.lines()[0], x.lines()[1]], [x.stride, x.ld, 1]);
        // Rows in memory go along k or across it. What is swizzled are 128 bytes of each, and as many steps of k as that is.
        let map = |from: TensorView<'t, T>, x: OperandLayout, start: usize, along_k: bool, edge: u32| {
            let (shape, strides) = axes(x, count(x));
            let elements = from.cast_range::<T>(start, x.span(count(x), x.rows, x.cols));
            let (extents, swizzle) = match kind {
                BoxKind::Swizzled | BoxKind::Mixed => ([1, if along_k { edge } else { line }, line], Swizzle::B128),
                BoxKind::Lines(_) if along_k => ([1, edge, line], Swizzle::B128),
                BoxKind::Lines(depth) => ([1, depth, edge], Swizzle::None),
            };
            let boxes = elements.as_tensor_strided(&shape, &strides)?.tma(&extents, swizzle)?;
            if candidate.arithmetic == Arithmetic::Tf32 { T::rounded(boxes) } else { Ok(boxes) }
        };
        let (of_a, of_b) = (OperandLayout { cols: k, ..a }, OperandLayout { rows: k, ..b });
        let a = map(self.a, of_a, a.place(0, k0), !a.transposed, rows)?;
        let b = map(self.b, of_b, b.place(k0, 0), b.transposed, cols)?;
        let batches = [of_a, of_b].map(|x| u32::from(x.stride != 0));

        let flag = c.flag;
        let is_product = flags | flag == 0 && scale[1] == T::Wide::from(0.0);
        // TmaTensor of C are as wide as a line.
        let written = candidate.rows_written().filter(|_| is_product && to.takes_boxes(batch, size_of::<T>()));
        let (own, wide) = c.part(0, to.span(batch, m, n))?;
        let (stored, own) = if let Some(rows) = written {
            let (none, (shape, strides)) = (own.empty(), axes(to, batch));
            let stored = own.as_tensor_strided(&shape, &strides)?.tma(&[1, rows, line], Swizzle::B128)?;
            (Some(stored), none)
        } else {
            (None, own)
        };
        let arguments = Arguments {
            a: self.a.cast_range(0, 0),
            b: self.b.cast_range(0, 0),
            c: own,
            wide,
            bias: self.bias(flags, &(0..m), &(0..n))?,
            extents: [m, n, k, batch].map(|extent| extent as u32),
            ld: [0, 0, to.ld as u64],
            batch: [0, 0, to.stride as u64],
            scale,
            flags: flags | if written.is_some() { TMA_STORE } else { flag },
        };
        let places = candidate.places(self.device.limits().sm_count).min(self.grid[0]);
        let number = tiles([m, n], tile) as usize * batch;
        let blocks = match kind {
            BoxKind::Swizzled => number.min(places as usize) as u32,
            BoxKind::Mixed => Mix::new(tiles([m, 1], tile) * batch as u32, n as u32, places).count().min(places),
            BoxKind::Lines(_) => number.min(self.grid[0] as usize) as u32,
        };
        let maps = Maps { a, b, c: stored, batches };
        let launch = |blocks| on(self.stream, Launch::grid(blocks * cluster));
        match (&candidate.program, sharing) {
            (Program::Shared(kernel, _), Some((blocks, sharing))) => {
                T::launch_shared(self.device, kernel, launch(blocks), maps, arguments, sharing)
            }
            (Program::Shared(kernel, _), None) => {
                let sharing = Sharing::none(&arguments.c);
                T::launch_shared(self.device, kernel, launch(blocks), maps, arguments, sharing)
            }
            (Program::Boxed(kernel, _), _) => T::launch_boxed(self.device, kernel, launch(blocks), maps, arguments),
            (Program::Call(_) | Program::Product(_), _) => Ok(()),
        }
    }

    /// The numbers of the bias for these rows and columns of C.
    fn bias(&self, flags: u32, rows: &Range<usize>, cols: &Range<usize>) -> Result<BufferView<'_, T::Wide>> {
        match (self.bias, flags & (BIAS_PER_COLUMN | BIAS_PER_ROW)) {
            (Some(bias), BIAS_PER_COLUMN) => bias.slice(cols.clone()),
            (Some(bias), BIAS_PER_ROW) => bias.slice(rows.clone()),
            _ => Ok(self.a.cast_range::<T>(0, 0).empty()),
        }
    }

    /// Launches a kernel for C = A·B on product `number` of the batch.
    fn product(
        &self,
        kernel: &Kernel<(MatRef<'static, T>, MatRef<'static, T>, MatMut<'static, T>)>,
        number: usize,
        c: MatrixViewMut<'_, T>,
    ) -> Result<()> {
        let Problem { m, n, k, a, b, .. } = *self.problem;
        let matrix =
            |x: OperandLayout| (number * x.stride, x.span(1, x.rows, x.cols), super::rows(x.rows, x.cols, x.ld));
        let (start, len, layout) = matrix(a);
        let a = self.a.cast_range::<T>(start, len).as_matrix(layout)?;
        let (start, len, layout) = matrix(b);
        let b = self.b.cast_range::<T>(start, len).as_matrix(layout)?;
        let tile = self.plan.tile();
        // Blocks go along x alone, which is nearly unlimited.
        let across = n.div_ceil(tile[1] as usize) as u32;
        let mut rest = c;
        for rows in grid_parts(m, tile[0], (self.grid[0] / across).max(1)) {
            let grid = ffma::grid(rows.len() as u32, n as u32, tile);
            let (band, below) = rest.split_at_row(rows.len())?;
            self.device.launch(kernel, on(self.stream, Launch::grid(grid)), (a.block(rows, 0..k)?, b, band))?;
            rest = below;
        }
        Ok(())
    }

    /// Adds the partial products of the workspace and finishes C, product `number` of the batch.
    fn merge(
        &self,
        number: usize,
        parts: u32,
        c: &mut Destination<'_, T>,
        workspace: &BufferViewMut<'_, f32>,
    ) -> Result<()> {
        let Problem { m, n, c: to, .. } = *self.problem;
        let flag = c.flag;
        let (c_own, c_wide) = c.part(number * to.stride, to.span(1, m, n))?;
        let arguments = Arguments {
            a: self.a.cast_range(0, 0),
            b: self.b.cast_range(0, 0),
            c: c_own,
            wide: c_wide,
            bias: self.bias(self.flags, &(0..m), &(0..n))?,
            extents: [m as u32, n as u32, 0, parts],
            ld: [0, 0, to.ld as u64],
            batch: [0; 3],
            scale: self.scale,
            flags: self.flags | flag,
        };
        let partial = workspace.view().slice(0..parts as usize * m * n)?;
        let grid = tiles([m, n], merge::TILE);
        T::merge(self.device, on(self.stream, Launch::grid(grid)), partial, arguments)
    }
}

/// The parts of an m × n matrix C that one launch each can handle, in whole tiles: at most `blocks` of them, and extents that 32
/// bits count.
fn sections([m, n]: [usize; 2], [rows, cols]: [u32; 2], blocks: u32) -> impl Iterator<Item = [Range<usize>; 2]> {
    grid_parts(n, cols, blocks.min(u32::MAX / cols)).flat_map(move |across| {
        let per_row = across.len().div_ceil(cols as usize) as u32;
        grid_parts(m, rows, (blocks / per_row).clamp(1, u32::MAX / rows)).map(move |down| [down, across.clone()])
    })
}

/// Tiles of a section.
fn tiles([height, width]: [usize; 2], [rows, cols]: [u32; 2]) -> u32 {
    (height.div_ceil(rows as usize) * width.div_ceil(cols as usize)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gemm::Algorithm;

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

    /// Products by launches of few blocks each are those of one launch.
    #[test]
    fn sections_of_a_product_are_put_together() {
        let device = Device::simulator();
        let numbers = |count: usize| (0..count).map(|i| (i * i % 23) as f32 - 11.0).collect::<Vec<_>>();
        let (m, n, k, batch) = (70, 130, 9, 3);
        let (a, b) = (device.upload(&numbers(batch * k * m)).unwrap(), device.upload(&numbers(k * n)).unwrap());
        let bias = device.upload(&numbers(n)).unwrap();
        for kernel in [gpu::gemm::plain::gemm_plain_f32.info(), gpu::gemm::ffma::gemm_f32_64x64.info()] {
            let results = [device.limits().grid, [3, 1, 2]].map(|grid| {
                let mut c = device.upload(&vec![-1.0_f32; batch * m * (n + 1)]).unwrap();
                let mut to = c.view_mut().as_tensor_strided(&[batch, m, n], &[m * (n + 1), n + 1, 1]).unwrap();
                let from = a.view().as_tensor(&[batch, m, k]).unwrap();
                let gemm = device
                    .gemm(from, b.view().as_tensor(&[k, n]).unwrap())
                    .bias(&bias)
                    .relu()
                    .algorithm(Algorithm::of(kernel));
                gemm.into_sections(&mut to, grid).unwrap();
                c.download().unwrap()
            });
            assert!(results[0].iter().any(|&x| x > 0.0), "{}", kernel.name);
            assert_eq!(results[0], results[1], "{}", kernel.name);
        }
    }

    /// Two blocks go from tile to tile, and from matrix to matrix, until all are done: integers, so sums are exact.
    #[test]
    fn few_blocks_compute_all_tiles() {
        let device = Device::simulator();
        let numbers = |count: usize| (0..count).map(|i| (i * i % 23) as f32 - 11.0).collect::<Vec<_>>();
        let (m, n, k, batch) = (260, 140, 200, 2);
        let (a, b) = (device.upload(&numbers(batch * m * k)).unwrap(), device.upload(&numbers(k * n)).unwrap());
        let product = |algorithm: Algorithm, grid| {
            let mut c = device.upload(&vec![-1.0_f32; batch * m * n]).unwrap();
            let mut to = c.view_mut().as_tensor(&[batch, m, n]).unwrap();
            let a = a.view().as_tensor(&[batch, m, k]).unwrap();
            let gemm =
                device.gemm(a, b.view().as_tensor(&[k, n]).unwrap()).arithmetic(Arithmetic::Tf32).algorithm(algorithm);
            let mut workspace = device.alloc::<f32>(gemm.plan(algorithm, &to).unwrap().workspace_len()).unwrap();
            gemm.workspace(&mut workspace).into_sections(&mut to, grid).unwrap();
            c.download().unwrap()
        };
        let expected = product(Algorithm::of(gpu::gemm::plain::gemm_plain_tf32.info()), device.limits().grid);
        for kernel in gpu::hopper::tf32::KERNELS {
            assert!(product(Algorithm::of(kernel).pack([true; 2]), [2, 1, 1]) == expected, "{}", kernel.name);
        }
    }

    #[test]
    fn extents_beyond_32_bits_are_cut() {
        let long = (1_usize << 33) + 5;
        for [rows, cols] in
            sections([long, 3], [8, 32], i32::MAX as u32).chain(sections([3, long], [8, 32], i32::MAX as u32))
        {
            assert!(u32::try_from(rows.len()).is_ok() && u32::try_from(cols.len()).is_ok());
        }
        assert_eq!(sections([long, 3], [8, 32], i32::MAX as u32).map(|[rows, _]| rows.len()).sum::<usize>(), long);
    }
}

//! Launches directly on the simulator, for tests of the simulator itself: with any [`Config`], returning all reports.
//!
//! The host crate turns reports into errors; here they are data.

use simt::element::Element;
use simt::global::{MatMut, MatRef, VecMut, VecRef};
use simt::tma::{self, Swizzle};
use simt::{Kernel, KernelArg, SharedSpec};
use simulator::{Binding, Config, LaunchError, Memory, Outcome, TensorMap};
use std::marker::PhantomData;

/// The bytes of elements.
pub fn bytes_of<T: Element>(values: &[T]) -> &[u8] {
    // SAFETY: an `Element` is plain bytes without padding; they are borrowed as long as the elements.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

/// Elements in simulated device memory.
pub struct Buffer<T> {
    memory: Memory,
    len: usize,
    element: PhantomData<T>,
}

impl<T: Element> Buffer<T> {
    /// `len` uninitialised elements.
    ///
    /// # Panics
    /// If the host is out of memory.
    pub fn unwritten(len: usize) -> Self {
        let memory = Memory::new(len * size_of::<T>(), size_of::<T>()).expect("memory for a test's buffer");
        Self { memory, len, element: PhantomData }
    }

    /// A copy of `values`.
    pub fn new(values: &[T]) -> Self {
        let mut buffer = Self::unwritten(values.len());
        buffer.write(0, values);
        buffer
    }

    /// `len` elements of zero bytes.
    pub fn zeroed(len: usize) -> Self {
        let buffer = Self::unwritten(len);
        // SAFETY: no other code uses the new buffer.
        unsafe { buffer.memory.fill(0, buffer.memory.len(), 0) };
        buffer
    }

    /// Writes the elements from `first` on.
    ///
    /// # Panics
    /// If they are not inside the buffer.
    pub fn write(&mut self, first: usize, values: &[T]) {
        // SAFETY: the borrow is exclusive, so no launch uses the buffer now.
        unsafe { self.memory.write(first * size_of::<T>(), bytes_of(values)) };
    }

    /// The elements; uninitialised ones have unspecified values.
    pub fn to_vec(&self) -> Vec<T> {
        let mut bytes = vec![0_u8; self.memory.len()];
        // SAFETY: a launch that writes the buffer borrows it exclusively, so none is running.
        unsafe { self.memory.read(0, &mut bytes) };
        let start = bytes.as_ptr().cast::<T>();
        // SAFETY: the bytes hold `len` elements, and any bytes are a valid element.
        (0..self.len).map(|i| unsafe { start.add(i).read_unaligned() }).collect()
    }

    /// The first uninitialised element, if any.
    pub fn first_unwritten(&self) -> Option<usize> {
        // SAFETY: as in `to_vec`.
        let byte = unsafe { self.memory.first_unwritten(0, self.memory.len()) };
        byte.map(|byte| byte / size_of::<T>())
    }

    /// The first elements as a matrix for reading: row-major, contiguous.
    ///
    /// # Panics
    /// If there are fewer elements.
    pub fn matrix(&self, rows: u32, cols: u32) -> Matrix<&Self> {
        self.matrix_ld(rows, cols, cols)
    }

    /// The same with leading dimension `ld`.
    ///
    /// # Panics
    /// If there are fewer elements, or `ld` is less than `cols`.
    pub fn matrix_ld(&self, rows: u32, cols: u32, ld: u32) -> Matrix<&Self> {
        self.check(rows, cols, ld);
        Matrix { buffer: self, rows, cols, ld }
    }

    /// The first elements as a matrix for writing: row-major, contiguous.
    ///
    /// # Panics
    /// If there are fewer elements.
    pub fn matrix_mut(&mut self, rows: u32, cols: u32) -> Matrix<&mut Self> {
        self.check(rows, cols, cols);
        Matrix { buffer: self, rows, cols, ld: cols }
    }

    fn check(&self, rows: u32, cols: u32, ld: u32) {
        let needed = if rows == 0 { 0 } else { (rows as usize - 1) * ld as usize + cols as usize };
        assert!(ld >= cols, "leading dimension {ld} is less than the {cols} columns");
        assert!(
            needed <= self.len,
            "{rows} × {cols} elements with leading dimension {ld} do not fit into {}",
            self.len
        );
    }
}

/// A buffer seen as a matrix.
#[derive(Clone, Copy, Debug)]
pub struct Matrix<B> {
    buffer: B,
    rows: u32,
    cols: u32,
    ld: u32,
}

impl<B> Matrix<B> {
    /// The matrix as a TMA tensor with boxes of so many rows and columns.
    pub fn tma(self, rows: u32, cols: u32, swizzle: Swizzle) -> TmaTensor<B> {
        TmaTensor { matrix: self, rows, cols, swizzle }
    }
}

/// A matrix with the box and swizzle of a tensor map.
#[derive(Clone, Copy, Debug)]
pub struct TmaTensor<B> {
    matrix: Matrix<B>,
    rows: u32,
    cols: u32,
    swizzle: Swizzle,
}

impl<B> TmaTensor<B> {
    /// The tensor map of a matrix of `T` in memory with a tag.
    fn map<T>(&self, memory: &Memory, tag: u32) -> [u64; 16] {
        let element = size_of::<T>() as u32;
        let Matrix { rows, cols, ld, .. } = self.matrix;
        let map = TensorMap {
            base: memory.as_ptr() as u64,
            tag,
            element,
            rank: 2,
            extents: [cols.into(), rows.into(), 1, 1, 1],
            strides: [element.into(), u64::from(ld) * u64::from(element), 0, 0, 0],
            boxes: [self.cols, self.rows, 1, 1, 1],
            swizzle: self.swizzle as u32,
            tf32: false,
        };
        map.encode()
    }
}

/// Blocks of a launch, threads of a block, and bytes of launch-sized shared memory.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    blocks: [u32; 3],
    threads: [u32; 3],
    shared_bytes: usize,
}

impl Grid {
    /// A grid of `blocks` blocks of `threads` threads along x.
    pub fn line(blocks: u32, threads: u32) -> Self {
        Self::new([blocks, 1, 1], [threads, 1, 1])
    }

    /// Blocks and threads along x, y and z.
    pub fn new(blocks: [u32; 3], threads: [u32; 3]) -> Self {
        Self { blocks, threads, shared_bytes: 0 }
    }

    /// The same with so many bytes of shared memory, for a kernel whose shared memory is sized at launch.
    #[must_use]
    pub fn shared(self, shared_bytes: usize) -> Self {
        Self { shared_bytes, ..self }
    }
}

/// The buffers of a launch, in the order of their tags.
pub struct Bound<'a> {
    names: &'static [&'static str],
    at: usize,
    bindings: Vec<Binding<'a>>,
}

impl<'a> Bound<'a> {
    /// Binds a buffer; returns its tag.
    fn add(&mut self, memory: &'a Memory, writable: bool) -> u32 {
        self.bindings.push(Binding { name: self.names[self.at], memory, writable });
        self.bindings.len() as u32 - 1
    }
}

/// Arguments for a kernel's parameter of type `V`: `&Buffer<T>` for `VecRef<T>`, `&mut Buffer<T>` for `VecMut<T>`, a
/// [`Matrix`] for `MatRef<T>` and `MatMut<T>`, a number for itself.
pub trait Arg<'a, V> {
    /// The kernel's view of the argument.
    ///
    /// # Safety
    /// The view is used only by a launch with these bindings.
    #[doc(hidden)]
    unsafe fn view(self, bound: &mut Bound<'a>) -> V;
}

impl<'a, T: Element> Arg<'a, VecRef<'static, T>> for &'a Buffer<T> {
    unsafe fn view(self, bound: &mut Bound<'a>) -> VecRef<'static, T> {
        let tag = bound.add(&self.memory, false);
        // SAFETY: the buffer's own elements, bound as `tag`.
        unsafe { VecRef::from_raw_parts(self.memory.as_ptr().cast(), self.len as u64, tag) }
    }
}

impl<'a, T: Element> Arg<'a, VecMut<'static, T>> for &'a mut Buffer<T> {
    unsafe fn view(self, bound: &mut Bound<'a>) -> VecMut<'static, T> {
        let tag = bound.add(&self.memory, true);
        // SAFETY: the buffer's own elements, bound as `tag`; the borrow is exclusive.
        unsafe { VecMut::from_raw_parts(self.memory.as_ptr().cast(), self.len as u64, tag) }
    }
}

impl<'a, T: Element> Arg<'a, MatRef<'static, T>> for Matrix<&'a Buffer<T>> {
    unsafe fn view(self, bound: &mut Bound<'a>) -> MatRef<'static, T> {
        let tag = bound.add(&self.buffer.memory, false);
        // SAFETY: the matrix fits into the buffer, which is bound as `tag`.
        unsafe { MatRef::from_raw_parts(self.buffer.memory.as_ptr().cast(), self.rows, self.cols, self.ld, tag) }
    }
}

impl<'a, T: Element> Arg<'a, MatMut<'static, T>> for Matrix<&'a mut Buffer<T>> {
    unsafe fn view(self, bound: &mut Bound<'a>) -> MatMut<'static, T> {
        let tag = bound.add(&self.buffer.memory, true);
        // SAFETY: the matrix fits into the buffer, which is bound as `tag`; the borrow is exclusive.
        unsafe { MatMut::from_raw_parts(self.buffer.memory.as_ptr().cast(), self.rows, self.cols, self.ld, tag) }
    }
}

impl<'a, T: Element> Arg<'a, tma::TensorMap<'static, T>> for TmaTensor<&'a Buffer<T>> {
    unsafe fn view(self, bound: &mut Bound<'a>) -> tma::TensorMap<'static, T> {
        let memory = &self.matrix.buffer.memory;
        let tag = bound.add(memory, false);
        // SAFETY: the matrix fits into the buffer, which is bound as `tag`.
        unsafe { tma::TensorMap::from_raw(self.map::<T>(memory, tag)) }
    }
}

impl<'a, T: Element> Arg<'a, tma::TensorMapMut<'static, T>> for TmaTensor<&'a mut Buffer<T>> {
    unsafe fn view(self, bound: &mut Bound<'a>) -> tma::TensorMapMut<'static, T> {
        let words = self.map::<T>(&self.matrix.buffer.memory, bound.bindings.len() as u32);
        bound.add(&self.matrix.buffer.memory, true);
        // SAFETY: the matrix fits into the buffer, which is bound with this tag; the borrow is exclusive.
        unsafe { tma::TensorMapMut::from_raw(words) }
    }
}

macro_rules! numbers {
    ($($t:ty)+) => {$(
        impl Arg<'_, $t> for $t {
            unsafe fn view(self, _: &mut Bound<'_>) -> $t {
                self
            }
        }
    )+};
}
numbers! { u32 i32 u64 i64 f32 f64 }

/// The arguments of a kernel whose parameters are the tuple `P`.
pub trait Args<'a, P> {
    /// The kernel's views of the arguments.
    ///
    /// # Safety
    /// As [`Arg::view`].
    #[doc(hidden)]
    unsafe fn views(self, bound: &mut Bound<'a>) -> P;
}

impl<'a> Args<'a, ()> for () {
    unsafe fn views(self, _: &mut Bound<'a>) {}
}

macro_rules! tuples {
    ($(($($a:ident $v:ident $i:tt),+))+) => {$(
        impl<'a, $($v: KernelArg, $a: Arg<'a, $v>),+> Args<'a, ($($v,)+)> for ($($a,)+) {
            unsafe fn views(self, bound: &mut Bound<'a>) -> ($($v,)+) {
                ($({
                    bound.at = $i;
                    // SAFETY: the caller's promise.
                    unsafe { self.$i.view(bound) }
                },)+)
            }
        }
    )+};
}
tuples! {
    (A0 V0 0)
    (A0 V0 0, A1 V1 1)
    (A0 V0 0, A1 V1 1, A2 V2 2)
    (A0 V0 0, A1 V1 1, A2 V2 2, A3 V3 3)
    (A0 V0 0, A1 V1 1, A2 V2 2, A3 V3 3, A4 V4 4)
    (A0 V0 0, A1 V1 1, A2 V2 2, A3 V3 3, A4 V4 4, A5 V5 5)
}

/// Launches `kernel` on the simulator.
///
/// # Errors
/// Those of the simulator: an empty grid, an invalid configuration.
///
/// # Panics
/// If `grid` does not match the block, the number of threads or the shared memory of the kernel.
pub fn launch<'a, P: Copy + Sync>(
    config: &Config,
    kernel: Kernel<P>,
    grid: Grid,
    args: impl Args<'a, P>,
) -> Result<Outcome, LaunchError> {
    let info = kernel.info();
    if let Some(block) = info.block {
        assert_eq!(grid.threads, block, "block of `{}`", info.name);
    }
    let threads: u64 = grid.threads.into_iter().map(u64::from).product();
    // More threads than any block may have are an error of the simulator.
    assert!(threads <= info.max_threads().into() || threads > 1024, "threads per block of `{}`: {threads}", info.name);
    let shared_bytes = match info.shared {
        SharedSpec::None => 0,
        SharedSpec::Fixed { bytes, .. } => bytes,
        SharedSpec::PerLaunch { .. } => grid.shared_bytes,
    };
    let mut bound = Bound { names: info.args, at: 0, bindings: Vec::new() };
    // SAFETY: the views are used only by the launch below.
    let views = unsafe { args.views(&mut bound) };
    let entry = kernel.entry();
    let launch = simulator::Launch {
        name: info.name,
        grid: grid.blocks,
        block: grid.threads,
        shared_bytes,
        cluster: info.cluster,
        pdl: info.pdl,
        bindings: &bound.bindings,
        print: None,
    };
    // SAFETY: the arguments borrow their buffers for `'a`, exclusively where the kernel may write, and `bound` holds
    // them; the views carry the tags that `bound` gave them. `entry` does nothing but run the kernel on them.
    unsafe { simulator::launch(&launch, config, &|| entry(views)) }
}

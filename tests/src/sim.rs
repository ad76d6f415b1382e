//! Launches straight on the simulator, for tests of the simulator itself: with any [`Config`], keeping every report.
//!
//! The host crate stands between a program and the simulator and turns reports into errors; here they are data. Nothing
//! of it is needed on a GPU.

use simt::element::Element;
use simt::global::{MatMut, MatRef, VecMut, VecRef};
use simt::tma::{self, Swizzle};
use simt::{Kernel, KernelArg, SharedSpec};
use simulator::{Binding, Config, LaunchError, Memory, Outcome, TensorMap};
use std::marker::PhantomData;

/// Elements in simulated device memory.
pub struct Buffer<T> {
    memory: Memory,
    len: usize,
    element: PhantomData<T>,
}

impl<T: Element> Buffer<T> {
    /// `len` elements, none of them written.
    ///
    /// # Panics
    /// When the host has no memory for them.
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
        // SAFETY: the buffer is this call's alone.
        unsafe { buffer.memory.fill(0, buffer.memory.len(), 0) };
        buffer
    }

    /// Writes the elements from `first` on.
    ///
    /// # Panics
    /// If they do not lie in the buffer.
    pub fn write(&mut self, first: usize, values: &[T]) {
        // SAFETY: an `Element` is plain bytes without padding.
        let bytes = unsafe { std::slice::from_raw_parts(values.as_ptr().cast::<u8>(), size_of_val(values)) };
        // SAFETY: the borrow is exclusive: no launch and nobody else uses the buffer now.
        unsafe { self.memory.write(first * size_of::<T>(), bytes) };
    }

    /// The elements; those that nobody wrote have unspecified values.
    pub fn to_vec(&self) -> Vec<T> {
        let mut bytes = vec![0_u8; self.memory.len()];
        // SAFETY: a launch that writes the buffer holds it exclusively, so none is under way.
        unsafe { self.memory.read(0, &mut bytes) };
        let start = bytes.as_ptr().cast::<T>();
        // SAFETY: the bytes hold `len` elements, and any bytes are one.
        (0..self.len).map(|i| unsafe { start.add(i).read_unaligned() }).collect()
    }

    /// The first element that nothing has written, if any.
    pub fn first_unwritten(&self) -> Option<usize> {
        // SAFETY: as in `to_vec`.
        let byte = unsafe { self.memory.first_unwritten(0, self.memory.len()) };
        byte.map(|byte| byte / size_of::<T>())
    }

    /// The first elements as a matrix for reading: row-major, without gaps between the rows.
    ///
    /// # Panics
    /// If there are fewer elements.
    pub fn matrix(&self, rows: u32, cols: u32) -> Matrix<&Self> {
        self.matrix_ld(rows, cols, cols)
    }

    /// The same with `ld` elements from the start of one row to the start of the next.
    ///
    /// # Panics
    /// If there are fewer elements, or `ld` is less than `cols`.
    pub fn matrix_ld(&self, rows: u32, cols: u32, ld: u32) -> Matrix<&Self> {
        self.check(rows, cols, ld);
        Matrix { buffer: self, rows, cols, ld }
    }

    /// The first elements as a matrix for writing: row-major, without gaps between the rows.
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
    /// The matrix in boxes of so many rows and columns, as the copy engine sees it.
    pub fn tma(self, rows: u32, cols: u32, swizzle: Swizzle) -> TmaTensor<B> {
        TmaTensor { matrix: self, rows, cols, swizzle }
    }
}

/// A matrix cut into boxes.
#[derive(Clone, Copy, Debug)]
pub struct TmaTensor<B> {
    matrix: Matrix<B>,
    rows: u32,
    cols: u32,
    swizzle: Swizzle,
}

impl<B> TmaTensor<B> {
    /// The map of a matrix of `T` in memory with a tag.
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

/// Blocks of a launch, their threads, their bytes of launch-sized shared memory.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    blocks: [u32; 3],
    threads: [u32; 3],
    shared_bytes: usize,
}

impl Grid {
    /// So many blocks of so many threads.
    pub fn line(blocks: u32, threads: u32) -> Self {
        Self::new([blocks, 1, 1], [threads, 1, 1])
    }

    /// Blocks and threads along x, y and z.
    pub fn new(blocks: [u32; 3], threads: [u32; 3]) -> Self {
        Self { blocks, threads, shared_bytes: 0 }
    }

    /// The same with so many bytes of shared memory for a kernel that leaves the size to the launch.
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
    /// Binds a buffer; gives its tag.
    fn add(&mut self, memory: &'a Memory, writable: bool) -> u32 {
        self.bindings.push(Binding { name: self.names[self.at], memory, writable });
        self.bindings.len() as u32 - 1
    }
}

/// What may be passed for a kernel's parameter of type `V`: `&Buffer<T>` for `VecRef<T>`, `&mut Buffer<T>` for
/// `VecMut<T>`, a [`Matrix`] for `MatRef<T>` and `MatMut<T>`, a number for itself.
pub trait Arg<'a, V> {
    /// The kernel's view of the argument.
    ///
    /// # Safety
    /// The view is used by a launch with these bindings and by nothing else.
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

impl<'a, T: Element> Arg<'a, tma::TensorMap<T>> for TmaTensor<&'a Buffer<T>> {
    unsafe fn view(self, bound: &mut Bound<'a>) -> tma::TensorMap<T> {
        let memory = &self.matrix.buffer.memory;
        let tag = bound.add(memory, false);
        // SAFETY: the matrix fits into the buffer, which is bound as `tag`.
        unsafe { tma::TensorMap::from_raw(self.map::<T>(memory, tag)) }
    }
}

impl<'a, T: Element> Arg<'a, tma::TensorMapMut<T>> for TmaTensor<&'a mut Buffer<T>> {
    unsafe fn view(self, bound: &mut Bound<'a>) -> tma::TensorMapMut<T> {
        let words = self.map::<T>(&self.matrix.buffer.memory, bound.bindings.len() as u32);
        bound.add(&self.matrix.buffer.memory, true);
        // SAFETY: the matrix fits into the buffer, which is bound under the tag it was given; the borrow is exclusive.
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
/// The simulator's own: an empty grid, a configuration without meaning.
///
/// # Panics
/// If the kernel demands another block, fewer threads, or other shared memory than `grid` has.
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
    // More than any block may have is the simulator's to refuse.
    assert!(threads <= info.max_threads().into() || threads > 1024, "threads per block of `{}`: {threads}", info.name);
    let shared_bytes = match info.shared {
        SharedSpec::None => 0,
        SharedSpec::Fixed { bytes, .. } => bytes,
        SharedSpec::PerLaunch { .. } => grid.shared_bytes,
    };
    let mut bound = Bound { names: info.args, at: 0, bindings: Vec::new() };
    // SAFETY: the views go to the launch below and nowhere else.
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
    };
    // SAFETY: the arguments borrow their buffers for `'a`, exclusively where the kernel may write, and `bound` holds them;
    // the views carry the tags that `bound` gave them. `entry` does nothing but run the kernel on them.
    unsafe { simulator::launch(&launch, config, &|| entry(views)) }
}

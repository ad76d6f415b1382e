//! Runs a kernel on the simulator at level `Counters`, and panics if there are reports.

#![allow(dead_code, reason = "every test binary uses a different part of this module")]

use simt::{
    KernelInfo,
    element::Element,
    global::{MatMut, MatRef, VecMut, VecRef},
};
use simulator::{Binding, Config, Launch, Level, Memory, launch};

/// Seeds of every test: 0 runs threads in order of their indices.
pub(crate) const SEEDS: [u64; 4] = [0, 1, 2, 42];

/// A buffer of simulated memory; its views carry `tag`, its index among the bindings of the launch.
pub(crate) struct Buffer<T> {
    memory: Memory,
    len: usize,
    tag: u32,
    writable: bool,
    element: std::marker::PhantomData<T>,
}

impl<T: Element> Buffer<T> {
    /// An input: buffer number `tag` of the launch.
    pub(crate) fn input(tag: u32, data: &[T]) -> Self {
        Self::new(tag, data.len(), false).filled(data)
    }

    /// An output initialised with `data`.
    pub(crate) fn inout(tag: u32, data: &[T]) -> Self {
        Self::new(tag, data.len(), true).filled(data)
    }

    /// An uninitialised output.
    pub(crate) fn output(tag: u32, len: usize) -> Self {
        Self::new(tag, len, true)
    }

    fn new(tag: u32, len: usize, writable: bool) -> Self {
        let memory = Memory::new(len * size_of::<T>(), size_of::<T>()).expect("memory for a test");
        Self { memory, len, tag, writable, element: std::marker::PhantomData }
    }

    fn filled(self, data: &[T]) -> Self {
        // SAFETY: all bytes of the elements are initialised; no other code uses the memory.
        unsafe {
            let bytes = std::slice::from_raw_parts(data.as_ptr().cast(), size_of_val(data));
            self.memory.write(0, bytes);
        }
        self
    }

    /// The contents; every element must have been written.
    pub(crate) fn read(&self) -> Vec<T> {
        let bytes = self.len * size_of::<T>();
        // SAFETY: no launch is running; any bytes are a valid `T`, and all of them are written.
        unsafe {
            assert_eq!(self.memory.first_unwritten(0, bytes), None, "the kernel left elements unwritten");
            let mut out: Vec<T> = vec![std::mem::zeroed(); self.len];
            self.memory.read(0, std::slice::from_raw_parts_mut(out.as_mut_ptr().cast(), bytes));
            out
        }
    }

    pub(crate) fn vec(&self) -> VecRef<'static, T> {
        // SAFETY: used in launches with this binding, while the buffer lives.
        unsafe { VecRef::from_raw_parts(self.memory.as_ptr().cast(), self.len as u64, self.tag) }
    }

    pub(crate) fn vec_mut(&self) -> VecMut<'static, T> {
        // SAFETY: used in launches with this binding, while the buffer lives.
        unsafe { VecMut::from_raw_parts(self.memory.as_ptr().cast(), self.len as u64, self.tag) }
    }

    pub(crate) fn mat(&self, rows: u32, cols: u32) -> MatRef<'static, T> {
        assert_eq!(self.len, rows as usize * cols as usize);
        // SAFETY: used in launches with this binding, while the buffer lives.
        unsafe { MatRef::from_raw_parts(self.memory.as_ptr().cast(), rows, cols, cols, self.tag) }
    }

    pub(crate) fn mat_mut(&self, rows: u32, cols: u32) -> MatMut<'static, T> {
        assert_eq!(self.len, rows as usize * cols as usize);
        // SAFETY: used in launches with this binding, while the buffer lives.
        unsafe { MatMut::from_raw_parts(self.memory.as_ptr().cast(), rows, cols, cols, self.tag) }
    }
}

/// A buffer of any type, for the list of bindings.
pub(crate) trait Bound {
    fn binding(&self) -> Binding<'_>;
    fn tag(&self) -> u32;
}

impl<T> Bound for Buffer<T> {
    fn binding(&self) -> Binding<'_> {
        Binding { name: "buffer", memory: &self.memory, writable: self.writable }
    }

    fn tag(&self) -> u32 {
        self.tag
    }
}

/// Runs `body` for every thread, with `seed`; panics with the reports if there are any.
pub(crate) fn run(
    info: &KernelInfo,
    seed: u64,
    grid: [u32; 3],
    block: [u32; 3],
    shared_bytes: usize,
    buffers: &[&dyn Bound],
    body: impl Fn() + Sync,
) {
    for (tag, buffer) in buffers.iter().enumerate() {
        assert_eq!(buffer.tag() as usize, tag, "the tag of a buffer is its index among the buffers");
    }
    let bindings: Vec<_> = buffers.iter().map(|buffer| buffer.binding()).collect();
    let pdl = info.pdl;
    let request = Launch {
        name: info.name,
        grid,
        block,
        shared_bytes,
        cluster: info.cluster,
        pdl,
        bindings: &bindings,
        print: None,
    };
    // SAFETY: only the test holds the buffers; the body runs a kernel on views of them, tagged by their index.
    let outcome = unsafe { launch(&request, &Config::new(Level::Counters).seed(seed), &body) }.expect("a valid launch");
    let reports: Vec<_> = outcome.reports.iter().map(ToString::to_string).collect();
    assert!(reports.is_empty(), "{} with seed {seed}:\n{}", info.name, reports.join("\n"));
}

/// Pseudo-random numbers: a fixed sequence, so that a failure can be reproduced.
pub(crate) fn noise(n: usize) -> Vec<u32> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    (0..n)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 32) as u32
        })
        .collect()
}

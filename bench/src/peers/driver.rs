//! What the benchmark needs of the driver beyond `warpwright`: events that are used again, graphs of captured calls,
//! plain copies and fills.
//!
//! `CUDA Driver API`, version 12 and later. Every function works in the context that is current on the calling thread;
//! a [`Driver`] is made from a stream of `warpwright`, whose calls made it current.

use std::ffi::{CStr, c_char, c_void};
use std::ptr;
use std::rc::Rc;

use anyhow::{Context as _, Result};
use warpwright::Stream;

use super::library::{Search, check, functions};

type Handle = *mut c_void;

functions! {
    /// Handles are opaque pointers; every status is a `CUresult`, an int.
    Functions {
        fn event_create = "cuEventCreate"(*mut Handle, u32) -> i32;
        fn event_destroy = "cuEventDestroy_v2"(Handle) -> i32;
        fn event_record = "cuEventRecord"(Handle, Handle) -> i32;
        fn event_elapsed = "cuEventElapsedTime"(*mut f32, Handle, Handle) -> i32;
        fn begin_capture = "cuStreamBeginCapture_v2"(Handle, i32) -> i32;
        fn end_capture = "cuStreamEndCapture"(Handle, *mut Handle) -> i32;
        fn graph_instantiate = "cuGraphInstantiateWithFlags"(*mut Handle, Handle, u64) -> i32;
        fn graph_launch = "cuGraphLaunch"(Handle, Handle) -> i32;
        fn graph_destroy = "cuGraphDestroy"(Handle) -> i32;
        fn graph_exec_destroy = "cuGraphExecDestroy"(Handle) -> i32;
        fn copy = "cuMemcpyDtoDAsync_v2"(u64, u64, usize, Handle) -> i32;
        fn fill = "cuMemsetD8Async"(u64, u8, usize, Handle) -> i32;
        fn error_name = "cuGetErrorName"(i32, *mut *const c_char) -> i32;
        fn pci_bus_id = "cuDeviceGetPCIBusId"(*mut c_char, i32, i32) -> i32;
        fn driver_version = "cuDriverGetVersion"(*mut i32) -> i32;
    }
}

const SEARCH: Search<'_> = Search {
    name: "the NVIDIA driver (libcuda)",
    variable: "WARPWRIGHT_LIBCUDA",
    files: &["libcuda.so.1"],
    remedy: "run on a machine with an NVIDIA GPU",
};

/// `CU_STREAM_CAPTURE_MODE_THREAD_LOCAL`: only this thread must keep from calls that cannot be captured.
const THREAD_LOCAL: i32 = 1;

/// The driver, on one stream.
#[derive(Clone)]
pub struct Driver {
    functions: Rc<Functions>,
    stream: Stream,
    raw: Handle,
}

impl Driver {
    /// The driver on `stream`.
    ///
    /// # Errors
    /// There is no driver, or the stream is the simulator's.
    pub fn new(stream: Stream) -> Result<Self> {
        let raw = stream.as_raw().context("the simulator has no driver; take a GPU's stream")?;
        stream.synchronize()?;
        Ok(Self { functions: Rc::new(Functions::find(&SEARCH)?), stream, raw })
    }

    /// The stream's handle.
    pub fn raw(&self) -> *mut c_void {
        self.raw
    }

    /// Waits for all work of the stream.
    ///
    /// # Errors
    /// Any of it failed.
    pub fn synchronize(&self) -> Result<()> {
        // Through `warpwright`, which also makes the context current again in case it was changed.
        Ok(self.stream.synchronize()?)
    }

    /// A new event.
    ///
    /// # Errors
    /// The driver refuses.
    pub fn event(&self) -> Result<Event> {
        let mut event = ptr::null_mut();
        // SAFETY: `event` is a place for a handle.
        self.check("cuEventCreate", unsafe { (self.functions.event_create)(&raw mut event, 0) })?;
        Ok(Event { functions: Rc::clone(&self.functions), event })
    }

    /// Marks the point that the stream has reached.
    ///
    /// # Errors
    /// The driver refuses.
    pub fn record(&self, event: &Event) -> Result<()> {
        // SAFETY: both handles are alive.
        self.check("cuEventRecord", unsafe { (self.functions.event_record)(event.event, self.raw) })
    }

    /// Microseconds from `start` to `end`, both of which the stream has passed. The driver's clock ticks every 0.5 µs.
    ///
    /// # Errors
    /// One of them was not passed.
    pub fn elapsed_us(&self, start: &Event, end: &Event) -> Result<f64> {
        let mut milliseconds = 0.0_f32;
        // SAFETY: both handles are alive; the first argument is a place for a float.
        let status = unsafe { (self.functions.event_elapsed)(&raw mut milliseconds, start.event, end.event) };
        self.check("cuEventElapsedTime", status)?;
        Ok(f64::from(milliseconds) * 1e3)
    }

    /// Captures what `work` queues on the stream, as a graph that is ready to launch.
    ///
    /// # Errors
    /// `work` fails, or does what cannot be captured: waits for the device, or allocates its memory.
    pub fn capture(&self, work: impl FnOnce() -> Result<()>) -> Result<Graph> {
        // SAFETY: the stream is alive and is not capturing, since capturing begins and ends here.
        self.check("cuStreamBeginCapture", unsafe { (self.functions.begin_capture)(self.raw, THREAD_LOCAL) })?;
        let worked = work();
        let mut graph = ptr::null_mut();
        // SAFETY: the capture began on this thread; `graph` is a place for a handle. Ended also when `work` failed.
        let ended = unsafe { (self.functions.end_capture)(self.raw, &raw mut graph) };
        let mut captured = Graph { functions: Rc::clone(&self.functions), source: graph, exec: ptr::null_mut() };
        worked?;
        self.check("cuStreamEndCapture", ended)?;
        // SAFETY: the graph is alive; `exec` is a place for a handle.
        let made = unsafe { (self.functions.graph_instantiate)(&raw mut captured.exec, captured.source, 0) };
        self.check("cuGraphInstantiate", made)?;
        Ok(captured)
    }

    /// Queues a graph.
    ///
    /// # Errors
    /// The driver refuses.
    pub fn launch(&self, graph: &Graph) -> Result<()> {
        // SAFETY: both handles are alive; the caller that captured the graph keeps its memory alive.
        self.check("cuGraphLaunch", unsafe { (self.functions.graph_launch)(graph.exec, self.raw) })
    }

    /// Queues a copy of `bytes` bytes within the device.
    ///
    /// # Safety
    /// Both are addresses of that many bytes of device memory that do not overlap and live until the stream has passed
    /// this point, and all other use of them is on this stream.
    ///
    /// # Errors
    /// The driver refuses.
    pub unsafe fn copy(&self, to: u64, from: u64, bytes: usize) -> Result<()> {
        // SAFETY: as the caller promises.
        self.check("cuMemcpyDtoDAsync", unsafe { (self.functions.copy)(to, from, bytes, self.raw) })
    }

    /// Queues the filling of `bytes` bytes with `value`.
    ///
    /// # Safety
    /// As for [`Driver::copy`].
    ///
    /// # Errors
    /// The driver refuses.
    pub unsafe fn fill(&self, at: u64, value: u8, bytes: usize) -> Result<()> {
        // SAFETY: as the caller promises.
        self.check("cuMemsetD8Async", unsafe { (self.functions.fill)(at, value, bytes, self.raw) })
    }

    /// The PCI address of device `ordinal`, by which other libraries know it.
    ///
    /// # Errors
    /// There is no such device.
    pub fn pci_bus_id(&self, ordinal: i32) -> Result<String> {
        let mut text: [c_char; 32] = [0; 32];
        // SAFETY: the buffer has the length that is passed.
        let status = unsafe { (self.functions.pci_bus_id)(text.as_mut_ptr(), text.len() as i32, ordinal) };
        self.check("cuDeviceGetPCIBusId", status)?;
        // SAFETY: the driver ends the text with a zero within the buffer.
        Ok(unsafe { CStr::from_ptr(text.as_ptr()) }.to_string_lossy().into_owned())
    }

    /// The version of CUDA that the driver knows, as `13.0`.
    pub fn cuda_version(&self) -> String {
        let mut version = 0;
        // SAFETY: `version` is a place for an int.
        let status = unsafe { (self.functions.driver_version)(&raw mut version) };
        if status == 0 { format!("{}.{}", version / 1000, version % 1000 / 10) } else { "unknown".into() }
    }

    fn check(&self, call: &'static str, code: i32) -> Result<()> {
        check(call, code).map_err(|status| {
            let mut name = ptr::null();
            // SAFETY: `name` is a place for a pointer to a constant text.
            let found = unsafe { (self.functions.error_name)(code, &raw mut name) } == 0 && !name.is_null();
            // SAFETY: the text ends with a zero and is never freed.
            let name = if found { unsafe { CStr::from_ptr(name) }.to_string_lossy() } else { "unknown".into() };
            anyhow::Error::new(status).context(format!("the driver says {name}"))
        })
    }
}

/// An event; it can be recorded again and again.
pub struct Event {
    functions: Rc<Functions>,
    event: Handle,
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: destroyed once, here. A failure leaves nothing to do.
        let _ = unsafe { (self.functions.event_destroy)(self.event) };
    }
}

/// Captured work, ready to launch. It must be done with before the memory that it uses is freed.
pub struct Graph {
    functions: Rc<Functions>,
    source: Handle,
    exec: Handle,
}

impl Drop for Graph {
    fn drop(&mut self) {
        // SAFETY: destroyed once, here; the driver keeps what launches under way need.
        unsafe {
            if !self.exec.is_null() {
                let _ = (self.functions.graph_exec_destroy)(self.exec);
            }
            if !self.source.is_null() {
                let _ = (self.functions.graph_destroy)(self.source);
            }
        }
    }
}

//! Streams and events of the driver.

use std::mem::ManuallyDrop;
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cust::stream::{Stream, StreamFlags};
use cust::sys;
use smallvec::SmallVec;

use super::capture::Relaxed;
use super::driver::{self, Failure, codes};
use super::graphs::Graphs;
use super::loaded_module::Module;
use super::primary::Primary;
use crate::error::Result;

/// A CUDA stream.
pub(crate) struct Queue {
    stream: ManuallyDrop<Stream>,
    primary: Arc<Primary>,
    /// For a kernel that does not use PDL.
    singles: Mutex<Graphs>,
    /// For two kernels, by the blocks of the second one's clusters: see [`driver::KernelGraph::set`].
    pairs: Mutex<SmallVec<[(u32, Graphs); 3]>>,
}

impl Queue {
    pub(super) fn new(primary: &Arc<Primary>) -> Result<Self> {
        let stream = primary.call("creating a stream", || {
            driver::check_cust("cuStreamCreateWithPriority", Stream::new(StreamFlags::NON_BLOCKING, None))
        })?;
        let (stream, primary) = (ManuallyDrop::new(stream), Arc::clone(primary));
        Ok(Self { stream, primary, singles: Mutex::new(Graphs::new()), pairs: Mutex::default() })
    }

    pub(crate) fn raw(&self) -> sys::CUstream {
        self.stream.as_inner()
    }

    pub(super) fn primary(&self) -> &Arc<Primary> {
        &self.primary
    }

    /// Launches a kernel in this stream, in the current context: after some launches as a graph ([`Graphs`]), if there
    /// is `of_graph`, the kernel's module. A graph keeps it, but it must not be the last to do so.
    ///
    /// # Safety
    /// The contract of [`driver::launch`]; with `of_graph`, the kernel has neither PDL nor clusters.
    pub(super) unsafe fn launch(&self, launch: &driver::Launch, of_graph: Option<&Arc<Module>>) -> Result<(), Failure> {
        if let Some(module) = of_graph {
            let is_launched = {
                let mut singles = self.singles.lock().unwrap_or_else(PoisonError::into_inner);
                // SAFETY: the caller's promise.
                unsafe { self.launch_graph(&mut singles, &[launch], &[module]) }?
            };
            if is_launched {
                return Ok(());
            }
        }
        // SAFETY: the caller's promise.
        unsafe { driver::launch(launch) }
    }

    /// Launches two kernels in this stream, in the current context, the second one after the first: after some calls
    /// as a graph, which keeps their modules as that of [`Self::launch`]. A graph begins when all work before it is
    /// done, whether its kernels use PDL or not. The second kernel has clusters of `cluster` blocks.
    ///
    /// # Safety
    /// The contract of [`driver::launch`] for both; the first kernel has no clusters.
    pub(super) unsafe fn launch_pair(
        &self,
        launches: [&driver::Launch; 2],
        modules: [&Arc<Module>; 2],
        cluster: u32,
    ) -> Result<(), Failure> {
        let is_launched = {
            let mut pairs = self.pairs.lock().unwrap_or_else(PoisonError::into_inner);
            let known = pairs.iter().position(|(known, _)| *known == cluster);
            let number = known.unwrap_or_else(|| {
                pairs.push((cluster, Graphs::new()));
                pairs.len() - 1
            });
            // SAFETY: the caller's promise.
            unsafe { self.launch_graph(&mut pairs[number].1, &launches, &modules) }?
        };
        if is_launched {
            return Ok(());
        }
        // SAFETY: as above.
        unsafe { driver::launch(launches[0]) }?;
        // SAFETY: as above.
        unsafe { driver::launch(launches[1]) }
    }

    /// Launches the kernels as a graph, if it is time for one and the stream is not being captured. Whether they were
    /// launched: what a graph cannot launch, the driver may launch without it, or gives the reason.
    ///
    /// # Safety
    /// That of [`Graphs::launch`], but for the capture.
    unsafe fn launch_graph(
        &self,
        graphs: &mut Graphs,
        launches: &[&driver::Launch],
        modules: &[&Arc<Module>],
    ) -> Result<bool, Failure> {
        if !graphs.take_part() {
            return Ok(false);
        }
        let is_launched = self.captured().and_then(|is_captured| {
            if is_captured {
                return Ok(false);
            }
            // SAFETY: the caller's promise.
            unsafe { graphs.launch(launches, modules) }.map(|()| true)
        });
        match is_launched {
            Err(failure) if !failure.is_sticky() => Ok(false),
            is_launched => is_launched,
        }
    }

    /// Waits for the work queued so far.
    pub(crate) fn synchronize(&self) -> Result<()> {
        self.primary
            .wait("waiting for a stream", || driver::check_cust("cuStreamSynchronize", self.stream.synchronize()))
    }

    /// Waits for the work queued so far, before a handle is freed. False if the driver call fails.
    pub(super) fn synchronize_to_clean_up(&self) -> bool {
        self.primary.enter_to_clean_up().is_some_and(|_entered| self.stream.synchronize().is_ok())
    }

    /// Records an event after the work queued so far.
    pub(crate) fn mark(&self) -> Result<Marker> {
        let marker = Marker::new(&self.primary, sys::CUevent_flags::CU_EVENT_DEFAULT)?;
        self.primary.call("recording an event", || marker.record(self))?;
        Ok(marker)
    }

    /// Makes later work of this queue wait for the marker.
    pub(crate) fn wait(&self, marker: &Marker) -> Result<()> {
        self.primary.call("making a stream wait for an event", || self.wait_raw(marker))
    }

    fn wait_raw(&self, marker: &Marker) -> Result<(), Failure> {
        // SAFETY: stream and event are alive; the event may be destroyed before the wait is over.
        driver::check("cuStreamWaitEvent", unsafe { sys::cuStreamWaitEvent(self.raw(), marker.event, 0) })
    }

    /// Makes later work of this queue wait for all work queued so far in `other`. If this queue is being captured in a
    /// graph, which cannot depend on work outside it, the host waits for that work instead.
    pub(super) fn wait_for(&self, other: &Self) -> Result<()> {
        let marker = Marker::new(&self.primary, sys::CUevent_flags::CU_EVENT_DISABLE_TIMING)?;
        self.primary.call("ordering two streams", || {
            if self.captured()? {
                let _waiting = Relaxed::begin()?;
                marker.record(other)?;
                // SAFETY: the event is alive.
                return driver::check("cuEventSynchronize", unsafe { sys::cuEventSynchronize(marker.event) });
            }
            marker.record(other)?;
            self.wait_raw(&marker)
        })
    }

    /// Whether all work queued so far is known to be done. False while the stream is being captured, since the query
    /// would end the capture, and if a driver call fails.
    pub(super) fn is_idle(&self) -> bool {
        let idle = self.primary.call("querying a stream", || {
            if self.captured()? {
                return Ok(false);
            }
            let _querying = Relaxed::begin()?;
            // SAFETY: the stream is alive.
            match driver::check("cuStreamQuery", unsafe { sys::cuStreamQuery(self.raw()) }) {
                Ok(()) => Ok(true),
                Err(failure) if failure.code == codes::NOT_READY => Ok(false),
                Err(failure) => Err(failure),
            }
        });
        idle.unwrap_or(false)
    }

    /// Whether the stream is being captured in a graph, or a driver call fails.
    pub(super) fn is_captured(&self) -> bool {
        self.primary.call("querying a stream", || self.captured()).unwrap_or(true)
    }

    /// Whether the stream is being captured; the context is current.
    fn captured(&self) -> Result<bool, Failure> {
        let mut status = sys::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE;
        // SAFETY: the stream is alive; `status` is writable.
        driver::check("cuStreamIsCapturing", unsafe { sys::cuStreamIsCapturing(self.raw(), &raw mut status) })?;
        Ok(status != sys::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE)
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // The driver finishes the queued work before it destroys the stream; a lost context has lost its streams.
        if let Some(_entered) = self.primary.enter_to_clean_up() {
            let singles = self.singles.get_mut().unwrap_or_else(PoisonError::into_inner);
            let pairs = self.pairs.get_mut().unwrap_or_else(PoisonError::into_inner);
            for graphs in pairs.iter_mut().map(|(_, graphs)| graphs).chain([singles]) {
                // SAFETY: the context is current.
                unsafe { graphs.destroy() };
            }
            // SAFETY: dropped once, here.
            unsafe { ManuallyDrop::drop(&mut self.stream) };
        }
    }
}

/// An event that was recorded in a queue.
pub(crate) struct Marker {
    event: sys::CUevent,
    primary: Arc<Primary>,
}

// SAFETY: events may be used from any thread, several at once; each call makes the context current first.
unsafe impl Send for Marker {}
// SAFETY: as above.
unsafe impl Sync for Marker {}

impl Marker {
    fn new(primary: &Arc<Primary>, flags: sys::CUevent_flags) -> Result<Self> {
        let event = primary.call("creating an event", || {
            let mut event = ptr::null_mut();
            // SAFETY: `event` is writable.
            driver::check("cuEventCreate", unsafe { sys::cuEventCreate(&raw mut event, flags as u32) })?;
            Ok(event)
        })?;
        Ok(Self { event, primary: Arc::clone(primary) })
    }

    fn record(&self, queue: &Queue) -> Result<(), Failure> {
        // SAFETY: event and stream are alive and of one context.
        driver::check("cuEventRecord", unsafe { sys::cuEventRecord(self.event, queue.raw()) })
    }

    /// Waits until the queue has passed the event.
    pub(crate) fn synchronize(&self) -> Result<()> {
        self.primary.wait("waiting for an event", || {
            // SAFETY: the event is alive.
            driver::check("cuEventSynchronize", unsafe { sys::cuEventSynchronize(self.event) })
        })
    }

    /// Whether the queue has passed the event.
    pub(crate) fn is_passed(&self) -> Result<bool> {
        self.primary.call("querying an event", || {
            // SAFETY: the event is alive.
            match driver::check("cuEventQuery", unsafe { sys::cuEventQuery(self.event) }) {
                Ok(()) => Ok(true),
                Err(failure) if failure.code == codes::NOT_READY => Ok(false),
                Err(failure) => Err(failure),
            }
        })
    }

    /// Time on the device from `start` to this event, both passed; the resolution is half a microsecond.
    pub(crate) fn since(&self, start: &Self) -> Result<Duration> {
        let milliseconds = self.primary.call("reading the time between two events", || {
            let mut milliseconds = 0.0_f32;
            // SAFETY: both events are alive and were recorded with timing; `milliseconds` is writable.
            driver::check("cuEventElapsedTime", unsafe {
                sys::cuEventElapsedTime(&raw mut milliseconds, start.event, self.event)
            })?;
            Ok(milliseconds)
        })?;
        Ok(Duration::from_secs_f64(f64::from(milliseconds.max(0.0)) / 1e3))
    }
}

impl Drop for Marker {
    fn drop(&mut self) {
        if let Some(_entered) = self.primary.enter_to_clean_up() {
            // SAFETY: destroyed once, here; the driver waits for its completion. There is no handling of a failure.
            let _ = unsafe { sys::cuEventDestroy_v2(self.event) };
        }
    }
}

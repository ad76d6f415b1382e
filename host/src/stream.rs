//! Streams and events.

use std::ffi::c_void;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use simt::element::Element;

use crate::backend::{Marker, Queue};
use crate::device::Device;
use crate::error::{ArgumentRule, BadArgument, Result};
use crate::memory::{BufferView, BufferViewMut, PinnedBuffer, Transfer};

/// A queue of work of a device. Work of one stream is done in order; different streams run concurrently.
///
/// Work on one buffer keeps the order of the calls even on different streams: the later stream waits, on the device,
/// for the earlier. On the simulator every call is done when it returns.
///
/// ```
/// use warpwright::{Device, Layout};
///
/// let device = Device::simulator();
/// let (copies, products) = (device.stream()?, device.stream()?);
/// let (mut x, b) = (device.alloc(4)?, device.upload(&ndarray::array![[0.0_f32, 1.0], [1.0, 0.0]])?);
/// let mut host = device.pinned(4)?;
/// host.copy_from_slice(&[1.0, 2.0, 3.0, 4.0]);
/// let upload = copies.upload(host, &mut x)?;
/// // The product waits for the copy, because it reads what the copy writes.
/// let start = products.record()?;
/// let c = device.gemm(x.view().as_matrix(Layout::contiguous(2, 2))?, &b).stream(&products).run()?;
/// let time = products.record()?.since(&start)?;
/// assert_eq!(c.download()?, ndarray::array![[2.0, 1.0], [4.0, 3.0]]);
/// println!("{} elements copied; the product took {time:?}", upload.wait()?.len());
/// # Ok::<(), warpwright::Error>(())
/// ```
#[derive(Clone)]
pub struct Stream {
    device: Device,
    queue: Queue,
}

impl Device {
    /// A new stream, whose work runs concurrently with other streams.
    ///
    /// # Errors
    /// A driver call fails.
    pub fn stream(&self) -> Result<Stream> {
        Ok(Stream { device: self.clone(), queue: self.backend().queue()? })
    }

    /// The stream of all work without an explicit stream.
    pub fn default_stream(&self) -> Stream {
        Stream { device: self.clone(), queue: self.queue().clone() }
    }
}

impl Stream {
    /// The device whose work it queues.
    pub fn device(&self) -> &Device {
        &self.device
    }

    pub(crate) fn queue(&self) -> &Queue {
        &self.queue
    }

    /// The driver's handle, a `CUstream`, for other CUDA libraries; `None` on the simulator. It lives as long as any
    /// clone of this stream or any buffer that was used on it.
    ///
    /// Buffers do not track work that other libraries queue. Use each such buffer on this stream alone, and synchronise
    /// the stream before the buffer is dropped.
    ///
    /// A stream may be captured in a CUDA graph through this handle. The graph keeps the addresses of what was queued:
    /// every buffer, workspace and module that it uses must live until its last launch is done, and those launches are
    /// work that buffers do not track. Call each operation once before, or [`Device::prepare`], since loading a kernel
    /// cannot be captured; a call that allocates, waits or copies to host memory cannot, either. While a stream is
    /// captured, use its buffers on no other stream: work that is ordered behind the captured stream becomes a part of
    /// the graph.
    pub fn as_raw(&self) -> Option<*mut c_void> {
        self.queue.raw()
    }

    /// Waits until all its work is done.
    ///
    /// # Errors
    /// [`crate::Error::DeviceLost`] if any of it failed.
    pub fn synchronize(&self) -> Result<()> {
        self.queue.synchronize()
    }

    /// Records an event after the work queued so far.
    ///
    /// # Errors
    /// A driver call fails.
    pub fn record(&self) -> Result<Event> {
        Ok(Event { marker: Arc::new(self.queue.mark()?), device: self.device.clone() })
    }

    /// Makes later work of this stream wait for the event.
    ///
    /// # Errors
    /// The event belongs to another device.
    pub fn wait(&self, event: &Event) -> Result<()> {
        self.device.check_same(&event.device, "Stream::wait", "event")?;
        self.queue.wait(&event.marker)
    }

    /// Starts a copy of `data` to `to`, which later work may use at once. The transfer owns `data` until the copy is
    /// done.
    ///
    /// # Errors
    /// The lengths differ, or `data` or `to` belongs to another device than this stream.
    pub fn upload<'b, T: Element>(
        &self,
        data: PinnedBuffer<T>,
        to: impl Into<BufferViewMut<'b, T>>,
    ) -> Result<Transfer<T>> {
        let to = to.into();
        self.check("Stream::upload", ("data", &data), ("to", to.device(), to.len()))?;
        let region = to.view().region();
        // SAFETY: the lengths agree. The transfer owns the memory and denies access to it until the queue has passed.
        let started = unsafe { to.allocation().memory().start_write(&self.queue, &region, data.memory()) };
        self.transfer(data, started)
    }

    /// Starts a copy of `from` to `out`, after all work that writes it. The transfer owns `out` until the copy is done.
    ///
    /// # Errors
    /// As [`Stream::upload`].
    pub fn download<'b, T: Element>(
        &self,
        from: impl Into<BufferView<'b, T>>,
        out: PinnedBuffer<T>,
    ) -> Result<Transfer<T>> {
        let from = from.into();
        self.check("Stream::download", ("out", &out), ("from", from.device(), from.len()))?;
        // SAFETY: as in `upload`.
        let started = unsafe { from.allocation().memory().start_read(&self.queue, &from.region(), out.memory()) };
        self.transfer(out, started)
    }

    fn transfer<T: Element>(&self, buffer: PinnedBuffer<T>, started: Result<()>) -> Result<Transfer<T>> {
        match started {
            Ok(()) => Transfer::new(buffer, &self.queue),
            Err(error) => {
                crate::memory::release(buffer, self.queue.synchronize().is_ok());
                Err(error)
            }
        }
    }

    fn check<T: Element>(
        &self,
        call: &str,
        (host, buffer): (&str, &PinnedBuffer<T>),
        (view, device, len): (&str, &Device, usize),
    ) -> Result<()> {
        self.device.check_same(buffer.device(), call, host)?;
        self.device.check_same(device, call, view)?;
        if buffer.len() == len {
            return Ok(());
        }
        Err(BadArgument::new(ArgumentRule::Length, call, host)
            .expected(format_args!("{len} elements, the length of `{view}`"))
            .found(buffer.len())
            .remedy(format_args!("take a slice of `{view}`, or page-locked memory of its length"))
            .into())
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stream({})", self.device.name())
    }
}

/// A point in the work of a stream, as a CUDA event.
#[derive(Clone)]
pub struct Event {
    marker: Arc<Marker>,
    device: Device,
}

impl Event {
    /// Waits until the stream has done all work before this event.
    ///
    /// # Errors
    /// [`crate::Error::DeviceLost`] if any of it failed.
    pub fn synchronize(&self) -> Result<()> {
        self.marker.synchronize()
    }

    /// Whether the stream has done all work before this event.
    ///
    /// # Errors
    /// [`crate::Error::DeviceLost`] if any of it failed.
    pub fn is_done(&self) -> Result<bool> {
        self.marker.is_passed()
    }

    /// Time from `start` to this event, waiting for both: on a GPU by its own clock, on the simulator the time that the
    /// simulation took. Zero if `start` came later.
    ///
    /// # Errors
    /// `start` belongs to another device; [`crate::Error::DeviceLost`] if any of the work failed.
    pub fn since(&self, start: &Self) -> Result<Duration> {
        self.device.check_same(&start.device, "Event::since", "start")?;
        start.marker.synchronize()?;
        self.marker.synchronize()?;
        self.marker.since(&start.marker)
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Event({})", self.device.name())
    }
}

//! Device memory that records which queues use it.
//!
//! Uses of one allocation on several queues keep the order of the calls: a reader waits, on the device, for the queue
//! of the last writer; a writer waits for the queues of all readers and of the previous writer. The wait covers all
//! work in the other queue at that moment, which may be more than the use itself, never less. With one queue, the
//! common case, there are no waits. Allocating and freeing are uses, too ([`super::memory_pool`]).

use std::sync::Arc;

use cust::context::CurrentContext;
use cust::sys;
use qcell::{QCell, QCellOwner};

use super::copy::{self, Side};
use super::driver::{self, codes};
use super::driver_stream::Queue;
use super::pinned::Pinned;
use super::primary::Primary;
use crate::contract::Region;
use crate::error::{Error, Result};

/// One allocation of memory that kernels access.
pub(crate) struct Memory {
    address: sys::CUdeviceptr,
    /// Host memory in place of device memory.
    host: Option<Pinned>,
    users: QCell<Users>,
    primary: Arc<Primary>,
}

/// The queues that may still use the memory.
#[derive(Default)]
struct Users {
    /// The queue of the last write.
    writer: Option<Arc<Queue>>,
    /// Whether it has read the memory since then.
    writer_reads: bool,
    /// The queues of reads since then, except the writer's, and except some that have done their work.
    readers: Vec<Reader>,
    /// The number of readers at which those that have done their work are looked for; at least [`FEW_READERS`].
    many_readers: usize,
}

/// A queue that reads the memory.
struct Reader {
    queue: Arc<Queue>,
    /// Whether its work waits for the last write. Not so if making it wait has failed.
    is_ordered: bool,
}

/// So many readers are kept without asking the driver whether they have done their work.
const FEW_READERS: usize = 8;

impl Users {
    /// The queues that a use by `queue` must wait for.
    fn before(&self, queue: &Arc<Queue>, write: bool) -> impl Iterator<Item = &Arc<Queue>> {
        let readers = if write { &*self.readers } else { &[] };
        // A queue that waited for the last write need not do so again. It has not waited for later reads.
        let waited = self.readers.iter().any(|reader| reader.is_ordered && Arc::ptr_eq(&reader.queue, queue));
        let waited = waited && !(write && self.writer_reads);
        let writer = self.writer.iter().filter(move |_| !waited);
        writer.chain(readers.iter().map(|reader| &reader.queue)).filter(|user| !Arc::ptr_eq(user, queue))
    }

    /// Registers a write by `queue`, which waits for all others.
    fn write(&mut self, queue: &Arc<Queue>) {
        self.readers.clear();
        if !self.writer.iter().any(|writer| Arc::ptr_eq(writer, queue)) {
            self.writer = Some(Arc::clone(queue));
        }
        self.writer_reads = false;
    }

    /// Registers a read by `queue`. Of the readers so far, those that are done are released now and then: else a loop
    /// with a stream for each pass would keep all of its streams, and the next write would wait for each.
    fn read(&mut self, queue: &Arc<Queue>, is_ordered: bool) {
        if self.writer.iter().any(|writer| Arc::ptr_eq(writer, queue)) {
            self.writer_reads = true;
            return;
        }
        if let Some(known) = self.readers.iter_mut().find(|reader| Arc::ptr_eq(&reader.queue, queue)) {
            known.is_ordered |= is_ordered;
            return;
        }
        if self.readers.len() >= self.many_readers.max(FEW_READERS) {
            self.readers.retain(|reader| !reader.queue.is_idle());
            // Twice as many, so that streams which stay busy are asked about a constant number of times.
            self.many_readers = 2 * self.readers.len();
        }
        self.readers.push(Reader { queue: Arc::clone(queue), is_ordered });
    }
}

impl Memory {
    /// Allocates `bytes` bytes; without a driver call if 0.
    ///
    /// With `queue`, which should be the first to use the memory, the allocation is a use by that queue, and nothing
    /// waits. Without, any queue may use the memory at once.
    pub(super) fn new(primary: &Arc<Primary>, bytes: usize, queue: Option<&Arc<Queue>>) -> Result<Self> {
        // While a queue is being captured, an allocation in it would be a part of the graph.
        let queue = queue.filter(|queue| bytes > 0 && primary.pool().is_some() && !queue.is_captured());
        let users = Users { writer: queue.cloned(), ..Users::default() };
        let address = if bytes == 0 { 0 } else { Self::allocate(primary, bytes, queue)? };
        Ok(Self { address, host: None, users: primary.cell(users), primary: Arc::clone(primary) })
    }

    /// Page-locked host memory of `bytes` bytes, at least one, all zero. Kernels write it across the bus; the host then
    /// needs no copy.
    pub(super) fn on_host(primary: &Arc<Primary>, bytes: usize) -> Result<Self> {
        let host = Pinned::new(primary, bytes)?;
        let address = host.base() as sys::CUdeviceptr;
        Ok(Self { address, host: Some(host), users: primary.cell(Users::default()), primary: Arc::clone(primary) })
    }

    fn allocate(primary: &Primary, bytes: usize, queue: Option<&Arc<Queue>>) -> Result<sys::CUdeviceptr> {
        let allocate = || {
            if let Some(pool) = primary.pool() {
                return pool.allocate(bytes, queue.map(|queue| queue.raw()));
            }
            let mut address = 0;
            // SAFETY: `address` is writable.
            driver::check("cuMemAlloc_v2", unsafe { sys::cuMemAlloc_v2(&raw mut address, bytes) })?;
            Ok(address)
        };
        let allocated = primary.call(format_args!("allocating {bytes} bytes"), || {
            match (allocate(), primary.pool()) {
                // What the pool keeps may be too small, or still be in use by queued work.
                (Err(failure), Some(pool)) if failure.code == codes::OUT_OF_MEMORY => {
                    driver::check_cust("cuCtxSynchronize", CurrentContext::synchronize())?;
                    pool.trim()?;
                    allocate()
                }
                (allocated, _) => allocated,
            }
        });
        match allocated {
            Err(Error::Driver(error)) if error.code == codes::OUT_OF_MEMORY => {
                let (device, available) = (primary.describe().to_owned(), primary.memory());
                Err(Error::OutOfMemory { device, bytes, available })
            }
            other => other,
        }
    }

    /// Address of the first byte, on the device.
    pub(crate) fn base(&self) -> *mut u8 {
        self.address as *mut u8
    }

    /// Makes the next work of `queue` wait for the uses so far, and registers it as a use. `held` is from
    /// [`Primary::enqueue`], which the caller keeps until the work is queued.
    ///
    /// If a wait fails, the users so far are kept, since nothing is ordered behind them, and `queue` is one more.
    pub(super) fn order(&self, held: &mut QCellOwner, queue: &Arc<Queue>, write: bool) -> Result<()> {
        let users = held.rw(&self.users);
        let ordered = users.before(queue, write).try_for_each(|other| queue.wait_for(other));
        if write && ordered.is_ok() {
            users.write(queue);
        } else {
            // A write that was to wait for readers, too, may have waited for the writer; that is not known here.
            users.read(queue, ordered.is_ok());
        }
        ordered
    }

    /// Copies `data` to the rows of `region`, and waits for it.
    pub(crate) fn write(&self, queue: &Arc<Queue>, region: &Region, data: &[u8]) -> Result<()> {
        // SAFETY: `data` has the region's length and outlives the copy, which is waited for.
        let queued = unsafe { self.queue_write(queue, region, data.as_ptr()) };
        self.wait_for_copy(queue, region, queued)
    }

    /// Copies the rows of `region` to `out`, after all work on them, and waits for it.
    pub(crate) fn read(&self, queue: &Arc<Queue>, region: &Region, out: &mut [u8]) -> Result<()> {
        if let Some(host) = &self.host {
            return self.read_host(host, queue, region, out);
        }
        // SAFETY: `out` has the region's length and outlives the copy, which is waited for.
        let queued = unsafe { self.queue_read(queue, region, out.as_mut_ptr()) };
        self.wait_for_copy(queue, region, queued)
    }

    /// Waits for all work on the memory, which is `host`, and copies the rows of `region` to `out`.
    fn read_host(&self, host: &Pinned, queue: &Arc<Queue>, region: &Region, out: &mut [u8]) -> Result<()> {
        if region.is_empty() {
            return Ok(());
        }
        self.order(&mut self.primary.enqueue(), queue, false)?;
        queue.synchronize()?;
        for (start, row) in region.starts().zip(out.chunks_exact_mut(region.row)) {
            // SAFETY: the row lies in the allocation. All work that was queued on it is done, and the caller's borrow
            // of the buffer keeps others from queueing a write.
            unsafe { host.base().add(start).copy_to_nonoverlapping(row.as_mut_ptr(), row.len()) };
        }
        Ok(())
    }

    /// Starts a copy of `data` to `region`, which is one row.
    ///
    /// # Safety
    /// `data` has the region's length, and stays alive and unchanged until the queue has passed this point.
    pub(crate) unsafe fn start_write(&self, queue: &Arc<Queue>, region: &Region, data: &Pinned) -> Result<()> {
        // SAFETY: as the caller promises.
        unsafe { self.queue_write(queue, region, data.base()) }
    }

    /// Starts a copy of `region`, which is one row, to `out`.
    ///
    /// # Safety
    /// `out` has the region's length, stays alive, and nothing else accesses it until the queue has passed this point.
    pub(crate) unsafe fn start_read(&self, queue: &Arc<Queue>, region: &Region, out: &Pinned) -> Result<()> {
        // SAFETY: as the caller promises.
        unsafe { self.queue_read(queue, region, out.base()) }
    }

    /// Queues a copy of `data` to the rows of `region`.
    ///
    /// # Safety
    /// `data` has the region's length, and stays alive and unchanged until the queue has passed this point.
    unsafe fn queue_write(&self, queue: &Arc<Queue>, region: &Region, data: *const u8) -> Result<()> {
        if region.is_empty() {
            return Ok(());
        }
        let mut held = self.primary.enqueue();
        self.order(&mut held, queue, true)?;
        let (to, from) = (Side::device(self.address, region), Side::host(data.cast_mut(), region));
        // SAFETY: the region lies in the allocation; the caller promises the rest.
        self.primary.call(copy::doing("to", region), || unsafe { copy::rows(queue, to, from) })
    }

    /// Queues a copy of the rows of `region` to `out`.
    ///
    /// # Safety
    /// `out` has the region's length, stays alive, and nothing else accesses it until the queue has passed this point.
    unsafe fn queue_read(&self, queue: &Arc<Queue>, region: &Region, out: *mut u8) -> Result<()> {
        if region.is_empty() {
            return Ok(());
        }
        let mut held = self.primary.enqueue();
        self.order(&mut held, queue, false)?;
        let (to, from) = (Side::host(out, region), Side::device(self.address, region));
        // SAFETY: the region lies in the allocation; the caller promises the rest.
        self.primary.call(copy::doing("from", region), || unsafe { copy::rows(queue, to, from) })
    }

    /// Sets the rows of `region` to zero.
    pub(crate) fn zero(&self, queue: &Arc<Queue>, region: &Region) -> Result<()> {
        if region.is_empty() {
            return Ok(());
        }
        let mut held = self.primary.enqueue();
        self.order(&mut held, queue, true)?;
        self.primary.call(format_args!("clearing {} bytes", region.len()), || {
            for start in region.starts() {
                // SAFETY: the row lies in the allocation, which outlives the queued work.
                driver::check("cuMemsetD8Async", unsafe {
                    sys::cuMemsetD8Async(self.address + start as u64, 0, region.row, queue.raw())
                })?;
            }
            Ok(())
        })
    }

    /// Copies the rows of `from` in `source` to the rows of `to`.
    pub(crate) fn copy(&self, queue: &Arc<Queue>, to: &Region, source: &Self, from: &Region) -> Result<()> {
        if to.is_empty() {
            return Ok(());
        }
        let mut held = self.primary.enqueue();
        source.order(&mut held, queue, false)?;
        self.order(&mut held, queue, true)?;
        let (to_side, from_side) = (Side::device(self.address, to), Side::device(source.address, from));
        // SAFETY: both regions lie in their allocations, which outlive the queued work.
        self.primary.call(copy::doing("within the device,", to), || unsafe { copy::rows(queue, to_side, from_side) })
    }

    /// Waits for a copy from or to borrowed host memory, also if queueing it failed: a part of it may be queued.
    ///
    /// If the stream cannot be waited for, the whole device is, since the borrow is about to end. If that fails, too,
    /// the driver still has read or written pageable memory before the call that queued the copy returned (CUDA driver
    /// API, "API synchronization behavior"); memory that the caller has page-locked it may still access.
    fn wait_for_copy(&self, queue: &Queue, region: &Region, queued: Result<()>) -> Result<()> {
        if region.is_empty() {
            return queued;
        }
        let done = queue.synchronize();
        if matches!(done, Err(Error::Driver(_))) {
            let _ = self.primary.synchronize();
        }
        queued.and(done)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.address == 0 {
            return;
        }
        let host = self.host.take();
        let Some(_entered) = self.primary.enter_to_clean_up() else {
            // A kernel may still write it.
            host.into_iter().for_each(Pinned::leak);
            return;
        };
        let users = std::mem::take(self.users.get_mut());
        let mut users = users.writer.into_iter().chain(users.readers.into_iter().map(|reader| reader.queue));
        if let Some(host) = host {
            if !users.all(|queue| queue.synchronize_to_clean_up()) {
                // As above.
                host.leak();
            }
            return;
        }
        // If a queue cannot be waited for, the memory is leaked. There is no handling of a failure to free.
        let Some(pool) = self.primary.pool() else {
            if users.all(|queue| queue.synchronize_to_clean_up()) {
                // SAFETY: allocated in `new`, freed once, with no work in progress.
                let _ = unsafe { sys::cuMemFree_v2(self.address) };
            }
            return;
        };
        // Behind the work of one user, which waits for that of the others.
        let last = users.next();
        let Some(last) = last else {
            // SAFETY: allocated in `new`, freed once, and never used.
            let _ = unsafe { pool.free(self.address, None) };
            return;
        };
        if !last.is_captured() && users.all(|queue| last.wait_for(&queue).is_ok()) {
            // SAFETY: allocated in `new`, freed once; all its users are in this queue, or before this point of it.
            let _ = unsafe { pool.free(self.address, Some(last.raw())) };
        }
    }
}

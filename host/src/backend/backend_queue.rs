//! Queues of work, and markers in them.
#![cfg_attr(not(feature = "cuda"), allow(clippy::unnecessary_wraps, reason = "it is the other back end that fails"))]

#[cfg(feature = "cuda")]
use std::sync::Arc;
use std::time::{Duration, Instant};

#[cfg(feature = "cuda")]
use super::SAME_DEVICE;
#[cfg(feature = "cuda")]
use crate::cuda;
use crate::error::Result;

/// A queue of work. On the simulator all work is done at once.
#[derive(Clone)]
pub(crate) enum Queue {
    Simulated,
    #[cfg(feature = "cuda")]
    Cuda(Arc<cuda::Queue>),
}

impl Queue {
    /// The driver's handle; `None` on the simulator.
    pub(crate) fn raw(&self) -> Option<*mut std::ffi::c_void> {
        match self {
            Self::Simulated => None,
            #[cfg(feature = "cuda")]
            Self::Cuda(queue) => Some(queue.raw().cast()),
        }
    }

    /// Waits for the work queued so far.
    pub(crate) fn synchronize(&self) -> Result<()> {
        match self {
            Self::Simulated => Ok(()),
            #[cfg(feature = "cuda")]
            Self::Cuda(queue) => queue.synchronize(),
        }
    }

    /// Marks the point that the queue has reached.
    pub(crate) fn mark(&self) -> Result<Marker> {
        match self {
            Self::Simulated => Ok(Marker::Simulated(Instant::now())),
            #[cfg(feature = "cuda")]
            Self::Cuda(queue) => queue.mark().map(Marker::Cuda),
        }
    }

    /// Lets later work of this queue wait for the marker.
    pub(crate) fn wait(&self, marker: &Marker) -> Result<()> {
        match (self, marker) {
            (Self::Simulated, Marker::Simulated(_)) => Ok(()),
            #[cfg(feature = "cuda")]
            (Self::Cuda(queue), Marker::Cuda(marker)) => queue.wait(marker),
            #[cfg(feature = "cuda")]
            _ => unreachable!("{SAME_DEVICE}"),
        }
    }
}

/// A point in a queue.
pub(crate) enum Marker {
    Simulated(Instant),
    #[cfg(feature = "cuda")]
    Cuda(cuda::Marker),
}

impl Marker {
    /// Waits until the queue has passed the point.
    pub(crate) fn synchronize(&self) -> Result<()> {
        match self {
            Self::Simulated(_) => Ok(()),
            #[cfg(feature = "cuda")]
            Self::Cuda(marker) => marker.synchronize(),
        }
    }

    /// Whether the queue has passed the point.
    pub(crate) fn is_passed(&self) -> Result<bool> {
        match self {
            Self::Simulated(_) => Ok(true),
            #[cfg(feature = "cuda")]
            Self::Cuda(marker) => marker.is_passed(),
        }
    }

    /// Time from `start` to here, both passed.
    pub(crate) fn since(&self, start: &Self) -> Result<Duration> {
        match (self, start) {
            (Self::Simulated(end), Self::Simulated(start)) => Ok(end.saturating_duration_since(*start)),
            #[cfg(feature = "cuda")]
            (Self::Cuda(end), Self::Cuda(start)) => end.since(start),
            #[cfg(feature = "cuda")]
            _ => unreachable!("{SAME_DEVICE}"),
        }
    }
}

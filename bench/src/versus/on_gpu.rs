//! Samples on a GPU: calls between two events on the stream of all work.
//!
//! - A sample has as many calls, the same number for all variants, as the fastest needs to last `SAMPLE_US`: the
//!   driver's clock has a resolution of half a microsecond, and launches have a start and an end.
//! - Where that is more than one call, each variant is captured once in a CUDA graph, which is then launched: otherwise
//!   the host would be timed, as the mode `stream` intends. A variant that cannot be captured (it waits, or allocates)
//!   is called from the host, and the record says so.
//! - Calls rotate through the slots, so that data comes from memory: together they are at least [`ROTATED`] bytes, or
//!   as many as there may be; where they fit the L2 cache nevertheless, it is overwritten before each sample.
//! - Work is queued ahead of the GPU, so that it never waits for a launch. In the mode `stream` a sample begins on an
//!   idle GPU, after calls of the same variant.

use std::rc::Rc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use warpwright::{Buffer, Device};

use super::case::Case;
use super::data::Period;
use super::implementations::Call;
use super::interleave::Machine;
use super::slot::Slot;
use crate::peers::driver::{Driver, Event, Graph};
use crate::peers::nvml::{Nvml, Reading};

/// How long a sample should last at least.
const SAMPLE_US: f64 = 300.0;
/// Most calls of a sample, rounded up to use every slot equally often. No more than the most slots, so that where the
/// cache is overwritten before a sample, each of its calls finds its data in memory.
const CALLS: usize = SLOTS;
/// Bytes of all slots together, at least: ten times the L2 cache of an H200, of which a launch may leave a tenth as
/// what the cache gives up last.
pub const ROTATED: f64 = 500e6;
/// Bytes that fill the L2 cache twice.
const OVERWRITTEN: f64 = 2.0 * 60e6;
/// Calls so long need no lead-in: launching takes a hundredth of it.
const LONG_US: f64 = 1000.0;
/// Asking the GPU for its clocks takes time, and interrupts it.
const BETWEEN_READINGS: Duration = Duration::from_millis(200);
/// Most slots.
const SLOTS: usize = 128;

/// The slots of a case, with operands from `period`.
///
/// # Errors
/// There is no memory.
pub fn slots(device: &Device, case: &Case, period: &Period) -> Result<Vec<Slot>> {
    (0..how_many(case.bytes())).map(|_| Slot::new(device, case, period)).collect()
}

/// How many slots a case takes whose calls touch `bytes` bytes.
fn how_many(bytes: f64) -> usize {
    ((ROTATED / bytes.max(1.0)).ceil() as usize).clamp(1, SLOTS)
}

/// Calls of a sample, where the fastest call takes `fastest_us` and there are `slots` slots: every slot as often.
fn calls(fastest_us: f64, slots: usize) -> usize {
    let wanted = (SAMPLE_US / fastest_us.max(0.5)).ceil() as usize;
    wanted.clamp(1, CALLS).div_ceil(slots) * slots
}

/// An implementation or an algorithm whose calls are timed.
pub struct Variant<'c> {
    /// Its name in records.
    pub name: &'static str,
    /// The calls.
    pub call: Call<'c>,
    graph: Option<Graph>,
}

impl<'c> Variant<'c> {
    /// One that calls `call`.
    pub fn new(name: &'static str, call: Call<'c>) -> Self {
        Self { name, call, graph: None }
    }
}

/// A GPU with the variants of one case.
pub struct Gpu<'c, 'm> {
    // Graphs and calls before the memory that they use: fields are dropped in this order.
    variants: Vec<Variant<'c>>,
    slots: Vec<Slot>,
    /// Overwritten before each sample, where the slots do not fill the L2 cache.
    flushed: Option<Buffer<u8>>,
    driver: Driver,
    calls: usize,
    /// Launch the calls one by one, graph or not.
    each: bool,
    /// Microseconds of the fastest variant's call.
    fastest: f64,
    /// Whether the sample before waited for the GPU, so that nothing is queued now.
    drained: bool,
    free: Vec<Rc<[Event; 2]>>,
    queued: Vec<Rc<[Event; 2]>>,
    monitor: Option<&'m Nvml>,
    readings: Vec<Reading>,
    read: Option<Instant>,
}

impl<'c, 'm> Gpu<'c, 'm> {
    /// Calls each variant a few times, to load its kernels and to see how long it takes; captures what can be.
    ///
    /// # Errors
    /// A call fails; there is no memory.
    pub fn new(
        driver: &Driver,
        variants: Vec<Variant<'c>>,
        slots: Vec<Slot>,
        bytes: f64,
        monitor: Option<&'m Nvml>,
    ) -> Result<Self> {
        let mut gpu = Self {
            variants,
            slots,
            flushed: None,
            driver: driver.clone(),
            calls: 1,
            each: false,
            fastest: f64::INFINITY,
            drained: false,
            free: Vec::new(),
            queued: Vec::new(),
            monitor,
            readings: Vec::new(),
            read: None,
        };
        let mut fastest = f64::INFINITY;
        for variant in 0..gpu.variants.len() {
            let name = gpu.variants[variant].name;
            let us = gpu.try_out(variant).with_context(|| name.to_owned())?;
            fastest = fastest.min(us);
        }
        gpu.fastest = fastest;
        gpu.calls = calls(fastest, gpu.slots.len());
        if gpu.slots.len() as f64 * bytes < OVERWRITTEN {
            let device = gpu.slots[0].a.device();
            gpu.flushed = Some(device.alloc(OVERWRITTEN as usize)?);
        }
        if gpu.calls > 1 {
            for variant in 0..gpu.variants.len() {
                gpu.capture(variant);
            }
        }
        Ok(gpu)
    }

    /// Microseconds of a call, the least of a few.
    fn try_out(&mut self, variant: usize) -> Result<f64> {
        let mut least = f64::INFINITY;
        for _ in 0..3 {
            for _ in 0..2 {
                self.sample(variant)?;
            }
            least = self.collect()?.into_iter().fold(least, f64::min);
        }
        Ok(least)
    }

    fn capture(&mut self, variant: usize) {
        let Variant { call, graph, .. } = &mut self.variants[variant];
        if !call.captures {
            return;
        }
        let (slots, calls) = (&mut self.slots, self.calls);
        let captured = self.driver.capture(|| queue(call, slots, calls));
        match captured {
            Ok(captured) => *graph = Some(captured),
            // It is timed without a graph, then; the context may have been left current elsewhere, or the error
            // pending.
            Err(error) => {
                let note = format!("cannot be captured: {error:#}");
                call.note = Some(call.note.take().map_or(note.clone(), |before| format!("{before}; {note}")));
            }
        }
    }

    /// Queues the calls of a sample.
    fn work(&mut self, variant: usize) -> Result<()> {
        let Variant { call, graph, .. } = &mut self.variants[variant];
        match graph {
            Some(graph) if !self.each => self.driver.launch(graph),
            _ => queue(call, &mut self.slots, self.calls),
        }
    }

    /// The variants.
    pub fn variants(&self) -> &[Variant<'c>] {
        &self.variants
    }

    /// Remarks on how a variant is called.
    pub fn note(&self, variant: usize) -> Option<String> {
        let Variant { call, graph, .. } = &self.variants[variant];
        let host = (self.calls > 1 && graph.is_none()).then(|| "called from the host, not from a graph".to_owned());
        let notes: Vec<String> = call.note.iter().cloned().chain(host).collect();
        (!notes.is_empty()).then(|| notes.join("; "))
    }

    /// Clocks and power seen while work was under way.
    pub fn readings(&self) -> &[Reading] {
        &self.readings
    }
}

/// Queues `calls` calls, on one slot after the other.
pub(super) fn queue(call: &mut Call<'_>, slots: &mut [Slot], calls: usize) -> Result<()> {
    let len = slots.len();
    (0..calls).try_for_each(|number| (call.run)(&mut slots[number % len]))
}

impl Machine for Gpu<'_, '_> {
    fn sample(&mut self, variant: usize) -> Result<()> {
        if self.drained && !self.each {
            self.lead_in(variant)?;
        }
        let events = match self.free.pop() {
            Some(events) => events,
            None => Rc::new([self.driver.event()?, self.driver.event()?]),
        };
        if let Some(flushed) = &self.flushed {
            let (at, bytes) = (flushed.view().device_ptr() as u64, flushed.len());
            // SAFETY: the buffer has so many bytes, is used on this stream alone, and is dropped after it was waited
            // for.
            unsafe { self.driver.fill(at, self.queued.len() as u8, bytes) }?;
        }
        if self.each {
            self.driver.synchronize()?;
        }
        self.driver.record(&events[0])?;
        self.work(variant)?;
        self.driver.record(&events[1])?;
        self.drained = !self.variants[variant].call.captures;
        self.queued.push(events);
        Ok(())
    }

    fn lead_in(&mut self, variant: usize) -> Result<()> {
        self.drained = false;
        // As much as a sample, which keeps the GPU busy for longer than a launch takes. Where single calls are long,
        // the gap before the first is negligible. A variant that waits for the GPU gains nothing by it, unless calls
        // are launched one by one: then it is the host that is warmed up.
        let gains = self.each || self.variants[variant].call.captures;
        if self.fastest < LONG_US && gains { self.work(variant) } else { Ok(()) }
    }

    fn collect(&mut self) -> Result<Vec<f64>> {
        // Work is queued: clocks and power are now those of the measurement.
        if self.read.is_none_or(|read| read.elapsed() > BETWEEN_READINGS) {
            self.readings.extend(self.monitor.map(Nvml::read));
            self.read = Some(Instant::now());
        }
        self.driver.synchronize()?;
        let calls = self.calls as f64;
        let times = self.queued.iter().map(|events| Ok(self.driver.elapsed_us(&events[0], &events[1])? / calls));
        let times: Result<Vec<f64>> = times.collect();
        self.free.append(&mut self.queued);
        times
    }

    fn calls(&self) -> usize {
        self.calls
    }

    fn launch_each(&mut self, each: bool) {
        self.each = each;
    }

    fn idle(&mut self, time: Duration) {
        thread::sleep(time);
    }
}

impl Drop for Gpu<'_, '_> {
    fn drop(&mut self) {
        // The slots do not track the work that other libraries queued. If the wait fails, the context and its memory
        // are gone.
        let _ = self.driver.synchronize();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_fill_the_cache_ten_times_or_are_many() {
        assert_eq!(how_many(4e9), 1);
        assert_eq!(how_many(100e6), 5);
        assert_eq!(how_many(4e6), 125);
        assert_eq!(how_many(16.0), SLOTS);
    }

    #[test]
    fn a_sample_lasts_and_takes_every_slot_as_often() {
        assert_eq!(calls(1000.0, 1), 1);
        assert_eq!(calls(100.0, 1), 3);
        assert_eq!(calls(100.0, 2), 4);
        assert_eq!(calls(4.0, 30), 90);
        assert_eq!(calls(2.0, 128), 128);
        assert_eq!(calls(0.0, 1), 128);
        // Every slot once at least, however long.
        assert_eq!(calls(1e6, 30), 30);
    }
}

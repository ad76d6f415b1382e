//! One job, from its input to the comparison with the reference.
//!
//! On a GPU: launches until the clocks have settled, then several timed ones, each between two events on the stream,
//! after a pause and after the output was poisoned again. On the simulator: one launch, whose simulation is timed.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use warpwright::simulator::Level;
use warpwright::{Device, Event};

use crate::data::Poison;
use crate::job::{Finding, Job, Task};
use crate::progress::Progress;
use crate::units::Work;

/// Launches before the timed ones take at least this long: a GPU raises its clocks only under load.
const WARM_UP: Duration = Duration::from_millis(300);
/// The GPU rests before each timed launch, as otherwise power limits its clocks; they stay high for longer than this.
const PAUSE: Duration = Duration::from_millis(15);
/// Timed launches on a GPU.
pub(crate) const TIMED: usize = 9;

/// A row of the table.
pub(super) struct Outcome {
    pub(super) kernel: &'static str,
    pub(super) shape: String,
    pub(super) device: String,
    pub(super) work: Work,
    /// Times and finding; or why there are none.
    pub(super) result: Result<(Times, Finding)>,
}

/// Times of the launches, in order of size.
pub(crate) struct Times(Vec<Duration>);

impl Times {
    pub(crate) fn new(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        Self(times)
    }

    /// The middle one.
    pub(crate) fn median(&self) -> Duration {
        self.0[self.0.len() / 2]
    }

    /// Shortest and longest, where there are several.
    pub(crate) fn spread(&self) -> Option<(Duration, Duration)> {
        (self.0.len() > 1).then(|| (self.0[0], self.0[self.0.len() - 1]))
    }
}

impl Outcome {
    pub(super) fn passes(&self) -> bool {
        self.result.as_ref().is_ok_and(|(_, finding)| finding.passes())
    }

    /// What there is to say of the result.
    pub(super) fn detail(&self) -> String {
        match &self.result {
            Ok((_, finding)) => finding.detail.clone(),
            Err(error) => format!("{error:#}"),
        }
    }
}

/// Prepares, launches, times and checks a job.
pub(super) fn measure(device: &Device, job: Job, progress: &Progress) -> Outcome {
    let (kernel, shape, work) = (job.kernel.name, job.shape.clone(), job.work);
    let step = progress.start(format!("{kernel} {shape}"));
    let result = (|| {
        step.now("making the input");
        let mut task = job.prepare(device)?;
        let poison = Poison::new(device)?;
        let times = if device.is_simulator() {
            step.now("simulating");
            simulated(device, task.as_mut(), &poison)?
        } else {
            step.now("timing");
            timed(device, task.as_mut(), &poison)?
        };
        step.now("checking against the reference");
        let finding = task.check(&task.output()?)?;
        Ok((times, finding))
    })();
    let outcome = Outcome { kernel, shape, device: described(device), work, result };
    step.done(outcome.passes());
    outcome
}

fn simulated(device: &Device, task: &mut dyn Task, poison: &Poison) -> Result<Times> {
    task.poison(poison)?;
    let start = Instant::now();
    task.launch(device)?;
    Ok(Times::new(vec![start.elapsed()]))
}

/// Launches a task until the clocks have settled, then times it. Its first result and its last must be the same.
///
/// # Errors
/// A launch fails, or two launches give different results.
pub(crate) fn timed(device: &Device, task: &mut dyn Task, poison: &Poison) -> Result<Times> {
    task.poison(poison)?;
    task.launch(device)?;
    let first = task.output()?;
    let times = events(
        device,
        task,
        |task| task.poison(poison),
        |task| {
            task.launch(device)?;
            Ok(())
        },
    )?;
    let repeated = first.same_bits(&task.output()?);
    ensure!(repeated.is_ok(), "the first launch and the last differ: {}", repeated.unwrap_err());
    Ok(times)
}

/// Times `work` by events on the device's default stream: once the clocks have settled, [`TIMED`] times, each after a
/// pause, once untimed, and `before`, which is not timed either.
///
/// # Errors
/// Those of `work` and `before`, and what the driver says.
pub(crate) fn events<S: ?Sized>(
    device: &Device,
    state: &mut S,
    before: impl Fn(&mut S) -> Result<()>,
    work: impl Fn(&mut S) -> Result<()>,
) -> Result<Times> {
    let stream = device.default_stream();
    let start = Instant::now();
    while start.elapsed() < WARM_UP {
        work(state)?;
        device.synchronize()?;
    }
    let mut events: Vec<(Event, Event)> = Vec::new();
    for _ in 0..TIMED {
        device.synchronize()?;
        thread::sleep(PAUSE);
        // Untimed: it wakes the GPU up.
        work(state)?;
        before(state)?;
        let start = stream.record()?;
        work(state)?;
        events.push((start, stream.record()?));
    }
    let times = events.iter().map(|(start, end)| end.since(start)).collect::<warpwright::Result<_>>()?;
    Ok(Times::new(times))
}

/// The device, and how closely it watches.
fn described(device: &Device) -> String {
    match device.simulator_config().map(|config| config.level) {
        None => device.name(),
        Some(Level::Off) => "simulator, unchecked".into(),
        Some(Level::Checks) => "simulator, checks".into(),
        Some(Level::Counters) => "simulator, counters".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_one() {
        let times = Times::new([5, 1, 9, 2, 3].map(Duration::from_millis).to_vec());
        assert_eq!(times.median(), Duration::from_millis(3));
        assert_eq!(times.spread(), Some((Duration::from_millis(1), Duration::from_millis(9))));
        assert_eq!(Times::new(vec![Duration::from_millis(4)]).spread(), None);
    }
}

//! The order of the samples. A round takes one sample of each variant, so that clocks, temperature and other load
//! affect all of them alike. A variant is an implementation, or an algorithm, of the case that is measured.
//!
//! This module is independent of the GPU: it drives a [`Machine`], and tests drive a simulated one.

use std::time::Duration;

use anyhow::Result;

/// What samples are taken on.
pub trait Machine {
    /// Queues a sample of a variant: some calls between two events.
    ///
    /// # Errors
    /// The calls fail.
    fn sample(&mut self, variant: usize) -> Result<()>;

    /// Queues work that is not timed, so that the sample after it does not wait for its launch.
    ///
    /// # Errors
    /// The work fails.
    fn lead_in(&mut self, variant: usize) -> Result<()>;

    /// Waits for all samples since the last time; microseconds per call, in the order in which they were queued.
    ///
    /// # Errors
    /// Any of the work failed.
    fn collect(&mut self) -> Result<Vec<f64>>;

    /// Calls of a sample, the same for every variant.
    fn calls(&self) -> usize;

    /// From now on every call of a sample is launched on its own, with nothing else under way, or all of them at once.
    fn launch_each(&mut self, each: bool);

    /// Leaves the machine idle.
    fn idle(&mut self, time: Duration);
}

/// Short pieces of work after a pause, the same work for seconds, or the host alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum Mode {
    /// Every round after a pause: the clocks are as high as they go.
    Burst,
    /// As a burst, but every call is launched by the host on its own, after others of the same variant, the first of a
    /// sample on an idle GPU: what a program sees that calls an operation again and again without a CUDA graph. Where
    /// calls are short, the host's time and the number of launches of each decide.
    Stream,
    /// Without a pause, after seconds of the same work: the clocks are what temperature and power limit allow.
    Sustained,
    /// Without a pause: how long the host is busy with a call that it does not wait for.
    Host,
}

impl Mode {
    /// Its name in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Burst => "burst",
            Self::Stream => "stream",
            Self::Sustained => "sustained",
            Self::Host => "host",
        }
    }
}

/// How many samples, and what comes before them.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// How.
    pub mode: Mode,
    /// Samples of each variant.
    pub samples: usize,
    /// Work before a sustained measurement.
    pub sustained: Duration,
}

/// The shortest pause before a round of a burst.
const PAUSE: Duration = Duration::from_millis(15);
/// A pause is at least this many times as long as the round before it took: the card then idles most of the time.
const PAUSES: f64 = 3.0;
/// Work before a burst: at least and at most.
const SETTLE: [f64; 2] = [60e3, 600e3];
/// The clocks have settled when two rounds in succession differ by no more.
const SETTLED: f64 = 0.01;
/// Most time for the samples of a case, pauses included; but [`FEWEST`] samples are always taken.
const MOST: f64 = 3e6;
/// Samples that are taken however long they last.
const FEWEST: usize = 5;
/// Work that is queued before it is waited for, in microseconds.
const AHEAD: f64 = 20e3;

/// Takes all samples; for each variant, the microseconds of its calls.
///
/// # Errors
/// Any of the work failed.
pub fn interleave(plan: &Plan, variants: usize, machine: &mut impl Machine) -> Result<Vec<Vec<f64>>> {
    interleave_some(plan, &(0..variants).collect::<Vec<_>>(), machine)
}

/// The same for these variants alone.
///
/// # Errors
/// Any of the work failed.
pub fn interleave_some(plan: &Plan, variants: &[usize], machine: &mut impl Machine) -> Result<Vec<Vec<f64>>> {
    let count = variants.len();
    let mut times = vec![Vec::with_capacity(plan.samples); count];
    if count == 0 {
        return Ok(times);
    }
    machine.launch_each(plan.mode == Mode::Stream);
    let round_us = warm_up(plan, variants, machine)?;
    let pauses = matches!(plan.mode, Mode::Burst | Mode::Stream);
    // While a slower variant ran, the host would queue more calls ahead than it can in a row of the faster one; and the
    // first call after those of other libraries takes the host longer.
    let apart = plan.mode == Mode::Stream;
    let whole_us = if pauses { round_us * (1.0 + PAUSES) } else { round_us };
    let rounds = plan.samples.min(FEWEST.max((MOST / whole_us) as usize));
    let mut queued = Vec::new();
    for round in 0..rounds {
        if pauses {
            machine.idle(PAUSE.max(Duration::from_secs_f64(PAUSES * round_us / 1e6)));
        }
        let first = round % count;
        if queued.is_empty() && !apart {
            machine.lead_in(variants[first])?;
        }
        // Each round begins with another variant, so that each of them comes first after a pause equally often.
        for turn in 0..count {
            let place = (first + turn) % count;
            if apart {
                machine.lead_in(variants[place])?;
            }
            machine.sample(variants[place])?;
            queued.push(place);
            if apart {
                note(&mut queued, &mut times, machine)?;
            }
        }
        let enough = queued.len() as f64 / count as f64 * round_us >= AHEAD;
        if pauses || enough || round + 1 == rounds {
            note(&mut queued, &mut times, machine)?;
        }
    }
    Ok(times)
}

/// Waits for the queued samples, if there are any, and notes their times.
fn note(queued: &mut Vec<usize>, times: &mut [Vec<f64>], machine: &mut impl Machine) -> Result<()> {
    if queued.is_empty() {
        return Ok(());
    }
    for (place, us) in queued.drain(..).zip(machine.collect()?) {
        times[place].push(us);
    }
    Ok(())
}

/// The same work, not counted: for a sustained measurement as long as the plan says, else until the clocks have
/// settled. Gives the microseconds of the last round.
fn warm_up(plan: &Plan, variants: &[usize], machine: &mut impl Machine) -> Result<f64> {
    let (mut worked, mut before) = (0.0, f64::INFINITY);
    loop {
        let mut round = 0.0;
        for &variant in variants {
            machine.sample(variant)?;
        }
        for us in machine.collect()? {
            round += us;
        }
        round *= machine.calls() as f64;
        // A machine without a clock must not loop here for ever.
        worked += round.max(1.0);
        let settled = (round - before).abs() <= SETTLED * round;
        before = round;
        let done = match plan.mode {
            Mode::Sustained => worked >= plan.sustained.as_secs_f64() * 1e6,
            Mode::Burst | Mode::Stream | Mode::Host => worked >= SETTLE[1] || (worked >= SETTLE[0] && settled),
        };
        if done {
            return Ok(round);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine on which time is counted: variant c needs 100·(c + 1) µs for a call, less as the clocks rise.
    #[derive(Default)]
    struct Counted {
        events: Vec<String>,
        queued: Vec<usize>,
        samples: usize,
        idle: Duration,
        cold: f64,
        /// Every other wait finds all work 5 % slower.
        unsteady: bool,
    }

    impl Machine for Counted {
        fn sample(&mut self, variant: usize) -> Result<()> {
            self.events.push(format!("s{variant}"));
            self.queued.push(variant);
            Ok(())
        }

        fn lead_in(&mut self, variant: usize) -> Result<()> {
            self.events.push(format!("l{variant}"));
            Ok(())
        }

        fn collect(&mut self) -> Result<Vec<f64>> {
            self.events.push("c".into());
            self.samples += self.queued.len();
            // Far from settled at first, then ever slower to change.
            self.cold *= 0.9;
            let slow = if self.unsteady && self.samples.is_multiple_of(2) { 0.05 } else { 0.0 };
            let cold = self.cold + slow;
            Ok(self.queued.drain(..).map(|variant| 100.0 * (variant + 1) as f64 * (1.0 + cold)).collect())
        }

        fn calls(&self) -> usize {
            4
        }

        fn launch_each(&mut self, each: bool) {
            if each {
                self.events.push("each".into());
            }
        }

        fn idle(&mut self, time: Duration) {
            self.events.push("i".into());
            self.idle += time;
        }
    }

    fn plan(mode: Mode, samples: usize) -> Plan {
        Plan { mode, samples, sustained: Duration::from_millis(100) }
    }

    #[test]
    fn bursts_pause_before_every_round_and_take_turns() {
        let mut machine = Counted::default();
        let times = interleave(&plan(Mode::Burst, 3), 3, &mut machine).unwrap();
        assert_eq!(times, [vec![100.0; 3], vec![200.0; 3], vec![300.0; 3]]);
        let events = machine.events.join(" ");
        assert!(events.ends_with("i l0 s0 s1 s2 c i l1 s1 s2 s0 c i l2 s2 s0 s1 c"), "{events}");
        assert!(machine.idle >= 3 * PAUSE);
    }

    #[test]
    fn a_burst_begins_when_the_clocks_have_settled() {
        let rounds = |unsteady| {
            let mut machine = Counted { unsteady, ..Counted::default() };
            interleave(&plan(Mode::Burst, 1), 1, &mut machine).unwrap();
            machine.samples - 1
        };
        // 60 ms of samples of 400 µs where they do not change; where they never settle, 600 ms of 410 µs.
        assert_eq!(rounds(false), 150);
        assert_eq!(rounds(true), 1464);
    }

    #[test]
    fn a_stream_has_single_launches_behind_none_of_another_variant() {
        let mut machine = Counted::default();
        interleave(&plan(Mode::Stream, 2), 2, &mut machine).unwrap();
        let events = machine.events.join(" ");
        assert!(
            events.starts_with("each s0 s1 c") && events.ends_with("i l0 s0 c l1 s1 c i l1 s1 c l0 s0 c"),
            "{events}"
        );
    }

    #[test]
    fn some_variants_are_sampled_without_the_others() {
        let mut machine = Counted::default();
        let times = interleave_some(&plan(Mode::Burst, 3), &[2, 0], &mut machine).unwrap();
        assert_eq!(times, [vec![300.0; 3], vec![100.0; 3]]);
        let events = machine.events.join(" ");
        assert!(events.ends_with("i l2 s2 s0 c i l0 s0 s2 c i l2 s2 s0 c"), "{events}");
        assert!(!events.contains('1'), "{events}");
    }

    #[test]
    fn sustained_work_has_no_pause_and_lasts() {
        let mut machine = Counted::default();
        let times = interleave(&plan(Mode::Sustained, 40), 2, &mut machine).unwrap();
        assert!(times.iter().all(|times| times.len() == 40));
        assert_eq!(machine.idle, Duration::ZERO);
        // 100 ms of rounds of 1.2 ms, then the 40 counted ones; what is counted is queued well ahead.
        assert_eq!(machine.samples, 2 * (84 + 40));
        let collected = machine.events.iter().filter(|event| *event == "c").count() - 84;
        assert_eq!(collected, 3);
        assert_eq!(machine.events.iter().filter(|event| event.starts_with('l')).count(), 3);
    }

    #[test]
    fn host_time_has_neither_pauses_nor_seconds_of_work_before_it() {
        let mut machine = Counted::default();
        let times = interleave(&plan(Mode::Host, 5), 2, &mut machine).unwrap();
        assert_eq!(times, [vec![100.0; 5], vec![200.0; 5]]);
        // 60 ms of rounds of 1.2 ms.
        assert_eq!((machine.idle, machine.samples), (Duration::ZERO, 2 * (50 + 5)));
    }

    #[test]
    fn slow_work_is_sampled_less_often() {
        let mut machine = Counted { cold: 1e6, ..Counted::default() };
        let times = interleave(&plan(Mode::Burst, 30), 1, &mut machine).unwrap();
        assert_eq!(times[0].len(), FEWEST);
    }

    #[test]
    fn nobody_has_no_times() {
        let mut machine = Counted::default();
        assert!(interleave(&plan(Mode::Burst, 3), 0, &mut machine).unwrap().is_empty());
        assert!(machine.events.is_empty());
    }
}

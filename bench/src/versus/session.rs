//! A run: every case checked, timed, recorded.

use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use warpwright::{Device, Error};

use super::case::{Case, Dtype};
use super::data::Period;
use super::expected;
use super::host_time::{self, Host};
use super::implementations::{self, Call, Context, Implementation};
use super::interleave::{Mode, Plan, interleave};
use super::on_gpu::{Gpu, Variant, slots};
use super::record::{Conditions, Measurement, Record, append};
use super::slot::Slot;
use super::statistics::{median, spread};
use crate::peers::nvml::Nvml;
use crate::units;

/// How to measure.
pub struct Settings {
    /// Samples of each variant.
    pub samples: usize,
    /// Work before a sustained measurement.
    pub sustained: Duration,
    /// Chooses the random data.
    pub seed: u64,
    /// Only implementations so named; all, if empty.
    pub implementations: Vec<String>,
}

impl Settings {
    fn takes(&self, name: &str) -> bool {
        self.implementations.is_empty() || self.implementations.iter().any(|own| own == name)
    }
}

/// A run in progress.
pub struct Session<'a> {
    context: &'a Context<'a>,
    settings: &'a Settings,
    monitor: Option<&'a Nvml>,
    file: &'a Path,
    run: String,
    periods: HashMap<(Dtype, bool), Period>,
    length: usize,
    /// Clocks and power so far.
    pub conditions: Conditions,
    /// Remarks on the measurements.
    pub notes: Vec<String>,
    /// Implementations that gave a wrong result or failed.
    pub failures: usize,
}

impl<'a> Session<'a> {
    /// A run named `run` whose records go to `file`.
    pub fn new(
        context: &'a Context<'a>,
        settings: &'a Settings,
        monitor: Option<&'a Nvml>,
        file: &'a Path,
        run: String,
    ) -> Self {
        let length = if context.device.is_simulator() { 1009 } else { Period::LONG };
        let conditions = Conditions { before: monitor.map(Nvml::read).unwrap_or_default(), ..Conditions::default() };
        let periods = HashMap::new();
        Self { context, settings, monitor, file, run, periods, length, conditions, notes: Vec::new(), failures: 0 }
    }

    /// Checks and times one case in each of the modes.
    ///
    /// # Errors
    /// The GPU is lost, or the records cannot be written. What fails for one implementation or one case is noted, and
    /// the run goes on.
    pub fn measure(&mut self, case: &Case, modes: &[Mode]) -> Result<()> {
        self.noting_failures(case, |session| session.try_measure(case, modes))
    }

    /// Checks one case, and times the host in it: see [`host_time`].
    ///
    /// # Errors
    /// As [`Session::measure`].
    pub(super) fn measure_host(&mut self, case: &Case) -> Result<Vec<Measurement>> {
        self.noting_failures(case, |session| session.try_measure_host(case))
    }

    /// The result of `measure` for a case; the default where it failed for this case alone.
    fn noting_failures<T: Default>(&mut self, case: &Case, measure: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let start = Instant::now();
        let measured = match measure(self) {
            Ok(measured) => measured,
            Err(error) if is_fatal(&error) => return Err(error.context(case.to_string())),
            Err(error) => {
                self.failures += 1;
                self.note(format!("{case}: left out: {error:#}"));
                T::default()
            }
        };
        let seconds = start.elapsed().as_secs_f64();
        if seconds > 10.0 {
            self.note(format!("{case}: took {seconds:.0} s"));
        }
        Ok(measured)
    }

    fn try_measure(&mut self, case: &Case, modes: &[Mode]) -> Result<()> {
        let variants = self.variants(case, implementations::ALL)?;
        if variants.is_empty() {
            println!("{case}: no implementation here supports it");
            return Ok(());
        }
        let Some(driver) = &self.context.driver else { return Ok(()) };
        let device = &self.context.device;
        let period = period(&mut self.periods, device, case.dtype, false, self.length, self.settings.seed)?;
        let slots = slots(device, case, period)?;
        let mut gpu = Gpu::new(driver, variants, slots, case.bytes(), self.monitor)?;
        let mut lines = Vec::new();
        for &mode in modes {
            let plan = Plan { mode, samples: self.settings.samples, sustained: self.settings.sustained };
            let times = interleave(&plan, gpu.variants().len(), &mut gpu)?;
            let mut measured = Vec::new();
            for (variant, samples_us) in gpu.variants().iter().zip(times) {
                measured.push(self.record(case, variant.name, mode.name(), &samples_us)?);
            }
            lines.push(line(case, mode, &measured));
        }
        let notes: Vec<String> = (0..gpu.variants().len())
            .filter_map(|number| Some(format!("{case}: {}: {}", gpu.variants()[number].name, gpu.note(number)?)))
            .collect();
        for reading in gpu.readings() {
            self.conditions.see(reading);
        }
        drop(gpu);
        for line in lines {
            println!("{line}");
        }
        self.notes.extend(notes);
        Ok(())
    }

    fn try_measure_host(&mut self, case: &Case) -> Result<Vec<Measurement>> {
        let variants = self.variants(case, host_time::IMPLEMENTATIONS)?;
        let device = &self.context.device;
        let period = period(&mut self.periods, device, case.dtype, false, self.length, self.settings.seed)?;
        let slots = (0..host_time::SLOTS).map(|_| Slot::new(device, case, period)).collect::<Result<_>>()?;
        for Variant { name, call, .. } in &variants {
            self.notes.extend(call.note.iter().map(|note| format!("{case}: {name}: {note}")));
        }
        let (names, calls): (Vec<_>, Vec<_>) = variants.into_iter().map(|own| (own.name, own.call)).unzip();
        let mut host = Host::new(calls, slots, device.default_stream());
        let plan = Plan { mode: Mode::Host, samples: self.settings.samples, sustained: self.settings.sustained };
        let times = interleave(&plan, names.len(), &mut host)?;
        let timed = names.into_iter().zip(&times);
        let measured: Result<Vec<_>> = timed.map(|(name, us)| self.record(case, name, Mode::Host.name(), us)).collect();
        let measured = measured?;
        println!("{}", line(case, Mode::Host, &measured));
        Ok(measured)
    }

    /// Appends a measurement to the file.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn record(&self, case: &Case, by: &str, mode: &str, samples_us: &[f64]) -> Result<Measurement> {
        let measurement = measurement(case, by, &self.run, mode, samples_us);
        append(self.file, &Record::Measurement(measurement.clone()))?;
        Ok(measurement)
    }

    /// Those of the implementations that support the case and compute it correctly.
    ///
    /// # Errors
    /// There is no memory for the data, or the GPU is lost.
    fn variants(&mut self, case: &Case, among: &[Implementation]) -> Result<Vec<Variant<'a>>> {
        let context: &'a Context<'a> = self.context;
        let integers = case.flops() > 0.0 || matches!(case.work, super::case::Work::Max | super::case::Work::Argmax);
        let dtype = case.dtype.stored();
        period(&mut self.periods, &context.device, dtype, integers, self.length, self.settings.seed)?;
        let mut slot = Slot::new(&context.device, case, &self.periods[&(dtype, integers)])?;
        let mut variants = Vec::new();
        for implementation in among.iter().filter(|own| self.settings.takes(own.name)) {
            let period = &self.periods[&(dtype, integers)];
            let checked = (|| -> Result<Option<Call<'a>>> {
                let Some(mut call) = (implementation.prepare)(context, case, &mut slot)? else { return Ok(None) };
                slot.poison()?;
                (call.run)(&mut slot)?;
                context.device.default_stream().synchronize()?;
                expected::check(case, period, &slot).context("wrong result")?;
                Ok(Some(call))
            })();
            match checked {
                Ok(None) => {}
                Ok(Some(call)) => variants.push(Variant::new(implementation.name, call)),
                Err(error) if is_fatal(&error) => return Err(error.context(implementation.name)),
                Err(error) => {
                    self.failures += 1;
                    self.note(format!("{case}: {} is left out: {error:#}", implementation.name));
                }
            }
        }
        Ok(variants)
    }

    /// Prints a remark, and keeps it for the record.
    pub(super) fn note(&mut self, note: String) {
        eprintln!("{note}");
        self.notes.push(note);
    }
}

/// Random data of a type, made when first asked for.
pub(super) fn period<'p>(
    periods: &'p mut HashMap<(Dtype, bool), Period>,
    device: &Device,
    dtype: Dtype,
    integers: bool,
    length: usize,
    seed: u64,
) -> Result<&'p Period> {
    let dtype = dtype.stored();
    let key = (dtype, integers);
    if let std::collections::hash_map::Entry::Vacant(vacant) = periods.entry(key) {
        let make = if integers { Period::integers } else { Period::new };
        vacant.insert(make(device, dtype, length, seed)?);
    }
    Ok(&periods[&key])
}

/// Whether nothing more can be measured after an error.
fn is_fatal(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| matches!(cause.downcast_ref::<Error>(), Some(Error::DeviceLost(_))))
}

fn measurement(case: &Case, by: &str, run: &str, mode: &str, samples_us: &[f64]) -> Measurement {
    let samples_us: Vec<f64> = samples_us.iter().map(|us| (us * 1e4).round() / 1e4).collect();
    Measurement {
        work: case.work.name().into(),
        dtype: case.dtype.name().into(),
        shape: case.shape.to_string(),
        by: by.into(),
        run: run.into(),
        mode: mode.into(),
        median_us: median(&samples_us),
        samples_us,
        bytes: case.bytes(),
        flops: case.flops(),
    }
}

/// A line for people: the median of each implementation, its rate where it has one, and how much faster ours is.
fn line(case: &Case, mode: Mode, measured: &[Measurement]) -> String {
    let ours = measured.iter().find(|measurement| measurement.by == implementations::OURS);
    let each = measured.iter().map(|measurement| {
        let time = Duration::from_secs_f64(measurement.median_us / 1e6);
        let work = if case.moves() {
            units::Work::Bytes(measurement.bytes)
        } else {
            units::Work::Operations(measurement.flops)
        };
        let ratio = ours.filter(|ours| ours.by != measurement.by).map(|ours| measurement.median_us / ours.median_us);
        let ratio = ratio.map_or(String::new(), |ratio| format!(" ({ratio:.3}x)"));
        let spread = 100.0 * spread(&measurement.samples_us);
        let rate = if measurement.has_rate() { format!(" {}", work.rate(time)) } else { String::new() };
        format!("{} {}{rate} ±{spread:.1}%{ratio}", measurement.by, units::time(time))
    });
    format!("{case} {}: {}", mode.name(), each.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::super::case::{Shape, Work};
    use super::*;
    use crate::peers::Peers;

    /// Ours at shapes that the simulator does at once: the data, the calls and the checks are those of the real run.
    #[test]
    fn ours_passes_the_check_on_the_simulator_and_a_wrong_result_does_not() {
        let device = Device::simulator();
        let peers = Peers::none();
        let context = Context::new(&device, &peers).unwrap();
        let settings = Settings { samples: 1, sustained: Duration::ZERO, seed: 1, implementations: Vec::new() };
        let mut session = Session::new(&context, &settings, None, Path::new("none"), "r".into());
        let case = |work, dtype, shape| Case { work, dtype, shape, quick: false };
        let vector = Shape::Vector { n: 2000, offset: 3 };
        let gemm = |transposed, batch| Shape::Gemm { mnk: [33, 34, 35], transposed, batch };
        let groups = |transposed| Shape::Groups { groups: 5, rows: [0, 20], nk: [16, 24], transposed };
        for case in [
            case(Work::Add, Dtype::F32, Shape::Vector { n: 2000, offset: 0 }),
            case(Work::Sum, Dtype::F32, vector.clone()),
            case(Work::SumSquares, Dtype::F32, vector.clone()),
            case(Work::Dot, Dtype::F32, vector),
            case(Work::Permute, Dtype::F32, Shape::Array { dims: vec![5, 20, 33], order: vec![2, 0, 1] }),
            case(Work::Transpose, Dtype::F32, Shape::Matrix { rows: 65, cols: 40, ld: 43 }),
            case(Work::Gemm, Dtype::F32, gemm([false; 2], 1)),
            case(Work::Gemm, Dtype::Tf32, gemm([false, true], 1)),
            case(Work::Gemm, Dtype::F16, gemm([true, true], 1)),
            case(Work::Gemm, Dtype::Bf16, gemm([true, false], 3)),
            case(Work::GroupedGemm, Dtype::Bf16, groups(true)),
            case(Work::GroupedGemm, Dtype::F16, groups(false)),
            case(Work::GroupedGemm, Dtype::E4m3, groups(true)),
            case(Work::Gemm, Dtype::Bf16, Shape::Gemm { mnk: [64, 64, 64], transposed: [false; 2], batch: 1 }),
        ] {
            let mut variants = session.variants(&case, implementations::ALL).unwrap();
            assert_eq!(session.notes, Vec::<String>::new());
            let names: Vec<&str> = variants.iter().map(|variant| variant.name).collect();
            let expected: &[&str] =
                if case.work == Work::Sum { &["warpwright", "warpwright-blocking"] } else { &["warpwright"] };
            assert_eq!(names, expected, "{case}");

            let integers = !matches!(case.work, Work::Transpose | Work::Permute);
            let period = &session.periods[&(case.dtype.stored(), integers)];
            let mut slot = Slot::new(&device, &case, period).unwrap();
            slot.poison().unwrap();
            assert!(expected::check(&case, period, &slot).is_err(), "{case}: poison passes");
            (variants[0].call.run)(&mut slot).unwrap();
            expected::check(&case, period, &slot).unwrap();
            // Operands of another seed: every result but the copies' is another.
            let other = Period::integers(&device, case.dtype.stored(), 1009, 2).unwrap();
            let mut slot = Slot::new(&device, &case, &other).unwrap();
            (variants[0].call.run)(&mut slot).unwrap();
            assert!(expected::check(&case, period, &slot).is_err(), "{case}: the result of other data passes");
        }
    }

    #[test]
    fn lines_name_each_implementation_and_the_ratio() {
        let case =
            Case { work: Work::Sum, dtype: Dtype::F32, shape: Shape::Vector { n: 1000, offset: 0 }, quick: false };
        let line = |mode: Mode| {
            let measured = [("warpwright", 2.0), ("cub", 5.0)]
                .map(|(by, us)| measurement(&case, by, "r", mode.name(), &[us, us, us]));
            line(&case, mode, &measured)
        };
        assert_eq!(
            line(Mode::Burst),
            "sum/f32 n=1000 burst: warpwright 2.00 µs 2.00 GB/s ±0.0%, cub 5.00 µs 800 MB/s ±0.0% (2.500x)"
        );
        assert_eq!(line(Mode::Host), "sum/f32 n=1000 host: warpwright 2.00 µs ±0.0%, cub 5.00 µs ±0.0% (2.500x)");
    }
}

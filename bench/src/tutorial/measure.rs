//! Runs the steps and the rows: counters on the simulator, in parallel; times on a GPU, one after the other.

use anyhow::{Context as _, Result, ensure};
use rayon::prelude::*;
use simt::KernelInfo;
use warpwright::Device;
use warpwright::simulator::{Access, Config, Counters, Level};

use super::figures::Row;
use super::report::{
    Counted, DeviceReport, FamilyReport, GpuReport, Report, RowReport, SCHEMA, StepReport, TextsReport, Timed,
};
use super::steps::{FAMILIES, Inputs, Size, Step};
use super::{limits, texts};
use crate::data::Poison;
use crate::job::{Job, Task};
use crate::progress::Progress;
use crate::run::measure;
use crate::units::Work;

/// Runs the whole tutorial.
///
/// # Errors
/// The limits of a GPU cannot be measured. A step or a row that fails says so in the report.
pub(super) fn measure(device: &Device, seed: u64) -> Result<Report> {
    let steps: Vec<&Step> = super::steps::all().collect();
    let rows = texts::rows();
    let timed = if device.is_simulator() { 0 } else { 1 + steps.len() };
    let progress = Progress::new(steps.len() + rows.len() + timed, "steps and rows");
    let inputs = Inputs::new(Size::Counted, seed);
    let (mut reports, rows): (Vec<StepReport>, Vec<RowReport>) = rayon::join(
        || steps.par_iter().map(|step| counted_step(step, &inputs, &progress)).collect(),
        || rows.par_iter().map(|row| reproduced(row, &progress)).collect(),
    );
    let gpu = time_all(device, &steps, &mut reports, seed, &progress)?;
    let mut reports = reports.into_iter();
    let families = FAMILIES.iter().map(|family| FamilyReport {
        name: family.name.into(),
        about: family.about.into(),
        tensor: family.tensor,
        steps: reports.by_ref().take(family.steps.len()).collect(),
    });
    Ok(Report {
        schema: SCHEMA,
        version: env!("CARGO_PKG_VERSION").into(),
        seed,
        device: DeviceReport { name: device.name(), gpu },
        families: families.collect(),
        texts: TextsReport { reproduced: rows.iter().filter(|row| row.reproduced).count(), rows },
    })
}

/// A step with its counters.
fn counted_step(step: &Step, inputs: &Inputs, progress: &Progress) -> StepReport {
    let job = step.job(inputs);
    let shown = progress.start(format!("{} {}", job.kernel.name, job.shape));
    shown.now("simulating");
    let counted = count(job, inputs);
    shown.done(counted.is_ok());
    let (counted, error) = match counted {
        Ok((_, counted)) => (Some(counted), None),
        Err(error) => (None, Some(format!("on the simulator: {error:#}"))),
    };
    let kernel = step.kernel();
    StepReport {
        row: step.row.map(ToOwned::to_owned),
        kernel: kernel.name.into(),
        operation: step.operation.into(),
        idea: step.idea.into(),
        file: kernel.file.replace('\\', "/"),
        counted,
        timed: None,
        error,
    }
}

/// Runs a job on the simulator at the level that counts; its result must agree with the reference.
pub(super) fn count(job: Job, inputs: &Inputs) -> Result<(Counters, Counted)> {
    let device = Device::simulator_with(Config::new(Level::Counters).seed(inputs.seed()));
    let (shape, work) = (job.shape.clone(), job.work);
    let mut task = job.prepare(&device)?;
    task.poison(&Poison::new(&device)?)?;
    let counters = task.launch(&device)?.context("the simulator counts at this level")?;
    check(task.as_ref())?;
    let (stores, loads) = (counters.total(Access::SharedStore), counters.total(Access::SharedLoad));
    let loads_of_global = [Access::GlobalLoad, Access::AsyncCopy, Access::TensorLoad];
    let stores_to_global = [Access::GlobalStore, Access::TensorStore];
    let bytes = |of: &[Access]| of.iter().map(|&access| counters.bytes(access)).sum();
    let global = loads_of_global.iter().chain(&stores_to_global);
    let branches = counters.total(Access::Branch);
    let counted = Counted {
        shape,
        global_load_bytes: bytes(&loads_of_global),
        global_store_bytes: bytes(&stores_to_global),
        sector_bytes: 32 * global.map(|&access| counters.total(access).sectors).sum::<u64>(),
        necessary_bytes: if let Work::Bytes(bytes) = work { Some(bytes) } else { None },
        operations: match work {
            Work::Operations(operations) | Work::TensorOperations(operations) => Some(operations),
            Work::Bytes(_) | Work::Elements(_) => None,
        },
        store_degree: (stores.requests > 0).then_some(stores.worst),
        load_degree: (loads.requests > 0).then_some(loads.worst),
        shared_width: counters
            .sites
            .keys()
            .filter(|(_, access, _)| access.is_shared())
            .map(|(_, _, bytes)| *bytes)
            .max(),
        branches: branches.requests,
        divergent: branches.divergent,
        barriers: counters.barriers,
        warps: counters.warps,
    };
    Ok((counters, counted))
}

fn check(task: &dyn Task) -> Result<()> {
    let finding = task.check(&task.output()?)?;
    ensure!(finding.passes(), "wrong result: {}", finding.detail);
    Ok(())
}

/// Adds times to the reports of all steps, where the device is a GPU; gives its limits.
fn time_all(
    device: &Device,
    steps: &[&Step],
    reports: &mut [StepReport],
    seed: u64,
    progress: &Progress,
) -> Result<Option<GpuReport>> {
    if device.is_simulator() {
        return Ok(None);
    }
    let shown = progress.start("device-to-device copy".into());
    shown.now("timing");
    let gpu = limits::of(device, seed);
    shown.done(gpu.is_ok());
    let Some(gpu) = gpu? else { return Ok(None) };
    let inputs = Inputs::new(Size::Timed { sm_count: gpu.sm_count }, seed);
    for at in 0..steps.len() {
        let before = at.checked_sub(1).map(|before| &reports[before]);
        let before = before.filter(|before| before.operation == steps[at].operation);
        let before = before.and_then(|before| Some(before.timed.as_ref()?.per_second));
        let job = steps[at].job(&inputs);
        if !runs_on(job.kernel, gpu.capability) {
            continue;
        }
        let shown = progress.start(format!("{} {}", job.kernel.name, job.shape));
        shown.now("timing");
        let timed = time(device, job, &gpu, before);
        shown.done(timed.is_ok());
        match timed {
            Ok(timed) => reports[at].timed = Some(timed),
            Err(error) => {
                let error = format!("on {}: {error:#}", device.name());
                let own = &mut reports[at].error;
                *own = Some(own.take().map_or(error.clone(), |first| format!("{first}; {error}")));
            }
        }
    }
    Ok(Some(gpu))
}

/// Whether a GPU has the instructions of a kernel: some families are for one architecture.
fn runs_on(kernel: &KernelInfo, (major, minor): (u32, u32)) -> bool {
    let arch = gpu::family_of(kernel).and_then(|family| family.arch);
    arch.is_none_or(|arch| arch == format!("sm_{major}{minor}a"))
}

/// Times a job; its result must agree with the reference.
fn time(device: &Device, job: Job, gpu: &GpuReport, before: Option<f64>) -> Result<Timed> {
    let (shape, work) = (job.shape.clone(), job.work);
    let mut task = job.prepare(device)?;
    let times = measure::timed(device, task.as_mut(), &Poison::new(device)?)?;
    check(task.as_ref())?;
    let seconds = times.median().as_secs_f64();
    let (least, most) = times.spread().unwrap_or((times.median(), times.median()));
    let per_second = work.amount() / seconds;
    Ok(Timed {
        shape,
        seconds,
        least_seconds: least.as_secs_f64(),
        most_seconds: most.as_secs_f64(),
        work: work.amount(),
        unit: work.unit().into(),
        per_second,
        times_over_before: before.map(|before| per_second / before),
        share_of_limit: limits::limit(gpu, work).map(|limit| per_second / limit),
    })
}

/// A row with its figures.
fn reproduced(row: &Row, progress: &Progress) -> RowReport {
    let shown = progress.start(format!("row {}", row.id));
    shown.now("computing its figures");
    let report = texts::figures_of(row);
    shown.done(report.reproduced);
    report
}

#[cfg(test)]
mod tests {
    use super::*;

    const GPU: GpuReport = GpuReport {
        driver: None,
        capability: (9, 0),
        sm_count: 1,
        clock_hz: 1e9,
        l2_bytes: 0,
        peak_flops: 2e9,
        tensor_flops: None,
        copy_bytes_per_second: 4e9,
    };

    /// What a GPU would do, done by the simulator: launches between events, repeated, checked, put in relation.
    #[test]
    fn times_are_put_in_relation_to_the_rung_before_and_to_the_limit() {
        let device = Device::simulator();
        let inputs = Inputs::new(Size::Counted, 1);
        let step = |kernel: &str| super::super::steps::all().find(|step| step.kernel().name == kernel).unwrap();
        for (kernel, unit, limit) in [
            ("vector_add", "B", Some(4e9)),
            ("matmul_single_block", "FLOP", Some(2e9)),
            ("set_row_read_col", "elements", None),
        ] {
            let timed = time(&device, step(kernel).job(&inputs), &GPU, Some(1e3)).unwrap();
            assert_eq!(timed.unit, unit);
            assert!(0.0 < timed.least_seconds && timed.least_seconds <= timed.seconds, "{timed:?}");
            assert!(timed.seconds <= timed.most_seconds, "{timed:?}");
            assert_eq!(timed.per_second, timed.work / timed.seconds);
            assert_eq!(timed.times_over_before, Some(timed.per_second / 1e3));
            assert_eq!(timed.share_of_limit, limit.map(|limit| timed.per_second / limit));
        }
        assert_eq!(time(&device, step("vector_add").job(&inputs), &GPU, None).unwrap().times_over_before, None);
    }

    /// The sum of squares notes the clock, another one in each launch: that must not pass for another result.
    #[test]
    fn every_job_can_be_launched_again() {
        let device = Device::simulator();
        let (inputs, poison) = (Inputs::new(Size::Counted, 1), Poison::new(&device).unwrap());
        for step in super::super::steps::all() {
            let mut task = step.job(&inputs).prepare(&device).unwrap();
            let mut launch = || {
                task.poison(&poison).unwrap();
                let poisoned = task.output().unwrap();
                assert!(poisoned.is_poison(), "{}: not all is poisoned", step.kernel().name);
                assert!(!task.check(&poisoned).unwrap().passes(), "{}: poison passes", step.kernel().name);
                task.launch(&device).unwrap();
                task.output().unwrap()
            };
            let (first, second) = (launch(), launch());
            assert_eq!(first.same_bits(&second), Ok(()), "{}", step.kernel().name);
            for index in (0..first.len()).step_by(1 + first.len() / 20) {
                for spoilt in [first.spoilt_at(index), first.poisoned_at(index)] {
                    assert!(!task.check(&spoilt).unwrap().passes(), "{}: element {index}", step.kernel().name);
                }
            }
        }
    }
}

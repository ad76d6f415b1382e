//! Host time: how long the calling thread is busy with a call that it does not wait for.
//!
//! Calls are made one after the other, as by a program without a CUDA graph, until the last of them returns. They are
//! fewer than the driver queues, so that none waits for the GPU. What frees or waits does so within its call: a result
//! of `run` is freed by the call after it, `Device::sum` returns its sum.

use std::time::{Duration, Instant};

use anyhow::Result;
use comfy_table::{Cell, CellAlignment, Table, presets};
use warpwright::Stream;

use super::case::{Case, Dtype, Shape, Work};
use super::cases::case;
use super::implementations::{Call, Implementation, OURS, blocking};
use super::interleave::Machine;
use super::on_gpu::queue;
use super::record::Measurement;
use super::session::Session;
use super::slot::Slot;
use super::{calls, gemm, ours};

/// What is called, ours first.
pub(super) const IMPLEMENTATIONS: &[Implementation] = &[
    Implementation { name: OURS, prepare: ours::prepare },
    Implementation { name: "warpwright-algorithm", prepare: gemm::given },
    Implementation { name: "warpwright-run", prepare: gemm::run },
    Implementation { name: "warpwright-blocking", prepare: blocking },
    Implementation { name: "cub", prepare: calls::cub },
    Implementation { name: "cublas", prepare: calls::cublas },
    Implementation { name: "cublaslt", prepare: calls::cublaslt },
];

/// Calls of a sample, of up to four launches each: the driver queues a thousand.
const CALLS: usize = 32;
/// Slots that the calls rotate through, since a program's operands are not always at one address.
pub(super) const SLOTS: usize = 4;

/// The cases: so small that the host's part decides.
pub(super) fn cases() -> Vec<Case> {
    let gemms = [
        (Dtype::Bf16, [64; 3]),
        (Dtype::Bf16, [512; 3]),
        (Dtype::Bf16, [1024; 3]),
        (Dtype::Bf16, [3, 8192, 8192]),
        (Dtype::Bf16, [17, 5120, 5120]),
        (Dtype::F16, [333, 777, 555]),
        (Dtype::F32, [512; 3]),
    ];
    let gemm = |(dtype, mnk)| case(Work::Gemm, dtype, Shape::Gemm { mnk, transposed: [false; 2], batch: 1 });
    let matrix = |work| case(work, Dtype::F32, Shape::Matrix { rows: 256, cols: 1024, ld: 1024 });
    let mut cases: Vec<Case> = gemms.map(gemm).into();
    cases.push(case(Work::Sum, Dtype::F32, Shape::Vector { n: 4096, offset: 0 }));
    cases.extend([Work::SumAxis1, Work::Transpose].map(matrix));
    // By N-dimensional tiles, the longest to plan.
    cases.push(case(Work::Transpose, Dtype::F32, Shape::Matrix { rows: 4096, cols: 8, ld: 8 }));
    cases
}

/// Measures the cases, and prints a table of them.
///
/// # Errors
/// As [`Session::measure`].
pub(super) fn measure(session: &mut Session<'_>, cases: &[Case]) -> Result<()> {
    let mut rows = Vec::new();
    for case in cases {
        rows.push((case, session.measure_host(case)?));
    }
    println!("{}", table(&rows));
    Ok(())
}

/// The host, with the calls of one case.
pub(super) struct Host<'c> {
    calls: Vec<Call<'c>>,
    slots: Vec<Slot>,
    stream: Stream,
    times: Vec<f64>,
}

impl<'c> Host<'c> {
    /// The host with these calls, each of which queues its work on `stream`.
    pub(super) fn new(calls: Vec<Call<'c>>, slots: Vec<Slot>, stream: Stream) -> Self {
        Self { calls, slots, stream, times: Vec::new() }
    }
}

impl Machine for Host<'_> {
    fn sample(&mut self, variant: usize) -> Result<()> {
        let start = Instant::now();
        queue(&mut self.calls[variant], &mut self.slots, CALLS)?;
        let busy = start.elapsed();
        self.stream.synchronize()?;
        self.times.push(busy.as_secs_f64() * 1e6 / CALLS as f64);
        Ok(())
    }

    fn lead_in(&mut self, _variant: usize) -> Result<()> {
        Ok(())
    }

    fn collect(&mut self) -> Result<Vec<f64>> {
        Ok(std::mem::take(&mut self.times))
    }

    fn calls(&self) -> usize {
        CALLS
    }

    fn launch_each(&mut self, _each: bool) {}

    fn idle(&mut self, time: Duration) {
        std::thread::sleep(time);
    }
}

impl Drop for Host<'_> {
    fn drop(&mut self) {
        // As for `on_gpu::Gpu`: the slots do not track the work of other libraries.
        let _ = self.stream.synchronize();
    }
}

/// A row for each of our calls in each case, beside the peer that keeps the host busy for the shortest time.
fn table(rows: &[(&Case, Vec<Measurement>)]) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::UTF8_FULL_CONDENSED);
    table.set_header(["case", "call", "µs per call", "best peer", "µs per call", "ours / peer"]);
    for (case, measured) in rows {
        let (ours, peers): (Vec<_>, Vec<_>) = measured.iter().partition(|own| own.by.starts_with(OURS));
        let peer = peers.into_iter().min_by(|a, b| a.median_us.total_cmp(&b.median_us));
        for own in ours {
            let [by, us, ratio] = peer.map_or(const { [const { String::new() }; 3] }, |peer| {
                let ratio = own.median_us / peer.median_us;
                [peer.by.clone(), format!("{:.2}", peer.median_us), format!("{ratio:.2}")]
            });
            let right = |text: String| Cell::new(text).set_alignment(CellAlignment::Right);
            table.add_row([
                Cell::new(case),
                Cell::new(&own.by),
                right(format!("{:.2}", own.median_us)),
                Cell::new(by),
                right(us),
                right(ratio),
            ]);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use warpwright::Device;

    use super::super::implementations::Context;
    use super::super::interleave::{Mode, Plan, interleave};
    use super::super::record::tests::measured;
    use super::super::record::{Record, Records, append};
    use super::super::session::Settings;
    use super::*;
    use crate::peers::Peers;

    /// All of a run on the simulator, except that its times mean nothing.
    #[test]
    fn every_call_of_ours_is_checked_measured_and_recorded() {
        let device = Device::simulator();
        let peers = Peers::none();
        let context = Context::new(&device, &peers).unwrap();
        let settings = Settings { samples: 2, sustained: Duration::ZERO, seed: 1, implementations: Vec::new() };
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("records.jsonl");
        let mut session = Session::new(&context, &settings, None, &file, "r".into());
        let gemm = Shape::Gemm { mnk: [17, 9, 12], transposed: [false; 2], batch: 1 };
        let cases = [
            case(Work::Gemm, Dtype::Bf16, gemm),
            case(Work::Sum, Dtype::F32, Shape::Vector { n: 100, offset: 0 }),
            case(Work::SumAxis1, Dtype::F32, Shape::Matrix { rows: 3, cols: 40, ld: 40 }),
            case(Work::Transpose, Dtype::F32, Shape::Matrix { rows: 3, cols: 40, ld: 40 }),
        ];
        measure(&mut session, &cases).unwrap();
        assert_eq!(session.failures, 0, "{:?}", session.notes);
        // The algorithm of each call of GEMM.
        assert!(
            session.notes.len() == 3 && session.notes.iter().all(|note| note.contains("gemm_")),
            "{:?}",
            session.notes
        );
        let records = Records::read(&file).unwrap().measurements;
        let found: Vec<(&str, &str)> = records.iter().map(|own| (own.work.as_str(), own.by.as_str())).collect();
        let expected = [
            ("gemm", OURS),
            ("gemm", "warpwright-algorithm"),
            ("gemm", "warpwright-run"),
            ("sum", OURS),
            ("sum", "warpwright-blocking"),
            ("sum_axis1", OURS),
            ("transpose", OURS),
        ];
        assert_eq!(found, expected);
        for record in &records {
            assert_eq!((record.mode.as_str(), record.samples_us.len()), ("host", 2));
            assert!(record.median_us > 0.0, "{record:?}");
        }
        // A run that is measured again is read beside the first.
        append(&file, &Record::Measurement(records[0].clone())).unwrap();
        assert_eq!(Records::read(&file).unwrap().measurements.len(), expected.len() + 1);
    }

    #[test]
    fn calls_rotate_through_the_slots_and_the_wait_is_not_timed() {
        let device = Device::simulator();
        let of = case(Work::Sum, Dtype::F32, Shape::Vector { n: 10, offset: 0 });
        let period = super::super::data::Period::integers(&device, Dtype::F32, 101, 1).unwrap();
        let slots = (0..SLOTS).map(|_| Slot::new(&device, &of, &period).unwrap()).collect();
        let mut seen = Vec::new();
        let run = |slot: &mut Slot| -> Result<()> {
            seen.push(slot.a.address(0)?);
            std::thread::sleep(Duration::from_millis(1));
            Ok(())
        };
        let call = Call { run: Box::new(run), captures: true, note: None };
        let mut host = Host::new(vec![call], slots, device.default_stream());
        let plan = Plan { mode: Mode::Host, samples: 1, sustained: Duration::ZERO };
        let times = interleave(&plan, 1, &mut host).unwrap();
        drop(host);
        // A sleep is never shorter; on a busy machine it may be much longer.
        assert!(times[0].len() == 1 && times[0][0] >= 1000.0, "{times:?}");
        assert!(seen[..SLOTS].iter().all(|address| seen[SLOTS..].contains(address)));
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), SLOTS);
    }

    #[test]
    fn a_row_has_the_time_and_that_of_the_best_peer() {
        let case = &cases()[0];
        let rows: Vec<Measurement> = [("warpwright", 6.0), ("warpwright-run", 8.0), ("cublas", 4.0), ("cublaslt", 3.0)]
            .map(|(by, us)| measured("gemm", "m=64", by, "r", &[us]))
            .into();
        let text = table(&[(case, rows)]).to_string();
        for row in [
            ["warpwright ", "6.00", "cublaslt", "3.00", "2.00"],
            ["warpwright-run", "8.00", "cublaslt", "3.00", "2.67"],
        ] {
            let has = |line: &str| row.iter().all(|cell| line.contains(cell));
            assert!(text.lines().any(has), "{row:?} in\n{text}");
        }
        assert!(!text.contains("│ cublas "), "{text}");
    }
}

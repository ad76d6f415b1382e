//! The records: one JSON object a line, appended to a file that is never rewritten.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};

use crate::peers::nvml::Reading;

/// A measurement of one implementation in one case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measurement {
    /// What is done, as `sum`.
    pub work: String,
    /// Element type, as `f32`.
    pub dtype: String,
    /// Extents, as `n=1024`.
    pub shape: String,
    /// Who does it, as `warpwright`, `cub`.
    #[serde(rename = "impl")]
    pub by: String,
    /// The run that it belongs to.
    pub run: String,
    /// `burst`, `stream`, `sustained`; `host`; `first-cold`, `first-warm`.
    pub mode: String,
    /// Median of the samples: microseconds of one call.
    pub median_us: f64,
    /// All samples, in the order in which they were taken.
    pub samples_us: Vec<f64>,
    /// Bytes that one call must read or write at least once.
    pub bytes: f64,
    /// Floating-point operations of one call.
    pub flops: f64,
}

impl Measurement {
    /// What two implementations must share to be compared: work, type, shape, mode.
    pub fn case(&self) -> (&str, &str, &str, &str) {
        (&self.work, &self.dtype, &self.shape, &self.mode)
    }

    /// Whether it is the time of the work on the GPU, by which a rate means something: neither the host's time nor that
    /// of a first call.
    pub fn has_rate(&self) -> bool {
        matches!(self.mode.as_str(), "burst" | "stream" | "sustained")
    }

    /// Bytes per second.
    pub fn bandwidth(&self) -> f64 {
        self.bytes / self.median_us * 1e6
    }

    /// Floating-point operations per second.
    pub fn throughput(&self) -> f64 {
        self.flops / self.median_us * 1e6
    }
}

/// Clocks, power and temperature in the course of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Conditions {
    /// Before the first case.
    pub before: Reading,
    /// While work was under way: the least.
    pub least: Reading,
    /// The most.
    pub most: Reading,
    /// After the last case.
    pub after: Reading,
}

impl Conditions {
    /// Takes note of a reading under load.
    pub fn see(&mut self, reading: &Reading) {
        fn fold<T: Copy + PartialOrd>(kept: &mut Option<T>, new: Option<T>, better: fn(&T, &T) -> bool) {
            if let Some(new) = new
                && kept.as_ref().is_none_or(|kept| better(&new, kept))
            {
                *kept = Some(new);
            }
        }
        fold(&mut self.least.sm_mhz, reading.sm_mhz, u32::lt);
        fold(&mut self.least.memory_mhz, reading.memory_mhz, u32::lt);
        fold(&mut self.least.power_w, reading.power_w, f64::lt);
        fold(&mut self.least.temperature_c, reading.temperature_c, u32::lt);
        fold(&mut self.most.sm_mhz, reading.sm_mhz, u32::gt);
        fold(&mut self.most.memory_mhz, reading.memory_mhz, u32::gt);
        fold(&mut self.most.power_w, reading.power_w, f64::gt);
        fold(&mut self.most.temperature_c, reading.temperature_c, u32::gt);
    }
}

/// A run: where, with what, how. Written at its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Its name: the time when it began, in UTC.
    pub run: String,
    /// The GPU's name.
    pub device: String,
    /// The driver's version and the CUDA version that it knows.
    pub driver: String,
    /// Clocks and temperatures.
    pub clocks: Conditions,
    /// The power limit in watts; the power drawn is among the clocks.
    pub power_limit_w: Option<f64>,
    /// The commit that was measured; `-dirty` where files differed from it.
    pub commit: String,
    /// The command line.
    pub command: String,
    /// Name and version of each peer.
    pub peers: Vec<String>,
    /// What there is to know of single measurements, and what was left out and why.
    pub notes: Vec<String>,
}

/// A line of the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Record {
    /// A measurement.
    Measurement(Measurement),
    /// A run.
    Run(Run),
}

/// Appends one record to a file, which is made where there is none.
///
/// # Errors
/// The file cannot be written.
pub fn append(file: &Path, record: &Record) -> Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    }
    let mut line = serde_json::to_string(record)?;
    line.push('\n');
    let opened = OpenOptions::new().create(true).append(true).open(file);
    let written = opened.and_then(|mut file| file.write_all(line.as_bytes()));
    written.with_context(|| format!("cannot append to {}", file.display()))
}

/// All records of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Records {
    /// The measurements, in the order of the file.
    pub measurements: Vec<Measurement>,
    /// The runs.
    pub runs: Vec<Run>,
}

impl Records {
    /// Reads a file.
    ///
    /// # Errors
    /// The file is not there, or a line is no record: the message has its number.
    pub fn read(file: &Path) -> Result<Self> {
        let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
        Self::parse(&text).with_context(|| format!("{} is no file of records", file.display()))
    }

    /// Reads lines of records.
    ///
    /// # Errors
    /// A line is none: the message has its number.
    pub fn parse(text: &str) -> Result<Self> {
        let mut records = Self::default();
        for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
            let record = serde_json::from_str(line).with_context(|| {
                format!("line {number} is neither a measurement nor a run (docs/benchmarks/README.md has their fields)")
            })?;
            match record {
                Record::Measurement(measurement) => records.measurements.push(measurement),
                Record::Run(run) => records.runs.push(run),
            }
        }
        Ok(records)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A measurement with these samples; for the tests of other modules too.
    pub(crate) fn measured(work: &str, shape: &str, by: &str, run: &str, samples: &[f64]) -> Measurement {
        Measurement {
            work: work.into(),
            dtype: "f32".into(),
            shape: shape.into(),
            by: by.into(),
            run: run.into(),
            mode: "burst".into(),
            median_us: crate::versus::statistics::median(samples),
            samples_us: samples.to_vec(),
            bytes: 4e9,
            flops: 1e9,
        }
    }

    #[test]
    fn a_measurement_has_exactly_the_agreed_fields() {
        let line = serde_json::to_string(&Record::Measurement(measured("sum", "n=1", "cub", "r", &[2.0, 1.0, 4.0])));
        assert_eq!(
            line.unwrap(),
            r#"{"work":"sum","dtype":"f32","shape":"n=1","impl":"cub","run":"r","mode":"burst","median_us":2.0,"samples_us":[2.0,1.0,4.0],"bytes":4000000000.0,"flops":1000000000.0}"#
        );
    }

    #[test]
    fn what_is_appended_is_read_again() {
        let folder = std::env::temp_dir().join(format!("warpwright-records-{}", std::process::id()));
        let file = folder.join("new/records.jsonl");
        let mut clocks = Conditions::default();
        clocks.see(&Reading { sm_mhz: Some(1980), power_w: Some(120.5), ..Reading::default() });
        clocks.see(&Reading { sm_mhz: Some(1700), power_w: Some(690.0), ..Reading::default() });
        assert_eq!((clocks.least.sm_mhz, clocks.most.sm_mhz), (Some(1700), Some(1980)));
        assert_eq!((clocks.least.power_w, clocks.most.power_w), (Some(120.5), Some(690.0)));
        let run = Run {
            run: "r".into(),
            device: "NVIDIA H200".into(),
            driver: "580".into(),
            clocks,
            power_limit_w: Some(700.0),
            commit: "abc".into(),
            command: "warpwright-bench".into(),
            peers: vec!["CUB 3.0.1".into()],
            notes: Vec::new(),
        };
        let one = measured("sum", "n=1", "cub", "r", &[1.0]);
        append(&file, &Record::Measurement(one.clone())).unwrap();
        append(&file, &Record::Run(run.clone())).unwrap();
        let records = Records::read(&file).unwrap();
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(records, Records { measurements: vec![one], runs: vec![run] });
    }

    #[test]
    fn a_line_that_is_no_record_is_named() {
        let error = Records::parse("\n{\"work\":\"sum\"}\n").unwrap_err().to_string();
        assert!(error.starts_with("line 2 is neither"), "{error}");
    }
}

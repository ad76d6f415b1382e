//! A problem: inputs, output and expected result; and the check of an outcome.

use warpwright::reference::{Reference, same_bits};
use warpwright::{Buffer, Device, Error, LaunchRule, Result as WarpwrightResult};

use super::device::{counterpart, under_test};
use super::frame::Frame;

/// The expected output, row by row.
#[derive(Clone, Debug)]
pub(crate) enum Expected {
    /// These bits.
    Bits(Vec<f32>),
    /// These bits, where all NaNs are equal, since their payloads depend on the processor.
    Values(Vec<f32>),
    /// Values within their bounds.
    Within(Reference),
}

/// Inputs, output, and all expectations for it.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub(crate) inputs: Vec<Frame>,
    pub(crate) output: Frame,
    pub(crate) expected: Vec<Expected>,
}

/// All buffers after a run.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub(crate) inputs: Vec<Vec<f32>>,
    pub(crate) output: Vec<f32>,
}

/// The buffers of a problem on a device.
pub(crate) struct OnDevice {
    pub(crate) inputs: Vec<Buffer<f32>>,
    pub(crate) output: Buffer<f32>,
}

impl Problem {
    /// Uploads inputs and canaries.
    pub(crate) fn upload(&self, device: &Device) -> WarpwrightResult<OnDevice> {
        let inputs = self.inputs.iter().map(|frame| device.upload(frame.image()));
        Ok(OnDevice { inputs: inputs.collect::<Result<_, _>>()?, output: device.upload(self.output.image())? })
    }

    /// Checks that inputs and canaries are unchanged and the output is as expected. Returns the largest error over its
    /// bound.
    pub(crate) fn judge(&self, outcome: &Outcome) -> Result<f64, String> {
        for (number, (frame, got)) in self.inputs.iter().zip(&outcome.inputs).enumerate() {
            frame.unchanged(got).map_err(|error| format!("input {number}: {error}"))?;
        }
        let got = self.output.elements(&outcome.output).map_err(|error| format!("output: {error}"))?;
        let mut worst = 0.0_f64;
        for expected in &self.expected {
            worst = worst.max(expected.judge(&got).map_err(|error| format!("output: {error}"))?);
        }
        Ok(worst)
    }

    /// Runs on the device under test and on its counterpart, checks both, and requires the same bits from them.
    pub(crate) fn verify(
        &self,
        schedule: u64,
        method: impl Fn(&Device, &Self) -> WarpwrightResult<Outcome>,
    ) -> Result<f64, String> {
        let run = |device: &Device| method(device, self).map_err(|error| format!("{}: {error}", device.name()));
        let outcome = run(&under_test(schedule))?;
        let worst = self.judge(&outcome)?;
        let other = run(&counterpart(schedule))?;
        self.judge(&other).map_err(|error| format!("on the unchecked simulator: {error}"))?;
        outcome.agrees_with(&other).map_err(|error| format!("against the unchecked simulator: {error}"))?;
        Ok(worst)
    }
}

impl Expected {
    fn judge(&self, got: &[f32]) -> Result<f64, String> {
        match self {
            Self::Bits(expected) => same_bits(expected, got).map(|()| 0.0).map_err(|error| error.to_string()),
            Self::Values(expected) => same_values(expected, got).map(|()| 0.0),
            Self::Within(reference) => {
                let verdict = reference.check(got).map_err(|error| error.to_string())?;
                if verdict.passes() { Ok(verdict.worst) } else { Err(verdict.to_string()) }
            }
        }
    }
}

impl OnDevice {
    /// All buffers, downloaded.
    pub(crate) fn download(&self) -> WarpwrightResult<Outcome> {
        let inputs = self.inputs.iter().map(Buffer::download).collect::<Result<_, _>>()?;
        Ok(Outcome { inputs, output: self.output.download()? })
    }
}

impl Outcome {
    /// Whether another run gave the same output, except for payloads of NaNs.
    pub(crate) fn agrees_with(&self, other: &Self) -> Result<(), String> {
        same_values(&self.output, &other.output)
    }
}

/// The result of a launch, where an empty grid is an error that is correct if the result is empty.
pub(crate) fn unless_empty<T>(empty: bool, launched: WarpwrightResult<T>) -> WarpwrightResult<()> {
    match launched {
        Err(Error::Launch(bad)) if empty && bad.rule == LaunchRule::EmptyGrid => Ok(()),
        other => other.map(drop),
    }
}

/// Equal bits, or two NaNs.
fn same_values(expected: &[f32], got: &[f32]) -> Result<(), String> {
    let plain = |values: &[f32]| values.iter().map(|&x| if x.is_nan() { f32::NAN } else { x }).collect::<Vec<_>>();
    same_bits(&plain(expected), &plain(got)).map_err(|error| error.to_string())
}

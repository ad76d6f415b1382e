//! The option `--device`, the same in every program.

use anyhow::{Context as _, Result, bail};
use warpwright::Device;

/// The device that the command line asks for.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct DeviceOption {
    /// Where to run: best or auto (a GPU, else the simulator), simulator, cuda or cuda:N. Without it, what the
    /// environment variable `WARPWRIGHT_DEVICE` says, else best.
    #[arg(long)]
    device: Option<String>,
}

impl DeviceOption {
    /// Opens it.
    ///
    /// # Errors
    /// It is not there, or no device is called so.
    pub(crate) fn open(&self) -> Result<Device> {
        match self.device.as_deref() {
            None => Ok(Device::from_env()?),
            Some("best" | "auto") => Ok(Device::best()?),
            Some("simulator") => Ok(Device::simulator()),
            Some("cuda") => cuda(0),
            Some(other) => match other.strip_prefix("cuda:").and_then(|number| number.parse().ok()) {
                Some(number) => cuda(number),
                None => bail!(
                    "--device {other}: expected best or auto, simulator, cuda, or cuda:N with N the device's number"
                ),
            },
        }
    }
}

fn cuda(number: u32) -> Result<Device> {
    Device::cuda(number).with_context(|| format!("--device cuda:{number}; without a GPU, take --device simulator"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_device_is_refused() {
        for wrong in ["abacus", "cuda:", "cuda:one"] {
            let error = DeviceOption { device: Some(wrong.into()) }.open().unwrap_err().to_string();
            assert!(error.starts_with(&format!("--device {wrong}: expected best or auto, simulator")), "{error}");
        }
        assert!(DeviceOption { device: Some("simulator".into()) }.open().unwrap().is_simulator());
    }
}

//! The option `--device`, the same in every program.

use anyhow::{Context as _, Result};
use warpwright::Device;

/// The device that the command line asks for.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct DeviceOption {
    /// Where to run: best (a GPU, else the simulator), simulator, cuda or cuda:N. Without it, what the environment
    /// variable `WARPWRIGHT_DEVICE` says, else best.
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
            None => Ok(Device::best()?),
            Some(name) => {
                Device::named(name).with_context(|| format!("--device {name}; without a GPU, take --device simulator"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_device_is_refused() {
        for wrong in ["abacus", "cuda:", "cuda:one"] {
            let error = format!("{:#}", DeviceOption { device: Some(wrong.into()) }.open().unwrap_err());
            assert!(error.starts_with(&format!("--device {wrong};")) && error.contains("expected best,"), "{error}");
        }
        assert!(DeviceOption { device: Some("simulator".into()) }.open().unwrap().is_simulator());
    }
}

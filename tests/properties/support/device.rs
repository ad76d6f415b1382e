//! The devices that the tests use.

use std::sync::OnceLock;

use warpwright::Device;
use warpwright::simulator::{Config, Level};

/// The device that `WARPWRIGHT_DEVICE` names, opened once.
fn named() -> &'static Device {
    static DEVICE: OnceLock<Device> = OnceLock::new();
    DEVICE.get_or_init(|| Device::best().unwrap_or_else(|error| panic!("no device to test: {error}")))
}

/// Whether the tests run on a GPU.
pub(crate) fn is_gpu() -> bool {
    !named().is_simulator()
}

/// The device under test; the simulator has all checks enabled and is scheduled by `seed`.
pub(crate) fn under_test(seed: u64) -> Device {
    if is_gpu() { named().clone() } else { Device::simulator_with(Config::new(Level::Checks).seed(seed)) }
}

/// A second device that must give the same bits, since the kernel determines the order of the arithmetic: the simulator
/// with another schedule, without checks and on several cores.
pub(crate) fn counterpart(seed: u64) -> Device {
    Device::simulator_with(Config::new(Level::Off).seed(!seed))
}

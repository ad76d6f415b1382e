//! The devices that the tests use.

use std::env;
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
    if is_gpu() { named().clone() } else { Device::simulator_with(schedule(seed)) }
}

/// The schedule for a test's seed. `WARPWRIGHT_SCHEDULE=7,32` is another one for each test, with 32 resident blocks.
fn schedule(seed: u64) -> Config {
    let config = Config::new(Level::Checks);
    let Ok(text) = env::var("WARPWRIGHT_SCHEDULE") else { return config.seed(seed) };
    let (other, resident) = text.split_once(',').expect("WARPWRIGHT_SCHEDULE=SEED,RESIDENT");
    let other: u64 = other.parse().expect("WARPWRIGHT_SCHEDULE: the seed");
    config.seed(seed ^ other << 32).resident(resident.parse().expect("WARPWRIGHT_SCHEDULE: the resident blocks"))
}

/// A second device that must give the same bits, since the kernel determines the order of the arithmetic: the simulator
/// with another schedule, without checks and on several cores.
pub(crate) fn counterpart(seed: u64) -> Device {
    Device::simulator_with(Config::new(Level::Off).seed(!seed))
}

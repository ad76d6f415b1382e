//! Strings cannot be copied to a device.

use warpwright::{Device, Result};

fn main() -> Result<()> {
    let device = Device::simulator();
    device.upload("numbers")?;
    Ok(())
}

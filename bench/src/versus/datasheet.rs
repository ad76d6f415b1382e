//! What vendors say of their GPUs.

/// Peak rates of a GPU.
struct Datasheet {
    /// Part of the device's name.
    name: &'static str,
    /// Bytes per second.
    memory: f64,
    /// Operations per second by type: dense, with the tensor cores where the type has them.
    types: &'static [(&'static str, f64)],
}

/// NVIDIA H200 Tensor Core GPU datasheet (SXM), dense figures; f32 is 132 · 128 · 2 operations at 1980 MHz,
/// emulated f32 a sixth of bf16.
const DATASHEETS: &[Datasheet] = &[Datasheet {
    name: "h200",
    memory: 4.8e12,
    types: &[
        ("f32", 66.9e12),
        ("f64", 66.9e12),
        ("tf32", 495e12),
        ("f32-emulated", 164.8e12),
        ("f16", 989e12),
        ("bf16", 989e12),
        ("i8", 1979e12),
        ("e4m3", 1979e12),
        ("e4m3-fast", 1979e12),
        ("e4m3-blocks", 1979e12),
    ],
}];

/// Peak bytes per second of the device whose records have this name.
pub(super) fn memory(device: &str) -> Option<f64> {
    find(device).map(|own| own.memory)
}

/// Peak operations per second for a type.
pub(super) fn operations(device: &str, dtype: &str) -> Option<f64> {
    find(device)?.types.iter().find(|(name, _)| *name == dtype).map(|(_, rate)| *rate)
}

fn find(device: &str) -> Option<&'static Datasheet> {
    let device = device.to_lowercase();
    DATASHEETS.iter().find(|own| device.contains(own.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_known_by_its_name() {
        assert_eq!(memory("NVIDIA H200"), Some(4.8e12));
        assert_eq!(operations("nvidia-h200", "bf16"), Some(989e12));
        assert_eq!(operations("nvidia-h200", "u8"), None);
        assert_eq!(memory("abacus"), None);
    }
}

//! How many blocks of a kernel an SM holds at a time, by architecture (CUDA C++ Programming Guide, "Technical
//! Specifications per Compute Capability").

/// What an SM of one compute capability has.
struct Sm {
    capability: u32,
    warps: u32,
    blocks: u32,
    /// Bytes of shared memory; each block takes another KiB of it.
    shared: u32,
}

const SMS: [Sm; 6] = [
    Sm { capability: 80, warps: 64, blocks: 32, shared: 164 << 10 },
    Sm { capability: 86, warps: 48, blocks: 16, shared: 100 << 10 },
    Sm { capability: 89, warps: 48, blocks: 24, shared: 100 << 10 },
    Sm { capability: 90, warps: 64, blocks: 32, shared: 228 << 10 },
    Sm { capability: 100, warps: 64, blocks: 32, shared: 228 << 10 },
    Sm { capability: 120, warps: 48, blocks: 24, shared: 100 << 10 },
];

/// 32-bit registers of an SM; a warp gets a multiple of 256.
const REGISTERS: u32 = 65_536;

/// The occupancy of one architecture.
#[derive(Debug, PartialEq)]
pub(crate) struct Occupancy {
    /// `8.0`.
    pub(crate) capability: String,
    /// Blocks that an SM holds.
    pub(crate) blocks: u32,
    /// Warps that it holds then, and at most.
    pub(crate) warps: (u32, u32),
    /// What limits it.
    pub(crate) limit: &'static str,
}

/// For blocks of `threads` threads with `registers` each, and `shared` bytes of shared memory, on each architecture.
pub(crate) fn of(threads: u32, registers: u32, shared: u32) -> Vec<Occupancy> {
    let warps = threads.div_ceil(32).max(1);
    let one = |sm: &Sm| {
        let per_warp = (registers.max(1) * 32).next_multiple_of(256);
        let limits = [
            (sm.blocks, "blocks"),
            (sm.warps / warps, "threads"),
            (REGISTERS / per_warp / warps, "registers"),
            (sm.shared / (shared + 1024), "shared memory"),
        ];
        let (blocks, limit) = limits.into_iter().min_by_key(|(blocks, _)| *blocks).unwrap_or_default();
        let capability = format!("{}.{}", sm.capability / 10, sm.capability % 10);
        Occupancy { capability, blocks, warps: (blocks * warps, sm.warps), limit }
    };
    SMS.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::of;

    #[test]
    fn the_scarcest_resource_decides() {
        for (threads, registers, shared, blocks, limit) in [
            (256, 32, 0, 8, "threads"),
            (32, 16, 0, 32, "blocks"),
            (256, 128, 0, 2, "registers"),
            (128, 32, 81 << 10, 2, "shared memory"),
            // 33 registers take those of 40.
            (256, 33, 0, 6, "registers"),
        ] {
            let sm_80 = &of(threads, registers, shared)[0];
            assert_eq!((sm_80.blocks, sm_80.limit), (blocks, limit), "{threads} {registers} {shared}");
        }
        let sm_90 = &of(1024, 64, 0)[3];
        assert_eq!((sm_90.capability.as_str(), sm_90.warps), ("9.0", (32, 64)));
    }
}

//! Extents of grids and blocks.

/// Extents along x, y and z. Made from `x`, `(x, y)`, `(x, y, z)` or an array; omitted extents are 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dims(pub [u32; 3]);

impl From<u32> for Dims {
    fn from(x: u32) -> Self {
        Self([x, 1, 1])
    }
}

impl From<(u32, u32)> for Dims {
    fn from((x, y): (u32, u32)) -> Self {
        Self([x, y, 1])
    }
}

impl From<(u32, u32, u32)> for Dims {
    fn from((x, y, z): (u32, u32, u32)) -> Self {
        Self([x, y, z])
    }
}

impl From<[u32; 3]> for Dims {
    fn from(extents: [u32; 3]) -> Self {
        Self(extents)
    }
}

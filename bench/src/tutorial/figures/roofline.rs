//! What a kernel could reach at best on a device, by its operations per byte.
//!
//! ```text
//!  rate │        ┌──────────── peak          S. Williams, A. Waterman and D. Patterson, Roofline: an insightful
//!       │      ╱                             visual performance model for multicore architectures, CACM 52
//!       │    ╱  bandwidth × operations       (2009): memory delivers so many operands a second and no more,
//!       │  ╱    per byte                     the arithmetic units do so many operations and no more.
//!       └────────────────────── operations per byte
//! ```

/// A device as the model sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Roofline {
    /// Operations per second at most.
    pub peak: f64,
    /// Bytes per second at most between memory and the SMs.
    pub bandwidth: f64,
}

impl Roofline {
    /// Operations per second at most for a kernel that does `intensity` operations for each byte it moves. A kernel
    /// that moves nothing has an infinite intensity, and the peak for its bound.
    pub fn bound(self, intensity: f64) -> f64 {
        self.peak.min(self.bandwidth * intensity)
    }

    /// The intensity from which on arithmetic decides: where the two lines meet.
    pub fn ridge(self) -> f64 {
        self.peak / self.bandwidth
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_decides_below_the_ridge_and_arithmetic_above() {
        let device = Roofline { peak: 60e12, bandwidth: 4e12 };
        assert_eq!([device.bound(0.25), device.bound(100.0)], [1e12, 60e12]);
        let device = Roofline { peak: 346.5e9, bandwidth: 86.4e9 };
        let ridge = device.ridge();
        assert!(device.bound(ridge * 0.99) < device.peak);
        assert_eq!(device.bound(ridge * 1.01), device.peak);
        assert_eq!(device.bound(0.0), 0.0);
        assert_eq!(device.bound(f64::INFINITY), device.peak);
    }
}

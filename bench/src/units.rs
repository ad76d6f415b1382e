//! Formatting of times, rates and sizes.

use std::time::Duration;

/// What a launch does, for its rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Work {
    /// Floating-point operations; a multiply-add is two.
    Operations(f64),
    /// The same on tensor cores, with operands of 16 bits.
    TensorOperations(f64),
    /// Bytes that must be read or written at least once.
    Bytes(f64),
    /// Elements written, where neither arithmetic nor memory bounds the speed.
    Elements(f64),
}

impl Work {
    /// Work over time, as `53.1 TFLOP/s` or `4.68 TB/s`.
    pub fn rate(self, time: Duration) -> String {
        format!("{}{}/s", scaled(self.amount() / time.as_secs_f64()), self.unit())
    }

    /// How much, in [`Work::unit`]s.
    pub fn amount(self) -> f64 {
        match self {
            Self::Operations(amount)
            | Self::TensorOperations(amount)
            | Self::Bytes(amount)
            | Self::Elements(amount) => amount,
        }
    }

    /// Of what.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Operations(_) | Self::TensorOperations(_) => "FLOP",
            Self::Bytes(_) => "B",
            Self::Elements(_) => "elements",
        }
    }
}

/// Three digits, a space and the prefix of the unit that follows.
pub fn scaled(value: f64) -> String {
    let (prefix, scale) =
        [("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)].into_iter().find(|(_, s)| value >= *s).unwrap_or(("", 1.0));
    format!("{} {prefix}", three_digits(value / scale))
}

/// `1.23 s`, `45.6 ms`, `789 µs`.
pub fn time(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    let (unit, scale) = [("s", 1.0), ("ms", 1e-3)].into_iter().find(|(_, s)| seconds >= *s).unwrap_or(("µs", 1e-6));
    format!("{} {unit}", three_digits(seconds / scale))
}

/// A number with three digits, or all those before the point.
pub fn three_digits(value: f64) -> String {
    let digits = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    format!("{value:.digits$}")
}

/// A count as a power of two where it is one.
pub fn count(n: usize) -> String {
    if n >= 1024 && n.is_power_of_two() { format!("2^{}", n.ilog2()) } else { n.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_and_a_unit() {
        assert_eq!(time(Duration::from_micros(1234)), "1.23 ms");
        assert_eq!(time(Duration::from_millis(45_600)), "45.6 s");
        assert_eq!(time(Duration::from_nanos(7_890)), "7.89 µs");
        assert_eq!(Work::Bytes(4e9).rate(Duration::from_millis(1)), "4.00 TB/s");
        assert_eq!(Work::Operations(2.5e8).rate(Duration::from_secs(1)), "250 MFLOP/s");
        assert_eq!((count(1 << 24).as_str(), count(512).as_str(), count(1003).as_str()), ("2^24", "512", "1003"));
    }
}

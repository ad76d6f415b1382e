//! One number with its error bound.

/// The expected result of a reduction: a value with a relative error of about 2⁻¹⁰⁰, and the error bound of a correct
/// result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scalar {
    /// The value, rounded.
    pub value: f64,
    /// The rounding error of `value`: the exact result is `value + rest`.
    pub rest: f64,
    /// The largest error that rounding can cause; infinite if overflow makes any result possible.
    pub bound: f64,
}

impl Scalar {
    /// A value with the bound 0.
    pub const fn exact(value: f64) -> Self {
        Self { value, rest: 0.0, bound: 0.0 }
    }

    /// The ratio of error to bound: 0 for an exact result, at most 1 within the bound, infinite for an error with the
    /// bound 0, or a NaN or infinity on one side only.
    pub fn error_over_bound(&self, got: impl Into<f64>) -> f64 {
        let got = got.into();
        if (got == self.value && self.rest == 0.0) || (got.is_nan() && self.value.is_nan()) {
            return 0.0;
        }
        if self.bound == f64::INFINITY {
            return 0.0;
        }
        let error = ((got - self.value) - self.rest).abs();
        if error == 0.0 {
            0.0
        } else if !error.is_finite() || self.bound.is_nan() || self.bound == 0.0 {
            f64::INFINITY
        } else {
            error / self.bound
        }
    }
}

/// The type of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `f32`.
    F32,
    /// `f64`.
    F64,
}

impl Format {
    /// The value with the bound of a result that had the error `error`, was then rounded `roundings` times in `f64`,
    /// and once to this format.
    pub(super) fn rounded(self, (value, rest): (f64, f64), error: f64, roundings: f64) -> Scalar {
        let size = value.abs() + error;
        let before = error + roundings * super::U_F64 * size;
        let (last, most) = match self {
            Self::F32 => (super::U_F32 * (size + before) + super::ETA_F32, f64::from(f32::MAX)),
            Self::F64 => (0.0, f64::MAX),
        };
        // The relative error of the value itself.
        let own = f64::EPSILON * f64::EPSILON * value.abs();
        let bound = if !value.is_finite() {
            0.0
        } else if size + before + last > most || before.is_nan() {
            f64::INFINITY
        } else {
            before + last + own
        };
        Scalar { value, rest, bound }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_measured_beyond_f64() {
        let scalar = Scalar { value: 1.0, rest: f64::EPSILON / 8.0, bound: f64::EPSILON / 8.0 };
        assert_eq!(scalar.error_over_bound(1.0), 1.0);
        assert_eq!(scalar.error_over_bound(1.0 + f64::EPSILON), 7.0);
        assert_eq!(Scalar::exact(0.5).error_over_bound(0.5_f32), 0.0);
        assert_eq!(Scalar::exact(0.5).error_over_bound(0.25_f32), f64::INFINITY);
        assert_eq!(Scalar::exact(f64::NAN).error_over_bound(f32::NAN), 0.0);
        assert_eq!(Scalar::exact(f64::NAN).error_over_bound(1.0), f64::INFINITY);
        assert_eq!(Scalar { bound: 1e300, ..Scalar::exact(1.0) }.error_over_bound(f64::NAN), f64::INFINITY);
    }

    #[test]
    fn a_result_out_of_range_has_no_bound() {
        assert_eq!(Format::F32.rounded((1e39, 0.0), 0.0, 0.0).bound, f64::INFINITY);
        assert_eq!(Format::F32.rounded((f64::INFINITY, 0.0), 0.0, 0.0).bound, 0.0);
        assert!(Format::F64.rounded((1e39, 0.0), 0.0, 1.0).bound < 1e39 * f64::EPSILON);
    }
}

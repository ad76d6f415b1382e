//! GEMM with scaling, bias, activation and rounding of the result.

use libm::erfc;
use ndarray::linalg::general_mat_mul;
use ndarray::{Array2, ArrayView2, Zip, s};

use super::bounds::{ETA_F32, U_F32, U_F64, gamma};
use super::compare::Reference;
use crate::ops::gemm::Activation;

/// A floating-point format that results are rounded to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Format {
    /// Unit roundoff: half the distance from 1 to the next number.
    pub unit: f64,
    /// Largest absolute error of a subnormal result: half the smallest subnormal.
    pub eta: f64,
    /// The largest finite number.
    pub max: f64,
}

impl Format {
    /// `f32`.
    pub const F32: Self = Self { unit: U_F32, eta: ETA_F32, max: f32::MAX as f64 };
    /// Binary16: 11 bits, from 2⁻²⁴ on.
    pub const F16: Self = Self { unit: 1.0 / 2048.0, eta: 1.0 / 33_554_432.0, max: 65_504.0 };
    /// Bfloat16: 8 bits, the exponents of `f32`.
    pub const BF16: Self = Self { unit: 1.0 / 256.0, eta: ETA_F32 * 65_536.0, max: 3.389_531_389_251_535_5e38 };
}

/// C = act(alpha · A·B + beta · C + bias), with inputs already rounded to the element types that the kernel reads. With
/// k = 0 or alpha = 0 there is no product; with beta = 0 the old C is ignored.
#[derive(Clone, Debug)]
pub struct Gemm<'a> {
    /// op(A), m × k.
    pub a: ArrayView2<'a, f64>,
    /// op(B), k × n.
    pub b: ArrayView2<'a, f64>,
    /// The old C, m × n.
    pub c: Option<ArrayView2<'a, f64>>,
    /// m × n, with the same number in each row or column.
    pub bias: Option<ArrayView2<'a, f64>>,
    /// Factor of A·B.
    pub alpha: f64,
    /// Factor of C.
    pub beta: f64,
    /// The activation function.
    pub activation: Activation,
    /// Unit roundoff of the additions: [`U_F32`] for kernels that add in `f32` and round to nearest, twice that for
    /// tensor cores, which truncate.
    pub unit: f64,
    /// The format of C.
    pub output: Format,
}

/// The result in `f64`, with the error bound of a correct kernel that accumulates in `f32`.
///
/// A product of two elements is rounded at most K times in the accumulation, in any order, and three more times: in the
/// product with alpha, the sum with beta·C and the sum with the bias. So before the activation
///
/// e = γ(K + 3)·(|alpha||A||B| + |beta||C| + |bias|) + (K + 3)·η.
///
/// Max(x, 0) adds nothing. GELU, whose slope is at most 1.129, makes it 1.129·e + 1.68·u·|x| + 2η; the second term is
/// the error of its kernel (`gpu::gemm::gelu`). Rounding the result y to C's type adds u·|y| + η with the u and η of
/// that type; nothing for `f32`, which is the type of the last operation. The reference's own error in `f64` is added.
/// If a sum may overflow `f32`, or the result C's type, the bound is infinite; infinities and NaNs among the inputs
/// must reach the result.
///
/// # Errors
/// The shapes do not agree.
pub fn gemm(call: &Gemm<'_>) -> Result<Reference, ndarray::ShapeError> {
    let Gemm { a, b, alpha, beta, .. } = call;
    let shape = (a.nrows(), b.ncols());
    let agrees = |part: &Option<ArrayView2<'_, f64>>| part.as_ref().is_none_or(|part| part.dim() == shape);
    if a.ncols() != b.nrows() || !agrees(&call.c) || !agrees(&call.bias) {
        return Err(ndarray::ShapeError::from_kind(ndarray::ErrorKind::IncompatibleShape));
    }
    let (mut value, mut magnitude) = (Array2::<f64>::zeros(shape), Array2::<f64>::zeros(shape));
    if *alpha != 0.0 && a.ncols() > 0 {
        general_mat_mul(*alpha, a, b, 0.0, &mut value);
        general_mat_mul(alpha.abs(), &a.mapv(f64::abs), &b.mapv(f64::abs), 0.0, &mut magnitude);
    }
    let mut add = |part: &Option<ArrayView2<'_, f64>>, factor: f64| {
        if let (Some(part), true) = (part, factor != 0.0) {
            Zip::from(&mut value).and(part).for_each(|value, &x| *value += factor * x);
            Zip::from(&mut magnitude).and(part).for_each(|magnitude, &x| *magnitude += (factor * x).abs());
        }
    };
    add(&call.c, *beta);
    add(&call.bias, 1.0);
    let roundings = a.ncols() as u64 + 3;
    let (value, bound) =
        value.iter().zip(&magnitude).map(|(&x, &magnitude)| call.element(x, magnitude, roundings)).unzip();
    Ok(Reference { value, bound })
}

/// [`gemm()`] of groups of rows: group g has rows `offsets[g]` to `offsets[g + 1]` − 1 of A, C and the bias, and the
/// matrix `b[g]`. The result has the rows from the first offset to the last. The `b` of `call` has no meaning.
///
/// ```
/// use ndarray::array;
/// use warpwright::gemm::Activation;
/// use warpwright::reference::{Format, Gemm, U_F32, grouped_gemm};
/// let (a, b) = (array![[1.0], [2.0], [3.0]], [array![[10.0]], array![[100.0]]]);
/// let b = [b[0].view(), b[1].view()];
/// let call = Gemm {
///     a: a.view(), b: b[0], c: None, bias: None, alpha: 1.0, beta: 0.0, activation: Activation::None, unit: U_F32,
///     output: Format::F32,
/// };
/// assert_eq!(grouped_gemm(&call, &b, &[0, 1, 3])?.value, [10.0, 200.0, 300.0]);
/// # Ok::<(), ndarray::ShapeError>(())
/// ```
///
/// # Errors
/// The shapes do not agree; offsets decrease, are beyond A, or are not one more than there are groups.
pub fn grouped_gemm<'x>(
    call: &Gemm<'x>,
    b: &[ArrayView2<'x, f64>],
    offsets: &[usize],
) -> Result<Reference, ndarray::ShapeError> {
    if offsets.len() != b.len() + 1 || !offsets.is_sorted() || offsets.iter().any(|&end| end > call.a.nrows()) {
        return Err(ndarray::ShapeError::from_kind(ndarray::ErrorKind::OutOfBounds));
    }
    let mut all = Reference { value: Vec::new(), bound: Vec::new() };
    for (group, &b) in b.iter().enumerate() {
        let rows = s![offsets[group]..offsets[group + 1], ..];
        let slice = |part: ArrayView2<'x, f64>| part.slice_move(rows);
        let (c, bias) = (call.c.map(slice), call.bias.map(slice));
        let of_group = gemm(&Gemm { a: slice(call.a), b, c, bias, ..*call })?;
        all.value.extend(of_group.value);
        all.bound.extend(of_group.bound);
    }
    Ok(all)
}

impl Gemm<'_> {
    /// Value and bound of one element, from the input of the activation and the sum of the magnitudes of its terms.
    fn element(&self, x: f64, magnitude: f64, roundings: u64) -> (f64, f64) {
        let value = activated(x, self.activation);
        if !magnitude.is_finite() {
            return (value, 0.0);
        }
        let own = gamma(roundings, U_F64) * magnitude;
        // The magnitude was computed with that error, too.
        let magnitude = magnitude + 2.0 * own;
        let sum = gamma(roundings, self.unit) * magnitude + roundings as f64 * ETA_F32 + own;
        let end = match self.activation {
            Activation::Gelu => {
                use gpu::gemm::gelu::{ERROR, SLOPE};
                // erfc of `libm` has an error of at most 1 ulp.
                SLOPE * sum + ERROR * U_F32 * (x.abs() + sum) + 2.0 * ETA_F32 + 4.0 * U_F64 * x.abs()
            }
            Activation::None | Activation::Relu => sum,
        };
        let rounded =
            if self.output == Format::F32 { 0.0 } else { self.output.unit * (value.abs() + end) + self.output.eta };
        if magnitude + sum > Format::F32.max || value.abs() + end + rounded > self.output.max {
            return (value, f64::INFINITY);
        }
        (value, end + rounded)
    }
}

/// The activation in `f64`.
fn activated(x: f64, activation: Activation) -> f64 {
    match activation {
        Activation::None => x,
        Activation::Relu if x.is_nan() => x,
        Activation::Relu => x.max(0.0),
        // The limit, because −∞ · 0 is NaN.
        Activation::Gelu if x == f64::NEG_INFINITY => 0.0,
        Activation::Gelu => x * 0.5 * erfc(-x * std::f64::consts::FRAC_1_SQRT_2),
    }
}

#[cfg(test)]
mod tests {
    use gpu::gemm::gelu::{ERROR, SLOPE, gelu};
    use half::{bf16, f16};
    use ndarray::array;

    use super::*;

    #[test]
    fn formats_are_those_of_the_types() {
        assert_eq!(Format::F16.unit * 2.0, f64::from(f16::EPSILON));
        assert_eq!(Format::F16.eta * 2.0, f64::from(f16::from_bits(1)));
        assert_eq!(Format::F16.max, f64::from(f16::MAX));
        assert_eq!(Format::BF16.unit * 2.0, f64::from(bf16::EPSILON));
        assert_eq!(Format::BF16.eta * 2.0, f64::from(bf16::from_bits(1)));
        assert_eq!(Format::BF16.max, f64::from(bf16::MAX));
    }

    /// Tests every 1009th `f32`; `ERROR` is from a run over all of them.
    #[test]
    fn gelu_of_the_kernels_is_within_its_error() {
        let mut worst = 0.0_f64;
        for bits in (0..=u32::MAX).step_by(1009) {
            let x = f32::from_bits(bits);
            let (got, exact) = (f64::from(gelu(x)), activated(f64::from(x), Activation::Gelu));
            if x.is_nan() {
                assert!(got.is_nan());
            } else if x.is_finite() {
                let error = (got - exact).abs() - 2.0 * ETA_F32;
                worst = worst.max(error / (U_F32 * f64::from(x.abs())).max(f64::MIN_POSITIVE));
            }
        }
        assert!(worst > 1.0 && worst <= ERROR, "{worst}");
        assert_eq!(gelu(f32::INFINITY), f32::INFINITY);
        assert_eq!(gelu(f32::NEG_INFINITY).to_bits(), (-0.0_f32).to_bits());
        assert_eq!(gelu(-0.0).to_bits(), (-0.0_f32).to_bits());
    }

    #[test]
    fn the_slope_of_gelu_is_bounded() {
        let slope = |x: f64| (activated(x + 1e-6, Activation::Gelu) - activated(x - 1e-6, Activation::Gelu)) / 2e-6;
        let steepest = (-8000..8000).map(|i| slope(f64::from(i) / 1000.0).abs()).fold(0.0, f64::max);
        assert!(steepest < SLOPE && steepest > SLOPE - 0.001, "{steepest}");
    }

    fn call<'a>(a: &'a Array2<f64>, b: &'a Array2<f64>) -> Gemm<'a> {
        Gemm {
            a: a.view(),
            b: b.view(),
            c: None,
            bias: None,
            alpha: 1.0,
            beta: 0.0,
            activation: Activation::None,
            unit: U_F32,
            output: Format::F32,
        }
    }

    #[test]
    fn terms_are_added_as_the_formula_says() {
        let (a, b) = (array![[1.0, 2.0]], array![[3.0], [4.0]]);
        let (c, bias) = (array![[10.0]], array![[0.5]]);
        let full = Gemm { c: Some(c.view()), bias: Some(bias.view()), alpha: 2.0, beta: -3.0, ..call(&a, &b) };
        let reference = gemm(&full).unwrap();
        assert_eq!(reference.value, [2.0 * 11.0 - 30.0 + 0.5]);
        let magnitude = 22.0 + 30.0 + 0.5;
        assert!(
            reference.bound[0] >= gamma(5, U_F32) * magnitude
                && reference.bound[0] < 1.01 * gamma(5, U_F32) * magnitude
        );
        let relu = Gemm { activation: Activation::Relu, ..full };
        assert_eq!(gemm(&relu).unwrap().value, [0.0]);
    }

    #[test]
    fn ignored_inputs_may_be_nan() {
        let (a, b, c) = (array![[f64::NAN]], array![[1.0]], array![[f64::NAN]]);
        let none = Gemm { c: Some(c.view()), alpha: 0.0, ..call(&a, &b) };
        assert_eq!(gemm(&none).unwrap().value, [0.0]);
        assert!(gemm(&call(&a, &b)).unwrap().value[0].is_nan());
        assert!(gemm(&Gemm { beta: 1.0, ..none }).unwrap().value[0].is_nan());
    }

    #[test]
    fn a_lost_product_breaks_every_bound() {
        let (a, b) = (Array2::from_elem((1, 50), 0.7), Array2::from_elem((50, 1), 0.6));
        for output in [Format::F32, Format::F16, Format::BF16] {
            for &activation in Activation::ALL {
                let reference = gemm(&Gemm { activation, output, ..call(&a, &b) }).unwrap();
                let short = (21.0 - 0.42) as f32;
                assert!(reference.check(&[21.0]).unwrap().passes(), "{output:?}, {activation:?}");
                assert!(!reference.check(&[short]).unwrap().passes(), "{output:?}, {activation:?}");
            }
        }
    }

    #[test]
    fn shapes_must_agree() {
        let (a, b) = (Array2::zeros((2, 3)), Array2::zeros((2, 3)));
        assert!(gemm(&call(&a, &b)).is_err());
        let (b, c) = (Array2::zeros((3, 2)), Array2::zeros((1, 2)));
        assert!(gemm(&Gemm { c: Some(c.view()), ..call(&a, &b) }).is_err());
    }
}

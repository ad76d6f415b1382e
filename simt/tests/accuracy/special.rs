//! Special values: NaN, infinities, zeros, subnormal numbers, limits of the range, exact results.

use simt::math;

/// Tests of one format.
macro_rules! tests_of {
    ($t:ident) => {
        mod $t {
            use super::math;

            const INF: $t = $t::INFINITY;
            const NAN: $t = $t::NAN;
            const TINY: $t = $t::from_bits(1);

            type One = fn($t) -> $t;
            const FUNCTIONS: [(&str, One); 23] = [
                ("exp", math::exp),
                ("exp2", math::exp2),
                ("exp10", math::exp10),
                ("expm1", math::expm1),
                ("log", math::log),
                ("log2", math::log2),
                ("log10", math::log10),
                ("log1p", math::log1p),
                ("sin", math::sin),
                ("cos", math::cos),
                ("tan", math::tan),
                ("tanh", math::tanh),
                ("erf", math::erf),
                ("erfc", math::erfc),
                ("sqrt", math::sqrt),
                ("rsqrt", math::rsqrt),
                ("cbrt", math::cbrt),
                ("rcbrt", math::rcbrt),
                ("floor", math::floor),
                ("ceil", math::ceil),
                ("trunc", math::trunc),
                ("round", math::round),
                ("round_ties_even", math::round_ties_even),
            ];

            /// The same bits, or both NaN.
            #[track_caller]
            fn same(got: $t, expected: $t, what: &str) {
                let same = got.to_bits() == expected.to_bits() || got.is_nan() && expected.is_nan();
                assert!(same, "{what}: {got:e}, expected {expected:e}");
            }

            #[test]
            fn a_nan_gives_a_nan() {
                for (name, function) in FUNCTIONS {
                    same(function(NAN), NAN, name);
                    same(function(-NAN), NAN, name);
                }
            }

            /// Values at −∞, −0, +0 and ∞.
            #[test]
            fn limits() {
                let rows: [(&str, [$t; 4]); 23] = [
                    ("exp", [0.0, 1.0, 1.0, INF]),
                    ("exp2", [0.0, 1.0, 1.0, INF]),
                    ("exp10", [0.0, 1.0, 1.0, INF]),
                    ("expm1", [-1.0, -0.0, 0.0, INF]),
                    ("log", [NAN, -INF, -INF, INF]),
                    ("log2", [NAN, -INF, -INF, INF]),
                    ("log10", [NAN, -INF, -INF, INF]),
                    ("log1p", [NAN, -0.0, 0.0, INF]),
                    ("sin", [NAN, -0.0, 0.0, NAN]),
                    ("cos", [NAN, 1.0, 1.0, NAN]),
                    ("tan", [NAN, -0.0, 0.0, NAN]),
                    ("tanh", [-1.0, -0.0, 0.0, 1.0]),
                    ("erf", [-1.0, -0.0, 0.0, 1.0]),
                    ("erfc", [2.0, 1.0, 1.0, 0.0]),
                    ("sqrt", [NAN, -0.0, 0.0, INF]),
                    ("rsqrt", [NAN, -INF, INF, 0.0]),
                    ("cbrt", [-INF, -0.0, 0.0, INF]),
                    ("rcbrt", [-0.0, -INF, INF, 0.0]),
                    ("floor", [-INF, -0.0, 0.0, INF]),
                    ("ceil", [-INF, -0.0, 0.0, INF]),
                    ("trunc", [-INF, -0.0, 0.0, INF]),
                    ("round", [-INF, -0.0, 0.0, INF]),
                    ("round_ties_even", [-INF, -0.0, 0.0, INF]),
                ];
                for ((name, function), (row, expected)) in FUNCTIONS.into_iter().zip(rows) {
                    assert_eq!(name, row);
                    for (x, expected) in [-INF, -0.0, 0.0, INF].into_iter().zip(expected) {
                        same(function(x), expected, &format!("{name} of {x}"));
                    }
                }
            }

            #[test]
            fn functions_that_are_x_near_zero_keep_subnormal_numbers() {
                let identities: [One; 7] = [
                    math::expm1,
                    math::log1p,
                    math::sin,
                    math::tan,
                    math::tanh,
                    |x| math::hypot(x, 0.0),
                    |x| math::pow(x, 1.0),
                ];
                for (i, function) in identities.into_iter().enumerate() {
                    for x in [TINY, 3.0 * TINY, $t::MIN_POSITIVE / 2.0, $t::MIN_POSITIVE] {
                        same(function(x), x, &format!("function {i}"));
                    }
                }
            }

            #[test]
            fn the_range_ends_where_it_should() {
                let least = $t::MIN_EXP - $t::MANTISSA_DIGITS as i32;
                same(math::exp2(least as $t), TINY, "exp2 of the least exponent");
                same(math::exp2(least as $t - 1.01), 0.0, "exp2 below it");
                same(math::exp2($t::MAX_EXP as $t), INF, "exp2 of the greatest exponent + 1");
                same(math::exp($t::MAX), INF, "exp of the greatest number");
                same(math::exp($t::MIN), 0.0, "exp of the least number");
                same(math::exp10($t::MAX_10_EXP as $t + 1.0), INF, "exp10 of the greatest exponent + 1");
                same(math::expm1(2.0 * $t::MAX_EXP as $t), INF, "expm1");
                same(math::erfc(40.0), 0.0, "erfc of 40");
                same(math::log1p(-1.0), -INF, "log1p of −1");
                same(math::log1p(-1.5), NAN, "log1p of −1.5");
                same(math::hypot($t::MAX, $t::MAX), INF, "hypot of the greatest numbers");
                same(math::hypot($t::MAX / 2.0, 0.0), $t::MAX / 2.0, "hypot without overflow");
                same(math::log2(TINY), least as $t, "log2 of the least number");
                same(math::rsqrt(-1.0), NAN, "rsqrt of −1");
            }

            #[test]
            fn exact_results() {
                let least = $t::MIN_EXP - $t::MANTISSA_DIGITS as i32;
                for n in least..$t::MAX_EXP {
                    let power = math::exp2(n as $t);
                    same(power, (2.0 as $t).powi(n / 2) * (2.0 as $t).powi(n - n / 2), &format!("2 to the power {n}"));
                    same(math::log2(power), n as $t, &format!("logarithm of 2 to the power {n}"));
                    same(math::pow(2.0, n as $t), power, &format!("pow of 2 and {n}"));
                }
                for n in -99..=99_i32 {
                    let x = n as $t;
                    same(math::cbrt(x * x * x), x, &format!("cube root of {n}³"));
                    same(math::pow(x, 2.0), x * x, &format!("{n}²"));
                    same(math::pow(x, 3.0), x * x * x, &format!("{n}³"));
                    same(math::hypot(3.0 * x, 4.0 * x), 5.0 * x.abs(), &format!("hypot of {n}·(3, 4)"));
                }
                same(math::rcbrt(8.0), 0.5, "rcbrt of 8");
                same(math::rsqrt(16.0), 0.25, "rsqrt of 16");
                same(math::round(2.5), 3.0, "round of 2.5");
                same(math::round_ties_even(2.5), 2.0, "round_ties_even of 2.5");
                same(math::round(-0.4), -0.0, "round of −0.4");
                same(math::ceil(-0.5), -0.0, "ceil of −0.5");
            }

            #[test]
            fn odd_and_even_functions() {
                let odd: [One; 6] = [math::sin, math::tan, math::tanh, math::erf, math::cbrt, math::rcbrt];
                for i in 1..2000 {
                    let x = (i as $t * 0.37).exp2();
                    let x = if x.is_finite() { x } else { i as $t };
                    for function in odd {
                        same(function(-x), -function(x), &format!("odd function of {x}"));
                    }
                    same(math::cos(-x), math::cos(x), &format!("cosine of {x}"));
                    same(math::hypot(-x, 3.0), math::hypot(3.0, x), &format!("hypot of {x}"));
                }
            }

            /// The table of C's standard, annex F.
            #[test]
            fn special_values_of_pow() {
                let odd = 2.0 / $t::EPSILON - 1.0;
                let rows: &[($t, $t, $t)] = &[
                    (0.0, -3.0, INF),
                    (-0.0, -3.0, -INF),
                    (-0.0, -odd, -INF),
                    (-0.0, -2.0, INF),
                    (-0.0, -2.5, INF),
                    (0.0, -INF, INF),
                    (-0.0, -INF, INF),
                    (0.0, 3.0, 0.0),
                    (-0.0, 3.0, -0.0),
                    (-0.0, odd, -0.0),
                    (-0.0, 2.0, 0.0),
                    (-0.0, 2.5, 0.0),
                    (-0.0, INF, 0.0),
                    (-1.0, INF, 1.0),
                    (-1.0, -INF, 1.0),
                    (-1.0, odd, -1.0),
                    (-1.0, $t::MAX, 1.0),
                    (1.0, NAN, 1.0),
                    (1.0, INF, 1.0),
                    (NAN, 0.0, 1.0),
                    (NAN, -0.0, 1.0),
                    (INF, 0.0, 1.0),
                    (0.0, 0.0, 1.0),
                    (NAN, 1.0, NAN),
                    (2.0, NAN, NAN),
                    (0.0, NAN, NAN),
                    (INF, NAN, NAN),
                    (-2.0, 0.5, NAN),
                    (-0.5, 1.5, NAN),
                    (-2.0, 3.0, -8.0),
                    (-2.0, -3.0, -0.125),
                    (-2.0, 4.0, 16.0),
                    (0.5, -INF, INF),
                    (1.5, -INF, 0.0),
                    (-0.5, INF, 0.0),
                    (-1.5, INF, INF),
                    (-INF, -3.0, -0.0),
                    (-INF, -2.0, 0.0),
                    (-INF, -2.5, 0.0),
                    (-INF, 3.0, -INF),
                    (-INF, 2.0, INF),
                    (-INF, 2.5, INF),
                    (INF, -2.0, 0.0),
                    (INF, 0.5, INF),
                    (1.0 + $t::EPSILON, $t::MAX, INF),
                    (1.0 - $t::EPSILON, $t::MAX, 0.0),
                    (1.0 + $t::EPSILON, $t::MIN, 0.0),
                    (TINY, -1.0, INF),
                    ($t::MIN_POSITIVE, -1.0, 1.0 / $t::MIN_POSITIVE),
                ];
                for &(x, y, expected) in rows {
                    same(math::pow(x, y), expected, &format!("{x:e} to the power {y:e}"));
                }
            }

            #[test]
            fn special_values_of_hypot() {
                for (x, y) in [(INF, NAN), (NAN, -INF), (-INF, 1.0), (0.0, INF)] {
                    same(math::hypot(x, y), INF, &format!("hypot of {x} and {y}"));
                }
                same(math::hypot(NAN, 1.0), NAN, "hypot of NaN");
                same(math::hypot(-0.0, 0.0), 0.0, "hypot of zeros");
            }
        }
    };
}
tests_of!(f32);
tests_of!(f64);

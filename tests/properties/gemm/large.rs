//! Products that keep a GPU busy for long, several times: what goes wrong once in many thousand steps of a pipeline,
//! such as a stage that is released too early, does so here. Small integers, so sums are exact in any order; the
//! reference is the plain kernel of `Device::matmul`.

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use crate::support::device::{is_gpu, under_test};

macro_rules! products {
    ($($test:ident: $t:ty;)+) => {$(
        #[test]
        fn $test() {
            if !is_gpu() {
                return;
            }
            let (device, mut rng) = (under_test(0), StdRng::seed_from_u64(11));
            for [m, k, n] in [[1999, 1003, 3001], [4096, 1024, 4096], [2048, 512, 1024]] {
                let mut integers =
                    |len| (0..len).map(|_| <$t>::from(rng.random_range(-4..=4_i8))).collect::<Vec<$t>>();
                let a = device.upload_matrix(&integers(m * k), m, k).expect("memory");
                let b = device.upload_matrix(&integers(k * n), k, n).expect("memory");
                let expected = device.matmul(&a, &b).and_then(|c| c.download()).expect("the plain product");
                for run in 0..20 {
                    let c = device.gemm(&a, &b).run().and_then(|c| c.download()).expect("the product");
                    let wrong = c.iter().zip(&expected).position(|(c, expected)| c != expected);
                    assert_eq!(wrong.map(|at| (at / n, at % n)), None, "{m} × {k} × {n}, run {run}");
                }
            }
        }
    )+};
}
products! {
    large_products_of_f32_are_exact: f32;
    large_products_of_f64_are_exact: f64;
}

//! The kernels give what the same computation on the CPU gives, for random inputs of random lengths.

use proptest::collection::vec;
use proptest::prelude::*;
use warpwright::prelude::*;

use {{kernels}}::{THREADS, block_sums, saxpy};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn saxpy_is_that_of_the_cpu(alpha in -10.0_f32..10.0, xy in vec((-1e3_f32..1e3, -1e3_f32..1e3), 1..2000)) {
        let (x, y): (Vec<f32>, Vec<f32>) = xy.into_iter().unzip();
        let device = Device::best().unwrap();
        let mut result = device.upload(&y).unwrap();
        device
            .launch(&saxpy, Launch::cover(x.len(), THREADS), (alpha, &device.upload(&x).unwrap(), &mut result))
            .unwrap();
        let expected: Vec<f32> = x.iter().zip(&y).map(|(&x, &y)| alpha.mul_add(x, y)).collect();
        prop_assert_eq!(result.download().unwrap(), expected);
    }

    #[test]
    fn block_sums_are_those_of_the_cpu(x in vec(any::<u32>(), 1..2000)) {
        let device = Device::best().unwrap();
        let mut sums = device.alloc(x.len().div_ceil(THREADS as usize)).unwrap();
        device
            .launch(&block_sums, Launch::cover(x.len(), THREADS), (&device.upload(&x).unwrap(), &mut sums))
            .unwrap();
        let sum = |block: &[u32]| block.iter().fold(0_u32, |sum, &x| sum.wrapping_add(x));
        let expected: Vec<u32> = x.chunks(THREADS as usize).map(sum).collect();
        prop_assert_eq!(sums.download().unwrap(), expected);
    }
}

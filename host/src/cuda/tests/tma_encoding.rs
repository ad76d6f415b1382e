//! Tensor maps: the arguments that the driver receives.

use gpu::lab::instructions_sm90::tma_copy::tma_copy;
use half::f16;
use ndarray::Array2;
use simt::tma::Swizzle;

use super::{Character, device, mock};
use crate::memory::{Axes, TmaShape};
use crate::{Device, Launch, TmaTensor};

/// Data type, swizzle, extents, strides and box of a map, innermost dimension first, as the mock encodes them.
fn decode(words: [u64; 16]) -> (u64, u64, [u64; 3], [u64; 2], [u64; 3]) {
    let extents = [0, 1, 2].map(|i| words[3 + i]);
    (words[1], words[2], extents, [words[8], words[9]], [0, 1, 2].map(|i| words[12] >> (9 * i) & 0x1ff))
}

fn map<T: simt::element::Element>(tensor: &TmaTensor<'_, T>) -> [u64; 16] {
    tensor.encode(tensor.allocation().device().backend(), 0).unwrap()
}

#[test]
fn the_driver_receives_the_layout_of_the_view() {
    let device: Device = device(0);
    let matrix = device.upload(&Array2::<f32>::zeros((20, 24))).unwrap();
    let whole = matrix.view().tma(8, 16, Swizzle::B64).unwrap();
    assert_eq!(decode(map(&whole)), (2, 2, [24, 20, 0], [96, 0], [16, 8, 0]));
    let base = map(&whole)[0];
    let part = matrix.block(3..10, 4..24).unwrap().tma(4, 8, Swizzle::None).unwrap();
    assert_eq!(decode(map(&part)), (2, 0, [20, 7, 0], [96, 0], [8, 4, 0]));
    assert_eq!(map(&part)[0], base + 3 * 96 + 16, "address of the view's first element");
    let row = matrix.block(3..4, 0..23).unwrap().tma(4, 8, Swizzle::None).unwrap();
    assert_eq!(decode(map(&row)), (2, 0, [23, 1, 0], [96, 0], [8, 4, 0]), "one row has a stride, too");
    let rounded = whole.rounded_to_tf32();
    assert_eq!(decode(map(&rounded)), (11, 2, [24, 20, 0], [96, 0], [16, 8, 0]));

    let halves = device.alloc::<f16>(2 * 3 * 64).unwrap();
    let tensor = halves.view().as_tensor(&[2, 3, 64]).unwrap();
    let planes = tensor.tma(&[1, 2, 64], Swizzle::B128).unwrap();
    assert_eq!(decode(map(&planes)), (1, 3, [64, 3, 2], [128, 384], [64, 2, 1]));
    let bytes = device.alloc::<u8>(64).unwrap();
    let bytes = bytes.view().as_tensor(&[4, 16]).unwrap().tma(&[4, 16], Swizzle::None).unwrap();
    assert_eq!(map(&bytes)[1], 0);
    let wide = device.alloc::<f64>(64).unwrap();
    let wide = wide.view().as_tensor(&[4, 16]).unwrap().tma(&[4, 16], Swizzle::None).unwrap();
    assert_eq!(map(&wide)[1], 4);
}

/// A shape that is kept is encoded once, also for other memory.
#[test]
fn a_kept_shape_is_encoded_for_any_address() {
    let device: Device = device(0);
    let (x, y) = (device.alloc::<f32>(20 * 24).unwrap(), device.alloc::<f32>(20 * 24).unwrap());
    let axes = Axes::contiguous("test", &[20, 24]).unwrap();
    let shape = TmaShape::new(4, &axes, &[8, 16], Swizzle::B64).unwrap();
    for buffer in [&x, &x, &y, &x] {
        let kept = shape.of(buffer.view()).unwrap().encode(device.backend(), 0).unwrap();
        let tensor = buffer.view().as_tensor(&[20, 24]).unwrap().tma(&[8, 16], Swizzle::B64).unwrap();
        assert_eq!(kept, map(&tensor));
    }
}

#[test]
fn memory_of_another_device_is_refused() {
    let (here, there) = (device(4), device(0));
    let x = there.upload(&Array2::<f32>::zeros((32, 32))).unwrap();
    let mut y = here.upload(&Array2::<f32>::zeros((32, 32))).unwrap();
    let tensors = (x.view().tma(32, 32, Swizzle::None).unwrap(), y.view_mut().tma(32, 32, Swizzle::None).unwrap());
    let error = here.launch(&tma_copy, Launch::grid(1), (tensors.0, tensors.1, 32, 32)).unwrap_err().to_string();
    assert!(error.contains("tma_copy") && error.contains("`x`"), "{error}");
}

#[test]
fn a_gpu_before_hopper_has_no_tma_kernel() {
    let old = device(mock::ordinal(Character::Old));
    let x = old.upload(&Array2::<f32>::zeros((32, 32))).unwrap();
    let mut y = old.upload(&Array2::<f32>::zeros((32, 32))).unwrap();
    let tensors = (x.view().tma(32, 32, Swizzle::None).unwrap(), y.view_mut().tma(32, 32, Swizzle::None).unwrap());
    let error = old.launch(&tma_copy, Launch::grid(1), (tensors.0, tensors.1, 32, 32)).unwrap_err().to_string();
    assert!(error.contains("no other GPU") && error.contains("use one of sm_90a"), "{error}");
}

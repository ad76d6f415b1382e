//! Encoding of tensor maps: `cust` does not wrap `cuTensorMapEncodeTiled` and `cuTensorMapReplaceAddress`.

use std::ptr;

use super::forward::typed;
use super::status::{Failure, result};

/// The arguments of `cuTensorMapEncodeTiled`.
pub(crate) struct Encode<'a> {
    /// `CUtensorMapDataType`.
    pub(crate) data_type: i32,
    /// Address of the first element.
    pub(crate) base: u64,
    /// Elements along each dimension, innermost first.
    pub(crate) extents: &'a [u64],
    /// Bytes between neighbours along each dimension but the first.
    pub(crate) strides: &'a [u64],
    /// Elements of a box along each dimension.
    pub(crate) boxes: &'a [u32],
    /// `CUtensorMapSwizzle`.
    pub(crate) swizzle: i32,
    /// `CUtensorMapL2promotion`.
    pub(crate) promotion: i32,
}

/// A tensor map, with the alignment that the driver requires.
#[repr(C, align(64))]
struct Map([u64; 16]);

/// Encodes a tensor map; returns its 128 bytes.
pub(crate) fn encode_tensor_map(args: &Encode<'_>) -> Result<[u64; 16], Failure> {
    let rank = args.extents.len();
    assert!((1..=5).contains(&rank) && args.strides.len() + 1 == rank && args.boxes.len() == rank);
    let mut map = Map([0; 16]);
    // SAFETY: the map is writable and aligned; extents, boxes and element strides have `rank` numbers, strides one
    // less. The driver does not access memory at the base address.
    let status = unsafe {
        typed::cuTensorMapEncodeTiled(
            (&raw mut map).cast(),
            args.data_type,
            rank as u32,
            ptr::without_provenance_mut(args.base as usize),
            args.extents.as_ptr(),
            args.strides.as_ptr(),
            args.boxes.as_ptr(),
            [1; 5].as_ptr(),
            0,
            args.swizzle,
            args.promotion,
            0,
        )
    };
    result("cuTensorMapEncodeTiled", status).map(|()| map.0)
}

/// The tensor map with the address `base` in place of its own.
pub(crate) fn with_address(words: [u64; 16], base: u64) -> Result<[u64; 16], Failure> {
    let mut map = Map(words);
    // SAFETY: the map is writable and aligned, and was encoded by the driver, which does not access memory at the
    // address.
    let status =
        unsafe { typed::cuTensorMapReplaceAddress((&raw mut map).cast(), ptr::without_provenance_mut(base as usize)) };
    result("cuTensorMapReplaceAddress", status).map(|()| map.0)
}

//! Encoding of tensor maps by the driver.

use simulator::TensorMap;

use super::backend::Backend;
use super::driver::{self, Encode};
use crate::error::Result;

/// `CUtensorMapDataType`: unsigned integers of the element's size, since copies ignore values, and `f32` that is
/// rounded to `tf32`.
const UINT8: i32 = 0;
const UINT16: i32 = 1;
const UINT32: i32 = 2;
const UINT64: i32 = 4;
const TFLOAT32: i32 = 11;

/// `CU_TENSOR_MAP_L2_PROMOTION_L2_128B`: L2 fetches cache lines of 128 bytes from memory.
const PROMOTE_128: i32 = 2;

impl Backend {
    /// Encodes a tensor map that was checked.
    pub(crate) fn tensor_map(&self, map: &TensorMap) -> Result<[u64; 16]> {
        let rank = map.rank as usize;
        let data_type = match map.element {
            _ if map.tf32 => TFLOAT32,
            1 => UINT8,
            2 => UINT16,
            4 => UINT32,
            _ => UINT64,
        };
        self.primary().call(format_args!("encoding a tensor map of {rank} dimensions"), || {
            driver::encode_tensor_map(&Encode {
                data_type,
                base: map.base,
                extents: &map.extents[..rank],
                strides: &map.strides[1..rank],
                boxes: &map.boxes[..rank],
                swizzle: map.swizzle as i32,
                promotion: PROMOTE_128,
            })
        })
    }
}

//! What a thread asks of TMA, and the checks of it.

use crate::block::state::BlockState;
use crate::lane::Lane;
use crate::report::Kind;
use crate::shadow::AccessKind;
use crate::tensor_map::TensorMap;
use std::panic::Location;

/// A TMA load or store as the kernel issues it.
#[derive(Clone, Copy)]
pub(crate) struct TmaRequest<'a> {
    pub(crate) words: &'a [u64; 16],
    /// Bytes of an element of the kernel's tile.
    pub(crate) element: usize,
    /// The box's first element, innermost dimension first.
    pub(crate) at: &'a [i32],
    /// The tile in shared memory, 0 where there is none, and its bytes.
    pub(crate) address: usize,
    pub(crate) bytes: usize,
    pub(crate) location: &'static Location<'static>,
}

impl TmaRequest<'_> {
    /// The box's first element, in all five dimensions.
    pub(in crate::block) fn first(&self) -> [i32; 5] {
        let mut at = [0; 5];
        at[..self.at.len()].copy_from_slice(self.at);
        at
    }

    /// The map, and whether it does not match the kernel's tile; that is reported.
    pub(in crate::block) fn map(&self, state: &BlockState, lane: &Lane, kind: AccessKind) -> (TensorMap, bool) {
        let invalid = |map: TensorMap, why: String| {
            state.threads.fault(lane, Kind::UnfitBox, self.location, None, || why);
            (map, true)
        };
        let Some(map) = TensorMap::decode(self.words) else {
            return invalid(TensorMap::default(), "the map was not made by `tma` of a view".to_owned());
        };
        if map.rank as usize != self.at.len() {
            return invalid(map, format!("a copy of {} dimensions with a map of {}", self.at.len(), map.rank));
        }
        if map.element as usize != self.element {
            return invalid(map, format!("elements of {} bytes with a map of ones of {}", self.element, map.element));
        }
        if self.address == 0 {
            return (map, true);
        }
        let bytes = map.box_bytes();
        if bytes != self.bytes as u64 {
            state.threads.fault(lane, Kind::UnfitBox, self.location, None, || {
                let extents = &map.boxes[..map.rank as usize];
                format!("the place has {} bytes, the map's box of {extents:?} elements has {bytes}", self.bytes)
            });
            return (map, bytes > self.bytes as u64);
        }
        let offset = self.address - state.threads.shared_base();
        let unit = if map.swizzle == 0 { 128 } else { 128 << map.swizzle };
        if !offset.is_multiple_of(unit) {
            state.threads.fault(lane, Kind::Misaligned, self.location, None, || {
                let why = if unit > 128 { ", with which the pattern of its swizzle begins" } else { "" };
                format!("a box at byte {offset} of shared memory, which is no multiple of {unit}{why}")
            });
        }
        // An H200 ends such a launch with an illegal instruction.
        let start = i64::from(self.at[0]) * self.element as i64;
        if kind == AccessKind::Read && start % 16 != 0 {
            state.threads.fault(lane, Kind::Misaligned, self.location, None, || {
                format!("a box from byte {start} of the tensor's rows, which is no multiple of 16")
            });
        }
        match state.threads.bindings().get(map.tag as usize) {
            Some(binding) if kind == AccessKind::Read || binding.writable => (map, false),
            Some(binding) => invalid(map, format!("a store to `{}`, which is bound for reading", binding.name)),
            None => invalid(map, "a map of memory that the launch does not bind".to_owned()),
        }
    }
}

//! The bytes of a box on their way between global and shared memory.

use crate::block::state::BlockState;
use crate::bulk::{Landing, Operation, Stage, bytes_from, bytes_to, row_bytes, rows, stored_rows, swizzle, to_tf32};
use crate::tensor_map::TensorMap;

/// Copies the bytes of a box, if the map is valid. Gives where they are now.
pub(super) fn copy_box(state: &BlockState, operation: &Operation) -> Option<Landing> {
    let Stage::Load { stamp, invalid, .. } = operation.stage else { return None };
    let map = &operation.map;
    if !invalid {
        let row_bytes = row_bytes(map);
        let mut whole = vec![0; map.box_bytes() as usize];
        for row in rows(map, operation.at) {
            let first = row.number * row_bytes + row.skip;
            if is_bound(state, map, row.address, row.bytes) {
                // SAFETY: inside memory that the launch binds; others access it at most by relaxed atomics.
                unsafe { bytes_from(row.address as usize, &mut whole[first..first + row.bytes]) };
            }
        }
        if map.tf32 {
            to_tf32(&mut whole);
        }
        for (row, offset, place) in vectors(state, operation) {
            let from = &whole[row * row_bytes + offset..][..16];
            // SAFETY: 16 bytes of the block's shared memory, which only this OS thread touches.
            unsafe { place.copy_from_nonoverlapping(from.as_ptr(), 16) };
            if let Some(shadow) = state.shadow() {
                shadow.note_box_vector(place as usize, row as u32, (offset / 16) as u32);
            }
        }
    }
    let size = if invalid { operation.size } else { map.box_bytes() as usize };
    let landing = Landing { address: operation.address, size, stamp, from: operation.from, site: operation.site };
    (operation.address != 0).then_some(landing)
}

/// The bytes of a box in shared memory, row by row.
pub(super) fn read_box(state: &BlockState, operation: &Operation) -> Vec<u8> {
    let row_bytes = row_bytes(&operation.map);
    let mut whole = vec![0; operation.map.box_bytes() as usize];
    for (row, offset, place) in vectors(state, operation) {
        let to = &mut whole[row * row_bytes + offset..][..16];
        // SAFETY: 16 bytes of the block's shared memory, which only this OS thread touches.
        unsafe { to.as_mut_ptr().copy_from_nonoverlapping(place, 16) };
    }
    whole
}

/// Writes the part of a box that lies in the tensor, rounded up to whole 16-byte vectors.
pub(super) fn write_box(state: &BlockState, operation: &Operation, bytes: &[u8]) {
    let map = &operation.map;
    for row in stored_rows(map, operation.at) {
        let first = row.number * row_bytes(map) + row.skip;
        if is_bound(state, map, row.address, row.bytes) {
            // SAFETY: inside memory that the launch binds for writing; others access it at most by relaxed atomics.
            unsafe { bytes_to(row.address as usize, &bytes[first..first + row.bytes]) };
        }
    }
}

/// The 16-byte vectors of the operation's box: number of the row, offset in it, and address in shared memory.
fn vectors(state: &BlockState, operation: &Operation) -> impl Iterator<Item = (usize, usize, *mut u8)> + use<> {
    let map = operation.map;
    let geometry = state.threads.geometry.get();
    let (base, len) = (geometry.shared, geometry.shared_len);
    let start = operation.address - base as usize;
    let row = row_bytes(&map);
    (0..map.box_bytes() as usize).step_by(16).filter_map(move |at| {
        let place = swizzle(map.swizzle, start + at);
        (place + 16 <= len).then(|| (at / row, at % row, base.wrapping_add(place)))
    })
}

/// Whether the bytes lie in the map's memory: the host checks its own maps, but a kernel may get others.
fn is_bound(state: &BlockState, map: &TensorMap, address: u64, bytes: usize) -> bool {
    state.threads.bindings().get(map.tag as usize).is_some_and(|binding| {
        let start = binding.memory.as_ptr() as u64;
        address >= start && address + bytes as u64 <= start + binding.memory.len() as u64
    })
}

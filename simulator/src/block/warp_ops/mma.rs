//! Operations of a warp's tensor cores: `mma.sync`, `ldmatrix`, `stmatrix`.
//!
//! All 32 lanes take part; the last one to arrive does the work. Each row that a lane names is checked and counted as
//! an access of 16 bytes by that lane: the hardware serves 8 of them at a time, as it does the quarters of a warp-wide
//! access of that width.

use super::group::{Group, TensorOp, lanes};
use crate::block::state::BlockState;
use crate::counters::{Access, What};
use crate::lane::{COUNTERS, Lane};
use crate::report::Kind;
use crate::shadow::{AccessKind, Accessed};
use crate::tensor::{DoubleFragments, Fragments, multiply_doubles, multiply_fragments};

/// Executes an operation at which all lanes have arrived that can. Not inlined: its matrices would be on the stack of
/// every operation.
#[inline(never)]
pub(super) fn complete(state: &BlockState, index: u16, group: &Group, op: TensorOp) {
    let first = &state.threads.lanes[state.threads.first_of(index)..];
    if group.mixed {
        return; // Reported when they arrived.
    }
    if group.arrived != u32::MAX {
        if group.arrived != state.warps[usize::from(index)].live.get() {
            return; // The others are elsewhere, which was reported.
        }
        let lane = &first[group.arrived.trailing_zeros() as usize];
        state.threads.fault(lane, Kind::WarpExited, group.location, None, || {
            format!("a tensor core works for 32 lanes; here are {:#010x} alone", group.arrived)
        });
        return;
    }
    if op == TensorOp::MultiplyDoubles {
        // SAFETY: as below.
        let mut fragments: [DoubleFragments; 32] = unsafe { read(group) };
        multiply_doubles(&mut fragments);
        // SAFETY: as below.
        unsafe { write(group, fragments) };
        return;
    }
    // SAFETY: the operation is the same for all, so that each value is the address of what it takes.
    let mut fragments: [Fragments; 32] = unsafe { read(group) };
    match op {
        TensorOp::MultiplyDoubles => {}
        TensorOp::Multiply(kind) => multiply_fragments(kind, &mut fragments),
        TensorOp::Load { count, transpose } => {
            let rows = check_rows(state, &first[..32], group, &fragments, count, AccessKind::Read);
            for (lane, fragments) in fragments.iter_mut().enumerate() {
                for matrix in 0..count {
                    let number = |part| {
                        let (row, col) = element(lane, part, transpose);
                        let at = |i| rows.get(matrix * 8 + row).map_or(0, |row| u32::from(row[2 * col + i]));
                        at(0) | at(1) << 8
                    };
                    fragments.a[matrix] = number(0) | number(1) << 16;
                }
            }
        }
        TensorOp::Store { count, transpose } => {
            let mut rows = [[0_u8; 16]; 32];
            for (lane, fragments) in fragments.iter().enumerate() {
                for matrix in 0..count {
                    for part in 0..2 {
                        let (row, col) = element(lane, part, transpose);
                        let number = (fragments.a[matrix] >> (16 * part)) as u16;
                        rows[matrix * 8 + row][2 * col..2 * col + 2].copy_from_slice(&number.to_le_bytes());
                    }
                }
            }
            check_rows(state, &first[..32], group, &fragments, count, AccessKind::Write);
            for (fragments, row) in fragments.iter().zip(&rows).take(8 * count).filter(|(f, _)| !f.row.is_null()) {
                // SAFETY: 16 bytes of the block's shared memory, as their container checked.
                unsafe { fragments.row.copy_from_nonoverlapping(row.as_ptr(), 16) };
            }
        }
    }
    // SAFETY: as above.
    unsafe { write(group, fragments) };
}

/// The registers of all lanes.
///
/// # Safety
/// Each value of the group is the address of an `F` on the stack of a lane that waits for this operation.
unsafe fn read<F: Copy>(group: &Group) -> [F; 32] {
    // SAFETY: the caller's promise. Nothing else accesses it while the lane waits.
    group.values.map(|value| unsafe { *std::ptr::with_exposed_provenance(value as usize) })
}

/// Changes the registers of all lanes.
///
/// # Safety
/// As for [`read`].
unsafe fn write<F>(group: &Group, fragments: [F; 32]) {
    for (lane, fragments) in lanes(group.arrived).zip(fragments) {
        // SAFETY: as for `read`.
        unsafe { *std::ptr::with_exposed_provenance_mut(group.values[lane] as usize) = fragments };
    }
}

/// Checks and counts the rows that lanes name, and gives their bytes.
fn check_rows(
    state: &BlockState,
    members: &[Lane],
    group: &Group,
    fragments: &[Fragments; 32],
    count: usize,
    kind: AccessKind,
) -> Vec<[u8; 16]> {
    let access = if kind == AccessKind::Read { Access::SharedLoad } else { Access::SharedStore };
    let rows = members.iter().zip(fragments).take(8 * count).map(|(lane, fragments)| {
        if fragments.row.is_null() {
            return [0; 16];
        }
        let accessed = Accessed { address: fragments.row as usize, size: 16, kind, location: group.location };
        if !accessed.is_aligned() {
            accessed.report_misaligned(&state.threads, lane);
        }
        if lane.watched() {
            state.check_shared(lane, accessed);
        }
        if lane.watch.get() & COUNTERS != 0 {
            state.count_for(lane, group.location, What::new(access, 16), accessed.address);
        }
        // SAFETY: 16 bytes of the block's shared memory, as their container checked.
        unsafe { fragments.row.cast::<[u8; 16]>().read() }
    });
    rows.collect()
}

/// Row and column of number `part` of a lane's register in its 8 × 8 matrix as it lies in shared memory.
fn element(lane: usize, part: usize, transpose: bool) -> (usize, usize) {
    let (row, col) = (lane / 4, 2 * (lane % 4) + part);
    if transpose { (col, row) } else { (row, col) }
}

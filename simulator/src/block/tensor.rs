//! Operations of a warp's tensor cores: `mma.sync`, `ldmatrix`, `stmatrix`.
//!
//! All 32 lanes take part; the last one to arrive does the work. Each row that a lane names is checked and counted as an
//! access of 16 bytes by that lane: the hardware serves 8 of them at a time, as it does the quarters of a warp-wide access
//! of that width.

use super::Block;
use super::warp::{Group, lanes};
use crate::counters::{Access, What};
use crate::device::misaligned;
use crate::lane::{COUNTERS, Lane};
use crate::report::Kind;
use crate::shadow::{Accessed, Touch};
use crate::tensor::{Fragments, TensorKind, multiply_fragments};

/// What the lanes do together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TensorOp {
    /// C becomes A · B + C.
    Multiply(TensorKind),
    /// Matrices of 8 × 8 16-bit numbers come from shared memory into A.
    Load { count: usize, transpose: bool },
    /// Matrices of 8 × 8 16-bit numbers go from A to shared memory.
    Store { count: usize, transpose: bool },
}

impl Block {
    /// All lanes that can come have come.
    pub(super) fn complete_tensor(&self, index: u16, group: &Group, op: TensorOp) {
        let size = self.run().config.warp_size as usize;
        let first = &self.lanes[usize::from(index) * size..];
        if group.mixed {
            return; // Reported when they met.
        }
        if group.arrived != u32::MAX {
            if group.arrived != self.warps[usize::from(index)].live.get() {
                return; // The others stand elsewhere, which was reported.
            }
            let lane = &first[group.arrived.trailing_zeros() as usize];
            self.fault(lane, Kind::WarpExited, group.location, None, || {
                format!("a tensor core works for 32 lanes; here are {:#010x} alone", group.arrived)
            });
            return;
        }
        // SAFETY: the operation is the same for all, so that each value is the address of a `Fragments` on the stack of a
        // lane that waits for this operation; nobody else touches it meanwhile.
        let mut fragments: [Fragments; 32] =
            group.values.map(|value| unsafe { *std::ptr::with_exposed_provenance(value as usize) });
        match op {
            TensorOp::Multiply(kind) => multiply_fragments(kind, &mut fragments),
            TensorOp::Load { count, transpose } => {
                let rows = self.rows(&first[..32], group, &fragments, count, Touch::Read);
                for lane in 0..32 {
                    for matrix in 0..count {
                        let number = |part| {
                            let (row, col) = element(lane, part, transpose);
                            let at = |i| rows.get(matrix * 8 + row).map_or(0, |row| u32::from(row[2 * col + i]));
                            at(0) | at(1) << 8
                        };
                        fragments[lane].a[matrix] = number(0) | number(1) << 16;
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
                self.rows(&first[..32], group, &fragments, count, Touch::Write);
                for (fragments, row) in fragments.iter().zip(&rows).take(8 * count).filter(|(f, _)| !f.row.is_null()) {
                    // SAFETY: 16 bytes of the block's shared memory, as their container vouched.
                    unsafe { fragments.row.copy_from_nonoverlapping(row.as_ptr(), 16) };
                }
            }
        }
        for (lane, fragments) in lanes(group.arrived).zip(fragments) {
            // SAFETY: as above.
            unsafe { *std::ptr::with_exposed_provenance_mut(group.values[lane] as usize) = fragments };
        }
    }

    /// Checks and counts the rows that lanes name, and gives their bytes.
    fn rows(
        &self,
        members: &[Lane],
        group: &Group,
        fragments: &[Fragments; 32],
        count: usize,
        touch: Touch,
    ) -> Vec<[u8; 16]> {
        let access = if touch == Touch::Read { Access::SharedLoad } else { Access::SharedStore };
        let rows = members.iter().zip(fragments).take(8 * count).map(|(lane, fragments)| {
            if fragments.row.is_null() {
                return [0; 16];
            }
            let accessed = Accessed { address: fragments.row as usize, size: 16, touch, location: group.location };
            if !accessed.address.is_multiple_of(16) {
                misaligned(lane, accessed);
            }
            if lane.watched() {
                self.shared_access_closely(lane, accessed);
            }
            if lane.watch.get() & COUNTERS != 0 {
                self.count(lane, group.location, What::new(access, 16), accessed.address);
            }
            // SAFETY: 16 bytes of the block's shared memory, as their container vouched.
            unsafe { fragments.row.cast::<[u8; 16]>().read() }
        });
        rows.collect()
    }
}

/// Row and column of number `part` of a lane's register in its 8 × 8 matrix as it lies in shared memory.
fn element(lane: usize, part: usize, transpose: bool) -> (usize, usize) {
    let (row, col) = (lane / 4, 2 * (lane % 4) + part);
    if transpose { (col, row) } else { (row, col) }
}

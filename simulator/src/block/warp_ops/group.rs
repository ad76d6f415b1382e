//! The operations of a warp, and the lanes that execute one of them together.

use crate::tensor::TensorKind;
use std::panic::Location;

/// A warp-wide operation, executed by every lane of the mask that has not exited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarpOp {
    /// Barrier and memory order among the lanes of the mask.
    Sync,
    /// Value of lane `arg` of this lane's segment.
    ShuffleIdx {
        /// Lanes per segment, a power of two.
        width: u32,
    },
    /// Value of the lane `arg` below, if it lies in this lane's segment.
    ShuffleUp {
        /// Lanes per segment, a power of two.
        width: u32,
    },
    /// Value of the lane `arg` above, if it lies in this lane's segment.
    ShuffleDown {
        /// Lanes per segment, a power of two.
        width: u32,
    },
    /// Value of the lane whose number is this one's exclusive-or `arg`, unless it lies in a later segment.
    ShuffleXor {
        /// Lanes per segment, a power of two.
        width: u32,
    },
    /// Bit i is set where lane i's value is not 0.
    Ballot,
    /// Mask of the lanes whose value equals this lane's.
    MatchAny,
    /// The whole mask if all values are equal (flag true), else 0.
    MatchAll,
    /// Sum modulo 2³².
    AddU32,
    /// Smallest, unsigned.
    MinU32,
    /// Largest, unsigned.
    MaxU32,
    /// Smallest, signed.
    MinI32,
    /// Largest, signed.
    MaxI32,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive-or.
    Xor,
}

impl WarpOp {
    /// Lanes per segment of a shuffle; none of another operation.
    pub(super) fn shuffle_width(self) -> Option<u32> {
        match self {
            Self::ShuffleIdx { width }
            | Self::ShuffleUp { width }
            | Self::ShuffleDown { width }
            | Self::ShuffleXor { width } => Some(width),
            _ => None,
        }
    }
}

/// An operation of a warp's tensor cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TensorOp {
    /// C becomes A · B + C.
    Multiply(TensorKind),
    /// The same of `f64`.
    MultiplyDoubles,
    /// Matrices of 8 × 8 16-bit numbers come from shared memory into A.
    Load { count: usize, transpose: bool },
    /// Matrices of 8 × 8 16-bit numbers go from A to shared memory.
    Store { count: usize, transpose: bool },
}

/// What lanes execute together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    /// An operation on values.
    Values(WarpOp),
    /// A shuffle of several numbers. The values are addresses of the lanes' arrays of numbers.
    Numbers(WarpOp, usize),
    /// The values of lanes that are `stride` apart within segments of `width` lanes, of so many bytes, come to the
    /// first of them. The values are addresses of the lanes' [`Gathered`](super::gather::Gathered).
    Gather { width: u8, stride: u8, bytes: u16 },
    /// One of the tensor cores. The values are addresses of the lanes' `Fragments`, or `DoubleFragments`.
    Tensor(TensorOp),
}

/// Lanes that execute one operation together.
pub(super) struct Group {
    pub(super) op: Op,
    pub(super) mask: u32,
    pub(super) arrived: u32,
    /// Some lane executes another operation than the first: the values are not of one kind.
    pub(super) mixed: bool,
    pub(super) location: &'static Location<'static>,
    pub(super) values: [u64; 32],
    pub(super) arguments: [u32; 32],
}

/// Indices of the lanes in a mask.
pub(super) fn lanes(mask: u32) -> impl Iterator<Item = usize> + Clone {
    (0..32).filter(move |lane| mask >> lane & 1 != 0)
}

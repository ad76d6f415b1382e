//! Why a way is none to a product.

use std::fmt;

/// What a kernel lacks for a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unsupported {
    /// It multiplies other elements, or is no kernel for products.
    Elements,
    /// It has the other arithmetic.
    Arithmetic,
    /// It is written for one layout: whether A and B are transposed.
    Layout([bool; 2]),
    /// There is no PTX of it for this device.
    Device,
    /// It does not split k.
    Split,
    /// It shares no tiles along k, or this is a split already.
    Share,
    /// It does not count so far.
    Extents,
    /// It does nothing where k or alpha is 0.
    Nothing,
    /// It takes operands as they lie, wherever that is, or has no copies made for it.
    Packed,
    /// The copy engine does not take this operand: see [`OperandLayout::fits_boxes`](super::stored::OperandLayout::fits_boxes).
    TmaTensor(&'static str),
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Elements => f.write_str("is for other elements"),
            Self::Arithmetic => f.write_str("has another arithmetic"),
            Self::Layout([a, b]) => {
                let op = |transposed: &bool| if *transposed { 'T' } else { 'N' };
                write!(f, "is for the layout {}{}, once C is row by row, and packs no operand into it", op(a), op(b))
            }
            Self::Device => f.write_str("is for other GPUs"),
            Self::Split => f.write_str("does not split this k: a split wants one product, and a kernel that can"),
            Self::Share => f.write_str("does not share tiles among blocks: a kernel that can does so with k undivided"),
            Self::Extents => f.write_str("does not count so far"),
            Self::Nothing => f.write_str("does nothing where k or alpha is 0"),
            Self::Packed => f.write_str("takes no packed operands: only kernels that have boxes fetched do"),
            Self::TmaTensor(operand) => {
                write!(
                    f,
                    "wants `{operand}` to begin, with each of its rows and matrices, at multiples of 16 bytes, or to be \
                     packed (Algorithm::pack)"
                )
            }
        }
    }
}

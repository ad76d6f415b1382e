//! Whoever says that a type forms vectors promises their size and alignment, which the compiler then evaluates.
use simt::element::{Element, Lanes, Vector};

#[derive(Clone, Copy)]
#[repr(transparent)]
struct Word(u32);

// SAFETY: a transparent wrapper of a `u32`.
unsafe impl Element for Word {
    type Bits = u32;
    const LANE: usize = 4;
    const TYPE: simt::ArgType = <u32 as Element>::TYPE;
}

impl Lanes<4> for Word {
    type Align = ();
}

// SAFETY: none: three lanes are 12 bytes.
unsafe impl Lanes<3> for Word {
    type Align = ();
}

// SAFETY: none: 8 bytes that are aligned to 1.
unsafe impl Lanes<2> for Word {
    type Align = ();
}

const THREE: Vector<Word, 3> = Vector::new([Word(1), Word(2), Word(3)]);
const MISALIGNED: usize = <Vector<Word, 2> as Element>::LANE;

fn main() {}

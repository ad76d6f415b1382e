//! The parts of a layout of shared memory, so that reports of the simulator name an element by its field and index.

use core::fmt;

/// What a layout of shared memory consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parts {
    /// One object without a name of its own.
    Whole,
    /// Elements of so many bytes, addressed by one index.
    Array {
        /// Bytes of an element.
        element: usize,
    },
    /// Rows of so many elements, addressed by row and column.
    Tile {
        /// Bytes of an element.
        element: usize,
        /// Elements of a row.
        cols: usize,
    },
    /// An array of layouts.
    Copies {
        /// Bytes of one.
        size: usize,
        /// Its parts.
        parts: &'static Parts,
    },
    /// A struct's fields, in the order of their offsets.
    Fields(&'static [Field]),
}

/// A field of a layout of shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// Bytes from the start of the struct.
    pub offset: usize,
    /// Its parts.
    pub parts: &'static Parts,
}

impl Parts {
    /// Writes the place of the byte `offset`, as `stages[2].a[3][4]`.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_name(&self, offset: usize, out: &mut dyn fmt::Write) -> fmt::Result {
        match *self {
            Self::Whole => Ok(()),
            Self::Array { element } => write!(out, "[{}]", offset / element.max(1)),
            Self::Tile { element, cols } => {
                let at = offset / element.max(1);
                write!(out, "[{}][{}]", at / cols.max(1), at % cols.max(1))
            }
            Self::Copies { size, parts } => {
                write!(out, "[{}]", offset / size.max(1))?;
                parts.write_name_after(offset % size.max(1), out)
            }
            Self::Fields(fields) => match fields.iter().rfind(|field| field.offset <= offset) {
                None => Ok(()),
                Some(Field { name, offset: start, parts }) => {
                    out.write_str(name)?;
                    parts.write_name_after(offset - start, out)
                }
            },
        }
    }

    /// As [`Self::write_name`], behind the name of what these are parts of.
    fn write_name_after(&self, offset: usize, out: &mut dyn fmt::Write) -> fmt::Result {
        if matches!(self, Self::Fields(_)) {
            out.write_str(".")?;
        }
        self.write_name(offset, out)
    }
}

#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_source() {
        const TILE: Parts = Parts::Tile { element: 4, cols: 33 };
        const STAGE: Parts = Parts::Fields(&[
            Field { name: "a", offset: 0, parts: &TILE },
            Field { name: "sums", offset: 4224, parts: &Parts::Array { element: 8 } },
            Field { name: "full", offset: 4256, parts: &Parts::Whole },
        ]);
        const ALL: Parts = Parts::Fields(&[
            Field { name: "stages", offset: 0, parts: &Parts::Copies { size: 4272, parts: &STAGE } },
            Field { name: "last", offset: 8544, parts: &STAGE },
        ]);
        let name = |offset| {
            let mut text = String::new();
            ALL.write_name(offset, &mut text).expect("a string");
            text
        };
        assert_eq!(name(4 * (3 * 33 + 4)), "stages[0].a[3][4]");
        assert_eq!(name(4272 + 4224 + 16), "stages[1].sums[2]");
        assert_eq!((name(8544), name(8544 + 4257)), ("last.a[0][0]".to_owned(), "last.full".to_owned()));
    }
}

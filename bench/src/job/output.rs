//! What a kernel wrote, whatever the type of its elements.

use std::borrow::Cow;
use std::fmt::Debug;

use warpwright::half::bf16;
use warpwright::reference;

/// All outputs of a task, one after the other.
#[derive(Clone, Debug)]
pub enum Output {
    /// Reals.
    F32(Vec<f32>),
    /// Reals of 16 bits.
    Bf16(Vec<bf16>),
    /// Signed integers.
    I32(Vec<i32>),
    /// Unsigned integers.
    U32(Vec<u32>),
    /// Bytes.
    U8(Vec<u8>),
}

/// The conversions from vectors.
macro_rules! from {
    ($($variant:ident($type:ty)),*) => {
        $(impl From<Vec<$type>> for Output {
            fn from(values: Vec<$type>) -> Self {
                Self::$variant(values)
            }
        })*
    };
}

from!(F32(f32), Bf16(bf16), I32(i32), U32(u32), U8(u8));

impl Output {
    /// Elements.
    pub fn len(&self) -> usize {
        match self {
            Self::F32(values) => values.len(),
            Self::Bf16(values) => values.len(),
            Self::I32(values) => values.len(),
            Self::U32(values) => values.len(),
            Self::U8(values) => values.len(),
        }
    }

    /// Whether nothing was written.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The elements, where they are reals; else none, which no check of reals takes for the right number of them.
    pub fn reals(&self) -> Cow<'_, [f32]> {
        match self {
            Self::F32(values) => values.into(),
            Self::Bf16(values) => values.iter().map(|value| value.to_f32()).collect(),
            _ => Cow::default(),
        }
    }

    /// Compares bit by bit.
    ///
    /// # Errors
    /// In words: the types, the lengths, or the first element that differs.
    pub fn same_bits(&self, got: &Self) -> Result<(), String> {
        match (self, got) {
            (Self::F32(expected), Self::F32(got)) => {
                reference::same_bits(expected, got).map_err(|mismatch| mismatch.to_string())
            }
            (Self::Bf16(expected), Self::Bf16(got)) => {
                let [expected, got] =
                    [expected, got].map(|values| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>());
                equal(&expected, &got)
            }
            (Self::I32(expected), Self::I32(got)) => equal(expected, got),
            (Self::U32(expected), Self::U32(got)) => equal(expected, got),
            (Self::U8(expected), Self::U8(got)) => equal(expected, got),
            _ => Err("the elements are of another type".into()),
        }
    }
}

fn equal<T: PartialEq + Debug>(expected: &[T], got: &[T]) -> Result<(), String> {
    if expected.len() != got.len() {
        return Err(format!("{} elements instead of {}", got.len(), expected.len()));
    }
    let mut wrong = expected.iter().zip(got).enumerate().filter(|(_, (expected, got))| expected != got);
    match wrong.next() {
        None => Ok(()),
        Some((index, (expected, got))) => {
            Err(format!("element {index} is {got:?}, expected {expected:?}; {} elements differ", 1 + wrong.count()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Poisoned;

    impl Output {
        /// Whether every element is poison.
        pub(crate) fn is_poison(&self) -> bool {
            match self {
                Self::F32(values) => values.iter().all(|x| x.to_bits() == f32::POISON.to_bits()),
                Self::Bf16(values) => values.iter().all(|x| x.to_bits() == bf16::POISON.to_bits()),
                Self::I32(values) => values.iter().all(|x| *x == i32::POISON),
                Self::U32(values) => values.iter().all(|x| *x == u32::POISON),
                Self::U8(values) => values.iter().all(|x| *x == u8::POISON),
            }
        }

        /// The output with one element off by one.
        pub(crate) fn spoilt_at(&self, index: usize) -> Self {
            let mut spoilt = self.clone();
            match &mut spoilt {
                Self::F32(values) => values[index] += 1.0,
                Self::Bf16(values) => values[index] += bf16::ONE,
                Self::I32(values) => values[index] = values[index].wrapping_add(1),
                Self::U32(values) => values[index] = values[index].wrapping_add(1),
                Self::U8(values) => values[index] = values[index].wrapping_add(1),
            }
            spoilt
        }

        /// The output with poison in one element. A byte may have the poison's value legitimately: there it is changed
        /// instead.
        pub(crate) fn poisoned_at(&self, index: usize) -> Self {
            let mut spoilt = self.clone();
            match &mut spoilt {
                Self::F32(values) => values[index] = f32::POISON,
                Self::Bf16(values) => values[index] = bf16::POISON,
                Self::I32(values) => values[index] = i32::POISON,
                Self::U32(values) => values[index] = u32::POISON,
                Self::U8(values) if values[index] == u8::POISON => return self.spoilt_at(index),
                Self::U8(values) => values[index] = u8::POISON,
            }
            spoilt
        }
    }

    #[test]
    fn a_difference_is_named() {
        let (one, other) = (Output::from(vec![1_i32, 2, 3]), Output::from(vec![1_i32, 5, 6]));
        assert_eq!(one.same_bits(&other).unwrap_err(), "element 1 is 5, expected 2; 2 elements differ");
        assert_eq!(one.same_bits(&vec![1_i32].into()).unwrap_err(), "1 elements instead of 3");
        assert!(one.same_bits(&vec![1_u32, 2, 3].into()).unwrap_err().contains("another type"));
        assert!(one.same_bits(&one.clone()).is_ok());
        let nan = Output::from(vec![f32::NAN]);
        assert!(nan.same_bits(&nan.clone()).is_ok(), "bits, not values");
    }
}

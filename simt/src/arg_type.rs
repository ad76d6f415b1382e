//! What a host program and PTX must agree on: the types of a kernel's arguments.

/// The type of a kernel's argument, as far as a launch depends on it: names and layout.
///
/// It is the same constant for the GPU and for the host. `#[kernel]` writes its [hash](Self::hash) into the PTX, and a
/// host program compares it before it launches the kernel: PTX of an earlier version of the kernel, or of another one
/// of the same name, is refused.
///
/// ```
/// use simt::KernelArg;
/// use simt::prelude::*;
///
/// assert_eq!(<VecRef<f32>>::TYPE.name, "VecRef");
/// // 24 bytes each.
/// assert_ne!(<VecRef<f32>>::TYPE.hash(), <VecRef<u32>>::TYPE.hash());
/// assert_ne!(<VecRef<f32>>::TYPE.hash(), <VecMut<f32>>::TYPE.hash());
/// assert_ne!(<VecRef<f32>>::TYPE.hash(), <MatRef<f32>>::TYPE.hash());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArgType {
    /// The name, without its path and its parameters: `VecRef`, `f32`; `array` of an array.
    pub name: &'static str,
    /// Size in bytes.
    pub size: usize,
    /// Alignment in bytes.
    pub align: usize,
    /// The fields. Views, tensor maps, vectors and arrays begin with a part `element`, which is their element's type.
    pub parts: &'static [ArgPart],
}

/// A part of an [`ArgType`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArgPart {
    /// Name of the field.
    pub name: &'static str,
    /// Where it begins, in bytes.
    pub offset: usize,
    /// Its type.
    pub ty: ArgType,
}

impl ArgType {
    /// An address of device memory.
    pub(crate) const ADDRESS: Self = Self::number::<u64>("address");

    /// A type without parts.
    pub(crate) const fn number<T>(name: &'static str) -> Self {
        Self { name, size: size_of::<T>(), align: align_of::<T>(), parts: &[] }
    }

    /// A hash of all of it.
    pub const fn hash(&self) -> u64 {
        let mut hash = mix(mix(text(0, self.name), self.size as u64), self.align as u64);
        hash = mix(hash, self.parts.len() as u64);
        // A constant function has no `for`.
        let mut i = 0;
        while i < self.parts.len() {
            let part = &self.parts[i];
            hash = mix(mix(text(hash, part.name), part.offset as u64), part.ty.hash());
            i += 1;
        }
        hash
    }
}

impl ArgPart {
    /// The type of the elements.
    pub(crate) const fn element(ty: ArgType) -> Self {
        Self { name: "element", offset: 0, ty }
    }
}

/// Adds a text, with its length.
const fn text(hash: u64, text: &str) -> u64 {
    let bytes = text.as_bytes();
    let mut hash = mix(hash, bytes.len() as u64);
    let mut i = 0;
    while i < bytes.len() {
        hash = mix(hash, bytes[i] as u64);
        i += 1;
    }
    hash
}

/// Adds a word: a bijection of the hash for each word, and of the word for each hash.
const fn mix(hash: u64, word: u64) -> u64 {
    // 2⁶⁴ divided by the golden ratio, an odd number.
    let product = (hash.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    product ^ (product >> 32)
}

#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests {
    use std::collections::HashSet;

    use super::{ArgPart, ArgType};
    use crate::KernelArg;
    use crate::element::{Element, Vec2, Vec4};
    use crate::global::{MatMut, MatRef, VecMut, VecRef};
    use crate::tma::{TensorMap, TensorMapMut};

    fn hash_of<T: KernelArg>() -> u64 {
        assert_eq!((T::TYPE.size, T::TYPE.align), (size_of::<T>(), align_of::<T>()));
        T::TYPE.hash()
    }

    #[test]
    fn types_of_one_size_differ() {
        let hashes = [
            hash_of::<u32>(),
            hash_of::<i32>(),
            hash_of::<f32>(),
            hash_of::<u64>(),
            hash_of::<i64>(),
            hash_of::<f64>(),
            hash_of::<[u32; 2]>(),
            hash_of::<[i32; 2]>(),
            hash_of::<[u32; 3]>(),
            hash_of::<VecRef<f32>>(),
            hash_of::<VecMut<f32>>(),
            hash_of::<VecRef<u32>>(),
            hash_of::<VecRef<Vec4<f32>>>(),
            hash_of::<VecRef<Vec2<f64>>>(),
            hash_of::<MatRef<f32>>(),
            hash_of::<MatMut<f32>>(),
            hash_of::<TensorMap<f32>>(),
            hash_of::<TensorMapMut<f32>>(),
            hash_of::<TensorMap<u32>>(),
        ];
        assert_eq!(HashSet::from(hashes).len(), hashes.len());
    }

    #[test]
    fn every_field_counts() {
        const FLOAT: ArgType = <f32 as Element>::TYPE;
        const A: ArgPart = ArgPart { name: "a", offset: 0, ty: FLOAT };
        const B: ArgPart = ArgPart { name: "b", offset: 4, ty: FLOAT };
        let base = ArgType { name: "S", size: 8, align: 4, parts: &[A, B] };
        for (changed, what) in [
            (ArgType { name: "T", ..base }, "name"),
            (ArgType { size: 12, ..base }, "size"),
            (ArgType { align: 8, ..base }, "alignment"),
            (ArgType { parts: &[A], ..base }, "number of parts"),
            (ArgType { parts: &[B, A], ..base }, "order of parts"),
            (ArgType { parts: &[A, ArgPart { name: "c", ..B }], ..base }, "name of a part"),
            (ArgType { parts: &[A, ArgPart { offset: 8, ..B }], ..base }, "place of a part"),
            (ArgType { parts: &[A, ArgPart { ty: <i32 as Element>::TYPE, ..B }], ..base }, "type of a part"),
        ] {
            assert_ne!(changed.hash(), base.hash(), "{what}");
        }
    }
}

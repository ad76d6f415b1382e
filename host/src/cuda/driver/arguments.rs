//! Copies of the arguments of a launch.

use std::ffi::c_void;
use std::hint::black_box;
use std::mem::MaybeUninit;

use simt::ArgType;
use smallvec::SmallVec;

use super::launch_ex::Launch;

/// Each argument begins at a word.
type Word = MaybeUninit<u64>;

/// A copy of the arguments of a launch.
#[derive(Default)]
pub(crate) struct Arguments {
    types: &'static [ArgType],
    words: SmallVec<[Word; 32]>,
}

unsafe extern "C" {
    fn memcmp(left: *const c_void, right: *const c_void, bytes: usize) -> i32;
}

impl Arguments {
    /// Copies those of the launch.
    ///
    /// # Safety
    /// `launch.arguments` are the addresses of values of `launch.types`.
    pub(crate) unsafe fn set(&mut self, launch: &Launch) {
        self.types = launch.types;
        let words = places(self.types).last().map_or(0, |(place, ty)| place + words(ty));
        // Words of the last copy are overwritten.
        self.words.resize(words, Word::uninit());
        for (index, (place, ty)) in places(self.types).enumerate() {
            // SAFETY: the caller's promise; the copy has so many words from this place on.
            unsafe {
                let from = (*launch.arguments.add(index)).cast::<MaybeUninit<u8>>();
                self.words[place..].as_mut_ptr().cast::<MaybeUninit<u8>>().copy_from_nonoverlapping(from, ty.size);
            }
        }
    }

    /// Their types.
    pub(crate) fn types(&self) -> &'static [ArgType] {
        self.types
    }

    /// Whether the launch, of the same kernel, has the same arguments. `fields` is what [`fields`] gives for their
    /// types.
    ///
    /// # Safety
    /// That of [`Self::set`]; the types are the same.
    pub(crate) unsafe fn are_those_of(&self, launch: &Launch, fields: &[Field]) -> bool {
        // A struct that has a field `element` may have bytes that are not initialised. To a function in C of which the
        // compiler knows nothing they have some value.
        let compare: unsafe extern "C" fn(*const c_void, *const c_void, usize) -> i32 = black_box(memcmp);
        let copies = self.words.as_ptr().cast::<c_void>();
        fields.iter().all(|&Field { argument, at, copy, len }| {
            // SAFETY: the caller's promise; so many bytes of this argument were copied to there.
            unsafe { compare(copies.byte_add(copy), (*launch.arguments.add(argument)).byte_add(at), len) == 0 }
        })
    }

    /// The addresses of the copies.
    pub(crate) fn addresses(&mut self) -> SmallVec<[*mut c_void; 6]> {
        let base = self.words.as_mut_ptr();
        places(self.types).map(|(place, _)| base.wrapping_add(place).cast()).collect()
    }
}

/// Bytes of an argument that count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    /// The number of the argument.
    argument: usize,
    /// Where they begin in it.
    at: usize,
    /// Where they begin in the copies.
    copy: usize,
    len: usize,
}

/// The bytes that count in arguments of these types: all but those between the fields of a struct, which are what they
/// happen to be.
pub(crate) fn fields(types: &'static [ArgType]) -> SmallVec<[Field; 8]> {
    let mut fields = SmallVec::new();
    for (argument, (place, ty)) in places(types).enumerate() {
        let copy = place * size_of::<Word>();
        add_fields(ty, Field { argument, at: 0, copy, len: ty.size }, &mut fields);
    }
    fields
}

/// Adds those of a value of type `ty`, which is `whole`.
fn add_fields(ty: &ArgType, whole: Field, fields: &mut SmallVec<[Field; 8]>) {
    // The part `element` of a view, of a tensor map, of a vector or of an array is no field; all their bytes count.
    if !ty.parts.is_empty() && ty.parts.iter().all(|part| part.name != "element") {
        for part in ty.parts {
            let (at, copy) = (whole.at + part.offset, whole.copy + part.offset);
            add_fields(&part.ty, Field { at, copy, len: part.ty.size, ..whole }, fields);
        }
        return;
    }
    match fields.last_mut() {
        Some(last) if last.argument == whole.argument && last.at + last.len == whole.at => last.len += whole.len,
        _ => fields.push(whole),
    }
}

/// The first word of each argument of these types, and its type.
fn places(types: &'static [ArgType]) -> impl Iterator<Item = (usize, &'static ArgType)> {
    types.iter().scan(0, |next, ty| {
        let place = *next;
        *next += words(ty);
        Some((place, ty))
    })
}

/// Words of an argument.
fn words(ty: &ArgType) -> usize {
    ty.size.div_ceil(size_of::<Word>())
}

#[cfg(test)]
mod tests {
    use std::ptr;

    use simt::KernelArg;
    use simt::global::VecRef;
    use simt::tma::TensorMap;

    use super::*;

    #[repr(C)]
    #[derive(Clone, Copy, KernelArg)]
    struct Inner<'a> {
        x: VecRef<'a, f32>,
        n: u32,
    }

    #[repr(C)]
    #[derive(Clone, Copy, KernelArg)]
    struct Outer<'a> {
        first: u32,
        inner: Inner<'a>,
        last: [u32; 3],
    }

    const TYPES: &[ArgType] = &[<u32 as KernelArg>::TYPE, Outer::TYPE, <TensorMap<f32>>::TYPE];

    #[test]
    fn bytes_between_fields_do_not_count() {
        let fields = fields(TYPES);
        let places: Vec<_> = fields.iter().map(|field| (field.argument, field.at, field.copy, field.len)).collect();
        // 4 bytes after `first`, and 4 after `n`.
        let expected = [(0, 0, 0, 4), (1, 0, 8, 4), (1, 8, 16, 28), (1, 40, 48, 12), (2, 0, 64, 128)];
        assert_eq!(places, expected);
    }

    /// Every byte of the arguments is changed, one after the other.
    #[test]
    fn each_byte_that_counts_makes_a_difference() {
        let mut values = [[0x5a_u64; 1], [0x5a; 1]].map(Vec::from);
        values[1].resize(7, 0x1234_5678_9abc_def0);
        let mut map = vec![7_u64; 16];
        let [number, outer] = &mut values;
        let mut arguments: Vec<*mut c_void> =
            [number, outer, &mut map].into_iter().map(|value| value.as_mut_ptr().cast()).collect();
        let launch = Launch {
            function: ptr::null_mut(),
            grid: [1; 3],
            block: [1; 3],
            shared_bytes: 0,
            stream: ptr::null_mut(),
            arguments: arguments.as_mut_ptr(),
            types: TYPES,
            pdl: false,
        };
        let fields = fields(TYPES);
        let mut copies = Arguments::default();
        // SAFETY: the arguments have as many bytes as their types.
        unsafe { copies.set(&launch) };
        for (argument, ty) in TYPES.iter().enumerate() {
            for at in 0..ty.size {
                let counts = fields.iter().any(|f| f.argument == argument && (f.at..f.at + f.len).contains(&at));
                // SAFETY: a byte of this argument; the arguments have as many bytes as their types.
                let same = unsafe {
                    let byte = arguments[argument].cast::<u8>().add(at);
                    *byte ^= 1;
                    let same = copies.are_those_of(&launch, &fields);
                    *byte ^= 1;
                    same
                };
                assert_eq!(same, !counts, "byte {at} of argument {argument}");
            }
        }
        // SAFETY: as above.
        assert!(unsafe { copies.are_those_of(&launch, &fields) });
        let addresses = copies.addresses();
        assert_eq!(addresses.len(), 3);
        // SAFETY: the copy of a number.
        assert_eq!(unsafe { addresses[0].cast::<u32>().read() }, 0x5a);
    }
}

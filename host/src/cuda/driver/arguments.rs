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

    /// Whether the launch has the same arguments. Bytes between the fields of a struct count: what they are is chance,
    /// so "no" may be said of arguments that are the same.
    ///
    /// # Safety
    /// That of [`Self::set`].
    pub(crate) unsafe fn are_those_of(&self, launch: &Launch) -> bool {
        // Bytes between fields may not be initialised. To a function in C of which the compiler knows nothing they have
        // some value.
        let compare: unsafe extern "C" fn(*const c_void, *const c_void, usize) -> i32 = black_box(memcmp);
        self.types.len() == launch.types.len()
            && places(self.types).zip(launch.types).enumerate().all(|(index, ((place, ty), other))| {
                // SAFETY: the caller's promise; the copy has so many bytes from this place on.
                ty.size == other.size
                    && unsafe {
                        let other = (*launch.arguments.add(index)).cast_const();
                        compare(self.words[place..].as_ptr().cast(), other, ty.size) == 0
                    }
            })
    }

    /// The addresses of the copies.
    pub(crate) fn addresses(&mut self) -> SmallVec<[*mut c_void; 6]> {
        let base = self.words.as_mut_ptr();
        places(self.types).map(|(place, _)| base.wrapping_add(place).cast()).collect()
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

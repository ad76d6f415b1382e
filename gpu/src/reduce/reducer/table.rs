//! Reductions as tables of functions, for the simulator.

use simt::element::{Element, bits_as, zeroed};
use simt::warp::{FULL_MASK, warp_reduce_strided, warp_shuffle_xor};

use super::{Merger, Reducer};
use crate::reduce::whole::partition::MAX_STATE_WORDS;
use crate::reduce::whole::reduction::{Merge, Reduction, State};

/// The words of a state; those that it does not have are 0.
type Words = [u64; MAX_STATE_WORDS];

/// Elements that a thread has at a time, at most: a load has 16 bytes, and a thread reads 8 rows down a column.
const MAX_LANES: usize = 16;

/// The first words of each state.
fn first_words<const W: usize, const N: usize>(states: [Words; N]) -> [[u64; W]; N] {
    let mut words = [[0; W]; N];
    for (words, state) in words.iter_mut().zip(states) {
        words.copy_from_slice(&state[..W]);
    }
    words
}

/// The states with these first words.
fn words_of<const W: usize, const N: usize>(words: [[u64; W]; N]) -> [Words; N] {
    let mut states = [[0; MAX_STATE_WORDS]; N];
    for (state, words) in states.iter_mut().zip(words) {
        state[..W].copy_from_slice(&words);
    }
    states
}

#[inline(never)]
#[track_caller]
fn strided<const W: usize, const N: usize>(merges: &Merges, states: [Words; N], width: u32, stride: u32) -> [Words; N] {
    let merge = |a, b| {
        let (mut a, b) = (words_of(a), words_of(b));
        for i in 0..N {
            a[i] = (merges.merge)(a[i], b[i]);
        }
        first_words::<W, N>(a)
    };
    words_of(warp_reduce_strided(FULL_MASK, first_words::<W, N>(states), width, stride, merge))
}

#[inline(never)]
#[track_caller]
fn xor<const W: usize, const N: usize>(words: [[u64; W]; N], distance: u32) -> [[u64; W]; N] {
    warp_shuffle_xor(FULL_MASK, words, distance, 32).0
}

/// Numbers, and the unsigned integers of the same size.
pub trait Number: Element {
    /// The unsigned integer.
    type Unsigned: Element;
}

macro_rules! numbers {
    ($($($t:ty)+ => $unsigned:ty;)+) => {$($(
        impl Number for $t {
            type Unsigned = $unsigned;
        }
    )+)+};
}
numbers! {
    u8 => u8;
    u16 half::f16 half::bf16 => u16;
    u32 i32 f32 => u32;
    u64 i64 f64 => u64;
}

/// The functions of a reduction of elements with the bits of `E` to a result with those of `O`.
pub struct Table<E: 'static, O: 'static>(&'static Functions<E, O>);

impl<E, O> Clone for Table<E, O> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E, O> Copy for Table<E, O> {}

struct Functions<E: 'static, O> {
    merges: &'static Merges,
    of: fn(E, u64, u64) -> Words,
    of_vector: fn(&[E], u64, u64) -> Words,
    finish: fn(Words, u64) -> O,
}

/// The functions that depend on the states alone.
struct Merges {
    words: usize,
    identity: fn() -> Words,
    merge: fn(Words, Words) -> Words,
    reduce_lanes: fn(Words, u32) -> Words,
}

/// Makes the tables of `T`. Its functions are not closures: one that becomes a pointer is compiled twice.
struct Of<T>(T);

impl<M: Merge> Of<M> {
    const MERGES: Merges = Merges {
        words: M::State::WORDS,
        identity: Self::identity,
        merge: Self::merge,
        reduce_lanes: Self::reduce_lanes,
    };

    fn identity() -> Words {
        M::identity().pack()
    }

    fn merge(a: Words, b: Words) -> Words {
        M::merge(State::unpack(a), State::unpack(b)).pack()
    }

    fn reduce_lanes(state: Words, lanes: u32) -> Words {
        M::reduce_lanes(State::unpack(state), lanes).pack()
    }
}

/// Elements of `R` by their bits.
type Bits<R> = <<R as Reduction>::Element as Number>::Unsigned;
/// The result of `R` by its bits.
type OutBits<R> = <<R as Reduction>::Output as Number>::Unsigned;

impl<R: Reduction<Element: Number, Output: Number>> Of<R> {
    const FUNCTIONS: Functions<Bits<R>, OutBits<R>> =
        Functions { merges: &Of::<R::Merges>::MERGES, of: Self::of, of_vector: Self::of_vector, finish: Self::finish };

    fn of(x: Bits<R>, index: u64, parameter: u64) -> Words {
        R::of(bits_as(x), index, parameter).pack()
    }

    fn of_vector(bits: &[Bits<R>], first: u64, parameter: u64) -> Words {
        let mut lanes = [zeroed(); MAX_LANES];
        let lanes = &mut lanes[..bits.len()];
        for (lane, bits) in lanes.iter_mut().zip(bits) {
            *lane = bits_as(*bits);
        }
        R::of_vector(lanes, first, parameter).pack()
    }

    fn finish(state: Words, parameter: u64) -> OutBits<R> {
        bits_as(R::finish(State::unpack(state), parameter))
    }
}

/// The reducer that the kernels of `R` are compiled for; its elements and results have the bits of those of `R`.
pub fn reducer<R: Reduction<Element: Number, Output: Number>>() -> Table<Bits<R>, OutBits<R>> {
    Table(&Of::<R>::FUNCTIONS)
}

impl<E, O> Merger for Table<E, O> {
    type State = Words;
    #[cfg_attr(optimised, inline(always))]
    fn words(self) -> usize {
        self.0.merges.words
    }
    #[cfg_attr(optimised, inline(always))]
    fn identity(self) -> Words {
        (self.0.merges.identity)()
    }
    #[cfg_attr(optimised, inline(always))]
    fn merge(self, a: Words, b: Words) -> Words {
        (self.0.merges.merge)(a, b)
    }
    #[cfg_attr(optimised, inline(always))]
    fn reduce_lanes(self, state: Words, lanes: u32) -> Words {
        (self.0.merges.reduce_lanes)(state, lanes)
    }
    #[cfg_attr(optimised, inline(always))]
    fn pack(self, state: Words) -> Words {
        state
    }
    #[cfg_attr(optimised, inline(always))]
    fn unpack(self, words: Words) -> Words {
        words
    }
    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    fn reduce_strided<const N: usize>(self, states: [Words; N], width: u32, stride: u32) -> [Words; N] {
        match self.words() {
            1 => strided::<1, N>(self.0.merges, states, width, stride),
            2 => strided::<2, N>(self.0.merges, states, width, stride),
            _ => strided::<MAX_STATE_WORDS, N>(self.0.merges, states, width, stride),
        }
    }
    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    fn shuffle_xor<const N: usize>(self, states: [Words; N], distance: u32) -> [Words; N] {
        match self.words() {
            1 => words_of(xor(first_words::<1, N>(states), distance)),
            2 => words_of(xor(first_words::<2, N>(states), distance)),
            _ => xor(states, distance),
        }
    }
}

impl<E: Element, O: Element> Reducer for Table<E, O> {
    type Element = E;
    type Output = O;
    #[cfg_attr(optimised, inline(always))]
    fn of(self, x: E, index: u64, parameter: u64) -> Words {
        (self.0.of)(x, index, parameter)
    }
    #[cfg_attr(optimised, inline(always))]
    fn of_vector(self, lanes: &[E], first: u64, parameter: u64) -> Words {
        (self.0.of_vector)(lanes, first, parameter)
    }
    #[cfg_attr(optimised, inline(always))]
    fn finish(self, state: Words, parameter: u64) -> O {
        (self.0.finish)(state, parameter)
    }
}

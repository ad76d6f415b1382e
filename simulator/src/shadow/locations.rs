//! Source locations in few bits: as a distance from a fixed address, or as a number in a table.

use std::panic::Location;

/// Bits of a location as a distance.
pub(super) const DISTANCE_BITS: u32 = 30;

#[track_caller]
fn anchor() -> &'static Location<'static> {
    Location::caller()
}

/// The origin of distances. A static has one address in the whole program; a location is a constant, and may have one
/// in each codegen unit.
static BASE: u64 = 0;

fn base() -> isize {
    &raw const BASE as isize
}

/// The location as a signed distance from [`BASE`] in units of 8 bytes. All locations lie in the program's read-only
/// data; one that is further away than 4 GiB (in a plug-in loaded at run time) becomes "unknown".
#[inline(always)]
pub(super) fn distance(location: &'static Location<'static>) -> u64 {
    let distance = (std::ptr::from_ref(location) as isize - base()) / 8;
    let limit = 1_isize << (DISTANCE_BITS - 1);
    let distance = if (-limit..limit).contains(&distance) { distance } else { 0 };
    distance as u64 & ((1 << DISTANCE_BITS) - 1)
}

/// The location at a distance; this file for an unknown one.
pub(super) fn at_distance(distance: u64) -> &'static Location<'static> {
    let shift = 64 - DISTANCE_BITS;
    let distance = ((distance << shift) as i64 >> shift) as isize;
    if distance == 0 {
        return anchor();
    }
    let address = base() + distance * 8;
    // SAFETY: `distance` made the number from the address of a `Location` that lives forever.
    unsafe { &*(address as *const Location<'static>) }
}

/// Numbers for locations, 0 for "no room".
#[derive(Default)]
pub(super) struct Numbers {
    known: Vec<&'static Location<'static>>,
    cache: Vec<(usize, u16)>,
}

const CACHE: usize = 256;

impl Numbers {
    /// Number of the location, below `1 << bits`.
    #[inline]
    pub(super) fn number(&mut self, location: &'static Location<'static>, bits: u32) -> u64 {
        let address = std::ptr::from_ref(location) as usize;
        let line = address / 8 % CACHE;
        match self.cache.get(line) {
            Some(&(cached, number)) if cached == address => u64::from(number),
            _ => self.find(location, line, bits),
        }
    }

    #[cold]
    fn find(&mut self, location: &'static Location<'static>, line: usize, bits: u32) -> u64 {
        self.cache.resize(CACHE, (0, 0));
        let at = self.known.iter().position(|&known| std::ptr::eq(known, location)).unwrap_or_else(|| {
            self.known.push(location);
            self.known.len() - 1
        });
        let number = if at + 1 < 1 << bits { at + 1 } else { 0 };
        self.cache[line] = (std::ptr::from_ref(location) as usize, number as u16);
        number as u64
    }

    /// The location of a number.
    pub(super) fn location(&self, number: u64) -> &'static Location<'static> {
        match self.known.get((number as usize).wrapping_sub(1)) {
            Some(location) => location,
            None => anchor(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_go_there_and_back() {
        let here = Location::caller();
        assert!(std::ptr::eq(at_distance(distance(here)), here));
    }

    #[test]
    fn numbers_go_there_and_back() {
        let mut numbers = Numbers::default();
        let (a, b) = (Location::caller(), Location::caller());
        let (na, nb) = (numbers.number(a, 9), numbers.number(b, 9));
        assert_ne!(na, nb);
        assert_eq!(na, numbers.number(a, 9));
        assert!(std::ptr::eq(numbers.location(na), a) && std::ptr::eq(numbers.location(nb), b));
        let mut small = Numbers::default();
        assert_eq!((small.number(a, 1), small.number(b, 1)), (1, 0), "one bit has room for one");
    }
}

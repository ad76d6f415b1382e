//! Lists of stamps by cell, one for each thread and kind of access.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Most stamps in one table. Further ones are not recorded, and a race with such an access alone is missed.
const MOST: usize = 1 << 20;
/// Stamps of a cell from which on those that a later one stands for are removed before the list grows.
const FEW: usize = 16;

/// Stamps by cell, in the order of their accesses. Of those that agree in the bits of `key` the last one counts.
pub(super) struct Listed {
    key: u64,
    lists: HashMap<usize, Vec<u64>, BuildHasherDefault<CellHasher>>,
    stamps: usize,
}

impl Listed {
    /// No stamps. `key` has the bits of thread and kind.
    pub(super) fn new(key: u64) -> Self {
        Self { key, lists: HashMap::default(), stamps: 0 }
    }

    /// Bytes of these lists.
    pub(super) fn bytes(&self) -> usize {
        self.stamps * 8 + self.lists.len() * size_of::<(usize, Vec<u64>)>()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lists.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.lists.clear();
        self.stamps = 0;
    }

    pub(super) fn note(&mut self, cell: usize, stamp: u64) {
        let key = self.key;
        let list = self.lists.entry(cell).or_default();
        if let Some(last) = list.last_mut()
            && (*last ^ stamp) & key == 0
        {
            *last = stamp;
            return;
        }
        if list.len() >= FEW && list.len() == list.capacity() {
            self.stamps -= list.len();
            list.reverse();
            list.sort_by_key(|stamp| stamp & key);
            list.dedup_by_key(|stamp| *stamp & key);
            self.stamps += list.len();
            // So that the next removal has as much to do as this one had.
            if list.len() > list.capacity() / 2 {
                list.reserve(list.capacity());
            }
        }
        if self.stamps < MOST {
            list.push(stamp);
            self.stamps += 1;
        }
    }

    /// All stamps, each with its cell.
    pub(super) fn all(&self) -> impl Iterator<Item = (usize, u64)> {
        self.lists.iter().flat_map(|(&cell, list)| list.iter().map(move |&stamp| (cell, stamp)))
    }

    /// The stamps of a cell.
    #[inline]
    pub(super) fn at(&self, cell: usize) -> &[u64] {
        self.lists.get(&cell).map_or(&[], Vec::as_slice)
    }

    /// Forgets those of a cell.
    pub(super) fn forget(&mut self, cell: usize) {
        self.stamps -= self.lists.remove(&cell).map_or(0, |list| list.len());
    }

    /// Each cell has become `parts` cells.
    pub(super) fn refine(&mut self, parts: usize) {
        let lists = std::mem::take(&mut self.lists).into_iter();
        let each = |(cell, list): (usize, Vec<u64>)| (0..parts).map(move |part| (cell * parts + part, list.clone()));
        self.lists = lists.flat_map(each).collect();
        self.stamps *= parts;
    }
}

/// A hash of one number by one multiplication.
#[derive(Default)]
struct CellHasher(u64);

impl Hasher for CellHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_usize(byte.into());
        }
    }
    fn write_usize(&mut self, number: usize) {
        let mixed = (self.0 ^ number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ mixed >> 32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_stamp_of_each_key_is_kept() {
        let mut listed = Listed::new(0xff);
        for clock in 0..1000_u64 {
            listed.note(3, (clock << 8) | (clock % 7));
        }
        for key in 0..7 {
            let latest = listed.at(3).iter().filter(|&stamp| stamp & 0xff == key).map(|stamp| stamp >> 8).max();
            assert_eq!(latest, (0..1000).filter(|clock| clock % 7 == key).max());
        }
        assert!(listed.at(3).len() <= 32, "{} stamps of 7 keys", listed.at(3).len());
        listed.refine(2);
        assert_eq!(listed.at(6), listed.at(7));
        listed.forget(6);
        listed.forget(7);
        assert!(listed.is_empty() && listed.stamps == 0);
    }
}

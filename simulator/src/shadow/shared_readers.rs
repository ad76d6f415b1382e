//! The readers of a cell of shared memory one by one, where there are several: for each the stamp of its last read.

use std::cell::Cell;

/// Room of a new list.
const FEW: usize = 16;
/// Most lists that an OS thread keeps for its next launch.
const MOST_SPARE: usize = 1 << 15;

thread_local! {
    /// Lists of an earlier launch, to be used again.
    static SPARE: Cell<Vec<Vec<u64>>> = const { Cell::new(Vec::new()) };
}

/// Lists of readers by cell. Few cells have one, so that a cell has its number alone.
#[derive(Default)]
pub(super) struct ReaderLists {
    /// By cell the number of its list; 0 if it has none.
    numbers: Vec<u32>,
    /// List `number` is at `number - 1`. Those from `used` on are to be used again.
    lists: Vec<Vec<u64>>,
    used: usize,
}

impl ReaderLists {
    /// From now on so many cells may have lists.
    pub(super) fn enable(&mut self, cells: usize) {
        self.numbers.resize(cells, 0);
    }

    /// The readers of a cell; none if it has no list.
    pub(super) fn of(&self, cell: usize) -> &[u64] {
        let number = self.numbers.get(cell).copied().unwrap_or(0);
        (number as usize).checked_sub(1).map_or(&[], |at| &self.lists[at])
    }

    /// The list of a cell that may have one.
    pub(super) fn list(&mut self, cell: usize) -> &mut Vec<u64> {
        if self.numbers[cell] == 0 {
            if self.lists.is_empty() {
                self.lists = SPARE.take();
            }
            if self.used == self.lists.len() {
                self.lists.push(Vec::with_capacity(FEW));
            }
            self.lists[self.used].clear();
            self.used += 1;
            self.numbers[cell] = self.used as u32;
        }
        &mut self.lists[self.numbers[cell] as usize - 1]
    }

    /// Removes the readers of a cell.
    pub(super) fn forget(&mut self, cell: usize) {
        if self.numbers.get(cell).is_some_and(|&number| number != 0) {
            self.list(cell).clear();
        }
    }

    /// Removes all readers.
    pub(super) fn clear(&mut self) {
        self.numbers.fill(0);
        self.used = 0;
    }

    /// Each cell has become `parts` cells.
    pub(super) fn refine(&mut self, parts: usize) {
        let old = std::mem::take(self);
        self.enable(old.numbers.len() * parts);
        for (cell, _) in old.numbers.iter().enumerate().filter(|&(_, &number)| number != 0) {
            for part in 0..parts {
                self.list(cell * parts + part).extend_from_slice(old.of(cell));
            }
        }
    }
}

impl Drop for ReaderLists {
    fn drop(&mut self) {
        if !self.lists.is_empty() {
            self.lists.truncate(MOST_SPARE);
            // An OS thread that ends keeps none.
            let _ = SPARE.try_with(|spare| spare.set(std::mem::take(&mut self.lists)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_those_of_their_cells() {
        let mut lists = ReaderLists::default();
        assert!(lists.of(3).is_empty());
        lists.forget(3);
        lists.enable(4);
        lists.list(3).push(1);
        lists.list(0).extend([2, 3]);
        lists.list(3).push(4);
        assert_eq!([0, 1, 3, 9].map(|cell| lists.of(cell)), [&[2, 3][..], &[], &[1, 4], &[]]);
        lists.refine(2);
        assert_eq!([0, 1, 2, 6, 7].map(|cell| lists.of(cell)), [&[2, 3][..], &[2, 3], &[], &[1, 4], &[1, 4]]);
        lists.forget(6);
        assert_eq!([6, 7].map(|cell| lists.of(cell)), [&[][..], &[1, 4]]);
        lists.clear();
        assert!((0..8).all(|cell| lists.of(cell).is_empty()));
        assert!(lists.list(7).is_empty(), "a list that is used again has no readers");
    }
}

//! Atomic operations of different sizes on the same bytes, which are not atomic to each other: in the PTX memory model
//! two operations are *morally strong* only if they overlap completely.
//!
//! Nothing is recorded as long as all atomic operations on a buffer, or on shared memory, have one size.

use super::listed::Listed;

/// The atomic operations on each cell by their size, from the second size on.
pub(super) struct AtomicSizes {
    key: u64,
    /// The sizes seen: 4, 8, or both.
    seen: usize,
    /// Operations on 4 bytes, and on 8.
    lists: Option<Box<[Listed; 2]>>,
}

impl AtomicSizes {
    /// No operations; `key` as for [`Listed::new`].
    pub(super) fn new(key: u64) -> Self {
        Self { key, seen: 0, lists: None }
    }

    /// Whether there are several sizes.
    #[inline]
    pub(super) fn are_mixed(&self) -> bool {
        self.lists.is_some()
    }

    /// Notes the size of an operation. At the second size it takes the operations so far, each with its cell.
    #[inline]
    pub(super) fn see<I: IntoIterator<Item = (usize, u64)>>(&mut self, size: usize, so_far: impl FnOnce() -> I) {
        if self.seen | size == self.seen {
            return;
        }
        if self.seen != 0 {
            let mut lists = [0; 2].map(|_| Listed::new(self.key));
            let list = &mut lists[usize::from(self.seen == 8)];
            so_far().into_iter().for_each(|(cell, stamp)| list.note(cell, stamp));
            self.lists = Some(Box::new(lists));
        }
        self.seen |= size;
    }

    /// Records an operation of this size; gives those of the other size.
    pub(super) fn note(&mut self, cell: usize, size: usize, stamp: u64) -> &[u64] {
        let Some(lists) = &mut self.lists else { return &[] };
        let wide = usize::from(size == 8);
        lists[wide].note(cell, stamp);
        lists[1 - wide].at(cell)
    }

    /// A plain write follows, which comes after all operations on the cell that are in order.
    pub(super) fn forget(&mut self, cell: usize) {
        self.lists.iter_mut().flat_map(|lists| lists.iter_mut()).for_each(|list| list.forget(cell));
    }

    /// For the next block.
    pub(super) fn clear(&mut self) {
        (self.seen, self.lists) = (0, None);
    }

    /// Each cell has become `parts` cells.
    pub(super) fn refine(&mut self, parts: usize) {
        self.lists.iter_mut().flat_map(|lists| lists.iter_mut()).for_each(|list| list.refine(parts));
    }

    /// Bytes of these lists.
    pub(super) fn bytes(&self) -> usize {
        self.lists.iter().flat_map(|lists| lists.iter()).map(Listed::bytes).sum()
    }
}

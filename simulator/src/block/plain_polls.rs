//! Whether a lane polls by plain reads.
//!
//! Nothing tells such a read from others, so one in [`quick::SAMPLE`](crate::shadow::quick::SAMPLE) is taken as a
//! sample. A lane that reads what it has read at an earlier sample may wait for others, and lets them run. A sample of
//! another place shows that its loop goes on: a launch with such samples does not hang.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};

/// Samples of a lane that the next one is compared with: loops of so many reads are noticed.
const SAMPLES: usize = 64;

/// Samples of the lanes of a block.
#[derive(Default)]
pub(super) struct PlainPolls {
    /// The last addresses of each lane that has been sampled, the oldest first.
    addresses: RefCell<HashMap<u16, VecDeque<usize>>>,
    /// As [`Self::others`] says.
    others: Cell<u64>,
}

impl PlainPolls {
    /// Takes a sample. Gives whether the lane has read this address before, or all poll it: `polled`.
    pub(super) fn is_repeated(&self, lane: u16, address: usize, polled: Option<usize>) -> bool {
        let mut lanes = self.addresses.borrow_mut();
        let addresses = lanes.entry(lane).or_default();
        let is_repeated = polled == Some(address) || addresses.contains(&address);
        if addresses.len() == SAMPLES {
            addresses.pop_front();
        }
        addresses.push_back(address);
        self.others.set(self.others.get() + u64::from(!is_repeated));
        is_repeated
    }

    /// Samples of addresses that were not repeated.
    pub(super) fn others(&self) -> u64 {
        self.others.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Samples of these addresses that were not repeated.
    fn others(polls: &PlainPolls, lane: u16, addresses: impl Iterator<Item = usize>) -> u64 {
        let before = polls.others();
        for address in addresses {
            polls.is_repeated(lane, address, None);
        }
        polls.others() - before
    }

    #[test]
    fn a_loop_of_few_reads_repeats_itself() {
        for reads in [1, 2, 3, SAMPLES] {
            let polls = PlainPolls::default();
            let looped = |samples: usize| (0..samples).map(move |i| 4 * (i % reads));
            assert_eq!(others(&polls, 5, looped(reads)), reads as u64);
            assert_eq!(others(&polls, 5, looped(1000)), 0);
            assert_eq!(others(&polls, 6, looped(1)), 1, "another lane");
        }
        let polls = PlainPolls::default();
        assert_eq!(others(&polls, 5, (0..1000).map(|i| i % (SAMPLES + 1))), 1000);
    }

    #[test]
    fn what_all_poll_is_repeated_at_once() {
        let polls = PlainPolls::default();
        assert!(!polls.is_repeated(0, 8, None) && !polls.is_repeated(0, 4, Some(12)));
        assert!(polls.is_repeated(0, 8, None) && polls.is_repeated(1, 8, Some(8)));
        assert_eq!(polls.others(), 2);
    }
}

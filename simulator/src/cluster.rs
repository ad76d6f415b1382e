//! The blocks of one cluster, which are resident together; one block where there are no clusters.

use crate::block::{Block, Progress};
use crate::fiber::Pool;
use crate::schedule::Permutation;
use std::io;

/// Blocks by rank. Not empty.
#[expect(clippy::vec_box, reason = "lanes point to their block, and blocks to each other: they must not move")]
pub(crate) struct Cluster(Vec<Box<Block>>);

impl Cluster {
    /// Begins the cluster whose first block is number `first` of the grid.
    #[expect(clippy::vec_box, reason = "as above")]
    pub(crate) fn begin(blocks: Vec<Box<Block>>, first: u32) -> Self {
        let peers: Vec<*const Block> =
            if blocks.len() > 1 { blocks.iter().map(|block| &raw const **block).collect() } else { Vec::new() };
        for (number, block) in (first..).zip(&blocks) {
            block.begin(number);
            block.join_cluster(&peers);
        }
        Self(blocks)
    }

    pub(crate) fn blocks(&self) -> impl Iterator<Item = &Block> {
        self.0.iter().map(|block| &**block)
    }

    /// Finishes the blocks, all of which are over, and gives them back.
    #[expect(clippy::vec_box, reason = "as above")]
    pub(crate) fn finish(self) -> Vec<Box<Block>> {
        for block in &self.0 {
            block.finish();
        }
        self.0
    }

    /// Abandons every lane that has not exited.
    pub(crate) fn abandon(&self, pool: &mut Pool<Block>) {
        for block in &self.0 {
            block.abandon(pool);
        }
    }

    /// A turn of each block, in the order that `seed` and `round` choose. The blocks are stuck only together: another
    /// block may do what one waits for.
    pub(crate) fn turn(&self, pool: &mut Pool<Block>, seed: u64, round: u64) -> io::Result<Progress> {
        if let [block] = &self.0[..] {
            return Self::turn_alone(block, pool);
        }
        let order = Permutation::new(self.0.len() as u64, seed, round << 8);
        let (mut spinning, mut stuck, mut others) = (0, 0, 0);
        for position in 0..self.0.len() as u64 {
            let block = &self.0[order.at(position) as usize];
            if block.is_over() {
                continue;
            }
            match block.turn(pool)? {
                Progress::Spinning => spinning += 1,
                Progress::Stuck => stuck += 1,
                Progress::Paused | Progress::Done => others += 1,
            }
        }
        if self.blocks().all(Block::is_over) {
            return Ok(Progress::Done);
        }
        if others > 0 {
            return Ok(Progress::Paused);
        }
        if spinning > 0 {
            return Ok(Progress::Spinning);
        }
        debug_assert!(stuck > 0, "a block that is not over does something in its turn");
        let live: Vec<&Block> = self.blocks().filter(|block| !block.is_over()).collect();
        if Block::resolve(&live) {
            return Ok(Progress::Paused);
        }
        self.abandon(pool);
        Ok(Progress::Done)
    }

    /// A turn of a block without a cluster, past the deadlocks in it.
    fn turn_alone(block: &Block, pool: &mut Pool<Block>) -> io::Result<Progress> {
        loop {
            match block.turn(pool)? {
                Progress::Stuck if Block::resolve(&[block]) => {}
                Progress::Stuck => {
                    block.abandon(pool);
                    return Ok(Progress::Done);
                }
                turn => return Ok(turn),
            }
        }
    }
}

//! Which access came before which: happens-before with scalar clocks, and vectors where scalars are not enough.
//!
//! Every thread has a clock and stamps its accesses with it. Usually three scalars decide whether a stamp of the same
//! block came before: the *epoch* (everything up to here, by any thread of the block: set by a barrier of the whole
//! block), the *warp epoch* (the same for the warp: set by a `sync_warp` of the whole warp), and being the same thread.
//! Barriers and warp syncs of *some* threads need more: [`ThreadOrder::vector`] then holds, per thread of the block,
//! the clock up to which its actions came before. Order through atomics, within and across blocks, is kept in logs: a
//! release appends an entry, an acquire remembers the length of the log. (`FastTrack`, Flanagan and Freund 2009,
//! without the vectors where a scalar says the same; release sequences and fences as in the PTX memory model.)
//!
//! Scopes are judged at each hop of a chain of releases and acquires, as causality order in the PTX memory model does:
//! the scope of either operation must include the thread of the other (the two are then *morally strong*). Where an
//! operation reads a value that an operation wrote to which it is not morally strong, it observes nothing: the releases
//! before are lost to it and to whoever reads what it writes.

use crate::ordering::{Order, Scope};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// A clock for each thread of a block.
pub(crate) type VectorClock = Rc<[u32]>;

/// Whether both are one vector, or both are missing. Vectors do not change: the same one has the same clocks.
pub(crate) fn is_same(a: Option<&VectorClock>, b: Option<&VectorClock>) -> bool {
    a.map(Rc::as_ptr) == b.map(Rc::as_ptr)
}

/// Order of one thread that its scalar clocks cannot express.
#[derive(Default)]
pub(crate) struct ThreadOrder {
    /// Per thread of the block: the clock up to which its actions came before this thread's next one.
    pub(crate) vector: Option<VectorClock>,
    /// Logs that this thread has acquired, with the length it saw.
    pub(crate) acquired: Acquired,
    /// Logs that a relaxed read has seen and a fence will acquire.
    pending: Vec<Seen>,
    /// What the last fence released, for the relaxed writes after it.
    fence: Option<Release>,
}

/// Everything one thread had done and knew at a release.
#[derive(Clone)]
struct Release {
    thread: u16,
    warp: u16,
    clock: u32,
    epoch: u32,
    warp_epoch: u32,
    vector: Option<VectorClock>,
    reach: Reach,
    /// What the releasing thread had acquired itself.
    acquired: Acquired,
}

/// The releases through one atomic location, in order.
#[derive(Default)]
pub(crate) struct Log {
    /// The last operation that wrote the location.
    last: Option<Reach>,
    releases: Vec<Release>,
    by_block: HashMap<u32, Vec<u32>>,
    /// Releases whose thread had acquired another log, or this one if some release has block scope: order may pass on
    /// through these.
    links: Vec<u32>,
    /// Whether some release has block scope. Whoever acquires one of the others need not acquire that one, too.
    is_narrow: bool,
}

/// The threads that an operation synchronises with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reach {
    /// The block of its thread.
    pub(crate) block: u32,
    /// Whether its scope reaches threads of other blocks.
    pub(crate) cross_block: bool,
}

impl Reach {
    /// Whether the scope of either operation includes the thread of the other.
    pub(crate) fn includes(self, other: Self) -> bool {
        self.block == other.block || self.cross_block && other.cross_block
    }
}

/// A log and how much of it was seen.
#[derive(Clone)]
struct Seen {
    log: Rc<RefCell<Log>>,
    len: usize,
    /// Of the acquire.
    reach: Reach,
}

/// What was acquired, by one thread or by a block as a whole.
#[derive(Clone, Default)]
pub(crate) struct Acquired {
    seen: Vec<Seen>,
    /// Order with other blocks of the cluster.
    peers: Vec<Peer>,
}

/// Order with one block of the cluster, by its number.
#[derive(Clone)]
struct Peer {
    block: u32,
    /// By the cluster barrier: everything that its threads did up to this clock came before.
    epoch: u32,
    /// By arrivals at mbarriers, per thread: the clock up to which its accesses to its block's shared memory are over.
    shared: Option<VectorClock>,
}

/// In place of a thread or warp, in the stamp of an access by several: ordered only if any thread's access at that
/// clock would be.
pub(crate) const MULTIPLE: u16 = u16::MAX;

/// An access, as far as order goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stamp {
    pub(crate) block: u32,
    pub(crate) thread: u16,
    pub(crate) warp: u16,
    pub(crate) clock: u32,
}

/// Logs by the address of their atomic location.
///
/// A log may hold itself: its releases hold the logs that their threads had acquired. It therefore ends with the launch
/// at the latest.
#[derive(Default)]
pub(crate) struct Logs {
    by_address: HashMap<usize, Rc<RefCell<Log>>>,
    /// Every log that is still held by something else, and some that are not.
    all: Vec<Rc<RefCell<Log>>>,
    /// How many logs there may be before those that nothing else holds are dropped.
    most: usize,
}

/// The clocks of a thread at a release.
#[derive(Clone, Copy)]
pub(crate) struct ThreadEpoch {
    pub(crate) block: u32,
    pub(crate) thread: u16,
    pub(crate) warp: u16,
    pub(crate) clock: u32,
    pub(crate) epoch: u32,
    pub(crate) warp_epoch: u32,
}

impl Acquired {
    pub(crate) fn is_empty(&self) -> bool {
        self.seen.is_empty() && self.peers.is_empty()
    }

    /// Joins by the cluster barrier: everything that a block did up to this clock came before.
    pub(crate) fn join_epoch(&mut self, block: u32, clock: u32) {
        let peer = self.peer_mut(block);
        peer.epoch = peer.epoch.max(clock);
    }

    /// Joins by an mbarrier: what the threads of a block did in its shared memory up to these clocks is over.
    pub(crate) fn join_shared(&mut self, block: u32, clocks: &VectorClock) {
        let peer = self.peer_mut(block);
        peer.shared = Some(match &peer.shared {
            None => Rc::clone(clocks),
            Some(shared) => later(shared, clocks),
        });
    }

    /// Removes and returns the clocks of a block's shared memory.
    pub(crate) fn take_shared(&mut self, block: u32) -> Option<VectorClock> {
        self.peers.iter_mut().find(|peer| peer.block == block)?.shared.take()
    }

    /// Order with one block: its epoch, and the clocks of its shared memory.
    pub(crate) fn peer(&self, block: u32) -> (u32, Option<&VectorClock>) {
        let peer = self.peers.iter().find(|peer| peer.block == block);
        peer.map_or((0, None), |peer| (peer.epoch, peer.shared.as_ref()))
    }

    fn peer_mut(&mut self, block: u32) -> &mut Peer {
        let at = self.peers.iter().position(|peer| peer.block == block).unwrap_or_else(|| {
            self.peers.push(Peer { block, epoch: 0, shared: None });
            self.peers.len() - 1
        });
        &mut self.peers[at]
    }

    /// Joins the order with other blocks of the cluster, and nothing else.
    pub(crate) fn join_peers(&mut self, other: &Self) {
        for Peer { block, epoch, shared } in &other.peers {
            self.join_epoch(*block, *epoch);
            if let Some(shared) = shared {
                self.join_shared(*block, shared);
            }
        }
    }

    /// Whether an access came before the last cluster barrier.
    fn is_in_epoch(&self, stamp: Stamp) -> bool {
        self.peers.iter().any(|peer| peer.block == stamp.block && stamp.clock <= peer.epoch)
    }

    fn add(&mut self, new: Seen) {
        let old = self.seen.iter_mut().find(|old| Rc::ptr_eq(&old.log, &new.log) && old.reach == new.reach);
        match old {
            Some(old) => old.len = old.len.max(new.len),
            None => self.seen.push(new),
        }
    }

    /// Joins what `other` acquired.
    pub(crate) fn join(&mut self, other: &Self) {
        for seen in &other.seen {
            self.add(seen.clone());
        }
        self.join_peers(other);
    }

    /// Whether some acquired release came after `stamp`.
    pub(crate) fn covers(&self, stamp: Stamp) -> bool {
        if self.is_in_epoch(stamp) {
            return true;
        }
        let mut visited: Vec<(*const RefCell<Log>, Reach, usize)> = Vec::new();
        let mut todo: Vec<Seen> = self.seen.clone();
        while let Some(seen) = todo.pop() {
            let (key, reach) = (Rc::as_ptr(&seen.log), seen.reach);
            let from = match visited.iter_mut().find(|&&mut (log, by, _)| std::ptr::eq(log, key) && by == reach) {
                Some((.., len)) if *len >= seen.len => continue,
                Some((.., len)) => std::mem::replace(len, seen.len),
                None => {
                    visited.push((key, reach, seen.len));
                    0
                }
            };
            let log = seen.log.borrow();
            let entries = log.by_block.get(&stamp.block).map_or(&[][..], Vec::as_slice);
            let hit = entries.iter().map(|&at| at as usize).take_while(|&at| at < seen.len).any(|at| {
                let release = &log.releases[at];
                release.reach.includes(reach) && release.covers(stamp)
            });
            if hit {
                return true;
            }
            for &at in log.links.iter().filter(|&&at| (from..seen.len).contains(&(at as usize))) {
                let release = &log.releases[at as usize];
                if !release.reach.includes(reach) {
                    continue;
                }
                if release.acquired.is_in_epoch(stamp) {
                    return true;
                }
                todo.extend(release.acquired.seen.iter().cloned());
            }
        }
        false
    }
}

impl Release {
    fn covers(&self, stamp: Stamp) -> bool {
        stamp.clock <= self.epoch
            || stamp.thread == self.thread && stamp.clock <= self.clock
            || stamp.warp == self.warp && stamp.clock <= self.warp_epoch
            || self.vector.as_ref().and_then(|v| v.get(usize::from(stamp.thread))).is_some_and(|&v| stamp.clock <= v)
    }
}

impl Logs {
    fn at(&mut self, address: usize) -> Rc<RefCell<Log>> {
        match self.by_address.get(&address) {
            Some(log) => Rc::clone(log),
            None => self.begin(address),
        }
    }

    /// A new log for the location at `address`.
    fn begin(&mut self, address: usize) -> Rc<RefCell<Log>> {
        if self.all.len() >= self.most {
            self.all.retain(|log| Rc::strong_count(log) > 1);
            self.most = 64.max(2 * self.all.len());
        }
        let log = Rc::default();
        self.all.push(Rc::clone(&log));
        self.by_address.insert(address, Rc::clone(&log));
        log
    }

    /// Forgets the logs of a range of addresses: a block's shared memory, when the block ends.
    pub(crate) fn forget(&mut self, range: std::ops::Range<usize>) {
        self.by_address.retain(|address, _| !range.contains(address));
    }
}

impl Drop for Logs {
    fn drop(&mut self) {
        // `all` holds the logs meanwhile, so that none is dropped inside another.
        for log in &self.all {
            log.borrow_mut().releases.clear();
        }
    }
}

/// What an atomic operation does to its location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtomicOp {
    Load,
    Store,
    Update,
}

/// What an atomic operation did to the order of accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Nothing for others.
    None,
    /// Relaxed, but after a fence: publishes what the fence released.
    PublishesFence,
    /// Released what its thread had done: the thread's clock must advance.
    Releases,
}

impl ThreadOrder {
    fn release(&self, thread: ThreadEpoch, scope: Scope, block: &Acquired) -> Release {
        let mut acquired = self.acquired.clone();
        acquired.join(block);
        Release {
            thread: thread.thread,
            warp: thread.warp,
            clock: thread.clock,
            epoch: thread.epoch,
            warp_epoch: thread.warp_epoch,
            vector: self.vector.clone(),
            reach: Reach { block: thread.block, cross_block: scope != Scope::Block },
            acquired,
        }
    }

    /// An atomic operation on the location at `address`.
    pub(crate) fn atomic(
        &mut self,
        logs: &mut Logs,
        address: usize,
        op: AtomicOp,
        (order, scope): (Order, Scope),
        thread: ThreadEpoch,
        block: &Acquired,
    ) -> Effect {
        let log = logs.at(address);
        let cross_block = scope != Scope::Block;
        let reach = Reach { block: thread.block, cross_block };
        // The length before this operation's own release: an operation does not acquire what it releases itself.
        let len = log.borrow().releases.len();
        let observes = op != AtomicOp::Store && log.borrow().last.is_none_or(|last| last.includes(reach));
        if observes && len > 0 {
            let seen = Seen { log: Rc::clone(&log), len, reach };
            if matches!(order, Order::Acquire | Order::AcqRel) {
                self.acquired.add(seen);
            } else {
                self.pending.push(seen);
            }
        }
        if op == AtomicOp::Load {
            return Effect::None;
        }
        let released = matches!(order, Order::Release | Order::AcqRel);
        let entry = if released {
            Some(self.release(thread, scope, block))
        } else {
            self.fence.clone().map(|mut fence| {
                fence.reach.cross_block &= cross_block;
                fence
            })
        };
        // A plain atomic store heads a new release sequence; read-modify-write operations continue the one that they
        // observe.
        let log = if observes { log } else { logs.begin(address) };
        log.borrow_mut().last = Some(reach);
        let effect = match &entry {
            None => Effect::None,
            Some(_) if released => Effect::Releases,
            Some(_) => Effect::PublishesFence,
        };
        if let Some(entry) = entry {
            let is_narrow = log.borrow().is_narrow;
            let passes_on = entry.acquired.seen.iter().any(|seen| is_narrow || !Rc::ptr_eq(&seen.log, &log));
            let links = passes_on || !entry.acquired.peers.is_empty();
            let mut log = log.borrow_mut();
            log.is_narrow |= !entry.reach.cross_block;
            let at = log.releases.len() as u32;
            if links {
                log.links.push(at);
            }
            log.by_block.entry(entry.reach.block).or_default().push(at);
            log.releases.push(entry);
        }
        effect
    }

    /// A fence: acquires what relaxed reads have seen, releases what came before for the relaxed writes to come.
    pub(crate) fn fence(&mut self, scope: Scope, thread: ThreadEpoch, block: &Acquired) {
        for mut seen in std::mem::take(&mut self.pending) {
            seen.reach.cross_block &= scope != Scope::Block;
            self.acquired.add(seen);
        }
        self.fence = Some(self.release(thread, scope, block));
    }
}

/// The vector clock of several threads together: per thread of the block the latest clock that any of them has reached
/// or has acquired.
pub(crate) fn join(threads: usize, members: &[Member]) -> VectorClock {
    let mut joined = vec![0_u32; threads];
    let mut last: Option<*const [u32]> = None;
    for member in members {
        if let Some(vector) = &member.vector
            && last != Some(Rc::as_ptr(vector))
        {
            last = Some(Rc::as_ptr(vector));
            for (clock, &other) in joined.iter_mut().zip(vector.iter()) {
                *clock = (*clock).max(other);
            }
        }
        for clock in &mut joined[member.warp.clone()] {
            *clock = (*clock).max(member.warp_epoch);
        }
        let own = &mut joined[usize::from(member.thread)];
        *own = (*own).max(member.clock);
    }
    joined.into()
}

/// The later clock of each thread; one of the two arguments where it is nowhere behind the other.
fn later(a: &VectorClock, b: &VectorClock) -> VectorClock {
    if Rc::ptr_eq(a, b) || a.iter().zip(b.iter()).all(|(a, b)| a >= b) {
        Rc::clone(a)
    } else if a.iter().zip(b.iter()).all(|(a, b)| a <= b) {
        Rc::clone(b)
    } else {
        a.iter().zip(b.iter()).map(|(&a, &b)| a.max(b)).collect()
    }
}

/// One thread that takes part in a [`join`].
pub(crate) struct Member {
    pub(crate) thread: u16,
    pub(crate) clock: u32,
    pub(crate) warp_epoch: u32,
    pub(crate) warp: std::ops::Range<usize>,
    pub(crate) vector: Option<VectorClock>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thread(block: u32, thread: u16, clock: u32) -> ThreadEpoch {
        ThreadEpoch { block, thread, warp: thread / 32, clock, epoch: clock - 1, warp_epoch: 0 }
    }
    fn stamp(block: u32, thread: u16, clock: u32) -> Stamp {
        Stamp { block, thread, warp: thread / 32, clock }
    }
    const ACQ_REL: (Order, Scope) = (Order::AcqRel, Scope::Device);
    const RELAXED: (Order, Scope) = (Order::Relaxed, Scope::Device);

    #[test]
    fn release_then_acquire_orders_across_blocks() {
        let (mut logs, none) = (Logs::default(), Acquired::default());
        let (mut a, mut b) = (ThreadOrder::default(), ThreadOrder::default());
        assert_eq!(a.atomic(&mut logs, 8, AtomicOp::Update, ACQ_REL, thread(0, 0, 5), &none), Effect::Releases);
        assert!(!b.acquired.covers(stamp(0, 0, 5)));
        b.atomic(&mut logs, 8, AtomicOp::Update, ACQ_REL, thread(1, 0, 2), &none);
        assert!(b.acquired.covers(stamp(0, 0, 5)), "the releasing thread's own clock");
        assert!(b.acquired.covers(stamp(0, 7, 4)), "the epoch of the releasing block");
        assert!(!b.acquired.covers(stamp(0, 7, 5)), "another thread's later access");
        assert!(!b.acquired.covers(stamp(0, 0, 6)), "an access after the release");
    }

    #[test]
    fn relaxed_needs_fences_on_both_sides() {
        let none = Acquired::default();
        for (before, after) in [(false, false), (true, false), (false, true), (true, true)] {
            let mut logs = Logs::default();
            let (mut a, mut b) = (ThreadOrder::default(), ThreadOrder::default());
            if before {
                a.fence(Scope::Device, thread(0, 0, 5), &none);
            }
            a.atomic(&mut logs, 8, AtomicOp::Update, RELAXED, thread(0, 0, 6), &none);
            b.atomic(&mut logs, 8, AtomicOp::Update, RELAXED, thread(1, 0, 2), &none);
            if after {
                b.fence(Scope::Device, thread(1, 0, 2), &none);
            }
            assert_eq!(b.acquired.covers(stamp(0, 0, 5)), before && after, "fence before {before}, after {after}");
            assert!(!b.acquired.covers(stamp(0, 0, 6)), "the access after the fence is never ordered");
        }
    }

    #[test]
    fn block_scope_does_not_reach_other_blocks() {
        let (mut logs, none) = (Logs::default(), Acquired::default());
        let (mut a, mut b, mut c) = (ThreadOrder::default(), ThreadOrder::default(), ThreadOrder::default());
        a.fence(Scope::Block, thread(0, 0, 5), &none);
        a.atomic(&mut logs, 8, AtomicOp::Update, RELAXED, thread(0, 0, 6), &none);
        b.atomic(&mut logs, 8, AtomicOp::Update, ACQ_REL, thread(1, 0, 2), &none);
        assert!(!b.acquired.covers(stamp(0, 0, 5)));
        c.atomic(&mut logs, 8, AtomicOp::Update, ACQ_REL, thread(0, 9, 2), &none);
        assert!(c.acquired.covers(stamp(0, 0, 5)), "within the block it does");
    }

    #[test]
    fn scopes_are_judged_at_each_hop() {
        const BLOCK: (Order, Scope) = (Order::AcqRel, Scope::Block);
        // A thread of block 0, another one of block 0, block 1, block 2: the scope of each hop.
        for (hops, reaches) in
            [([BLOCK, ACQ_REL, ACQ_REL], true), ([ACQ_REL, BLOCK, ACQ_REL], false), ([ACQ_REL, ACQ_REL, BLOCK], false)]
        {
            let (mut logs, none) = (Logs::default(), Acquired::default());
            let mut orders = <[ThreadOrder; 4]>::default();
            let threads = [thread(0, 0, 5), thread(0, 40, 3), thread(1, 0, 3), thread(2, 0, 3)];
            for (hop, how) in hops.into_iter().enumerate() {
                let address = 8 * hop;
                orders[hop].atomic(&mut logs, address, AtomicOp::Store, how, threads[hop], &none);
                orders[hop + 1].atomic(&mut logs, address, AtomicOp::Load, how, threads[hop + 1], &none);
            }
            assert_eq!(orders[3].acquired.covers(stamp(0, 0, 5)), reaches, "{hops:?}");
        }
    }

    #[test]
    fn an_update_of_too_narrow_a_scope_ends_a_sequence() {
        for (scope, reaches) in [(Scope::Device, true), (Scope::Block, false)] {
            let (mut logs, none) = (Logs::default(), Acquired::default());
            let mut orders = <[ThreadOrder; 3]>::default();
            orders[0].atomic(&mut logs, 8, AtomicOp::Update, ACQ_REL, thread(0, 0, 5), &none);
            orders[1].atomic(&mut logs, 8, AtomicOp::Update, (Order::Relaxed, scope), thread(1, 0, 5), &none);
            orders[2].atomic(&mut logs, 8, AtomicOp::Update, ACQ_REL, thread(2, 0, 5), &none);
            assert_eq!(orders[2].acquired.covers(stamp(0, 0, 5)), reaches, "{scope:?}");
        }
    }

    #[test]
    fn order_passes_through_a_third_block() {
        let (mut logs, none) = (Logs::default(), Acquired::default());
        let (mut a, mut b, mut c) = (ThreadOrder::default(), ThreadOrder::default(), ThreadOrder::default());
        a.atomic(&mut logs, 8, AtomicOp::Update, ACQ_REL, thread(0, 0, 5), &none);
        b.atomic(&mut logs, 8, AtomicOp::Update, ACQ_REL, thread(1, 0, 3), &none);
        b.atomic(&mut logs, 16, AtomicOp::Update, ACQ_REL, thread(1, 0, 4), &none);
        c.atomic(&mut logs, 16, AtomicOp::Update, ACQ_REL, thread(2, 0, 1), &none);
        assert!(c.acquired.covers(stamp(0, 0, 5)));
        assert!(c.acquired.covers(stamp(1, 0, 4)));
    }

    #[test]
    fn a_store_starts_a_new_sequence() {
        let (mut logs, none) = (Logs::default(), Acquired::default());
        let (mut a, mut b, mut c) = (ThreadOrder::default(), ThreadOrder::default(), ThreadOrder::default());
        a.atomic(&mut logs, 8, AtomicOp::Update, ACQ_REL, thread(0, 0, 5), &none);
        b.atomic(&mut logs, 8, AtomicOp::Store, RELAXED, thread(1, 0, 5), &none);
        c.atomic(&mut logs, 8, AtomicOp::Load, (Order::Acquire, Scope::Device), thread(2, 0, 5), &none);
        assert!(!c.acquired.covers(stamp(0, 0, 5)));
    }

    /// Two threads that synchronise through two flags, as often as said. Gives the logs of one flag and of the other.
    fn ping_pong(logs: &mut Logs, times: u32, op: AtomicOp) -> Vec<std::rc::Weak<RefCell<Log>>> {
        let none = Acquired::default();
        let (mut made, mut orders) = (Vec::new(), <[ThreadOrder; 2]>::default());
        for clock in 1..=times {
            for (i, order) in orders.iter_mut().enumerate() {
                let this = thread(i as u32, 0, clock);
                order.atomic(logs, 8 * (1 - i), AtomicOp::Load, (Order::Acquire, Scope::Device), this, &none);
                order.atomic(logs, 8 * i, op, ACQ_REL, this, &none);
                made.push(Rc::downgrade(&logs.at(8 * i)));
            }
        }
        made
    }

    #[test]
    fn logs_that_hold_each_other_end_with_the_launch() {
        for op in [AtomicOp::Store, AtomicOp::Update] {
            let mut logs = Logs::default();
            let made = ping_pong(&mut logs, 3, op);
            assert!(made.iter().all(|log| log.strong_count() > 0), "{op:?}");
            drop(logs);
            assert!(made.iter().all(|log| log.strong_count() == 0), "{op:?}");
        }
    }

    #[test]
    fn logs_that_nothing_holds_are_dropped_before_the_launch_ends() {
        let (mut logs, none) = (Logs::default(), Acquired::default());
        let mut order = ThreadOrder::default();
        for clock in 1..=1000 {
            order.atomic(&mut logs, 8, AtomicOp::Store, ACQ_REL, thread(0, 0, clock), &none);
        }
        assert!(logs.all.len() <= 64, "{} logs", logs.all.len());
    }

    #[test]
    fn a_join_has_the_latest_clocks_of_its_members() {
        let first = Member { thread: 0, clock: 4, warp_epoch: 2, warp: 0..4, vector: None };
        let second =
            Member { thread: 5, clock: 7, warp_epoch: 0, warp: 4..8, vector: Some([0, 9, 0, 0, 0, 0, 0, 1].into()) };
        assert_eq!(*join(8, &[first, second]), [4, 9, 2, 2, 0, 7, 0, 1]);
    }
}

//! Which access came before which: happens-before with scalar clocks, and the exceptions that scalars cannot say.
//!
//! Every thread has a clock and stamps its accesses with it. In the common case three scalars decide whether a stamp of the
//! same block came before: `known` (everything up to here, by anyone in the block: set by a barrier of the whole block),
//! `known_warp` (the same for the warp: set by a `sync_warp` of the whole warp) and being the same thread. Barriers and warp
//! syncs of *some* threads need more: [`Rare::vector`] then holds, per thread of the block, the clock up to which this
//! thread knows it. Order through atomics, within and across blocks, is kept in logs: a release appends an entry, an acquire
//! remembers how long the log was. (`FastTrack`, Flanagan and Freund 2009, with the vectors left out where a scalar says the
//! same; release sequences and fences as in the PTX memory model.)

use crate::device::{Order, Scope};
use crate::tensor_map::TensorMap;
use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

/// What few lanes need.
#[derive(Default)]
pub(crate) struct Rare {
    /// Per thread of the block: the clock up to which its actions came before this thread's next one.
    pub(crate) vector: Option<Rc<[u32]>>,
    /// Logs this thread has acquired, with the length it saw.
    pub(crate) acquired: Acquired,
    /// Logs that a relaxed read has seen and a fence will acquire.
    pending: Vec<Seen>,
    /// What the last fence released, for the relaxed writes after it.
    fence: Option<Release>,
    /// Asynchronous copies: issued and not yet committed, and the groups under way, oldest first.
    pub(crate) copies: Copies,
    /// Matrix products of the warpgroup.
    pub(crate) products: Products,
    /// The copy engine's stores.
    pub(crate) stores: Stores,
    /// Clocks at which this thread fenced its writes for the copy engine, ascending.
    pub(crate) proxy_fences: Vec<u32>,
}

/// How far a thread has got with its warpgroup's matrix products, which are numbered from 1.
#[derive(Clone, Copy, Default)]
pub(crate) struct Products {
    /// The last one that this thread started.
    pub(crate) started: u64,
    /// The last one that it has waited for.
    pub(crate) awaited: u64,
}

/// Stores of one thread by the copy engine: not yet committed, and the groups that it has not waited for in full, oldest
/// first.
#[derive(Default)]
pub(crate) struct Stores {
    pub(crate) open: Vec<Store>,
    pub(crate) groups: VecDeque<Vec<Store>>,
}

/// One such store.
pub(crate) struct Store {
    /// The operation's number.
    pub(crate) number: u64,
    /// The read of shared memory that the shadow knows.
    pub(crate) token: u64,
    /// What it writes.
    pub(crate) map: TensorMap,
    pub(crate) at: [i32; 5],
    pub(crate) site: &'static std::panic::Location<'static>,
    /// Whether the thread has waited for that read.
    pub(crate) waited: bool,
}

/// Asynchronous copies of one thread.
#[derive(Default)]
pub(crate) struct Copies {
    pub(crate) open: Vec<Copy>,
    pub(crate) groups: VecDeque<Vec<Copy>>,
}

/// One asynchronous copy: its bytes were read when it was issued and land when it is waited for.
pub(crate) struct Copy {
    pub(crate) to: *mut u8,
    pub(crate) bytes: [u8; 16],
    pub(crate) len: usize,
    pub(crate) site: &'static std::panic::Location<'static>,
}

/// Everything one thread had done and knew at a release.
#[derive(Clone)]
struct Release {
    block: u32,
    thread: u16,
    warp: u16,
    clock: u32,
    known: u32,
    known_warp: u32,
    vector: Option<Rc<[u32]>>,
    /// Whether threads of other blocks are meant.
    wide: bool,
    /// What the releasing thread had acquired itself.
    acquired: Acquired,
}

/// The releases through one atomic place, in order.
#[derive(Default)]
pub(crate) struct Log {
    releases: Vec<Release>,
    by_block: HashMap<u32, Vec<u32>>,
    /// Releases whose thread had acquired another log: order may pass on through these.
    links: Vec<u32>,
}

/// A log and how much of it was seen.
#[derive(Clone)]
struct Seen {
    log: Rc<RefCell<Log>>,
    len: usize,
    wide: bool,
}

/// What was acquired, by one thread or by a block as a whole.
#[derive(Clone, Default)]
pub(crate) struct Acquired {
    seen: Vec<Seen>,
    /// What is known of other blocks of the cluster.
    peers: Vec<Peer>,
}

/// What is known of one block of a cluster by its number.
#[derive(Clone)]
struct Peer {
    block: u32,
    /// Everything that its threads did up to this clock came before, by a barrier of the cluster.
    met: u32,
    /// Per thread of it: the clock up to which its accesses to its block's shared memory are over, by arrivals at mbarriers.
    told: Option<Rc<[u32]>>,
}

/// No thread, no warp: in the stamp of an access by several, which is ordered only if any thread's at its clock would be.
pub(crate) const NOBODY: u16 = u16::MAX;

/// An access, as far as order goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stamp {
    pub(crate) block: u32,
    pub(crate) thread: u16,
    pub(crate) warp: u16,
    pub(crate) clock: u32,
}

/// Logs by the address of their atomic place.
#[derive(Default)]
pub(crate) struct Logs {
    by_address: HashMap<usize, Rc<RefCell<Log>>>,
}

/// Where a lane stands, for a release.
#[derive(Clone, Copy)]
pub(crate) struct Standing {
    pub(crate) block: u32,
    pub(crate) thread: u16,
    pub(crate) warp: u16,
    pub(crate) clock: u32,
    pub(crate) known: u32,
    pub(crate) known_warp: u32,
}

impl Acquired {
    pub(crate) fn is_empty(&self) -> bool {
        self.seen.is_empty() && self.peers.is_empty()
    }

    /// Everything that a block did up to this clock came before.
    pub(crate) fn meet(&mut self, block: u32, clock: u32) {
        let peer = self.peer_mut(block);
        peer.met = peer.met.max(clock);
    }

    /// What the threads of a block did in its shared memory up to these clocks is over.
    pub(crate) fn hear(&mut self, block: u32, clocks: &Rc<[u32]>) {
        let peer = self.peer_mut(block);
        peer.told = Some(match &peer.told {
            None => Rc::clone(clocks),
            Some(told) => later(told, clocks),
        });
    }

    /// What was heard of a block, no longer kept here.
    pub(crate) fn take_told(&mut self, block: u32) -> Option<Rc<[u32]>> {
        self.peers.iter_mut().find(|peer| peer.block == block)?.told.take()
    }

    /// Up to which clock everything of a block came before, and what was heard of it beyond.
    pub(crate) fn of_peer(&self, block: u32) -> (u32, Option<&Rc<[u32]>>) {
        let peer = self.peers.iter().find(|peer| peer.block == block);
        peer.map_or((0, None), |peer| (peer.met, peer.told.as_ref()))
    }

    fn peer_mut(&mut self, block: u32) -> &mut Peer {
        let at = self.peers.iter().position(|peer| peer.block == block).unwrap_or_else(|| {
            self.peers.push(Peer { block, met: 0, told: None });
            self.peers.len() - 1
        });
        &mut self.peers[at]
    }

    /// Takes over what `other` knows of the blocks of the cluster, and nothing else.
    pub(crate) fn merge_peers(&mut self, other: &Self) {
        for Peer { block, met, told } in &other.peers {
            self.meet(*block, *met);
            if let Some(told) = told {
                self.hear(*block, told);
            }
        }
    }

    /// Whether an access came before a barrier of the cluster that is behind.
    fn has_met(&self, stamp: Stamp) -> bool {
        self.peers.iter().any(|peer| peer.block == stamp.block && stamp.clock <= peer.met)
    }

    fn add(&mut self, new: Seen) {
        let old = self.seen.iter_mut().find(|old| Rc::ptr_eq(&old.log, &new.log) && old.wide == new.wide);
        match old {
            Some(old) => old.len = old.len.max(new.len),
            None => self.seen.push(new),
        }
    }

    /// Takes over what `other` acquired.
    pub(crate) fn merge(&mut self, other: &Self) {
        for seen in &other.seen {
            self.add(seen.clone());
        }
        self.merge_peers(other);
    }

    /// Whether some acquired release came after `stamp`, for a thread of block `reader`.
    pub(crate) fn covers(&self, stamp: Stamp, reader: u32) -> bool {
        if self.has_met(stamp) {
            return true;
        }
        let mut visited: Vec<(*const RefCell<Log>, usize)> = Vec::new();
        let mut todo: Vec<Seen> = self.seen.clone();
        while let Some(seen) = todo.pop() {
            let key = Rc::as_ptr(&seen.log);
            let from = match visited.iter_mut().find(|(log, _)| std::ptr::eq(*log, key)) {
                Some((_, len)) if *len >= seen.len => continue,
                Some((_, len)) => std::mem::replace(len, seen.len),
                None => {
                    visited.push((key, seen.len));
                    0
                }
            };
            let log = seen.log.borrow();
            let crosses = reader != stamp.block;
            let entries = log.by_block.get(&stamp.block).map_or(&[][..], Vec::as_slice);
            let hit = entries.iter().map(|&at| at as usize).take_while(|&at| at < seen.len).any(|at| {
                let release = &log.releases[at];
                (!crosses || release.wide && seen.wide) && release.covers(stamp)
            });
            if hit {
                return true;
            }
            for &at in log.links.iter().filter(|&&at| (from..seen.len).contains(&(at as usize))) {
                let acquired = &log.releases[at as usize].acquired;
                if acquired.has_met(stamp) {
                    return true;
                }
                todo.extend(acquired.seen.iter().cloned());
            }
        }
        false
    }
}

impl Release {
    fn covers(&self, stamp: Stamp) -> bool {
        stamp.clock <= self.known
            || stamp.thread == self.thread && stamp.clock <= self.clock
            || stamp.warp == self.warp && stamp.clock <= self.known_warp
            || self.vector.as_ref().and_then(|v| v.get(usize::from(stamp.thread))).is_some_and(|&v| stamp.clock <= v)
    }
}

impl Logs {
    fn at(&mut self, address: usize) -> Rc<RefCell<Log>> {
        Rc::clone(self.by_address.entry(address).or_default())
    }

    /// Forgets the logs of a range of addresses: a block's shared memory, when the block ends.
    pub(crate) fn forget(&mut self, range: std::ops::Range<usize>) {
        self.by_address.retain(|address, _| !range.contains(address));
    }
}

/// What an atomic operation does to its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    Load,
    Store,
    Update,
}

/// What an atomic operation did for the order of things.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Nothing for others.
    None,
    /// Relaxed, but after a fence: passes on what the fence released.
    PassesOn,
    /// Released what its thread had done, whose clock must rise.
    Releases,
}

impl Rare {
    fn release(&self, standing: Standing, scope: Scope, block: &Acquired) -> Release {
        let mut acquired = self.acquired.clone();
        acquired.merge(block);
        Release {
            block: standing.block,
            thread: standing.thread,
            warp: standing.warp,
            clock: standing.clock,
            known: standing.known,
            known_warp: standing.known_warp,
            vector: self.vector.clone(),
            wide: scope != Scope::Block,
            acquired,
        }
    }

    /// An atomic operation on the place at `address`.
    pub(crate) fn atomic(
        &mut self,
        logs: &mut Logs,
        address: usize,
        act: Act,
        (order, scope): (Order, Scope),
        standing: Standing,
        block: &Acquired,
    ) -> Effect {
        let log = logs.at(address);
        let wide = scope != Scope::Block;
        // The length before this operation's own release: an operation does not acquire what it releases itself.
        let len = log.borrow().releases.len();
        if act != Act::Store && len > 0 {
            let seen = Seen { log: Rc::clone(&log), len, wide };
            if matches!(order, Order::Acquire | Order::AcqRel) {
                self.acquired.add(seen);
            } else {
                self.pending.push(seen);
            }
        }
        if act == Act::Load {
            return Effect::None;
        }
        let released = matches!(order, Order::Release | Order::AcqRel);
        let entry = if released {
            Some(self.release(standing, scope, block))
        } else {
            self.fence.clone().map(|mut fence| {
                fence.wide &= wide;
                fence
            })
        };
        // A plain atomic store heads a new release sequence; read-modify-write operations continue the one they find.
        let log = if act == Act::Store {
            let fresh = Rc::<RefCell<Log>>::default();
            logs.by_address.insert(address, Rc::clone(&fresh));
            fresh
        } else {
            log
        };
        let effect = match &entry {
            None => Effect::None,
            Some(_) if released => Effect::Releases,
            Some(_) => Effect::PassesOn,
        };
        if let Some(entry) = entry {
            let elsewhere = entry.acquired.seen.iter().any(|seen| !Rc::ptr_eq(&seen.log, &log));
            let links = elsewhere || !entry.acquired.peers.is_empty();
            let mut log = log.borrow_mut();
            let at = log.releases.len() as u32;
            if links {
                log.links.push(at);
            }
            log.by_block.entry(entry.block).or_default().push(at);
            log.releases.push(entry);
        }
        effect
    }

    /// A fence: acquires what relaxed reads have seen, releases what came before for the relaxed writes to come.
    pub(crate) fn fence(&mut self, scope: Scope, standing: Standing, block: &Acquired) {
        for mut seen in std::mem::take(&mut self.pending) {
            seen.wide &= scope != Scope::Block;
            self.acquired.add(seen);
        }
        self.fence = Some(self.release(standing, scope, block));
    }
}

/// Joins what several threads know: per thread of the block the latest clock that any of them knows or has reached.
/// `members` are (linear index, clock, known, vector, warp range with its `known_warp`).
pub(crate) fn join(threads: usize, members: &[Member]) -> Rc<[u32]> {
    let mut joined = vec![0_u32; threads];
    let mut last: Option<*const [u32]> = None;
    for member in members {
        if let Some(vector) = &member.vector
            && last != Some(Rc::as_ptr(vector))
        {
            last = Some(Rc::as_ptr(vector));
            for (known, &other) in joined.iter_mut().zip(vector.iter()) {
                *known = (*known).max(other);
            }
        }
        for known in &mut joined[member.warp.clone()] {
            *known = (*known).max(member.known_warp);
        }
        let own = &mut joined[usize::from(member.thread)];
        *own = (*own).max(member.clock);
    }
    joined.into()
}

/// The later clock of each thread; one of the two, where it is nowhere behind the other.
fn later(a: &Rc<[u32]>, b: &Rc<[u32]>) -> Rc<[u32]> {
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
    pub(crate) known_warp: u32,
    pub(crate) warp: std::ops::Range<usize>,
    pub(crate) vector: Option<Rc<[u32]>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standing(block: u32, thread: u16, clock: u32) -> Standing {
        Standing { block, thread, warp: thread / 32, clock, known: clock - 1, known_warp: 0 }
    }
    fn stamp(block: u32, thread: u16, clock: u32) -> Stamp {
        Stamp { block, thread, warp: thread / 32, clock }
    }
    const ACQ_REL: (Order, Scope) = (Order::AcqRel, Scope::Device);
    const RELAXED: (Order, Scope) = (Order::Relaxed, Scope::Device);

    #[test]
    fn release_then_acquire_orders_across_blocks() {
        let (mut logs, none) = (Logs::default(), Acquired::default());
        let (mut a, mut b) = (Rare::default(), Rare::default());
        assert_eq!(a.atomic(&mut logs, 8, Act::Update, ACQ_REL, standing(0, 0, 5), &none), Effect::Releases);
        assert!(!b.acquired.covers(stamp(0, 0, 5), 1));
        b.atomic(&mut logs, 8, Act::Update, ACQ_REL, standing(1, 0, 2), &none);
        assert!(b.acquired.covers(stamp(0, 0, 5), 1), "the releasing thread's own clock");
        assert!(b.acquired.covers(stamp(0, 7, 4), 1), "what the releasing block knew");
        assert!(!b.acquired.covers(stamp(0, 7, 5), 1), "another thread's later access");
        assert!(!b.acquired.covers(stamp(0, 0, 6), 1), "an access after the release");
    }

    #[test]
    fn relaxed_needs_fences_on_both_sides() {
        let none = Acquired::default();
        for (before, after) in [(false, false), (true, false), (false, true), (true, true)] {
            let mut logs = Logs::default();
            let (mut a, mut b) = (Rare::default(), Rare::default());
            if before {
                a.fence(Scope::Device, standing(0, 0, 5), &none);
            }
            a.atomic(&mut logs, 8, Act::Update, RELAXED, standing(0, 0, 6), &none);
            b.atomic(&mut logs, 8, Act::Update, RELAXED, standing(1, 0, 2), &none);
            if after {
                b.fence(Scope::Device, standing(1, 0, 2), &none);
            }
            assert_eq!(b.acquired.covers(stamp(0, 0, 5), 1), before && after, "fence before {before}, after {after}");
            assert!(!b.acquired.covers(stamp(0, 0, 6), 1), "the access after the fence is never ordered");
        }
    }

    #[test]
    fn block_scope_does_not_reach_other_blocks() {
        let (mut logs, none) = (Logs::default(), Acquired::default());
        let (mut a, mut b, mut c) = (Rare::default(), Rare::default(), Rare::default());
        a.fence(Scope::Block, standing(0, 0, 5), &none);
        a.atomic(&mut logs, 8, Act::Update, RELAXED, standing(0, 0, 6), &none);
        b.atomic(&mut logs, 8, Act::Update, ACQ_REL, standing(1, 0, 2), &none);
        assert!(!b.acquired.covers(stamp(0, 0, 5), 1));
        c.atomic(&mut logs, 8, Act::Update, ACQ_REL, standing(0, 9, 2), &none);
        assert!(c.acquired.covers(stamp(0, 0, 5), 0), "within the block it does");
    }

    #[test]
    fn order_passes_through_a_third_block() {
        let (mut logs, none) = (Logs::default(), Acquired::default());
        let (mut a, mut b, mut c) = (Rare::default(), Rare::default(), Rare::default());
        a.atomic(&mut logs, 8, Act::Update, ACQ_REL, standing(0, 0, 5), &none);
        b.atomic(&mut logs, 8, Act::Update, ACQ_REL, standing(1, 0, 3), &none);
        b.atomic(&mut logs, 16, Act::Update, ACQ_REL, standing(1, 0, 4), &none);
        c.atomic(&mut logs, 16, Act::Update, ACQ_REL, standing(2, 0, 1), &none);
        assert!(c.acquired.covers(stamp(0, 0, 5), 2));
        assert!(c.acquired.covers(stamp(1, 0, 4), 2));
    }

    #[test]
    fn a_store_starts_a_new_sequence() {
        let (mut logs, none) = (Logs::default(), Acquired::default());
        let (mut a, mut b, mut c) = (Rare::default(), Rare::default(), Rare::default());
        a.atomic(&mut logs, 8, Act::Update, ACQ_REL, standing(0, 0, 5), &none);
        b.atomic(&mut logs, 8, Act::Store, RELAXED, standing(1, 0, 5), &none);
        c.atomic(&mut logs, 8, Act::Load, (Order::Acquire, Scope::Device), standing(2, 0, 5), &none);
        assert!(!c.acquired.covers(stamp(0, 0, 5), 2));
    }

    #[test]
    fn a_join_knows_what_its_members_knew() {
        let first = Member { thread: 0, clock: 4, known_warp: 2, warp: 0..4, vector: None };
        let second =
            Member { thread: 5, clock: 7, known_warp: 0, warp: 4..8, vector: Some([0, 9, 0, 0, 0, 0, 0, 1].into()) };
        assert_eq!(*join(8, &[first, second]), [4, 9, 2, 2, 0, 7, 0, 1]);
    }
}

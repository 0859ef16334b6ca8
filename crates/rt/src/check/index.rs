//! From a hash to the numbers that have it: a table that grows, for nodes that are numbered and never go away.
//!
//! The simple model: a list of numbers for each bucket, linked through the nodes. The owner of the nodes keeps each node's link
//! to the next; the table has the lists' heads. There are at least as many buckets as nodes.
//!
//! Guarantee: who looks takes no lock. It may overlook what is there while the table grows or another adds, so who has found
//! nothing looks again with the lock before adding. Where a table was stays readable: together old ones take a third of the last.
//! Cost: a bucket, and one or two nodes.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::platform::os::{self, Spin};

/// The logarithm of how many buckets there are at first, and how much it rises.
const FIRST: u32 = 12;
const RISE: u32 = 2;
const LOG_SHIFT: u32 = 56;

/// See the [module](self).
#[derive(Debug)]
pub struct Index {
    /// Where the table is, and in the upper bits the logarithm of its size.
    table: AtomicU64,
    nodes: AtomicU32,
    lock: Spin,
}

/// The nodes that an index numbers, from 1 on.
pub trait Nodes {
    /// What is looked for.
    type Key: Copy;
    fn hash(key: Self::Key) -> u64;
    fn key(&self, number: u32) -> Self::Key;
    fn is(&self, number: u32, key: Self::Key) -> bool;
    /// The next in the same bucket.
    fn next(&self, number: u32) -> &AtomicU32;
    /// A new node. None: there is no room.
    fn add(&self, key: Self::Key) -> Option<u32>;
}

#[derive(Clone, Copy)]
struct Table {
    buckets: *const AtomicU32,
    log: u32,
}

impl Table {
    fn new(log: u32) -> Table {
        Table {
            buckets: os::reserve_or_die(4 << log) as *const AtomicU32,
            log,
        }
    }

    #[inline]
    fn bucket(&self, hash: u64) -> &AtomicU32 {
        // SAFETY: the table is that long, and never unmapped.
        unsafe { &*self.buckets.add((hash >> (64 - self.log)) as usize) }
    }

    fn push<N: Nodes>(&self, nodes: &N, number: u32) {
        let bucket = self.bucket(N::hash(nodes.key(number)));
        let head = bucket.load(Ordering::Relaxed);
        nodes.next(number).store(head, Ordering::Release);
        bucket.store(number, Ordering::Release);
    }
}

impl Index {
    pub fn new() -> Index {
        let index = Index {
            table: AtomicU64::new(0),
            nodes: AtomicU32::new(0),
            lock: Spin::new(),
        };
        index.set(Table::new(FIRST));
        index
    }

    #[inline]
    fn table(&self) -> Table {
        let table = self.table.load(Ordering::Acquire);
        Table {
            buckets: (table & ((1 << LOG_SHIFT) - 1)) as *const AtomicU32,
            log: (table >> LOG_SHIFT) as u32,
        }
    }

    fn set(&self, table: Table) {
        let log = u64::from(table.log) << LOG_SHIFT;
        self.table
            .store(log | table.buckets as u64, Ordering::Release);
    }

    /// The number of the node with this key, which is added if there is none. None: there is no room.
    #[inline]
    pub fn number<N: Nodes>(&self, nodes: &N, key: N::Key) -> Option<u32> {
        self.find(nodes, key).or_else(|| self.add(nodes, key))
    }

    #[inline]
    fn find<N: Nodes>(&self, nodes: &N, key: N::Key) -> Option<u32> {
        let mut at = self.table().bucket(N::hash(key)).load(Ordering::Acquire);
        while at != 0 {
            if nodes.is(at, key) {
                return Some(at);
            }
            at = nodes.next(at).load(Ordering::Acquire);
        }
        None
    }

    #[cold]
    #[inline(never)]
    fn add<N: Nodes>(&self, nodes: &N, key: N::Key) -> Option<u32> {
        let _guard = self.lock.lock();
        if let Some(number) = self.find(nodes, key) {
            return Some(number);
        }
        let number = nodes.add(key)?;
        let table = self.table();
        table.push(nodes, number);
        let count = self.nodes.fetch_add(1, Ordering::Relaxed) + 1;
        if count >= 1 << table.log && table.log < 30 {
            self.grow(nodes, table);
        }
        Some(number)
    }

    /// Moves each node into a larger table, each list by itself: who looks meanwhile may pass from one into the other.
    fn grow<N: Nodes>(&self, nodes: &N, old: Table) {
        let new = Table::new(old.log + RISE);
        for index in 0..1u64 << old.log {
            let mut at = old.bucket(index << (64 - old.log)).load(Ordering::Relaxed);
            while at != 0 {
                let next = nodes.next(at).load(Ordering::Relaxed);
                new.push(nodes, at);
                at = next;
            }
        }
        self.set(new);
    }

    /// Nobody holds the lock: for the only thread of a forked child.
    pub fn reset_lock(&self) {
        self.lock.reset();
    }
}

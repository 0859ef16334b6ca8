//! Chains as numbers: a call stack, or a set of locks held, in 32 bits.
//!
//! The simple model: a table of all pairs (rest of the chain, address), where a chain's number is its place in
//! the table. Chains 0 and [`ROOT`] are empty. The same chain always has the same number; a full table answers 0.
//!
//! Guarantee: any number of threads use it without locks. Two that add a chain at the same time may
//! give it two numbers, each of which leads to the same addresses.
//! Cost: one look at a bucket. 16 bytes a chain; chains are never given back.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::os;

const BUCKETS: usize = 1 << 20;
/// Another name of the empty chain, for those to whom 0 means that they do not know.
pub const ROOT: u32 = 1;

/// See the [module](self).
#[derive(Debug)]
pub struct Depot {
    buckets: *const AtomicU32,
    nodes: *mut Node,
    capacity: u32,
    used: AtomicU32,
}

#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct Node {
    address: u64,
    rest: u32,
    next: u32,
}

// SAFETY: a node is written by the thread that took its number, before a bucket refers to it, and never again.
unsafe impl Sync for Depot {}
// SAFETY: as above.
unsafe impl Send for Depot {}

impl Depot {
    /// An empty one with room for so many chains.
    pub fn new(capacity: u32) -> Depot {
        Depot {
            buckets: os::reserve_or_die(BUCKETS * 4) as *const AtomicU32,
            nodes: os::reserve_or_die(capacity as usize * size_of::<Node>()) as *mut Node,
            capacity,
            used: AtomicU32::new(ROOT + 1),
        }
    }

    /// The number of the chain that has `address` in front of chain `rest`.
    pub fn chain(&self, rest: u32, address: u64) -> u32 {
        let hash =
            (address ^ u64::from(rest) << 40 ^ u64::from(rest)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        // SAFETY: the index is below BUCKETS.
        let bucket = unsafe { &*self.buckets.add((hash >> 44) as usize % BUCKETS) };
        let mut fresh = None;
        loop {
            let head = bucket.load(Ordering::Acquire);
            let mut at = head;
            while at != 0 {
                // SAFETY: numbers in buckets are of nodes that have been written.
                let node = unsafe { *self.nodes.add(at as usize) };
                if node.address == address && node.rest == rest {
                    return at;
                }
                at = node.next;
            }
            let number = match fresh {
                Some(number) => number,
                None if self.used.load(Ordering::Relaxed) >= self.capacity => return 0,
                None => self.used.fetch_add(1, Ordering::Relaxed),
            };
            if number >= self.capacity {
                return 0;
            }
            fresh = Some(number);
            let node = Node {
                address,
                rest,
                next: head,
            };
            // SAFETY: the number is this thread's alone until the bucket has it.
            unsafe { self.nodes.add(number as usize).write(node) };
            if bucket
                .compare_exchange(head, number, Ordering::Release, Ordering::Relaxed)
                .is_ok()
            {
                return number;
            }
        }
    }

    /// The addresses of a chain, from the front.
    pub fn addresses(&self, chain: u32) -> impl Iterator<Item = u64> {
        let mut at = chain;
        std::iter::from_fn(move || {
            if at <= ROOT {
                return None;
            }
            // SAFETY: every number but 0 that was given out is of a node that has been written.
            let node = unsafe { *self.nodes.add(at as usize) };
            at = node.rest;
            Some(node.address)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_has_one_number_and_leads_to_its_addresses() {
        let depot = Depot::new(10_000);
        let mut rng = fastrand::Rng::with_seed(1);
        let mut numbers = std::collections::HashMap::new();
        for _ in 0..20_000 {
            let chain: Vec<u64> = (0..rng.usize(1..6)).map(|_| rng.u64(..4)).collect();
            let number = chain
                .iter()
                .rev()
                .fold(0, |rest, &address| depot.chain(rest, address));
            assert_eq!(*numbers.entry(chain.clone()).or_insert(number), number);
            assert_eq!(depot.addresses(number).collect::<Vec<_>>(), chain);
        }
        let distinct: std::collections::HashSet<_> = numbers.values().collect();
        assert_eq!(distinct.len(), numbers.len());
        let full = Depot::new(4);
        assert_eq!(
            [full.chain(0, 1), full.chain(0, 2), full.chain(0, 3)],
            [2, 3, 0]
        );
    }
}

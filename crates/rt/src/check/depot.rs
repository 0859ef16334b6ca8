//! Chains as numbers: a call stack, or a set of locks held, in 32 bits.
//!
//! The simple model: a table of all pairs (rest of the chain, address), where a chain's number is its place in
//! the table. Chains 0 and [`ROOT`] are empty. The same chain always has the same number; a full table answers 0.
//!
//! Guarantee: any number of threads use it without locks. Two that add a chain at the same time may
//! give it two numbers, each of which leads to the same addresses.
//! Cost: a look at a bucket, or two. 16 bytes a chain; chains are never given back.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::platform::os;

const BUCKETS: usize = 1 << 20;
/// How many chains with the same rest are kept near each other, in each of sixteen buckets.
const FEW: usize = 3;
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
        let spread = |value: u64| value.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 44;
        // The first few chains with the same rest are near each other: they are needed one after the other. More
        // of them go wherever they may.
        let near = spread(u64::from(rest)) & !15 | spread(address) & 15;
        let (near, length) = match self.find(near, rest, address) {
            Ok(number) => return number,
            Err(length) => (near, length),
        };
        let far = spread(address ^ u64::from(rest) << 40 ^ u64::from(rest));
        match self.find(far, rest, address) {
            Ok(number) => number,
            Err(_) => self.add(if length < FEW { near } else { far }, rest, address),
        }
    }

    fn bucket(&self, index: u64) -> &AtomicU32 {
        // SAFETY: the index is below BUCKETS.
        unsafe { &*self.buckets.add(index as usize % BUCKETS) }
    }

    /// The number of a chain that is in a bucket, or how many others are there.
    #[inline]
    fn find(&self, bucket: u64, rest: u32, address: u64) -> Result<u32, usize> {
        let mut at = self.bucket(bucket).load(Ordering::Acquire);
        let mut length = 0;
        while at != 0 {
            // SAFETY: numbers in buckets are of nodes that have been written.
            let node = unsafe { *self.nodes.add(at as usize) };
            if node.address == address && node.rest == rest {
                return Ok(at);
            }
            length += 1;
            at = node.next;
        }
        Err(length)
    }

    #[cold]
    fn add(&self, bucket: u64, rest: u32, address: u64) -> u32 {
        if self.used.load(Ordering::Relaxed) >= self.capacity {
            return 0;
        }
        let number = self.used.fetch_add(1, Ordering::Relaxed);
        if number >= self.capacity {
            return 0;
        }
        let bucket = self.bucket(bucket);
        let mut next = bucket.load(Ordering::Relaxed);
        loop {
            // SAFETY: the number is this thread's alone until the bucket has it.
            unsafe {
                self.nodes.add(number as usize).write(Node {
                    address,
                    rest,
                    next,
                })
            };
            match bucket.compare_exchange(next, number, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return number,
                Err(other) => next = other,
            }
        }
    }

    /// The chain that another one has an address in front of, and that address. The number is not of an empty chain.
    pub fn link(&self, chain: u32) -> (u32, u64) {
        // SAFETY: every number that was given out, but those of the empty chain, is of a node that has been written.
        let node = unsafe { *self.nodes.add(chain as usize) };
        (node.rest, node.address)
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

//! Chains as numbers: a call stack, or a set of locks held, in 32 bits.
//!
//! The simple model: a table of all pairs (rest of the chain, address), where a chain's number is its place in
//! the table. Chains 0 and [`ROOT`] are empty. The same chain always has the same number; a full table answers 0.
//!
//! Cost: that of an [`Index`]. 20 to 36 bytes a chain; chains are never given back.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::check::index::{Index, Nodes};
use crate::platform::os;

/// Another name of the empty chain, for those to whom 0 means that they do not know.
pub const ROOT: u32 = 1;

/// See the [module](self).
#[derive(Debug)]
pub struct Depot {
    index: Index,
    chains: Chains,
}

#[derive(Debug)]
struct Chains {
    nodes: *mut Node,
    capacity: u32,
    used: AtomicU32,
}

#[derive(Debug)]
#[repr(C)]
struct Node {
    address: u64,
    rest: u32,
    next: AtomicU32,
}

// SAFETY: a node is written before its number is known to anyone, and its address and rest never again.
unsafe impl Sync for Chains {}
// SAFETY: as above.
unsafe impl Send for Chains {}

impl Chains {
    #[inline]
    fn node(&self, number: u32) -> &Node {
        // SAFETY: numbers that were given out are of nodes that have been written; the empty chains' are zeros.
        unsafe { &*self.nodes.add(number as usize) }
    }
}

impl Nodes for Chains {
    type Key = (u32, u64);

    #[inline]
    fn hash((rest, address): (u32, u64)) -> u64 {
        (address ^ u64::from(rest) << 40 ^ u64::from(rest)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }

    fn key(&self, number: u32) -> (u32, u64) {
        let node = self.node(number);
        (node.rest, node.address)
    }

    #[inline]
    fn is(&self, number: u32, key: (u32, u64)) -> bool {
        self.key(number) == key
    }

    #[inline]
    fn next(&self, number: u32) -> &AtomicU32 {
        &self.node(number).next
    }

    fn add(&self, (rest, address): (u32, u64)) -> Option<u32> {
        let number = self.used.load(Ordering::Relaxed);
        if number >= self.capacity {
            return None;
        }
        self.used.store(number + 1, Ordering::Relaxed);
        let next = AtomicU32::new(0);
        let node = Node {
            address,
            rest,
            next,
        };
        // SAFETY: nobody else adds, and nobody knows the number yet.
        unsafe { self.nodes.add(number as usize).write(node) };
        Some(number)
    }
}

impl Depot {
    /// An empty one with room for so many chains.
    pub fn new(capacity: u32) -> Depot {
        Depot {
            index: Index::new(),
            chains: Chains {
                nodes: os::reserve_or_die(capacity as usize * size_of::<Node>()) as *mut Node,
                capacity,
                used: AtomicU32::new(ROOT + 1),
            },
        }
    }

    /// The number of the chain that has `address` in front of chain `rest`.
    pub fn chain(&self, rest: u32, address: u64) -> u32 {
        self.index
            .number(&self.chains, (rest, address))
            .unwrap_or(0)
    }

    /// The addresses of a chain, from the front.
    pub fn addresses(&self, chain: u32) -> impl Iterator<Item = u64> {
        let mut at = chain;
        std::iter::from_fn(move || {
            if at <= ROOT {
                return None;
            }
            let node = self.chains.node(at);
            at = node.rest;
            Some(node.address)
        })
    }

    /// Nobody holds a lock: for the only thread of a forked child.
    pub fn reset_lock(&self) {
        self.index.reset_lock();
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
            let chain: Vec<u64> = (0..rng.usize(1..7)).map(|_| rng.u64(..4)).collect();
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

    #[test]
    fn threads_that_add_the_same_chains_while_it_grows_agree_on_their_numbers() {
        let depot = Depot::new(200_000);
        let numbers = || {
            let number = |at: u32| depot.chain(at % 7, u64::from(at) * 8);
            (0..100_000).map(number).collect::<Vec<_>>()
        };
        std::thread::scope(|scope| {
            let threads = [(); 3].map(|()| scope.spawn(numbers));
            let [a, b, c] = threads.map(|thread| thread.join().unwrap());
            assert!(a == b && b == c);
            let distinct: std::collections::HashSet<_> = a.iter().collect();
            assert_eq!(distinct.len(), a.len());
        });
    }
}

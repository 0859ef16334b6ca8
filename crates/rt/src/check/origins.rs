//! Where the accesses that marks tell of came from, as numbers below 2²⁴.
//!
//! The simple model: a table of all triples (chain of callers, set of locks, [`Site`] in the innermost function), where the
//! number is the place in the table.
//!
//! What a function does while it runs, with the same locks held, has all but the site in common. So sites lie in groups: a line
//! of the cache has a chain, a set of locks and up to twelve sites, by the lower part of their addresses. A frame of the call
//! stack remembers the group that it has used last, so that a number is found by comparing two words of one line. Functions with
//! more sites have several groups; to those a thread's own cache leads.
//!
//! Guarantee: any number of threads use it at once. An origin may get two numbers, each of which leads to it.
//! Cost: a line of the cache while a function runs with the same locks; an [`Index`]'s at its first access. 64 bytes a group,
//! never given back.

use std::sync::atomic::{AtomicU32, Ordering};

use deadheat_model::finding::AccessCause;
use deadheat_online::mark::ORIGINS;

use crate::check::index::{Index, Nodes};
use crate::check::origin::{self, CHAINS, LOCKSETS};
use crate::platform::os;

/// How many sites a group has, and the first of its numbers that is one.
const SITES: usize = 12;
const FIRST: u32 = 4;
const LOG: u32 = 4;
const GROUPS: u32 = ORIGINS >> LOG;

/// A place in the code, and what touches memory there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Site {
    pub code: usize,
    pub cause: AccessCause,
}

impl Site {
    /// What tells it from the others of its group; 0 is none.
    fn key(self) -> u32 {
        (self.code as u32 % (1 << LOWER)) | ((self.cause as u32) << LOWER)
    }
}

/// So many bits of an address, and the cause, tell a site from the others of its group.
const LOWER: u32 = 29;
/// How many are next to the set of locks. One is left, next to the chain.
const UPPER: u32 = 17;

/// What the sites of a group have in common beside their callers: the set of locks held, and the upper part of the address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Common(u64);

impl Common {
    #[inline(always)]
    pub fn new(locks: u32, code: usize) -> Common {
        let upper = (code >> LOWER) as u64 % (1 << (UPPER + 1));
        Common(u64::from(locks % LOCKSETS) | upper << LOCKSETS.ilog2())
    }

    /// All of it, as a number of 33 bits.
    #[inline(always)]
    pub fn bits(self) -> u64 {
        self.0
    }

    fn locks(self) -> u32 {
        self.0 as u32 % LOCKSETS
    }

    fn upper(self) -> usize {
        (self.0 >> LOCKSETS.ilog2()) as usize
    }
}

/// See the [module](self).
#[derive(Debug)]
pub struct Origins {
    index: Index,
    groups: Groups,
}

#[derive(Debug)]
struct Groups {
    first: *mut Group,
    used: AtomicU32,
}

#[derive(Debug)]
#[repr(C, align(64))]
struct Group {
    /// The chain of callers, and above it the highest bit of what is in common.
    chain: u32,
    common: u32,
    /// The next group in the index's bucket.
    next: AtomicU32,
    /// The group with more sites of the same, or 0.
    more: AtomicU32,
    /// The lower halves of addresses; 0 is none.
    sites: [AtomicU32; SITES],
}

const _: () = assert!(size_of::<Group>() == 64 && FIRST as usize + SITES == 1 << LOG);

// SAFETY: a group's chain and locks are written before its number is known to anyone, and the rest are atomics.
unsafe impl Sync for Groups {}
// SAFETY: as above.
unsafe impl Send for Groups {}

impl Group {
    #[inline(always)]
    fn common(&self) -> Common {
        Common(u64::from(self.chain / CHAINS) << 32 | u64::from(self.common))
    }
}

impl Groups {
    #[inline(always)]
    fn get(&self, number: u32) -> &Group {
        // SAFETY: there are so many; those that were never given out are zeros.
        unsafe { &*self.first.add((number % GROUPS) as usize) }
    }

    fn add_group(&self, chain: u32, common: Common) -> Option<u32> {
        let number = self
            .used
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
                (used < GROUPS).then_some(used + 1)
            })
            .ok()?;
        let group = Group {
            chain: (chain % CHAINS) | (((common.0 >> 32) as u32) * CHAINS),
            common: common.0 as u32,
            next: AtomicU32::new(0),
            more: AtomicU32::new(0),
            sites: [const { AtomicU32::new(0) }; SITES],
        };
        // SAFETY: within the table, and nobody knows the number yet.
        unsafe { self.first.add(number as usize).write(group) };
        Some(number)
    }
}

impl Nodes for Groups {
    type Key = (u32, Common);

    #[inline]
    fn hash((chain, common): (u32, Common)) -> u64 {
        (u64::from(chain) << 37 ^ common.0)
            .wrapping_mul(0x9E37_79B9_7F4A_7C15)
            .wrapping_mul(0xD6E8_FEB8_6659_FD93)
    }

    fn key(&self, number: u32) -> (u32, Common) {
        let group = self.get(number);
        (group.chain % CHAINS, group.common())
    }

    #[inline]
    fn is(&self, number: u32, key: (u32, Common)) -> bool {
        self.key(number) == key
    }

    #[inline]
    fn next(&self, number: u32) -> &AtomicU32 {
        &self.get(number).next
    }

    fn add(&self, (chain, common): (u32, Common)) -> Option<u32> {
        self.add_group(chain, common)
    }
}

impl Group {
    /// Where a site is looked for first.
    #[inline(always)]
    fn start(site: Site) -> usize {
        let mixed = site.key().wrapping_mul(0x9E37_79B9) >> 16;
        (mixed as usize * SITES) >> 16
    }

    /// Where a site is from now on, if there is room.
    fn any(&self, site: Site) -> Option<usize> {
        let code = site.key();
        let start = Group::start(site);
        let takes = |at: &usize| {
            let there = &self.sites[*at];
            let order = Ordering::Relaxed;
            if there.load(order) == 0 {
                // Another thread may be quicker, perhaps with the same.
                let _ = there.compare_exchange(0, code, order, order);
            }
            there.load(order) == code
        };
        (start..SITES).chain(0..start).find(takes)
    }
}

impl Origins {
    /// None.
    pub fn new() -> Origins {
        let first = os::reserve_or_die(GROUPS as usize * size_of::<Group>()) as *mut Group;
        // SAFETY: within the table, which nobody else has yet. The first group is nobody's.
        unsafe { (*first).chain = u32::MAX };
        Origins {
            index: Index::new(),
            groups: Groups {
                first,
                used: AtomicU32::new(1),
            },
        }
    }

    /// Whether a group's sites have this in common: those of group 0 have nothing.
    #[inline(always)]
    pub fn has(&self, group: u32, common: Common) -> bool {
        self.groups.get(group).common() == common
    }

    /// The first group of a chain, of sites with this in common. 0: there is no room.
    #[inline(never)]
    pub fn group(&self, chain: u32, common: Common) -> u32 {
        self.index
            .number(&self.groups, (chain % CHAINS, common))
            .unwrap_or(0)
    }

    /// The number of an origin whose site is in this group or one that follows, or is added. 0: there is no room.
    #[inline(never)]
    pub fn number(&self, group: u32, site: Site) -> u32 {
        let mut number = group;
        if number == 0 || site.key() == 0 {
            return 0;
        }
        loop {
            let group = self.groups.get(number);
            if let Some(at) = group.any(site) {
                return number << LOG | (FIRST + at as u32);
            }
            number = match group.more.load(Ordering::Acquire) {
                0 => {
                    let Some(new) = self.groups.add_group(group.chain, group.common()) else {
                        return 0;
                    };
                    let put =
                        group
                            .more
                            .compare_exchange(0, new, Ordering::AcqRel, Ordering::Acquire);
                    // What another thread has put there first serves as well; the new one is nobody's.
                    put.err().unwrap_or(new)
                }
                more => more,
            };
        }
    }

    /// What has a number other than 0: the chain of callers, the locks and the site.
    pub fn of(&self, number: u32) -> (u32, u32, Site) {
        let group = self.groups.get(number >> LOG);
        let at = (number % (1 << LOG)).saturating_sub(FIRST) as usize;
        let (key, common) = (group.sites[at].load(Ordering::Relaxed), group.common());
        let site = Site {
            code: (common.upper() << LOWER) | (key as usize % (1 << LOWER)),
            cause: origin::cause(key >> LOWER),
        };
        (group.chain % CHAINS, common.locks(), site)
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
    fn an_origin_has_a_number_that_leads_to_it() {
        let origins = Origins::new();
        let mut rng = fastrand::Rng::with_seed(3);
        let mut numbers = std::collections::HashMap::new();
        for _ in 0..50_000 {
            let (chain, locks) = (rng.u32(..100), rng.u32(..20));
            let site = Site {
                code: rng.usize(1..40) * 4 + ([0, 1 << 29, 1 << 32, 1 << 46][rng.usize(..4)]),
                cause: origin::cause(rng.u32(..6)),
            };
            let common = Common::new(locks, site.code);
            let group = origins.group(chain, common);
            assert!(origins.has(group, common));
            assert!(!origins.has(0, common));
            let number = origins.number(group, site);
            assert_ne!(number, 0);
            assert_eq!(origins.of(number), (chain, locks, site));
            assert_eq!(origins.number(group, site), number);
            let key = (chain, locks, site.code, site.cause as u32);
            assert_eq!(*numbers.entry(key).or_insert(number), number);
        }
        let distinct: std::collections::HashSet<_> = numbers.values().collect();
        assert_eq!(distinct.len(), numbers.len());
    }
}

//! Where an access came from, in 64 bits: its call stack, the locks held and what it was part of; or the number that says so
//! among the [origins](crate::check::origins) of a program of threads.
//!
//! A call stack is the chain of callers and the place in the innermost function. Places are few and chains are
//! many, so each has its own table: a function that makes ten accesses needs one new chain, not ten.

use deadheat_model::finding::AccessCause;

use crate::check::origins::{Common, Site};
use crate::platform::world::world;

const CHAIN_BITS: u32 = 27;
const PLACE_BITS: u32 = 19;
const LOCKS_BITS: u32 = 15;
/// Instead of a cause: the rest is a number.
const NUMBERED: u64 = 7 << (CHAIN_BITS + PLACE_BITS + LOCKS_BITS);
/// How many chains, places and sets of locks there can be.
pub const CHAINS: u32 = 1 << CHAIN_BITS;
pub const PLACES: u32 = 1 << PLACE_BITS;
pub const LOCKSETS: u32 = 1 << LOCKS_BITS;

/// A call stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
pub struct Stack {
    pub chain: u32,
    /// The number of the place in the innermost function; 0: none.
    pub place: u32,
}

impl Stack {
    /// Code at an address, in a function with this chain of callers.
    #[inline]
    pub fn new(chain: u32, code: usize) -> Stack {
        match world().places.chain(0, code as u64) {
            // Too many places: this one becomes a link of the chain.
            0 => Stack {
                chain: world().stacks.chain(chain, code as u64),
                place: 0,
            },
            place => Stack { chain, place },
        }
    }

    /// Its code addresses, innermost first.
    pub fn addresses(self) -> impl Iterator<Item = u64> {
        world()
            .places
            .addresses(self.place)
            .chain(world().stacks.addresses(self.chain))
    }
}

/// The cause with this number. Three bits are for it.
#[inline]
pub fn cause(number: u32) -> AccessCause {
    const CAUSES: [AccessCause; 8] = [
        AccessCause::Instruction,
        AccessCause::Range,
        AccessCause::Free,
        AccessCause::VirtualTable,
        AccessCause::LockTaken,
        AccessCause::LockDestroyed,
        AccessCause::LockLife,
        AccessCause::Instruction,
    ];
    CAUSES[number as usize & 7]
}

/// See the [module](self).
#[derive(Clone, Copy, Debug)]
pub struct Origin(pub u64);

impl Origin {
    #[inline]
    pub fn new(stack: Stack, locks: u32, cause: AccessCause) -> Origin {
        let Stack { chain, place } = stack;
        let above = (u64::from(locks) << PLACE_BITS | u64::from(place)) << CHAIN_BITS;
        Origin((cause as u64) << (CHAIN_BITS + PLACE_BITS + LOCKS_BITS) | above | u64::from(chain))
    }

    /// Its number in a mark. 0: it has none.
    #[inline]
    pub fn number(self) -> u32 {
        match self.is_numbered() {
            true => self.0 as u32,
            false => self.find_number(),
        }
    }

    #[cold]
    fn find_number(self) -> u32 {
        let Stack { chain, place } = self.stack();
        let Some(code) = world().places.addresses(place).next() else {
            return 0;
        };
        let (origins, locks, cause) = (&world().origins, self.locks(), self.cause());
        let site = Site {
            code: code as usize,
            cause,
        };
        let group = origins.group(chain, Common::new(locks, site.code));
        origins.number(group, site)
    }

    /// The origin that has a number other than 0.
    #[inline]
    pub fn of_number(number: u32) -> Origin {
        Origin(NUMBERED | u64::from(number))
    }

    #[inline]
    fn is_numbered(self) -> bool {
        self.0 & NUMBERED == NUMBERED
    }

    /// What its number stands for: the chain of callers, the locks and the site.
    #[inline]
    fn numbered(self) -> Option<(u32, u32, Site)> {
        self.is_numbered()
            .then(|| world().origins.of(self.0 as u32))
    }

    pub fn stack(self) -> Stack {
        match self.numbered() {
            Some((chain, _, site)) => Stack::new(chain, site.code),
            None => Stack {
                chain: self.0 as u32 % CHAINS,
                place: (self.0 >> CHAIN_BITS) as u32 % PLACES,
            },
        }
    }

    #[inline]
    pub fn locks(self) -> u32 {
        match self.numbered() {
            Some((_, locks, _)) => locks,
            None => (self.0 >> (CHAIN_BITS + PLACE_BITS)) as u32 % LOCKSETS,
        }
    }

    pub fn cause(self) -> AccessCause {
        match self.numbered() {
            Some((_, _, site)) => site.cause,
            None => cause((self.0 >> (CHAIN_BITS + PLACE_BITS + LOCKS_BITS)) as u32),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_keeps_what_it_is_made_of() {
        for (chain, place, locks) in [(0, 0, 0), (CHAINS - 1, 0, LOCKSETS - 1), (1, PLACES - 1, 5)]
        {
            for made_of in [
                AccessCause::Instruction,
                AccessCause::Range,
                AccessCause::Free,
                AccessCause::VirtualTable,
                AccessCause::LockTaken,
                AccessCause::LockDestroyed,
                AccessCause::LockLife,
            ] {
                let stack = Stack { chain, place };
                let origin = Origin::new(stack, locks, made_of);
                assert_eq!(
                    (origin.stack(), origin.locks(), origin.cause()),
                    (stack, locks, made_of)
                );
            }
        }
    }
}

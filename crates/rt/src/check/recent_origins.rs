//! What a thread has found out lately about where its accesses come from: numbers of origins, groups of them, chains of callers.
//!
//! The simple model: three small tables, each with one place for a key, where the last that was found stays.
//!
//! Guarantee: what is found is what the world's tables would say; those never change. Numbers of origins are also looked for by
//! accesses that have not entered the runtime, between which a signal handler's may come: an entry is read and written at once.
//! The other tables are the business of those who have entered.

use crate::check::origins::{Common, Site};

const NUMBERS: usize = 4096;
const GROUPS: usize = 256;
const CHAINS: usize = 256;

/// See the [module](self). All zeros are empty ones.
#[derive(Debug)]
pub struct RecentOrigins {
    numbers: [Entry; NUMBERS],
    groups: [(u64, u32, u32); GROUPS],
    chains: [(u64, u32, u32); CHAINS],
}

/// The code's address, the group, the number.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(16))]
struct Entry {
    code: u64,
    group: u32,
    number: u32,
}

impl Entry {
    /// Reads it by one instruction.
    #[inline(always)]
    fn read(&self) -> Entry {
        // SAFETY: sixteen bytes at a multiple of sixteen, any of which is valid.
        unsafe {
            std::mem::transmute::<Whole, Entry>(
                std::ptr::from_ref(self).cast::<Whole>().read_volatile(),
            )
        }
    }

    /// Writes it by one instruction.
    #[inline]
    fn write(&mut self, entry: Entry) {
        // SAFETY: as above.
        unsafe {
            (std::ptr::from_mut(self).cast::<Whole>())
                .write_volatile(std::mem::transmute::<Entry, Whole>(entry))
        }
    }
}

/// What a register of sixteen bytes holds.
#[cfg(target_arch = "x86_64")]
type Whole = std::arch::x86_64::__m128i;
/// No hooks are made for other processors yet.
#[cfg(not(target_arch = "x86_64"))]
type Whole = Entry;

#[inline(always)]
fn number_place(group: u32, code: usize) -> usize {
    (code as u32).wrapping_add(group.wrapping_mul(0x9E37_79B1)) as usize % NUMBERS
}

/// Its address, and above it the cause: an instruction's is 0.
#[inline(always)]
pub fn with_cause(site: Site) -> usize {
    site.code | (site.cause as usize) << 48
}

fn place(key: u64, places: usize) -> usize {
    (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 48) as usize % places
}

impl RecentOrigins {
    /// The number of the origin of an instruction in a group, or of what [`with_cause`] gives. Group 0 has none.
    #[inline(always)]
    pub fn number(&self, group: u32, code: usize) -> Option<u32> {
        let entry = self.numbers[number_place(group, code)].read();
        (entry.code == code as u64 && entry.group == group).then_some(entry.number)
    }

    /// The number of any origin in a group.
    #[inline(always)]
    pub fn number_of(&self, group: u32, site: Site) -> Option<u32> {
        self.number(group, with_cause(site))
    }

    /// It was found.
    pub fn note_number(&mut self, group: u32, site: Site, number: u32) {
        let code = with_cause(site);
        self.numbers[number_place(group, code)].write(Entry {
            code: code as u64,
            group,
            number,
        });
    }

    /// The first group of a chain of callers, whose sites have so much in common.
    pub fn group(&mut self, chain: u32, common: Common, find: impl FnOnce() -> u32) -> u32 {
        let entry = &mut self.groups[place(common.bits() << 28 ^ u64::from(chain), GROUPS)];
        if entry.2 == 0 || (entry.0, entry.1) != (common.bits(), chain) {
            *entry = (common.bits(), chain, find());
        }
        entry.2
    }

    /// The chain that has an address in front of another chain.
    pub fn chain(&mut self, rest: u32, address: u64, find: impl FnOnce() -> u32) -> u32 {
        let entry = &mut self.chains[place(address ^ u64::from(rest) << 40, CHAINS)];
        if entry.2 == 0 || (entry.0, entry.1) != (address, rest) {
            *entry = (address, rest, find());
        }
        entry.2
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadheat_model::finding::AccessCause;

    #[test]
    fn what_was_found_is_found_again_and_nothing_else() {
        // SAFETY: zeros are empty tables.
        let mut recent: Box<RecentOrigins> = unsafe { Box::new_zeroed().assume_init() };
        let mut rng = fastrand::Rng::with_seed(7);
        let (mut again, mut known) = (0, std::collections::HashMap::new());
        for round in 1..50_000 {
            let (group, code) = (rng.u32(1..10), rng.usize(1..100) << (rng.u32(0..2) * 32));
            let cause = AccessCause::Instruction;
            match recent.number(group, code) {
                Some(number) => {
                    assert_eq!(known[&(group, code)], number);
                    again += 1;
                }
                None => {
                    recent.note_number(group, Site { code, cause }, round);
                    known.insert((group, code), round);
                }
            }
            assert_eq!(recent.number(0, code), None);
            let site = Site {
                code,
                cause: AccessCause::Free,
            };
            let other = recent.number_of(group, site);
            assert!(other.is_none_or(|other| other == group));
            if rng.u32(..8) == 0 {
                recent.note_number(group, site, group);
            }
            let (chain, locks) = (rng.u32(..100), rng.u32(..5));
            let (common, found) = (Common::new(locks, 4), chain * 8 + locks + 1);
            assert_eq!(recent.group(chain, common, || found), found);
            let (rest, address) = (rng.u32(..100), rng.u64(..4));
            let found = rest * 4 + address as u32 + 1;
            assert_eq!(recent.chain(rest, address, || found), found);
        }
        assert!(again > 1000, "{again}");
    }
}

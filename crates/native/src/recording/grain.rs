//! Memory as locations: the coarsest cut of it such that every access touches whole locations.
//!
//! The simple model: every byte is a location of its own. Two neighbouring bytes that every access touches both or
//! neither of can as well be one. So a first pass over all accesses notes where they begin and end; what lies between two
//! such borders is one location. Mostly that is a variable, and an access touches one location.
//!
//! Memory that gets a new meaning (a block that is allocated again) has new locations from then on.
//!
//! Guarantee: two accesses share a location if and only if they share a byte.
//! Cost: 640 bytes for each page in which something begins, and 4 for each location.

use rustc_hash::FxHashMap;

const PAGE_BITS: u32 = 12;
const PAGE: u64 = 1 << PAGE_BITS;
const WORDS: usize = PAGE as usize / 64;

/// No location yet.
pub const NONE: u32 = 0;
/// Accesses to it do not count.
pub const UNCHECKED: u32 = u32::MAX;

struct Page {
    /// One bit for each byte at which a location begins.
    borders: [u64; WORDS],
    /// How many begin before each word of these bits.
    before: [u16; WORDS],
    /// The present number of each location that begins here, plus 1.
    numbers: Vec<u32>,
}

/// See the [module](self).
#[derive(Default)]
pub struct Grain {
    pages: FxHashMap<u64, Box<Page>>,
}

impl Grain {
    /// Something touches memory from an address on.
    pub fn note(&mut self, address: u64, size: u64) {
        self.border(address);
        self.border(address.saturating_add(size));
    }

    fn border(&mut self, address: u64) {
        let page = self.pages.entry(address >> PAGE_BITS).or_insert_with(|| {
            Box::new(Page {
                borders: [0; WORDS],
                before: [0; WORDS],
                numbers: Vec::new(),
            })
        });
        let byte = address % PAGE;
        page.borders[byte as usize / 64] |= 1 << (byte % 64);
    }

    /// All borders have been noted.
    pub fn seal(&mut self) {
        for page in self.pages.values_mut() {
            let mut count = 0;
            for (borders, before) in page.borders.iter().zip(&mut page.before) {
                *before = count;
                count += borders.count_ones() as u16;
            }
            page.numbers = vec![NONE; usize::from(count)];
        }
    }

    /// Calls `each` with the address and the number of every location in a piece of memory that was noted.
    pub fn each(&mut self, address: u64, size: u64, mut each: impl FnMut(u64, &mut u32)) {
        let end = address.saturating_add(size);
        let (first, last) = (address >> PAGE_BITS, end.saturating_sub(1) >> PAGE_BITS);
        if size == 0 {
            return;
        }
        if last - first <= self.pages.len() as u64 {
            for number in first..=last {
                if let Some(page) = self.pages.get_mut(&number) {
                    page.each(number << PAGE_BITS, address, end, &mut each);
                }
            }
            return;
        }
        let mut within: Vec<u64> = self.pages.keys().copied().collect();
        within.retain(|page| (first..=last).contains(page));
        within.sort_unstable();
        for number in within {
            if let Some(page) = self.pages.get_mut(&number) {
                page.each(number << PAGE_BITS, address, end, &mut each);
            }
        }
    }
}

impl Page {
    fn each(&mut self, start: u64, from: u64, to: u64, each: &mut impl FnMut(u64, &mut u32)) {
        let from = from.saturating_sub(start).min(PAGE) as usize;
        let to = to.saturating_sub(start).min(PAGE) as usize;
        for word in from / 64..to.div_ceil(64) {
            let mut borders = self.borders[word];
            if word == from / 64 {
                borders &= u64::MAX << (from % 64);
            }
            if word == to / 64 {
                borders &= (1u64 << (to % 64)).wrapping_sub(1);
            }
            while borders != 0 {
                let bit = borders.trailing_zeros();
                let below = self.borders[word] & ((1u64 << bit) - 1);
                let index = usize::from(self.before[word]) + below.count_ones() as usize;
                each(
                    start + word as u64 * 64 + u64::from(bit),
                    &mut self.numbers[index],
                );
                borders &= borders - 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two accesses share a location if and only if they share a byte: for every pair of many random accesses, some of
    /// which cross words and pages.
    #[test]
    fn accesses_share_locations_as_they_share_bytes() {
        let mut state = 7u64;
        let mut random = |below: u64| {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 33) % below
        };
        for round in 0..200 {
            let mut grain = Grain::default();
            let base = 0x7000_0000 - 40;
            let accesses: Vec<(u64, u64)> = (0..12)
                .map(|_| match random(6) {
                    0 => (base + random(80), 1 + random(9000)),
                    _ => (base + random(80), 1 << random(5)),
                })
                .collect();
            for &(address, size) in &accesses {
                grain.note(address, size);
            }
            grain.seal();
            let mut next = 1;
            let mut touched: Vec<Vec<u32>> = Vec::new();
            for &(address, size) in &accesses {
                let mut own = Vec::new();
                grain.each(address, size, |_, number| {
                    if *number == NONE {
                        *number = next;
                        next += 1;
                    }
                    own.push(*number);
                });
                assert!(!own.is_empty());
                touched.push(own);
            }
            for (a, of_a) in accesses.iter().zip(&touched) {
                for (b, of_b) in accesses.iter().zip(&touched) {
                    let bytes = a.0 < b.0 + b.1 && b.0 < a.0 + a.1;
                    let shared = of_a.iter().any(|number| of_b.contains(number));
                    assert_eq!(bytes, shared, "round {round}: {a:?} {b:?}");
                }
            }
        }
    }
}

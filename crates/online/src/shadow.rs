//! From a location to its cell.
//!
//! Cells lie in pages of neighbours, which are made when first needed and never go away, so that any
//! thread finds a cell without a lock, but for the first touch of a page. Programs that number their locations from 0 find their page in
//! one table; for locations all over 48 bits, addresses for instance, there is a tree of tables.
//!
//! Cost: two dependent loads for the first million locations, five for the others.

use std::sync::OnceLock;

use deadheat_model::{Location, MAX_OBJECT};

const PAGE_BITS: u32 = 10;
/// How many neighbouring locations share a page.
pub const PAGE: usize = 1 << PAGE_BITS;
/// How many pages have their place in the first table.
const LOW: usize = 1 << 10;
/// How many of the remaining bits each of three levels takes.
const LEVEL_BITS: u32 = 13;
const LEVEL: usize = 1 << LEVEL_BITS;

type Table<T> = Box<[OnceLock<T>]>;

/// The cells of neighbouring locations.
type Page<C> = Box<[C]>;

/// See the [module](self).
#[derive(Debug)]
pub struct Shadow<C> {
    low: Table<Page<C>>,
    high: OnceLock<Table<Table<Table<Page<C>>>>>,
}

impl<C: Default> Default for Shadow<C> {
    fn default() -> Shadow<C> {
        Shadow {
            low: table(LOW),
            high: OnceLock::new(),
        }
    }
}

fn table<T>(entries: usize) -> Table<T> {
    (0..entries).map(|_| OnceLock::new()).collect()
}

fn page<C: Default>() -> Page<C> {
    (0..PAGE).map(|_| C::default()).collect()
}

impl<C: Default> Shadow<C> {
    /// The cell of a location. Bits above the 48th of its number are ignored.
    #[inline]
    pub fn cell(&self, location: Location) -> &C {
        let (number, offset) = split(location);
        let found = match self.low.get(number) {
            Some(found) => found,
            None => self.high(number),
        };
        &found.get_or_init(page)[offset]
    }

    /// The cell of a location, alone.
    #[inline]
    pub fn cell_mut(&mut self, location: Location) -> &mut C {
        let (number, offset) = split(location);
        let found = match number < LOW {
            true => &mut self.low[number],
            false => {
                let [top, middle, last] = levels(number);
                let tables = made(&mut self.high, || table(LEVEL));
                let tables = made(&mut tables[top], || table(LEVEL));
                &mut made(&mut tables[middle], || table(LEVEL))[last]
            }
        };
        &mut made(found, page)[offset]
    }

    #[cold]
    fn high(&self, number: usize) -> &OnceLock<Page<C>> {
        let [top, middle, last] = levels(number);
        let tables = self.high.get_or_init(|| table(LEVEL));
        let tables = tables[top].get_or_init(|| table(LEVEL));
        let pages = tables[middle].get_or_init(|| table(LEVEL));
        &pages[last]
    }
}

/// What is in a place, made now if it is not there yet.
#[inline]
fn made<T>(place: &mut OnceLock<T>, make: impl FnOnce() -> T) -> &mut T {
    place.get_or_init(make);
    match place.get_mut() {
        Some(made) => made,
        None => unreachable!("it has just been made"),
    }
}

/// The number of a location's page, and where in it the location is.
#[inline]
fn split(location: Location) -> (usize, usize) {
    let number = (location.0 & MAX_OBJECT) as usize;
    (number >> PAGE_BITS, number % PAGE)
}

/// Where in each table of the tree a page is to be found.
fn levels(number: usize) -> [usize; 3] {
    [2, 1, 0].map(|level| (number >> (level * LEVEL_BITS)) % LEVEL)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    #[test]
    fn every_location_has_a_cell_of_its_own() {
        let mut rng = fastrand::Rng::with_seed(1);
        let mut shadow = Shadow::<AtomicU64>::default();
        let mut locations = std::collections::BTreeSet::new();
        for bits in 1..=48 {
            for _ in 0..5 {
                locations.insert(rng.u64(..1 << bits));
            }
        }
        for &location in &locations {
            let cell = shadow.cell(Location(location));
            assert_eq!(cell.swap(location + 1, Ordering::Relaxed), 0);
        }
        for &location in &locations {
            assert_eq!(*shadow.cell_mut(Location(location)).get_mut(), location + 1);
        }
    }
}

//! From a location to its cell.
//!
//! A tree of tables over the 48 bits of a location's number: three levels of directories, then pages
//! of cells. Tables are made when first needed and never go away, so a cell is found without a lock
//! by any thread.
//!
//! Cost: four dependent loads.

use std::sync::OnceLock;

use deadheat_model::Location;

const LEVEL_BITS: u32 = 12;
const LEVEL: usize = 1 << LEVEL_BITS;

type Directory<T> = Box<[OnceLock<T>]>;

/// The cells of neighbouring locations.
type Page<C> = Box<[C]>;

/// See the [module](self).
#[derive(Debug)]
pub struct Shadow<C> {
    directories: Directory<Directory<Directory<Page<C>>>>,
}

impl<C: Default> Default for Shadow<C> {
    fn default() -> Shadow<C> {
        Shadow {
            directories: directory(),
        }
    }
}

fn directory<T>() -> Directory<T> {
    (0..LEVEL).map(|_| OnceLock::new()).collect()
}

impl<C: Default> Shadow<C> {
    /// The cell of a location.
    #[inline]
    pub fn cell(&self, location: Location) -> &C {
        let [top, middle, low, offset] = indices(location);
        let middles = self.directories[top].get_or_init(directory);
        let lows = middles[middle].get_or_init(directory);
        let page = lows[low].get_or_init(new_page);
        &page[offset]
    }

    /// The cell of a location, alone.
    #[inline]
    pub fn cell_mut(&mut self, location: Location) -> &mut C {
        // Makes the tables, if they are not there yet.
        self.cell(location);
        let [top, middle, low, offset] = indices(location);
        let found = self.directories[top].get_mut().and_then(|middles| {
            let lows = middles[middle].get_mut()?;
            lows[low].get_mut()
        });
        match found {
            Some(page) => &mut page[offset],
            None => unreachable!("the tables have just been made"),
        }
    }
}

fn new_page<C: Default>() -> Page<C> {
    (0..LEVEL).map(|_| C::default()).collect()
}

/// Where the parts of a location's number lead; bits above the 48th are ignored.
#[inline]
fn indices(location: Location) -> [usize; 4] {
    let part = |level: u32| (location.0 >> (level * LEVEL_BITS)) as usize % LEVEL;
    [part(3), part(2), part(1), part(0)]
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

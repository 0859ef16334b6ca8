//! Accesses that need no check: the same step has made the same one before.
//!
//! Within one step, the second read of a location, or a read after a write, or a second write,
//! cannot find a race that the first did not leave to be found: whoever touches the location in
//! between is parallel to the step, and meets the first access. So it is enough to remember, in a
//! small table with one place for each of a few locations, which step was here last and whether it
//! wrote. A table belongs to one thread that runs tasks; forgetting is harmless.
//!
//! Cost: an index, a load of 16 bytes, two comparisons.

use deadheat_model::{AccessKind, Location};
use deadheat_order::Step;

const ENTRIES: usize = 512;

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Recent {
    entries: Box<[Entry; ENTRIES]>,
    enabled: bool,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    location: Location,
    step: Step,
    kind: AccessKind,
}

impl Default for Recent {
    fn default() -> Recent {
        let nothing = Entry {
            location: Location(0),
            step: Step::NONE,
            kind: AccessKind::Read,
        };
        Recent {
            entries: Box::new([nothing; ENTRIES]),
            enabled: true,
        }
    }
}

impl Recent {
    /// Never recognises anything: what the table saves is measured against this.
    pub fn disabled() -> Recent {
        Recent {
            enabled: false,
            ..Recent::default()
        }
    }

    /// Whether a step's access needs no check. If it does, it is taken to be made now.
    #[inline]
    pub fn covers(&mut self, step: Step, location: Location, kind: AccessKind) -> bool {
        let entry = &mut self.entries[place(location)];
        if entry.location == location
            && entry.step == step
            && (entry.kind == AccessKind::Write || kind == AccessKind::Read)
        {
            return self.enabled;
        }
        *entry = Entry {
            location,
            step,
            kind,
        };
        false
    }
}

/// Spread, so that the rows of a matrix do not fall on each other.
#[inline]
fn place(location: Location) -> usize {
    (location.0.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as usize % ENTRIES
}

#[cfg(test)]
mod tests {
    use super::*;

    use AccessKind::{Read, Write};

    const X: Location = Location(5);

    #[test]
    fn only_what_the_step_has_done_to_the_location_covers_an_access() {
        for (did, does, covered) in [
            (Read, Read, true),
            (Write, Write, true),
            (Write, Read, true),
            (Read, Write, false),
        ] {
            let mut recent = Recent::default();
            assert!(!recent.covers(Step(1), X, did));
            assert_eq!(recent.covers(Step(1), X, does), covered);
            assert!(recent.covers(Step(1), X, does));
            assert!(!recent.covers(Step(2), X, does));
        }
    }

    #[test]
    fn locations_that_share_an_entry_do_not_cover_each_other() {
        let other = (X.0 + 1..).map(Location).find(|y| place(*y) == place(X));
        let (y, mut recent) = (other.unwrap(), Recent::default());
        for _ in 0..2 {
            assert!(!recent.covers(Step(1), X, Write));
            assert!(!recent.covers(Step(1), y, Write));
        }
    }

    #[test]
    fn rows_of_a_matrix_are_spread() {
        let mut places: Vec<usize> = (0..256).map(|row| place(Location(row * 1024))).collect();
        places.sort_unstable();
        places.dedup();
        assert!(places.len() > 128, "{}", places.len());
        assert!(places.iter().all(|place| *place < ENTRIES));
    }

    #[test]
    fn a_disabled_one_recognises_nothing() {
        let mut recent = Recent::disabled();
        for _ in 0..3 {
            assert!(!recent.covers(Step(1), X, Read));
        }
    }
}

//! What the tree said lately.
//!
//! A step that goes through an array meets the same few steps in cell after cell. The relation of two
//! steps never changes, so it is kept in a small table with one place for each of a few pairs; the
//! tree is asked for what is not there. A table belongs to one thread.
//!
//! Cost: an index, a load of 12 bytes, two comparisons; the tree's for a new pair.

use deadheat_order::{Relation, Step, Tree};

const ENTRIES: usize = 256;

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Relations {
    entries: Box<[Entry; ENTRIES]>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    a: Step,
    b: Step,
    relation: Relation,
}

impl Default for Relations {
    fn default() -> Relations {
        // Asking about no step never happens, so this is never the answer to anything.
        let nothing = Entry {
            a: Step::NONE,
            b: Step::NONE,
            relation: Relation {
                parallel: false,
                left: false,
                depth: 0,
            },
        };
        Relations {
            entries: Box::new([nothing; ENTRIES]),
        }
    }
}

impl Relations {
    /// How two different steps stand to each other.
    #[inline]
    pub fn of(&mut self, tree: &Tree, a: Step, b: Step) -> Relation {
        let spread = a.0 ^ b.0.rotate_left(3);
        let entry = &mut self.entries[spread as usize % ENTRIES];
        if entry.a != a || entry.b != b {
            *entry = Entry {
                a,
                b,
                relation: tree.relation(a, b),
            };
        }
        entry.relation
    }
}

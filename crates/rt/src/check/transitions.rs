//! What a thread's accesses have made of words that two marks could not tell of, or can no longer.
//!
//! The simple model: a table from what a cell said and an access, which names its thread's time, to what the cell said then.
//! A loop over an array of small elements does the same to one word after the other.
//!
//! Guarantee: an entry holds as long as histories and shared lists keep their numbers, and aliases their meaning. What the thread has learnt since can only have made
//! accesses of others past: the entry keeps them.
//! Cost: two lines of the cache.

use deadheat_online::mark::Mark;

const ENTRIES: usize = 512;

/// What is known of an access to a cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Seen {
    Never,
    /// It made something that no other cell can say.
    Once,
    Made([Mark; 2]),
}

/// See the [module](self). All zeros is an empty one.
#[derive(Debug)]
pub struct Transitions([Transition; ENTRIES]);

#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Transition {
    before: [Mark; 2],
    access: Mark,
    after: [Mark; 2],
}

const NO_TRANSITION: Transition = Transition {
    before: [Mark::NONE; 2],
    access: Mark::NONE,
    after: [Mark::NONE; 2],
};

#[inline(always)]
fn place(before: [Mark; 2], access: Mark) -> usize {
    let mixed = (before[0].0 ^ before[1].0.rotate_left(17) ^ access.0.rotate_left(34))
        .wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> 48) as usize % ENTRIES
}

impl Transitions {
    /// What an access makes of a cell, if that is known.
    #[inline(always)]
    pub fn find(&self, before: [Mark; 2], access: Mark) -> Option<[Mark; 2]> {
        match self.seen(before, access) {
            Seen::Made(after) => Some(after),
            Seen::Once | Seen::Never => None,
        }
    }

    /// Whether an access has made something of a cell, and what.
    #[inline(always)]
    pub fn seen(&self, before: [Mark; 2], access: Mark) -> Seen {
        let entry = &self.0[place(before, access)];
        match entry.access == access && entry.before == before {
            true if entry.after[0].is_none() => Seen::Once,
            true => Seen::Made(entry.after),
            false => Seen::Never,
        }
    }

    /// An access has made something of a cell, which no other cell can say.
    pub fn note_once(&mut self, before: [Mark; 2], access: Mark) {
        self.note(before, access, [Mark::NONE; 2]);
    }

    /// An access has made something of a cell.
    pub fn note(&mut self, before: [Mark; 2], access: Mark, after: [Mark; 2]) {
        self.0[place(before, access)] = Transition {
            before,
            access,
            after,
        };
    }

    /// Histories get new numbers.
    pub fn clear(&mut self) {
        self.0.fill(NO_TRANSITION);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transition_is_found_by_all_that_it_depends_on() {
        let mut transitions = Box::new(Transitions([NO_TRANSITION; ENTRIES]));
        let [before, access, after] = [
            [Mark(1), Mark(2)],
            [Mark(3); 2],
            [Mark::link(5), Mark::NONE],
        ];
        transitions.note(before, access[0], after);
        assert_eq!(transitions.find(before, access[0]), Some(after));
        assert_eq!(transitions.find([Mark(1), Mark(4)], access[0]), None);
        assert_eq!(transitions.find([Mark(4), Mark(2)], access[0]), None);
        assert_eq!(transitions.find(before, Mark(4)), None);
        transitions.note_once(before, Mark(4));
        assert_eq!(transitions.seen(before, Mark(4)), Seen::Once);
        assert_eq!(transitions.find(before, Mark(4)), None);
        transitions.clear();
        assert_eq!(transitions.find(before, access[0]), None);
    }
}

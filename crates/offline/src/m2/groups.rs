//! The accesses to each location, put together by strand, place, kind, and the locks held.
//!
//! Accesses come in the order of the trace, each to another location. To look its group up would mean to wait for memory
//! each time. So they are noted in one list, which is sorted by location and group when it is long, and then joined with
//! what is there: both are in the same order.
//!
//! Cost: 8 bytes an access and 48 a group; a sort of each list, whose length is bounded.

use deadheat_model::{AccessKind, Location, Site};
use rayon::prelude::*;
use smallvec::SmallVec;

use super::skeleton::{Access, Link};
use crate::threads::locksets::LocksetId;

/// What the accesses of a group have in common.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct GroupKey {
    /// The strand whose they are.
    pub strand: u32,
    /// Where in the source.
    pub site: Site,
    /// The locks held.
    pub held: LocksetId,
    /// Read or write.
    pub kind: AccessKind,
    /// Whether they are atomic.
    pub atomic: bool,
}

/// Accesses of one strand to one location, at one place, of one kind, plain or atomic, under the same locks.
#[derive(Clone, Debug)]
pub struct Group {
    /// What they have in common.
    pub key: GroupKey,
    /// The number of the first, in the trace.
    pub first: u32,
    /// Where in the strand's chain, ascending.
    pub accesses: SmallVec<[Access; 2]>,
}

impl Group {
    /// One of its accesses.
    pub fn link(&self, access: usize) -> Link {
        Link {
            strand: self.key.strand,
            index: self.accesses[access].index,
        }
    }
}

/// An access that is not yet in its group.
#[derive(Clone, Copy)]
struct Note {
    /// Which of the locations, from 0.
    location: u32,
    key: GroupKey,
    number: u32,
    access: Access,
}

/// How long the list gets: it takes 128 MB then, and as much to be sorted.
const ROOM: usize = 1 << 22;

/// Puts accesses together.
pub struct Groups {
    /// By location, in the order of their keys.
    groups: Vec<(Location, Vec<Group>)>,
    notes: Vec<Note>,
    room: usize,
}

impl Groups {
    /// No accesses, to these locations.
    pub fn new(locations: impl Iterator<Item = Location>) -> Groups {
        Groups {
            groups: locations.map(|location| (location, Vec::new())).collect(),
            notes: Vec::new(),
            room: ROOM,
        }
    }

    /// Notes an access to one of the locations, which has a number in the trace.
    #[inline]
    pub fn add(&mut self, location: u32, key: GroupKey, number: u32, access: Access) {
        self.notes.push(Note {
            location,
            key,
            number,
            access,
        });
        if self.notes.len() == self.room {
            self.sort();
        }
    }

    /// The groups of each location, in the order of their first accesses.
    pub fn finish(mut self) -> Vec<(Location, Vec<Group>)> {
        self.sort();
        let groups = self.groups.par_iter_mut();
        groups.for_each(|(_, groups)| groups.sort_unstable_by_key(|group| group.first));
        self.groups
    }

    /// Puts those that are noted into their groups.
    #[cold]
    fn sort(&mut self) {
        // Those of a group stay in the order of the trace.
        self.notes.par_sort_by_key(|note| (note.location, note.key));
        for notes in self.notes.chunk_by(|a, b| a.location == b.location) {
            let groups = &mut self.groups[notes[0].location as usize].1;
            let new = || notes.chunk_by(|a, b| a.key == b.key);
            let mut joined = Vec::with_capacity(groups.len() + new().count());
            let mut known = std::mem::take(groups).into_iter().peekable();
            for new in new() {
                let Note { key, number, .. } = new[0];
                while let Some(group) = known.next_if(|group| group.key < key) {
                    joined.push(group);
                }
                let known = known.next_if(|group| group.key == key);
                let mut group = known.unwrap_or_else(|| Group {
                    key,
                    first: number,
                    accesses: SmallVec::new(),
                });
                group.accesses.extend(new.iter().map(|note| note.access));
                joined.push(group);
            }
            joined.extend(known);
            *groups = joined;
        }
        self.notes.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a group has, as what is compared: its key, and the indexes of its accesses.
    type Expected = Vec<(GroupKey, Vec<u32>)>;

    #[test]
    fn groups_are_what_a_search_through_all_finds() {
        for seed in 0..200 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let locations = rng.u32(1..5);
            let mut groups = Groups::new((0..locations).map(|x| Location(x.into())));
            groups.room = rng.usize(1..40);
            let mut model: Vec<Expected> = vec![Vec::new(); locations as usize];
            let sites = rng.u32(1..6);
            for number in 0..rng.u32(0..200) {
                let key = GroupKey {
                    strand: rng.u32(..3),
                    site: Site(rng.u32(..sites)),
                    held: LocksetId::default(),
                    kind: match rng.bool() {
                        true => AccessKind::Read,
                        false => AccessKind::Write,
                    },
                    atomic: rng.u8(..4) == 0,
                };
                let location = rng.u32(..locations);
                let access = Access {
                    index: number,
                    cuts: 0,
                };
                groups.add(location, key, number, access);
                let expected = &mut model[location as usize];
                match expected.iter_mut().find(|(known, _)| *known == key) {
                    Some((_, accesses)) => accesses.push(number),
                    None => expected.push((key, vec![number])),
                }
            }
            let found = groups.finish().into_iter().map(|(_, groups)| {
                let group = |group: &Group| {
                    let accesses = group.accesses.iter().map(|access| access.index);
                    (group.key, accesses.collect())
                };
                groups.iter().map(group).collect()
            });
            assert_eq!(found.collect::<Vec<Expected>>(), model, "seed {seed}");
        }
    }
}

//! Eraser (Savage et al., 1997): which locations are not protected by a lock.
//!
//! A location is first used by one strand alone. From the first access of another on, the locks held at
//! all accesses since are what protects it; once that is none, and somebody writes, the location is
//! reported. Order plays no part, so what threads hand over by forks, joins or values is reported too:
//! a report is a lack of discipline, not a race. [`UnprotectedPairs`] lists the pairs of accesses that have
//! no lock in common. A location without such a pair (any two accesses have a lock in common, but not all
//! the same) is not in its list, although Eraser would report it.
//!
//! Cost: 8 bytes a location; then, for those reported, the distinct places and sets of locks.

use deadheat_model::{
    AccessKind, Construct, Findings, Location, Lock, Names, Race, RacingAccess, Site, Strand,
};
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

use super::locksets::{LocksetId, Locksets};
use super::pairs::{MAX_COMPARED, MAX_PAIRS};
use super::{At, Lowering, ThreadEngine};
use crate::engine::{Engine, Worth};

/// Its facts.
pub const ENGINE: Engine = Engine {
    name: "eraser",
    summary: "variables without a common lock: fast, and often a false alarm",
    orders: &Construct::ALL,
    worth: Worth::Suspects("a common lock"),
    cost: "linear, 8 bytes a variable",
    in_memory: false,
    judge: |survey, _| {
        let names = survey.names;
        // It knows nothing of order, so it looks at what was handed over as well.
        let mut all = FixedBitSet::with_capacity(names.locations.len());
        all.insert_range(..);
        let mut eraser = Eraser::new(names);
        survey.feed(Lowering::HappensBefore, &all, &mut eraser)?;
        let mut pairs = UnprotectedPairs::new(names, eraser.suspects());
        survey.feed(Lowering::HappensBefore, &all, &mut pairs)?;
        Ok(pairs.found(survey.count))
    },
};

/// What is known of a location.
#[derive(Clone, Copy)]
enum Use {
    /// Nobody has accessed it.
    Unused,
    /// One strand alone has.
    Exclusive(Strand),
    /// Several have, and these locks were held since; whether any of them wrote since.
    Shared(LocksetId, bool),
}

/// Who holds which locks.
struct Held {
    locksets: Locksets,
    by_strand: Vec<LocksetId>,
}

impl Held {
    fn new(names: &Names) -> Held {
        Held {
            locksets: Locksets::default(),
            by_strand: vec![LocksetId::default(); names.strands.len()],
        }
    }

    fn acquire(&mut self, at: At, lock: Lock) {
        let held = &mut self.by_strand[at.strand.index()];
        *held = self.locksets.with(*held, lock.0 as u32);
    }

    fn release(&mut self, at: At, lock: Lock) {
        let held = &mut self.by_strand[at.strand.index()];
        *held = self.locksets.without(*held, lock.0 as u32);
    }
}

/// Finds the locations that no lock protects.
pub struct Eraser {
    held: Held,
    uses: Vec<Use>,
    unprotected: FixedBitSet,
}

impl Eraser {
    /// Before the first event of a trace with these names.
    pub fn new(names: &Names) -> Eraser {
        Eraser {
            held: Held::new(names),
            uses: vec![Use::Unused; names.locations.len()],
            unprotected: FixedBitSet::with_capacity(names.locations.len()),
        }
    }

    /// The locations that no lock protects.
    pub fn suspects(self) -> FixedBitSet {
        self.unprotected
    }

    fn access(&mut self, at: At, x: Location, kind: AccessKind) {
        let held = self.held.by_strand[at.strand.index()];
        let writes = kind == AccessKind::Write;
        let now = match self.uses[x.index()] {
            Use::Unused => Use::Exclusive(at.strand),
            Use::Exclusive(strand) if strand == at.strand => return,
            Use::Exclusive(_) => Use::Shared(held, writes),
            Use::Shared(locks, written) => {
                let locks = match locks == held || locks.is_empty() {
                    true => locks,
                    false => self.held.locksets.intersection(locks, held),
                };
                Use::Shared(locks, written || writes)
            }
        };
        self.uses[x.index()] = now;
        if let Use::Shared(locks, true) = now
            && locks.is_empty()
        {
            self.unprotected.insert(x.index());
        }
    }
}

impl ThreadEngine for Eraser {
    fn read(&mut self, at: At, x: Location) {
        self.access(at, x, AccessKind::Read);
    }

    fn write(&mut self, at: At, x: Location) {
        self.access(at, x, AccessKind::Write);
    }

    fn acquire(&mut self, at: At, lock: Lock) {
        self.held.acquire(at, lock);
    }

    fn release(&mut self, at: At, lock: Lock) {
        self.held.release(at, lock);
    }
}

/// Accesses of one strand to one location, at one place, of one kind, under the same locks.
struct Group {
    first: RacingAccess,
    held: LocksetId,
    count: u64,
}

/// Lists the pairs of conflicting accesses that have no lock in common.
pub struct UnprotectedPairs {
    held: Held,
    suspects: FixedBitSet,
    groups: FxHashMap<Location, Vec<Group>>,
    /// Which group of a location it is, for those that are not among its last ones.
    known: FxHashMap<(Location, GroupKey), usize>,
}

/// Strand, place, kind and the locks held.
type GroupKey = (Strand, Site, AccessKind, LocksetId);

/// How many of a location's last groups are looked at before the table of all is.
const NEAR: usize = 8;

impl UnprotectedPairs {
    /// Of some locations of a trace with these names.
    pub fn new(names: &Names, suspects: FixedBitSet) -> UnprotectedPairs {
        UnprotectedPairs {
            held: Held::new(names),
            suspects,
            groups: FxHashMap::default(),
            known: FxHashMap::default(),
        }
    }

    /// One pair for each pair of places, with how many there are. If there are more than [`MAX_PAIRS`]
    /// places, or very many groups, a location's first ones have to do.
    pub fn found(self, judged: u64) -> Findings {
        let mut by_places: FxHashMap<(Site, Site), Race> = FxHashMap::default();
        let mut locations = Vec::new();
        let mut compared = 0;
        let mut complete = true;
        for (&location, groups) in &self.groups {
            for (index, one) in groups.iter().enumerate() {
                let enough = by_places.len() >= MAX_PAIRS || compared >= MAX_COMPARED;
                if enough && locations.last() == Some(&location) {
                    complete = false;
                    break;
                }
                compared += index as u64;
                for other in &groups[..index] {
                    let (a, b) = (one.first, other.first);
                    let conflict = a.kind == AccessKind::Write || b.kind == AccessKind::Write;
                    if a.strand == b.strand
                        || !conflict
                        || !self.held.locksets.disjoint(one.held, other.held)
                    {
                        continue;
                    }
                    if locations.last() != Some(&location) {
                        locations.push(location);
                    }
                    let (first, second) = if a.event < b.event { (a, b) } else { (b, a) };
                    let race = Race {
                        location,
                        first,
                        second,
                        count: one.count * other.count,
                    };
                    let known = by_places.entry(race.places());
                    let known = known.or_insert(Race { count: 0, ..race });
                    let count = known.count + race.count;
                    if race.key() < known.key() {
                        *known = race;
                    }
                    known.count = count;
                }
            }
        }
        locations.sort_unstable();
        let races = by_places.into_values().collect();
        Findings {
            racy: locations,
            ..Findings::listed(races, complete, judged)
        }
    }

    fn access(&mut self, at: At, x: Location, kind: AccessKind) {
        if !self.suspects.contains(x.index()) {
            return;
        }
        let held = self.held.by_strand[at.strand.index()];
        let first = RacingAccess {
            event: at.number,
            strand: at.strand,
            site: at.site,
            kind,
        };
        let groups = self.groups.entry(x).or_default();
        let key = (at.strand, at.site, kind, held);
        for group in groups.iter_mut().rev().take(NEAR) {
            let access = group.first;
            if (access.strand, access.site, access.kind, group.held) == key {
                group.count += 1;
                return;
            }
        }
        let known = self.known.entry((x, key)).or_insert(groups.len());
        match groups.get_mut(*known) {
            Some(group) => group.count += 1,
            None => groups.push(Group {
                first,
                held,
                count: 1,
            }),
        }
    }
}

impl ThreadEngine for UnprotectedPairs {
    fn read(&mut self, at: At, x: Location) {
        self.access(at, x, AccessKind::Read);
    }

    fn write(&mut self, at: At, x: Location) {
        self.access(at, x, AccessKind::Write);
    }

    fn acquire(&mut self, at: At, lock: Lock) {
        self.held.acquire(at, lock);
    }

    fn release(&mut self, at: At, lock: Lock) {
        self.held.release(at, lock);
    }
}

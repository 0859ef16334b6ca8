//! The accesses to locations with which accesses still to come may race, by location and strand.
//!
//! The simple model: all accesses, in a list for each location and strand, in the order of the strand's times. The
//! accesses that a clock does not cover are the ends of a location's lists.
//!
//! A location has a row with each strand's last time there, so that whoever races with nobody, as most do, looks at
//! the row and at nothing else. Accesses lie in one array, in the order in which they came, each linked to the
//! strand's one before. What comes before all that is still to come is forgotten: with the whole chain, if the
//! last of it is such; otherwise when the chain has got long. If it still is long then, its accesses go into
//! [lists by place](PlaceLists). Whenever the array has twice as many accesses as were left the last time, those that
//! can still race move to a new one.
//!
//! A row of very many strands has its last access, if that comes after all others. An access that comes after this one
//! comes after the others, too, because clocks are of a transitive order, and looks at nothing else. Likewise it has the
//! last write, if that comes after all other writes, and knows who has written: a read looks at nothing else.
//!
//! Cost: an access is compared with each strand's last time, or in rows of very many strands with the last access alone if
//! that is enough, and a read with the last write alone, or with each strand that has written; then with [`LONG`] accesses, at
//! most, and one list for each place of every strand that it races with.
//! Memory: 32 bytes an access that can still race; accesses of one place in one time count as one, unless all are asked
//! for.

use std::collections::BTreeSet;

use deadheat_model::{AccessKind, Location, RacingAccess, Site, Strand};
use deadheat_order::{Epoch, Time, WideClock};
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::At;
use super::place_lists::{After, PlaceLists};

/// How many accesses of a strand are in a chain at most.
const LONG: u32 = 32;

/// How many strands a row may have until it is looked for some that can be forgotten.
const WIDE: usize = 16;

/// From how many strands on a row has an [`Overview`].
const VERY_WIDE: usize = if cfg!(test) { 4 } else { 64 };

/// How many accesses there are in any case before it is looked for some that nobody needs.
const ROOM: usize = if cfg!(test) { 64 } else { 1 << 16 };

/// One access, or several at one place in one time.
#[derive(Clone, Copy)]
struct Entry {
    time: Time,
    site: Site,
    event: u64,
    count: u32,
    /// The strand's one before; or [`NONE`].
    older: u32,
    kind: AccessKind,
    atomic: bool,
}

const NONE: u32 = u32::MAX;

/// What is known of one strand's accesses to a location.
struct Head {
    strand: Strand,
    /// The time of its last access.
    last: Time,
    newest: u32,
    /// How long the chain is, twice; one more if there are lists behind it.
    length: u32,
}

type Row = SmallVec<[Head; 8]>;

/// A row of very many strands at a glance.
#[derive(Default)]
struct Overview {
    /// The last access, if it comes after all others.
    last: Option<Epoch>,
    /// The last write, if it comes after all other writes.
    last_write: Option<Epoch>,
    /// Where in the row each strand is.
    places: FxHashMap<Strand, u32>,
    /// The places of those that have written, and maybe of others.
    writers: BTreeSet<u32>,
}

/// What an access was compared with.
pub(super) struct Comparison {
    /// How many times something was compared.
    pub(super) compared: u64,
    /// Whether it is known to come after all accesses of other strands.
    pub(super) is_last: bool,
    /// Whether it comes after all writes of other strands.
    pub(super) is_after_writes: bool,
}

/// An access, as it is kept.
#[derive(Clone, Copy)]
pub(super) struct LoggedAccess {
    pub(super) at: At,
    pub(super) kind: AccessKind,
    pub(super) atomic: bool,
}

impl LoggedAccess {
    /// As one of the two of a race.
    pub(super) fn racing(self) -> RacingAccess {
        RacingAccess {
            event: self.at.number,
            strand: self.at.strand,
            site: self.at.site,
            kind: self.kind,
        }
    }
}

/// See the [module](self).
pub(super) struct AccessLog {
    /// By location: which row it has, or [`NONE`] if it is not looked at.
    slots: Vec<u32>,
    rows: Vec<Row>,
    entries: Vec<Entry>,
    /// How many there may be until those are left behind that nobody needs.
    room: usize,
    /// How many strands all rows have.
    heads: usize,
    lists: FxHashMap<(u32, Strand), PlaceLists>,
    /// By row, of those with at least [`VERY_WIDE`] strands.
    overviews: FxHashMap<u32, Overview>,
    /// Whether each access is kept by itself.
    apart: bool,
    /// Of each strand, what comes before all accesses that are still to come.
    covered: Vec<Time>,
}

impl AccessLog {
    /// Of these locations.
    pub(super) fn new(locations: &FixedBitSet, apart: bool) -> AccessLog {
        let mut slots = vec![NONE; locations.len()];
        let rows = locations.ones().zip(0..).map(|(x, slot)| {
            slots[x] = slot;
            Row::new()
        });
        AccessLog {
            rows: rows.collect(),
            slots,
            entries: Vec::new(),
            room: ROOM,
            heads: 0,
            lists: FxHashMap::default(),
            overviews: FxHashMap::default(),
            apart,
            covered: Vec::new(),
        }
    }

    /// What strands did up to their times in `covered` comes before all accesses that are still to come.
    pub(super) fn forget(&mut self, covered: &[(Strand, Time)]) {
        for &(strand, time) in covered {
            if self.covered.len() <= strand.index() {
                self.covered.resize(strand.index() + 1, 0);
            }
            self.covered[strand.index()] = time;
        }
    }

    fn forgotten(&self, strand: Strand) -> Time {
        self.covered.get(strand.index()).copied().unwrap_or(0)
    }

    /// The row of a location that is looked at.
    #[inline]
    pub(super) fn slot(&self, x: Location) -> Option<u32> {
        let slot = self.slots.get(x.index()).copied();
        slot.filter(|&slot| slot != NONE)
    }

    /// Reads what is first read of a location that is accessed soon.
    #[inline]
    pub(super) fn fetch(&self, x: Location) -> u64 {
        let row = self.slot(x).map(|slot| &self.rows[slot as usize]);
        let ends = row.and_then(|row| Some((row.first()?, row.last()?)));
        ends.map_or(0, |(first, last)| u64::from(first.last ^ last.last))
    }

    /// Calls with the accesses of other strands that a strand's clock does not cover and that conflict with one of a kind, and
    /// maybe with others of them.
    #[inline]
    pub(super) fn uncovered(
        &self,
        slot: u32,
        strand: Strand,
        clock: &WideClock,
        kind: AccessKind,
        mut each: impl FnMut(After<'_>),
    ) -> Comparison {
        let row = &self.rows[slot as usize];
        if row.len() >= VERY_WIDE
            && let Some(overview) = self.overviews.get(&slot)
        {
            let is_covered = |last: Option<Epoch>| last.is_some_and(|last| clock.covers(last));
            let is_last = is_covered(overview.last);
            let is_read = kind == AccessKind::Read;
            if is_last || is_read && is_covered(overview.last_write) {
                return Comparison {
                    compared: 1,
                    is_last,
                    is_after_writes: true,
                };
            }
            if is_read {
                let writers = overview.writers.iter();
                let writers = writers.map(|&place| &row[place as usize]);
                let compared = self.compare(slot, writers, strand, clock, each);
                return Comparison {
                    is_last: false,
                    ..compared
                };
            }
        }
        self.compare(slot, row.iter(), strand, clock, &mut each)
    }

    /// Calls with the accesses of other strands out of these that a strand's clock does not cover.
    #[inline]
    fn compare<'h>(
        &self,
        slot: u32,
        heads: impl Iterator<Item = &'h Head>,
        strand: Strand,
        clock: &WideClock,
        mut each: impl FnMut(After<'_>),
    ) -> Comparison {
        let mut comparison = Comparison {
            compared: 0,
            is_last: true,
            is_after_writes: true,
        };
        for head in heads {
            comparison.compared += 1;
            if head.strand == strand {
                continue;
            }
            let covered = clock.get(head.strand);
            if head.last > covered {
                comparison.is_last = false;
                comparison.compared += self.after(slot, head, covered, &mut |after: After<'_>| {
                    comparison.is_after_writes &= after.access.kind == AccessKind::Read;
                    each(after);
                });
            }
        }
        comparison
    }

    fn after(
        &self,
        slot: u32,
        head: &Head,
        covered: Time,
        each: &mut impl FnMut(After<'_>),
    ) -> u64 {
        let mut compared = 0;
        let mut next = head.newest;
        while let Some(entry) = self.entries.get(next as usize) {
            compared += 1;
            if entry.time <= covered {
                return compared;
            }
            each(After {
                access: RacingAccess {
                    event: entry.event,
                    strand: head.strand,
                    site: entry.site,
                    kind: entry.kind,
                },
                atomic: entry.atomic,
                count: entry.count.into(),
                rest: &[],
            });
            next = entry.older;
        }
        if head.length & 1 == 1
            && let Some(lists) = self.lists.get(&(slot, head.strand))
        {
            for after in lists.after(covered) {
                compared += 1;
                each(after);
            }
        }
        compared
    }

    /// Notes an access, made in a time of its strand, given what came of its comparison.
    #[inline]
    pub(super) fn add(
        &mut self,
        slot: u32,
        access: LoggedAccess,
        now: Time,
        comparison: &Comparison,
    ) {
        let strand = access.at.strand;
        let row = &self.rows[slot as usize];
        let mine = match row.len() < VERY_WIDE {
            true => row.iter().position(|head| head.strand == strand),
            false => self.place(slot, strand),
        };
        let mine = mine.unwrap_or_else(|| self.widen(slot, strand));
        if self.rows[slot as usize].len() >= VERY_WIDE
            && let Some(overview) = self.overviews.get_mut(&slot)
        {
            let now = Epoch::new(strand, now);
            overview.last = comparison.is_last.then_some(now);
            if access.kind == AccessKind::Write {
                overview.last_write = comparison.is_after_writes.then_some(now);
                overview.writers.insert(mine as u32);
            }
        }
        let forgotten = self.forgotten(strand);
        let Head { last, length, .. } = self.rows[slot as usize][mine];
        if last <= forgotten {
            self.clear(slot, mine);
        } else if last == now && !self.apart && self.is_again(slot, mine, access) {
            return;
        } else if length / 2 == LONG {
            self.shorten(slot, mine, forgotten);
        }
        let head = &mut self.rows[slot as usize][mine];
        let entry = Entry {
            time: now,
            site: access.at.site,
            event: access.at.number,
            count: 1,
            older: head.newest,
            kind: access.kind,
            atomic: access.atomic,
        };
        head.last = now;
        head.length += 2;
        head.newest = self.entries.len() as u32;
        self.entries.push(entry);
        if self.entries.len() >= self.room {
            self.tidy();
        }
    }

    /// Leaves behind what nobody needs.
    #[cold]
    fn tidy(&mut self) {
        let old = std::mem::take(&mut self.entries);
        for head in self.rows.iter_mut().flatten() {
            let forgotten = self.covered.get(head.strand.index()).copied();
            let forgotten = forgotten.unwrap_or(0);
            let mut next = std::mem::replace(&mut head.newest, NONE);
            let mut length = 0;
            while let Some(&entry) = old.get(next as usize)
                && entry.time > forgotten
            {
                let place = self.entries.len() as u32;
                match length {
                    0 => head.newest = place,
                    _ => self.entries[place as usize - 1].older = place,
                }
                length += 1;
                next = entry.older;
                self.entries.push(Entry {
                    older: NONE,
                    ..entry
                });
            }
            head.length = (2 * length) | (head.length & 1);
        }
        self.room = ROOM.max(2 * self.entries.len()).max(self.heads);
    }

    /// Forgets all accesses of a strand.
    #[inline]
    fn clear(&mut self, slot: u32, mine: usize) {
        let head = &mut self.rows[slot as usize][mine];
        head.newest = NONE;
        if head.length & 1 == 1 {
            self.lists.remove(&(slot, head.strand));
        }
        head.length = 0;
    }

    /// Whether the strand's last access is the same in the same time, which then counts for both.
    fn is_again(&mut self, slot: u32, mine: usize, access: LoggedAccess) -> bool {
        let newest = self.rows[slot as usize][mine].newest;
        let Some(entry) = self.entries.get_mut(newest as usize) else {
            return false;
        };
        let same = (entry.site, entry.kind, entry.atomic)
            == (access.at.site, access.kind, access.atomic)
            && entry.count < u32::MAX;
        entry.count += u32::from(same);
        same
    }

    /// Where in a row of very many strands one is.
    fn place(&self, slot: u32, strand: Strand) -> Option<usize> {
        let place = self.overviews.get(&slot)?.places.get(&strand)?;
        Some(*place as usize)
    }

    /// A place in a row for one more strand.
    #[cold]
    fn widen(&mut self, slot: u32, strand: Strand) -> usize {
        let row = &mut self.rows[slot as usize];
        let before = row.len();
        if row.len() >= WIDE && row.len().is_power_of_two() {
            let (covered, lists) = (&self.covered, &mut self.lists);
            row.retain(|head| {
                let forgotten = covered.get(head.strand.index()).copied();
                let is_needed = head.last > forgotten.unwrap_or(0);
                if !is_needed {
                    lists.remove(&(slot, head.strand));
                }
                is_needed
            });
            self.heads -= before - row.len();
        }
        // Places change when strands are forgotten.
        let (moved, place) = (row.len() < before, row.len());
        self.heads += 1;
        row.push(Head {
            strand,
            last: 0,
            newest: NONE,
            length: 0,
        });
        if row.len() < VERY_WIDE {
            self.overviews.remove(&slot);
            return place;
        }
        let overview = self.overviews.entry(slot).or_default();
        if moved || overview.places.is_empty() {
            let heads = || row.iter().zip(0..);
            overview.places = heads().map(|(head, place)| (head.strand, place)).collect();
            let may_write = |head: &Head| {
                let first = self.entries.get(head.newest as usize);
                let next = |entry: &&Entry| self.entries.get(entry.older as usize);
                let mut chain = std::iter::successors(first, next);
                head.length & 1 == 1 || chain.any(|entry| entry.kind == AccessKind::Write)
            };
            let writers = heads().filter(|(head, _)| may_write(head));
            overview.writers = writers.map(|(_, place)| place).collect();
        }
        overview.places.insert(strand, place as u32);
        place
    }

    /// Makes a chain shorter that has become long.
    #[cold]
    fn shorten(&mut self, slot: u32, mine: usize, forgotten: Time) {
        let head = &mut self.rows[slot as usize][mine];
        let mut newest = head.newest;
        let (mut kept, mut last) = (0, NONE);
        while let Some(entry) = self.entries.get(newest as usize)
            && entry.time > forgotten
        {
            (kept, last) = (kept + 1, newest);
            newest = entry.older;
        }
        // The rest is forgotten.
        if kept <= LONG / 2 && head.length & 1 == 0 {
            match self.entries.get_mut(last as usize) {
                Some(entry) => entry.older = NONE,
                None => head.newest = NONE,
            }
            head.length = 2 * kept;
            return;
        }
        let (strand, apart) = (head.strand, self.apart);
        let lists = self.lists.entry((slot, strand));
        let lists = lists.or_insert_with(|| PlaceLists::new(apart));
        lists.forget(forgotten);
        let mut chain: SmallVec<[u32; LONG as usize]> = SmallVec::new();
        let mut next = head.newest;
        while let Some(entry) = self.entries.get(next as usize) {
            chain.push(next);
            next = entry.older;
        }
        for &place in chain.iter().rev() {
            let entry = &self.entries[place as usize];
            let access = RacingAccess {
                event: entry.event,
                strand,
                site: entry.site,
                kind: entry.kind,
            };
            lists.add(access, entry.atomic, entry.time, entry.count.into());
        }
        head.newest = NONE;
        head.length = 1;
    }
}

#[cfg(test)]
mod tests;

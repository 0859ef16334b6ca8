//! Very many accesses of one strand to one location, by place.
//!
//! Accesses at one place and of one kind are kept together in a list, in the order of the strand's times. Those
//! after some time are the end of each list, found by binary search. The lists are linked by their last accesses,
//! the latest first: those with accesses after some time come first, and none behind them is looked at.
//!
//! Cost: an access is added in constant time; asked for the accesses after a time, each list that has some.

use deadheat_model::{AccessKind, RacingAccess, Site};
use deadheat_order::Time;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// One access, or several in one time that nobody has to tell apart.
#[derive(Clone, Copy)]
pub(super) struct Instant {
    pub(super) time: Time,
    /// The first of them.
    pub(super) event: u64,
    /// How many accesses there are in its list up to this, these included.
    upto: u64,
}

/// Accesses at one place, of one kind.
struct List {
    access: RacingAccess,
    atomic: bool,
    instants: SmallVec<[Instant; 1]>,
    /// How many accesses there were before those that are kept.
    forgotten: u64,
    /// The list whose last access is the next before, and the next after; or [`NO_LIST`].
    older: u32,
    newer: u32,
}

impl List {
    fn last(&self) -> Time {
        self.instants.last().map_or(0, |instant| instant.time)
    }

    /// How many accesses there are up to some of its instants.
    fn upto(&self, instants: &[Instant]) -> u64 {
        let last = instants.last();
        last.map_or(self.forgotten, |instant| instant.upto)
    }

    fn split(&self, time: Time) -> (&[Instant], &[Instant]) {
        let start = self
            .instants
            .partition_point(|instant| instant.time <= time);
        self.instants.split_at(start)
    }
}

const NO_LIST: u32 = u32::MAX;

/// A place, a kind, and whether it is atomic.
type Place = (Site, AccessKind, bool);

/// See the [module](self).
pub(super) struct PlaceLists {
    lists: Vec<List>,
    /// The list with the last access.
    newest: u32,
    index: FxHashMap<Place, u32>,
    /// How many instants there are, and may be until it is looked for some to forget.
    instants: usize,
    room: usize,
    /// Whether each access is kept by itself.
    apart: bool,
}

const ROOM: usize = 64;

/// The accesses at one place after some time.
pub(super) struct After<'a> {
    /// The first of them.
    pub(super) access: RacingAccess,
    pub(super) atomic: bool,
    pub(super) count: u64,
    /// Those behind the first, where each is kept by itself.
    pub(super) rest: &'a [Instant],
}

impl PlaceLists {
    /// No accesses; each will be kept by itself if that is asked for.
    pub(super) fn new(apart: bool) -> PlaceLists {
        PlaceLists {
            lists: Vec::new(),
            newest: NO_LIST,
            index: FxHashMap::default(),
            instants: 0,
            room: ROOM,
            apart,
        }
    }

    /// Notes so many accesses in one time, the strand's last.
    pub(super) fn add(&mut self, access: RacingAccess, atomic: bool, time: Time, count: u64) {
        let place = (access.site, access.kind, atomic);
        let at = *self.index.entry(place).or_insert_with(|| {
            self.lists.push(List {
                access,
                atomic,
                instants: SmallVec::new(),
                forgotten: 0,
                older: NO_LIST,
                newer: NO_LIST,
            });
            self.lists.len() as u32 - 1
        });
        let list = &mut self.lists[at as usize];
        let upto = list.upto(&list.instants) + count;
        match list.instants.last_mut() {
            Some(last) if last.time == time && !self.apart => last.upto = upto,
            _ => {
                self.instants += 1;
                list.instants.push(Instant {
                    time,
                    event: access.event,
                    upto,
                });
            }
        }
        if self.newest == at {
            return;
        }
        let List { older, newer, .. } = self.lists[at as usize];
        if older != NO_LIST {
            self.lists[older as usize].newer = newer;
        }
        if newer != NO_LIST {
            self.lists[newer as usize].older = older;
        }
        if self.newest != NO_LIST {
            self.lists[self.newest as usize].newer = at;
        }
        self.lists[at as usize].older = self.newest;
        self.lists[at as usize].newer = NO_LIST;
        self.newest = at;
    }

    /// Drops what is not after a time. To do that each time there is twice as much costs an access nothing to speak of.
    pub(super) fn forget(&mut self, time: Time) {
        if self.instants < self.room {
            return;
        }
        self.lists.retain(|list| list.last() > time);
        for list in &mut self.lists {
            let before = list.split(time).0;
            let (dropped, forgotten) = (before.len(), list.upto(before));
            list.instants.drain(..dropped);
            list.forgotten = forgotten;
        }
        self.instants = self.lists.iter().map(|list| list.instants.len()).sum();
        self.room = ROOM.max(2 * self.instants);
        // Lists have their last accesses in the order of the links; those of one time in any order.
        self.lists.sort_by_key(List::last);
        self.index.clear();
        for (list, at) in self.lists.iter_mut().zip(0u32..) {
            list.older = at.checked_sub(1).unwrap_or(NO_LIST);
            list.newer = at + 1;
            let place = (list.access.site, list.access.kind, list.atomic);
            self.index.insert(place, at);
        }
        if let Some(last) = self.lists.last_mut() {
            last.newer = NO_LIST;
        }
        self.newest = (self.lists.len() as u32).checked_sub(1).unwrap_or(NO_LIST);
    }

    /// The accesses after a time, place by place.
    pub(super) fn after(&self, time: Time) -> impl Iterator<Item = After<'_>> {
        let get = |at: u32| self.lists.get(at as usize);
        let lists = std::iter::successors(get(self.newest), move |list| get(list.older));
        let lists = lists.take_while(move |list| list.last() > time);
        lists.map(move |list| {
            let (before, after) = list.split(time);
            After {
                access: RacingAccess {
                    event: after[0].event,
                    ..list.access
                },
                atomic: list.atomic,
                count: list.upto(after) - list.upto(before),
                rest: &after[1..],
            }
        })
    }
}

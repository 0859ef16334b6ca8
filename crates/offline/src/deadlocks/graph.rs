//! Who waits where for what while it has what: the *waits* of a trace, of which very many events make few.
//!
//! Two events are of one wait if they are at the same place in the source, want the same lock in the same way, and are
//! done with the same locks held. A wait is kept with the strands that do it, and the events of each. Deadlocks are
//! circles of waits, so only those are of interest that can be in one: think of an arrow from each lock that is held when
//! another is taken to that other one; what has no arrow in or no arrow out is in no circle, and so on with what is left.
//! Of the locks that are held only the one taken last has an arrow: from the others there is a path of arrows to it,
//! through the locks that were the last when it was their turn.
//!
//! To wait for the end of a strand is to wait for something that this strand has as long as it lives. So for strands that
//! are joined by somebody who has a lock, waits count that are done without a lock.
//!
//! Guarantee: every deadlock is a circle of these waits. Cost: two passes at most, a look into a table for each event that
//! takes a lock inside a section, and 4 bytes for each of these.

use deadheat_model::{Event, EventNumber, Names, Site, StopReason, StopToken};
use rustc_hash::{FxHashMap, FxHashSet};

use super::holding::{HeldLock, Holding, Wanted};
use crate::threads::locksets::{LocksetId, Locksets};

/// Events that wait alike.
pub(super) struct WaitsAlike {
    pub wanted: Wanted,
    pub site: Site,
    /// The locks that are held, in the order of their numbers.
    pub held: Vec<HeldLock>,
    /// The strands, each with the numbers of its events.
    pub strands: Vec<(u32, Vec<u32>)>,
}

/// All waits that may be in a circle.
pub(super) struct Graph {
    pub waits: Vec<WaitsAlike>,
    /// By lock: the waits in which it is held.
    holders: FxHashMap<u32, Vec<u32>>,
    /// By strand: its waits, if somebody waits for its end.
    of_strand: FxHashMap<u32, Vec<u32>>,
}

/// What the events of a wait by one strand have in common, and the lock that was taken last.
type Key = (LocksetId, Wanted, Site, u32, Option<u32>);

/// How many events are looked at before it is asked whether to stop.
const PART: usize = 1 << 16;

impl Graph {
    /// The waits of a trace that could have happened.
    pub fn new(events: &[Event], names: &Names, stop: StopToken) -> Result<Graph, StopReason> {
        let mut waits = Waits::default();
        // Whose end strands wait for: while they have a lock, and at all.
        let (mut joined, mut joins) = (FxHashSet::default(), Vec::new());
        let holding = pass(events, names, stop, |number, event, wanted, holding| {
            let last = holding.taken(event.strand()).last();
            let last = last.map(|taken| taken.lock.0 as u32);
            if let Wanted::End(child) = wanted {
                joins.push((event.strand().0, child));
                if last.is_some() {
                    joined.insert(child);
                }
            }
            if last.is_some() {
                let key = (
                    holding.set(event.strand()),
                    wanted,
                    event.site(),
                    event.strand().0,
                    last,
                );
                waits.add(key, number);
            }
        })?;
        if !joined.is_empty() {
            loop {
                let known = joined.len();
                let more = joins.iter().filter(|(by, _)| joined.contains(by));
                let more: Vec<u32> = more.map(|(_, child)| *child).collect();
                joined.extend(more);
                if joined.len() == known {
                    break;
                }
            }
            pass(events, names, stop, |number, event, wanted, holding| {
                let strand = event.strand();
                if joined.contains(&strand.0) && holding.taken(strand).is_empty() {
                    let key = (LocksetId::default(), wanted, event.site(), strand.0, None);
                    waits.add(key, number);
                }
            })?;
        }
        Ok(waits.in_circles(&holding.locksets, &joined))
    }

    /// The waits that a strand waits for which is in one: those of whoever has what it wants, if it is of a strand that
    /// can have it.
    pub fn next(&self, of: u32) -> &[u32] {
        let found = match self.waits[of as usize].wanted {
            Wanted::Lock { lock, .. } => self.holders.get(&lock),
            Wanted::End(strand) => self.of_strand.get(&strand),
        };
        found.map_or(&[], Vec::as_slice)
    }
}

/// Goes through a trace, and tells of each event before which its strand may have to wait.
fn pass(
    events: &[Event],
    names: &Names,
    stop: StopToken,
    mut each: impl FnMut(EventNumber, &Event, Wanted, &mut Holding),
) -> Result<Holding, StopReason> {
    let mut holding = Holding::new(names);
    let mut number = 0;
    for part in events.chunks(PART) {
        if let Some(why) = stop.due() {
            return Err(why);
        }
        for event in part {
            number += 1;
            if event.access().is_some() {
                continue;
            }
            if let Some(wanted) = holding.wanted(event) {
                each(number, event, wanted, &mut holding);
            }
            holding.follow(event, number);
        }
    }
    Ok(holding)
}

/// The waits in the making.
#[derive(Default)]
struct Waits {
    numbers: FxHashMap<Key, u32>,
    /// The events of each, with what they have in common.
    all: Vec<(Key, Vec<u32>)>,
}

/// What arrows lead from and to: a lock, or a strand whose end is waited for.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Thing {
    Lock(u32),
    Strand(u32),
}

impl From<Wanted> for Thing {
    fn from(wanted: Wanted) -> Thing {
        match wanted {
            Wanted::Lock { lock, .. } => Thing::Lock(lock),
            Wanted::End(strand) => Thing::Strand(strand),
        }
    }
}

impl Waits {
    fn add(&mut self, key: Key, number: EventNumber) {
        let new = self.all.len() as u32;
        let at = *self.numbers.entry(key).or_insert(new);
        if at == new {
            self.all.push((key, Vec::new()));
        }
        self.all[at as usize].1.push(number as u32);
    }

    /// Those that may be in a circle.
    fn in_circles(self, locksets: &Locksets, joined: &FxHashSet<u32>) -> Graph {
        let arrows = self
            .all
            .iter()
            .flat_map(|&((_, wanted, _, strand, last), _)| {
                let strand = joined.contains(&strand).then_some(Thing::Strand(strand));
                let from = last.map(Thing::Lock).into_iter().chain(strand);
                from.map(move |from| (from, Thing::from(wanted)))
            });
        let on_circles = core(arrows.collect());
        let mut alike: FxHashMap<(LocksetId, Wanted, Site), usize> = FxHashMap::default();
        let mut graph = Graph {
            waits: Vec::new(),
            holders: FxHashMap::default(),
            of_strand: FxHashMap::default(),
        };
        for ((set, wanted, site, strand, _), events) in self.all {
            if !on_circles.contains(&wanted.into()) {
                continue;
            }
            let at = *alike.entry((set, wanted, site)).or_insert_with(|| {
                let held = locksets.locks(set);
                graph.waits.push(WaitsAlike {
                    wanted,
                    site,
                    held: held.iter().copied().map(HeldLock::of_number).collect(),
                    strands: Vec::new(),
                });
                graph.waits.len() - 1
            });
            let strands = &mut graph.waits[at].strands;
            match strands.iter_mut().find(|(known, _)| *known == strand) {
                Some((_, known)) => {
                    known.extend(events);
                    known.sort_unstable();
                }
                None => strands.push((strand, events)),
            }
        }
        for (wait, number) in graph.waits.iter().zip(0..) {
            for held in &wait.held {
                if on_circles.contains(&Thing::Lock(held.lock)) {
                    graph.holders.entry(held.lock).or_default().push(number);
                }
            }
            for (strand, _) in &wait.strands {
                if joined.contains(strand) {
                    graph.of_strand.entry(*strand).or_default().push(number);
                }
            }
        }
        graph.holders.values_mut().for_each(Vec::dedup);
        graph
    }
}

/// What is left of a set of arrows when each end without an arrow in, or without one out, is taken away, again and again.
fn core(arrows: FxHashSet<(Thing, Thing)>) -> FxHashSet<Thing> {
    // By thing: where arrows from it and to it lead.
    let mut ends: FxHashMap<Thing, [Vec<Thing>; 2]> = FxHashMap::default();
    for (from, to) in arrows {
        ends.entry(from).or_default()[0].push(to);
        ends.entry(to).or_default()[1].push(from);
    }
    let mut left: FxHashMap<Thing, [usize; 2]> = ends
        .iter()
        .map(|(thing, ways)| (*thing, [ways[0].len(), ways[1].len()]))
        .collect();
    let is_end = |ways: &[usize; 2]| ways.contains(&0);
    let mut gone: Vec<Thing> = Vec::new();
    gone.extend(
        left.iter()
            .filter(|(_, ways)| is_end(ways))
            .map(|(t, _)| *t),
    );
    left.retain(|_, ways| !is_end(ways));
    while let Some(thing) = gone.pop() {
        for (way, others) in ends[&thing].iter().enumerate() {
            for other in others {
                // An arrow out of this one was an arrow into the other.
                if let Some(ways) = left.get_mut(other) {
                    ways[1 - way] -= 1;
                    if is_end(ways) {
                        left.remove(other);
                        gone.push(*other);
                    }
                }
            }
        }
    }
    left.into_keys().collect()
}

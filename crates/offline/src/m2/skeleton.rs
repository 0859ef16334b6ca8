//! What prediction needs of a trace: for each strand a chain of the events that matter, and what each
//! prefix of a chain needs of the others.
//!
//! An event matters if it orders strands or touches a location that strands may touch in either
//! order. Every correct reordering that has an event has those before it in its strand; the write that
//! a read observes; what an awaited slot stood for; the fork of a thread and, with its join, all of it.
//! The least set of events that has all this is a prefix of every chain, so it is a [`Cut`]: one number
//! a strand. [`Skeleton::join`] tells it for any prefix of a chain: that is the causal cone, without
//! the completion of critical sections, which is a choice and not a need.
//!
//! Cost: 16 bytes for each event that matters, and a cut wherever a strand learns of another.

use deadheat_model::{EventNumber, Location, Lock, Names, Strand};
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

use crate::threads::locksets::{LocksetId, Locksets};
use crate::threads::{At, Publish, Slot, ThreadEngine};

/// An event that matters: which strand's, and where in its chain.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Link {
    /// Whose chain.
    pub strand: u32,
    /// The position in it, from 0.
    pub index: u32,
}

/// No event: what a read observes that sees the initial value.
pub const NOTHING: Link = Link {
    strand: u32::MAX,
    index: u32::MAX,
};

/// An access that may race.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// Its position in its strand's chain.
    pub index: u32,
    /// How many cuts the chain had before it.
    pub cuts: u32,
}

/// A release that never came.
pub const NEVER: u32 = u32::MAX;

/// What an event that matters does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// Reads a location (by its number among those that matter), and observes a write.
    Read(u32, Link),
    /// Writes a location.
    Write(u32),
    /// Reads and writes a location in one step, and observes a write.
    Update(u32, Link),
    /// Takes a lock.
    Acquire(u32),
    /// Gives back a lock that it took at an index of the chain.
    Release(u32, u32),
    /// Orders strands in a way that every correct reordering preserves.
    Order,
}

#[derive(Clone, Copy, Debug)]
struct SkeletonEvent {
    number: u32,
    /// Three bits of kind, 29 of location or lock.
    what: u32,
    /// The observed write; the matching acquire as its index.
    link: Link,
}

const KIND_SHIFT: u32 = 29;

const DOES_NOT_MATTER: u32 = u32::MAX;

/// How many locations and locks there can be.
pub const MAX_OBJECTS: usize = 1 << KIND_SHIFT;

/// How many events a trace can have.
pub const MAX_EVENTS: u64 = u32::MAX as u64 - 1;

impl SkeletonEvent {
    fn new(number: EventNumber, step: Step) -> SkeletonEvent {
        let (kind, object, link) = match step {
            Step::Read(x, observed) => (0, x, observed),
            Step::Write(x) => (1, x, NOTHING),
            Step::Acquire(lock) => (2, lock, NOTHING),
            Step::Release(lock, index) => (3, lock, Link { index, ..NOTHING }),
            Step::Order => (4, 0, NOTHING),
            Step::Update(x, observed) => (5, x, observed),
        };
        SkeletonEvent {
            number: number as u32,
            what: kind << KIND_SHIFT | object,
            link,
        }
    }

    #[inline]
    fn step(&self) -> Step {
        let object = self.what & ((1 << KIND_SHIFT) - 1);
        match self.what >> KIND_SHIFT {
            0 => Step::Read(object, self.link),
            1 => Step::Write(object),
            2 => Step::Acquire(object),
            3 => Step::Release(object, self.link.index),
            4 => Step::Order,
            _ => Step::Update(object, self.link),
        }
    }
}

/// A critical section.
#[derive(Clone, Copy, Debug)]
pub struct Section {
    /// The strand that is inside.
    pub strand: u32,
    /// Where it begins in the strand's chain.
    pub acquire: u32,
    /// Where it ends, or [`NEVER`].
    pub release: u32,
    /// The number of the event that begins it.
    pub number: u32,
}

/// How many events of each chain are in a set of events.
pub type Cut = Vec<u32>;

#[derive(Debug, Default)]
struct Chain {
    events: Vec<SkeletonEvent>,
    /// The lengths of prefixes from which on more is needed of other strands; the cuts are in `cuts`.
    lengths: Vec<u32>,
    cuts: Vec<u32>,
    /// The lengths of prefixes after which another set of locks is held.
    held: Vec<(u32, LocksetId)>,
    /// What else must come before an event, by the event's index.
    orders: Vec<(u32, Link)>,
}

/// The events that matter, chain by chain.
#[derive(Debug)]
pub struct Skeleton {
    chains: Vec<Chain>,
    /// By lock, in the order of the trace.
    sections: Vec<Vec<Section>>,
    /// The sets of locks that were held.
    pub locksets: Locksets,
    locations: usize,
}

impl Skeleton {
    /// How many strands there are.
    pub fn strands(&self) -> usize {
        self.chains.len()
    }

    /// How many events of a strand matter.
    pub fn len(&self, strand: u32) -> u32 {
        self.chains[strand as usize].events.len() as u32
    }

    /// What an event does.
    #[inline]
    pub fn step(&self, at: Link) -> Step {
        self.chains[at.strand as usize].events[at.index as usize].step()
    }

    /// An event's number in the trace.
    #[inline]
    pub fn number(&self, at: Link) -> u32 {
        self.chains[at.strand as usize].events[at.index as usize].number
    }

    /// How many events of a strand that matter have lower numbers.
    pub fn below(&self, strand: u32, number: u32) -> u32 {
        let events = &self.chains[strand as usize].events;
        events.partition_point(|event| event.number < number) as u32
    }

    /// What must come before events of a part of a chain, besides what is before them in the chain and
    /// what they observe: pairs of such an event's index and what comes before it.
    pub fn orders(&self, strand: u32, from: u32, upto: u32) -> impl Iterator<Item = (u32, Link)> {
        let orders = &self.chains[strand as usize].orders;
        let start = orders.partition_point(|(index, _)| *index < from);
        let part = orders[start..].iter().copied();
        part.take_while(move |(index, _)| *index < upto)
    }

    /// How many locations matter.
    pub fn locations(&self) -> usize {
        self.locations
    }

    /// How many locks there are.
    pub fn locks(&self) -> usize {
        self.sections.len()
    }

    /// Adds to a cut what the first `length` events of a strand need, these included.
    pub fn join(&self, cut: &mut [u32], strand: u32, length: u32) {
        let chain = &self.chains[strand as usize];
        let change = chain.lengths.partition_point(|known| *known <= length);
        if change > 0 {
            let strands = self.chains.len();
            let needed = &chain.cuts[(change - 1) * strands..change * strands];
            for (mine, needed) in cut.iter_mut().zip(needed) {
                *mine = (*mine).max(*needed);
            }
        }
        let own = &mut cut[strand as usize];
        *own = (*own).max(length);
    }

    /// How many events of another strand the first `length` events of a strand need.
    pub fn need(&self, strand: u32, length: u32, other: u32) -> u32 {
        let chain = &self.chains[strand as usize];
        let change = chain.lengths.partition_point(|known| *known <= length);
        match change {
            0 => 0,
            _ => chain.cuts[(change - 1) * self.chains.len() + other as usize],
        }
    }

    /// How many of another strand's events come before an access, of which it is known how many cuts the chain had
    /// before it.
    #[inline]
    pub fn need_of(&self, strand: u32, access: Access, other: u32) -> u32 {
        match access.cuts {
            0 => 0,
            cuts => {
                let row = (cuts as usize - 1) * self.chains.len();
                self.chains[strand as usize].cuts[row + other as usize]
            }
        }
    }

    /// The locks that a strand holds after its first `length` events.
    pub fn held(&self, strand: u32, length: u32) -> LocksetId {
        let held = &self.chains[strand as usize].held;
        match held.partition_point(|(known, _)| *known <= length) {
            0 => LocksetId::default(),
            change => held[change - 1].1,
        }
    }

    /// The shortest prefix of a chain, of at least so many events, after which no lock is held.
    pub fn free_from(&self, strand: u32, length: u32) -> Option<u32> {
        let held = &self.chains[strand as usize].held;
        let change = held.partition_point(|(known, _)| *known <= length);
        if change == 0 || held[change - 1].1.is_empty() {
            return Some(length);
        }
        let free = held[change..].iter().find(|(_, locks)| locks.is_empty());
        free.map(|(length, _)| *length)
    }

    /// The sections of a lock, in the order of the trace.
    pub fn sections(&self, lock: u32) -> &[Section] {
        &self.sections[lock as usize]
    }

    /// The section of a lock that an event of the trace is in, or comes after: the last one that
    /// begins at or before a number. There must be one.
    pub fn section_at(&self, lock: u32, number: u32) -> usize {
        self.sections[lock as usize].partition_point(|section| section.number <= number) - 1
    }

    /// The section that begins with an event.
    pub fn section(&self, lock: u32, acquire: Link) -> Section {
        let index = self.section_at(lock, self.number(acquire));
        self.sections[lock as usize][index]
    }
}

/// Makes a [`Skeleton`], event by event.
pub struct Builder {
    skeleton: Skeleton,
    /// By location: which of those that matter it is, or [`DOES_NOT_MATTER`].
    matters: Vec<u32>,
    /// What each strand's chain needs so far; empty if it needs nothing of others.
    cuts: Vec<Cut>,
    held: Vec<LocksetId>,
    /// The last write of each location.
    written: Vec<Link>,
    slots: FxHashMap<Slot, Vec<Link>>,
    /// Of locks that were taken for reading: how many sections have been looked at, and the last
    /// release of each strand among them.
    releases: FxHashMap<Lock, (usize, FxHashMap<u32, u32>)>,
}

impl Builder {
    /// Before the first event of a trace in which the accesses to some locations matter.
    pub fn new(names: &Names, matter: &FixedBitSet) -> Builder {
        let strands = names.strands.len();
        let mut matters = vec![DOES_NOT_MATTER; names.locations.len()];
        for (number, x) in matter.ones().enumerate() {
            matters[x] = number as u32;
        }
        Builder {
            skeleton: Skeleton {
                chains: std::iter::repeat_with(Chain::default)
                    .take(strands)
                    .collect(),
                sections: vec![Vec::new(); names.lock_count()],
                locksets: Locksets::default(),
                locations: matter.count_ones(..),
            },
            matters,
            cuts: vec![Cut::new(); strands],
            held: vec![LocksetId::default(); strands],
            written: vec![NOTHING; matter.count_ones(..)],
            slots: FxHashMap::default(),
            releases: FxHashMap::default(),
        }
    }

    /// All events have been told.
    pub fn finish(self) -> Skeleton {
        self.skeleton
    }

    /// The locks a strand holds.
    pub fn held(&self, strand: Strand) -> LocksetId {
        self.held[strand.index()]
    }

    /// Which of the locations that matter one is.
    #[inline]
    fn matters(&self, location: Location) -> Option<u32> {
        let number = self.matters[location.index()];
        (number != DOES_NOT_MATTER).then_some(number)
    }

    /// Where the strand's last event that matters is.
    pub fn last(&self, strand: Strand) -> Link {
        Link {
            strand: strand.0,
            index: self.skeleton.len(strand.0) - 1,
        }
    }

    /// The strand's last event, as an access.
    pub fn last_access(&self, strand: Strand) -> Access {
        let chain = &self.skeleton.chains[strand.index()];
        let index = chain.events.len() as u32 - 1;
        // What it needs itself does not count.
        let own = chain.lengths.last() == Some(&(index + 1));
        Access {
            index,
            cuts: chain.lengths.len() as u32 - u32::from(own),
        }
    }

    fn push(&mut self, at: At, step: Step) -> Link {
        let events = &mut self.skeleton.chains[at.strand.index()].events;
        let new = SkeletonEvent::new(at.number, step);
        // What was told of the event before is that it is behind others: it is still one event.
        match events.last_mut() {
            Some(last) if last.number == new.number && last.step() == Step::Order => *last = new,
            _ => events.push(new),
        }
        self.last(at.strand)
    }

    /// The event itself, if it matters already, or a new one that only orders.
    fn here(&mut self, at: At) -> Link {
        let chain = &self.skeleton.chains[at.strand.index()];
        match chain.events.last() {
            Some(last) if u64::from(last.number) == at.number => self.last(at.strand),
            _ => self.push(at, Step::Order),
        }
    }

    /// One event comes before another, the strand's last, in every reordering.
    fn order(&mut self, before: Link, after: Link) {
        if before.strand != after.strand {
            let chain = &mut self.skeleton.chains[after.strand as usize];
            chain.orders.push((after.index, before));
            self.need(before, after);
        }
    }

    /// The strand's last event needs another event.
    fn need(&mut self, needed: Link, at: Link) {
        let cut = &mut self.cuts[at.strand as usize];
        cut.resize(self.held.len(), 0);
        if cut[needed.strand as usize] > needed.index {
            return;
        }
        self.skeleton.join(cut, needed.strand, needed.index + 1);
        let chain = &mut self.skeleton.chains[at.strand as usize];
        // A second need of the same event replaces what its first one made of the cut.
        if chain.lengths.last() == Some(&(at.index + 1)) {
            chain.cuts.truncate(chain.cuts.len() - cut.len());
        } else {
            chain.lengths.push(at.index + 1);
        }
        chain.cuts.extend_from_slice(cut);
    }

    /// Another set of locks is held after the strand's last event.
    fn hold(&mut self, held: LocksetId, at: Link) {
        self.held[at.strand as usize] = held;
        let chain = &mut self.skeleton.chains[at.strand as usize];
        chain.held.push((at.index + 1, held));
    }
}

impl ThreadEngine for Builder {
    fn read(&mut self, at: At, x: Location) {
        if let Some(x) = self.matters(x) {
            let observed = self.written[x as usize];
            let here = self.push(at, Step::Read(x, observed));
            if observed != NOTHING && observed.strand != here.strand {
                self.need(observed, here);
            }
        }
    }

    fn write(&mut self, at: At, x: Location) {
        if let Some(x) = self.matters(x) {
            self.written[x as usize] = self.push(at, Step::Write(x));
        }
    }

    fn atomic_read(&mut self, at: At, x: Location) {
        self.read(at, x);
    }

    fn atomic_write(&mut self, at: At, x: Location) {
        self.write(at, x);
    }

    fn atomic_update(&mut self, at: At, x: Location) {
        if let Some(x) = self.matters(x) {
            let observed = self.written[x as usize];
            let here = self.push(at, Step::Update(x, observed));
            if observed != NOTHING && observed.strand != here.strand {
                self.need(observed, here);
            }
            self.written[x as usize] = here;
        }
    }

    fn acquire(&mut self, at: At, lock: Lock) {
        let here = self.push(at, Step::Acquire(lock.0 as u32));
        self.skeleton.sections[lock.index()].push(Section {
            strand: here.strand,
            acquire: here.index,
            release: NEVER,
            number: at.number as u32,
        });
        let held = self.held(at.strand);
        let held = self.skeleton.locksets.with(held, lock.0 as u32);
        self.hold(held, here);
    }

    fn release(&mut self, at: At, lock: Lock) {
        // The driver tells a release only to the strand that has the lock, as the last who took it.
        let Some(section) = self.skeleton.sections[lock.index()].last() else {
            return;
        };
        let acquire = section.acquire;
        let here = self.push(at, Step::Release(lock.0 as u32, acquire));
        if let Some(section) = self.skeleton.sections[lock.index()].last_mut() {
            section.release = here.index;
        }
        let held = self.held(at.strand);
        let held = self.skeleton.locksets.without(held, lock.0 as u32);
        self.hold(held, here);
    }

    fn fork(&mut self, at: At, child: Strand) {
        let here = self.push(at, Step::Order);
        // What the child does first needs the fork too: its beginning stands for that.
        let begin = At {
            strand: child,
            ..at
        };
        let begin = self.push(begin, Step::Order);
        self.order(here, begin);
    }

    fn join(&mut self, at: At, child: Strand) {
        // All that the child did has to be there, also what does not matter: its end stands for that.
        let end = At {
            strand: child,
            ..at
        };
        let end = self.push(end, Step::Order);
        let here = self.push(at, Step::Order);
        self.order(end, here);
    }

    fn publish(&mut self, at: At, slot: Slot, how: Publish) {
        let here = self.here(at);
        let published = self.slots.entry(slot).or_default();
        match how {
            Publish::Replace => published.clear(),
            Publish::Add => published.retain(|link| link.strand != here.strand),
        }
        published.push(here);
    }

    fn awaits(&mut self, at: At, slot: Slot) {
        let here = self.here(at);
        let published = self.slots.get(&slot).cloned().unwrap_or_default();
        for before in published {
            self.order(before, here);
        }
    }

    fn acquire_shared(&mut self, at: At, lock: Lock) {
        let here = self.here(at);
        // Sections may change places, but not with those who take the lock for reading.
        let (seen, releases) = self.releases.entry(lock).or_default();
        for section in &self.skeleton.sections[lock.index()][*seen..] {
            releases.insert(section.strand, section.release);
            *seen += 1;
        }
        let releases: Vec<_> = releases.iter().map(|(s, r)| (*s, *r)).collect();
        for (strand, index) in releases {
            self.order(Link { strand, index }, here);
        }
    }
}

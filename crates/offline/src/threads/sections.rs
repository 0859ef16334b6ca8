//! Critical sections, and which of their ends an order puts before later accesses and ends: what
//! [`wcp`](super::wcp) and [`dc`](super::dc) have in common.
//!
//! The simple model, for sections of one lock:
//! (a) a section's end comes before every later access inside another section that conflicts with
//!     one in it;
//! (b) if anything in a section comes before anything in a later one, its end comes before the
//!     later one's end.
//!
//! For (a), kept for each lock and location is, for each strand, the last section in which it
//! accessed, and in which it wrote, the location: earlier ones of the same strand end earlier still.
//! It is entered at the access rather than at the section's end: nobody else can ask before that, as
//! asking takes the lock. Few locks ever protect the same location, and a short list is looked through
//! faster than anything is looked up; a location with a long one gets a list for each lock. Sections
//! whose ends everybody knows of put nothing behind them, and lists are rid of them as they grow: where
//! threads do hear of each other, what is kept stays small enough to be near.
//!
//! For (b), the first event of a section is its acquire, so the acquire's time is all that need be
//! asked for. Others learn of a strand only by what makes its time go up; if that happened nowhere
//! inside a section, its acquire has the same time as its end, and who knows of one knows of the
//! other. So only *leaking* sections are kept, those in which something else was released, forked or
//! published. Sections of one strand follow each other: of them one at most has begun, but not
//! ended, when the time comes that an observer knows of, and a binary search finds it. That
//! holds for each owner apart: of two strands' sections the later may be known and the earlier not.
//!
//! Memory: 4 bytes a location, 16 for each lock, location and strand that came together, a clock for each section
//! that is the last for some of these, and for each leaking section until all strands that have not
//! been joined know that it ended.

use deadheat_model::{AccessKind, Location, Lock, Names, Strand};
use deadheat_order::{Time, WideClock};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::snapshots::{Snapshot, Snapshots};

/// Somebody whose present can be put behind more of the past.
pub(super) trait Learner {
    /// How much of a strand comes before.
    fn knows(&self, strand: Strand) -> Time;
    /// Puts this before as well.
    fn learn(&mut self, clock: &WideClock);
}

/// The sections that still matter.
pub(super) struct Sections {
    /// By strand: what it is inside of.
    open: Vec<SmallVec<[OpenSection; 4]>>,
    ends: Snapshots,
    accessed: SectionAccesses,
    /// By lock.
    leaking: Vec<Vec<Leaks>>,
    /// The strands that were joined.
    over: Vec<bool>,
    /// By strand: how much of it all others know that were not joined; at least.
    known_by_all: Vec<Time>,
    /// How many sections end until it is asked for again: so many that it costs each of them little.
    until_asked: usize,
}

#[derive(Clone, Copy)]
struct OpenSection {
    lock: Lock,
    began: Time,
    /// Filled at the end.
    end: Snapshot,
}

/// Who accessed which location inside sections.
struct SectionAccesses {
    /// By location: which list it has, or [`NO_LIST`], or [`LIST_BY_LOCK`].
    lists: Vec<u32>,
    short: Vec<Accessors>,
    by_lock: FxHashMap<(Lock, Location), Accessors>,
}

type Accessors = SmallVec<[Accessor; 4]>;

const NO_LIST: u32 = u32::MAX;
const LIST_BY_LOCK: u32 = u32::MAX - 1;
/// How long a list may be that is for all locks.
const SHORT: usize = 48;

/// The last sections of a lock in which a strand accessed a location.
#[derive(Clone, Copy)]
struct Accessor {
    lock: u32,
    strand: Strand,
    any: Snapshot,
    writing: Snapshot,
}

/// One strand's sections of one lock from whose inside others could learn.
struct Leaks {
    owner: Strand,
    sections: Vec<Leak>,
    /// How many there may be before it is worth looking for some that nobody needs.
    room: usize,
}

struct Leak {
    began: Time,
    ended: Time,
    end: Snapshot,
}

const ROOM: usize = 4;

impl Sections {
    pub fn new(names: &Names) -> Sections {
        let strands = names.strands.len();
        Sections {
            open: vec![SmallVec::new(); strands],
            ends: Snapshots::default(),
            accessed: SectionAccesses {
                lists: vec![NO_LIST; names.locations.len()],
                short: Vec::new(),
                by_lock: FxHashMap::default(),
            },
            leaking: (0..names.lock_count()).map(|_| Vec::new()).collect(),
            over: vec![false; strands],
            known_by_all: vec![0; strands],
            until_asked: strands.saturating_mul(strands),
        }
    }

    /// A strand enters a section at its present time.
    pub fn enter(&mut self, strand: Strand, lock: Lock, now: Time) {
        self.open[strand.index()].push(OpenSection {
            lock,
            began: now,
            end: self.ends.create(),
        });
    }

    /// Rule (a): puts the strand behind the ends that its access has to come behind.
    #[inline]
    pub fn access(
        &mut self,
        strand: Strand,
        location: Location,
        kind: AccessKind,
        learner: &mut impl Learner,
    ) {
        let Sections {
            open,
            ends,
            accessed,
            known_by_all,
            ..
        } = self;
        for open in &open[strand.index()] {
            let lock = open.lock.0 as u32;
            let accessors = accessed.of(open.lock, location);
            let mut mine = None;
            let mut at = 0;
            while let Some(accessor) = accessors.get_mut(at) {
                at += 1;
                if accessor.lock != lock {
                    continue;
                }
                if accessor.strand == strand {
                    mine = Some(at - 1);
                    continue;
                }
                let end = match kind {
                    AccessKind::Read => accessor.writing,
                    AccessKind::Write => accessor.any,
                };
                if end != Snapshot::NONE && ends.time(end) > learner.knows(accessor.strand) {
                    learner.learn(ends.clock(end));
                }
            }
            let mine = mine.unwrap_or_else(|| {
                // Not each time: it may be that nobody is known.
                if accessors.len() >= 2 && accessors.len().is_power_of_two() {
                    accessors.retain(|accessor| !accessor.is_known(known_by_all, ends));
                }
                accessors.push(Accessor {
                    lock,
                    strand,
                    any: Snapshot::NONE,
                    writing: Snapshot::NONE,
                });
                accessors.len() - 1
            });
            accessors[mine].enters(open.end, kind, ends);
        }
    }

    /// Rule (b): puts a strand behind the ends that the end of its section has to come behind. It knows of the ends of its own.
    pub fn leaving(&self, lock: Lock, learner: &mut impl Learner) {
        for leaks in &self.leaking[lock.index()] {
            let known = learner.knows(leaks.owner);
            if known == 0 {
                continue;
            }
            let begun = leaks.sections.partition_point(|leak| leak.began <= known);
            match leaks.sections[..begun].last() {
                Some(leak) if leak.ended > known => learner.learn(self.ends.clock(leak.end)),
                _ => {}
            }
        }
    }

    /// A strand leaves a section, with this clock to be learnt by others. `known` says how much of the
    /// first strand the second knows.
    pub fn leave(
        &mut self,
        strand: Strand,
        lock: Lock,
        clock: &WideClock,
        known: impl Fn(Strand, Strand) -> Time,
    ) {
        let open = &mut self.open[strand.index()];
        let Some(at) = open.iter().rposition(|open| open.lock == lock) else {
            return;
        };
        let OpenSection { began, end, .. } = open.remove(at);
        self.ends.fill(end, strand, clock);
        if self.until_asked == 0 {
            let strands = self.over.len();
            self.until_asked = strands.saturating_mul(strands);
            for of in 0..strands as u32 {
                self.known_by_all[of as usize] = known_by_all(Strand(of), &self.over, &known);
            }
        }
        self.until_asked -= 1;
        let ended = clock.get(strand);
        if began == ended {
            self.ends.let_go(end);
            return;
        }
        let owners = &mut self.leaking[lock.index()];
        let at = owners.iter().position(|leaks| leaks.owner == strand);
        let at = at.unwrap_or_else(|| {
            owners.push(Leaks {
                owner: strand,
                sections: Vec::new(),
                room: ROOM,
            });
            owners.len() - 1
        });
        let leaks = &mut owners[at];
        leaks.sections.push(Leak { began, ended, end });
        if leaks.sections.len() == leaks.room {
            leaks.forget(&mut self.ends, &self.over, known);
        }
    }

    /// A strand was joined: it will ask for nothing more.
    pub fn is_over(&mut self, strand: Strand) {
        self.over[strand.index()] = true;
    }
}

impl SectionAccesses {
    /// A list with all who accessed a location with this lock, and maybe with others.
    #[inline]
    fn of(&mut self, lock: Lock, location: Location) -> &mut Accessors {
        let list = &mut self.lists[location.index()];
        if *list == NO_LIST {
            *list = self.short.len() as u32;
            self.short.push(Accessors::new());
        }
        let list = *list;
        if list == LIST_BY_LOCK || self.short[list as usize].len() >= SHORT {
            return self.by_lock(lock, location);
        }
        &mut self.short[list as usize]
    }

    #[cold]
    #[inline(never)]
    fn by_lock(&mut self, lock: Lock, location: Location) -> &mut Accessors {
        let list = std::mem::replace(&mut self.lists[location.index()], LIST_BY_LOCK);
        if list != LIST_BY_LOCK {
            for accessor in std::mem::take(&mut self.short[list as usize]) {
                let lock = Lock(accessor.lock.into());
                self.by_lock
                    .entry((lock, location))
                    .or_default()
                    .push(accessor);
            }
        }
        self.by_lock.entry((lock, location)).or_default()
    }
}

impl Accessor {
    /// Whether everybody knows of the sections, which is then worth nothing; lets go of them if so.
    fn is_known(&self, known_by_all: &[Time], ends: &mut Snapshots) -> bool {
        let is_known = ends.time(self.any) <= known_by_all[self.strand.index()];
        if is_known {
            ends.let_go(self.any);
            ends.let_go(self.writing);
        }
        is_known
    }

    #[inline]
    fn enters(&mut self, end: Snapshot, kind: AccessKind, ends: &mut Snapshots) {
        let mut replace = |last: &mut Snapshot| {
            if *last != end {
                ends.keep(end);
                ends.let_go(std::mem::replace(last, end));
            }
        };
        replace(&mut self.any);
        if kind == AccessKind::Write {
            replace(&mut self.writing);
        }
    }
}

impl Leaks {
    /// Drops the sections of which everybody knows that they ended.
    fn forget(
        &mut self,
        ends: &mut Snapshots,
        over: &[bool],
        known: impl Fn(Strand, Strand) -> Time,
    ) {
        let by_all = known_by_all(self.owner, over, known);
        let gone = self.sections.partition_point(|leak| leak.ended <= by_all);
        for leak in self.sections.drain(..gone) {
            ends.let_go(leak.end);
        }
        self.room = ROOM.max(2 * self.sections.len());
    }
}

/// How much of a strand all others know that were not joined.
fn known_by_all(of: Strand, over: &[bool], known: impl Fn(Strand, Strand) -> Time) -> Time {
    let others = (0..over.len() as u32).map(Strand);
    let others = others.filter(|other| *other != of && !over[other.index()]);
    others
        .map(|other| known(of, other))
        .min()
        .unwrap_or(Time::MAX)
}

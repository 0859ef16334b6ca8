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
//! asking takes the lock.
//!
//! For (b), the first event of a section is its acquire, so the acquire's time is all that need be
//! asked for. Others learn of a strand only by what makes its time go up; if that happened nowhere
//! inside a section, its acquire has the same time as its end, and who knows of one knows of the
//! other. So only *leaking* sections are kept, those in which something else was released, forked or
//! published. Sections of one strand follow each other: of them one at most has begun, but not
//! ended, when the time comes that an observer knows of, and a binary search finds it. That
//! holds for each owner apart: of two strands' sections the later may be known and the earlier not.
//!
//! Memory: 12 bytes for each lock, location and strand that came together, a clock for each section
//! that is the last for some of these, and for each leaking section until all strands that have not
//! been joined know that it ended.

use deadheat_model::{AccessKind, Location, Lock, Strand};
use deadheat_order::{Clock, Time};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::snapshots::{Snapshot, Snapshots};

/// Somebody whose present can be put behind more of the past.
pub(super) trait Learner {
    /// How much of a strand comes before.
    fn knows(&self, strand: Strand) -> Time;
    /// Puts this before as well.
    fn learn(&mut self, times: &[Time]);
}

/// The sections that still matter.
pub(super) struct Sections {
    /// By strand: what it is inside of.
    open: Vec<SmallVec<[Open; 4]>>,
    ends: Snapshots,
    accessed: FxHashMap<u64, SmallVec<[Accessor; 2]>>,
    /// By lock.
    leaking: Vec<Vec<Leaks>>,
    /// The strands that were joined.
    over: Vec<bool>,
}

#[derive(Clone, Copy)]
struct Open {
    lock: Lock,
    began: Time,
    /// Filled at the end.
    end: Snapshot,
}

/// The last sections of a lock in which a strand accessed a location.
#[derive(Clone, Copy)]
struct Accessor {
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
    pub fn new(strands: usize, locks: usize) -> Sections {
        Sections {
            open: vec![SmallVec::new(); strands],
            ends: Snapshots::new(strands),
            accessed: FxHashMap::default(),
            leaking: (0..locks).map(|_| Vec::new()).collect(),
            over: vec![false; strands],
        }
    }

    /// A strand enters a section at its present time.
    pub fn enter(&mut self, strand: Strand, lock: Lock, now: Time) {
        self.open[strand.index()].push(Open {
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
        for open in &self.open[strand.index()] {
            let accessors = self.accessed.entry(key(open.lock, location)).or_default();
            let mut mine = None;
            for accessor in accessors.iter_mut() {
                if accessor.strand == strand {
                    mine = Some(accessor);
                    continue;
                }
                let end = match kind {
                    AccessKind::Read => accessor.writing,
                    AccessKind::Write => accessor.any,
                };
                if end != Snapshot::NONE {
                    let times = self.ends.times(end);
                    if times[accessor.strand.index()] > learner.knows(accessor.strand) {
                        learner.learn(times);
                    }
                }
            }
            match mine {
                Some(mine) => mine.enters(open.end, kind, &mut self.ends),
                None => {
                    let mut mine = Accessor {
                        strand,
                        any: Snapshot::NONE,
                        writing: Snapshot::NONE,
                    };
                    mine.enters(open.end, kind, &mut self.ends);
                    accessors.push(mine);
                }
            }
        }
    }

    /// Rule (b): puts the strand behind the ends that the end of its section has to come behind.
    pub fn leaving(&self, strand: Strand, lock: Lock, learner: &mut impl Learner) {
        for leaks in &self.leaking[lock.index()] {
            let known = learner.knows(leaks.owner);
            if leaks.owner == strand || known == 0 {
                continue;
            }
            let begun = leaks.sections.partition_point(|leak| leak.began <= known);
            match leaks.sections[..begun].last() {
                Some(leak) if leak.ended > known => learner.learn(self.ends.times(leak.end)),
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
        clock: &Clock,
        known: impl Fn(Strand, Strand) -> Time,
    ) {
        let open = &mut self.open[strand.index()];
        let Some(at) = open.iter().rposition(|open| open.lock == lock) else {
            return;
        };
        let Open { began, end, .. } = open.remove(at);
        self.ends.fill(end, clock);
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

impl Accessor {
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
        let others = (0..over.len() as u32).map(Strand);
        let others = others.filter(|other| *other != self.owner && !over[other.index()]);
        let by_all = others.map(|other| known(self.owner, other)).min();
        let by_all = by_all.unwrap_or(Time::MAX);
        let gone = self.sections.partition_point(|leak| leak.ended <= by_all);
        for leak in self.sections.drain(..gone) {
            ends.let_go(leak.end);
        }
        self.room = ROOM.max(2 * self.sections.len());
    }
}

/// A lock and a location as one number. Both are indices into tables in memory.
#[inline]
fn key(lock: Lock, location: Location) -> u64 {
    debug_assert!(location.0 < 1 << 40 && lock.0 < 1 << 24);
    lock.0 << 40 | location.0
}

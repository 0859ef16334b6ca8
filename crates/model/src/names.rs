//! What the numbers in an execution's events are called.
//!
//! Numbers are dense: an object of an event is an index into its table here, so whatever keeps
//! something for each object can keep it in an array. A name may be empty; the methods then give the
//! best description there is, so that everything has a name to be shown by.

use std::borrow::Cow;
use std::fmt;

use serde::Serialize;

use crate::words::{Table, Takes, word_of};
use crate::{Barrier, Event, Flag, Location, Lock, Op, Promise, ReadKind, Semaphore, Site, Strand};

/// A place in a source text. Lines and columns count from 1; a column counts characters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
pub struct SourcePosition {
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1, in characters.
    pub column: u32,
    /// Where the marked text starts, in bytes from the beginning of the source.
    #[serde(skip)]
    pub offset: u32,
    /// How many bytes are marked.
    #[serde(skip)]
    pub length: u32,
}

/// Who started a strand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Parent {
    /// The strand that started it.
    pub strand: Strand,
    /// Which child of that strand it is, from 1, in its parent's order.
    pub ordinal: u32,
}

/// What is done where something is written.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum SiteKind {
    /// Nothing else is known.
    #[default]
    Plain,
    /// Memory is freed.
    Free,
    /// A lock begins or ends.
    LockLife,
}

/// What a strand is in an OpenMP program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum StrandKind {
    /// A thread of the program's own, or a strand of a program without OpenMP.
    #[default]
    Plain,
    /// An explicit task.
    Task,
    /// What the thread of this number does in a phase of a parallel region.
    Member(u32),
}

/// See the [module](self).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Names {
    /// By [`Strand`] number.
    pub strands: Vec<String>,
    /// By [`Strand`] number; plain where the table ends.
    pub kinds: Vec<StrandKind>,
    /// By [`Site`] number.
    pub sites: Vec<String>,
    /// By [`Site`] number; plain where the table ends.
    pub site_kinds: Vec<SiteKind>,
    /// By [`Location`] number.
    pub locations: Vec<String>,
    /// By [`Lock`] number.
    pub locks: Vec<String>,
    /// By [`Semaphore`] number.
    pub semaphores: Vec<String>,
    /// By [`Flag`] number.
    pub flags: Vec<String>,
    /// By [`Barrier`] number.
    pub barriers: Vec<String>,
    /// By [`Promise`] number, where the source knows them. Trace files number promises only.
    pub promises: Vec<String>,
    /// What each semaphore starts with, by number; 0 where the table ends.
    pub tokens: Vec<u64>,
    /// By [`Strand`] number, where the source knows it; none for the first strand. A strand without
    /// a name of its own is called by the path that led to it.
    pub parents: Vec<Option<Parent>>,
    /// By [`Site`] number, where the source text is at hand.
    pub positions: Vec<SourcePosition>,
}

impl Names {
    /// What a strand is called: by its own name, or by its path: `main`, `main/1`, `main/1/2`.
    pub fn strand(&self, strand: Strand) -> Cow<'_, str> {
        match self.strands.get(strand.index()) {
            Some(name) if !name.is_empty() => Cow::Borrowed(name),
            _ if strand.index() < self.parents.len() => {
                Cow::Owned(path_name(&self.strand_path(strand)))
            }
            _ => Cow::Owned(format!("T{}", strand.0)),
        }
    }

    /// What is done where something is written at a site.
    pub fn site_kind(&self, site: Site) -> SiteKind {
        let kind = self.site_kinds.get(site.0 as usize);
        kind.copied().unwrap_or_default()
    }

    /// What a strand is in an OpenMP program.
    pub fn kind(&self, strand: Strand) -> StrandKind {
        self.kinds.get(strand.index()).copied().unwrap_or_default()
    }

    /// The path by which a strand was started: which child of the first strand, which child of
    /// that one, and so on.
    pub fn strand_path(&self, strand: Strand) -> Vec<u32> {
        let mut ordinals = Vec::new();
        let mut at = strand;
        while let Some(Some(parent)) = self.parents.get(at.index()) {
            ordinals.push(parent.ordinal);
            at = parent.strand;
        }
        ordinals.reverse();
        ordinals
    }

    /// What a place in the source is called.
    pub fn site(&self, site: Site) -> Cow<'_, str> {
        let unnamed = self.sites.get(site.0 as usize).is_none_or(String::is_empty);
        match self.position(site) {
            Some(SourcePosition { line, column, .. }) if unnamed => {
                Cow::Owned(format!("{line}:{column}"))
            }
            _ => Table::Sites.name(self, site.0.into()),
        }
    }

    /// Where a site is in the source text, if that is known.
    pub fn position(&self, site: Site) -> Option<SourcePosition> {
        self.positions.get(site.0 as usize).copied()
    }

    /// What a location is called.
    pub fn location(&self, location: Location) -> Cow<'_, str> {
        Table::Locations.name(self, location.0)
    }

    /// What a lock is called.
    pub fn lock(&self, lock: Lock) -> Cow<'_, str> {
        match lock == self.isolation() {
            true => Cow::Borrowed("isolated"),
            false => Table::Locks.name(self, lock.0),
        }
    }

    /// What a semaphore is called.
    pub fn semaphore(&self, semaphore: Semaphore) -> Cow<'_, str> {
        Table::Semaphores.name(self, semaphore.0)
    }

    /// What a flag is called.
    pub fn flag(&self, flag: Flag) -> Cow<'_, str> {
        Table::Flags.name(self, flag.0)
    }

    /// What a barrier is called.
    pub fn barrier(&self, barrier: Barrier) -> Cow<'_, str> {
        Table::Barriers.name(self, barrier.0)
    }

    /// What a promise is called.
    pub fn promise(&self, promise: Promise) -> Cow<'_, str> {
        match self.promises.get(promise.index()) {
            Some(name) if !name.is_empty() => Cow::Borrowed(name),
            _ => Cow::Owned(promise.0.to_string()),
        }
    }

    /// The lock that stands for `isolated`: the number after those of all locks that have a name.
    pub fn isolation(&self) -> Lock {
        Lock(self.locks.len() as u64)
    }

    /// How many locks there are, [`Names::isolation`] included.
    pub fn lock_count(&self) -> usize {
        self.locks.len() + 1
    }

    /// Shows what is done in an event: `w(x)`. Every read is `r(x)`, whatever its value decides.
    pub fn action(&self, op: Op) -> impl fmt::Display {
        let op = match op {
            Op::Read(x, _) => Op::Read(x, ReadKind::Control),
            op => op,
        };
        let (code, detail, object) = Event::new(Strand::MAIN, op, Site(0)).to_parts();
        let word = word_of(code, detail);
        let object = match (op, word.takes) {
            (_, Takes::Nothing) => return word.word.to_string(),
            (Op::Async(strand) | Op::Future(strand) | Op::Fork(strand) | Op::Join(strand), _) => {
                self.strand(strand)
            }
            (Op::NewPromise(promise) | Op::Set(promise) | Op::Get(promise), _) => {
                self.promise(promise)
            }
            (_, Takes::Named(table)) => table.name(self, object),
            (_, Takes::Number) => Cow::Owned(object.to_string()),
        };
        format!("{}({object})", word.word)
    }

    /// Shows an event as a line of a trace: `T1|w(x)|3`, that is who, what and where.
    pub fn line(&self, event: &Event) -> impl fmt::Display {
        let (strand, site) = (self.strand(event.strand()), self.site(event.site()));
        format!("{strand}|{}|{site}", self.action(event.op()))
    }
}

/// The name of the strand that a path leads to.
pub fn path_name(path: &[u32]) -> String {
    let ordinals = path.iter().map(|ordinal| format!("/{ordinal}"));
    std::iter::once("main".to_string())
        .chain(ordinals)
        .collect()
}

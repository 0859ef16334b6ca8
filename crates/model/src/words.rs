//! The words for operations, and the table in which an operation's object has its name.
//!
//! One list says it all: which word an operation has in text, what stands behind the word, and how an
//! event is made of it. Everything else is looked up in it.

use std::borrow::Cow;
use std::fmt;
use std::sync::LazyLock;

use crate::{
    AtomicOrdering, Barrier, Event, Finish, Flag, Location, Lock, Names, Op, Promise, ReadKind,
    Region, Semaphore, Site, Strand,
};

/// A table of a [`Names`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Table {
    /// [`Names::strands`].
    Strands,
    /// [`Names::sites`].
    Sites,
    /// [`Names::locations`].
    Locations,
    /// [`Names::locks`].
    Locks,
    /// [`Names::semaphores`], with [`Names::tokens`].
    Semaphores,
    /// [`Names::flags`].
    Flags,
    /// [`Names::barriers`].
    Barriers,
}

impl Table {
    /// Every table, by its number.
    pub const ALL: [Table; 7] = [
        Table::Strands,
        Table::Sites,
        Table::Locations,
        Table::Locks,
        Table::Semaphores,
        Table::Flags,
        Table::Barriers,
    ];

    /// The names in it.
    pub fn of(self, names: &Names) -> &Vec<String> {
        match self {
            Table::Strands => &names.strands,
            Table::Sites => &names.sites,
            Table::Locations => &names.locations,
            Table::Locks => &names.locks,
            Table::Semaphores => &names.semaphores,
            Table::Flags => &names.flags,
            Table::Barriers => &names.barriers,
        }
    }

    /// The names in it, to be added to.
    pub fn of_mut(self, names: &mut Names) -> &mut Vec<String> {
        match self {
            Table::Strands => &mut names.strands,
            Table::Sites => &mut names.sites,
            Table::Locations => &mut names.locations,
            Table::Locks => &mut names.locks,
            Table::Semaphores => &mut names.semaphores,
            Table::Flags => &mut names.flags,
            Table::Barriers => &mut names.barriers,
        }
    }

    /// What the object of a number is called; its number behind a letter if it has no name.
    pub fn name(self, names: &Names, number: u64) -> Cow<'_, str> {
        let name = usize::try_from(number)
            .ok()
            .and_then(|n| self.of(names).get(n));
        match name {
            Some(name) if !name.is_empty() => Cow::Borrowed(name),
            _ => Cow::Owned(format!("{}{number}", self.prefix())),
        }
    }

    /// What the name of an object without one begins with, its number following.
    pub fn prefix(self) -> &'static str {
        match self {
            Table::Strands => "T",
            Table::Sites => "",
            Table::Locations => "V",
            Table::Locks => "L",
            Table::Semaphores => "S",
            Table::Flags => "E",
            Table::Barriers => "B",
        }
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Table::Strands => "thread",
            Table::Sites => "place in the source",
            Table::Locations => "variable",
            Table::Locks => "lock",
            Table::Semaphores => "semaphore",
            Table::Flags => "event variable",
            Table::Barriers => "barrier",
        })
    }
}

/// What an operation is done to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Takes {
    /// To nothing.
    Nothing,
    /// To something with a name.
    Named(Table),
    /// To something that has a number only.
    Number,
}

/// An operation in text.
pub struct Word {
    /// How it is written.
    pub word: &'static str,
    /// What stands behind the word.
    pub takes: Takes,
    /// The operation on the object with a number.
    pub make: fn(u64) -> Op,
}

macro_rules! words {
    ($($word:literal $takes:expr, $make:expr;)*) => {
        &[$(Word { word: $word, takes: $takes, make: $make },)*]
    };
}

use AtomicOrdering::{Acquire, AcquireRelease, Relaxed, Release, SequentiallyConsistent};

const VARIABLE: Takes = Takes::Named(Table::Locations);
const LOCK: Takes = Takes::Named(Table::Locks);
const THREAD: Takes = Takes::Named(Table::Strands);
const SEMAPHORE: Takes = Takes::Named(Table::Semaphores);
const FLAG: Takes = Takes::Named(Table::Flags);
const BARRIER: Takes = Takes::Named(Table::Barriers);

/// Every word, those that are used most first. `r` is a read of which nothing is known: its value may
/// decide what happens.
pub static WORDS: &[Word] = words! {
    "r" VARIABLE, |x| Op::Read(Location(x), ReadKind::Control);
    "w" VARIABLE, |x| Op::Write(Location(x));
    "acq" LOCK, |l| Op::Acquire(Lock(l));
    "rel" LOCK, |l| Op::Release(Lock(l));
    "fork" THREAD, |t| Op::Fork(Strand(t as u32));
    "join" THREAD, |t| Op::Join(Strand(t as u32));
    "begin" Takes::Nothing, |_| Op::Begin;
    "end" Takes::Nothing, |_| Op::End;
    "branch" Takes::Nothing, |_| Op::Branch;
    "req" LOCK, |l| Op::Request(Lock(l));
    "rdata" VARIABLE, |x| Op::Read(Location(x), ReadKind::Data);
    "racq" LOCK, |l| Op::AcquireShared(Lock(l));
    "rrel" LOCK, |l| Op::ReleaseShared(Lock(l));
    "p" SEMAPHORE, |s| Op::P(Semaphore(s));
    "v" SEMAPHORE, |s| Op::V(Semaphore(s));
    "post" FLAG, |e| Op::Post(Flag(e));
    "wait" FLAG, |e| Op::Wait(Flag(e));
    "clear" FLAG, |e| Op::Clear(Flag(e));
    "arrive" BARRIER, |b| Op::BarrierArrive(Barrier(b));
    "leave" BARRIER, |b| Op::BarrierLeave(Barrier(b));
    "aload.relaxed" VARIABLE, |x| Op::AtomicLoad(Location(x), Relaxed);
    "aload.acquire" VARIABLE, |x| Op::AtomicLoad(Location(x), Acquire);
    "aload.release" VARIABLE, |x| Op::AtomicLoad(Location(x), Release);
    "aload.acqrel" VARIABLE, |x| Op::AtomicLoad(Location(x), AcquireRelease);
    "aload.seqcst" VARIABLE, |x| Op::AtomicLoad(Location(x), SequentiallyConsistent);
    "astore.relaxed" VARIABLE, |x| Op::AtomicStore(Location(x), Relaxed);
    "astore.acquire" VARIABLE, |x| Op::AtomicStore(Location(x), Acquire);
    "astore.release" VARIABLE, |x| Op::AtomicStore(Location(x), Release);
    "astore.acqrel" VARIABLE, |x| Op::AtomicStore(Location(x), AcquireRelease);
    "astore.seqcst" VARIABLE, |x| Op::AtomicStore(Location(x), SequentiallyConsistent);
    "aupdate.relaxed" VARIABLE, |x| Op::AtomicUpdate(Location(x), Relaxed);
    "aupdate.acquire" VARIABLE, |x| Op::AtomicUpdate(Location(x), Acquire);
    "aupdate.release" VARIABLE, |x| Op::AtomicUpdate(Location(x), Release);
    "aupdate.acqrel" VARIABLE, |x| Op::AtomicUpdate(Location(x), AcquireRelease);
    "aupdate.seqcst" VARIABLE, |x| Op::AtomicUpdate(Location(x), SequentiallyConsistent);
    "async" THREAD, |t| Op::Async(Strand(t as u32));
    "future" THREAD, |t| Op::Future(Strand(t as u32));
    "finish" Takes::Number, |f| Op::FinishBegin(Finish(f));
    "endfinish" Takes::Number, |f| Op::FinishEnd(Finish(f));
    "promise" Takes::Number, |p| Op::NewPromise(Promise(p));
    "set" Takes::Number, |p| Op::Set(Promise(p));
    "get" Takes::Number, |p| Op::Get(Promise(p));
    "isolated" Takes::Nothing, |_| Op::IsolatedBegin;
    "endisolated" Takes::Nothing, |_| Op::IsolatedEnd;
    "alloc" Takes::Number, |r| Op::Alloc(Region(r));
    "free" Takes::Number, |r| Op::Free(Region(r));
};

/// The word for what an event does, as in STD and CSV.
pub fn word(event: &Event) -> &'static str {
    let (code, detail, _) = event.to_parts();
    word_of(code, detail).word
}

/// The word of an operation, by its code and detail as [`Event::to_parts`] gives them.
pub fn word_of(code: u8, detail: u8) -> &'static Word {
    &WORDS[BY_PARTS[code as usize][detail as usize] as usize]
}

/// What the operation with this code is done to.
#[inline]
pub fn takes(code: u8) -> Takes {
    TAKES[code as usize]
}

/// More than there are operations, and more than there are details.
const CODES: usize = 64;
const DETAILS: usize = 8;

static BY_PARTS: LazyLock<[[u8; DETAILS]; CODES]> = LazyLock::new(|| {
    let mut words = [[0; DETAILS]; CODES];
    for (number, word) in WORDS.iter().enumerate() {
        let (code, detail) = parts(word);
        words[code as usize][detail as usize] = number as u8;
    }
    words
});

static TAKES: LazyLock<[Takes; CODES]> = LazyLock::new(|| {
    let mut takes = [Takes::Nothing; CODES];
    for word in WORDS {
        takes[parts(word).0 as usize] = word.takes;
    }
    takes
});

fn parts(word: &Word) -> (u8, u8) {
    let event = Event::new(Strand::MAIN, (word.make)(0), Site(0));
    let (code, detail, _) = event.to_parts();
    (code, detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_has_one_word_and_every_word_one_operation() {
        let mut found = 0;
        for code in 0..=u8::MAX {
            for detail in 0..=u8::MAX {
                let parts = (code, detail, 0);
                if let Some(event) = Event::from_parts(Strand::MAIN, parts, Site(0)) {
                    let word = word_of(code, detail);
                    assert_eq!((word.make)(0), event.op(), "{}", word.word);
                    assert_eq!(word.takes, takes(code), "{}", word.word);
                    found += 1;
                }
            }
        }
        assert_eq!(found, WORDS.len());
    }
}

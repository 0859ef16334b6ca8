//! An access to a word, looked at properly: its history is read, races are found, the new history is stored.
//!
//! As [`access`](crate::check::access)'s simple model has it, with nothing remembered. A history that many words come to have is
//! made once.

use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU32, Ordering};

use deadheat_online::fasttrack::{self, Record, Step};
use deadheat_online::mark::Mark;

use crate::check::access::replace;
use crate::check::cell::Cell;
use crate::check::histories::{InUse, UNCHECKED};
use crate::check::longer;
use crate::check::marks;
use crate::check::memo::AccessShape;
use crate::check::origin::Origin;
use crate::check::shadow::Shadow;
use crate::openmp;
use crate::openmp::order::{Asking, is_over};
use crate::openmp::sections::is_only_possible;
use crate::order::registry::Pause;
use crate::order::thread::{Entered, Thread, local};
use crate::output::findings::RacyAccess;
use crate::platform::world::world;

/// The part of an access in one word.
pub struct WordAccess {
    pub shape: AccessShape,
    pub pc: usize,
}

/// Where the history of a word is kept.
#[derive(Clone, Copy)]
pub enum Place<'a> {
    Number(&'a AtomicU32),
    Marks(&'a Cell),
}

/// What is kept there.
#[derive(Clone, Copy)]
enum Known {
    Number(u32),
    Marks([Mark; 2]),
}

impl Place<'_> {
    fn load(self) -> Known {
        match self {
            Place::Number(cell) => Known::Number(cell.load(Ordering::Acquire)),
            Place::Marks(cell) => Known::Marks(cell.load()),
        }
    }

    fn replace(self, old: Known, new: Known) -> bool {
        match (self, old, new) {
            (Place::Number(cell), Known::Number(old), Known::Number(new)) => {
                replace(cell, old, new)
            }
            (Place::Marks(cell), Known::Marks(old), Known::Marks(new)) => cell.replace(old, new),
            _ => false,
        }
    }
}

impl Known {
    /// The number of the history, if it has one: 0 is that of an empty one.
    fn number(self) -> Option<u32> {
        match self {
            Known::Number(number) => Some(number),
            Known::Marks([Mark::NONE, _]) => Some(0),
            Known::Marks(marks) => marks[0].linked(),
        }
    }

    fn has_more(self) -> bool {
        matches!(self, Known::Marks(marks) if marks[0].has_more().is_some())
    }

    /// Its records; those that marks stand for are written into the room.
    fn records(self, room: &mut [Record; 2]) -> &[Record] {
        match self {
            Known::Number(number) => world().histories.get(number),
            Known::Marks(marks) => match marks[0].linked() {
                Some(number) => world().histories.get(number),
                None => marks::expand(marks, room),
            },
        }
    }

    /// A history of this number, which may be so short that marks can say it.
    fn made(self, thread: &mut Thread, number: u32, history: &[Record]) -> Known {
        match self {
            Known::Number(_) => Known::Number(number),
            Known::Marks(before) => {
                let marks = longer::of_history(thread, history, before);
                Known::Marks(marks.unwrap_or([Mark::link(number), Mark::NONE]))
            }
        }
    }
}

/// Checks and notes an access to a word. The history there was and what became of it, unless there was a race, or marks
/// say it.
pub fn check_word(
    entered: &Entered,
    address: usize,
    place: Place,
    piece: &WordAccess,
) -> Option<(u32, u32)> {
    let thread = entered.thread();
    let world = world();
    let mask = piece.shape.mask();
    loop {
        let known = place.load();
        if let Place::Marks(cell) = place
            && known.has_more()
        {
            longer::make_history(entered, cell);
            continue;
        }
        let history = known.number().unwrap_or(0);
        if known.number() == Some(0) {
            if world.contents.wait_at(address) {
                write_contents(entered, address);
                continue;
            }
            world.shadow.note_at(address);
            thread.note_lowest(address);
        }
        if history == UNCHECKED {
            thread
                .memo
                .know(thread.generation_key(), piece.shape, history);
            return Some((history, history));
        }
        let mut expanded = [Record::default(); 2];
        let records = known.records(&mut expanded);
        let Some((number, room)) = world
            .histories
            .room(&mut thread.record_buffer, records.len() + 1)
        else {
            collect(entered, records.len() + 1);
            continue;
        };
        if !thread.strand.is_null() {
            openmp::unsettle(number);
        }
        let origin = origin(thread, piece);
        let access = thread.record(piece.shape.kind(), mask, origin);
        // Up to sixteen races, and one more for each byte that these leave out.
        let mut races = [const { MaybeUninit::uninit() }; 16 + 8];
        let (mut found, mut bytes) = (0, 0);
        let race = |earlier: &Record| {
            let common = earlier.mask() & mask;
            if (found < 16 || common & !bytes != 0) && found < races.len() {
                races[found].write(*earlier);
                found += 1;
                bytes |= common;
            }
        };
        let step = match thread.strand.is_null() {
            true => fasttrack::step(records, access, thread.timeline.clock(), room, race),
            false => strand_step(thread, address, history, access, room, race),
        };
        if found > 0
            && let variable @ 1.. = local().acquires.replace(0)
        {
            // What was released there comes before this access, too.
            if let Some(channel) = world.channels.find(variable) {
                channel.lock().acquire(thread);
            }
            continue;
        }
        match step {
            Step::Same => {
                known.number()?;
                thread
                    .memo
                    .know(thread.generation_key(), piece.shape, history);
                return Some((history, history));
            }
            Step::Changed(length) => {
                let length = match place {
                    Place::Number(_) => length,
                    Place::Marks(_) => world.past.take_out(&mut room[..length]),
                };
                // Words that come to say the same share one history. Where marks can say it, its room is used again.
                let made = &room[..length];
                let hash = made.iter().fold(0, Record::hash);
                let generation_key = thread.generation_key();
                let same = thread
                    .memo
                    .made(generation_key, hash)
                    .filter(|same| world.histories.get(*same) == made);
                let number = same.unwrap_or(number);
                let next = known.made(thread, number, made);
                let replaced = place.replace(known, next);
                // A number may have been there for a moment, and somebody may have made use of it.
                let is_told = replaced || matches!(place, Place::Number(_));
                let is_history = next.number().is_some();
                if is_told && is_history && same.is_none() {
                    world.histories.keep(&mut thread.record_buffer, length);
                    thread.memo.note_made(generation_key, hash, number);
                }
                if is_told {
                    for earlier in races.iter().take(found) {
                        // SAFETY: the first `found` have been written.
                        report(thread, address, unsafe { earlier.assume_init() }, access);
                    }
                }
                if !replaced {
                    if let Known::Marks(unused) = next {
                        longer::give_back(thread, unused);
                    }
                    continue;
                }
                thread.timeline.record();
                if let (0, Known::Marks(before), Known::Marks(after)) = (found, known, next)
                    && !next.has_more()
                    && let number @ 1.. = Origin(origin).number()
                {
                    let access = Mark::new(thread.epoch(), piece.shape.kind(), mask, number);
                    thread.transitions.note(before, access, after);
                }
                if found == 0 && !(is_history && known.number().is_some()) {
                    return None;
                }
                if found == 0 {
                    remember(thread, piece, history, number);
                    if !thread.strand.is_null() && records.iter().all(is_over) {
                        remember(thread, piece, 0, number);
                    }
                    return Some((history, number));
                }
                return None;
            }
        }
    }
}

/// Two accesses race.
#[cold]
fn report(thread: &mut Thread, address: usize, first: Record, second: Record) {
    let possible = !thread.strand.is_null() && is_only_possible(thread, &first);
    let race = RacyAccess {
        address,
        first,
        second,
        possible,
    };
    world().findings.race(thread, &race);
}

/// Somebody comes first to a page whose contents were handed out: they are written now, as they were then.
#[cold]
#[inline(never)]
pub fn write_contents(entered: &Entered, address: usize) {
    let thread = entered.thread();
    let world = world();
    let Some(mut written) = world.contents.of(address) else {
        return world.contents.write(address, |_| ());
    };
    fasttrack::end(std::slice::from_mut(&mut written));
    let Some((number, room)) = world.histories.room(&mut thread.record_buffer, 1) else {
        return collect(entered, 1);
    };
    room[0] = written;
    if !thread.strand.is_null() {
        openmp::unsettle(number);
    }
    world.histories.keep(&mut thread.record_buffer, 1);
    match world.shadow {
        Shadow::Numbers(_) => world.contents.write(address, |word| {
            replace(world.shadow.cell(word), 0, number);
        }),
        Shadow::Cells(regions) => {
            let made = marks::compress(&[written], [Mark::NONE; 2])
                .unwrap_or([Mark::link(number), Mark::NONE]);
            world.contents.write(address, |word| {
                regions.cell(word).replace([Mark::NONE; 2], made);
            });
        }
    }
}

/// As [`fasttrack::step`], for a thread that runs a strand of OpenMP.
#[inline(never)]
fn strand_step(
    thread: &mut Thread,
    address: usize,
    history: u32,
    access: Record,
    room: &mut [Record],
    mut race: impl FnMut(&Record),
) -> Step {
    let records = world().histories.get(history);
    let phase = thread.phase;
    let Some(mut asking) = Asking::of(thread, address) else {
        return Step::Same;
    };
    let superfluous = asking.is_superfluous(records, &access);
    let mut found = false;
    let step = fasttrack::step(records, access, &mut asking, room, |earlier| {
        found = true;
        race(earlier);
    });
    match step {
        Step::Changed(_) if superfluous && !found => {
            if phase != 0 {
                asking.settle(phase, history, &access);
            }
            Step::Same
        }
        Step::Changed(length) => Step::Changed(asking.shorten(&mut room[..length])),
        Step::Same => Step::Same,
    }
}

/// What an access has made of a history it may make of it again.
pub fn remember(thread: &mut Thread, piece: &WordAccess, history: u32, next: u32) {
    let shape = piece.shape;
    let (generation_key, site, chain) = (
        thread.generation_key(),
        thread.site(piece.pc),
        thread.chain(),
    );
    thread
        .memo
        .note_change(generation_key, shape, history, site, chain, next);
    thread.memo.know(generation_key, shape, next);
}

/// Where an access came from.
#[inline]
pub fn origin(thread: &mut Thread, piece: &WordAccess) -> u64 {
    if world().tasks.is_none()
        && let number @ 1.. = thread.origin_number(piece)
    {
        return Origin::of_number(number).0;
    }
    Origin::new(
        thread.stack_at(piece.pc),
        thread.lockset(),
        piece.shape.cause(),
    )
    .0
}

/// Finds the histories that are in use, so that the others' room can be used again, for one of this length first. If
/// they fill it, all are given up:
/// rather miss races than end the program.
#[cold]
pub fn collect(entered: &Entered, length: usize) {
    let collections = world().histories.collections();
    entered.alone(|pause| {
        // Another thread may have done it while this one waited for its turn.
        if world().histories.collections() == collections && !visit_all(pause, length) {
            world().drop_one();
            world().shadow.forget_all();
            visit_all(pause, length);
        }
    });
}

/// Visits whatever refers to histories. False: almost all of their room is in use.
pub fn visit_all(pause: &Pause, length: usize) -> bool {
    world().histories.collect(length, |mark| {
        pause.threads(|thread| {
            thread.record_buffer = Default::default();
            thread.spare.forget();
            thread.transitions.clear();
            let generation_key = thread.generation_key();
            thread
                .memo
                .visit(generation_key, |number| mark(InUse::History(number)));
        });
        world().shadow.visit(mark)
    })
}

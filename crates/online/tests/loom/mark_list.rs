//! Words whose marks several threads change at once: two marks in the cell, lists elsewhere, and histories where there is a race.
//!
//! A thread does here what the native runtime does with an access (`crates/rt/src/check/in_place.rs`), with a list of records for a
//! history. Nothing orders the threads; what the setting up has done comes before all of them. So whatever two threads do to
//! the same byte has to be found to race, if it conflicts.
//!
//! One access each: every interleaving. More: those with up to two or three switches away from a thread that could go on.

use std::sync::Mutex;

use deadheat_online::fasttrack::Kind;
use deadheat_online::mark::{InPlace, Mark, Told, step};
use deadheat_online::mark_list::{
    self, Cell as _, HALF, List, Maker, OTHERS, Outcome, SHARED, Spare, WHOLE, give_back, room_at,
};
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;

const WORDS: usize = 2;
/// The alias of what was done before the threads began.
const BEFORE: u8 = 1;
/// That of the first thread.
const FIRST: u8 = 2;
/// How many lists, and how many histories, a thread can make.
const ROOMS: u32 = 8;

/// Two halves that are read one after the other, and exchanged as one. Loom's atomics have eight bytes: here a half is the place of
/// what it says in a table of all that was ever said, which the program under test knows nothing of.
struct Cell<'a> {
    halves: &'a AtomicU64,
    said: &'a Mutex<Vec<Mark>>,
}

impl Cell<'_> {
    fn pack(&self, marks: [Mark; 2]) -> u64 {
        let mut said = self.said.lock().unwrap();
        let [first, second] = marks.map(|mark| {
            let known = said.iter().position(|other| *other == mark);
            known.unwrap_or_else(|| {
                said.push(mark);
                said.len() - 1
            }) as u64
        });
        first << 32 | second
    }
}

impl mark_list::Cell for Cell<'_> {
    fn load(&self) -> [Mark; 2] {
        let halves =
            [32, 0].map(|shift| self.halves.load(Ordering::Acquire) >> shift & 0xffff_ffff);
        let said = self.said.lock().unwrap();
        halves.map(|half| said[half as usize])
    }

    fn replace(&self, old: [Mark; 2], new: [Mark; 2]) -> bool {
        let (old, new) = (self.pack(old), self.pack(new));
        self.halves
            .compare_exchange(old, new, Ordering::AcqRel, Ordering::Acquire)
            .is_ok()
    }
}

/// An access of a program.
#[derive(Clone, Copy, Debug)]
struct Access {
    word: usize,
    kind: Kind,
    mask: u8,
}

const fn read(word: usize, mask: u8) -> Access {
    let kind = Kind {
        write: false,
        atomic: false,
    };
    Access { word, kind, mask }
}

const fn write(word: usize, mask: u8) -> Access {
    let kind = Kind {
        write: true,
        atomic: false,
    };
    Access { word, kind, mask }
}

/// An access, and who made it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Made {
    word: usize,
    mark: Mark,
}

struct World {
    words: [AtomicU64; WORDS],
    rooms: Vec<[AtomicU64; OTHERS]>,
    // Not what is tested: of these, loom sees nothing.
    said: Mutex<Vec<Mark>>,
    histories: Mutex<Vec<Vec<Mark>>>,
    made: Mutex<Vec<Made>>,
    /// The earlier access, as a word told of it, and the later one.
    races: Mutex<Vec<(Mark, Made)>>,
}

impl World {
    fn new(makers: usize) -> World {
        let rooms = makers * ROOMS as usize;
        World {
            words: std::array::from_fn(|_| AtomicU64::new(0)),
            rooms: (0..rooms)
                .map(|_| std::array::from_fn(|_| AtomicU64::new(0)))
                .collect(),
            said: Mutex::new(vec![Mark::NONE]),
            histories: Mutex::new(vec![Vec::new(); rooms]),
            made: Mutex::default(),
            races: Mutex::default(),
        }
    }

    fn cell(&self, word: usize) -> Cell<'_> {
        Cell {
            halves: &self.words[word],
            said: &self.said,
        }
    }

    /// The memory is handed out anew.
    fn clear(&self, word: usize) {
        let cell = self.cell(word);
        while !cell.replace(cell.load(), [Mark::NONE; 2]) {}
    }

    /// Whatever is known of a word, once nobody accesses it.
    fn marks(&self, maker: &impl Maker, word: usize) -> Vec<Mark> {
        let marks = self.cell(word).load();
        match marks[0].linked() {
            Some(number) => self.histories.lock().unwrap()[number as usize].clone(),
            None => List::of(maker, marks).marks().to_vec(),
        }
    }
}

struct Thread {
    world: Arc<World>,
    alias: u8,
    spare: Spare,
    lists: u32,
    histories: u32,
    accesses: u32,
}

impl Maker for Thread {
    fn sees(&self, mark: Mark) -> bool {
        mark.alias() == self.alias || mark.alias() == BEFORE
    }

    fn is_past(&self, _mark: Mark) -> bool {
        // Nobody has found out.
        false
    }

    fn others(&self, number: u32) -> &[AtomicU64] {
        &self.world.rooms[(number & !SHARED) as usize / 2][..room_at(number)]
    }

    fn fresh_room(&mut self, marks: usize) -> Option<u32> {
        self.lists += 1;
        assert!(self.lists < ROOMS);
        Some(self.own(self.lists) * 2 | if marks > HALF { WHOLE } else { 0 })
    }

    fn spare(&mut self) -> &mut Spare {
        &mut self.spare
    }
}

impl Thread {
    fn new(world: &Arc<World>, alias: u8) -> Thread {
        Thread {
            world: world.clone(),
            alias,
            spare: Spare::NONE,
            lists: 0,
            histories: 0,
            accesses: 0,
        }
    }

    /// A number that only this thread gives out: so what it is called does not depend on what others do.
    fn own(&self, number: u32) -> u32 {
        u32::from(self.alias - BEFORE) * ROOMS + number
    }

    /// By an instruction of its own.
    fn access(&mut self, access: Access) {
        self.accesses += 1;
        self.access_from(access, self.accesses);
    }

    fn access_from(&mut self, access: Access, code: u32) {
        let Access { word, kind, mask } = access;
        let mark = Mark::new(Mark::epoch(self.alias, 1), kind, mask, self.own(code));
        let made = Made { word, mark };
        self.world.made.lock().unwrap().push(made);
        let world = self.world.clone();
        let cell = world.cell(word);
        loop {
            let had = cell.load();
            if let Some(number) = had[0].linked() {
                if self.note_in_history(&cell, had, number, made) {
                    return;
                }
                continue;
            }
            let told = match kind.atomic {
                false => Told::new(mark.epoch_of(), kind.write, mask),
                true => Told::atomic(mark.epoch_of(), kind.write, mask),
            };
            if let Some(number) = had[0].has_more()
                && mark_list::is_told(&cell, had, self.others(number), told)
            {
                return;
            }
            match step(had, mark, |earlier| self.sees(earlier)) {
                InPlace::Same => return,
                InPlace::Becomes(next) => {
                    if cell.replace(had, next) {
                        return;
                    }
                    continue;
                }
                InPlace::Rare => (),
            }
            match mark_list::access(self, &cell, had, mark, false) {
                Outcome::Told | Outcome::Noted(_) => return,
                Outcome::Again => (),
                Outcome::Rare => self.make_history(&cell, had),
            }
        }
    }

    fn note_in_history(&mut self, cell: &Cell, had: [Mark; 2], number: u32, made: Made) -> bool {
        let mut history = self.world.histories.lock().unwrap()[number as usize].clone();
        let races = |earlier: &&Mark| !self.sees(**earlier) && conflict(**earlier, made.mark);
        let races: Vec<_> = history
            .iter()
            .filter(races)
            .map(|&earlier| (earlier, made))
            .collect();
        history.push(made.mark);
        let done = cell.replace(had, self.history(history));
        if done {
            self.world.races.lock().unwrap().extend(races);
        }
        done
    }

    fn make_history(&mut self, cell: &Cell, had: [Mark; 2]) {
        let history = List::of(self, had).marks().to_vec();
        if cell.replace(had, self.history(history)) {
            give_back(self, had);
        }
    }

    fn history(&mut self, history: Vec<Mark>) -> [Mark; 2] {
        self.histories += 1;
        assert!(self.histories < ROOMS);
        let number = self.own(self.histories);
        self.world.histories.lock().unwrap()[number as usize] = history;
        [Mark::link(number), Mark::NONE]
    }
}

/// Whether they race if nothing orders them.
fn conflict(one: Mark, other: Mark) -> bool {
    let (a, b) = (one.kind(), other.kind());
    one.mask() & other.mask() != 0 && (a.write || b.write) && !(a.atomic && b.atomic)
}

/// Whether a mark tells all of an access of the same thread, of a byte of it.
fn tells(mark: Mark, access: Mark, byte: u8) -> bool {
    let (told, kind) = (mark.kind(), access.kind());
    let kinds = match (told.write, told.atomic) {
        (true, false) => true,
        (true, true) => kind.atomic,
        (false, false) => !kind.write,
        (false, true) => kind.atomic && !kind.write,
    };
    kinds && mark.alias() == access.alias() && mark.mask() & byte != 0
}

/// Some accesses, and then those of some threads, of which nothing orders any two: nothing is lost, and nothing made up.
fn check(before: &[Access], threads: &[&[Access]], preemptions: Option<usize>) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = preemptions;
    let (before, threads) = (before.to_vec(), threads.to_vec());
    let threads: Vec<_> = threads.into_iter().map(<[Access]>::to_vec).collect();
    model.check(move || {
        let world = Arc::new(World::new(1 + threads.len()));
        let mut main = Thread::new(&world, BEFORE);
        before.iter().for_each(|access| main.access(*access));
        let running = threads.iter().zip(FIRST..).map(|(accesses, alias)| {
            let (world, accesses) = (world.clone(), accesses.clone());
            thread::spawn(move || {
                let mut thread = Thread::new(&world, alias);
                accesses.iter().for_each(|access| thread.access(*access));
            })
        });
        let running: Vec<_> = running.collect();
        running
            .into_iter()
            .for_each(|thread| thread.join().unwrap());
        judge(&main);
    });
}

fn judge(main: &Thread) {
    let world = &main.world;
    let made = world.made.lock().unwrap();
    let races = world.races.lock().unwrap();
    let is_made = |mark: Mark, word: usize| {
        let same = |made: &&Made| made.word == word && made.mark.of_bytes(0) == mark.of_bytes(0);
        (made.iter().find(same)).is_some_and(|made| mark.mask() & !made.mark.mask() == 0)
    };
    let known: Vec<_> = (0..WORDS).map(|word| world.marks(main, word)).collect();
    let bytes = || (0..8).map(|bit| 1u8 << bit);
    for (word, marks) in known.iter().enumerate() {
        for mark in marks {
            assert!(
                is_made(*mark, word),
                "made up: {mark:?} of {word}, {made:?}"
            );
        }
    }
    for (earlier, later) in races.iter() {
        assert!(is_made(*earlier, later.word), "{earlier:?} {later:?}");
    }
    let made = || made.iter().filter(|made| made.mark.alias() != BEFORE);
    for one in made() {
        for byte in bytes().filter(|byte| one.mark.mask() & byte != 0) {
            let known = &known[one.word];
            assert!(
                known.iter().any(|mark| tells(*mark, one.mark, byte)),
                "lost: {one:?} of {made:?}, there is {known:?}",
                made = made().collect::<Vec<_>>(),
            );
        }
        for other in made().filter(|other| other.word == one.word) {
            if other.mark.alias() <= one.mark.alias() || !conflict(one.mark, other.mark) {
                continue;
            }
            for byte in bytes().filter(|byte| one.mark.mask() & other.mark.mask() & byte != 0) {
                let tells_of = |(earlier, later): &(Mark, Made)| {
                    let whose = [earlier.alias(), later.mark.alias()];
                    later.word == one.word
                        && earlier.mask() & later.mark.mask() & byte != 0
                        && whose.contains(&one.mark.alias())
                        && whose.contains(&other.mark.alias())
                };
                assert!(races.iter().any(tells_of), "not found: {one:?} {other:?}");
            }
        }
    }
}

/// What two marks cannot tell.
const THREE: [Access; 3] = [write(0, 1), read(0, 2), write(0, 4)];

/// What is most different: of a byte that has been written, of one that has not, of all.
const SOME: [Access; 6] = [
    read(0, 1),
    write(0, 1),
    read(0, 8),
    write(0, 8),
    read(0, 0xff),
    write(0, 0xff),
];

#[test]
fn an_access_of_each_of_two_threads() {
    for before in [0, 2, 3] {
        for (at, &one) in SOME.iter().enumerate() {
            for &other in &SOME[at..] {
                check(&THREE[..before], &[&[one], &[other]], None);
            }
        }
    }
}

/// The list gets longer and shorter, and there is room that is used for another list of the same word.
#[test]
fn two_accesses_of_each_of_two_threads() {
    let [grows, shrinks] = [[read(0, 8), read(0, 16)], [write(0, 1), write(0, 2)]];
    for (one, other) in [(grows, grows), (grows, shrinks), (shrinks, shrinks)] {
        check(&THREE, &[&one, &other], Some(3));
    }
}

#[test]
fn an_access_of_each_of_three_threads() {
    check(
        &THREE,
        &[&[read(0, 8)], &[read(0, 16)], &[write(0, 7)]],
        Some(2),
    );
}

/// One thread takes a word's room for another word at once, in which the other thread is already known, while that reads it.
#[test]
fn room_that_is_used_for_another_word() {
    check(
        &[
            write(0, 1),
            read(0, 2),
            write(0, 4),
            write(1, 4),
            read(1, 8),
        ],
        &[&[write(1, 2), write(0, 2)], &[write(0, 1), write(1, 1)]],
        Some(3),
    );
}

/// A word's memory is handed out anew, and the thread that has it makes the very marks that it had made there before, of the same
/// room. What is known of it by then is not what another thread may have read.
#[test]
fn a_word_that_comes_to_look_as_it_did() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(|| {
        let world = Arc::new(World::new(3));
        let mut owner = Thread::new(&world, FIRST);
        owner.access(read(0, 2));
        owner.access(read(0, 4));
        owner.access_from(write(0, 1), 20);
        let other = world.clone();
        let other = thread::spawn(move || Thread::new(&other, FIRST + 1).access(read(0, 128)));
        // This list is another, and the first one's room is free.
        owner.access(read(0, 8));
        world.clear(0);
        let is_of_before = world.made.lock().unwrap().len();
        owner.access(write(0, 16));
        owner.access(write(0, 32));
        owner.access_from(write(0, 1), 20);
        other.join().unwrap();
        let known = world.marks(&owner, 0);
        let made = world.made.lock().unwrap();
        let mine = |made: &&Made| made.mark.alias() == FIRST;
        let again = &made[is_of_before..];
        for access in again.iter().filter(mine) {
            assert!(
                known.contains(&access.mark),
                "lost: {access:?} of {known:?}"
            );
        }
        for access in made[..is_of_before].iter().filter(mine) {
            let is_told = known.contains(&access.mark) && !again.contains(access);
            assert!(!is_told, "made up: {access:?} of {known:?}");
        }
    });
}

/// Of a word that says nothing, then something, and nothing again, another thread reads one half before and one in between.
#[test]
fn halves_that_were_never_there_together() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(|| {
        let world = Arc::new(World::new(3));
        let other = world.clone();
        let other = thread::spawn(move || Thread::new(&other, FIRST + 1).access(read(0, 128)));
        let mut owner = Thread::new(&world, FIRST);
        owner.access(read(0, 2));
        owner.access(write(0, 1));
        world.clear(0);
        other.join().unwrap();
        let known = world.marks(&owner, 0);
        let is_mine = |mark: &Mark| mark.alias() == FIRST;
        assert!(!known.iter().any(is_mine), "made up: {known:?}");
    });
}

//! FastTrack in place: the usual histories of a word in sixteen bytes, changed without a history being made.
//!
//! A [`Mark`] is an access in eight bytes. It says the same as a [`Record`](crate::fasttrack::Record), in other numbers:
//!
//! | bits | what |
//! |---|---|
//! | 0–7 | which bytes of the word |
//! | 8, 9 | whether it writes, whether it is atomic |
//! | 10–33 | its origin, by the number that the caller has given it |
//! | 34–41 | the alias of its thread's slot: who that is, and from which time on, a table of the caller's says |
//! | 42–63 | its time, from where the alias begins |
//!
//! So bits 34 to 63 are its epoch, and "is this my own access, made at my present time, that tells all of the new one?" is one
//! comparison under a mask ([`Told`]). All zeros is no mark. A number without bytes is none either: it stands for
//! what two marks cannot say, a history ([`Mark::link`]) or more marks ([`Mark::more`]).
//!
//! [`step`] says what an access makes of two marks, [`step_among`] of any number. They answer [`InPlace::Rare`] where there are
//! too many, or where there is a race: then [`fasttrack::step`](crate::fasttrack::step) has to say, of the records that the marks
//! stand for.
//!
//! Guarantee: that of `fasttrack`. What is kept may be one of several histories that find the same races.
//! Cost: two comparisons of epochs, at most two looks into a clock.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::fasttrack::Kind;

const WRITE: u64 = 1 << 8;
const ATOMIC: u64 = 1 << 9;
/// Without bytes: it leads to more marks.
const MORE: u64 = WRITE;
const ORIGIN_SHIFT: u32 = 10;
const ORIGIN_BITS: u32 = 24;
const ALIAS_SHIFT: u32 = ORIGIN_SHIFT + ORIGIN_BITS;
const TIME_SHIFT: u32 = ALIAS_SHIFT + 8;
const EPOCH: u64 = !0 << ALIAS_SHIFT;
const ALIAS: u64 = 0xff << ALIAS_SHIFT;

/// How many origins marks can tell apart.
pub const ORIGINS: u32 = 1 << ORIGIN_BITS;
/// How many times an alias is good for. Half of those that there are bits for: the others are those of links.
pub const TIMES: u32 = 1 << (63 - TIME_SHIFT);
/// Different numbers that go with a link.
pub const VERSIONS: u32 = TIMES;
/// How many aliases there are. The first is nobody's.
pub const ALIASES: usize = 256;

/// See the [module](self).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Mark(pub u64);

impl Mark {
    /// No mark.
    pub const NONE: Mark = Mark(0);

    /// An access to the bytes in `mask` with this epoch.
    #[inline(always)]
    pub fn new(epoch: u64, kind: Kind, mask: u8, origin: u32) -> Mark {
        let write = if kind.write { WRITE } else { 0 };
        let atomic = if kind.atomic { ATOMIC } else { 0 };
        let origin = u64::from(origin % ORIGINS) << ORIGIN_SHIFT;
        Mark(epoch | origin | write | atomic | u64::from(mask))
    }

    /// The same access, to these bytes.
    #[inline]
    pub fn of_bytes(self, mask: u8) -> Mark {
        Mark(self.0 & !0xff | u64::from(mask))
    }

    /// An epoch: so much time after the alias begins, which is below [`TIMES`].
    #[inline]
    pub fn epoch(alias: u8, time: u32) -> u64 {
        u64::from(time) << TIME_SHIFT | u64::from(alias) << ALIAS_SHIFT
    }

    /// No mark, but a number that stands for more than marks can say. Numbers are below 2³².
    #[inline]
    pub fn link(number: u32) -> Mark {
        Mark(u64::from(TIMES) << TIME_SHIFT | u64::from(number) << ORIGIN_SHIFT)
    }

    /// The number of a history that stands here instead of a mark.
    #[inline]
    pub fn linked(self) -> Option<u32> {
        (self.0 & (MORE | 0xff) == 0 && self.0 != 0).then_some((self.0 >> ORIGIN_SHIFT) as u32)
    }

    /// No mark, but the number of more marks, and a version, below [`VERSIONS`], that tells it from when it leads elsewhere.
    #[inline]
    pub fn more(number: u32, version: u32) -> Mark {
        Mark(Mark::link(number).0 | u64::from(version % VERSIONS) << TIME_SHIFT | MORE)
    }

    /// The number of more marks that stands here.
    #[inline]
    pub fn has_more(self) -> Option<u32> {
        (self.0 & (MORE | 0xff) == MORE).then_some((self.0 >> ORIGIN_SHIFT) as u32)
    }

    /// Whether it is no mark.
    #[inline]
    pub fn is_none(self) -> bool {
        self.0 == 0
    }

    /// Which bytes of the word.
    #[inline]
    pub fn mask(self) -> u8 {
        self.0 as u8
    }

    /// How it touched memory.
    #[inline]
    pub fn kind(self) -> Kind {
        Kind {
            write: self.0 & WRITE != 0,
            atomic: self.0 & ATOMIC != 0,
        }
    }

    /// The number of its origin.
    #[inline]
    pub fn origin(self) -> u32 {
        (self.0 >> ORIGIN_SHIFT) as u32 % ORIGINS
    }

    /// Whose it is, and from which time on.
    #[inline]
    pub fn alias(self) -> u8 {
        (self.0 >> ALIAS_SHIFT) as u8
    }

    /// Its epoch.
    #[inline]
    pub fn epoch_of(self) -> u64 {
        self.0 & EPOCH
    }

    /// Its time since its alias begins.
    #[inline]
    pub fn time(self) -> u32 {
        (self.0 >> TIME_SHIFT) as u32
    }

    /// Whether two accesses to the same byte can race: one writes and not both are atomic.
    #[inline]
    fn conflicts(self, other: Mark) -> bool {
        (self.0 | other.0) & WRITE != 0 && (self.0 & other.0) & ATOMIC == 0
    }

    /// Whether everything that conflicts with the other conflicts with this too.
    #[inline]
    fn covers(self, other: Mark) -> bool {
        // By this one's kind (the higher two bits) and the other's: a plain write covers all, an atomic write what is atomic,
        // a plain read all reads, an atomic read atomic reads. Kinds are plain read, plain write, atomic read, atomic write.
        const COVERS: u16 = 0b1100 << 12 | 0b0100 << 8 | 0b1111 << 4 | 0b0101;
        let kind = |mark: Mark| (mark.0 >> 8) as u32 & 3;
        COVERS >> (kind(self) * 4 + kind(other)) & 1 != 0
    }
}

/// Recognises marks that tell all of an access which the running thread makes now.
#[derive(Clone, Copy, Debug)]
pub struct Told {
    wanted: u64,
    relevant: u64,
}

impl Told {
    /// For a plain access to these bytes, made with this epoch.
    #[inline(always)]
    pub fn new(epoch: u64, write: bool, mask: u8) -> Told {
        let mask = u64::from(mask);
        let relevant = EPOCH | ATOMIC | mask | if write { WRITE } else { 0 };
        Told {
            wanted: epoch | mask | if write { WRITE } else { 0 },
            relevant,
        }
    }

    /// For an atomic access: by atomic ones only, though plain ones may tell of it too.
    #[inline(always)]
    pub fn atomic(epoch: u64, write: bool, mask: u8) -> Told {
        let told = Told::new(epoch, write, mask);
        Told {
            wanted: told.wanted | ATOMIC,
            ..told
        }
    }

    /// Whether a mark does.
    #[inline(always)]
    pub fn by(self, mark: u64) -> bool {
        (mark ^ self.wanted) & self.relevant == 0
    }
}

/// By alias, how many of its times a thread knows to happen before now. It may know of more.
///
/// Its thread alone learns; others make it forget only while that thread changes no cell by what it has read here.
#[derive(Debug)]
#[repr(transparent)]
pub struct Known([AtomicU32; ALIASES]);

impl Known {
    /// Nothing but what no mark says.
    pub const fn new() -> Known {
        let mut known = [const { AtomicU32::new(0) }; ALIASES];
        known[0] = AtomicU32::new(1);
        Known(known)
    }

    /// Whether a mark is known to. No mark is; a link never is.
    #[inline(always)]
    pub fn has(&self, mark: Mark) -> bool {
        mark.time() < self.0[usize::from(mark.alias())].load(Ordering::Relaxed)
    }

    /// What was done by an alias in so many times from where it begins happens before now.
    pub fn learn(&self, alias: u8, times: u32) {
        let known = &self.0[usize::from(alias)];
        let times = times.min(TIMES).max(known.load(Ordering::Relaxed));
        known.store(times, Ordering::Relaxed);
    }

    /// Aliases may mean something else from now on.
    pub fn forget(&self) {
        (self.0[1..].iter()).for_each(|known| known.store(0, Ordering::Relaxed));
    }
}

impl Default for Known {
    fn default() -> Known {
        Known::new()
    }
}

/// What a plain access makes of marks in the usual case: all that they tell happens before it, and two of them are enough.
#[inline(always)]
pub fn usual_step(marks: [Mark; 2], access: Mark, known: &Known) -> Option<[Mark; 2]> {
    let mut new = access;
    let one = rest(marks[0], access, &mut new, known)?;
    let other = rest(marks[1], access, &mut new, known)?;
    match (one.is_none(), other.is_none()) {
        (true, _) => Some([new, other]),
        (_, true) => Some([new, one]),
        _ => None,
    }
}

/// What is left of a mark once an access is noted, of which it may be a part. None: it is not known to happen before.
#[inline(always)]
fn rest(mark: Mark, access: Mark, new: &mut Mark, known: &Known) -> Option<Mark> {
    if (mark.0 ^ access.0) >> 8 == 0 {
        new.0 |= mark.0 & 0xff;
        return Some(Mark::NONE);
    }
    if !known.has(mark) {
        return None;
    }
    // A plain write covers all, a plain read what does not write.
    let covered = match access.0 & WRITE == 0 && mark.0 & WRITE != 0 {
        true => 0,
        false => access.0 & 0xff,
    };
    let left = mark.0 & !covered;
    Some(if left & 0xff == 0 {
        Mark::NONE
    } else {
        Mark(left)
    })
}

/// What an access made of a word's marks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InPlace {
    /// They tell all of it already, and will as long as the thread's time is the same.
    Same,
    /// They become these.
    Becomes([Mark; 2]),
    /// Marks cannot say.
    Rare,
}

/// What an access makes of the marks of its word. `precedes` says whether an earlier access comes before it; those with the same
/// alias do.
#[inline(always)]
pub fn step(marks: [Mark; 2], access: Mark, mut precedes: impl FnMut(Mark) -> bool) -> InPlace {
    if marks[0].mask() == 0 && !marks[0].is_none() {
        return InPlace::Rare;
    }
    let mut made = [Mark::NONE; 3];
    match step_among(&marks, access, &mut precedes, &mut made) {
        Among::Same => InPlace::Same,
        Among::Becomes(1) => InPlace::Becomes([made[0], Mark::NONE]),
        Among::Becomes(2) => InPlace::Becomes([made[0], made[1]]),
        Among::Becomes(_) | Among::Races => InPlace::Rare,
    }
}

/// What an access makes of a list of marks, the newest first, as far as it may get shorter or one longer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Among {
    /// They tell all of it already.
    Same,
    /// So many, of which the first is that of the access.
    Becomes(usize),
    /// They race.
    Races,
}

/// As [`step`], of any number of marks, which lead to no others; `made` has room for one more. That nothing is made anew
/// holds also where several of the same time tell all of it together.
#[inline(always)]
pub fn step_among(
    marks: &[Mark],
    access: Mark,
    mut precedes: impl FnMut(Mark) -> bool,
    made: &mut [Mark],
) -> Among {
    let mut new = access;
    let mut length = 1;
    let mut told = 0;
    for &mark in marks.iter().filter(|mark| !mark.is_none()) {
        let differs = mark.0 ^ access.0;
        let common = mark.0 & access.0 & 0xff;
        if differs & EPOCH == 0 {
            if mark.covers(access) {
                told |= common;
                if told == access.0 & 0xff {
                    return Among::Same;
                }
            }
            if differs >> 8 == 0 {
                new.0 |= mark.0 & 0xff;
                continue;
            }
        }
        let mut rest = mark;
        if common != 0 {
            if differs & ALIAS == 0 || precedes(mark) {
                if access.covers(mark) {
                    rest.0 &= !common;
                    if rest.0 & 0xff == 0 {
                        continue;
                    }
                }
            } else if mark.conflicts(access) {
                return Among::Races;
            }
        }
        made[length] = rest;
        length += 1;
    }
    made[0] = new;
    Among::Becomes(length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fasttrack::{Record, SLOTS};
    use deadheat_model::Strand;

    fn any_kind(rng: &mut fastrand::Rng) -> Kind {
        Kind {
            write: rng.bool(),
            atomic: rng.u32(..4) == 0,
        }
    }

    #[test]
    fn a_mark_says_what_it_was_made_of() {
        let mut rng = fastrand::Rng::with_seed(1);
        for _ in 0..10_000 {
            let (alias, time) = (rng.u8(1..), rng.u32(..TIMES));
            let (kind, mask, origin) = (any_kind(&mut rng), rng.u8(1..), rng.u32(..ORIGINS));
            let mark = Mark::new(Mark::epoch(alias, time), kind, mask, origin);
            assert_eq!(
                (
                    mark.alias(),
                    mark.time(),
                    mark.kind(),
                    mark.mask(),
                    mark.origin()
                ),
                (alias, time, kind, mask, origin)
            );
            assert_eq!(mark.linked(), None);
            let number = rng.u32(1..);
            assert_eq!(Mark::link(number).linked(), Some(number));
        }
    }

    #[test]
    fn what_leads_to_more_marks_is_no_history() {
        for version in [0, 5, VERSIONS - 1] {
            let more = Mark::more(u32::MAX - 77, version);
            assert_eq!(
                (more.has_more(), more.linked()),
                (Some(u32::MAX - 77), None)
            );
            let known = Known::new();
            (0..ALIASES).for_each(|alias| known.learn(alias as u8, TIMES));
            assert!(!more.is_none() && !known.has(more));
        }
        assert_ne!(Mark::more(1, 2), Mark::more(1, 3));
        assert_eq!(Mark::link(77).has_more(), None);
        assert_eq!(Mark::NONE.has_more(), None);
    }

    #[test]
    fn a_list_of_marks_becomes_what_two_become() {
        let mut rng = fastrand::Rng::with_seed(5);
        let mut seen = [0; 3];
        for _ in 0..300_000 {
            let any = |rng: &mut fastrand::Rng| {
                let epoch = Mark::epoch(rng.u8(1..4), rng.u32(..2));
                Mark::new(epoch, any_kind(rng), rng.u8(1..), rng.u32(..2))
            };
            let marks = [any(&mut rng), any(&mut rng)];
            let access = any(&mut rng);
            let known = Known::new();
            known.learn(access.alias(), TIMES);
            known.learn(rng.u8(1..4), rng.u32(..3));
            let precedes = |mark| known.has(mark);
            let mut made = [Mark::NONE; 3];
            let expected = step(marks, access, precedes);
            match step_among(&marks, access, precedes, &mut made) {
                Among::Same => {
                    assert_eq!(expected, InPlace::Same);
                    seen[0] += 1;
                }
                Among::Becomes(length) if length <= 2 => {
                    assert_eq!(expected, InPlace::Becomes([made[0], made[1]]));
                    seen[1] += 1;
                }
                Among::Becomes(_) | Among::Races => {
                    assert_eq!(expected, InPlace::Rare);
                    seen[2] += 1;
                }
            }
        }
        assert!(seen.iter().all(|&times| times > 2000), "{seen:?}");
    }

    /// The hooks' comparison says what `step` says.
    #[test]
    fn what_is_told_is_the_same() {
        let mut rng = fastrand::Rng::with_seed(2);
        let mut told = 0;
        for _ in 0..200_000 {
            let epoch = |rng: &mut fastrand::Rng| Mark::epoch(rng.u8(1..3), rng.u32(..2));
            let old = Mark::new(
                epoch(&mut rng),
                any_kind(&mut rng),
                rng.u8(1..),
                rng.u32(..2),
            );
            let kind = Kind {
                write: rng.bool(),
                atomic: false,
            };
            let new = Mark::new(epoch(&mut rng), kind, 1 << rng.u32(..8), 1);
            let says = Told::new(new.0 & EPOCH, kind.write, new.mask()).by(old.0);
            let same = step([Mark::NONE, old], new, |_| true) == InPlace::Same;
            assert_eq!(says, same, "{old:?} {new:?}");
            told += u32::from(says);
        }
        assert!(told > 1000, "{told}");
    }

    /// The usual step makes the same of marks as `step`, or something that tells the same: no other access is told apart.
    #[test]
    fn what_is_usual_is_what_step_says() {
        let mut rng = fastrand::Rng::with_seed(4);
        let (mut usual, mut same) = (0, 0);
        for _ in 0..300_000 {
            let epoch = |rng: &mut fastrand::Rng| Mark::epoch(rng.u8(1..3), rng.u32(..3));
            let mask = |rng: &mut fastrand::Rng| [0xff, 0x0f, 1 << rng.u32(..8)][rng.usize(..3)];
            let any = |rng: &mut fastrand::Rng| match rng.u32(..4) {
                0 => Mark::NONE,
                _ => {
                    let (epoch, kind, mask) = (epoch(rng), any_kind(rng), mask(rng));
                    Mark::new(epoch, kind, mask, rng.u32(..2))
                }
            };
            let marks = match rng.u32(..50) {
                0 => [Mark::link(rng.u32(1..)), Mark::NONE],
                1..5 => [any(&mut rng), Mark::NONE],
                _ => [any(&mut rng), any(&mut rng)],
            };
            let kind = Kind {
                write: rng.bool(),
                atomic: false,
            };
            let access = Mark::new(Mark::epoch(1, 2), kind, mask(&mut rng), 1);
            let known = Known::new();
            known.learn(1, TIMES);
            known.learn(2, rng.u32(..4));
            let Some(next) = usual_step(marks, access, &known) else {
                continue;
            };
            usual += 1;
            assert!(marks[0].linked().is_none(), "{marks:?}");
            match step(marks, access, |mark| known.has(mark)) {
                InPlace::Same => same += 1,
                InPlace::Becomes(expected) => assert_eq!(next, expected, "{marks:?} {access:?}"),
                InPlace::Rare => panic!("{marks:?} {access:?}"),
            }
        }
        assert!(usual > 30_000 && same > 500, "{usual} {same}");
    }

    /// Kinds cover each other as records do.
    #[test]
    fn marks_cover_and_conflict_as_records_do() {
        let kinds = [(false, false), (true, false), (false, true), (true, true)];
        let kinds = kinds.map(|(write, atomic)| Kind { write, atomic });
        for mine in kinds {
            for theirs in kinds {
                let mark = |kind, alias| Mark::new(Mark::epoch(alias, 1), kind, 0xff, 1);
                let record = |kind, slot| Record::new(Strand(slot % SLOTS), 1, kind, 0xff, 1);
                let (a, b) = (mark(mine, 1), mark(theirs, 2));
                let (c, d) = (record(mine, 1), record(theirs, 2));
                assert_eq!(a.covers(b), c.covers(&d), "{mine:?} {theirs:?}");
                assert_eq!(a.conflicts(b), c.conflicts(&d), "{mine:?} {theirs:?}");
            }
        }
    }
}

//! The records of a tape: their numbers, and what their words hold.
//!
//! A record's first word has its number in the upper bits and its *payload* in the lower ones. A [`Stamped`] record goes
//! on with a [`Code`], a stamp and a time, and with a size if it is about a piece of memory. The table in the crate's
//! documentation says what each payload and each detail is.

use std::fmt;

use crate::{FIRST_SITE, PAYLOAD};

/// Where a word has its upper part.
const UPPER: u32 = 48;

/// A number that stands for nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnknownNumber(pub u64);

impl fmt::Display for UnknownNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} stands for nothing on a tape", self.0)
    }
}

impl std::error::Error for UnknownNumber {}

/// Defines an enum whose variants have numbers on a tape, and the way back from the numbers.
macro_rules! numbered {
    ($(#[$meta:meta])* pub enum $Name:ident { $($(#[$doc:meta])* $Variant:ident = $number:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[repr(u64)]
        pub enum $Name {
            $($(#[$doc])* $Variant = $number,)*
        }

        impl $Name {
            /// All of them.
            pub const ALL: &'static [$Name] = &[$($Name::$Variant),*];
        }

        impl From<$Name> for u64 {
            #[inline(always)]
            fn from(variant: $Name) -> u64 {
                variant as u64
            }
        }

        impl TryFrom<u64> for $Name {
            type Error = UnknownNumber;

            #[inline]
            fn try_from(number: u64) -> Result<$Name, UnknownNumber> {
                match number {
                    $($number => Ok($Name::$Variant),)*
                    _ => Err(UnknownNumber(number)),
                }
            }
        }
    };
}

numbered! {
    /// Records that have no place in the order of all threads.
    pub enum Unstamped {
        /// A function was entered.
        Entered = 1,
        /// Functions were left.
        Left = 2,
        /// The time of the next access.
        Time = 3,
        /// A plain access whose site is not in the table.
        Elsewhere = 4,
        /// A piece of memory is read.
        ReadRange = 5,
        /// A piece of memory is written: the detail is 1 where a lock begins or ends by that.
        WriteRange = 6,
        /// The thread's name.
        Name = 7,
        /// The thread's stack.
        Stack = 8,
    }
}

numbered! {
    /// Records whose stamp is their place in the order of all threads.
    pub enum Stamped {
        /// A block is freed.
        Freed = 10,
        /// A block is allocated.
        Allocated = 11,
        /// Memory is as new: the detail is a [`NewMemory`].
        New = 12,
        /// A lock is taken: the detail is a [`LockDetail`].
        Lock = 13,
        /// A lock is given back: the detail is a [`LockDetail`].
        Unlock = 14,
        /// A token is taken from a semaphore.
        Take = 15,
        /// A token is given to a semaphore.
        Give = 16,
        /// A barrier is arrived at: the detail is the round.
        Arrive = 17,
        /// A barrier is left: the detail is the round.
        Leave = 18,
        /// What was released is acquired.
        Acquire = 19,
        /// Release, forgetting what was released before.
        Release = 20,
        /// Release besides what was released before.
        ReleaseMore = 21,
        /// An atomic operation: the detail is an [`AtomicDetail`].
        Atomic = 22,
        /// A fence: the detail is its order.
        Fence = 23,
        /// A thread is created.
        Create = 24,
        /// A thread has been waited for.
        Join = 25,
        /// The thread begins.
        Begin = 26,
        /// The thread ends.
        End = 27,
        /// A lock, semaphore or barrier is no more.
        Destroy = 28,
        /// The thread goes on as a strand.
        Run = 29,
        /// That strand does something: the detail is a [`TaskAction`].
        Task = 30,
    }
}

impl Stamped {
    /// Whether it is about a piece of memory, whose size is its last word.
    #[inline]
    pub const fn has_size(self) -> bool {
        matches!(self, Stamped::Freed | Stamped::Allocated | Stamped::New)
    }

    /// How many words it has.
    #[inline]
    pub const fn words(self) -> usize {
        4 + self.has_size() as usize
    }
}

/// The most words that a record has.
pub const LONGEST: usize = 5;

/// Which record a number begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Record {
    /// A plain access at the site of this number.
    Access(u64),
    /// One without a stamp.
    Unstamped(Unstamped),
    /// One with a stamp.
    Stamped(Stamped),
}

impl TryFrom<u64> for Record {
    type Error = UnknownNumber;

    #[inline]
    fn try_from(number: u64) -> Result<Record, UnknownNumber> {
        if number >= FIRST_SITE {
            return Ok(Record::Access(number));
        }
        match Unstamped::try_from(number) {
            Ok(record) => Ok(Record::Unstamped(record)),
            Err(_) => Stamped::try_from(number).map(Record::Stamped),
        }
    }
}

const _: () = assert!((Stamped::Task as u64) < FIRST_SITE);

/// A record's first word.
#[inline(always)]
pub const fn head(number: u64, payload: u64) -> u64 {
    number << UPPER | payload & PAYLOAD
}

/// The number and the payload of a record's first word.
#[inline]
pub const fn parts(head: u64) -> (u64, u64) {
    (head >> UPPER, head & PAYLOAD)
}

/// A word about code: the return address of whoever called (0 if not known), and a detail of 16 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Code {
    /// The return address.
    pub pc: u64,
    /// What it is depends on the record.
    pub detail: u64,
}

impl Code {
    /// As a word.
    #[inline]
    pub const fn word(self) -> u64 {
        head(self.detail, self.pc)
    }

    /// From a word.
    #[inline]
    pub const fn from_word(word: u64) -> Code {
        let (detail, pc) = parts(word);
        Code { pc, detail }
    }
}

/// An entry of the table of sites: code that makes plain accesses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AccessSite {
    /// The return address.
    pub pc: u64,
    /// How many bytes it accesses.
    pub size: u64,
    /// Whether it writes.
    pub write: bool,
    /// Whether a lock begins or ends by it: that is a range of memory, which is in no table.
    pub of_lock: bool,
}

impl AccessSite {
    /// As a word.
    #[inline(always)]
    pub const fn word(self) -> u64 {
        head(self.size << 1 | self.write as u64, self.pc)
    }

    /// From a word, whatever it says.
    #[inline]
    pub fn from_word(word: u64) -> AccessSite {
        let (upper, pc) = parts(word);
        AccessSite {
            pc,
            size: (upper >> 1).clamp(1, 16),
            write: upper & 1 != 0,
            of_lock: false,
        }
    }
}

/// How a lock is held.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LockDetail {
    /// Held alone, and not with other readers.
    pub exclusive: bool,
    /// A lock of OpenMP: it may be said to be given back when another thread has got it already.
    pub openmp: bool,
}

impl LockDetail {
    /// A critical section or a lock of OpenMP.
    pub const OF_OPENMP: LockDetail = LockDetail {
        exclusive: true,
        openmp: true,
    };

    /// A lock of threads.
    pub const fn of_threads(exclusive: bool) -> LockDetail {
        LockDetail {
            exclusive,
            openmp: false,
        }
    }
}

impl From<LockDetail> for u64 {
    #[inline]
    fn from(detail: LockDetail) -> u64 {
        u64::from(detail.exclusive) | u64::from(detail.openmp) << 1
    }
}

impl From<u64> for LockDetail {
    fn from(detail: u64) -> LockDetail {
        LockDetail {
            exclusive: detail & 1 != 0,
            openmp: detail & 2 != 0,
        }
    }
}

numbered! {
    /// What an atomic operation does.
    pub enum AtomicKind {
        /// It reads.
        Load = 0,
        /// It writes.
        Store = 1,
        /// It reads and writes.
        Update = 2,
    }
}

/// An atomic operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AtomicDetail {
    /// Its memory order, as the compilers number them: 0 relaxed to 5 sequentially consistent.
    pub order: u64,
    /// What it does.
    pub kind: AtomicKind,
    /// On how many bytes, up to 1023.
    pub size: u64,
}

impl From<AtomicDetail> for u64 {
    #[inline]
    fn from(detail: AtomicDetail) -> u64 {
        detail.order & 7 | u64::from(detail.kind) << 4 | detail.size.min(1023) << 6
    }
}

impl TryFrom<u64> for AtomicDetail {
    type Error = UnknownNumber;

    fn try_from(detail: u64) -> Result<AtomicDetail, UnknownNumber> {
        Ok(AtomicDetail {
            order: detail & 7,
            kind: AtomicKind::try_from(detail >> 4 & 3)?,
            size: detail >> 6 & 1023,
        })
    }
}

numbered! {
    /// Why memory is as new.
    pub enum NewMemory {
        /// It was mapped.
        Mapped = 0,
        /// It is part of the thread's stack, which is used anew.
        Stack = 1,
        /// OpenMP's runtime has handed it out.
        Runtime = 2,
        /// Accesses to it do not count: each thread has its own there, or the program says so.
        Unchecked = 3,
    }
}

numbered! {
    /// What a strand does.
    pub enum TaskAction {
        /// It creates a task.
        Task = 0,
        /// A member of its region begins: the payload is a [`Member`].
        Member = 1,
        /// It signals.
        Set = 2,
        /// It has waited for a signal, or for a task's end.
        Get = 3,
        /// It begins a group.
        BeginGroup = 4,
        /// It ends a group: all that was created inside has ended.
        EndGroup = 5,
        /// It ends.
        End = 6,
        /// It meets a region.
        BeginRegion = 7,
        /// The region's members have met at a barrier: all that they began has ended, and they begin anew.
        Barrier = 8,
        /// The region has ended.
        EndRegion = 9,
    }
}

/// What names a thread of the program's own where a strand is named, beside its number.
pub const THREAD_STRAND: u64 = 1 << 40;

/// A member of a region.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Member {
    /// Its strand.
    pub strand: u64,
    /// Its number in the region, up to 65,535.
    pub number: u64,
}

impl Member {
    /// As a payload.
    #[inline]
    pub const fn payload(self) -> u64 {
        let number = if self.number < 0xffff {
            self.number
        } else {
            0xffff
        };
        self.strand | number << 32
    }

    /// From a payload.
    pub const fn from_payload(payload: u64) -> Member {
        Member {
            strand: payload & 0xffff_ffff,
            number: payload >> 32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_record_is_what_its_number_says() {
        for &record in Unstamped::ALL {
            assert_eq!(
                Record::try_from(record as u64),
                Ok(Record::Unstamped(record))
            );
        }
        for &record in Stamped::ALL {
            assert_eq!(Record::try_from(record as u64), Ok(Record::Stamped(record)));
            assert!(record.words() <= LONGEST);
        }
        assert_eq!(Record::try_from(FIRST_SITE), Ok(Record::Access(FIRST_SITE)));
        for unknown in [0, 9, 31] {
            assert_eq!(Record::try_from(unknown), Err(UnknownNumber(unknown)));
        }
    }

    #[test]
    fn words_hold_what_was_put_in() {
        for &kind in AtomicKind::ALL {
            for (order, size) in [(0, 1), (5, 16), (3, 1023)] {
                let detail = AtomicDetail { order, kind, size };
                assert_eq!(AtomicDetail::try_from(u64::from(detail)), Ok(detail));
            }
        }
        for (exclusive, openmp) in [(true, false), (false, true)] {
            let detail = LockDetail { exclusive, openmp };
            assert_eq!(LockDetail::from(u64::from(detail)), detail);
        }
        for (pc, detail) in [(PAYLOAD, 0xffff), (0x5555_1234, 0)] {
            let code = Code { pc, detail };
            assert_eq!(Code::from_word(code.word()), code);
        }
        for (size, write) in [(1, true), (16, false)] {
            let site = AccessSite {
                pc: 0x77,
                size,
                write,
                of_lock: false,
            };
            assert_eq!(AccessSite::from_word(site.word()), site);
        }
        let member = Member {
            strand: 0xffff_ffff,
            number: 0xffff,
        };
        assert_eq!(Member::from_payload(member.payload()), member);
    }
}

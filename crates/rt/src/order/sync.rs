//! The channels by which threads synchronise, found by address.
//!
//! The simple model: a map from addresses to [`Channel`]s, each with a lock.
//!
//! The map is an array of numbers, one for every 16 bytes of the address space, mapped where the kernel
//! likes and taking memory only where it is touched. A number leads to the first of the channels in
//! these bytes. Channels are found without a lock, and made when something is first released.
//! When memory is freed its channels are given back; a bitmap of pages says where there are any.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

use deadheat_model::finding::AccessCause;
use deadheat_online::fasttrack::Kind;
use deadheat_online::timeline::Channel;
use rustc_hash::FxHashMap;

use crate::check::origin::{Origin, Stack};
use crate::check::shadow::ADDRESS_BITS;
use crate::openmp;
use crate::openmp::messages::Signals;
use crate::openmp::strand::Strand;
use crate::order::thread::{Entered, Held, ROOT, Thread, enter};
use crate::output::findings::RacyAccess;
use crate::output::recording::{self, LockDetail, Stamped};
use crate::platform::os::{self, Spin, SpinGuard};
use crate::platform::world::world;

const SPACE: usize = 1 << ADDRESS_BITS;
const CHANNELS: usize = 1 << 26;
const PAGE: usize = 4096;
/// Of how many bytes a page of the bitmap of pages tells.
const REGION: usize = 8 * PAGE * PAGE;

/// See the [module](self).
#[derive(Debug)]
pub struct Channels {
    map: usize,
    /// A bit for every page in which there are channels.
    pages: usize,
    /// A bit for every page of `pages` that is in use.
    summary: usize,
    slots: *mut ChannelSlot,
    used: AtomicU32,
    free: (Spin, UnsafeCell<u32>),
    barriers: (Spin, UnsafeCell<Barriers>),
}

/// How many threads each barrier is for, and how many have arrived there so far.
type Barriers = FxHashMap<usize, (u64, u64)>;

/// A channel, and whom it belongs to. What every use of it touches lies in one line of the processor's cache.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct ChannelSlot {
    lock: Spin,
    /// The number of the set that only has this lock, held to write. 0: not known yet.
    lockset: AtomicU32,
    address: AtomicUsize,
    channel: UnsafeCell<Channel>,
    next: AtomicU32,
    /// What it carries between strands of OpenMP.
    signals: UnsafeCell<Signals>,
}

// SAFETY: channels are only touched with their lock held, the list of free ones with its own.
unsafe impl Sync for Channels {}
// SAFETY: as above.
unsafe impl Send for Channels {}

/// A channel with its lock held.
pub struct Locked<'a> {
    slot: &'a ChannelSlot,
    _guard: SpinGuard<'a>,
}

impl Locked<'_> {
    #[allow(clippy::mut_from_ref)]
    fn channel(&self) -> &mut Channel {
        // SAFETY: the lock is held, and no two of these live at a time.
        unsafe { &mut *self.slot.channel.get() }
    }

    /// What it carries between strands, the strand that the thread runs, and the address.
    #[inline]
    #[allow(clippy::mut_from_ref)]
    fn between_strands<'t>(
        &self,
        thread: &'t mut Thread,
    ) -> Option<(&mut Signals, &'t mut Strand, usize)> {
        // SAFETY: the strand that the running thread runs; the lock is held.
        let strand = unsafe { thread.strand.as_mut()? };
        // SAFETY: the lock of the channel is held as long as `self` lives, and nobody touches its signals without.
        let signals = unsafe { &mut *self.slot.signals.get() };
        Some((signals, strand, self.slot.address.load(Ordering::Relaxed)))
    }

    /// What was released happens before what the thread does from now on.
    #[inline]
    pub fn acquire(&self, thread: &mut Thread) {
        match self.between_strands(thread) {
            None => self.channel().acquire(&mut thread.timeline),
            Some((signals, strand, address)) => strand.acquire(address, signals),
        }
    }

    /// An atomic read that does not acquire: a fence may follow.
    #[inline]
    pub fn peek(&self, thread: &mut Thread) {
        match self.between_strands(thread) {
            None => self.channel().peek(&mut thread.timeline),
            Some((signals, strand, address)) => strand.peek(address, signals),
        }
    }

    /// What happened before now can be acquired, and nothing else.
    #[inline]
    pub fn release(&mut self, thread: &mut Thread) {
        match thread.strand.is_null() {
            true => thread.advance_if_released(|timeline| self.channel().release(timeline)),
            false => self.release_strand(thread, false),
        }
    }

    /// What happened before now can be acquired, besides what could before.
    #[inline]
    pub fn release_more(&mut self, thread: &mut Thread) {
        match thread.strand.is_null() {
            true => thread.advance_if_released(|timeline| self.channel().release_more(timeline)),
            false => self.release_strand(thread, true),
        }
    }

    #[cold]
    fn release_strand(&mut self, thread: &mut Thread, more: bool) {
        let news = thread.take_news();
        if let Some((signals, strand, address)) = self.between_strands(thread) {
            strand.release(address, signals, news, more);
            let step = strand.step();
            thread.set_step(step);
        }
    }

    /// See [`Channel::relaxed_store`].
    #[inline]
    pub fn relaxed_store(&mut self, thread: &mut Thread) {
        match self.between_strands(thread) {
            None => self.channel().relaxed_store(&thread.timeline),
            Some((signals, strand, _)) => strand.relaxed_store(signals),
        }
    }

    /// See [`Channel::relaxed_update`].
    #[inline]
    pub fn relaxed_update(&mut self, thread: &mut Thread) {
        match self.between_strands(thread) {
            None => self.channel().relaxed_update(&thread.timeline),
            Some((signals, strand, _)) => strand.relaxed_update(signals),
        }
    }

    fn clear(&mut self) {
        *self.channel() = Channel::default();
        // SAFETY: the lock is held.
        unsafe { *self.slot.signals.get() = Signals::default() };
    }
}

impl ChannelSlot {
    /// Takes its lock.
    pub fn lock(&self) -> Locked<'_> {
        Locked {
            slot: self,
            _guard: self.lock.lock(),
        }
    }
}

impl Channels {
    /// None: the address space is too small or limited.
    pub fn new() -> Option<Channels> {
        Some(Channels {
            map: os::reserve(SPACE / 16 * 4)?,
            pages: os::reserve(SPACE / PAGE / 8)?,
            summary: os::reserve(SPACE / REGION / 8)?,
            slots: os::reserve(CHANNELS * size_of::<ChannelSlot>())? as *mut ChannelSlot,
            used: AtomicU32::new(1),
            free: (Spin::new(), UnsafeCell::new(0)),
            barriers: Default::default(),
        })
    }

    fn barriers<T>(&self, what: impl FnOnce(&mut Barriers) -> T) -> T {
        let _guard = self.barriers.0.lock();
        // SAFETY: the lock is held.
        what(unsafe { &mut *self.barriers.1.get() })
    }

    fn head(&self, address: usize) -> &AtomicU32 {
        let offset = (address & (SPACE - 1)) / 16 * 4;
        // SAFETY: within the map.
        unsafe { &*((self.map + offset) as *const AtomicU32) }
    }

    fn page(&self, address: usize) -> (&AtomicU64, u64) {
        let page = (address & (SPACE - 1)) / PAGE;
        // SAFETY: within the bitmap.
        (
            unsafe { &*(self.pages as *const AtomicU64).add(page / 64) },
            1 << (page % 64),
        )
    }

    /// Whether there may be channels in the region around an address: its bit.
    fn region(&self, address: usize) -> (&AtomicU64, u64) {
        let region = (address & (SPACE - 1)) / REGION;
        // SAFETY: within the summary.
        (
            unsafe { &*(self.summary as *const AtomicU64).add(region / 64) },
            1 << (region % 64),
        )
    }

    fn slot(&self, number: u32) -> &ChannelSlot {
        // SAFETY: numbers in the map are of places that were written before.
        unsafe { &*self.slots.add(number as usize) }
    }

    /// The channel of an address, if there is one.
    #[inline]
    pub fn find(&self, address: usize) -> Option<&ChannelSlot> {
        let mut number = self.head(address).load(Ordering::Acquire);
        while number != 0 {
            let slot = self.slot(number);
            if slot.address.load(Ordering::Relaxed) == address {
                return Some(slot);
            }
            number = slot.next.load(Ordering::Acquire);
        }
        None
    }

    /// The channel of an address, made now if there is none.
    #[inline]
    pub fn get(&self, address: usize) -> &ChannelSlot {
        match self.find(address) {
            Some(slot) => slot,
            None => self.make(address),
        }
    }

    #[cold]
    fn make(&self, address: usize) -> &ChannelSlot {
        // Whoever holds this lock is the only one to change lists.
        let _guard = self.free.0.lock();
        if let Some(slot) = self.find(address) {
            return slot;
        }
        // SAFETY: the lock is held.
        let free = unsafe { &mut *self.free.1.get() };
        let number = match *free {
            0 => {
                let number = self.used.fetch_add(1, Ordering::Relaxed);
                if number as usize >= CHANNELS {
                    os::die("deadheat: more than 67 million locks and atomic variables\n");
                }
                let slot = ChannelSlot {
                    lock: Spin::new(),
                    next: AtomicU32::new(0),
                    address: AtomicUsize::new(0),
                    lockset: AtomicU32::new(0),
                    channel: UnsafeCell::new(Channel::default()),
                    signals: UnsafeCell::default(),
                };
                // SAFETY: nobody knows the number yet.
                unsafe { self.slots.add(number as usize).write(slot) };
                number
            }
            number => {
                *free = self.slot(number).next.load(Ordering::Relaxed);
                number
            }
        };
        let slot = self.slot(number);
        slot.address.store(address, Ordering::Relaxed);
        slot.lockset.store(0, Ordering::Relaxed);
        let head = self.head(address);
        slot.next
            .store(head.load(Ordering::Relaxed), Ordering::Relaxed);
        head.store(number, Ordering::Release);
        for (word, bit) in [self.region(address), self.page(address)] {
            word.fetch_or(bit, Ordering::Relaxed);
        }
        slot
    }

    /// Memory has been given back: what its channels carried is forgotten.
    pub fn clear(&self, from: usize, to: usize) {
        let mut at = from;
        while at < to {
            let (word, bit) = self.region(at);
            if word.load(Ordering::Relaxed) & bit == 0 {
                at = (at | (REGION - 1)) + 1;
                continue;
            }
            let end = ((at | (PAGE - 1)) + 1).min(to);
            let (word, bit) = self.page(at);
            if word.load(Ordering::Relaxed) == 0 {
                // Sixty-four pages at once.
                at = (at | (64 * PAGE - 1)) + 1;
                continue;
            }
            if word.load(Ordering::Relaxed) & bit != 0 {
                self.clear_page(at, end);
            }
            at = end;
        }
    }

    #[cold]
    fn clear_page(&self, from: usize, to: usize) {
        let _guard = self.free.0.lock();
        // SAFETY: the lock is held.
        let free = unsafe { &mut *self.free.1.get() };
        for granule in (from & !15..to).step_by(16) {
            let mut link = self.head(granule);
            loop {
                let number = link.load(Ordering::Relaxed);
                if number == 0 {
                    break;
                }
                let slot = self.slot(number);
                let address = slot.address.load(Ordering::Relaxed);
                if address < from || address >= to {
                    link = &slot.next;
                    continue;
                }
                link.store(slot.next.load(Ordering::Relaxed), Ordering::Release);
                slot.address.store(0, Ordering::Relaxed);
                slot.lock().clear();
                slot.next.store(*free, Ordering::Relaxed);
                *free = number;
            }
        }
        if from.is_multiple_of(PAGE) && to.is_multiple_of(PAGE) {
            let (word, bit) = self.page(from);
            word.fetch_and(!bit, Ordering::Relaxed);
        }
    }

    /// No lock is held by anybody: for the only thread of a forked child.
    pub fn reset_locks(&self) {
        self.free.0.reset();
        self.barriers.0.reset();
    }
}

/// Whether synchronisation is looked at on the running thread, and the runtime entered.
#[inline]
pub fn entered() -> Option<Entered> {
    let entered = enter()?;
    orders(entered.thread()).then_some(entered)
}

/// Whether what the thread synchronises by orders it: it may have asked for that not to count.
#[inline]
fn orders(thread: &Thread) -> bool {
    !world().off() && thread.ignore[2] == 0
}

/// What was released at an address happens before what the thread does from now on.
pub fn acquire(address: usize, pc: usize) {
    if let Some(entered) = entered() {
        acquire_by(entered.thread(), address, pc);
    }
}

/// As [`acquire`], by the running thread, which has [`entered`] already.
pub fn acquire_by(thread: &mut Thread, address: usize, pc: usize) {
    if recording::on() {
        thread.note(Stamped::Acquire, address, recording::code(pc, 0));
    } else if let Some(slot) = world().channels.find(address) {
        slot.lock().acquire(thread);
    }
}

/// What the thread has done happens before what others do after they acquire at this address.
pub fn release(address: usize, pc: usize) {
    if recording::on() {
        return recording::synchronise(Stamped::Release, address, pc, 0);
    }
    if let Some(entered) = entered() {
        let mut channel = world().channels.get(address).lock();
        channel.release(entered.thread());
    }
}

/// As [`release`], besides what others have released there.
pub fn release_more(address: usize, pc: usize) {
    if let Some(entered) = entered() {
        release_more_by(entered.thread(), address, pc);
    }
}

/// As [`release_more`], by the running thread, which has [`entered`] already.
pub fn release_more_by(thread: &mut Thread, address: usize, pc: usize) {
    if recording::on() {
        thread.note(Stamped::ReleaseMore, address, recording::code(pc, 0));
    } else {
        world().channels.get(address).lock().release_more(thread);
    }
}

/// A token is taken from a semaphore.
pub fn take(semaphore: usize, pc: usize) {
    match recording::on() {
        true => recording::synchronise(Stamped::Take, semaphore, pc, 0),
        false => acquire(semaphore, pc),
    }
}

/// A token is about to be given to a semaphore.
pub fn give(semaphore: usize, pc: usize) {
    match recording::on() {
        true => recording::synchronise(Stamped::Give, semaphore, pc, 0),
        false => release_more(semaphore, pc),
    }
}

/// The memory of a lock is used for something else.
pub fn destroy(address: usize, pc: usize) {
    if recording::on() {
        return recording::synchronise(Stamped::Destroy, address, pc, 0);
    }
    if let Some(_entered) = enter() {
        world().channels.clear(address, address + 1);
    }
}

/// A lock is taken. Who writes comes after all that readers have released, at an address of their own.
pub fn hold(address: usize, write: bool, readers: Option<usize>, pc: usize) {
    if let Some(entered) = enter() {
        let thread = entered.thread();
        let mut alone = 0;
        if recording::on() {
            if orders(thread) {
                thread.note(
                    Stamped::Lock,
                    address,
                    recording::code(pc, LockDetail::of_threads(write).into()),
                );
            }
        } else if orders(thread) {
            for released in readers.filter(|_| write).into_iter().chain([address]) {
                if let Some(slot) = world().channels.find(released) {
                    slot.lock().acquire(thread);
                    alone = slot.lockset.load(Ordering::Relaxed);
                }
            }
        }
        thread.push_lock(address, write, pc);
        if write && alone != 0 && thread.held.len() == 1 {
            thread.lockset = alone;
        }
    }
}

/// The set that only has this lock, held to write, has this number: whoever takes the lock next need not look for it.
pub fn note_alone(address: usize, lockset: u32) {
    if let Some(slot) = world().channels.find(address) {
        slot.lockset.store(lockset, Ordering::Relaxed);
    }
}

/// A lock of OpenMP is taken: it keeps others out, and orders nothing.
pub fn hold_only(thread: &mut Thread, address: usize) {
    openmp::see(openmp::Seen::Locks);
    thread.push_lock(address, true, 0);
    note_only(thread, Stamped::Lock, address);
    openmp::sections::begin_section(thread, address);
}

/// Records that a lock of OpenMP was taken, or given back.
pub fn note_only(thread: &mut Thread, record: Stamped, address: usize) {
    if recording::on() && !world().off() {
        thread.note(
            record,
            address,
            recording::code(0, LockDetail::OF_OPENMP.into()),
        );
    }
}

/// A lock of OpenMP is about to be given back. The runtime tells of that when the next one may have it already, which a recording must not
/// have the other way round.
pub fn about_to_unhold(thread: &mut Thread, address: usize) {
    if recording::on()
        && let Some(index) = thread.held.iter().rposition(|held| held.address == address)
    {
        thread.remove_lock(index);
        note_only(thread, Stamped::Unlock, address);
    }
}

/// A lock of OpenMP is given back.
pub fn unhold_only(thread: &mut Thread, address: usize) {
    if let Some(index) = thread.held.iter().rposition(|held| held.address == address) {
        thread.remove_lock(index);
        note_only(thread, Stamped::Unlock, address);
    }
    // Of a lock that another thread has taken, too: OpenMP forbids it, but it works.
    openmp::with_strand(thread, |strand| strand.end_section(address));
}

/// A lock is about to be given back. A writer's channel is its alone; readers add to theirs.
pub fn unhold(address: usize, readers: Option<usize>, pc: usize) {
    if let Some(entered) = enter() {
        let thread = entered.thread();
        let index = thread.held.iter().rposition(|held| held.address == address);
        let write = index.is_none_or(|index| thread.held[index].write);
        if let Some(index) = index {
            thread.remove_lock(index);
        }
        if !orders(thread) {
            return;
        }
        match recording::on() {
            true => thread.note(
                Stamped::Unlock,
                address,
                recording::code(pc, LockDetail::of_threads(write).into()),
            ),
            false => unlock(thread, address, if write { None } else { readers }),
        }
    }
}

/// How often the running thread holds a lock.
pub fn times_held(address: usize) -> usize {
    let held = |entered: Entered| {
        let locks = entered.thread().held.iter();
        locks.filter(|held| held.address == address).count()
    };
    enter().map_or(0, held)
}

/// The running thread holds no lock at an address, whatever was there before.
pub fn drop_held(address: usize) {
    if let Some(entered) = enter() {
        let thread = entered.thread();
        let before = thread.held.len();
        thread.held.retain(|held| held.address != address);
        if thread.held.len() != before {
            thread.locks_replaced();
        }
    }
}

/// A lock is about to be destroyed. If the running thread holds it, that is reported.
pub fn check_not_held(address: usize, pc: usize) {
    let Some(entered) = enter().filter(|_| !recording::on()) else {
        return;
    };
    let thread = entered.thread();
    let held = thread.held.iter().find(|held| held.address == address);
    let Some(&Held { pc: taken, .. }) = held else {
        return;
    };
    let (locks, here) = (thread.lockset(), thread.stack_at(pc));
    let record = |write, stack, locks, cause| {
        let kind = Kind {
            write,
            atomic: false,
        };
        thread.record(kind, 1 << (address & 7), Origin::new(stack, locks, cause).0)
    };
    // Who called the function that took it, and what was held then, is not kept: every lock would pay for that.
    let there = Stack::new(ROOT, taken);
    let race = RacyAccess {
        possible: false,
        address: address & !7,
        first: record(false, there, 0, AccessCause::LockTaken),
        second: record(true, here, locks, AccessCause::LockDestroyed),
    };
    world().findings.race(thread, &race);
}

/// A thread ends while it holds locks: whoever gets them knows what it did.
pub fn abandon(thread: &mut Thread) {
    while let Some(held) = thread.held.pop() {
        let readers = (!held.write).then_some(held.address + 1);
        unlock(thread, held.address, readers);
    }
}

/// A thread arrives at a barrier: the number of this round, and the address of the channel by which its threads meet.
///
/// Those of the next round may arrive before all of this one have left: rounds take turns with two channels.
pub fn arrive(barrier: usize, pc: usize) -> Option<(u64, usize)> {
    let entered = entered()?;
    let thread = entered.thread();
    world().channels.barriers(|barriers| {
        let (count, arrived) = barriers.entry(barrier).or_default();
        let (round, first) = match *count {
            0 => (0, false),
            count => (*arrived / count, *arrived % count == 0),
        };
        *arrived += 1;
        let address = barrier + 1 + (round % 2) as usize;
        if recording::on() {
            thread.note(
                Stamped::Arrive,
                barrier,
                recording::code(pc, round & 0xffff),
            );
            return Some((round, address));
        }
        let mut channel = world().channels.get(address).lock();
        match first {
            true => channel.release(thread),
            false => channel.release_more(thread),
        }
        Some((round, address))
    })
}

/// A thread leaves a round of a barrier.
pub fn leave(barrier: usize, (round, address): (u64, usize), pc: usize) {
    match recording::on() {
        true => recording::synchronise(Stamped::Leave, barrier, pc, round & 0xffff),
        false => acquire(address, pc),
    }
}

/// A barrier for so many threads begins.
pub fn begin_barrier(barrier: usize, count: u64) {
    if let Some(_entered) = enter() {
        world()
            .channels
            .barriers(|barriers| barriers.insert(barrier, (count, 0)));
    }
}

/// A barrier ends.
pub fn end_barrier(barrier: usize, pc: usize) {
    if recording::on() {
        recording::synchronise(Stamped::Destroy, barrier, pc, 0);
    }
    if let Some(_entered) = enter() {
        world()
            .channels
            .barriers(|barriers| barriers.remove(&barrier));
        world().channels.clear(barrier, barrier + 3);
    }
}

fn unlock(thread: &mut Thread, address: usize, readers: Option<usize>) {
    let channels = &world().channels;
    match readers {
        None => {
            let mut channel = channels.get(address).lock();
            channel.release(thread);
        }
        Some(readers) => {
            let mut channel = channels.get(readers).lock();
            channel.release_more(thread);
        }
    }
}

//! A thread's time, and the clocks of what threads synchronise by.
//!
//! The simple model: every thread, lock and atomic variable has a vector clock. A release copies the
//! thread's clock, an acquire joins the copy; a thread's own time goes up with each release.
//!
//! A [`Timeline`] is a thread's clock. Its time only goes up if there is something to tell since the last
//! release: an access was recorded or the clock grew. So an epoch names one state of a thread's
//! knowledge, and whoever knows the epoch of the last release of a [`Channel`] need not join its clock: a
//! lock that stays with one thread costs a comparison.
//!
//! [`Channel`] follows C11 for atomic variables: an acquire read synchronises with the release it reads
//! from, or with the head of the release sequence, which read-modify-writes continue and plain stores end
//! (but for those of the thread that released last: C11 lets them continue, C++20 does not). A release fence
//! before a relaxed store and an acquire fence after a relaxed read count as well.
//!
//! Guarantee: the clocks order two epochs exactly as happens-before orders them, provided that the calls
//! for one channel come in the order in which the variable changes.
//! Cost: a comparison if there is no news, else one pass over the clocks.

use deadheat_model::Strand;
use deadheat_order::{Clock, Epoch, Time, join_times};
use smallvec::SmallVec;

/// A thread's time and what it knows of the others.
#[derive(Debug)]
pub struct Timeline {
    slot: Strand,
    /// Its first time. Threads that have a slot in turn differ in it.
    first: Time,
    /// The time of accesses made now.
    now: Time,
    /// What happens before now. The own entry is the time of the last release.
    clock: Clock,
    /// Whether there is something to tell that the last release did not.
    dirty_since_release: bool,
    /// What an acquire fence would make happen before: what relaxed reads have read from.
    seen: Clock,
    /// What happened before the last release fence, if there was one.
    fence: Option<Clock>,
}

impl Timeline {
    /// A thread that knows nothing of others, in a slot whose times up to `before` are taken.
    pub fn new(slot: Strand, before: Time) -> Timeline {
        let mut clock = Clock::default();
        clock.set(slot, before);
        Timeline {
            slot,
            first: before + 1,
            now: before + 1,
            clock,
            dirty_since_release: false,
            seen: Clock::default(),
            fence: None,
        }
    }

    /// The slot it has in clocks.
    #[inline]
    pub fn slot(&self) -> Strand {
        self.slot
    }

    /// The time of accesses made now.
    #[inline]
    pub fn now(&self) -> Time {
        self.now
    }

    /// What happens before now.
    #[inline]
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The last time at which something may have been recorded.
    #[inline]
    pub fn last(&self) -> Time {
        if self.dirty_since_release {
            self.now
        } else {
            self.now - 1
        }
    }

    /// An access is recorded at this time.
    #[inline]
    pub fn record(&mut self) {
        self.dirty_since_release = true;
    }

    /// The clock to give away. The time goes up if there was something to tell.
    #[inline]
    pub fn publish(&mut self) -> &Clock {
        if self.dirty_since_release {
            self.dirty_since_release = false;
            self.clock.set(self.slot, self.now);
            self.now += 1;
        }
        &self.clock
    }

    /// What happens before another point happens before now.
    #[inline]
    pub fn learn(&mut self, clock: &Clock) {
        self.learn_times(clock.times());
    }

    #[inline]
    fn learn_times(&mut self, times: &[Time]) {
        if self.clock.join_times(times) {
            self.dirty_since_release = true;
        }
    }

    /// A thread fence.
    pub fn fence(&mut self, acquire: bool, release: bool) {
        if acquire {
            self.dirty_since_release |= self.clock.join(&self.seen);
            self.seen.copy_from(&Clock::default());
        }
        if release {
            self.publish();
            let mut fence = self.fence.take().unwrap_or_default();
            fence.copy_from(&self.clock);
            self.fence = Some(fence);
        }
    }

    /// Whether a relaxed store has something to publish.
    #[inline]
    pub fn has_fence(&self) -> bool {
        self.fence.is_some()
    }

    fn epoch(&self) -> Epoch {
        Epoch::new(self.slot, self.clock.get(self.slot))
    }

    /// Names the thread, and none that has or will have the same slot.
    #[inline]
    fn thread(&self) -> Epoch {
        Epoch::new(self.slot, self.first)
    }
}

/// The times of so few threads lie in the channel itself: processors that take turns at it need not pass other memory on.
const FEW: usize = 6;

/// What a lock, an atomic variable or another means of synchronisation carries from thread to thread.
#[derive(Debug, Default)]
pub struct Channel {
    /// A clock's times by thread.
    clock: SmallVec<[Time; FEW]>,
    /// Whoever knows this epoch knows the whole clock. None: nobody is known to.
    owner: Epoch,
    /// The thread that released into it last, by its first time.
    last: Option<Epoch>,
}

impl Channel {
    #[inline]
    fn copy(&mut self, other: &Clock) {
        self.clock.clear();
        self.clock.extend_from_slice(other.times());
    }

    #[inline]
    fn join(&mut self, other: &Clock) -> bool {
        let times = other.times();
        if self.clock.len() < times.len() {
            self.clock.resize(times.len(), 0);
        }
        join_times(&mut self.clock, times)
    }

    /// Nothing to learn from it.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.clock.is_empty()
    }

    /// What was released into it happens before now.
    #[inline]
    pub fn acquire(&self, line: &mut Timeline) {
        if self.owner.is_none() || !line.clock.covers(self.owner) {
            line.learn_times(&self.clock);
        }
    }

    /// An atomic read that does not acquire: a fence may follow.
    #[inline]
    pub fn peek(&self, line: &mut Timeline) {
        if !self.is_empty() && (self.owner.is_none() || !line.clock.covers(self.owner)) {
            line.seen.join_times(&self.clock);
        }
    }

    /// What happened before now can be acquired from it, and nothing else.
    #[inline]
    pub fn release(&mut self, line: &mut Timeline) {
        line.publish();
        self.last = Some(line.thread());
        let epoch = line.epoch();
        if self.owner != epoch || epoch.is_none() {
            self.copy(&line.clock);
            self.owner = epoch;
        }
    }

    /// What happened before now can be acquired from it, besides what could before.
    #[inline]
    pub fn release_more(&mut self, line: &mut Timeline) {
        line.publish();
        self.last = Some(line.thread());
        let epoch = line.epoch();
        if self.owner == epoch && !epoch.is_none() {
            return;
        }
        let owned = !self.owner.is_none() && line.clock.covers(self.owner);
        if owned || self.is_empty() {
            self.copy(&line.clock);
            self.owner = epoch;
        } else {
            self.join(&line.clock);
            self.owner = Epoch::default();
        }
    }

    /// A relaxed store: only a release fence before it can be acquired from it, and what the same thread
    /// has released last.
    #[inline]
    pub fn relaxed_store(&mut self, line: &Timeline) {
        if self.last != Some(line.thread()) {
            self.last = None;
            self.owner = Epoch::default();
            self.clock.clear();
        }
        self.relaxed_update(line);
    }

    /// A relaxed read-modify-write: what could be acquired still can be, and a fence before it too.
    #[inline]
    pub fn relaxed_update(&mut self, line: &Timeline) {
        if let Some(fence) = &line.fence
            && self.join(fence)
        {
            self.owner = Epoch::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(slot: u32) -> Timeline {
        Timeline::new(Strand(slot), 0)
    }

    /// Whether all that a thread has done so far happens before another's present.
    fn is_before(early: &Timeline, late: &Timeline) -> bool {
        late.clock().get(early.slot()) >= early.last()
    }

    #[test]
    fn what_an_acquire_fence_learns_is_news_to_the_next_release() {
        let (mut writer, mut middle, mut reader) = (line(0), line(1), line(2));
        let (mut flag, mut lock) = (Channel::default(), Channel::default());
        // The lock has been released at the time that the middle thread has still, with nothing to tell since.
        middle.record();
        lock.release(&mut middle);
        writer.record();
        flag.release(&mut writer);
        flag.peek(&mut middle);
        assert!(
            !is_before(&writer, &middle),
            "a relaxed read orders nothing"
        );
        middle.fence(true, false);
        assert!(is_before(&writer, &middle));
        lock.release(&mut middle);
        lock.acquire(&mut reader);
        assert!(is_before(&writer, &reader));
    }

    #[test]
    fn a_thread_does_not_continue_the_release_sequence_of_who_had_its_slot_before() {
        let mut first = line(0);
        let mut flag = Channel::default();
        first.record();
        flag.release(&mut first);
        let last = first.last();
        // The first thread's own relaxed store continues its release sequence.
        flag.relaxed_store(&first);
        assert!(!flag.is_empty());
        let second = Timeline::new(first.slot(), last);
        flag.relaxed_store(&second);
        assert!(
            flag.is_empty(),
            "nobody can acquire what the first thread released"
        );
    }

    #[test]
    fn only_a_release_fence_gives_relaxed_stores_something_to_publish() {
        let mut writer = line(0);
        assert!(!writer.has_fence());
        writer.fence(true, false);
        assert!(!writer.has_fence());
        writer.fence(false, true);
        assert!(writer.has_fence());
    }

    #[test]
    fn a_fence_that_learns_nothing_is_no_news() {
        let mut middle = line(1);
        let before = middle.now();
        middle.fence(true, false);
        middle.publish();
        assert_eq!(middle.now(), before);
    }
}

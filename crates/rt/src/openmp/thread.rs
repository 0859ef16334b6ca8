//! What a thread is to the strand that it runs: its step, its fences, its news.

use deadheat_order::Step;

use super::strand::Strand;
use super::with_strand;
use crate::order::thread::Thread;

impl Thread {
    /// A thread fence.
    pub fn fence(&mut self, acquire: bool, release: bool) {
        let news = !self.strand.is_null() && self.take_news();
        let strand = with_strand(self, |strand| strand.fence(acquire, release, news));
        if strand.is_none() {
            self.advance_if_released(|timeline| timeline.fence(acquire, release));
        }
    }

    /// Whether a relaxed store has something to publish.
    pub fn has_fence(&self) -> bool {
        // SAFETY: the strand that the running thread runs.
        match unsafe { self.strand.as_ref() } {
            Some(strand) => strand.has_fence(),
            None => self.timeline.has_fence(),
        }
    }

    /// Whether it has recorded an access since this was asked last. Only for threads that run strands.
    pub fn take_news(&mut self) -> bool {
        let before = self.timeline.now();
        self.timeline.publish();
        self.timeline.now() != before
    }

    /// Who allocates what it allocates now: the thread, or the task that it runs.
    pub fn owner(&self) -> u32 {
        // SAFETY: the strand that the running thread runs.
        unsafe { self.strand.as_ref() }.map_or(self.id, |strand| strand.description)
    }

    /// The shadow comes to know an address, of its stack perhaps.
    #[inline]
    pub fn note_lowest(&mut self, address: usize) {
        if address < self.lowest && (self.stack.0..self.stack.1).contains(&address) {
            self.lowest = address;
        }
    }

    /// Whether an address belongs to its thread-local variables, in a program of OpenMP.
    #[inline]
    pub fn is_thread_local(&self, address: usize) -> bool {
        (self.thread_local.0..self.thread_local.1).contains(&address)
    }

    /// The strand that it runs may be in another step.
    pub fn follow(&mut self, strand: &Strand) {
        self.tell_strand(strand.name);
        self.set_step(strand.step());
        self.phase = strand.phase();
    }

    /// The strand that it runs is in this step.
    pub fn set_step(&mut self, step: Step) {
        if self.step != step {
            self.step = step;
            self.forget_known();
        }
    }
}

//! What strands tell each other by atomic variables, fences, and the locks of threads: joins beside the tree.
//!
//! The counterpart of `deadheat_online::timeline` for strands, with signals instead of clocks. An acquire that finds
//! nothing new and a release that has nothing new to tell cost no join. Relaxed operations, as `omp atomic` makes
//! them, order nothing.

use deadheat_order::{Signal, Step};

use super::strand::Strand;
use super::{Seen, tasks};

/// What a lock or an atomic variable carries from strand to strand.
#[derive(Debug, Default)]
pub struct Signals {
    released: Vec<Signal>,
    /// Counts the releases.
    version: u32,
    /// Who released last.
    by: u32,
}

/// How many channels a strand remembers to have acquired.
const HEARD: usize = 8;
/// How many signals are kept that nobody has joined.
const MANY: usize = 256;

/// What a strand keeps of its messages.
#[derive(Debug, Default)]
pub struct Messages {
    /// Channels acquired lately, and their versions then.
    heard: [(usize, u32); HEARD],
    /// What relaxed reads have read from: an acquire fence joins it.
    seen: Vec<Signal>,
    /// The last release fence.
    fence: Option<Signal>,
    /// The last signal, and the step that began with it.
    last: Option<(Signal, Step)>,
}

impl Strand {
    fn heard(&mut self, address: usize) -> &mut (usize, u32) {
        &mut self.messages.heard[address / 8 % HEARD]
    }

    /// What was released happens before now.
    pub fn acquire(&mut self, address: usize, signals: &Signals) {
        if signals.released.is_empty() || *self.heard(address) == (address, signals.version) {
            return;
        }
        self.join(&signals.released);
        tasks().see(Seen::Messages);
        *self.heard(address) = (address, signals.version);
    }

    /// A relaxed read: an acquire fence may follow.
    pub fn peek(&mut self, address: usize, signals: &Signals) {
        if signals.released.is_empty() || *self.heard(address) == (address, signals.version) {
            return;
        }
        if self.messages.seen.len() < MANY {
            self.messages.seen.extend(&signals.released);
        }
    }

    /// What was done before now can be acquired. `news`: an access has been recorded since the last time.
    pub fn release(&mut self, address: usize, signals: &mut Signals, news: bool, more: bool) {
        let Some(signal) = self.message(news) else {
            return;
        };
        // Whoever has just acquired all that was there speaks for it.
        let knows = *self.heard(address) == (address, signals.version);
        if !more || knows || signals.released.len() >= MANY {
            signals.released.clear();
        }
        signals.released.push(signal);
        signals.version += 1;
        signals.by = self.description;
        *self.heard(address) = (address, signals.version);
    }

    /// A relaxed store: only a fence before it can be acquired, and what the same strand has released last.
    pub fn relaxed_store(&mut self, signals: &mut Signals) {
        if signals.by != self.description {
            signals.released.clear();
            signals.version += 1;
        }
        self.relaxed_update(signals);
    }

    /// A relaxed read-modify-write: a fence before it can be acquired, too.
    pub fn relaxed_update(&mut self, signals: &mut Signals) {
        if let Some(fence) = self.messages.fence {
            signals.released.push(fence);
            signals.version += 1;
        }
    }

    pub fn fence(&mut self, acquire: bool, release: bool, news: bool) {
        if acquire {
            let seen = std::mem::take(&mut self.messages.seen);
            if !seen.is_empty() {
                tasks().see(Seen::Messages);
            }
            self.join(&seen);
        }
        if release {
            self.messages.fence = self.message(news);
        }
    }

    /// Whether a relaxed store has something to tell.
    pub fn has_fence(&self) -> bool {
        self.messages.fence.is_some()
    }

    fn message(&mut self, news: bool) -> Option<Signal> {
        match self.messages.last {
            Some((signal, step))
                if !news && step == self.step() && signal.known == self.order.known() =>
            {
                Some(signal)
            }
            _ => {
                let signal = self.signal()?;
                self.messages.last = Some((signal, self.step()));
                Some(signal)
            }
        }
    }
}

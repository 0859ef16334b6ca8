//! What strands tell each other by atomic variables, fences, and the locks of threads: joins beside the tree.
//!
//! The counterpart of `deadheat_online::timeline` for strands, with [`Reach`]es instead of clocks. An acquire that finds
//! nothing new and a release that has nothing new to tell cost nothing. Relaxed operations, as `omp atomic` makes
//! them, order nothing.

use deadheat_order::{Past, Reach, Signal, Step};

use super::strand::Strand;
use super::{Seen, tasks};

/// What a lock or an atomic variable carries from strand to strand.
#[derive(Debug, Default)]
pub struct Signals {
    released: Reach,
    /// Counts the releases.
    version: u32,
    /// Who released last.
    by: u32,
}

/// How many channels a strand remembers to have acquired.
const HEARD: usize = 8;
/// How many steps a channel keeps: of members of a team, who tell each other again and again, and of tasks, who come and go.
const OF_MEMBERS: usize = 64;
const OF_TASKS: usize = 8;

/// What a strand keeps of its messages.
#[derive(Debug, Default)]
pub struct Messages {
    /// Channels acquired lately, and their versions then.
    heard: [(usize, u32); HEARD],
    /// What it has acquired since it has told others of itself by anything but messages.
    reach: Reach,
    /// What relaxed reads have read from: an acquire fence acquires it.
    seen: Reach,
    /// What whoever reads what is written after the last release fence can acquire.
    fence: Option<Reach>,
    /// The last signal, and the step that began with it.
    last: Option<(Signal, Step)>,
}

impl Messages {
    /// Whether a step comes before what was acquired; `search` says whether joins lead there.
    #[inline]
    pub fn tell_of(&self, step: Step, search: impl FnMut(Past) -> bool) -> bool {
        self.reach.has(&tasks().structure.tree, step, search)
    }
}

/// Adds what another reach tells.
fn add(reach: &mut Reach, more: &Reach) {
    let is_past = |step| tasks().is_past(step);
    reach.merge(more, None, is_past, |_| ());
}

impl Strand {
    #[inline]
    fn messages(&mut self) -> &mut Messages {
        self.messages.get_or_insert_default()
    }

    #[inline]
    fn heard(&mut self, address: usize) -> &mut (usize, u32) {
        &mut self.messages().heard[address / 4 % HEARD]
    }

    /// What was released happens before now.
    pub fn acquire(&mut self, address: usize, signals: &Signals) {
        if signals.released.is_empty() || *self.heard(address) == (address, signals.version) {
            return;
        }
        self.learn(&signals.released);
        *self.heard(address) = (address, signals.version);
    }

    fn learn(&mut self, released: &Reach) {
        tasks().see(Seen::Messages);
        self.is_no_piece();
        let mut reach = std::mem::take(&mut self.messages().reach);
        let is_past = |step| tasks().is_past(step);
        let own = Some(self.order.scope());
        reach.merge(released, own, is_past, |step| match step.is_none() {
            // Nobody knows whose joins they were.
            true => self.hear_of_groups(),
            false => self.hear_of_step(step),
        });
        let folded = reach.fold(&tasks().structure.joins, self.limit());
        tasks().or_drop(folded);
        self.messages().reach = reach;
    }

    /// Others are going to know what it knows, not by messages: what it has acquired becomes joins.
    #[inline]
    pub(super) fn settle(&mut self) {
        if let Some(messages) = &mut self.messages {
            let structure = &tasks().structure;
            tasks().or_drop(structure.settle(&mut self.order, &mut messages.reach));
        }
    }

    /// Another strand runs on its thread, or it goes on on another one, where nobody knows whether it has done anything since its
    /// last message.
    pub fn forget_message(&mut self) {
        if let Some(messages) = &mut self.messages {
            messages.last = None;
        }
    }

    /// It goes on elsewhere: what it has acquired there it does not know here.
    pub(super) fn forget_reach(&mut self) {
        if let Some(messages) = &mut self.messages {
            messages.reach = Reach::default();
        }
    }

    fn limit(&self) -> usize {
        match self.member {
            Some(_) => OF_MEMBERS,
            None => OF_TASKS,
        }
    }

    /// A relaxed read: an acquire fence may follow.
    pub fn peek(&mut self, address: usize, signals: &Signals) {
        if signals.released.is_empty() || *self.heard(address) == (address, signals.version) {
            return;
        }
        let limit = self.limit();
        let seen = &mut self.messages().seen;
        add(seen, &signals.released);
        tasks().or_drop(seen.fold(&tasks().structure.joins, limit));
    }

    /// What was done before now can be acquired. `news`: an access has been recorded since the last time.
    pub fn release(&mut self, address: usize, signals: &mut Signals, news: bool, more: bool) {
        let Some(signal) = self.message(news) else {
            return;
        };
        // Whoever has just acquired all that was there speaks for it.
        let knows = *self.heard(address) == (address, signals.version);
        match more && !knows {
            true => add(&mut signals.released, &self.messages().reach),
            false => signals.released.clone_from(&self.messages().reach),
        }
        signals.released.add(signal, self.order.scope());
        let limit = self.limit();
        tasks().or_drop(signals.released.fold(&tasks().structure.joins, limit));
        signals.version += 1;
        signals.by = self.description;
        *self.heard(address) = (address, signals.version);
    }

    /// A relaxed store: only a fence before it can be acquired, and what the same strand has released last.
    pub fn relaxed_store(&mut self, signals: &mut Signals) {
        if signals.by != self.description {
            signals.released = Reach::default();
            signals.version += 1;
        }
        self.relaxed_update(signals);
    }

    /// A relaxed read-modify-write: a fence before it can be acquired, too.
    pub fn relaxed_update(&mut self, signals: &mut Signals) {
        if let Some(messages) = &self.messages
            && let Some(fence) = &messages.fence
        {
            add(&mut signals.released, fence);
            let limit = self.limit();
            tasks().or_drop(signals.released.fold(&tasks().structure.joins, limit));
            signals.version += 1;
        }
    }

    pub fn fence(&mut self, acquire: bool, release: bool, news: bool) {
        if acquire {
            let seen = std::mem::take(&mut self.messages().seen);
            if !seen.is_empty() {
                self.learn(&seen);
            }
        }
        if release {
            let signal = self.message(news);
            let here = self.order.scope();
            let messages = self.messages();
            messages.fence = signal.map(|signal| {
                let mut fence = messages.reach.clone();
                fence.add(signal, here);
                fence
            });
        }
    }

    /// Whether a relaxed store has something to tell.
    pub fn has_fence(&self) -> bool {
        self.messages
            .as_ref()
            .is_some_and(|messages| messages.fence.is_some())
    }

    /// The end of what it has done so far, for a message that carries what it has acquired beside that.
    fn message(&mut self, news: bool) -> Option<Signal> {
        let (now, known) = (self.step(), self.order.known());
        if let Some((signal, step)) = self.messages().last
            && !news
            && step == now
        {
            return Some(Signal { known, ..signal });
        }
        let signal = self.cut()?;
        self.messages().last = Some((signal, self.step()));
        Some(signal)
    }
}

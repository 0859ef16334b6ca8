//! When long work has to end before its end: somebody asked for it, its time is up, or its memory is.
//!
//! One token is made for a command and passed down to everything that takes long. Whoever does the work
//! asks it now and then, every few thousand events or at least a few times a second; on an answer, it ends
//! the search, and keeps what it has found.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Why work was stopped before its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StopReason {
    /// Somebody asked for it.
    Asked,
    /// Its time was up.
    TimeUp,
    /// It took as much memory as it may.
    MemoryFull,
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            StopReason::Asked => "interrupted",
            StopReason::TimeUp => "its time was up",
            StopReason::MemoryFull => "its memory was full",
        })
    }
}

/// How long it may take, at least, to tell what was found by work that was stopped.
pub const GRACE: Duration = Duration::from_secs(2);

/// See the [module](self). The default never stops anything.
#[derive(Clone, Copy, Default, Debug)]
pub struct StopToken {
    asked: Option<&'static AtomicBool>,
    full: Option<&'static AtomicBool>,
    until: Option<Instant>,
}

impl StopToken {
    /// Stops once the flag is set.
    pub fn when(asked: &'static AtomicBool) -> StopToken {
        StopToken {
            asked: Some(asked),
            ..StopToken::default()
        }
    }

    /// Stops also once the flag is set that says that memory is full.
    pub fn or_full(self, full: &'static AtomicBool) -> StopToken {
        StopToken {
            full: Some(full),
            ..self
        }
    }

    /// Stops also when so much time has passed from now on. More than can be counted is for ever.
    pub fn or_after(self, time: Duration) -> StopToken {
        let until = Instant::now().checked_add(time);
        let earlier = [self.until, until].into_iter().flatten().min();
        StopToken {
            until: earlier,
            ..self
        }
    }

    /// The token for the run whose judgement must end in time, too: it stops after two thirds of the time that is left.
    pub fn first_part(self) -> StopToken {
        let now = Instant::now();
        let left = self.until.map(|until| until.saturating_duration_since(now));
        match left {
            Some(left) => self.or_after(left / 3 * 2),
            None => self,
        }
    }

    /// The token for what is left to do once work may have been stopped: there is at least [`GRACE`] from now on. Whoever
    /// asked has been heard; who asks now is.
    pub fn grace(self) -> StopToken {
        let least = Instant::now() + GRACE;
        let was_asked = self.asked.is_some_and(|flag| flag.load(Ordering::Relaxed));
        match was_asked {
            true => StopToken {
                asked: None,
                until: Some(least),
                ..self
            },
            false => StopToken {
                until: self.until.map(|until| until.max(least)),
                ..self
            },
        }
    }

    /// Why to stop now, if so. Costs about as much as asking for the time.
    pub fn due(&self) -> Option<StopReason> {
        let is_set =
            |flag: Option<&AtomicBool>| flag.is_some_and(|flag| flag.load(Ordering::Relaxed));
        if is_set(self.asked) {
            return Some(StopReason::Asked);
        }
        if is_set(self.full) {
            return Some(StopReason::MemoryFull);
        }
        let up = self.until.is_some_and(|until| Instant::now() >= until);
        up.then_some(StopReason::TimeUp)
    }
}

/// A token that is asked once in many steps, for work whose steps are short. It remembers why to stop.
#[derive(Clone, Copy, Default, Debug)]
pub struct StopPoll {
    token: StopToken,
    steps: u64,
    due: Option<StopReason>,
}

/// How many steps it is asked once in.
const STEPS: u64 = 1 << 10;

impl StopPoll {
    /// Before the first step.
    pub fn new(token: StopToken) -> StopPoll {
        StopPoll {
            token,
            ..StopPoll::default()
        }
    }

    /// Whether to stop instead of making the next step.
    #[inline]
    pub fn stops(&mut self) -> bool {
        if self.due.is_none() && self.steps.is_multiple_of(STEPS) {
            self.due = self.token.due();
        }
        self.steps += u64::from(self.due.is_none());
        self.due.is_some()
    }

    /// Why the work was stopped, if it was, and how many steps had been made.
    pub fn stopped(&self) -> Option<(StopReason, u64)> {
        self.due.map(|why| (why, self.steps))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_due_when_asked_or_when_its_time_is_up_and_never_otherwise() {
        static ASKED: AtomicBool = AtomicBool::new(false);
        static FULL: AtomicBool = AtomicBool::new(false);
        assert_eq!(StopToken::default().due(), None);
        let hour = Duration::from_secs(3600);
        let token = StopToken::when(&ASKED).or_after(hour);
        assert_eq!(token.due(), None);
        let up = token.or_after(Duration::ZERO);
        assert_eq!(up.due(), Some(StopReason::TimeUp));
        // The earlier of two times counts.
        assert_eq!(up.or_after(hour).due(), Some(StopReason::TimeUp));
        assert_eq!(StopToken::default().or_after(Duration::MAX).due(), None);
        let token = token.or_full(&FULL);
        assert_eq!(token.due(), None);
        FULL.store(true, Ordering::Relaxed);
        assert_eq!(token.due(), Some(StopReason::MemoryFull));
        ASKED.store(true, Ordering::Relaxed);
        assert_eq!(token.due(), Some(StopReason::Asked));
    }

    #[test]
    fn what_is_left_to_do_has_some_time_and_a_run_leaves_some_for_its_judgement() {
        static ASKED: AtomicBool = AtomicBool::new(true);
        let asked = StopToken::when(&ASKED);
        assert_eq!(asked.due(), Some(StopReason::Asked));
        assert_eq!(asked.grace().due(), None);
        let up = StopToken::default().or_after(Duration::ZERO);
        assert_eq!(up.grace().due(), None);
        assert!(up.grace().until.unwrap() <= Instant::now() + GRACE);
        ASKED.store(false, Ordering::Relaxed);
        let later = asked.or_after(Duration::from_secs(3600));
        assert_eq!(later.grace().until, later.until);
        let part = later.first_part().until.unwrap() - Instant::now();
        assert!(part <= Duration::from_secs(2400) && part > Duration::from_secs(2300));
        assert_eq!(StopToken::default().first_part().until, None);
        ASKED.store(true, Ordering::Relaxed);
        assert_eq!(later.first_part().due(), Some(StopReason::Asked));
    }

    #[test]
    fn a_poll_stops_soon_and_for_good() {
        static ASKED: AtomicBool = AtomicBool::new(false);
        let mut poll = StopPoll::new(StopToken::when(&ASKED));
        assert!(!(0..3 * STEPS).any(|_| poll.stops()));
        ASKED.store(true, Ordering::Relaxed);
        let more = (0..).take_while(|_| !poll.stops()).count() as u64;
        assert!(more < STEPS);
        assert_eq!(poll.stopped(), Some((StopReason::Asked, 3 * STEPS + more)));
        ASKED.store(false, Ordering::Relaxed);
        assert!(poll.stops());
    }
}

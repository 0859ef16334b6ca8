//! Whether two accesses can be made to meet: the decision procedure of M2, with its closure on demand.
//!
//! A witness is an order of a set of events after which both accesses are next. The set is the
//! [cut](super::skeleton) that both need. What an order of it must satisfy are the orders every
//! reordering keeps (each chain's, writes before the reads that observe them, forks, joins), and
//! choices of two: a write `w'` is before the write `w` that a read `r` of the same location observes,
//! or after `r`; of two sections of one lock one is before the other; a section that is not complete in
//! the set is the last of its lock. A section of a third strand may also be completed, which makes the
//! set larger.
//!
//! The paper closes the known orders under these rules before it linearises them. Here it is the other
//! way round: linearise what is known, see which rule the result breaks, and add what that rule asks
//! for. If `w' < r` is known then `w' < w` follows, if `w < w'` then `r < w'`; likewise for locks. Such
//! an order is *forced*: every witness has it. Only rules that some linearisation breaks are ever looked
//! at, which are few, where the closure has to look at all locations for every order it adds. If no
//! broken rule forces anything, one of its orders is *chosen*, that of the trace, as in the paper.
//!
//! The linearisations are max-min: the events of one racing strand as early as the known orders allow,
//! the others as late as they allow, among themselves in the order of the trace. With two strands a
//! max-min linearisation breaks a rule only if that rule forces something (the paper's theorem 3.1, read
//! backwards), so nothing is ever chosen, and the answer is exact.
//!
//! Only the end of the trace is linearised, from the first event that has to move: before it, the order
//! of the trace breaks nothing.
//!
//! [`Search::Exact`] tries the other choices too, one after the other: then the answer is always exact,
//! given time.

use std::time::Instant;

use rustc_hash::FxHashMap;

use super::skeleton::{Cut, Link, NEVER, NOTHING, Section, Skeleton};
use super::window::{Broken, Window};

/// What is known of two accesses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Decision {
    /// They race; after this the two accesses are next.
    Race(Reordering),
    /// They do not race in any correct reordering.
    NoRace,
    /// No witness was found, and it is not known that there is none.
    Open,
}

/// A correct reordering up to the two accesses: first the events of the cut `upto` with numbers below
/// `before`, as in the trace, then `then`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reordering {
    /// The number of the first event that may have moved.
    pub before: u32,
    /// The whole set of events.
    pub upto: Cut,
    /// The events from `before` on, in their new order.
    pub then: Vec<Link>,
}

/// How to go on where nothing is forced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Search {
    /// Keep the order of the trace.
    AsInTrace,
    /// Try that first, then the other.
    Exact,
}

/// How much may still be tried.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// How many events may be put in order, all attempts together.
    pub events: u64,
    /// When to stop.
    pub until: Option<Instant>,
    /// How many bytes the choices that wait to be tried, and what is known of an order, may take.
    pub bytes: u64,
}

impl Budget {
    /// So many events, and no other bound that matters.
    pub fn of_events(events: u64) -> Budget {
        Budget {
            events,
            until: None,
            bytes: 4 << 30,
        }
    }

    /// Whether nothing is left.
    pub fn is_spent(&self) -> bool {
        self.events == 0 || self.until.is_some_and(|until| Instant::now() >= until)
    }

    /// Takes a window's events out; false if they are not in it.
    fn take(&mut self, window: &Window, waiting: u64) -> bool {
        let in_time = self.until.is_none_or(|until| Instant::now() < until);
        let enough =
            in_time && self.events >= window.events() && waiting + window.bytes() <= self.bytes;
        self.events = self.events.saturating_sub(window.events());
        enough
    }
}

/// One thing that a broken rule asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mend {
    /// An event comes before another.
    Order(Link, Link),
    /// A section of a third strand is completed, up to this event.
    Complete(Link),
}

/// What a broken rule asks for.
enum Remedy {
    /// There is no other way.
    Forced(Mend),
    /// There are these ways, the first being that of the trace.
    Choice(Mend, Mend),
    /// There is no way at all.
    None,
}

/// Decides pairs of accesses of one trace.
pub struct Decider<'a> {
    skeleton: &'a Skeleton,
    search: Search,
}

/// A set of events and what is known of their order.
#[derive(Clone)]
struct State {
    upto: Cut,
    before: u32,
    orders: FxHashMap<Link, Vec<Link>>,
    chosen: bool,
}

impl State {
    fn bytes(&self) -> u64 {
        (self.upto.len() * size_of::<u32>() + self.orders.len() * 64) as u64
    }
}

/// How an attempt ended.
enum Attempt {
    Found(Reordering),
    /// What is known contradicts itself, and all of it is forced or tried both ways.
    Contradiction,
    /// It contradicts itself after a choice, or it took too long.
    Open,
}

impl<'a> Decider<'a> {
    /// Decides pairs of one trace.
    pub fn new(skeleton: &'a Skeleton, search: Search) -> Decider<'a> {
        Decider { skeleton, search }
    }

    /// Decides whether two accesses of different strands race.
    pub fn decide(&self, first: Link, second: Link, budget: &mut Budget) -> Decision {
        let mut upto = vec![0; self.skeleton.strands()];
        self.skeleton.join(&mut upto, first.strand, first.index);
        self.skeleton.join(&mut upto, second.strand, second.index);
        let pair = [first, second];
        if !self.leaves_room(&upto, pair) {
            return Decision::NoRace;
        }
        let state = State {
            before: u32::MAX,
            upto,
            orders: FxHashMap::default(),
            chosen: false,
        };
        let mut others = Vec::new();
        let mut next = Some(state);
        while let Some(state) = next {
            match self.attempt(state, pair, budget, &mut others) {
                Attempt::Found(found) => return Decision::Race(found),
                Attempt::Contradiction => next = others.pop(),
                Attempt::Open => return Decision::Open,
            }
        }
        Decision::NoRace
    }

    /// Whether a set of events needs neither of the two accesses.
    fn leaves_room(&self, upto: &[u32], pair: [Link; 2]) -> bool {
        pair.iter().all(|e| upto[e.strand as usize] == e.index)
    }

    /// Adds to what is known until a linear order breaks no rule. What was not chosen goes to `others`.
    fn attempt(
        &self,
        mut state: State,
        pair: [Link; 2],
        budget: &mut Budget,
        others: &mut Vec<State>,
    ) -> Attempt {
        let Some(from) = self.first_open_section_in_the_way(&state.upto, pair) else {
            return Attempt::Found(Reordering {
                before: u32::MAX,
                upto: state.upto,
                then: Vec::new(),
            });
        };
        state.before = state.before.min(from);
        loop {
            let contradiction = match state.chosen {
                true => Attempt::Open,
                false => Attempt::Contradiction,
            };
            let window = Window::new(self.skeleton, &state.upto, state.before, &state.orders);
            let waiting = others.iter().map(State::bytes).sum();
            if !budget.take(&window, waiting) {
                return Attempt::Open;
            }
            let Some(order) = window.known_order() else {
                return contradiction;
            };
            let mut forced = Vec::new();
            let mut choice = None;
            'leaders: for leader in pair.map(|e| e.strand) {
                let linear = window.max_min(&order, leader);
                if linear.broken.is_empty() {
                    return Attempt::Found(Reordering {
                        before: state.before,
                        upto: state.upto,
                        then: linear.events,
                    });
                }
                for broken in &linear.broken {
                    // What is before the window has to be in it, to see what is known of it.
                    if let Some(number) = self.reaches_back(broken, state.before) {
                        state.before = number;
                        (forced, choice) = (Vec::new(), None);
                        break 'leaders;
                    }
                    match self.remedy(broken, &state.upto, pair, |a, b| order.before(a, b)) {
                        Remedy::None => return contradiction,
                        Remedy::Forced(mend) => forced.push(mend),
                        Remedy::Choice(first, second) => {
                            choice.get_or_insert((first, second));
                        }
                    }
                }
                if !forced.is_empty() {
                    break;
                }
            }
            let mut possible = true;
            if !forced.is_empty() {
                let mut forced = forced.into_iter();
                possible = forced.all(|mend| self.mend(&mut state, mend, pair));
            } else if let Some((first, second)) = choice {
                match self.search {
                    Search::AsInTrace => state.chosen = true,
                    Search::Exact => {
                        let mut other = state.clone();
                        if self.mend(&mut other, second, pair) {
                            others.push(other);
                        }
                    }
                }
                possible = self.mend(&mut state, first, pair);
            }
            if !possible {
                return match state.chosen {
                    true => Attempt::Open,
                    false => Attempt::Contradiction,
                };
            }
        }
    }

    /// The number of the first event of a section that is not complete in a set of events, and after
    /// which the set has another section of the same lock. Nothing else can be wrong with a set of
    /// events in the order of the trace.
    fn first_open_section_in_the_way(&self, upto: &[u32], pair: [Link; 2]) -> Option<u32> {
        let last = pair.map(|e| self.skeleton.number(e));
        let last = last[0].max(last[1]);
        let mut first: Option<u32> = None;
        for (strand, &length) in upto.iter().enumerate() {
            let held = self.skeleton.held(strand as u32, length);
            for &lock in self.skeleton.locksets.locks(held) {
                let end = Link {
                    strand: strand as u32,
                    index: length - 1,
                };
                let open = self.skeleton.section_at(lock, self.skeleton.number(end));
                let sections = &self.skeleton.sections(lock)[open..];
                let number = sections[0].number;
                if first.is_some_and(|first| first <= number) {
                    continue;
                }
                let mut later = sections[1..].iter().take_while(|s| s.number < last);
                if later.any(|s| s.acquire < upto[s.strand as usize]) {
                    first = Some(number);
                }
            }
        }
        first
    }

    /// The number of an event before the window that a broken rule is about.
    fn reaches_back(&self, broken: &Broken, before: u32) -> Option<u32> {
        let about = match *broken {
            Broken::Read { observed, .. } => observed,
            Broken::Lock { holder, .. } => holder,
        };
        if about == NOTHING {
            return None;
        }
        let number = self.skeleton.number(about);
        (number < before).then_some(number)
    }

    /// What a broken rule asks for.
    fn remedy(
        &self,
        broken: &Broken,
        upto: &[u32],
        pair: [Link; 2],
        before: impl Fn(Link, Link) -> bool,
    ) -> Remedy {
        use Mend::*;
        match *broken {
            Broken::Read {
                read,
                observed,
                seen,
            } => {
                if observed == NOTHING {
                    // Nothing comes before the initial value.
                    return match before(seen, read) {
                        true => Remedy::None,
                        false => Remedy::Forced(Order(read, seen)),
                    };
                }
                let early = Order(seen, observed);
                let late = Order(read, seen);
                if before(seen, read) {
                    Remedy::Forced(early)
                } else if before(observed, seen) {
                    Remedy::Forced(late)
                } else if self.skeleton.number(seen) < self.skeleton.number(observed) {
                    Remedy::Choice(early, late)
                } else {
                    Remedy::Choice(late, early)
                }
            }
            Broken::Lock {
                lock,
                holder,
                taker,
            } => {
                let held = self.skeleton.section(lock, holder);
                let taken = self.skeleton.section(lock, taker);
                let ends = |section: Section| {
                    let strand = section.strand as usize;
                    let release = Link {
                        strand: section.strand,
                        index: section.release,
                    };
                    let complete = release.index != NEVER && release.index < upto[strand];
                    // The racing strands end where they end.
                    let may_end = complete
                        || release.index != NEVER
                            && pair.iter().all(|e| e.strand != section.strand);
                    (complete, may_end, release)
                };
                let (held_complete, held_may_end, held_release) = ends(held);
                let (taken_complete, taken_may_end, taken_release) = ends(taken);
                // First come, first served; and the other way round.
                let same = match held_complete {
                    true => Order(held_release, taker),
                    false => Complete(held_release),
                };
                let swapped = match taken_complete {
                    true => Order(taken_release, holder),
                    false => Complete(taken_release),
                };
                let can_same = held_may_end && !(taken_complete && before(taken_release, holder));
                let can_swap = taken_may_end && !(held_complete && before(held_release, taker));
                // One event of the first section before one of the second decides it.
                let held_first =
                    before(holder, taker) || taken_complete && before(holder, taken_release);
                let taken_first =
                    before(taker, holder) || held_complete && before(taker, held_release);
                match (can_same && !taken_first, can_swap && !held_first) {
                    (false, false) => Remedy::None,
                    (true, false) => Remedy::Forced(same),
                    (false, true) => Remedy::Forced(swapped),
                    (true, true) if held.number < taken.number => Remedy::Choice(same, swapped),
                    (true, true) => Remedy::Choice(swapped, same),
                }
            }
        }
    }

    /// Does what a rule asks for; false if that cannot be, as when the set then needs one of the two
    /// accesses.
    fn mend(&self, state: &mut State, mend: Mend, pair: [Link; 2]) -> bool {
        match mend {
            // In a chain what comes first comes first.
            Mend::Order(before, after) if before.strand == after.strand => {
                before.index < after.index
            }
            Mend::Order(before, after) => {
                state.orders.entry(after).or_default().push(before);
                state.before = state.before.min(self.skeleton.number(after));
                true
            }
            Mend::Complete(release) => {
                let length = release.index + 1;
                self.skeleton.join(&mut state.upto, release.strand, length);
                self.leaves_room(&state.upto, pair)
            }
        }
    }
}

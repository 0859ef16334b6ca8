//! Whether two accesses can be made to meet: the decision procedure of M2, with its closure on demand.
//!
//! A witness is an order of a set of events after which both accesses are next. (Nothing here depends on what they access,
//! or that they are two: whether any events of different strands can all be next, such as those that wait for each other
//! in a [deadlock](crate::deadlocks), is decided alike.) The set is the
//! [cut](super::skeleton) that both need. An order of it must satisfy what every correct reordering
//! preserves (each chain's order, writes before the reads that observe them, forks, joins), and
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
//! The first linearisation keeps the order of the trace where the known orders allow; people find their
//! way best in that. The others are max-min: the events of one racing strand as early as the known orders
//! allow, the others as late as they allow, among themselves in the order of the trace. With two strands a
//! max-min linearisation breaks a rule only if that rule forces something (the paper's theorem 3.1, read
//! backwards), so nothing is ever chosen, and the answer is exact.
//!
//! Only the end of the trace is linearised, from the first event that has to move: before it, the order
//! of the trace breaks nothing.
//!
//! [`Search::Exact`] tries the other choices too, one after the other: then the answer is always exact,
//! given time.

use super::skeleton::{Cut, Link, NEVER, NOTHING, Skeleton};
use super::window::{KnownOrder, Memory, Violation, Window};
use deadheat_model::StopToken;

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
    /// The whole set of events: of each strand that has some, the last.
    pub upto: Vec<Link>,
    /// The events from `before` on, in their new order.
    pub then: Vec<Link>,
}

impl Reordering {
    /// The events of a set, in the order of the trace up to an event, then as they come.
    fn new(before: u32, upto: &[u32], then: Vec<Link>) -> Reordering {
        let ends = upto.iter().zip(0..).filter(|(length, _)| **length > 0);
        let ends = ends.map(|(length, strand)| Link {
            strand,
            index: length - 1,
        });
        Reordering {
            before,
            upto: ends.collect(),
            then,
        }
    }

    /// The events of a set in the order of the trace.
    pub fn none(upto: &[u32]) -> Reordering {
        Reordering::new(u32::MAX, upto, Vec::new())
    }
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
    pub stop: StopToken,
    /// How many bytes the choices that wait to be tried, and what is known of an order, may take.
    pub bytes: u64,
}

impl Budget {
    /// So many events, and no other bound that matters.
    pub fn of_events(events: u64, stop: StopToken) -> Budget {
        Budget {
            events,
            stop,
            bytes: 4 << 30,
        }
    }

    /// Whether nothing is left.
    pub fn is_spent(&self) -> bool {
        self.events == 0 || self.stop.due().is_some()
    }

    /// Takes a window's events out; false if they are not in it.
    fn take(&mut self, window: &Window, waiting: u64) -> bool {
        let in_time = self.stop.due().is_none();
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

/// A section, as far as it is in a set of events.
struct PartOfSection {
    acquire: Link,
    release: Link,
    is_complete: bool,
    may_complete: bool,
}

/// What a broken rule asks for.
enum Remedy {
    /// There is no other way.
    Forced(Mend),
    /// There are these ways, the first being that of the trace.
    Choice(Mend, Mend),
    /// This is the way of the trace; whether there is another depends on an event before the window,
    /// with this number.
    OutOfSight(Mend, u32),
    /// There is no way at all.
    None,
}

/// Decides pairs of accesses of one trace.
pub struct Decider<'a> {
    skeleton: &'a Skeleton,
    memory: Memory,
}

/// A set of events and what is known of their order.
#[derive(Clone)]
struct State {
    upto: Cut,
    before: u32,
    /// What was added: pairs of what comes before and what comes after.
    orders: Vec<(Link, Link)>,
    chosen: bool,
    /// Whether to take the way of the trace where another is out of sight, and whether that was done.
    hasty: bool,
    overlooked: bool,
}

impl State {
    /// What is known contradicts itself.
    fn contradiction(&self) -> Attempt {
        match self.chosen {
            true => self.open(),
            false => Attempt::Contradiction,
        }
    }

    fn open(&self) -> Attempt {
        let overlooked = self.overlooked;
        Attempt::Open { overlooked }
    }

    fn bytes(&self) -> u64 {
        (self.upto.len() * size_of::<u32>() + self.orders.len() * size_of::<(Link, Link)>()) as u64
    }
}

/// How an attempt ended.
enum Attempt {
    Found(Reordering),
    /// What is known contradicts itself, and all of it is forced or tried both ways.
    Contradiction,
    /// It contradicts itself after a choice, or it took too long.
    Open {
        overlooked: bool,
    },
}

impl<'a> Decider<'a> {
    /// Decides pairs of one trace.
    pub fn new(skeleton: &'a Skeleton) -> Decider<'a> {
        Decider {
            skeleton,
            memory: Memory::new(skeleton),
        }
    }

    /// Decides whether two accesses of different strands race; or whether several events of different strands can all be
    /// next.
    pub fn decide(&mut self, pair: &[Link], search: Search, budget: &mut Budget) -> Decision {
        let mut upto = vec![0; self.skeleton.strands()];
        for access in pair {
            self.skeleton.join(&mut upto, access.strand, access.index);
        }
        if !self.leaves_room(&upto, pair) {
            return Decision::NoRace;
        }
        if let Some(upto) = self.without_open_sections(&upto, pair)
            && self.first_open_section_in_the_way(&upto).is_none()
        {
            return Decision::Race(Reordering::none(&upto));
        }
        let hasty = State {
            before: u32::MAX,
            upto,
            orders: Vec::new(),
            chosen: false,
            hasty: true,
            overlooked: false,
        };
        let careful = State {
            hasty: false,
            ..hasty.clone()
        };
        let mut others = Vec::new();
        match self.attempt(hasty, pair, Search::AsInTrace, budget, &mut others) {
            Attempt::Found(found) => return Decision::Race(found),
            Attempt::Contradiction => return Decision::NoRace,
            Attempt::Open { overlooked } => {
                if !overlooked && search == Search::AsInTrace {
                    return Decision::Open;
                }
            }
        }
        let mut next = Some(careful);
        while let Some(state) = next {
            match self.attempt(state, pair, search, budget, &mut others) {
                Attempt::Found(found) => return Decision::Race(found),
                Attempt::Contradiction => next = others.pop(),
                Attempt::Open { .. } => return Decision::Open,
            }
        }
        Decision::NoRace
    }

    /// Whether a set of events needs neither of the two accesses.
    fn leaves_room(&self, upto: &[u32], pair: &[Link]) -> bool {
        pair.iter().all(|e| upto[e.strand as usize] == e.index)
    }

    /// The set with all sections of third strands completed, which the paper calls the causal cones;
    /// nothing if that needs one of the two accesses, or one of them never ends. Mostly the order of the trace is then a witness.
    fn without_open_sections(&self, upto: &[u32], pair: &[Link]) -> Option<Cut> {
        let mut cut = upto.to_vec();
        loop {
            let mut grown = false;
            for strand in 0..cut.len() as u32 {
                let length = cut[strand as usize];
                if pair.iter().all(|e| e.strand != strand) {
                    let free = self.skeleton.free_from(strand, length)?;
                    if free > length {
                        self.skeleton.join(&mut cut, strand, free);
                        grown = true;
                    }
                }
            }
            if !self.leaves_room(&cut, pair) {
                return None;
            }
            if !grown {
                return Some(cut);
            }
        }
    }

    /// Adds to what is known until a linear order breaks no rule. What was not chosen goes to `others`.
    fn attempt(
        &mut self,
        mut state: State,
        pair: &[Link],
        search: Search,
        budget: &mut Budget,
        others: &mut Vec<State>,
    ) -> Attempt {
        loop {
            // Each time, because a set that has grown may have sections that are in the way since.
            let Some(from) = self.first_open_section_in_the_way(&state.upto) else {
                return Attempt::Found(Reordering::none(&state.upto));
            };
            state.before = state.before.min(from);
            let window = Window::new(self.skeleton, &state.upto, state.before, &state.orders);
            let waiting = others.iter().map(State::bytes).sum();
            if !budget.take(&window, waiting) {
                return state.open();
            }
            let Some(order) = window.known_order() else {
                return state.contradiction();
            };
            let mut forced = Vec::new();
            let mut choice = None;
            let leaders = pair.iter().map(|e| Some(e.strand));
            'leaders: for leader in std::iter::once(None).chain(leaders) {
                let linear = window.max_min(&order, leader, &mut self.memory);
                if linear.broken.is_empty() {
                    let (before, upto) = (state.before, &state.upto);
                    return Attempt::Found(Reordering::new(before, upto, linear.events));
                }
                for broken in &linear.broken {
                    match self.remedy(broken, &state, pair, &order) {
                        Remedy::None => return state.contradiction(),
                        Remedy::Forced(mend) => forced.push(mend),
                        Remedy::OutOfSight(mend, _) if state.hasty => {
                            state.chosen = true;
                            state.overlooked = true;
                            forced.push(mend);
                        }
                        Remedy::OutOfSight(_, number) => {
                            // At least twice as much, so that it is not done too often.
                            let length = self.end(&state.upto).saturating_sub(state.before);
                            let twice = state.before.saturating_sub(length).max(1);
                            state.before = number.min(twice);
                            (forced, choice) = (Vec::new(), None);
                            break 'leaders;
                        }
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
                match search {
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
                return state.contradiction();
            }
        }
    }

    /// A number that all events of a set are below. They may come after both accesses in the trace: those of
    /// third strands whose sections were completed.
    fn end(&self, upto: &[u32]) -> u32 {
        let ends = upto.iter().zip(0..).filter(|(length, _)| **length > 0);
        let numbers = ends.map(|(length, strand)| {
            let index = length - 1;
            self.skeleton.number(Link { strand, index })
        });
        numbers.max().map_or(0, |last| last + 1)
    }

    /// The number of the first event of a section that is not complete in a set of events, and after
    /// which the set has another section of the same lock. Nothing else can be wrong with a set of
    /// events in the order of the trace.
    fn first_open_section_in_the_way(&self, upto: &[u32]) -> Option<u32> {
        let all = self.end(upto);
        let mut first: Option<u32> = None;
        for (strand, &length) in upto.iter().enumerate() {
            let held = self.skeleton.held(strand as u32, length);
            for &lock in self.skeleton.locksets.locks(held).iter() {
                let inside = Link {
                    strand: strand as u32,
                    index: length - 1,
                };
                let open = self.skeleton.section_at(lock, self.skeleton.number(inside));
                let sections = &self.skeleton.sections(lock)[open..];
                let number = sections[0].number;
                if first.is_some_and(|first| first <= number) {
                    continue;
                }
                let mut later = sections[1..].iter().take_while(|s| s.number < all);
                if later.any(|s| s.acquire < upto[s.strand as usize]) {
                    first = Some(number);
                }
            }
        }
        first
    }

    /// What a broken rule asks for.
    fn remedy(
        &self,
        broken: &Violation,
        state: &State,
        pair: &[Link],
        order: &KnownOrder,
    ) -> Remedy {
        match *broken {
            Violation::Read {
                read,
                observed,
                seen,
            } => self.for_read(read, observed, seen, state, order),
            Violation::Lock {
                lock,
                holder,
                taker,
            } => {
                let holder = self.section(lock, holder, state, pair);
                let taker = match holder.may_complete {
                    true => taker,
                    // All others come before it: the last of the strand stands for the strand's.
                    false => self.last_complete(lock, taker, &state.upto),
                };
                let taker = self.section(lock, taker, state, pair);
                self.for_lock(holder, taker, state, order)
            }
        }
    }

    /// A read sees another write than the one it observed.
    fn for_read(
        &self,
        read: Link,
        observed: Link,
        seen: Link,
        state: &State,
        order: &KnownOrder,
    ) -> Remedy {
        let seen_is_first = order.before(seen, read);
        let late = Mend::Order(read, seen);
        if observed == NOTHING {
            // Nothing comes before the initial value.
            return match seen_is_first {
                true => Remedy::None,
                false => Remedy::Forced(late),
            };
        }
        let early = Mend::Order(seen, observed);
        let number = self.skeleton.number(observed);
        if seen_is_first {
            Remedy::Forced(early)
        } else if observed.strand == seen.strand {
            Remedy::Forced(if observed.index < seen.index {
                late
            } else {
                early
            })
        } else if number < state.before {
            Remedy::OutOfSight(late, number)
        } else if order.before(observed, seen) {
            Remedy::Forced(late)
        } else if self.skeleton.number(seen) < number {
            Remedy::Choice(early, late)
        } else {
            Remedy::Choice(late, early)
        }
    }

    /// A lock is taken by a section while another one has it.
    fn for_lock(
        &self,
        holder: PartOfSection,
        taker: PartOfSection,
        state: &State,
        order: &KnownOrder,
    ) -> Remedy {
        // Whoever is first has to end before the other begins.
        let first = |one: &PartOfSection, other: &PartOfSection| match one.is_complete {
            true => Mend::Order(one.release, other.acquire),
            false => Mend::Complete(one.release),
        };
        let same = first(&holder, &taker);
        let swapped = first(&taker, &holder);
        let number = self.skeleton.number(holder.acquire);
        if number < state.before {
            // What is not complete, and cannot be, has to come last.
            let last = match holder.may_complete {
                true => same,
                false => swapped,
            };
            return match last {
                Mend::Order(_, after) if after == holder.acquire => Remedy::Forced(last),
                _ => Remedy::OutOfSight(last, number),
            };
        }
        // One event of a section before one of the other decides it.
        let is_first = |one: &PartOfSection, other: &PartOfSection| {
            order.before(one.acquire, other.acquire)
                || other.is_complete && order.before(one.acquire, other.release)
        };
        let can_stay = holder.may_complete && !is_first(&taker, &holder);
        let can_swap = taker.may_complete && !is_first(&holder, &taker);
        match (can_stay, can_swap) {
            (false, false) => Remedy::None,
            (true, false) => Remedy::Forced(same),
            (false, true) => Remedy::Forced(swapped),
            (true, true) if number < self.skeleton.number(taker.acquire) => {
                Remedy::Choice(same, swapped)
            }
            (true, true) => Remedy::Choice(swapped, same),
        }
    }

    /// The begin of the last section of a lock, by the strand of one of them, that is complete in a set;
    /// that one if there is none.
    fn last_complete(&self, lock: u32, acquire: Link, upto: &[u32]) -> Link {
        let strand = acquire.strand;
        let mut sections = self.skeleton.sections(lock).iter().rev();
        let last = sections.find(|s| s.strand == strand && s.release < upto[strand as usize]);
        match last {
            Some(last) if last.acquire > acquire.index => Link {
                strand,
                index: last.acquire,
            },
            _ => acquire,
        }
    }

    /// How much of a section is in the set of events.
    fn section(&self, lock: u32, acquire: Link, state: &State, pair: &[Link]) -> PartOfSection {
        let release = Link {
            index: self.skeleton.section(lock, acquire).release,
            ..acquire
        };
        let ends = release.index != NEVER;
        let is_complete = ends && release.index < state.upto[acquire.strand as usize];
        // The racing strands end where they end, and what needs one of the two accesses cannot be.
        let has_room = |e: &Link| {
            let strand = acquire.strand;
            e.strand != strand && self.skeleton.need(strand, release.index + 1, e.strand) <= e.index
        };
        let may_grow = ends && pair.iter().all(has_room);
        PartOfSection {
            acquire,
            release,
            is_complete,
            may_complete: is_complete || may_grow,
        }
    }

    /// Does what a rule asks for; false if that cannot be, as when the set then needs one of the two
    /// accesses.
    fn mend(&self, state: &mut State, mend: Mend, pair: &[Link]) -> bool {
        match mend {
            // In a chain what comes first comes first.
            Mend::Order(before, after) if before.strand == after.strand => {
                before.index < after.index
            }
            Mend::Order(before, after) => {
                state.orders.push((before, after));
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

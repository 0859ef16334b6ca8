//! Whether a circle of waits can happen, for some of its events: by the order of the trace, by M2's decision procedure, or
//! by exact search.
//!
//! A wait of a circle has events of several strands, very many perhaps. A strand for each wait of it, all different, make
//! an *arrangement*; it has a deadlock if some of its events, one of each strand, can all be next. First those are looked
//! for that can be without a section changing its place. Otherwise events are tried that do not need each other, at first
//! those that are near to each other in the trace.
//!
//! Guarantee: a deadlock has an order, and circles are called impossible only if no correct reordering has all of some such
//! events next. Cost: bounded for each set of places.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use deadheat_model::{Event, EventNumber, StopReason, StopToken, Witness};

use super::arrangements::{Arrangement, arrangements};
use super::closure::{Sections, first_apart};
use super::graph::Graph;
use crate::engine::Options;
use crate::m2::decide::{Budget, Decider, Decision, Reordering, Search};
use crate::m2::order_before;
use crate::m2::skeleton::{Link, Skeleton};

/// How many arrangements of a set of places are looked at, and how many times events of one are tried.
const ARRANGEMENTS: usize = 64;
const TRIES: usize = 64;

/// How many circles of a set of places are kept of which nothing is known.
const OPEN: usize = 256;

/// How many events may be moved for one try, and for all of a set of places.
const EVENTS_FOR_ONE: u64 = 1 << 18;
const EVENTS: u64 = 8 << 20;

/// How many events are looked at in search of some that do not need each other, for a set of places.
const STEPS: u64 = 1 << 21;

/// How many events and ends of strands are kept for witnesses, all together.
const KEPT: u64 = 1 << 26;

/// One of a circle: a strand and its events that wait alike.
pub(super) struct Member {
    pub strand: u32,
    /// The numbers of the events.
    pub numbers: Vec<u32>,
    /// Where they are, or would be, in the strand's chain: how many events that matter come before.
    pub links: Vec<Link>,
}

/// What is known of the circles at some places.
pub(super) enum Outcome {
    /// One of them can happen: the events that wait, each for the strand of the next, and the order.
    Deadlock(Vec<u32>, Witness),
    /// None of them can.
    Impossible,
    /// It is not known of some; and why not, if it was time to stop.
    Open(Open, Option<StopReason>),
}

/// Circles of which nothing is known, by the events that may wait.
#[derive(Default)]
pub(super) struct Open {
    pub circles: Vec<Vec<u32>>,
    /// Whether there are others.
    pub more: bool,
}

impl Open {
    fn add(&mut self, circle: Vec<u32>) {
        match self.circles.len() < OPEN {
            true => self.circles.push(circle),
            false => self.more = true,
        }
    }

    fn add_all(&mut self, other: Open) {
        self.more |= other.more;
        other
            .circles
            .into_iter()
            .for_each(|circle| self.add(circle));
    }

    /// This one, and perhaps others.
    fn add_more(&mut self, circle: Vec<u32>) {
        self.add(circle);
        self.more = true;
    }
}

/// What is known of an arrangement.
enum Tried {
    /// These events can all be next, after this order.
    Together(Vec<u32>, Reordering),
    /// None of them can but these, of which it is not known.
    No(Open),
}

/// What is looked at.
pub(super) struct Hunt<'a> {
    pub graph: &'a Graph,
    pub events: &'a [Event],
    /// All that orders strands.
    pub skeleton: &'a Skeleton,
    pub sections: Sections,
    /// The same without what another schedule could have ordered otherwise, if there is anything like that: what is
    /// impossible here is impossible.
    pub relaxed: Option<&'a Skeleton>,
    pub options: Options,
    pub stop: StopToken,
    /// How much is kept for witnesses.
    pub kept: AtomicU64,
}

/// What decides, for one thread.
pub(super) struct Deciders<'a> {
    ordered: Decider<'a>,
    relaxed: Option<Decider<'a>>,
}

/// How much may still be tried at some places.
struct Left {
    little: Budget,
    complete: Option<Budget>,
    steps: u64,
}

impl Left {
    /// Whether there is time for more than the first tries.
    fn is_complete(&self) -> bool {
        self.complete.is_some_and(|budget| !budget.is_spent())
    }
}

impl<'a> Hunt<'a> {
    /// For one thread.
    pub fn deciders(&self) -> Deciders<'a> {
        Deciders {
            ordered: Decider::new(self.skeleton),
            relaxed: self.relaxed.map(Decider::new),
        }
    }

    /// Looks at the circles of one set of places, until one of them can happen.
    pub fn decide(&self, deciders: &mut Deciders, circles: &[Vec<u32>]) -> Outcome {
        let mut left = Left {
            little: Budget::of_events(EVENTS, self.stop),
            complete: self.options.complete,
            steps: STEPS,
        };
        let mut open = Open::default();
        let mut looked_at = 0;
        for circle in circles {
            let decided = arrangements(self.graph, circle, |arrangement| {
                let is_enough = looked_at == ARRANGEMENTS && !left.is_complete();
                if is_enough || self.stop.due().is_some() {
                    let firsts = arrangement.iter().map(|(_, numbers)| numbers[0]);
                    open.add_more(firsts.collect());
                    return ControlFlow::Break(None);
                }
                looked_at = (looked_at + 1).min(ARRANGEMENTS);
                match self.arrangement(deciders, arrangement, &mut left) {
                    Tried::No(more) => open.add_all(more),
                    Tried::Together(waits, found) if self.has_room(&found) => {
                        let witness = self.witness(arrangement, &waits, &found);
                        return ControlFlow::Break(Some((waits, witness)));
                    }
                    Tried::Together(waits, _) => open.add_more(waits),
                }
                ControlFlow::Continue(())
            });
            match decided {
                ControlFlow::Break(Some((waits, witness))) => {
                    return Outcome::Deadlock(waits, witness);
                }
                ControlFlow::Break(None) => break,
                ControlFlow::Continue(()) => {}
            }
        }
        match open.circles.is_empty() {
            true => Outcome::Impossible,
            false => Outcome::Open(open, self.stop.due()),
        }
    }

    fn witness(&self, arrangement: &Arrangement, waits: &[u32], found: &Reordering) -> Witness {
        let next = arrangement.iter().zip(waits);
        let next = next.map(|((strand, _), number)| (*strand, EventNumber::from(*number)));
        let next: Vec<(u32, EventNumber)> = next.collect();
        order_before(self.skeleton, self.events, &next, found)
    }

    fn has_room(&self, found: &Reordering) -> bool {
        let needed = (found.upto.len() + found.then.len()) as u64;
        self.kept.fetch_add(needed, Ordering::Relaxed) + needed <= KEPT
    }

    fn arrangement(
        &self,
        deciders: &mut Deciders,
        arrangement: &Arrangement,
        left: &mut Left,
    ) -> Tried {
        let members = members(self.skeleton, arrangement);
        let complete = |cut: &mut Vec<u32>| self.sections.complete(self.skeleton, cut);
        if let Some((at, cut)) = first_apart(self.skeleton, &members, self.stop, complete) {
            return Tried::Together(numbers(&members, &at), Reordering::none(&cut));
        }
        let tried = self.tries(&mut deciders.ordered, self.skeleton, &members, left);
        match (&mut deciders.relaxed, self.relaxed) {
            (Some(decider), Some(relaxed)) if matches!(tried, Tried::No(_)) => {
                let members = self::members(relaxed, arrangement);
                self.tries(decider, relaxed, &members, left)
            }
            _ => tried,
        }
    }

    /// Tries events of an arrangement until some of them can all be next. Those that can if some orders are left out are
    /// open.
    fn tries(
        &self,
        decider: &mut Decider,
        skeleton: &Skeleton,
        members: &[Member],
        left: &mut Left,
    ) -> Tried {
        let proves = std::ptr::eq(skeleton, self.skeleton);
        let mut open = Open::default();
        let Some((from, _)) = first_apart(skeleton, members, self.stop, |_| {}) else {
            if self.stop.due().is_some() {
                open.add_more(numbers(members, &vec![0; members.len()]));
            }
            return Tried::No(open);
        };
        let mut together = Together::new(skeleton, members, &from);
        let first_tries = (from[0]..members[0].links.len()).take(TRIES / 2);
        for first in first_tries.filter(|_| proves) {
            if let Some(chosen) = together.nearest(first)
                && let Decision::Race(found) = self.one(decider, members, &chosen, left)
            {
                return Tried::Together(numbers(members, &chosen), found);
            }
        }
        for tried in 0.. {
            let is_complete = left.is_complete();
            let chosen = match together.next(&mut left.steps, is_complete) {
                Ok(Some(chosen)) if tried < TRIES || is_complete => chosen,
                Ok(None) => break,
                Ok(Some(chosen)) | Err(chosen) => {
                    open.add_more(numbers(members, &chosen));
                    break;
                }
            };
            match self.one(decider, members, &chosen, left) {
                Decision::Race(found) if proves => {
                    return Tried::Together(numbers(members, &chosen), found);
                }
                Decision::NoRace => {}
                Decision::Open | Decision::Race(_) => open.add(numbers(members, &chosen)),
            }
        }
        Tried::No(open)
    }

    /// Whether some events of an arrangement can all be next.
    fn one(
        &self,
        decider: &mut Decider,
        members: &[Member],
        chosen: &[usize],
        left: &mut Left,
    ) -> Decision {
        let links = members.iter().zip(chosen);
        let links: Vec<Link> = links.map(|(member, at)| member.links[*at]).collect();
        let events = EVENTS_FOR_ONE.min(left.little.events);
        let mut little = Budget::of_events(events, self.stop);
        let decision = decider.decide(&links, Search::AsInTrace, &mut little);
        left.little.events -= events - little.events;
        match (decision, &mut left.complete) {
            (Decision::Open, Some(budget)) => decider.decide(&links, Search::Exact, budget),
            (decision, _) => decision,
        }
    }
}

fn members(skeleton: &Skeleton, arrangement: &Arrangement) -> Vec<Member> {
    let member = |&(strand, numbers): &(u32, &[u32])| Member {
        strand,
        links: numbers
            .iter()
            .map(|&number| Link {
                strand,
                index: skeleton.below(strand, number),
            })
            .collect(),
        numbers: numbers.to_vec(),
    };
    arrangement.iter().map(member).collect()
}

/// The numbers of the events that are chosen, one of each member.
fn numbers(members: &[Member], chosen: &[usize]) -> Vec<u32> {
    let chosen = members.iter().zip(chosen);
    chosen.map(|(member, at)| member.numbers[*at]).collect()
}

/// Events, one of each member, of which none needs another.
struct Together<'m> {
    skeleton: &'m Skeleton,
    members: &'m [Member],
    from: Vec<usize>,
    /// The events of the first members that are chosen, and of which the next ones are still to come; of the member
    /// behind them, those that are to be chosen.
    chosen: Vec<usize>,
    ranges: Vec<std::ops::Range<usize>>,
}

impl<'m> Together<'m> {
    /// Those from some events on: before, there are none.
    fn new(skeleton: &'m Skeleton, members: &'m [Member], from: &[usize]) -> Together<'m> {
        Together {
            skeleton,
            members,
            from: from.to_vec(),
            chosen: Vec::new(),
            ranges: std::iter::once(from[0]..members[0].links.len()).collect(),
        }
    }

    /// The events of the member behind those chosen that none of these needs, and that need none of these.
    fn range(&self, chosen: &[usize]) -> std::ops::Range<usize> {
        let member = &self.members[chosen.len()];
        let (mut start, mut end) = (self.from[chosen.len()], member.links.len());
        for (other, &at) in self.members.iter().zip(chosen) {
            let theirs = other.links[at].index;
            let needed = self.skeleton.need(other.strand, theirs, member.strand);
            let needs = |link: &Link| {
                let need = self.skeleton.need(member.strand, link.index, other.strand);
                need > theirs
            };
            start = start.max(member.links.partition_point(|link| link.index < needed));
            end = end.min(member.links.partition_point(|link| !needs(link)));
        }
        start..end.max(start)
    }

    /// An event of the first member, and of the others those that are the nearest to it in the trace.
    fn nearest(&self, first: usize) -> Option<Vec<usize>> {
        let number = self.members[0].numbers[first];
        let mut chosen = vec![first];
        while chosen.len() < self.members.len() {
            let range = self.range(&chosen);
            let numbers = &self.members[chosen.len()].numbers;
            let later = numbers[range.clone()].partition_point(|other| *other < number);
            let near = (range.start + later).saturating_sub(1)..range.start + later + 1;
            let near = near.filter(|at| range.contains(at));
            chosen.push(near.min_by_key(|&at| numbers[at].abs_diff(number))?);
        }
        Some(chosen)
    }

    /// The next events; or those that it has come to, if there are no more steps left and it is bound by them.
    fn next(&mut self, steps: &mut u64, unbounded: bool) -> Result<Option<Vec<usize>>, Vec<usize>> {
        while let Some(depth) = self.ranges.len().checked_sub(1) {
            let range = &mut self.ranges[depth];
            match range.next() {
                None => {
                    self.ranges.pop();
                }
                Some(at) => {
                    self.chosen.truncate(depth);
                    self.chosen.push(at);
                    *steps = steps.saturating_sub(1);
                    if self.chosen.len() == self.members.len() {
                        return Ok(Some(self.chosen.clone()));
                    }
                    if *steps == 0 && !unbounded {
                        let rest = &self.from[self.chosen.len()..];
                        return Err([&self.chosen[..], rest].concat());
                    }
                    let range = self.range(&self.chosen);
                    self.ranges.push(range);
                }
            }
        }
        Ok(None)
    }
}

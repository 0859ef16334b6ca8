//! Every predictable race of a trace, by trying everything.
//!
//! Simple model, and the whole of it: from the state in which nothing is done, do every event that can
//! come next, in every order; wherever the next events of two strands are conflicting accesses, not both
//! atomic, they race. A state is visited once: which events are done, the last write to each location and
//! which flags are on decide everything that follows (who has a lock, what a semaphore or a promise
//! holds and who waits at a barrier follow from the events done, in whatever order).
//!
//! Guarantee: the pairs are exactly the predictable races (M2, section 2), each with a witness.
//! Cost: exponential in the number of strands and locations. It is the truth that engines are compared
//! with, on traces of some twenty events; it has no business in a command.

use std::collections::BTreeMap;

use deadheat_model::{Event, EventNumber, Execution, Flag, Location, Op, Strand};
use deadheat_witness::{NotATrace, Recording, State, writes};
use rustc_hash::FxHashSet;

/// All predictable races of a small trace: pairs of event numbers, the smaller first, and for each a
/// witness that ends with the pair.
pub fn predictable_races(
    trace: &Execution,
) -> Result<BTreeMap<(EventNumber, EventNumber), Vec<EventNumber>>, NotATrace> {
    let recording = Recording::new(trace)?;
    let search = Search::new(&recording);
    let mut races = BTreeMap::new();
    let mut seen = FxHashSet::default();
    let mut open = vec![(State::default(), Vec::new())];
    while let Some((state, path)) = open.pop() {
        if !seen.insert(search.key(&state)) {
            continue;
        }
        let next = search.next(&state);
        for (i, &(e1, event1)) in next.iter().enumerate() {
            for &(e2, event2) in &next[i + 1..] {
                if event1.conflicts_with(event2) {
                    races
                        .entry((e1.min(e2), e1.max(e2)))
                        .or_insert_with(|| [&path[..], &[e1, e2]].concat());
                }
            }
        }
        for (number, _) in next {
            if state.allows(&recording, number).is_ok() {
                let mut state = state.clone();
                state.perform(&recording, number);
                open.push((state, [&path[..], &[number]].concat()));
            }
        }
    }
    Ok(races)
}

/// What the search knows of the trace.
pub(super) struct Search<'r, 't> {
    recording: &'r Recording<'t>,
    /// The events of each strand.
    strands: BTreeMap<Strand, Vec<EventNumber>>,
    /// The locations that are written.
    locations: Vec<Location>,
    flags: Vec<Flag>,
}

impl<'r, 't> Search<'r, 't> {
    pub(super) fn new(recording: &'r Recording<'t>) -> Search<'r, 't> {
        let events = &recording.trace.events;
        let mut strands: BTreeMap<Strand, Vec<EventNumber>> = BTreeMap::new();
        for (number, event) in (1..).zip(events) {
            strands.entry(event.strand()).or_default().push(number);
        }
        let mut locations: Vec<_> = events.iter().filter_map(|e| writes(e.op())).collect();
        locations.sort_unstable();
        locations.dedup();
        let flag = |event: &Event| match event.op() {
            Op::Post(flag) => Some(flag),
            _ => None,
        };
        let mut flags: Vec<_> = events.iter().filter_map(flag).collect();
        flags.sort_unstable();
        flags.dedup();
        Search {
            recording,
            strands,
            locations,
            flags,
        }
    }

    /// The next event of each strand that has its turn.
    pub(super) fn next(&self, state: &State) -> Vec<(EventNumber, &'t Event)> {
        let next = self.strands.iter().filter_map(|(&strand, events)| {
            let &number = events.get(state.done(strand) as usize)?;
            let event = state.has_turn(self.recording, number).ok()?;
            Some((number, event))
        });
        next.collect()
    }

    /// What decides everything that can follow.
    pub(super) fn key(&self, state: &State) -> Vec<EventNumber> {
        let done = self.strands.keys().map(|&s| state.done(s).into());
        let written = self.locations.iter();
        let written = written.map(|&x| state.written(x).unwrap_or(0));
        let on = self.flags.iter().map(|&flag| state.is_on(flag).into());
        done.chain(written).chain(on).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traces::{FIGURE_1A, FIGURE_1B, FIGURE_6, FIGURE_8, trace};
    use deadheat_witness::Witnesses;

    /// The races of a trace; the checker accepts each one's witness.
    fn races(text: &str) -> Vec<(EventNumber, EventNumber)> {
        let trace = trace(text);
        let races = predictable_races(&trace).unwrap();
        let witnesses = Witnesses::new(&trace).unwrap();
        for (&(first, second), witness) in &races {
            assert_eq!(witnesses.verify(first, second, witness), Ok(()), "{text}");
        }
        races.into_keys().collect()
    }

    #[test]
    fn the_figures_of_m2_have_the_races_that_it_says() {
        assert_eq!(races(FIGURE_1A), [(2, 7)]);
        assert_eq!(races(FIGURE_1B), [(2, 14)]);
        assert_eq!(races(FIGURE_6), [(2, 10), (5, 9), (7, 8)]);
        // Not (5, 13).
        let figure_8 = [(1, 4), (3, 10), (3, 12), (4, 11), (8, 10)];
        assert_eq!(races(FIGURE_8), figure_8);
    }

    #[test]
    fn what_orders_strands_leaves_no_race() {
        assert_eq!(races("T1 w(x); T2 w(x)"), [(1, 2)]);
        let ordered = [
            "T1 w(x); T1 fork(T2); T2 w(x); T1 join(T2); T1 w(x)",
            "T1 acq(l); T1 w(x); T1 rel(l); T2 acq(l); T2 w(x); T2 rel(l)",
            "T1 acq(l); T1 acq(l); T1 rel(l); T1 w(x); T1 rel(l); T2 acq(l); T2 w(x); T2 rel(l)",
            "T1 acq(l); T1 w(x); T1 rel(l); T2 racq(l); T2 r(x); T2 rrel(l)",
            "T1 w(x); T1 v(s); T2 p(s); T2 w(x)",
            "T1 w(x); T1 post(e); T2 wait(e); T2 w(x)",
            "T1 w(x); T1 set(0); T2 get(0); T2 w(x)",
            "T1 w(x); T1 arrive(b); T2 arrive(b); T1 leave(b); T2 leave(b); T2 w(x)",
            "T1 w(x); T1 astore.seqcst(y); T2 aload.seqcst(y); T2 w(x)",
        ];
        for text in ordered {
            assert_eq!(races(text), [], "{text}");
        }
    }

    #[test]
    fn what_orders_only_some_runs_leaves_a_race() {
        // The token may come from the first of two.
        let tokens = "T1 v(s); T2 w(x); T2 v(s); T3 p(s); T3 w(x)";
        assert_eq!(races(tokens), [(2, 5)]);
        let cleared = "T1 post(e); T2 w(x); T2 post(e); T3 wait(e); T3 w(x)";
        assert_eq!(races(cleared), [(2, 5)]);
        // Two readers of a lock exclude each other no more than two strands without one.
        let readers = "T1 racq(l); T1 w(x); T1 rrel(l); T2 racq(l); T2 w(x); T2 rrel(l)";
        assert_eq!(races(readers), [(2, 5)]);
        // A store that nobody looks at orders nothing.
        assert_eq!(races("T1 w(x); T1 astore.seqcst(y); T2 w(x)"), [(1, 3)]);
    }

    #[test]
    fn flags_tell_states_apart_that_have_the_same_events_done() {
        // T3 waits when both the post and the clear are done: whether it gets on is a matter of their
        // order, and whichever strand is tried first.
        let text = "T1 clear(e); T2 post(e); T1 w(a); T2 w(b);
            T3 r(a); T3 r(b); T3 wait(e); T3 w(x); T1 w(x)";
        assert_eq!(races(text), [(3, 5), (4, 6), (8, 9)]);
        let text = "T1 w(c); T2 clear(e); T1 post(e); T2 w(a); T1 w(b);
            T3 r(a); T3 r(b); T3 wait(e); T3 w(x); T2 w(x)";
        assert_eq!(races(text), [(4, 6), (5, 7), (9, 10)]);
    }
}

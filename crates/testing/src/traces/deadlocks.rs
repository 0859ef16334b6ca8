//! Every deadlock that a correct reordering of a trace can end in, by trying everything.
//!
//! Simple model, and the whole of it: go through all states as for [races](super::reorderings). In each, look at the next
//! event of every strand that has its turn: one waits for another strand if that one has the lock that it takes, or is the
//! one that it joins. Strands that wait for each other in a circle are in a deadlock; of two circles one of which has all
//! the strands of the other, only the smaller counts.
//!
//! Guarantee: the circles are exactly those that correct reorderings reach, each with an order that does. Cost: as for
//! races, exponential.

use std::collections::BTreeMap;

use deadheat_model::{EventNumber, Execution};
use deadheat_witness::{NotATrace, Recording, State};
use rustc_hash::FxHashSet;

use super::reorderings::Search;

/// How strands come to wait for each other.
#[derive(Clone, Debug)]
pub struct Stuck {
    /// The events that wait, each for the strand of the next, the last for that of the first.
    pub circle: Vec<EventNumber>,
    /// An order of events after which they all wait.
    pub order: Vec<EventNumber>,
}

/// All possible deadlocks of a small trace, by the events that wait, in the order of their numbers.
pub fn possible_deadlocks(
    trace: &Execution,
) -> Result<BTreeMap<Vec<EventNumber>, Stuck>, NotATrace> {
    let recording = Recording::new(trace)?;
    let search = Search::new(&recording);
    let mut deadlocks = BTreeMap::new();
    let mut seen = FxHashSet::default();
    let mut open = vec![(State::default(), Vec::new())];
    while let Some((state, path)) = open.pop() {
        if !seen.insert(search.key(&state)) {
            continue;
        }
        let next = search.next(&state);
        let waits = |one: usize, other: usize| {
            state.waits_for(&recording, next[one].0, next[other].1.strand())
        };
        for circle in circles(next.len(), waits) {
            let circle: Vec<EventNumber> = circle.into_iter().map(|at| next[at].0).collect();
            let mut key = circle.clone();
            key.sort_unstable();
            deadlocks.entry(key).or_insert_with(|| Stuck {
                circle,
                order: path.clone(),
            });
        }
        for (number, _) in next {
            if state.allows(&recording, number).is_ok() {
                let mut state = state.clone();
                state.perform(&recording, number);
                open.push((state, [&path[..], &[number]].concat()));
            }
        }
    }
    Ok(deadlocks)
}

/// The circles of a relation between so many things in which nobody waits for anybody but the next, each once.
fn circles(count: usize, waits: impl Fn(usize, usize) -> bool) -> Vec<Vec<usize>> {
    let mut found = Vec::new();
    let mut open: Vec<Vec<usize>> = (0..count).map(|first| vec![first]).collect();
    while let Some(chain) = open.pop() {
        let (first, last) = (chain[0], chain[chain.len() - 1]);
        // Who is in a chain waits for the next of it and for nobody before the last.
        let earlier = &chain[..chain.len() - 1];
        if waits(last, first) && chain.len() > 1 {
            if !earlier[1..].iter().any(|&other| waits(last, other)) {
                found.push(chain);
            }
            continue;
        }
        let joins = |next: &usize| {
            *next > first
                && !chain.contains(next)
                && waits(last, *next)
                && !earlier.iter().any(|&other| waits(other, *next))
                && !chain[1..].iter().any(|&other| waits(last, other))
        };
        let longer = (0..count).filter(joins);
        open.extend(longer.map(|next| [&chain[..], &[next]].concat()));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traces::trace;
    use deadheat_model::Witness;
    use deadheat_witness::Witnesses;

    /// The deadlocks of a trace; the checker accepts each one's order.
    fn deadlocks(text: &str) -> Vec<Vec<EventNumber>> {
        let trace = trace(text);
        let found = possible_deadlocks(&trace).unwrap();
        let witnesses = Witnesses::new(&trace).unwrap();
        for stuck in found.values() {
            let witness = Witness {
                then: stuck.order.clone(),
                ..Witness::default()
            };
            let verdict = witnesses.verify_deadlock(&stuck.circle, &witness);
            assert_eq!(verdict, Ok(()), "{text}");
        }
        found.into_keys().collect()
    }

    const NONE: [Vec<EventNumber>; 0] = [];

    #[test]
    fn locks_taken_in_other_orders_make_a_deadlock() {
        let two = "T1 acq(a); T1 acq(b); T1 rel(b); T1 rel(a); T2 acq(b); T2 acq(a); T2 rel(a); T2 rel(b)";
        assert_eq!(deadlocks(two), [[2, 6]]);
        let three = "T1 acq(a); T1 acq(b); T1 rel(b); T1 rel(a); T2 acq(b); T2 acq(c); T2 rel(c);
            T2 rel(b); T3 acq(c); T3 acq(a); T3 rel(a); T3 rel(c)";
        assert_eq!(deadlocks(three), [[2, 6, 10]]);
    }

    #[test]
    fn what_keeps_them_apart_leaves_no_deadlock() {
        let silent = [
            // One thread.
            "T1 acq(a); T1 acq(b); T1 rel(b); T1 rel(a); T1 acq(b); T1 acq(a); T1 rel(a); T1 rel(b)",
            // A lock around both.
            "T1 acq(g); T1 acq(a); T1 acq(b); T1 rel(b); T1 rel(a); T1 rel(g);
             T2 acq(g); T2 acq(b); T2 acq(a); T2 rel(a); T2 rel(b); T2 rel(g)",
            // Given back in between.
            "T1 acq(a); T1 acq(b); T1 rel(b); T1 rel(a); T2 acq(b); T2 rel(b); T2 acq(a); T2 rel(a)",
            // Forked afterwards; told afterwards.
            "T1 acq(a); T1 acq(b); T1 rel(b); T1 rel(a); T1 fork(T2);
             T2 acq(b); T2 acq(a); T2 rel(a); T2 rel(b)",
            "T1 acq(a); T1 acq(b); T1 rel(b); T1 rel(a); T1 w(p);
             T2 r(p); T2 acq(b); T2 acq(a); T2 rel(a); T2 rel(b)",
            // Readers.
            "T1 racq(a); T1 racq(b); T1 rrel(b); T1 rrel(a); T2 racq(b); T2 racq(a); T2 rrel(a); T2 rrel(b)",
        ];
        for text in silent {
            assert_eq!(deadlocks(text), NONE, "{text}");
        }
    }

    #[test]
    fn sections_may_have_to_change_places() {
        // In the trace's order of the sections on l, T2 reads what T1 wrote when T1 has b.
        let text = "T1 acq(a); T1 acq(l); T1 w(x); T1 rel(l); T1 acq(b); T1 rel(b); T1 rel(a);
            T2 acq(l); T2 w(x); T2 rel(l); T2 acq(b); T2 acq(a); T2 rel(a); T2 rel(b)";
        assert_eq!(deadlocks(text), [[5, 12]]);
    }

    #[test]
    fn writers_wait_for_readers_and_joins_for_strands() {
        let mixed = "T1 racq(a); T1 acq(b); T1 rel(b); T1 rrel(a); T2 racq(b); T2 acq(a); T2 rel(a); T2 rrel(b)";
        assert_eq!(deadlocks(mixed), [[2, 6]]);
        let join = "T1 fork(T2); T2 acq(a); T2 rel(a); T1 acq(a); T1 join(T2); T1 rel(a)";
        assert_eq!(deadlocks(join), [[2, 5]]);
    }

    #[test]
    fn a_circle_that_has_another_in_it_does_not_count() {
        // Each waits for the next; what waits for what, as pairs.
        let of = |pairs: &[(usize, usize)]| circles(4, |one, other| pairs.contains(&(one, other)));
        assert_eq!(of(&[(0, 1), (1, 2), (2, 0)]), [[0, 1, 2]]);
        assert_eq!(of(&[(0, 2), (2, 1), (1, 0)]), [[0, 2, 1]]);
        assert_eq!(of(&[(0, 1), (1, 2), (2, 0), (1, 0)]), [[0, 1]]);
        assert_eq!(of(&[(0, 1), (1, 2), (2, 3), (3, 0), (1, 3)]), [[0, 1, 3]]);
        assert_eq!(of(&[(0, 1), (1, 2), (2, 3)]), [[0; 0]; 0]);
        let mut both = of(&[(0, 1), (1, 0), (2, 3), (3, 2)]);
        both.sort();
        assert_eq!(both, [[0, 1], [2, 3]]);
    }
}

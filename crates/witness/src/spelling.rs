//! Witnesses event by event.
//!
//! A [`Witness`] is short because most of it is "as in the trace, of each strand up to here". A
//! `Spelling` knows which events are whose, so how long a witness is, its end, and, if it is short, all of
//! it can be told without reading the trace again for each.
//!
//! Cost: 4 bytes an event, once; a witness takes a binary search a strand, and what is spelt out.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use deadheat_model::finding::{Proof, Reordering};
use deadheat_model::{Event, EventNumber, Execution, Strand, Witness};

use crate::verified::Verified;

/// Spells witnesses of a trace's races.
pub struct Spelling {
    trace: Arc<Execution>,
    /// Where in `numbers` a strand's events begin, by the strand's number; and the end.
    starts: Vec<usize>,
    /// The numbers of each strand's events; a trace that a witness is about has fewer than 2^32.
    numbers: Vec<u32>,
    /// Whether the name of a strand says which it is.
    names_tell: bool,
}

impl Spelling {
    /// Takes a trace in.
    pub fn new(trace: Arc<Execution>) -> Spelling {
        let strands = || trace.events.iter().map(|event| event.strand().index());
        let most = strands().max().map_or(0, |most| most + 1);
        let mut starts = vec![0; most + 1];
        strands().for_each(|strand| starts[strand + 1] += 1);
        for strand in 0..most {
            starts[strand + 1] += starts[strand];
        }
        let mut next = starts.clone();
        let mut numbers = vec![0; trace.events.len()];
        for (number, strand) in (1..).zip(strands()) {
            numbers[next[strand]] = number;
            next[strand] += 1;
        }
        let mut names = HashSet::new();
        let all = most.max(trace.names.strands.len());
        let mut strands = (0..all).map(|strand| trace.names.strand(Strand(strand as u32)));
        let names_tell = strands.all(|name| names.insert(name));
        drop(names);
        Spelling {
            trace,
            starts,
            numbers,
            names_tell,
        }
    }

    /// The trace.
    pub fn trace(&self) -> &Execution {
        &self.trace
    }

    /// Whether the name of a strand says which it is.
    pub fn names_tell(&self) -> bool {
        self.names_tell
    }

    /// An event of the trace.
    pub fn event(&self, number: EventNumber) -> Option<&Event> {
        self.trace.event(number)
    }

    /// How many events a witness has.
    pub fn length(&self, witness: &Witness) -> u64 {
        let unmoved = self.unmoved(witness).map(|(_, numbers)| numbers.len());
        (unmoved.sum::<usize>() + witness.then.len()) as u64
    }

    /// Of each strand that a witness begins with: the last of its events there.
    pub fn upto(&self, witness: &Witness) -> impl Iterator<Item = (Strand, EventNumber)> {
        self.unmoved(witness)
            .filter_map(|(strand, numbers)| Some((strand, EventNumber::from(*numbers.last()?))))
    }

    /// The last `most` events of a witness, in order.
    pub fn end(&self, witness: &Witness, most: usize) -> Vec<EventNumber> {
        let then = &witness.then[witness.then.len().saturating_sub(most)..];
        let room = most - then.len();
        let last = |numbers: &'_ [u32]| numbers.len().saturating_sub(room);
        let unmoved = self.unmoved(witness);
        let unmoved = unmoved.flat_map(|(_, numbers)| &numbers[last(numbers)..]);
        let mut unmoved: Vec<EventNumber> = unmoved.map(|&number| number.into()).collect();
        unmoved.sort_unstable();
        let mut end = unmoved.split_off(unmoved.len().saturating_sub(room));
        end.extend(then);
        end
    }

    /// Each strand's events at the beginning of a witness, where all is as in the trace.
    fn unmoved(&self, witness: &Witness) -> impl Iterator<Item = (Strand, &[u32])> {
        witness.upto.iter().filter_map(|&(strand, upto)| {
            let range = self.starts.get(strand.index()..strand.index() + 2)?;
            let numbers = &self.numbers[range[0]..range[1]];
            let last = upto.min(witness.before.saturating_sub(1));
            let end = numbers.partition_point(|&number| EventNumber::from(number) <= last);
            Some((strand, &numbers[..end]))
        })
    }
}

/// A witness that the checker has accepted, with what it takes to spell it: the proof of a [`Finding`].
///
/// [`Finding`]: deadheat_model::Finding
#[derive(Clone)]
pub struct VerifiedReordering {
    witness: Verified<Witness>,
    spelling: Arc<Spelling>,
}

impl VerifiedReordering {
    /// The spelling is of the trace against which the witness was checked.
    pub fn new(witness: Verified<Witness>, spelling: Arc<Spelling>) -> VerifiedReordering {
        VerifiedReordering { witness, spelling }
    }
}

impl fmt::Debug for VerifiedReordering {
    /// The trace, which may be very large, is left out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("VerifiedReordering")
            .field(self.witness.proof())
            .finish()
    }
}

impl Proof for VerifiedReordering {
    fn reordering(&self) -> Option<&dyn Reordering> {
        Some(self)
    }

    fn schedule(&self) -> Option<&[String]> {
        None
    }
}

impl Reordering for VerifiedReordering {
    fn execution(&self) -> &Execution {
        self.spelling.trace()
    }

    fn witness(&self) -> &Witness {
        self.witness.proof()
    }

    fn length(&self) -> u64 {
        self.spelling.length(self.witness.proof())
    }

    fn end(&self, most: usize) -> Vec<EventNumber> {
        self.spelling.end(self.witness.proof(), most)
    }

    fn upto(&self) -> Vec<(Strand, EventNumber)> {
        self.spelling.upto(self.witness.proof()).collect()
    }

    fn names_tell(&self) -> bool {
        self.spelling.names_tell()
    }
}

#[cfg(test)]
mod tests {
    use deadheat_model::{AccessKind, Location, Op, Race, RacingAccess, Site};

    use super::*;
    use crate::Witnesses;

    #[test]
    fn a_witness_is_spelt_as_the_trace_spells_it() {
        let mut rng = fastrand::Rng::with_seed(1);
        for _ in 0..500 {
            let strands = rng.u32(1..5);
            let event = |strand| Event::new(Strand(strand), Op::Write(Location(0)), Site(0));
            let events: Vec<Event> = (0..rng.usize(1..40))
                .map(|_| event(rng.u32(0..strands)))
                .collect();
            let all = events.len() as u64;
            let trace = Execution {
                events,
                ..Execution::default()
            };
            let witness = Witness {
                before: rng.u64(0..all + 2),
                upto: (0..strands)
                    .map(|strand| (Strand(strand), rng.u64(0..all + 2)))
                    .collect(),
                then: (0..rng.u64(0..5)).map(|_| rng.u64(1..all + 1)).collect(),
            };
            let spelling = Spelling::new(Arc::new(trace.clone()));
            let spelt: Vec<EventNumber> = trace.spell_out(&witness).collect();
            assert_eq!(spelling.length(&witness), spelt.len() as u64);
            for most in [0, 1, 3, 7, 100] {
                let end = &spelt[spelt.len().saturating_sub(most)..];
                assert_eq!(spelling.end(&witness, most), end, "{witness:?}");
            }
            for (strand, upto) in spelling.upto(&witness) {
                let own = |number: &&EventNumber| trace.event(**number).unwrap().strand() == strand;
                let unmoved = &spelt[..spelt.len() - witness.then.len()];
                assert_eq!(unmoved.iter().rfind(own), Some(&upto));
            }
        }
    }

    #[test]
    fn a_finding_can_carry_a_verified_witness() {
        let write = |strand| Event::new(Strand(strand), Op::Write(Location(0)), Site(0));
        let trace = Arc::new(Execution {
            events: vec![write(0), write(1)],
            ..Execution::default()
        });
        let access = |event, strand| RacingAccess {
            event,
            strand: Strand(strand),
            site: Site(0),
            kind: AccessKind::Write,
        };
        let race = Race {
            location: Location(0),
            first: access(1, 0),
            second: access(2, 1),
            count: 1,
        };
        let witness = Witness {
            then: vec![2, 1],
            ..Witness::default()
        };
        let verified = Witnesses::new(&trace)
            .unwrap()
            .accept(&race, witness.clone());
        let spelling = Arc::new(Spelling::new(trace.clone()));
        let proof: Arc<dyn Proof> = Arc::new(VerifiedReordering::new(verified.unwrap(), spelling));
        let reordering = proof.reordering().unwrap();
        assert_eq!(reordering.witness(), &witness);
        assert_eq!(reordering.length(), 2);
        assert_eq!(reordering.end(1), [1]);
        assert_eq!(reordering.execution().events, trace.events);
        assert!(proof.schedule().is_none());
    }

    #[test]
    fn strands_of_one_name_are_not_told_apart_by_it() {
        let event = |strand| Event::new(Strand(strand), Op::Write(Location(0)), Site(0));
        let mut trace = Execution {
            events: vec![event(0), event(1)],
            ..Execution::default()
        };
        assert!(Spelling::new(Arc::new(trace.clone())).names_tell());
        trace.names.strands = vec!["worker".to_string(), "worker".to_string()];
        assert!(!Spelling::new(Arc::new(trace.clone())).names_tell());
        // Also of one that does nothing.
        trace.names.strands = ["a", "b", "b"].map(str::to_string).to_vec();
        assert!(!Spelling::new(Arc::new(trace.clone())).names_tell());
    }
}

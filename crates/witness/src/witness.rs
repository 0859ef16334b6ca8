//! The checker of witnesses.
//!
//! A witness of a predicted race is an order of some of the trace's events that ends with the two
//! racing accesses. Simple model: do the events one after the other and refuse the first that the
//! program could not have done there ([`State`](crate::state::State) says what that means). The two at
//! the end are exempt from one rule only: they need not observe what they observed in the trace,
//! because nothing comes after them that could depend on it.
//!
//! Guarantee: what is accepted is a correct reordering of the trace, followed by two conflicting
//! accesses, not both atomic, of different strands, each the next of its strand: a predictable race in the sense of
//! M2, section 2. A race of the program then, if its strands are deterministic.
//!
//! Cost: taking the trace in, once, is linear in it; a witness is checked in time and memory linear
//! in its own length. One that begins with a part of the trace as it is ([`Witness`]) is checked without
//! doing that part, in time linear in the rest ([`cut`](crate::cut) says how, and for which traces);
//! getting ready for that is linear in the trace, once.

use std::borrow::Cow;
use std::sync::OnceLock;

use deadheat_model::{EventNumber, Execution, Race, Witness};
use thiserror::Error;

use crate::cut::{Cut, Cuts, recall_writes};
use crate::recording::{NotATrace, Recording};
use crate::state::{Obstacle, State};
use crate::verified::Verified;

/// The place at which a witness is not one.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("position {position} of the witness, event {event}{line} {why}")]
pub struct Refusal {
    /// Where in the witness, from 1; one behind its end if something is missing there.
    pub position: usize,
    /// The event there, or the one that is missing.
    pub event: EventNumber,
    /// What is wrong.
    pub obstacle: Obstacle,
    /// The event, as people read it, in brackets.
    line: String,
    /// What is wrong, in words.
    why: String,
}

/// Checks witnesses against one trace.
pub struct Witnesses<'t> {
    recording: Recording<'t>,
    /// What is needed to skip the beginning of a witness, once one is asked for; nothing if the trace is
    /// not of that kind.
    cuts: OnceLock<Option<Cuts>>,
}

impl<'t> Witnesses<'t> {
    /// Takes an execution in. It is refused if it could not have happened.
    pub fn new(trace: &'t Execution) -> Result<Witnesses<'t>, NotATrace> {
        let recording = Recording::new(trace)?;
        let cuts = OnceLock::new();
        Ok(Witnesses { recording, cuts })
    }

    /// Accepts a witness of a race between two events, or says where it fails.
    pub fn verify(
        &self,
        first: EventNumber,
        second: EventNumber,
        witness: &[EventNumber],
    ) -> Result<(), Refusal> {
        self.go_on(State::default(), 0, [first, second], witness)
    }

    /// Accepts what [`verify`](Witnesses::verify) accepts of the witness spelt out, and nothing else.
    /// What is wrong with its beginning may be said differently.
    pub fn verify_witness(
        &self,
        first: EventNumber,
        second: EventNumber,
        witness: &Witness,
    ) -> Result<(), Refusal> {
        let (state, done, rest) = self.skip_cut(witness, 2)?;
        self.go_on(state, done, [first, second], &rest)
    }

    /// The state after the part of a witness that is as in the trace, how many events that has, and the others. What
    /// comes at the end of a witness may be exempt from what the others have to observe: so many events are never
    /// part of what is skipped.
    pub(crate) fn skip_cut<'w>(
        &self,
        witness: &'w Witness,
        exempt: usize,
    ) -> Result<(State, usize, Cow<'w, [EventNumber]>), Refusal> {
        let recording = &self.recording;
        let Some(cuts) = self.cuts.get_or_init(|| Cuts::new(recording)) else {
            let spelt = recording.trace.spell_out(witness).collect();
            return Ok((State::default(), 0, spelt));
        };
        let Witness { before, upto, then } = witness;
        let (mut before, mut then) = (*before, Cow::Borrowed(&then[..]));
        while then.len() < exempt
            && let Some(last) = cuts.last(recording, Cut { before, upto })
        {
            before = last;
            then.to_mut().insert(0, last);
        }
        let cut = Cut { before, upto };
        let length = |upto| cuts.length(recording, cut, upto);
        let mut state = cuts
            .state_after(recording, cut)
            .map_err(|(event, obstacle)| self.refusal(length(event), event, obstacle))?;
        let observing = then.len().max(exempt) - exempt;
        recall_writes(recording, cut, &then[..observing], &mut state);
        let done = length(before);
        Ok((state, done, then))
    }

    /// Turns a witness of a race into a verified one, or says where it fails.
    pub fn accept(&self, race: &Race, witness: Witness) -> Result<Verified<Witness>, Refusal> {
        self.verify_witness(race.first.event, race.second.event, &witness)?;
        Ok(Verified::accepted(witness))
    }

    /// Does the rest of a witness, in a state after so many events.
    fn go_on(
        &self,
        mut state: State,
        done: usize,
        race: [EventNumber; 2],
        rest: &[EventNumber],
    ) -> Result<(), Refusal> {
        let (before, [e1, e2]) = match rest.split_last_chunk::<2>() {
            Some((before, &racing)) => (before, racing),
            None => {
                let end = done + rest.len() + 1;
                return Err(self.refusal(end, race[0], Obstacle::NotTheRace));
            }
        };
        self.do_all(&mut state, done, before)?;
        let position = done + before.len() + 1;
        for (position, event) in [(position, e1), (position + 1, e2)] {
            self.take_turn(&mut state, event, race)
                .map_err(|obstacle| self.refusal(position, event, obstacle))?;
        }
        self.conflict(e1, e2)
            .map_err(|obstacle| self.refusal(position + 1, e2, obstacle))
    }

    /// Does events one after the other, in a state after so many.
    pub(crate) fn do_all(
        &self,
        state: &mut State,
        done: usize,
        events: &[EventNumber],
    ) -> Result<(), Refusal> {
        for (position, &event) in (done + 1..).zip(events) {
            state
                .allows(&self.recording, event)
                .map_err(|obstacle| self.refusal(position, event, obstacle))?;
            state.perform(&self.recording, event);
        }
        Ok(())
    }

    pub(crate) fn recording(&self) -> &Recording<'t> {
        &self.recording
    }

    /// Does one of the racing events.
    fn take_turn(
        &self,
        state: &mut State,
        event: EventNumber,
        race: [EventNumber; 2],
    ) -> Result<(), Obstacle> {
        if !race.contains(&event) {
            return Err(Obstacle::NotTheRace);
        }
        state.has_turn(&self.recording, event)?;
        state.perform(&self.recording, event);
        Ok(())
    }

    fn conflict(&self, e1: EventNumber, e2: EventNumber) -> Result<(), Obstacle> {
        let event = |number| self.recording.event(number).ok_or(Obstacle::NoSuchEvent);
        let (e1, e2) = (event(e1)?, event(e2)?);
        if e1.strand() == e2.strand() {
            return Err(Obstacle::SameStrand);
        }
        match e1.conflicts_with(e2) {
            true => Ok(()),
            false => Err(Obstacle::NoConflict),
        }
    }

    pub(crate) fn refusal(
        &self,
        position: usize,
        event: EventNumber,
        obstacle: Obstacle,
    ) -> Refusal {
        let names = self.recording.names();
        let line = self.recording.event(event);
        let line = line.map(|event| format!(" ({})", names.line(event)));
        Refusal {
            position,
            event,
            obstacle,
            line: line.unwrap_or_default(),
            why: obstacle.words(&self.recording),
        }
    }
}

#[cfg(test)]
mod tests {
    use deadheat_model::{Lock, Promise, Semaphore, Strand};

    use super::*;
    use deadheat_testing::traces::{FIGURE_1A, FIGURE_1B, trace};

    const T1: Strand = Strand(0);
    const T2: Strand = Strand(1);

    /// Where and why a witness is refused.
    fn verdict(
        trace: &Execution,
        (first, second): (EventNumber, EventNumber),
        witness: &[EventNumber],
    ) -> Result<(), (usize, Obstacle)> {
        let witnesses = Witnesses::new(trace).unwrap();
        witnesses
            .verify(first, second, witness)
            .map_err(|refusal| (refusal.position, refusal.obstacle))
    }

    #[test]
    fn a_witness_swaps_critical_sections() {
        let trace = trace(FIGURE_1A);
        let verdict = |witness: &[EventNumber]| verdict(&trace, (2, 7), witness);
        assert_eq!(verdict(&[4, 5, 6, 1, 2, 7]), Ok(()));
        assert_eq!(verdict(&[4, 5, 6, 1, 7, 2]), Ok(()));
        assert_eq!(verdict(&[1, 2, 7]), Err((3, Obstacle::SkipsEarlier(3))));
        let owned = Obstacle::Owned(Lock(0), T1);
        assert_eq!(verdict(&[1, 4, 5, 6, 2, 7]), Err((2, owned)));
    }

    #[test]
    fn a_witness_of_three_strands_is_accepted() {
        let trace = trace(FIGURE_1B);
        let witness = [5, 6, 7, 8, 9, 10, 11, 12, 13, 1, 2, 14];
        assert_eq!(verdict(&trace, (2, 14), &witness), Ok(()));
        // Strand 3 reads z before anybody wrote it.
        let observes = Obstacle::Observes {
            here: None,
            in_trace: Some(7),
        };
        let witness = [11, 12, 13, 1, 2, 14];
        assert_eq!(verdict(&trace, (2, 14), &witness), Err((2, observes)));
    }

    #[test]
    fn a_witness_ends_with_the_race() {
        let trace =
            trace("T1 w(x); T2 w(x); T1 w(x); T2 r(y); T2 aload.seqcst(x); T3 r(x); T4 r(x)");
        let verdict = |race, witness: &[EventNumber]| verdict(&trace, race, witness);
        assert_eq!(verdict((1, 2), &[1, 2]), Ok(()));
        assert_eq!(verdict((2, 1), &[1, 2]), Ok(()));
        assert_eq!(verdict((1, 3), &[1, 3]), Err((2, Obstacle::SameStrand)));
        assert_eq!(verdict((1, 2), &[1]), Err((2, Obstacle::NotTheRace)));
        assert_eq!(verdict((1, 2), &[]), Err((1, Obstacle::NotTheRace)));
        assert_eq!(verdict((2, 3), &[1, 2]), Err((1, Obstacle::NotTheRace)));
        assert_eq!(verdict((1, 3), &[1, 2]), Err((2, Obstacle::NotTheRace)));
        // A plain and an atomic access do conflict.
        assert_eq!(verdict((1, 5), &[2, 4, 1, 5]), Ok(()));
        // Another location, two reads, two atomic accesses.
        assert_eq!(verdict((1, 4), &[2, 1, 4]), Err((3, Obstacle::NoConflict)));
        assert_eq!(verdict((6, 7), &[6, 7]), Err((2, Obstacle::NoConflict)));
        let trace = deadheat_testing::traces::trace("T1 astore.relaxed(x); T2 astore.relaxed(x)");
        let both_atomic = Witnesses::new(&trace).unwrap().verify(1, 2, &[1, 2]);
        assert_eq!(both_atomic.unwrap_err().obstacle, Obstacle::NoConflict);
    }

    #[test]
    fn a_witness_has_prefixes_of_strands() {
        let trace = trace("T1 w(x); T1 w(x); T2 w(x)");
        let verdict = |race, witness: &[EventNumber]| verdict(&trace, race, witness);
        assert_eq!(verdict((2, 3), &[1, 2, 3]), Ok(()));
        assert_eq!(
            verdict((2, 3), &[2, 3]),
            Err((1, Obstacle::SkipsEarlier(1)))
        );
        assert_eq!(verdict((1, 3), &[1, 1, 3]), Err((2, Obstacle::DoneBefore)));
        let backwards = [2, 1, 3];
        assert_eq!(
            verdict((1, 3), &backwards),
            Err((1, Obstacle::SkipsEarlier(1)))
        );
        assert_eq!(verdict((1, 1), &[1, 1]), Err((2, Obstacle::DoneBefore)));
        for stranger in [0, 4, EventNumber::MAX] {
            let unknown = Obstacle::NoSuchEvent;
            assert_eq!(verdict((1, 3), &[stranger, 1, 3]), Err((1, unknown)));
            assert_eq!(verdict((1, stranger), &[1, stranger]), Err((2, unknown)));
        }
    }

    #[test]
    fn a_read_observes_what_it_observed() {
        let trace = trace("T1 r(x); T1 w(x); T2 r(x); T2 w(y); T1 w(y)");
        let verdict = |race, witness: &[EventNumber]| verdict(&trace, race, witness);
        assert_eq!(verdict((4, 5), &[1, 2, 3, 4, 5]), Ok(()));
        let observes = |here, in_trace| Obstacle::Observes { here, in_trace };
        let early = [1, 3, 2, 5, 4];
        assert_eq!(verdict((4, 5), &early), Err((2, observes(None, Some(2)))));
        // The two that race need not: nobody asks what they read.
        assert_eq!(verdict((2, 3), &[1, 3, 2]), Ok(()));
        assert_eq!(verdict((2, 3), &[1, 2, 3]), Ok(()));
    }

    #[test]
    fn a_read_that_observed_nothing_observes_nothing() {
        let trace = trace("T1 r(x); T2 w(x); T1 w(y); T2 w(y)");
        assert_eq!(verdict(&trace, (3, 4), &[1, 2, 3, 4]), Ok(()));
        let observes = Obstacle::Observes {
            here: Some(2),
            in_trace: None,
        };
        assert_eq!(verdict(&trace, (3, 4), &[2, 1, 3, 4]), Err((2, observes)));
    }

    #[test]
    fn atomic_accesses_observe_what_they_observed() {
        let trace = trace(
            "T1 w(x); T1 astore.seqcst(x); T2 aupdate.seqcst(x); T1 aload.seqcst(x); T2 r(x); T1 w(y); T2 w(y); T3 aload.seqcst(x)",
        );
        let verdict = |witness: &[EventNumber]| verdict(&trace, (6, 7), witness);
        let observes = |here, in_trace| Obstacle::Observes {
            here: Some(here),
            in_trace: Some(in_trace),
        };
        assert_eq!(verdict(&[1, 2, 3, 4, 5, 6, 7]), Ok(()));
        assert_eq!(verdict(&[1, 2, 3, 8, 5, 4, 7, 6]), Ok(()));
        assert_eq!(verdict(&[1, 3, 2, 4, 5, 6, 7]), Err((2, observes(1, 2))));
        assert_eq!(verdict(&[1, 2, 4, 3, 5, 6, 7]), Err((3, observes(2, 3))));
    }

    #[test]
    fn a_lock_taken_twice_is_given_back_twice() {
        let trace = trace(
            "T1 acq(l); T1 acq(l); T1 rel(l); T1 w(x); T1 rel(l); T2 acq(l); T2 w(x); T2 rel(l);
             T2 w(x)",
        );
        let owned = Err((4, Obstacle::Owned(Lock(0), T1)));
        assert_eq!(verdict(&trace, (4, 7), &[1, 2, 3, 6, 4, 7]), owned);
        assert_eq!(verdict(&trace, (4, 9), &[6, 7, 8, 1, 2, 3, 4, 9]), Ok(()));
    }

    #[test]
    fn a_lock_has_many_readers_or_one_owner() {
        let trace = trace(
            "T1 racq(l); T1 w(x); T1 rrel(l); T2 racq(l); T2 w(x); T2 rrel(l);
             T3 acq(l); T3 w(x); T3 rel(l)",
        );
        assert_eq!(verdict(&trace, (2, 5), &[1, 4, 2, 5]), Ok(()));
        let shared = Obstacle::Shared(Lock(0));
        assert_eq!(verdict(&trace, (2, 8), &[1, 7, 2, 8]), Err((2, shared)));
        let owned = Obstacle::Owned(Lock(0), Strand(2));
        assert_eq!(verdict(&trace, (2, 8), &[7, 1, 2, 8]), Err((2, owned)));
    }

    #[test]
    fn a_reader_that_becomes_the_owner_and_a_reader_again_excludes_the_others() {
        let trace = trace(
            "T1 racq(l); T1 acq(l); T1 w(x); T1 racq(l); T1 rel(l); T1 rrel(l); T1 rrel(l);
             T2 racq(l); T2 w(x); T2 rrel(l); T2 w(x)",
        );
        let verdict = |race, witness: &[EventNumber]| verdict(&trace, race, witness);
        assert_eq!(verdict((3, 11), &[8, 9, 10, 1, 2, 3, 11]), Ok(()));
        let shared = Obstacle::Shared(Lock(0));
        assert_eq!(verdict((3, 9), &[1, 8, 2, 3, 9]), Err((3, shared)));
        let owned = Obstacle::Owned(Lock(0), T1);
        assert_eq!(verdict((3, 9), &[1, 2, 8, 3, 9]), Err((3, owned)));
    }

    #[test]
    fn a_strand_begins_when_it_is_forked() {
        let trace = trace("T1 w(x); T1 fork(T2); T2 w(x); T1 w(x); T3 w(x)");
        let verdict = |race, witness: &[EventNumber]| verdict(&trace, race, witness);
        assert_eq!(verdict((3, 4), &[1, 2, 3, 4]), Ok(()));
        let forked = Obstacle::NotForked(T2);
        assert_eq!(verdict((1, 3), &[3, 1]), Err((1, forked)));
        assert_eq!(verdict((1, 3), &[1, 3]), Err((2, forked)));
        // Nobody forks the third: it was always there.
        assert_eq!(verdict((1, 5), &[5, 1]), Ok(()));
    }

    #[test]
    fn a_join_comes_after_all_of_the_strand() {
        let trace = trace("T1 fork(T2); T2 w(x); T2 w(y); T1 join(T2); T1 w(y); T3 w(y)");
        assert_eq!(verdict(&trace, (5, 6), &[1, 2, 3, 4, 5, 6]), Ok(()));
        let ended = Obstacle::NotEnded(T2);
        assert_eq!(verdict(&trace, (5, 3), &[1, 2, 4, 5, 3]), Err((3, ended)));
        assert_eq!(verdict(&trace, (5, 6), &[1, 4, 5, 6]), Err((2, ended)));
    }

    #[test]
    fn a_join_of_a_strand_without_events_comes_after_its_fork() {
        let trace = trace("T1 fork(T2); T3 join(T2); T3 w(x); T1 w(x)");
        assert_eq!(verdict(&trace, (3, 4), &[1, 2, 3, 4]), Ok(()));
        let forked = Obstacle::NotForked(T2);
        assert_eq!(verdict(&trace, (3, 4), &[2, 1, 3, 4]), Err((1, forked)));
    }

    #[test]
    fn a_semaphore_gives_the_tokens_it_has() {
        let mut trace = trace("T1 w(x); T1 v(s); T2 p(s); T2 w(x); T3 p(s); T3 w(x)");
        trace.names.tokens = vec![1];
        let verdict = |race, witness: &[EventNumber]| verdict(&trace, race, witness);
        assert_eq!(verdict((1, 4), &[3, 4, 1]), Ok(()));
        assert_eq!(verdict((4, 6), &[1, 2, 3, 5, 4, 6]), Ok(()));
        let none = Obstacle::NoToken(Semaphore(0));
        assert_eq!(verdict((4, 6), &[3, 5, 4, 6]), Err((2, none)));
    }

    #[test]
    fn a_flag_is_waited_for_while_it_is_on() {
        let trace = trace("T1 w(x); T1 post(e); T2 wait(e); T2 w(x); T3 clear(e); T1 w(x)");
        let verdict = |race, witness: &[EventNumber]| verdict(&trace, race, witness);
        assert_eq!(verdict((4, 6), &[5, 1, 2, 3, 4, 6]), Ok(()));
        let off = Obstacle::FlagOff(deadheat_model::Flag(0));
        assert_eq!(verdict((1, 4), &[3, 1, 4]), Err((1, off)));
        assert_eq!(verdict((4, 6), &[1, 2, 5, 3, 4, 6]), Err((4, off)));
    }

    #[test]
    fn a_promise_is_read_after_it_is_set() {
        let trace = trace("T1 w(x); T1 set(0); T2 get(0); T2 w(x); T1 w(x)");
        assert_eq!(verdict(&trace, (4, 5), &[1, 2, 3, 4, 5]), Ok(()));
        let set = Obstacle::NotSet(Promise(0));
        assert_eq!(verdict(&trace, (1, 4), &[3, 1, 4]), Err((1, set)));
    }

    #[test]
    fn a_barrier_is_left_when_its_round_is_full() {
        let trace = trace(
            "T1 w(x); T1 arrive(b); T2 arrive(b); T1 leave(b); T1 w(x); T1 arrive(b);
             T2 leave(b); T2 w(x); T2 arrive(b); T2 leave(b); T2 w(x); T1 leave(b); T1 w(x)",
        );
        let verdict = |race, witness: &[EventNumber]| verdict(&trace, race, witness);
        assert_eq!(verdict((5, 8), &[1, 3, 2, 7, 4, 5, 8]), Ok(()));
        let alone = [3, 7, 1, 8];
        assert_eq!(verdict((1, 8), &alone), Err((2, Obstacle::RoundNotFull(1))));
        // Strand 1 is in the next round already, which is not full.
        let ahead = [1, 2, 3, 4, 5, 6, 12, 7, 8, 13];
        assert_eq!(
            verdict((8, 13), &ahead),
            Err((7, Obstacle::RoundNotFull(1)))
        );
        let both = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 11, 13];
        assert_eq!(verdict((11, 13), &both), Ok(()));
    }

    #[test]
    fn a_round_begins_when_the_round_before_is_full() {
        let trace = trace(
            "T1 arrive(b); T2 arrive(b); T1 leave(b); T2 leave(b); T3 arrive(b); T4 arrive(b);
             T3 leave(b); T4 leave(b); T3 w(x); T1 w(x)",
        );
        let missing = Obstacle::RoundBeforeNotFull(1);
        let early = [1, 5, 6, 7, 2, 3, 9, 10];
        assert_eq!(verdict(&trace, (9, 10), &early), Err((2, missing)));
        let full = [1, 2, 5, 6, 7, 3, 9, 10];
        assert_eq!(verdict(&trace, (9, 10), &full), Ok(()));
    }

    /// A strand that begins finishes one after the other may call them all the same.
    #[test]
    fn a_finish_waits_for_its_own_tasks_and_not_for_those_of_one_with_its_number() {
        let trace = trace(
            "T1 finish(0); T1 async(T2); T2 w(x); T1 endfinish(0);
             T1 finish(0); T1 async(T3); T3 w(x); T1 w(x); T1 endfinish(0); T1 w(x)",
        );
        assert_eq!(verdict(&trace, (7, 8), &[1, 2, 3, 4, 5, 6, 7, 8]), Ok(()));
        let ended = Obstacle::NotEnded(Strand(2));
        let early = [1, 2, 3, 4, 5, 6, 8, 9, 10, 7];
        assert_eq!(verdict(&trace, (7, 10), &early), Err((8, ended)));
    }

    #[test]
    fn a_trace_that_could_not_happen_is_refused_at_the_event() {
        let cases = [
            (
                "T1 isolated; T2 isolated",
                2,
                "takes lock isolated, which T1 has",
            ),
            ("T1 endisolated", 1, "gives back lock isolated"),
            ("T1 finish(1); T1 endfinish(2)", 2, "not the last it began"),
            (
                "T1 finish(1); T1 async(T2); T1 endfinish(1); T2 w(x)",
                3,
                "waits for the end of T2",
            ),
            ("T1 rel(l)", 1, "gives back lock l"),
            ("T1 rrel(l)", 1, "gives back lock l"),
            ("T1 acq(l); T2 rel(l)", 2, "gives back lock l"),
            ("T1 acq(l); T2 acq(l)", 2, "takes lock l, which T1 has"),
            ("T1 racq(l); T2 acq(l)", 2, "others have for reading"),
            ("T2 w(x); T1 fork(T2)", 1, "before T2 is forked"),
            ("T1 fork(T2); T3 fork(T2)", 2, "forked before"),
            ("T1 join(T2); T2 w(x)", 1, "waits for the end of T2"),
            ("T1 join(T1)", 1, "waits for the end of T1"),
            ("T1 p(s)", 1, "semaphore s, which has none"),
            ("T1 wait(e)", 1, "flag e, which is off"),
            ("T1 get(3)", 1, "promise 3, which is not set"),
            ("T1 set(3); T2 set(3)", 2, "promise 3, which is set already"),
            ("T1 leave(b)", 1, "has not arrived"),
            ("T1 arrive(b); T1 arrive(b)", 2, "has not left"),
        ];
        for (text, event, words) in cases {
            let trace = trace(text);
            let error = Witnesses::new(&trace).err();
            let error = error.unwrap_or_else(|| panic!("{text}: accepted"));
            assert_eq!(error.event, event, "{text}: {error}");
            assert!(error.to_string().contains(words), "{text}: {error}");
        }
    }

    #[test]
    fn a_refusal_says_where_and_what_and_why() {
        let trace = trace(FIGURE_1B);
        let witnesses = Witnesses::new(&trace).unwrap();
        let refusal = witnesses.verify(2, 14, &[11, 12, 13, 1, 2, 14]);
        assert_eq!(
            refusal.unwrap_err().to_string(),
            "position 2 of the witness, event 12 (T3|r(z)|12) observes no write here, but event 7 \
             (T2|w(z)|7) in the trace"
        );
        let refusal = witnesses.verify(2, 99, &[1, 2, 99]).unwrap_err();
        assert_eq!(
            refusal.to_string(),
            "position 3 of the witness, event 99 is not in the trace, which has 14 events"
        );
    }
}

//! The checker of deadlocks.
//!
//! A predicted deadlock names events of different strands in a circle, and gives an order of some of the trace's
//! events after which each of them is the next of its strand. Simple model: do these events one after the other, and
//! refuse the first that the program could not have done there, as for [races](crate::witness). Then look at the
//! circle: each strand waits for something that the next one has ([`State::waits_for`]), the last one for the first's.
//!
//! Guarantee: what is accepted is a correct reordering of the trace after which none of these strands can ever go on,
//! whatever the others do: each needs another of them to go on first. Cost: as for a race.

use deadheat_model::{EventNumber, Witness};

use crate::state::Obstacle;
use crate::verified::Verified;
use crate::witness::{Refusal, Witnesses};

impl Witnesses<'_> {
    /// Accepts the witness of a deadlock in which each event waits for the strand of the next, the last one for that of
    /// the first; or says where it fails. The events that wait are no part of the witness.
    pub fn verify_deadlock(
        &self,
        circle: &[EventNumber],
        witness: &Witness,
    ) -> Result<(), Refusal> {
        let (mut state, done, rest) = self.skip_cut(witness, 0)?;
        self.do_all(&mut state, done, &rest)?;
        let end = done + rest.len() + 1;
        let refuse = |event, obstacle| Err(self.refusal(end, event, obstacle));
        if circle.len() < 2 {
            return refuse(circle.first().copied().unwrap_or(0), Obstacle::NoCircle);
        }
        let mut strands = Vec::new();
        for &event in circle {
            match state.has_turn(self.recording(), event) {
                Ok(event) => strands.push(event.strand()),
                Err(obstacle) => return refuse(event, obstacle),
            }
        }
        for (place, &event) in circle.iter().enumerate() {
            if strands[..place].contains(&strands[place]) {
                return refuse(event, Obstacle::NoCircle);
            }
            let next = strands[(place + 1) % strands.len()];
            if !state.waits_for(self.recording(), event, next) {
                return refuse(event, Obstacle::DoesNotWaitFor(next));
            }
        }
        Ok(())
    }

    /// Turns the witness of a deadlock into a verified one, or says where it fails.
    pub fn accept_deadlock(
        &self,
        circle: &[EventNumber],
        witness: Witness,
    ) -> Result<Verified<Witness>, Refusal> {
        self.verify_deadlock(circle, &witness)?;
        Ok(Verified::accepted(witness))
    }
}

#[cfg(test)]
mod tests {
    use deadheat_model::{Lock, Strand};
    use deadheat_testing::traces::trace;

    use super::*;

    /// What the checker says of an order of events, then of the same events as a prefix of the trace if they are one.
    fn verdict(text: &str, circle: &[EventNumber], order: &[EventNumber]) -> Option<Obstacle> {
        let trace = trace(text);
        let witnesses = Witnesses::new(&trace).unwrap();
        let witness = Witness {
            then: order.to_vec(),
            ..Witness::default()
        };
        let verdict = witnesses.verify_deadlock(circle, &witness);
        verdict.err().map(|refusal| refusal.obstacle)
    }

    const CROSSED: &str = "T1 acq(a); T1 acq(b); T1 rel(b); T1 rel(a);
        T2 acq(b); T2 acq(a); T2 rel(a); T2 rel(b)";

    #[test]
    fn who_waits_in_a_circle_is_in_a_deadlock() {
        assert_eq!(verdict(CROSSED, &[2, 6], &[1, 5]), None);
        assert_eq!(verdict(CROSSED, &[6, 2], &[5, 1]), None);
        let three = "T1 acq(a); T1 acq(b); T1 rel(b); T1 rel(a); T2 acq(b); T2 acq(c); T2 rel(c);
            T2 rel(b); T3 acq(c); T3 acq(a); T3 rel(a); T3 rel(c)";
        assert_eq!(verdict(three, &[2, 6, 10], &[1, 5, 9]), None);
        let turned = verdict(three, &[6, 2, 10], &[1, 5, 9]);
        assert_eq!(turned, Some(Obstacle::DoesNotWaitFor(Strand(0))));
    }

    #[test]
    fn who_can_go_on_is_not() {
        // T2 has given b back, or has not taken it yet.
        let released =
            "T1 acq(a); T1 acq(b); T1 rel(b); T1 rel(a); T2 acq(b); T2 rel(b); T2 acq(a)";
        let waits = |strand| Some(Obstacle::DoesNotWaitFor(Strand(strand)));
        assert_eq!(verdict(released, &[2, 7], &[1, 5, 6]), waits(1));
        assert_eq!(
            verdict(CROSSED, &[2, 6], &[1]),
            Some(Obstacle::SkipsEarlier(1))
        );
        assert_eq!(
            verdict(CROSSED, &[2, 6], &[1, 2, 5]),
            Some(Obstacle::Owned(Lock(1), Strand(0)))
        );
        assert_eq!(
            verdict(CROSSED, &[2, 6], &[1, 5, 6]),
            Some(Obstacle::Owned(Lock(0), Strand(0)))
        );
        assert_eq!(verdict(CROSSED, &[2], &[1, 5]), Some(Obstacle::NoCircle));
        assert_eq!(verdict(CROSSED, &[], &[1, 5]), Some(Obstacle::NoCircle));
        assert_eq!(
            verdict(CROSSED, &[2, 6, 2, 6], &[1, 5]),
            Some(Obstacle::NoCircle)
        );
        assert_eq!(
            verdict(CROSSED, &[2, 99], &[1, 5]),
            Some(Obstacle::NoSuchEvent)
        );
        // An access waits for nobody.
        let access = "T1 acq(a); T1 w(x); T1 rel(a); T2 acq(b); T2 acq(a)";
        assert_eq!(verdict(access, &[2, 5], &[1, 4]), waits(1));
    }

    #[test]
    fn readers_wait_for_writers_and_writers_for_readers() {
        let crossed = |first: &str, second: &str| {
            format!(
                "T1 racq(a); T1 {first}(b); T1 r{second}(b); T1 rrel(a);
                 T2 racq(b); T2 acq(a); T2 rel(a); T2 rrel(b)"
            )
        };
        assert_eq!(verdict(&crossed("acq", "el"), &[2, 6], &[1, 5]), None);
        // A reader does not wait for a reader.
        let read = crossed("racq", "rel");
        assert_eq!(
            verdict(&read, &[2, 6], &[1, 5]),
            Some(Obstacle::DoesNotWaitFor(Strand(1)))
        );
    }

    #[test]
    fn who_joins_a_strand_waits_for_it() {
        let joined = "T1 fork(T2); T2 acq(a); T2 rel(a); T1 acq(a); T1 join(T2); T1 rel(a)";
        assert_eq!(verdict(joined, &[5, 2], &[1, 4]), None);
        assert_eq!(
            verdict(joined, &[5, 2], &[4]),
            Some(Obstacle::SkipsEarlier(1))
        );
    }

    /// A prefix of the trace and what moves, as engines write it, is the same as all of it in order.
    #[test]
    fn a_witness_in_short_is_the_witness_in_full() {
        let trace = trace(CROSSED);
        let witnesses = Witnesses::new(&trace).unwrap();
        let short = |upto: &[(Strand, EventNumber)], then: &[EventNumber]| Witness {
            before: 9,
            upto: upto.to_vec(),
            then: then.to_vec(),
        };
        let both = short(&[(Strand(0), 1), (Strand(1), 5)], &[]);
        assert!(witnesses.accept_deadlock(&[2, 6], both).is_ok());
        let one = short(&[(Strand(0), 1)], &[5]);
        assert!(witnesses.accept_deadlock(&[2, 6], one).is_ok());
        let too_far = short(&[(Strand(0), 4), (Strand(1), 5)], &[]);
        let refusal = witnesses.verify_deadlock(&[2, 6], &too_far).unwrap_err();
        assert_eq!(
            refusal.to_string(),
            "position 6 of the witness, event 2 (T1|acq(b)|2) has been done before"
        );
    }
}

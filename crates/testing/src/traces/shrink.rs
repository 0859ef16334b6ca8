//! Makes a trace small that some check fails on.
//!
//! Simple model: leave something out, a whole thread with what forks and joins it, a pair of taking
//! and giving back a lock or of arriving at a barrier and leaving it, or one event; keep what is left if
//! it could have happened and the check still fails on it; go on until nothing can be left out.
//!
//! Guarantee: the check fails on the result if it failed on the trace, and on nothing that is one
//! such step smaller. Cost: at most quadratically many checks, in the number of events.

use deadheat_model::{Event, Execution, Op};
use deadheat_witness::Recording;

/// The trace, with as much left out as possible so that `fails` stays true. The names stays.
pub fn shrink(trace: Execution, mut fails: impl FnMut(&Execution) -> bool) -> Execution {
    let mut smallest = trace;
    while let Some(smaller) = parts(&smallest.events)
        .iter()
        .map(|part| without(&smallest, part))
        .find(|smaller| Recording::new(smaller).is_ok() && fails(smaller))
    {
        smallest = smaller;
    }
    smallest
}

fn without(trace: &Execution, part: &[usize]) -> Execution {
    let events = trace.events.iter().enumerate();
    let kept = events.filter(|(index, _)| !part.contains(index));
    Execution {
        events: kept.map(|(_, event)| *event).collect(),
        names: trace.names.clone(),
    }
}

/// What can be left out, as indices; the largest first.
fn parts(events: &[Event]) -> Vec<Vec<usize>> {
    let mut strands: Vec<_> = events.iter().map(Event::strand).collect();
    strands.sort_unstable();
    strands.dedup();
    let of_strand = |strand| {
        let touches = |event: &Event| match event.op() {
            Op::Fork(other) | Op::Join(other) if other == strand => true,
            _ => event.strand() == strand,
        };
        let indices = (0..events.len()).filter(|&index| touches(&events[index]));
        indices.collect()
    };
    let pair = |index: usize| {
        let (first, last) = (&events[index], closing(events[index].op())?);
        let mut depth = 0;
        let rest = events[index..].iter().position(|event| {
            if event.strand() == first.strand() {
                depth += i32::from(event.op() == first.op()) - i32::from(event.op() == last);
            }
            depth == 0
        })?;
        Some(vec![index, index + rest])
    };
    let strands = strands.into_iter().map(of_strand);
    let pairs = (0..events.len()).filter_map(pair);
    let single = (0..events.len()).map(|index| vec![index]);
    strands.chain(pairs).chain(single).collect()
}

/// What ends that which an operation begins.
fn closing(op: Op) -> Option<Op> {
    match op {
        Op::Acquire(lock) => Some(Op::Release(lock)),
        Op::AcquireShared(lock) => Some(Op::ReleaseShared(lock)),
        Op::BarrierArrive(barrier) => Some(Op::BarrierLeave(barrier)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traces::{predictable_races, trace};

    fn shrunk(text: &str, fails: impl Fn(&Execution) -> bool) -> String {
        shrink(trace(text), fails).to_string()
    }

    fn races(trace: &Execution) -> bool {
        !predictable_races(trace).unwrap().is_empty()
    }

    #[test]
    fn what_has_nothing_to_do_with_it_is_left_out() {
        let text = "T1 fork(T2); T1 acq(l); T1 acq(m); T1 w(x); T1 rel(m); T1 rel(l);
            T2 acq(l); T2 r(y); T2 rel(l); T2 w(x); T1 join(T2); T1 arrive(b); T1 leave(b);
            T3 w(z)";
        assert_eq!(shrunk(text, races), "T1|w(x)|4\nT2|w(x)|10\n");
    }

    #[test]
    fn what_it_needs_stays() {
        // Without its section, T1 would race.
        let text = "T1 acq(l); T1 acq(l); T1 rel(l); T1 w(x); T1 rel(l);
            T2 acq(l); T2 w(x); T2 rel(l)";
        let two_writes = |trace: &Execution| {
            let writes = trace.events.iter().filter(|e| e.access().is_some());
            writes.count() == 2
        };
        assert_eq!(
            shrunk(text, |trace| two_writes(trace) && !races(trace)),
            "T1|acq(l)|1\nT1|w(x)|4\nT1|rel(l)|5\nT2|acq(l)|6\nT2|w(x)|7\n"
        );
    }

    #[test]
    fn a_trace_on_which_nothing_fails_stays_as_it_is() {
        let text = "T1|w(x)|1\nT2|r(x)|2\n";
        assert_eq!(shrunk(text, |_| false), text);
    }

    #[test]
    fn what_always_fails_becomes_empty() {
        assert_eq!(
            shrunk("T1 acq(l); T1 w(x); T1 rel(l); T2 w(x)", |_| true),
            ""
        );
    }
}

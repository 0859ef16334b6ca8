//! The checker says of a compact witness what it says of the same witness spelt out: of true ones,
//! split wherever they can be, and of ones with something changed.

use std::cell::Cell;
use std::hash::{DefaultHasher, Hash, Hasher};

use deadheat_model::{AtomicOrdering, Event, EventNumber, Execution, Op, Strand, Witness};
use deadheat_testing::Trials;
use deadheat_testing::traces::{Shape, on_random_traces, predictable_races, random_trace};
use deadheat_witness::Witnesses;
use fastrand::Rng;

/// How many traces are tried, unless the environment says otherwise.
const TRACES: u64 = 3000;

/// How often the checker accepted and refused.
#[derive(Default, Debug)]
struct Tally {
    accepted: Cell<u32>,
    refused: Cell<u32>,
}

impl Tally {
    /// Whether the checker says the same of a witness and of it spelt out.
    fn same(&self, witnesses: &Witnesses, trace: &Execution, witness: &Witness) -> bool {
        let spelt: Vec<_> = trace.spell_out(witness).collect();
        let (first, second) = match spelt[..] {
            [.., e1, e2] => (e1.min(e2), e1.max(e2)),
            _ => (1, 2),
        };
        let verdict = witnesses.verify_witness(first, second, witness);
        match &verdict {
            Ok(()) => self.accepted.update(|n| n + 1),
            // It names a place of the witness, and who is there.
            Err(refusal) => {
                let there = spelt.get(refusal.position - 1);
                assert!(there.is_none_or(|&there| there == refusal.event));
                self.refused.update(|n| n + 1);
            }
        }
        verdict.is_ok() == witnesses.verify(first, second, &spelt).is_ok()
    }

    /// Tries the witnesses that `some` gives for each trace; shows a small trace if one is judged
    /// differently.
    fn check(
        &self,
        trials: &Trials,
        events: usize,
        some: impl Fn(&Execution, &mut Rng) -> Vec<Witness>,
    ) {
        on_random_traces(
            trials,
            |rng| some_trace(rng, events),
            |trace| {
                let witnesses = Witnesses::new(trace).unwrap();
                let mut hasher = DefaultHasher::new();
                trace.events.hash(&mut hasher);
                let mut rng = Rng::with_seed(hasher.finish());
                let mut some = some(trace, &mut rng).into_iter();
                let differs = some.find(|witness| !self.same(&witnesses, trace, witness));
                differs.map(|witness| format!("{witness:?}"))
            },
        );
    }
}

fn some_trace(rng: &mut Rng, events: usize) -> Execution {
    let shape = Shape {
        reentrant: rng.bool(),
        everything: rng.u32(0..8) == 0,
        joins: rng.choice([0.0, 0.1, 0.3]).unwrap(),
        forks: rng.choice([0.0, 0.3, 0.8]).unwrap(),
        ..Shape::random(rng, events)
    };
    let mut trace = random_trace(rng, &shape);
    if rng.u32(0..4) == 0 {
        make_atomic(rng, &mut trace);
    }
    trace
}

/// Makes some accesses atomic.
fn make_atomic(rng: &mut Rng, trace: &mut Execution) {
    let relaxed = AtomicOrdering::Relaxed;
    for event in &mut trace.events {
        let op = match event.op() {
            Op::Read(x, _) if rng.bool() => Op::AtomicLoad(x, relaxed),
            Op::Write(x) => match rng.u32(0..3) {
                0 => Op::AtomicStore(x, relaxed),
                1 => Op::AtomicUpdate(x, relaxed),
                _ => continue,
            },
            _ => continue,
        };
        *event = Event::new(event.strand(), op, event.site());
    }
}

fn strands(trace: &Execution) -> usize {
    let strands = trace.events.iter().map(|event| event.strand().index());
    strands.max().map_or(0, |last| last + 1)
}

/// Every compact form of a sequence: its beginning in the trace's order, up to any of its events.
fn compact_forms(trace: &Execution, sequence: &[EventNumber]) -> Vec<Witness> {
    let in_order = sequence.windows(2).take_while(|pair| pair[0] < pair[1]);
    let in_order = in_order.count() + usize::from(!sequence.is_empty());
    let mut upto: Vec<_> = (0..strands(trace) as u32)
        .map(|strand| (Strand(strand), 0))
        .collect();
    let mut forms = vec![Witness {
        before: 1,
        upto: upto.clone(),
        then: sequence.to_vec(),
    }];
    for (i, &number) in sequence[..in_order].iter().enumerate() {
        let strand = trace.event(number).unwrap().strand();
        upto[strand.index()].1 = number;
        forms.push(Witness {
            before: number + 1,
            upto: upto.clone(),
            then: sequence[i + 1..].to_vec(),
        });
    }
    forms
}

/// The events before the race, as in the trace; then the race.
fn in_order(mut sequence: Vec<EventNumber>) -> Vec<EventNumber> {
    let race = sequence.len() - 2;
    sequence[..race].sort_unstable();
    sequence
}

/// Changes something.
fn damage(rng: &mut Rng, trace: &Execution, witness: &mut Witness) {
    let Witness { before, upto, then } = witness;
    let events = trace.events.len() as u64;
    match rng.u32(0..9) {
        0 => *before = rng.u64(0..events + 3),
        1 => {
            *before = rng
                .choice([
                    0,
                    before.saturating_sub(1),
                    before.saturating_add(1),
                    u64::MAX,
                ])
                .unwrap()
        }
        2 | 3 => {
            if let Some((_, upto)) = rng.choice(upto) {
                let any = rng.u64(0..events + 3);
                *upto = rng.choice([0, any, u64::MAX]).unwrap();
            }
        }
        4 => {
            upto.pop();
        }
        5 if !then.is_empty() => {
            then.remove(rng.usize(0..then.len()));
        }
        6 => then.insert(rng.usize(0..=then.len()), rng.u64(0..events + 3)),
        7 if !then.is_empty() => {
            let moved = then.remove(rng.usize(0..then.len()));
            then.insert(rng.usize(0..=then.len()), moved);
        }
        _ => then.truncate(rng.usize(0..=then.len())),
    }
}

#[test]
fn a_true_witness_is_accepted_in_every_compact_form() {
    let tally = Tally::default();
    let trials = Trials::new(1, TRACES);
    tally.check(&trials, 14, |trace, _| {
        let races = predictable_races(trace).unwrap().into_values();
        races.flat_map(|race| compact_forms(trace, &race)).collect()
    });
    assert_eq!(tally.refused.get(), 0);
    let accepted = u64::from(tally.accepted.get());
    trials.expect(accepted > trials.count() * 5, format!("{tally:?}"));
}

#[test]
fn a_damaged_witness_is_judged_as_if_spelt_out() {
    let tally = Tally::default();
    let trials = Trials::new(2, TRACES);
    tally.check(&trials, 14, |trace, rng| {
        let races = predictable_races(trace).unwrap().into_values();
        // As they are, and with as much as possible in the trace's order.
        let sequences = races.flat_map(|race| [race.clone(), in_order(race)]);
        let forms = sequences.flat_map(|sequence| compact_forms(trace, &sequence));
        let mut forms: Vec<_> = forms.collect();
        for form in &mut forms {
            for _ in 0..rng.usize(0..3) {
                damage(rng, trace, form);
            }
        }
        forms
    });
    let few = trials.count() as u32 * 2;
    let (accepted, refused) = (tally.accepted.get(), tally.refused.get());
    trials.expect(accepted > few && refused > few, format!("{tally:?}"));
}

/// A cut, and a few events after it: each the next of some strand, mostly.
fn some_witness(rng: &mut Rng, trace: &Execution) -> Witness {
    let events = trace.events.len() as u64;
    let before = rng.u64(1..events + 2);
    let whole = rng.f64();
    let upto = (0..strands(trace) as u32).map(|strand| match rng.f64() < whole {
        true => (Strand(strand), u64::MAX),
        false => (Strand(strand), rng.u64(0..before)),
    });
    let mut witness = Witness {
        before,
        upto: upto.collect(),
        then: Vec::new(),
    };
    let mut done: Vec<_> = trace.spell_out(&witness).collect();
    for _ in 0..rng.usize(0..6) {
        let next = (0..strands(trace)).filter_map(|strand| {
            let mut own = (1..).zip(&trace.events);
            own.find(|(number, event)| event.strand().index() == strand && !done.contains(number))
        });
        let next: Vec<_> = next.map(|(number, _)| number).collect();
        if let Some(number) = rng.choice(next) {
            witness.then.push(number);
            done.push(number);
        }
    }
    witness
}

#[test]
fn any_cut_of_a_longer_trace_is_judged_as_if_spelt_out() {
    let tally = Tally::default();
    let trials = Trials::new(3, TRACES);
    tally.check(&trials, 60, |trace, rng| {
        (0..300).map(|_| some_witness(rng, trace)).collect()
    });
    let few = trials.count() as u32 * 2;
    let (accepted, refused) = (tally.accepted.get(), tally.refused.get());
    trials.expect(accepted > few && refused > few, format!("{tally:?}"));
}

//! The orders told by clocks are those of the definitions, on very many random traces.

use deadheat_model::{AccessKind, Execution, Location};
use deadheat_offline::threads::accesses::{History, Judge};
use deadheat_offline::threads::dc::Dc;
use deadheat_offline::threads::hb::Hb;
use deadheat_offline::threads::partial_order::PartialOrder;
use deadheat_offline::threads::shb::Shb;
use deadheat_offline::threads::wcp::Wcp;
use deadheat_offline::threads::{At, Driver, Lowering};
use deadheat_order::{Epoch, WideClock};
use deadheat_testing::Trials;
use deadheat_testing::traces::definitions::{PartialOrders, Relation};
use deadheat_testing::traces::{
    FIGURE_1A, FIGURE_1B, Shape, on_random_traces, random_trace, trace,
};

/// Notes each access: its number from 0, its epoch, and the clock by which it is checked.
#[derive(Default)]
struct Notes(Vec<(usize, Epoch, WideClock)>);

impl History for Notes {
    fn access(&mut self, clock: &WideClock, at: At, _: Location, _: AccessKind) {
        let epoch = Epoch::new(at.strand, clock.get(at.strand));
        self.0.push((at.number as usize - 1, epoch, clock.clone()));
    }

    fn atomic(&mut self, clock: &WideClock, at: At, x: Location, kind: AccessKind) {
        self.access(clock, at, x, kind);
    }
}

fn notes<P: PartialOrder>(trace: &Execution) -> Vec<(usize, Epoch, WideClock)> {
    let mut judged: Judge<P, _> = Judge::new(&trace.names, Notes::default());
    let mut driver = Driver::new(&trace.names, Lowering::HappensBefore);
    driver.feed(&trace.events, &mut judged).unwrap();
    judged.history.0
}

/// The first pair of accesses of which clocks and definition do not say the same. The definition may
/// depend on which of the two is checked.
fn disagreement<P: PartialOrder>(
    trace: &Execution,
    definition: impl Fn(&PartialOrders, usize) -> Relation,
) -> Option<String> {
    let orders = PartialOrders::new(trace);
    let accesses = notes::<P>(trace);
    for (at, (later, _, clock)) in accesses.iter().enumerate() {
        let by_definition = definition(&orders, *later);
        for (earlier, epoch, _) in &accesses[..at] {
            let by_clocks = clock.covers(*epoch);
            if by_clocks != by_definition.has(*earlier, *later) {
                let (a, b) = (earlier + 1, later + 1);
                return Some(format!("{a} before {b}: clocks say {by_clocks}"));
            }
        }
    }
    None
}

fn compare(salt: u64, disagreement: impl Fn(&Execution) -> Option<String>) {
    let trials = Trials::new(salt, 4000);
    let some_trace = |rng: &mut fastrand::Rng| {
        // Long ones now and then, so that what everybody knows gets forgotten.
        let longest = if rng.u32(..16) == 0 { 110 } else { 40 };
        let shape = Shape {
            everything: rng.u32(..3) == 0,
            ..Shape::nested(rng, longest)
        };
        random_trace(rng, &shape)
    };
    on_random_traces(&trials, some_trace, disagreement);
}

#[test]
fn happens_before_is_as_defined() {
    compare(1, |trace| {
        disagreement::<Hb>(trace, |orders, _| orders.happens_before())
    });
}

#[test]
fn schedulable_happens_before_is_as_defined_but_for_the_read_that_is_checked() {
    compare(2, |trace| {
        disagreement::<Shb>(trace, |orders, checked| orders.schedulable(Some(checked)))
    });
}

#[test]
fn weakly_causally_precedes_is_as_defined() {
    compare(3, |trace| {
        disagreement::<Wcp>(trace, |orders, _| orders.weakly_causally_precedes())
    });
}

#[test]
fn doesnt_commute_is_as_defined() {
    compare(4, |trace| {
        disagreement::<Dc>(trace, |orders, _| orders.doesnt_commute())
    });
}

#[test]
fn each_order_is_within_the_next() {
    // How often one is more than the other: if never, this says nothing.
    let mut more = [0; 3];
    let trials = Trials::new(5, 4000);
    for trial in &trials {
        let mut rng = trial.rng();
        let shape = Shape {
            everything: rng.u32(..3) == 0,
            ..Shape::nested(&mut rng, 40)
        };
        let trace = random_trace(&mut rng, &shape);
        let orders = PartialOrders::new(&trace);
        let chain = [
            orders.doesnt_commute(),
            orders.weakly_causally_precedes(),
            orders.happens_before(),
            orders.schedulable(None),
        ];
        for (pair, more) in chain.windows(2).zip(&mut more) {
            assert!(pair[0].is_within(&pair[1]), "{}", trace);
            *more += usize::from(pair[0] != pair[1]);
        }
    }
    trials.expect(more.iter().all(|more| *more > 0), format!("{more:?}"));
}

/// Whether each order puts one access before another: HB, SHB, WCP, DC. Events from 1, as printed.
fn ordered(text: &str, earlier: usize, later: usize) -> [bool; 4] {
    fn by<P: PartialOrder>(trace: &Execution, earlier: usize, later: usize) -> bool {
        let accesses = notes::<P>(trace);
        let find = |number| accesses.iter().find(|(at, ..)| at + 1 == number).unwrap();
        find(later).2.covers(find(earlier).1)
    }
    let trace = trace(text);
    [
        by::<Hb>(&trace, earlier, later),
        by::<Shb>(&trace, earlier, later),
        by::<Wcp>(&trace, earlier, later),
        by::<Dc>(&trace, earlier, later),
    ]
}

/// Who forks inside a section and joins there, or hands on and waits, holds the lock for the other.
#[test]
fn what_happens_before_a_fork_is_before_the_child_by_wcp() {
    let forked = "T1 acq(l); T1 r(x); T1 rel(l); T2 acq(l); T2 fork(T3); T3 w(x);
        T2 join(T3); T2 rel(l)";
    assert_eq!(ordered(forked, 2, 6), [true, true, true, false]);
    let joined = "T2 acq(l); T2 fork(T3); T3 w(x); T2 join(T3); T2 rel(l);
        T1 acq(l); T1 r(x); T1 rel(l)";
    // Behind the join: nothing comes between its section and the next.
    assert_eq!(ordered(joined, 3, 7), [true, true, true, false]);
    let waited = "T1 acq(l); T1 r(x); T1 rel(l); T2 acq(l); T2 v(s); T3 p(s); T3 w(x);
        T3 post(e); T2 wait(e); T2 rel(l)";
    assert_eq!(ordered(waited, 2, 7), [true, true, true, false]);
}

#[test]
fn m2_figure_1() {
    assert_eq!(ordered(FIGURE_1A, 2, 7), [true; 4]);
    assert_eq!(ordered(FIGURE_1B, 2, 14), [true, true, true, false]);
}

#[test]
fn a_section_of_which_others_know_only_the_inside_is_not_forgotten() {
    for sections_before in 0..20 {
        let mut text = "T0 acq(l); T0 acq(m); T0 rel(m); T0 rel(l); ".repeat(sections_before);
        let first = 4 * sections_before + 1;
        text += "T0 acq(l); T0 acq(m); T0 w(y); T0 rel(m); T1 acq(m); T1 r(y); T1 rel(m);
        T0 w(x); T0 rel(l); ";
        text += "T1 acq(l); T1 rel(l); T1 w(x)";
        assert_eq!(ordered(&text, first + 7, first + 11), [true; 4], "{text}");
    }
}

/// T0 hears back from inside its first section of l. The end of that one is before the end of the next by program order alone,
/// which hands on nothing of what T0 has learnt in between from T2, by a lock that protects nothing.
#[test]
fn a_section_puts_nothing_before_the_next_of_its_own_strand() {
    let text = "T2 w(x); T2 acq(m); T2 rel(m);
        T0 acq(l); T0 post(e); T0 acq(m); T0 rel(m); T0 rel(l);
        T1 wait(e); T1 post(f); T0 wait(f); T0 acq(l); T0 rel(l); T0 w(x)";
    assert_eq!(ordered(text, 1, 14), [true, true, false, false]);
}

#[test]
fn a_location_may_be_protected_by_any_number_of_locks() {
    let locks = 200;
    let mut text = String::new();
    for lock in 0..locks {
        text += &format!("T0 acq(l{lock}); T0 w(x); T0 rel(l{lock}); ");
    }
    for lock in [0, 7, 46, 47, 48, 49, 120, locks - 2] {
        let text = format!("{text}T1 acq(l{lock}); T1 r(x); T1 rel(l{lock})");
        let (same, next, read) = (3 * lock + 2, 3 * lock + 5, 3 * locks + 2);
        assert_eq!(ordered(&text, same, read), [true; 4]);
        assert_eq!(ordered(&text, next, read), [false; 4]);
    }
}

#[test]
fn what_else_orders_threads_does_so_in_every_order() {
    let barrier = "T0 w(x); T0 arrive(b); T1 arrive(b); T1 leave(b); T1 w(x); T0 leave(b)";
    let semaphore = "T0 w(x); T0 v(s); T1 p(s); T1 w(x)";
    let flag = "T0 w(x); T0 post(e); T1 wait(e); T1 w(x)";
    for text in [barrier, semaphore, flag] {
        let second = text.split("; ").position(|line| line == "T1 w(x)").unwrap() + 1;
        assert_eq!(ordered(text, 1, second), [true; 4], "{text}");
    }
    let reader_after_writer = "T0 w(x); T0 acq(l); T0 rel(l); T1 racq(l); T1 r(x); T1 rrel(l)";
    assert_eq!(ordered(reader_after_writer, 1, 5), [true; 4]);
    let writer_after_readers =
        "T0 racq(l); T1 racq(l); T0 r(x); T1 r(x); T0 rrel(l); T1 rrel(l); T2 acq(l);
        T2 w(x)";
    assert_eq!(ordered(writer_after_readers, 3, 8), [true; 4]);
    assert_eq!(ordered(writer_after_readers, 4, 8), [true; 4]);
    // Readers do not order each other, not even by happens-before.
    let readers = "T0 racq(l); T0 w(x); T0 rrel(l); T1 racq(l); T1 r(x); T1 rrel(l)";
    assert_eq!(ordered(readers, 2, 5), [false; 4]);
}

//! The orders told by clocks are those of the definitions, on very many random traces.
//!
//! `DEADHEAT_PROGRAMS` says how many traces to try.

mod naive_orders;
mod thread_traces;

use deadheat_model::{AccessKind, Execution, Location, Lock};
use deadheat_offline::threads::accesses::{History, Judged};
use deadheat_offline::threads::dc::Dc;
use deadheat_offline::threads::hb::Hb;
use deadheat_offline::threads::partial_order::PartialOrder;
use deadheat_offline::threads::shb::Shb;
use deadheat_offline::threads::wcp::Wcp;
use deadheat_offline::threads::{At, Driver, Lowering, ThreadEngine};
use deadheat_order::{Clock, Epoch};

use naive_orders::{Orders, Relation};
use thread_traces::{how_many, random_trace, shown, shrink, trace};

/// Notes each access: its number from 0, its epoch, and the clock by which it is checked.
#[derive(Default)]
struct Notes(Vec<(usize, Epoch, Clock)>);

impl History for Notes {
    fn access(&mut self, clock: &Clock, at: At, _: Location, _: AccessKind) {
        let epoch = Epoch::new(at.strand, clock.get(at.strand));
        self.0.push((at.number as usize - 1, epoch, clock.clone()));
    }
    fn atomic(&mut self, _: &Clock, _: At, _: Location, _: AccessKind) {}
}

fn notes<P: PartialOrder>(trace: &Execution) -> Vec<(usize, Epoch, Clock)> {
    let mut judged: Judged<P, _> = Judged::new(&trace.names, Notes::default());
    let mut driver = Driver::new(&trace.names, Lowering::HappensBefore);
    driver.feed(&trace.events, &mut judged).unwrap();
    judged.history.0
}

/// The first pair of accesses of which clocks and definition do not say the same. The definition may
/// depend on which of the two is checked.
fn disagreement<P: PartialOrder>(
    trace: &Execution,
    definition: impl Fn(&Orders, usize) -> Relation,
) -> Option<String> {
    let orders = Orders::new(&trace.events);
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

/// Whether leaving out events made it a trace that no program can have produced.
fn is_malformed(trace: &Execution) -> bool {
    struct Nothing;
    impl ThreadEngine for Nothing {
        fn read(&mut self, _: At, _: Location) {}
        fn write(&mut self, _: At, _: Location) {}
        fn acquire(&mut self, _: At, _: Lock) {}
        fn release(&mut self, _: At, _: Lock) {}
    }
    let mut driver = Driver::new(&trace.names, Lowering::HappensBefore);
    driver.feed(&trace.events, &mut Nothing).is_err()
}

fn on_random_traces(salt: u64, disagreement: impl Fn(&Execution) -> Option<String>) {
    for seed in 0..how_many() {
        // Long ones now and then, so that what everybody knows gets forgotten.
        let longest = if seed % 16 == 0 { 128 } else { 40 };
        let trace = random_trace(salt << 40 | seed, longest);
        assert!(!is_malformed(&trace), "{}", shown(&trace));
        if disagreement(&trace).is_some() {
            let fails = |less: &Execution| !is_malformed(less) && disagreement(less).is_some();
            let small = shrink(&trace, fails);
            let why = disagreement(&small).unwrap_or_default();
            panic!("seed {seed}:\n{}{why}", shown(&small));
        }
    }
}

#[test]
fn happens_before_is_as_defined() {
    on_random_traces(1, |trace| {
        disagreement::<Hb>(trace, |orders, _| orders.happens_before())
    });
}

#[test]
fn schedulable_happens_before_is_as_defined_but_for_the_read_that_is_checked() {
    on_random_traces(2, |trace| {
        disagreement::<Shb>(trace, |orders, checked| orders.schedulable(Some(checked)))
    });
}

#[test]
fn weakly_causally_precedes_is_as_defined() {
    on_random_traces(3, |trace| {
        disagreement::<Wcp>(trace, |orders, _| orders.weakly_causally_precedes())
    });
}

#[test]
fn doesnt_commute_is_as_defined() {
    on_random_traces(4, |trace| {
        disagreement::<Dc>(trace, |orders, _| orders.doesnt_commute())
    });
}

#[test]
fn each_order_is_within_the_next() {
    // How often one is more than the other: if never, this says nothing.
    let mut more = [0; 3];
    for seed in 0..how_many() {
        let trace = random_trace(5 << 40 | seed, 40);
        let orders = Orders::new(&trace.events);
        let chain = [
            orders.doesnt_commute(),
            orders.weakly_causally_precedes(),
            orders.happens_before(),
            orders.schedulable(None),
        ];
        for (pair, more) in chain.windows(2).zip(&mut more) {
            assert!(pair[0].is_within(&pair[1]), "{}", shown(&trace));
            *more += usize::from(pair[0] != pair[1]);
        }
    }
    assert!(more.iter().all(|more| *more > 0), "{more:?}");
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

const FIGURE_1A: &str = "0 acq l\n0 w x\n0 rel l\n1 acq l\n1 w x\n1 rel l\n1 r x";
const FIGURE_1B: &str = "0 acq k\n0 w x\n0 w y\n0 rel k\n1 acq k\n1 acq l\n1 w z\n1 rel l\n1 w y\n\
                         1 rel k\n2 acq l\n2 r z\n2 rel l\n2 w x";

#[test]
fn m2_figure_1() {
    assert_eq!(ordered(FIGURE_1A, 2, 7), [true; 4]);
    assert_eq!(ordered(FIGURE_1B, 2, 14), [true, true, true, false]);
}

#[test]
fn a_section_of_which_others_know_only_the_inside_is_not_forgotten() {
    for sections_before in 0..20 {
        let mut text = "0 acq l\n0 acq m\n0 rel m\n0 rel l\n".repeat(sections_before);
        let first = 4 * sections_before + 1;
        text += "0 acq l\n0 acq m\n0 w y\n0 rel m\n1 acq m\n1 r y\n1 rel m\n0 w x\n0 rel l\n";
        text += "1 acq l\n1 rel l\n1 w x";
        assert_eq!(ordered(&text, first + 7, first + 11), [true; 4], "{text}");
    }
}

#[test]
fn a_location_may_be_protected_by_any_number_of_locks() {
    let locks = 200;
    let mut text = String::new();
    for lock in 0..locks {
        text += &format!("0 acq l{lock}\n0 w x\n0 rel l{lock}\n");
    }
    for lock in [0, 7, 46, 47, 48, 49, 120, locks - 2] {
        let text = format!("{text}1 acq l{lock}\n1 r x\n1 rel l{lock}");
        let (same, next, read) = (3 * lock + 2, 3 * lock + 5, 3 * locks + 2);
        assert_eq!(ordered(&text, same, read), [true; 4]);
        assert_eq!(ordered(&text, next, read), [false; 4]);
    }
}

#[test]
fn what_else_orders_threads_does_so_in_every_order() {
    let barrier = "0 w x\n0 arrive\n1 arrive\n1 leave\n1 w x\n0 leave";
    let semaphore = "0 w x\n0 v\n1 p\n1 w x";
    let flag = "0 w x\n0 post\n1 wait\n1 w x";
    for text in [barrier, semaphore, flag] {
        let second = text.lines().position(|line| line == "1 w x").unwrap() + 1;
        assert_eq!(ordered(text, 1, second), [true; 4], "{text}");
    }
    let reader_after_writer = "0 w x\n0 acq l\n0 rel l\n1 sacq l\n1 r x\n1 srel l";
    assert_eq!(ordered(reader_after_writer, 1, 5), [true; 4]);
    let writer_after_readers =
        "0 sacq l\n1 sacq l\n0 r x\n1 r x\n0 srel l\n1 srel l\n2 acq l\n2 w x";
    assert_eq!(ordered(writer_after_readers, 3, 8), [true; 4]);
    assert_eq!(ordered(writer_after_readers, 4, 8), [true; 4]);
    // Readers do not order each other, not even by happens-before.
    let readers = "0 sacq l\n0 w x\n0 srel l\n1 sacq l\n1 r x\n1 srel l";
    assert_eq!(ordered(readers, 2, 5), [false; 4]);
}

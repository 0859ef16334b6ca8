//! What the methods for threads report, end to end, is what their definitions say, on very many random
//! traces; and of what they promise, what brute force can check.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use deadheat_model::{
    Event, EventNumber, Execution, Findings, Location, Lock, Op, Race, ReadKind, Site, StopToken,
    Strand,
};
use deadheat_offline::threads::accesses::{Finder, Judge};
use deadheat_offline::threads::dc::Dc;
use deadheat_offline::threads::eraser::Eraser;
use deadheat_offline::threads::exposure::Exposure;
use deadheat_offline::threads::fasttrack::FastTrack;
use deadheat_offline::threads::hb::Hb;
use deadheat_offline::threads::pairs::Pairs;
use deadheat_offline::threads::partial_order::PartialOrder;
use deadheat_offline::threads::picked::{feed_picked, feed_window};
use deadheat_offline::threads::shb::Shb;
use deadheat_offline::threads::vector_clocks::VectorClocks;
use deadheat_offline::threads::wcp::Wcp;
use deadheat_offline::threads::{
    Driver, Lowering, ThreadEngine, dc, eraser, fasttrack, hb, shb, wcp,
};
use deadheat_offline::{ENGINES, Engine, Listing, Options, Recording, m2};
use deadheat_testing::Trials;
use deadheat_testing::traces::definitions::{PartialOrders, Relation, sections};
use deadheat_testing::traces::{Shape, on_random_traces, predictable_races, random_trace, trace};
use deadheat_witness::Witnesses;
use fixedbitset::FixedBitSet;

type Pair = (EventNumber, EventNumber);
type Places = (Site, Site);

/// A small trace of accesses, locks, forks and joins. Some have no fork, some several strands that nobody
/// forked, in some the first is alone for a while; locks may be taken again, and given back hand over hand.
fn some_trace(rng: &mut fastrand::Rng, longest: usize) -> Execution {
    let shape = Shape {
        forks: rng.choice([0.0, 0.5, 1.0]).unwrap(),
        joins: rng.choice([0.0, 0.0, 0.2]).unwrap(),
        reentrant: rng.u8(..3) == 0,
        ..Shape::random(rng, longest)
    };
    let mut trace = random_trace(rng, &shape);
    let alone = rng.choice([0, 0, 1, 3]).unwrap();
    for _ in 0..alone {
        let location = Location(rng.u64(..shape.locations as u64));
        let op = match rng.bool() {
            true => Op::Write(location),
            false => Op::Read(location, ReadKind::Data),
        };
        trace
            .events
            .insert(0, Event::new(Strand::MAIN, op, Site(0)));
    }
    let places = rng.u32(2..=longest as u32);
    for (event, number) in trace.events.iter_mut().zip(0..) {
        *event = Event::new(event.strand(), event.op(), Site(number % places));
    }
    trace
}

/// Looks for what is wrong with random traces, and shows a small one.
fn compare(salt: u64, longest: usize, problem: impl Fn(&Execution) -> Option<String>) -> Trials {
    let trials = Trials::new(salt, 4000);
    on_random_traces(&trials, |rng| some_trace(rng, longest), problem);
    trials
}

/// Says what differs, if anything does.
fn differs<T: PartialEq + std::fmt::Debug>(what: &str, found: T, expected: T) -> Option<String> {
    (found != expected).then(|| format!("{what}: {found:?} instead of {expected:?}"))
}

fn options(all_pairs: bool) -> Options {
    Options {
        listing: match all_pairs {
            true => Listing::Pairs,
            false => Listing::Places,
        },
        complete: None,
    }
}

fn analyze(engine: &Engine, trace: &Execution, all_pairs: bool) -> Findings {
    let recording = Recording::InMemory(trace);
    engine.ask(recording, &options(all_pairs)).unwrap()
}

fn pair(race: &Race) -> Pair {
    (race.first.event, race.second.event)
}

fn pairs(analysis: &Findings) -> BTreeSet<Pair> {
    analysis
        .races
        .iter()
        .map(|shown| pair(&shown.race))
        .collect()
}

fn places(trace: &Execution, (first, second): Pair) -> Places {
    let site = |number| trace.event(number).unwrap().site();
    let (a, b) = (site(first), site(second));
    (a.min(b), a.max(b))
}

fn location(trace: &Execution, (first, _): Pair) -> Location {
    trace.event(first).unwrap().access().unwrap().location
}

fn locations(trace: &Execution, pairs: &BTreeSet<Pair>) -> BTreeSet<Location> {
    pairs.iter().map(|pair| location(trace, *pair)).collect()
}

/// The pairs of conflicting accesses of different strands.
fn conflicting(trace: &Execution) -> impl Iterator<Item = Pair> {
    let n = trace.events.len() as EventNumber;
    let all = (1..=n).flat_map(move |b| (1..b).map(move |a| (a, b)));
    all.filter(|&(a, b)| {
        let (one, other) = (trace.event(a).unwrap(), trace.event(b).unwrap());
        let accesses = (one.access(), other.access());
        one.strand() != other.strand()
            && matches!(accesses, (Some(one), Some(other)) if one.conflicts_with(&other))
    })
}

/// The pairs that an order leaves unordered; it may depend on which event is checked.
fn unordered(
    trace: &Execution,
    order: impl Fn(&PartialOrders, usize) -> Relation,
) -> BTreeSet<Pair> {
    let orders = PartialOrders::new(trace);
    let by_second: Vec<Relation> = (0..trace.events.len())
        .map(|event| order(&orders, event))
        .collect();
    conflicting(trace)
        .filter(|&(a, b)| !by_second[b as usize - 1].has(a as usize - 1, b as usize - 1))
        .collect()
}

/// The pairs that a method is defined to find.
fn defined(engine: &Engine, trace: &Execution) -> BTreeSet<Pair> {
    let fixed = |order: Relation| unordered(trace, |_, _| order.clone());
    let orders = PartialOrders::new(trace);
    match engine.name {
        "hb" | "fasttrack" => fixed(orders.happens_before()),
        "shb" => unordered(trace, |orders, checked| orders.schedulable(Some(checked))),
        "wcp" => fixed(orders.weakly_causally_precedes()),
        "dc" => fixed(orders.doesnt_commute()),
        _ => unreachable!("no order"),
    }
}

/// Whether a race says of its events what they are.
fn is_described(trace: &Execution, race: &Race) -> bool {
    [race.first, race.second].iter().all(|said| {
        let event = trace.event(said.event).unwrap();
        let access = event.access().unwrap();
        (said.strand, said.site, said.kind) == (event.strand(), event.site(), access.kind)
            && access.location == race.location
    })
}

/// What is wrong with a list of races, by places, of which these are all.
fn wrong_by_places(trace: &Execution, found: &Findings, all: &BTreeSet<Pair>) -> Option<String> {
    let mut expected: BTreeMap<Places, u64> = BTreeMap::new();
    for &pair in all {
        *expected.entry(places(trace, pair)).or_default() += 1;
    }
    let races = found.races.iter().map(|shown| shown.race);
    let counts: Vec<_> = races
        .clone()
        .map(|race| (places(trace, pair(&race)), race.count))
        .collect();
    let mut sorted = counts.clone();
    sorted.sort_unstable();
    let expected: Vec<_> = expected.into_iter().collect();
    let strange = races.clone().find(|race| !all.contains(&pair(race)));
    differs("by places", sorted, expected)
        .or_else(|| strange.map(|race| format!("{race:?} is listed")))
        .or_else(|| wrong_in_any_list(trace, found, all))
}

/// What is wrong with all races that are listed, or with what is said of them.
fn wrong_in_any_list(trace: &Execution, found: &Findings, all: &BTreeSet<Pair>) -> Option<String> {
    let races = || found.races.iter().map(|shown| &shown.race);
    if let Some(race) = races().find(|race| !is_described(trace, race)) {
        return Some(format!("{race:?} is something else"));
    }
    if !races().is_sorted_by_key(Race::key) {
        return Some("the order of the list".to_string());
    }
    if !found.all_listed || !found.counted {
        return Some("said not to be complete".to_string());
    }
    let racy = locations(trace, all).into_iter().collect::<Vec<_>>();
    differs("locations", &found.racy, &racy)
}

#[test]
fn methods_that_are_orders_report_exactly_what_these_leave_unordered() {
    let (races, together) = (Cell::new(0), Cell::new(0));
    let trials = compare(1, 40, |trace| {
        for engine in [&hb::ENGINE, &fasttrack::ENGINE, &shb::ENGINE, &wcp::ENGINE] {
            let expected = defined(engine, trace);
            let name = engine.name;
            let all = analyze(engine, trace, true);
            let wrong = differs(name, pairs(&all), expected.clone())
                .or_else(|| differs(name, all.races.len(), expected.len()))
                .or_else(|| {
                    all.races
                        .iter()
                        .any(|r| r.race.count != 1)
                        .then(|| "counts".into())
                })
                .or_else(|| wrong_in_any_list(trace, &all, &expected));
            let by_places = analyze(engine, trace, false);
            let wrong = wrong.or_else(|| wrong_by_places(trace, &by_places, &expected));
            if wrong.is_some() {
                return wrong.map(|wrong| format!("{name}: {wrong}"));
            }
            races.set(races.get() + expected.len() as u64);
            let grouped = expected.len() - by_places.races.len();
            together.set(together.get() + grouped as u64);
        }
        None
    });
    println!("{} races, {} behind others", races.get(), together.get());
    trials.expect(
        races.get() > 20 * trials.count() && together.get() > trials.count(),
        format!("{} races, {} together", races.get(), together.get()),
    );
}

#[test]
fn hb_and_fasttrack_say_the_same() {
    // Besides: longer than the definitions can be computed for.
    compare(2, 300, |trace| {
        for all_pairs in [true, false] {
            let [hb, fasttrack] = [&hb::ENGINE, &fasttrack::ENGINE]
                .map(|engine| format!("{:?}", analyze(engine, trace, all_pairs)));
            if hb != fasttrack {
                return Some(format!("{hb} or {fasttrack}"));
            }
        }
        None
    });
}

fn set(bits: &FixedBitSet) -> BTreeSet<Location> {
    bits.ones().map(|x| Location(x as u64)).collect()
}

fn fed<E: ThreadEngine>(trace: &Execution, mut engine: E) -> E {
    let mut driver = Driver::new(&trace.names, Lowering::Preserved);
    driver.feed(&trace.events, &mut engine).unwrap();
    engine
}

/// What the two finders say, which methods ask only if there is much to compare.
fn found_first<O: PartialOrder>(trace: &Execution) -> [BTreeSet<Location>; 2] {
    let names = &trace.names;
    let epochs: Judge<O, _> = Judge::new(names, FastTrack::new(names.locations.len()));
    let clocks: Judge<O, _> = Judge::new(names, VectorClocks::new(names));
    [
        set(&fed(trace, epochs).history.suspects()),
        set(&fed(trace, clocks).history.suspects()),
    ]
}

#[test]
fn epochs_and_clocks_find_exactly_the_locations_that_race() {
    let (racy, quiet) = (Cell::new(0), Cell::new(0));
    let trials = compare(3, 40, |trace| {
        let found = [
            (&hb::ENGINE, found_first::<Hb>(trace)),
            (&shb::ENGINE, found_first::<Shb>(trace)),
            (&wcp::ENGINE, found_first::<Wcp>(trace)),
            (&dc::ENGINE, found_first::<Dc>(trace)),
        ];
        for (engine, [epochs, clocks]) in found {
            let expected = locations(trace, &defined(engine, trace));
            racy.set(racy.get() + expected.len());
            quiet.set(quiet.get() + trace.names.locations.len() - expected.len());
            let wrong = differs("epochs", epochs, expected.clone())
                .or_else(|| differs("clocks", clocks, expected));
            if let Some(wrong) = wrong {
                return Some(format!("{}: {wrong}", engine.name));
            }
        }
        None
    });
    println!("{} locations race, {} do not", racy.get(), quiet.get());
    let many = trials.count() as usize;
    trials.expect(
        racy.get() > many && quiet.get() > many,
        format!("{} racy, {} quiet", racy.get(), quiet.get()),
    );
}

/// Without the accesses of some locations; and for each event that is left, its number.
fn without(trace: &Execution, locations: &BTreeSet<Location>) -> (Execution, Vec<EventNumber>) {
    let kept = (1..).zip(&trace.events).filter(|(_, event)| {
        let access = event.access();
        access.is_none_or(|access| !locations.contains(&access.location))
    });
    let (numbers, events) = kept.map(|(number, event)| (number, *event)).unzip();
    let names = trace.names.clone();
    (Execution { events, names }, numbers)
}

#[test]
fn what_is_not_exposed_does_not_race_and_what_is_not_shared_does_not_matter() {
    let (hidden, unshared) = (Cell::new(0), Cell::new(0));
    let trials = compare(4, 16, |trace| {
        let exposed = fed(trace, Exposure::new(&trace.names)).finish();
        let (shared, exposed) = (set(&exposed.shared), set(&exposed.exposed));
        let truth: BTreeSet<Pair> = predictable_races(trace).unwrap().into_keys().collect();
        let by_dc = defined(&dc::ENGINE, trace);
        for (what, pairs) in [("dc", &by_dc), ("brute force", &truth)] {
            let racy = locations(trace, pairs);
            if !racy.is_subset(&exposed) {
                return Some(format!(
                    "{exposed:?} are exposed, and by {what} {racy:?} race"
                ));
            }
        }
        if !exposed.is_subset(&shared) {
            return Some(format!(
                "{exposed:?} are exposed, but shared are {shared:?}"
            ));
        }
        let all = (0..trace.names.locations.len() as u64).map(Location);
        let private: BTreeSet<_> = all.filter(|x| !shared.contains(x)).collect();
        let (less, numbers) = without(trace, &private);
        let again = predictable_races(&less).unwrap().into_keys();
        let number = |n: EventNumber| numbers[n as usize - 1];
        let again: BTreeSet<Pair> = again.map(|(a, b)| (number(a), number(b))).collect();
        hidden.set(hidden.get() + shared.len() - exposed.len());
        unshared.set(unshared.get() + private.len());
        differs("races without what is not shared", again, truth)
    });
    println!("{} protected, {} not shared", hidden.get(), unshared.get());
    let few = trials.count() as usize / 100;
    trials.expect(
        hidden.get() > few && unshared.get() > few,
        format!("{} protected, {} not shared", hidden.get(), unshared.get()),
    );
}

#[test]
fn what_a_lone_first_strand_did_is_exposed_only_if_somebody_does_not_come_from_it() {
    let exposed = |text: &str| {
        let trace = trace(text);
        let exposed = fed(&trace, Exposure::new(&trace.names)).finish();
        [exposed.shared, exposed.exposed].map(|set| set.contains(0))
    };
    assert_eq!(exposed("T0 w(x); T0 fork(T1); T1 r(x)"), [false; 2]);
    assert_eq!(exposed("T0 w(x); T0 fork(T1); T2 w(y); T1 r(x)"), [true; 2]);
    assert_eq!(exposed("T0 w(x); T0 fork(T1); T1 w(x); T0 r(x)"), [true; 2]);
    assert_eq!(exposed("T0 w(x); T1 r(x)"), [true; 2]);
    assert_eq!(exposed("T0 r(x); T1 r(x)"), [false; 2]);
    // Taken again, the lock is still held after one release; and hand over hand, one is held at each.
    let again = "T0 fork(T1); T0 acq(l); T0 acq(l); T0 rel(l); T0 w(x); T0 rel(l); T1 acq(l);
        T1 w(x); T1 rel(l)";
    assert_eq!(exposed(again), [true, false]);
    let over = "T0 fork(T1); T0 acq(l); T0 acq(m); T0 rel(l); T0 w(x); T0 rel(m); T1 acq(m);
        T1 w(x); T1 rel(m)";
    assert_eq!(exposed(over), [true, false]);
    let lost = "T0 fork(T1); T0 acq(l); T0 acq(m); T0 rel(l); T0 w(x); T0 rel(m); T1 acq(l);
        T1 w(x); T1 rel(l)";
    assert_eq!(exposed(lost), [true, true]);
}

/// The pairs with the first second event.
fn first(pairs: &BTreeSet<Pair>) -> BTreeSet<Pair> {
    let second = pairs.iter().map(|(_, second)| *second).min();
    let pairs = pairs.iter().copied();
    pairs.filter(|(_, b)| Some(*b) == second).collect()
}

#[test]
fn what_methods_promise_holds_by_brute_force() {
    let (real, unreal, only_m2) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let trials = compare(5, 16, |trace| {
        let truth: BTreeSet<Pair> = predictable_races(trace).unwrap().into_keys().collect();
        let [hb, shb, wcp, dc, m2] = [
            &hb::ENGINE,
            &shb::ENGINE,
            &wcp::ENGINE,
            &dc::ENGINE,
            &m2::ENGINE,
        ]
        .map(|engine| analyze(engine, trace, true));
        let racy = Pairs::new(all_locations(trace), Listing::Pairs, usize::MAX);
        let judged: Judge<Dc, _> = Judge::new(&trace.names, racy);
        let unvindicated = fed(trace, judged).history.found(0).races;
        let unvindicated = unvindicated.iter().map(|found| pair(&found.race));
        let unvindicated: BTreeSet<Pair> = unvindicated.collect();
        let witnesses = Witnesses::new(trace).unwrap();
        for shown in dc.races.iter().chain(&m2.races) {
            let (a, b) = pair(&shown.race);
            let refusal = witnesses.verify_witness(a, b, shown.witness.as_ref().unwrap());
            if let Err(refusal) = refusal {
                return Some(format!("({a}, {b}): {refusal}"));
            }
        }
        let (hb, shb, wcp) = (pairs(&hb), pairs(&shb), pairs(&wcp));
        let open: BTreeSet<Pair> = dc.undecided.iter().map(pair).collect();
        let (dc, m2) = (pairs(&dc), pairs(&m2));
        unreal.set(unreal.get() + hb.difference(&truth).count());
        real.set(real.get() + shb.len());
        only_m2.set(only_m2.get() + m2.difference(&unvindicated).count());
        let within = [
            ("hb in wcp", &hb, &wcp),
            ("wcp in dc", &wcp, &unvindicated),
            ("dc is all that is unordered", &unvindicated, &(&dc | &open)),
            (
                "dc says only what is unordered",
                &(&dc | &open),
                &unvindicated,
            ),
            ("hb's first is real", &first(&hb), &truth),
            ("shb is real", &shb, &truth),
            ("dc is real", &dc, &truth),
            ("m2 is real", &m2, &truth),
            ("shb in m2", &shb, &m2),
        ];
        let wrong = within
            .into_iter()
            .find(|(_, few, many)| !few.is_subset(many));
        let wrong = wrong.map(|(what, few, many)| format!("{what}: {few:?} in {many:?}"));
        let by_places = analyze(&hb::ENGINE, trace, false).races;
        let listed = by_places.first().map(|shown| pair(&shown.race));
        let is_first = listed.is_none_or(|listed| first(&hb).contains(&listed));
        wrong.or_else(|| (!is_first).then(|| format!("{listed:?} is not hb's first")))
    });
    println!(
        "{} shb races, all real; {} of hb unreal; {} of m2 ordered by dc",
        real.get(),
        unreal.get(),
        only_m2.get()
    );
    let few = trials.count() as usize / 100;
    trials.expect(
        real.get() > few && unreal.get() > few && only_m2.get() > few,
        format!("{} {} {}", real.get(), unreal.get(), only_m2.get()),
    );
}

fn all_locations(trace: &Execution) -> FixedBitSet {
    let mut all = FixedBitSet::with_capacity(trace.names.locations.len());
    all.insert_range(..);
    all
}

/// The locks that are held at each event.
fn locks_held(trace: &Execution) -> Vec<BTreeSet<Lock>> {
    let mut held = vec![BTreeSet::new(); trace.events.len()];
    for section in sections(&trace.events) {
        for &event in &section.events {
            held[event].insert(section.lock);
        }
    }
    held
}

/// The states of a variable in the paper.
#[derive(Clone)]
enum State {
    Virgin,
    Exclusive(Strand),
    Shared,
    SharedModified,
}

/// Which variables Eraser warns about, as the paper has it: the candidate set starts as all locks, and is
/// refined, from the first access of a second thread on, with the locks of whoever accesses.
fn warned_about(trace: &Execution) -> BTreeSet<Location> {
    let all: BTreeSet<Lock> = (0..trace.names.locks.len() as u64).map(Lock).collect();
    let held = locks_held(trace);
    let mut variables = vec![(State::Virgin, all); trace.names.locations.len()];
    let mut warned = BTreeSet::new();
    for (event, held) in trace.events.iter().zip(held) {
        let Some(access) = event.access() else {
            continue;
        };
        let writes = matches!(event.op(), Op::Write(_));
        let (state, candidates) = &mut variables[access.location.index()];
        *state = match (state.clone(), writes) {
            (State::Virgin, _) => State::Exclusive(event.strand()),
            (State::Exclusive(owner), _) if owner == event.strand() => State::Exclusive(owner),
            (State::Exclusive(_), true) => State::SharedModified,
            (State::Exclusive(_), false) => State::Shared,
            (State::Shared, true) => State::SharedModified,
            (State::Shared, false) => State::Shared,
            (State::SharedModified, _) => State::SharedModified,
        };
        if matches!(state, State::Shared | State::SharedModified) {
            *candidates = &*candidates & &held;
        }
        if matches!(state, State::SharedModified) && candidates.is_empty() {
            warned.insert(access.location);
        }
    }
    warned
}

/// Eraser reports the variables of the paper, but for those of which it has no pair to show because any two
/// accesses have a lock in common.
#[test]
fn eraser_is_that_of_the_paper_where_two_accesses_have_no_lock_in_common() {
    let (warnings, pairwise) = (Cell::new(0), Cell::new(0));
    let trials = compare(6, 40, |trace| {
        let warned = warned_about(trace);
        let engine = set(&fed(trace, Eraser::new(&trace.names)).suspects());
        let wrong = differs("locations that Eraser warns about", &engine, &warned);
        let held = locks_held(trace);
        let unprotected: BTreeSet<Pair> = conflicting(trace)
            .filter(|pair| warned.contains(&location(trace, *pair)))
            .filter(|&(a, b)| held[a as usize - 1].is_disjoint(&held[b as usize - 1]))
            .collect();
        warnings.set(warnings.get() + warned.len());
        let shown = locations(trace, &unprotected).len();
        pairwise.set(pairwise.get() + warned.len() - shown);
        let found = analyze(&eraser::ENGINE, trace, false);
        wrong.or_else(|| wrong_by_places(trace, &found, &unprotected))
    });
    println!(
        "{} warnings, {} without a pair",
        warnings.get(),
        pairwise.get()
    );
    trials.expect(
        warnings.get() > trials.count() as usize && pairwise.get() > 0,
        format!(
            "{} warnings, {} without a pair",
            warnings.get(),
            pairwise.get()
        ),
    );
}

/// Long, and with few races: every location has its lock, which is forgotten now and then.
fn long_trace(events: usize) -> Execution {
    let mut rng = fastrand::Rng::with_seed(1);
    let (strands, objects) = (6, 40);
    let mut trace = Execution::default();
    let names = |n: usize| (0..n).map(|n| format!("n{n}")).collect();
    trace.names.strands = names(strands);
    trace.names.locations = names(objects);
    trace.names.locks = names(objects);
    trace.names.sites = names(30);
    let mut push = |strand: usize, op, site| {
        let event = Event::new(Strand(strand as u32), op, Site(site));
        trace.events.push(event);
        trace.events.len()
    };
    (1..strands).for_each(|child| {
        push(0, Op::Fork(Strand(child as u32)), 0);
    });
    let mut done = 0;
    while done < events {
        let (strand, object) = (rng.usize(..strands), rng.u64(..objects as u64));
        let (x, lock) = (Location(object), Lock(object));
        let forgotten = rng.u32(..4000) == 0;
        let access = match rng.bool() {
            true => Op::Read(x, ReadKind::Data),
            false => Op::Write(x),
        };
        if !forgotten {
            push(strand, Op::Acquire(lock), 1);
        }
        done = push(strand, access, rng.u32(2..30));
        if !forgotten {
            done = push(strand, Op::Release(lock), 1);
        }
    }
    trace
}

#[test]
fn a_trace_on_disk_is_judged_as_one_in_memory() {
    let directory = tempfile::tempdir().unwrap();
    let long = long_trace(100_000);
    let mut rng = fastrand::Rng::with_seed(7);
    let traces = (0..40).map(|_| some_trace(&mut rng, 100));
    for (number, trace) in traces.chain([long]).enumerate() {
        let path = directory.path().join(format!("{number}.dht"));
        deadheat_trace::save(&path, &trace).unwrap();
        let source = deadheat_trace::open(&path).unwrap();
        let all_pairs = number % 2 == 1;
        for engine in ENGINES.iter().filter(|engine| !engine.in_memory) {
            let on_disk = engine.ask(Recording::OnDisk(&source), &options(all_pairs));
            let in_memory = analyze(engine, &trace, all_pairs);
            let name = engine.name;
            assert!(!in_memory.races.is_empty() || number < 40, "{name}");
            let texts = [in_memory, on_disk.unwrap()].map(|found| format!("{found:?}"));
            assert_eq!(texts[0], texts[1], "{name}, trace {number}");
        }
    }
}

/// One strand after the other does much, without locks, and the first one in between, once in so many events.
fn much_to_compare(once_in: u32) -> Execution {
    let mut rng = fastrand::Rng::with_seed(2);
    let (children, objects) = (6, 200);
    let mut trace = Execution::default();
    trace.names.strands = vec![String::new(); children + 1];
    trace.names.locations = vec![String::new(); objects];
    let mut push = |strand: u32, op, site| {
        let event = Event::new(Strand(strand), op, Site(site));
        trace.events.push(event);
    };
    for child in 1..=children as u32 {
        push(0, Op::Fork(Strand(child)), 0);
        for _ in 0..60_000 {
            let strand = if rng.u32(..once_in) == 0 { 0 } else { child };
            let x = Location(rng.u64(..objects as u64));
            let op = match rng.bool() {
                true => Op::Read(x, ReadKind::Data),
                false => Op::Write(x),
            };
            push(strand, op, rng.u32(1..6));
        }
        push(0, Op::Join(Strand(child)), 0);
    }
    trace
}

/// If there is much to compare, methods first find the locations that race, if these are not nearly all: only these are
/// compared pair by pair. And each half of the locations is looked at by itself. All with the same result.
#[test]
fn finding_the_locations_first_and_by_halves_changes_nothing() {
    fn told(found: &Findings) -> String {
        let races: Vec<Race> = found.races.iter().map(|shown| shown.race).collect();
        format!("{races:?} {:?} {}", found.racy, found.all_listed)
    }
    fn at_once<O: PartialOrder>(trace: &Execution, all_pairs: bool, racy: &Range<usize>) -> String {
        let pairs = match all_pairs {
            true => Pairs::new(all_locations(trace), Listing::Pairs, usize::MAX),
            false => Pairs::new(all_locations(trace), Listing::Places, 1),
        };
        let judged: Judge<O, _> = Judge::new(&trace.names, pairs);
        let found = fed(trace, judged).history.found(0);
        assert!(racy.contains(&found.racy.len()), "{}", found.racy.len());
        told(&found)
    }
    for (once_in, racy, all_pairs) in [
        (20_000, 1..100, false),
        (20_000, 1..100, true),
        (200, 190..201, false),
    ] {
        let trace = much_to_compare(once_in);
        for (engine, expected) in [
            (&hb::ENGINE, at_once::<Hb>(&trace, all_pairs, &racy)),
            (&fasttrack::ENGINE, at_once::<Hb>(&trace, all_pairs, &racy)),
            (&shb::ENGINE, at_once::<Shb>(&trace, all_pairs, &racy)),
            (&wcp::ENGINE, at_once::<Wcp>(&trace, all_pairs, &racy)),
        ] {
            let found = told(&analyze(engine, &trace, all_pairs));
            assert!(found == expected, "{} {all_pairs}", engine.name);
        }
    }
}

/// Traces on disk are fed window by window only if they are too long to be kept, longer than a test should
/// be: so this is about the feeding alone.
#[test]
fn feeding_by_windows_is_feeding_at_once() {
    let trace = long_trace(70_000);
    let only = FixedBitSet::from_iter((0..40).filter(|x| x % 3 > 0));
    let judged = || {
        Judge::<Hb, _>::new(
            &trace.names,
            Pairs::new(only.clone(), Listing::Pairs, usize::MAX),
        )
    };
    let never = StopToken::default();
    let at_once = {
        let mut driver = Driver::new(&trace.names, Lowering::Preserved);
        let mut judged = judged();
        let told = feed_picked(
            &trace.events,
            &only,
            &mut driver,
            &mut judged,
            never,
            |_| {},
        );
        assert!(told.unwrap().is_continue());
        judged.history.found(0)
    };
    for length in [1, 777, 1 << 16] {
        let mut driver = Driver::new(&trace.names, Lowering::Preserved);
        let mut judged = judged();
        let mut next = 1;
        for window in trace.events.chunks(length) {
            let told = feed_window(window, next, &only, &mut driver, &mut judged, never);
            assert!(told.unwrap().is_continue());
            next += window.len() as EventNumber;
        }
        let found = judged.history.found(0);
        assert!(!found.races.is_empty());
        assert_eq!(format!("{found:?}"), format!("{at_once:?}"));
    }
}

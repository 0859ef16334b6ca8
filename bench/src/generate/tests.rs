use std::collections::{BTreeMap, BTreeSet};

use deadheat_model::{Access, Event, Location, Op, Site};
use fastrand::Rng;

use super::{Shape, ShapeError, generate};
use crate::presets::{PRESETS, Preset};

const SHAPE: Shape = Shape {
    events: 300_000,
    threads: 6,
    variables: 20_000,
    locks: 100,
    sites: 500,
    nesting: 3,
    sync_share: 0.1,
    read_share: 0.66,
    racy_share: 0.01,
    seed: 1,
};

fn events(shape: Shape) -> Vec<Event> {
    generate(shape).expect("a possible shape").collect()
}

/// Any shape in which every thread has something to do: a variable of its own, for instance.
fn random_shape(rng: &mut Rng) -> Shape {
    let threads = rng.u32(1..=8);
    let events = rng.u64(60..3_000);
    Shape {
        events,
        threads,
        variables: rng.u64(30..=60) * rng.u64(1..=events / 60),
        locks: rng.u32(..=10),
        sites: rng.u32(1..=60),
        nesting: rng.u32(1..=5),
        sync_share: rng.f64() * 0.5,
        read_share: rng.f64(),
        racy_share: rng.f64() * 0.2,
        seed: rng.u64(..),
    }
}

/// What is wrong with a trace.
fn fault(shape: &Shape, events: &[Event]) -> Option<String> {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        Unknown,
        Running,
        Joined,
    }
    let mut states = vec![State::Unknown; shape.threads as usize];
    states[0] = State::Running;
    let mut holders = vec![None; shape.locks as usize];
    for (n, event) in events.iter().enumerate() {
        let thread = event.strand().index();
        let right = event.site().0 < shape.sites
            && states.get(thread) == Some(&State::Running)
            && match event.op() {
                Op::Read(x, _) | Op::Write(x) => x.0 < shape.variables,
                Op::Acquire(lock) => {
                    lock.0 < shape.locks.into() && holders[lock.index()].replace(thread).is_none()
                }
                Op::Release(lock) => {
                    lock.0 < shape.locks.into() && holders[lock.index()].take() == Some(thread)
                }
                Op::Fork(child) => {
                    let before = std::mem::replace(&mut states[child.index()], State::Running);
                    before == State::Unknown
                }
                Op::Join(child) => {
                    let before = std::mem::replace(&mut states[child.index()], State::Joined);
                    before == State::Running && !holders.contains(&Some(child.index()))
                }
                _ => false,
            };
        if !right {
            return Some(format!("event {}: {event:?}", n + 1));
        }
    }
    let left = holders.iter().any(Option::is_some) || states.contains(&State::Unknown);
    let running = states.iter().filter(|&&state| state == State::Running);
    (left || running.count() != 1).then(|| "something is left to do".to_string())
}

/// Which events are taken to be ordered: those in the order of their threads, of forks and joins, and
/// of a write and what follows a read of it; and perhaps more.
#[derive(Clone, Copy, PartialEq)]
enum Order {
    /// No more: these are in this order in every reordering in which reads see what they saw.
    Always,
    /// Also a release and the acquires that follow: what is not ordered then is a race.
    WithLocks,
}

/// A vector clock for each thread, and the pairs of accesses they do not order, by their sites.
/// Pairs in sections of the same lock are left out. Quadratic in the accesses of a variable.
fn unordered(shape: &Shape, events: &[Event], order: Order) -> BTreeSet<(Site, Site)> {
    struct Past {
        access: Access,
        site: Site,
        thread: usize,
        time: usize,
        held: BTreeSet<u64>,
    }
    let threads = shape.threads as usize;
    let mut clocks = vec![vec![0; threads]; threads];
    let mut held = vec![BTreeSet::new(); threads];
    let mut releases: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    let mut writes: BTreeMap<Location, Vec<usize>> = BTreeMap::new();
    let mut past: BTreeMap<Location, Vec<Past>> = BTreeMap::new();
    let mut found = BTreeSet::new();
    let join = |clock: &mut Vec<usize>, other: &[usize]| {
        for (mine, other) in clock.iter_mut().zip(other) {
            *mine = (*mine).max(*other);
        }
    };
    for event in events {
        let thread = event.strand().index();
        clocks[thread][thread] += 1;
        if let Some(access) = event.access() {
            let past = past.entry(access.location).or_default();
            for earlier in &*past {
                let racy = earlier.access.conflicts_with(&access)
                    && earlier.thread != thread
                    && clocks[thread][earlier.thread] < earlier.time
                    && earlier.held.is_disjoint(&held[thread]);
                if racy {
                    found.insert((
                        earlier.site.min(event.site()),
                        earlier.site.max(event.site()),
                    ));
                }
            }
            past.push(Past {
                access,
                site: event.site(),
                thread,
                time: clocks[thread][thread],
                held: held[thread].clone(),
            });
        }
        match event.op() {
            Op::Acquire(lock) => {
                held[thread].insert(lock.0);
                if order == Order::WithLocks
                    && let Some(release) = releases.get(&lock.0)
                {
                    join(&mut clocks[thread], release);
                }
            }
            Op::Release(lock) => {
                held[thread].remove(&lock.0);
                releases.insert(lock.0, clocks[thread].clone());
            }
            Op::Fork(child) => clocks[child.index()] = clocks[thread].clone(),
            Op::Join(child) => {
                let child = clocks[child.index()].clone();
                join(&mut clocks[thread], &child);
            }
            Op::Write(x) => drop(writes.insert(x, clocks[thread].clone())),
            Op::Read(x, _) => {
                if let Some(write) = writes.get(&x) {
                    join(&mut clocks[thread], write);
                }
            }
            _ => {}
        }
    }
    found
}

#[test]
fn traces_are_well_formed_and_as_long_as_asked() {
    let mut rng = Rng::with_seed(1);
    for _ in 0..500 {
        let shape = random_shape(&mut rng);
        let events = events(shape);
        assert_eq!(fault(&shape, &events), None, "{shape:?}");
        assert_eq!(events.len() as u64, shape.events, "{shape:?}");
    }
}

#[test]
fn where_there_is_little_to_do_traces_are_well_formed_and_not_too_long() {
    let mut rng = Rng::with_seed(2);
    for _ in 0..500 {
        let shape = Shape {
            events: rng.u64(20..100),
            threads: rng.u32(1..=8),
            variables: rng.u64(..12),
            locks: rng.u32(..4),
            sites: rng.u32(1..=3),
            nesting: rng.u32(..4),
            sync_share: [0.0, 0.3, 1.0][rng.usize(..3)],
            read_share: [0.0, 0.5, 1.0][rng.usize(..3)],
            racy_share: [0.0, 0.3, 1.0][rng.usize(..3)],
            seed: rng.u64(..),
        };
        let events = events(shape);
        assert_eq!(fault(&shape, &events), None, "{shape:?}");
        assert!(events.len() as u64 <= shape.events, "{shape:?}");
    }
}

/// The checker finds what is wrong.
#[test]
fn a_trace_without_one_of_its_sync_events_is_not_well_formed() {
    let shape = Shape {
        events: 2_000,
        variables: 100,
        ..SHAPE
    };
    let events = events(shape);
    let kinds: [fn(Op) -> bool; 4] = [
        |op| matches!(op, Op::Acquire(_)),
        |op| matches!(op, Op::Release(_)),
        |op| matches!(op, Op::Fork(_)),
        |op| matches!(op, Op::Join(_)),
    ];
    for kind in kinds {
        let mut events = events.clone();
        let last = events.iter().rposition(|event| kind(event.op()));
        events.remove(last.expect("one of each kind"));
        assert!(fault(&shape, &events).is_some());
    }
}

#[test]
fn the_same_shape_gives_the_same_trace_and_another_seed_another() {
    let shape = Shape {
        events: 20_000,
        variables: 2_000,
        ..SHAPE
    };
    assert!(events(shape) == events(shape));
    assert!(events(shape) != events(Shape { seed: 2, ..shape }));
}

#[test]
fn without_a_racy_share_no_race_is_predictable() {
    let mut rng = Rng::with_seed(3);
    let mut handed_over = false;
    for _ in 0..200 {
        let shape = Shape {
            threads: rng.u32(2..=6),
            variables: rng.u64(30..200),
            events: rng.u64(1_000..4_000),
            racy_share: 0.0,
            ..random_shape(&mut rng)
        };
        let mut trace = generate(shape).expect("a possible shape");
        let events: Vec<Event> = trace.by_ref().collect();
        let unordered = unordered(&shape, &events, Order::Always);
        assert_eq!(unordered, BTreeSet::new(), "{shape:?}");
        let taken = |event: &Event| event.site() == trace.code.slot_read;
        handed_over |= shape.sites > 40 && events.iter().any(taken);
    }
    assert!(handed_over);
}

#[test]
fn with_a_racy_share_there_are_races() {
    for seed in 0..20 {
        let shape = Shape {
            events: 10_000,
            variables: 1_000,
            seed,
            ..SHAPE
        };
        let events = events(shape);
        let races = unordered(&shape, &events, Order::WithLocks);
        let most = unordered(&shape, &events, Order::Always);
        assert!(races.len() >= 4, "{} races", races.len());
        assert!(most.len() <= 32, "{} pairs", most.len());
    }
}

/// How often each thing occurs in a trace.
#[derive(Default)]
struct Counts {
    threads: BTreeSet<u32>,
    variables: BTreeSet<u64>,
    locks: BTreeSet<u64>,
    sites: BTreeSet<u32>,
    events: f64,
    syncs: f64,
    reads: f64,
    accesses: f64,
    racy: f64,
}

fn counts(shape: Shape) -> Counts {
    let trace = generate(shape).expect("a possible shape");
    let first_racy = trace.layout.first_racy;
    let mut counts = Counts::default();
    for event in trace {
        counts.events += 1.0;
        counts.threads.insert(event.strand().0);
        counts.sites.insert(event.site().0);
        match event.op() {
            Op::Acquire(lock) => {
                counts.locks.insert(lock.0);
                counts.syncs += 1.0;
            }
            Op::Release(_) => counts.syncs += 1.0,
            Op::Read(..) => counts.reads += 1.0,
            _ => {}
        }
        if let Some(access) = event.access() {
            counts.variables.insert(access.location.0);
            counts.accesses += 1.0;
            counts.racy += f64::from(u8::from(access.location.0 >= first_racy));
        }
    }
    counts
}

#[test]
fn numbers_and_shares_are_close_to_what_is_asked() {
    for (sync_share, read_share, racy_share) in
        [(0.1, 0.66, 0.01), (0.02, 0.5, 0.0), (0.4, 0.8, 0.1)]
    {
        let shape = Shape {
            sync_share,
            read_share,
            racy_share,
            ..SHAPE
        };
        let counts = counts(shape);
        assert_eq!(counts.events, shape.events as f64);
        assert_eq!(counts.threads.len() as u32, shape.threads);
        assert_eq!(counts.locks.len() as u32, shape.locks);
        let sites = counts.sites.len();
        assert!(
            sites as f64 >= 0.75 * f64::from(shape.sites),
            "{sites} sites"
        );
        let variables = counts.variables.len() as f64;
        assert!(
            variables >= 0.95 * shape.variables as f64,
            "{variables} variables"
        );
        let close = |what: &str, is: f64, asked: f64, off: f64| {
            assert!((is - asked).abs() <= off, "{what}: {is} instead of {asked}");
        };
        close("sync", counts.syncs / counts.events, sync_share, 0.01);
        close("reads", counts.reads / counts.accesses, read_share, 0.05);
        close("racy", counts.racy / counts.accesses, racy_share, 0.002);
    }
}

#[test]
fn presets_have_the_numbers_they_should() {
    for preset in PRESETS {
        let shape = preset.shape(1);
        if shape.events > 3_000_000 {
            continue;
        }
        let name = preset.name;
        let counts = counts(shape);
        assert_eq!(counts.events, shape.events as f64, "{name}");
        assert_eq!(counts.threads.len() as u32, shape.threads, "{name}");
        let locks = counts.locks.len() as f64;
        assert!(
            locks + 1.0 >= 0.95 * f64::from(shape.locks),
            "{name}: {locks} locks"
        );
        let variables = counts.variables.len() as f64 / shape.variables as f64;
        let least = match shape.events {
            ..100 => 0.5,
            100..10_000 => 0.8,
            _ => 0.95,
        };
        assert!(variables >= least, "{name}: {variables} of the variables");
    }
}

/// Other accesses than those to racy variables order nothing here: so these are rather too many
/// races.
#[test]
fn a_long_preset_has_some_tens_of_racy_pairs_of_sites() {
    for name in ["ftpserver", "moldyn", "derby", "jigsaw", "3m"] {
        let preset = Preset::named(name).expect("a preset");
        let shape = preset.shape(1);
        let trace = generate(shape).expect("a possible shape");
        let first_racy = trace.layout.first_racy;
        let can_race = |access: Access| access.location.0 >= first_racy;
        let events: Vec<Event> = trace
            .filter(|event| event.access().is_none_or(can_race))
            .collect();
        let races = unordered(&shape, &events, Order::WithLocks).len();
        let most = unordered(&shape, &events, Order::Always).len();
        assert!((10..=32).contains(&races), "{name}: {races} races");
        assert!(most <= 32, "{name}: up to {most} races");
    }
}

#[test]
fn impossible_shapes_are_refused() {
    let refused = |shape| generate(shape).err();
    let threads = 0;
    assert_eq!(
        refused(Shape { threads, ..SHAPE }),
        Some(ShapeError::NoThread)
    );
    assert_eq!(
        refused(Shape { sites: 0, ..SHAPE }),
        Some(ShapeError::NoSite)
    );
    let few = refused(Shape { events: 9, ..SHAPE });
    let (threads, events) = (6, 9);
    assert_eq!(few, Some(ShapeError::TooFewEvents { threads, events }));
    let many = refused(Shape {
        variables: 1 << 60,
        ..SHAPE
    });
    assert!(matches!(many, Some(ShapeError::TooMany { .. })));
    for share in [-0.1, 1.1, f64::NAN] {
        let racy_share = share;
        let shape = Shape {
            racy_share,
            ..SHAPE
        };
        assert!(matches!(refused(shape), Some(ShapeError::NoShare { .. })));
    }
}

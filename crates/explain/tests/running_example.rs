//! The thesis's running example, exactly: Figures 2.1, 6.1, 7.1 to 7.4 and 8.1.
//!
//! Two children work on inner regions of an array (a and b), each takes the bounds of another region
//! from a queue without synchronisation (c and d), and works on that (e and f). The left child takes
//! the lower bound of the first record and the upper bound of the second, and works on [1,39].

use deadheat_explain::{Limits, Status, explain};
use deadheat_model::{Event, Execution, Location, Names, Op, ReadKind, Site, Strand};
use deadheat_testing::thesis::{Detail, RaceStatus, View};
use fixedbitset::FixedBitSet;

const HEAD: Location = Location(100);
const LOWER: u64 = 200;
const UPPER: u64 = 300;

/// The site of everything that an event of the figure does.
fn site(name: char) -> Site {
    Site(name as u32)
}

struct Figure {
    events: Vec<Event>,
    /// Where each of the figure's events begins.
    splits: FixedBitSet,
}

impl Figure {
    fn execution(&self) -> Execution {
        let strands = ["main", "left", "right"].map(String::from).to_vec();
        let names = Names {
            strands,
            ..Names::default()
        };
        let events = self.events.clone();
        Execution { events, names }
    }

    fn add(&mut self, strand: u32, name: char, op: Op) {
        self.events.push(Event::new(Strand(strand), op, site(name)));
    }

    fn begins(&mut self) {
        self.splits.grow(self.events.len() + 1);
        self.splits.insert(self.events.len());
    }

    fn work(&mut self, strand: u32, name: char, region: std::ops::RangeInclusive<u64>) {
        self.begins();
        for element in region {
            self.add(strand, name, Op::Write(Location(element)));
        }
    }
}

fn figure() -> Figure {
    let (left, right) = (1, 2);
    let control = |x| Op::Read(x, ReadKind::Control);
    let mut figure = Figure {
        events: Vec::new(),
        splits: FixedBitSet::new(),
    };
    figure.add(0, 'm', Op::Fork(Strand(left)));
    figure.add(0, 'm', Op::Fork(Strand(right)));
    figure.work(left, 'a', 10..=19);
    figure.work(right, 'b', 20..=29);
    // The left child takes the lower bound of the first record, 1, and moves the head.
    figure.begins();
    figure.add(left, 'c', control(HEAD));
    figure.add(left, 'c', control(Location(LOWER)));
    figure.add(left, 'c', Op::Write(HEAD));
    // The right child takes all of the second, [30,40].
    figure.begins();
    figure.add(right, 'd', control(HEAD));
    figure.add(right, 'd', control(Location(LOWER + 1)));
    figure.add(right, 'd', Op::Write(HEAD));
    figure.add(right, 'd', control(Location(UPPER + 1)));
    // And the left child goes on with the second's upper bound.
    figure.add(left, 'c', control(HEAD));
    figure.add(left, 'c', control(Location(UPPER + 1)));
    figure.work(left, 'e', 1..=39);
    figure.work(right, 'f', 30..=40);
    figure.add(0, 'm', Op::Join(Strand(left)));
    figure.add(0, 'm', Op::Join(Strand(right)));
    figure
}

/// The apparent races, by the names of their events.
fn races(detail: Detail) -> (Vec<(String, RaceStatus)>, u32, u32) {
    let figure = figure();
    let (events, execution) = (&figure.events, figure.execution());
    let view = View::new(&execution, &figure.splits).unwrap();
    let analysis = view.analyse(detail);
    assert!(analysis.complete);
    let name = |event: u32| {
        let first = view.events[event as usize].span.0;
        char::from_u32(events[first].site().0).unwrap()
    };
    let pairs = view.pairs.iter().zip(&analysis.races);
    let mut races: Vec<_> = pairs
        .map(|(pair, status)| {
            let (a, b) = (name(pair.a), name(pair.b));
            (format!("{}{}", a.min(b), a.max(b)), *status)
        })
        .collect();
    races.sort_by(|a, b| a.0.cmp(&b.0));
    (races, analysis.tangles, analysis.first_partitions)
}

/// Figure 6.1: a and b, c and d, and so on are unordered; three pairs conflict.
#[test]
fn there_are_three_apparent_races() {
    let (races, _, _) = races(Detail::COARSE);
    let names: Vec<&str> = races.iter().map(|(name, _)| &name[..]).collect();
    assert_eq!(names, ["be", "cd", "ef"]);
}

/// Figures 7.1 and 7.2.
#[test]
fn two_of_them_are_one_tangle() {
    let (races, tangles, _) = races(Detail::COARSE);
    let tangled: Vec<_> = races.iter().map(|(_, race)| race.tangle).collect();
    assert_eq!(tangled, [Some(0), Some(0), None]);
    assert_eq!(tangles, 1);
}

/// Figures 7.3 and 7.4.
#[test]
fn event_control_validates_the_removes_and_not_the_infeasible_one() {
    let (races, _, _) = races(Detail::COARSE);
    let feasible: Vec<_> = races.iter().map(|(_, race)| race.feasible()).collect();
    assert_eq!(feasible, [false, true, true]);
    assert!(
        races
            .iter()
            .all(|(_, race)| race.by_data == race.tangle.is_none())
    );
    assert!(!races[0].1.by_control && races[1].1.by_control);
}

/// Figure 8.1.
#[test]
fn the_race_of_the_removes_is_the_only_first_one() {
    for detail in [Detail::COARSE, Detail::CLOSE] {
        let (races, _, partitions) = races(detail);
        let first: Vec<_> = races.iter().map(|(_, race)| race.first).collect();
        assert_eq!(first, [None, Some(0), None], "{detail:?}");
        assert_eq!(partitions, 1);
    }
}

/// The same from single accesses, whose order is known: only what the removes do is first, what was
/// never possible is not called feasible, and everything else is laid at the removes' door.
#[test]
fn single_accesses_say_the_same() {
    let explanation = explain(&figure().execution(), &Limits::default()).unwrap();
    for race in &explanation.races {
        let mut places = [race.race.first.site, race.race.second.site];
        places.sort();
        let removes = places == [site('c'), site('d')];
        match places {
            _ if removes => {}
            [b, e] if (b, e) == (site('b'), site('e')) => assert_eq!(race.status, Status::Tangled),
            [e, f] if (e, f) == (site('e'), site('f')) => {
                assert!(race.status >= Status::Feasible);
            }
            other => panic!("no race of the figure: {other:?}"),
        }
        if race.is_first {
            assert!(removes && race.status >= Status::Feasible);
        } else {
            let explained_by = &explanation.races[race.artifact_of[0]];
            assert!(explained_by.is_first);
        }
    }
    assert_eq!(
        explanation
            .races
            .iter()
            .filter(|race| race.is_first)
            .count(),
        1
    );
    assert!(
        explanation
            .races
            .iter()
            .any(|race| race.status == Status::Tangled)
    );
}

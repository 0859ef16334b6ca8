//! Every order of `isolated` sections: is a program race-free on this input, whatever order its
//! critical sections take? (zipper, section 2.2, and the framework it is part of.)
//!
//! Simple model: run the program in every order of its sections, and look for races in each graph.
//!
//! The idea: sections that do not conflict commute. Orders that differ only in such sections do the
//! same and are one *class*; one run for each class is enough, if its graph keeps only the edges
//! between sections that conflict. What that graph leaves unordered is left unordered by some order of
//! the class: of two accesses that it does not order, put the sections before the one in front of
//! those behind the other, and the other way round. Nothing forbids that: an order that did would
//! lead from the one access to the other. (Two accesses inside sections exclude each other in every
//! order, and never race.)
//!
//! From each run, new ones come by *reversing*: two sections that conflict, and that nothing else
//! orders, are taken in the other order, behind all that does not depend on the first; the run goes
//! on from there as it comes. That reaches every class, as in optimal partial order reduction.
//!
//! All this holds as long as nothing races. A program that has races can do what no order of its
//! sections makes it do; so each race is shown by a schedule that has been run again, and was seen to
//! have it. The first race of a program never fails to show.
//!
//! It also holds only as long as nothing but sections is a matter of chance: which of two sets of one
//! promise comes first, and is no error, is another. A program that can fail and sets promises is
//! never said to be visited completely.
//!
//! Guarantee: if all classes were visited and no race was found, no schedule of the program has one.
//! A race that is reported is real.
//!
//! Cost: a run of the program and a closure of its graph for each class, and for each reversal that
//! leads to a class seen before.

use std::collections::{BTreeMap, VecDeque};
use std::hash::Hash;

use deadheat_lang::{Ending, Program, RecordedSchedule, Run, Schedule};
use deadheat_model::{
    AccessKind, Construct, Event, EventNumber, Location, Names, Op, Race, RacingAccess, Site,
    Strand, path_name,
};
use fixedbitset::FixedBitSet;
use rustc_hash::{FxHashMap, FxHashSet};
use siphasher::sip128::{Hasher128, SipHasher13};

use crate::computation_graph::ComputationGraph;
use crate::engine::{Engine, EngineError};
use crate::graph::{self, MAX_NODES};
use crate::pairs::{self, Group, Node};
use crate::zipper;

/// How many orders are visited, unless told otherwise.
pub const DEFAULT_MAX_ORDERS: u64 = 10_000;

/// What is true of a program over all orders of its sections.
#[derive(Debug)]
pub struct Orders {
    /// How many classes of orders were visited.
    pub visited: u64,
    /// Whether these are all, each run to its end.
    pub complete: bool,
    /// The races found, each in the shortest schedule that was found to show it.
    pub races: Vec<OrderRace>,
}

/// A race that some order of sections has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OrderRace {
    /// What both touch.
    pub location: String,
    /// The access that comes first in the schedule.
    pub first: OrderAccess,
    /// The other one.
    pub second: OrderAccess,
    /// The strands that enter sections, one after the other, up to the race.
    pub order: Vec<String>,
    /// A schedule that shows it, up to the second access.
    pub schedule: RecordedSchedule,
}

/// One of the two accesses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OrderAccess {
    /// Where.
    pub site: Site,
    /// Whether it reads or writes.
    pub kind: AccessKind,
    /// By which strand, by its name.
    pub strand: String,
}

/// How far a search has come.
#[derive(Clone, Copy, Debug)]
pub struct OrdersProgress {
    /// How many classes have been visited.
    pub visited: u64,
    /// How many orders are still to be tried.
    pub pending: u64,
}

/// How many times as many orders as may be visited are tried, or kept for later: many lead to the same
/// class.
const RUNS_PER_ORDER: u64 = 4;

/// How many sections all orders that are kept for later may have together.
const MAX_PENDING_SECTIONS: usize = 50_000_000;

/// How many races are kept.
const MAX_RACES: usize = 1000;

/// How often it is tried to show a race that does not show: it may be one that needs another race.
const MAX_TRIES: u32 = 8;

/// An order still to be tried.
#[derive(Default)]
struct Pending {
    /// By the sections_by_name of the strands that enter sections.
    order: Vec<u32>,
    /// Whether the last of them may have something else to do.
    is_a_guess: bool,
}

/// The path of a strand, which is the same in every schedule.
type Path = Vec<u32>;

/// What makes a race the same race in another run.
type RaceKey = (String, [(Site, AccessKind); 2]);

fn key(race: &Race, names: &Names) -> RaceKey {
    let mut places = [race.first, race.second].map(|access| (access.site, access.kind));
    places.sort();
    (names.location(race.location).into_owned(), places)
}

/// Visits all orders of a program's sections, each run for at most `max_steps` steps.
pub fn all_orders(
    program: &Program,
    max_steps: u64,
    max_orders: u64,
    mut progress: impl FnMut(OrdersProgress),
) -> Result<Orders, EngineError> {
    let mut orders = Orders {
        visited: 0,
        complete: true,
        races: Vec::new(),
    };
    let mut races = Shown::default();
    let mut sections_by_name = SectionNames::default();
    let mut classes: FxHashSet<u128> = FxHashSet::default();
    let mut tried: FxHashSet<u128> = FxHashSet::default();
    let sets_promises = program.constructs().contains(&Construct::Promise);
    let mut pending: VecDeque<Pending> = VecDeque::from([Pending::default()]);
    let mut pending_sections = 0;
    let (mut runs, mut strayed) = (0, false);
    while let Some(next) = pending.pop_front() {
        pending_sections -= next.order.len();
        if orders.visited >= max_orders || runs >= max_orders.saturating_mul(RUNS_PER_ORDER) {
            orders.complete = false;
            break;
        }
        runs += 1;
        let paths = sections_by_name.paths(&next.order);
        let schedule = Schedule::Sections(paths.clone());
        let Ok(run) = program.run(&schedule, max_steps) else {
            orders.complete = false;
            continue;
        };
        // What goes on for ever, or too long, does so in other orders as well.
        if run.ending == Ending::StillRunning {
            orders.complete = false;
            break;
        }
        // Which of two sets of a promise is the first is no matter of sections.
        let is_error = matches!(run.ending, Ending::Error(_));
        orders.complete &= !(is_error && sets_promises);
        let class = Class::of(&run)?;
        if !class.is_whole {
            orders.complete = false;
            break;
        }
        strayed |= !next.is_a_guess && !class.paths.starts_with(&paths);
        let all: Vec<usize> = (0..class.sections.len()).collect();
        if !classes.insert(class.digest(&all)) {
            continue;
        }
        orders.visited += 1;
        class.add_races(program, max_steps, &mut races);
        let mut add = |digest: u128, order: Vec<u32>, is_a_guess: bool| {
            // More than will ever be visited: there is no end in sight.
            let too_many = pending.len() as u64 > max_orders.saturating_mul(RUNS_PER_ORDER)
                || pending_sections > MAX_PENDING_SECTIONS;
            if too_many {
                orders.complete = false;
            } else if tried.insert(digest) {
                pending_sections += order.len();
                pending.push_back(Pending { order, is_a_guess });
            }
            !too_many
        };
        for (first, second) in class.reversible() {
            let reversed = class.reversed(first, second);
            let order = sections_by_name.of_all(&class, &reversed);
            if !add(class.digest(&reversed), order, false) {
                break;
            }
        }
        for (before, strand) in class.instead_of_failing() {
            let mut order = sections_by_name.of_all(&class, &before);
            order.push(sections_by_name.of(&strand));
            if !add(class.digest(&before) ^ hash(&strand), order, true) {
                break;
            }
        }
        progress(OrdersProgress {
            visited: orders.visited,
            pending: pending.len() as u64,
        });
    }
    // Without races, an order that is asked for is one that the program can take, and what is left
    // unordered can be shown to race.
    let is_sure = !strayed && races.tries.is_empty();
    orders.complete &= is_sure || !races.found.is_empty();
    orders.races = races.found.into_values().collect();
    Ok(orders)
}

/// Paths of strands, numbered.
#[derive(Default)]
struct SectionNames {
    numbers: FxHashMap<Path, u32>,
    paths: Vec<Path>,
}

impl SectionNames {
    fn of(&mut self, path: &Path) -> u32 {
        if let Some(&number) = self.numbers.get(path) {
            return number;
        }
        let number = self.paths.len() as u32;
        self.numbers.insert(path.clone(), number);
        self.paths.push(path.clone());
        number
    }

    /// Whose sections these are.
    fn of_all(&mut self, class: &Class, sections: &[usize]) -> Vec<u32> {
        let paths = sections.iter().map(|&section| &class.paths[section]);
        paths.map(|path| self.of(path)).collect()
    }

    fn paths(&self, order: &[u32]) -> Vec<Path> {
        let paths = order.iter().map(|&number| &self.paths[number as usize]);
        paths.cloned().collect()
    }
}

/// The races that have been shown, and how often others could not be.
#[derive(Default)]
struct Shown {
    found: BTreeMap<RaceKey, OrderRace>,
    tries: FxHashMap<RaceKey, u32>,
}

/// One run, which stands for all orders that differ from its order in sections that do not conflict.
struct Class<'r> {
    run: &'r Run,
    graph: ComputationGraph,
    accesses: Vec<Group>,
    /// The first and the last node of each section, in the order of the run.
    sections: Vec<(Node, Node)>,
    /// Whose section it is.
    paths: Vec<Path>,
    /// Whose, and which of that strand's, as a number.
    sections_by_name: Vec<u128>,
    /// The earlier sections that each conflicts with, those that others come between left out.
    conflicts: Vec<Vec<usize>>,
    /// For every node, the nodes before it.
    before: Vec<FixedBitSet>,
    /// For every section, the sections before it by what does not commute.
    sections_before: Vec<FixedBitSet>,
    /// Whether all of the run is in the graph.
    is_whole: bool,
}

impl Class<'_> {
    fn of(run: &Run) -> Result<Class<'_>, EngineError> {
        let execution = &run.execution;
        for (event, number) in execution.events.iter().zip(1..) {
            let construct = event.op().construct();
            if let Some(construct) = construct.filter(|&c| !zipper::ENGINE.orders(c)) {
                return Err(EngineError::CannotOrder {
                    engine: zipper::ENGINE.name,
                    number,
                    construct,
                    instead: Engine::fitting(&[construct]).name,
                });
            }
        }
        let mut graph = ComputationGraph::new(execution, MAX_NODES, |_| true);
        let accesses = std::mem::take(&mut graph.accesses);
        let sections: Vec<(Node, Node)> = graph.sections().collect();
        let conflicts = conflicts(&graph, &accesses);
        let before = graph::close(&graph, |node, before, behind| {
            let Some(section) = graph.begins(node) else {
                return;
            };
            behind.extend(conflicts[section].iter().map(|&other| sections[other].1));
            // What comes behind the beginning of a section can enter one only behind its end.
            for &(first, last) in &sections[..section] {
                let is_behind = |&other: &Node| other == first || before[other].contains(first);
                if first != last && behind.iter().any(is_behind) {
                    behind.push(last);
                }
            }
        });
        let sections_before = sections.iter().enumerate().map(|(section, &(first, _))| {
            let earlier = sections[..section].iter().enumerate();
            let earlier = earlier.filter(|(_, (_, last))| before[first].contains(*last));
            earlier.map(|(section, _)| section).collect()
        });
        let names = &execution.names;
        let path = |&(node, _): &(Node, Node)| names.strand_path(graph.strand(node));
        let paths: Vec<Path> = sections.iter().map(path).collect();
        let mut of_strand: FxHashMap<&Path, u32> = FxHashMap::default();
        let sections_by_name = paths.iter().map(|path| {
            let count = of_strand.entry(path).or_default();
            *count += 1;
            hash((path, *count))
        });
        Ok(Class {
            run,
            sections_before: sections_before.collect(),
            sections_by_name: sections_by_name.collect(),
            paths,
            is_whole: graph.events() == execution.events.len(),
            graph,
            accesses,
            sections,
            conflicts,
            before,
        })
    }

    /// Whether one section comes before another by what does not commute.
    fn precedes(&self, a: usize, b: usize) -> bool {
        self.sections_before[b].contains(a)
    }

    /// Pairs of sections that conflict and that nothing else orders.
    fn reversible(&self) -> Vec<(usize, usize)> {
        let mut pairs = Vec::new();
        for (second, conflicts) in self.conflicts.iter().enumerate() {
            let (node, _) = self.sections[second];
            for &first in conflicts {
                let (_, end) = self.sections[first];
                let others = conflicts.iter().filter(|&&other| other != first);
                let others = others.map(|&other| self.sections[other].1);
                let mut behind = self.graph.predecessors(node).chain(others);
                let begin = self.sections[first].0;
                let is_ordered = |other: Node| {
                    [begin, end].contains(&other) || self.before[other].contains(begin)
                };
                if !behind.any(is_ordered) {
                    pairs.push((first, second));
                }
            }
        }
        pairs
    }

    /// An order that has `second` before `first`, and before both all that does not depend on
    /// `first`, also what came later by chance.
    fn reversed(&self, first: usize, second: usize) -> Vec<usize> {
        let all = 0..self.sections.len();
        let independent = all.filter(|&other| other != first && !self.precedes(first, other));
        independent.chain([second]).collect()
    }

    /// Orders in which somebody else enters a section before one in which the run has failed: nobody
    /// has come to a section behind that one, so nobody knows what it conflicts with.
    fn instead_of_failing(&self) -> Vec<(Vec<usize>, Path)> {
        let events = &self.run.execution.events;
        let last = events.iter().rfind(|event| is_section_edge(event));
        let Some(open) = last.filter(|event| event.op() == Op::IsolatedBegin) else {
            return Vec::new();
        };
        let names = &self.run.execution.names;
        let ended = events.iter().filter(|event| event.op() == Op::End);
        let ended: FxHashSet<Strand> = ended.map(|event| event.strand()).collect();
        let before: Vec<usize> = (0..self.sections.len().saturating_sub(1)).collect();
        let strands = (0..names.strands.len() as u32).map(Strand);
        strands
            .filter(|strand| *strand != open.strand() && !ended.contains(strand))
            .map(|strand| (before.clone(), names.strand_path(strand)))
            .collect()
    }

    /// A number that is the same for sections in orders that differ in what commutes only: it is made
    /// of each section's name and of those among them that come before it.
    fn digest(&self, sections: &[usize]) -> u128 {
        let among: FixedBitSet = sections.iter().copied().collect();
        let digests = sections.iter().map(|&section| {
            let before = self.sections_before[section].intersection(&among);
            let before = before.map(|other| self.sections_by_name[other]);
            hash((
                self.sections_by_name[section],
                before.fold(0, u128::wrapping_add),
            ))
        });
        digests.fold(0, u128::wrapping_add)
    }

    /// Adds the races of some order of this class, each with the schedule that shows it, if that is
    /// new or shorter.
    fn add_races(&self, program: &Program, max_steps: u64, races: &mut Shown) {
        let is_section = |node| self.graph.section(node).is_some();
        let found = pairs::races(
            self.accesses.clone(),
            |_| None,
            |a, b, _| self.before[b].contains(a) || (is_section(a) && is_section(b)),
        );
        for race in &found.found {
            let names = &self.run.execution.names;
            let key = key(race, names);
            let tries = races.tries.get(&key).copied().unwrap_or(0);
            let known = races.found.get(&key).map(|known| known.schedule.steps());
            if tries >= MAX_TRIES || (known.is_none() && races.found.len() >= MAX_RACES) {
                continue;
            }
            let steps = self.steps_to(race);
            if known.is_some_and(|known| known <= steps.len() as u64) {
                continue;
            }
            let schedule = RecordedSchedule::from_steps(&steps, names);
            let mut found = shown(program, &schedule, max_steps, &key);
            if found.is_none() && known.is_none() {
                // The run itself has it, if it is one that its own order leaves open.
                found = shown(program, &self.run.schedule(), max_steps, &key);
            }
            match found {
                Some(found) => drop(races.found.insert(key, found)),
                None => *races.tries.entry(key).or_default() += 1,
            }
        }
    }

    /// Who takes each step of a schedule that does what the two accesses need, and then these.
    fn steps_to(&self, race: &Race) -> Vec<Strand> {
        let (first, second) = (race.first.event, race.second.event);
        let node_of = |number| self.graph.node_of(number).unwrap_or_default();
        let (first_node, second_node) = (node_of(first), node_of(second));
        let is_before = |node: Node| {
            self.before[first_node].contains(node) || self.before[second_node].contains(node)
        };
        let open = [first_node, second_node].map(|node| self.graph.section(node));
        let is_needed = |number: EventNumber, node: Node| {
            // A section that is begun is ended, or no other one can begin.
            let section = self.graph.section(node);
            let begun = section.filter(|_| !open.contains(&section));
            is_before(node)
                || begun.is_some_and(|section| is_before(self.sections[section].0))
                || (node == first_node && number <= first)
                || (node == second_node && number <= second)
        };
        // While the section of one of the two is open no other one can begin. So: what does not depend
        // on it; what the other access needs of it, and what depends on that; the rest of it; and what
        // races with it.
        let begin = open
            .iter()
            .flatten()
            .map(|&section| self.sections[section].0)
            .next();
        let rank = |number: EventNumber, node: Node| {
            let section = self.graph.section(node);
            let is_open = section.is_some() && open.contains(&section);
            let other = match section == self.graph.section(first_node) {
                true => second_node,
                false => first_node,
            };
            let depends = begin.is_some_and(|begin| self.before[node].contains(begin));
            match () {
                () if number == second => 4,
                () if is_open && !self.before[other].contains(node) => 3,
                () if is_open => 1,
                () if depends => 2,
                () => 0,
            }
        };
        let events = &self.run.execution.events;
        let mut needed: Vec<(u8, EventNumber)> = (1..=events.len() as EventNumber)
            .filter(|&number| is_needed(number, node_of(number)))
            .map(|number| (rank(number, node_of(number)), number))
            .collect();
        needed.sort_unstable();
        let strand = |(_, number): (u8, EventNumber)| events[number as usize - 1].strand();
        needed.into_iter().map(strand).collect()
    }
}

fn is_section_edge(event: &Event) -> bool {
    matches!(event.op(), Op::IsolatedBegin | Op::IsolatedEnd)
}

fn hash(of: impl Hash) -> u128 {
    let mut hasher = SipHasher13::new();
    of.hash(&mut hasher);
    hasher.finish128().as_u128()
}

/// Runs a schedule; gives the race if it is there.
fn shown(
    program: &Program,
    schedule: &RecordedSchedule,
    max_steps: u64,
    key: &RaceKey,
) -> Option<OrderRace> {
    let run = program
        .run(&Schedule::Recorded(schedule.clone()), max_steps)
        .ok()?;
    let names = &run.execution.names;
    let races = graph::check(&run.execution).races;
    let race = races.iter().find(|race| self::key(race, names) == *key)?;
    let access = |access: &RacingAccess| OrderAccess {
        site: access.site,
        kind: access.kind,
        strand: names.strand(access.strand).into_owned(),
    };
    let until = race.second.event as usize;
    let sections = run.execution.events[..until].iter();
    let sections = sections.filter(|event| event.op() == Op::IsolatedBegin);
    let name = |strand| path_name(&names.strand_path(strand));
    Some(OrderRace {
        location: key.0.clone(),
        first: access(&race.first),
        second: access(&race.second),
        order: sections.map(|event| name(event.strand())).collect(),
        schedule: schedule.clone(),
    })
}

/// For each section, the earlier ones it conflicts with: the last to write what it touches, and those
/// that have read since what it writes.
fn conflicts(graph: &ComputationGraph, accesses: &[Group]) -> Vec<Vec<usize>> {
    #[derive(Default)]
    struct Last {
        writer: Option<usize>,
        readers: Vec<usize>,
    }
    let mut conflicts = vec![Vec::new(); graph.sections().len()];
    let mut last: FxHashMap<Location, Last> = FxHashMap::default();
    for access in accesses {
        let Some(section) = graph.section(access.node) else {
            continue;
        };
        let last = last.entry(access.location).or_default();
        conflicts[section].extend(last.writer);
        match access.kind {
            AccessKind::Read => last.readers.push(section),
            AccessKind::Write => {
                conflicts[section].append(&mut last.readers);
                last.writer = Some(section);
            }
        }
    }
    for (section, conflicts) in conflicts.iter_mut().enumerate() {
        conflicts.sort_unstable();
        conflicts.dedup();
        conflicts.retain(|&other| other != section);
    }
    conflicts
}

//! Validation (algorithm 7.7) and ordering (algorithm 8.1) of the apparent races of a view.
//!
//! G_D is G with an edge from the start of an event to the finish of each event that may depend on it.
//! A race is feasible if G_D leaves its events unordered (theorem 7.1). It is *tangled* if the finish of
//! one of its events and the start of the other are in one component of G_D, with dependences both
//! ways; each such component is a *tangle*. The thesis takes "not tangled" for "unordered". That is the
//! same only as long as every dependence goes both ways: where the complete order gives dependences a
//! direction, there are races that are ordered and in no cycle, and infeasible (`docs/errata.md`).
//! G_E has event-control dependences only; a race whose finishes it leaves unordered is feasible too
//! (theorem 7.3). With its edges from start to start, paths are chains of event-control, which say
//! which race may have affected which; races that affect each other form a partition.

use deadheat_model::Strand;
use deadheat_order::PersistentClock;

use super::dependences::{Dependences, Kind};
use super::graph::{Components, Graph, Node};
use super::{Detail, View, finish, start};

/// How many steps are taken to find transitive dependences.
const MAX_STEPS: u64 = 200_000_000;

/// How many times races are compared with first partitions.
const MAX_COMPARISONS: u64 = 200_000_000;

/// What validation and ordering say of one race.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RaceStatus {
    /// Its events overlapped in time.
    pub actual: bool,
    /// The tangle it is in, if it is in one; from 0.
    pub tangle: Option<u32>,
    /// G_D, with dependences only in the directions that are known, has a cycle through the finish of
    /// one of its events and the start of the other: what algorithm 7.7 looks at.
    pub cyclic: bool,
    /// G_D validates it: its events are unordered by shared-data dependence.
    pub by_data: bool,
    /// G_E validates it.
    pub by_control: bool,
    /// The first partition it is in, if it is in one; from 0.
    pub first: Option<u32>,
}

impl RaceStatus {
    /// It is known to be feasible.
    pub fn feasible(&self) -> bool {
        self.by_data || self.by_control
    }
}

/// What is known of a view's apparent races.
#[derive(Clone, Debug, Default)]
pub struct Analysis {
    /// One for each of [`View::pairs`].
    pub races: Vec<RaceStatus>,
    /// How many tangles there are.
    pub tangles: u32,
    /// How many first partitions there are.
    pub first_partitions: u32,
    /// Whether all transitive dependences were found, and all races compared. If not, fewer races are
    /// called feasible, and none is called first that is not.
    pub complete: bool,
}

impl View {
    /// Validates and orders the apparent races.
    pub fn analyse(&self, detail: Detail) -> Analysis {
        let mut analysis = Analysis {
            races: vec![RaceStatus::default(); self.pairs.len()],
            complete: self.complete,
            ..Analysis::default()
        };
        for (race, pair) in analysis.races.iter_mut().zip(&self.pairs) {
            race.actual = self.overlap(pair.a, pair.b);
        }
        let both_ways = Detail::COARSE;
        let data = Dependences::direct(self, both_ways, Kind::Data);
        let data = self.augmented(data, &mut analysis);
        self.tangles(&data.components(), &mut analysis);
        let data = Dependences::direct(self, detail, Kind::Data);
        let data = Reach::new(self, &self.augmented(data, &mut analysis));
        let direct = Dependences::direct(self, detail, Kind::Control);
        let mut chains = self.graph.clone();
        for (from, to) in direct.edges() {
            chains.edge(start(from), start(to));
        }
        let control = Reach::new(self, &self.augmented(direct, &mut analysis));
        for (race, pair) in analysis.races.iter_mut().zip(&self.pairs) {
            let (a, b) = (pair.a, pair.b);
            race.by_data =
                !data.leads(self, finish(a), start(b)) && !data.leads(self, finish(b), start(a));
            let (a, b) = (finish(a), finish(b));
            race.by_control = !control.leads(self, a, b) && !control.leads(self, b, a);
        }
        self.first_partitions(&Reach::new(self, &chains), &mut analysis);
        analysis
    }

    /// G with dependences from start to finish.
    fn augmented(&self, direct: Dependences, analysis: &mut Analysis) -> Graph {
        let mut graph = self.graph.clone();
        for (from, to) in direct.edges() {
            graph.edge(start(from), finish(to));
        }
        match direct.transitive(self, MAX_STEPS) {
            Some(transitive) => {
                for (from, to) in transitive {
                    graph.edge(start(from), finish(to));
                }
            }
            None => {
                // Any chain may be one.
                analysis.complete = false;
                for (from, to) in direct.edges() {
                    graph.edge(start(from), start(to));
                }
            }
        }
        graph
    }

    fn tangles(&self, components: &Components, analysis: &mut Analysis) {
        let mut numbers = rustc_hash::FxHashMap::default();
        for (race, pair) in analysis.races.iter_mut().zip(&self.pairs) {
            let (a, b) = (pair.a, pair.b);
            let ends = [(finish(a), start(b)), (finish(b), start(a))];
            let ends = ends.map(|(from, to)| (components.of(from), components.of(to)));
            let tangle = ends.iter().find(|(from, to)| from == to);
            race.tangle = tangle.map(|(component, _)| {
                let next = numbers.len() as u32;
                *numbers.entry(*component).or_insert(next)
            });
        }
        analysis.tangles = numbers.len() as u32;
    }

    fn first_partitions(&self, reach: &Reach, analysis: &mut Analysis) {
        let affects = |a: usize, b: usize| {
            let (a, b) = (&self.pairs[a], &self.pairs[b]);
            let both = |to: u32| {
                reach.leads(self, start(a.a), start(to)) && reach.leads(self, start(a.b), start(to))
            };
            both(b.a) || both(b.b)
        };
        let mut first: Vec<Vec<usize>> = Vec::new();
        let mut comparisons = MAX_COMPARISONS;
        for race in 0..self.pairs.len() {
            let mut belongs = None;
            let mut discarded = false;
            let mut place = 0;
            while place < first.len() && belongs.is_none() && !discarded {
                comparisons = comparisons.saturating_sub(1);
                let other = first[place][0];
                match (affects(other, race), affects(race, other)) {
                    (true, true) => belongs = Some(place),
                    (true, false) => discarded = true,
                    (false, true) => {
                        first.swap_remove(place);
                    }
                    (false, false) => place += 1,
                }
            }
            if comparisons == 0 {
                // What has not been compared with all is not known to be first.
                analysis.complete = false;
                return;
            }
            match belongs {
                Some(place) => first[place].push(race),
                None if !discarded => first.push(vec![race]),
                None => {}
            }
        }
        first.sort_unstable();
        for (partition, races) in first.iter().zip(0..).map(|(races, number)| (number, races)) {
            for &race in races {
                analysis.races[race].first = Some(partition);
            }
        }
        analysis.first_partitions = first.len() as u32;
    }
}

/// Which node leads to which.
struct Reach {
    components: Components,
    clocks: Vec<PersistentClock>,
}

impl Reach {
    fn new(view: &View, graph: &Graph) -> Reach {
        let components = graph.components();
        let clocks = graph.timestamps(&components, |node| place(view, node));
        Reach { components, clocks }
    }

    /// Whether a node leads to another, or is it.
    fn leads(&self, view: &View, from: Node, to: Node) -> bool {
        let clock = &self.clocks[self.components.of(to) as usize];
        place(view, from).is_some_and(|(strand, time)| clock.get(strand) >= time)
    }
}

/// The strand of a node and its number there.
fn place(view: &View, node: Node) -> Option<(Strand, u32)> {
    let event = &view.events[node as usize / 2];
    Some((event.strand?, 2 * event.serial + node % 2))
}

//! What is known about a program after `deadheat check`.

use std::collections::BTreeSet;

use deadheat_explain::{ProgramFindings, Replay, add_circumstances};
use deadheat_explore::Gap;
use deadheat_lang::{Ending, Run};
use deadheat_model::finding::{Rule, SourceLines};
use deadheat_model::{Construct, Event, Finding, Findings, Op, Site, Strand};
use deadheat_offline::{Engine, Worth};
use serde::{Serialize, Serializer};

use crate::explain::ExplainReport;
use crate::filter::{Filter, LeftOut};
use crate::json::{DeadlockJson, FailureJson, FindingsJson};
use crate::words::guarantee;

/// What `deadheat check` says about one program.
pub struct CheckReport {
    /// The file.
    pub program: String,
    /// The constructs it can use.
    pub constructs: Vec<&'static str>,
    /// The engine that judged the run.
    pub engine: &'static str,
    /// The races of the run.
    pub races: Vec<Finding>,
    /// Whether `races` are all of the run's races: of a location that has very many, some are left
    /// out.
    pub races_complete: bool,
    /// How many tasks and threads the run started.
    pub tasks: u64,
    /// How often one of them waited for others: ends of `finish`, `get`s and `join`s.
    pub joins: u64,
    /// How many reads and writes of shared memory it made.
    pub accesses: u64,
    /// How many events the run had.
    pub events: usize,
    /// How many of them the engine judged, from the first.
    pub judged_events: usize,
    /// The names of the locations that race in the run, sorted.
    pub racy_locations: Vec<String>,
    /// The deadlock that the run ended in.
    pub deadlock: Option<Finding>,
    /// The error that the run ended with.
    pub error: Option<Finding>,
    /// Why the run, or its judge, was stopped before its end, if one was.
    pub stopped: Option<String>,
    /// Which orders of sections were visited, if that was asked for: `races` and `racy_locations` are
    /// then those of all of them.
    pub orders: Option<OrdersReport>,
    /// What all schedules do, if they were explored.
    pub explored: Option<ExploredReport>,
    /// What was left out because a baseline or suppressions name it.
    pub left_out: LeftOut,
    /// Why the run's races are there, if that was asked for.
    pub explanation: Option<ExplainReport>,
    /// What was found, before anything was left out.
    found: Found,
    /// How the run went, for the sentence that says what it proves.
    pub(crate) ran: Ran,
}

/// How a run went.
pub(crate) struct Ran {
    /// How it ended.
    pub ending: Ending,
    /// The constructs by which the schedule orders its strands, rather than the program.
    pub choosing: Vec<&'static str>,
    /// How many threads it started.
    pub threads: u64,
    /// Whether each of the program's constructs orders alike in every schedule.
    pub orders_alike: bool,
    /// What the engine's races are worth.
    pub worth: Worth,
    /// How many pairs of places the engine could not decide.
    pub undecided: u64,
    /// Whether the run alone proves that no schedule has a race.
    pub is_proof: bool,
}

/// What there is besides the findings that are listed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Found {
    /// The run or a search has shown something of which no finding is kept.
    unlisted_race: bool,
    unlisted_deadlock: bool,
    unlisted_error: bool,
    /// The run ended in a deadlock, or with an error.
    pub deadlock: bool,
    pub error: bool,
}

/// Which orders of `isolated` sections were visited.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct OrdersReport {
    /// How many that can differ.
    pub visited: u64,
    /// Whether these are all.
    pub complete: bool,
    /// Whether one of them ends in a deadlock.
    pub deadlock_possible: bool,
    /// Whether one of them ends with an error.
    pub error_possible: bool,
    /// Why they are not all.
    #[serde(skip)]
    pub gap: Option<Gap>,
}

/// What all schedules do.
pub struct ExploredReport {
    /// Whether every schedule was covered.
    pub complete: bool,
    /// Why not.
    pub gap: Option<Gap>,
    /// How many schedules were covered.
    pub schedules: u64,
    /// How many states were visited.
    pub states: u64,
    /// Whether all end alike; null if that is not known.
    pub deterministic: Option<bool>,
    /// The names of the locations that race in some schedule, sorted.
    pub racy_locations: Vec<String>,
    /// Whether some schedule ends in a deadlock.
    pub deadlock_possible: bool,
    /// Whether some schedule ends with an error.
    pub error_possible: bool,
    /// Whether some schedule never ends.
    pub endless_possible: bool,
    /// Every race of every schedule, each with a schedule that shows it.
    pub races: Vec<Finding>,
    /// A deadlock that some schedule ends in, with that schedule.
    pub deadlock: Option<Finding>,
    /// The errors that some schedule ends with, each with such a schedule.
    pub errors: Vec<Finding>,
}

impl CheckReport {
    /// Puts together what is known about a program.
    #[allow(clippy::too_many_arguments)]
    pub fn new(
        program: impl Into<String>,
        constructs: &[Construct],
        run: &Run,
        engine: &Engine,
        findings: &Findings,
        orders: Option<&Replay>,
        exploration: Option<&Replay>,
        lines: &dyn SourceLines,
    ) -> CheckReport {
        let names = &run.execution.names;
        let mut of_run = ProgramFindings::of_run(names, lines, engine.name);
        let races = findings.races.iter();
        let mut races: Vec<Finding> = races
            .map(|found| of_run.race(engine.worth.rule(), &found.race))
            .collect();
        add_circumstances(&run.execution, lines, &mut races);
        if let Some(orders) = orders {
            let mut of_orders = ProgramFindings::of_search(names, lines, engine.name, orders);
            let mut found = of_orders.races(Rule::Race, orders, true);
            // The run is one of the orders, also of a search that was cut short before it.
            let known: BTreeSet<&str> = found.iter().map(|race| &*race.variable.name).collect();
            races.retain(|race| !known.contains(&*race.variable.name));
            found.append(&mut races);
            races = found;
        }
        let (mut deadlock, mut error, mut stopped) = (None, None, None);
        match &run.ending {
            Ending::Finished => {}
            Ending::Deadlock(waiting) => deadlock = Some(of_run.deadlock(waiting, None)),
            Ending::Error(failure) => error = Some(of_run.failure(failure, None)),
            Ending::Stopped(why) => stopped = Some(why.to_string()),
            Ending::StillRunning => {
                let last = run.execution.events.last();
                let site = last.map_or(Site(0), |event| event.site());
                let strand = last.map_or(Strand::MAIN, |event| event.strand());
                let message = "still running when `--max-steps` stopped it";
                error = Some(of_run.endless(message, site, strand));
            }
        }
        let stopped = stopped.or_else(|| findings.stopped.map(|why| why.to_string()));
        let racy = races.iter().map(|race| race.variable.name.to_string());
        let racy_locations: BTreeSet<String> = racy.collect();
        let explored = exploration.map(|exploration| {
            let mut found = ProgramFindings::of_search(names, lines, "explore", exploration);
            let mut explored = ExploredReport::new(exploration, &mut found);
            // The run is one of the schedules, also of a search that was cut short before it.
            let racy = racy_locations
                .iter()
                .cloned()
                .chain(explored.racy_locations);
            let racy: BTreeSet<String> = racy.collect();
            explored.racy_locations = racy.into_iter().collect();
            explored.deadlock_possible |= deadlock.is_some();
            explored.error_possible |= matches!(run.ending, Ending::Error(_));
            explored
        });
        let count = |kind: &dyn Fn(&Event) -> bool| {
            let events = run.execution.events.iter();
            events.filter(|event| kind(event)).count() as u64
        };
        let mut report = CheckReport {
            program: program.into(),
            constructs: constructs.iter().map(|c| c.word()).collect(),
            engine: engine.name,
            races,
            races_complete: findings.all_listed,
            tasks: names.strands.len() as u64 - 1,
            joins: count(&|event| {
                matches!(event.op(), Op::FinishEnd(_) | Op::Get(_) | Op::Join(_))
            }),
            accesses: count(&|event| event.access().is_some()),
            events: run.execution.events.len(),
            judged_events: findings.judged as usize,
            racy_locations: racy_locations.into_iter().collect(),
            found: Found::default(),
            deadlock,
            error,
            stopped,
            orders: orders.map(|orders| OrdersReport {
                visited: orders.exploration.schedules,
                complete: orders.is_complete(),
                deadlock_possible: orders.exploration.deadlock.is_some(),
                error_possible: !orders.exploration.errors.is_empty(),
                gap: orders.exploration.gap,
            }),
            explored,
            left_out: LeftOut::default(),
            explanation: None,
            ran: Ran {
                ending: run.ending.clone(),
                choosing: guarantee::choosing(constructs, run),
                threads: count(&|event| matches!(event.op(), Op::Fork(_))),
                orders_alike: constructs
                    .iter()
                    .all(|c| c.orders_alike_in_every_schedule()),
                worth: engine.worth,
                undecided: findings.undecided.len() as u64,
                is_proof: false,
            },
        };
        report.found = Found::new(&report);
        report.ran.is_proof = guarantee::is_proven_by_run(&report);
        report
    }

    /// Leaves out what a baseline knows and what suppressions name. What the run and the search as a whole have
    /// shown stays as it is.
    pub fn filter(&mut self, filter: &Filter) {
        let mut left_out = filter.start();
        let knows = |finding: &mut Option<Finding>, left_out: &mut LeftOut| {
            finding.take_if(|finding| filter.knows(finding, left_out));
        };
        self.races.retain(|race| filter.keeps(race, &mut left_out));
        knows(&mut self.deadlock, &mut left_out);
        knows(&mut self.error, &mut left_out);
        if let Some(explanation) = &mut self.explanation {
            explanation.filter(filter);
        }
        // What the run has shown is counted once.
        let mut again = filter.start();
        if let Some(explored) = &mut self.explored {
            explored.races.retain(|race| filter.keeps(race, &mut again));
            knows(&mut explored.deadlock, &mut again);
            explored
                .errors
                .retain(|error| !filter.knows(error, &mut again));
            left_out.known = left_out.known.max(again.known);
            left_out.suppressed = left_out.suppressed.max(again.suppressed);
        }
        self.left_out = left_out;
    }

    /// Its findings: those of the run, then those that only other schedules have.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        let own = || self.races.iter().chain(&self.deadlock).chain(&self.error);
        let known: BTreeSet<_> = own().map(|finding| finding.identity).collect();
        let explored = self.explored.iter().flat_map(ExploredReport::findings);
        own().chain(explored.filter(move |finding| !known.contains(&finding.identity)))
    }

    /// Whether the run, some explored schedule or some order of sections ends in a deadlock.
    pub fn has_deadlock(&self) -> bool {
        let explored = self.explored.as_ref();
        let elsewhere = explored.is_some_and(|explored| explored.deadlock.is_some())
            || self.orders.is_some_and(|orders| orders.deadlock_possible);
        self.deadlock.is_some() || elsewhere || self.found.unlisted_deadlock
    }

    /// Whether the run, some explored schedule or some order of sections ends with an error.
    pub fn has_error(&self) -> bool {
        let explored = self.explored.as_ref();
        let elsewhere = explored.is_some_and(|explored| !explored.errors.is_empty())
            || self.orders.is_some_and(|orders| orders.error_possible);
        self.error.is_some() || elsewhere || self.found.unlisted_error
    }

    /// Whether something that was asked for was not seen to its end: the run, its races, the schedules,
    /// the orders of sections.
    pub fn is_incomplete(&self) -> bool {
        let explored = self.explored.as_ref().map(|explored| explored.complete);
        let orders = self.orders.map(|orders| orders.complete);
        let ran = self.stopped.is_none();
        let judged = ran && self.judged_events == self.events && self.races_complete;
        let judged = judged && self.ran.undecided == 0;
        let searched = explored != Some(false) && orders != Some(false);
        !judged || !searched && !self.ran.is_proof
    }

    /// Whether the run ended before the program did, so that what comes behind may race, and no search went on there.
    pub fn is_cut_short(&self) -> bool {
        let explored = self.explored.as_ref().is_some_and(|all| all.complete);
        let ordered = self.orders.is_some_and(|orders| orders.complete);
        let is_open = match self.ran.ending {
            Ending::Finished => false,
            Ending::Deadlock(_) => !self.ran.is_proof,
            Ending::Error(_) | Ending::StillRunning | Ending::Stopped(_) => true,
        };
        is_open && !explored && !ordered
    }

    /// Whether a race was found, in the run or in some other schedule.
    pub fn has_race(&self) -> bool {
        let explored = self.explored.as_ref();
        let elsewhere = explored.is_some_and(|explored| !explored.races.is_empty());
        !self.races.is_empty() || elsewhere || self.found.unlisted_race
    }

    /// What all this proves.
    pub fn guarantee(&self) -> String {
        guarantee::of_program(self)
    }

    pub(crate) fn found(&self) -> Found {
        self.found
    }
}

impl ExploredReport {
    fn new(search: &Replay, found: &mut ProgramFindings<'_>) -> ExploredReport {
        let exploration = search.exploration;
        let deadlock = exploration.deadlock.as_ref();
        let errors = exploration.errors.iter().zip(&search.errors);
        ExploredReport {
            complete: search.is_complete(),
            gap: exploration.gap,
            schedules: exploration.schedules,
            states: exploration.states,
            deterministic: exploration.deterministic,
            racy_locations: search.racy_locations(),
            deadlock_possible: deadlock.is_some(),
            error_possible: !exploration.errors.is_empty(),
            endless_possible: exploration.endless,
            races: found.races(Rule::PredictedRace, search, false),
            deadlock: deadlock
                .map(|deadlock| found.deadlock(&deadlock.what, search.deadlock.clone())),
            errors: errors
                .map(|(error, proof)| found.failure(&error.what, proof.clone()))
                .collect(),
        }
    }

    fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.races.iter().chain(&self.deadlock).chain(&self.errors)
    }
}

impl Found {
    fn new(report: &CheckReport) -> Found {
        let found = Found {
            deadlock: report.deadlock.is_some(),
            error: report.error.is_some(),
            ..Found::default()
        };
        let Some(explored) = &report.explored else {
            return found;
        };
        let races = report.races.iter().chain(&explored.races);
        let listed: BTreeSet<&str> = races.map(|race| &*race.variable.name).collect();
        let mut racy = explored.racy_locations.iter();
        Found {
            unlisted_race: racy.any(|location| !listed.contains(location.as_str())),
            unlisted_deadlock: explored.deadlock_possible
                && explored.deadlock.is_none()
                && !found.deadlock,
            unlisted_error: explored.error_possible && explored.errors.is_empty() && !found.error,
            ..found
        }
    }
}

/// The report as JSON, in the order of its fields.
#[derive(Serialize)]
struct Json<'r> {
    program: &'r str,
    constructs: &'r [&'static str],
    engine: &'static str,
    races: FindingsJson<'r>,
    races_complete: bool,
    tasks: u64,
    joins: u64,
    accesses: u64,
    events: usize,
    judged_events: usize,
    racy_locations: &'r [String],
    deadlock: Option<DeadlockJson<'r>>,
    error: Option<FailureJson<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped: Option<&'r str>,
    orders: Option<OrdersReport>,
    explored: Option<ExploredJson<'r>>,
    guarantee: String,
    #[serde(flatten)]
    left_out: LeftOut,
    #[serde(skip_serializing_if = "Option::is_none")]
    explanation: Option<&'r ExplainReport>,
}

#[derive(Serialize)]
struct ExploredJson<'r> {
    complete: bool,
    schedules: u64,
    states: u64,
    deterministic: Option<bool>,
    racy_locations: &'r [String],
    deadlock_possible: bool,
    error_possible: bool,
    endless_possible: bool,
    races: FindingsJson<'r>,
    deadlock: Option<DeadlockJson<'r>>,
    errors: Vec<FailureJson<'r>>,
}

impl Serialize for CheckReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let explored = self.explored.as_ref().map(|explored| ExploredJson {
            complete: explored.complete,
            schedules: explored.schedules,
            states: explored.states,
            deterministic: explored.deterministic,
            racy_locations: &explored.racy_locations,
            deadlock_possible: explored.deadlock_possible,
            error_possible: explored.error_possible,
            endless_possible: explored.endless_possible,
            races: FindingsJson(&explored.races),
            deadlock: explored.deadlock.as_ref().map(DeadlockJson),
            errors: explored.errors.iter().map(FailureJson).collect(),
        });
        let json = Json {
            program: &self.program,
            constructs: &self.constructs,
            engine: self.engine,
            races: FindingsJson(&self.races),
            races_complete: self.races_complete,
            tasks: self.tasks,
            joins: self.joins,
            accesses: self.accesses,
            events: self.events,
            judged_events: self.judged_events,
            racy_locations: &self.racy_locations,
            deadlock: self.deadlock.as_ref().map(DeadlockJson),
            error: self.error.as_ref().map(FailureJson),
            stopped: self.stopped.as_deref(),
            orders: self.orders,
            explored,
            guarantee: self.guarantee(),
            left_out: self.left_out,
            explanation: self.explanation.as_ref(),
        };
        json.serialize(serializer)
    }
}

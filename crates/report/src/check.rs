//! What is known about a program after `deadheat check`.

use std::collections::BTreeSet;

use deadheat_explain::{Replay, VerifiedSchedule};
use deadheat_explore::{Gap, PossibleAccess, PossibleRace};
use deadheat_lang::{
    Ending, ErrorKind, RecordedSchedule, Run, RuntimeError, WaitingStrand, WaitsFor,
};
use deadheat_model::{
    AccessKind, Construct, Event, Findings, Names, Op, Race, RaceKind, RacingAccess, Site,
    SourcePosition, Strand,
};
use deadheat_offline::Engine;
use serde::Serialize;

use crate::check_findings::Remainder;
use crate::check_guarantee;
use crate::explain::ExplainReport;
use crate::filter::LeftOut;
use crate::parallel::Starts;

/// How long the name of a task may be before it is shortened.
const MAX_NAME: usize = 60;
/// How many tasks of a deadlock are listed.
const MAX_WAITING: usize = 1000;

/// What `deadheat check` says about one program, in the order of its JSON.
#[derive(Serialize)]
pub struct CheckReport {
    /// The file.
    pub program: String,
    /// The constructs it can use.
    pub constructs: Vec<&'static str>,
    /// The engine that judged the run.
    pub engine: &'static str,
    /// The races of the run.
    pub races: Vec<RaceReport>,
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
    pub deadlock: Option<DeadlockReport>,
    /// The error that the run ended with.
    pub error: Option<ErrorReport>,
    /// Why the run, or its judge, was stopped before its end, if one was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// Which orders of sections were visited, if that was asked for: `races` and `racy_locations` are
    /// then those of all of them.
    pub orders: Option<OrdersReport>,
    /// What all schedules do, if they were explored.
    pub explored: Option<ExploredReport>,
    /// What all this proves.
    pub guarantee: String,
    /// What was left out because a baseline or suppressions name it.
    #[serde(flatten)]
    pub left_out: LeftOut,
    /// Why the run's races are there, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<ExplainReport>,
    /// Whether what can go wrong is more than what is listed and what was left out.
    #[serde(skip)]
    pub remainder: Remainder,
    /// Whether the run alone proves that no schedule has a race.
    #[serde(skip)]
    pub proven_by_run: bool,
}

/// A race of the run.
#[derive(Clone, Debug, Serialize)]
pub struct RaceReport {
    /// Its identity, the same in every format.
    pub fingerprint: String,
    /// What both accesses touch.
    pub location: String,
    /// `write-read` and so on: first, then second.
    pub kind: String,
    /// How many pairs of accesses at these two places race.
    pub count: u64,
    /// The access that came first.
    pub first: AccessReport,
    /// The other one.
    pub second: AccessReport,
    /// How the two came to run side by side, in a sentence.
    #[serde(skip)]
    pub parallel: Option<String>,
    /// What would have ordered them, or kept them apart.
    #[serde(skip)]
    pub remedy: Option<String>,
    /// With every order of sections visited: who enters sections, one after the other, up to the
    /// race.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<Vec<String>>,
    /// With every order of sections visited: a schedule that shows it, as lines of a schedule file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule: Option<Vec<String>>,
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

/// One access of a race.
#[derive(Clone, Debug, Serialize)]
pub struct AccessReport {
    /// Its place in the program.
    #[serde(flatten)]
    pub position: SourcePosition,
    /// Whether it reads or writes.
    pub access: AccessKind,
    /// By which task or thread.
    pub task: String,
}

/// Who waits for what.
#[derive(Clone, Debug, Serialize)]
pub struct DeadlockReport {
    /// Its identity, the same in every format.
    pub fingerprint: String,
    /// Who waits.
    pub waiting: Vec<WaitingReport>,
    /// How many more do.
    pub more: usize,
}

/// One task or thread that waits.
#[derive(Clone, Debug, Serialize)]
pub struct WaitingReport {
    /// Its name.
    pub task: String,
    /// For what, in words.
    pub waits_for: String,
    /// Its place in the program.
    #[serde(flatten)]
    pub position: SourcePosition,
}

/// A run-time error.
#[derive(Clone, Debug, Serialize)]
pub struct ErrorReport {
    /// Its identity, the same in every format.
    pub fingerprint: String,
    /// What went wrong.
    pub message: String,
    /// Its place in the program.
    #[serde(flatten)]
    pub position: SourcePosition,
    /// In which task or thread.
    pub task: String,
    /// Where the promise was set first, if it was set twice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_set: Option<SourcePosition>,
}

/// What all schedules do.
#[derive(Clone, Debug, Serialize)]
pub struct ExploredReport {
    /// Whether every schedule was covered.
    pub complete: bool,
    /// Why not.
    #[serde(skip)]
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
    pub races: Vec<ExploredRaceReport>,
    /// A deadlock that some schedule ends in, with that schedule.
    pub deadlock: Option<Example<DeadlockReport>>,
    /// The errors that some schedule ends with, each with such a schedule.
    pub errors: Vec<Example<ErrorReport>>,
}

/// Something that some schedule ends in.
#[derive(Clone, Debug, Serialize)]
pub struct Example<T> {
    /// What goes wrong at its end.
    #[serde(flatten)]
    pub what: T,
    /// A schedule that ends so, as lines of a schedule file.
    pub schedule: Vec<String>,
}

/// A race that some schedule has.
#[derive(Clone, Debug, Serialize)]
pub struct ExploredRaceReport {
    /// Its identity, the same in every format.
    pub fingerprint: String,
    /// What both accesses touch.
    pub location: String,
    /// `write-read` and so on: first, then second.
    pub kind: String,
    /// The access that comes first in the schedule.
    pub first: AccessReport,
    /// The other one.
    pub second: AccessReport,
    /// A schedule that shows it, up to the second access, as lines of a schedule file.
    pub schedule: Vec<String>,
}

impl CheckReport {
    /// Puts together what is known about a program.
    pub fn new(
        program: impl Into<String>,
        constructs: &[Construct],
        run: &Run,
        engine: &Engine,
        findings: &Findings,
        orders: Option<&Replay>,
        exploration: Option<&Replay>,
    ) -> CheckReport {
        let tables = &run.execution.names;
        let races = findings.races.iter().map(|finding| &finding.race);
        let names = StrandNames::of_tables(tables);
        let starts = Starts::new(&run.execution);
        let races: Vec<RaceReport> = match orders {
            None => races
                .map(|race| race_report(race, tables, &starts))
                .collect(),
            Some(orders) => {
                let names = StrandNames {
                    strands: orders.exploration.strand_names.clone(),
                    ..names
                };
                let found = orders.races.iter();
                let found = found.map(|(race, proof)| names.order_race(race, proof.as_ref()));
                let mut found: Vec<RaceReport> = found.collect();
                // The run is one of the orders, also of a search that was cut short before it.
                let known: BTreeSet<String> = found.iter().map(|r| r.location.clone()).collect();
                let own = races.map(|race| race_report(race, tables, &starts));
                found.extend(own.filter(|race| !known.contains(&race.location)));
                found
            }
        };
        let (mut deadlock, mut error, mut stopped) = (None, None, None);
        match &run.ending {
            Ending::Finished => {}
            Ending::Deadlock(waiting) => deadlock = Some(names.deadlock(waiting)),
            Ending::Error(failure) => error = Some(names.error(failure)),
            Ending::Stopped(why) => stopped = Some(why.to_string()),
            Ending::StillRunning => {
                let last = run.execution.events.last();
                error = Some(ErrorReport {
                    fingerprint: String::new(),
                    message: "still running when `--max-steps` stopped it".to_string(),
                    position: names.position(last.map_or(Site(0), |event| event.site())),
                    task: names.strand(last.map_or(Strand::MAIN, |event| event.strand())),
                    first_set: None,
                });
            }
        }
        let stopped = stopped.or_else(|| findings.stopped.map(|why| why.to_string()));
        let racy_locations: BTreeSet<String> = races.iter().map(|r| r.location.clone()).collect();
        let explored = exploration.map(|exploration| {
            let mut explored = explored(exploration, tables);
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
            tasks: tables.strands.len() as u64 - 1,
            joins: count(&|event| {
                matches!(event.op(), Op::FinishEnd(_) | Op::Get(_) | Op::Join(_))
            }),
            accesses: count(&|event| event.access().is_some()),
            events: run.execution.events.len(),
            judged_events: findings.judged as usize,
            racy_locations: racy_locations.into_iter().collect(),
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
            guarantee: String::new(),
            left_out: LeftOut::default(),
            explanation: None,
            remainder: Remainder::default(),
            proven_by_run: false,
        };
        report.remainder = Remainder::new(&report);
        report.proven_by_run = check_guarantee::is_proven_by_run(&report, constructs, run);
        report.guarantee = check_guarantee::sentence(&report, constructs, run);
        report
    }

    /// Whether the run, some explored schedule or some order of sections ends in a deadlock.
    pub fn has_deadlock(&self) -> bool {
        let explored = self.explored.as_ref();
        let elsewhere = explored.is_some_and(|explored| explored.deadlock.is_some())
            || self.orders.is_some_and(|orders| orders.deadlock_possible);
        self.deadlock.is_some() || elsewhere || self.remainder.deadlock
    }

    /// Whether the run, some explored schedule or some order of sections ends with an error.
    pub fn has_error(&self) -> bool {
        let explored = self.explored.as_ref();
        let elsewhere = explored.is_some_and(|explored| !explored.errors.is_empty())
            || self.orders.is_some_and(|orders| orders.error_possible);
        self.error.is_some() || elsewhere || self.remainder.error
    }

    /// Whether something that was asked for was not seen to its end: the run, its races, the schedules,
    /// the orders of sections.
    pub fn is_incomplete(&self) -> bool {
        let explored = self.explored.as_ref().map(|explored| explored.complete);
        let orders = self.orders.map(|orders| orders.complete);
        let ran = self.stopped.is_none();
        let judged = ran && self.judged_events == self.events && self.races_complete;
        let searched = explored != Some(false) && orders != Some(false);
        !judged || !searched && !self.proven_by_run
    }

    /// Whether a race was found, in the run or in some other schedule.
    pub fn has_race(&self) -> bool {
        let explored = self.explored.as_ref();
        let elsewhere = explored.is_some_and(|explored| !explored.races.is_empty());
        !self.races.is_empty() || elsewhere || self.remainder.race
    }
}

/// The names of strands and places.
struct StrandNames<'t> {
    strands: Vec<String>,
    tables: &'t Names,
}

impl<'t> StrandNames<'t> {
    fn of_tables(tables: &'t Names) -> StrandNames<'t> {
        StrandNames {
            strands: Vec::new(),
            tables,
        }
    }

    fn strand(&self, strand: Strand) -> String {
        match self.strands.get(strand.index()) {
            Some(name) => short_name(name),
            None => short_name(&self.tables.strand(strand)),
        }
    }

    fn position(&self, site: Site) -> SourcePosition {
        self.tables.position(site).unwrap_or(SourcePosition {
            line: 1,
            column: 1,
            offset: 0,
            length: 0,
        })
    }

    fn deadlock(&self, waiting: &[WaitingStrand]) -> DeadlockReport {
        let more = waiting.len().saturating_sub(MAX_WAITING);
        let waiting = waiting.iter().take(MAX_WAITING);
        let waiting = waiting.map(|waiting| WaitingReport {
            task: self.strand(waiting.strand),
            waits_for: self.waits_for(waiting),
            position: self.position(waiting.site),
        });
        DeadlockReport {
            fingerprint: String::new(),
            waiting: waiting.collect(),
            more,
        }
    }

    fn waits_for(&self, waiting: &WaitingStrand) -> String {
        let name = waiting.name.as_deref();
        let named = |what: &str| match name {
            Some(name) => format!("{what} `{name}`"),
            None => format!("a {what}"),
        };
        let mut text = match waiting.waits_for {
            WaitsFor::Promise(_) => format!("{}, which nobody has set", named("promise")),
            WaitsFor::Strand(strand) => format!("{} to end", self.strand(strand)),
            WaitsFor::Finish(_) => "the tasks of its finish to end".to_string(),
            WaitsFor::Lock(_) => named("lock"),
            WaitsFor::Semaphore(_) => format!("a token of {}", named("semaphore")),
            WaitsFor::Event(_) => format!("{} to be posted", named("event")),
            WaitsFor::Isolated => "`isolated`".to_string(),
        };
        if let Some(holder) = waiting.held_by {
            text += &format!(", held by {}", self.strand(holder));
        }
        if waiting.holder_ended {
            text += ", which has ended";
        }
        text
    }

    fn error(&self, error: &RuntimeError) -> ErrorReport {
        ErrorReport {
            fingerprint: String::new(),
            message: error.kind.to_string(),
            position: self.position(error.site),
            task: self.strand(error.strand),
            first_set: match error.kind {
                ErrorKind::SetTwice { first } => Some(self.position(first)),
                _ => None,
            },
        }
    }

    fn order_race(&self, race: &PossibleRace, proof: Option<&VerifiedSchedule>) -> RaceReport {
        let order = race.sections.iter().map(|&strand| self.strand(strand));
        RaceReport {
            fingerprint: String::new(),
            location: race.location.clone(),
            kind: RaceKind(race.first.kind, race.second.kind).to_string(),
            count: 1,
            first: self.explored_access(&race.first),
            second: self.explored_access(&race.second),
            parallel: None,
            remedy: None,
            order: Some(order.collect()),
            schedule: Some(proof.map(|proof| lines(proof.proof())).unwrap_or_default()),
        }
    }

    fn explored_access(&self, access: &PossibleAccess) -> AccessReport {
        AccessReport {
            position: self.position(access.site),
            access: access.kind,
            task: self.strand(access.strand),
        }
    }
}

fn race_report(race: &Race, tables: &Names, starts: &Starts) -> RaceReport {
    let names = StrandNames::of_tables(tables);
    let access = |access: &RacingAccess| AccessReport {
        position: names.position(access.site),
        access: access.kind,
        task: names.strand(access.strand),
    };
    let (parallel, remedy) = starts.story(race, &|strand| names.strand(strand));
    RaceReport {
        fingerprint: String::new(),
        location: tables.location(race.location).to_string(),
        kind: RaceKind(race.first.kind, race.second.kind).to_string(),
        count: race.count,
        first: access(&race.first),
        second: access(&race.second),
        parallel,
        remedy,
        order: None,
        schedule: None,
    }
}

/// A strand's name, cut if it is long: a recursion can make names of millions of characters.
pub(crate) fn short_name(name: &str) -> String {
    let Some((end, _)) = name.char_indices().nth(MAX_NAME) else {
        return name.to_string();
    };
    let start = &name[..end];
    match name.matches('/').count() {
        0 => format!("{start}…"),
        depth => format!("{start}… ({depth} deep)"),
    }
}

/// A schedule as the lines of a schedule file.
fn lines(schedule: &RecordedSchedule) -> Vec<String> {
    let text = schedule.to_string();
    text.lines().map(str::to_string).collect()
}

fn explored(replayed: &Replay, tables: &Names) -> ExploredReport {
    let exploration = replayed.exploration;
    // The numbers of strands in an exploration are its own.
    let names = StrandNames {
        strands: exploration.strand_names.clone(),
        tables,
    };
    let races = replayed
        .races
        .iter()
        .map(|(race, proof)| ExploredRaceReport {
            fingerprint: String::new(),
            location: race.location.clone(),
            kind: RaceKind(race.first.kind, race.second.kind).to_string(),
            first: names.explored_access(&race.first),
            second: names.explored_access(&race.second),
            schedule: proof
                .as_ref()
                .map(|proof| lines(proof.proof()))
                .unwrap_or_default(),
        });
    let deadlock = exploration.deadlock.as_ref();
    let errors = exploration.errors.iter();
    ExploredReport {
        complete: replayed.is_complete(),
        gap: exploration.gap,
        schedules: exploration.schedules,
        states: exploration.states,
        deterministic: exploration.deterministic,
        racy_locations: replayed.racy_locations(),
        deadlock_possible: deadlock.is_some(),
        error_possible: !exploration.errors.is_empty(),
        endless_possible: exploration.endless,
        races: races.collect(),
        deadlock: deadlock.map(|found| Example {
            what: names.deadlock(&found.what),
            schedule: lines(&found.schedule),
        }),
        errors: errors
            .map(|found| Example {
                what: names.error(&found.what),
                schedule: lines(&found.schedule),
            })
            .collect(),
    }
}

//! What a run has shown: its races, and what they or their absence prove.

use std::fmt;

use deadheat_model::finding::{Describer, Rule, SourceLines};
use deadheat_model::{
    Execution, Finding, Findings, FoundRace, Location, Names, Parent, Race, RacingAccess, Site,
    Strand, path_name,
};
use deadheat_order::Step;
use deadheat_trace::TraceError;
use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::error::{Error, place};
use crate::monitor::{Birth, Monitor};
use crate::options::Check;
use crate::sync::lock;

/// What a run gave, and what was found out about it. The report is there whether or not the run came to its end.
#[derive(Debug)]
pub struct Outcome<R> {
    /// What the program gave, or why it did not come to its end.
    pub result: Result<R, Error>,
    /// What was found.
    pub report: Report,
}

/// What a run has shown. Serialises in the way of `deadheat run --json`; shown as text by `Display`.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// What checked: `spd3`, `drdp` or `off`.
    pub engine: &'static str,
    /// How many tasks there were, the first one included; 0 if nothing was checked or recorded.
    pub tasks: u32,
    /// One for each pair of places in the source.
    pub races: Vec<RaceReport>,
    /// What all this proves.
    pub guarantee: String,
    /// Whether the run is proven to have no race, and so to give the same under every schedule.
    pub deterministic: bool,
    /// The races in deadheat's own terms. An access has no event's number.
    #[serde(skip)]
    pub findings: Findings,
    /// What the numbers in `findings` stand for.
    #[serde(skip)]
    pub names: Names,
    /// What has happened, if that was to be kept.
    #[serde(skip)]
    pub execution: Option<Execution>,
}

/// A race.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct RaceReport {
    /// `write-read` and so on.
    pub kind: String,
    /// What both touch.
    pub variable: String,
    /// How many elements race at these two places; more for what races again.
    pub count: u64,
    /// The access that came first in this run.
    pub first: AccessReport,
    /// The other one.
    pub second: AccessReport,
}

/// One access of a race.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct AccessReport {
    /// The task by its path: `main`, its second child `main/2`, the first one of that `main/2/1`.
    pub task: String,
    /// Whether it reads or writes.
    pub access: &'static str,
    /// Where in the source: file, line and column.
    pub loc: String,
    /// Where the task and those above it were started, outermost first.
    pub spawned: Vec<String>,
}

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ending {
    Complete,
    /// Nothing could run any more: what has happened happens in every schedule.
    Deadlock,
    /// A panic, an error, or a promise set twice.
    Cut,
}

impl Report {
    /// Nothing was checked.
    pub(crate) fn unchecked() -> Report {
        Report {
            engine: Check::Off.name(),
            tasks: 0,
            races: Vec::new(),
            guarantee: "nothing was checked".to_string(),
            deterministic: false,
            findings: Findings::default(),
            names: Names::default(),
            execution: None,
        }
    }

    /// The races as every other source of deadheat describes them, with their identities: for SARIF, a page, or a baseline.
    /// The sources say what stands on the lines; `&()` knows none.
    pub fn described(&self, sources: &dyn SourceLines) -> Vec<Finding> {
        let mut describer = Describer::new(&self.names, sources);
        let races = self.findings.races.iter();
        races
            .map(|found| describer.finding(Rule::Race, self.engine, &found.race))
            .collect()
    }

    /// The report as JSON.
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, race) in (1..).zip(&self.races) {
            writeln!(f, "race {number}: {} on {}", race.kind, race.variable)?;
            for access in [&race.first, &race.second] {
                let AccessReport {
                    task, access, loc, ..
                } = access;
                writeln!(f, "  {task} {access}s at {loc}")?;
            }
            for access in [&race.first, &race.second] {
                if let Some(start) = access.spawned.last() {
                    writeln!(f, "  {} was started at {start}", access.task)?;
                }
            }
            if race.count > 1 {
                writeln!(f, "  {} elements or times at these places", race.count)?;
            }
            writeln!(f)?;
        }
        writeln!(f, "{}: {}", self.engine, self.guarantee)
    }
}

/// How many ordinals of a path are written out.
const MAX_PATH: usize = 40;

/// The tasks of a run, by number and by first step.
struct Tasks {
    births: Vec<Birth>,
    by_first: FxHashMap<u32, u32>,
}

impl Tasks {
    /// The tasks of a run; none if nobody is to be named.
    fn new(monitor: &Monitor, named: bool) -> Tasks {
        if !named {
            return Tasks {
                births: Vec::new(),
                by_first: FxHashMap::default(),
            };
        }
        let mut births = lock(&monitor.births).clone();
        births.sort_unstable_by_key(|birth| birth.number);
        let by_first = births.iter().map(|birth| (birth.first.0, birth.number));
        Tasks {
            by_first: by_first.collect(),
            births,
        }
    }

    /// The birth of a task; the first one has none.
    fn birth(&self, number: u32) -> Option<&Birth> {
        // Numbers are dense.
        let birth = self.births.get(number.checked_sub(1)? as usize)?;
        (birth.number == number).then_some(birth)
    }

    fn of_step(&self, monitor: &Monitor, step: Step) -> u32 {
        let first = monitor.structure.tree.first_step(step);
        self.by_first.get(&first.0).copied().unwrap_or(0)
    }

    /// A task and those above it, the outermost but the first task first.
    fn line(&self, number: u32) -> Vec<&Birth> {
        let mut line: Vec<&Birth> =
            std::iter::successors(self.birth(number), |birth| self.birth(birth.parent)).collect();
        line.reverse();
        line
    }

    fn name(&self, number: u32) -> String {
        let line = self.line(number);
        let path: Vec<u32> = line.iter().map(|birth| birth.ordinal).collect();
        if path.len() <= MAX_PATH {
            return path_name(&path);
        }
        let (start, end) = (&path[..MAX_PATH / 2], &path[path.len() - MAX_PATH / 2..]);
        let end = path_name(end);
        let end = end.trim_start_matches("main");
        format!("{}/…{end} (task {number})", path_name(start))
    }
}

impl Monitor {
    /// What tasks are called.
    pub(crate) fn task_names(&self, numbers: &[Option<u32>]) -> Vec<Option<String>> {
        let tasks = Tasks::new(self, true);
        let names = numbers.iter().map(|number| Some(tasks.name((*number)?)));
        names.collect()
    }

    /// Puts together what is known at the end, and writes the trace if one is wanted.
    pub(crate) fn report(&self, ending: Ending) -> (Report, Result<(), TraceError>) {
        let ending = match self.set_twice.load(std::sync::atomic::Ordering::Relaxed) {
            true => Ending::Cut,
            false => ending,
        };
        let races = lock(&self.races);
        let tasks = Tasks::new(self, !races.found.is_empty() || self.events.is_some());
        let places: Vec<String> = self.places().into_iter().map(place).collect();
        let variables = lock(&self.variables);
        let mut names = Names {
            sites: places.clone(),
            ..Names::default()
        };
        let mut findings = Vec::new();
        let mut reports = Vec::new();
        let mut strands = FxHashMap::default();
        let mut locations: FxHashMap<Location, u64> = FxHashMap::default();
        for (found, count) in &races.found {
            let variable = variables.name(found.location);
            let number = locations.entry(found.location).or_insert_with(|| {
                names.locations.push(variable.clone());
                names.locations.len() as u64 - 1
            });
            let location = Location(*number);
            let mut access = |end: usize| {
                let task = tasks.of_step(self, found.steps[end]);
                let name = tasks.name(task);
                let strand = *strands.entry(task).or_insert_with(|| {
                    names.strands.push(name.clone());
                    Strand(names.strands.len() as u32 - 1)
                });
                let spawned = tasks.line(task).into_iter();
                let report = AccessReport {
                    task: name,
                    access: match found.kinds[end] {
                        deadheat_model::AccessKind::Read => "read",
                        deadheat_model::AccessKind::Write => "write",
                    },
                    loc: places[found.sites[end] as usize].clone(),
                    spawned: spawned
                        .map(|birth| places[birth.site as usize].clone())
                        .collect(),
                };
                let racing = RacingAccess {
                    event: 0,
                    strand,
                    site: Site(found.sites[end]),
                    kind: found.kinds[end],
                };
                (report, racing)
            };
            let ((first_report, first), (second_report, second)) = (access(0), access(1));
            let race = Race {
                location,
                first,
                second,
                count: *count,
            };
            reports.push(RaceReport {
                kind: race.kind().to_string(),
                variable,
                count: *count,
                first: first_report,
                second: second_report,
            });
            findings.push(FoundRace::from(race));
        }
        let clean = reports.is_empty() && self.check != Check::Off;
        let deterministic = clean && ending != Ending::Cut;
        let execution = self.events.as_ref().map(|events| Execution {
            events: std::mem::take(&mut *lock(events)),
            names: self.names(&tasks, places, variables.names()),
        });
        let written = match (&self.options.record, &execution) {
            (Some(path), Some(execution)) => deadheat_trace::save(path, execution),
            _ => Ok(()),
        };
        let report = Report {
            engine: self.check.name(),
            tasks: self.task_count(),
            guarantee: self.guarantee(reports.len(), ending),
            races: reports,
            deterministic,
            findings: Findings {
                races: findings,
                racy: races.racy(),
                all_listed: false,
                ..Findings::default()
            },
            names,
            execution: execution.filter(|_| self.options.keep),
        };
        (report, written)
    }

    /// The names of a whole execution.
    fn names(&self, tasks: &Tasks, sites: Vec<String>, locations: Vec<String>) -> Names {
        let parent = |number| {
            let birth = tasks.birth(number)?;
            Some(Parent {
                strand: Strand(birth.parent),
                ordinal: birth.ordinal,
            })
        };
        let count = self.task_count();
        Names {
            strands: (0..count).map(|number| tasks.name(number)).collect(),
            parents: (0..count).map(parent).collect(),
            sites,
            locations,
            ..Names::default()
        }
    }

    fn guarantee(&self, races: usize, ending: Ending) -> String {
        let count = self.task_count();
        let tasks = match count {
            1 => "1 task".to_string(),
            count => format!("{count} tasks"),
        };
        match (self.check, races, ending) {
            (Check::Off, ..) => format!("nothing was checked ({tasks})"),
            (_, 0, Ending::Complete) => {
                format!(
                    "race-free and deterministic for this input, under every schedule ({tasks})"
                )
            }
            (_, 0, Ending::Deadlock) => {
                format!("deadlock under every schedule, and no race before it ({tasks})")
            }
            (_, 0, Ending::Cut) => {
                format!(
                    "no race was found, but there was a panic, an error or a promise set twice ({tasks}), so this proves nothing"
                )
            }
            (_, races, _) => {
                let races = match races {
                    1 => "1 race".to_string(),
                    races => format!("races at {races} pairs of places"),
                };
                format!("{races} ({tasks}): nothing orders the two accesses, whatever the schedule")
            }
        }
    }
}

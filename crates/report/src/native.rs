//! What `deadheat run` says about a C or C++ program, for other programs to read.

use std::rc::Rc;

use deadheat_native::{Creation, Frame, HeldLock, NativeAccess, NativeRace, Place, Survey};
use serde::Serialize;

use crate::filter::Filter;
use crate::fingerprint::fingerprint;
use crate::sources::Sources;
use crate::style::{counted, grouped};

/// The JSON of `deadheat run`.
#[derive(Debug, Serialize)]
pub struct RunReport {
    /// What found the races.
    pub engine: &'static str,
    threads: u64,
    races: Vec<RaceReport>,
    suppressed: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    known: Option<u64>,
    /// What the run proves, in one sentence.
    pub guarantee: String,
}

#[derive(Debug, Serialize)]
pub(crate) struct RaceReport {
    fingerprint: String,
    kind: &'static str,
    variable: String,
    count: u64,
    first: AccessReport,
    second: AccessReport,
    #[serde(skip_serializing_if = "Option::is_none")]
    allocation: Option<AllocationReport>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    created: Vec<CreationReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pid: Option<u64>,
}

#[derive(Debug, Serialize)]
struct AccessReport {
    thread: String,
    access: &'static str,
    atomic: bool,
    #[serde(skip_serializing_if = "is_zero")]
    size: u64,
    loc: String,
    function: Option<String>,
    stack: Vec<FrameReport>,
    locks: Vec<LockReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<String>,
}

#[derive(Debug, Serialize)]
struct FrameReport {
    function: Option<String>,
    file: Option<String>,
    line: Option<u32>,
    column: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    module: Option<String>,
}

#[derive(Debug, Serialize)]
struct LockReport {
    name: String,
    shared: bool,
}

#[derive(Debug, Serialize)]
struct AllocationReport {
    size: u64,
    offset: u64,
    thread: String,
    stack: Vec<FrameReport>,
}

#[derive(Debug, Serialize)]
struct CreationReport {
    thread: String,
    parent: String,
    finished: bool,
    stack: Vec<FrameReport>,
}

impl RunReport {
    /// What is to be said about a run.
    pub fn new(survey: &Survey, sources: &Sources) -> RunReport {
        RunReport {
            engine: match survey.openmp {
                Some(_) => "openmp",
                None => "fasttrack",
            },
            threads: survey.threads,
            races: survey
                .races
                .iter()
                .map(|race| RaceReport::new(race, sources))
                .collect(),
            suppressed: survey.suppressed,
            known: survey.in_baseline,
            guarantee: guarantee(survey),
        }
    }
}

impl RaceReport {
    /// What is to be said about one race.
    pub fn new(race: &NativeRace, sources: &Sources) -> RaceReport {
        let allocation = match &race.place {
            Place::Heap {
                offset,
                size,
                thread,
                stack: calls,
            } => Some(AllocationReport {
                size: *size,
                offset: *offset,
                thread: thread.clone(),
                stack: stack(calls),
            }),
            _ => None,
        };
        RaceReport {
            fingerprint: identity(race, sources),
            kind: race.kind(),
            variable: race.variable.clone(),
            count: race.count,
            first: access(&race.first),
            second: access(&race.second),
            allocation,
            created: race.creations.iter().map(creation).collect(),
            pid: race.pid,
        }
    }
}

/// Leaves out the races that a baseline knows.
pub fn leave_out_known(survey: &mut Survey, filter: &Filter, sources: &Sources) {
    let mut left_out = filter.start();
    survey
        .races
        .retain(|race| !filter.knows(&identity(race, sources), &mut left_out));
    survey.in_baseline = left_out.known;
}

/// The identity of a race: the same as that of the race in a recording of the run.
pub fn identity(race: &NativeRace, sources: &Sources) -> String {
    let end = |access: &NativeAccess| {
        let site = access.site();
        site.map_or_else(String::new, |site| site.location())
    };
    let [first, second] = [end(&race.first), end(&race.second)];
    fingerprint(sources, "race", &race.variable, &[&first, &second])
}

fn access(access: &NativeAccess) -> AccessReport {
    let innermost = access.stack.first();
    let lock = |lock: &HeldLock| LockReport {
        name: lock.name.clone(),
        shared: !lock.write,
    };
    AccessReport {
        thread: access.thread.clone(),
        access: match (access.what.as_str(), access.write) {
            ("free", _) => "free",
            (_, true) => "write",
            (_, false) => "read",
        },
        atomic: access.atomic,
        size: access.size,
        loc: innermost.map_or_else(|| "?".to_string(), |frame| frame.location()),
        function: innermost.and_then(|frame| frame.function.clone()),
        stack: stack(&access.stack),
        locks: access.locks.iter().map(lock).collect(),
        task: access.tasks.first().map(crate::openmp::task_in_full),
    }
}

/// In a trace, sizes have become locations.
fn is_zero(size: &u64) -> bool {
    *size == 0
}

fn creation(creation: &Creation) -> CreationReport {
    CreationReport {
        thread: creation.thread.clone(),
        parent: creation.parent.clone(),
        finished: creation.finished,
        stack: stack(&creation.stack),
    }
}

fn stack(calls: &[Rc<Frame>]) -> Vec<FrameReport> {
    let frame = |frame: &Rc<Frame>| FrameReport {
        function: frame.function.clone(),
        file: frame.file.clone(),
        line: frame.line,
        column: frame.column,
        module: frame.file.is_none().then(|| frame.location()),
    };
    calls.iter().map(frame).collect()
}

/// What is said of all that did not happen, where nobody has looked for it.
pub(crate) const MAY_HAVE: &str = "; another schedule or input may have one";

/// What a run proves, and no more: happens-before is exact for the schedule that ran, and only for it.
fn guarantee(survey: &Survey) -> String {
    let ran = match survey.processes {
        0 | 1 => counted(survey.threads, "thread"),
        n => format!("{} in {n} processes", counted(survey.threads, "thread")),
    };
    let hidden = match survey.suppressed {
        0 => String::new(),
        n => format!("; {} suppressed", counted(n, "race")),
    };
    let known = survey.in_baseline.unwrap_or(0);
    let races = survey.races.len() as u64 + known;
    let mut sentence = match (races, &survey.openmp) {
        (0, _) if survey.full.is_some() => {
            format!("no race was written down in this run ({ran}{hidden})")
        }
        (0, Some(openmp)) => crate::openmp::guarantee(&format!("{ran}{hidden}"), openmp),
        (0, None) => format!("no race in this run ({ran}{hidden}){MAY_HAVE}"),
        (1, _) => format!("1 race in this run ({ran}{hidden}): nothing orders its two accesses"),
        _ => format!(
            "{} in this run ({ran}{hidden}): nothing orders the two accesses of each",
            counted(races, "race")
        ),
    };
    sentence += &match known {
        0 => String::new(),
        n if n == races => "; the baseline knows all of them".to_string(),
        n => format!("; the baseline knows {} of them", grouped(n)),
    };
    if let Some(why) = survey.full {
        sentence += &format!("; there was no room for everything ({why}), so races may be missing");
    }
    let never_run = survey.openmp.as_ref().map_or(0, |openmp| openmp.never_run);
    if never_run > 0 {
        sentence += &format!(
            "; OpenMP's runtime has not run {} that the program created: what it does is not known",
            counted(never_run, "task")
        );
    }
    if survey.dropped > 0 {
        sentence += &format!(
            "; {} could not be tracked, so races may be missing",
            counted(survey.dropped, "access or thread")
        );
    }
    if survey.unreported > 0 {
        sentence += &format!("; {} more were only counted", grouped(survey.unreported));
    }
    if survey.damaged > 0 {
        sentence += &format!(
            "; {} of the findings could not be read",
            counted(survey.damaged, "line")
        );
    }
    if survey.killed > 0 {
        sentence += match races {
            0 => "; a signal ended the program before its threads were counted",
            _ => "; the program was killed, so the counts are lower bounds",
        };
    }
    if survey.left_behind {
        sentence += "; a process that it started still runs: what that does is not known";
    }
    sentence
}

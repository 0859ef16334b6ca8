//! What a check of a `.tp` program proves.

use std::collections::HashMap;

use deadheat_explore::{Gap, MAX_SCHEDULES};
use deadheat_lang::{Ending, Run};
use deadheat_model::{Construct, StopReason, Strand};
use deadheat_offline::Worth;

use crate::check::{CheckReport, ExploredReport, OrdersReport};
use crate::text::style::{counted, grouped, listed};

/// What a run, its races and a search if there was one prove.
pub(crate) fn of_program(report: &CheckReport) -> String {
    promise(report) + &report.left_out.sentence()
}

fn promise(report: &CheckReport) -> String {
    let (events, judged) = (report.events, report.judged_events);
    let has_sections = report.constructs.contains(&Construct::Isolated.word());
    let judged_all_orders = report.orders.filter(|_| has_sections);
    let unfinished = match (&report.explored, judged_all_orders) {
        (Some(explored), _) => !explored.complete,
        (None, Some(orders)) => !orders.complete,
        (None, None) => false,
    };
    // A search that was cut short takes nothing from what the run proves.
    if unfinished && report.ran.is_proof {
        return of_run(report);
    }
    match (&report.explored, judged_all_orders) {
        (Some(explored), _) => of_exploration(explored),
        (None, Some(orders)) => of_orders(report, orders),
        (None, None) if judged < events => format!(
            "{} in the first {} of {} of this schedule; the rest was not judged, {}",
            found(report),
            grouped(judged as u64),
            counted(events as u64, "event"),
            match &report.stopped {
                Some(why) => why,
                None => "its graph is too large",
            },
        ),
        (None, None)
            if report.stopped.is_some() && !matches!(report.ran.ending, Ending::Stopped(_)) =>
        {
            format!(
                "{} so far; {} was stopped before it had judged all of this schedule ({})",
                found(report),
                report.engine,
                report.stopped.as_deref().unwrap_or_default(),
            )
        }
        (None, None) => of_run(report),
    }
}

/// What was found in the run.
fn found(report: &CheckReport) -> String {
    match report.racy_locations.len() as u64 {
        0 => "no race".to_string(),
        n => counted(n, "racy location"),
    }
}

fn of_exploration(explored: &ExploredReport) -> String {
    let schedules = match explored.schedules {
        MAX_SCHEDULES => "more than 10^19 schedules".to_string(),
        n => counted(n, "schedule"),
    };
    let covered = format!("{schedules}, {}", counted(explored.states, "state"));
    let mut ends = Vec::new();
    if explored.deadlock_possible {
        ends.push("a deadlock");
    }
    if explored.error_possible {
        ends.push("an error");
    }
    let who = match explored.deterministic {
        Some(true) => "each",
        _ => "some schedule",
    };
    let mut some_end = match ends.is_empty() {
        true => String::new(),
        false => format!("; {who} ends in {}", ends.join(", another in ")),
    };
    if explored.endless_possible {
        some_end += "; some schedule never ends";
    }
    let racy = explored.racy_locations.len() as u64;
    let names = match explored.racy_locations.len() {
        0..=4 => {
            let quoted = explored
                .racy_locations
                .iter()
                .map(|name| format!("`{name}`"));
            listed(&quoted.collect::<Vec<_>>())
        }
        n => counted(n as u64, "location"),
    };
    if !explored.complete {
        let found = match racy {
            0 => "no race found so far".to_string(),
            _ => format!("{names} can race, and there may be more"),
        };
        let more = match explored.gap {
            Some(Gap::States) | None => "raise --max-states to go on",
            Some(Gap::Stopped(StopReason::Asked)) => "interrupted",
            Some(Gap::Stopped(StopReason::TimeUp)) => "its time was up: raise --timeout to go on",
            Some(Gap::Stopped(StopReason::MemoryFull)) => {
                "its memory was full: raise --max-memory to go on"
            }
            Some(_) => "one schedule's states take too much memory",
        };
        return format!(
            "{found}{some_end}; not every schedule was explored (stopped after {covered}; {more})"
        );
    }
    match (racy, explored.deterministic) {
        (0, Some(true)) => format!(
            "race-free and deterministic for this input, under every schedule{some_end} ({covered}, \
             all explored)"
        ),
        (0, _) => format!(
            "race-free for this input under every schedule, but not deterministic{some_end} \
             ({covered}, all explored)"
        ),
        _ => format!("{names} can race, no other location can{some_end} ({covered}, all explored)"),
    }
}

fn of_orders(report: &CheckReport, orders: OrdersReport) -> String {
    let visited = counted(orders.visited, "order");
    let all = format!("{visited} of isolated sections, all that can differ");
    let found = report.found();
    let ends = match (found.error, found.deadlock) {
        (true, _) => "; this one ends in an error",
        (_, true) => "; this one ends in a deadlock",
        _ if orders.error_possible => "; another one ends in an error (--save-schedule saves it)",
        _ if orders.deadlock_possible => {
            "; another one ends in a deadlock (--save-schedule saves it)"
        }
        _ => "",
    };
    let open = match orders.gap {
        _ if found.error => "what other schedules do, `--explore` tells",
        Some(Gap::Orders) => "there are more (raise --max-orders)",
        Some(Gap::Steps) => "a run takes longer (raise --max-steps)",
        Some(Gap::Stopped(StopReason::Asked)) => "interrupted before all were visited",
        Some(Gap::Stopped(StopReason::TimeUp)) => {
            "the time was up before all were visited (raise --timeout)"
        }
        Some(Gap::Stopped(StopReason::MemoryFull)) => {
            "the memory was full before all were visited (raise --max-memory)"
        }
        Some(Gap::RunSize) => "the run is too long for orders of its sections to be compared",
        _ => "what other orders do, `--explore` tells",
    };
    match (report.racy_locations.len() as u64, orders.complete) {
        (0, true) => format!("race-free for this input, under every schedule ({all}){ends}"),
        (0, false) if orders.visited == 0 => format!("no race in this schedule{ends}; {open}"),
        (0, false) => format!("no race in {visited} of isolated sections{ends}; {open}"),
        (n, true) => format!(
            "{} in some order ({all}); what else a program does once it races, `--explore` tells",
            counted(n, "racy location")
        ),
        (n, false) => format!(
            "{} in some order of isolated sections; {visited} visited, {open}",
            counted(n, "racy location")
        ),
    }
}

fn of_run(report: &CheckReport) -> String {
    let choosing = &report.ran.choosing;
    let others = match choosing[..] {
        ["isolated"] => "--all-orders",
        _ => "--explore",
    };
    if let Some(sentence) = of_prediction(report, others) {
        return sentence;
    }
    match (&report.ran.ending, report.racy_locations.is_empty()) {
        (Ending::Error(_), true) => {
            "no race before the error; what other schedules do, `--explore` tells".to_string()
        }
        (Ending::StillRunning, true) => {
            "no race so far; the run was stopped before its end (`--max-steps`)".to_string()
        }
        (Ending::Stopped(why), true) => {
            format!("no race so far; the run was stopped before its end ({why})")
        }
        (_, false) => format!(
            "{} in this schedule: nothing orders the accesses shown; `{others}` tells what other \
             schedules do",
            counted(report.racy_locations.len() as u64, "racy location")
        ),
        (Ending::Finished, true) if choosing.is_empty() => format!(
            "race-free and deterministic for this input, under every schedule ({})",
            covered(report)
        ),
        (Ending::Deadlock(_), true) if choosing.is_empty() => format!(
            "race-free for this input, and every schedule ends in this deadlock ({})",
            covered(report)
        ),
        (ending, true) => format!(
            "no race in this schedule{}; others may order {} differently: `{}` visits them all",
            match ending {
                Ending::Deadlock(_) => ", which ends in a deadlock",
                _ => "",
            },
            listed(&plural(choosing)),
            others
        ),
    }
}

/// What a run proves by an engine that does not decide whether the run itself has a race, if this is one.
fn of_prediction(report: &CheckReport, others: &str) -> Option<String> {
    let engine = report.engine;
    let racy = counted(report.racy_locations.len() as u64, "location");
    let none = report.racy_locations.is_empty();
    let explore = format!("`{others}` tells what schedules do");
    Some(match report.ran.worth {
        Worth::Suspects(lack) if none => format!(
            "no shared variable lacks {lack} in this schedule; that proves nothing about races: {explore}"
        ),
        Worth::Suspects(lack) => {
            format!("lack of {lack} at {racy}, not necessarily a race; {explore}")
        }
        Worth::FirstIsRealOrDeadlock if !none => format!(
            "{racy} with accesses that {engine} does not order: the first race can happen, or else a deadlock can; \
             {explore}"
        ),
        Worth::AllAreShown | Worth::AllAreDecided if !none => {
            format!("{racy} can race, in this order of what the run did or in another; {explore}")
        }
        Worth::AllAreShown | Worth::AllAreDecided if report.ran.undecided > 0 => format!(
            "no race found; {} could not be decided; {explore}",
            super::pairs_of_places(report.ran.undecided)
        ),
        _ => return None,
    })
}

/// `locks and semaphores` of `lock, semaphore`; `isolated` is a word of the language.
fn plural(words: &[&str]) -> Vec<String> {
    let plural = |word: &&str| match *word {
        "isolated" => "`isolated` sections".to_string(),
        "sem" => "semaphores".to_string(),
        word => format!("{word}s"),
    };
    words.iter().map(plural).collect()
}

/// The constructs that order strands by the schedule's choice rather than the program's: those of which
/// some lock, semaphore or event is used by more than one strand. What only one strand uses orders nothing. Of a run that
/// ends in a deadlock all constructs count: whoever waits has not used yet what it waits for.
pub(crate) fn choosing(constructs: &[Construct], run: &Run) -> Vec<&'static str> {
    let is_stuck = matches!(run.ending, Ending::Deadlock(_));
    let is_shared = |construct: &Construct| {
        let mut users: HashMap<u64, Strand> = HashMap::new();
        let mut events = run.execution.events.iter();
        events.any(|event| {
            let (_, _, object) = event.to_parts();
            event.op().construct() == Some(*construct)
                && *users.entry(object).or_insert(event.strand()) != event.strand()
        })
    };
    let constructs = constructs.iter();
    let chosen = constructs.filter(|construct| !construct.orders_alike_in_every_schedule());
    chosen
        .filter(|c| is_stuck || is_shared(c))
        .map(|c| c.word())
        .collect()
}

/// Whether a run alone proves that no schedule has a race: all of it was judged, it has none, and no schedule
/// can order its strands otherwise.
pub(crate) fn is_proven_by_run(report: &CheckReport) -> bool {
    let judged = report.judged_events == report.events && report.races_complete;
    let ends = matches!(report.ran.ending, Ending::Finished | Ending::Deadlock(_));
    let elsewhere = report.explored.as_ref();
    let none =
        report.racy_locations.is_empty() && elsewhere.is_none_or(|e| e.racy_locations.is_empty());
    // Every other engine finds a race where happens-before does.
    let finds_all = !matches!(report.ran.worth, Worth::Suspects(_)) && report.ran.undecided == 0;
    judged && none && ends && finds_all && report.ran.choosing.is_empty()
}

/// What a sentence about every schedule speaks of: `async, finish: 4 tasks, 1 join, 9 accesses; no
/// locks`.
fn covered(report: &CheckReport) -> String {
    let threads = report.ran.threads;
    let tasks = report.tasks - threads;
    let mut counts = Vec::new();
    if tasks > 0 || threads == 0 {
        counts.push(counted(tasks, "task"));
    }
    if threads > 0 {
        counts.push(counted(threads, "thread"));
    }
    counts.push(counted(report.joins, "join"));
    counts.push(match report.accesses {
        1 => "1 access".to_string(),
        n => format!("{} accesses", grouped(n)),
    });
    let words = &report.constructs;
    let colon = if words.is_empty() { "" } else { ": " };
    let locks = match report.ran.orders_alike {
        true => "no locks",
        false => "no lock is shared",
    };
    format!("{}{colon}{}; {locks}", words.join(", "), counts.join(", "))
}

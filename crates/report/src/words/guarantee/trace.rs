//! What an analysis of a trace proves. It follows from what the engine's races are worth.

use deadheat_model::StopReason;
use deadheat_offline::threads::hb;
use deadheat_offline::{Worth, m2};

use crate::analyze::{AnalyzeReport, PredictedDeadlocks};
use crate::text::style::{counted, grouped};

/// What an engine's findings prove.
pub(crate) fn of_trace(report: &AnalyzeReport) -> String {
    let mut sentence = promise(report);
    for limit in &report.limits {
        super::add(&mut sentence, super::clause(limit));
    }
    if let Some(deadlocks) = &report.deadlocks {
        for clause in of_deadlocks(deadlocks, report.searched) {
            super::add(&mut sentence, clause);
        }
    }
    sentence + &report.left_out.sentence()
}

/// What is known of deadlocks. That there are none is not said.
fn of_deadlocks(deadlocks: &PredictedDeadlocks, searched: bool) -> Vec<String> {
    let mut clauses = Vec::new();
    match deadlocks.found.len() {
        0 => {}
        1 => clauses.push("the deadlock shown can happen".to_string()),
        _ => clauses.push("every deadlock shown can happen".to_string()),
    }
    let undecided = deadlocks.undecided.len() as u64;
    if undecided > 0 {
        let more = match searched {
            true => "",
            false => " (--complete searches for them exactly)",
        };
        let count = counted(undecided, "deadlock");
        clauses.push(format!("{count} could not be decided{more}"));
    }
    if let Some(why) = deadlocks.stopped.as_ref().filter(|_| undecided == 0) {
        clauses.push(format!("the search for deadlocks was stopped ({why})"));
    } else if !deadlocks.all_listed {
        clauses
            .push("there are more circles of locks than were looked at for deadlocks".to_string());
    }
    clauses
}

fn promise(report: &AnalyzeReport) -> String {
    let findings = &report.rest;
    let cut = match report.worth {
        // Said there.
        Worth::Exact | Worth::AllAreDecided => "",
        _ if findings.all_listed => "",
        _ => "; there are more pairs than were compared and kept",
    };
    let Some(why) = findings.stopped else {
        return proven(report) + cut;
    };
    let found = match report.found.0 == 0 {
        true => "no race found so far".to_string(),
        false => proven(report),
    };
    let how_far = match findings.judged < report.events {
        true => format!(
            "after {} of {}",
            grouped(findings.judged),
            counted(report.events, "event")
        ),
        false => "before everything was tried".to_string(),
    };
    let longer = match why {
        StopReason::Asked => "interrupted",
        StopReason::TimeUp => "its time was up: --timeout gives it more",
        StopReason::MemoryFull => "its memory was full: --max-memory gives it more",
    };
    format!(
        "{found}; {} was stopped {how_far} ({longer})",
        report.engine
    )
}

fn proven(report: &AnalyzeReport) -> String {
    let findings = &report.rest;
    let none = report.found.0 == 0;
    let engine = report.engine;
    let predicts = predicts();
    match report.worth {
        Worth::Exact if findings.judged < report.events && findings.stopped.is_none() => format!(
            "{} in the first {} of {}; the rest was not judged, its graph is too large",
            if none { "no race" } else { "these races" },
            grouped(findings.judged),
            counted(report.events, "event")
        ),
        Worth::Exact if none && findings.exhaustive => {
            "no two accesses of this trace race, under any schedule of its tasks".to_string()
        }
        Worth::Exact if findings.exhaustive => {
            "nothing orders the accesses shown, under any schedule; no other location of this trace \
             races"
                .to_string()
        }
        Worth::Exact if none => format!(
            "no race in the order that sections took in this trace; {predicts} those of others"
        ),
        Worth::Exact => format!(
            "nothing orders the accesses shown in this trace; {predicts} what other orders of \
             sections do"
        ),
        Worth::AllAreDecided if none && findings.kept_atomics => format!(
            "{}; atomic operations are taken to order what they ordered, whatever their memory orders are: `--engine {}` goes by these",
            of_prediction(report),
            hb::ENGINE.name
        ),
        Worth::AllAreDecided => of_prediction(report),
        Worth::AllAreShown => of_suspicion(report),
        Worth::FirstIsReal if none => {
            format!("no race under happens-before in this schedule; {predicts} those of others")
        }
        Worth::FirstIsReal => {
            "the first race can happen; later ones may be consequences of it".to_string()
        }
        Worth::AllAreReal if none => format!(
            "no race under schedulable happens-before in this schedule; {predicts} those of others"
        ),
        Worth::AllAreReal => format!(
            "every race shown can happen, if reads decide control flow alike; {predicts} those of \
             other schedules"
        ),
        Worth::FirstIsRealOrDeadlock
            if !none
                && let Some(why) = findings.without_promise =>
        {
            format!(
                "these accesses are unordered by {engine}, but {why}: none of these races need be \
                 possible; `--engine {}` tells which can happen",
                m2::ENGINE.name
            )
        }
        Worth::FirstIsRealOrDeadlock if none => {
            format!("no race that {engine} predicts from this schedule; {predicts} more")
        }
        Worth::FirstIsRealOrDeadlock => "the first race can happen, or else a deadlock can; later \
                                         ones may be consequences of it"
            .to_string(),
        Worth::Suspects(lack) if none => format!(
            "no shared variable lacks {lack} in this schedule; that proves nothing about races, \
             {predicts} them"
        ),
        Worth::Suspects(lack) => format!(
            "lack of {lack}, not necessarily a race; `--engine {}` tells which can happen",
            m2::ENGINE.name
        ),
    }
}

/// Who finds what an engine leaves out.
fn predicts() -> String {
    format!("`--engine {}` predicts", m2::ENGINE.name)
}

fn of_prediction(report: &AnalyzeReport) -> String {
    let findings = &report.rest;
    let of = format!(
        "{}, {}, {}",
        report.engine,
        counted(report.threads, "thread"),
        counted(report.events, "event")
    );
    if findings.exhaustive {
        return match report.found.0 == 0 {
            true => format!(
                "no order of its events in which each read sees what it saw has a race ({of})"
            ),
            false => {
                format!(
                    "these are all races of any order of its events in which each read sees what it saw ({of})"
                )
            }
        };
    }
    let mut sentence = match report.found.0 == 0 {
        true => "no race found".to_string(),
        false => "every race shown can happen".to_string(),
    };
    let how = match report.searched {
        true => "within the budget: raise --budget-time or --budget-memory",
        false => "--complete decides them by exact search",
    };
    let undecided = report.found.1;
    if undecided > 0 {
        sentence += &format!(
            "; {} could not be decided ({how})",
            super::pairs_of_places(undecided)
        );
    }
    if !findings.all_listed {
        sentence += "; not all pairs were tried, there may be more";
    }
    if findings.kept_orders {
        sentence += "; the recorded orders of semaphores, events and readers' locks were \
                     kept, so races behind them are not excluded";
    }
    sentence
}

fn of_suspicion(report: &AnalyzeReport) -> String {
    let more = format!("{} more", predicts());
    let shown = match report.found.0 == 0 {
        true => format!("no race that {} can show from this schedule", report.engine),
        false => "every race shown can happen".to_string(),
    };
    match report.found.1 {
        0 => format!("{shown}; {more}"),
        n => format!(
            "{shown}; for {} that it suspects there is no witness; {more}",
            super::pairs_of_places(n)
        ),
    }
}

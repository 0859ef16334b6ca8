//! What a run of a program proves.

use deadheat_model::Finding;
use deadheat_model::finding::Rule;
use deadheat_model::guarantee::{Limit, Scope};

use crate::run::RunReport;
use crate::text::style::{counted, grouped};

/// What the run, and the prediction if there is one, prove: happens-before is exact for the schedule that ran, and only
/// for it; an OpenMP program's tasks are judged in every schedule. What one run of such a program cannot know comes first: whoever
/// reads that there is no race has read how far that goes.
pub(crate) fn of_run(report: &RunReport) -> String {
    let is_clean = races(report) == 0 && possible(report) == 0;
    let promises_more_than_a_run = is_clean && report.survey.openmp.is_some();
    let limits = report.promise.limits().iter();
    // That is what is said of other orders.
    let limits = limits.filter(|limit| **limit != Limit::NotAllOrders);
    let (before, after): (Vec<_>, Vec<_>) =
        limits.partition(|limit| promises_more_than_a_run && limit.allows() < Scope::Threads);
    let mut sentence = String::new();
    for limit in &before {
        sentence += &super::clause(limit);
        sentence += "; ";
    }
    sentence += match before.len() {
        0 => "",
        1 => "within that limit, ",
        _ => "within these limits, ",
    };
    sentence += &happened(report);
    match possible(report) {
        0 => {}
        n => super::add(
            &mut sentence,
            format!(
                "{} in another order of critical sections, or with tasks on other threads, if both accesses are made then",
                counted(n, "possible race")
            ),
        ),
    }
    if let Some(prediction) = &report.other_orders
        && report.promise.scope() > Scope::Nothing
        && !report
            .promise
            .limits()
            .iter()
            .any(|limit| matches!(limit, Limit::NotPredicted(_)))
    {
        let (another, more) = match races(report) {
            0 => ("a race", "race"),
            _ => ("another race", "more race"),
        };
        let clause = match prediction.findings.len() as u64 {
            0 if prediction.complete => format!(
                "no other order of what its threads did in this one run has {another}, if each read sees what it saw, and \
                 input and output, pauses and who took which work are as they were"
            ),
            0 => format!("no {more} was found in other orders of what its threads did"),
            count => format!(
                "{} in another order of what its threads did, which is shown and has been checked",
                counted(count, more)
            ),
        };
        super::add(&mut sentence, clause);
        let resting = prediction.findings.iter();
        let resting = resting.filter(|finding| finding.rests_on.is_some());
        match resting.count() as u64 {
            0 => {}
            n => super::add(
                &mut sentence,
                format!(
                    "{} only if what a racing read saw is what was recorded",
                    grouped(n)
                ),
            ),
        }
    }
    match destroyed(report) {
        0 => {}
        1 => super::add(&mut sentence, "a lock was destroyed while it was held"),
        n => super::add(
            &mut sentence,
            format!(
                "locks were destroyed in {} places while they were held",
                grouped(n)
            ),
        ),
    }
    match report.survey.in_baseline.unwrap_or(0) {
        0 => {}
        n if n == races(report) => super::add(&mut sentence, "the baseline knows all of them"),
        n => super::add(
            &mut sentence,
            format!("the baseline knows {} of them", grouped(n)),
        ),
    }
    for limit in after {
        super::add(&mut sentence, super::clause(limit));
    }
    sentence
}

/// How many races there were for certain, those that the baseline knows included.
fn races(report: &RunReport) -> u64 {
    let found = report.survey.findings.len() as u64 - destroyed(report) - possible(report);
    found + report.survey.in_baseline.unwrap_or(0)
}

/// How many places there are where a lock was destroyed that was held.
fn destroyed(report: &RunReport) -> u64 {
    of_kind(report, |finding| finding.rule == Rule::DestroyedWhileHeld)
}

/// How many races are only possible.
fn possible(report: &RunReport) -> u64 {
    of_kind(report, Finding::is_possible)
}

fn of_kind(report: &RunReport, is: impl Fn(&Finding) -> bool) -> u64 {
    let findings = report.survey.findings.iter();
    findings.filter(|finding| is(finding)).count() as u64
}

fn happened(report: &RunReport) -> String {
    let survey = &report.survey;
    let mut ran = match survey.processes {
        0 | 1 => counted(survey.threads, "thread"),
        n => format!("{} in {n} processes", counted(survey.threads, "thread")),
    };
    if survey.suppressed > 0 {
        ran += &format!("; {} suppressed", counted(survey.suppressed, "race"));
    }
    match races(report) {
        0 => {}
        1 => return format!("1 race in this run ({ran}): nothing orders its two accesses"),
        n => {
            let races = counted(n, "race");
            return format!("{races} in this run ({ran}): nothing orders the two accesses of each");
        }
    }
    if let Some(openmp) = &survey.openmp {
        ran += &format!(
            ", {} OpenMP tasks, regions and chunks",
            grouped(openmp.tasks)
        );
    }
    if possible(report) > 0 {
        return match report.promise.scope() {
            Scope::Nothing | Scope::PartOfRun => {
                format!("no certain race in what was seen of this run ({ran})")
            }
            _ => format!("no certain race in this run ({ran})"),
        };
    }
    match report.promise.scope() {
        Scope::Threads => {
            format!(
                "no race between threads or tasks for this input, under any schedule and any number of threads ({ran})"
            )
        }
        Scope::Schedules => format!(
            "no race between threads or tasks for this input, under any schedule with this number of threads and teams ({ran})"
        ),
        Scope::Orders if survey.openmp.is_some() => {
            format!(
                "no race between the tasks of this run, under any schedule of what they did ({ran})"
            )
        }
        Scope::Orders => format!("no race in this run ({ran})"),
        // What other orders show is said next.
        Scope::Run if report.other_orders.is_some() => format!("no race in this run ({ran})"),
        Scope::Run => {
            format!("no race in this run ({ran}); another schedule or input may have one")
        }
        Scope::Nothing => "nothing was checked".to_string(),
        Scope::PartOfRun if survey.full.is_some() => {
            format!("no race was written down in this run ({ran})")
        }
        Scope::PartOfRun => format!("no race in what was seen of this run ({ran})"),
    }
}

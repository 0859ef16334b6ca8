//! The sentence that says what an analysis of a trace proves, and no more.

use deadheat_offline::Method;

use crate::analyze::AnalyzeReport;
use crate::guarantee::{counted, grouped};

/// What is proven by an engine's findings. `kept_orders`: some orders were kept as recorded.
/// `searched`: what is undecided was searched for exactly, within a budget.
pub(crate) fn sentence(report: &AnalyzeReport, kept_orders: bool, searched: bool) -> String {
    let none = report.races.is_empty();
    match report.method {
        Method::M2 => of_m2(report, kept_orders, searched),
        Method::Dc => of_dc(report),
        Method::Hb | Method::FastTrack if none => {
            "no race under happens-before in this schedule; `--engine m2` predicts those of others"
                .to_string()
        }
        Method::Hb | Method::FastTrack => {
            "the first race can happen; later ones may be consequences of it".to_string()
        }
        Method::Shb if none => "no race under schedulable happens-before in this schedule; \
                                `--engine m2` predicts those of others"
            .to_string(),
        Method::Shb => {
            "every race shown can happen, if reads decide control flow alike; `--engine m2` predicts \
             those of other schedules"
                .to_string()
        }
        Method::Wcp if none => {
            "no race that wcp predicts from this schedule; `--engine m2` predicts more".to_string()
        }
        Method::Wcp => "the first race can happen, or else a deadlock can; later ones may be \
                        consequences of it"
            .to_string(),
        Method::Eraser if none => "no shared variable lacks a common lock in this schedule; that \
                                   proves nothing about races, `--engine m2` predicts them"
            .to_string(),
        Method::Eraser => "lack of a common lock, not necessarily a race; `--engine m2` tells which \
                           can happen"
            .to_string(),
    }
}

fn of_m2(report: &AnalyzeReport, kept_orders: bool, searched: bool) -> String {
    let of = format!(
        "m2, {}, {}",
        counted(report.threads, "thread"),
        counted(report.events, "event")
    );
    if report.complete {
        return match report.races.is_empty() {
            true => format!("no correct reordering of this trace shows a race ({of})"),
            false => {
                format!(
                    "these are all races that any correct reordering of this trace shows ({of})"
                )
            }
        };
    }
    let mut sentence = match report.races.is_empty() {
        true => "no race found".to_string(),
        false => "every race shown can happen".to_string(),
    };
    let how = match searched {
        true => "within the budget: raise --budget-time or --budget-memory",
        false => "--complete decides them by exact search",
    };
    match report.undecided.len() as u64 {
        0 if kept_orders => {}
        0 => sentence += "; not all pairs were tried, there may be more",
        n => sentence += &format!("; {} could not be decided ({how})", pairs_of_places(n)),
    }
    if kept_orders {
        sentence += "; the recorded orders of semaphores, flags, atomics and readers' locks were \
                     kept, so races behind them are not excluded";
    }
    sentence
}

fn of_dc(report: &AnalyzeReport) -> String {
    let more = "`--engine m2` predicts more";
    let shown = match report.races.is_empty() {
        true => "no race that dc can show from this schedule",
        false => "every race shown can happen",
    };
    match report.undecided.len() as u64 {
        0 => format!("{shown}; {more}"),
        n => format!(
            "{shown}; for {} that it suspects there is no witness; {more}",
            pairs_of_places(n)
        ),
    }
}

fn pairs_of_places(n: u64) -> String {
    match n {
        1 => "1 pair of places".to_string(),
        n => format!("{} pairs of places", grouped(n)),
    }
}

//! The sentence that says what a verdict proves, and no more. It is made here, and nowhere else.
//!
//! A sentence is a main clause, by what is promised, and a clause for each [`Limit`]. The limits that weaken what is
//! promised have weakened the [`Scope`](deadheat_model::guarantee::Scope) already: the main clause says what is left.

mod explanation;
mod program;
mod run;
mod trace;

pub(crate) use explanation::of_explanation;
pub(crate) use program::{choosing, is_proven_by_run, of_program};
pub(crate) use run::of_run;
pub(crate) use trace::of_trace;

use deadheat_model::guarantee::{Limit, Obstacle, Unchecked};

use crate::text::style::{counted, grouped};

/// Adds a clause to a sentence.
fn add(sentence: &mut String, clause: impl AsRef<str>) {
    *sentence += "; ";
    *sentence += clause.as_ref();
}

/// `1 pair of places`, `2 pairs of places`.
fn pairs_of_places(n: u64) -> String {
    match n {
        1 => "1 pair of places".to_string(),
        n => format!("{} pairs of places", grouped(n)),
    }
}

/// What was not checked, why, and what to do.
pub fn unchecked(unchecked: &Unchecked) -> String {
    let program = &unchecked.program;
    match unchecked.why {
        Obstacle::NotBuilt => format!(
            "`{program}` was not built by `deadheat cc` or `deadheat c++`, nor was anything that it started: build it with them, in a \
             new directory where CMake or configure remembers another compiler"
        ),
        Obstacle::Silent => format!(
            "`{program}` was built for checking, but has not reported what it did: build it again with this `deadheat`, and start \
             it with the descriptors and the user of `deadheat run`"
        ),
        Obstacle::AddressSpace => format!(
            "`{program}` ran unchecked, because its address space is limited: set no limit for that (`ulimit -v unlimited`, RLIMIT_AS)"
        ),
        Obstacle::NoTape => format!(
            "`{program}` ran unrecorded, because it could make no file for the recording: it needs the right and the room to"
        ),
    }
}

/// What a limit means for whoever reads the verdict.
fn clause(limit: &Limit) -> String {
    match limit {
        Limit::Remains(what) => format!("this is about what is left of the recording: {what}"),
        Limit::NoRoom(why) => {
            format!("there was no room for everything ({why}), so races may be missing")
        }
        Limit::Untracked(n) => format!(
            "{} could not be tracked, so races may be missing",
            counted(*n, "access or thread")
        ),
        Limit::Unreadable(n) => {
            format!("{} of the findings could not be read", counted(*n, "line"))
        }
        Limit::Unchecked(unchecked) => self::unchecked(unchecked),
        Limit::Killed => {
            "a process was ended before everything was counted".to_string()
        }
        Limit::Aborted => {
            "`abort` cut the program short: what it would have done then is not known".to_string()
        }
        Limit::StillRunning => {
            "a process that it started still runs: what that does is not known".to_string()
        }
        Limit::TasksNotRun(n) => format!(
            "OpenMP's runtime has not run {} that the program created: what it does is not known",
            counted(*n, "task")
        ),
        Limit::SectionsDecide => {
            "critical sections and locks may change what is computed when they come in another order".to_string()
        }
        Limit::Messages => {
            "what atomic variables and locks of threads ordered was taken as it came".to_string()
        }
        Limit::StaticLoops => {
            "iterations and sections that one thread or task ran together were not told apart: run it with another \
             OMP_NUM_THREADS, too"
                .to_string()
        }
        Limit::ThreadNumbers => {
            "code that asks for its thread's number, or how many there are, was judged as it ran".to_string()
        }
        Limit::ThreadsChoose => {
            "which thread ran which task or iteration was taken as it came".to_string()
        }
        Limit::TeamOfOne => {
            "of teams of one thread, and where there was one team, only tasks and iterations were told apart".to_string()
        }
        Limit::OnlyCounted(n) => format!("{} more were only counted", grouped(*n)),
        Limit::NotPredicted(why) => {
            format!("what other schedules do could not be predicted: {why}")
        }
        Limit::Undecided(n) => format!("{} could not be decided", counted(*n, "pair of lines")),
        Limit::NotAllJudged(why) => {
            format!("not all that was recorded was judged ({why}), so races may be missing")
        }
        Limit::NotAllOrders => "not every other order was tried".to_string(),
    }
}

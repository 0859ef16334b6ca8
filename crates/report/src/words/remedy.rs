//! What would keep the two accesses of a race apart, in a sentence.

use deadheat_model::finding::{Finding, Remedy, Side};

use super::{MAX_NAME, who_in_short};
use crate::text::style::cut;

const LOCK: &str = "hold the same lock at both accesses";

/// What would have ordered the accesses of a finding, or kept them apart.
pub(crate) fn advice(finding: &Finding) -> Option<String> {
    Some(sentence(finding.remedy.as_ref()?, &finding.sides))
}

fn sentence(remedy: &Remedy, sides: &[Side]) -> String {
    let name = |name: &str| cut(name, MAX_NAME);
    let who = |side: usize| sides.get(side).map_or_else(String::new, who_in_short);
    // Where the order does not matter.
    let wait =
        |who: String| format!("{who}, or put both accesses into `isolated` or under one lock");
    match remedy {
        Remedy::SameLock => format!("{LOCK}; a counter or a flag can be atomic instead"),
        Remedy::BothAtomic => format!("make both accesses atomic, or {LOCK}"),
        Remedy::OneHolds { lock, holder } => format!(
            "{} holds `{}`, {} does not: hold it at both accesses",
            who(*holder),
            name(lock),
            who(1 - holder)
        ),
        Remedy::DifferentLocks => {
            "the two hold different locks: hold the same one at both accesses".to_string()
        }
        Remedy::HeldForReading { writer, lock } => format!(
            "{} writes, but holds `{}` for reading only: hold it for writing there",
            who(*writer),
            name(lock)
        ),
        Remedy::FreeLater { user } => format!(
            "free the block only when {} is done with it: after a join, or when nobody uses it any more",
            who(*user)
        ),
        Remedy::CloseLater { user } => format!(
            "close it only when {} is done with it: after a join, or when nobody uses it any more",
            who(*user)
        ),
        Remedy::LockLives { user } => {
            let user = who(*user);
            format!(
                "a lock must live while it is used: initialise it before {user} is created, destroy it after {user} is done"
            )
        }
        Remedy::Join { parent, child } => {
            let (parent, child) = (name(parent), name(child));
            format!("{parent} creates {child} and goes on: let it join {child} first, or {LOCK}")
        }
        Remedy::WaitForChild { parent, child } => wait(format!(
            "let {} wait for {} before its own access",
            name(parent),
            name(child)
        )),
        Remedy::WaitBetween {
            parent,
            first,
            second,
        } => wait(format!(
            "let {} wait for {} before it starts {}",
            name(parent),
            name(first),
            name(second)
        )),
        Remedy::TasksOfOneCreator { variable } => {
            let what = match variable {
                Some(variable) => format!("`{}`", name(variable)),
                None => "what both use".to_string(),
            };
            format!(
                "both tasks have the same creator: a `depend` clause of each that names {what}, as `out` or `inout` \
                 where it is written, or a `taskwait` between their creation, would order them"
            )
        }
        Remedy::TasksOfDifferentCreators => {
            "the tasks have different creators, so `depend` does not order them: a `taskgroup` around one, or a \
             `taskwait` at the end of its creator and of whoever created that, would"
                .to_string()
        }
        Remedy::WaitForTask => {
            "the task runs beside the code after it until somebody waits: a `taskwait`, the end of a `taskgroup` or a \
             barrier between them would order them"
                .to_string()
        }
        Remedy::JoinThread => {
            "a thread of the program's own runs beside all until somebody waits for it: `pthread_join` before the other \
             access would order them, and a mutex would keep them apart"
                .to_string()
        }
        Remedy::Iterations => {
            "iterations of one loop come in any order: a private variable, a `reduction`, `atomic`, `critical` or \
             `ordered` would keep them apart"
                .to_string()
        }
        Remedy::Team => {
            "the threads of a team run side by side until the next barrier: a `barrier` between them would order them, \
             and a private variable, a `reduction`, `atomic` or `critical` would keep them apart"
                .to_string()
        }
        Remedy::Barrier => {
            "any thread of the team may run this, and nobody waits for it before the next barrier: without `nowait`, or \
             with a `barrier` between them, they would be ordered"
                .to_string()
        }
    }
}

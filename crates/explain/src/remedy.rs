//! What would keep the two accesses of a race apart.
//!
//! It is advice, and only what the finding itself shows: which locks each side held, whether one created the other,
//! whether one is atomic already, which tasks of OpenMP they belong to. The two never hold one lock in a way that keeps
//! them apart, or there would be no race.

use deadheat_model::Finding;
use deadheat_model::finding::{
    HeldLock, Remedy, Rule, Side, Task, TaskKind, Variable, stable_name,
};

/// What would have ordered the two accesses of a finding, or kept them apart.
pub fn remedy(finding: &Finding) -> Option<Remedy> {
    let (first, second) = finding.pair()?;
    if finding.rule == Rule::DestroyedWhileHeld {
        return None;
    }
    if first.act.frees() || second.act.frees() {
        if let Some((a, b)) = tasks(first, second) {
            return of_openmp(finding, a, b);
        }
        let user = first.act.frees() as usize;
        return Some(Remedy::FreeLater { user });
    }
    let special = lifetime(&finding.variable, [first, second])
        .or_else(|| held_for_reading([first, second], 0))
        .or_else(|| held_for_reading([first, second], 1));
    if special.is_some() {
        return special;
    }
    let one_holds = |lock: &HeldLock, holder| Remedy::OneHolds {
        lock: lock.name.clone(),
        holder,
    };
    // Its own memory is not what a lock protects.
    let protects = |lock: &&HeldLock| lock.name != *finding.variable.name;
    let held = [first, second].map(|side| side.locks.iter().find(protects));
    Some(match held {
        [None, None] => return without_locks(finding, first, second),
        [None, Some(lock)] => one_holds(lock, 1),
        [Some(lock), None] => one_holds(lock, 0),
        _ => Remedy::DifferentLocks,
    })
}

/// A lock and a descriptor have to live while they are used.
fn lifetime(variable: &Variable, sides: [&Side; 2]) -> Option<Remedy> {
    let user = sides.iter().position(|side| !side.act.writes())?;
    if variable.is_file_descriptor() {
        return Some(Remedy::CloseLater { user });
    }
    let lives = sides[1 - user].act.begins_or_ends_lock();
    lives.then_some(Remedy::LockLives { user })
}

/// A lock that both hold, the writer only as a reader.
fn held_for_reading(sides: [&Side; 2], writing: usize) -> Option<Remedy> {
    let (writer, other) = (sides[writing], sides[1 - writing]);
    let in_both = |lock: &&HeldLock| other.locks.iter().any(|held| held.name == lock.name);
    let mut shared = writer.locks.iter().filter(|lock| !lock.exclusive);
    let lock = shared.find(in_both).filter(|_| writer.act.writes())?;
    Some(Remedy::HeldForReading {
        writer: writing,
        lock: lock.name.clone(),
    })
}

fn without_locks(finding: &Finding, first: &Side, second: &Side) -> Option<Remedy> {
    if first.act.is_atomic() != second.act.is_atomic() {
        return Some(Remedy::BothAtomic);
    }
    if let Some((a, b)) = tasks(first, second) {
        return of_openmp(finding, a, b);
    }
    let created = finding.creations.iter().find(|creation| {
        let of = |child: &Side, parent: &Side| {
            creation.thread == child.thread && creation.parent == parent.thread
        };
        of(first, second) || of(second, first)
    });
    Some(match created {
        Some(made) => Remedy::Join {
            parent: made.parent.clone(),
            child: made.thread.clone(),
        },
        None => Remedy::SameLock,
    })
}

/// The tasks of OpenMP that the two sides are, each with those that it is inside of.
fn tasks<'f>(first: &'f Side, second: &'f Side) -> Option<(&'f [Task], &'f [Task])> {
    let both = (&first.tasks[..], &second.tasks[..]);
    (!both.0.is_empty() && !both.1.is_empty()).then_some(both)
}

/// What would order two tasks.
fn of_openmp(finding: &Finding, first: &[Task], second: &[Task]) -> Option<Remedy> {
    use TaskKind::{Explicit, Implicit, Iterations, Thread};
    let (a, b) = (first.first()?, second.first()?);
    let creator = |tasks: &[Task]| tasks.get(1).map(|task| task.id);
    let construct = |task: &Task| task.place();
    let variable = &finding.variable;
    Some(match (a.kind, b.kind) {
        (Explicit, Explicit) if a.id == b.id => return None,
        (Explicit, Explicit) if creator(first) != creator(second) => {
            Remedy::TasksOfDifferentCreators
        }
        (Explicit, Explicit) => Remedy::TasksOfOneCreator {
            variable: (!variable.is_described()).then(|| stable_name(&variable.name)),
        },
        (Explicit, _) | (_, Explicit) => Remedy::WaitForTask,
        (Thread, _) | (_, Thread) => Remedy::JoinThread,
        (Iterations, Iterations) if construct(a) == construct(b) => Remedy::Iterations,
        (Implicit, Implicit) => Remedy::Team,
        _ => Remedy::Barrier,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use deadheat_model::AccessKind;
    use deadheat_model::finding::{AccessCause, Act, Creation, Place, Rule};

    use super::*;

    /// Two writes: by T1 and T2, of which T1 holds these locks and T2 those; names that end in `?` for reading.
    fn advice(one: &[&str], other: &[&str], change: impl FnOnce(&mut Finding)) -> Remedy {
        let side = |thread: &str, locks: &[&str]| {
            let act = Act::plain(AccessKind::Write);
            let mut side = Side::new(act, thread.into(), Arc::new(Place::unknown()));
            let lock = |name: &&str| HeldLock {
                name: name.trim_end_matches('?').to_string(),
                exclusive: !name.ends_with('?'),
                taken: None,
            };
            side.locks = locks.iter().map(lock).collect();
            side
        };
        let sides = vec![side("T1", one), side("T2", other)];
        let mut finding = Finding::new(Rule::Race, "hb", Variable::named("x"), sides);
        change(&mut finding);
        remedy(&finding).unwrap()
    }

    fn one_holds(lock: &str, holder: usize) -> Remedy {
        Remedy::OneHolds {
            lock: lock.to_string(),
            holder,
        }
    }

    #[test]
    fn advice_follows_what_was_held() {
        let none = |_: &mut Finding| {};
        assert_eq!(advice(&[], &[], none), Remedy::SameLock);
        assert_eq!(advice(&[], &["l"], none), one_holds("l", 1));
        assert_eq!(advice(&["l"], &[], none), one_holds("l", 0));
        assert_eq!(advice(&["l"], &["m"], none), Remedy::DifferentLocks);
        let reads = |finding: &mut Finding| finding.sides[0].act = Act::plain(AccessKind::Read);
        let itself = |finding: &mut Finding| finding.variable = Variable::named("l");
        assert_eq!(advice(&["l"], &[], itself), Remedy::SameLock);
        for held in [&[][..], &["l"]] {
            let life = advice(held, &["m"], |finding| {
                itself(finding);
                reads(finding);
                finding.sides[1].act = Act::Access {
                    kind: AccessKind::Write,
                    cause: AccessCause::LockLife,
                    atomic: false,
                    size: 1,
                };
            });
            assert_eq!(life, Remedy::LockLives { user: 0 }, "held: {held:?}");
        }
        let file = advice(&[], &[], |finding| {
            finding.variable = Variable::named(Variable::file_descriptor(3));
            reads(finding);
        });
        assert_eq!(file, Remedy::CloseLater { user: 0 });
        let reading = Remedy::HeldForReading {
            writer: 1,
            lock: "l".to_string(),
        };
        assert_eq!(advice(&["l?"], &["l?"], reads), reading);
    }

    #[test]
    fn advice_follows_what_the_threads_are() {
        let child = |finding: &mut Finding| {
            let creation = Creation {
                thread: "T2".into(),
                parent: "T1".into(),
                place: Arc::new(Place::unknown()),
                stack: Arc::default(),
                finished: false,
            };
            finding.creations = vec![creation].into();
        };
        let join = Remedy::Join {
            parent: "T1".into(),
            child: "T2".into(),
        };
        assert_eq!(advice(&[], &[], child), join);
        let act = |cause, atomic| Act::Access {
            kind: AccessKind::Write,
            cause,
            atomic,
            size: 8,
        };
        let atomic = |finding: &mut Finding| {
            finding.sides[0].act = act(AccessCause::Instruction, true);
        };
        assert_eq!(advice(&[], &[], atomic), Remedy::BothAtomic);
        let free = |finding: &mut Finding| finding.sides[1].act = act(AccessCause::Free, false);
        let later = Remedy::FreeLater { user: 0 };
        assert_eq!(advice(&["l"], &[], free), later);
    }
}

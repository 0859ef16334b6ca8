//! `depend`: which of a task's children come after which.
//!
//! The simple model: for each address, the list of all tasks that named it and how; a new task comes after those that
//! it conflicts with: `in` with all but `in`, `inoutset` with all but `inoutset`, `mutexinoutset` with all but
//! `mutexinoutset` (which exclude each other instead), `out` and `inout` with everything.
//!
//! Since order is transitive, only the last two sets count: tasks that do not conflict with each other form a *set*,
//! and a task that conflicts with the last set begins a new one and comes after that. Tests compare with the simple
//! model. A set is joined as a whole:
//! whoever comes first makes one list of its ends, and the others hook it in. So ten thousand tasks between two sets of
//! ten thousand cost twenty thousand joins.

use std::sync::Arc;

use deadheat_model::finding::DependenceKind;
use deadheat_order::{Full, Knowledge, Past, Signal, Task};
use rustc_hash::FxHashMap;

use super::notes::{self, Name};
use super::strand::Shared;
use super::tasks;
use crate::output::recording;

/// How a task names an address; numbers are those of the runtime's entry points.
pub const IN: u32 = 1;
/// `out` (2) conflicts with the same as `inout`.
pub const INOUT: u32 = 3;
pub const MUTEXINOUTSET: u32 = 4;
pub const INOUTSET: u32 = 8;
/// All memory, in this or that way.
pub const ALL: u32 = 0x80;

/// As findings call the way in which a task names an address.
pub fn kind_of_report(kind: u32) -> DependenceKind {
    match kind & 0x7f {
        IN => DependenceKind::In,
        2 => DependenceKind::Out,
        MUTEXINOUTSET => DependenceKind::MutexInOutSet,
        INOUTSET => DependenceKind::InOutSet,
        _ => DependenceKind::InOut,
    }
}

/// The end of a task, for those that depend on it.
#[derive(Debug, Default)]
pub struct Completion(Shared<Vec<Signal>>);

impl Completion {
    /// The task has ended; or an event that counts as part of its end has come.
    pub fn end(&self, signal: Signal) {
        self.0.with(|signals| signals.push(signal));
    }

    /// What has come so far.
    pub fn signals(&self) -> Vec<Signal> {
        self.0.with(|signals| signals.clone())
    }
}

/// Tasks that named an address and do not conflict with each other.
#[derive(Debug, Default)]
struct Set {
    members: Vec<Arc<Completion>>,
    /// The joins of all their ends, made when first needed.
    joined: Option<Past>,
}

impl Set {
    fn of(task: &Arc<Completion>) -> Shared<Set> {
        Shared::new(Set {
            members: vec![task.clone()],
            joined: None,
        })
    }
}

/// The tasks that a task depends on.
#[derive(Debug, Default)]
pub struct Predecessors(Vec<Arc<Shared<Set>>>);

impl Predecessors {
    /// Records that a strand has waited for them.
    pub fn note(&self, strand: Name) {
        if recording::on() {
            for set in &self.0 {
                let members = set.with(|set| set.members.clone());
                members
                    .iter()
                    .for_each(|member| notes::join(strand, &member.signals()));
            }
        }
    }

    /// The ends of all of them.
    pub fn each_signal(&self, mut what: impl FnMut(Signal)) {
        for set in &self.0 {
            let members = set.with(|set| set.members.clone());
            let signals = members.iter().flat_map(|member| member.signals());
            signals.for_each(&mut what);
        }
    }

    /// A task has waited for them.
    pub fn join(self, task: &mut Task) -> Result<(), Full> {
        let structure = &tasks().structure;
        for set in &self.0 {
            let past = set.with(|set| match set.joined {
                Some(joined) => Ok(joined),
                None => {
                    let mut knowledge = Knowledge::default();
                    for member in &set.members {
                        for signal in member.signals() {
                            structure.joins.join(&mut knowledge, signal)?;
                        }
                    }
                    set.joined = Some(knowledge.now);
                    Ok(knowledge.now)
                }
            })?;
            structure.learn(task, [past])?;
        }
        Ok(())
    }
}

/// The tasks that named an address last.
#[derive(Debug, Default)]
struct Uses {
    kind: u32,
    /// Those that do not conflict with each other: one set, and one more after each time that somebody has waited.
    last: Vec<Arc<Shared<Set>>>,
    /// What these come after.
    before: Vec<Arc<Shared<Set>>>,
}

/// The dependences among the children of one task.
#[derive(Debug, Default)]
pub struct Dependences {
    uses: FxHashMap<usize, Uses>,
    /// The last task that named all memory.
    all: Option<Arc<Shared<Set>>>,
}

/// Whether tasks that name an address in this way do not conflict with each other.
fn forms_sets(kind: u32) -> bool {
    matches!(kind, IN | MUTEXINOUTSET | INOUTSET)
}

impl Dependences {
    /// A task with these dependences is created; it comes after what is added to `after`. Without a completion it is
    /// the waiting of its creator: nobody comes after it who would not anyway.
    pub fn add(
        &mut self,
        task: Option<&Arc<Completion>>,
        dependences: impl Iterator<Item = (usize, u32)> + Clone,
        after: &mut Predecessors,
    ) {
        after.0.extend(self.all.clone());
        if dependences.clone().any(|(_, kind)| kind & ALL != 0) {
            for uses in self.uses.values() {
                after
                    .0
                    .extend(uses.last.iter().chain(&uses.before).cloned());
            }
            if let Some(task) = task {
                self.uses.clear();
                self.all = Some(Arc::new(Set::of(task)));
            }
            return;
        }
        for (index, (address, _)) in dependences.clone().enumerate() {
            if dependences
                .clone()
                .take(index)
                .any(|earlier| earlier.0 == address)
            {
                continue;
            }
            // An address that is named twice counts once, as the strongest.
            let named = dependences
                .clone()
                .filter(|other| other.0 == address)
                .map(|other| other.1);
            let named = named.map(|kind| if forms_sets(kind) { kind } else { INOUT });
            let kind = named
                .reduce(|a, b| if a == b { a } else { INOUT })
                .unwrap_or(INOUT);
            let uses = self.uses.entry(address).or_default();
            let conflicts = uses.kind != kind || !forms_sets(kind);
            after.0.extend(
                if conflicts { &uses.last } else { &uses.before }
                    .iter()
                    .cloned(),
            );
            let Some(task) = task else { continue };
            if conflicts {
                uses.before = std::mem::take(&mut uses.last);
                uses.kind = kind;
            }
            let added = uses.last.last().is_some_and(|set| {
                set.with(|set| {
                    let open = set.joined.is_none();
                    if open {
                        set.members.push(task.clone());
                    }
                    open
                })
            });
            if !added {
                uses.last.push(Arc::new(Set::of(task)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which earlier tasks each comes after, directly or through others, by these dependences.
    fn closure(tasks: &[Vec<(usize, u32)>]) -> Vec<Vec<bool>> {
        let mut dependences = Dependences::default();
        let completions: Vec<Arc<Completion>> = tasks.iter().map(|_| Arc::default()).collect();
        let mut before: Vec<Vec<bool>> = Vec::new();
        for (index, named) in tasks.iter().enumerate() {
            let mut after = Predecessors::default();
            if !named.is_empty() {
                dependences.add(Some(&completions[index]), named.iter().copied(), &mut after);
            }
            let mut row = vec![false; tasks.len()];
            for set in &after.0 {
                // Whoever joins a set finds all that are in it by then: all of them were there when this was created.
                set.with(|set| {
                    for member in &set.members {
                        let member = completions
                            .iter()
                            .position(|c| Arc::ptr_eq(c, member))
                            .unwrap();
                        assert!(member < index, "a set that is waited for grows no more");
                        row[member] = true;
                        for (own, theirs) in row.iter_mut().zip(&before[member]) {
                            *own |= theirs;
                        }
                    }
                    if fastrand::bool() {
                        set.joined = Some(Past::default());
                    }
                });
            }
            before.push(row);
        }
        before
    }

    fn conflict(a: u32, b: u32) -> bool {
        a != b || !forms_sets(a)
    }

    #[test]
    fn order_by_sets_is_the_closure_of_all_conflicts() {
        let mut rng = fastrand::Rng::with_seed(3);
        let mut ordered = 0;
        for _ in 0..20_000 {
            let count = rng.usize(2..9);
            let tasks: Vec<Vec<(usize, u32)>> = (0..count)
                .map(|_| {
                    let mut named: Vec<(usize, u32)> = (0..rng.usize(0..3))
                        .map(|_| {
                            (
                                rng.usize(..3),
                                [IN, INOUT, MUTEXINOUTSET, INOUTSET][rng.usize(..4)],
                            )
                        })
                        .collect();
                    if rng.u32(..12) == 0 {
                        named.push((usize::MAX, ALL | INOUT));
                    }
                    named
                })
                .collect();
            let mut expected: Vec<Vec<bool>> = Vec::new();
            for (index, named) in tasks.iter().enumerate() {
                let mut row = vec![false; count];
                for earlier in 0..index {
                    let all = |named: &[(usize, u32)]| named.iter().any(|n| n.1 & ALL != 0);
                    let direct = !named.is_empty()
                        && !tasks[earlier].is_empty()
                        && (all(named) || all(&tasks[earlier]))
                        || named.iter().any(|a| {
                            tasks[earlier].iter().any(|b| {
                                a.0 == b.0 && {
                                    let strongest = |named: &[(usize, u32)]| {
                                        let kinds: Vec<u32> = named
                                            .iter()
                                            .filter(|n| n.0 == a.0)
                                            .map(|n| n.1)
                                            .collect();
                                        if kinds.iter().all(|k| *k == kinds[0]) {
                                            kinds[0]
                                        } else {
                                            INOUT
                                        }
                                    };
                                    conflict(strongest(named), strongest(&tasks[earlier]))
                                }
                            })
                        });
                    if direct {
                        row[earlier] = true;
                        for (own, theirs) in row.iter_mut().zip(&expected[earlier]) {
                            *own |= theirs;
                        }
                    }
                }
                expected.push(row);
            }
            let found = closure(&tasks);
            assert_eq!(found, expected, "{tasks:?}");
            ordered += found.iter().flatten().filter(|before| **before).count();
        }
        assert!(ordered > 10_000, "{ordered}");
    }
}

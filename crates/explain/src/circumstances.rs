//! What the events around the accesses of a finding say about it: the locks held at each side, how the two strands came
//! to run side by side, and so what would have kept them apart.
//!
//! Cost: one pass over the execution, whatever the number of findings, and the locks held at each side.

use std::sync::Arc;

use deadheat_model::finding::{
    Act, Creation, Describer, Finding, Frame, HeldLock, Place, Remedy, Side, SourceLines, Task,
    TaskKind,
};
use deadheat_model::{Event, EventNumber, Execution, Lock, Names, Op, Site, Strand, StrandKind};
use rustc_hash::FxHashMap;

use crate::remedy::remedy;

/// How many tasks that are inside of each other a report lists: a recursion can make very many.
const MAX_TASKS: usize = 16;

/// How a strand was started.
#[derive(Clone, Copy)]
struct Start {
    parent: Strand,
    site: Site,
    event: EventNumber,
    /// Whether it is a task, or a thread.
    is_task: bool,
}

/// Fills in what an execution knows about findings whose sides have the numbers of its events. Of findings that already
/// know more, such as those of a program whose calls are known, it changes nothing.
pub fn add_circumstances<'f>(
    execution: &Execution,
    lines: &dyn SourceLines,
    findings: impl IntoIterator<Item = &'f mut Finding>,
) {
    let mut circumstances = Circumstances::new(findings);
    for event in &execution.events {
        if circumstances.are_known() {
            break;
        }
        circumstances.follow(event, &execution.names);
    }
    circumstances.finish(&execution.names, lines);
}

/// The circumstances of findings, from a pass over the events of an execution that need not be in memory.
pub struct Circumstances<'f> {
    findings: Vec<&'f mut Finding>,
    /// The events that are sides of findings, in their order, and which sides these are.
    wanted: Vec<(EventNumber, usize, usize)>,
    /// How many of them have come.
    come: usize,
    /// How many events have come.
    count: EventNumber,
    strands: Vec<Vec<Strand>>,
    held: FxHashMap<Strand, Vec<(Lock, bool)>>,
    starts: FxHashMap<Strand, Start>,
}

impl<'f> Circumstances<'f> {
    /// Of these findings.
    pub fn new(findings: impl IntoIterator<Item = &'f mut Finding>) -> Circumstances<'f> {
        let findings: Vec<&mut Finding> = findings.into_iter().collect();
        let mut wanted: Vec<(EventNumber, usize, usize)> = Vec::new();
        for (index, finding) in findings.iter().enumerate() {
            let sides = finding.sides.iter().enumerate();
            wanted.extend(sides.map(|(side, at)| (at.event, index, side)));
        }
        wanted.retain(|(event, ..)| *event > 0);
        wanted.sort_unstable();
        Circumstances {
            strands: vec![Vec::new(); findings.len()],
            findings,
            wanted,
            come: 0,
            count: 0,
            held: FxHashMap::default(),
            starts: FxHashMap::default(),
        }
    }

    /// Whether the events to come say nothing more.
    pub fn are_known(&self) -> bool {
        self.come == self.wanted.len()
    }

    /// Takes in the next event.
    pub fn follow(&mut self, event: &Event, names: &Names) {
        self.count += 1;
        while let Some(&(number, finding, side)) = self.wanted.get(self.come)
            && number <= self.count
        {
            self.come += 1;
            let locks = self
                .held
                .get(&event.strand())
                .map_or(&[][..], Vec::as_slice);
            let at = &mut self.findings[finding].sides[side];
            add(at, event, locks, names);
            if !names.kinds.is_empty() {
                at.tasks = openmp_tasks(event.strand(), &self.starts, names);
            }
            let strands = &mut self.strands[finding];
            if !strands.contains(&event.strand()) {
                strands.push(event.strand());
            }
        }
        follow(
            event,
            self.count,
            names.isolation(),
            &mut self.held,
            &mut self.starts,
        );
    }

    /// Completes the findings.
    pub fn finish(self, names: &Names, lines: &dyn SourceLines) {
        let mut describer = Describer::new(names, lines);
        for (finding, strands) in self.findings.into_iter().zip(self.strands) {
            if strands.is_empty() {
                continue;
            }
            if finding.creations.is_empty() {
                finding.creations = creations(&mut describer, &self.starts, &strands);
                let are_tasks =
                    |strand: &Strand| self.starts.get(strand).is_some_and(|s| s.is_task);
                let are_openmp = !names.kinds.is_empty();
                if !are_openmp && strands.iter().any(are_tasks) || !names.positions.is_empty() {
                    finding.remedy = of_tasks(&mut describer, &self.starts, &strands);
                    continue;
                }
            }
            if finding.remedy.is_none() {
                finding.remedy = remedy(finding);
            }
        }
    }
}

/// What an event knows about the side that it is.
fn add(side: &mut Side, event: &Event, locks: &[(Lock, bool)], names: &Names) {
    if let Act::Access { atomic, .. } = &mut side.act {
        *atomic |= event.any_access().is_some_and(|(_, atomic)| atomic);
    }
    if side.locks.is_empty() && !locks.is_empty() {
        let named = locks
            .iter()
            .map(|&(lock, exclusive)| HeldLock::traced(&names.lock(lock), exclusive));
        side.locks = named.collect();
    }
}

/// What a strand of an OpenMP program is, who created that, and so on outwards.
fn openmp_tasks(strand: Strand, starts: &FxHashMap<Strand, Start>, names: &Names) -> Arc<[Task]> {
    let mut tasks = Vec::new();
    let mut at = strand;
    while tasks.len() < MAX_TASKS {
        let start = starts.get(&at);
        let (kind, number) = match names.kind(at) {
            StrandKind::Plain => (TaskKind::Thread, at.0),
            StrandKind::Task => (TaskKind::Explicit, 0),
            StrandKind::Member(number) => (TaskKind::Implicit, number),
        };
        let place = start.map(|start| Place::parse(&names.site(start.site)));
        tasks.push(Task {
            kind,
            id: at.0.into(),
            number: number.into(),
            iterations: 0,
            stack: place.iter().filter_map(Frame::at).map(Arc::new).collect(),
            depends: Vec::new(),
        });
        match start {
            Some(start) => at = start.parent,
            None => break,
        }
    }
    tasks.into()
}

fn follow(
    event: &Event,
    number: EventNumber,
    isolation: Lock,
    held: &mut FxHashMap<Strand, Vec<(Lock, bool)>>,
    starts: &mut FxHashMap<Strand, Start>,
) {
    let strand = event.strand();
    match event.op() {
        Op::IsolatedBegin => held.entry(strand).or_default().push((isolation, true)),
        Op::IsolatedEnd => held
            .entry(strand)
            .or_default()
            .retain(|(lock, _)| *lock != isolation),
        Op::Acquire(lock) => held.entry(strand).or_default().push((lock, true)),
        Op::AcquireShared(lock) => held.entry(strand).or_default().push((lock, false)),
        Op::Release(lock) | Op::ReleaseShared(lock) => {
            if let Some(own) = held.get_mut(&strand)
                && let Some(place) = own.iter().rposition(|(known, _)| *known == lock)
            {
                own.remove(place);
            }
        }
        op @ (Op::Async(child) | Op::Future(child) | Op::Fork(child)) => {
            starts.entry(child).or_insert(Start {
                parent: strand,
                site: event.site(),
                event: number,
                is_task: !matches!(op, Op::Fork(_)),
            });
        }
        _ => {}
    }
}

/// How these strands were started, in the order of that.
fn creations(
    describer: &mut Describer<'_>,
    starts: &FxHashMap<Strand, Start>,
    strands: &[Strand],
) -> Arc<[Creation]> {
    let known = strands.iter().filter_map(|s| Some((*s, *starts.get(s)?)));
    let mut known: Vec<(Strand, Start)> = known.collect();
    known.sort_by_key(|(_, start)| start.event);
    let creations = known.into_iter().map(|(strand, start)| Creation {
        thread: describer.strand(strand),
        parent: describer.strand(start.parent),
        place: describer.place(start.site),
        stack: Arc::default(),
        finished: false,
    });
    creations.collect()
}

/// What would have ordered two strands, said only where it is sure: of a strand and one that it started, and of two that
/// one strand started.
fn of_tasks(
    describer: &mut Describer<'_>,
    starts: &FxHashMap<Strand, Start>,
    strands: &[Strand],
) -> Option<Remedy> {
    let &[a, b] = strands else { return None };
    let start = |strand: &Strand| starts.get(strand).copied();
    let mut name = |strand| describer.strand(strand);
    match (start(&a), start(&b)) {
        (Some(one), Some(other)) if one.parent == other.parent => {
            let (first, second) = if one.event < other.event {
                (a, b)
            } else {
                (b, a)
            };
            Some(Remedy::WaitBetween {
                parent: name(one.parent),
                first: name(first),
                second: name(second),
            })
        }
        (Some(one), _) if one.parent == b => Some(Remedy::WaitForChild {
            parent: name(b),
            child: name(a),
        }),
        (_, Some(other)) if other.parent == a => Some(Remedy::WaitForChild {
            parent: name(a),
            child: name(b),
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use deadheat_model::finding::Rule;
    use deadheat_model::{AccessKind, Location, Race, RacingAccess};

    use super::*;

    /// What is said of the last events of two strands.
    fn described(ops: &[(u32, Op)], first: u32, second: u32) -> Finding {
        let sites = (0..).map(Site).zip(ops);
        let events = sites.map(|(site, &(strand, op))| Event::new(Strand(strand), op, site));
        let mut execution = Execution {
            events: events.collect(),
            ..Execution::default()
        };
        execution.names.sites = (0..ops.len()).map(|n| format!("a:{}", n + 1)).collect();
        execution.names.locks = vec!["l".to_string(), "m".to_string()];
        let access = |strand| {
            let last = ops.iter().rposition(|(other, _)| *other == strand).unwrap();
            RacingAccess {
                event: last as u64 + 1,
                strand: Strand(strand),
                site: Site(last as u32),
                kind: AccessKind::Write,
            }
        };
        let race = Race {
            location: Location(0),
            first: access(first),
            second: access(second),
            count: 1,
        };
        let mut describer = Describer::new(&execution.names, &());
        let mut found = describer.finding(Rule::Race, "hb", &race);
        add_circumstances(&execution, &(), [&mut found]);
        found
    }

    const WRITE: Op = Op::Write(Location(0));

    #[test]
    fn who_started_whom_is_known_and_what_would_order_them() {
        let ops = [
            (0, Op::Async(Strand(1))),
            (0, Op::Future(Strand(2))),
            (1, WRITE),
            (2, WRITE),
            (0, WRITE),
        ];
        let between = Remedy::WaitBetween {
            parent: "T0".into(),
            first: "T1".into(),
            second: "T2".into(),
        };
        assert_eq!(described(&ops, 1, 2).remedy, Some(between.clone()));
        let found = described(&ops, 2, 1);
        assert_eq!(found.remedy, Some(between));
        let starts = found.creations.iter();
        let starts: Vec<(&str, &str)> = starts.map(|c| (&*c.thread, c.place.as_str())).collect();
        assert_eq!(starts, [("T1", "a:1"), ("T2", "a:2")]);
        let child = Remedy::WaitForChild {
            parent: "T0".into(),
            child: "T2".into(),
        };
        assert_eq!(described(&ops, 0, 2).remedy, Some(child.clone()));
        assert_eq!(described(&ops, 2, 0).remedy, Some(child));
    }

    #[test]
    fn the_locks_held_at_an_access_are_known() {
        let ops = [
            (0, Op::Fork(Strand(1))),
            (0, Op::Acquire(Lock(0))),
            (0, Op::AcquireShared(Lock(1))),
            (0, Op::Release(Lock(0))),
            (0, WRITE),
            (1, Op::Acquire(Lock(0))),
            (1, WRITE),
        ];
        let found = described(&ops, 0, 1);
        let held = |side: usize| {
            let locks = found.sides[side].locks.iter();
            locks
                .map(|lock| (lock.name.as_str(), lock.exclusive))
                .collect::<Vec<_>>()
        };
        assert_eq!(held(0), [("m", false)]);
        assert_eq!(held(1), [("l", true)]);
        assert_eq!(found.remedy, Some(Remedy::DifferentLocks));
    }

    #[test]
    fn threads_that_hold_nothing_are_told_to_join_or_to_lock() {
        let ops = [(0, Op::Fork(Strand(1))), (0, WRITE), (1, WRITE)];
        let join = Remedy::Join {
            parent: "T0".into(),
            child: "T1".into(),
        };
        assert_eq!(described(&ops, 0, 1).remedy, Some(join));
    }
}

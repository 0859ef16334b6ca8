//! What a run found, as people talk about it: each distinct finding once, with names, lines, threads and locks.
//!
//! Findings of one identity are one: a thousand stacks that lead to one pair of lines and one variable are one thing to
//! mend. Calls into system headers count at the line that made them.

use std::sync::Arc;

use deadheat_model::AccessKind;
use deadheat_model::finding::{
    AccessCause, Act, Allocation, Creation, Dependence, Finding, Frame, HeldLock, Identity, Place,
    Rule, Side, SourceLines, Status, Storage, Variable,
};
use deadheat_model::guarantee::Unchecked;
use rustc_hash::FxHashMap;

use crate::findings::{
    Access, Depend, Findings, Lock, Memory, OpenMp, Process, Race, StackFrame, Task,
};
use crate::suppressions::Suppressions;
use crate::symbols::Symbols;
use crate::waits::Waiting;

/// The findings of a run.
#[derive(Default)]
pub struct Survey {
    /// Distinct ones, in the order of their places.
    pub findings: Vec<Finding>,
    /// How many distinct findings were left out because a suppression covers them.
    pub suppressed: u64,
    /// How many distinct findings were left out because a baseline knows them; nothing if there is none.
    pub in_baseline: Option<u64>,
    /// Races that were only counted.
    pub unreported: u64,
    /// Accesses or threads that were not tracked.
    pub dropped: u64,
    /// Lines of the findings that could not be read.
    pub damaged: u64,
    /// There was no room for everything: why that may be, or what to do.
    pub full: Option<&'static str>,
    /// What was not checked.
    pub unchecked: Vec<Unchecked>,
    /// Processes still ran when this was put together: what they do is not known.
    pub left_behind: bool,
    /// Processes that were killed: what they counted at the end is missing.
    pub killed: u64,
    /// A process ended itself by `abort`.
    pub aborted: bool,
    /// What threads waited for when the time was up.
    pub waiting: Vec<Waiting>,
    /// Processes.
    pub processes: u64,
    /// Threads in all processes.
    pub threads: u64,
    /// What there was of OpenMP.
    pub openmp: Option<OpenMp>,
    symbols: Symbols,
    /// The finding of each identity; none if it is suppressed.
    known: FxHashMap<Identity, Option<usize>>,
}

impl Survey {
    /// Gives everything in the findings its name and groups what is the same.
    pub fn new(
        findings: &Findings,
        suppressions: &Suppressions,
        lines: &dyn SourceLines,
    ) -> Survey {
        let mut survey = Survey {
            processes: findings.count(),
            threads: findings.threads(),
            aborted: findings.is_aborted(),
            ..Survey::default()
        };
        for process in &findings.processes {
            survey.damaged += process.damaged;
            match &process.end {
                Some(end) => {
                    survey.unreported += end.unreported;
                    survey.dropped += end.dropped;
                    survey.openmp = match (survey.openmp, end.openmp) {
                        (Some(before), Some(more)) => Some(before.and(more)),
                        (before, more) => before.or(more),
                    };
                }
                None if process.unchecked.is_some() => {}
                None => survey.killed += 1,
            }
            survey.add(process, 0, suppressions, lines);
        }
        if survey.processes == 1 {
            for finding in &mut survey.findings {
                finding.process = None;
            }
        }
        // Which race a run meets first is a matter of chance.
        survey.findings.sort_by_cached_key(|finding| {
            let sides = finding.sides.iter();
            let mut places: Vec<Arc<Place>> = sides.map(|side| side.place.clone()).collect();
            places.sort();
            let name = finding.variable.name.clone();
            (finding.is_possible(), places, name, finding.identity)
        });
        survey
    }

    /// Adds the races of a process, without the first `from` of them.
    pub fn add(
        &mut self,
        process: &Process,
        from: usize,
        suppressions: &Suppressions,
        lines: &dyn SourceLines,
    ) {
        let engine = match process.end.as_ref().is_some_and(|end| end.openmp.is_some()) {
            true => "openmp",
            false => "fasttrack",
        };
        for race in &process.races[from.min(process.races.len())..] {
            let count = process.counts.get(&race.id).copied().unwrap_or(1);
            let finding = named(&mut self.symbols, process, race, engine).identified(lines);
            match self.known.get(&finding.identity) {
                // The rule of the worst access stands for all.
                Some(Some(index)) => {
                    let known = &mut self.findings[*index];
                    known.count += count;
                    let is_worse = finding.rule == Rule::UseAfterFree && known.rule == Rule::Race;
                    let is_surer = !finding.is_possible() && known.is_possible();
                    if is_worse || is_surer {
                        let (count, process) = (known.count, known.process);
                        *known = finding;
                        (known.count, known.process) = (count, process);
                    }
                }
                Some(None) => {}
                None => {
                    let covered =
                        suppressions.cover(&finding) || process.suppressions.cover(&finding);
                    self.suppressed += covered as u64;
                    let index = (!covered).then_some(self.findings.len());
                    self.known.insert(finding.identity, index);
                    if !covered {
                        self.findings.push(Finding {
                            count,
                            process: Some(process.pid),
                            ..finding
                        });
                    }
                }
            }
        }
    }
}

fn named(symbols: &mut Symbols, process: &Process, race: &Race, engine: &'static str) -> Finding {
    let mut sides = vec![
        side(symbols, process, &race.first),
        side(symbols, process, &race.second),
    ];
    tell_locks_apart(race, &mut sides);
    let rule = match race.second.cause {
        AccessCause::LockDestroyed => Rule::DestroyedWhileHeld,
        _ if sides.iter().any(|side| side.act.frees()) => Rule::UseAfterFree,
        _ => Rule::Race,
    };
    let variable = variable(symbols, process, race);
    let mut finding = Finding::new(rule, engine, variable, sides);
    if engine == "openmp" {
        finding.status = Some(match race.possible {
            true => Status::Possible,
            false => Status::Certain,
        });
    }
    finding.creations = creations(symbols, process, [race.first.thread, race.second.thread]);
    finding
}

/// Who created these threads, up to main.
fn creations(symbols: &mut Symbols, process: &Process, racing: [u64; 2]) -> Arc<[Creation]> {
    let mut creations = Vec::new();
    let mut wanted = racing.to_vec();
    let mut index = 0;
    while index < wanted.len() {
        let id = wanted[index];
        index += 1;
        if id == 0 || wanted[..index - 1].contains(&id) {
            continue;
        }
        let Some(thread) = process.threads.get(&id) else {
            continue;
        };
        let parent = thread.parent.unwrap_or(0);
        let stack = symbols.stack(process, &thread.stack);
        creations.push(Creation {
            thread: thread_name(process, id),
            parent: thread_name(process, parent),
            place: place(&stack),
            stack,
            finished: thread.finished,
        });
        // A line of threads that create each other is told by its last ones.
        if wanted.len() < 16 {
            wanted.push(parent);
        }
    }
    creations.into()
}

fn side(symbols: &mut Symbols, process: &Process, access: &Access) -> Side {
    let stack = symbols.stack(process, &access.stack);
    let act = Act::Access {
        kind: match access.write {
            true => AccessKind::Write,
            false => AccessKind::Read,
        },
        cause: access.cause,
        atomic: access.atomic,
        size: match access.cause {
            AccessCause::Loop => 0,
            _ => access.size,
        },
    };
    let locks = access.locks.iter().map(|lock| HeldLock {
        name: match lock.address >> 47 {
            0 => lock_name(symbols, process, lock),
            _ => "mutexinoutset".to_string(),
        },
        exclusive: lock.write,
        taken: None,
    });
    let locks = locks.collect();
    let tasks = access.tasks.iter();
    let tasks = tasks.map(|found| task(symbols, process, found)).collect();
    let place = match stack.is_empty() {
        // A stack that is not known is a place of its own for each access.
        true => Arc::new(Place::parse(&format!("? {:#x}", access.address))),
        false => place(&stack),
    };
    Side {
        stack,
        locks,
        tasks,
        ..Side::new(act, thread_name(process, access.thread), place)
    }
}

/// The line of the program's own code that a stack leads to.
pub(crate) fn place(stack: &[Arc<Frame>]) -> Arc<Place> {
    let frame = Frame::of_program(stack);
    Arc::new(frame.map_or_else(Place::unknown, Frame::place))
}

/// What a lock is called: its variable, or the block that it is in by where that was allocated.
fn lock_name(symbols: &mut Symbols, process: &Process, lock: &Lock) -> String {
    let Some(Memory::Heap { start, stack, .. }) = &lock.memory else {
        let name = object(symbols, process, lock.address, lock.memory.as_ref());
        return name.unwrap_or_else(|| format!("{:#x}", lock.address));
    };
    let calls = symbols.stack(process, stack);
    let Some(frame) = calls.iter().find(|frame| frame.is_own()) else {
        return format!("{:#x}", lock.address);
    };
    let place = frame.place().short();
    match lock.address.saturating_sub(*start) {
        0 => format!("lock in heap block allocated at {place}"),
        offset => format!("lock at byte {offset} of heap block allocated at {place}"),
    }
}

/// What a thing in the program's memory is called that no race is about.
pub(crate) fn object_name(symbols: &mut Symbols, process: &Process, address: u64) -> String {
    let name = object(symbols, process, address, None);
    name.unwrap_or_else(|| format!("{address:#x}"))
}

/// The variable at an address, or the block of the heap.
fn object(
    symbols: &mut Symbols,
    process: &Process,
    address: u64,
    memory: Option<&Memory>,
) -> Option<String> {
    match memory {
        Some(Memory::Stack { frame, .. }) => {
            let (name, _) = symbols.local(process, frame.as_ref()?, address, 0)?;
            Some(name)
        }
        Some(Memory::Heap {
            start, size, stack, ..
        }) => {
            let offset = address.saturating_sub(*start);
            Some(heap_name(symbols, process, stack, (*size, offset), 0))
        }
        _ => symbols.global(process, address),
    }
}

/// What a byte of a block of the heap is called, of which `size` bytes are accessed: by the type of what it holds, if that is known.
fn heap_name(
    symbols: &mut Symbols,
    process: &Process,
    stack: &[u64],
    (block, offset): (u64, u64),
    size: u64,
) -> String {
    let content = symbols.content(process, stack.iter().copied(), block);
    content
        .and_then(|content| {
            let (ty, path) = symbols.name_in(&content, offset, size)?;
            Some(format!("{ty}{path}"))
        })
        .unwrap_or_else(|| Variable::heap_block(block, offset))
}

/// Different locks of a race that have the same name are told apart by their addresses.
fn tell_locks_apart(race: &Race, sides: &mut [Side]) {
    let accesses = [&race.first, &race.second];
    let mut named: Vec<(u64, String)> = Vec::new();
    for (access, side) in accesses.into_iter().zip(&*sides) {
        let locks = access.locks.iter().zip(&*side.locks);
        named.extend(locks.map(|(found, lock)| (found.address, lock.name.clone())));
    }
    let is_ambiguous = |address: u64, name: &str| {
        let is_other = |(other, same): &(u64, String)| *other != address && *same == *name;
        address >> 47 == 0 && named.iter().any(is_other)
    };
    for (access, side) in accesses.into_iter().zip(sides) {
        let locks = access.locks.iter().zip(&*side.locks);
        let locks = locks.map(
            |(found, lock)| match is_ambiguous(found.address, &lock.name) {
                true => HeldLock {
                    name: format!("{} ({:#x})", lock.name, found.address),
                    ..lock.clone()
                },
                false => lock.clone(),
            },
        );
        side.locks = locks.collect();
    }
}

fn task(symbols: &mut Symbols, process: &Process, task: &Task) -> deadheat_model::finding::Task {
    let depend = |symbols: &mut Symbols, depend: &Depend| Dependence {
        kind: depend.kind,
        variable: match depend.all_memory {
            true => "omp_all_memory".to_string(),
            false => object(symbols, process, depend.address, depend.memory.as_ref())
                .unwrap_or_else(|| format!("{:#x}", depend.address)),
        },
    };
    deadheat_model::finding::Task {
        kind: task.kind,
        id: task.id,
        number: task.number,
        iterations: task.iterations,
        stack: symbols.stack(process, &task.stack),
        depends: task
            .depends
            .iter()
            .rev()
            .map(|found| depend(symbols, found))
            .collect(),
    }
}

fn variable(symbols: &mut Symbols, process: &Process, race: &Race) -> Variable {
    match &race.memory {
        Memory::Heap {
            start,
            size,
            thread,
            stack,
        } => {
            let offset = race.address.saturating_sub(*start);
            Variable {
                name: heap_name(symbols, process, stack, (*size, offset), race.size).into(),
                storage: Storage::Heap(Arc::new(Allocation {
                    size: *size,
                    offset,
                    thread: thread_name(process, *thread),
                    stack: symbols.stack(process, stack),
                })),
            }
        }
        Memory::Stack { thread, frame } => {
            let local = frame
                .as_ref()
                .and_then(|frame| local(symbols, process, race, *thread, frame));
            local.unwrap_or_else(|| {
                Variable::named(Variable::stack_of(&thread_name(process, *thread)))
            })
        }
        Memory::Tls { thread, below } => {
            let thread = thread_name(process, *thread);
            match symbols.thread_local(process, *below, race.size) {
                Some(name) => Variable {
                    name: name.into(),
                    storage: Storage::ThreadLocal { thread },
                },
                None => Variable::named(Variable::thread_local_of(&thread)),
            }
        }
        Memory::Global {} | Memory::Mapped {} | Memory::Unknown {} => {
            let global = symbols.global_of(process, race.address, race.size);
            Variable::named(global.unwrap_or_else(|| Variable::memory_at(race.address)))
        }
    }
}

/// The local variable at an address on a thread's stack. If the thread itself made one of the accesses, it was in that function
/// then.
fn local(
    symbols: &mut Symbols,
    process: &Process,
    race: &Race,
    thread: u64,
    frame: &StackFrame,
) -> Option<Variable> {
    let was_there = |access: &Access| {
        access.thread != thread || frame.outermost || access.stack.contains(&frame.caller)
    };
    if !was_there(&race.first) || !was_there(&race.second) {
        return None;
    }
    let (name, function) = symbols.local(process, frame, race.address, race.size)?;
    Some(Variable {
        name: name.into(),
        storage: Storage::Local {
            function: function.into(),
        },
    })
}

/// `main`, `T1`, or `T1 (name)`.
pub(crate) fn thread_name(process: &Process, id: u64) -> Arc<str> {
    if id == 0 {
        return "main".into();
    }
    let name = process
        .threads
        .get(&id)
        .and_then(|thread| thread.name.as_deref());
    match name.filter(|name| !name.is_empty()) {
        Some(name) => format!("T{id} ({name})").into(),
        None => format!("T{id}").into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Findings of one process: a race of thread 2 (a child of 1) and thread 1 for each pair of addresses.
    fn findings(pairs: &[(u64, u64)], counts: &str) -> Findings {
        let mut text = String::from(
            "{\"thread\": {\"id\": 1, \"parent\": 0, \"name\": \"pool\", \"stack\": [7], \"finished\": false}}\n",
        );
        text += "{\"thread\": {\"id\": 2, \"parent\": 1, \"name\": null, \"stack\": [8], \"finished\": true}}\n";
        for (id, (first, second)) in pairs.iter().enumerate() {
            let access = |thread, pc, write| {
                format!(
                    "{{\"thread\": {thread}, \"address\": 64, \"size\": 4, \"write\": {write}, \
                     \"atomic\": false, \"cause\": \"access\", \"stack\": [{pc}], \"locks\": [], \"tasks\": []}}"
                )
            };
            text += &format!(
                "{{\"race\": {{\"id\": {id}, \"address\": 64, \"size\": 4, \"first\": {}, \"second\": {}, \
                 \"memory\": {{\"kind\": \"heap\", \"start\": 60, \"size\": 8, \"thread\": 0, \"stack\": []}}}}}}\n",
                access(2, first, false),
                access(1, second, true)
            );
        }
        let mut process = Process::default();
        process.take((text + counts).as_bytes());
        assert_eq!(process.damaged, 0);
        Findings {
            processes: vec![process],
        }
    }

    #[test]
    fn what_openmp_has_not_run_is_counted_over_all_processes() {
        let process = |never_run: u64| {
            let mut process = Process::default();
            let openmp = format!(
                "{{\"tasks\": 5, \"never_run\": {never_run}, \"locks\": false, \"static_loops\": false, \
                 \"thread_numbers\": false, \"threads_choose\": false, \"messages\": false, \"team_of_one\": false}}"
            );
            let line = format!(
                "{{\"end\": {{\"how\": \"exit\", \"races\": 0, \"seen\": 0, \"threads\": 1, \
                 \"dropped\": 0, \"unreported\": 0, \"openmp\": {openmp}}}}}\n"
            );
            process.take(line.as_bytes());
            process
        };
        let processes = vec![process(1), Process::default(), process(2)];
        let survey = Survey::new(&Findings { processes }, &Suppressions::default(), &());
        let openmp = survey.openmp.unwrap();
        assert_eq!((openmp.never_run, openmp.tasks), (3, 10));
    }

    #[test]
    fn the_same_two_places_are_one_race_in_either_order() {
        let pairs = [(10, 20), (20, 10), (10, 30), (10, 20)];
        let counts = "{\"count\": {\"race\": 3, \"count\": 40}}\n";
        let survey = Survey::new(&findings(&pairs, counts), &Suppressions::default(), &());
        let seen: Vec<u64> = survey.findings.iter().map(|race| race.count).collect();
        assert_eq!(seen, [42, 1]);
        assert_eq!(
            (survey.suppressed, survey.killed, survey.threads),
            (0, 1, 3)
        );
    }

    #[test]
    fn a_race_tells_who_where_and_what() {
        let survey = Survey::new(&findings(&[(10, 20)], ""), &Suppressions::default(), &());
        let race = &survey.findings[0];
        assert_eq!(race.kind().unwrap().to_string(), "read-write");
        assert_eq!(&*race.variable.name, "heap block of 8 bytes+4");
        assert_eq!(race.variable.allocation().unwrap().offset, 4);
        let threads = race.sides.iter().map(|side| &*side.thread);
        assert_eq!(threads.collect::<Vec<_>>(), ["T2", "T1 (pool)"]);
        let created = race.creations.iter();
        let created = created.map(|made| (&*made.thread, &*made.parent, made.finished));
        assert_eq!(
            created.collect::<Vec<_>>(),
            [("T2", "T1 (pool)", true), ("T1 (pool)", "main", false)]
        );
        assert_eq!(race.process, None);
    }
}

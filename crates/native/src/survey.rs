//! What a run found, as people talk about it: each distinct race once, with names, lines, threads and locks.
//!
//! Two findings are the same race if their accesses stand on the same two lines, where calls into system headers
//! count at the line that made them: a thousand stacks that lead to one pair of lines are one thing to mend.

use std::rc::Rc;

use deadheat_tape::findings::Word;
use rustc_hash::FxHashMap;

use crate::findings::{Access, Depend, Findings, Memory, OpenMp, Process, Race, Task};
use crate::suppressions::Suppressions;
use crate::symbols::{Frame, Symbols};

/// The races of a run.
#[derive(Default)]
pub struct Survey {
    /// Distinct races, in the order they were first seen.
    pub races: Vec<NativeRace>,
    /// How many distinct races were left out because a suppression covers them.
    pub suppressed: u64,
    /// How many distinct races were left out because a baseline knows them; nothing if there is none.
    pub in_baseline: Option<u64>,
    /// Races that were only counted.
    pub unreported: u64,
    /// Accesses or threads that were not tracked.
    pub dropped: u64,
    /// Lines of the findings that could not be read.
    pub damaged: u64,
    /// There was no room for everything: why that may be, or what to do.
    pub full: Option<&'static str>,
    /// Processes still ran when this was put together: what they do is not known.
    pub left_behind: bool,
    /// Processes that were killed: what they counted at the end is missing.
    pub killed: u64,
    /// Processes.
    pub processes: u64,
    /// Threads in all processes.
    pub threads: u64,
    /// What there was of OpenMP.
    pub openmp: Option<OpenMp>,
    symbols: Symbols,
    /// The race of each pair of lines; none if it is suppressed.
    known: FxHashMap<[String; 2], Option<usize>>,
}

/// One distinct race.
#[derive(Clone, Debug, Default)]
pub struct NativeRace {
    /// The global, or a description of the memory: `x`, `array+12`, `heap block of 16 bytes+4`.
    pub variable: String,
    /// More about the memory.
    pub place: Place,
    /// How often it was seen.
    pub count: u64,
    /// The earlier access.
    pub first: NativeAccess,
    /// The one that found it.
    pub second: NativeAccess,
    /// The threads it names, where each was created; main is not among them.
    pub creations: Vec<Creation>,
    /// The process, if there was more than one.
    pub pid: Option<u64>,
}

/// What lies where a race is.
#[derive(Clone, Debug, Default)]
pub enum Place {
    /// A block of the heap.
    Heap {
        /// Which byte of the block.
        offset: u64,
        /// Its size.
        size: u64,
        /// Who allocated it.
        thread: String,
        /// The calls that allocated it, innermost first.
        stack: Vec<Rc<Frame>>,
    },
    /// A thread's stack or thread-local variable, named in full by `variable`.
    Thread,
    /// Memory nothing is known about but its address.
    Unknown,
    /// A global variable.
    #[default]
    Global,
}

/// One side of a race.
#[derive(Clone, Debug, Default)]
pub struct NativeAccess {
    /// `main`, `T1`, or `T1 (name)`.
    pub thread: String,
    /// Write or read.
    pub write: bool,
    /// By an atomic operation.
    pub atomic: bool,
    /// `access`, `range`, `free` or `vptr`.
    pub what: String,
    /// Bytes.
    pub size: u64,
    /// Innermost first.
    pub stack: Vec<Rc<Frame>>,
    /// What was held.
    pub locks: Vec<HeldLock>,
    /// In a program of OpenMP: the task that made it, and who created that, outwards.
    pub tasks: Vec<NativeTask>,
}

/// A task of OpenMP, or what counts as one.
#[derive(Clone, Debug)]
pub struct NativeTask {
    /// `explicit`, `implicit`, `iterations`, `section`, `single`, `region` or `thread`.
    pub kind: String,
    /// The same for the same task.
    pub id: u64,
    /// The thread's number in its team, or the first iteration.
    pub number: u64,
    /// How many iterations.
    pub iterations: u64,
    /// Where the construct stands; innermost first.
    pub stack: Vec<Rc<Frame>>,
    /// The clause, such as `depend(in: x)`, for each dependence.
    pub depends: Vec<String>,
}

/// A lock that was held.
#[derive(Clone, Debug)]
pub struct HeldLock {
    /// The lock variable, or its address.
    pub name: String,
    /// Held for writing.
    pub write: bool,
}

/// How a thread came to be.
#[derive(Clone, Debug)]
pub struct Creation {
    /// `T1`.
    pub thread: String,
    /// Who created it.
    pub parent: String,
    /// Where; innermost first.
    pub stack: Vec<Rc<Frame>>,
    /// Had it ended when the race was found?
    pub finished: bool,
}

impl NativeRace {
    /// `write-write`, `read-write` or `write-read`, the earlier access first.
    pub fn kind(&self) -> &'static str {
        match (self.first.write, self.second.write) {
            (true, true) => "write-write",
            (true, false) => "write-read",
            (false, _) => "read-write",
        }
    }
}

impl NativeAccess {
    /// The innermost call in the program's own code, if any is known to be; else the innermost.
    pub fn site(&self) -> Option<&Rc<Frame>> {
        let own = self
            .stack
            .iter()
            .find(|frame| frame.line.is_some() && !frame.is_system());
        own.or(self.stack.first())
    }
}

impl Survey {
    /// Gives everything in the findings its name and groups what is the same.
    pub fn new(findings: &Findings, suppressions: &Suppressions) -> Survey {
        let mut survey = Survey {
            processes: findings.processes.len() as u64,
            threads: findings.threads(),
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
                None => survey.killed += 1,
            }
            survey.add(process, 0, suppressions);
        }
        if survey.processes == 1 {
            for race in &mut survey.races {
                race.pid = None;
            }
        }
        survey
    }

    /// Adds the races of a process, without the first `from` of them.
    pub fn add(&mut self, process: &Process, from: usize, suppressions: &Suppressions) {
        for race in &process.races[from.min(process.races.len())..] {
            let count = process.counts.get(&race.id).copied().unwrap_or(1);
            let sites = sites(&mut self.symbols, process, race);
            match self.known.get(&sites) {
                Some(Some(index)) => self.races[*index].count += count,
                Some(None) => {}
                None => {
                    let mut named = named(&mut self.symbols, process, race);
                    named.count = count;
                    named.pid = Some(process.pid);
                    let covered = suppressions.cover(&named) || process.suppressions.cover(&named);
                    self.suppressed += covered as u64;
                    self.known
                        .insert(sites, (!covered).then_some(self.races.len()));
                    if !covered {
                        self.races.push(named);
                    }
                }
            }
        }
    }
}

/// The two lines a race is about, in either order.
fn sites(symbols: &mut Symbols, process: &Process, race: &Race) -> [String; 2] {
    let mut site = |access: &Access| {
        let mut innermost = None;
        for &address in &access.stack {
            for frame in symbols.frames(process, address).iter() {
                if frame.line.is_some() && !frame.is_system() {
                    return line_of(frame);
                }
                innermost.get_or_insert_with(|| line_of(frame));
            }
        }
        // A stack that is not known is a place of its own for each access.
        innermost.unwrap_or_else(|| format!("? {:#x}", access.address))
    };
    let mut sites = [site(&race.first), site(&race.second)];
    sites.sort();
    sites
}

fn line_of(frame: &Frame) -> String {
    match (&frame.file, frame.line) {
        (Some(file), Some(line)) => format!("{file}:{line}"),
        _ => frame.location(),
    }
}

fn named(symbols: &mut Symbols, process: &Process, race: &Race) -> NativeRace {
    let (variable, place) = place(symbols, process, race);
    let mut creations = Vec::new();
    let mut wanted = vec![race.first.thread, race.second.thread];
    // Who created the threads of the race, up to main, is part of the story.
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
        creations.push(Creation {
            thread: thread_name(process, id),
            parent: thread_name(process, parent),
            stack: symbols.stack(process, &thread.stack),
            finished: thread.finished,
        });
        if wanted.len() < 16 {
            wanted.push(parent);
        }
    }
    NativeRace {
        variable,
        place,
        count: 1,
        first: access(symbols, process, &race.first),
        second: access(symbols, process, &race.second),
        creations,
        pid: None,
    }
}

fn access(symbols: &mut Symbols, process: &Process, access: &Access) -> NativeAccess {
    let locks = access.locks.iter().map(|lock| HeldLock {
        name: symbols
            .global(process, lock.address)
            .unwrap_or_else(|| match lock.address >> 47 {
                0 => format!("{:#x}", lock.address),
                _ => "mutexinoutset".to_string(),
            }),
        write: lock.write,
    });
    let locks = locks.collect();
    NativeAccess {
        thread: thread_name(process, access.thread),
        write: access.write,
        atomic: access.atomic,
        what: access.cause.word().to_string(),
        size: access.size,
        stack: symbols.stack(process, &access.stack),
        locks,
        tasks: access
            .tasks
            .iter()
            .map(|found| task(symbols, process, found))
            .collect(),
    }
}

fn task(symbols: &mut Symbols, process: &Process, task: &Task) -> NativeTask {
    let depend = |symbols: &mut Symbols, depend: &Depend| {
        let kind = depend.kind.word();
        let variable = match depend.all_memory {
            true => "omp_all_memory".to_string(),
            false => symbols
                .global(process, depend.address)
                .unwrap_or_else(|| format!("{:#x}", depend.address)),
        };
        format!("depend({kind}: {variable})")
    };
    NativeTask {
        kind: task.kind.word().to_string(),
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

fn place(symbols: &mut Symbols, process: &Process, race: &Race) -> (String, Place) {
    match &race.memory {
        Memory::Heap {
            start,
            size,
            thread,
            stack,
        } => {
            let offset = race.address.saturating_sub(*start);
            let bytes = if *size == 1 { "byte" } else { "bytes" };
            let mut variable = format!("heap block of {size} {bytes}");
            if offset > 0 {
                variable += &format!("+{offset}");
            }
            let place = Place::Heap {
                offset,
                size: *size,
                thread: thread_name(process, *thread),
                stack: symbols.stack(process, stack),
            };
            (variable, place)
        }
        Memory::Stack { thread } => (
            format!("stack of {}", thread_name(process, *thread)),
            Place::Thread,
        ),
        Memory::Tls { thread } => {
            let owner = thread_name(process, *thread);
            (format!("thread-local variable of {owner}"), Place::Thread)
        }
        Memory::Global {} | Memory::Mapped {} | Memory::Unknown {} => {
            match symbols.global(process, race.address) {
                Some(global) => (global, Place::Global),
                None => (format!("memory at {:#x}", race.address), Place::Unknown),
            }
        }
    }
}

/// `main`, `T1`, or `T1 (name)`.
fn thread_name(process: &Process, id: u64) -> String {
    if id == 0 {
        return "main".to_string();
    }
    let name = process
        .threads
        .get(&id)
        .and_then(|thread| thread.name.as_deref());
    match name.filter(|name| !name.is_empty()) {
        Some(name) => format!("T{id} ({name})"),
        None => format!("T{id}"),
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
                 \"thread_numbers\": false, \"messages\": false, \"team_of_one\": false}}"
            );
            let line = format!(
                "{{\"end\": {{\"how\": \"exit\", \"races\": 0, \"seen\": 0, \"threads\": 1, \
                 \"dropped\": 0, \"unreported\": 0, \"openmp\": {openmp}}}}}\n"
            );
            process.take(line.as_bytes());
            process
        };
        let processes = vec![process(1), Process::default(), process(2)];
        let survey = Survey::new(&Findings { processes }, &Suppressions::default());
        let openmp = survey.openmp.unwrap();
        assert_eq!((openmp.never_run, openmp.tasks), (3, 10));
    }

    #[test]
    fn the_same_two_places_are_one_race_in_either_order() {
        let pairs = [(10, 20), (20, 10), (10, 30), (10, 20)];
        let counts = "{\"count\": {\"race\": 3, \"count\": 40}}\n";
        let survey = Survey::new(&findings(&pairs, counts), &Suppressions::default());
        let seen: Vec<u64> = survey.races.iter().map(|race| race.count).collect();
        assert_eq!(seen, [42, 1]);
        assert_eq!(
            (survey.suppressed, survey.killed, survey.threads),
            (0, 1, 3)
        );
    }

    #[test]
    fn a_race_tells_who_where_and_what() {
        let survey = Survey::new(&findings(&[(10, 20)], ""), &Suppressions::default());
        let race = &survey.races[0];
        assert_eq!(
            (race.kind(), race.variable.as_str()),
            ("read-write", "heap block of 8 bytes+4")
        );
        assert_eq!(
            (race.first.thread.as_str(), race.second.thread.as_str()),
            ("T2", "T1 (pool)")
        );
        let created: Vec<(&str, &str, bool)> = race
            .creations
            .iter()
            .map(|creation| {
                (
                    creation.thread.as_str(),
                    creation.parent.as_str(),
                    creation.finished,
                )
            })
            .collect();
        assert_eq!(
            created,
            [("T2", "T1 (pool)", true), ("T1 (pool)", "main", false)]
        );
        assert_eq!(race.pid, None);
    }
}

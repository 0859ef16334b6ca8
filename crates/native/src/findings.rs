//! The files of findings that programs under test leave: read into plain data. The format is in
//! `crates/rt/src/findings.md`.
//!
//! A program can be killed at any moment, so a file may end anywhere: a last line without a newline is
//! ignored, and a line in between that cannot be read is counted and skipped, so that nothing else is lost.

use std::io;
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;
use serde::Deserialize;
use thiserror::Error;

use crate::suppressions::Suppressions;

/// What all processes of one run found.
#[derive(Debug, Default)]
pub struct Findings {
    /// One a file, the first process first.
    pub processes: Vec<Process>,
}

/// What one process found.
#[derive(Debug, Default)]
pub struct Process {
    /// Its id; 0 if its file ends before that.
    pub pid: u64,
    /// The executable.
    pub program: String,
    /// Its runtime is not this command's.
    other_version: bool,
    /// The pieces of memory that hold code and globals.
    pub modules: Vec<Module>,
    /// The threads that races and stacks name.
    pub threads: FxHashMap<u64, Thread>,
    /// Each distinct pair of stacks once.
    pub races: Vec<Race>,
    /// How often each race was seen, where more than once.
    pub counts: FxHashMap<u64, u64>,
    /// What it does not want to hear of.
    pub suppressions: Suppressions,
    /// How it ended; missing if it was killed.
    pub end: Option<End>,
    /// Lines that could not be read.
    pub damaged: u64,
}

/// Why findings could not be read.
#[derive(Debug, Error)]
pub enum FindingsError {
    /// Their file could not be read.
    #[error("the findings in `{}` could not be read: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// The runtime in the program is not this command's, and may mean something else by what it writes.
    #[error(
        "`{program}` was built by another version of deadheat: build it again with this one's `deadheat cc`"
    )]
    OtherVersion {
        /// The executable.
        program: String,
    },
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    Start(Start),
    Module(Module),
    Thread(Thread),
    Race(Box<Race>),
    Count(Count),
    Suppressions(Text),
    End(End),
}

#[derive(Deserialize)]
struct Text {
    text: String,
}

#[derive(Deserialize)]
struct Start {
    version: u32,
    pid: u64,
    program: String,
}

/// Where a file lies in memory.
#[derive(Clone, Debug, Deserialize)]
pub struct Module {
    /// First address.
    pub start: u64,
    /// First address behind it.
    pub end: u64,
    /// What to subtract from an address to get the file's own.
    pub bias: u64,
    /// The file.
    pub path: String,
}

/// One thread.
#[derive(Clone, Debug, Deserialize)]
pub struct Thread {
    /// 0 is the main thread.
    pub id: u64,
    /// Who created it.
    pub parent: Option<u64>,
    /// What the program calls it.
    pub name: Option<String>,
    /// Where it was created: return addresses, innermost first.
    #[serde(default)]
    pub stack: Vec<u64>,
    /// Had it ended when this was written?
    #[serde(default)]
    pub finished: bool,
}

/// Two accesses that nothing orders.
#[derive(Clone, Debug, Deserialize)]
pub struct Race {
    /// Unique in its process.
    pub id: u64,
    /// First byte both touched.
    pub address: u64,
    /// How many bytes both touched.
    pub size: u64,
    /// The earlier access.
    pub first: Access,
    /// The one that found it.
    pub second: Access,
    /// What lies there.
    pub memory: Memory,
}

/// One side of a race.
#[derive(Clone, Debug, Deserialize)]
pub struct Access {
    /// The number of the thread that accesses.
    pub thread: u64,
    /// First byte.
    pub address: u64,
    /// Bytes.
    pub size: u64,
    /// Write or read.
    pub write: bool,
    /// By an atomic operation.
    #[serde(default)]
    pub atomic: bool,
    /// `access`, `range`, `free` or `vptr`.
    #[serde(default)]
    pub what: String,
    /// Return addresses, innermost first.
    #[serde(default)]
    pub stack: Vec<u64>,
    /// What was held.
    #[serde(default)]
    pub locks: Vec<Lock>,
    /// In a program of OpenMP: the task that made it, and who created that, outwards.
    #[serde(default)]
    pub tasks: Vec<Task>,
}

/// A task of OpenMP, or what counts as one.
#[derive(Clone, Debug, Deserialize)]
pub struct Task {
    /// `explicit`, `implicit`, `iterations`, `section`, `single`, `region` or `thread`.
    pub kind: String,
    /// The same for the same task.
    pub id: u64,
    /// The thread's number in its team, or the first iteration.
    #[serde(default)]
    pub number: u64,
    /// How many iterations.
    #[serde(default)]
    pub iterations: u64,
    /// Where the construct stands.
    #[serde(default)]
    pub stack: Vec<u64>,
    /// What it depends on.
    #[serde(default)]
    pub depends: Vec<Depend>,
}

/// A dependence of a task.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Depend {
    /// What it names.
    pub address: u64,
    /// How: 1 `in`, 2 `out`, 3 `inout`, 4 `mutexinoutset`, 8 `inoutset`.
    pub kind: u64,
}

/// A lock that was held.
#[derive(Clone, Debug, Deserialize)]
pub struct Lock {
    /// Where it lies.
    pub address: u64,
    /// Held alone, or shared with other readers.
    #[serde(default)]
    pub write: bool,
}

/// What kind of memory a race is about.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Memory {
    /// A block of the heap.
    Heap {
        /// Its first byte.
        start: u64,
        /// Its bytes.
        size: u64,
        /// Who allocated it.
        thread: u64,
        /// Where: return addresses, innermost first.
        #[serde(default)]
        stack: Vec<u64>,
    },
    /// A thread's stack.
    Stack {
        /// The number of the thread that it belongs to.
        thread: u64,
    },
    /// A thread-local variable.
    Tls {
        /// The number of the thread that it belongs to.
        thread: u64,
    },
    /// A module's data.
    Global,
    /// Mapped by the program.
    Mapped,
    /// Anything else.
    #[serde(other)]
    Unknown,
}

#[derive(Deserialize)]
struct Count {
    race: u64,
    count: u64,
}

/// How a process ended.
#[derive(Clone, Debug, Deserialize)]
pub struct End {
    /// `exit`, `signal`, ….
    pub how: String,
    /// How many threads there were.
    #[serde(default)]
    pub threads: u64,
    /// Accesses or threads that could not be tracked.
    #[serde(default)]
    pub dropped: u64,
    /// Races that were counted but not written.
    #[serde(default)]
    pub unreported: u64,
    /// In a program of OpenMP.
    pub openmp: Option<OpenMp>,
}

/// What a run of OpenMP had that its verdict speaks of.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub struct OpenMp {
    /// Explicit and implicit tasks, iterations handed out, regions.
    pub tasks: u64,
    /// Explicit tasks that were created, and had not begun when the program ended.
    #[serde(default)]
    pub never_run: u64,
    /// Critical sections or locks.
    pub locks: bool,
    /// Loops with a static schedule.
    pub static_loops: bool,
    /// Code that asks for the number of its thread.
    pub thread_numbers: bool,
    /// Order by atomic variables or locks of threads.
    pub messages: bool,
    /// A team of one thread.
    pub team_of_one: bool,
}

impl OpenMp {
    /// What two processes had.
    #[must_use]
    pub fn and(self, other: OpenMp) -> OpenMp {
        OpenMp {
            tasks: self.tasks + other.tasks,
            never_run: self.never_run + other.never_run,
            locks: self.locks | other.locks,
            static_loops: self.static_loops | other.static_loops,
            thread_numbers: self.thread_numbers | other.thread_numbers,
            messages: self.messages | other.messages,
            team_of_one: self.team_of_one | other.team_of_one,
        }
    }
}

impl Findings {
    /// Reads the files of a run.
    pub fn read(files: &[PathBuf]) -> Result<Findings, FindingsError> {
        let mut processes = Vec::new();
        for path in files {
            let content = std::fs::read(path).map_err(|error| FindingsError::Unreadable {
                path: path.clone(),
                error,
            })?;
            let mut process = Process::default();
            process.take(&content);
            if process.other_version {
                let program = process.program;
                return Err(FindingsError::OtherVersion { program });
            }
            processes.push(process);
        }
        Ok(Findings { processes })
    }

    /// How many threads there were in all processes.
    pub fn threads(&self) -> u64 {
        let threads = |process: &Process| {
            let named = process.threads.keys().max().map_or(1, |last| last + 1);
            process.end.as_ref().map_or(named, |end| end.threads.max(1))
        };
        self.processes.iter().map(threads).sum()
    }
}

impl Process {
    /// Takes whole lines from the start of `content`; gives the number of bytes taken.
    pub fn take(&mut self, content: &[u8]) -> usize {
        let end = content
            .iter()
            .rposition(|&byte| byte == b'\n')
            .map_or(0, |last| last + 1);
        for line in content[..end].split(|&byte| byte == b'\n') {
            if !line.is_empty() {
                self.take_line(line);
            }
        }
        end
    }

    fn take_line(&mut self, line: &[u8]) {
        match serde_json::from_slice(line) {
            Ok(Line::Start(start)) => {
                self.pid = start.pid;
                self.program = start.program;
                self.other_version = start.version != deadheat_tape::VERSION;
            }
            Ok(Line::Module(module)) => self.modules.push(module),
            Ok(Line::Thread(thread)) => {
                self.threads.insert(thread.id, thread);
            }
            Ok(Line::Race(race)) => self.races.push(*race),
            Ok(Line::Count(count)) => {
                self.counts.insert(count.race, count.count);
            }
            Ok(Line::End(end)) => self.end = Some(end),
            Ok(Line::Suppressions(own)) => self.suppressions = Suppressions::of_program(&own.text),
            Err(_) if is_unknown(line) => {}
            Err(_) => self.damaged += 1,
        }
    }

    /// The module an address lies in: the one noted last, if several do.
    pub fn module(&self, address: u64) -> Option<&Module> {
        let mut latest_first = self.modules.iter().rev();
        latest_first.find(|module| module.start <= address && address < module.end)
    }
}

/// A line of a kind that a later runtime may have added.
fn is_unknown(line: &[u8]) -> bool {
    const KNOWN: [&str; 6] = ["start", "module", "thread", "race", "count", "end"];
    let Ok(serde_json::Value::Object(object)) = serde_json::from_slice(line) else {
        return false;
    };
    !object.keys().any(|kind| KNOWN.contains(&kind.as_str()))
}

/// The files that a run told to write to `path` has left: `path` itself and, for further processes, `path.NUMBER`
/// and `path.NUMBER.NUMBER`.
pub fn findings_files(path: &Path) -> Vec<PathBuf> {
    let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else {
        return Vec::new();
    };
    let name = name.to_string_lossy().into_owned() + ".";
    let mut numbered = Vec::new();
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let file = entry.file_name().to_string_lossy().into_owned();
        let numbers = file
            .strip_prefix(&name)
            .map(|rest| rest.split('.').map(str::parse::<u64>).collect());
        if let Some(Ok(numbers)) = numbers {
            let numbers: Vec<u64> = numbers;
            numbered.push((numbers, entry.path()));
        }
    }
    numbered.sort();
    let first = path.is_file().then(|| path.to_path_buf());
    first
        .into_iter()
        .chain(numbered.into_iter().map(|(_, path)| path))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = concat!(
        r#"{"start": {"version": 2, "pid": 7, "parent": 1, "program": "/p", "forked": false}}"#,
        "\n",
        r#"{"module": {"start": 100, "end": 200, "bias": 0, "path": "/p"}}"#,
        "\n",
        r#"{"module": {"start": 150, "end": 300, "bias": 50, "path": "/q"}}"#,
        "\n",
        r#"{"thread": {"id": 0, "parent": null, "name": null, "stack": [], "finished": false}}"#,
        "\n",
        r#"{"novelty": {"colour": "green"}}"#,
        "\n",
        r#"{"race": {"id": 1, "address": 8, "size": 4, "#,
        r#""first": {"thread": 0, "address": 8, "size": 4, "write": true, "atomic": false, "what": "access", "stack": [120], "locks": []}, "#,
        r#""second": {"thread": 0, "address": 8, "size": 4, "write": false, "atomic": false, "what": "access", "stack": [130], "locks": [{"address": 3, "write": true}]}, "#,
        r#""memory": {"kind": "heap", "start": 0, "size": 16, "thread": 0, "stack": []}}}"#,
        "\n",
        r#"{"count": {"race": 1, "count": 12}}"#,
        "\n",
        r#"{"end": {"how": "exit", "status": 0, "races": 1, "seen": 12, "threads": 3, "dropped": 0, "unreported": 0}}"#,
        "\n",
    );

    fn read(content: &[u8]) -> Process {
        let mut process = Process::default();
        process.take(content);
        process
    }

    #[test]
    fn a_whole_file() {
        let process = read(WHOLE.as_bytes());
        assert_eq!(
            (process.pid, process.races.len(), process.damaged),
            (7, 1, 0)
        );
        assert_eq!(process.counts[&1], 12);
        assert_eq!(process.end.as_ref().unwrap().threads, 3);
        assert_eq!(process.module(160).unwrap().path, "/q");
        assert_eq!(process.module(120).unwrap().path, "/p");
        assert!(process.module(300).is_none());
        assert!(matches!(
            process.races[0].memory,
            Memory::Heap { size: 16, .. }
        ));
        assert!(process.races[0].second.locks[0].write);
    }

    #[test]
    fn a_file_cut_anywhere_gives_what_was_whole() {
        let race = WHOLE.find("{\"count").unwrap();
        for length in 0..WHOLE.len() {
            let process = read(&WHOLE.as_bytes()[..length]);
            assert_eq!(process.damaged, 0, "cut at {length}");
            assert_eq!(process.races.len(), (length >= race) as usize);
        }
    }

    #[test]
    fn what_cannot_be_read_is_counted_and_hides_nothing_else() {
        let process = read(format!("{{\"race\": 5}}\n\u{0}\u{0}\nnot JSON\n{WHOLE}").as_bytes());
        assert_eq!((process.damaged, process.races.len()), (3, 1));
    }

    #[test]
    fn findings_of_a_program_that_another_version_has_built_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("f");
        let read = |version: u32| {
            let content = WHOLE.replace("\"version\": 2", &format!("\"version\": {version}"));
            std::fs::write(&file, content).unwrap();
            Findings::read(std::slice::from_ref(&file))
        };
        assert_eq!(read(deadheat_tape::VERSION).unwrap().processes.len(), 1);
        let error = read(deadheat_tape::VERSION - 1).unwrap_err();
        let expected = "`/p` was built by another version of deadheat: build it again with this one's `deadheat cc`";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn every_process_has_a_file() {
        let directory = tempfile::tempdir().unwrap();
        for name in ["f", "f.12", "f.3", "f.12.2", "f.txt", "g.1", "f.12.x"] {
            std::fs::write(directory.path().join(name), "").unwrap();
        }
        let files = findings_files(&directory.path().join("f"));
        let names: Vec<_> = files
            .iter()
            .map(|file| file.file_name().unwrap().to_str().unwrap())
            .collect();
        assert_eq!(names, ["f", "f.3", "f.12", "f.12.2"]);
    }
}

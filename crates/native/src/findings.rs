//! What programs under test have found, read. The format is that of [`deadheat_tape::findings`].
//!
//! A program can be killed at any moment, so what it has written may end anywhere: a last line without a newline is
//! ignored, and a line in between that cannot be read is counted and skipped, so that nothing else is lost.

use deadheat_model::guarantee::Obstacle;
pub use deadheat_tape::findings::{
    Access, Depend, End, Lock, Memory, Module, OpenMp, Race, StackFrame, Started, Task, Thread,
};
use deadheat_tape::findings::{AnyLine, Ending};
use rustc_hash::{FxHashMap, FxHashSet};
use thiserror::Error;

use crate::mailbox::{Letters, Mailbox};
use crate::suppressions::Suppressions;

/// What all processes of one run found.
#[derive(Debug, Default)]
pub struct Findings {
    /// The first process first.
    pub processes: Vec<Process>,
}

/// What one process found.
#[derive(Debug, Default)]
pub struct Process {
    /// The number of its stream in the mailbox: higher for one that came later.
    pub stream: u64,
    /// Its id; 0 if it was killed before it could say.
    pub pid: u64,
    /// It is a forked child, and has become nothing else.
    pub forked: bool,
    /// The executable.
    pub program: String,
    /// Its runtime is not this command's.
    other_version: bool,
    /// The pieces of memory that hold code and globals.
    pub modules: Vec<Module>,
    /// The frame of the first thread's outermost function, if it is known.
    pub main: Option<StackFrame>,
    /// The threads that races and stacks name.
    pub threads: FxHashMap<u64, Thread>,
    /// Each distinct pair of stacks once.
    pub races: Vec<Race>,
    /// How often each race was seen, where more than once.
    pub counts: FxHashMap<u64, u64>,
    /// How many threads it had at least, by what they have waited for.
    known_threads: u64,
    /// What it does not want to hear of.
    pub suppressions: Suppressions,
    /// Why it went on unchecked, if it did.
    pub unchecked: Option<Obstacle>,
    /// The programs that it has become, or has started.
    pub started: Vec<Started>,
    /// How it ended; missing if it was killed.
    pub end: Option<End>,
    /// Lines that could not be read.
    pub damaged: u64,
}

/// Why findings could not be read.
#[derive(Debug, Error)]
pub enum FindingsError {
    /// The runtime in the program is not this command's, and may mean something else by what it writes.
    #[error(
        "`{program}` was built by another version of deadheat: build it again with this one's `deadheat cc`"
    )]
    OtherVersion {
        /// The executable.
        program: String,
    },
}

impl Findings {
    /// Reads what a run has left.
    pub fn read(mailbox: &Mailbox) -> Result<Findings, FindingsError> {
        let mut letters = Letters::default();
        letters.take(mailbox);
        let mut processes = letters.into_processes();
        for process in processes.iter_mut().filter(|process| process.end.is_none()) {
            let waits = mailbox.waits(process.stream);
            let known = waits.iter().map(|wait| match process.forked {
                // Its parent's are numbered, too.
                true => 1,
                false => wait.thread + 1,
            });
            process.known_threads = known.max().unwrap_or(0);
        }
        Findings::of(processes)
    }

    fn of(processes: Vec<Process>) -> Result<Findings, FindingsError> {
        match processes.iter().find(|process| process.other_version) {
            None => Ok(Findings { processes }),
            Some(process) => Err(FindingsError::OtherVersion {
                program: process.program.clone(),
            }),
        }
    }

    /// How many threads there were in all processes.
    pub fn threads(&self) -> u64 {
        let threads = |process: &Process| {
            let named = match process.forked {
                // Its parent's are numbered, too.
                true => process.threads.len().max(1) as u64,
                false => process.threads.keys().max().map_or(1, |last| last + 1),
            };
            let known = named.max(process.known_threads);
            process.end.as_ref().map_or(known, |end| end.threads.max(1))
        };
        self.checked().map(threads).sum()
    }

    /// Whether a process ended itself by `abort`.
    pub fn is_aborted(&self) -> bool {
        let mut ends = self.checked().filter_map(|process| process.end.as_ref());
        ends.any(|end| end.how == Ending::Abort)
    }

    /// How many processes were checked or recorded; one that becomes another program is still the same.
    pub fn count(&self) -> u64 {
        let numbers: FxHashSet<u64> = self.checked().map(|process| process.pid).collect();
        numbers.len() as u64
    }

    /// The processes that were checked or recorded, and the programs that they have become.
    pub fn checked(&self) -> impl Iterator<Item = &Process> {
        self.processes
            .iter()
            .filter(|process| process.unchecked.is_none())
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
            Ok(AnyLine::Start(start)) => {
                self.pid = start.pid;
                self.program = start.program;
                self.forked = start.forked;
                self.other_version = start.version != deadheat_tape::VERSION;
            }
            Ok(AnyLine::Module(module)) => self.modules.push(*module),
            Ok(AnyLine::Thread(thread)) => {
                self.threads.insert(thread.id, *thread);
            }
            Ok(AnyLine::Main(main)) => self.main = Some(main.frame),
            Ok(AnyLine::Race(race)) => self.races.push(*race),
            Ok(AnyLine::Count(count)) => {
                self.counts.insert(count.race, count.count);
            }
            Ok(AnyLine::End(end)) => self.end = Some(*end),
            Ok(AnyLine::Unchecked(unchecked)) => self.unchecked = Some(unchecked.why),
            Ok(AnyLine::Started(started)) => self.started.push(*started),
            Ok(AnyLine::Suppressions(own)) => {
                self.suppressions = Suppressions::of_program(&own.text);
            }
            Err(_) => self.damaged += 1,
        }
    }

    /// The module an address lies in: the one noted last, if several do.
    pub fn module(&self, address: u64) -> Option<&Module> {
        let mut latest_first = self.modules.iter().rev();
        latest_first.find(|module| module.start <= address && address < module.end)
    }
}

#[cfg(test)]
mod tests {
    use deadheat_model::finding::AccessCause;

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
        r#"{"race": {"id": 1, "address": 8, "size": 4, "#,
        r#""first": {"thread": 0, "address": 8, "size": 4, "write": true, "atomic": false, "cause": "access", "stack": [120], "locks": [], "tasks": []}, "#,
        r#""second": {"thread": 0, "address": 8, "size": 4, "write": false, "atomic": false, "cause": "vptr", "stack": [130], "locks": [{"address": 3, "write": true}], "tasks": []}, "#,
        r#""memory": {"kind": "heap", "start": 0, "size": 16, "thread": 0, "stack": []}}}"#,
        "\n",
        r#"{"count": {"race": 1, "count": 12}}"#,
        "\n",
        r#"{"end": {"how": "exit", "status": 0, "races": 1, "seen": 12, "threads": 3, "dropped": 0, "unreported": 0, "openmp": null}}"#,
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
        assert_eq!(process.races[0].second.cause, AccessCause::VirtualTable);
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
        for (word, other) in [
            ("\"vptr\"", "\"magic\""),
            ("\"heap\"", "\"novel\""),
            ("\"cause\"", "\"what\""),
            ("{\"race\": {", "{\"novelty\": {"),
        ] {
            let process = read(WHOLE.replace(word, other).as_bytes());
            assert_eq!((process.damaged, process.races.len()), (1, 0), "{other}");
        }
    }

    #[test]
    fn findings_of_a_program_that_another_version_has_built_are_refused() {
        let read = |version: u64| {
            let content = WHOLE.replace("\"version\": 2", &format!("\"version\": {version}"));
            Findings::of(vec![self::read(content.as_bytes())])
        };
        assert_eq!(read(deadheat_tape::VERSION).unwrap().processes.len(), 1);
        let error = read(deadheat_tape::VERSION - 1).unwrap_err();
        let expected = "`/p` was built by another version of deadheat: build it again with this one's `deadheat cc`";
        assert_eq!(error.to_string(), expected);
    }
}

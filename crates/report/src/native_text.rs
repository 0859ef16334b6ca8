//! Races of C and C++ programs as text, shown in their source.

use std::rc::Rc;

use annotate_snippets::{Group, Level};
use deadheat_native::{Frame, NativeAccess, NativeRace, Place, Recorded, Survey};

use crate::excerpt::{self, Mark};
use crate::native::{RunReport, identity};
use crate::openmp;
use crate::remedy::remedy;
use crate::sources::Sources;
use crate::style::{self, counted, grouped, renderer};

/// What is in the trace of a program: `12 events of 2 threads`.
pub fn recorded(recorded: &Recorded) -> String {
    let (events, threads) = (recorded.events, recorded.threads);
    let tasks = match recorded.tasks {
        0 => String::new(),
        tasks => format!(" and {}", counted(tasks, "task")),
    };
    format!(
        "{} of {}{tasks}",
        counted(events, "event"),
        counted(threads, "thread")
    )
}

/// How many calls of a stack are shown.
const MAX_CALLS: usize = 12;

/// Shows races in the source files they are about.
pub struct Excerpts<'s> {
    pub(crate) sources: &'s Sources,
}

impl<'s> Excerpts<'s> {
    /// Out of these files.
    pub fn new(sources: &'s Sources) -> Excerpts<'s> {
        Excerpts { sources }
    }

    /// All races from number `from` on, at most `most` of them in full, and what the run proves.
    pub fn text(&self, survey: &Survey, report: &RunReport, from: usize, most: usize) -> String {
        let mut text = String::new();
        let new = &survey.races[from.min(survey.races.len())..];
        for race in new.iter().take(most) {
            text += &self.race(race);
        }
        let hidden = new.len().saturating_sub(most) as u64;
        if hidden > 0 {
            text += &format!(
                "{} not shown; --json FILE lists all\n",
                counted(hidden, "more race")
            );
        }
        text += without_lines(new);
        text + &format!("deadheat: {}\n", report.guarantee)
    }

    /// One race.
    pub fn race(&self, race: &NativeRace) -> String {
        self.shown(race, "race", &[])
    }

    /// One race, by the name that such are called, with more to say of it.
    pub(crate) fn shown(&self, race: &NativeRace, called: &str, more: &[String]) -> String {
        let marks = self.marks(race);
        let title = Level::ERROR.with_name(Some(called)).primary_title(
            title(race) + &again(race) + &style::identity(&identity(race, self.sources)),
        );
        let mut group = excerpt::shown(Group::with_title(title), &marks);
        let notes = notes(race, marks.len());
        for note in notes.iter().chain(more) {
            group = group.element(Level::NOTE.message(note.as_str()));
        }
        if let Some(remedy) = remedy(race) {
            group = group.element(Level::HELP.message(remedy));
        }
        renderer().render(&[group]) + "\n\n"
    }

    /// Where the two accesses stand in files that can be read.
    fn marks(&self, race: &NativeRace) -> Vec<Mark> {
        let mark = |access: &NativeAccess| {
            let place = access.site()?.location();
            Mark::new(self.sources, &place, &race.variable, label(access))
        };
        Mark::pair(mark(&race.first), mark(&race.second))
    }
}

/// What is wrong, in a sentence.
pub(crate) fn title(race: &NativeRace) -> String {
    let what = subject(race);
    let (first, second) = (&race.first, &race.second);
    let does = |access: &NativeAccess| match access.what.as_str() {
        "free" => "frees",
        _ => "writes",
    };
    let one = who(first);
    let other = openmp::the_other(first, second).unwrap_or_else(|| second.thread.clone());
    match (first.write, second.write) {
        (true, true) if does(first) == "writes" && does(second) == "writes" => {
            format!("{one} and {other} can write {what} at the same time")
        }
        (true, true) if does(second) == "frees" => {
            format!("{one} can write {what} while {other} frees it")
        }
        (true, true) => format!("{one} can free {what} while {other} writes it"),
        (false, _) => format!("{one} can read {what} while {other} {} it", does(second)),
        (true, false) => format!(
            "{one} can {} {what} while {other} reads it",
            does(first).trim_end_matches('s')
        ),
    }
}

/// How often a race was seen, if more than once.
fn again(race: &NativeRace) -> String {
    match race.count {
        0 | 1 => String::new(),
        n => format!(" (seen {} times)", grouped(n)),
    }
}

/// Who made an access: a thread, or what it is to OpenMP.
fn who(access: &NativeAccess) -> String {
    openmp::who(access).unwrap_or_else(|| access.thread.clone())
}

fn subject(race: &NativeRace) -> String {
    match &race.place {
        Place::Heap {
            offset: 0, size, ..
        } => format!("a heap block of {}", counted(*size, "byte")),
        Place::Heap { offset, size, .. } => format!(
            "byte {offset} of a heap block of {}",
            counted(*size, "byte")
        ),
        Place::Thread => format!("the {}", race.variable),
        Place::Unknown => format!("the {}", race.variable),
        Place::Global => match race.variable.split_once('+') {
            Some((name, offset)) if offset.parse::<u64>().is_ok() => {
                format!("byte {offset} of `{name}`")
            }
            _ => format!("`{}`", race.variable),
        },
    }
}

pub(crate) fn label(access: &NativeAccess) -> String {
    let atomic = if access.atomic { "atomic " } else { "" };
    let who = openmp::who_in_short(access).unwrap_or_else(|| access.thread.clone());
    // In a trace, sizes have become locations.
    let size = match access.size {
        0 => String::new(),
        size => format!(" of {}", counted(size, "byte")),
    };
    let done = match (access.what.as_str(), access.write) {
        ("free", _) => format!("freed by {who}"),
        ("vptr", true) => format!("virtual table pointer written by {who}"),
        ("vptr", false) => format!("virtual call by {who}"),
        (_, true) => format!("{atomic}write{size} by {who}"),
        (_, false) => format!("{atomic}read{size} by {who}"),
    };
    match access.locks.as_slice() {
        [] => done,
        locks => {
            let names = locks.iter().map(|lock| match lock.write {
                true => format!("`{}`", lock.name),
                false => format!("`{}` (for reading)", lock.name),
            });
            format!("{done}, holding {}", names.collect::<Vec<_>>().join(", "))
        }
    }
}

/// Stacks where they say more than the excerpt, threads and the block's origin.
pub(crate) fn notes(race: &NativeRace, marks: usize) -> Vec<String> {
    let mut notes = stacks(race, marks);
    if let Place::Heap { thread, stack, .. } = &race.place {
        notes.push(format!(
            "the block was allocated by {thread}{}",
            own_calls(stack)
        ));
    }
    for access in [&race.first, &race.second] {
        if let Some(task) = access.tasks.first()
            && !task.depends.is_empty()
        {
            notes.push(openmp::task_in_full(task));
        }
    }
    // OpenMP's threads are its own business.
    let threads = match race.first.tasks.is_empty() {
        true => race.creations.as_slice(),
        false => &[],
    };
    for creation in threads {
        let ended = if creation.finished {
            " (which has ended)"
        } else {
            ""
        };
        notes.push(format!(
            "{}{ended} was created by {}{}",
            creation.thread,
            creation.parent,
            own_calls(&creation.stack)
        ));
    }
    if let Some(pid) = race.pid {
        notes.push(format!("in process {pid}"));
    }
    notes
}

/// The calls from the program's own code outwards, if there is any: how a library creates a thread is its own business.
fn own_calls(stack: &[Rc<Frame>]) -> String {
    let is_own = |frame: &Rc<Frame>| frame.line.is_some() && !frame.is_system();
    let own = stack.iter().position(is_own).unwrap_or(0);
    calls(&stack[own..])
}

/// How each access got where it is, unless the excerpt shows all that is known of it.
fn stacks(race: &NativeRace, marks: usize) -> Vec<String> {
    let (first, second) = (&race.first, &race.second);
    let is_shown = |access: &&NativeAccess| {
        marks > 0
            && openmp::own_frames(&access.stack).len() <= 1
            && access.site().is_some_and(|site| site.file.is_some())
    };
    let came = calls(&first.stack);
    if marks > 0 && !is_shown(&first) && came == calls(&second.stack) {
        return vec![format!("both accesses{came}")];
    }
    let told = [first, second]
        .into_iter()
        .filter(|access| !is_shown(access));
    told.map(|access| format!("{}{}", label(access), calls(&access.stack)))
        .collect()
}

/// What to do where no line of a race is known.
pub(crate) fn without_lines(races: &[NativeRace]) -> &'static str {
    let has_line = |access: &NativeAccess| access.site().is_some_and(|site| site.line.is_some());
    let mut sides = races.iter().flat_map(|race| [&race.first, &race.second]);
    match sides.all(has_line) {
        true => "",
        false => {
            "no line is known of some accesses: build all of the program with `deadheat cc` or `deadheat c++`, and do not \
             strip it\n"
        }
    }
}

/// A stack, innermost first: in the line if it is one call, else one a line.
fn calls(stack: &[Rc<Frame>]) -> String {
    let shown = |frame: &Frame| match &frame.function {
        Some(function) => format!(
            "{} in `{}`",
            frame.location(),
            short(openmp::function(function))
        ),
        None => frame.location(),
    };
    let own = openmp::own_frames(stack);
    match within_libraries(&own).as_slice() {
        [] => "; where is not known".to_string(),
        [(only, _)] => format!(" at {}", shown(only)),
        calls => {
            let mut text = String::from(":");
            for (frame, left_out) in calls.iter().take(MAX_CALLS) {
                text += &format!("\n  at {}", shown(frame));
                if *left_out > 0 {
                    let left_out = counted(*left_out, "call");
                    text += &format!("\n     ({left_out} inside libraries)");
                }
            }
            let hidden = calls.len().saturating_sub(MAX_CALLS) as u64;
            if hidden > 0 {
                text += &format!("\n  and {}", counted(hidden, "more call"));
            }
            text
        }
    }
}

/// The calls that are worth showing, each with how many are left out after it: who called the program's outermost function is not
/// shown; of several calls inside libraries, one after the other, the innermost and the one that the program made are.
fn within_libraries(stack: &[Rc<Frame>]) -> Vec<(&Frame, u64)> {
    let own = |frame: &Rc<Frame>| frame.line.is_some() && !frame.is_system();
    let outermost = stack.iter().rposition(own);
    let stack = &stack[..outermost.map_or(stack.len(), |place| place + 1)];
    let mut shown = Vec::new();
    for run in stack.chunk_by(|a, b| a.is_system() == b.is_system()) {
        match run {
            [first, left_out @ .., last] if first.is_system() && !left_out.is_empty() => {
                shown.extend([(&**first, left_out.len() as u64), (&**last, 0)]);
            }
            _ => shown.extend(run.iter().map(|frame| (&**frame, 0))),
        }
    }
    shown
}

/// A name that fits in a line: templates can be pages long.
fn short(function: &str) -> String {
    crate::style::cut(function, 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_creates_is_told_from_the_programs_own_code_outwards() {
        let frame = |file: &str, function: &str| {
            Rc::new(Frame {
                function: Some(function.to_string()),
                file: Some(file.to_string()),
                line: Some(7),
                column: None,
                module: "program".to_string(),
                offset: 0,
            })
        };
        let library = frame("/usr/include/c++/13/thread", "std::thread::thread");
        let (inner, outer) = (frame("pool.cpp", "start"), frame("main.cpp", "main"));
        let stack = [library.clone(), inner.clone(), outer.clone()];
        assert_eq!(own_calls(&stack), calls(&[inner, outer]));
        let all = std::slice::from_ref(&library);
        assert_eq!(own_calls(all), calls(all));
    }
}

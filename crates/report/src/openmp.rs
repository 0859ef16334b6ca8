//! Tasks of OpenMP in its own words, and what would have ordered two of them.

use std::rc::Rc;

use deadheat_native::{Frame, NativeAccess, NativeTask, OpenMp};

use crate::style::grouped;

/// The task that made an access: `the task created at f.c:12`.
pub fn who(access: &NativeAccess) -> Option<String> {
    access.tasks.first().map(task)
}

/// A task as people speak of it.
pub fn task(task: &NativeTask) -> String {
    let place = place(task);
    match task.kind.as_str() {
        "explicit" => format!("the task created at {place}"),
        "implicit" => format!("thread {} of the parallel region at {place}", task.number),
        "iterations" if task.iterations <= 1 => {
            format!("iteration {} of the loop at {place}", task.number)
        }
        "iterations" => format!(
            "iterations {} to {} of the loop at {place}",
            task.number,
            task.number.saturating_add(task.iterations) - 1
        ),
        "section" => format!("a section at {place}"),
        "single" => format!("the single block at {place}"),
        "thread" if task.number != 0 => format!("the thread created at {place}"),
        _ => "the code outside of parallel regions".to_string(),
    }
}

/// The second of two tasks that are spoken of together: shorter, if the construct is the same.
pub fn the_other(first: &NativeAccess, second: &NativeAccess) -> Option<String> {
    let (a, b) = (first.tasks.first()?, second.tasks.first()?);
    if a.kind != b.kind || place(a) != place(b) {
        return who(second);
    }
    match b.kind.as_str() {
        "explicit" | "thread" if a.id != b.id => Some("another one created there".to_string()),
        "implicit" | "iterations" => who_in_short(second),
        _ => who(second),
    }
}

/// The same with what it depends on.
pub fn task_in_full(found: &NativeTask) -> String {
    match found.depends.is_empty() {
        true => task(found),
        false => format!("{}, {}", task(found), found.depends.join(" ")),
    }
}

/// The task that made an access, without saying where it is: `thread 2`.
pub fn who_in_short(access: &NativeAccess) -> Option<String> {
    let task = access.tasks.first()?;
    Some(match task.kind.as_str() {
        "explicit" => match own_frame(task).and_then(|frame| frame.line) {
            Some(line) => format!("the task of line {line}"),
            None => "the task".to_string(),
        },
        "implicit" => format!("thread {}", task.number),
        "iterations" if task.iterations <= 1 => format!("iteration {}", task.number),
        "iterations" => format!("iterations from {}", task.number),
        "section" => "the section".to_string(),
        "single" => "the single block".to_string(),
        _ => access.thread.clone(),
    })
}

/// A function's name as the source has it: compilers make functions of regions and tasks.
pub fn function(name: &str) -> &str {
    match name.find(".omp_") {
        Some(0) => "task",
        Some(end) => &name[..end],
        None => name,
    }
}

/// A stack without the runtime's own functions and those that only call the next one.
pub fn own_frames(stack: &[Rc<Frame>]) -> Vec<Rc<Frame>> {
    let is_glue = |frame: &Frame| {
        let runtime = frame.file.is_none()
            && ["libomp.so", "libgomp.so", "libiomp5.so"]
                .iter()
                .any(|runtime| frame.location().starts_with(runtime));
        let entry = frame.function.as_deref().is_some_and(|name| {
            name.starts_with(".omp_task_entry.") || name.split('.').nth(1) == Some("omp_outlined")
        });
        runtime || entry && stack.len() > 1
    };
    let own: Vec<Rc<Frame>> = stack
        .iter()
        .enumerate()
        .filter(|(index, frame)| *index == 0 || !is_glue(frame))
        .map(|(_, frame)| frame.clone())
        .collect();
    own
}

fn place(task: &NativeTask) -> String {
    own_frame(task)
        .or(task.stack.first())
        .map_or_else(|| "?".to_string(), |frame| frame.location())
}

/// The line of the program's own that the construct stands on.
fn own_frame(task: &NativeTask) -> Option<&Rc<Frame>> {
    let mut frames = task.stack.iter();
    frames.find(|frame| frame.line.is_some() && !frame.is_system())
}

/// What would have ordered the two accesses to a variable, or kept them apart.
pub fn remedy(variable: &str, first: &NativeAccess, second: &NativeAccess) -> Option<String> {
    let (a, b) = (first.tasks.first()?, second.tasks.first()?);
    let creator = |access: &NativeAccess| access.tasks.get(1).map(|task| task.id);
    let is = |task: &NativeTask, kind: &str| task.kind == kind;
    let advice = if is(a, "explicit") && is(b, "explicit") {
        if a.id == b.id {
            return None;
        }
        match creator(first) == creator(second) {
            true if a.depends.is_empty() && b.depends.is_empty() => {
                "both tasks have the same creator: `depend` clauses, or a `taskwait` between their creation, would order them"
            }
            true => {
                let what = match variable.contains(' ') {
                    true => "what both use".to_string(),
                    false => format!("`{}`", variable.split('+').next().unwrap_or_default()),
                };
                return Some(format!(
                    "no `depend` clause makes one of the tasks wait for the other: name {what} in both, as `out` or `inout` \
                     where it is written"
                ));
            }
            false => {
                "the tasks have different creators, so `depend` does not order them: a `taskgroup` around one, or a \
                 `taskwait` at the end of its creator and of whoever created that, would"
            }
        }
    } else if is(a, "explicit") || is(b, "explicit") {
        "the task runs beside the code after it until somebody waits: a `taskwait`, the end of a `taskgroup` or a \
         barrier between them would order them"
    } else if is(a, "thread") || is(b, "thread") {
        "a thread of the program's own runs beside all until somebody waits for it: `pthread_join` before the other access \
         would order them, and a mutex would keep them apart"
    } else if is(a, "iterations") && is(b, "iterations") && creator_loop(a) == creator_loop(b) {
        "iterations of one loop come in any order: a private variable, a `reduction`, `atomic`, `critical` or `ordered` \
         would keep them apart"
    } else if is(a, "implicit") && is(b, "implicit") {
        "the threads of a team run side by side until the next barrier: a `barrier` between them would order them, and a \
         private variable, a `reduction`, `atomic` or `critical` would keep them apart"
    } else {
        "any thread of the team may run this, and nobody waits for it before the next barrier: without `nowait`, or \
         with a `barrier` between them, they would be ordered"
    };
    Some(advice.to_string())
}

fn creator_loop(task: &NativeTask) -> String {
    place(task)
}

/// What a run without a race proves.
pub fn guarantee(ran: &str, openmp: &OpenMp) -> String {
    let any_number = !openmp.static_loops && !openmp.thread_numbers && !openmp.team_of_one;
    let ran_all = openmp.never_run == 0;
    let mut sentence = format!(
        "no race{} for this input under any schedule{} ({ran}, {} OpenMP tasks, regions and chunks)",
        if ran_all { "" } else { " in what ran," },
        if any_number {
            " and any number of threads"
        } else {
            ""
        },
        grouped(openmp.tasks)
    );
    let limits = [
        (
            openmp.locks,
            "critical sections and locks may change what is computed when they come in another order",
        ),
        (
            openmp.static_loops,
            "iterations of loops with a static schedule, and sections, were told apart by thread only: \
             run it with another OMP_NUM_THREADS, too",
        ),
        (
            openmp.thread_numbers,
            "code that asks for its thread's number was judged as it ran",
        ),
        (
            openmp.messages,
            "what atomic variables and locks of threads ordered was taken as it came",
        ),
        (
            openmp.team_of_one,
            "in teams of one thread only explicit tasks were told apart",
        ),
    ];
    for (holds, limit) in limits {
        if holds {
            sentence += "; ";
            sentence += limit;
        }
    }
    sentence
}

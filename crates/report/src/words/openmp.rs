//! Tasks of OpenMP in its own words.

use deadheat_model::finding::{Dependence, Frame, Side, Task, TaskKind};

/// The task that made an access: `the task created at f.c:12`.
pub fn who(side: &Side) -> Option<String> {
    side.tasks.first().map(task)
}

/// A task as people speak of it.
pub fn task(task: &Task) -> String {
    let place = task.place();
    match task.kind {
        TaskKind::Explicit => format!("the task created at {place}"),
        TaskKind::Implicit => format!("thread {} of the parallel region at {place}", task.number),
        TaskKind::Iterations if task.iterations <= 1 => {
            format!("iteration {} of the loop at {place}", task.number)
        }
        TaskKind::Iterations => format!(
            "iterations {} to {} of the loop at {place}",
            task.number,
            task.number.saturating_add(task.iterations) - 1
        ),
        TaskKind::Section => format!("a section at {place}"),
        TaskKind::Single => format!("the single block at {place}"),
        TaskKind::Thread if task.number != 0 => format!("the thread created at {place}"),
        _ => "the code outside of parallel regions".to_string(),
    }
}

/// The second of two tasks that are spoken of together: shorter, if the construct is the same.
pub fn the_other(first: &Side, second: &Side) -> Option<String> {
    let (a, b) = (first.tasks.first()?, second.tasks.first()?);
    if a.kind != b.kind || a.place() != b.place() {
        return who(second);
    }
    match b.kind {
        TaskKind::Explicit | TaskKind::Thread if a.id != b.id => {
            Some("another one created there".to_string())
        }
        TaskKind::Implicit | TaskKind::Iterations => who_in_short(second),
        _ => who(second),
    }
}

/// The same with what it depends on.
pub fn task_in_full(found: &Task) -> String {
    match found.depends.is_empty() {
        true => task(found),
        false => {
            let clause = |on: &Dependence| format!("depend({}: {})", on.kind.word(), on.variable);
            let clauses: Vec<String> = found.depends.iter().map(clause).collect();
            format!("{}, {}", task(found), clauses.join(" "))
        }
    }
}

/// The task that made an access, without saying where it is: `thread 2`.
pub fn who_in_short(side: &Side) -> Option<String> {
    let task = side.tasks.first()?;
    Some(match task.kind {
        TaskKind::Explicit => match Frame::of_program(&task.stack).and_then(|frame| frame.line) {
            Some(line) => format!("the task of line {line}"),
            None => "the task".to_string(),
        },
        TaskKind::Implicit => format!("thread {}", task.number),
        TaskKind::Iterations if task.iterations <= 1 => format!("iteration {}", task.number),
        TaskKind::Iterations => format!("iterations from {}", task.number),
        TaskKind::Section => "the section".to_string(),
        TaskKind::Single => "the single block".to_string(),
        _ => side.thread.to_string(),
    })
}

//! Call stacks, as short as they can be: calls inside OpenMP's runtime are never shown, calls inside libraries are folded
//! to the one that the program made.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use deadheat_model::finding::Frame;

use super::MAX_NAME;
use crate::text::style::{counted, cut};

/// How many calls of a stack are shown.
const MAX_CALLS: usize = 12;

static FULL: AtomicBool = AtomicBool::new(false);

/// Texts show every call of every stack from now on.
pub fn show_full_stacks() {
    FULL.store(true, Ordering::Relaxed);
}

/// A stack, innermost first: in the line if it is one call, else one a line.
pub(crate) fn calls(stack: &[Arc<Frame>]) -> String {
    let full = FULL.load(Ordering::Relaxed);
    let shown: Vec<(&Frame, u64)> = match full {
        true => stack.iter().map(|frame| (&**frame, 0)).collect(),
        false => folded(stack),
    };
    match shown.as_slice() {
        [] => " (location unknown)".to_string(),
        [(only, 0)] => format!(" at {}", call(only)),
        shown => {
            let most = if full { usize::MAX } else { MAX_CALLS };
            let mut text = String::from(":");
            for (frame, inside) in shown.iter().take(most) {
                text += &format!("\n  at {}", call(frame));
                if *inside > 0 {
                    text += &format!("\n     ({} inside it)", counted(*inside, "more call"));
                }
            }
            let hidden = shown.len().saturating_sub(most) as u64;
            if hidden > 0 {
                text += &format!("\n  and {}; --full-stacks", counted(hidden, "more call"));
            }
            text
        }
    }
}

fn call(frame: &Frame) -> String {
    let place = frame.place();
    match &frame.function {
        // Templates can be pages long.
        Some(function) => format!("{place} in `{}`", cut(source_name(function), MAX_NAME)),
        None => place.to_string(),
    }
}

/// The calls that are worth showing, each with how many inside it are left out: of calls inside libraries, one after the
/// other, the one that the program made. Who called the program's outermost function is not shown.
fn folded(stack: &[Arc<Frame>]) -> Vec<(&Frame, u64)> {
    let own = without_runtime(stack);
    let outermost = own.iter().rposition(|frame| frame.is_own());
    let own = &own[..outermost.map_or(own.len(), |place| place + 1)];
    let mut shown = Vec::new();
    for run in own.chunk_by(|a, b| a.is_system() && b.is_system()) {
        if let Some((last, inside)) = run.split_last() {
            shown.push((*last, inside.len() as u64));
        }
    }
    shown
}

/// How many calls of a stack would be shown.
pub(crate) fn depth(stack: &[Arc<Frame>]) -> usize {
    folded(stack).len()
}

/// A stack without the OpenMP runtime's functions and those that compilers make only to call the next one.
fn without_runtime(stack: &[Arc<Frame>]) -> Vec<&Frame> {
    let is_glue = |frame: &Frame| {
        let module = frame.module.rsplit('/').next().unwrap_or_default();
        let runtimes = ["libomp.so", "libgomp.so", "libiomp5.so"];
        let is_runtime =
            frame.file.is_none() && runtimes.iter().any(|name| module.starts_with(name));
        let is_entry = frame.function.as_deref().is_some_and(|name| {
            name.starts_with(".omp_task_entry.") || name.split('.').nth(1) == Some("omp_outlined")
        });
        is_runtime || is_entry
    };
    let own: Vec<&Frame> = stack
        .iter()
        .map(|frame| &**frame)
        .filter(|f| !is_glue(f))
        .collect();
    match own.is_empty() {
        true => stack.iter().take(1).map(|frame| &**frame).collect(),
        false => own,
    }
}

/// A function's name as the source has it: compilers make functions of regions and tasks.
fn source_name(name: &str) -> &str {
    match name.find(".omp_").or_else(|| name.find("._omp_fn.")) {
        Some(0) => "task",
        Some(end) => &name[..end],
        None => name,
    }
}

/// The calls from the program's own code outwards: how a library creates a thread is its own business. Where none of them is
/// known to be the program's, the library.
pub(crate) fn own_calls(stack: &[Arc<Frame>]) -> String {
    match stack.iter().position(|frame| frame.is_own()) {
        Some(own) => calls(&stack[own..]),
        None => match stack.last() {
            Some(last) if last.is_system() => {
                let module = last.module.rsplit('/').next().unwrap_or_default();
                format!(" inside `{}`", cut(module, MAX_NAME))
            }
            _ => calls(stack),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(file: &str, function: &str) -> Arc<Frame> {
        Arc::new(Frame {
            function: Some(function.to_string()),
            file: (!file.is_empty()).then(|| file.to_string()),
            line: (!file.is_empty()).then_some(7),
            module: "/usr/lib/libomp.so.5".to_string(),
            ..Frame::default()
        })
    }

    #[test]
    fn a_thread_is_created_where_the_program_does_it() {
        let library = frame("/usr/include/c++/13/thread", "std::thread::thread");
        let (inner, outer) = (frame("pool.cpp", "start"), frame("main.cpp", "main"));
        let stack = [library.clone(), inner.clone(), outer.clone()];
        assert_eq!(own_calls(&stack), calls(&[inner, outer]));
        let all = std::slice::from_ref(&library);
        assert_eq!(own_calls(all), " inside `libomp.so.5`");
        let unknown = [Arc::new(Frame::default())];
        assert_eq!(own_calls(&unknown), calls(&unknown));
    }

    #[test]
    fn calls_inside_libraries_are_folded_and_those_of_the_runtime_are_not_shown() {
        let library = |function: &str| frame("/usr/include/c++/13/vector", function);
        let stack = [
            library("std::construct_at"),
            library("std::vector<int>::emplace_back"),
            library("std::vector<int>::push_back"),
            frame("main.cpp", "add.omp_outlined_debug__"),
            frame("main.cpp", ".omp_task_entry."),
            frame("", "__kmp_invoke_task"),
            frame("main.cpp", "main"),
            library("std::thread::_Invoker::operator()"),
        ];
        let text = calls(&stack);
        let expected = ":\n  at /usr/include/c++/13/vector:7 in `std::vector<int>::push_back`\n     (2 more calls inside it)\
                        \n  at main.cpp:7 in `add`\n  at main.cpp:7 in `main`";
        assert_eq!(text, expected);
        assert_eq!(calls(&[frame("", "__kmp_invoke_task")]).lines().count(), 1);
        assert_eq!(calls(&[]), " (location unknown)");
    }
}

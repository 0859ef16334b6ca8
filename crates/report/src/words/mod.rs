//! Findings in words: the sentence that says what is wrong, what each side does, what else there is to know, what would
//! help. Every format takes its words from here.

pub(crate) mod guarantee;
mod notes;
mod openmp;
mod order;
mod remedy;
mod stack;
mod waits;

pub use guarantee::unchecked;
pub(crate) use notes::{about, notes};
pub(crate) use openmp::{task, task_in_full, who};
pub(crate) use order::{Step, events, step, steps};
pub(crate) use remedy::advice;
pub(crate) use stack::calls;
pub use stack::show_full_stacks;
pub(crate) use waits::waits;

use deadheat_model::finding::{AccessCause, Act, Finding, HeldLock, Rule, Side, Storage, Variable};
use deadheat_model::{AccessKind, RaceKind};

use crate::text::style::{counted, cut, cut_front, grouped, listed};

/// How long a name may be before it is cut.
pub(crate) const MAX_NAME: usize = 100;

/// The same for the name of a thread or task.
pub(crate) const MAX_THREAD: usize = 60;

/// What findings of a rule are called in front of what is wrong.
pub(crate) fn called(rule: Rule) -> &'static str {
    match rule {
        Rule::Race => "race",
        Rule::PredictedRace => "race in another schedule",
        Rule::UseAfterFree => "use after free",
        Rule::DestroyedWhileHeld => "destroyed while held",
        Rule::Suspect => "suspect",
        Rule::Deadlock => "deadlock",
        Rule::Failure => "failure",
    }
}

/// The same, with how well founded it is if that is less than usual.
pub(crate) fn called_with_status(finding: &Finding) -> &'static str {
    match finding.is_possible() {
        true => "possible race",
        false => called(finding.rule),
    }
}

/// What a rule means, in a sentence.
pub(crate) fn meaning(rule: Rule) -> &'static str {
    match rule {
        Rule::Race => "Nothing orders two accesses to the same memory, one of which writes.",
        Rule::PredictedRace => {
            "Another schedule of what the program did has two accesses to the same memory side by side, one of which \
             writes."
        }
        Rule::UseAfterFree => "Nothing orders the end of a block of memory and an access to it.",
        Rule::DestroyedWhileHeld => "A lock is destroyed while a thread holds it.",
        Rule::Suspect => {
            "Two accesses to the same memory, one of which writes, follow no rule that would keep them apart."
        }
        Rule::Deadlock => "Tasks or threads wait for each other or for what never comes.",
        Rule::Failure => "The program fails in some schedule.",
    }
}

/// What is wrong, in a sentence.
pub(crate) fn title(finding: &Finding) -> String {
    let Some((first, second)) = finding.pair() else {
        return match finding.sides.first().map(|side| &side.act) {
            Some(Act::Fail(message)) => message.to_string(),
            Some(Act::Want { .. } | Act::Join(_)) => {
                let mut who: Vec<String> = finding.sides.iter().map(name).collect();
                who.sort();
                format!("{} can wait for each other forever", listed(&who))
            }
            _ => "nobody can go on".to_string(),
        };
    };
    if finding.rule == Rule::DestroyedWhileHeld {
        let what = subject(&finding.variable);
        return format!("{} destroys {what}, which it holds", name(second));
    }
    let can = match finding.rule {
        Rule::Suspect => "may",
        _ => "can",
    };
    let what = subject(&finding.variable);
    // Who writes is named first; of two that do the same, the one that came first.
    let turned = matches!(
        finding.kind(),
        Some(RaceKind(AccessKind::Read, AccessKind::Write))
    );
    let (writer, other) = if turned {
        (second, first)
    } else {
        (first, second)
    };
    let one = name(writer);
    let another = openmp::the_other(writer, other).unwrap_or_else(|| name(other));
    let verb = |side: &Side| match (side.act.frees(), side.act.writes()) {
        (true, _) => "free",
        (_, true) => "write",
        (_, false) => "read",
    };
    match (verb(writer), verb(other)) {
        ("write", "write") => {
            let (a, b) = match writer.tasks.is_empty() && one > another {
                true => (another, one),
                false => (one, another),
            };
            format!("{a} and {b} {can} write {what} at the same time")
        }
        ("write", "free") => format!("{another} {can} free {what} while {one} writes it"),
        (does, other) => format!("{one} {can} {does} {what} while {another} {other}s it"),
    }
}

/// How often it was seen, if more than once.
pub(crate) fn again(finding: &Finding) -> String {
    match finding.count {
        0 | 1 => String::new(),
        n => format!(" (seen {} times)", grouped(n)),
    }
}

/// Another race of a bug in a line: what its other side does, and where.
pub(crate) fn as_other(lead: &Finding, other: &Finding) -> String {
    let Some(side) = other_side(lead, other) else {
        return title(other);
    };
    let what = match other.variable.name == lead.variable.name {
        true => String::new(),
        false => format!("{}: ", subject(&other.variable)),
    };
    let place = cut_front(side.place.as_str(), MAX_NAME);
    format!("{what}{} at {place}", label(side))
}

/// The side of another race of a bug that the first one does not have.
pub(crate) fn other_side<'f>(lead: &Finding, other: &'f Finding) -> Option<&'f Side> {
    let known = |side: &&Side| {
        lead.sides
            .iter()
            .any(|own| own.place.short() == side.place.short())
    };
    let mut sides = other.sides.iter();
    sides.find(|side| !known(side)).or(other.sides.last())
}

/// Who made an access: a thread, or what it is to OpenMP.
pub(crate) fn name(side: &Side) -> String {
    openmp::who(side).unwrap_or_else(|| cut(&side.thread, MAX_THREAD))
}

/// The same, without saying where it comes from.
fn who_in_short(side: &Side) -> String {
    openmp::who_in_short(side).unwrap_or_else(|| cut(&side.thread, MAX_THREAD))
}

/// The variable, as part of a sentence.
pub(crate) fn subject(variable: &Variable) -> String {
    let name = cut(&variable.name, MAX_NAME);
    match &variable.storage {
        Storage::Heap(block) if variable.is_described() => match block.offset {
            0 => format!("a heap block of {}", counted(block.size, "byte")),
            offset => format!(
                "byte {offset} of a heap block of {}",
                counted(block.size, "byte")
            ),
        },
        Storage::Heap(_) | Storage::Object => match name.contains(['.', '[']) {
            true => format!("`{name}` on the heap"),
            false => format!("the `{name}` on the heap"),
        },
        _ if variable.is_described() => format!("the {name}"),
        Storage::Local { function } => format!("`{name}` in `{}`", cut(function, MAX_NAME)),
        Storage::ThreadLocal { thread } => {
            format!("`{name}` (thread-local of {})", cut(thread, MAX_NAME))
        }
        _ => match variable.name.rsplit_once('+') {
            Some((global, offset)) if offset.parse::<u64>().is_ok() => {
                format!("byte {offset} of `{}`", cut(global, MAX_NAME))
            }
            _ => format!("`{name}`"),
        },
    }
}

/// What a side does, and who: `write of 8 bytes by T1, holding `l``.
pub(crate) fn label(side: &Side) -> String {
    let who = who_in_short(side);
    let done = match &side.act {
        Act::Wait(what) => return format!("{who} waits for {what}"),
        Act::Want { .. } | Act::Join(_) => return wants(side),
        Act::Fail(_) => return format!("in {who}"),
        Act::SetFirst => return "set first here".to_string(),
        Act::Access {
            kind,
            cause,
            atomic,
            size,
        } => {
            let atomic = if *atomic { "atomic " } else { "" };
            let size = match size {
                0 => String::new(),
                size => format!(" of {}", counted(*size, "byte")),
            };
            match (cause, kind) {
                (AccessCause::Free, _) => format!("freed by {who}"),
                (AccessCause::VirtualTable, AccessKind::Write) => {
                    format!("virtual table pointer written by {who}")
                }
                (AccessCause::VirtualTable, AccessKind::Read) => format!("virtual call by {who}"),
                (AccessCause::LockTaken, _) => format!("taken by {who}"),
                (AccessCause::LockDestroyed, _) => format!("destroyed by {who}"),
                (_, kind) => format!("{atomic}{kind}{size} by {who}"),
            }
        }
    };
    let held = holding(&side.locks).map_or(String::new(), |held| format!(", holding {held}"));
    // Where an event stands in a trace that people have.
    let event = match side.event {
        0 => String::new(),
        _ if side.place.span().is_some() => String::new(),
        number => format!(" (event {number})"),
    };
    format!("{done}{held}{event}")
}

/// What a side of a deadlock waits for: `T1 wants `b``.
pub(crate) fn wants(side: &Side) -> String {
    let who = who_in_short(side);
    match &side.act {
        Act::Want { lock, exclusive } => format!("{who} wants {}", lock_name(lock, *exclusive)),
        Act::Join(thread) => format!("{who} waits for the end of {}", cut(thread, MAX_THREAD)),
        _ => label(side),
    }
}

/// The same with what it has, and where: `T1 holds `a` (f.c:12), wants `b` (f.c:13)`.
pub(crate) fn link(side: &Side) -> String {
    let held = side.locks.iter().map(|lock| {
        let name = lock_name(&lock.name, lock.exclusive);
        match &lock.taken {
            Some(place) => format!("{name} ({})", cut_front(&place.short(), MAX_NAME)),
            None => name,
        }
    });
    let held: Vec<String> = held.collect();
    let place = cut_front(&side.place.short(), MAX_NAME);
    let wants = wants(side);
    match held.is_empty() {
        true => format!("{wants} ({place})"),
        false => {
            let who = who_in_short(side);
            let wants = wants.strip_prefix(&*who).unwrap_or(&wants);
            format!("{who} holds {},{wants} ({place})", held.join(", "))
        }
    }
}

fn lock_name(name: &str, exclusive: bool) -> String {
    match exclusive {
        true => format!("`{}`", cut(name, MAX_NAME)),
        false => format!("`{}` (for reading)", cut(name, MAX_NAME)),
    }
}

fn holding(locks: &[HeldLock]) -> Option<String> {
    let names = locks
        .iter()
        .map(|lock| lock_name(&lock.name, lock.exclusive));
    let names: Vec<String> = names.collect();
    (!names.is_empty()).then(|| names.join(", "))
}

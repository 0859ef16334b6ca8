//! What would keep the two accesses of a thread program's race apart, in a sentence.
//!
//! It is advice, and only what the report itself shows: which locks each side held, whether one created the other,
//! whether one is atomic already. The two never hold one lock in a way that keeps them apart, or there would be no race.

use deadheat_native::{HeldLock, NativeAccess, NativeRace};

use crate::openmp;

/// What would have ordered the two accesses, or kept them apart.
pub fn remedy(race: &NativeRace) -> Option<String> {
    let (first, second) = (&race.first, &race.second);
    if !first.tasks.is_empty() && !second.tasks.is_empty() {
        return openmp::remedy(&race.variable, first, second);
    }
    let frees = |access: &NativeAccess| access.what == "free";
    if frees(first) || frees(second) {
        let other = if frees(first) { second } else { first };
        return Some(format!(
            "free the block only when {} is done with it: after a join, or when nobody uses it any more",
            other.thread
        ));
    }
    if let Some(advice) = life(race) {
        return Some(advice);
    }
    if let Some(advice) = for_reading(first, second).or_else(|| for_reading(second, first)) {
        return Some(advice);
    }
    Some(match (first.locks.as_slice(), second.locks.as_slice()) {
        ([], []) => without_locks(race),
        ([], held) => one_sided(held, second, first),
        (held, []) => one_sided(held, first, second),
        _ => "the two hold different locks: hold the same one at both accesses".to_string(),
    })
}

/// A lock is part of itself, and a descriptor is no memory: each has to live while it is used.
fn life(race: &NativeRace) -> Option<String> {
    let is_file = race.variable.starts_with("file descriptor ");
    let uses = |access: &&NativeAccess| {
        let lock = |held: &HeldLock| held.name == race.variable;
        !access.write && (is_file || access.locks.iter().any(lock))
    };
    let user = [&race.first, &race.second].into_iter().find(uses)?;
    let thread = &user.thread;
    Some(match is_file {
        true => format!(
            "close it only when {thread} is done with it: after a join, or when nobody uses it any more"
        ),
        false => format!(
            "a lock must live while it is used: initialise it before {thread} is created, destroy it after {thread} is done"
        ),
    })
}

/// A lock that both hold, the writer only as a reader.
fn for_reading(writer: &NativeAccess, other: &NativeAccess) -> Option<String> {
    let in_both = |lock: &&HeldLock| other.locks.iter().any(|held| held.name == lock.name);
    let mut shared = writer.locks.iter().filter(|lock| !lock.write);
    let lock = shared.find(in_both).filter(|_| writer.write)?;
    Some(format!(
        "{} writes, but holds `{}` for reading only: hold it for writing there",
        writer.thread, lock.name
    ))
}

fn one_sided(held: &[HeldLock], holder: &NativeAccess, other: &NativeAccess) -> String {
    let lock = held.first().map_or("", |lock| lock.name.as_str());
    format!(
        "{} holds `{lock}`, {} does not: hold it at both accesses",
        holder.thread, other.thread
    )
}

fn without_locks(race: &NativeRace) -> String {
    let (first, second) = (&race.first, &race.second);
    let lock = "hold the same lock at both accesses";
    if first.atomic != second.atomic {
        return format!("make both accesses atomic, or {lock}");
    }
    let created = race.creations.iter().find(|creation| {
        let of = |child: &NativeAccess, parent: &NativeAccess| {
            creation.thread == child.thread && creation.parent == parent.thread
        };
        of(first, second) || of(second, first)
    });
    match created {
        Some(made) => format!(
            "{} creates {} and goes on: let it join {} first, or {lock}",
            made.parent, made.thread, made.thread
        ),
        None => format!("{lock}; a counter or a flag can be atomic instead"),
    }
}

#[cfg(test)]
mod tests {
    use deadheat_native::Creation;

    use super::*;

    /// Two writes: by T1 and T2, of which T1 holds these locks and T2 those; names that end in `?` for reading.
    fn advice(one: &[&str], other: &[&str], change: impl FnOnce(&mut NativeRace)) -> String {
        let access = |thread: &str, locks: &[&str]| NativeAccess {
            thread: thread.to_string(),
            write: true,
            what: "access".to_string(),
            locks: locks
                .iter()
                .map(|name| HeldLock {
                    name: name.trim_end_matches('?').to_string(),
                    write: !name.ends_with('?'),
                })
                .collect(),
            ..NativeAccess::default()
        };
        let mut race = NativeRace {
            first: access("T1", one),
            second: access("T2", other),
            ..NativeRace::default()
        };
        change(&mut race);
        remedy(&race).unwrap()
    }

    #[test]
    fn advice_follows_what_was_held() {
        let none = |_: &mut NativeRace| {};
        let lock = "hold the same lock at both accesses";
        assert_eq!(
            advice(&[], &[], none),
            format!("{lock}; a counter or a flag can be atomic instead")
        );
        let one_sided = "T2 holds `l`, T1 does not: hold it at both accesses";
        assert_eq!(advice(&[], &["l"], none), one_sided);
        assert!(advice(&["l"], &[], none).starts_with("T1 holds `l`, T2 does not"));
        assert!(advice(&["l"], &["m"], none).starts_with("the two hold different locks"));
        let itself = advice(&["l"], &[], |race| {
            race.variable = "l".to_string();
            race.first.write = false;
        });
        assert!(
            itself.contains("initialise it before T1 is created"),
            "{itself}"
        );
        let reading = "T2 writes, but holds `l` for reading only: hold it for writing there";
        assert_eq!(
            advice(&["l?"], &["l?"], |race| race.first.write = false),
            reading
        );
    }

    #[test]
    fn advice_follows_what_the_threads_are() {
        let lock = "hold the same lock at both accesses";
        let child = |race: &mut NativeRace| {
            race.creations.push(Creation {
                thread: "T2".to_string(),
                parent: "T1".to_string(),
                stack: Vec::new(),
                finished: false,
            });
        };
        let said = format!("T1 creates T2 and goes on: let it join T2 first, or {lock}");
        assert_eq!(advice(&[], &[], child), said);
        let atomic = |race: &mut NativeRace| race.first.atomic = true;
        let said = format!("make both accesses atomic, or {lock}");
        assert_eq!(advice(&[], &[], atomic), said);
        let free = |race: &mut NativeRace| race.second.what = "free".to_string();
        assert!(advice(&["l"], &[], free).starts_with("free the block only when T1 is done"));
    }
}

//! No input takes the machine: how much memory the command may take.
//!
//! A thread looks ten times a second how much it is. At the limit it sets a flag, which ends the search and
//! not the report ([`SearchLimits`](crate::SearchLimits)). What takes an eighth more all the same ends the command, with
//! a clear error. So does memory that the system refuses ([`no_crash_without_memory`]).
//!
//! Guarantee: on Linux, the command takes no more than the limit, an eighth, 256 MB, and what can be written in a
//! tenth of a second. Elsewhere nothing is known of memory, and there is no limit.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use signal_hook::consts::SIGABRT;
use signal_hook::flag;

/// Set while more is taken than the limit.
pub static FULL: AtomicBool = AtomicBool::new(false);

/// Set while more is taken than a third of the limit: as much as a run may take, so that there is memory left to
/// judge it and to tell what was found.
pub static FULL_OF_RUN: AtomicBool = AtomicBool::new(false);

/// How much more than the limit and an eighth may be taken: what it takes to tell what was found.
const SLACK: u64 = 256 << 20;

static LIMIT: AtomicU64 = AtomicU64::new(0);

/// Watches, from now on, that no more memory is taken than so many bytes; three quarters of what is there
/// unless given. `give_up` is told when much more is, and ends the process.
pub fn watch(limit: Option<u64>, give_up: fn(String) -> !) {
    let Some(limit) = limit.or_else(|| Some(available()? / 4 * 3)) else {
        return;
    };
    // A later search of the same command may take as much as the first.
    if LIMIT.swap(limit, Ordering::Relaxed) != 0 {
        return;
    }
    std::thread::spawn(move || {
        while let Some(taken) = taken() {
            let limit = LIMIT.load(Ordering::Relaxed);
            FULL.store(taken > limit, Ordering::Relaxed);
            FULL_OF_RUN.store(taken > limit / 3, Ordering::Relaxed);
            if taken > limit.saturating_add(limit / 8 + SLACK) {
                give_up(format!(
                    "out of memory: more than {} MB; give it more with --max-memory, or less to do",
                    limit >> 20
                ));
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    });
}

/// How many bytes of memory the command takes.
fn taken() -> Option<u64> {
    kilobytes("/proc/self/status", "VmRSS:")
}

/// How many bytes are there for it: of the machine, or of the group of processes it belongs to.
fn available() -> Option<u64> {
    let machine = kilobytes("/proc/meminfo", "MemAvailable:")?;
    let group = fs::read_to_string("/sys/fs/cgroup/memory.max").ok();
    let group = group.and_then(|text| text.trim().parse().ok());
    Some(machine.min(group.unwrap_or(u64::MAX)))
}

/// A number of kilobytes in one of the kernel's tables, in bytes.
fn kilobytes(table: &str, name: &str) -> Option<u64> {
    let table = fs::read_to_string(table).ok()?;
    let line = table.lines().find_map(|line| line.strip_prefix(name))?;
    let number: u64 = line.split_whitespace().next()?.parse().ok()?;
    number.checked_mul(1024)
}

/// From now on, memory that the system refuses is an error like others, and not a crash: the standard library says how
/// much was asked for, and aborts; the status is then 2.
pub fn no_crash_without_memory() {
    // If it cannot be caught, the command crashes, as it would without this.
    let _ = flag::register_conditional_shutdown(SIGABRT, 2, Arc::new(AtomicBool::new(true)));
}

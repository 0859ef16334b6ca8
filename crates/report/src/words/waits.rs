//! What a thread waited for.

use deadheat_native::{Awaited, Waiting};

use super::MAX_NAME;
use crate::text::style::cut;

/// `T1 waited at f.c:9:3 for `a`, which T2 held`.
pub(crate) fn waits(waiting: &Waiting) -> String {
    let shown = |name: &str| format!("`{}`", cut(name, MAX_NAME));
    let awaited = match &waiting.awaited {
        Awaited::Lock { name, holder: None } => shown(name),
        Awaited::Lock {
            name,
            holder: Some(holder),
        } if *holder == waiting.thread => format!("{}, which it held itself", shown(name)),
        Awaited::Lock {
            name,
            holder: Some(holder),
        } => format!("{}, which {holder} held", shown(name)),
        Awaited::Condition(name) => format!("the condition variable {}", shown(name)),
        Awaited::Semaphore(name) => format!("the semaphore {}", shown(name)),
        Awaited::Barrier(name) => format!("the other threads at the barrier {}", shown(name)),
        Awaited::End(thread) => format!("{thread} to end"),
    };
    let (thread, place) = (&waiting.thread, waiting.place.short());
    format!("{thread} waited at {place} for {awaited}")
}

//! What ends a search, not the report: Ctrl-C, SIGTERM, time and memory.
//!
//! The first signal sets a flag, which whoever works asks for; what was found is printed and written, marked
//! incomplete. A second one ends the process at once.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Once};
use std::time::Duration;

use deadheat_model::StopToken;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::memory;

/// How long the search may take, and how much memory: three quarters of what is there unless given.
#[derive(Clone, Copy, Default, Debug)]
pub struct SearchLimits {
    /// Stop after so long.
    pub timeout: Option<Duration>,
    /// Stop when the process takes so many bytes.
    pub max_memory: Option<u64>,
}

impl SearchLimits {
    /// The token for a search that begins now. Signals are caught from now on: before, while input is
    /// awaited, they end the process. `give_up` ends it, too, when a search does not stop and takes much more memory.
    pub fn token(&self, give_up: fn(String) -> !) -> StopToken {
        memory::watch(self.max_memory, give_up);
        let token = interrupt().or_full(&memory::FULL);
        match self.timeout {
            Some(time) => token.or_after(time),
            None => token,
        }
    }
}

static ASKED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);
static SIGNAL: LazyLock<Arc<AtomicUsize>> = LazyLock::new(Arc::default);

/// The token that a signal makes due.
pub fn interrupt() -> StopToken {
    static CATCH: Once = Once::new();
    CATCH.call_once(|| {
        for signal in [SIGINT, SIGTERM] {
            // In this order: the first signal finds the flag not set. A signal that cannot be caught ends
            // the process, as it would without this.
            let _ = flag::register_conditional_shutdown(signal, 128 + signal, ASKED.clone());
            let _ = flag::register(signal, ASKED.clone());
            let _ = flag::register_usize(signal, SIGNAL.clone(), signal as usize);
        }
    });
    let asked: &'static Arc<AtomicBool> = &ASKED;
    StopToken::when(asked)
}

/// The signal that came, if one did.
pub fn interrupted() -> Option<u8> {
    match SIGNAL.load(Ordering::Relaxed) {
        0 => None,
        signal => u8::try_from(signal).ok(),
    }
}

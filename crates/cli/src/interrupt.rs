//! Ctrl-C, SIGTERM, `--timeout` and `--max-memory` end the search, not the report.
//!
//! The first signal sets a flag, which whoever works asks for; what was found is printed and written, marked
//! incomplete. A second one ends the command at once.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Once};
use std::time::Duration;

use clap::Args;
use deadheat::model::StopToken;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::memory;

/// How long the search may take, and how much memory.
#[derive(Args)]
pub struct SearchLimits {
    /// Stop after so many seconds, and report what was found until then
    #[arg(long, value_name = "SECONDS", value_parser = deadheat::seconds)]
    pub timeout: Option<Duration>,

    /// Stop when so much memory is taken, and report what was found until then: bytes, or with K, M, G, T;
    /// three quarters of what is there unless given
    #[arg(long, value_name = "SIZE", value_parser = deadheat::size)]
    max_memory: Option<u64>,
}

impl SearchLimits {
    /// The token for a search that begins now. Signals are caught from now on: before, while input is
    /// awaited, they end the command.
    pub fn token(&self) -> StopToken {
        memory::watch(self.max_memory);
        let token = token().or_full(&memory::FULL);
        match self.timeout {
            Some(time) => token.or_after(time),
            None => token,
        }
    }
}

static ASKED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);
static SIGNAL: LazyLock<Arc<AtomicUsize>> = LazyLock::new(Arc::default);

/// The token that a signal makes due.
pub fn token() -> StopToken {
    static CATCH: Once = Once::new();
    CATCH.call_once(|| {
        for signal in [SIGINT, SIGTERM] {
            // In this order: the first signal finds the flag not set. A signal that cannot be caught ends
            // the command, as it would without this.
            let _ = flag::register_conditional_shutdown(signal, 128 + signal, ASKED.clone());
            let _ = flag::register(signal, ASKED.clone());
            let _ = flag::register_usize(signal, SIGNAL.clone(), signal as usize);
        }
    });
    let asked: &'static Arc<AtomicBool> = &ASKED;
    StopToken::when(asked)
}

/// The signal that came, if one did.
pub fn signal() -> Option<u8> {
    match SIGNAL.load(Ordering::Relaxed) {
        0 => None,
        signal => u8::try_from(signal).ok(),
    }
}

/// Sends SIGTERM to this command after some time; while it runs a program, it passes signals on to that.
pub fn end_program_after(time: Duration) {
    std::thread::spawn(move || {
        std::thread::sleep(time);
        let _ = signal_hook::low_level::raise(SIGTERM);
    });
}

//! An execution on disk.
//!
//! [`open`] gives a [`Source`] for a trace in any format: deadheat's own (`.dht`, module [`dht`]), RAPID's
//! STD and CSV ([`text`]). A source hands over its events in windows, in the order in which they
//! happened, or the whole [`Execution`](deadheat_model::Execution) at once. [`save`] writes a trace that is in
//! memory, [`convert`] and [`write()`] one that need not be. A recorder writes with [`dht::Writer`].
//!
//! Guarantee: what is read is what was written, or an error that names the line or the block; no input
//! makes a reader panic, or use more memory than its names, a window and a bounded number of blocks or
//! chunks of text need.
//!
//! ```
//! use std::ops::ControlFlow;
//!
//! let directory = tempfile::tempdir()?;
//! let text = directory.path().join("run.std");
//! std::fs::write(&text, "main|fork(T1)|10\nmain|w(x)|11\nT1|r(x)|20\n")?;
//!
//! let source = deadheat_trace::open(&text)?;
//! let own = directory.path().join("run.dht");
//! deadheat_trace::convert(&source, &own, |_| {})?;
//!
//! let mut accesses = 0;
//! let _ = deadheat_trace::open(&own)?.for_each(|window| {
//!     accesses += window.events.iter().filter(|event| event.access().is_some()).count();
//!     ControlFlow::<()>::Continue(())
//! })?;
//! assert_eq!(accesses, 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod dht;
mod error;
mod room;
mod source;
pub mod text;

pub use error::{BlockProblem, HeaderProblem, LineProblem, MAX_NAME, TraceError};
pub use room::room_for;
pub use source::{Format, Sink, Source, Window, convert, convert_for_rapid, open, save, write};

/// About how many events are handed over at a time: 1 MiB of them, which stays in a core's own cache.
pub const WINDOW: usize = 64 << 10;

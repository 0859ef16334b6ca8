//! Decoding ahead: blocks on some threads, windows on another, while the caller looks at the window before.
//!
//! Blocks are decoded in order of their first events, and only those that begin a few windows ahead of
//! the one that is being filled. As a block spans at most [`MAX_SPAN`](super::MAX_SPAN) events, what is
//! decoded and not yet handed over is bounded, however long the trace is.
//!
//! Who waits for whom: the caller for a window; the filling thread for the blocks of the window, and for
//! room among the two windows that may wait; a decoding thread for the filling thread to move on. The
//! blocks of the window that is being filled are always among those that may be decoded, so somebody can
//! always go on. When the filling thread ends, for whatever reason, it tells the others.

use std::collections::{HashMap, VecDeque};
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use deadheat_model::Event;

use super::block::{Decoder, EventBlock};
use super::reader::Reader;
use super::window::Filler;
use crate::WINDOW;
use crate::error::TraceError;

/// How far ahead of the window that is being filled a block may begin.
const AHEAD: u64 = 8 * WINDOW as u64;

/// How many windows may wait to be looked at.
const WAITING: usize = 6;

/// Threads that decode, at most: more than this and putting windows together takes longer.
const MOST_DECODERS: usize = 4;

/// Hands the events over in order, window by window.
pub(super) fn for_each<B>(
    reader: &Reader,
    each: impl FnMut(&[Event]) -> ControlFlow<B>,
) -> Result<ControlFlow<B>, TraceError> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    match cores == 1 || reader.events() <= WINDOW as u64 {
        true => alone(reader, each),
        false => together(reader, (cores - 1).min(MOST_DECODERS), each),
    }
}

/// Without other threads.
fn alone<B>(
    reader: &Reader,
    mut each: impl FnMut(&[Event]) -> ControlFlow<B>,
) -> Result<ControlFlow<B>, TraceError> {
    let mut decoder = Decoder::new()?;
    let mut filler = Filler::new(reader.blocks(), reader.events());
    let mut window = Vec::new();
    while filler.fill(&mut window, |number, spare| {
        let mut block = spare.pop_front().unwrap_or_default();
        reader.decode(number, &mut decoder, &mut block)?;
        Ok(block)
    })? {
        if let ControlFlow::Break(value) = each(&window) {
            return Ok(ControlFlow::Break(value));
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// What the threads share.
#[derive(Default)]
struct Progress {
    /// The next block to be decoded.
    next: usize,
    /// Blocks may be decoded that begin before this event.
    limit: u64,
    /// Decoded, and not yet asked for.
    ready: HashMap<usize, Result<EventBlock, TraceError>>,
    spare: VecDeque<EventBlock>,
    stop: bool,
}

#[derive(Default)]
struct Shared {
    progress: Mutex<Progress>,
    changed: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, progress: MutexGuard<'a, Progress>) -> MutexGuard<'a, Progress> {
        self.changed
            .wait(progress)
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells the others to stop when it goes.
struct StopAtEnd<'a>(&'a Shared);

impl Drop for StopAtEnd<'_> {
    fn drop(&mut self) {
        self.0.lock().stop = true;
        self.0.changed.notify_all();
    }
}

fn together<B>(
    reader: &Reader,
    decoders: usize,
    mut each: impl FnMut(&[Event]) -> ControlFlow<B>,
) -> Result<ControlFlow<B>, TraceError> {
    let shared = Shared::default();
    thread::scope(|scope| {
        let (give, windows) = sync_channel(WAITING);
        let (give_back, used) = channel();
        for _ in 0..decoders {
            scope.spawn(|| decode_blocks(reader, &shared));
        }
        scope.spawn(|| fill_windows(reader, &shared, give, used));
        for window in windows {
            let window: Vec<Event> = window?;
            if let ControlFlow::Break(value) = each(&window) {
                return Ok(ControlFlow::Break(value));
            }
            // Nobody takes it back when the last one is filled.
            let _ = give_back.send(window);
        }
        Ok(ControlFlow::Continue(()))
    })
}

fn decode_blocks(reader: &Reader, shared: &Shared) {
    let mut decoder = Decoder::new();
    let mut progress = shared.lock();
    while !progress.stop
        && let Some(at) = reader.blocks().get(progress.next)
    {
        if at.head.first >= progress.limit {
            progress = shared.wait(progress);
            continue;
        }
        let number = progress.next;
        progress.next += 1;
        let mut block = progress.spare.pop_front().unwrap_or_default();
        drop(progress);
        let decoded = match &mut decoder {
            Ok(decoder) => reader.decode(number, decoder, &mut block),
            Err(error) => Err(std::io::Error::from(error.kind()).into()),
        };
        progress = shared.lock();
        progress.ready.insert(number, decoded.map(|()| block));
        shared.changed.notify_all();
    }
}

fn fill_windows(
    reader: &Reader,
    shared: &Shared,
    give: SyncSender<Result<Vec<Event>, TraceError>>,
    used: Receiver<Vec<Event>>,
) {
    let _stop = StopAtEnd(shared);
    let mut filler = Filler::new(reader.blocks(), reader.events());
    let mut start = 0;
    loop {
        let mut progress = shared.lock();
        progress.limit = start + WINDOW as u64 + AHEAD;
        progress.spare.append(&mut filler.spare);
        drop(progress);
        shared.changed.notify_all();
        let mut window = used.try_recv().unwrap_or_default();
        let filled = filler.fill(&mut window, |number, _| {
            let mut progress = shared.lock();
            loop {
                match progress.ready.remove(&number) {
                    Some(block) => return block,
                    None => progress = shared.wait(progress),
                }
            }
        });
        start += window.len() as u64;
        let sent = match filled {
            Ok(true) => give.send(Ok(window)).is_ok(),
            Ok(false) => false,
            Err(error) => {
                // If nobody waits for it, nobody wants to know.
                let _ = give.send(Err(error));
                false
            }
        };
        if !sent {
            return;
        }
    }
}

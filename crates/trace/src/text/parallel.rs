//! Parsing on several threads, while the caller looks at the events before.
//!
//! Who has the chunks reads the next one and, before it lets them go, puts a channel for what the chunk says into the queue. So the
//! queue is in the order of the text, and bounds how much is parsed ahead.
//!
//! Who waits for whom: the caller for the parser of the next chunk, which waits for nobody; a parser for the chunks, and who has
//! these for room in the queue, that is, for the caller. When the caller leaves, for whatever reason, the queue is
//! closed, and the parsers leave, too.

use std::io::Read;
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use deadheat_model::{Event, Names};

use super::chunks::{Chunk, Chunks};
use super::merger::Merger;
use super::parser::{Parsed, Parser};
use crate::error::TraceError;

/// Hands over the events of the chunks in order.
pub(super) fn for_each<R: Read + Send, B>(
    chunks: &mut Chunks<R>,
    parsers: Vec<Parser>,
    merger: &mut Merger,
    mut each: impl FnMut(&[Event], &Names, u64) -> ControlFlow<B>,
) -> Result<ControlFlow<B>, TraceError> {
    let chunks = Mutex::new(chunks);
    let spare = Mutex::new(Vec::new());
    thread::scope(|scope| {
        let (give, queue) = sync_channel(parsers.len());
        for parser in parsers {
            let (chunks, spare, give) = (&chunks, &spare, give.clone());
            scope.spawn(move || parse_chunks(chunks, parser, give, spare));
        }
        drop(give);
        for parsed in queue {
            let parsed: Receiver<Parsed> = parsed;
            // A parser that has panicked sends nothing, and the scope panics.
            let Ok(mut parsed) = parsed.recv() else { break };
            let flow = merger.hand_over(&mut parsed, &mut each)?;
            if flow.is_break() {
                return Ok(flow);
            }
            lock(&spare).push(parsed);
        }
        Ok(ControlFlow::Continue(()))
    })
}

/// Parses chunks until there are no more, or nobody wants more.
fn parse_chunks<R: Read>(
    chunks: &Mutex<&mut Chunks<R>>,
    mut parser: Parser,
    queue: SyncSender<Receiver<Parsed>>,
    spare: &Mutex<Vec<Parsed>>,
) {
    let mut chunk = Chunk::default();
    loop {
        let mut chunks = lock(chunks);
        let more = chunks.next(&mut chunk);
        let format = chunks.format();
        if let Ok(false) = more {
            return;
        }
        let (give, parsed) = sync_channel(1);
        if queue.send(parsed).is_err() {
            return;
        }
        drop(chunks);
        let mut parsed = lock(spare).pop().unwrap_or_default();
        match more {
            Ok(_) => parser.parse(format, &chunk, usize::MAX, &mut parsed),
            Err(error) => parsed = Parsed::failed(error.into()),
        }
        if give.send(parsed).is_err() {
            return;
        }
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

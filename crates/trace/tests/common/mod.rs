//! Traces to and from the formats.

#![allow(dead_code)]

use std::ops::ControlFlow;

use deadheat_model::{Event, Execution, Op};
use deadheat_trace::TraceError;
use deadheat_trace::dht::{OrderedWriter, Reader, Writer};
use deadheat_trace::text::{TextFormat, TextReader, TextWriter};

/// The trace as a `.dht` file.
pub fn to_dht(trace: &Execution) -> Vec<u8> {
    let writer = Writer::new(Vec::new()).unwrap();
    writer.learn(&trace.names).unwrap();
    let mut ordered = OrderedWriter::new(&writer);
    ordered.write(&trace.events).unwrap();
    ordered.finish().unwrap();
    writer.finish().unwrap();
    writer.into_inner()
}

/// Reads a `.dht` file, in whichever way there is.
pub fn from_dht(bytes: &[u8]) -> Result<Execution, TraceError> {
    Reader::from_bytes(bytes.to_vec())?.read_all()
}

/// The trace as text.
pub fn to_text(format: TextFormat, trace: &Execution) -> Vec<u8> {
    let mut text = Vec::new();
    let mut writer = TextWriter::new(format, &mut text).unwrap();
    writer.learn(&trace.names).unwrap();
    writer.write(&trace.events).unwrap();
    writer.finish().unwrap();
    text
}

/// Reads text.
pub fn from_text(format: TextFormat, text: &[u8]) -> Result<Execution, TraceError> {
    let mut reader = TextReader::new(format, text);
    let mut events = Vec::new();
    let _ = reader.for_each(|window, _, _| {
        events.extend_from_slice(window);
        ControlFlow::<()>::Continue(())
    })?;
    let names = reader.into_names();
    Ok(Execution { events, names })
}

/// What a trace says in words, whatever its numbers are.
pub fn in_words(trace: &Execution) -> Vec<String> {
    let names = &trace.names;
    let words = |event: &Event| {
        let object = match event.op() {
            Op::Read(x, _) | Op::Write(x) => &names.locations[x.index()],
            Op::AtomicLoad(x, _) | Op::AtomicStore(x, _) | Op::AtomicUpdate(x, _) => {
                &names.locations[x.index()]
            }
            Op::Async(t) | Op::Future(t) | Op::Fork(t) | Op::Join(t) => &names.strands[t.index()],
            Op::Acquire(l) | Op::Release(l) | Op::Request(l) => &names.locks[l.index()],
            Op::AcquireShared(l) | Op::ReleaseShared(l) => &names.locks[l.index()],
            Op::P(s) | Op::V(s) => {
                let tokens = names.tokens.get(s.index()).copied().unwrap_or(0);
                &format!("{} from {tokens}", names.semaphores[s.index()])
            }
            Op::Post(e) | Op::Wait(e) | Op::Clear(e) => &names.flags[e.index()],
            Op::BarrierArrive(b) | Op::BarrierLeave(b) => &names.barriers[b.index()],
            other => &format!("{other:?}"),
        };
        let (code, detail, _) = event.to_parts();
        let thread = &names.strands[event.strand().index()];
        let site = &names.sites[event.site().0 as usize];
        format!("{thread:?} {code} {detail} {object:?} {site:?}")
    };
    trace.events.iter().map(words).collect()
}

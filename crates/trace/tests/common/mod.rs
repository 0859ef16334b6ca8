//! Traces to and from the formats.

#![allow(dead_code)]

use std::ops::ControlFlow;

use deadheat_model::{Event, Op, Trace};
use deadheat_trace::TraceError;
use deadheat_trace::dht::{OrderedWriter, Reader, Writer};
use deadheat_trace::text::{TextFormat, TextReader, TextWriter};

/// The trace as a `.dht` file.
pub fn to_dht(trace: &Trace) -> Vec<u8> {
    let writer = Writer::new(Vec::new()).unwrap();
    writer.learn(&trace.legend).unwrap();
    let mut ordered = OrderedWriter::new(&writer);
    ordered.write(&trace.events).unwrap();
    ordered.finish().unwrap();
    writer.finish().unwrap();
    writer.into_inner()
}

/// Reads a `.dht` file, in whichever way there is.
pub fn from_dht(bytes: &[u8]) -> Result<Trace, TraceError> {
    Reader::from_bytes(bytes.to_vec())?.read_all()
}

/// The trace as text.
pub fn to_text(format: TextFormat, trace: &Trace) -> Vec<u8> {
    let mut text = Vec::new();
    let mut writer = TextWriter::new(format, &mut text).unwrap();
    writer.learn(&trace.legend).unwrap();
    writer.write(&trace.events).unwrap();
    writer.finish().unwrap();
    text
}

/// Reads text.
pub fn from_text(format: TextFormat, text: &[u8]) -> Result<Trace, TraceError> {
    let mut reader = TextReader::new(format, text);
    let mut events = Vec::new();
    let _ = reader.for_each(|window, _, _| {
        events.extend_from_slice(window);
        ControlFlow::<()>::Continue(())
    })?;
    let legend = reader.into_legend();
    Ok(Trace { events, legend })
}

/// What a trace says in words, whatever its numbers are.
pub fn in_words(trace: &Trace) -> Vec<String> {
    let legend = &trace.legend;
    let words = |event: &Event| {
        let object = match event.op() {
            Op::Read(x, _) | Op::Write(x) => &legend.locations[x.index()],
            Op::AtomicLoad(x, _) | Op::AtomicStore(x, _) | Op::AtomicUpdate(x, _) => {
                &legend.locations[x.index()]
            }
            Op::Async(t) | Op::Future(t) | Op::Fork(t) | Op::Join(t) => &legend.strands[t.index()],
            Op::Acquire(l) | Op::Release(l) | Op::Request(l) => &legend.locks[l.index()],
            Op::AcquireShared(l) | Op::ReleaseShared(l) => &legend.locks[l.index()],
            Op::P(s) | Op::V(s) => {
                let tokens = legend.tokens.get(s.index()).copied().unwrap_or(0);
                &format!("{} from {tokens}", legend.semaphores[s.index()])
            }
            Op::Post(e) | Op::Wait(e) | Op::Clear(e) => &legend.flags[e.index()],
            Op::BarrierArrive(b) | Op::BarrierLeave(b) => &legend.barriers[b.index()],
            other => &format!("{other:?}"),
        };
        let (code, detail, _) = event.to_parts();
        let thread = &legend.strands[event.strand().index()];
        let site = &legend.sites[event.site().0 as usize];
        format!("{thread:?} {code} {detail} {object:?} {site:?}")
    };
    trace.events.iter().map(words).collect()
}

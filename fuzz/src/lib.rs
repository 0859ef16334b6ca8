//! What the targets have in common.

use std::ops::ControlFlow;

use deadheat_model::Execution;
use deadheat_trace::TraceError;
use deadheat_trace::text::{TextFormat, TextReader, TextWriter};

/// Reads text. What is accepted is written and read again: it must say as many events.
pub fn read_text_twice(format: TextFormat, text: &[u8]) {
    let Ok(trace) = read_text(format, text) else {
        return;
    };
    let mut written = Vec::new();
    let mut writer = TextWriter::new(format, &mut written).expect("memory is writable");
    writer
        .learn(&trace.names)
        .expect("names that were read can be written");
    writer
        .write(&trace.events)
        .expect("events that were read can be written");
    writer.finish().expect("memory is writable");
    let again = read_text(format, &written).expect("what was written can be read");
    let words = |trace: &Execution| -> Vec<_> {
        trace
            .events
            .iter()
            .map(deadheat_model::words::word)
            .collect()
    };
    assert_eq!(words(&again), words(&trace));
}

fn read_text(format: TextFormat, text: &[u8]) -> Result<Execution, TraceError> {
    let mut reader = TextReader::new(format, text);
    let mut events = Vec::new();
    let _ = reader.for_each(|window, _, _| {
        events.extend_from_slice(window);
        ControlFlow::<()>::Continue(())
    })?;
    let names = reader.into_names();
    Ok(Execution { events, names })
}

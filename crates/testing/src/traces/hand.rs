//! Traces written by hand: RAPID's STD, `T1|w(x)|place`, with a space for a bar, a semicolon for a line
//! end and no place where it does not matter. A line without a place has its own number for one.

use std::ops::ControlFlow;

use deadheat_model::Execution;
use deadheat_trace::text::{TextFormat, TextReader};

/// The trace that a text says. Names become numbers in the order in which they are first mentioned.
///
/// ```
/// let trace = deadheat_testing::traces::trace("T1 w(x); T2 acq(l); T2 w(x)");
/// assert_eq!(trace.events.len(), 3);
/// ```
pub fn trace(text: &str) -> Execution {
    let lines = text.split(['\n', ';']).map(str::trim);
    let lines = lines.filter(|line| !line.is_empty());
    let lines = lines.zip(1..).map(|(line, number)| {
        let fields: Vec<&str> = line.split(['|', ' ']).collect();
        match fields[..] {
            [strand, op] => format!("{strand}|{op}|{number}\n"),
            _ => format!("{}\n", fields.join("|")),
        }
    });
    let lines: String = lines.collect();
    let mut reader = TextReader::new(TextFormat::Std, lines.as_bytes());
    let mut events = Vec::new();
    let read = reader.for_each(|window, _, _| {
        events.extend_from_slice(window);
        ControlFlow::<()>::Continue(())
    });
    if let Err(error) = read {
        panic!("{error}\n{lines}");
    }
    let names = reader.into_names();
    Execution { events, names }
}

/// Figure 1a of M2.
pub const FIGURE_1A: &str = "T1 acq(l); T1 w(x); T1 rel(l);
    T2 acq(l); T2 w(x); T2 rel(l); T2 r(x)";

/// Figure 1b of M2.
pub const FIGURE_1B: &str = "T1 acq(l1); T1 w(x); T1 w(y); T1 rel(l1);
    T2 acq(l1); T2 acq(l2); T2 w(z); T2 rel(l2); T2 w(y); T2 rel(l1);
    T3 acq(l2); T3 r(z); T3 rel(l2); T3 w(x)";

/// Figure 6 of M2.
pub const FIGURE_6: &str = "T1 acq(l); T1 w(x); T1 rel(l);
    T2 acq(l); T2 w(y); T2 rel(l); T1 w(z); T2 r(z); T3 r(y); T3 w(x)";

/// Figure 8 of M2.
pub const FIGURE_8: &str = "T2 w(y); T1 acq(l); T1 w(x); T1 r(y); T1 w(z); T1 rel(l);
    T2 acq(l); T2 w(x); T2 rel(l); T3 r(x); T3 w(y); T3 r(x); T3 r(z)";

//! A trace as people read it: one event a line, `T1|w(x)|3`, that is who, what and where. For
//! messages; files are another crate's business.

use std::fmt;

use deadheat_model::{Event, Legend, Op, Trace};

/// Shows a trace, one event a line.
pub struct Lines<'t>(pub &'t Trace);

impl fmt::Display for Lines<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Trace { events, legend } = self.0;
        for event in events {
            writeln!(f, "{}", Line { event, legend })?;
        }
        Ok(())
    }
}

/// Shows one event.
pub struct Line<'t> {
    /// The event.
    pub event: &'t Event,
    /// What its numbers are called.
    pub legend: &'t Legend,
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Line { event, legend } = self;
        let action = Action {
            op: event.op(),
            legend,
        };
        let strand = legend.strand(event.strand());
        let site = legend.site(event.site());
        write!(f, "{strand}|{action}|{site}")
    }
}

/// Shows what is done in an event: `w(x)`.
pub struct Action<'t> {
    /// What is done.
    pub op: Op,
    /// What its numbers are called.
    pub legend: &'t Legend,
}

impl fmt::Display for Action<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match words(self.op, self.legend) {
            (word, object) if object.is_empty() => f.write_str(word),
            (word, object) => write!(f, "{word}({object})"),
        }
    }
}

/// What is done, and to what.
fn words(op: Op, legend: &Legend) -> (&'static str, String) {
    let location = |x| legend.location(x).into_owned();
    let lock = |l| legend.lock(l).into_owned();
    let strand = |s| legend.strand(s).into_owned();
    match op {
        Op::Read(x, _) => ("r", location(x)),
        Op::Write(x) => ("w", location(x)),
        Op::AtomicLoad(x, _) => ("load", location(x)),
        Op::AtomicStore(x, _) => ("store", location(x)),
        Op::AtomicUpdate(x, _) => ("update", location(x)),
        Op::Async(s) => ("async", strand(s)),
        Op::Future(s) => ("future", strand(s)),
        Op::Fork(s) => ("fork", strand(s)),
        Op::Join(s) => ("join", strand(s)),
        Op::Begin => ("begin", String::new()),
        Op::End => ("end", String::new()),
        Op::Branch => ("branch", String::new()),
        Op::FinishBegin(n) => ("finish", n.0.to_string()),
        Op::FinishEnd(n) => ("finished", n.0.to_string()),
        Op::NewPromise(p) => ("promise", p.0.to_string()),
        Op::Set(p) => ("set", p.0.to_string()),
        Op::Get(p) => ("get", p.0.to_string()),
        Op::IsolatedBegin => ("isolated", String::new()),
        Op::IsolatedEnd => ("unisolated", String::new()),
        Op::Request(l) => ("req", lock(l)),
        Op::Acquire(l) => ("acq", lock(l)),
        Op::Release(l) => ("rel", lock(l)),
        Op::AcquireShared(l) => ("racq", lock(l)),
        Op::ReleaseShared(l) => ("rrel", lock(l)),
        Op::P(s) => ("p", name(&legend.semaphores, s.0, "S")),
        Op::V(s) => ("v", name(&legend.semaphores, s.0, "S")),
        Op::Post(e) => ("post", name(&legend.flags, e.0, "E")),
        Op::Wait(e) => ("wait", name(&legend.flags, e.0, "E")),
        Op::Clear(e) => ("clear", name(&legend.flags, e.0, "E")),
        Op::BarrierArrive(b) => ("arrive", name(&legend.barriers, b.0, "B")),
        Op::BarrierLeave(b) => ("leave", name(&legend.barriers, b.0, "B")),
        Op::Alloc(r) => ("alloc", r.0.to_string()),
        Op::Free(r) => ("free", r.0.to_string()),
    }
}

/// What an object is called that the legend has no method for.
pub(crate) fn name(names: &[String], number: u64, prefix: &str) -> String {
    match names.get(number as usize) {
        Some(name) if !name.is_empty() => name.clone(),
        _ => format!("{prefix}{number}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadheat_testing::traces::trace;

    #[test]
    fn a_trace_is_shown_one_event_a_line() {
        let text = "T1|acq(l)|1\nT1|w(x)|2\nT1|rel(l)|3\nT2|r(x)|4\nT2|p(s)|5\nT2|join(T1)|6\n";
        assert_eq!(Lines(&trace(text)).to_string(), text);
    }

    #[test]
    fn what_has_no_name_is_shown_by_number() {
        let mut trace = trace("T1|p(s)|1\nT2|w(x)|2\n");
        trace.legend = Legend::default();
        assert_eq!(Lines(&trace).to_string(), "T0|p(S0)|0\nT1|w(V0)|1\n");
    }
}

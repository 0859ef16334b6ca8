//! Traces written by hand, for tests: lines `T1|w(x)` or `T1|w(x)|place`, or the same with spaces
//! between. Names become numbers in the order in which they are first mentioned; a line without a
//! place has its own number for one.

use deadheat_model::{
    AtomicOrdering, Barrier, Event, Execution, Finish, Flag, Location, Lock, Op, Promise, ReadKind,
    Semaphore, Site, Strand,
};

/// The trace that the lines say.
pub fn trace(text: &str) -> Execution {
    let mut trace = Execution::default();
    let lines = text.split(['\n', ';']).map(str::trim);
    for line in lines.filter(|line| !line.is_empty()) {
        let mut fields = line.split(['|', ' ']);
        let mut field = || fields.next().map(str::trim);
        let names = &mut trace.names;
        let strand = Strand(number(&mut names.strands, field().unwrap()) as u32);
        let op = field().unwrap().trim_end_matches(')');
        let (word, object) = op.split_once('(').unwrap_or((op, ""));
        let mut location = || Location(number(&mut names.locations, object));
        let mut lock = || Lock(number(&mut names.locks, object));
        let mut semaphore = || Semaphore(number(&mut names.semaphores, object));
        let mut flag = || Flag(number(&mut names.flags, object));
        let mut barrier = || Barrier(number(&mut names.barriers, object));
        let op = match word {
            "r" => Op::Read(location(), ReadKind::Data),
            "w" => Op::Write(location()),
            "load" => Op::AtomicLoad(location(), AtomicOrdering::SequentiallyConsistent),
            "store" => Op::AtomicStore(location(), AtomicOrdering::SequentiallyConsistent),
            "update" => Op::AtomicUpdate(location(), AtomicOrdering::SequentiallyConsistent),
            "acq" => Op::Acquire(lock()),
            "rel" => Op::Release(lock()),
            "racq" => Op::AcquireShared(lock()),
            "rrel" => Op::ReleaseShared(lock()),
            "fork" => Op::Fork(Strand(number(&mut names.strands, object) as u32)),
            "join" => Op::Join(Strand(number(&mut names.strands, object) as u32)),
            "async" => Op::Async(Strand(number(&mut names.strands, object) as u32)),
            "future" => Op::Future(Strand(number(&mut names.strands, object) as u32)),
            "finish" => Op::FinishBegin(Finish(object.parse().unwrap())),
            "endfinish" => Op::FinishEnd(Finish(object.parse().unwrap())),
            "isolated" => Op::IsolatedBegin,
            "endisolated" => Op::IsolatedEnd,
            "end" => Op::End,
            "p" => Op::P(semaphore()),
            "v" => Op::V(semaphore()),
            "post" => Op::Post(flag()),
            "wait" => Op::Wait(flag()),
            "clear" => Op::Clear(flag()),
            "set" => Op::Set(Promise(object.parse().unwrap())),
            "get" => Op::Get(Promise(object.parse().unwrap())),
            "arrive" => Op::BarrierArrive(barrier()),
            "leave" => Op::BarrierLeave(barrier()),
            _ => panic!("no operation {word}"),
        };
        let own_number = (trace.events.len() + 1).to_string();
        let place = field().unwrap_or(&own_number);
        let site = Site(number(&mut names.sites, place) as u32);
        trace.events.push(Event::new(strand, op, site));
    }
    trace
}

fn number(names: &mut Vec<String>, name: &str) -> u64 {
    let known = names.iter().position(|known| known == name);
    known.unwrap_or_else(|| {
        names.push(name.to_string());
        names.len() - 1
    }) as u64
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

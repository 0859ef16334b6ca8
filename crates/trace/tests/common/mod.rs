//! Traces to try things with.

#![allow(dead_code)]

use std::ops::ControlFlow;

use deadheat_model::words::Table;
use deadheat_model::{
    AtomicOrdering, Barrier, Event, Execution, Finish, Flag, Location, Lock, Names, Op, Promise,
    ReadKind, Region, Semaphore, Site, Strand,
};
use deadheat_trace::TraceError;
use deadheat_trace::dht::{OrderedWriter, Reader, Writer};
use deadheat_trace::text::{TextFormat, TextReader, TextWriter};

/// Any operation on small objects.
pub fn any_op(rng: &mut fastrand::Rng, threads: u32, objects: u64) -> Op {
    let x = rng.u64(0..objects);
    let t = Strand(rng.u32(0..threads));
    let ordering = [
        AtomicOrdering::Relaxed,
        AtomicOrdering::Acquire,
        AtomicOrdering::Release,
        AtomicOrdering::AcquireRelease,
        AtomicOrdering::SequentiallyConsistent,
    ][rng.usize(0..5)];
    match rng.u32(0..34) {
        0 => Op::Read(Location(x), ReadKind::Data),
        1 => Op::Read(Location(x), ReadKind::Control),
        2 => Op::Write(Location(x)),
        3 => Op::AtomicLoad(Location(x), ordering),
        4 => Op::AtomicStore(Location(x), ordering),
        5 => Op::AtomicUpdate(Location(x), ordering),
        6 => Op::Async(t),
        7 => Op::Future(t),
        8 => Op::Fork(t),
        9 => Op::Join(t),
        10 => Op::End,
        11 => Op::FinishBegin(Finish(x)),
        12 => Op::FinishEnd(Finish(x)),
        13 => Op::NewPromise(Promise(x)),
        14 => Op::Set(Promise(x)),
        15 => Op::Get(Promise(x)),
        16 => Op::IsolatedBegin,
        17 => Op::IsolatedEnd,
        18 => Op::Acquire(Lock(x)),
        19 => Op::Release(Lock(x)),
        20 => Op::AcquireShared(Lock(x)),
        21 => Op::ReleaseShared(Lock(x)),
        22 => Op::P(Semaphore(x)),
        23 => Op::V(Semaphore(x)),
        24 => Op::Post(Flag(x)),
        25 => Op::Wait(Flag(x)),
        26 => Op::Clear(Flag(x)),
        27 => Op::BarrierArrive(Barrier(x)),
        28 => Op::BarrierLeave(Barrier(x)),
        29 => Op::Alloc(Region(rng.u64(0..1 << 48))),
        30 => Op::Free(Region(rng.u64(0..1 << 48))),
        31 => Op::Begin,
        32 => Op::Branch,
        _ => Op::Request(Lock(x)),
    }
}

/// Names that text has trouble with, and others; each only once.
pub fn any_names(rng: &mut fastrand::Rng, count: u64) -> Vec<String> {
    let parts = [
        "x",
        "operator||",
        "(",
        ")",
        " ",
        "#",
        "%",
        "%7C",
        "\"",
        ",",
        "\n",
        "\r",
        "\t",
        "é",
        "→",
        "a[0]",
        "thread",
        "op",
    ];
    let name = |n| {
        let mut name: String = (0..rng.usize(0..4))
            .map(|_| parts[rng.usize(0..parts.len())])
            .collect();
        name.insert_str(rng.usize(0..2) * name.len(), &format!("{n}"));
        name + parts[rng.usize(0..parts.len())]
    };
    (0..count).map(name).collect()
}

/// A trace that means nothing and has everything in it.
pub fn any_trace(seed: u64, events: usize) -> Execution {
    let mut rng = fastrand::Rng::with_seed(seed);
    let threads = rng.u32(1..9);
    let objects = rng.u64(1..2 + events as u64 / 4);
    let sites = rng.u32(1..50);
    let mut names = Names::default();
    for table in Table::ALL {
        let count = match table {
            Table::Strands => threads.into(),
            Table::Sites => sites.into(),
            _ => objects,
        };
        *table.of_mut(&mut names) = any_names(&mut rng, count);
    }
    names.tokens = (0..rng.u64(0..objects)).map(|_| rng.u64(0..4)).collect();
    while names.tokens.last() == Some(&0) {
        names.tokens.pop();
    }
    let stay = rng.u32(1..20);
    let mut strand = Strand::MAIN;
    let events = (0..events)
        .map(|_| {
            if rng.u32(0..stay) == 0 {
                strand = Strand(rng.u32(0..threads));
            }
            let op = any_op(&mut rng, threads, objects);
            Event::new(strand, op, Site(rng.u32(0..sites)))
        })
        .collect();
    Execution { events, names }
}

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

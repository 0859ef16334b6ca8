//! Traces that mean nothing and have everything in them, for what reads and writes traces.

use deadheat_model::words::Table;
use deadheat_model::{
    AtomicOrdering, Barrier, Event, Execution, Finish, Flag, Location, Lock, Names, Op, Promise,
    ReadKind, Region, Semaphore, Site, SiteKind, Strand, StrandKind,
};
use fastrand::Rng;

/// Any operation on small objects.
pub fn any_op(rng: &mut Rng, threads: u32, objects: u64) -> Op {
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
fn any_names(rng: &mut Rng, count: u64) -> Vec<String> {
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
    let mut rng = Rng::with_seed(seed);
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
    names.kinds = (0..rng.u32(0..=threads))
        .map(|_| match rng.u32(0..4) {
            0 => StrandKind::Task,
            1 => StrandKind::Member(rng.u32(..)),
            _ => StrandKind::Plain,
        })
        .collect();
    while names.kinds.last() == Some(&StrandKind::Plain) {
        names.kinds.pop();
    }
    names.site_kinds = (0..rng.u32(0..=sites))
        .map(|_| match rng.u32(0..3) {
            0 => SiteKind::Free,
            1 => SiteKind::LockLife,
            _ => SiteKind::Plain,
        })
        .collect();
    while names.site_kinds.last() == Some(&SiteKind::Plain) {
        names.site_kinds.pop();
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

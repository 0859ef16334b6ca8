//! What is written comes back.

mod common;

use std::ops::ControlFlow;
use std::sync::Mutex;

use common::{from_dht, from_text, in_words, to_dht, to_text};
use deadheat_model::words::Table;
use deadheat_model::{Event, Execution, Location, Lock, Names, Op, ReadKind, Site, Strand};
use deadheat_testing::traces::{any_op, any_trace};
use deadheat_trace::dht::{MAX_SPAN, Reader, Writer};
use deadheat_trace::text::TextFormat;
use deadheat_trace::{TraceError, WINDOW, convert, open, save};

#[test]
fn dht_gives_back_the_same_trace() {
    for seed in 0..300 {
        let trace = any_trace(seed, [0, 1, 2, 60, 700][seed as usize % 5]);
        assert_eq!(from_dht(&to_dht(&trace)).unwrap(), trace, "seed {seed}");
    }
}

#[test]
fn dht_gives_back_long_traces() {
    for (seed, events) in [
        (1, WINDOW),
        (2, WINDOW + 1),
        (3, 3 * WINDOW - 1),
        (4, 700_000),
    ] {
        let trace = any_trace(seed, events);
        let reader = Reader::from_bytes(to_dht(&trace)).unwrap();
        assert_eq!(reader.events(), events as u64);
        assert_eq!(reader.damage(), None);
        assert!(reader.read_all().unwrap() == trace, "seed {seed}");
    }
}

#[test]
fn windows_follow_each_other_until_told_to_stop() {
    let trace = any_trace(5, 10 * WINDOW);
    let reader = Reader::from_bytes(to_dht(&trace)).unwrap();
    let mut read = Vec::new();
    let flow = reader.for_each(|window| {
        assert_eq!(window.len(), WINDOW);
        read.extend_from_slice(window);
        match read.len() == 3 * WINDOW {
            true => ControlFlow::Break("enough"),
            false => ControlFlow::Continue(()),
        }
    });
    assert_eq!(flow.unwrap(), ControlFlow::Break("enough"));
    assert!(read == trace.events[..3 * WINDOW]);
}

/// A megabyte of blocks that repeat themselves can be gigabytes of events.
#[test]
fn a_trace_is_read_only_while_somebody_wants_it() {
    let trace = any_trace(6, 10 * WINDOW);
    let folder = tempfile::tempdir().unwrap();
    for name in ["run.dht", "run.std"] {
        let path = folder.path().join(name);
        deadheat_trace::save(&path, &trace).unwrap();
        let mut asked = 0;
        let read = deadheat_trace::open(&path).unwrap().read_while(|done| {
            asked += 1;
            assert!((0.0..=1.0).contains(&done), "{name}: {done}");
            asked < 4
        });
        let events = read.unwrap().events.len();
        assert!((1..=4 * WINDOW).contains(&events), "{name}: {events}");
        assert_eq!(asked, 4, "{name}");
    }
}

/// Names may change their order, and so may numbers: what is said stays.
#[test]
fn text_says_the_same() {
    for format in [TextFormat::Std, TextFormat::Table] {
        for seed in 0..300 {
            let trace = any_trace(seed, 200);
            let text = to_text(format, &trace);
            let again =
                from_text(format, &text).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
            assert_eq!(in_words(&again), in_words(&trace), "seed {seed}");
            // What came from text stays the same to the number.
            assert_eq!(from_text(format, &to_text(format, &again)).unwrap(), again);
        }
    }
}

#[test]
fn files_are_converted_through_every_format() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    let trace = any_trace(7, 150_000);
    save(at("a.dht"), &trace).unwrap();
    for (from, to) in [
        ("a.dht", "b.std"),
        ("b.std", "c.table.csv"),
        ("c.table.csv", "d.dht"),
        ("d.dht", "d.dht"),
    ] {
        let mut last = 0.0;
        convert(&open(at(from)).unwrap(), at(to), |done| {
            assert!(done >= last && done <= 1.0, "{last} {done}");
            last = done;
        })
        .unwrap();
        assert!(last > 0.9);
    }
    let end = open(at("d.dht")).unwrap();
    assert!(in_words(&end.read_all().unwrap()) == in_words(&trace));
    let text = open(at("b.std")).unwrap();
    assert_eq!(text.events().unwrap(), 150_000);
    assert_eq!(text.names().unwrap(), &text.read_all().unwrap().names);
    // Nothing is left lying about.
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 4);
}

#[test]
fn a_failed_conversion_leaves_what_was_there() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    std::fs::write(at("bad.std"), "T|w(x)|1\nT|frobnicate(x)|2\n").unwrap();
    std::fs::write(at("out.dht"), "precious").unwrap();
    let error = convert(&open(at("bad.std")).unwrap(), at("out.dht"), |_| {}).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("line 2: there is no operation `frobnicate`"),
        "{error}"
    );
    assert_eq!(std::fs::read(at("out.dht")).unwrap(), b"precious");
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 2);
}

/// Many threads write at once, each event with a number taken from a shared counter.
#[test]
fn threads_write_in_parallel() {
    const THREADS: u32 = 8;
    const EACH: usize = 100_000;
    let writer = Writer::new(Vec::new()).unwrap();
    for thread in 0..THREADS {
        writer
            .name(Table::Strands, &format!("worker {thread}"))
            .unwrap();
    }
    let written = Mutex::new(vec![None; THREADS as usize * EACH]);
    let next = std::sync::atomic::AtomicU64::new(0);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (writer, next, written) = (&writer, &next, &written);
            scope.spawn(move || {
                let mut rng = fastrand::Rng::with_seed(thread.into());
                let mut strand = writer.strand(Strand(thread));
                let mut mine = Vec::new();
                let (mut sites, mut objects) = (Vec::new(), Vec::new());
                for step in 0..EACH {
                    // Names appear while others write.
                    if step % 1000 == 0 {
                        sites.push(writer.name(Table::Sites, "somewhere").unwrap());
                        for table in [Table::Locations, Table::Locks] {
                            objects.push((table, writer.name(table, "something").unwrap()));
                        }
                    }
                    let op = match objects[rng.usize(0..objects.len())] {
                        (Table::Locks, lock) => Op::Acquire(Lock(lock)),
                        (_, location) => Op::Read(Location(location), ReadKind::Control),
                    };
                    let site = Site(sites[rng.usize(0..sites.len())] as u32);
                    let number = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    strand.push(number, op, site).unwrap();
                    mine.push((number, Event::new(Strand(thread), op, site)));
                }
                drop(strand);
                let mut written = written.lock().unwrap();
                for (number, event) in mine {
                    assert_eq!(written[number as usize].replace(event), None);
                }
            });
        }
    });
    writer.finish().unwrap();
    let wanted: Vec<Event> = written
        .into_inner()
        .unwrap()
        .into_iter()
        .flatten()
        .collect();
    let read = from_dht(&writer.into_inner()).unwrap();
    assert_eq!(read.names.sites.len(), THREADS as usize * EACH / 1000);
    assert!(read.events == wanted);
}

/// A strand that is idle for long, and thousands that come and go.
#[test]
fn blocks_do_not_span_too_much() {
    let strands = 3000_u32;
    let total = 2 * MAX_SPAN as usize + 12_345;
    let names = Names {
        strands: (0..strands).map(|n| n.to_string()).collect(),
        ..Names::default()
    };
    let event = |n: usize| {
        let strand = match n % 1_000_000 {
            7 => Strand(0),
            _ => Strand(1 + (n / 1000) as u32 % (strands - 1)),
        };
        Event::new(
            strand,
            Op::Write(Location(n as u64 % 97)),
            Site(n as u32 % 5),
        )
    };
    let events = (0..total).map(event).collect();
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("long.dht");
    let trace = Execution { events, names };
    save(&file, &trace).unwrap();
    assert!(open(&file).unwrap().read_all().unwrap().events == trace.events);
}

#[test]
fn a_writer_refuses_what_could_not_be_read() {
    let writer = Writer::new(Vec::new()).unwrap();
    writer.name(Table::Strands, "main").unwrap();
    writer.name(Table::Sites, "").unwrap();
    let mut strand = writer.strand(Strand(0));
    strand.push(5, Op::Begin, Site(0)).unwrap();
    let error = strand.push(5, Op::Begin, Site(0)).unwrap_err();
    assert!(matches!(
        error,
        TraceError::OutOfOrder {
            number: 5,
            last: 5,
            ..
        }
    ));
    strand.push(6, Op::Write(Location(3)), Site(0)).unwrap();
    let error = strand.flush().unwrap_err();
    assert!(matches!(
        error,
        TraceError::Unnamed {
            table: Table::Locations,
            number: 3,
            known: 0
        }
    ));
    let error = writer.name(Table::Locks, &"x".repeat(70_000)).unwrap_err();
    assert!(
        matches!(error, TraceError::NameTooLong { bytes: 70_000, .. }),
        "{error}"
    );
    let sparse = Event::new(
        Strand(0),
        any_op(&mut fastrand::Rng::with_seed(0), 1, 1),
        Site(1 << 31),
    );
    let trace = Execution {
        events: vec![sparse],
        names: Names::default(),
    };
    let error = save(std::env::temp_dir().join("never-written.dht"), &trace).unwrap_err();
    assert!(
        matches!(
            error,
            TraceError::Unnamed {
                table: Table::Sites,
                ..
            }
        ),
        "{error}"
    );
}

/// In text, objects are told apart by their names.
#[test]
fn objects_of_the_same_name_stay_different() {
    let names = Names {
        strands: vec!["".into(), "T0".into(), "T0".into()],
        locations: vec!["x".into(), "x".into(), "".into(), "x~2".into()],
        sites: vec!["".into(), "".into()],
        ..Names::default()
    };
    let event = |strand, x, site| Event::new(Strand(strand), Op::Write(Location(x)), Site(site));
    let events = vec![
        event(0, 0, 0),
        event(1, 1, 1),
        event(2, 2, 0),
        event(0, 3, 1),
    ];
    let trace = Execution { events, names };
    for format in [TextFormat::Std, TextFormat::Table] {
        let again = from_text(format, &to_text(format, &trace)).unwrap();
        let parts = |trace: &Execution| -> Vec<_> {
            trace
                .events
                .iter()
                .map(|event| (event.strand(), event.op()))
                .collect()
        };
        assert_eq!(parts(&again), parts(&trace));
        assert_eq!(again.names.sites, [""]);
    }
}

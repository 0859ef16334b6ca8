//! Whatever is in a file: no panic, no hang, no more memory than the file deserves, and what comes out is
//! what was written, or an error that says where.

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use common::{from_dht, from_text, in_words, to_dht, to_text};
use deadheat_model::words::Table;
use deadheat_model::{Event, Execution, Location, Op, Site, Strand};
use deadheat_testing::traces::any_trace;
use deadheat_trace::dht::{Reader, Writer};
use deadheat_trace::text::TextFormat;
use deadheat_trace::{BlockProblem, HeaderProblem, LineProblem, TraceError};

/// Counts what is allocated. One test alone looks at it, the others make it larger than it would be.
struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: hands everything on to the system's allocator.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Relaxed) + layout.size();
        PEAK.fetch_max(now, Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// No file here deserves more than this, with all tests running at once.
const ENOUGH: usize = 400 << 20;

const FILE_HEADER: usize = 16;
const HEAD: usize = 40;

/// A trace of several strands, in several blocks of each.
fn in_blocks(seed: u64, events: usize, each: usize) -> (Execution, Vec<u8>) {
    let trace = any_trace(seed, events);
    let writer = Writer::new(Vec::new()).unwrap();
    writer.learn(&trace.names).unwrap();
    let count = trace.names.strands.len() as u32;
    let mut strands: Vec<_> = (0..count).map(|n| writer.strand(Strand(n))).collect();
    for (number, event) in trace.events.iter().enumerate() {
        let strand = &mut strands[event.strand().index()];
        strand
            .push(number as u64, event.op(), event.site())
            .unwrap();
        if number % each == each - 1 {
            strands
                .iter_mut()
                .for_each(|strand| strand.flush().unwrap());
        }
    }
    drop(strands);
    writer.finish().unwrap();
    (trace, writer.into_inner())
}

/// The file apart: its blocks, without the index.
fn blocks(file: &[u8]) -> Vec<Vec<u8>> {
    let mut blocks = Vec::new();
    let mut at = FILE_HEADER;
    while &file[at + 4..at + 8] != b"indx" {
        let length = HEAD + field(&file[at..], 8) as usize;
        blocks.push(file[at..at + length].to_vec());
        at += length;
    }
    blocks
}

fn field(block: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(block[at..at + 4].try_into().unwrap())
}

fn set(block: &mut [u8], at: usize, bytes: &[u8]) {
    block[at..at + bytes.len()].copy_from_slice(bytes);
}

/// The file put together again, numbers and checksums made right; with an index, or without.
fn together(header: &[u8], mut blocks: Vec<Vec<u8>>, index: bool) -> Vec<u8> {
    let mut file = header[..FILE_HEADER].to_vec();
    let mut entries = Vec::new();
    let mut total = 0;
    for (number, block) in blocks.iter_mut().enumerate() {
        set(block, 12, &(number as u32).to_le_bytes());
        let length = block.len() - HEAD;
        set(block, 8, &(length as u32).to_le_bytes());
        entries.extend_from_slice(&(file.len() as u64).to_le_bytes());
        entries.extend_from_slice(&block[4..HEAD]);
        if &block[4..8] == b"evts" {
            total += u64::from(field(block, 16));
        }
        seal(block);
        file.extend_from_slice(block);
    }
    if index {
        let at = file.len() as u64;
        let mut block = vec![0; HEAD];
        set(&mut block, 4, b"indx");
        set(&mut block, 8, &(entries.len() as u32).to_le_bytes());
        set(&mut block, 12, &(blocks.len() as u32).to_le_bytes());
        set(&mut block, 16, &(blocks.len() as u32).to_le_bytes());
        set(&mut block, 32, &total.to_le_bytes());
        block.extend_from_slice(&entries);
        seal(&mut block);
        file.extend_from_slice(&block);
        file.extend_from_slice(&at.to_le_bytes());
        file.extend_from_slice(b"dht-end\n");
    }
    file
}

fn seal(block: &mut [u8]) {
    let checksum = crc32fast::hash(&block[4..]);
    set(block, 0, &checksum.to_le_bytes());
}

/// Reads to the end, keeping nothing.
fn walk(file: &[u8]) -> Result<u64, TraceError> {
    let reader = Reader::from_bytes(file.to_vec())?;
    let mut events = 0;
    let _ = reader.for_each(|window| {
        events += window.len() as u64;
        ControlFlow::<()>::Continue(())
    })?;
    assert_eq!(events, reader.events());
    Ok(events)
}

#[test]
fn the_surgeon_puts_a_file_together_again() {
    let (_, file) = in_blocks(1, 300, 40);
    assert!(together(&file, blocks(&file), true) == file);
}

#[test]
fn a_file_that_is_cut_anywhere_gives_the_longest_prefix() {
    let (trace, file) = in_blocks(1, 300, 40);
    let mut last = 0;
    for cut in 0..file.len() {
        let reader = match Reader::from_bytes(file[..cut].to_vec()) {
            Ok(reader) => reader,
            Err(error) => {
                assert!(cut < FILE_HEADER, "{error}");
                assert!(matches!(error, TraceError::Header(HeaderProblem::NotDht)));
                continue;
            }
        };
        let kept = reader.events();
        let damage = reader.damage().expect("it was cut");
        assert_eq!(damage.kept, kept);
        assert!(kept + damage.lost <= 300);
        assert!(kept >= last);
        assert_eq!(
            reader.read_all().unwrap().events,
            trace.events[..kept as usize]
        );
        last = kept;
    }
    assert_eq!(last, 300);
}

/// Each strand's blocks stand behind those of another: a cut takes one strand's, and all behind.
#[test]
fn events_behind_a_missing_one_are_lost_and_counted() {
    let writer = Writer::new(Vec::new()).unwrap();
    for table in [
        Table::Strands,
        Table::Strands,
        Table::Sites,
        Table::Locations,
    ] {
        writer.name(table, "").unwrap();
    }
    let (mut busy, mut idle) = (writer.strand(Strand(0)), writer.strand(Strand(1)));
    for number in 0..100 {
        let strand = if number % 10 == 7 {
            &mut idle
        } else {
            &mut busy
        };
        strand
            .push(number, Op::Write(Location(0)), Site(0))
            .unwrap();
    }
    busy.flush().unwrap();
    drop(busy);
    // The other never comes to it: as if the program were killed here.
    std::mem::forget(idle);
    let reader = Reader::from_bytes(writer.into_inner()).unwrap();
    assert_eq!(reader.events(), 7);
    let damage = reader.damage().unwrap();
    assert_eq!((damage.kept, damage.lost), (7, 93));
    assert_eq!(damage.problem, None);
    assert_eq!(reader.read_all().unwrap().events.len(), 7);
}

/// The same if the file was properly ended.
#[test]
fn a_strand_that_never_handed_over_is_a_loss() {
    let writer = Writer::new(Vec::new()).unwrap();
    writer.name(Table::Strands, "main").unwrap();
    writer.name(Table::Sites, "").unwrap();
    let mut strand = writer.strand(Strand(0));
    for number in [0, 1, 2, 5, 6] {
        strand.push(number, Op::Begin, Site(0)).unwrap();
    }
    strand.flush().unwrap();
    writer.finish().unwrap();
    let error = strand
        .push(7, Op::Begin, Site(0))
        .and_then(|()| strand.flush())
        .unwrap_err();
    assert!(matches!(error, TraceError::Io(_)), "{error}");
    drop(strand);
    let reader = Reader::from_bytes(writer.into_inner()).unwrap();
    let damage = reader.damage().unwrap();
    assert_eq!((damage.kept, damage.lost), (3, 4));
}

#[test]
fn a_flipped_byte_is_found() {
    let (trace, file) = in_blocks(2, 300, 40);
    let (mut errors, mut shorter) = (0, 0);
    for at in 0..file.len() {
        for flip in [0xff, 1 << (at % 8)] {
            let mut file = file.clone();
            file[at] ^= flip;
            let reader = match Reader::from_bytes(file) {
                Ok(reader) => reader,
                Err(error) => {
                    assert!(
                        at < FILE_HEADER || error.to_string().starts_with("block "),
                        "{error}"
                    );
                    errors += 1;
                    continue;
                }
            };
            match reader.read_all() {
                Ok(read) => {
                    assert_eq!(read.events, trace.events[..read.events.len()], "byte {at}");
                    shorter += usize::from(read.events.len() < 300);
                    // Something was noticed in any case.
                    assert!(reader.damage().is_some(), "byte {at}");
                }
                Err(error) => {
                    let problem = match &error {
                        TraceError::Block {
                            problem, offset, ..
                        } if *offset <= at as u64 => problem,
                        _ => panic!("byte {at}: {error}"),
                    };
                    // The length of a block may lead out of the file.
                    let found = [BlockProblem::Checksum, BlockProblem::CutOff];
                    assert!(found.contains(problem), "byte {at}: {problem}");
                    errors += 1;
                }
            }
        }
    }
    // The index is whole, so that a damaged block is an error and not the end.
    assert!(errors > file.len() && shorter == 0, "{errors} {shorter}");
}

#[test]
fn other_versions_and_other_files_are_told() {
    let (_, mut file) = in_blocks(2, 30, 40);
    file[8] = 2;
    let error = from_dht(&file).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("has version 2, and this deadheat reads version 1"),
        "{error}"
    );
    for bytes in [
        &b""[..],
        b"\x89dht",
        b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\0\0\0\0",
    ] {
        let error = from_dht(bytes).unwrap_err();
        assert!(matches!(error, TraceError::Header(HeaderProblem::NotDht)));
    }
}

/// Every field of every head says the largest things, the checksum being right.
#[test]
fn counts_that_cannot_be_true_are_refused() {
    let (trace, file) = in_blocks(3, 300, 40);
    let mut refused = 0;
    for number in 0..blocks(&file).len() {
        for (at, bytes) in [(16, 4), (20, 4), (24, 8), (32, 8)] {
            for value in [
                0_u64,
                1,
                0x7fff_ffff,
                0xffff_ffff,
                1 << 40,
                u64::MAX - 3,
                u64::MAX,
            ] {
                for index in [true, false] {
                    let mut blocks = blocks(&file);
                    set(&mut blocks[number], at, &value.to_le_bytes()[..bytes]);
                    match from_dht(&together(&file, blocks, index)) {
                        // Strand and numbers may be others that make sense, or the rest is cut off.
                        Ok(read) => assert!(read.events.len() <= trace.events.len()),
                        Err(_) => refused += 1,
                    }
                }
            }
        }
    }
    assert!(refused > 100, "{refused}");
    let mut blocks = blocks(&file);
    let events = blocks
        .iter_mut()
        .find(|block| &block[4..8] == b"evts")
        .unwrap();
    set(events, 16, &70_000_u32.to_le_bytes());
    let reader = Reader::from_bytes(together(&file, blocks, false)).unwrap();
    let problem = reader
        .damage()
        .unwrap()
        .problem
        .as_ref()
        .unwrap()
        .to_string();
    assert!(
        problem.contains("the number of events says 70000, and there can be at most 65536"),
        "{problem}"
    );
}

#[test]
fn events_that_are_there_twice_are_refused() {
    let (_, file) = in_blocks(4, 300, 40);
    let all = blocks(&file);
    let events = |block: &&Vec<u8>| &block[4..8] == b"evts";
    let twice = all.iter().rfind(events).unwrap().clone();
    for index in [true, false] {
        let mut blocks = all.clone();
        blocks.push(twice.clone());
        let error = from_dht(&together(&file, blocks, index)).unwrap_err();
        let said = error.to_string();
        assert!(said.contains("is also in another block"), "{said}");
        assert!(said.contains(&format!("block {}", all.len())), "{said}");
    }
    // Very often: told before anything is decoded.
    let mut blocks = all.clone();
    blocks.extend(std::iter::repeat_n(twice, 40_000));
    let error = from_dht(&together(&file, blocks, true)).unwrap_err();
    assert!(
        error.to_string().contains("also in another block")
            || error.to_string().contains("two blocks"),
        "{error}"
    );
}

#[test]
fn names_that_are_missing_are_told() {
    let (_, file) = in_blocks(5, 300, 40);
    let mut told = 0;
    for table in 0..Table::ALL.len() as u32 {
        let mut blocks = blocks(&file);
        blocks.retain(|block| &block[4..8] != b"name" || field(block, 20) != table);
        let error = from_dht(&together(&file, blocks, true)).unwrap_err();
        let TraceError::Block {
            problem: BlockProblem::Unnamed { known: 0, .. },
            ..
        } = error
        else {
            panic!("{error}");
        };
        told += 1;
    }
    assert_eq!(told, 7);
    let mut blocks = blocks(&file);
    let again = blocks[0].clone();
    blocks.insert(1, again);
    let error = from_dht(&together(&file, blocks, true))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("its names of a thread begin at 0, and"),
        "{error}"
    );
}

/// A few bytes that become very many.
#[test]
fn what_is_compressed_cannot_grow_without_bound() {
    let (_, file) = in_blocks(6, 300, 40);
    let all = blocks(&file);
    let number = |mut n: u64, out: &mut Vec<u8>| {
        while n >= 0x80 {
            out.push(n as u8 | 0x80);
            n >>= 7;
        }
        out.push(n as u8);
    };
    let bomb = zstd::bulk::compress(&vec![0; 8 << 20], 19).unwrap();
    // Eight million empty names, a thousand times.
    let mut names = all[0][..HEAD].to_vec();
    number(8 << 20, &mut names);
    number(bomb.len() as u64, &mut names);
    names.extend_from_slice(&bomb);
    names.extend_from_slice(&[0, 0]);
    set(&mut names, 16, &(8_u32 << 20).to_le_bytes());
    set(&mut names, 32, &(8_u64 << 20).to_le_bytes());
    set(&mut names, 24, &0_u64.to_le_bytes());
    let error = from_dht(&together(&file, vec![names; 1000], true))
        .unwrap_err()
        .to_string();
    assert!(error.contains("block 0"), "{error}");
    assert!(error.contains("there can be at most"), "{error}");
    // A column of events that is longer than the events.
    let mut events = all.iter().find(|block| &block[4..8] == b"evts").unwrap()[..HEAD].to_vec();
    events.extend_from_slice(&[1, 1]);
    number(1 << 40, &mut events);
    number(bomb.len() as u64, &mut events);
    events.extend_from_slice(&bomb);
    let mut blocks = all.clone();
    let at = blocks
        .iter()
        .position(|block| &block[4..8] == b"evts")
        .unwrap();
    blocks[at] = events;
    let error = from_dht(&together(&file, blocks, true))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("runs says 1099511627776, and there can be at most"),
        "{error}"
    );
    assert!(PEAK.load(Relaxed) < ENOUGH, "{}", PEAK.load(Relaxed));
}

/// Bytes are changed, cut, doubled and moved; half of the time the checksums are right again, so that
/// it is the decoders that have to cope.
#[test]
fn mutations_of_a_file_do_no_harm() {
    let mut rng = fastrand::Rng::with_seed(42);
    let originals: Vec<Vec<u8>> = (0..8).map(|seed| in_blocks(seed, 200, 30).1).collect();
    let (mut read, mut refused) = (0, 0);
    for _ in 0..6000 {
        let original = &originals[rng.usize(0..originals.len())];
        let mutant = match rng.bool() {
            true => mutated(&mut rng, original.clone(), 0),
            false => {
                let mut blocks = blocks(original);
                for _ in 0..rng.usize(1..4) {
                    let at = rng.usize(0..blocks.len());
                    let from = if rng.bool() { HEAD } else { 16 };
                    blocks[at] = mutated(&mut rng, blocks[at].clone(), from);
                    if rng.u32(0..10) == 0 {
                        let other = rng.usize(0..blocks.len());
                        blocks.swap(at, other);
                    }
                }
                together(original, blocks, rng.bool())
            }
        };
        match walk(&mutant) {
            Ok(_) => read += 1,
            Err(_) => refused += 1,
        }
    }
    assert!(read > 500 && refused > 500, "{read} {refused}");
    assert!(PEAK.load(Relaxed) < ENOUGH, "{}", PEAK.load(Relaxed));
}

/// Some bytes behind `from` changed.
fn mutated(rng: &mut fastrand::Rng, mut bytes: Vec<u8>, from: usize) -> Vec<u8> {
    for _ in 0..rng.usize(1..4) {
        if bytes.len() <= from {
            break;
        }
        let at = rng.usize(from..bytes.len());
        match rng.u32(0..6) {
            0 => bytes[at] = rng.u8(..),
            1 => bytes[at] ^= 1 << rng.u32(0..8),
            2 => bytes[at] = [0, 1, 0x7f, 0x80, 0xff][rng.usize(0..5)],
            3 => {
                bytes.remove(at);
            }
            4 => bytes.insert(at, rng.u8(..)),
            _ => {
                let end = (at + rng.usize(1..9)).min(bytes.len());
                bytes[at..end].fill(0xff);
            }
        }
    }
    bytes
}

#[test]
fn random_bytes_do_no_harm() {
    let mut rng = fastrand::Rng::with_seed(43);
    let header = to_dht(&Execution::default())[..FILE_HEADER].to_vec();
    for _ in 0..2000 {
        let mut bytes: Vec<u8> = (0..rng.usize(0..400)).map(|_| rng.u8(..)).collect();
        assert!(from_dht(&bytes).is_err());
        // Behind a proper header it is a recording that broke off at once.
        bytes.splice(0..0, header.iter().copied());
        assert_eq!(from_dht(&bytes).unwrap().events, []);
        for format in [TextFormat::Std, TextFormat::Table] {
            let _: Result<Execution, TraceError> = from_text(format, &bytes[FILE_HEADER..]);
        }
    }
}

/// Lines made of what lines are made of. What is accepted is written and read again as it was.
#[test]
fn random_lines_do_no_harm() {
    let pieces = [
        "T0",
        "T1",
        "|",
        "|",
        ",",
        ",",
        "(",
        ")",
        "r",
        "w",
        "acq",
        "rel",
        "fork",
        "p",
        "semaphore",
        "alloc",
        "7",
        "x",
        " ",
        "\t",
        "\n",
        "\n",
        "\r\n",
        "#",
        "%",
        "%7C",
        "\"",
        "\"",
        "é",
        "thread",
        "op",
        "aload.acquire",
        "99999999999999999999",
        "begin",
        "end",
    ];
    let mut rng = fastrand::Rng::with_seed(44);
    let (mut read, mut refused) = ([0, 0], 0);
    for _ in 0..20_000 {
        let lines = rng.usize(0..12);
        let mut text: String = (0..lines)
            .map(|_| pieces[rng.usize(0..pieces.len())])
            .collect();
        if rng.bool() {
            text.insert_str(
                0,
                ["T0|w(x)|1\n", "T0,w,x,1\n", "T0|", "T1,"][rng.usize(0..4)],
            );
        }
        for (at, format) in [TextFormat::Std, TextFormat::Table].into_iter().enumerate() {
            match from_text(format, text.as_bytes()) {
                Ok(trace) => {
                    assert_eq!(
                        from_text(format, &to_text(format, &trace)).unwrap(),
                        trace,
                        "{text:?}"
                    );
                    assert_eq!(from_dht(&to_dht(&trace)).unwrap(), trace, "{text:?}");
                    read[at] += usize::from(!trace.events.is_empty());
                }
                Err(TraceError::Line { line, text, .. }) => {
                    assert!((1..=13).contains(&line));
                    assert!(text.len() < 400);
                    refused += 1;
                }
                Err(error) => panic!("{error}"),
            }
        }
    }
    assert!(
        read.iter().all(|&read| read > 100) && refused > 1000,
        "{read:?} {refused}"
    );
}

/// What is said, without the places: in RAPID's CSV these are lines.
fn without_places(trace: &Execution) -> Vec<String> {
    let lines = trace
        .events
        .iter()
        .map(|event| trace.names.line(event).to_string());
    let cut = |line: String| line.rsplit_once('|').map(|(said, _)| said.to_string());
    lines.map(|line| cut(line).unwrap()).collect()
}

/// Lines of RAPID's CSV. What is accepted is written, and says the same when it is read again.
#[test]
fn random_columns_do_no_harm() {
    let pieces = [
        ",",
        ",",
        ",",
        "r(x)",
        "w(y)",
        "acq(l)",
        "fork(2)",
        "fork(T1)",
        "join(T0)",
        "begin",
        "(",
        ")",
        "\n",
        "\n",
        "\r\n",
        " ",
        "#",
        "%2C",
        "\"",
        "semaphore(s)|3",
        "p(s)",
        "alloc(7)",
        "|",
        "end()",
    ];
    let mut rng = fastrand::Rng::with_seed(46);
    let (mut read, mut refused) = (0, 0);
    for _ in 0..20_000 {
        let lines = rng.usize(0..12);
        let pieces = (0..lines).map(|_| pieces[rng.usize(0..pieces.len())]);
        let text: String = pieces.collect();
        match from_text(TextFormat::Csv, text.as_bytes()) {
            Ok(trace) => {
                let written = to_text(TextFormat::Csv, &trace);
                let again = from_text(TextFormat::Csv, &written).unwrap();
                assert_eq!(without_places(&again), without_places(&trace), "{text:?}");
                assert_eq!(to_text(TextFormat::Csv, &again), written, "{text:?}");
                read += usize::from(!trace.events.is_empty());
            }
            Err(TraceError::Line { line, .. }) => {
                assert!((1..=13).contains(&line));
                refused += 1;
            }
            Err(error) => panic!("{error}"),
        }
    }
    assert!(read > 1000 && refused > 1000, "{read} {refused}");
}

#[test]
fn mutations_of_text_do_no_harm() {
    let mut rng = fastrand::Rng::with_seed(45);
    for round in 0..4000 {
        let format = [TextFormat::Std, TextFormat::Table][round % 2];
        let text = to_text(format, &any_trace(round as u64 % 50, 20));
        let text = mutated(&mut rng, text, 0);
        // Declarations come first when it is written again: numbers may change, not what is said.
        if let Ok(trace) = from_text(format, &text) {
            let again = from_text(format, &to_text(format, &trace)).unwrap();
            assert_eq!(in_words(&again), in_words(&trace));
        }
    }
}

#[test]
fn a_line_that_is_no_event_is_named() {
    use LineProblem::*;
    let std = |text: &str| match from_text(TextFormat::Std, text.as_bytes()) {
        Err(TraceError::Line { line, problem, .. }) => (line, problem),
        other => panic!("{text:?}: {other:?}"),
    };
    let good = "# comment\r\n\r\n  T0 | w( x ) | 1  \r\n";
    let shape = || Expected("THREAD|op(TARGET)|LOC");
    assert_eq!(std(&format!("{good}T0")), (4, shape()));
    assert_eq!(std(&format!("{good}T0|w(x")), (4, shape()));
    assert_eq!(std(&format!("{good}T0|w(x)y|3")), (4, shape()));
    assert_eq!(std(&format!("{good}|w(x)|3")), (4, NoThread));
    assert_eq!(
        std("T0|w()|3"),
        (
            1,
            NoTarget {
                word: "w",
                table: Table::Locations
            }
        )
    );
    assert_eq!(
        std("T0|w|3"),
        (
            1,
            NoTarget {
                word: "w",
                table: Table::Locations
            }
        )
    );
    assert_eq!(std("T0|W(x)|3"), (1, UnknownWord { word: "W".into() }));
    assert_eq!(
        std("T0|alloc(x)|3"),
        (
            1,
            NotANumber {
                word: "alloc",
                target: "x".into()
            }
        )
    );
    assert_eq!(
        std(&format!("T0|alloc({})|3", 1_u64 << 48)).1,
        NotANumber {
            word: "alloc",
            target: (1_u64 << 48).to_string(),
        }
    );
    assert_eq!(std("T0|p(s)|3\n|semaphore(s)|3"), (2, Semaphore));
    assert_eq!(std("|semaphore(s)|-1"), (1, Semaphore));
    assert_eq!(std("|semaphore()|1"), (1, Semaphore));
    let long = "x".repeat(64 << 10);
    assert_eq!(
        std(&format!("T0|w(x{long})|3")),
        (
            1,
            NameTooLong {
                table: Table::Locations
            }
        )
    );
    from_text(TextFormat::Std, format!("T0|w({long})|3").as_bytes()).unwrap();
    let error = from_text(TextFormat::Std, b"T0|w(x)|1\nT0|w(\xff)|1").unwrap_err();
    assert!(
        error
            .to_string()
            .contains("line 2: the name of a variable is not UTF-8"),
        "{error}"
    );

    let csv = |text: &str| match from_text(TextFormat::Table, text.as_bytes()) {
        Err(TraceError::Line { line, problem, .. }) => (line, problem),
        other => panic!("{text:?}: {other:?}"),
    };
    let good = "thread,op,target,loc\nT0,w,\"a\nb\"\"c\",1\n";
    let shape = || Expected("thread,op,target,loc or thread,op(target),loc");
    assert_eq!(csv(&format!("{good}T0")), (4, shape()));
    assert_eq!(csv(&format!("{good}T0,w,x,1,2")), (4, shape()));
    assert_eq!(csv(&format!("{good}T0,w,\"x\"y,1")), (4, shape()));
    assert_eq!(csv(&format!("{good}T0,w,\"x\n\n\n")), (4, OpenQuote));
    assert_eq!(csv(&format!("{good}T0,w(,1")), (4, shape()));
    assert_eq!(
        csv(&format!("T0,w,\"{}", "\n".repeat(600_000))),
        (1, TooLong(512 << 10))
    );
    assert_eq!(
        csv("T0,w,x,1\nthread,op,target,loc"),
        (2, UnknownWord { word: "op".into() })
    );
}

/// What may stand in a line, and what it means.
#[test]
fn lines_mean_what_the_documentation_says() {
    let std = from_text(
        TextFormat::Std,
        "\u{feff}a b|w(V234.23[0])|f(x)|y\r\n  T|w((x))\n\n# no|w(x)|1\nT|begin|\nT|end()|3\nT|branch(4)|3\n\
         T|req(l)|3\nT|w(50%)|100%\nT|w(a%7Cb)|3"
            .as_bytes(),
    )
    .unwrap();
    assert_eq!(std.names.strands, ["a b", "T"]);
    assert_eq!(std.names.locations, ["V234.23[0]", "(x)", "50%", "a|b"]);
    assert_eq!(std.names.sites, ["f(x)|y", "", "3", "100%"]);
    let ops: Vec<Op> = std.events[2..5].iter().map(Event::op).collect();
    assert_eq!(ops, [Op::Begin, Op::End, Op::Branch]);
    let header = from_text(TextFormat::Table, b" Thread, Op, Target, Loc\n").unwrap();
    assert_eq!(header, Execution::default());
    let csv = from_text(
        TextFormat::Table,
        "thread,op(target),loc\r\na,w(x),1\r\na,w,x\na,w,x,1\na,begin,1\na,begin\na,\"w\",\" x \",\"1\"\n\
         \"#a\",w(y),\"2\"\n,semaphore,s,3\n a , p , s , 1\n"
            .as_bytes(),
    )
    .unwrap();
    assert_eq!(csv.names.strands, ["a", "#a"]);
    assert_eq!(csv.names.locations, ["x", " x ", "y"]);
    assert_eq!(csv.names.sites, ["1", "", "2"]);
    assert_eq!(
        (csv.names.semaphores, csv.names.tokens),
        (vec!["s".to_string()], vec![3])
    );
    assert_eq!(csv.events.len(), 8);
}

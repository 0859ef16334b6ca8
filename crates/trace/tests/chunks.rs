//! Text says the same however it is divided into chunks, and among however many parsers.

use std::collections::HashMap;
use std::fmt::Debug;
use std::io::{self, Read};
use std::ops::ControlFlow;

use deadheat_model::words::{Table, Takes, WORDS};
use deadheat_model::{Event, Execution, Names, Site, Strand};
use deadheat_trace::text::{MAX_LINE, Split, TextFormat, TextReader};
use deadheat_trace::{LineProblem, TraceError};

const FORMATS: [TextFormat; 3] = [TextFormat::Std, TextFormat::Csv, TextFormat::Table];

fn read(split: Split, format: TextFormat, text: &[u8]) -> Result<Execution, TraceError> {
    let mut reader = TextReader::with(split, format, text);
    let mut events = Vec::new();
    let mut read = 0;
    let _ = reader.for_each(|window, _, end| {
        assert!((read + 1..=text.len() as u64).contains(&end));
        read = end;
        events.extend_from_slice(window);
        ControlFlow::<()>::Continue(())
    })?;
    let names = reader.into_names();
    Ok(Execution { events, names })
}

/// In one chunk, by one parser.
fn whole() -> Split {
    Split {
        chunk: 1 << 20,
        parsers: Some(1),
        names: usize::MAX,
    }
}

fn any_split(rng: &mut fastrand::Rng) -> Split {
    let parsers = match rng.u8(0..4) {
        0 => rng.usize(2..5),
        _ => 1,
    };
    Split {
        chunk: [1, 2, 3, 7, 16, 40, 100, 1000][rng.usize(0..8)],
        parsers: Some(parsers),
        names: [0, 1, 3, 10, 1000][rng.usize(0..5)],
    }
}

/// What can be compared: an error has no other equality.
fn shown(result: impl Debug) -> String {
    format!("{result:?}")
}

/// Pieces of lines, and lines.
const PIECES: [&[u8]; 3] = [
    b"T0 T1 | | | ( ) r w semaphore p 7 x # % %7C \" begin \xff \0 \r \t \n \n \n",
    b"r(x) w(y) fork(T1) join(3) semaphore(s)|1 p(s) thread,op \" , , # \xff \r \n \n \n",
    b"T0 w r(x) semaphore p thread,op , , , \"a\nb\" \"\" \" x # \xff \r \n \n \n",
];
const LINES: [&[u8]; 3] = [
    b"T0|w(x)|1~ T1 | r ( y )|2\r~|semaphore(s)|3~T1|p(s)|~T2|p(s2)|4~|semaphore(s2)|0~~# c~T0|w(a%7Cb)|5",
    b"w(x),,~,r( y ) ,\r~semaphore(s)|3~,,p(s)~,,,p(s2)~,semaphore(s2)|0~~# c~fork(T2),~thread,op,target,loc",
    b"T0,w,x,1~ T1 ,r(y),2\r~,semaphore,s,3~T1,p,s~T2,p,s2,4~,semaphore,s2,0~~# \"~T0,w,\"a\nb\"\"\",5~#\"~T0,begin",
];

fn any_text(rng: &mut fastrand::Rng, format: usize) -> Vec<u8> {
    let lines: Vec<&[u8]> = LINES[format].split(|&byte| byte == b'~').collect();
    let pieces: Vec<&[u8]> = PIECES[format].split(|&byte| byte == b' ').collect();
    let noise = [0, 0, 1, 8][rng.usize(0..4)];
    let mut text = Vec::new();
    if rng.u8(0..8) == 0 {
        text.extend_from_slice(b"\xef\xbb\xbf");
    }
    if rng.u8(0..8) == 0 {
        text.extend_from_slice([&b"thread,op,target,loc\n"[..], b"thread,op\"\n"][rng.usize(0..2)]);
    }
    for _ in 0..rng.usize(0..30) {
        match rng.u8(0..16) < noise {
            true => text.extend_from_slice(pieces[rng.usize(0..pieces.len())]),
            false => {
                text.extend_from_slice(lines[rng.usize(0..lines.len())]);
                text.push(b'\n');
            }
        }
    }
    if rng.bool() {
        text.pop();
    }
    text
}

#[test]
fn chunks_and_parsers_do_not_change_what_is_read() {
    let mut rng = fastrand::Rng::with_seed(47);
    let (mut good, mut bad) = ([0; 3], [0; 3]);
    for round in 0..30_000 {
        let format = round % 3;
        let text = any_text(&mut rng, format);
        let split = any_split(&mut rng);
        let wanted = read(whole(), FORMATS[format], &text);
        let given = read(split, FORMATS[format], &text);
        let told = String::from_utf8_lossy(&text);
        assert_eq!(shown(&given), shown(&wanted), "{split:?}: {told:?}");
        match wanted {
            Ok(_) => good[format] += 1,
            Err(_) => bad[format] += 1,
        }
        let number = rng.u64(1..30);
        let line = |split| TextReader::with(split, FORMATS[format], &text[..]).line_of(number);
        if given.is_ok() {
            assert_eq!(
                shown(line(split)),
                shown(line(whole())),
                "{split:?}: {told:?}"
            );
        }
    }
    assert!(
        good.iter().chain(&bad).all(|&texts| texts > 1000),
        "{good:?} {bad:?}"
    );
}

type Known<'a> = [HashMap<&'a str, u64>; Table::ALL.len()];

fn number_of<'a>(known: &mut Known<'a>, names: &mut Names, table: Table, name: &'a str) -> u64 {
    let known = &mut known[table as usize];
    let next = known.len() as u64;
    *known.entry(name).or_insert_with(|| {
        table.of_mut(names).push(name.to_string());
        next
    })
}

/// What lines `thread|word(target)|place` say: a name has the number of names that were before it in its table. Or the first
/// line that is no event.
fn by_definition(text: &str) -> Result<Execution, u64> {
    let mut trace = Execution::default();
    let mut known = Known::default();
    for (line, number) in text.lines().zip(1..) {
        let [thread, action, place] = line.split('|').collect::<Vec<_>>()[..] else {
            return Err(number);
        };
        let (word, target) = action.trim_end_matches(')').split_once('(').ok_or(number)?;
        if thread.is_empty() {
            let is_known = known[Table::Semaphores as usize].contains_key(target);
            if word != "semaphore" || is_known {
                return Err(number);
            }
            let before = number_of(&mut known, &mut trace.names, Table::Semaphores, target);
            trace.names.tokens.resize(before as usize, 0);
            trace.names.tokens.push(place.parse().map_err(|_| number)?);
            continue;
        }
        let mut number_of = |table, name| number_of(&mut known, &mut trace.names, table, name);
        let word = WORDS
            .iter()
            .find(|known| known.word == word)
            .ok_or(number)?;
        let strand = Strand(number_of(Table::Strands, thread) as u32);
        let object = match word.takes {
            Takes::Named(table) => number_of(table, target),
            Takes::Number => target.parse().map_err(|_| number)?,
            Takes::Nothing => 0,
        };
        let site = Site(number_of(Table::Sites, place) as u32);
        trace
            .events
            .push(Event::new(strand, (word.make)(object), site));
    }
    Ok(trace)
}

#[test]
fn numbers_are_in_the_order_of_the_text() {
    let mut rng = fastrand::Rng::with_seed(48);
    let (mut good, mut bad) = (0, 0);
    for _ in 0..10_000 {
        // Names of all lengths that are compared in different ways, and alike.
        let lengths = [1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 24, 25, 40];
        let name = |rng: &mut fastrand::Rng| {
            let mut name = "n".repeat(lengths[rng.usize(0..lengths.len())]);
            let (at, letter) = (rng.usize(0..name.len()), rng.char('a'..='c'));
            name.replace_range(at..=at, letter.encode_utf8(&mut [0; 4]));
            name
        };
        let words = [
            "r", "w", "acq", "rel", "fork", "alloc", "p", "v", "post", "arrive",
        ];
        let line = |rng: &mut fastrand::Rng| match rng.u8(0..60) {
            0 => format!("|semaphore({})|{}\n", name(rng), rng.u8(..)),
            1 if rng.u8(0..9) == 0 => format!("{}|q(x)|1\n", name(rng)),
            _ => {
                let word = words[rng.usize(0..words.len())];
                let target = match word {
                    "alloc" => "17".to_string(),
                    _ => name(rng),
                };
                format!("{}|{word}({target})|{}\n", name(rng), name(rng))
            }
        };
        let text: String = (0..rng.usize(0..60)).map(|_| line(&mut rng)).collect();
        let split = any_split(&mut rng);
        match (
            read(split, TextFormat::Std, text.as_bytes()),
            by_definition(&text),
        ) {
            (Ok(given), Ok(wanted)) => {
                assert_eq!(given, wanted, "{split:?}: {text}");
                good += 1;
            }
            (Err(TraceError::Line { line, .. }), Err(wanted)) => {
                assert_eq!(line, wanted, "{split:?}: {text}");
                bad += 1;
            }
            (given, wanted) => panic!("{given:?} {wanted:?}, {split:?}: {text}"),
        }
    }
    assert!(good > 1000 && bad > 300, "{good} {bad}");
}

/// The place of an event of RAPID's CSV is its line.
#[test]
fn lines_are_counted_across_chunks() {
    let mut rng = fastrand::Rng::with_seed(49);
    let lines: Vec<&str> = (0..500)
        .map(|_| ["", "#", "w(x),", ",r(x)"][rng.usize(0..4)])
        .collect();
    let text = lines.join("\n") + "\n";
    let is_event = |line: &&str| line.len() > 1;
    let wanted = (1..).zip(&lines).filter(|(_, line)| is_event(line));
    let wanted: Vec<String> = wanted
        .map(|(number, _): (u64, _)| number.to_string())
        .collect();
    for parsers in 1..4 {
        let split = Split {
            chunk: 50,
            parsers: Some(parsers),
            names: 10,
        };
        let trace = read(split, TextFormat::Csv, text.as_bytes()).unwrap();
        assert_eq!(trace.names.sites, wanted);
        let sites = trace.events.iter().map(|event| event.site().0);
        assert!(sites.eq(0..wanted.len() as u32));
    }
}

#[test]
fn a_line_has_so_many_bytes_and_no_more() {
    for chunk in [100_000, MAX_LINE - 1, MAX_LINE, MAX_LINE + 1, 4 * MAX_LINE] {
        for parsers in [1, 3] {
            let split = Split {
                chunk,
                parsers: Some(parsers),
                names: 10,
            };
            for format in FORMATS {
                let comment = |length| format!("\n#{}", "x".repeat(length - 1));
                let longest = comment(MAX_LINE);
                let text = format!("{longest}{longest}\n{longest}");
                assert_eq!(
                    read(split, format, text.as_bytes()).unwrap(),
                    Execution::default()
                );
                let too_long = comment(MAX_LINE + 1);
                for text in [
                    format!("{longest}{too_long}"),
                    format!("{longest}{too_long}{longest}"),
                ] {
                    match read(split, format, text.as_bytes()) {
                        Err(TraceError::Line { line, problem, .. }) => {
                            assert_eq!((line, problem), (3, LineProblem::TooLong(MAX_LINE)));
                        }
                        other => panic!("{other:?}"),
                    }
                }
            }
        }
    }
}

/// A text without end, of which so much can be read.
struct Endless {
    left: usize,
}

const LINE: &[u8; 12] = b"T0|r(x)|100\n";

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            return Err(io::Error::other("the disk is gone"));
        }
        let length = buffer.len().min(LINE.len()).min(self.left);
        buffer[..length].copy_from_slice(&LINE[..length]);
        self.left -= length;
        Ok(length)
    }
}

#[test]
fn what_was_read_before_a_failure_is_handed_over() {
    for parsers in 1..4 {
        let split = Split {
            chunk: 10 * LINE.len(),
            parsers: Some(parsers),
            names: 10,
        };
        let left = 1005 * LINE.len();
        let mut reader = TextReader::with(split, TextFormat::Std, Endless { left });
        let mut events = 0;
        let read = reader.for_each(|window, _, _| {
            events += window.len();
            ControlFlow::<()>::Continue(())
        });
        assert!(matches!(read, Err(TraceError::Io(_))), "{read:?}");
        assert_eq!(events, 1000);
    }
}

#[test]
fn parsers_stop_when_nobody_wants_more() {
    for parsers in 1..4 {
        let split = Split {
            chunk: 10 * LINE.len(),
            parsers: Some(parsers),
            names: 10,
        };
        let mut endless = Endless { left: usize::MAX };
        let mut reader = TextReader::with(split, TextFormat::Std, &mut endless);
        let mut windows = 0;
        let flow = reader.for_each(|_, _, _| {
            windows += 1;
            match windows {
                50 => ControlFlow::Break("enough"),
                _ => ControlFlow::Continue(()),
            }
        });
        assert_eq!(flow.unwrap(), ControlFlow::Break("enough"));
        // Ahead is no more than a chunk waiting for each parser, and one in its hands.
        let read = usize::MAX - endless.left;
        let most = 50 + 1 + 2 * parsers;
        assert!(read <= most * split.chunk, "{parsers}: {read}");
    }
}

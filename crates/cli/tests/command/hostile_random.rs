//! Hostile circumstances at random: damaged programs, traces and recordings, pipes, outputs that are closed or full,
//! signals at any moment, little address space. No panic, no crash, no hang, no verdict that is not true.
//!
//! A trial damages an input (or leaves it as it is), runs one command on it in peace, and the same again in
//! trouble. In trouble it may do less, but what it says it was to say in peace.
//!
//! `make soak` tries thousands; a failure prints the command that repeats it alone.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use deadheat_testing::Trials;
use deadheat_testing::programs::wild_program;
use deadheat_testing::traces::{Shape, any_trace, random_trace};
use fastrand::Rng;
use serde_json::Value;

/// Far above what any trial takes: a hang is what this is about.
const SOON: Duration = Duration::from_secs(60);

/// What a command said.
struct Said {
    status: ExitStatus,
    stdout: Vec<u8>,
    stderr: String,
}

/// What makes it hard for a command.
#[derive(Default, Debug)]
struct Trouble {
    /// It reads its input from a pipe.
    pipe: bool,
    /// Nobody reads what it prints.
    closed: bool,
    /// There is no room for what it prints.
    full: bool,
    /// A signal, and when it comes.
    signal: Option<(&'static str, Duration)>,
    /// It has a gigabyte of address space.
    confined: bool,
}

impl Trouble {
    fn random(rng: &mut Rng) -> Trouble {
        let mut one_in = |n: u32| rng.u32(..n) == 0;
        let mut trouble = Trouble {
            pipe: one_in(3),
            closed: one_in(6),
            full: one_in(6),
            signal: None,
            confined: one_in(3),
        };
        if one_in(3) {
            let signal = ["-INT", "-TERM"][rng.usize(..2)];
            // Most commands are done within some milliseconds.
            let longest = 1 << rng.u32(1..18);
            let after = rng.u64(..longest);
            trouble.signal = Some((signal, Duration::from_micros(after)));
        }
        trouble
    }
}

fn run(arguments: &[OsString], input: &Path, trouble: &Trouble) -> Said {
    let deadheat = env!("CARGO_BIN_EXE_deadheat");
    let mut command = match trouble.confined {
        false => Command::new(deadheat),
        true => {
            let mut shell = Command::new("sh");
            shell.args(["-c", "ulimit -v 1048576; exec \"$0\" \"$@\"", deadheat]);
            shell
        }
    };
    command.args(arguments).stderr(Stdio::piped());
    command.stdin(match trouble.pipe {
        true => Stdio::piped(),
        false => Stdio::null(),
    });
    command.stdout(match trouble.full {
        true => Stdio::from(File::create("/dev/full").unwrap()),
        false => Stdio::piped(),
    });
    let start = Instant::now();
    let mut child = command.spawn().unwrap();
    let stdin = child.stdin.take();
    let bytes = fs::read(input).unwrap();
    let feeder = std::thread::spawn(move || {
        if let Some(mut stdin) = stdin {
            // It need not read all.
            let _ = stdin.write_all(&bytes);
        }
    });
    let stdout = child.stdout.take().filter(|_| !trouble.closed);
    let printed = std::thread::spawn(move || {
        let mut printed = Vec::new();
        if let Some(mut stdout) = stdout {
            stdout.read_to_end(&mut printed).unwrap();
        }
        printed
    });
    let mut errors = child.stderr.take().unwrap();
    let complaints = std::thread::spawn(move || {
        let mut text = Vec::new();
        errors.read_to_end(&mut text).unwrap();
        String::from_utf8_lossy(&text).into_owned()
    });
    if let Some((signal, after)) = trouble.signal {
        std::thread::sleep(after);
        let id = child.id().to_string();
        // It may have ended before.
        let _ = Command::new("kill")
            .args([signal, &id])
            .stderr(Stdio::null())
            .status();
    }
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if start.elapsed() > SOON {
            child.kill().unwrap();
            panic!("{arguments:?} hangs, with {trouble:?}");
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    feeder.join().unwrap();
    Said {
        status,
        stdout: printed.join().unwrap(),
        stderr: complaints.join().unwrap(),
    }
}

/// Changes some bytes, as a broken disk, a bad editor or an enemy does.
fn damage(bytes: &mut Vec<u8>, rng: &mut Rng) {
    for _ in 0..rng.u32(1..5) {
        let at = rng.usize(..bytes.len().max(1));
        let end = (at + (1 << rng.u32(..8))).min(bytes.len());
        match rng.u32(..8) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..end)),
            2 => {
                let again = bytes[at..end].to_vec();
                bytes.splice(at..at, again);
            }
            3 => {
                let number =
                    [0, 9, u64::MAX, 1 << 31, 1 << 40, u64::from(u32::MAX)][rng.usize(..6)];
                for (byte, new) in bytes.iter_mut().skip(at).zip(number.to_le_bytes()) {
                    *byte = new;
                }
            }
            4 => {
                let number = ["99999999999999999999", "-1", "0", "4294967295"][rng.usize(..4)];
                bytes.splice(at..at, number.bytes());
            }
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << rng.u32(..8);
                }
            }
        }
    }
}

/// An input, and what is to be done with it: the arguments without those of the output.
struct Task {
    input: PathBuf,
    arguments: Vec<String>,
    is_trace: bool,
}

impl Task {
    fn random(folder: &Path, rng: &mut Rng) -> Task {
        let is_trace = rng.u32(..3) > 0;
        let input = match is_trace {
            true => a_trace(folder, rng),
            false => {
                let input = folder.join("program.tp");
                fs::write(&input, wild_program(1..=60, rng).to_string()).unwrap();
                input
            }
        };
        if rng.u32(..3) > 0 {
            let mut bytes = fs::read(&input).unwrap();
            damage(&mut bytes, rng);
            fs::write(&input, bytes).unwrap();
        }
        let mut words: Vec<&str> = match is_trace {
            false => vec!["check", "--max-states=20000", "--max-orders=200"],
            true => vec![["analyze", "analyze", "analyze", "explain", "stats"][rng.usize(..5)]],
        };
        let may_be: &[&str] = match words[0] {
            "check" => &[
                "--explore",
                "--all-orders",
                "--explain",
                "--schedule=random:5",
            ],
            "analyze" => &["--pairs=all", "--complete", "--repair"],
            "explain" => &["--no-predict", "--repair"],
            _ => &[],
        };
        words.extend(may_be.iter().filter(|_| rng.bool()));
        if words[0] == "analyze" && rng.bool() {
            let engines = "hb fasttrack shb wcp dc m2 eraser all spd3 drdp zipper graph esp-bags";
            let engines: Vec<&str> = engines.split(' ').collect();
            words.extend(["--engine", engines[rng.usize(..engines.len())]]);
        }
        words.extend(["--timeout=20", "--json"]);
        Task {
            input,
            arguments: words.into_iter().map(str::to_string).collect(),
            is_trace,
        }
    }

    /// Does it, and says what came out: of a signal that came before it had read its input, nothing.
    fn run(&self, trouble: &Trouble) -> Option<Said> {
        let mut arguments: Vec<OsString> = self.arguments.iter().map(OsString::from).collect();
        arguments.push(match trouble.pipe {
            true => "-".into(),
            false => self.input.clone().into(),
        });
        let said = run(&arguments, &self.input, trouble);
        let context = || format!("{arguments:?} with {trouble:?}: {}", said.stderr);
        assert!(!said.stderr.contains("panicked"), "{}", context());
        match (said.status.code(), said.status.signal()) {
            (Some(0..=2), _) => {}
            (Some(130 | 143), _) | (_, Some(2 | 15)) => {
                assert!(trouble.signal.is_some(), "{}", context());
            }
            _ => panic!("{}: {}", said.status, context()),
        }
        if said.status.code() == Some(2) {
            assert!(
                !said.stderr.is_empty(),
                "status 2 without a word: {}",
                context()
            );
        }
        said.status.signal().is_none().then_some(said)
    }
}

fn a_trace(folder: &Path, rng: &mut Rng) -> PathBuf {
    let name = ["t.std", "t.csv", "t.table.csv", "t.dht", "t.dht", "t.dht"][rng.usize(..6)];
    let input = folder.join(name);
    let events = 1 << rng.usize(3..12);
    let trace = match rng.u32(..3) {
        0 => any_trace(rng.u64(..), events),
        _ => {
            let shape = Shape::random(rng, events);
            random_trace(rng, &shape)
        }
    };
    // Not every format has words for everything.
    if deadheat::trace::save(&input, &trace).is_err() {
        deadheat::trace::save(folder.join("t.dht"), &trace).unwrap();
        return folder.join("t.dht");
    }
    input
}

/// What a report says can go wrong: pairs of events, or of places.
fn races(report: &Value) -> Vec<String> {
    let races = report["races"].as_array();
    // A program on standard input has another name than its file.
    let side = |side: &Value| match &side["line"] {
        Value::Null => side.to_string(),
        line => format!(
            "{line} {} {} {}",
            side["column"], side["access"], side["task"]
        ),
    };
    let race = |race: &Value| {
        let (first, second) = (side(&race["first"]), side(&race["second"]));
        format!("{} {first} {second}", race["variable"])
    };
    let mut races: Vec<String> = races.into_iter().flatten().map(race).collect();
    races.sort();
    races
}

fn reports(said: &Said) -> Vec<Value> {
    let text = String::from_utf8_lossy(&said.stdout);
    let lines = text.lines().map(serde_json::from_str);
    lines.collect::<Result<_, _>>().expect("each line is JSON")
}

#[test]
fn no_trouble_makes_a_command_crash_hang_or_say_what_is_not_true() {
    let mut compared = 0;
    let trials = Trials::new(77, 60);
    for trial in &trials {
        let mut rng = trial.rng();
        let folder = tempfile::tempdir().unwrap();
        let task = Task::random(folder.path(), &mut rng);
        let trouble = Trouble::random(&mut rng);
        let in_peace = task
            .run(&Trouble::default())
            .expect("nobody sends a signal");
        let Some(in_trouble) = task.run(&trouble) else {
            continue;
        };
        if trouble.closed || trouble.full {
            continue;
        }
        let (peace, troubled) = (reports(&in_peace), reports(&in_trouble));
        for (peace, troubled) in peace.iter().zip(&troubled) {
            let is_whole = |report: &Value| {
                let text = report.to_string();
                !["interrupted", "time was up", "memory was full"]
                    .iter()
                    .any(|word| text.contains(word))
            };
            let name = |report: &Value| report["engine"].clone();
            if is_whole(peace) && is_whole(troubled) && name(peace) == name(troubled) {
                compared += 1;
                assert_eq!(races(peace), races(troubled), "{trouble:?}");
                assert_eq!(peace["complete"], troubled["complete"], "{trouble:?}");
            } else if !is_whole(troubled) && task.is_trace {
                assert_ne!(troubled["complete"], true, "{trouble:?}");
            }
        }
    }
    trials.expect(
        compared > trials.count() / 10,
        format!("{compared} compared"),
    );
}
